/* Who waits at doors, as far as this process knows of them: when each ticket was last asked for and
 * first exchanged, and from where. So polls and exchanges write nothing, and floods are noticed
 * without a count in the store.
 *
 * A ticket is added when somebody asks to be let in; or when it is polled for the first time after
 * the start of the process, or after another process has issued it. It counts for the limits until
 * it is decided; if another process decides, until the ticket is asked for, or the door is gone
 * through.
 *
 * Any thread; the lock is held only for a moment. Times are in milliseconds since 1970.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_DOOR_DOOR_POLLS_H
#define RESOURCES_DOOR_DOOR_POLLS_H

#include "resources/stored/door_record.h"

/* Most people of one room who wait by one code without a user_id. */
#define DOOR_CODE_MOST 1000
/* The same from one address (for IPv6 a /64), unless an option says otherwise. */
#define DOOR_ADDRESS_MOST 200
/* Most people who wait in a room. */
#define DOOR_MOST 10000
/* Denials of one code from one address, after which nobody else waits there until the first of them
 * is over: somebody who is denied could come again as another browser. */
#define DOOR_DENIALS_MOST 5

struct door_polls;

/* address_most: people of one room from one address. */
struct door_polls *door_polls_open(unsigned address_most);
void door_polls_close(struct door_polls *polls);

/* Sets what stands for an address: the same for the addresses of an IPv6 /64. */
void door_address(struct slice address, unsigned char digest[DIGEST_SIZE]);

enum door_limit { DOOR_FITS, DOOR_ADDRESS_IS_FULL, DOOR_CODE_IS_FULL };
/* Returns whether one more person may wait from the address, and by the code of the ticket, of
 * which room, code_place and is_known are used. */
enum door_limit door_polls_limit(struct door_polls *polls, const struct door_ticket *ticket,
				 const unsigned char address[DIGEST_SIZE]);
/* Adds the ticket of a new applicant, unless too many wait from the address, or by the code. Does
 * nothing if the ticket is there. */
enum door_limit door_polls_enter(struct door_polls *polls, const struct id *account,
				 const struct door_ticket *ticket,
				 const unsigned char address[DIGEST_SIZE]);
/* Adds the new ticket of an applicant who asks again, in place of the former one. waits: nothing is
 * decided, so the ticket counts; from another address, only if it fits there. */
enum door_limit door_polls_replace(struct door_polls *polls, const struct id *account,
				   struct slice former, const struct door_ticket *ticket,
				   const unsigned char address[DIGEST_SIZE], bool waits);
/* When a ticket was last asked for, and when it was first exchanged; 0 if this process does not
 * know of it. */
struct door_times {
	int64_t polled, taken;
};
/* Notes that a ticket was asked for at `now`, and returns the times before. waits: nothing is
 * decided, so the ticket counts. */
struct door_times door_polls_note(struct door_polls *polls, const struct id *account,
				  const struct door_ticket *ticket,
				  const unsigned char address[DIGEST_SIZE], bool waits,
				  int64_t now);
struct door_times door_polls_times(struct door_polls *polls, struct slice name);
/* Notes that a ticket that this process knows was first exchanged at `time`: the person waits no
 * more. */
void door_polls_take(struct door_polls *polls, struct slice name, int64_t time);
/* Notes that a ticket was admitted: it counts no more. */
void door_polls_admit(struct door_polls *polls, struct slice name);
/* Whom a door admits all at once. */
enum door_admits { DOOR_ADMITS_EVERYBODY, DOOR_ADMITS_UNASKED };
/* Notes that all tickets of a room up to this one, or those of them with is_unasked, were admitted
 * at `now`, unless that is known. */
void door_polls_admit_all(struct door_polls *polls, const struct id *account, const struct id *room,
			  enum door_admits admits, const struct id *until, int64_t now);
/* Returns when a ticket was admitted, which the door has admitted with all others: `now` if this
 * process did not know. Of the last DOOR_ADMISSIONS_MOST times in a room, the oldest may be too
 * late. */
#define DOOR_ADMISSIONS_MOST 20
int64_t door_polls_admitted_at(struct door_polls *polls, const struct id *account,
			       const struct door_ticket *ticket, const struct door *door,
			       int64_t now);
/* Returns the address to which the ticket was issued, or from which it was first polled; false if
 * this process does not know the ticket. */
bool door_polls_address(struct door_polls *polls, struct slice name,
			unsigned char address[DIGEST_SIZE]);
/* Notes that a ticket, by whose code others can come, was denied until that time. */
void door_polls_deny(struct door_polls *polls, const struct door_ticket *ticket,
		     const unsigned char address[DIGEST_SIZE], int64_t until);
/* Notes that the denial of a ticket was taken back. */
void door_polls_allow(struct door_polls *polls, const struct door_ticket *ticket);
/* Returns until when nobody else may wait by the code of the ticket, of which room and code_place
 * are used, from the address; 0 if others may. */
int64_t door_polls_denied_until(struct door_polls *polls, const struct door_ticket *ticket,
				const unsigned char address[DIGEST_SIZE], int64_t now);
/* Removes a ticket, which is denied or given up, or whose exchange is stored. */
void door_polls_remove(struct door_polls *polls, struct slice name);

/* Has the door of a room gone through soon, for tickets that have lapsed. */
void door_polls_watch(struct door_polls *polls, const struct id *account, const struct id *room);

/* A ticket whose times are to be stored. */
struct door_poll {
	struct id account, room;
	char name[2 * DIGEST_SIZE];
	struct door_times times;
};
/* Finds at most `most` tickets that were exchanged, or whose stored time is older than
 * DOOR_WRITES_AFTER at `now`, in the order of accounts, rooms and names. Those that were exchanged
 * are found again later until they are removed. Also removes those that have lapsed. */
size_t door_polls_due(struct door_polls *polls, int64_t now, struct door_poll *due, size_t most);
/* Takes a room whose door was not gone through since `before`, and sets that to `now`. False if
 * there is none. */
struct door_room {
	struct id account, room;
};
bool door_polls_take_room(struct door_polls *polls, int64_t before, int64_t now,
			  struct door_room *room);
/* Nobody waits in the room any more. */
void door_polls_unwatch(struct door_polls *polls, const struct door_room *room);

/* For metrics. */
enum door_end { DOOR_END_ADMITTED, DOOR_END_DENIED, DOOR_END_LAPSED };
#define DOOR_ENDS (DOOR_END_LAPSED + 1)
void door_polls_count(struct door_polls *polls, enum door_end end, uint64_t people);
struct door_figures {
	uint64_t waiting; /* tickets that this process has been asked for */
	uint64_t ends[DOOR_ENDS];
};
void door_polls_figures(struct door_polls *polls, struct door_figures *figures);

#endif
