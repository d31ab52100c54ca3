/* Enforces who may be in a room. Tokens of media servers remain valid whatever is decided later,
 * and a media server renews them by itself, so people who were put out, banned or given another
 * role come back as they were. When a media server reports that somebody is inside, all of it is
 * therefore compared with the records: the room, its template, the number of people, and what was
 * decided about each of them (struct peer: order, is_strange), by the rules of
 * resources/entry_rules/. The same happens when one of these changes.
 *
 * Only people whom this service let in are put out, those with an entry; the others count.
 *
 * The rules are enforced in steps. Each is a transaction that leaves requests for the media server
 * in `asking`, as the handlers of resources/asking.h do:
 *
 *     live_enforce   finds out what is to be done, notes it, and asks for the people again, who
 *                    get a message that says why
 *     live_carry_on  asks for those to be put out, or put back, who are still there; and, after
 *                    the answers, writes what has become of it
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_ENFORCEMENT_H
#define RESOURCES_LIVE_LIVE_ENFORCEMENT_H

#include "resources/asking.h"
#include "resources/entry_rules/entry_rules.h"
#include "resources/stored/live_record.h"

/* Most people about whom something is done at once, and about whom something is found out at
 * once. */
#define CORRECTIONS_MOST 32
#define CHOSEN_MOST 256

/* Somebody who is to be put out, or to get back what the records have. */
struct correction {
	struct peer peer;
	enum leave_cause cause; /* why to put out; LEAVE_LEFT: put back */
	const char *word; /* of the cause, in the message to the person */
	struct access_guest guest; /* what to put back */
	bool is_there; /* the media server still has the stay */
};

/* Of whom it was found out that something is to be done, by the public id of the stay. */
struct chosen {
	char uuid[UUID_TEXT_SIZE];
	const struct entry_rule *out; /* NULL: put back */
};

/* One run over a room. What is referred to is in the arena of the calls. */
struct enforcement {
	struct id room;
	struct id backend; /* of the session; if there is none, where somebody was seen */
	bool checks_all; /* else only whether there is a place for everybody */
	/* Looks for bans of each person; else those hold that were found when they came in. */
	bool checks_bans;
	/* Results of finding out. */
	struct chosen chosen[CHOSEN_MOST];
	size_t chosen_count, chosen_next; /* the first of those whose turn is next */
	/* Results of live_enforce. */
	bool ends; /* the room is to be ended */
	const char *word; /* why, in the message to the people */
	struct correction *people; /* else these are to be put out or back; of noting */
	size_t count;
	/* Everybody inside was checked, or nobody is inside. Then those who are to be put out, by
	 * their ids, which are in order; and how many are inside if the room is to be ended. */
	bool is_whole;
	struct id *removals;
	size_t removal_count;
	uint64_t inside;
	bool has_more; /* the rules must be enforced again afterwards */
	/* when to enforce the rules next if nothing happens, in milliseconds since 1970; 0:
	 * never */
	int64_t again;
	/* The requests of the last step; NULL if it has left none. */
	struct asking *asking;
	bool is_acting; /* they change something */
	bool has_failed; /* the media server has not done everything */
};

/* Called once the call has been committed: has the rules enforced in the rooms for which its events
 * (resources/audit.h) matter, and the people notified whose role it has changed. */
void live_after_commit(const struct call *call);

/* Enforces the rules in the room. Without `notes`, in a READ transaction, goes through the people
 * and finds out what is to be done: with the room (ends), or with those chosen. With it, in a WRITE
 * transaction, notes what has been found out and still holds, of the next CORRECTIONS_MOST, and
 * leaves requests. */
bool live_enforce(struct call *call, bool notes, struct enforcement *enforcement,
		  struct fault *fault);
/* Goes on after the requests in `asking` have ended; in a WRITE transaction. */
bool live_carry_on(struct call *call, struct enforcement *enforcement, struct fault *fault);

#endif
