/* The lines of a dump (transfer/transfer.h). A line is an object with one member, whose name is the
 * kind of line; templates, rooms and roles in it follow the tables of the API.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TRANSFER_RULES_H
#define RULES_TRANSFER_RULES_H

#include "rules/text_rules.h"

/* The most codes of a line `codes`. A line `room` has no more either, but in formats before 6,
 * where it has all codes of the room. */
#define CODES_OF_LINE 1000

extern const struct shape transfer_line_shape;

#endif
