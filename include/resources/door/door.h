/* People who wait at the door of a room until somebody lets them in (anteroom-api(7), WAITING
 * ROOM).
 *
 *     POST /v2/token      the code, or its role, asks: door_apply makes a ticket
 *     GET  /v2/tickets/T  the person asks, again and again, what was decided. Once the ticket is
 *                         admitted, it is exchanged as the code would be (resources/joining/join.h).
 *                         Only the uses that a code counts are written at once. When somebody
 *                         asked, and that the ticket was exchanged, is noted in memory
 *                         (door_polls.h)
 *     /v2/active-rooms/R/tickets   moderators list, admit and deny
 *     /v2/active-rooms/R/door      moderators open and lock the door, or have it ask everybody
 *
 * background/door_watch.c writes what is in memory some time later, many tickets at once, with the
 * events peer.admitted, and removes tickets that have lapsed. If the process ends before, tickets
 * that were exchanged are still admitted: they can be exchanged again, for the same person.
 * background/live_enforce.c tells the moderators inside how many people wait, and what the door
 * does.
 *
 * An exchange must know what the door does, and whether somebody was denied, without reading it for
 * each person in rooms where nothing was ever set or denied: the record of the room's codes, which
 * it reads anyway, says that there is something to read (codes_mark).
 *
 * Whoever changes the number of people who wait locks the record of the door. In a database,
 * applicants would therefore wait for each other, each in a worker; so each process handles them
 * one at a time (call->is_serial).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_DOOR_DOOR_H
#define RESOURCES_DOOR_DOOR_H

#include "base/json_writer.h"
#include "resources/door/door_polls.h"
#include "resources/stored/door_record.h"
#include "resources/entry_rules/entry_rules.h"
#include "resources/stored/room_record.h"

/* Of the room of the path, which the route loads as a view (resources/live/live_caller.h): the
 * door, as call->door; the ticket of the path, as call->door_ticket. */
extern const struct loading load_door;
/* The same for a call that sets it or denies somebody: it marks the room (codes_mark), whose record
 * is locked before. */
extern const struct loading load_marked_door;
extern const struct loading load_ticket;

/* Somebody who comes by a code, and for whom the door matters: it asks (entrant->asks), is locked,
 * or somebody was denied there. Borrowed. */
struct door_applicant {
	struct entrant *entrant;
	bool is_unasked; /* neither the code nor its role asks, only the door */
	struct slice user_name; /* of the code, or as sent; may be empty */
	struct slice browser; /* what the page keeps to be known again; may be empty */
	int64_t consented; /* as in struct door_ticket */
	struct slice consent_text;
};
/* Answers with a ticket, unless the door does not ask. Sets FAULT_FORBIDDEN if the door is locked,
 * or the person does not want to wait, or was denied a moment ago, and FAULT_TOO_MANY if too many
 * wait, or were denied. Changes a READ transaction to a WRITE transaction (call_write_instead).
 *
 * If the person was denied, and that was taken back since, does not answer: *ticket, in the arena,
 * is then to be exchanged and taken (door_take), and *door is its door. Else *ticket is NULL. */
bool door_apply(struct call *call, const struct door_applicant *applicant, struct door *door,
		struct door_ticket **ticket, struct fault *fault);

/* Finds the ticket of the path, which belongs to any account, with its door, and sets
 * call->account. Notes that it was asked for. Sets FAULT_NOT_FOUND if it has lapsed. */
bool door_ticket_open(struct call *call, struct door_ticket *ticket, struct door *door,
		      struct fault *fault);
/* Returns whether a stored ticket has lapsed, as far as this process knows. */
bool door_has_lapsed(const struct call *call, const struct door *door,
		     const struct door_ticket *ticket);
/* Answer what was decided. */
bool door_answer_waiting(struct call *call, const struct door *door);
bool door_answer_denied(struct call *call, const struct door_ticket *ticket);
/* Denies the person, because the rules of the code do, and answers so. */
bool door_deny(struct call *call, struct door *door, struct door_ticket *ticket,
	       const struct room_record *room, struct slice reason, struct fault *fault);
/* Announces to the store what the exchange of an admitted ticket reads after door_ticket_open. */
void door_expect_exchange(struct call *call, const struct door_ticket *ticket);
/* Notes that the admitted ticket is exchanged, at call->now: in the store if the call writes
 * anyway. */
bool door_take(struct call *call, const struct door *door, struct door_ticket *ticket,
	       const struct room_record *room, struct fault *fault);

/* Writes `state`, what call->door does, and, while it is locked, `was`, what it did before. */
void door_write_state(struct call *call, struct json_writer *body);

/* Writes the times of `n` tickets, all of one account, that door_polls_due has found. */
bool door_write_polls(struct call *call, const struct door_poll *polls, size_t n,
		      struct fault *fault);

/* Removes tickets of a room that have lapsed, at most DOOR_SWEPT_AT_ONCE. */
#define DOOR_SWEPT_AT_ONCE 128
struct door_sweep {
	struct id room;
	struct id after; /* tickets up to this one were gone through */
	/* Results. */
	bool is_last;
	size_t lapsed; /* people who waited */
	bool has_changed; /* who waits */
	bool is_empty; /* nobody has a ticket */
};
bool door_sweep(struct call *call, struct door_sweep *sweep, struct fault *fault);

/* The one who waits gives up. */
handler tickets_give_up;
handler tickets_list;
handler tickets_decide;
handler tickets_admit;
handler door_set_state;

#endif
