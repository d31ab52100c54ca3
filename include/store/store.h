/* The store: transactions over named tables of key -> blob. This is the interface; drivers are
 * store_gdbm (durable: store/gdbm/store_gdbm.h), store_memory (tests) and, in the tests, one that fails
 * at the n-th call. The open store embeds `struct store` first.
 *
 * What it promises (decisions.md "Read your writes"; house of the durable driver in store_gdbm.h):
 *
 *  - A transaction is there whole or not at all. An abandoned one leaves nothing.
 *  - Numbers: every committed transaction that changed something has one, rising by one.
 *  - A READ transaction sees one consistent state: everything up to the number that was durable
 *    when it began, and nothing else. It never waits.
 *  - A WRITE transaction sees everything committed before it, also what is not durable yet, and its
 *    own writes. There is one at a time: store_begin waits for the other. It is never held while
 *    something waits for the disk or for a client. Whoever refuses because of what it saw sends the
 *    refusal only when store_seen() is durable.
 *  - store_commit makes the changes visible to the next WRITE transaction and gives their number at
 *    once; they are durable, and visible to READ transactions, when store_state() says so. Nobody
 *    but store_flush and store_wait waits for the disk.
 *  - get gives *value with data NULL when there is nothing: absence is not a fault.
 *  - Faults: FAULT_AGAIN, which a store that several machines share may set in any of these functions,
 *    store_commit included: nothing was stored, and the whole transaction has to be run again;
 *    FAULT_UNAVAILABLE when the store cannot write (disk full, a failed sync: then for good)
 *    or when what is read is damaged; FAULT_TOO_LARGE when a value does not fit into the arena.
 *
 * Threads: any number; one transaction belongs to one thread at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/slice.h"

/* The tables: name, letter (it is part of the files and never changes), what a key is. */
#define STORE_TABLES(X) \
	X(ACCOUNT, 'a', "account: counters, default template") \
	X(TEMPLATE, 't', "account, template: the template") \
	X(TEMPLATE_NAME, 'n', "account, name: template") \
	X(ROLE, 'r', "account, template, identity: a role that was deleted") \
	X(ROOM, 'm', "account, room: the room") \
	X(ROOM_NAME, 'o', "account, name in lower case: room") \
	X(ROOM_CODES, 'd', "account, room: all codes of the room") \
	X(CODE, 'c', "code: account, room") \
	X(SEQUENCE, 's', "list, level, number: a node of an ordered list")

enum store_table {
#define STORE_TABLE(name, letter, doc) STORE_##name,
	STORE_TABLES(STORE_TABLE)
#undef STORE_TABLE
		STORE_TABLE_COUNT
};

enum store_access { STORE_READ, STORE_WRITE };

enum store_state {
	STORE_PENDING, /* committed, not durable yet */
	STORE_DURABLE,
	STORE_FAILED /* will never be durable: answer 503 */
};

/* Keys are at most this long; values at most 4 MB. */
#define STORE_KEY_MAX 256
#define STORE_VALUE_MAX ((size_t)4 << 20)

struct store;
struct transaction;
struct store_figures; /* store/figures.h */

/* What a driver provides. Drivers implement these; everybody else calls the functions below, which
 * check the common preconditions by assert and pass on. */
struct store_driver {
	const char *name;
	bool (*begin)(struct store *, enum store_access, struct arena *, struct transaction **,
		      struct fault *);
	bool (*get)(struct transaction *, enum store_table, struct slice key, struct slice *value,
		    struct fault *);
	bool (*put)(struct transaction *, enum store_table, struct slice key, struct slice value,
		    struct fault *);
	bool (*remove)(struct transaction *, enum store_table, struct slice key, struct fault *);
	bool (*commit)(struct transaction *, uint64_t *number, struct fault *);
	void (*abandon)(struct transaction *);
	enum store_state (*state)(struct store *, uint64_t number);
	bool (*flush)(struct store *);
	bool (*can_write)(struct store *);
	void (*figures)(struct store *, struct store_figures *); /* NULL: it has none */
	void (*close)(struct store *);
};

struct store {
	const struct store_driver *driver;
};

/* What every transaction begins with; a driver's own follows it. */
struct transaction {
	struct store *store;
	struct arena *arena; /* of the call; values that get gives live here */
	enum store_access access;
	bool has_changes;
	uint64_t number; /* see store_number */
};

/* The transaction itself lives in the arena; commit or abandon ends it, whatever they answer. */
bool store_begin(struct store *store, enum store_access access, struct arena *arena,
		 struct transaction **transaction, struct fault *fault);

/* The value lives as long as the arena (not only as long as the transaction) and is not to be
 * changed. Removing what is not there is fine. Keys and values given are copied. */
bool store_get(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault);
bool store_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault);
bool store_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault);

/* WRITE: the number that this transaction will have if it changes something. READ: the number of
 * the state it sees. */
uint64_t store_number(const struct transaction *transaction);
/* The youngest transaction whose changes this one could see. */
uint64_t store_seen(const struct transaction *transaction);

/* *number: of this transaction; when it changed nothing, store_seen(). False: nothing happened. */
bool store_commit(struct transaction *transaction, uint64_t *number, struct fault *fault);
void store_abandon(struct transaction *transaction);

/* Whether a number is durable. Cheap: no lock, no system call. */
enum store_state store_state(struct store *store, uint64_t number);

/* Makes durable everything that was committed before the call; if another thread is at it, returns
 * false at once without having done anything (that thread will see what is pending now before it
 * stops or the caller's next attempt succeeds: call again as long as something you wait for is
 * STORE_PENDING). True: this thread flushed, once; states may have changed to DURABLE or FAILED.
 * When there was no room on the disk it waited some milliseconds: nobody has to wait before the next
 * attempt. */
bool store_flush(struct store *store);

/* Waits until the number is durable: for commands and tests, never for a worker. */
bool store_wait(struct store *store, uint64_t number, struct fault *fault);

/* Whether a WRITE transaction would be let in now (readiness). */
bool store_can_write(struct store *store);

/* What the store says of itself. False, and all zero: this driver says nothing. */
bool store_figures(struct store *store, struct store_figures *figures);

/* No transaction may be open. NULL is fine. */
void store_close(struct store *store);

/* The letter and the name of a table. */
char store_table_letter(enum store_table table);
const char *store_table_name(enum store_table table);

#endif
