/* Where recordings go: the `upload` of a template's settings (interface.md section 2.6) and the
 * `upload_info` of a room (decisions.md section 6), which differ in a name and in what is required.
 * Nothing below either is ever shown in a fault.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_RECORDING_RULES_H
#define RULES_RECORDING_RULES_H

#include "rules/text_rules.h"

extern const struct shape upload_shape;
extern const struct shape upload_info_shape;

#endif
