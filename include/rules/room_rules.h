/* The room: decisions.md section 6. Its `size` is checked to 20000 by its row, and to 2500 unless
 * `large_room` by a named rule, which looks at the room as it will be.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROOM_RULES_H
#define RULES_ROOM_RULES_H

#include "rules/text_rules.h"

extern const struct shape room_shape;
extern const struct shape recording_info_shape;

#endif
