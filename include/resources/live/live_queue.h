/* What is to be done about live rooms, soon and outside of a call: events that media servers have
 * told, to be merged, rooms to be looked at, and rooms where something has changed: their people
 * are to be judged (resources/live/live_judge.h), or told who waits at the door.
 * background/live_watch.c does it.
 *
 * The queue is in memory: what it loses when the process ends is found by a look.
 *
 * Any thread; the lock is held only for a moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_QUEUE_H
#define RESOURCES_LIVE_LIVE_QUEUE_H

#include "base/id.h"
#include "media/server.h"

/* Most events, most rooms to be looked at, and most rooms where something has changed, that
 * wait. */
#define LIVE_QUEUE_MOST 10000

/* An event. Its slices are its own. */
struct heard {
	struct heard *next;
	struct id account, backend, room;
	struct server_event event;
	uint64_t number; /* in the order in which they came */
	int64_t received; /* milliseconds since 1970 */
	char text[];
};

/* A room to be looked at. */
struct to_look_at {
	struct to_look_at *next;
	struct id account, backend, room;
};

/* A media server that has told something that nobody needs. */
struct heard_backend {
	struct heard_backend *next;
	struct id account, backend;
};

/* A room where something has changed. */
struct touched_room {
	struct touched_room *next;
	struct id account;
	struct id room; /* zero: all rooms of the account */
	bool is_door; /* who waits; else something that its people are to be judged by */
};

/* Events by what became of them, for /metrics. */
enum heard_end {
	HEARD_TAKEN, /* it will be merged */
	HEARD_IGNORED, /* of a kind that nobody needs, or not about a room of the account */
	HEARD_REFUSED, /* not signed by the media server */
	HEARD_TOO_MANY
};
#define HEARD_ENDS (HEARD_TOO_MANY + 1)

struct live_queue;

struct live_queue *live_queue_open(void);
void live_queue_close(struct live_queue *queue);
/* Returns a descriptor (an eventfd) that is readable when something was added. */
int live_queue_descriptor(const struct live_queue *queue);

/* Copies the event. Returns false if too many are waiting. */
bool live_queue_hear(struct live_queue *queue, const struct id *account, const struct id *backend,
		     const struct id *room, const struct server_event *event, int64_t received);
/* Notes that the media server has sent an event, which is not needed. */
void live_queue_hear_backend(struct live_queue *queue, const struct id *account,
			     const struct id *backend);
/* Has the room looked at. Does nothing if too many are waiting. */
void live_queue_look(struct live_queue *queue, const struct id *account, const struct id *backend,
		     const struct id *room);
/* Has the people in the room judged; room zero: in all rooms of the account. If too many are
 * waiting, a later look judges them. */
void live_queue_judge(struct live_queue *queue, const struct id *account, const struct id *room);
/* Has moderators in the room told how many people wait. */
void live_queue_tell(struct live_queue *queue, const struct id *account, const struct id *room);
void live_queue_count(struct live_queue *queue, enum heard_end end);

/* Everything that waits, oldest first. */
struct live_queue_taken {
	struct heard *heard;
	struct to_look_at *rooms;
	struct touched_room *touched;
};
/* Takes it. The caller frees each item with free(3), and calls live_queue_forget for events when
 * they are merged: until then they count as waiting. */
struct live_queue_taken live_queue_take(struct live_queue *queue);
void live_queue_forget(struct live_queue *queue, size_t n);
/* Takes the media servers of live_queue_hear_backend. The caller frees each item with free(3). */
struct heard_backend *live_queue_take_backends(struct live_queue *queue);

struct live_queue_figures {
	uint64_t ends[HEARD_ENDS];
	uint64_t waiting;
};
void live_queue_figures(struct live_queue *queue, struct live_queue_figures *figures);

#endif
