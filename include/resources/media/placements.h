/* The rooms that this process has placed (resources/media/placing.h), until the watch has counted
 * them; and for media servers that are not asked, the exchanges of the last hour. In memory, of a
 * fixed size: what happened first is forgotten. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_PLACEMENTS_H
#define RESOURCES_MEDIA_PLACEMENTS_H

#include "resources/call.h"

/* Milliseconds for which people are expected in a room that was placed. */
#define PLACED_LATELY 30000

struct placements;
struct placements *placements_open(void);
void placements_close(struct placements *placements);

/* In the functions below the call's account owns the backends. Without placements in the
 * environment, nothing is remembered. */

/* Notes that the room was placed there. */
void placements_add(struct call *call, const struct id *backend, const struct id *room);
/* Returns how many rooms this process has placed there since `counted`, and in the last
 * PLACED_LATELY. */
uint64_t placements_since(const struct call *call, const struct id *backend, int64_t counted);
/* Notes an exchange; returns how many there were in the last hour. */
void placements_add_exchange(struct call *call, const struct id *backend);
uint64_t placements_exchanges(const struct call *call, const struct id *backend);
/* Returns true if the lack of servers of this pool is to be logged: once a minute. */
bool placements_may_warn(struct call *call, struct slice pool);

#endif
