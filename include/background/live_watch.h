/* Keeps the records of live rooms equal to what the media servers have. One thread, in three parts:
 *
 *  - background/live_follow.h merges the events that media servers sent
 *    (resources/live/live_queue.h), every 100 ms, some of one room in one transaction; and surveys
 *    the media servers: every 30 s the list of rooms of each backend that is in use, then the
 *    people of each of these rooms; and single rooms when the queue says so, when a report did not
 *    fit, or when somebody was missing;
 *  - background/live_enforce.h enforces who may be inside (resources/live/live_enforcement.h),
 *    whenever somebody joins, a room was surveyed, or something changes that matters for it; with
 *    LIVE_ON it asks the media servers to put out whoever may not; and tells people inside who
 *    waits, and what has become of their role;
 *  - background/live_watch.c has the rounds of the thread, closes the sessions of rooms that have
 *    been empty for a while, and removes old sessions.
 *
 * background/live_places.h follows the rooms of pools: it counts what each media server has, moves
 * rooms, and ends them where they are no longer.
 *
 * live_watch.c calls the others, which do not call each other: what one of them has for the
 * other is in the state that all share (background/live_watched.h).
 *
 * The accounts take turns of a few milliseconds, one for merging and one for enforcing, so that a
 * media server that reports a great deal holds up no other account. Whatever may be large is done
 * in steps: sessions that close, surveys, lists of rooms. An event that cannot be stored is set
 * aside.
 *
 * Of several processes, the holder of the lease surveys the lists and removes old sessions; each of
 * them merges the events that it received, and surveys the rooms that it was asked about. A merge
 * locks the room's record, so they do not disturb each other.
 *
 * The process may end at any time: the next survey finds what is not merged yet.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_WATCH_H
#define BACKGROUND_LIVE_WATCH_H

#include "background/lease.h"
#include "resources/environment.h"

struct live_watch;

/* Starts the thread. The environment must have a live_queue; without a media_client nothing is
 * surveyed. */
struct live_watch *live_watch_open(const struct environment *environment, struct lease *lease);
/* Merges what is waiting and ends the thread. Requests that are under way end later, so the
 * media_client is closed between this call and live_watch_close. NULL is allowed. */
void live_watch_end(struct live_watch *watch);
void live_watch_close(struct live_watch *watch);

/* For /metrics. */
enum survey_end { SURVEY_MERGED, SURVEY_FAILED, SURVEY_BUSY };
#define SURVEY_ENDS (SURVEY_BUSY + 1)
struct live_figures {
	uint64_t surveys[SURVEY_ENDS];
	uint64_t rooms, people; /* in session, as far as this process knows */
	/* People inside these rooms who should have been put out 10 s ago. */
	uint64_t overdue_removals;
	uint64_t backends_up, backends_down; /* 0 unless this process surveys them */
};
void live_watch_figures(struct live_watch *watch, struct live_figures *figures);
/* What was counted last of each media server of a pool, if this process counts (live_places.h), in
 * the order of the names; those of several accounts with one name together. The array and its names
 * are in the arena. */
struct backend_figures {
	struct slice name;
	uint64_t rooms, people;
	/* 1 for one of each pool in which no other server could take rooms. */
	uint64_t lacks_reserve;
};
struct backend_figures *live_watch_backends(struct live_watch *watch, struct arena *arena,
					    size_t *n);

#endif
