/* The store: records in transactions. A record belongs to an account and is of a kind; it is found
 * by its id or by its unique name, may have a parent and a switch, and comes in pages in the order
 * of making. Names, pages and ids are the driver's work: the callers know no index and no counter.
 *
 * Drivers: store/gdbm (durable, one machine), store/postgres (several machines), and in the tests
 * one in memory and one that fails at the n-th call. One test suite, tests/check_records, runs over
 * all of them.
 *
 * What every driver promises:
 *
 *  - A transaction is applied whole or not at all. An abandoned one leaves nothing.
 *  - A READ transaction sees one consistent state: all that was durable when it began, nothing
 *    else. It waits for no other transaction.
 *  - A WRITE transaction sees everything committed before it, durable or not, and its own changes.
 *    It is alone in what it reads for change (STORE_TO_CHANGE) and in what it writes; if it gives
 *    way (store_give_way), it is alone in the records of its account until it ends.
 *  - A committed transaction has a number. store_state() says whether it is durable. A refusal may
 *    rest on changes that are not durable yet: it is sent when store_seen() is durable.
 *  - A damaged value is never returned: FAULT_DAMAGED.
 *  - Any function may fail with FAULT_AGAIN: the transaction is abandoned and the whole call run
 *    again. A driver whose writers do not wait for each other says so of a name that is taken, or a
 *    record or parent that is gone, in store_put, store_remove or store_commit.
 *  - FAULT_BUSY: other transactions are in the way, and running the call again at once would be in
 *    vain.
 *  - FAULT_UNAVAILABLE: the store cannot read or cannot write. FAULT_TOO_LARGE: the value does not
 *    fit into the arena.
 *  - After a fault a transaction can only be abandoned. After FAULT_DAMAGED of store_get and
 *    store_get_several the caller may also continue it, without the damaged records.
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

/* Why a WRITE transaction reads a record. A record read STORE_TO_CHANGE is changed by no other
 * transaction until this one ends; one read STORE_TO_SHOW may be changed by another machine. */
enum store_reading { STORE_TO_SHOW, STORE_TO_CHANGE };

enum store_state {
	STORE_PENDING, /* committed, not durable yet */
	STORE_DURABLE,
	STORE_FAILED /* not durable: answer 503. It may be found after a restart */
};

enum store_naming {
	STORE_NO_NAME,
	STORE_NAME_IN_ACCOUNT, /* unique among the account's records of the kind */
	/* Unique in the store; such records are found by name and in pages of their parent, not by
	 * id. */
	STORE_NAME_ANYWHERE
};

/* Milliseconds that a transaction waits for a record which another one has locked; FAULT_AGAIN
 * then. */
#define STORE_LOCK_MOST 10000

/* The largest name and the largest value, in bytes. */
#define STORE_NAME_MAX 128
#define STORE_VALUE_MAX ((size_t)4 << 20)

/* A kind of records. The layer above defines its kinds, as constants: drivers store a new kind
 * without a change of their format, and carry records of kinds that this program does not know. */
struct store_kind {
	char letter; /* part of the stored keys: it never changes, nor is used for another kind */
	const char *name; /* for messages: "room" */
	enum store_naming naming;
	bool has_ids; /* ids come from store_new_id */
	bool has_pages; /* in pages of the account */
	bool has_parent; /* in pages of the parent */
	bool has_switch; /* pages may be of one side of the switch */
	/* The kind of the parent when no record may be without it: a parent of this kind is removed
	 * only after store_has_children in the same transaction. NULL: the callers see to that. */
	const struct store_kind *under;
	/* The kind of the parent, or of the record with the same id, when no record comes to be
	 * before that one. NULL: there is none. */
	const struct store_kind *after;
};

struct store_record {
	struct id account; /* set by reads; writes take the transaction's */
	struct id id; /* orders pages; unique in account and kind */
	struct id parent; /* of kinds with a parent */
	bool is_on; /* the switch, of kinds with one */
	struct slice
		name; /* of kinds with a name: 1 to STORE_NAME_MAX bytes, compared byte by byte */
	struct slice
		value; /* 1 to STORE_VALUE_MAX bytes; reads: data NULL, there is no such record */
};

enum store_order {
	STORE_NEWEST_FIRST, /* descending ids */
	STORE_OLDEST_FIRST,
	STORE_BY_NAME /* ascending; kinds with STORE_NAME_IN_ACCOUNT, without parent and side */
};

enum store_side { STORE_BOTH_SIDES, STORE_ON, STORE_OFF };

/* Which records, and room for them. */
struct store_page {
	enum store_order order;
	enum store_side side;
	const struct id *parent; /* NULL: all of the account */
	const struct id *above, *below; /* exclusive bounds of the id in either order; NULL: none */
	struct slice prefix, after; /* STORE_BY_NAME: names with this prefix, after this name */
	struct store_record *records; /* the caller's, `most` of them */
	size_t most;
	/* The page ends after the record that exceeds this sum of values; 0: no bound. */
	size_t bytes_most;
	/* Results. */
	size_t count;
	bool is_last; /* no record follows */
	/* Upon FAULT_DAMAGED, of pages in the order of ids: the record that cannot be read. `count`
	 * records come before it, and the caller may read on from there. Zero: it is not known
	 * which one. */
	struct id damaged;
};

/* What a transaction is going to read. */
enum store_finding {
	STORE_FIND_ID,
	STORE_FIND_NAME,
	STORE_FIND_PARENT, /* the parent of what the item `from` finds; of a page: of each */
	STORE_FIND_VALUE, /* the record whose id is the value of the record that `from` finds */
	STORE_FIND_OWN, /* the record `id` of the account of what `from` finds by name */
	STORE_FIND_PAGE,
	STORE_FIND_CHILDREN, /* store_has_children with the parent `id` */
	STORE_FIND_NEW_ID
};

/* How many statements what is expected takes. */
enum store_statements {
	STORE_EACH, /* one for each item */
	/* One for all of a READ transaction, and so one state of the store. The items are, in this
	 * order: a parent of the next; a record by a name that is unique anywhere; the parent of
	 * the first one; another parent of the second one; and, if there are five, what the account
	 * of the second one owns (STORE_FIND_OWN). A WRITE transaction may have others behind. */
	STORE_CHAIN
};

struct store_expected {
	const struct store_kind *kind;
	enum store_finding finding;
	enum store_reading reading;
	size_t from; /* another item */
	const struct id *id;
	struct slice name;
	const struct store_page *page; /* its parameters */
};

struct store;
struct transaction;
struct store_figures; /* store/figures.h */

typedef bool store_visit(void *context, const struct store_record *record, struct fault *fault);

/* The functions of a driver. They are called by the functions below, which check the preconditions
 * by assert. */
struct store_driver {
	const char *name;
	bool (*begin)(struct store *, enum store_access, struct arena *, struct transaction **,
		      struct fault *);
	void (*expect)(struct transaction *, enum store_statements, const struct store_expected *,
		       size_t n); /* NULL: it does not matter */
	/* Others write at the same time: a name that is taken is told late, and what a WRITE
	 * transaction reads to show may change between two reads. */
	bool is_shared;
	bool (*get)(struct transaction *, const struct store_kind *, const struct id *,
		    enum store_reading, struct store_record *, struct fault *);
	/* For READ transactions; NULL: they are read one by one. */
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
			 struct fault *); /* NULL: there is no clock but the caller's */
	bool (*new_id)(struct transaction *, const struct store_kind *, const struct clock *,
		       int64_t *now, struct id *, struct fault *);
	bool (*put)(struct transaction *, const struct store_kind *, const struct store_record *,
		    const struct store_record *former, struct fault *);
	bool (*remove)(struct transaction *, const struct store_kind *, const struct store_record *,
		       struct fault *);
	/* NULL: writers of different accounts do not wait for each other, or it does not matter if
	 * they do. */
	bool (*give_way)(struct transaction *, struct fault *);
	/* For WRITE transactions, before the account is set. NULL if the driver does nothing
	 * then. */
	void (*enter)(struct transaction *, const struct id *account);
	/* These three are NULL in drivers for tests. */
	bool (*walk)(struct transaction *, const struct store_kind *, store_visit *, void *context,
		     struct fault *);
	bool (*walk_keys)(struct transaction *, const struct store_kind *, store_visit *,
			  void *context, struct fault *);
	bool (*count)(struct transaction *, const struct store_kind *const *, size_t n,
		      uint64_t *counts, struct fault *);
	bool (*commit)(struct transaction *, uint64_t *number, struct fault *);
	void (*abandon)(struct transaction *);
	enum store_state (*state)(struct store *, uint64_t number);
	void (*flush)(struct store *);
	void (*stop_retrying)(struct store *); /* NULL: it never retries */
	bool (*can_write)(struct store *);
	/* NULL: the accounts are not in the store. */
	bool (*roster)(struct store *, struct arena *, uint64_t *generation, struct slice *text,
		       struct fault *);
	uint64_t (*roster_generation)(struct store *);
	void (*figures)(struct store *, struct store_figures *); /* NULL: it has none */
	void (*close)(struct store *);
};

/* An open store begins with this. */
struct store {
	const struct store_driver *driver;
};

/* A transaction begins with this. */
struct transaction {
	struct store *store;
	struct arena *arena; /* the caller's; what reads return lives there */
	struct id account; /* whose records are read and written */
	enum store_access access;
	bool has_changes;
	size_t put_bytes; /* see store_put_bytes */
	uint64_t number; /* WRITE: the number it will have; READ: that of the state it sees */
	uint64_t roster; /* see store_set_roster */
};

/* The transaction lies in the arena; commit or abandon ends it, also when they fail. */
bool store_begin(struct store *store, enum store_access access, struct arena *arena,
		 struct transaction **transaction, struct fault *fault);

/* Sets the account of all that follows; a call that begins with a room code knows it only then. A
 * WRITE transaction may wait here for one of the account that gives way. If it has read something
 * before, the next read or change sets FAULT_AGAIN then. */
void store_set_account(struct transaction *transaction, const struct id *account);

/* The generation of the accounts that the caller was admitted with; 0: it does not matter. When the
 * store has another one, the first read sets FAULT_AGAIN. STORE_ROSTER_ANY: the generation is
 * brought along and none is wrong, for a caller that looks for the account afterwards. */
#define STORE_ROSTER_ANY UINT64_MAX
void store_set_roster(struct transaction *transaction, uint64_t generation);

/* ---- reading ----
 *
 * Names and values live as long as the arena and are not to be changed. */

/* Before the first read: says what will be read, so that a driver can read it at once, and lock in
 * this order. What is named and not read is harmless. A WRITE transaction may read more; of a READ
 * transaction the items are all that it reads, or else it may have to be run again
 * (FAULT_AGAIN). */
void store_expect(struct transaction *transaction, enum store_statements how,
		  const struct store_expected *expected, size_t n);
/* Whether the driver makes use of that. */
bool store_wants_expected(const struct transaction *transaction);

bool store_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	       enum store_reading reading, struct store_record *record, struct fault *fault);
/* STORE_NAME_ANYWHERE: also another account's; record->account says whose it is. */
bool store_get_named(struct transaction *transaction, const struct store_kind *kind,
		     struct slice name, enum store_reading reading, struct store_record *record,
		     struct fault *fault);
/* `n` records by their ids, in their order, to show. accounts: whose each is; NULL: all are the
 * transaction's. */
bool store_get_several(struct transaction *transaction, const struct store_kind *kind,
		       const struct id *accounts, const struct id *ids, size_t n,
		       struct store_record *records, struct fault *fault);
bool store_page(struct transaction *transaction, const struct store_kind *kind,
		struct store_page *page, struct fault *fault);
bool store_has_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *has_children, struct fault *fault);

/* ---- reading everything: READ transactions, of all accounts ----
 *
 * Calls `visit` for each record of a kind, in no particular order, until it returns false and has
 * set the fault. The record lives until visit returns; visit may use the transaction. */
bool store_walk(struct transaction *transaction, const struct store_kind *kind, store_visit *visit,
		void *context, struct fault *fault);
/* The same without reading values, also of records whose value is damaged. Set are account and id,
 * or the name for a kind with STORE_NAME_ANYWHERE. */
bool store_walk_keys(struct transaction *transaction, const struct store_kind *kind,
		     store_visit *visit, void *context, struct fault *fault);
/* Counts the records of each kind, without reading values. */
bool store_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		 uint64_t *counts, struct fault *fault);

/* ---- writing: WRITE transactions ----
 *
 * All that is given is copied. */

/* From now on all new ids of the transaction are of one time, *now: that of the store's own clock
 * where it has one, but not before `least`; else *now stays as it is. In milliseconds since
 * 1970. */
bool store_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		    struct fault *fault);
/* A new id, above all ids of the account and kind. *now, in milliseconds since 1970, is raised to
 * the time of the newest id when the clock stepped back; the id begins with its seconds, and stays
 * at ID_TIME_MAX after that. */
bool store_new_id(struct transaction *transaction, const struct store_kind *kind,
		  const struct clock *clock, int64_t *now, struct id *id, struct fault *fault);
/* former: the record as this transaction read it to change it, with the same id; NULL: the record
 * is new. FAULT_AGAIN when another record has the name: the next run finds it when it looks first,
 * or draws another name. */
bool store_put(struct transaction *transaction, const struct store_kind *kind,
	       const struct store_record *record, const struct store_record *former,
	       struct fault *fault);
/* record: as this transaction read it to change it. Its children stay. A damaged record is
 * removed by its id alone, which only kinds without names and pages allow. */
bool store_remove(struct transaction *transaction, const struct store_kind *kind,
		  const struct store_record *record, struct fault *fault);

/* Between the steps of a long transaction: lets transactions of other accounts that wait to write
 * go first. The caller keeps nothing that it has read of other accounts. FAULT_AGAIN: one of them
 * has changed what this transaction has changed too, such as a name that both took. */
bool store_give_way(struct transaction *transaction, struct fault *fault);

/* ---- the end of a transaction ---- */

/* Whether it would change something. */
bool store_has_changes(const struct transaction *transaction);

/* The values that were put, one on top of another too. */
size_t store_put_bytes(const struct transaction *transaction);

/* The number of the youngest transaction whose changes this one could see. */
uint64_t store_seen(const struct transaction *transaction);

/* *number: of this transaction; when it changed nothing, store_seen(). It is durable when
 * store_state() says so, for some drivers at once. Faults: FAULT_AGAIN, FAULT_UNAVAILABLE: nothing
 * happened, but for one whose detail says that the outcome is unknown. */
bool store_commit(struct transaction *transaction, uint64_t *number, struct fault *fault);
void store_abandon(struct transaction *transaction);

/* 0: durable. Takes no lock and makes no system call. */
enum store_state store_state(struct store *store, uint64_t number);

/* Tries once to make all earlier commits durable. Waits for another thread that is doing so, and
 * some milliseconds when the disk is full. */
void store_flush(struct store *store);

/* To be called when the process is about to end. From now on a commit that the disk has no room for
 * fails, and is not tried again until there is room. Nothing is written after such a failure. Any
 * thread. */
void store_stop_retrying(struct store *store);

/* Waits until the number is durable: for commands and tests, not for a worker. */
bool store_wait(struct store *store, uint64_t number, struct fault *fault);

/* ---- the store ---- */

/* The accounts of a store that has them: the text of an accounts file, empty before the first one,
 * and its generation, which rises with each change. text NULL: the generation alone. */
bool store_has_roster(const struct store *store);
bool store_roster(struct store *store, struct arena *arena, uint64_t *generation,
		  struct slice *text, struct fault *fault);
/* The generation that was seen last, by any transaction of this process. */
uint64_t store_roster_generation(struct store *store);

/* Whether other WRITE transactions run during one. */
bool store_is_shared(const struct store *store);

/* Whether a WRITE transaction would be admitted now (readiness). */
bool store_can_write(struct store *store);

/* False: the driver has no figures; all are zero then. */
bool store_figures(struct store *store, struct store_figures *figures);

/* No transaction may be open. NULL is fine. */
void store_close(struct store *store);

#endif
