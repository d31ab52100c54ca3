/* What the watch (background/live_watch.h) knows, and what its parts share: the accounts with their
 * turns, the media servers, the rooms, and the requests that are under way.
 *
 * A room of a pool is at one media server, its place (resources/media/placing.h); that is where a
 * watched_room is. Of the same room at another server there may be a watched_stray: live_follow.c
 * learns from reports and lists that people are there, and live_places.c ends it.
 *
 * A watched_room has what is to be done about a room, and when: live_follow.c surveys it at
 * survey_at, live_enforce.c enforces the rules there at enforce_at. So neither of them calls the
 * other: what a merge finds out makes the rules due to be enforced, and what was enforced makes the
 * room due for a survey (watched_enforce_soon, watched_survey_soon).
 *
 * All of it belongs to the thread of the watch, which alone calls these functions. Only the members
 * under the lock are shared, with the thread of the media client, which hands back the requests
 * that have ended, and with callers who ask for the figures.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_WATCHED_H
#define BACKGROUND_LIVE_WATCHED_H

#include <pthread.h>

#include "background/live_watch.h"
#include "background/transact.h"
#include "resources/asking.h"
#include "resources/live/live_queue.h"

/* Milliseconds: between two surveys of a room at least; until it is found out who is to be put out,
 * if the rules cannot be enforced when that is due; between two messages to moderators about who
 * waits, and to people about their role. */
#define SURVEY_AT_MOST_EVERY 1000
#define FIND_REMOVALS_AFTER 2000
#define NOTIFY_AFTER 1000
#define NOTIFY_ROLES_AFTER 1000
/* Requests to one backend that are under way: half of its places, so that calls find one. */
#define ASKED_AT_ONCE 4
/* Large lists that may have arrived. Of an account one. */
#define LARGE_ARRIVED 4
/* Bytes of the arena of a survey of a room or a list, which may have 10,000 people. */
#define MEMORY_MOST (8 * ARENA_LIMIT)

/* Somebody who is to be put out. */
struct removal {
	struct id peer;
	int64_t since;
};

/* What the moderators of a room are notified of. */
enum room_news { NEWS_WAITING, NEWS_DOOR, NEWS_HOLDS, NEWS_JOBS, ROOM_NEWS };

struct watched_room {
	struct id account, room; /* the key */
	size_t place; /* in the array of rooms */
	/* What merges and enforcing have found: in session, where, and how many are inside. */
	struct id backend;
	bool is_live;
	uint64_t inside;
	int64_t empty_since; /* milliseconds since 1970; 0 if somebody is inside, or no session */
	bool left_unseen; /* for live_grace */
	bool closes; /* its session closes, in steps (live_watch.c) */
	/* live_follow.c: when it is to be surveyed; INT64_MAX: when the next list of rooms has
	 * it. */
	int64_t survey_at;
	int64_t surveyed; /* 0 if never */
	int64_t often_until;
	bool is_asking;
	bool is_large; /* its last list was a large one */
	/* live_enforce.c: when the rules are to be enforced; INT64_MAX: when something happens. */
	int64_t enforce_at;
	/* when to enforce the rules although nothing happens: milliseconds since 1970; 0 never */
	int64_t enforce_next;
	bool checks_all; /* at enforce_at; else only whether there is a place for everybody */
	bool checks_bans; /* the next time that everybody is checked; merges find later bans */
	bool is_acting;
	/* Those who are to be put out, in the order of their ids, as the rules were last enforced;
	 * and, if all are, since when, else 0. When to find that out again, whether or not the
	 * rules can be enforced: INT64_MAX if there is nobody. */
	struct removal *removals;
	size_t removal_count;
	int64_t ends_since;
	int64_t find_removals_at;
	uint64_t overdue; /* of these people, those who should be outside for OVERDUE_AFTER */
	/* Its moderators are to be notified: of how many people wait, what the door does, that
	 * holds have changed. */
	bool notifies[ROOM_NEWS];
	int64_t notified[ROOM_NEWS]; /* when they were; 0 if never */
	/* People are to be notified of the changes of roles from this one on (pending_role); 0:
	 * none. */
	uint64_t changes_from;
	int64_t roles_notified; /* when they were; 0 if never */
};

/* A room at a media server of a pool although its place is elsewhere. */
struct watched_stray {
	struct id account, room, backend; /* the key */
	size_t place; /* in the array of strays */
	/* live_places.c: when something is to be done; INT64_MAX: when people are reported there
	 * again. When the room is ended there even if people are inside; 0: not known yet. */
	int64_t act_at;
	int64_t end_at;
	/* Its move: when the place changed (milliseconds since 1970). Since then: its people were
	 * told, by this process; the room was ended there. */
	int64_t moved;
	bool was_told, was_ended;
	bool is_empty; /* as it was last seen */
	bool is_acting;
	bool has_come; /* somebody, while it is acting */
	int64_t forget_at;
};

/* In the order of their ids, which come first (id_place). */
struct watched_backend {
	struct id id, account;
	bool is_there; /* in the records, as live_watch.c found */
	/* As live_follow.c read last: it is in a pool; its load is counted (live_places.c). */
	bool is_in_pool, has_load;
	/* live_follow.c. */
	int64_t survey_at;
	int64_t listed; /* when the list was asked for; 0 if never */
	size_t under_way; /* surveys */
	/* is_down: it did not answer the last time. has_answered: ever, or it sent an event. */
	bool is_listing, was_up, is_down, has_answered;
	bool is_large; /* its last list was a large one */
	/* When its last event came, and the one that is stored, in milliseconds since 1970; and
	 * when that was stored. 0: none. */
	int64_t event, event_stored, stored_at;
	int64_t set_aside; /* when one of its events last was: milliseconds since 1970; 0 never */
	/* live_enforce.c: requests that enforce rules, and requests that notify people of their
	 * role. */
	size_t acting, notifying;
};

/* Enforcing has turns of its own, so that it does not wait for the merging of what a media server
 * reports. */
enum watch_work { WORK_MERGE, WORK_ENFORCE, WATCH_WORKS };

/* A role that has changed, and the number of the change within its account. */
struct pending_role {
	struct notified_role role;
	uint64_t change;
};

/* In the order of their ids, which come first (id_place). */
struct watched_account {
	struct id id;
	int64_t left[WATCH_WORKS]; /* microseconds; below 0: what it owes */
	int64_t day; /* that was begun for those who are inside (live_watch.c) */
	/* live_follow.c. */
	int64_t aside_logged; /* 0 if never */
	bool has_large; /* a large list was asked for, or is being merged */
	/* live_enforce.c. */
	uint64_t changes; /* of roles; the number of the last one */
	uint64_t all_changed; /* the last change that meant all roles; 0 if none is pending */
	struct pending_role *pending; /* until the people have been notified in all rooms */
	size_t pending_count, pending_capacity;
	size_t notifying; /* rooms whose people are to be notified */
	struct place_count *places; /* live_places.c; NULL until the account has a pool */
};

/* Requests of the watch to a media server, from when they are made until their outcomes have been
 * used. */
struct pending_request {
	struct pending_request *next;
	struct live_watch *watch;
	struct arena *arena;
	struct asking *asking;
	/* What it has added to a counter of its backend. The backend may be found, or forgotten,
	 * meanwhile. */
	size_t counted;
	struct id account;
	enum watch_work work;
	bool has_place; /* of a large list that has arrived: one of `large` of the watch */
	bool is_dropped; /* there was none */
	/* Uses the outcomes. Returns false if it has more to do in another turn; else the request
	 * is closed, or under way again. */
	bool (*take)(struct live_watch *watch, struct pending_request *pending);
};

/* What /metrics show of a media server. */
struct shown_load {
	struct id account;
	struct slice name; /* its own */
	uint64_t rooms, people;
	bool lacks_reserve; /* the first one of a pool in which no other one could take its rooms */
};

struct live_watch {
	const struct environment *environment;
	struct lease *lease;
	struct transactor work;
	pthread_t thread;
	int wake;
	pthread_mutex_t lock;
	/* Under the lock. */
	bool ends;
	struct pending_request *done; /* those whose requests have ended */
	struct id large[LARGE_ARRIVED]; /* the accounts of large lists that have arrived */
	size_t large_count;
	struct live_figures figures;
	struct shown_load *loads; /* of the media servers that this process counts */
	size_t load_count, load_capacity;
	/* Of the thread: what it knows, and what has become of its requests. */
	void *tree; /* of rooms, by their key (tsearch) */
	struct watched_room **rooms;
	size_t room_count, room_capacity;
	void *stray_tree; /* of strays, by their key */
	struct watched_stray **strays;
	size_t stray_count, stray_capacity;
	struct watched_backend *backends;
	size_t backend_count, backend_capacity;
	struct watched_account *accounts;
	size_t account_count, account_capacity;
	/* in the order in which their requests ended */
	struct pending_request *answered, **answered_end;
	bool is_behind; /* something waits for the next turn of its account */
	/* live_follow.c. */
	struct received_event *waiting; /* events that could not be merged yet */
	size_t large_read; /* large lists whose contents are in memory */
	/* live_enforce.c: rooms about which something is to be done that could not be done yet. */
	struct queued_room *queued;
	/* live_watch.c. */
	bool had_lease;
	int64_t begun; /* when it got the lease */
	size_t found_place; /* the next account whose rooms are gone through after the start */
	int64_t found_at; /* when; 0 if all have been */
	int64_t backends_at, old_at;
	size_t old_place; /* the next account whose old sessions are removed */
	int64_t day; /* today, in days since 1970; 0 at the start */
};

/* Returns the account, and adds it if it is not known. The pointer is valid until the next call. */
struct watched_account *watched_account_of(struct live_watch *watch, const struct id *id);

/* Begins a round, in which each account has a turn of some milliseconds for each kind of work. An
 * account that takes longer has less time in the next rounds. */
void watched_begin_turns(struct live_watch *watch);
/* Returns true if the account may work on in this round; else there is another one at once. */
bool watched_has_turn(struct live_watch *watch, const struct id *account, enum watch_work work);
/* Notes the work of an account since `begun`, of clock_microseconds. */
void watched_took_turn(struct live_watch *watch, const struct id *account, enum watch_work work,
		       int64_t begun);

/* Returns the room, and adds it if it is not known. backend: where it is, or may be; zeros if that
 * is not known. The pointer is valid until watched_remove_room. */
struct watched_room *watched_room_of(struct live_watch *watch, const struct id *account,
				     const struct id *backend, const struct id *id);
/* Returns NULL if the room is not known. */
struct watched_room *watched_find_room(const struct live_watch *watch, const struct id *account,
				       const struct id *id);
void watched_remove_room(struct live_watch *watch, struct watched_room *room);
/* The account's media servers are to be asked for their lists of rooms. */
void watched_list_soon(struct live_watch *watch, const struct id *account);
/* The room is to be surveyed, or the rules enforced there, at this time at the latest. all:
 * everybody in it, not only whether there is a place for them. */
void watched_survey_soon(struct watched_room *room, int64_t at);
void watched_enforce_soon(struct watched_room *room, int64_t at, bool all);
/* Returns the stray, and adds it if it is not known: people are in the room at this media server,
 * although it is elsewhere, as far as the watch knows. */
struct watched_stray *watched_stray_of(struct live_watch *watch, const struct id *account,
				       const struct id *backend, const struct id *room);
/* Returns NULL if it is not known. */
struct watched_stray *watched_find_stray(const struct live_watch *watch, const struct id *account,
					 const struct id *backend, const struct id *room);
void watched_remove_stray(struct live_watch *watch, struct watched_stray *stray);
/* The media server does not have the room, or no longer has it: the next person who joins has it
 * made again. */
void watched_remove_server_room(struct live_watch *watch, const struct watched_room *room);

/* Forgets what is shown of the account's media servers; NULL: of all accounts. The caller holds the
 * lock. */
void watched_forget_loads(struct live_watch *watch, const struct id *account);
/* Returns NULL if there is no such media server. The pointer is valid for this round. */
struct watched_backend *watched_backend_of(struct live_watch *watch, const struct id *account,
					   const struct id *id);

/* Returns a pending request of this size, with an arena of its own. */
struct pending_request *pending_open(struct live_watch *watch, const struct id *account,
				     enum watch_work work, size_t size);
/* Makes the requests of pending->asking; pending->take is called once they have ended. */
void pending_send(struct pending_request *pending);
void pending_close(struct pending_request *pending);
/* Takes those whose requests have ended to the end of watch->answered. */
void pending_take_ended(struct live_watch *watch);
/* Does that, and calls `take` of each pending request whose account has a turn. */
void pending_take(struct live_watch *watch);

#endif
