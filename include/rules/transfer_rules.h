/* The lines of a dump (transfer/transfer.h). A line is an object with one member, which says what
 * it is; what it holds of a template, a room or a role is the tables of the interface.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TRANSFER_RULES_H
#define RULES_TRANSFER_RULES_H

#include "rules/text_rules.h"

extern const struct shape transfer_line_shape;

#endif
