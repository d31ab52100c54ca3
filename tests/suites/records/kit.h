/* The suite of the store's interface, for all drivers: records by example (examples.c), pages
 * compared with a plain model, and walks (pages.c), the drivers compared with each other, and
 * faults (drivers.c), threads, also run under ThreadSanitizer (threads.c), and the form of records
 * (form.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RECORDS_KIT_H
#define TESTS_RECORDS_KIT_H

#include <check.h>

#include "store/store.h"
#include "suite.h"

/* Each adds its tests to a case, which has setup and teardown. count: the drivers that are there.
 */
void add_examples(TCase *drivers_case, int count);
void add_pages(TCase *drivers_case, int count);
void add_threads(TCase *drivers_case, int count);
void add_drivers(TCase *damage, int count);
void add_form(TCase *form);

/* ---- kinds and drivers ---- */

extern const struct store_kind whole, named, global, child, plain;
#define KINDS 5
extern const struct store_kind *const kinds[KINDS];

struct driver {
	const char *name;
	struct store *(*open)(const char *at);
	/* Writers do not wait for each other: the commit may report a conflict, and abandoned
	 * transactions and removed records leave gaps in the IDs. */
	bool is_shared;
	bool gives_way; /* others can write while a transaction gives way, or at any time */
};
/* The last one needs a database. */
#define DRIVERS 6
extern const struct driver drivers[DRIVERS];

struct store *open_failing(const char *at);
struct store *open_gdbm(const char *at);
/* Files, merges and segments change all the time. */
struct store *open_restless(const char *at);
struct store *open_postgres(const char *at);

extern bool has_database;
extern char *directory;
extern struct store *store;
extern struct arena *arena;
extern struct id account; /* of the transactions that begin() starts */

void setup(void);
void teardown(void);

/* ---- short forms ---- */

struct transaction *begin_in(struct store *in, enum store_access access);
struct transaction *begin(enum store_access access);
/* Commits, and waits until that is durable. */
void commit_in(struct store *in, struct transaction *transaction);
void commit(struct transaction *transaction);

struct id id_of(uint32_t seconds, uint64_t number);
struct store_record record_of(uint64_t number, const char *name);
struct store_record get(struct transaction *transaction, const struct store_kind *kind,
			const struct store_record *record);
/* Puts the record, replacing an existing one. */
enum fault_kind put(struct transaction *transaction, const struct store_kind *kind,
		    const struct store_record *record);
void put_right(struct transaction *transaction, const struct store_kind *kind,
	       const struct store_record *record);
void drop(struct transaction *transaction, const struct store_kind *kind,
	  const struct store_record *record);
bool is_same(const struct store_kind *kind, const struct store_record *a,
	     const struct store_record *b);

/* A clock that stands at 1970, without chance. */
extern const struct clock ticking;

#endif
