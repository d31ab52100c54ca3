/* What is to be done about live rooms, soon and outside of a call: events that media servers have
 * sent, to be merged, rooms to be surveyed, and rooms where something has changed: the rules are to
 * be enforced there (resources/live/live_enforcement.h), or people are to be notified of who waits
 * at the door, of what the door does, or of what their role may do now. background/live_enforce.c
 * does it.
 *
 * The queue is in memory: a survey finds what it loses when the process ends.
 *
 * Any thread; the lock is held only for a moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_QUEUE_H
#define RESOURCES_LIVE_LIVE_QUEUE_H

#include "base/id.h"
#include "media/server.h"

/* Most events that wait. */
#define LIVE_QUEUE_MOST 10000
/* So many an account, and a media server, may have waiting, even if others hold the rest. */
#define LIVE_QUEUE_SHARE 500
/* Rooms of one account that wait; if there are more, all rooms of the account do. */
#define LIVE_QUEUE_ROOMS 1000

/* An event. Its slices are its own. */
struct received_event {
	struct received_event *next;
	struct id account, backend, room;
	struct server_event event;
	uint64_t number; /* in the order in which they came */
	int64_t at; /* milliseconds since 1970 */
	bool is_in_pool; /* the backend was */
	unsigned tries; /* to merge it alone, which failed for good; private to the watch */
	char text[];
};

/* What is to be done about a room. */
enum room_want {
	ROOM_SURVEY = 1 << 0, /* its people */
	ROOM_ENFORCE = 1 << 1, /* the rules: something has changed that matters for them */
	ROOM_NOTIFY = 1 << 2, /* its moderators, of how many people wait */
	/* Its session, which has begun to close (resources/live/live_merge.h). */
	ROOM_CLOSE = 1 << 3,
	/* The people who have certain roles, in all rooms, of changes of these roles. */
	ROOM_NOTIFY_ROLES = 1 << 4,
	ROOM_NOTIFY_DOOR = 1 << 5, /* its moderators, of what the door does */
	ROOM_NOTIFY_HOLDS = 1 << 6, /* its moderators, that what is held has changed */
	ROOM_NOTIFY_JOBS = 1 << 7, /* everybody inside, that a recording or a stream has changed */
	/* For all rooms: nothing but the lists of rooms of the account's media servers, which have
	 * changed. */
	ROOM_BACKENDS = 1 << 8
};

/* A role that has changed, for the people who have it. */
struct notified_role {
	struct id template_id;
	uint32_t identity; /* 0: any role of the template */
};
/* Such roles of an account. If there are more, all of a template, or of the account, are meant: the
 * message is only an occasion to ask. */
#define NOTIFIED_ROLES_MOST 64
struct notified_roles {
	size_t count;
	bool are_all; /* all roles of all templates */
	struct notified_role roles[NOTIFIED_ROLES_MOST];
};
/* Adds a role, unless a role or template in the list means it already. */
void notified_roles_add(struct notified_roles *roles, const struct notified_role *role);
/* Returns true if this role of the template is meant. */
bool notified_roles_have(const struct notified_roles *roles, const struct id *template_id,
			 uint32_t identity);

/* A media server that has sent an event that nobody needs: a sign that it is up. */
struct backend_contact {
	struct backend_contact *next;
	struct id account, backend;
};

/* A room about which something is to be done. */
struct queued_room {
	struct queued_room *next;
	struct id account;
	struct id room; /* zero: all rooms of the account that are in session */
	struct id backend; /* of the last survey; zero if none is wanted */
	unsigned wants; /* of enum room_want */
	struct notified_roles *notified; /* with ROOM_NOTIFY_ROLES, for all rooms; else NULL */
};
/* Frees it. */
void queued_room_free(struct queued_room *room);

/* Events by what became of them, for /metrics. */
enum received_end {
	RECEIVED_TAKEN, /* it will be merged */
	RECEIVED_IGNORED, /* of a kind that nobody needs, or not about a room of the account */
	RECEIVED_REFUSED, /* not signed by the media server */
	RECEIVED_TOO_MANY
};
#define RECEIVED_ENDS (RECEIVED_TOO_MANY + 1)

struct live_queue;

struct live_queue *live_queue_open(void);
void live_queue_close(struct live_queue *queue);

/* Copies the event. Returns false if too many are waiting: in all, or of the account, which may
 * have half of what the other accounts leave, or of the backend, which may have three quarters of
 * what the account's other backends leave of that; but LIVE_QUEUE_SHARE of each, as long as there
 * is room at all. is_in_pool: whether the backend is in a pool. */
bool live_queue_add(struct live_queue *queue, const struct id *account, const struct id *backend,
		    bool is_in_pool, const struct id *room, const struct server_event *event,
		    int64_t at);
/* Notes that the media server has sent an event, which is not needed. */
void live_queue_note_contact(struct live_queue *queue, const struct id *account,
			     const struct id *backend);
/* Has the room surveyed. */
void live_queue_survey(struct live_queue *queue, const struct id *account, const struct id *backend,
		       const struct id *room);
/* Has the rules enforced in the room; room zero: in all rooms of the account. */
void live_queue_enforce(struct live_queue *queue, const struct id *account, const struct id *room);
/* Has moderators in the room notified of how many people wait. */
void live_queue_notify(struct live_queue *queue, const struct id *account, const struct id *room);
/* Has the people notified who have this role, in all rooms in session. */
void live_queue_notify_role(struct live_queue *queue, const struct id *account,
			    const struct notified_role *role);
/* Has these done (of enum room_want, but ROOM_SURVEY and ROOM_NOTIFY_ROLES); room zero: about all
 * rooms of the account. */
void live_queue_want(struct live_queue *queue, const struct id *account, const struct id *room,
		     unsigned wants);
void live_queue_count(struct live_queue *queue, enum received_end end);

/* Everything that waits, oldest first. A room is there once, whatever is wanted. */
struct live_queue_taken {
	struct received_event *received;
	struct queued_room *rooms;
};
/* Takes it. The caller frees each event with free(3), each room with queued_room_free, and calls
 * live_queue_release for events when they are merged: until then they count as waiting. */
struct live_queue_taken live_queue_take(struct live_queue *queue);
/* n events of the backend are merged, or set aside because they could not be stored. */
void live_queue_release(struct live_queue *queue, const struct id *account,
			const struct id *backend, size_t n);
void live_queue_set_aside(struct live_queue *queue);
/* Takes the media servers of live_queue_note_contact. The caller frees each item with free(3). */
struct backend_contact *live_queue_take_contacts(struct live_queue *queue);

struct live_queue_figures {
	uint64_t ends[RECEIVED_ENDS];
	uint64_t waiting;
	uint64_t set_aside;
};
void live_queue_figures(struct live_queue *queue, struct live_queue_figures *figures);

#endif
