/* How fast the durable store is: writes beside a bare program that appends records of the same size
 * to a segment written ahead, by the same number of threads, with a group commit and nothing else;
 * and reads on one core. Targets: 0.75, 0.6 and 0.6 of the bare program with 1, 8 and 32 writers;
 * 600,000 reads a second with the files as they are after the load, 900,000 after a full merge. And
 * what the files behind cost: how often a record was written into one during the load (at most ten
 * times), and the longest wait of writers while everything is merged (at most 100 ms).
 *
 *     bench/store [-r RECORDS] [-t SECONDS]
 *
 * Both programs run in turn, a part of the time each, so that what else the machine does meets both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "store/figures.h"
#include "store/store_gdbm.h"

#define KEY_SIZE 16
#define VALUE_SIZE 1500
/* A record in the journal: heads of group, record and change, the letter, padding. */
#define RECORD_SIZE (32 + 24 + 8 + KEY_SIZE + VALUE_SIZE + 4)
#define SEGMENT ((size_t)32 << 20)
#define WRITERS_MOST 32
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

/* What is measured: something that takes a record, gives its number, and makes it durable. */
struct target {
	uint64_t (*append)(struct target *target, struct arena *arena, uint64_t key);
	bool (*flush)(struct target *target);
	bool (*is_durable)(struct target *target, uint64_t number);
};

/* The bare program. */
struct bare {
	struct target target;
	int file;
	size_t used;
	pthread_mutex_t lock;
	char *pending;
	char *writing;
	size_t size;
	uint64_t appended;
	atomic_uint_least64_t durable;
	atomic_bool is_flushing;
};

static char value[VALUE_SIZE];

static uint64_t bare_append(struct target *target, struct arena *arena, uint64_t key)
{
	struct bare *bare = (struct bare *)target;
	uint64_t number;

	(void)arena;
	pthread_mutex_lock(&bare->lock);
	memcpy(bare->pending + bare->size, &key, sizeof key);
	memcpy(bare->pending + bare->size + RECORD_SIZE - VALUE_SIZE, value, VALUE_SIZE);
	bare->size += RECORD_SIZE;
	number = ++bare->appended;
	pthread_mutex_unlock(&bare->lock);
	return number;
}

static bool bare_flush(struct target *target)
{
	struct bare *bare = (struct bare *)target;
	uint64_t last;
	size_t size;
	char *bytes;

	if (atomic_exchange(&bare->is_flushing, true))
		return false;
	pthread_mutex_lock(&bare->lock);
	bytes = bare->pending;
	bare->pending = bare->writing;
	bare->writing = bytes;
	size = bare->size;
	bare->size = 0;
	last = bare->appended;
	pthread_mutex_unlock(&bare->lock);
	if (bare->used + size > SEGMENT)
		bare->used = 0;
	if (size > 0 && (pwrite(bare->file, bytes, size, (off_t)bare->used) != (ssize_t)size ||
			 fdatasync(bare->file) < 0))
		give_up("bare");
	bare->used += size;
	atomic_store(&bare->durable, last);
	atomic_store(&bare->is_flushing, false);
	return true;
}

static bool bare_is_durable(struct target *target, uint64_t number)
{
	return atomic_load(&((struct bare *)target)->durable) >= number;
}

static struct bare *bare_open(const char *directory)
{
	struct bare *bare = calloc(1, sizeof *bare);
	char path[512];

	snprintf(path, sizeof path, "%s/bare", directory);
	bare->target = (struct target){ bare_append, bare_flush, bare_is_durable };
	bare->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bare->pending = calloc(WRITERS_MOST, RECORD_SIZE);
	bare->writing = calloc(WRITERS_MOST, RECORD_SIZE);
	pthread_mutex_init(&bare->lock, NULL);
	for (size_t at = 0; at < SEGMENT; at += VALUE_SIZE) {
		static const char zeros[VALUE_SIZE];

		if (pwrite(bare->file, zeros, sizeof zeros, (off_t)at) != (ssize_t)sizeof zeros)
			give_up(path);
	}
	if (fsync(bare->file) < 0)
		give_up(path);
	return bare;
}

static void bare_close(struct bare *bare)
{
	close(bare->file);
	free(bare->pending);
	free(bare->writing);
	pthread_mutex_destroy(&bare->lock);
	free(bare);
}

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
		      store_put(transaction, STORE_TEMPLATE, key_of(key, bytes),
				(struct slice){ value, VALUE_SIZE }, &fault) &&
		      store_commit(transaction, &number, &fault),
	      &fault);
	arena_reset(arena);
	return number;
}

static bool measured_flush(struct target *target)
{
	return store_flush(((struct measured *)target)->store);
}

static bool measured_is_durable(struct target *target, uint64_t number)
{
	return store_state(((struct measured *)target)->store, number) == STORE_DURABLE;
}

/* Writers: each appends, and waits until it is durable; the first that finds nobody flushing does it
 * for all, and wakes them. The store's own threads flush too now and then, and wake nobody: so no
 * wait is without end. */
struct crowd {
	struct target *target;
	pthread_mutex_t lock;
	pthread_cond_t flushed;
	atomic_uint_least64_t generation;
	atomic_uint_least64_t keys;
	atomic_uint_least64_t written;
	int64_t end;
	atomic_uint_least64_t longest; /* microseconds from begin to durable */
};

static void crowd_sleep(struct crowd *crowd)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&crowd->flushed, &crowd->lock, &until);
}

static void crowd_wait(struct crowd *crowd, uint64_t number)
{
	while (!crowd->target->is_durable(crowd->target, number)) {
		const uint64_t generation = atomic_load(&crowd->generation);
		const bool was_flushed = crowd->target->flush(crowd->target);

		pthread_mutex_lock(&crowd->lock);
		if (was_flushed) {
			atomic_fetch_add(&crowd->generation, 1);
			pthread_cond_broadcast(&crowd->flushed);
		}
		if (!was_flushed && atomic_load(&crowd->generation) == generation)
			crowd_sleep(crowd);
		pthread_mutex_unlock(&crowd->lock);
	}
}

static void *crowd_write(void *context)
{
	struct crowd *crowd = context;
	struct arena *arena = arena_open();

	while (clock_monotonic() < crowd->end) {
		const uint64_t key = atomic_fetch_add(&crowd->keys, 1);
		const int64_t begin = clock_microseconds();
		uint64_t longest = atomic_load(&crowd->longest), took;

		crowd_wait(crowd, crowd->target->append(crowd->target, arena, key));
		took = (uint64_t)(clock_microseconds() - begin);
		while (took > longest &&
		       !atomic_compare_exchange_weak(&crowd->longest, &longest, took))
			;
		atomic_fetch_add(&crowd->written, 1);
	}
	arena_close(arena);
	return NULL;
}

/* Records a second; the longest wait of one in milliseconds. */
static double crowd_run(struct target *target, unsigned writers, int64_t milliseconds,
			double *longest)
{
	static atomic_uint_least64_t runs;
	struct crowd crowd = { .target = target };
	pthread_t threads[WRITERS_MOST];
	const int64_t begin = clock_monotonic();

	pthread_mutex_init(&crowd.lock, NULL);
	pthread_cond_init(&crowd.flushed, NULL);
	atomic_store(&crowd.keys, atomic_fetch_add(&runs, 1) << 32);
	crowd.end = begin + milliseconds;
	for (unsigned i = 0; i < writers; i++) {
		if (pthread_create(&threads[i], NULL, crowd_write, &crowd) != 0)
			give_up("thread");
	}
	for (unsigned i = 0; i < writers; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&crowd.flushed);
	pthread_mutex_destroy(&crowd.lock);
	*longest = (double)atomic_load(&crowd.longest) / 1000;
	return (double)atomic_load(&crowd.written) * 1000 / (double)(clock_monotonic() - begin);
}

static struct store *store_start(const char *directory, const char *name)
{
	char path[512];
	const struct store_options options = { .directory = path, .readers = WRITERS_MOST };
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
	struct bare *bare = bare_open(directory);
	struct measured measured = { { store_append, measured_flush, measured_is_durable }, NULL };

	for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
		double bare_sum = 0;
		double store_sum = 0;
		double longest;
		char name[32];

		snprintf(name, sizeof name, "writers-%u", rows[row].writers);
		measured.store = store_start(directory, name);
		for (unsigned round = 0; round < ROUNDS; round++) {
			bare_sum += crowd_run(&bare->target, rows[row].writers,
					      milliseconds / ROUNDS, &longest);
			store_sum += crowd_run(&measured.target, rows[row].writers,
					       milliseconds / ROUNDS, &longest);
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

/* Reads of random keys in a second of this thread on its core, `gets` in each transaction. */
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

				check(store_get(transaction, STORE_TEMPLATE,
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

			is_done = store_put(transaction, STORE_TEMPLATE, key_of(i, key),
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
		give_up("the store cannot get on");
	atomic_store(&merge->is_done, true);
	return NULL;
}

/* One writer, in an ordinary moment and then while everything is merged. */
static void bench_merge(struct store *store, uint64_t records, int64_t milliseconds)
{
	struct measured measured = { { store_append, measured_flush, measured_is_durable }, store };
	struct store_figures figures = { 0 };
	double before, during, longest = 0, rate;
	struct merge_of_all merge = { .store = store };
	pthread_t merger;

	store_figures(store, &figures);
	printf("load: each record was written into a file %.1f times (at most 10)\n",
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
			give_up("the store cannot get on");
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
