/* Many readers at once at one file of the durable store: each finds a handle that was opened before.
 * The functions of libgdbm that are defined here stand in front of the library's own: they count, and
 * let all readers into a fetch before the first may leave it; and nobody begins a round before the
 * last has put its handle back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <dlfcn.h>
#include <gdbm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "store/store_gdbm.h"

#define READERS 8
#define ROUNDS 5

static pthread_barrier_t fetching;
static pthread_barrier_t done;
static atomic_bool is_together;
static atomic_uint opened;
static atomic_uint wrongs;
static struct store *store;

/* By way of a copy of the pointer: ISO C knows no cast between the two kinds. */
#define REAL(function, name) \
	do { \
		void *found = dlsym(RTLD_NEXT, name); \
		memcpy(&(function), &found, sizeof found); \
	} while (0)

GDBM_FILE gdbm_open(const char *path, int block_size, int flags, int mode,
		    void (*fatal)(const char *))
{
	GDBM_FILE (*real)(const char *, int, int, int, void (*)(const char *));

	atomic_fetch_add(&opened, 1);
	REAL(real, "gdbm_open");
	return real(path, block_size, flags, mode, fatal);
}

datum gdbm_fetch(GDBM_FILE file, datum key)
{
	datum (*real)(GDBM_FILE, datum);

	if (atomic_load(&is_together))
		pthread_barrier_wait(&fetching);
	REAL(real, "gdbm_fetch");
	return real(file, key);
}

/* One record, in a file. */
static void fill(void)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	ck_assert(store_put(transaction, STORE_ROOM, SLICE("key"), SLICE("value"), &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	ck_assert(store_gdbm_settle(store, true));
	arena_close(arena);
}

static void *read_often(void *nothing)
{
	struct arena *arena = arena_open();

	(void)nothing;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		struct slice value = { NULL, 0 };

		pthread_barrier_wait(&done);
		arena_reset(arena);
		if (!store_begin(store, STORE_READ, arena, &transaction, &fault)) {
			atomic_fetch_add(&wrongs, 1);
			continue;
		}
		if (!store_get(transaction, STORE_ROOM, SLICE("key"), &value, &fault) ||
		    !slice_equal(value, SLICE("value")))
			atomic_fetch_add(&wrongs, 1);
		store_abandon(transaction);
	}
	arena_close(arena);
	return NULL;
}

START_TEST(no_reader_opens_twice)
{
	char *directory = directory_make();
	const struct store_options options = { .directory = directory, .readers = READERS };
	struct fault fault = FAULT_INITIAL;
	pthread_t threads[READERS];

	ck_assert(store_gdbm_open(&options, &store, &fault));
	fill();
	ck_assert_int_eq(pthread_barrier_init(&fetching, NULL, READERS), 0);
	ck_assert_int_eq(pthread_barrier_init(&done, NULL, READERS), 0);
	atomic_store(&opened, 0);
	atomic_store(&is_together, true);
	for (unsigned i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_often, NULL), 0);
	for (unsigned i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	atomic_store(&is_together, false);
	ck_assert_uint_eq(atomic_load(&wrongs), 0);
	/* One was open already: the file was looked at when it was made. */
	ck_assert_uint_le(atomic_load(&opened), READERS - 1);
	pthread_barrier_destroy(&fetching);
	pthread_barrier_destroy(&done);
	store_close(store);
	directory_remove(directory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("readers");
	TCase *tcase = tcase_create("handles");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, no_reader_opens_twice);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
