/* What the sources of this driver share: the store with its connections, and a transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_STORE_POSTGRES_PARTS_H
#define STORE_POSTGRES_STORE_POSTGRES_PARTS_H

#include <pthread.h>

#include "store/postgres/connection.h"
#include "store/postgres/store_postgres.h"

/* Accounts whose writes wait for each other, at most so many at a time. */
#define CROWDS 64

struct postgres_transaction;

struct store_postgres {
	struct store store;
	struct wire_target target;
	unsigned most; /* connections */
	bool uses_callers_clock;
	_Atomic uint64_t newest; /* the last committed transaction of this process */
	_Atomic uint64_t roster; /* the generation that was seen last */
	atomic_bool is_away; /* the database */
	atomic_bool is_doubted; /* the watch is to look at once */
	atomic_bool is_synchronous; /* some standby has to confirm commits */

	pthread_mutex_t lock; /* held for what follows */
	pthread_cond_t given; /* a connection came back */
	pthread_cond_t ending;
	struct wire *idle;
	struct wire *lost; /* not connected, with the slots that they had */
	struct postgres_transaction *writing; /* WRITE transactions of accounts */
	struct crowd {
		struct id account; /* whose writes wait for each other */
		int64_t timed_out; /* clock_monotonic, when one has waited in vain */
	} crowds[CROWDS];
	unsigned count; /* connections that are in use, idle or being opened */
	bool is_opening;
	bool is_refused; /* the server refused the last further connection; this is logged once */
	int64_t open_from; /* no further connection is opened before this time (clock_monotonic) */
	bool ends;
	bool has_keeper;
	pthread_t keeper;
};

/* ---- connections (connections.c) ---- */

bool connections_open(struct store_postgres *store, struct fault *fault);
void connections_close(struct store_postgres *store);
bool connections_take(struct store_postgres *store, struct wire **wire, struct fault *fault);
void connections_give(struct store_postgres *store, struct wire *wire);
/* A WRITE transaction of an account begins. Those that wait for locks leave connections to others:
 * where many of one account, or of all, are under way, one more waits only briefly for a lock, and
 * is refused at once while such waits are in vain (FAULT_BUSY). */
void crowd_enter(struct store_postgres *store, struct postgres_transaction *own,
		 const struct id *account);
void crowd_leave(struct store_postgres *store, struct postgres_transaction *own);
/* After a flight that failed: FAULT_BUSY in place of FAULT_AGAIN, if it waited briefly. */
bool crowd_explain(const struct postgres_transaction *own, struct fault *fault);
/* After a commit without an answer: whether it happened. FAULT_UNAVAILABLE when that cannot be
 * found out. */
bool connections_find_out(struct store_postgres *store, struct wire *wire, uint64_t last,
			  bool *happened, struct fault *fault);

/* ---- the tables (tables.c) ---- */

/* FAULT_BAD_REQUEST when there is no store, or one that this program must not use. */
bool tables_check(const char *url, int *version, struct fault *fault);

/* ---- the accounts (roster_row.c) ---- */

bool roster_read(struct store *store, struct arena *arena, uint64_t *generation, struct slice *text,
		 struct fault *fault);
uint64_t roster_seen(struct store *store);

/* ---- transactions ---- */

/* A record that was read, or that is not there. */
struct known {
	char letter;
	bool is_locked;
	bool is_absent; /* by its name, else by its id */
	struct store_record record;
};

/* Finds what a transaction remembers by the letter of its kind and a key: an id or a name. A few
 * records are in as many lists, and 10,000 of a bulk in lists of some hundred. Zero: empty. */
#define KEY_INDEX_LISTS 64
struct key_entry {
	const struct key_entry *next;
	void *item;
};
struct key_index {
	const struct key_entry *lists[KEY_INDEX_LISTS];
};

struct known_page {
	struct known_page *next;
	char letter;
	struct store_page page; /* with copies of the bounds, and the results */
};

struct known_children {
	struct known_children *next;
	char letter;
	struct id parent;
	bool exist;
};

struct known_id {
	struct known_id *next;
	char letter;
	bool has_newest;
	uint64_t number;
	int64_t now;
	struct id newest;
};

struct change {
	struct change *before, *after;
	const struct store_kind *kind;
	bool is_insertion, is_removal, is_sent;
	bool needs_guard, needs_parent;
	struct slice former_name; /* of a kind whose names are unique anywhere */
	struct store_record record;
};

struct highest_id {
	struct highest_id *next;
	char letter;
	struct id account, id;
};

struct postgres_transaction {
	struct transaction base;
	struct wire *wire;
	struct postgres_transaction *next; /* in store->writing, when it has_entered */
	bool has_entered;
	struct id entered; /* the account */
	int64_t entered_at; /* clock_monotonic */
	bool waits_briefly; /* for a lock: there are many others in store->writing */
	bool is_brief; /* and the server knows */
	bool is_refused; /* it is not begun */
	bool is_open; /* on the server */
	bool is_one_flight, is_over; /* READ: all that is expected is read in one flight */
	bool asks_roster, awaits_roster; /* for its generation, with the first flight */
	size_t roster_result, roster_column;
	size_t flight; /* statements in the flight that is being made */
	struct store_expected *expected;
	size_t expected_count;
	bool is_chain; /* what is expected is one statement */
	struct known *known; /* the newest */
	struct key_index known_ids, known_names;
	struct known_page *pages;
	struct known_children *children;
	struct known_id *ids;
	bool has_fixed_time;
	struct change *first_change, *last_change;
	struct key_index changed_ids, changed_names;
	struct highest_id *highest_ids; /* of our changes, by kind and account */
	size_t unsent;
};

static inline struct postgres_transaction *rows_own(struct transaction *transaction)
{
	return (struct postgres_transaction *)transaction;
}

/* ---- records (rows.c): functions of the driver ---- */

void rows_expect(struct transaction *transaction, enum store_statements how,
		 const struct store_expected *expected, size_t n);
bool rows_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	      enum store_reading reading, struct store_record *record, struct fault *fault);
bool rows_get_several(struct transaction *transaction, const struct store_kind *kind,
		      const struct id *accounts, const struct id *ids, size_t n,
		      struct store_record *records, struct fault *fault);
bool rows_get_named(struct transaction *transaction, const struct store_kind *kind,
		    struct slice name, enum store_reading reading, struct store_record *record,
		    struct fault *fault);
bool rows_page(struct transaction *transaction, const struct store_kind *kind,
	       struct store_page *page, struct fault *fault);
bool rows_have_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *have_children, struct fault *fault);
bool rows_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		   struct fault *fault);
bool rows_new_id(struct transaction *transaction, const struct store_kind *kind,
		 const struct clock *clock, int64_t *now, struct id *id, struct fault *fault);
bool rows_put(struct transaction *transaction, const struct store_kind *kind,
	      const struct store_record *record, const struct store_record *former,
	      struct fault *fault);
bool rows_remove(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record, struct fault *fault);

bool rows_walk(struct transaction *transaction, const struct store_kind *kind, store_visit *visit,
	       void *context, struct fault *fault);
bool rows_walk_keys(struct transaction *transaction, const struct store_kind *kind,
		    store_visit *visit, void *context, struct fault *fault);
bool rows_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		uint64_t *counts, struct fault *fault);

/* The record of a row, copied, with its checksum compared. */
bool rows_read(struct arena *arena, const struct wire *wire, size_t result, size_t row,
	       char *letter, struct store_record *record, struct fault *fault);
/* Queues the changes that were not sent yet. */
void rows_add_changes(struct postgres_transaction *own);
/* Queues a statement of the transaction, after its beginning where that is due; the place of its
 * result in the flight. */
size_t rows_add(struct postgres_transaction *own, enum statement statement,
		const struct parameters *parameters);
bool rows_fly(struct postgres_transaction *own, struct fault *fault);

/* A READ transaction of this thread needed more than it had said: its next one begins a
 * snapshot. */
bool rows_was_surprised(void);

#endif
