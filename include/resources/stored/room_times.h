/* A room's id begins with a time, which may differ from the room's time of creation if the room was
 * imported with both. This record holds the largest differences among the rooms of an account. The
 * list of rooms needs them to find rooms by time of creation, because its pages are in the order of
 * ids.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_ROOM_TIMES_H
#define RESOURCES_STORED_ROOM_TIMES_H

#include "resources/call.h"

/* The most seconds by which a room was created later, and earlier, than its id says. */
struct room_times {
	struct store_record stored;
	uint32_t later, earlier;
};

extern const struct record_table room_times_table;

bool room_times_load(struct call *call, struct room_times *times, struct fault *fault);
/* True if the differences cover a room created at `created`, in milliseconds since 1970. */
bool room_times_cover(const struct room_times *times, const struct id *id, int64_t created);
/* Extends the account's differences to cover the room, which is about to be stored. */
bool room_times_note(struct call *call, const struct id *id, int64_t created, struct fault *fault);

#endif
