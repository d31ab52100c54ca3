/* The store: records in transactions. A record belongs to an account and has a kind. It is found by
 * its id or by its unique name, may have a parent and a switch, and is listed in pages in the order
 * of creation. The drivers maintain names, pages and ids; callers know nothing of indexes and
 * counters.
 *
 * Drivers: store/gdbm (durable, one machine), store/postgres (several machines), and two for
 * tests: one in memory, and one that fails at the n-th call. One test suite,
 * tests/suites/check_records, runs over all of them.
 *
 * Every driver guarantees:
 *
 *  - A transaction is applied as a whole or not at all. An abandoned transaction changes nothing.
 *  - A READ transaction sees one consistent state: everything that was durable when it began, and
 *    nothing else. It does not wait for other transactions.
 *  - A WRITE transaction sees everything committed before it, durable or not, and its own changes.
 *    No other transaction can change the records that it reads for change (STORE_TO_CHANGE) or
 *    writes. If it gives way (store_give_way), no other transaction uses the records of its account
 *    until it ends.
 *  - A committed transaction has a number. store_state() tells whether it is durable. A rejection
 *    may be based on changes that are not durable yet, so it is sent only when store_seen() is
 *    durable.
 *  - A damaged value is never returned: the fault is FAULT_DAMAGED.
 *  - Any function may fail with FAULT_AGAIN: the transaction is abandoned and the whole call is run
 *    again. If a name is already taken, or a record or parent has been removed, a driver whose
 *    writers do not wait for each other may report this only in store_put, store_remove or
 *    store_commit.
 *  - FAULT_BUSY: other transactions are in the way, and running the call again immediately would
 *    not help.
 *  - FAULT_UNAVAILABLE: the store cannot read or cannot write. FAULT_TOO_LARGE: the value does not
 *    fit into the arena.
 *  - After a fault, a transaction can only be abandoned. Exception: after FAULT_DAMAGED from
 *    store_get or store_get_several, the caller may continue without the damaged records.
 *
 * Threads: any number; a transaction belongs to one thread at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"

enum store_access { STORE_READ, STORE_WRITE };

/* What a WRITE transaction reads a record for. A record read STORE_TO_CHANGE is not changed by
 * other transactions until this one ends; a record read STORE_TO_SHOW may be changed by another
 * machine. */
enum store_reading { STORE_TO_SHOW, STORE_TO_CHANGE };

enum store_state {
	STORE_PENDING, /* committed, not durable yet */
	STORE_DURABLE,
	STORE_FAILED /* not durable: respond with 503. It may reappear after a restart */
};

enum store_naming {
	STORE_NO_NAME,
	STORE_NAME_IN_ACCOUNT, /* unique among the account's records of the kind */
	/* Unique in the store. Records of such kinds are found by name and in pages of their
	 * parent, not by id. */
	STORE_NAME_ANYWHERE
};

/* Milliseconds that a transaction waits for a record that another one has locked, before
 * FAULT_AGAIN. */
#define STORE_LOCK_MOST 10000

/* The largest name and the largest value, in bytes. */
#define STORE_NAME_MAX 128
#define STORE_VALUE_MAX ((size_t)4 << 20)

/* The form of the records: what their bytes mean. The layer above makes it, and compares it; for
 * the store it is a text that is not empty. A store keeps the form with which it was created. When
 * it is opened, the form that it keeps is compared with that of the program: if the program can
 * read everything (STORE_FORM_SAME, STORE_FORM_EARLIER), it opens. If the program has something
 * that the kept form lacks (STORE_FORM_EARLIER) and may write, its form replaces the kept one,
 * durably, before the store is open: so before the first record that an older program could not
 * read.
 *
 * Each driver also keeps the number of the form (records/upgrade.h). Data with a lower number than
 * that of the program must be upgraded before the store opens; the layer above does so, with the
 * help of the driver (store/gdbm/upgrade.h, store/postgres/store_postgres.h).
 *
 * Anything else is not damage: FAULT_UNAVAILABLE, whose cause says in one sentence which program
 * has written the data. A store that keeps no form is of the time before there were forms. */
enum store_form_match { STORE_FORM_SAME, STORE_FORM_EARLIER, STORE_FORM_NEWER, STORE_FORM_OTHER };

struct store_form {
	unsigned (*number)(void); /* of this program */
	struct slice (*text)(struct arena *arena); /* of this program */
	/* The kept form is that of this number, which is not above that of this program. */
	enum store_form_match (*compare)(unsigned number, struct slice kept);
};

/* The number of version 0.2.0, the first whose data later versions read. Lower ones were given to
 * the data of programs that were never released. */
#define STORE_FORM_FIRST 7

/* What a store keeps. */
struct store_form_kept {
	unsigned number;
	struct slice text;
};

/* Returns the number of the program's form; form: NULL for tests, which have none. */
unsigned store_form_number(const struct store_form *form);
/* The sentence about data of a newer version. what: the data, "the data in DIR/store". */
bool store_form_newer(const char *what, struct fault *fault);
/* Returns false, with one of the sentences, if this program cannot read data with this form, not
 * even after an upgrade. *is_earlier: the form of this program must replace it; *is_to_be_upgraded:
 * after the records were converted. form: NULL for tests, and for those who do not read records;
 * they accept any. */
bool store_form_check(const struct store_form *form, const struct store_form_kept *kept,
		      const char *what, bool *is_earlier, bool *is_to_be_upgraded,
		      struct fault *fault);
/* Does the same, but also refuses what must be upgraded first. */
bool store_form_accept(const struct store_form *form, const struct store_form_kept *kept,
		       const char *what, bool *is_earlier, struct fault *fault);

/* A kind of record. The layer above defines its kinds as constants. Drivers store a new kind
 * without a change of their format, and keep records of kinds that this program does not know. */
struct store_kind {
	char letter; /* part of the stored keys: never changed, never reused for another kind */
	const char *name; /* for messages: "room" */
	enum store_naming naming;
	bool has_ids; /* ids come from store_new_id */
	bool has_pages; /* listed in pages of the account */
	bool has_parent; /* listed in pages of the parent */
	bool has_switch; /* pages can be limited to one side of the switch */
	/* Records may have an end, by which they are listed (STORE_BY_END). Not for kinds with
	 * STORE_NAME_ANYWHERE. */
	bool has_ends;
	/* The kind of the parent, if every record must have one: a parent of this kind is removed
	 * only after store_has_children in the same transaction. NULL if the callers ensure this
	 * themselves, or if there is no parent. */
	const struct store_kind *under;
	/* The kind of the parent, or of the record with the same id, if that record is always
	 * created first. NULL if there is no such kind. */
	const struct store_kind *after;
};

struct store_record {
	struct id account; /* set by reads; writes use the transaction's account */
	struct id id; /* orders pages; unique within account and kind */
	struct id parent; /* for kinds with a parent */
	bool is_on; /* the switch, for kinds with one */
	int64_t ends; /* for kinds with ends: milliseconds since 1970; 0 if it has none */
	struct slice name; /* for kinds with a name: 1 to STORE_NAME_MAX bytes, compared bytewise */
	/* 1 to STORE_VALUE_MAX bytes. After a read, data is NULL if there is no such record. */
	struct slice value;
};

enum store_order {
	STORE_NEWEST_FIRST, /* descending ids */
	STORE_OLDEST_FIRST,
	/* ascending names; for kinds with STORE_NAME_IN_ACCOUNT, without parent and side */
	STORE_BY_NAME,
	/* records that end until a time, the earliest first; for kinds with ends, without parent,
	 * side and bounds */
	STORE_BY_END
};

enum store_side { STORE_BOTH_SIDES, STORE_ON, STORE_OFF };

/* Which records a page has, memory for them, and the results. */
struct store_page {
	enum store_order order;
	enum store_side side;
	const struct id *parent; /* NULL for all records of the account */
	/* exclusive bounds of the id, in either order; NULL for no bound */
	const struct id *above, *below;
	int64_t until; /* STORE_BY_END: milliseconds since 1970 */
	struct slice prefix, after; /* STORE_BY_NAME: names with this prefix, after this name */
	struct store_record *records; /* array of the caller, with `most` elements */
	size_t most;
	/* The page ends after the record with which the values exceed this many bytes; 0 for no
	 * limit. */
	size_t bytes_most;
	/* Results. */
	size_t count;
	bool is_last; /* no records follow */
	/* After FAULT_DAMAGED, for pages in the order of ids: the record that cannot be read.
	 * `count` records come before it, and the caller may continue reading after it. Zero if it
	 * is not known which record is damaged. */
	struct id damaged;
};

/* What a transaction is going to read. */
enum store_finding {
	STORE_FIND_ID,
	STORE_FIND_NAME,
	/* the parent of the record that item `from` finds; for a page, the parent of each of its
	 * records */
	STORE_FIND_PARENT,
	/* the record whose id is the value of the record that item `from` finds */
	STORE_FIND_VALUE,
	/* the record `id` in the account of the record that item `from` finds by name */
	STORE_FIND_OWN,
	/* the page of the records of one side, oldest first, with the same parent as the record
	 * that item `from` finds by name; only in a STORE_CHAIN */
	STORE_FIND_SIBLINGS,
	STORE_FIND_PAGE,
	STORE_FIND_CHILDREN, /* store_has_children with the parent `id` */
	STORE_FIND_NEW_ID
};

/* How many statements read the expected items. */
enum store_statements {
	STORE_EACH, /* one statement for each item */
	/* One statement for all items of a READ transaction, so that it sees one state of the
	 * store. The items, in this order: the parent of the second item; a record found by a name
	 * that is unique in the store; the parent of the first item; another parent of the second
	 * item; if there are five, a record of the account of the second item (STORE_FIND_OWN); and
	 * if there are six, records below the parent of the second item, of the side STORE_ON
	 * (STORE_FIND_SIBLINGS). A WRITE transaction may expect more items after these. */
	STORE_CHAIN
};

struct store_expected {
	const struct store_kind *kind;
	enum store_finding finding;
	enum store_reading reading;
	size_t from; /* index of another item */
	const struct id *id;
	struct slice name;
	const struct store_page *page; /* only its parameters are used */
};

struct store;
struct transaction;
struct store_figures; /* store/figures.h */

/* The first member of a driver's walk over everything. A cursor belongs to a transaction from
 * store_cursor_add until store_cursor_end, which calls the driver's end_walk; the end of the
 * transaction does so for all that are left. */
struct store_cursor {
	struct transaction *transaction;
	struct store_cursor *next; /* of the transaction; NULL if there is none */
};
void store_cursor_add(struct store_cursor *cursor, struct transaction *transaction);
void store_cursor_end(struct store_cursor *cursor);

/* The functions of a driver. The functions below call them, after checking the preconditions by
 * assert. */
struct store_driver {
	const char *name;
	bool (*begin)(struct store *, enum store_access, struct arena *, struct transaction **,
		      struct fault *);
	void (*expect)(struct transaction *, enum store_statements, const struct store_expected *,
		       size_t n); /* NULL if the driver does not use it */
	/* Other processes write at the same time: a taken name may be reported late, and what a
	 * WRITE transaction reads to show may change between two reads. */
	bool is_shared;
	bool (*get)(struct transaction *, const struct store_kind *, const struct id *,
		    enum store_reading, struct store_record *, struct fault *);
	/* For READ transactions. NULL if records are read one by one. */
	bool (*get_several)(struct transaction *, const struct store_kind *,
			    const struct id *accounts, const struct id *ids, size_t n,
			    struct store_record *, struct fault *);
	bool (*get_named)(struct transaction *, const struct store_kind *, struct slice name,
			  enum store_reading, struct store_record *, struct fault *);
	bool (*page)(struct transaction *, const struct store_kind *, struct store_page *,
		     struct fault *);
	bool (*has_children)(struct transaction *, const struct store_kind *,
			     const struct id *parent, bool *, struct fault *);
	bool (*fix_time)(struct transaction *, int64_t least, int64_t *now,
			 struct fault *); /* NULL if the caller's clock is the only one */
	bool (*new_id)(struct transaction *, const struct store_kind *, const struct clock *,
		       int64_t *now, struct id *, struct fault *);
	bool (*put)(struct transaction *, const struct store_kind *, const struct store_record *,
		    const struct store_record *former, struct fault *);
	bool (*remove)(struct transaction *, const struct store_kind *, const struct store_record *,
		       struct fault *);
	/* NULL if writers of different accounts do not wait for each other, or if it does not
	 * matter that they do. */
	bool (*give_way)(struct transaction *, struct fault *);
	/* For WRITE transactions, called before the account is set. NULL if the driver does nothing
	 * then. */
	void (*enter)(struct transaction *, const struct id *account);
	/* Begins a walk over everything, with or without values, and adds its cursor to the
	 * transaction. `next` reads the next record, and returns false at the end and after a
	 * fault. end_walk frees the cursor. */
	struct store_cursor *(*walk)(struct transaction *, const struct store_kind *,
				     bool has_values);
	bool (*next)(struct store_cursor *, struct store_record *, struct fault *);
	void (*end_walk)(struct store_cursor *);
	/* NULL in drivers for tests. */
	bool (*count)(struct transaction *, const struct store_kind *const *, size_t n,
		      uint64_t *counts, struct fault *);
	bool (*commit)(struct transaction *, uint64_t *number, struct fault *);
	void (*abandon)(struct transaction *);
	enum store_state (*state)(struct store *, uint64_t number);
	void (*flush)(struct store *);
	void (*stop_retrying)(struct store *); /* NULL if the driver never retries */
	bool (*can_write)(struct store *);
	const char *(*trouble)(struct store *); /* NULL if only the log says why it cannot */
	/* NULL if the accounts are not in the store. */
	bool (*roster)(struct store *, struct arena *, uint64_t *generation, struct slice *text,
		       struct fault *);
	uint64_t (*roster_generation)(struct store *);
	/* NULL if the driver has no figures */
	void (*figures)(struct store *, struct store_figures *);
	void (*close)(struct store *);
};

/* The first member of every open store. */
struct store {
	const struct store_driver *driver;
};

/* The first member of every transaction. */
struct transaction {
	struct store *store;
	struct arena *arena; /* the caller's; holds what reads return */
	struct id account; /* the account whose records are read and written */
	enum store_access access;
	bool has_changes;
	size_t put_bytes; /* see store_put_bytes */
	uint64_t number; /* WRITE: its own number; READ: the number of the state it sees */
	uint64_t roster; /* see store_set_roster */
	struct store_cursor *cursors; /* of walks over everything that have not ended */
};

/* Begins a transaction, which is allocated in the arena. store_commit or store_abandon ends it,
 * even if the commit fails. */
bool store_begin(struct store *store, enum store_access access, struct arena *arena,
		 struct transaction **transaction, struct fault *fault);

/* Sets the account for everything that follows; a call that begins with a room code finds out the
 * account only later. A WRITE transaction may wait here for a transaction of the same account that
 * has given way. If it has waited and had already read something, its next read or change fails
 * with FAULT_AGAIN. */
void store_set_account(struct transaction *transaction, const struct id *account);

/* Sets the generation of the accounts that the caller was admitted with; 0 if it does not matter.
 * If the store has another generation, the first read fails with FAULT_AGAIN. With STORE_ROSTER_ANY
 * the generation is read along but not compared, for callers that look up the account
 * afterwards. */
#define STORE_ROSTER_ANY UINT64_MAX
void store_set_roster(struct transaction *transaction, uint64_t generation);

/* ---- reading ----
 *
 * Names and values live as long as the arena and must not be modified. */

/* Called before the first read: tells the driver what will be read, so that it can read everything
 * at once and lock in this order. Items that are not read afterwards do no harm. A WRITE
 * transaction may read more than the items; a READ transaction that does so may have to be run
 * again (FAULT_AGAIN).
 *
 * May be called again when what was read shows what else is needed. What a READ transaction reads
 * from then on may be of a later state than what it has read before. */
void store_expect(struct transaction *transaction, enum store_statements how,
		  const struct store_expected *expected, size_t n);
/* Returns whether the driver uses store_expect. */
bool store_wants_expected(const struct transaction *transaction);

bool store_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	       enum store_reading reading, struct store_record *record, struct fault *fault);
/* For kinds with STORE_NAME_ANYWHERE, also finds records of other accounts; record->account tells
 * which. */
bool store_get_named(struct transaction *transaction, const struct store_kind *kind,
		     struct slice name, enum store_reading reading, struct store_record *record,
		     struct fault *fault);
/* Reads `n` records by their ids, in the order of the ids, to show them. accounts: the account of
 * each record, or NULL if all belong to the transaction's account. */
bool store_get_several(struct transaction *transaction, const struct store_kind *kind,
		       const struct id *accounts, const struct id *ids, size_t n,
		       struct store_record *records, struct fault *fault);
bool store_page(struct transaction *transaction, const struct store_kind *kind,
		struct store_page *page, struct fault *fault);
bool store_has_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *has_children, struct fault *fault);

/* ---- walks ----
 *
 * A walk reads many records, one after the other:
 *
 *	struct store_walk walk = store_walk_pages(transaction, &kind_room, &page, false, fault);
 *	struct store_record record;
 *
 *	while (store_next(&walk, &record))
 *		show_room(&record);
 *	return fault->kind == FAULT_NONE;
 *
 * The loop may use the transaction and begin other walks, and may be left at any time: whatever a
 * walk holds belongs to its transaction, whose end frees it. Of two walks through pages, the second
 * must have ended or been left before the first goes on, unless both keep their records. */

/* A walk. Its members are of store.c. */
struct store_walk {
	struct transaction *transaction;
	const struct store_kind *kind;
	struct fault *fault; /* the caller's */
	bool has_ended;
	struct store_cursor *cursor; /* of a walk over everything; NULL in a walk through pages */
	/* Of a walk through pages. */
	struct store_page page;
	size_t at; /* index of the next record in the page */
	struct id last; /* the one before */
	bool has_page; /* a page was read */
	bool keeps;
	struct arena_mark mark; /* the position before the page */
};

/* Records that a walk through pages reads together. */
#define STORE_WALK_AT_ONCE 128
/* Begins a walk through all pages in the order of ids, of which `page` is the first; its records
 * and results are not used, its bounds and its parent are borrowed. keeps: all records, and what
 * the loop leaves in the arena, stay; otherwise a READ transaction releases the arena to where it
 * was before each page (a WRITE transaction has its changes in the arena). */
struct store_walk store_walk_pages(struct transaction *transaction, const struct store_kind *kind,
				   const struct store_page *page, bool keeps, struct fault *fault);
/* Begins a walk over all records of a kind, of all accounts, in no particular order. For READ
 * transactions. */
struct store_walk store_walk_all(struct transaction *transaction, const struct store_kind *kind,
				 struct fault *fault);
/* Like store_walk_all, but without reading values, so it also finds records with a damaged value.
 * Only account and id are set, or the name for a kind with STORE_NAME_ANYWHERE. */
struct store_walk store_walk_keys(struct transaction *transaction, const struct store_kind *kind,
				  struct fault *fault);
/* Reads the next record, which lives until the next call. Returns false at the end of the walk, and
 * once the fault that was given at its beginning is set, by the walk or by the loop. */
bool store_next(struct store_walk *walk, struct store_record *record);

/* Counts the records of each kind, without reading values. */
bool store_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		 uint64_t *counts, struct fault *fault);

/* ---- writing: WRITE transactions ----
 *
 * All arguments are copied. */

/* Makes all further new ids of the transaction use one time, and returns it in *now, in
 * milliseconds since 1970. This is the time of the store's own clock, but not before `least`; if
 * the store has no clock, *now is left as it is. */
bool store_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		    struct fault *fault);
/* Creates an id above all ids of the account and kind. The id begins with the seconds of *now, in
 * milliseconds since 1970. If the clock was set back, *now is raised to the time of the newest id.
 * After ID_TIME_MAX, ids keep that time. */
bool store_new_id(struct transaction *transaction, const struct store_kind *kind,
		  const struct clock *clock, int64_t *now, struct id *id, struct fault *fault);
/* Writes a record. former: the record with the same id as this transaction read it for change, or
 * NULL if the record is new. FAULT_AGAIN if another record has the name: when the call is run
 * again, it either finds that record first or draws another name. */
bool store_put(struct transaction *transaction, const struct store_kind *kind,
	       const struct store_record *record, const struct store_record *former,
	       struct fault *fault);
/* Removes a record, given as this transaction read it for change. Its children stay. A damaged
 * record is removed by its id alone; this is possible only for kinds without names and pages. */
bool store_remove(struct transaction *transaction, const struct store_kind *kind,
		  const struct store_record *record, struct fault *fault);

/* Called between the steps of a long transaction: lets waiting WRITE transactions of other accounts
 * go first. Afterwards the caller must not use what it has read of other accounts. FAULT_AGAIN if
 * one of them has changed something that this transaction has changed too, for example if both took
 * the same name. */
bool store_give_way(struct transaction *transaction, struct fault *fault);

/* ---- the end of a transaction ---- */

/* Returns whether a commit would change anything. */
bool store_has_changes(const struct transaction *transaction);

/* Returns the bytes of all values that were put, counting each put even if it replaces an earlier
 * one. */
size_t store_put_bytes(const struct transaction *transaction);

/* Returns the number of the newest transaction whose changes this one could see. */
uint64_t store_seen(const struct transaction *transaction);

/* Commits the transaction and sets *number to its number, or to store_seen() if it changed nothing.
 * It is durable when store_state() says so, with some drivers immediately. If it fails,
 * nothing has happened, unless the detail of FAULT_UNAVAILABLE says that the outcome is unknown. */
bool store_commit(struct transaction *transaction, uint64_t *number, struct fault *fault);
void store_abandon(struct transaction *transaction);

/* Returns the state of a transaction. Number 0 is durable. Takes no lock and makes no system
 * call. */
enum store_state store_state(struct store *store, uint64_t number);

/* Tries once to make all earlier commits durable. If another thread is doing this already, waits
 * for it. Waits some milliseconds if the disk is full. */
void store_flush(struct store *store);

/* Called when the process is about to exit. From now on, a commit that does not fit on the disk
 * fails instead of being retried until there is space, and nothing is written after such a failure.
 * Any thread. */
void store_stop_retrying(struct store *store);

/* Waits until the transaction with this number is durable. For commands and tests, not for
 * workers. */
bool store_wait(struct store *store, uint64_t number, struct fault *fault);

/* ---- the store ---- */

/* Reads the accounts, if the store has them: the text of an accounts file, empty at first, and its
 * generation, which rises with each change. If text is NULL, reads only the generation. */
bool store_has_roster(const struct store *store);
bool store_roster(struct store *store, struct arena *arena, uint64_t *generation,
		  struct slice *text, struct fault *fault);
/* Returns the generation that was last seen by any transaction of this process. */
uint64_t store_roster_generation(struct store *store);

/* Returns whether other WRITE transactions run while one is open. */
bool store_is_shared(const struct store *store);

/* Returns whether a WRITE transaction would be admitted now (for readiness). */
bool store_can_write(struct store *store);
/* Returns why not, for clients. */
const char *store_trouble(struct store *store);

/* Reads the figures. False if the driver has none; then all are zero. */
bool store_figures(struct store *store, struct store_figures *figures);

/* Closes the store; no transaction may be open. NULL is allowed. */
void store_close(struct store *store);

#endif
