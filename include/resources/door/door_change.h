/* What one run of a call changes at a door. The records are written at once. Since the run may be
 * repeated, what is in memory (door_polls.h), the metrics, and the queue of live rooms follow when
 * the call is committed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_DOOR_DOOR_CHANGE_H
#define RESOURCES_DOOR_DOOR_CHANGE_H

#include "resources/door/door_polls.h"
#include "resources/stored/door_record.h"
#include "resources/stored/room_record.h"
#include "rules/live_rules.h"

/* Private to resources/door/. A run changes one door. */
struct door_change {
	struct id room;
	bool has_changed; /* the number of people */
	uint64_t ends[DOOR_ENDS];
	struct id admitted; /* everybody up to this ticket; zero if only some */
	struct id unasked; /* the same for those whom only the door asks */
	bool is_set; /* it has another state */
	struct slice names[ADMITTED_MOST]; /* of the tickets that were admitted one by one */
	size_t name_count;
	const struct door_ticket *denied; /* NULL if nobody was */
	/* The address of the denied person, if it is known and others can come by the code. */
	bool has_address;
	unsigned char address[DIGEST_SIZE];
	const struct door_ticket *allowed; /* whose denial was taken back; or NULL */
};
/* Returns what this run changes at the door of the room. */
struct door_change *door_change_of(struct call *call, const struct id *room);

/* Notes an event about a ticket. actor: who did it, as the event log names an actor; empty if it is
 * the caller. */
void door_note(struct call *call, const char *type, const struct room_record *room,
	       const struct door *door, const struct door_ticket *ticket, struct slice actor);
/* Notes peer.admitted for a ticket that is exchanged or given up, if it was admitted together with
 * all others: nothing was noted for it then. */
void door_note_admitted(struct call *call, const struct room_record *room, const struct door *door,
			const struct door_ticket *ticket);

/* Stores a door where the number of people has changed. */
bool door_put_changed(struct call *call, const struct door *door, struct fault *fault);
/* Stores that the ticket is denied, and the door if the person was waiting. may_return: that can be
 * taken back. */
bool door_put_denied(struct call *call, struct door *door, struct door_ticket *ticket,
		     const struct room_record *room, struct slice reason, struct slice actor,
		     bool may_return, struct fault *fault);
/* Stores that the admitted ticket was exchanged, at ticket->taken. */
bool door_put_taken(struct call *call, const struct door *door, struct door_ticket *ticket,
		    const struct room_record *room, struct fault *fault);

/* Called once the call has been committed: counts what it has decided, and has moderators notified
 * of how many people wait, and of what the door does. */
void door_after_commit(const struct call *call);

#endif
