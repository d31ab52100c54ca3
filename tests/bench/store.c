/* How fast the durable store is. Writes are compared with a bare program that appends records of
 * the same size to a segment written ahead, with the same number of threads, a group commit and
 * nothing else; reads run on one core. Targets: 0.75, 0.6 and 0.6 of the bare program with 1, 8 and
 * 32 writers; 600,000 reads per second with the files as they are after the load, 900,000 after a
 * full merge. Also what the files cost: how often a record was written to a file during the load
 * (at most ten times), and the longest wait of a writer during a merge of all files (at most 100
 * ms).
 *
 *     bench/store [-r RECORDS] [-t SECONDS]
 *
 * The store and the bare program take turns, each running part of the time, so that other load on
 * the machine affects both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "crowd.h"
#include "directory.h"
#include "store/figures.h"
#include "store/gdbm/store_gdbm.h"
#include "store/gdbm/entries.h"

#define KEY_SIZE 16
#define VALUE_SIZE 1500
/* A record in the journal: heads of group, record and change, the letter, padding. */
#define RECORD_SIZE (32 + 24 + 8 + KEY_SIZE + VALUE_SIZE + 4)
#define ROUNDS 10

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void check(bool is_right, const struct fault *fault)
{
	if (is_right)
		return;
	fprintf(stderr, "bench/store: %s: %s\n", fault->message, fault->cause);
	exit(EXIT_FAILURE);
}

static char value[VALUE_SIZE];

/* The store. */
struct measured {
	struct target target;
	struct store *store;
};

static struct slice key_of(uint64_t number, char key[KEY_SIZE])
{
	uint64_t seed = number;
	const uint64_t drawn = chance(&seed);

	memcpy(key, &drawn, 8);
	memcpy(key + 8, &number, 8);
	return (struct slice){ key, KEY_SIZE };
}

static uint64_t store_append(struct target *target, struct arena *arena, uint64_t key)
{
	struct store *store = ((struct measured *)target)->store;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	char bytes[KEY_SIZE];
	uint64_t number = 0;

	check(store_begin(store, STORE_WRITE, arena, &transaction, &fault) &&
		      entry_put(transaction, STORE_RECORD, key_of(key, bytes),
				(struct slice){ value, VALUE_SIZE }, &fault) &&
		      store_commit(transaction, &number, &fault),
	      &fault);
	arena_reset(arena);
	return number;
}

static bool measured_flush(struct target *target)
{
	store_flush(((struct measured *)target)->store);
	return true;
}

static bool measured_is_durable(struct target *target, uint64_t number)
{
	return store_state(((struct measured *)target)->store, number) == STORE_DURABLE;
}

static struct store *store_start(const char *directory, const char *name)
{
	char path[512];
	const struct store_options options = { .directory = path,
					       .readers = WRITERS_MOST,
					       .creates = true };
	struct fault fault = FAULT_INITIAL;
	struct store *store = NULL;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	check(store_gdbm_open(&options, &store, &fault), &fault);
	return store;
}

static void bench_writes(const char *directory, int64_t milliseconds)
{
	static const struct {
		unsigned writers;
		double target;
	} rows[] = {
		{ 1, 0.75 },
		{ 8, 0.6 },
		{ 32, 0.6 },
	};
	struct target *bare = bare_open(directory, RECORD_SIZE);
	struct measured measured = { { store_append, measured_flush, measured_is_durable }, NULL };

	for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
		double bare_sum = 0;
		double store_sum = 0;
		char name[32];

		snprintf(name, sizeof name, "writers-%u", rows[row].writers);
		measured.store = store_start(directory, name);
		for (unsigned round = 0; round < ROUNDS; round++) {
			bare_sum += crowd_run(bare, rows[row].writers, milliseconds / ROUNDS, NULL);
			store_sum += crowd_run(&measured.target, rows[row].writers,
					       milliseconds / ROUNDS, NULL);
		}
		store_close(measured.store);
		printf("%2u writers: %8.0f a second, bare %8.0f: %.2f (target %.2f)\n",
		       rows[row].writers, store_sum / ROUNDS, bare_sum / ROUNDS,
		       store_sum / bare_sum, rows[row].target);
		fflush(stdout);
	}
	bare_close(bare);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns the random reads per second of this thread on its core, with `gets` reads in each
 * transaction. */
static double reads_a_second(struct store *store, uint64_t records, unsigned gets, double seconds)
{
	const double begin = cpu_seconds();
	struct arena *arena = arena_open();
	uint64_t seed = 3;
	uint64_t n = 0;

	while (cpu_seconds() < begin + seconds) {
		for (unsigned batch = 0; batch < 1000; batch += gets, n += gets) {
			struct fault fault = FAULT_INITIAL;
			struct transaction *transaction;

			check(store_begin(store, STORE_READ, arena, &transaction, &fault), &fault);
			for (unsigned i = 0; i < gets; i++) {
				char key[KEY_SIZE];
				struct slice found;

				check(entry_get(transaction, STORE_RECORD,
						key_of(chance_below(&seed, records), key), &found,
						&fault),
				      &fault);
				if (found.size != VALUE_SIZE)
					give_up("a record is missing");
			}
			store_abandon(transaction);
			arena_reset(arena);
		}
	}
	arena_close(arena);
	return (double)n / (cpu_seconds() - begin);
}

static void load(struct store *store, uint64_t records)
{
	struct arena *arena = arena_open();

	for (uint64_t i = 0; i < records;) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		uint64_t number;
		bool is_done = store_begin(store, STORE_WRITE, arena, &transaction, &fault);

		for (unsigned n = 0; n < 100 && i < records && is_done; n++, i++) {
			char key[KEY_SIZE];

			is_done = entry_put(transaction, STORE_RECORD, key_of(i, key),
					    (struct slice){ value, VALUE_SIZE }, &fault);
		}
		check(is_done && store_commit(transaction, &number, &fault) &&
			      store_wait(store, number, &fault),
		      &fault);
		arena_reset(arena);
	}
	arena_close(arena);
}

struct merge_of_all {
	struct store *store;
	atomic_bool is_done;
};

static void *merge_all(void *context)
{
	struct merge_of_all *merge = context;

	if (!store_gdbm_settle(merge->store, true))
		give_up("the store cannot continue");
	atomic_store(&merge->is_done, true);
	return NULL;
}

/* Measures one writer, first without and then during a merge of all files. */
static void bench_merge(struct store *store, uint64_t records, int64_t milliseconds)
{
	struct measured measured = { { store_append, measured_flush, measured_is_durable }, store };
	struct store_figures figures = { 0 };
	double before, during, longest = 0, rate;
	struct merge_of_all merge = { .store = store };
	pthread_t merger;

	store_figures(store, &figures);
	printf("load: each record was written to a file %.1f times (at most 10)\n",
	       (double)figures.records_written / (double)records);
	(void)crowd_run(&measured.target, 1, milliseconds, &before);
	if (pthread_create(&merger, NULL, merge_all, &merge) != 0)
		give_up("thread");
	do {
		rate = crowd_run(&measured.target, 1, milliseconds, &during);
		longest = during > longest ? during : longest;
	} while (!atomic_load(&merge.is_done));
	pthread_join(merger, NULL);
	printf("longest wait of a writer: %.1f ms, while everything is merged %.1f ms (at most "
	       "100; %.0f a second then)\n",
	       before, longest, rate);
	fflush(stdout);
}

static void bench_reads(const char *directory, uint64_t records, double seconds)
{
	static const struct {
		const char *name;
		bool is_merged;
		double target;
	} rows[] = {
		{ "after the load", false, 600000 },
		{ "merged", true, 900000 },
	};
	struct store *store = store_start(directory, "readers");

	load(store, records);
	for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
		const int64_t begin = clock_monotonic();

		if (rows[row].is_merged)
			bench_merge(store, records, (int64_t)(seconds * 1000));
		if (!store_gdbm_settle(store, rows[row].is_merged))
			give_up("the store cannot continue");
		printf("%s (settled in %lld ms): ", rows[row].name,
		       (long long)(clock_monotonic() - begin));
		(void)reads_a_second(store, records, 1, seconds / 4);
		printf("%.0f reads a second of %llu records, one a transaction; %.0f, 20 a "
		       "transaction (target %.0f)\n",
		       reads_a_second(store, records, 1, seconds), (unsigned long long)records,
		       reads_a_second(store, records, 20, seconds), rows[row].target);
		fflush(stdout);
	}
	store_close(store);
}

static bool number_of(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *number > 0;
}

int main(int argc, char **argv)
{
	uint64_t records = 100000;
	uint64_t seconds = 4;
	uint64_t seed = 1;
	char *directory;

	for (int option; (option = getopt(argc, argv, "r:t:")) != -1;) {
		if (option == '?' || !number_of(optarg, option == 'r' ? &records : &seconds)) {
			fprintf(stderr, "usage: store [-r RECORDS] [-t SECONDS]\n");
			return EXIT_FAILURE;
		}
	}
	for (size_t i = 0; i < sizeof value; i++)
		value[i] = (char)chance(&seed);
	directory = directory_make();
	bench_writes(directory, (int64_t)seconds * 1000);
	bench_reads(directory, records, (double)seconds / 4);
	directory_remove(directory);
	return EXIT_SUCCESS;
}
