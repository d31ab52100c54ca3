/* The writers, and the bare file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "crowd.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"

#define SEGMENT ((size_t)32 << 20)

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* ---- the bare file ---- */

struct bare {
	struct target target;
	int file;
	size_t used;
	size_t record_size;
	char *record;
	pthread_mutex_t lock;
	char *pending;
	char *writing;
	size_t size;
	uint64_t appended;
	atomic_uint_least64_t durable;
	atomic_bool is_flushing;
};

static uint64_t bare_append(struct target *target, struct arena *arena, uint64_t key)
{
	struct bare *bare = (struct bare *)target;
	uint64_t number;

	(void)arena;
	(void)key;
	pthread_mutex_lock(&bare->lock);
	memcpy(bare->pending + bare->size, bare->record, bare->record_size);
	bare->size += bare->record_size;
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

static void write_ahead(const struct bare *bare)
{
	static const char zeros[4096];

	for (size_t at = 0; at < SEGMENT; at += sizeof zeros)
		if (pwrite(bare->file, zeros, sizeof zeros, (off_t)at) != (ssize_t)sizeof zeros)
			give_up("writing ahead");
	if (fsync(bare->file) < 0)
		give_up("fsync");
}

struct target *bare_open(const char *directory, size_t record_size)
{
	struct bare *bare = calloc(1, sizeof *bare);
	uint64_t seed = 1;
	char path[512];

	snprintf(path, sizeof path, "%s/bare", directory);
	bare->target = (struct target){ bare_append, bare_flush, bare_is_durable };
	bare->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (bare->file < 0)
		give_up(path);
	bare->record_size = record_size;
	bare->record = malloc(record_size);
	bare->pending = calloc(WRITERS_MOST, record_size);
	bare->writing = calloc(WRITERS_MOST, record_size);
	if (bare->record == NULL || bare->pending == NULL || bare->writing == NULL)
		give_up("memory");
	for (size_t i = 0; i < record_size; i++)
		bare->record[i] = (char)chance(&seed);
	pthread_mutex_init(&bare->lock, NULL);
	write_ahead(bare);
	return &bare->target;
}

void bare_close(struct target *target)
{
	struct bare *bare = (struct bare *)target;

	close(bare->file);
	free(bare->record);
	free(bare->pending);
	free(bare->writing);
	pthread_mutex_destroy(&bare->lock);
	free(bare);
}

/* ---- the writers ---- */

/* Writers: each appends a record and waits until it is durable. The first writer that finds no
 * other flushing flushes for all and wakes them. The store's own threads sometimes flush too, and
 * wake no writer, so every wait has a timeout. */
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

double crowd_run(struct target *target, unsigned writers, int64_t milliseconds, double *longest)
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
	if (longest != NULL)
		*longest = (double)atomic_load(&crowd.longest) / 1000;
	return (double)atomic_load(&crowd.written) * 1000 / (double)(clock_monotonic() - begin);
}
