/* Enforces who may be inside: the part of the watch (background/live_watch.h) that has the media
 * servers do what the records say.
 *
 *  - What a call has changed about its rooms, or about all rooms of an account, comes through the
 *    queue (resources/live/live_queue.h) as a `struct queued_room`. enforce_take_queued notes in
 *    each watched_room (live_watched.h) what is to be done about it.
 *  - enforce_rooms enforces the rules in the rooms that are due, because of that, or of a merge, or
 *    because a time has come (live_enforce, resources/live/live_enforcement.h). If somebody is to
 *    be put out, or the room is to end, that is carried out: a `struct enforce_job` (here), a
 *    pending request that goes to the media server and whose outcomes are stored (live_carry_on).
 *    Whether or not that can be done, the watched_room has who should be outside, and since when.
 *  - enforce_notify_moderators notifies the moderators inside of how many people wait, of what the
 *    door does, and that holds have changed (a `struct notice`), and enforce_notify_roles notifies
 *    people that what their role may do has changed (a `struct role_notice`); both are pending
 *    requests whose outcomes do not matter.
 *
 * Afterwards the room is due for a survey, which live_follow.c makes. All of this runs in the
 * thread of the watch, in turns of the accounts that are apart from those of merging.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_ENFORCE_H
#define BACKGROUND_LIVE_ENFORCE_H

#include "background/live_watched.h"

/* Has done what is wanted about these rooms, and those that wait. What cannot be done now is kept:
 * a lost request to enforce rules would leave somebody inside. Frees what is done. */
void enforce_take_queued(struct live_watch *watch, struct arena *arena, struct queued_room *added);
/* Goes through the rooms in session of an account. wants: of enum room_want; notified: roles that
 * have changed, or NULL. Returns false if that is to be done again. */
bool enforce_in_all_rooms(struct live_watch *watch, struct arena *arena, const struct id *account,
			  unsigned wants, const struct notified_roles *notified);
/* Enforces the rules in the rooms that are due. */
void enforce_rooms(struct live_watch *watch, struct arena *arena);
/* Notifies moderators of how many people wait, of what the door does, and that holds have changed;
 * of each in a room at most once in NOTIFY_AFTER. */
void enforce_notify_moderators(struct live_watch *watch);
/* Notifies people that what their role may do has changed, in a room at most once in
 * NOTIFY_ROLES_AFTER. */
void enforce_notify_roles(struct live_watch *watch);

#endif
