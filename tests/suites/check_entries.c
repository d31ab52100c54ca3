/* The entries of the durable driver: transactions by example, compared with a plain model, and with
 * threads (also run under ThreadSanitizer). Records are in check_records.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "directory.h"
#include "fast_disk.h"
#include "store/gdbm/store_gdbm.h"
#include "store/gdbm/entries.h"
#include "suite.h"

/* The driver under test: `open` opens the store in the directory, or creates it. */
struct driver {
	const char *name;
	struct store *(*open)(const char *directory);
	bool is_durable;
};

static struct store *gdbm_open_with(const char *path, size_t overlay_bytes, size_t segment_bytes)
{
	const struct store_options options = { .directory = path,
					       .readers = 8,
					       .creates = true,
					       .overlay_bytes = overlay_bytes,
					       .segment_bytes = segment_bytes };
	struct fault fault = FAULT_INITIAL;
	struct store *opened = NULL;

	if (!store_gdbm_open(&options, &opened, &fault)) {
		fprintf(stderr, "%s: %s\n", fault.message, fault.cause);
		abort();
	}
	return opened;
}

static struct store *durable_open(const char *path)
{
	return gdbm_open_with(path, 0, 0);
}

/* Files, merges and segments change all the time. */
static struct store *restless_open(const char *path)
{
	return gdbm_open_with(path, 16 << 10, 64 << 10);
}

static const struct driver drivers[] = {
	{ "gdbm", durable_open, true },
	{ "gdbm, small bounds", restless_open, true },
};

static char *directory;
static const struct driver *driver;
static struct store *store;
static struct arena *arena;

static void setup(void)
{
	directory = directory_make();
	arena = arena_open();
}

static void teardown(void)
{
	arena_close(arena);
	store_close(store);
	directory_remove(directory);
}

static void open_driver(int i)
{
	driver = &drivers[i];
	store = driver->open(directory);
}

static void reopen(void)
{
	store_close(store);
	store = driver->open(directory);
}

static struct transaction *begin(enum store_access access)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction = NULL;

	ck_assert(store_begin(store, access, arena, &transaction, &fault));
	return transaction;
}

static uint64_t commit(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number = 0;

	ck_assert(store_commit(transaction, &number, &fault));
	return number;
}

static void commit_and_wait(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_wait(store, commit(transaction), &fault));
}

static void put_slice(struct transaction *transaction, enum store_table table, struct slice key,
		      struct slice value)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(entry_put(transaction, table, key, value, &fault));
}

static void put(struct transaction *transaction, const char *key, const char *value)
{
	put_slice(transaction, STORE_INDEX, slice_of(key), slice_of(value));
}

static void drop(struct transaction *transaction, const char *key)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(entry_remove(transaction, STORE_INDEX, slice_of(key), &fault));
}

static struct slice get_slice(struct transaction *transaction, enum store_table table,
			      struct slice key)
{
	struct fault fault = FAULT_INITIAL;
	struct slice value = SLICE("untouched");

	ck_assert(entry_get(transaction, table, key, &value, &fault));
	return value;
}

/* Expects `value`; NULL if the key must be absent. */
static void expect_slice(struct transaction *transaction, enum store_table table, struct slice key,
			 struct slice value)
{
	const struct slice found = get_slice(transaction, table, key);

	ck_assert_int_eq(found.data == NULL, value.data == NULL);
	ck_assert_uint_eq(found.size, value.size);
	ck_assert(slice_equal(found, value));
}

static void expect(struct transaction *transaction, const char *key, const char *value)
{
	expect_slice(transaction, STORE_INDEX, slice_of(key), slice_of(value));
}

START_TEST(a_transaction_sees_its_own_writes)
{
	struct transaction *transaction;

	open_driver(_i);
	transaction = begin(STORE_WRITE);
	expect(transaction, "key", NULL);
	put(transaction, "key", "one");
	expect(transaction, "key", "one");
	put(transaction, "key", "another");
	expect(transaction, "key", "another");
	drop(transaction, "key");
	expect(transaction, "key", NULL);
	put(transaction, "key", "");
	expect(transaction, "key", "");
	commit_and_wait(transaction);
	transaction = begin(STORE_READ);
	expect(transaction, "key", "");
	store_abandon(transaction);
}
END_TEST

START_TEST(an_abandoned_transaction_leaves_nothing)
{
	struct transaction *transaction;
	uint64_t number;

	open_driver(_i);
	transaction = begin(STORE_WRITE);
	put(transaction, "kept", "old");
	commit_and_wait(transaction);
	transaction = begin(STORE_WRITE);
	number = transaction->number;
	put(transaction, "kept", "new");
	put(transaction, "new", "new");
	drop(transaction, "kept");
	store_abandon(transaction);

	for (int access = STORE_READ; access <= STORE_WRITE; access++) {
		transaction = begin((enum store_access)access);
		expect(transaction, "kept", "old");
		expect(transaction, "new", NULL);
		store_abandon(transaction);
	}
	transaction = begin(STORE_WRITE);
	ck_assert_uint_eq(transaction->number, number);
	put(transaction, "next", "next");
	ck_assert_uint_eq(commit(transaction), number);
	if (driver->is_durable) {
		reopen();
		transaction = begin(STORE_READ);
		expect(transaction, "kept", "old");
		expect(transaction, "new", NULL);
		store_abandon(transaction);
	}
}
END_TEST

START_TEST(readers_see_durable_and_writers_committed_values)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *before;
	struct transaction *pending;
	struct transaction *after;
	struct transaction *writer;
	uint64_t number;

	open_driver(_i);
	writer = begin(STORE_WRITE);
	put(writer, "key", "old");
	put(writer, "gone", "old");
	commit_and_wait(writer);

	before = begin(STORE_READ);
	writer = begin(STORE_WRITE);
	put(writer, "key", "new");
	put(writer, "made", "new");
	drop(writer, "gone");
	expect(before, "key", "old");
	number = commit(writer);
	ck_assert_int_eq(store_state(store, number), STORE_PENDING);
	ck_assert_int_eq(store_state(store, number - 1), STORE_DURABLE);
	pending = begin(STORE_READ);
	writer = begin(STORE_WRITE);
	expect(writer, "key", "new");
	expect(writer, "made", "new");
	expect(writer, "gone", NULL);
	store_abandon(writer);
	ck_assert(store_wait(store, number, &fault));
	ck_assert_int_eq(store_state(store, number), STORE_DURABLE);

	after = begin(STORE_READ);
	for (unsigned i = 0; i < 2; i++) {
		struct transaction *reader = i == 0 ? before : pending;

		ck_assert_uint_eq(reader->number, number - 1);
		ck_assert_uint_eq(store_seen(reader), number - 1);
		expect(reader, "key", "old");
		expect(reader, "made", NULL);
		expect(reader, "gone", "old");
		store_abandon(reader);
	}
	ck_assert_uint_eq(after->number, number);
	expect(after, "key", "new");
	expect(after, "made", "new");
	expect(after, "gone", NULL);
	store_abandon(after);
}
END_TEST

START_TEST(numbers_rise_by_one)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t first;
	uint64_t number;

	open_driver(_i);
	transaction = begin(STORE_WRITE);
	first = transaction->number;
	ck_assert_uint_gt(first, 0);
	put(transaction, "key", "value");
	ck_assert_uint_eq(commit(transaction), first);
	for (uint64_t i = 1; i < 20; i++) {
		transaction = begin(STORE_WRITE);
		ck_assert_uint_eq(transaction->number, first + i);
		ck_assert_uint_eq(store_seen(transaction), first + i - 1);
		put(transaction, "key", "value");
		ck_assert_uint_eq(commit(transaction), first + i);
	}

	/* A transaction that changed nothing takes no number; it returns the number of what it
	 * could see, durable or not. */
	transaction = begin(STORE_WRITE);
	expect(transaction, "key", "value");
	number = commit(transaction);
	ck_assert_uint_eq(number, first + 19);
	ck_assert_int_eq(store_state(store, number), STORE_PENDING);
	transaction = begin(STORE_READ);
	ck_assert_uint_lt(commit(transaction), number);
	ck_assert(store_wait(store, number, &fault));
	transaction = begin(STORE_READ);
	ck_assert_uint_eq(commit(transaction), number);
	if (driver->is_durable) {
		reopen();
		transaction = begin(STORE_WRITE);
		ck_assert_uint_eq(transaction->number, number + 1);
		store_abandon(transaction);
	}
}
END_TEST

START_TEST(values_live_as_long_as_the_arena)
{
	struct transaction *transaction;
	struct slice own;
	struct slice stored;

	open_driver(_i);
	transaction = begin(STORE_WRITE);
	put(transaction, "key", "first");
	own = get_slice(transaction, STORE_INDEX, SLICE("key"));
	put(transaction, "key", "other");
	ck_assert(slice_is(own, "first"));
	commit_and_wait(transaction);
	transaction = begin(STORE_READ);
	stored = get_slice(transaction, STORE_INDEX, SLICE("key"));
	store_abandon(transaction);
	transaction = begin(STORE_WRITE);
	drop(transaction, "key");
	commit_and_wait(transaction);
	store_close(store);
	store = NULL;
	ck_assert(slice_is(own, "first"));
	ck_assert(slice_is(stored, "other"));
}
END_TEST

START_TEST(keys_and_values_are_copied)
{
	char key[] = "key";
	char value[] = "value";
	struct transaction *transaction;

	open_driver(_i);
	transaction = begin(STORE_WRITE);
	put(transaction, key, value);
	memset(key, 'x', sizeof key - 1);
	memset(value, 'x', sizeof value - 1);
	expect(transaction, "key", "value");
	commit_and_wait(transaction);
	transaction = begin(STORE_READ);
	expect(transaction, "key", "value");
	expect(transaction, "xxx", NULL);
	store_abandon(transaction);
}
END_TEST

/* Keys of every table that share prefixes, with any bytes, of the shortest and the longest size. */
START_TEST(tables_and_keys_do_not_mix)
{
	char longest[STORE_KEY_MAX];
	const struct slice keys[] = {
		{ "k", 1 },
		{ "k\0", 2 },
		{ "k\0\0", 3 },
		{ "\0", 1 },
		{ "key", 3 },
		{ "\xff\xff", 2 },
		{ longest, STORE_KEY_MAX - 1 },
		{ longest, STORE_KEY_MAX },
		{ "tk", 2 },
		{ "aa", 2 },
	};
	const size_t n = ROWS(keys);
	char value[STORE_TABLE_COUNT][ROWS(keys)][32];
	struct transaction *transaction;

	memset(longest, 'k', sizeof longest);
	open_driver(_i);
	transaction = begin(STORE_WRITE);
	for (int table = 0; table < STORE_TABLE_COUNT; table++) {
		for (size_t i = 0; i < n; i++) {
			snprintf(value[table][i], sizeof value[table][i], "%d of %zu", table, i);
			expect_slice(transaction, (enum store_table)table, keys[i],
				     (struct slice){ NULL, 0 });
			put_slice(transaction, (enum store_table)table, keys[i],
				  slice_of(value[table][i]));
		}
	}
	commit_and_wait(transaction);
	if (driver->is_durable)
		reopen();
	transaction = begin(STORE_READ);
	for (int table = 0; table < STORE_TABLE_COUNT; table++) {
		for (size_t i = 0; i < n; i++)
			expect_slice(transaction, (enum store_table)table, keys[i],
				     slice_of(value[table][i]));
	}
	store_abandon(transaction);
}
END_TEST

START_TEST(tables_have_distinct_names_and_letters)
{
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		for (int j = 0; j < i; j++) {
			ck_assert_str_ne(store_table_name((enum store_table)i),
					 store_table_name((enum store_table)j));
			ck_assert_int_ne(store_table_letter((enum store_table)i),
					 store_table_letter((enum store_table)j));
		}
	}
	ck_assert_str_eq(store_table_name(STORE_COUNTER), "COUNTER");
	ck_assert_int_eq(store_table_letter(STORE_COUNTER), 'n');
}
END_TEST

START_TEST(large_values)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 65536, 300000, STORE_VALUE_MAX };
	const size_t n = ROWS(sizes);
	char *bytes = malloc(STORE_VALUE_MAX);
	uint64_t seed = 1;
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	struct slice value;

	for (size_t i = 0; i < STORE_VALUE_MAX; i++)
		bytes[i] = (char)chance(&seed);
	open_driver(_i);
	transaction = begin(STORE_WRITE);
	for (size_t i = 0; i < n; i++)
		put_slice(transaction, STORE_INDEX,
			  (struct slice){ (const char *)&sizes[i], sizeof sizes[i] },
			  (struct slice){ bytes, sizes[i] });
	commit_and_wait(transaction);
	for (unsigned round = 0; round <= driver->is_durable; round++) {
		transaction = begin(STORE_READ);
		for (size_t i = 0; i < n; i++)
			expect_slice(transaction, STORE_INDEX,
				     (struct slice){ (const char *)&sizes[i], sizeof sizes[i] },
				     (struct slice){ bytes, sizes[i] });
		store_abandon(transaction);
		if (driver->is_durable)
			reopen();
	}

	/* Even if the arena is nearly full, its limit is not exceeded. */
	transaction = begin(STORE_READ);
	while (arena_fits(arena, STORE_VALUE_MAX))
		arena_alloc(arena, STORE_VALUE_MAX / 2);
	ck_assert(!entry_get(transaction, STORE_INDEX,
			     (struct slice){ (const char *)&sizes[n - 1], sizeof sizes[n - 1] },
			     &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_TOO_LARGE);
	store_abandon(transaction);
	free(bytes);
}
END_TEST

/* The model: the values of some keys, as of one transaction. A value is a stamp, from which its
 * size follows; 0 if the key is absent. */
#define MODEL_KEYS 300

struct model {
	uint64_t number;
	uint64_t stamps[MODEL_KEYS];
};

static struct slice model_value(uint64_t stamp, char bytes[4096])
{
	const size_t size = 8 + stamp % (stamp % 16 == 0 ? 4000 : 200);

	if (stamp == 0)
		return (struct slice){ NULL, 0 };
	for (size_t i = 0; i < size; i += 8)
		memcpy(bytes + i, &stamp, 8);
	return (struct slice){ bytes, size };
}

static void expect_model(struct transaction *transaction, const struct model *model, uint64_t *seed,
			 unsigned keys)
{
	char bytes[4096];

	ck_assert_uint_eq(store_seen(transaction), model->number);
	for (unsigned n = 0; n < keys; n++) {
		const uint64_t i = keys == MODEL_KEYS ? n : chance_below(seed, MODEL_KEYS);

		expect_slice(transaction, (enum store_table)(i % STORE_TABLE_COUNT),
			     (struct slice){ (const char *)&i, sizeof i },
			     model_value(model->stamps[i], bytes));
	}
}

static void change(struct transaction *transaction, struct model *model, uint64_t *seed)
{
	const uint64_t i = chance_below(seed, MODEL_KEYS);
	const struct slice key = { (const char *)&i, sizeof i };
	const enum store_table table = (enum store_table)(i % STORE_TABLE_COUNT);
	struct fault fault = FAULT_INITIAL;
	char bytes[4096];

	model->stamps[i] = chance_below(seed, 4) == 0 ? 0 : chance(seed);
	if (model->stamps[i] == 0)
		ck_assert(entry_remove(transaction, table, key, &fault));
	else
		put_slice(transaction, table, key, model_value(model->stamps[i], bytes));
}

#define SNAPSHOTS 6
#define ROUNDS 3000

/* The state after each transaction, indexed by its number. */
static struct model states[ROUNDS + 1];

/* Readers that stay open across many transactions. */
struct snapshot {
	struct transaction *transaction; /* NULL if none is open */
	struct arena *arena;
};

static void snapshot_end(struct snapshot *snapshot)
{
	if (snapshot->transaction != NULL)
		store_abandon(snapshot->transaction);
	snapshot->transaction = NULL;
	arena_reset(snapshot->arena);
}

/* Begins or ends the snapshot. A driver may make pending transactions durable at any time. */
static void snapshot_turn(struct snapshot *snapshot, uint64_t durable, uint64_t committed,
			  uint64_t *seed)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	if (snapshot->transaction != NULL) {
		number = snapshot->transaction->number;
		expect_model(snapshot->transaction, &states[number], seed,
			     chance_below(seed, 50) == 0 ? MODEL_KEYS : 10);
		snapshot_end(snapshot);
		return;
	}
	ck_assert(store_begin(store, STORE_READ, snapshot->arena, &snapshot->transaction, &fault));
	number = snapshot->transaction->number;
	ck_assert_uint_ge(number, durable);
	ck_assert_uint_le(number, committed);
	expect_model(snapshot->transaction, &states[number], seed, 10);
}

/* Runs one WRITE transaction, which is sometimes abandoned. Returns the number of the last
 * committed one. */
static uint64_t model_turn(uint64_t committed, uint64_t *seed)
{
	struct model changed = states[committed];
	struct transaction *transaction = begin(STORE_WRITE);

	expect_model(transaction, &states[committed], seed, 3);
	changed.number = transaction->number;
	for (uint64_t n = 1 + chance_below(seed, 8); n > 0; n--)
		change(transaction, &changed, seed);
	if (chance_below(seed, 10) == 0) {
		store_abandon(transaction);
		return committed;
	}
	ck_assert_uint_eq(commit(transaction), committed + 1);
	states[committed + 1] = changed;
	return committed + 1;
}

/* Random sequences of transactions, with flushes, readers and reopening in between. */
START_TEST(entries_agree_with_a_plain_model)
{
	struct snapshot snapshots[SNAPSHOTS] = { { NULL, NULL } };
	uint64_t committed = 0;
	uint64_t durable = 0;
	uint64_t seed = 7;

	open_driver(_i);
	for (unsigned i = 0; i < SNAPSHOTS; i++)
		snapshots[i].arena = arena_open();
	for (unsigned round = 1; round <= ROUNDS; round++) {
		const bool ends = driver->is_durable && round % 500 == 0;
		struct fault fault = FAULT_INITIAL;

		committed = model_turn(committed, &seed);
		if (ends || chance_below(&seed, 3) == 0) {
			ck_assert(store_wait(store, committed, &fault));
			durable = committed;
		}
		snapshot_turn(&snapshots[chance_below(&seed, SNAPSHOTS)], durable, committed,
			      &seed);
		arena_reset(arena);
		if (!ends)
			continue;
		for (unsigned i = 0; i < SNAPSHOTS; i++)
			snapshot_end(&snapshots[i]);
		reopen();
		struct transaction *transaction = begin(STORE_READ);
		expect_model(transaction, &states[committed], &seed, MODEL_KEYS);
		store_abandon(transaction);
	}
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		snapshot_end(&snapshots[i]);
		arena_close(snapshots[i].arena);
	}
}
END_TEST

#define MANY 6000

/* The value of key i. Every third key is removed again, every fifth is written twice. */
static struct slice many_value(uint64_t i, char text[64])
{
	if (i % 3 == 0)
		return (struct slice){ NULL, 0 };
	snprintf(text, 64, "%s %llu", i % 5 == 0 ? "second" : "first", (unsigned long long)i);
	return slice_of(text);
}

START_TEST(many_keys)
{
	struct transaction *transaction;
	char text[64];

	open_driver(_i);
	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < MANY;) {
			transaction = begin(STORE_WRITE);
			for (uint64_t end = i + 100; i < end; i++) {
				const struct slice key = { (const char *)&i, sizeof i };
				struct fault fault = FAULT_INITIAL;
				struct slice value = many_value(i, text);

				if (round == 0)
					put_slice(transaction, STORE_COUNTER, key,
						  SLICE("to be changed"));
				else if (value.data == NULL)
					ck_assert(entry_remove(transaction, STORE_COUNTER, key,
							       &fault));
				else
					put_slice(transaction, STORE_COUNTER, key, value);
			}
			commit_and_wait(transaction);
			arena_reset(arena);
		}
	}
	for (unsigned round = 0; round <= driver->is_durable; round++) {
		transaction = begin(STORE_READ);
		for (uint64_t i = 0; i < MANY; i++)
			expect_slice(transaction, STORE_COUNTER,
				     (struct slice){ (const char *)&i, sizeof i },
				     many_value(i, text));
		store_abandon(transaction);
		arena_reset(arena);
		if (driver->is_durable)
			reopen();
	}
}
END_TEST

/* Threads. Check would not notice a failed assertion in a thread other than the test's own, so
 * failures are counted and the test asserts that there are none. */
#define READERS 3
#define WRITERS 3
#define SAME_KEYS 5

static atomic_uint wrongs;
static atomic_bool is_over;

static void check(bool is_right)
{
	if (!is_right)
		atomic_fetch_add(&wrongs, 1);
}

static void run_threads(void *(*function)(void *), unsigned n, pthread_t *threads)
{
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, function, NULL), 0);
}

static void join_threads(unsigned n, const pthread_t *threads)
{
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* Every transaction writes its own number under each key, sometimes after removing the key. A state
 * is therefore consistent if all keys have its number. */
static void *write_numbers(void *nothing)
{
	struct arena *own = arena_open();

	(void)nothing;
	for (unsigned round = 0; round < 150; round++) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		uint64_t number;
		bool is_fine;

		arena_reset(own);
		if (!store_begin(store, STORE_WRITE, own, &transaction, &fault)) {
			check(false);
			continue;
		}
		number = transaction->number;
		is_fine = entry_remove(transaction, STORE_INDEX, SLICE("1"), &fault);
		for (char key = '0'; key < '0' + SAME_KEYS; key++)
			is_fine = is_fine &&
				  entry_put(transaction, STORE_INDEX, (struct slice){ &key, 1 },
					    (struct slice){ (const char *)&number, 8 }, &fault);
		check(is_fine);
		check(store_commit(transaction, &number, &fault));
		check(round % 2 == 0 || store_wait(store, number, &fault));
	}
	arena_close(own);
	return NULL;
}

static void *read_numbers(void *nothing)
{
	struct arena *own = arena_open();
	uint64_t last = 0;

	(void)nothing;
	while (!atomic_load(&is_over)) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;

		arena_reset(own);
		if (!store_begin(store, STORE_READ, own, &transaction, &fault)) {
			check(false);
			continue;
		}
		check(transaction->number >= last);
		last = transaction->number;
		check(store_state(store, last) == STORE_DURABLE);
		for (char key = '0'; key < '0' + SAME_KEYS && last > 0; key++) {
			struct slice value;

			check(entry_get(transaction, STORE_INDEX, (struct slice){ &key, 1 }, &value,
					&fault));
			check(value.data != NULL && value.size == 8 &&
			      memcmp(value.data, &last, 8) == 0);
		}
		store_abandon(transaction);
	}
	arena_close(own);
	return NULL;
}

START_TEST(readers_run_alongside_writers)
{
	pthread_t readers[READERS];
	pthread_t writers[WRITERS];

	open_driver(_i);
	atomic_store(&wrongs, 0);
	atomic_store(&is_over, false);
	run_threads(read_numbers, READERS, readers);
	run_threads(write_numbers, WRITERS, writers);
	join_threads(WRITERS, writers);
	atomic_store(&is_over, true);
	join_threads(READERS, readers);
	ck_assert_uint_eq(atomic_load(&wrongs), 0);
}
END_TEST

#define NAMES 150

static atomic_uint winners[NAMES];

/* Takes each free name without waiting for anything to become durable. */
static void *take_names(void *nothing)
{
	struct arena *own = arena_open();

	(void)nothing;
	for (unsigned name = 0; name < NAMES; name++) {
		const struct slice key = { (const char *)&name, sizeof name };
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		struct slice value;
		uint64_t number;
		bool is_free;

		arena_reset(own);
		if (!store_begin(store, STORE_WRITE, own, &transaction, &fault) ||
		    !entry_get(transaction, STORE_INDEX, key, &value, &fault)) {
			check(false);
			continue;
		}
		is_free = value.data == NULL;
		check(!is_free || entry_put(transaction, STORE_INDEX, key, key, &fault));
		check(store_commit(transaction, &number, &fault));
		if (is_free)
			atomic_fetch_add(&winners[name], 1);
		/* A refusal waits for what it saw, too. */
		check(name % 7 != 0 || store_wait(store, number, &fault));
	}
	arena_close(own);
	return NULL;
}

START_TEST(two_writers_never_both_win_a_name)
{
	pthread_t writers[WRITERS];

	open_driver(_i);
	atomic_store(&wrongs, 0);
	for (unsigned name = 0; name < NAMES; name++)
		atomic_store(&winners[name], 0);
	run_threads(take_names, WRITERS, writers);
	join_threads(WRITERS, writers);
	ck_assert_uint_eq(atomic_load(&wrongs), 0);
	for (unsigned name = 0; name < NAMES; name++)
		ck_assert_uint_eq(atomic_load(&winners[name]), 1);
}
END_TEST

START_TEST(a_reopened_store_has_everything)
{
	struct transaction *transaction;
	uint64_t number = 0;

	open_driver(_i);
	if (!driver->is_durable)
		return;
	reopen();
	for (unsigned round = 0; round < 5; round++) {
		char key[16];
		struct fault fault = FAULT_INITIAL;

		transaction = begin(STORE_WRITE);
		ck_assert(round == 0 || transaction->number == number + 1);
		snprintf(key, sizeof key, "%u", round);
		put(transaction, key, key);
		put(transaction, "last", key);
		number = commit(transaction);
		ck_assert(store_wait(store, number, &fault));
		reopen();
		ck_assert(store_can_write(store));
		ck_assert_int_eq(store_state(store, number), STORE_DURABLE);
		transaction = begin(STORE_READ);
		for (unsigned i = 0; i <= round; i++) {
			snprintf(key, sizeof key, "%u", i);
			expect(transaction, key, key);
		}
		expect(transaction, "last", key);
		store_abandon(transaction);
	}
}
END_TEST

START_TEST(closing_null_is_allowed)
{
	store_close(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("drivers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, a_transaction_sees_its_own_writes, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, an_abandoned_transaction_leaves_nothing, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, readers_see_durable_and_writers_committed_values, 0,
			    ROWS(drivers));
	tcase_add_loop_test(tcase, numbers_rise_by_one, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, values_live_as_long_as_the_arena, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, keys_and_values_are_copied, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, tables_and_keys_do_not_mix, 0, ROWS(drivers));
	tcase_add_test(tcase, tables_have_distinct_names_and_letters);
	tcase_add_loop_test(tcase, large_values, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, entries_agree_with_a_plain_model, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, many_keys, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, readers_run_alongside_writers, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, two_writers_never_both_win_a_name, 0, ROWS(drivers));
	tcase_add_loop_test(tcase, a_reopened_store_has_everything, 0, ROWS(drivers));
	tcase_add_test(tcase, closing_null_is_allowed);
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run_apart(suite);
}
