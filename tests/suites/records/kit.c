/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kit.h"

#include <stdlib.h>

#include "database.h"
#include "directory.h"
#include "store/gdbm/store_gdbm.h"
#include "store/postgres/store_postgres.h"
#include "store_failing.h"
#include "store_memory.h"

/* ---- kinds and drivers ---- */

const struct store_kind whole = {
	.letter = 'A',
	.name = "whole",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
	.has_ends = true,
};
const struct store_kind named = {
	.letter = 'B',
	.name = "named",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
};
const struct store_kind global = {
	.letter = 'C',
	.name = "global",
	.naming = STORE_NAME_ANYWHERE,
	.has_parent = true,
	.has_switch = true,
};
const struct store_kind child = { .letter = 'D', .name = "child", .has_parent = true };
const struct store_kind plain = { .letter = 'E', .name = "plain" };
const struct store_kind *const kinds[] = { &whole, &named, &global, &child, &plain };

static struct store *open_memory(const char *at)
{
	(void)at;
	return store_memory_open();
}

struct store *open_failing(const char *at)
{
	(void)at;
	return store_failing_open(store_memory_open());
}

static struct store *open_gdbm_with(const char *at, size_t overlay_bytes, size_t segment_bytes)
{
	const struct store_options options = { .directory = at,
					       .readers = 8,
					       .creates = true,
					       .overlay_bytes = overlay_bytes,
					       .segment_bytes = segment_bytes };
	struct fault fault = FAULT_INITIAL;
	struct store *opened = NULL;

	ck_assert_msg(store_gdbm_open(&options, &opened, &fault), "%s", fault.cause);
	return opened;
}

struct store *open_gdbm(const char *at)
{
	return open_gdbm_with(at, 0, 0);
}

struct store *open_restless(const char *at)
{
	return open_gdbm_with(at, 16384, 65536);
}

static struct store *open_failing_gdbm(const char *at)
{
	return store_failing_open(open_gdbm(at));
}

struct store *open_postgres(const char *at)
{
	char *url = database_store();
	const struct store_postgres_options options = { .url = url, .uses_callers_clock = true };
	struct fault fault = FAULT_INITIAL;
	struct store *opened = NULL;

	(void)at;
	ck_assert_msg(store_postgres_open(&options, &opened, &fault), "%s", fault.cause);
	free(url);
	return opened;
}

const struct driver drivers[] = {
	{ "memory", open_memory, false, false },
	{ "failing", open_failing, false, false },
	{ "gdbm", open_gdbm, false, true },
	{ "gdbm, small bounds", open_restless, false, true },
	{ "failing, over gdbm", open_failing_gdbm, false, true },
	{ "postgresql", open_postgres, true, true },
};
_Static_assert(ROWS(drivers) == DRIVERS, "kit.h says how many");

bool has_database;
char *directory;
struct store *store;
struct arena *arena;
struct id account; /* of the transactions that begin() starts */

void setup(void)
{
	directory = directory_make();
	arena = arena_open();
	account = (struct id){ "account one" };
}

void teardown(void)
{
	arena_close(arena);
	store_close(store);
	store = NULL;
	directory_remove(directory);
}

/* ---- short forms ---- */

struct transaction *begin_in(struct store *in, enum store_access access)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	ck_assert(store_begin(in, access, arena, &transaction, &fault));
	store_set_account(transaction, &account);
	return transaction;
}

struct transaction *begin(enum store_access access)
{
	return begin_in(store, access);
}

void commit_in(struct store *in, struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(in, number, &fault));
}

void commit(struct transaction *transaction)
{
	commit_in(store, transaction);
}

struct id id_of(uint32_t seconds, uint64_t number)
{
	struct id id = { { 0 } };

	for (size_t i = 0; i < 4; i++)
		id.bytes[i] = (unsigned char)(seconds >> (24 - 8 * i));
	for (size_t i = 0; i < 5; i++)
		id.bytes[4 + i] = (unsigned char)(number >> (32 - 8 * i));
	return id;
}

struct store_record record_of(uint64_t number, const char *name)
{
	return (struct store_record){
		.id = id_of(1000, number),
		.parent = id_of(1, 1),
		.is_on = true,
		.name = slice_of(name),
		.value = SLICE("value"),
	};
}

struct store_record get(struct transaction *transaction, const struct store_kind *kind,
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
enum fault_kind put(struct transaction *transaction, const struct store_kind *kind,
		    const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record former = get(transaction, kind, record);

	return store_put(transaction, kind, record, former.value.data == NULL ? NULL : &former,
			 &fault)
		       ? FAULT_NONE
		       : fault.kind;
}

void put_right(struct transaction *transaction, const struct store_kind *kind,
	       const struct store_record *record)
{
	ck_assert_int_eq(put(transaction, kind, record), FAULT_NONE);
}

void drop(struct transaction *transaction, const struct store_kind *kind,
	  const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record former = get(transaction, kind, record);

	ck_assert_ptr_nonnull(former.value.data);
	ck_assert(store_remove(transaction, kind, &former, &fault));
}

bool is_same(const struct store_kind *kind, const struct store_record *a,
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

const struct clock ticking = { steady, no_chance };
