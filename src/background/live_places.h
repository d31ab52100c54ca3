/* Follows where the rooms of pools are (resources/media/placing.h): the part of the watch
 * (background/live_watch.h) for accounts with several media servers in a pool.
 *
 *  - The holder of the lease goes through the places and the rooms in session of each of these
 *    accounts, every 2 s, some records in each transaction. It counts the load of each media server
 *    (struct backend_load), notes in each watched_room where the room is now, and finds the rooms
 *    that are to leave a server, and those whose people were not told yet that they were moved.
 *  - It moves the rooms of media servers that are emptied to others of their pool, MOVED_A_SECOND
 *    of each.
 *  - A room that people are in at a server where it is not placed is a watched_stray
 *    (live_watched.h). If it was moved from there, its people are told to come: once, as the record
 *    of the place says; again if the process ended before it was stored. The room is ended there
 *    when it is empty, at the latest 15 s later; at once if nobody needs to be told.
 *
 * What was moved is in the records, so a process that ends goes on after its start. With LIVE_WATCH
 * records are moved, and no media server is asked for anything that changes something.
 *
 * All of this runs in the thread of the watch, in turns of the accounts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_PLACES_H
#define BACKGROUND_LIVE_PLACES_H

#include "background/live_watched.h"

/* Goes on counting where that is due. The caller holds the lease. */
void places_count(struct live_watch *watch, struct arena *arena);
/* Moves the rooms that are due. The caller holds the lease. */
void places_move(struct live_watch *watch, struct arena *arena);
/* Tells people in strays, and ends those that are due. */
void places_end_strays(struct live_watch *watch);
/* Frees what is known of the places of an account. */
void place_count_free(struct place_count *count);

#endif
