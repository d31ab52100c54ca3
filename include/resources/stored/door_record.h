/* The door of a room: people who wait until somebody lets them in, as they are stored.
 *
 * Somebody who asks to be let in gets a ticket: 32 random bytes that only this person has, as text.
 * Its record is found by the hash of that text. The id of the record, which moderators see, is
 * drawn from the room's door, so ids rise in the order in which people came; letting all of them in
 * is therefore one number in the door, whatever the number of people: the last id that is admitted.
 *
 * A ticket lapses if nobody asks for it for DOOR_LAPSES, or, once it is admitted, for
 * DOOR_ADMITTED_FOR. Both times, that of the last poll and that at which everybody was admitted,
 * are in memory (door_polls.h); the time of the last poll is also stored now and then.
 *
 * Somebody with the power to remove others may set the door: it then lets in everybody at once,
 * asks everybody, or is locked (struct door_setting). Such a state ends with the session in which
 * it was set; if there was none, an hour after it was set, or after the last session since then.
 * Whoever was inside comes back through a locked door, and so does somebody who is admitted; they
 * have records of visitors, by the entry of their token or by their user_id.
 *
 * None of this is in a dump: whoever still waits asks to be let in again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_DOOR_RECORD_H
#define RESOURCES_STORED_DOOR_RECORD_H

#include "base/digest.h"
#include "base/json_writer.h"
#include "records/kinds.h"
#include "records/record.h"
#include "resources/call.h"
#include "resources/stored/live_record.h"

/* Milliseconds: after which a ticket lapses that nobody asks for; by which the time of the last
 * poll may be newer than the one that is stored; for which an admitted ticket waits to be asked for
 * the first time, since a phone may be asleep, and is answered after that; for which a person who
 * was denied cannot ask again. */
#define DOOR_LAPSES 60000
#define DOOR_WRITES_AFTER 20000
#define DOOR_ADMITTED_FOR 600000
#define DOOR_TAKEN_FOR 60000
#define DOOR_DENIES_FOR 600000
/* Milliseconds for which a state lasts that no session ends. */
#define DOOR_SET_FOR 3600000

enum door_ticket_state {
	DOOR_WAITING, /* also if everybody was admitted since (door_ticket_is_admitted) */
	DOOR_ADMITTED,
	DOOR_TAKEN, /* admitted, and exchanged for a join token */
	DOOR_DENIED
};

/* Most denials that a door keeps, for the list of those that can be taken back. */
#define DOOR_DENIED_MOST 100

/* A ticket that a moderator has denied, which can be taken back until that time. */
struct door_denial {
	struct id ticket;
	int64_t until; /* milliseconds since 1970 */
};

/* What a door does with people who come by a code. The numbers are stored. */
enum door_state {
	DOOR_BY_ROLE, /* it asks if the code or its role does */
	DOOR_OPEN, /* asks nobody, except by a code that asks until the session closes */
	DOOR_ASK, /* asks everybody but those whose role may mute others */
	DOOR_LOCKED /* lets in only those who may come back, and those who are admitted */
};
#define DOOR_STATES (DOOR_LOCKED + 1)
extern const char *const door_state_names[DOOR_STATES];
/* Writes a state as responses and messages have it: null for what roles and codes say. */
void door_state_write(struct json_writer *body, const char *name, enum door_state state);

/* What a moderator has set. */
struct door_setting {
	enum door_state state; /* as stored; see door_state_now */
	enum door_state was; /* before it was locked */
	struct id session; /* with which it ends; zero if there was none */
	int64_t changed; /* when it was set, or when the last session since then closed */
	int64_t locked; /* when it was locked, which tells this lock from others */
};

struct door {
	struct store_record stored; /* its id is the room's; value.data NULL if it has none */
	struct id last; /* of the last ticket */
	struct id admitted; /* everybody with a ticket up to this one was admitted */
	struct slice admitted_by; /* by whom, as the event log names an actor; may be empty */
	uint64_t waiting; /* people */
	struct door_setting set;
	/* Of those who wait, people whom the door asks although neither their code nor its role
	 * does; and those of them with a ticket up to this one were admitted, by whom. */
	uint64_t unasked_waiting;
	struct id unasked;
	struct slice unasked_by;
	int64_t announced; /* time of the last event peer.waiting, in milliseconds since 1970 */
	struct door_denial *denials; /* the newest, oldest first; may be over, or taken back */
	size_t denial_count;
};

struct door_ticket {
	struct store_record stored;
	struct slice name; /* hash of the ticket, in hex */
	struct id room, id;
	enum door_ticket_state state;
	int64_t since; /* when the person came, in milliseconds since 1970, like the times below */
	int64_t polled; /* when it was last asked for; may be up to DOOR_WRITES_AFTER later */
	int64_t taken; /* of the exchange; 0 if there was none. In memory it may be set before the
			* state is DOOR_TAKEN (door_polls.h). */
	int64_t decided; /* when this person was admitted or denied; 0 if neither */
	struct id visitor; /* who waits */
	struct id code_place; /* the code in the room */
	struct slice code; /* its letters */
	bool is_known; /* the code has a user_id */
	bool is_unasked; /* neither the code nor its role asks, only the door */
	/* as they were when the person came; without a user_id, one was generated */
	struct slice role, user_id;
	struct slice user_name; /* may be empty */
	struct slice reason; /* why it was denied; may be empty */
	/* When the person agreed to be recorded; 0 if not. Which sentence was shown; may be
	 * empty. */
	int64_t consented;
	struct slice consent_text;
};

/* Somebody at the door, known by the code if that has a user_id; else by the browser, and by name
 * and address; else, without either, by code and address. People whose code has a user_id have a
 * record, and so do people who were denied: a record for each way in which the person is known.
 * Somebody who may come through a locked door is known by the user_id if the account set it, else
 * by the entry of the token. */
struct visitor {
	struct store_record stored; /* parent: the room */
	struct slice ticket; /* the name of the last one, or of the one that was denied */
	int64_t denied_until; /* 0 if the person was not denied; holds while the ticket is denied */
	struct slice reason;
	/* The lock (struct door_setting) through which the person may come; 0 for none. And the
	 * session in which the person was inside; zero if somebody let the person in. */
	int64_t passes;
	struct id session;
};

extern const struct record_table door_table, door_ticket_table, visitor_table;

/* Returns the name of the record of a ticket. */
struct slice door_ticket_name(struct arena *arena, struct slice ticket);
/* Returns the id of a visitor. address: NULL if the code has a user_id. */
struct id visitor_id(const struct id *room, const struct id *code_place,
		     const unsigned char address[DIGEST_SIZE]);
/* The same for a visitor who is known by what a browser keeps, or by name and address. Names are
 * compared as people see them (text_folded). */
struct id visitor_id_of_browser(struct arena *arena, const struct id *room, struct slice browser);
struct id visitor_id_of_name(struct arena *arena, const struct id *room, struct slice name,
			     const unsigned char address[DIGEST_SIZE]);
/* The same for somebody who may come through a locked door. */
struct id visitor_id_of_entry(struct arena *arena, const struct id *room, struct slice entry);
struct id visitor_id_of_user(struct arena *arena, const struct id *room, struct slice user_id);

/* Returns what the door does at `now`. live: of the room, as it was read. */
enum door_state door_state_now(const struct door *door, const struct live *live, int64_t now);
/* Admits everybody who has a ticket. by: as the event log names an actor. */
void door_admit_all(struct door *door, struct slice by);
/* Counts one person less who waits: the one with this ticket. */
void door_count_down(struct door *door, const struct door_ticket *ticket);
/* Sets the state, which is another one. What it does to those who wait is decided at once: an open
 * door lets all of them in, and so does DOOR_BY_ROLE those whom only the door asked. by: as the
 * event log names an actor. */
void door_set(struct door *door, enum door_state state, const struct live *live, struct slice by,
	      int64_t now);
/* Called when a session opens (live: none yet), or when a state may be over: ends one that is, and
 * stores that. */
bool door_settle(struct call *call, struct door *door, const struct live *live,
		 struct fault *fault);
/* Called when the session closes: ends a state that was set in it. */
bool door_close_session(struct call *call, const struct id *room, const struct id *session,
			struct fault *fault);
/* True if a moderator has denied somebody, and that holds. */
bool door_has_denials(const struct door *door, int64_t now);

/* True if the person may come in: this ticket was admitted, or everybody was. */
bool door_ticket_is_admitted(const struct door *door, const struct door_ticket *ticket);
/* True if nothing was decided. */
bool door_ticket_is_waiting(const struct door *door, const struct door_ticket *ticket);
/* True if the record can be removed. polled: when the ticket was last asked for, or 0 to go by the
 * stored time, which may be older. admitted: when it was admitted; 0 if it was not. */
bool door_ticket_has_lapsed(const struct door_ticket *ticket, int64_t polled, int64_t admitted,
			    int64_t now);

bool door_load(struct call *call, const struct id *room, enum store_reading reading,
	       struct door *door, struct fault *fault);
bool door_put(struct call *call, const struct door *door, struct fault *fault);
/* Notes in the record that a moderator has denied the ticket at call->now. Forgets denials that are
 * over, and the oldest one if there are too many. */
void door_add_denial(struct call *call, struct door *door, const struct id *ticket);

/* Lets a database read these visitors, to change them, in one round trip. */
void visitors_expect(struct call *call, const struct id *ids, size_t n);

/* Somebody who may come through a locked door. */
struct passer {
	const struct id *room;
	struct slice entry; /* of the token; empty if it has none */
	struct slice user_id; /* if the account set it; else empty */
};
/* Finds out whether the person may come through the present lock. */
bool door_finds_pass(struct call *call, const struct door *door, const struct live *live,
		     const struct passer *passer, bool *may_pass, struct fault *fault);
/* Lets people through the present lock, who are or were inside in the session; session: NULL if
 * somebody lets them in. */
bool door_give_passes(struct call *call, const struct door *door, const struct passer *passers,
		      size_t n, const struct id *session, struct fault *fault);

/* Finds a ticket of the account by its id. */
bool door_ticket_find(struct call *call, const struct id *room, const struct id *id,
		      enum store_reading reading, struct door_ticket *ticket, bool *is_there,
		      struct fault *fault);
/* Removes a ticket, and the record of its visitor unless that has another ticket. The caller counts
 * who waits. */
bool door_ticket_remove(struct call *call, const struct door_ticket *ticket, struct fault *fault);

#endif
