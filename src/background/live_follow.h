/* Follows who is in the rooms: the part of the watch (background/live_watch.h) that makes the
 * records equal to what the media servers say. It learns that in two ways, and both end in
 * live_merge (resources/live/live_merge.h).
 *
 *  - A media server sends an event. The call that brings it puts it into the queue
 *    (resources/live/live_queue.h), as a `struct received_event`. follow_merge_events takes the
 *    events, sorts them by room, and merges some of one room in one transaction (a `struct
 *    event_batch`, here). What cannot be stored now waits in watch->waiting; what can never be
 *    stored is set aside.
 *  - A media server is asked. Each question is a `struct survey` (here), a pending request
 *    (live_watched.h): the list of rooms of a media server, for which every room of it that the
 *    account has is due; or the people of one room that is due, and then the room itself if
 *    somebody is inside who is not in the records. The media client makes the requests; take_survey
 *    uses the answers.
 *
 * What a merge says of its room goes into its watched_room (room_take): whether it is in session
 * and how many are inside, when it is to be surveyed again, and when the rules are to be enforced
 * there, which live_enforce.c does.
 *
 * All of this runs in the thread of the watch, in the turns of the accounts; whatever may be large
 * is done in steps, each in a transaction of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_FOLLOW_H
#define BACKGROUND_LIVE_FOLLOW_H

#include "background/live_watched.h"

/* A media server that sends an event is up, or up again. The first event is stored at once. time:
 * of the event, in milliseconds since 1970. */
void follow_note_contact(struct live_watch *watch, struct arena *arena, const struct id *account,
			 const struct id *id, int64_t time);
/* Merges these events and all that wait. Those that cannot be merged now, because the store is
 * unavailable, or the session of the room closes, or the account has had its turn, wait for the
 * next round. */
void follow_merge_events(struct live_watch *watch, struct received_event *received);
/* Stores when the media servers have sent their last events, of each at most once in 5 s. */
void follow_store_event_times(struct live_watch *watch, struct arena *arena);
/* Asks the media servers that are due for their lists of rooms. */
void follow_ask_backends(struct live_watch *watch);
/* Asks for the people of the room if it is due. The account has a turn. now: of clock_monotonic. */
void follow_ask_room(struct live_watch *watch, struct watched_room *room, int64_t now);

#endif
