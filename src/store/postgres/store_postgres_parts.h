/* Definitions that the sources of this driver share: the store with its connections, and a
 * transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_STORE_POSTGRES_PARTS_H
#define STORE_POSTGRES_STORE_POSTGRES_PARTS_H

#include <pthread.h>

#include "store/postgres/connection.h"
#include "store/postgres/store_postgres.h"

/* Maximum number of accounts for which it is remembered that their writes wait for each other. */
#define CROWDS 64

struct postgres_transaction;

struct store_postgres {
	struct store store;
	struct wire_target target;
	unsigned most; /* maximum number of connections */
	bool uses_callers_clock;
	/* For an upgrade: the only connection, whose transaction all transactions of the store are
	 * a part of. NULL otherwise. */
	struct wire *held;
	_Atomic uint64_t newest; /* number of the last committed transaction of this process */
	_Atomic uint64_t roster; /* the generation that was seen last */
	atomic_bool is_away; /* the database is unavailable */
	_Atomic(const char *) trouble; /* and that is why, for clients; NULL: no response */
	atomic_bool is_doubted; /* asks the watch to check the database immediately */
	atomic_bool is_synchronous; /* a standby must confirm commits */
	_Atomic uint64_t disk_bytes; /* size of the database; 0 if it is unknown */

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t given; /* signalled when a connection was given back */
	pthread_cond_t left; /* signalled when a transaction left `writing` */
	pthread_cond_t ending;
	struct wire *idle;
	struct wire *lost; /* not connected, but with the slots that they had */
	struct postgres_transaction *writing; /* WRITE transactions that have an account */
	struct crowd {
		struct id account; /* the account whose writes wait for each other */
		int64_t timed_out; /* when one last waited in vain, by clock_monotonic */
	} crowds[CROWDS];
	unsigned count; /* connections that are in use, idle or being opened */
	bool is_opening;
	/* the server refused the last additional connection; this is logged once */
	bool is_refused;
	/* no additional connection is opened before this time (clock_monotonic) */
	int64_t open_from;
	bool ends;
	bool has_keeper;
	pthread_t keeper;
};

/* ---- connections (connections.c) ---- */

/* is_watched: a thread checks whether the database is available. */
bool connections_open(struct store_postgres *store, bool is_watched, struct fault *fault);
void connections_close(struct store_postgres *store);
bool connections_take(struct store_postgres *store, struct wire **wire, struct fault *fault);
void connections_give(struct store_postgres *store, struct wire *wire);
/* Returns why the database is unavailable, as a detail of FAULT_UNAVAILABLE. */
const char *connections_trouble(const struct store_postgres *store);
/* Called when a WRITE transaction of an account begins. It keeps transactions that wait for locks
 * from taking all connections: if there are already many of this account, or of all accounts, this
 * one waits only briefly for locks, and it fails immediately while such waits are in vain
 * (FAULT_BUSY). If those that may wait have half of the connections, it waits here, briefly and
 * without a connection, until one of them ends. */
void crowd_enter(struct store_postgres *store, struct postgres_transaction *own,
		 const struct id *account);
void crowd_leave(struct store_postgres *store, struct postgres_transaction *own);
/* Called after a failed flight: replaces FAULT_AGAIN by FAULT_BUSY if the transaction waited only
 * briefly. */
bool crowd_explain(const struct postgres_transaction *own, struct fault *fault);
/* Sets the fault of a transaction that must not begin. */
bool crowd_refuse(const struct store_postgres *store, struct fault *fault);
/* Called after a commit without a response: finds out whether it happened. FAULT_UNAVAILABLE if
 * that is not possible. */
bool connections_find_out(struct store_postgres *store, struct wire *wire, uint64_t last,
			  bool *happened, struct fault *fault);

/* ---- the tables (tables.c) ---- */

enum tables_use { TABLES_READ, TABLES_WRITE, TABLES_UPGRADE };

/* Checks the tables, and compares the form of the records (struct store_form) unless `form` is
 * NULL; with TABLES_WRITE, replaces an earlier one. FAULT_BAD_REQUEST if there is no store,
 * FAULT_UNAVAILABLE if another version of the program wrote the data, or, except with
 * TABLES_UPGRADE, if they must be upgraded first. */
bool tables_check(const char *url, const struct store_form *form, enum tables_use use,
		  struct store_postgres_version *version, struct fault *fault);

/* ---- the accounts (roster_row.c) ---- */

bool roster_read(struct store *store, struct arena *arena, uint64_t *generation, struct slice *text,
		 struct fault *fault);
uint64_t roster_seen(struct store *store);

extern const struct store_driver postgres_driver;

/* ---- transactions ---- */

/* A record that was read, or was found not to exist. */
struct known {
	char letter;
	bool is_locked;
	bool is_absent; /* no record has this name or, if that is empty, this id */
	struct store_record record;
};

/* Finds items that a transaction remembers, by the letter of their kind and a key, which is an id
 * or a name. A few records are in as many lists; the 10,000 records of a bulk are in lists of some
 * hundred. Zeros are an empty index. */
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
	struct slice former_name; /* for a kind whose names are unique in the store */
	struct store_record record;
};

struct highest_id {
	struct highest_id *next;
	char letter;
	struct id account, id;
};

struct postgres_transaction {
	struct transaction base;
	struct wire *wire; /* NULL if is_refused while it waited without one */
	struct postgres_transaction *next; /* in store->writing, if has_entered */
	bool has_entered;
	struct id entered; /* the account it entered with */
	int64_t entered_at; /* clock_monotonic */
	/* waits only briefly for locks, because store->writing has many others */
	bool waits_briefly;
	bool is_brief; /* and the server has been told */
	bool is_refused; /* it must not begin */
	bool is_open; /* begun on the server */
	bool is_one_flight, is_over; /* READ: all expected items are read in one flight */
	/* reads the generation of the accounts with the first flight */
	bool asks_roster, awaits_roster;
	size_t roster_result, roster_column;
	size_t flight; /* number of statements in the flight that is being built */
	struct store_expected *expected;
	size_t expected_count;
	bool is_chain; /* the expected items are one statement */
	struct known *known; /* the newest record */
	struct key_index known_ids, known_names;
	struct known_page *pages;
	struct known_children *children;
	struct known_id *ids;
	bool has_fixed_time;
	struct change *first_change, *last_change;
	struct key_index changed_ids, changed_names;
	struct highest_id *highest_ids; /* highest ids among the own changes, by kind and account */
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

struct store_cursor *rows_walk(struct transaction *transaction, const struct store_kind *kind,
			       bool has_values);
bool rows_next(struct store_cursor *cursor, struct store_record *record, struct fault *fault);
void rows_end_walk(struct store_cursor *cursor);
bool rows_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		uint64_t *counts, struct fault *fault);

/* Copies the record of a row, after comparing its checksum. */
bool rows_read(struct arena *arena, const struct wire *wire, size_t result, size_t row,
	       char *letter, struct store_record *record, struct fault *fault);
/* Queues the changes that have not been sent yet. */
void rows_add_changes(struct postgres_transaction *own);
/* Queues a statement of the transaction, preceded by the statements that begin the transaction if
 * necessary. Returns the index of its result in the flight. */
size_t rows_add(struct postgres_transaction *own, enum statement statement,
		const struct parameters *parameters);
bool rows_fly(struct postgres_transaction *own, struct fault *fault);

/* Returns whether the last READ transaction of this thread needed more than it had announced; then
 * the next one begins a snapshot. Resets this. */
bool rows_was_surprised(void);

#endif
