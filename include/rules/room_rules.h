/* The room object. The row of `size` allows 20000; a named rule limits the finished room to 2500
 * unless `large_room` is set.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROOM_RULES_H
#define RULES_ROOM_RULES_H

#include "rules/text_rules.h"

extern const struct shape room_shape;
/* A room with view=summary. */
extern const struct shape room_summary_shape;
extern const struct shape recording_info_shape;
/* A room in POST /v2/import. room_shape checks the rules about the whole room later. */
extern const struct shape imported_room_shape;

#endif
