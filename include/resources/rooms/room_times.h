/* A room's id begins with a time, which may differ from the time at which the room was made. This
 * is how far the two lie apart at most among the rooms of an account. They are the same but for
 * rooms that were imported with an id and a time of their own. The list of rooms needs it to find
 * rooms by the time, since its pages are in the order of ids.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ROOMS_ROOM_TIMES_H
#define RESOURCES_ROOMS_ROOM_TIMES_H

#include "resources/call.h"

/* Seconds by which a room was made later, and earlier, than its id says, at most. */
struct room_times {
	struct store_record stored;
	uint32_t later, earlier;
};

extern const struct record_table room_times_table;

bool room_times_load(struct call *call, struct room_times *times, struct fault *fault);
/* Whether the times hold for a room that was made then, in milliseconds since 1970. */
bool room_times_cover(const struct room_times *times, const struct id *id, int64_t created);
/* Makes those of the account hold for the room, which is about to be stored. */
bool room_times_note(struct call *call, const struct id *id, int64_t created, struct fault *fault);

#endif
