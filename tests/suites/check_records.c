/* The suite of the store's interface, for all drivers: records by example, pages compared with a
 * plain model, the drivers compared with each other, threads (also run under ThreadSanitizer), and
 * the form of records.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "database.h"
#include "directory.h"
#include "fast_disk.h"
#include "records/form.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/store_gdbm.h"
#include "store_memory.h"
#include "store/postgres/store_postgres.h"
#include "store_failing.h"
#include "suite.h"

/* ---- kinds and drivers ---- */

static const struct store_kind whole = {
	.letter = 'A',
	.name = "whole",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
	.has_ends = true,
};
static const struct store_kind named = {
	.letter = 'B',
	.name = "named",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
};
static const struct store_kind global = {
	.letter = 'C',
	.name = "global",
	.naming = STORE_NAME_ANYWHERE,
	.has_parent = true,
	.has_switch = true,
};
static const struct store_kind child = { .letter = 'D', .name = "child", .has_parent = true };
static const struct store_kind plain = { .letter = 'E', .name = "plain" };
static const struct store_kind *const kinds[] = { &whole, &named, &global, &child, &plain };

static struct store *open_memory(const char *directory)
{
	(void)directory;
	return store_memory_open();
}

static struct store *open_failing(const char *directory)
{
	(void)directory;
	return store_failing_open(store_memory_open());
}

static struct store *open_gdbm_with(const char *directory, size_t overlay_bytes,
				    size_t segment_bytes)
{
	const struct store_options options = { .directory = directory,
					       .readers = 8,
					       .creates = true,
					       .overlay_bytes = overlay_bytes,
					       .segment_bytes = segment_bytes };
	struct fault fault = FAULT_INITIAL;
	struct store *opened = NULL;

	ck_assert_msg(store_gdbm_open(&options, &opened, &fault), "%s", fault.cause);
	return opened;
}

static struct store *open_gdbm(const char *directory)
{
	return open_gdbm_with(directory, 0, 0);
}

/* Files, merges and segments change all the time. */
static struct store *open_restless(const char *directory)
{
	return open_gdbm_with(directory, 16384, 65536);
}

static struct store *open_failing_gdbm(const char *directory)
{
	return store_failing_open(open_gdbm(directory));
}

static struct store *open_postgres(const char *directory)
{
	char *url = database_store();
	const struct store_postgres_options options = { .url = url, .uses_callers_clock = true };
	struct fault fault = FAULT_INITIAL;
	struct store *opened = NULL;

	(void)directory;
	ck_assert_msg(store_postgres_open(&options, &opened, &fault), "%s", fault.cause);
	free(url);
	return opened;
}

static const struct {
	const char *name;
	struct store *(*open)(const char *directory);
	/* Writers do not wait for each other: the commit may report a conflict, and abandoned
	 * transactions and removed records leave gaps in the IDs. */
	bool is_shared;
	bool gives_way; /* others can write while a transaction gives way, or at any time */
} drivers[] = {
	{ "memory", open_memory, false, false },
	{ "failing", open_failing, false, false },
	{ "gdbm", open_gdbm, false, true },
	{ "gdbm, small bounds", open_restless, false, true },
	{ "failing, over gdbm", open_failing_gdbm, false, true },
	{ "postgresql", open_postgres, true, true },
};

static bool has_database;
static char *directory;
static struct store *store;
static struct arena *arena;
static struct id account; /* of the transactions that begin() starts */

static void setup(void)
{
	directory = directory_make();
	arena = arena_open();
	account = (struct id){ "account one" };
}

static void teardown(void)
{
	arena_close(arena);
	store_close(store);
	store = NULL;
	directory_remove(directory);
}

/* ---- short forms ---- */

static struct transaction *begin_in(struct store *in, enum store_access access)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	ck_assert(store_begin(in, access, arena, &transaction, &fault));
	store_set_account(transaction, &account);
	return transaction;
}

static struct transaction *begin(enum store_access access)
{
	return begin_in(store, access);
}

static void end_in(struct store *in, struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(in, number, &fault));
}

static void end(struct transaction *transaction)
{
	end_in(store, transaction);
}

static struct id id_of(uint32_t seconds, uint64_t number)
{
	struct id id = { { 0 } };

	for (size_t i = 0; i < 4; i++)
		id.bytes[i] = (unsigned char)(seconds >> (24 - 8 * i));
	for (size_t i = 0; i < 5; i++)
		id.bytes[4 + i] = (unsigned char)(number >> (32 - 8 * i));
	return id;
}

static struct store_record record_of(uint64_t number, const char *name)
{
	return (struct store_record){
		.id = id_of(1000, number),
		.parent = id_of(1, 1),
		.is_on = true,
		.name = slice_of(name),
		.value = SLICE("value"),
	};
}

static struct store_record get(struct transaction *transaction, const struct store_kind *kind,
			       const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record stored;

	ck_assert_msg(
		kind->naming == STORE_NAME_ANYWHERE
			? store_get_named(transaction, kind, record->name, STORE_TO_SHOW, &stored,
					  &fault)
			: store_get(transaction, kind, &record->id, STORE_TO_SHOW, &stored, &fault),
		"%s", fault.cause);
	return stored;
}

/* Puts the record, replacing an existing one. */
static enum fault_kind put(struct transaction *transaction, const struct store_kind *kind,
			   const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record former = get(transaction, kind, record);

	return store_put(transaction, kind, record, former.value.data == NULL ? NULL : &former,
			 &fault)
		       ? FAULT_NONE
		       : fault.kind;
}

static void put_right(struct transaction *transaction, const struct store_kind *kind,
		      const struct store_record *record)
{
	ck_assert_int_eq(put(transaction, kind, record), FAULT_NONE);
}

static void drop(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record former = get(transaction, kind, record);

	ck_assert_ptr_nonnull(former.value.data);
	ck_assert(store_remove(transaction, kind, &former, &fault));
}

static bool is_same(const struct store_kind *kind, const struct store_record *a,
		    const struct store_record *b)
{
	if (a->value.data == NULL || b->value.data == NULL)
		return a->value.data == b->value.data;
	return id_compare(&a->id, &b->id) == 0 && slice_equal(a->value, b->value) &&
	       (!kind->has_parent || id_compare(&a->parent, &b->parent) == 0) &&
	       (!kind->has_switch || a->is_on == b->is_on) &&
	       (!kind->has_ends || a->ends == b->ends) &&
	       (kind->naming == STORE_NO_NAME || slice_equal(a->name, b->name));
}

/* ---- by example ---- */

START_TEST(a_record_is_returned_as_it_was_put)
{
	char longest[STORE_NAME_MAX];
	struct slice names[] = {
		SLICE("a"),
		SLICE("\xff\xfe"),
		SLICE("with\0zero"),
		{ longest, sizeof longest },
		{ longest, sizeof longest - 1 },
	};
	struct transaction *transaction;

	memset(longest, 'n', sizeof longest);
	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (int k = 0; k < ROWS(kinds); k++) {
		for (int n = 0; n < ROWS(names); n++) {
			struct store_record record = record_of((uint64_t)n + 1, NULL);
			struct store_record stored;

			record.name = names[n];
			record.is_on = n % 2 == 0;
			ck_assert_ptr_null(get(transaction, kinds[k], &record).value.data);
			put_right(transaction, kinds[k], &record);
			stored = get(transaction, kinds[k], &record);
			ck_assert(is_same(kinds[k], &record, &stored));
			ck_assert_int_eq(id_compare(&stored.account, &account), 0);
			record.value = SLICE("another");
			record.is_on = !record.is_on;
			record.parent = id_of(1, 2);
			put_right(transaction, kinds[k], &record);
			stored = get(transaction, kinds[k], &record);
			ck_assert(is_same(kinds[k], &record, &stored));
		}
	}
	end(transaction);
	transaction = begin(STORE_WRITE);
	for (int k = 0; k < ROWS(kinds); k++) {
		for (int n = 0; n < ROWS(names); n++) {
			struct store_record record = record_of((uint64_t)n + 1, NULL);

			record.name = names[n];
			drop(transaction, kinds[k], &record);
			ck_assert_ptr_null(get(transaction, kinds[k], &record).value.data);
		}
	}
	end(transaction);
}
END_TEST

/* Puts a record whose name is taken, and abandons the transaction. */
static void put_conflicts(struct transaction *transaction, const struct store_kind *kind,
			  const struct store_record *record, const struct store_record *former)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	if (!store_put(transaction, kind, record, former, &fault))
		store_abandon(transaction);
	else
		ck_assert(!store_commit(transaction, &number, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
}

START_TEST(names_are_unique)
{
	const struct store_kind *const with_names[] = { &whole, &named, &global };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	for (int k = 0; k < ROWS(with_names); k++) {
		const struct store_kind *kind = with_names[k];
		struct store_record one = record_of(1, "one"), two = record_of(2, "two");
		struct store_record former, found, renamed = one;

		transaction = begin(STORE_WRITE);
		put_right(transaction, kind, &one);
		put_right(transaction, kind, &two);
		former = get(transaction, kind, &one);
		end(transaction);
		/* A new record, and a renamed record. */
		transaction = begin(STORE_WRITE);
		two.id = id_of(1000, 3);
		put_conflicts(transaction, kind, &two, NULL);
		if (kind->naming == STORE_NAME_ANYWHERE) {
			account = (struct id){ "account two" };
			transaction = begin(STORE_WRITE);
			put_conflicts(transaction, kind, &one, NULL);
			transaction = begin(STORE_READ);
			found = get(transaction, kind, &one);
			account = (struct id){ "account one" };
			ck_assert_int_eq(id_compare(&found.account, &account), 0);
			store_abandon(transaction);
			continue;
		}
		transaction = begin(STORE_WRITE);
		renamed.name = SLICE("two");
		put_conflicts(transaction, kind, &renamed, &former);
		/* A rename frees the old name, a removal frees the name. */
		transaction = begin(STORE_WRITE);
		renamed.name = SLICE("three");
		put_right(transaction, kind, &renamed);
		ck_assert(store_get_named(transaction, kind, SLICE("one"), STORE_TO_SHOW, &found,
					  &fault));
		ck_assert_ptr_null(found.value.data);
		two.name = SLICE("one");
		put_right(transaction, kind, &two);
		drop(transaction, kind, &two);
		ck_assert(store_get_named(transaction, kind, SLICE("three"), STORE_TO_CHANGE,
					  &found, &fault));
		ck_assert(is_same(kind, &found, &renamed));
		ck_assert(store_get_named(transaction, kind, SLICE("one"), STORE_TO_SHOW, &found,
					  &fault));
		ck_assert_ptr_null(found.value.data);
		end(transaction);
	}
}
END_TEST

/* Records of all kinds, more than the PostgreSQL driver sends in one message. */
START_TEST(many_records_are_as_they_were_put)
{
	static const char names[20][2] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
					   "k", "l", "m", "n", "o", "p", "q", "r", "s", "t" };
	struct store_record records[ROWS(names)], stored;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (int i = 0; i < ROWS(names); i++) {
		records[i] = record_of((uint64_t)i + 1, names[i]);
		records[i].is_on = i % 3 == 0;
		records[i].value = slice_of(names[i]);
		ck_assert(
			store_put(transaction, kinds[i % ROWS(kinds)], &records[i], NULL, &fault));
	}
	end(transaction);
	transaction = begin(STORE_READ);
	for (int i = 0; i < ROWS(names); i++) {
		stored = get(transaction, kinds[i % ROWS(kinds)], &records[i]);
		ck_assert(is_same(kinds[i % ROWS(kinds)], &records[i], &stored));
	}
	store_abandon(transaction);
}
END_TEST

static void put_numbered(const struct store_kind *kind, uint64_t count)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (uint64_t i = 1; i <= count; i++) {
		const struct store_record record = record_of(i, "");

		put_right(transaction, kind, &record);
	}
	end(transaction);
}

/* One transaction removes many records; another transaction has already removed the last of
 * them. */
START_TEST(a_removed_record_is_not_removed_again)
{
	static const uint64_t counts[] = { 1, 2, 3, 4, 5, 20, 300 };
	struct transaction *slow, *fast;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	store = drivers[_i].open(directory);
	for (int c = 0; drivers[_i].is_shared && c < ROWS(counts); c++) {
		const struct store_record last = record_of(counts[c], "");
		bool is_right = true;

		put_numbered(&plain, counts[c]);
		slow = begin(STORE_WRITE);
		for (uint64_t i = 1; i <= counts[c]; i++) {
			const struct store_record record = record_of(i, "");

			ck_assert_ptr_nonnull(get(slow, &plain, &record).value.data);
		}
		fast = begin(STORE_WRITE);
		drop(fast, &plain, &last);
		end(fast);
		for (uint64_t i = 1; is_right && i <= counts[c]; i++) {
			const struct store_record record = record_of(i, ""),
						  former = get(slow, &plain, &record);

			is_right = store_remove(slow, &plain, &former, &fault);
		}
		if (!is_right)
			store_abandon(slow);
		else
			is_right = store_commit(slow, &number, &fault);
		ck_assert(!is_right);
		ck_assert_int_eq(fault.kind, FAULT_AGAIN);
		fault = FAULT_INITIAL;
		slow = begin(STORE_WRITE);
		for (uint64_t i = 1; i < counts[c]; i++) {
			const struct store_record record = record_of(i, "");

			drop(slow, &plain, &record);
		}
		end(slow);
	}
}
END_TEST

START_TEST(accounts_and_kinds_do_not_mix)
{
	struct store_record record = record_of(1, "one"), found;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_page page = { .records = &found, .most = 1 };
	bool has_children;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	end(transaction);
	transaction = begin(STORE_READ);
	ck_assert_ptr_null(get(transaction, &named, &record).value.data);
	ck_assert(store_has_children(transaction, &child, &record.parent, &has_children, &fault));
	ck_assert(!has_children);
	ck_assert(store_has_children(transaction, &whole, &record.parent, &has_children, &fault));
	ck_assert(has_children);
	ck_assert(store_page(transaction, &named, &page, &fault));
	ck_assert_uint_eq(page.count, 0);
	store_abandon(transaction);
	account = (struct id){ "account two" };
	transaction = begin(STORE_READ);
	ck_assert_ptr_null(get(transaction, &whole, &record).value.data);
	ck_assert(store_get_named(transaction, &whole, record.name, STORE_TO_SHOW, &found, &fault));
	ck_assert_ptr_null(found.value.data);
	ck_assert(store_has_children(transaction, &whole, &record.parent, &has_children, &fault));
	ck_assert(!has_children);
	ck_assert(store_page(transaction, &whole, &page, &fault));
	ck_assert(page.count == 0 && page.is_last);
	store_abandon(transaction);
}
END_TEST

/* Each transaction sees the state at its beginning and its own changes. */
START_TEST(each_transaction_sees_its_state)
{
	struct store_record record = record_of(1, "one");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction, *before, *pending;
	uint64_t first, second;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	ck_assert(store_commit(transaction, &first, &fault));
	before = begin(STORE_READ);
	ck_assert_uint_ge(store_seen(before), 0);
	if (store_state(store, first) == STORE_PENDING)
		ck_assert_ptr_null(get(before, &whole, &record).value.data);
	/* A WRITE transaction sees pending writes, and a rejection based on them waits for them. */
	pending = begin(STORE_WRITE);
	ck_assert_ptr_nonnull(get(pending, &whole, &record).value.data);
	ck_assert_uint_eq(store_seen(pending), first);
	ck_assert(store_commit(pending, &second, &fault));
	ck_assert_uint_eq(second, first);
	ck_assert(store_wait(store, first, &fault));
	transaction = begin(STORE_WRITE);
	record.value = SLICE("changed");
	put_right(transaction, &whole, &record);
	ck_assert(slice_is(get(transaction, &whole, &record).value, "changed"));
	store_abandon(transaction);
	transaction = begin(STORE_READ);
	ck_assert(slice_is(get(transaction, &whole, &record).value, "value"));
	store_abandon(transaction);
	store_abandon(before);
	ck_assert(store_can_write(store));
}
END_TEST

/* ---- new ids ---- */

static int64_t steady(const struct clock *clock)
{
	(void)clock;
	return 0;
}

static void no_chance(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	memset(bytes, 7, size);
}

static const struct clock ticking = { steady, no_chance };

static struct id new_id(struct transaction *transaction, int64_t *now)
{
	struct fault fault = FAULT_INITIAL;
	struct id id;

	ck_assert(store_new_id(transaction, &named, &ticking, now, &id, &fault));
	return id;
}

static const struct {
	int64_t now; /* milliseconds */
	uint64_t foreign; /* number of an ID put earlier, in second 20; 0 for none */
	bool is_abandoned;
	int64_t then;
	uint32_t seconds;
	uint64_t number;
} id_rows[] = {
	{ 5000, 0, false, 5000, 5, 1 },
	{ 5400, 0, false, 5400, 5, 2 },
	{ 4000, 0, false, 5400, 5, 3 }, /* the clock was set back */
	{ 9000, 0, true, 9000, 9, 4 },
	{ 6000, 0, false, 6000, 6, 4 }, /* the abandoned one does not count */
	{ 7000, 50, false, 20000, 20, 51 },
	{ 7000, ID_NUMBER_MAX, false, 21000, 21, 52 }, /* imported: a random number */
	{ ID_TIME_MAX + 5000, 0, false, ID_TIME_MAX, UINT32_MAX, 53 },
	{ 1000, 0, false, ID_TIME_MAX, UINT32_MAX, 54 },
};

START_TEST(new_ids_rise)
{
	store = drivers[_i].open(directory);
	for (int row = 0; row < ROWS(id_rows) && !drivers[_i].is_shared; row++) {
		struct transaction *transaction = begin(STORE_WRITE);
		struct store_record record = record_of(1, "foreign");
		int64_t now = id_rows[row].now;
		char name[24];

		(void)snprintf(name, sizeof name, "%d", row);
		if (id_rows[row].foreign != 0) {
			record.id = id_of(20, id_rows[row].foreign);
			put_right(transaction, &named, &record);
			drop(transaction, &named, &record);
		}
		record.id = new_id(transaction, &now);
		record.name = slice_of(name);
		ck_assert_int_eq(now, id_rows[row].then);
		ck_assert_uint_eq(id_seconds(&record.id), id_rows[row].seconds);
		ck_assert_uint_eq(id_number(&record.id), id_rows[row].number);
		put_right(transaction, &named, &record);
		/* An ID is never reused, even if the newest record is removed. */
		drop(transaction, &named, &record);
		if (id_rows[row].is_abandoned)
			store_abandon(transaction);
		else
			end(transaction);
	}
}
END_TEST

/* Each new ID is above all existing ones, and no number is used twice. */
START_TEST(new_ids_are_above_the_others)
{
	struct id newest = { { 0 } };
	uint64_t numbers = 0;

	store = drivers[_i].open(directory);
	for (int row = 0; row < ROWS(id_rows); row++) {
		struct transaction *transaction = begin(STORE_WRITE);
		struct store_record record = record_of(1, arena_text(arena, "foreign %d", row));
		int64_t now = id_rows[row].now;

		if (id_rows[row].foreign != 0) {
			record.id = id_of(20, id_rows[row].foreign);
			put_right(transaction, &named, &record);
			if (id_compare(&record.id, &newest) > 0)
				newest = record.id;
		}
		record.id = new_id(transaction, &now);
		record.name = slice_of(arena_text(arena, "%d", row));
		ck_assert_int_gt(id_compare(&record.id, &newest), 0);
		ck_assert_uint_gt(id_number(&record.id), numbers);
		ck_assert_int_ge(now,
				 id_rows[row].now < ID_TIME_MAX ? id_rows[row].now : ID_TIME_MAX);
		ck_assert_uint_eq(id_seconds(&record.id), (uint64_t)now / 1000);
		put_right(transaction, &named, &record);
		if (id_rows[row].is_abandoned) {
			store_abandon(transaction);
			continue;
		}
		end(transaction);
		newest = record.id;
		numbers = id_number(&record.id);
	}
}
END_TEST

/* ---- pages compared with a plain model ---- */

#define MADE 30

static struct store_record made[MADE];

/* Makes records of two parents, three in four enabled, with names of one to three letters. */
static void make_all(const struct store_kind *kind)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = 0; i < MADE; i++) {
		char *name = arena_text(arena, "%c%.*s", 'a' + (int)(i * 7 % 26), (int)(i % 3),
					"xy");

		made[i] = record_of(10 * i + 10, name);
		made[i].parent = id_of(1, 1 + i % 2);
		made[i].is_on = i % 4 != 0;
		/* Some have no end, and some the same. */
		made[i].ends = kind->has_ends ? i * 7 % 10 * 1000 : 0;
		made[i].value = slice_of(arena_text(arena, "%0*u", (int)(i % 5 + 1) * 10, i));
		put_right(transaction, kind, &made[i]);
	}
	end(transaction);
}

static bool model_wants(const struct store_kind *kind, const struct store_page *page,
			const struct store_record *record)
{
	if (page->order == STORE_BY_NAME)
		return record->name.size >= page->prefix.size &&
		       memcmp(record->name.data, page->prefix.data, page->prefix.size) == 0 &&
		       (page->after.size == 0 || slice_compare(record->name, page->after) > 0);
	if (page->order == STORE_BY_END)
		return record->ends != 0 && record->ends <= page->until;
	return (page->parent == NULL || id_compare(page->parent, &record->parent) == 0) &&
	       (!kind->has_switch || page->side == STORE_BOTH_SIDES ||
		record->is_on == (page->side == STORE_ON)) &&
	       (page->above == NULL || id_compare(&record->id, page->above) > 0) &&
	       (page->below == NULL || id_compare(&record->id, page->below) < 0);
}

/* Returns true if a comes before b. */
static bool model_before(enum store_order order, const struct store_record *a,
			 const struct store_record *b)
{
	if (order == STORE_BY_NAME)
		return slice_compare(a->name, b->name) < 0;
	if (order == STORE_BY_END && a->ends != b->ends)
		return a->ends < b->ends;
	return order == STORE_NEWEST_FIRST ? id_compare(&a->id, &b->id) > 0
					   : id_compare(&a->id, &b->id) < 0;
}

/* Returns the model's record after `last` (the first one if NULL), or NULL. */
static const struct store_record *model_next(const struct store_kind *kind,
					     const struct store_page *page,
					     const struct store_record *last)
{
	const struct store_record *next = NULL;

	for (unsigned i = 0; i < MADE; i++) {
		if (model_wants(kind, page, &made[i]) &&
		    (last == NULL || model_before(page->order, last, &made[i])) &&
		    (next == NULL || model_before(page->order, &made[i], next)))
			next = &made[i];
	}
	return next;
}

static void check_page(struct transaction *transaction, const struct store_kind *kind,
		       struct store_page page)
{
	struct store_record records[MADE + 1];
	const struct store_record *expected = NULL;
	struct fault fault = FAULT_INITIAL;
	size_t bytes = 0;

	page.records = records;
	ck_assert_msg(store_page(transaction, kind, &page, &fault), "%s", fault.cause);
	for (size_t i = 0; i < page.count; i++) {
		expected = model_next(kind, &page, expected);
		ck_assert_ptr_nonnull(expected);
		ck_assert(is_same(kind, &records[i], expected));
		/* The page ends after the record that exceeds the limit. */
		ck_assert(page.bytes_most == 0 || bytes <= page.bytes_most);
		bytes += records[i].value.size;
	}
	expected = model_next(kind, &page, expected);
	ck_assert_int_eq(page.is_last, expected == NULL);
	ck_assert(page.is_last || page.count == page.most ||
		  (page.bytes_most > 0 && bytes > page.bytes_most));
}

START_TEST(pages_agree_with_a_plain_model)
{
	static const unsigned bounds[] = { 0, 1, 9, 10, 105, 150, 300, 301, 1000 };
	static const size_t mosts[] = { 1, 4, MADE, MADE + 1 };
	const struct store_kind *const with_pages[] = { &whole, &named, &global, &child };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	for (int k = 0; k < ROWS(with_pages); k++) {
		const struct store_kind *kind = with_pages[k];

		make_all(kind);
		transaction = begin(STORE_READ);
		for (unsigned mix = 0; mix < 2 * 3 * 4 * 9 * 9 * 4; mix++) {
			const struct id parents[] = {
				{ { 0 } }, id_of(1, 1), id_of(1, 2), id_of(9, 9)
			};
			const unsigned parent = mix / 6 % 4, most = mix / 24 % 4;
			const struct id above = id_of(1000, bounds[mix / 96 % 9]);
			const struct id below = id_of(1000, bounds[mix / 864 % 9]);
			struct store_page page = {
				.order = mix % 2 == 0 ? STORE_NEWEST_FIRST : STORE_OLDEST_FIRST,
				.side = (enum store_side)(mix / 2 % 3),
				.parent = parent == 0 ? NULL : &parents[parent],
				.above = mix / 96 % 9 == 0 ? NULL : &above,
				.below = mix / 864 % 9 == 0 ? NULL : &below,
				.most = mosts[most],
				.bytes_most = mix % 7 == 0 ? 100 : 0,
			};

			if ((page.parent == NULL && !kind->has_pages) ||
			    (page.parent != NULL && !kind->has_parent) ||
			    (page.side != STORE_BOTH_SIDES && !kind->has_switch))
				continue;
			check_page(transaction, kind, page);
		}
		store_abandon(transaction);
		arena_reset(arena);
	}
}
END_TEST

START_TEST(names_are_in_order)
{
	static const char *const texts[] = { "", "a", "b", "bx", "bxy", "c", "zz", "\xff" };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&named);
	transaction = begin(STORE_READ);
	for (unsigned mix = 0; mix < 8 * 8 * 3; mix++) {
		check_page(transaction, &named,
			   (struct store_page){
				   .order = STORE_BY_NAME,
				   .prefix = slice_of(texts[mix % 8]),
				   .after = slice_of(texts[mix / 8 % 8]),
				   .most = mix / 64 == 0 ? 3 : MADE,
				   .bytes_most = mix / 64 == 2 ? 40 : 0,
			   });
	}
	store_abandon(transaction);
}
END_TEST

START_TEST(ends_are_in_order)
{
	static const int64_t times[] = { -1, 0, 999, 1000, 4000, 8999, 9000, INT64_MAX };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&whole);
	/* One loses its end, and one gets another; one is gone. */
	transaction = begin(STORE_WRITE);
	for (unsigned i = 1; i < 4; i++) {
		struct store_record former = get(transaction, &whole, &made[i]);
		struct fault fault = FAULT_INITIAL;

		made[i].ends = i == 1 ? 0 : i == 2 ? 8500 : made[i].ends;
		ck_assert(i == 3 ? store_remove(transaction, &whole, &former, &fault)
				 : store_put(transaction, &whole, &made[i], &former, &fault));
	}
	made[3].ends = 0;
	for (int is_read = 0; is_read < 2; is_read++) {
		for (unsigned mix = 0; mix < ROWS(times) * 3; mix++)
			check_page(transaction, &whole,
				   (struct store_page){
					   .order = STORE_BY_END,
					   .until = times[mix / 3],
					   .most = mix % 3 == 0 ? 3 : MADE,
					   .bytes_most = mix % 3 == 2 ? 40 : 0,
				   });
		if (is_read == 0) {
			end(transaction);
			transaction = begin(STORE_READ);
		}
	}
	store_abandon(transaction);
}
END_TEST

/* Adds names of the form b00017. */
static void add_names(unsigned first, unsigned last)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = first; i < last; i++) {
		struct store_record record = record_of(i + 1, arena_text(arena, "b%05u", i));

		record.value = SLICE("value");
		put_right(transaction, &named, &record);
	}
	end(transaction);
}

/* Returns the thread's processor time, in nanoseconds. */
static int64_t time_of_pages(void)
{
	struct timespec from, to;
	struct transaction *transaction = begin(STORE_READ);

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from), 0);
	for (unsigned i = 0; i < 500; i++) {
		struct store_record records[5];
		struct fault fault = FAULT_INITIAL;
		struct store_page page = {
			.order = STORE_BY_NAME,
			.prefix = SLICE("b0"),
			.after = SLICE("b00010"),
			.most = 5,
			.records = records,
		};

		ck_assert_msg(store_page(transaction, &named, &page, &fault), "%s", fault.cause);
		ck_assert_uint_eq(page.count, 5);
		ck_assert(slice_is(records[0].name, "b00011"));
	}
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to), 0);
	store_abandon(transaction);
	return (to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec);
}

/* The same with two hundred times as many names; a tree is then a few levels deeper. */
START_TEST(a_page_of_names_costs_what_it_contains)
{
	int64_t of_few;

	store = open_gdbm(directory);
	add_names(0, 40);
	of_few = time_of_pages();
	add_names(40, 8000);
	ck_assert_int_lt(time_of_pages(), 20 * of_few);
}
END_TEST

START_TEST(several_records_are_returned_in_order)
{
	struct store_record records[4];
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&named);

	const struct id ids[] = { made[5].id, id_of(1, 999), made[2].id, made[5].id };

	transaction = begin(STORE_READ);
	ck_assert(store_get_several(transaction, &named, NULL, ids, 4, records, &fault));
	ck_assert(is_same(&named, &records[0], &made[5]) && is_same(&named, &records[2], &made[2]));
	ck_assert(is_same(&named, &records[3], &made[5]));
	ck_assert_ptr_null(records[1].value.data);
	store_abandon(transaction);
}
END_TEST

/* Walks through 1,000 records in pages of 7; between two pages, one record is added and one is
 * removed. */
START_TEST(a_walk_returns_each_remaining_record_once)
{
	struct store_record records[7];
	struct id last;
	unsigned seen[1000] = { 0 }, added = 0;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_page page = { .records = records, .most = ROWS(records) };

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (unsigned i = 0; i < 1000; i++) {
		struct store_record record = record_of(10 * i + 10, arena_text(arena, "n%u", i));

		record.is_on = i % 3 == 0;
		put_right(transaction, &whole, &record);
	}
	end(transaction);
	do {
		struct store_record record = record_of(10 * (added * 37 % 1000) + 10, NULL);

		arena_reset(arena);
		transaction = begin(STORE_READ);
		ck_assert(store_page(transaction, &whole, &page, &fault));
		for (size_t i = 0; i < page.count; i++) {
			const uint64_t number = id_number(&records[i].id);

			if (number % 10 == 0)
				seen[number / 10 - 1]++;
			last = records[i].id;
		}
		page.below = &last;
		store_abandon(transaction);
		transaction = begin(STORE_WRITE);
		if (seen[added * 37 % 1000] == 0) {
			drop(transaction, &whole, &record);
			seen[added * 37 % 1000] = 1;
		}
		record = record_of(10 * (added * 41 % 1000) + 15, arena_text(arena, "m%u", added));
		put_right(transaction, &whole, &record);
		added++;
		end(transaction);
	} while (!page.is_last);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_uint_eq(seen[i], 1);
}
END_TEST

/* ---- walks ---- */

/* More than a walk reads at once, in pages or from a database. */
#define WALKED 300

static const struct id second_account = { "account two" };

/* Puts records of a kind: half of them into each of two accounts, and below two parents. Every
 * seventh is removed again. */
static void put_walked(const struct store_kind *kind)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = 0; i < 2 * WALKED; i++) {
		struct store_record record = record_of(i, arena_text(arena, "n%04u", i));

		store_set_account(transaction, i % 2 == 0 ? &account : &second_account);
		record.parent = id_of(1, i / 2 % 2);
		record.value = slice_of(arena_text(arena, "value %u", i));
		put_right(transaction, kind, &record);
	}
	end(transaction);
	transaction = begin(STORE_WRITE);
	for (unsigned i = 0; i < 2 * WALKED; i += 7) {
		struct store_record record = record_of(i, arena_text(arena, "n%04u", i));

		store_set_account(transaction, i % 2 == 0 ? &account : &second_account);
		drop(transaction, kind, &record);
	}
	end(transaction);
}

static const struct {
	enum store_access access;
	enum store_order order;
	bool keeps;
	bool is_of_parent;
	unsigned above, below; /* 0 for no bound */
	unsigned leaves_after; /* 0 if it goes to the end */
} page_walks[] = {
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, true, false, 0, 0, 0 },
	{ STORE_WRITE, STORE_OLDEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_OLDEST_FIRST, false, true, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 20, 550, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 0, 2, 0 }, /* none */
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, STORE_WALK_AT_ONCE },
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, STORE_WALK_AT_ONCE + 1 },
};

/* Returns the number of the record of the account that comes after `last`, or -1. */
static int walked_next(size_t row, int last)
{
	const int step = page_walks[row].order == STORE_OLDEST_FIRST ? 2 : -2;

	for (int i = last + step; i >= 0 && i < 2 * WALKED; i += step) {
		if (i % 7 != 0 && (!page_walks[row].is_of_parent || i / 2 % 2 == 1) &&
		    (page_walks[row].above == 0 || i > (int)page_walks[row].above) &&
		    (page_walks[row].below == 0 || i < (int)page_walks[row].below))
			return i;
	}
	return -1;
}

START_TEST(a_walk_through_pages_reads_their_records)
{
	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (size_t row = 0; row < ROWS(page_walks); row++) {
		const struct id parent = id_of(1, 1), above = id_of(1000, page_walks[row].above),
				below = id_of(1000, page_walks[row].below);
		const struct store_page page = {
			.order = page_walks[row].order,
			.parent = page_walks[row].is_of_parent ? &parent : NULL,
			.above = page_walks[row].above > 0 ? &above : NULL,
			.below = page_walks[row].below > 0 ? &below : NULL,
		};
		struct transaction *transaction = begin(page_walks[row].access);
		const size_t used = arena_used(arena);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = store_walk_pages(transaction, &whole, &page,
							  page_walks[row].keeps, &fault);
		int number = page.order == STORE_OLDEST_FIRST ? -2 : 2 * WALKED;
		struct store_record record, first = { .value = { NULL, 0 } };
		unsigned count = 0;

		while (store_next(&walk, &record)) {
			number = walked_next(row, number);
			ck_assert_int_eq((int)id_number(&record.id), number);
			ck_assert(slice_is(record.value, arena_text(arena, "value %d", number)));
			if (count++ == 0)
				first = record;
			if (count == page_walks[row].leaves_after)
				break;
		}
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		if (page_walks[row].leaves_after > 0) {
			ck_assert_uint_eq(count, page_walks[row].leaves_after);
		} else {
			ck_assert_int_eq(walked_next(row, number), -1);
			ck_assert(!store_next(&walk, &record));
			if (page_walks[row].access == STORE_READ && !page_walks[row].keeps)
				ck_assert_uint_eq(arena_used(arena), used);
		}
		if (page_walks[row].keeps)
			ck_assert(slice_is(first.value, arena_text(arena, "value %d",
								   (int)id_number(&first.id))));
		store_abandon(transaction);
		arena_reset(arena);
	}
}
END_TEST

/* Counts all records, while another walk over the same is open, and the transaction is used. */
static void walk_over(const struct store_kind *kind, bool has_values)
{
	const bool is_named = kind->naming == STORE_NAME_ANYWHERE;
	struct transaction *transaction = begin(STORE_READ);
	struct store_walk (*const start)(struct transaction *, const struct store_kind *,
					 struct fault *) = has_values ? store_walk_all
								      : store_walk_keys;
	struct fault fault = FAULT_INITIAL;
	struct store_walk walk = start(transaction, kind, &fault);
	struct store_walk second = start(transaction, kind, &fault);
	unsigned seen[2 * WALKED] = { 0 };
	struct store_record record, other, whole_record;

	while (store_next(&walk, &record)) {
		const struct id *owner;
		unsigned number;

		ck_assert(store_next(&second, &other));
		number = is_named ? (unsigned)strtoul(record.name.data + 1, NULL, 10)
				  : (unsigned)id_number(&record.id);
		owner = number % 2 == 0 ? &account : &second_account;
		ck_assert_uint_lt(number, 2 * WALKED);
		seen[number]++;
		store_set_account(transaction, owner);
		whole_record = get(transaction, kind, &record);
		ck_assert(slice_is(whole_record.value, arena_text(arena, "value %u", number)));
		if (has_values)
			ck_assert(is_same(kind, &record, &whole_record));
		else
			ck_assert_ptr_null(record.value.data);
		if (has_values || !is_named)
			ck_assert_int_eq(id_compare(&record.account, owner), 0);
	}
	ck_assert(!store_next(&walk, &record) && !store_next(&second, &record));
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	for (unsigned i = 0; i < 2 * WALKED; i++)
		ck_assert_uint_eq(seen[i], i % 7 != 0);
	store_abandon(transaction);
}

START_TEST(a_walk_over_everything_reads_each_record_once)
{
	const struct store_kind *const walked[] = { &whole, &global, &plain };

	store = drivers[_i].open(directory);
	for (size_t i = 0; i < ROWS(walked); i++) {
		put_walked(walked[i]);
		walk_over(walked[i], false);
		walk_over(walked[i], true);
	}
}
END_TEST

/* What a walk holds is freed with its transaction, which the leak checker sees. */
START_TEST(a_walk_may_be_left)
{
	const unsigned after[] = { 0, 1, WALKED };
	struct store_record record;
	uint64_t number;

	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (size_t i = 0; i < 2 * ROWS(after); i++) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction = begin(STORE_READ);
		struct store_walk walks[3];

		for (size_t j = 0; j < ROWS(walks); j++) {
			walks[j] = (j == 1 ? store_walk_keys : store_walk_all)(transaction, &whole,
									       &fault);
			for (unsigned n = 0; n < after[i / 2]; n++)
				ck_assert(store_next(&walks[j], &record));
		}
		while (store_next(&walks[1], &record))
			;
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		ck_assert_ptr_nonnull(transaction->cursors);
		if (i % 2 == 0)
			store_abandon(transaction);
		else
			ck_assert(store_commit(transaction, &number, &fault));
		ck_assert_ptr_null(transaction->cursors);
	}
}
END_TEST

/* A page is one call, and so is each record of a walk over everything. */
static const struct {
	unsigned fails_at; /* counted from the first one of the walk */
	unsigned pages_read, all_read; /* records */
} failing_walks[] = {
	{ 1, 0, 0 },
	{ 2, STORE_WALK_AT_ONCE, 1 },
	{ 3, 2 * STORE_WALK_AT_ONCE, 2 },
	{ 100, 257, 99 },
};

START_TEST(a_fault_ends_a_walk)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_record record;

	store = open_failing(directory);
	put_walked(&whole);
	for (size_t i = 0; i < 2 * ROWS(failing_walks); i++) {
		const unsigned n = failing_walks[i / 2].fails_at;
		const bool is_of_pages = i % 2 == 0;
		const unsigned expected = is_of_pages ? failing_walks[i / 2].pages_read
						      : failing_walks[i / 2].all_read;
		struct transaction *transaction = begin(STORE_READ);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = is_of_pages ? store_walk_pages(transaction, &whole, &page,
									false, &fault)
						     : store_walk_all(transaction, &whole, &fault);
		unsigned count = 0;

		store_failing_at(store, n);
		while (store_next(&walk, &record))
			count++;
		ck_assert_uint_eq(count, expected);
		ck_assert_int_eq(fault.kind,
				 is_of_pages && n == 100 ? FAULT_NONE : FAULT_UNAVAILABLE);
		ck_assert_uint_eq(store_failing_calls(store), is_of_pages && n == 100 ? 3 : n);
		ck_assert(!store_next(&walk, &record));
		store_abandon(transaction);
		store_failing_at(store, 0);
	}
}
END_TEST

/* A loop that goes on after a fault of its own ends too. */
START_TEST(a_fault_of_the_loop_ends_a_walk)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (int is_of_pages = 0; is_of_pages < 2; is_of_pages++) {
		struct transaction *transaction = begin(STORE_READ);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = is_of_pages ? store_walk_pages(transaction, &whole, &page,
									true, &fault)
						     : store_walk_all(transaction, &whole, &fault);
		struct store_record record;
		unsigned count = 0;

		while (store_next(&walk, &record))
			if (++count == 5)
				(void)fault_set(&fault, FAULT_GONE, NULL);
		ck_assert_uint_eq(count, 5);
		ck_assert_int_eq(fault.kind, FAULT_GONE);
		store_abandon(transaction);
	}
}
END_TEST

/* ---- the drivers compared with each other ---- */

#define PLACES 24

/* Runs one step with the same random numbers in each store and appends the result to the text. */
static void step(struct transaction *transaction, uint64_t seed, struct buffer *text)
{
	const struct store_kind *kind = kinds[chance_below(&seed, ROWS(kinds))];
	struct store_record record = record_of(1 + chance_below(&seed, PLACES), NULL), found;
	struct store_record records[PLACES];
	struct fault fault = FAULT_INITIAL;
	const struct id above = id_of(1000, chance_below(&seed, PLACES));
	const struct id below = id_of(1000, chance_below(&seed, PLACES));
	struct store_page page = { .records = records, .most = 1 + chance_below(&seed, 8) };
	unsigned name;
	bool has_children;

	name = (unsigned)chance_below(&seed, 3 * PLACES);
	record.name = slice_of(arena_text(arena, "%c%u", 'a' + (int)(name % 3), name));
	/* IDs are unique, and a record found by its name alone keeps its ID. */
	if (kind->naming == STORE_NAME_ANYWHERE)
		record.id = id_of(1000, 1 + name);
	record.parent = id_of(1, chance_below(&seed, 4));
	record.is_on = chance_below(&seed, 2) == 0;
	record.ends = kind->has_ends ? (int64_t)chance_below(&seed, 8) : 0;
	record.value = slice_of(arena_text(arena, "%0*d", 1 + (int)chance_below(&seed, 300), 1));
	switch (chance_below(&seed, 8)) {
	case 0:
	case 1:
	case 2:
		found = get(transaction, kind, &record);
		if (found.value.data != NULL && id_compare(&found.account, &account) != 0)
			return;
		if (kind->naming == STORE_NAME_IN_ACCOUNT) {
			ck_assert(store_get_named(transaction, kind, record.name, STORE_TO_SHOW,
						  &found, &fault));
			if (found.value.data != NULL && id_compare(&found.id, &record.id) != 0)
				return;
		}
		put_right(transaction, kind, &record);
		return;
	case 3:
		found = get(transaction, kind, &record);
		if (found.value.data != NULL && id_compare(&found.account, &account) == 0)
			drop(transaction, kind, &record);
		return;
	case 4:
		found = get(transaction, kind, &record);
		buffer_append(text, found.value.data == NULL ? SLICE("none") : found.value);
		buffer_append(text, found.name);
		buffer_append_byte(text, (char)('0' + (kind->has_switch && found.is_on)));
		return;
	case 5:
		if (!kind->has_parent)
			return;
		ck_assert(store_has_children(transaction, kind, &record.parent, &has_children,
					     &fault));
		buffer_append_text(text, has_children ? "yes" : "no");
		return;
	default:
		break;
	}
	page.order = (enum store_order)chance_below(&seed, 4);
	page.until = (int64_t)chance_below(&seed, 10);
	page.parent = kind->has_parent && chance_below(&seed, 2) == 0 ? &record.parent : NULL;
	page.above = chance_below(&seed, 2) == 0 ? &above : NULL;
	page.below = chance_below(&seed, 2) == 0 ? &below : NULL;
	page.prefix = chance_below(&seed, 2) == 0 ? SLICE("a") : (struct slice){ NULL, 0 };
	page.after = chance_below(&seed, 2) == 0 ? record.name : (struct slice){ NULL, 0 };
	if (kind->has_switch)
		page.side = (enum store_side)chance_below(&seed, 3);
	if (page.order == STORE_BY_NAME && (kind->naming != STORE_NAME_IN_ACCOUNT ||
					    page.parent != NULL || page.side != STORE_BOTH_SIDES))
		page.order = STORE_OLDEST_FIRST;
	if (page.order == STORE_BY_END &&
	    (!kind->has_ends || page.parent != NULL || page.side != STORE_BOTH_SIDES))
		page.order = STORE_OLDEST_FIRST;
	if (page.parent == NULL && !kind->has_pages)
		return;
	ck_assert_msg(store_page(transaction, kind, &page, &fault), "%s", fault.cause);
	for (size_t i = 0; i < page.count; i++) {
		buffer_append(text, records[i].value);
		buffer_append(text, records[i].name);
	}
	buffer_append_text(text, page.is_last ? "last" : "more");
}

START_TEST(drivers_agree)
{
	uint64_t seed = 20261123 + (uint64_t)_i;
	struct store *stores[] = {
		store_memory_open(),
		open_gdbm(directory),
		has_database ? open_postgres(directory) : store_memory_open(),
	};

	for (unsigned round = 0; round < 300; round++) {
		const uint64_t steps = 1 + chance_below(&seed, 20), from = chance(&seed);
		const bool is_abandoned = chance_below(&seed, 5) == 0;
		const uint64_t end_seed = chance_below(&seed, 40);
		struct buffer texts[ROWS(stores)];

		account = chance_below(&seed, 4) == 0 ? (struct id){ "account two" }
						      : (struct id){ "account one" };
		for (int s = 0; s < ROWS(stores); s++) {
			struct transaction *transaction = begin_in(stores[s], STORE_WRITE);

			texts[s] = BUFFER_INITIAL(arena);
			buffer_append_byte(&texts[s], '.');
			for (uint64_t i = 0; i < steps; i++)
				step(transaction, from + i, &texts[s]);
			if (is_abandoned)
				store_abandon(transaction);
			else
				end_in(stores[s], transaction);
		}
		for (int s = 1; s < ROWS(stores); s++)
			ck_assert_msg(slice_equal(buffer_slice(&texts[0]), buffer_slice(&texts[s])),
				      "seed %d, round %u, store %d: %.*s, but %.*s", _i, round, s,
				      (int)texts[0].size, texts[0].data, (int)texts[s].size,
				      texts[s].data);
		arena_reset(arena);
		if (end_seed == 0) {
			store_close(stores[1]);
			stores[1] = open_restless(directory);
		}
	}
	for (int s = 0; s < ROWS(stores); s++)
		store_close(stores[s]);
}
END_TEST

/* ---- faults ---- */

/* Makes a sample of all calls; returns false at the first fault. */
static bool sample(struct fault *fault)
{
	const struct store_record kept = record_of(1, "kept");
	struct store_record added = record_of(2, "added"), gone = record_of(3, "gone"), found;
	struct store_page page = { .records = &found, .most = 1 };
	struct transaction *transaction;
	int64_t now = 5000;
	uint64_t number;
	bool has_children;

	if (!store_begin(store, STORE_WRITE, arena, &transaction, fault))
		return false;
	store_set_account(transaction, &account);
	if (!store_get(transaction, &whole, &gone.id, STORE_TO_CHANGE, &gone, fault) ||
	    !store_get_named(transaction, &whole, kept.name, STORE_TO_SHOW, &found, fault) ||
	    !store_page(transaction, &whole, &page, fault) ||
	    !store_has_children(transaction, &whole, &kept.parent, &has_children, fault) ||
	    !store_new_id(transaction, &whole, &ticking, &now, &added.id, fault) ||
	    !store_give_way(transaction, fault) ||
	    !store_put(transaction, &whole, &added, NULL, fault) ||
	    !store_remove(transaction, &whole, &gone, fault)) {
		store_abandon(transaction);
		return false;
	}
	return store_commit(transaction, &number, fault) && store_wait(store, number, fault);
}

START_TEST(a_failed_call_leaves_nothing)
{
	const struct store_record gone = record_of(3, "gone");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_record found;
	unsigned n = 1;

	store = store_failing_open(drivers[_i].open(directory));
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &gone);
	end(transaction);
	for (store_failing_at(store, n); !sample(&fault); store_failing_at(store, ++n)) {
		ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
		fault = FAULT_INITIAL;
		store_failing_at(store, 0);
		transaction = begin(STORE_READ);
		ck_assert_ptr_nonnull(get(transaction, &whole, &gone).value.data);
		ck_assert(store_get_named(transaction, &whole, SLICE("added"), STORE_TO_SHOW,
					  &found, &fault));
		ck_assert_ptr_null(found.value.data);
		store_abandon(transaction);
	}
	ck_assert_uint_gt(n, 9);
}
END_TEST

/* An entry of an index, given by the letter of its tree, that disagrees with the records. */
START_TEST(inconsistent_indexes_are_damage)
{
	struct store_record record = record_of(1, "one"), other = record_of(2, "two"), found;
	struct fault fault = FAULT_INITIAL;
	struct store_page page = { .records = &found, .most = 1 };
	struct transaction *transaction;
	struct btree tree = { .name_size = 2 + ID_SIZE };
	char key[1 + ID_SIZE] = { 0 };
	bool is_read;

	store = open_gdbm(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	put_right(transaction, &whole, &other);
	tree.name[1] = whole.letter;
	memcpy(tree.name + 2, account.bytes, ID_SIZE);
	if (_i < 2) {
		/* A name that leads to a record with another name, or to no record. */
		other.id = _i == 0 ? other.id : id_of(1, 77);
		tree.name[0] = 'n';
		ck_assert(btree_put(transaction, &tree, record.name, id_slice(&other.id), &fault));
		is_read = store_get_named(transaction, &whole, record.name, STORE_TO_SHOW, &found,
					  &fault);
	} else {
		/* A place in the list of the other state (enabled or disabled), or of a record that
		 * does not exist. */
		other.id = _i == 2 ? id_of(1000, 2) : id_of(1, 77);
		memcpy(key + 1, other.id.bytes, ID_SIZE);
		tree.name[0] = 'm';
		ck_assert(btree_put(transaction, &tree, (struct slice){ key, sizeof key },
				    SLICE(""), &fault));
		page.side = STORE_OFF;
		is_read = store_page(transaction, &whole, &page, &fault);
	}
	ck_assert(!is_read);
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_abandon(transaction);
}
END_TEST

/* ---- threads ---- */

static void *raise_500(void *context)
{
	struct arena *own = arena_open();

	(void)context;
	for (int i = 0; i < 500; i++) {
		struct store_record record = record_of(1, "number"), former;
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		uint64_t number;
		char text[16];

		if (!store_begin(store, STORE_WRITE, own, &transaction, &fault))
			abort();
		store_set_account(transaction, &account);
		if (!store_get(transaction, &named, &record.id, STORE_TO_CHANGE, &former, &fault))
			abort();
		(void)snprintf(
			text, sizeof text, "%lu",
			strtoul(arena_text(own, "%.*s", (int)former.value.size, former.value.data),
				NULL, 10) +
				1);
		record.value = slice_of(text);
		if (!store_put(transaction, &named, &record, &former, &fault) ||
		    !store_commit(transaction, &number, &fault))
			abort();
		if (i % 50 == 0 && !store_wait(store, number, &fault))
			abort();
		arena_reset(own);
	}
	arena_close(own);
	return NULL;
}

START_TEST(writers_exclude_each_other)
{
	struct store_record record = record_of(1, "number");
	struct transaction *transaction;
	pthread_t threads[2];

	store = drivers[_i].open(directory);
	record.value = SLICE("0");
	transaction = begin(STORE_WRITE);
	put_right(transaction, &named, &record);
	end(transaction);
	for (int i = 0; i < ROWS(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, raise_500, NULL), 0);
	for (int i = 0; i < ROWS(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	transaction = begin(STORE_WRITE);
	ck_assert(slice_is(get(transaction, &named, &record).value, "1000"));
	end(transaction);
}
END_TEST

/* ---- giving way ---- */

/* A transaction in another thread: what it does, and its progress. */
struct beside {
	struct id account;
	const struct store_kind *kind;
	struct store_record record; /* put, unless its value is empty */
	bool looks_first; /* reads the record before setting the account */
	pthread_t thread;
	atomic_bool has_begun, has_entered, has_ended;
	enum fault_kind fault;
	bool has_found; /* found the record before putting it */
};

static bool look_for(struct beside *beside, struct transaction *transaction, struct fault *fault)
{
	struct store_record found;
	const bool is_read = beside->kind->naming == STORE_NO_NAME
				     ? store_get(transaction, beside->kind, &beside->record.id,
						 STORE_TO_CHANGE, &found, fault)
				     : store_get_named(transaction, beside->kind,
						       beside->record.name, STORE_TO_CHANGE, &found,
						       fault);

	beside->has_found = is_read && found.value.data != NULL;
	return is_read;
}

static bool write_beside(struct beside *beside, struct arena *own, struct fault *fault)
{
	struct transaction *transaction;
	uint64_t number;

	if (!store_begin(store, STORE_WRITE, own, &transaction, fault))
		return false;
	atomic_store(&beside->has_begun, true);
	if (beside->looks_first && !look_for(beside, transaction, fault))
		abort();
	store_set_account(transaction, &beside->account);
	atomic_store(&beside->has_entered, true);
	if (look_for(beside, transaction, fault) &&
	    (beside->record.value.size == 0 ||
	     store_put(transaction, beside->kind, &beside->record, NULL, fault)))
		return store_commit(transaction, &number, fault) &&
		       store_wait(store, number, fault);
	store_abandon(transaction);
	return false;
}

static void *run_beside(void *context)
{
	struct beside *beside = context;
	struct arena *own = arena_open();
	struct fault fault = FAULT_INITIAL;

	(void)write_beside(beside, own, &fault);
	beside->fault = fault.kind;
	arena_close(own);
	atomic_store(&beside->has_ended, true);
	return NULL;
}

static void start(struct beside *beside)
{
	ck_assert_int_eq(pthread_create(&beside->thread, NULL, run_beside, beside), 0);
}

/* Gives way until the other transaction has got that far; returns false on a fault. */
static bool give_way_until(struct transaction *transaction, const atomic_bool *is_so_far,
			   struct fault *fault)
{
	bool is_right = true;

	while (is_right && !atomic_load(is_so_far))
		is_right = store_give_way(transaction, fault);
	return is_right;
}

static struct id other_account(void)
{
	return (struct id){ "account two" };
}

static bool has(const struct store_kind *kind, const struct id *of,
		const struct store_record *record)
{
	const struct id former = account;
	struct transaction *transaction;
	bool is_there;

	account = *of;
	transaction = begin(STORE_READ);
	is_there = get(transaction, kind, record).value.data != NULL;
	store_abandon(transaction);
	account = former;
	return is_there;
}

/* The transaction is then committed or abandoned. Until then readers see nothing of it, and a kill
 * would leave nothing of it. */
START_TEST(others_write_while_one_gives_way)
{
	const int driver = _i / 2;
	const bool commits = _i % 2 == 0;
	const struct store_record own = record_of(1, "own"), later = record_of(2, "later");
	struct beside other = { .account = other_account(),
				.kind = &whole,
				.record = record_of(3, "other") };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	if (!drivers[driver].gives_way)
		return;
	store = drivers[driver].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &own);
	start(&other);
	ck_assert(give_way_until(transaction, &other.has_ended, &fault));
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	ck_assert(has(&whole, &other.account, &other.record));
	ck_assert(!has(&whole, &account, &own));
	ck_assert_ptr_nonnull(get(transaction, &whole, &own).value.data);
	put_right(transaction, &whole, &later);
	if (commits)
		end(transaction);
	else
		store_abandon(transaction);
	if (!drivers[driver].is_shared) {
		store_close(store);
		store = drivers[driver].open(directory);
	}
	ck_assert(has(&whole, &other.account, &other.record));
	ck_assert(has(&whole, &account, &own) == commits);
	ck_assert(has(&whole, &account, &later) == commits);
}
END_TEST

/* A writer of the same account waits, and then sees the whole transaction. A writer that read
 * something before it knew its account must be run again. A writer of another account waits for
 * neither. */
START_TEST(writers_of_its_account_wait_while_it_gives_way)
{
	const int driver = _i / 2;
	struct beside same = { .account = account,
			       .kind = &global,
			       .record = record_of(1, "code"),
			       .looks_first = _i % 2 == 1 };
	struct beside other = { .account = other_account(),
				.kind = &whole,
				.record = record_of(3, "other") };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	if (!drivers[driver].gives_way || drivers[driver].is_shared)
		return;
	store = drivers[driver].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &global, &same.record);
	same.record.value.size = 0;
	start(&same);
	ck_assert(give_way_until(transaction, &same.has_begun, &fault));
	start(&other);
	ck_assert(give_way_until(transaction, &other.has_ended, &fault));
	ck_assert(!atomic_load(&same.has_entered));
	end(transaction);
	pthread_join(other.thread, NULL);
	pthread_join(same.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	ck_assert_int_eq(same.fault, same.looks_first ? FAULT_AGAIN : FAULT_NONE);
	ck_assert(same.has_found == !same.looks_first);
}
END_TEST

/* Both put a name that is unique in the installation: the one that gave way must be run again, and
 * then finds the name taken. */
START_TEST(a_name_may_be_taken_while_giving_way)
{
	struct beside other = { .account = other_account(),
				.kind = &global,
				.record = record_of(1, "code") };
	const struct store_record own = record_of(2, "code");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_record found;

	if (!drivers[_i].gives_way || drivers[_i].is_shared)
		return;
	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &global, &own);
	start(&other);
	ck_assert(!give_way_until(transaction, &other.has_ended, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
	store_abandon(transaction);
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	transaction = begin(STORE_WRITE);
	fault = FAULT_INITIAL;
	ck_assert(store_get_named(transaction, &global, own.name, STORE_TO_CHANGE, &found, &fault));
	ck_assert_int_eq(id_compare(&found.account, &other.account), 0);
	store_abandon(transaction);
}
END_TEST

/* Each of many writers gets its turn, and so does the one that gives way. */
START_TEST(all_writers_get_their_turn)
{
	enum { OTHERS = 8, EACH = 20 };
	struct beside others[OTHERS];
	const struct store_record own = record_of(1, "own");
	struct fault fault = FAULT_INITIAL;

	if (!drivers[_i].gives_way)
		return;
	store = drivers[_i].open(directory);
	for (unsigned round = 0; round < EACH; round++) {
		struct transaction *transaction = begin(STORE_WRITE);

		(void)get(transaction, &whole, &own);
		for (unsigned i = 0; i < OTHERS; i++) {
			others[i] = (struct beside){ .account = other_account(), .kind = &child };
			others[i].record = record_of(2 + round * OTHERS + i, "");
			start(&others[i]);
		}
		for (unsigned i = 0; i < OTHERS; i++)
			ck_assert(give_way_until(transaction, &others[i].has_ended, &fault));
		store_abandon(transaction);
		for (unsigned i = 0; i < OTHERS; i++) {
			pthread_join(others[i].thread, NULL);
			ck_assert_int_eq(others[i].fault, FAULT_NONE);
			ck_assert(has(&child, &others[i].account, &others[i].record));
		}
	}
}
END_TEST

/* ---- the form ---- */

struct formed_item {
	struct id one;
	uint64_t more;
};
struct formed {
	struct store_record stored;
	struct id id;
	struct slice text, other;
	uint64_t count, later;
	unsigned set, pick;
	struct formed_item *items;
	size_t item_count;
};

static const struct store_kind formed_kind = { .letter = 'F', .name = "formed" };
static const struct store_kind paged_kind = { .letter = 'F', .name = "formed", .has_pages = true };
static const struct store_kind second_kind = { .letter = 'S', .name = "second" };
static const char *const picks[] = { "first", "second", "third" };
static const char *const swapped_picks[] = { "second", "first", "third" };

#define FORM_ID \
	{ \
		"id", AS_KEY, AT(struct formed, stored.id) \
	}
#define FORM_TEXT \
	{ \
		"text", AS_TEXT(0, 10), AT(struct formed, text) \
	}
#define FORM_COUNT \
	{ \
		"count", AS_NUMBER(8, 0, 100), AT(struct formed, count) \
	}
#define FORM_SET \
	{ \
		"set", AS_NUMBER(4, 0, 3), AT(struct formed, set) \
	}
#define FORM_PICK(last_, names_) \
	{ \
		"pick", AS_CHOICE(last_, names_), AT(struct formed, pick) \
	}
#define FORM_ITEMS(table_) \
	{ \
		"items", AS_LIST(struct formed, item_count, 9, table_), AT(struct formed, items) \
	}
#define FORM_WHEN \
	{ \
		"other", AS_TEXT(0, 10), WHEN(1), AT(struct formed, other) \
	}
#define FORM_LATER AS_NUMBER(8, 0, UNLIMITED), AT(struct formed, later)

static const struct member few_members[] = { { "one", AS_ID, AT(struct formed_item, one) } };
static const struct member more_members[] = {
	{ "one", AS_ID, AT(struct formed_item, one) },
	{ "more", AS_NUMBER(8, 0, UNLIMITED), SINCE(2), AT(struct formed_item, more) },
};
static const struct record_table few_table = { ITEMS(struct formed_item, few_members) };
static const struct record_table more_table = { ITEMS(struct formed_item, more_members) };

/* Each array has its rows and the table of a form. */
#define FORMED(name_, kind_, version_, ...) \
	static const struct member name_##_members[] = { __VA_ARGS__ }; \
	static const struct record_table name_ = { \
		RECORD(struct formed, name_##_members, 1, &(kind_)), \
		.set = offsetof(struct formed, set), \
		VERSION(version_), \
	}
FORMED(plain_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(limits_form, formed_kind, 1, FORM_ID,
       { "text", AS_TEXT(3, 2000), MARKED(MEMBER_ABSENT), AT(struct formed, text) },
       { "count", AS_NUMBER(8, 10, 20), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       { "items", AS_LIST(struct formed, item_count, 7, few_table), AT(struct formed, items) },
       FORM_WHEN);
FORMED(end_form, formed_kind, 2, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", SINCE(2), FORM_LATER });
FORMED(middle_form, formed_kind, 2, FORM_ID, FORM_TEXT, { "later", SINCE(2), FORM_LATER },
       FORM_COUNT, FORM_SET, FORM_PICK(1, picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(items_form, formed_kind, 2, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(more_table), FORM_WHEN);
FORMED(required_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", FORM_LATER });
FORMED(bit_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", WHEN(2), FORM_LATER });
FORMED(used_bit_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", WHEN(1), FORM_LATER });
FORMED(picks_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(2, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(swapped_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET,
       FORM_PICK(1, swapped_picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(name_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "counted", AS_NUMBER(8, 0, 100), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(type_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "count", AS_TIME, AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(width_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "count", AS_NUMBER(2, 0, 100), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(order_form, formed_kind, 1, FORM_ID, FORM_COUNT, FORM_TEXT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(derived_form, formed_kind, 1, FORM_ID,
       { "text", AS_TEXT(0, 10), MARKED(MEMBER_DERIVED), AT(struct formed, text) }, FORM_COUNT,
       FORM_SET, FORM_PICK(1, picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(fewer_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table));
FORMED(without_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT);
FORMED(paged_form, paged_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(second_form, second_kind, 1, FORM_ID);

/* What a program with the tables `present` says of data whose form was made from `kept`. */
static const struct {
	const char *what;
	const struct record_table *kept[2], *present[2];
	enum store_form_match match;
} form_rows[] = {
#define ROW(what_, kept_, present_, match_) \
	{ \
		what_, { &(kept_) }, { &(present_) }, STORE_FORM_##match_ \
	}
	ROW("nothing", plain_form, plain_form, SAME),
	ROW("limits", plain_form, limits_form, SAME),
	ROW("a row at the end", plain_form, end_form, EARLIER),
	ROW("a row at the end, before", end_form, plain_form, NEWER),
	ROW("a row in the middle", plain_form, middle_form, EARLIER),
	ROW("a row in the middle, before", middle_form, plain_form, NEWER),
	ROW("the place of a later row", middle_form, end_form, OTHER),
	ROW("a row of items", plain_form, items_form, EARLIER),
	ROW("a row of items, before", items_form, plain_form, NEWER),
	ROW("a row that older records would have to have", plain_form, required_form, OTHER),
	ROW("a row of a new bit", plain_form, bit_form, EARLIER),
	ROW("a row of a new bit, before", bit_form, plain_form, NEWER),
	ROW("a row of the first bit", fewer_form, plain_form, EARLIER),
	ROW("a row of a bit in use", plain_form, used_bit_form, OTHER),
	ROW("rows that are gone", plain_form, without_form, NEWER),
	ROW("rows that were added", without_form, plain_form, OTHER),
	ROW("a name of a choice", plain_form, picks_form, EARLIER),
	ROW("a name of a choice, before", picks_form, plain_form, NEWER),
	ROW("the order of names", plain_form, swapped_form, OTHER),
	ROW("the name of a row", plain_form, name_form, OTHER),
	ROW("a type", plain_form, type_form, OTHER),
	ROW("a width", plain_form, width_form, OTHER),
	ROW("the order of rows", plain_form, order_form, OTHER),
	ROW("whether a dump has it", plain_form, derived_form, OTHER),
	ROW("pages of a kind", plain_form, paged_form, OTHER),
#undef ROW
	{ "a kind", { &plain_form }, { &plain_form, &second_form }, STORE_FORM_EARLIER },
	{ "a kind, before", { &plain_form, &second_form }, { &plain_form }, STORE_FORM_NEWER },
	{ "a kind and a type", { &plain_form, &second_form }, { &type_form }, STORE_FORM_OTHER },
};

static size_t tables_of(const struct record_table *const tables[2])
{
	return tables[1] == NULL ? 1 : 2;
}

START_TEST(a_form_says_what_can_be_read)
{
	const struct slice kept = form_text(arena, form_rows[_i].kept,
					    tables_of(form_rows[_i].kept));
	const enum store_form_match match = form_compare(form_rows[_i].present,
							 tables_of(form_rows[_i].present), kept);

	ck_assert_msg(match == form_rows[_i].match, "%s: %d, expected %d, %.*s", form_rows[_i].what,
		      (int)match, (int)form_rows[_i].match, (int)kept.size, kept.data);
}
END_TEST

START_TEST(a_text_that_is_no_form_is_another_one)
{
	static const char *const texts[] = {
		"",
		"F",
		"F=1",
		"F=1:",
		"F=:00000000",
		"F=x:00000000",
		"F=-1:00000000",
		"F=1:0000000",
		"F=1:0000000g",
		" ",
	};
	const struct record_table *const tables[] = { &plain_form };

	for (size_t i = 0; i < ROWS(texts); i++)
		ck_assert_msg(form_compare(tables, 1, slice_of(texts[i])) == STORE_FORM_OTHER,
			      "\"%s\"", texts[i]);
}
END_TEST

/* A program that was running when a newer one began to write. */
START_TEST(a_record_of_a_later_version_says_so)
{
	struct formed record = { .later = 7 };
	struct buffer value = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;

	record_pack(&end_form, &record, &value);
	record.stored.value = buffer_slice(&value);
	ck_assert(!record_read(&plain_form, arena, &record.stored, &(struct formed){ .set = 0 },
			       &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert_str_eq(fault_reason(&fault),
			 "The formed was written by a newer version of Anteroom");
}
END_TEST

/* A row may be added to a table of which lists read only the first text. */
static const struct {
	const struct record_table *stored, *read;
	bool is_read;
} first_texts[] = {
	{ &plain_form, &plain_form, true },
	{ &plain_form, &end_form, true },
	{ &end_form, &end_form, true },
	{ &end_form, &plain_form, false },
};

START_TEST(the_first_text_is_read_of_each_known_version)
{
	const struct formed record = { .text = SLICE("text"), .later = 7 };
	struct buffer value = BUFFER_INITIAL(arena);
	struct slice text;
	bool is_read;

	record_pack(first_texts[_i].stored, &record, &value);
	is_read = record_first_text(first_texts[_i].read, buffer_slice(&value), &text);
	ck_assert_int_eq(is_read, first_texts[_i].is_read);
	ck_assert(!is_read || slice_is(text, "text"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *all = tcase_create("drivers"), *some = tcase_create("damage"),
	      *form = tcase_create("form");
	const char *no_database = database_start();
	const int n = ROWS(drivers) - (no_database == NULL ? 0 : 1);
	int status;

	has_database = no_database == NULL;
	if (!has_database)
		printf("without PostgreSQL: %s\n", no_database);
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_set_timeout(all, 60);
	tcase_add_loop_test(all, a_record_is_returned_as_it_was_put, 0, n);
	tcase_add_loop_test(all, many_records_are_as_they_were_put, 0, n);
	tcase_add_loop_test(all, names_are_unique, 0, n);
	tcase_add_loop_test(all, a_removed_record_is_not_removed_again, 0, n);
	tcase_add_loop_test(all, accounts_and_kinds_do_not_mix, 0, n);
	tcase_add_loop_test(all, each_transaction_sees_its_state, 0, n);
	tcase_add_loop_test(all, new_ids_rise, 0, n);
	tcase_add_loop_test(all, new_ids_are_above_the_others, 0, n);
	tcase_add_loop_test(all, pages_agree_with_a_plain_model, 0, n);
	tcase_add_loop_test(all, names_are_in_order, 0, n);
	tcase_add_loop_test(all, ends_are_in_order, 0, n);
	tcase_add_test(all, a_page_of_names_costs_what_it_contains);
	tcase_add_loop_test(all, several_records_are_returned_in_order, 0, n);
	tcase_add_loop_test(all, a_walk_returns_each_remaining_record_once, 0, n);
	tcase_add_loop_test(all, a_walk_through_pages_reads_their_records, 0, n);
	tcase_add_loop_test(all, a_walk_over_everything_reads_each_record_once, 0, n);
	tcase_add_loop_test(all, a_walk_may_be_left, 0, n);
	tcase_add_test(all, a_fault_ends_a_walk);
	tcase_add_loop_test(all, a_fault_of_the_loop_ends_a_walk, 0, n);
	tcase_add_loop_test(all, writers_exclude_each_other, 0, n);
	tcase_add_loop_test(all, others_write_while_one_gives_way, 0, 2 * n);
	tcase_add_loop_test(all, writers_of_its_account_wait_while_it_gives_way, 0, 2 * n);
	tcase_add_loop_test(all, a_name_may_be_taken_while_giving_way, 0, n);
	tcase_add_loop_test(all, all_writers_get_their_turn, 0, n);
	suite_add_tcase(suite, all);
	tcase_add_checked_fixture(some, setup, teardown);
	tcase_set_timeout(some, 60);
	tcase_add_loop_test(some, drivers_agree, 0, 6);
	tcase_add_loop_test(some, a_failed_call_leaves_nothing, 0, n);
	tcase_add_loop_test(some, inconsistent_indexes_are_damage, 0, 4);
	suite_add_tcase(suite, some);
	tcase_add_checked_fixture(form, setup, teardown);
	tcase_add_loop_test(form, a_form_says_what_can_be_read, 0, ROWS(form_rows));
	tcase_add_test(form, a_text_that_is_no_form_is_another_one);
	tcase_add_test(form, a_record_of_a_later_version_says_so);
	tcase_add_loop_test(form, the_first_text_is_read_of_each_known_version, 0,
			    ROWS(first_texts));
	suite_add_tcase(suite, form);
	fast_disk();
	status = suite_run(suite);
	if (has_database)
		database_stop();
	return status;
}
