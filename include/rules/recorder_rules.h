/* Recorders: what they report, and the list of them. The service writes the list itself; the table
 * documents it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_RECORDER_RULES_H
#define RULES_RECORDER_RULES_H

#include "schema/schema.h"

/* Most works of a report, and most files of a work. */
#define REPORT_WORKS_MOST 16
#define REPORT_FILES_MOST 17
#define REPORT_SLOTS_MOST 16
#define REPORT_OUTPUTS_MOST 5
/* The file with what was written. */
#define REPORT_CHAT "chat.csv"

extern const struct shape recorder_shape;
extern const struct shape report_shape;

#endif
