/* What is particular to the durable driver: journals with torn tails and damaged middles, segments,
 * full and failing disks, the lock, the manifest, the files of the stack, and looking at all of it
 * from outside. What every driver promises is in check_store.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "file_hooks.h"
#include "store/figures.h"
#include "store/inspect.h"
#include "store/journal.h"
#include "store/journal_format.h"
#include "store/overlay.h"
#include "store/stack.h"
#include "store/store_gdbm.h"
#include "store/throttle.h"
#include "suite.h"

#define GROUPS 10

static char *directory;
static char path[PATH_MAX]; /* of the store in it */
static struct arena *arena;

static void setup(void)
{
	directory = directory_make();
	snprintf(path, sizeof path, "%s/store", directory);
	arena = arena_open();
}

static void teardown(void)
{
	arena_close(arena);
	directory_remove(directory);
}

static bool try_open(struct store_options options, struct store **store, struct fault *fault)
{
	options.directory = path;
	options.readers = 2;
	*fault = FAULT_INITIAL;
	return store_gdbm_open(&options, store, fault);
}

static struct store *open_with(struct store_options options)
{
	struct store *store;
	struct fault fault;

	if (!try_open(options, &store, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	return store;
}

static struct store *open_store(void)
{
	return open_with((struct store_options){ .directory = NULL });
}

/* Opening fails, and the cause says so. */
static void refused(const char *what)
{
	struct store *store;
	struct fault fault;

	ck_assert(!try_open((struct store_options){ .directory = NULL }, &store, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_msg(strstr(fault.cause, what) != NULL, "\"%s\" is not in \"%s\"", what,
		      fault.cause);
}

static struct slice key_of(unsigned n)
{
	return slice_of(arena_text(arena, "key %u", n));
}

/* Sets key n to a value of `size` bytes that begins with n; false with the fault when refused. */
static bool try_put(struct store *store, unsigned n, size_t size, uint64_t *number,
		    struct fault *fault)
{
	struct transaction *transaction;
	char *value = arena_zero(arena, size + 32);

	*fault = FAULT_INITIAL;
	snprintf(value, size + 32, "value %u", n);
	return store_begin(store, STORE_WRITE, arena, &transaction, fault) &&
	       store_put(transaction, STORE_TEMPLATE, key_of(n), (struct slice){ value, size + 32 },
			 fault) &&
	       store_commit(transaction, number, fault);
}

static uint64_t put(struct store *store, unsigned n, size_t size)
{
	struct fault fault;
	uint64_t number;

	if (!try_put(store, n, size, &number, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	return number;
}

static void put_durable(struct store *store, unsigned n, size_t size)
{
	uint64_t number = put(store, n, size);
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_wait(store, number, &fault));
}

static bool try_get(struct store *store, unsigned n, struct slice *value, struct fault *fault)
{
	struct transaction *transaction;
	bool is_read;

	*fault = FAULT_INITIAL;
	ck_assert(store_begin(store, STORE_READ, arena, &transaction, fault));
	is_read = store_get(transaction, STORE_TEMPLATE, key_of(n), value, fault);
	store_abandon(transaction);
	return is_read;
}

static bool has(struct store *store, unsigned n)
{
	struct slice value;
	struct fault fault;

	if (!try_get(store, n, &value, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	if (value.data == NULL)
		return false;
	ck_assert(slice_is(slice_of(value.data), arena_text(arena, "value %u", n)));
	return true;
}

/* The name in the store's directory that begins so and ends so, the first in the order of names. */
static char *name_of(const char *prefix, const char *suffix)
{
	DIR *names = opendir(path);
	struct dirent *entry;
	char *found = NULL;

	ck_assert_ptr_nonnull(names);
	while ((entry = readdir(names)) != NULL) {
		size_t size = strlen(entry->d_name), end = strlen(suffix);

		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && size >= end &&
		    strcmp(entry->d_name + size - end, suffix) == 0 &&
		    (found == NULL || strcmp(entry->d_name, found) < 0))
			found = arena_text(arena, "%s", entry->d_name);
	}
	closedir(names);
	return found;
}

static char *path_of(const char *prefix, const char *suffix)
{
	const char *name = name_of(prefix, suffix);

	ck_assert_ptr_nonnull(name);
	return arena_text(arena, "%s/%s", path, name);
}

static off_t size_of(const char *file)
{
	struct stat status;

	ck_assert_int_eq(stat(file, &status), 0);
	return status.st_size;
}

static void overwrite(const char *file, off_t at, const void *bytes, size_t size)
{
	int opened = open(file, O_WRONLY);

	ck_assert_int_ge(opened, 0);
	ck_assert_int_eq(pwrite(opened, bytes, size, at), (ssize_t)size);
	close(opened);
}

static void flip(const char *file, off_t at)
{
	int opened = open(file, O_RDWR);
	char byte;

	ck_assert_int_eq(pread(opened, &byte, 1, at), 1);
	byte = (char)(byte ^ 0x10);
	ck_assert_int_eq(pwrite(opened, &byte, 1, at), 1);
	close(opened);
}

/* A journal of GROUPS groups of one transaction each, all of one size; gives that size. Closing cuts
 * nothing: the segment keeps its zeros. */
static off_t journal_make(void)
{
	struct store *store = open_store();
	off_t size = (off_t)(GROUP_HEAD +
			     record_padded(RECORD_HEAD + CHANGE_HEAD + strlen("key 0") + 132));

	for (unsigned n = 0; n < GROUPS; n++)
		put_durable(store, n, 100);
	store_close(store);
	return size;
}

/* Where the bytes of the last group are changed, from its start: it was being written. */
static const struct torn {
	const char *what;
	off_t from;
	size_t size;
	bool is_last_kept;
} torn[] = {
	{ "nothing", 0, 0, true },
	{ "the whole group is missing", 0, 500, false },
	{ "its head is missing", 0, GROUP_HEAD, false },
	{ "the record is missing", GROUP_HEAD, 500, false },
	{ "the end of the record is missing", 70, 500, false },
	{ "one byte of the record", GROUP_HEAD + 60, 1, false },
	{ "the record's number", GROUP_HEAD + 8, 1, false },
	{ "the group's checksum", 4, 1, false },
};

START_TEST(a_torn_tail_is_cut)
{
	const struct torn *row = &torn[_i];
	off_t group = journal_make(), last = (off_t)SEGMENT_HEAD + (GROUPS - 1) * group;
	char zeros[500] = { 0 };
	struct store *store;

	if (row->size == 1)
		flip(path_of("journal-", ""), last + row->from);
	else if (row->size > 0)
		overwrite(path_of("journal-", ""), last + row->from, zeros, row->size);
	for (int round = 0; round < 2; round++) {
		store = open_store();
		for (unsigned n = 0; n + 1 < GROUPS; n++)
			ck_assert(has(store, n));
		ck_assert(has(store, GROUPS - 1) == row->is_last_kept);
		ck_assert(has(store, GROUPS) == (round == 1));
		put_durable(store, GROUPS, 100);
		store_close(store);
	}
}
END_TEST

START_TEST(garbage_behind_the_end_is_cut)
{
	off_t group = journal_make(), end = (off_t)SEGMENT_HEAD + GROUPS * group;
	struct store *store;
	char garbage[4096];
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof garbage; i++)
		garbage[i] = (char)chance_below(&seed, 256);
	overwrite(path_of("journal-", ""), end + (off_t)chance_below(&seed, 8), garbage,
		  sizeof garbage);
	store = open_store();
	ck_assert_int_eq(size_of(path_of("journal-", "")), end);
	for (unsigned n = 0; n < GROUPS; n++)
		ck_assert(has(store, n));
	store_close(store);
}
END_TEST

/* A byte anywhere in a group that a later one calls durable. */
static const off_t middles[] = { 0, 5, 8, 17, 24, 33, 36, 40, 48, 56, 60, 70, 90, 150 };

START_TEST(a_damaged_middle_is_refused)
{
	off_t group = journal_make();

	flip(path_of("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + middles[_i]);
	refused("journal segment 0000000000000001");
	refused(arena_text(arena, "offset %ld",
			   (long)(SEGMENT_HEAD) + 4 * (long)group + (middles[_i] < 32 ? 0 : 32)));
	refused("transaction 5 ");
	refused("durable");
	refused(path);
}
END_TEST

/* The first segment's head. */
static const struct head {
	off_t at;
	const char *says;
} heads[] = {
	{ 0, "is no journal segment" }, { 8, "reads format 1" }, { 16, "the head of" },
	{ 33, "the head of" },		{ 60, "the head of" },
};

START_TEST(a_damaged_head_is_refused)
{
	journal_make();
	flip(path_of("journal-", ""), heads[_i].at);
	refused(heads[_i].says);
}
END_TEST

START_TEST(a_segment_of_another_installation_is_refused)
{
	char *segment, bytes[65536];
	int file;

	journal_make();
	segment = path_of("journal-", "");
	file = open(segment, O_RDONLY);
	ck_assert_int_eq(read(file, bytes, sizeof bytes), sizeof bytes);
	close(file);
	snprintf(path, sizeof path, "%s/other", directory);
	journal_make();
	overwrite(path_of("journal-", ""), 0, bytes, sizeof bytes);
	refused("another installation");
}
END_TEST

static const struct store_options small_segments = { .segment_bytes = 4096 };

START_TEST(segments_follow_each_other)
{
	struct store *store = open_with(small_segments);
	char *first;

	for (unsigned n = 0; n < 60; n++)
		put_durable(store, n, 500);
	store_close(store);
	ck_assert_ptr_nonnull(name_of("journal-0000000000000001", ""));
	store = open_with(small_segments);
	for (unsigned n = 0; n < 60; n++)
		ck_assert(has(store, n));
	/* Everything is in a file then, and the segments but the last are not needed. */
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	first = name_of("journal-", "");
	ck_assert_str_gt(first, "journal-0000000000000030");
	store = open_with(small_segments);
	for (unsigned n = 0; n < 60; n++)
		ck_assert(has(store, n));
	store_close(store);
}
END_TEST

START_TEST(a_missing_segment_is_refused)
{
	struct store *store = open_with(small_segments);
	unsigned n;

	for (n = 0; n < 60; n++)
		put_durable(store, n, 500);
	store_close(store);
	ck_assert_int_eq(unlink(path_of("journal-", "")), 0);
	refused("transaction 1 ");
}
END_TEST

START_TEST(a_record_larger_than_a_segment_has_one_of_its_own)
{
	struct store *store = open_with(small_segments);

	put_durable(store, 1, 100);
	put_durable(store, 2, 3000000);
	put_durable(store, 3, 100);
	store_close(store);
	store = open_with(small_segments);
	ck_assert(has(store, 1) && has(store, 2) && has(store, 3));
	store_close(store);
}
END_TEST

/* Counts what is written into segments, and what of it is not whole blocks. */
struct block_watch {
	struct file_hooks hooks;
	unsigned writes;
	unsigned torn;
};

static int watch_blocks(struct file_hooks *hooks, struct file_call *call)
{
	struct block_watch *watch = (struct block_watch *)hooks;

	if (call->operation == FILE_PWRITE && strstr(call->path, "journal-") != NULL) {
		watch->writes++;
		watch->torn += (size_t)call->offset % SEGMENT_BLOCK != 0 ||
			       call->size % SEGMENT_BLOCK != 0;
	}
	return 0;
}

static const size_t block_sizes[] = { 1, 500, 3900, 3904, 3912, 4000, 4096, 9000, 60000 };

/* A block of which a part is written has to be read first, where the system does not remember it. */
START_TEST(a_segment_is_written_in_whole_blocks)
{
	static struct block_watch watch;
	struct store *store;

	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_blocks;
	store = open_with((struct store_options){ .files = &watch.hooks.files });
	for (unsigned n = 0; n < 12; n++)
		put_durable(store, n, block_sizes[_i]);
	put(store, 12, 700);
	put_durable(store, 13, block_sizes[_i]);
	ck_assert_uint_ge(watch.writes, 13);
	ck_assert_uint_eq(watch.torn, 0);
	store_close(store);
	store = open_store();
	for (unsigned n = 0; n < 14; n++)
		ck_assert(has(store, n));
	store_close(store);
}
END_TEST

/* The first n keys are there when it is opened again. */
static void close_and_find(struct store *store, unsigned n)
{
	store_close(store);
	store = open_store();
	while (n-- > 0)
		ck_assert(has(store, n));
	store_close(store);
}

/* A disk without room: `error` for the operations whose bit is set. */
struct disk {
	struct file_hooks hooks;
	_Atomic unsigned failing;
	int error;
};

static int disk_before(struct file_hooks *hooks, struct file_call *call)
{
	const struct disk *disk = (const struct disk *)hooks;

	return (disk->failing & 1u << call->operation) != 0 ? disk->error : 0;
}

static struct store *open_on(struct disk *disk, size_t overlay_bytes)
{
	file_hooks_start(&disk->hooks);
	disk->hooks.before = disk_before;
	return open_with((struct store_options){ .files = &disk->hooks.files,
						 .segment_bytes = 65536,
						 .overlay_bytes = overlay_bytes });
}

/* What fails while the disk is full; what cannot be written then is never acknowledged. */
static const unsigned full_operations[] = {
	1u << FILE_ALLOCATE, 1u << FILE_ALLOCATE | 1u << FILE_PWRITE, 1u << FILE_PWRITE,
	1u << FILE_OPEN,     1u << FILE_OPEN | 1u << FILE_ALLOCATE,   1u << FILE_RENAME,
};

START_TEST(a_full_disk_refuses_and_then_goes_on)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 32768);
	struct fault fault = FAULT_INITIAL;
	unsigned n = 0, durable;
	uint64_t number;

	disk.error = ENOSPC;
	put_durable(store, n++, 1000);
	disk.failing = full_operations[_i];
	while (try_put(store, n, 1000, &number, &fault)) {
		store_flush(store);
		ck_assert_uint_lt(++n, 1000);
	}
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_uint_eq(fault.retry_after, 5);
	ck_assert(!store_can_write(store));
	ck_assert(has(store, 0));
	disk.failing = 0;
	while (!try_put(store, n, 1000, &number, &fault)) {
		ck_assert_msg(fault.retry_after == 5, "%s", fault.cause);
		arena_reset(arena);
	}
	ck_assert(store_wait(store, number, &fault));
	durable = n;
	store_close(store);
	store = open_store();
	for (n = 0; n <= durable; n++)
		ck_assert(has(store, n));
	store_close(store);
}
END_TEST

/* A disk on which one merge, the next file that is begun, waits until it is let go on. */
struct held_disk {
	struct file_hooks hooks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_armed;
	bool is_held;
	bool is_ended; /* the file that was held gets its name */
	char path[PATH_MAX]; /* of that file */
	unsigned others; /* other files that got theirs */
	struct store *store;
	uint64_t merges; /* when it was armed, and then how many there were until is_ended */
};

static uint64_t merges_of(struct store *store)
{
	struct store_figures figures = { 0 };

	store_figures(store, &figures);
	return figures.files_merged;
}

static uint64_t overlay_bytes_of(struct store *store)
{
	struct store_figures figures = { 0 };

	store_figures(store, &figures);
	return figures.overlay_bytes;
}

static uint64_t overlays_of(struct store *store)
{
	struct store_figures figures = { 0 };

	store_figures(store, &figures);
	return figures.overlays;
}

static int held_before(struct file_hooks *hooks, struct file_call *call)
{
	struct held_disk *disk = (struct held_disk *)hooks;

	if (call->operation != FILE_OPEN || strstr(call->path, ".gdbm.new") == NULL)
		return 0;
	pthread_mutex_lock(&disk->lock);
	if (disk->is_armed) {
		disk->is_armed = false;
		disk->is_held = true;
		snprintf(disk->path, sizeof disk->path, "%s", call->path);
		pthread_cond_broadcast(&disk->changed);
		while (disk->is_held)
			pthread_cond_wait(&disk->changed, &disk->lock);
	}
	pthread_mutex_unlock(&disk->lock);
	return 0;
}

static void held_after(struct file_hooks *hooks, const struct file_call *call)
{
	struct held_disk *disk = (struct held_disk *)hooks;

	if (call->operation != FILE_RENAME || strstr(call->path, ".gdbm.new") == NULL)
		return;
	pthread_mutex_lock(&disk->lock);
	if (strcmp(call->path, disk->path) == 0) {
		disk->is_ended = true;
		disk->merges = merges_of(disk->store) - disk->merges;
	} else {
		disk->others++;
	}
	pthread_cond_broadcast(&disk->changed);
	pthread_mutex_unlock(&disk->lock);
}

static void *merge_all(void *store)
{
	ck_assert(store_gdbm_settle(store, true));
	return NULL;
}

/* More than are left alone while they come so fast. */
#define OVERLAYS 14

START_TEST(small_files_are_merged_while_a_large_merge_goes_on)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	const struct store_options options = { .files = &disk.hooks.files, .overlay_bytes = 8192 };
	struct store *store;
	unsigned n = 0;
	pthread_t merger;

	file_hooks_start(&disk.hooks);
	disk.hooks.before = held_before;
	disk.hooks.after = held_after;
	store = disk.store = open_with(options);
	while (n < 300)
		put_durable(store, n++, 100);
	ck_assert(store_gdbm_settle(store, true));
	put_durable(store, n++, 100);
	ck_assert(store_gdbm_settle(store, false));
	disk.merges = merges_of(store);
	disk.is_armed = true;
	ck_assert_int_eq(pthread_create(&merger, NULL, merge_all, store), 0);
	pthread_mutex_lock(&disk.lock);
	while (!disk.is_held)
		pthread_cond_wait(&disk.changed, &disk.lock);
	disk.others = 0;
	while (disk.others < OVERLAYS) {
		pthread_mutex_unlock(&disk.lock);
		put_durable(store, n++, 1000);
		pthread_mutex_lock(&disk.lock);
	}
	disk.is_held = false;
	pthread_cond_broadcast(&disk.changed);
	while (!disk.is_ended)
		pthread_cond_wait(&disk.changed, &disk.lock);
	ck_assert_uint_gt(disk.merges, 0);
	pthread_mutex_unlock(&disk.lock);
	pthread_join(merger, NULL);
	close_and_find(store, n);
}
END_TEST

/* A disk with room for one file of the stack, which waits until it is let go on. */
struct short_disk {
	struct file_hooks hooks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_held;
	bool is_full;
	unsigned refused; /* files, when it is full */
	unsigned removed; /* segments of the journal, since the first of them */
};

static int short_before(struct file_hooks *hooks, struct file_call *call)
{
	struct short_disk *disk = (struct short_disk *)hooks;
	int error = 0;

	if (call->operation != FILE_OPEN || strstr(call->path, ".gdbm.new") == NULL)
		return 0;
	pthread_mutex_lock(&disk->lock);
	while (disk->is_held)
		pthread_cond_wait(&disk->changed, &disk->lock);
	if (disk->is_full) {
		error = ENOSPC;
		disk->refused++;
		pthread_cond_broadcast(&disk->changed);
	}
	pthread_mutex_unlock(&disk->lock);
	return error;
}

static void short_after(struct file_hooks *hooks, const struct file_call *call)
{
	struct short_disk *disk = (struct short_disk *)hooks;

	pthread_mutex_lock(&disk->lock);
	if (call->operation == FILE_RENAME && strstr(call->path, ".gdbm.new") != NULL)
		disk->is_full = true;
	pthread_cond_broadcast(&disk->changed);
	if (call->operation == FILE_UNLINK && strstr(call->path, "/journal-") != NULL)
		disk->removed += disk->refused > 0;
	pthread_mutex_unlock(&disk->lock);
}

/* The first of two overlays becomes a file, after which nobody needs its segments; the second cannot. */
START_TEST(who_has_no_room_gets_that_of_the_spare_segments)
{
	static struct short_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					  .changed = PTHREAD_COND_INITIALIZER,
					  .is_held = true };
	const struct store_options options = { .files = &disk.hooks.files,
					       .segment_bytes = 16384,
					       .overlay_bytes = 65536 };
	struct store *store;
	unsigned n = 0;

	file_hooks_start(&disk.hooks);
	disk.hooks.before = short_before;
	disk.hooks.after = short_after;
	store = open_with(options);
	while (overlay_bytes_of(store) < 2 * options.overlay_bytes)
		put_durable(store, n++, 1000);
	pthread_mutex_lock(&disk.lock);
	disk.is_held = false;
	pthread_cond_broadcast(&disk.changed);
	while (!disk.is_full)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
	put_durable(store, n++, 1000); /* now the second is large enough, if it was not before */
	pthread_mutex_lock(&disk.lock);
	while (disk.refused < 2) /* it is tried again, after what follows the first time */
		pthread_cond_wait(&disk.changed, &disk.lock);
	ck_assert_uint_gt(disk.removed, 0);
	disk.is_full = false;
	pthread_mutex_unlock(&disk.lock);
	close_and_find(store, n);
}
END_TEST

/* While files come one upon the other few are merged; nobody has to ask for the rest, nor for what is
 * left in memory to become a file. But while another overlay waits to become one, the one that is
 * written to stays, or every write would have to wait. */
START_TEST(files_are_merged_when_no_more_come)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	const struct store_options options = { .files = &disk.hooks.files, .overlay_bytes = 8192 };
	unsigned n = 0;

	file_hooks_start(&disk.hooks);
	disk.hooks.before = held_before;
	disk.hooks.after = held_after;
	disk.store = open_with(options);
	pthread_mutex_lock(&disk.lock);
	while (disk.others < 4) {
		pthread_mutex_unlock(&disk.lock);
		put_durable(disk.store, n++, 1000);
		pthread_mutex_lock(&disk.lock);
	}
	disk.is_armed = true;
	while (!disk.is_held) {
		pthread_mutex_unlock(&disk.lock);
		if (overlays_of(disk.store) == 1)
			put_durable(disk.store, n++, 1000);
		pthread_mutex_lock(&disk.lock);
	}
	pthread_mutex_unlock(&disk.lock);
	put_durable(disk.store, n++, 1000);
	while (merges_of(disk.store) == 0)
		poll(NULL, 0, 10);
	ck_assert_uint_eq(overlays_of(disk.store), 2);
	pthread_mutex_lock(&disk.lock);
	disk.is_held = false;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
	while (overlay_bytes_of(disk.store) > 0)
		poll(NULL, 0, 10);
	close_and_find(disk.store, n);
}
END_TEST

static const struct {
	size_t files;
	int64_t microseconds;
} waits[] = {
	{ 0, 0 },      { 1, 0 },      { 48, 0 },     { 49, 50 },     { 50, 100 },
	{ 147, 4950 }, { 148, 5000 }, { 149, 5000 }, { 1000, 5000 }, { SIZE_MAX, 5000 },
};

START_TEST(a_write_waits_for_each_file_too_many)
{
	ck_assert_int_eq(throttle_write(waits[_i].files), waits[_i].microseconds);
}
END_TEST

static void *work(void *is_stopped)
{
	while (!atomic_load((atomic_bool *)is_stopped))
		continue;
	return NULL;
}

static const struct {
	bool is_busy; /* another thread works */
	size_t files;
	bool has_to_wait;
} asides[] = {
	{ false, 1, false },
	{ true, 1, true },
	{ true, THROTTLE_FEW, true },
	{ true, THROTTLE_FEW + 1, false },
};

START_TEST(a_merge_steps_aside_for_others)
{
	struct throttle throttle = { 0, 0, 0 };
	atomic_bool is_stopped = false;
	unsigned slices, waits_there = 0;
	pthread_t other;

	if (asides[_i].is_busy)
		ck_assert_int_eq(pthread_create(&other, NULL, work, &is_stopped), 0);
	/* What the process did until now is the first slice. */
	while (throttle.own == 0)
		throttle_merge(&throttle, asides[_i].files);
	/* The other need not be given the processor in each. */
	for (slices = 0; slices < 100; slices++) {
		const int64_t before = throttle.own;
		int64_t wait = 0;

		while (throttle.own == before) {
			ck_assert_int_eq(wait, 0);
			wait = throttle_merge(&throttle, asides[_i].files);
		}
		ck_assert_int_ge(throttle.own - before, 1000);
		waits_there += wait > 0;
	}
	ck_assert_int_eq(waits_there > 0, asides[_i].has_to_wait);
	atomic_store(&is_stopped, true);
	if (asides[_i].is_busy)
		pthread_join(other, NULL);
}
END_TEST

/* A merge of everything waits; small files come meanwhile, until there are too many. */
START_TEST(writes_wait_when_files_are_too_many)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	const struct store_options options = { .files = &disk.hooks.files, .overlay_bytes = 8192 };
	struct store_figures figures = { 0 };
	unsigned n = 0, measured = 20;
	int64_t began, least;
	pthread_t merger;

	file_hooks_start(&disk.hooks);
	disk.hooks.before = held_before;
	disk.hooks.is_fast = true;
	disk.store = open_with(options);
	while (n < 100)
		put_durable(disk.store, n++, 1000);
	ck_assert(store_gdbm_settle(disk.store, false));
	put_durable(disk.store, n++, 1000);
	ck_assert(store_gdbm_settle(disk.store, false));
	disk.is_armed = true;
	ck_assert_int_eq(pthread_create(&merger, NULL, merge_all, disk.store), 0);
	pthread_mutex_lock(&disk.lock);
	while (!disk.is_held)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
	do {
		put_durable(disk.store, n++, 1000);
		store_figures(disk.store, &figures);
	} while (figures.files < THROTTLE_MANY + 10);
	/* None of them can be merged meanwhile. */
	least = measured * throttle_write(figures.files);
	began = clock_microseconds();
	while (measured-- > 0)
		put(disk.store, n++, 10);
	ck_assert_int_ge(clock_microseconds() - began, least);
	pthread_mutex_lock(&disk.lock);
	disk.is_held = false;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
	pthread_join(merger, NULL);
	store_figures(disk.store, &figures);
	ck_assert_uint_le(figures.files, THROTTLE_FEW);
	store_close(disk.store);
}
END_TEST

/* Of which each was overwritten once: more than are looked at one by one. */
#define OVERWRITTEN 1500

START_TEST(what_is_superseded_is_known_roughly)
{
	const struct store_options options = { .overlay_bytes = 64 << 20 };
	struct store *store = open_with(options);
	/* A record's key has nine bytes more. */
	const uint64_t bytes = OVERWRITTEN * stack_record_bytes(9 + key_of(4321).size, 132);
	const uint64_t large = stack_record_bytes(9 + key_of(0).size, 400032);
	struct fault fault = FAULT_INITIAL;
	struct store_stat stat;
	unsigned n;

	for (n = 1000; n < 7000; n++)
		put(store, n, 100);
	put(store, 0, 400000);
	ck_assert(store_gdbm_settle(store, false));
	/* As many that are new as others. */
	for (n = 7000 - OVERWRITTEN; n < 7000 + OVERWRITTEN; n++)
		put(store, n, 100);
	put(store, 0, 400000);
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	ck_assert(store_gdbm_stat(path, NULL, &stat, &fault));
	ck_assert_uint_eq(stat.manifest.n, 2);
	/* Five times the deviation that is to be expected. */
	ck_assert_uint_ge(stat.superfluous_bytes, large + bytes * 75 / 100);
	ck_assert_uint_le(stat.superfluous_bytes, large + bytes * 125 / 100);
	manifest_free(&stat.manifest);
}
END_TEST

static const unsigned sync_operations[] = { FILE_FDATASYNC, FILE_PWRITE };

START_TEST(a_failed_sync_stops_writing_for_good)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 0);
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	put_durable(store, 0, 100);
	number = put(store, 1, 100);
	disk.error = EIO;
	disk.failing = 1u << sync_operations[_i];
	ck_assert(!store_wait(store, number, &fault));
	disk.failing = 0;
	ck_assert_int_eq(store_state(store, number), STORE_FAILED);
	ck_assert_int_eq(store_state(store, number - 1), STORE_DURABLE);
	ck_assert(!try_put(store, 2, 100, &number, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert(!store_can_write(store));
	ck_assert(has(store, 0) && !has(store, 1));
	store_close(store);
	store = open_store();
	ck_assert(has(store, 0));
	put_durable(store, 2, 100);
	store_close(store);
}
END_TEST

START_TEST(a_second_owner_is_told_the_pid_of_the_first)
{
	struct store *store = open_store();

	refused(arena_text(arena, "pid %ld ", (long)getpid()));
	store_close(store);
	store_close(open_store());
}
END_TEST

START_TEST(a_damaged_manifest_is_refused)
{
	static const off_t places[] = { 0, 8, 12, 16, 32, 40, 48, 50, 110, -1, -4 };
	struct store *store = open_store();
	off_t at = places[_i];

	put_durable(store, 1, 100);
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	flip(path_of("manifest", ""), at < 0 ? size_of(path_of("manifest", "")) + at : at);
	refused("manifest");
	ck_assert_int_eq(truncate(path_of("manifest", ""), 20), 0);
	refused("is no manifest");
	ck_assert_int_eq(unlink(path_of("manifest", "")), 0);
	refused("no manifest");
}
END_TEST

/* Keys and values in one file of the stack. */
static void stack_make(unsigned n)
{
	struct store *store = open_store();

	for (unsigned i = 0; i < n; i++)
		put(store, i, 200);
	ck_assert(store_gdbm_settle(store, true));
	store_close(store);
}

/* GDBM gives records bucket by bucket. What was written in another order was read and written from and
 * to another bucket each time. */
START_TEST(records_are_written_in_the_order_of_their_buckets)
{
	uint32_t above = 0;
	GDBM_FILE file;
	datum key;

	stack_make(5000);
	file = gdbm_open(path_of("stack-", ".gdbm"), 0, GDBM_READER | GDBM_NOLOCK, 0, NULL);
	ck_assert_ptr_nonnull(file);
	key = gdbm_firstkey(file);
	while (key.dptr != NULL) {
		const struct slice bytes = { key.dptr, (size_t)key.dsize };
		const uint32_t sixteenth = record_key_order(bytes) >> 27; /* of 31 bits */
		const datum next = gdbm_nextkey(file, key);

		ck_assert_uint_ge(sixteenth, above);
		above = sixteenth;
		free(key.dptr);
		key = next;
	}
	ck_assert_uint_eq(above, 15);
	gdbm_close(file);
}
END_TEST

/* Counts what of a GDBM file is read ahead, and the mappings of it. */
struct ahead_watch {
	struct file_hooks hooks;
	off_t ahead;
	unsigned scattered;
	unsigned others; /* mappings */
	bool is_out_of_order;
};

static int watch_ahead(struct file_hooks *hooks, struct file_call *call)
{
	struct ahead_watch *watch = (struct ahead_watch *)hooks;

	if (strstr(call->path, ".gdbm") == NULL)
		return 0;
	if (call->operation == FILE_MAP) {
		watch->scattered += call->is_scattered;
		watch->others += !call->is_scattered;
	}
	if (call->operation == FILE_WILL_NEED) {
		watch->is_out_of_order = watch->is_out_of_order || call->offset != watch->ahead;
		watch->ahead = call->offset + (off_t)call->size;
	}
	return 0;
}

/* One record is looked for where it lies, without what is around it; who reads all has them come. */
START_TEST(a_file_is_read_ahead_by_who_reads_all_of_it)
{
	const struct store_watch nobody = { .context = NULL };
	static struct ahead_watch watch;
	struct fault fault = FAULT_INITIAL;
	struct store_check check;
	struct store *store;
	off_t size;

	stack_make(5000);
	size = size_of(path_of("stack-", ".gdbm"));
	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_ahead;
	store = open_with(
		(struct store_options){ .is_read_only = true, .files = &watch.hooks.files });
	ck_assert(has(store, 0) && has(store, 4999));
	store_close(store);
	ck_assert_uint_eq(watch.scattered, 1);
	ck_assert_int_eq(watch.ahead, 0);
	ck_assert(store_gdbm_check(path, &watch.hooks.files, &nobody, &check, &fault));
	ck_assert_uint_eq(check.damages, 0);
	ck_assert_uint_eq(watch.others, 0);
	ck_assert(!watch.is_out_of_order);
	ck_assert_int_gt(size, 4 * (off_t)FILE_PIECE);
	ck_assert_int_gt(watch.ahead, size - 2 * (off_t)FILE_PIECE);
	ck_assert_int_lt(watch.ahead, size + 2 * (off_t)FILE_PIECE);
}
END_TEST

static const struct missing {
	const char *suffix;
	bool is_cut; /* or removed */
} missing[] = { { ".gdbm", false }, { ".gdbm", true }, { ".index", false }, { ".index", true } };

START_TEST(a_missing_file_is_refused)
{
	const struct missing *row = &missing[_i];
	char *file;

	stack_make(100);
	file = path_of("stack-", row->suffix);
	if (row->is_cut)
		ck_assert_int_eq(truncate(file, size_of(file) - 1), 0);
	else
		ck_assert_int_eq(unlink(file), 0);
	refused(file);
}
END_TEST

START_TEST(a_file_of_another_installation_is_refused)
{
	char *files[2], *others[2], command[4 * PATH_MAX];
	static const char *const suffixes[] = { ".gdbm", ".index" };

	stack_make(100);
	for (int i = 0; i < 2; i++)
		files[i] = path_of("stack-", suffixes[i]);
	snprintf(path, sizeof path, "%s/other", directory);
	stack_make(100);
	others[_i] = path_of("stack-", suffixes[_i]);
	snprintf(command, sizeof command, "cp '%s' '%s'", files[_i], others[_i]);
	ck_assert_int_eq(system(command), 0);
	refused(others[_i]);
}
END_TEST

/* The place of a value's bytes in a file. */
static off_t find(const char *file, const char *text)
{
	size_t size = (size_t)size_of(file), wanted = strlen(text) + 1, i;
	char *bytes = malloc(size);
	int opened = open(file, O_RDONLY);
	off_t found = -1;

	ck_assert_int_eq(read(opened, bytes, size), (ssize_t)size);
	close(opened);
	for (i = 0; i + wanted <= size && found < 0; i++)
		if (memcmp(bytes + i, text, wanted) == 0)
			found = (off_t)i;
	free(bytes);
	ck_assert_int_ge(found, 0);
	return found;
}

START_TEST(a_damaged_value_is_not_answered)
{
	struct slice value;
	struct fault fault;
	struct store *store;
	char *file;

	stack_make(100);
	file = path_of("stack-", ".gdbm");
	flip(file, find(file, "value 7") + 50);
	store = open_store();
	ck_assert(!try_get(store, 7, &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(fault.cause, "TEMPLATE 6b65792037"));
	ck_assert(has(store, 8));
	/* Whoever compares blocks finds it too, and from then on nothing is read from the file. */
	ck_assert(!store_gdbm_verify(store));
	ck_assert(!try_get(store, 8, &value, &fault));
	put_durable(store, 8, 100);
	ck_assert(has(store, 8));
	store_close(store);
}
END_TEST

static unsigned damages;

static void count_damage(void *context, const char *file, const char *what)
{
	ck_assert_ptr_eq(context, &damages);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(strlen(what), 0);
	damages++;
}

static struct store_check check_store(void)
{
	const struct store_watch watch = { .context = &damages, .damage = count_damage };
	struct fault fault = FAULT_INITIAL;
	struct store_check check;

	damages = 0;
	if (!store_gdbm_check(path, NULL, &watch, &check, &fault))
		ck_abort_msg("%s", fault.cause);
	ck_assert_uint_eq(check.damages, damages);
	return check;
}

/* Flips one bit of a file at so many places; each must be found. */
START_TEST(a_check_finds_every_flipped_bit)
{
	static const char *const suffixes[] = { ".gdbm", ".index" };
	char *file;
	off_t size;

	stack_make(300);
	ck_assert_uint_eq(check_store().records, 300);
	ck_assert_uint_eq(check_store().damages, 0);
	file = path_of("stack-", suffixes[_i]);
	size = size_of(file);
	for (off_t at = 0; at < size; at += size / 41) {
		/* The rest of an index's head is zeros that nobody reads. */
		if (_i == 1 && at >= 256 && at < 4096)
			continue;
		flip(file, at);
		ck_assert_msg(check_store().damages > 0, "%s at %ld", file, (long)at);
		flip(file, at);
	}
	ck_assert_uint_eq(check_store().damages, 0);
}
END_TEST

START_TEST(a_check_of_a_damaged_journal_says_what_can_be_saved)
{
	off_t group = journal_make();

	ck_assert_uint_eq(check_store().transactions, GROUPS);
	flip(path_of("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + 60);
	ck_assert_uint_eq(check_store().damages, 1);
	ck_assert_uint_eq(check_store().last, 4);
}
END_TEST

/* What is damaged is in the files already; the disk is not to be trusted all the same. */
START_TEST(damage_below_the_number_of_the_files_is_refused)
{
	off_t group = journal_make();
	struct store *store = open_store();

	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	flip(path_of("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + 40);
	refused("transaction 5 ");
	ck_assert_uint_eq(check_store().damages, 1);
	ck_assert_uint_eq(check_store().transactions, 0);
}
END_TEST

START_TEST(names_that_are_not_ours_are_left_alone)
{
	static const char *const theirs[] = { "journal-1", "stack-1.gdbm", "notes", "x.new" };
	static const char *const half_made[] = { "journal.new", "manifest.new",
						 "stack-0000000000000009.gdbm.new",
						 "stack-0000000000000009.index" };
	size_t i;

	stack_make(10);
	for (i = 0; i < 4; i++) {
		close(open(arena_text(arena, "%s/%s", path, theirs[i]), O_CREAT | O_WRONLY, 0600));
		close(open(arena_text(arena, "%s/%s", path, half_made[i]), O_CREAT | O_WRONLY,
			   0600));
	}
	store_close(open_store());
	for (i = 0; i < 4; i++) {
		ck_assert_ptr_nonnull(name_of(theirs[i], ""));
		ck_assert_ptr_null(name_of(half_made[i], ""));
	}
}
END_TEST

START_TEST(a_live_store_is_looked_at_from_outside)
{
	const struct store_watch watch = { .context = NULL };
	const struct store_options read_only = { .is_read_only = true };
	struct store *store = open_store(), *other;
	struct fault fault = FAULT_INITIAL;
	struct store_stat stat;
	uint64_t number;
	char copy[PATH_MAX];

	for (unsigned n = 0; n < 50; n++)
		put_durable(store, n, 100);
	ck_assert(store_gdbm_settle(store, false));
	for (unsigned n = 50; n < 70; n++)
		put_durable(store, n, 100);
	other = open_with(read_only);
	ck_assert(has(other, 0) && has(other, 69) && !has(other, 70));
	ck_assert(!try_put(other, 70, 100, &number, &fault));
	ck_assert(!store_can_write(other));
	ck_assert_uint_eq(check_store().records, 50);
	ck_assert_uint_eq(check_store().transactions, 20);
	fault = FAULT_INITIAL;
	ck_assert(store_gdbm_stat(path, NULL, &stat, &fault));
	ck_assert_uint_eq(stat.last, 70);
	ck_assert_uint_eq(stat.manifest.n, 1);
	manifest_free(&stat.manifest);
	/* What is taken away behind a reader's back stays readable for it. */
	ck_assert(store_gdbm_settle(store, true));
	ck_assert(has(other, 0) && has(other, 69));
	store_close(other);
	snprintf(copy, sizeof copy, "%s/copy", directory);
	ck_assert(store_gdbm_backup(path, copy, NULL, &watch, &fault));
	put_durable(store, 70, 100);
	store_close(store);
	snprintf(path, sizeof path, "%s", copy);
	ck_assert_uint_eq(check_store().damages, 0);
	store = open_store();
	ck_assert(has(store, 0) && has(store, 69) && !has(store, 70));
	put_durable(store, 70, 100);
	store_close(store);
}
END_TEST

/* Counts what is read of the journal, and how often meanwhile somebody else could have taken the
 * directory for himself. */
struct read_watch {
	struct file_hooks hooks;
	unsigned reads;
	unsigned unheld;
};

static int watch_reads(struct file_hooks *hooks, struct file_call *call)
{
	struct read_watch *watch = (struct read_watch *)hooks;
	const bool reads = call->operation == FILE_MAP || call->operation == FILE_PREAD;
	int hold;

	if (!reads || strstr(call->path, "journal-") == NULL)
		return 0;
	hold = journal_hold(&file_system_posix, path, LOCK_EX | LOCK_NB);
	watch->reads++;
	if (hold < 0) {
		ck_assert_int_eq(errno, EWOULDBLOCK);
		return 0;
	}
	watch->unheld++;
	close(hold);
	return 0;
}

static void read_by_opening(const struct file_system *files)
{
	store_close(open_with((struct store_options){ .is_read_only = true, .files = files }));
}

static void read_by_check(const struct file_system *files)
{
	const struct store_watch watch = { .context = NULL };
	struct fault fault = FAULT_INITIAL;
	struct store_check check;

	ck_assert(store_gdbm_check(path, files, &watch, &check, &fault));
	ck_assert_uint_eq(check.damages, 0);
}

static void read_by_backup(const struct file_system *files)
{
	const struct store_watch watch = { .context = NULL };
	struct fault fault = FAULT_INITIAL;
	char copy[PATH_MAX];

	snprintf(copy, sizeof copy, "%s/copy", directory);
	ck_assert(store_gdbm_backup(path, copy, files, &watch, &fault));
}

static const struct reader {
	void (*read)(const struct file_system *files);
	unsigned reads; /* at least */
} readers[] = { { read_by_opening, 1 }, { read_by_check, 1 }, { read_by_backup, 2 } };

/* Else a segment might be filled with something else while it is read. */
START_TEST(whoever_reads_the_journal_of_a_live_store_holds_it)
{
	static struct read_watch watch;
	struct store *store = open_store();

	put_durable(store, 1, 100);
	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_reads;
	readers[_i].read(&watch.hooks.files);
	ck_assert_uint_ge(watch.reads, readers[_i].reads);
	ck_assert_uint_eq(watch.unheld, 0);
	store_close(store);
}
END_TEST

static unsigned walked[40];

static bool walk_visit(void *context, struct slice key, struct slice value, struct fault *fault)
{
	unsigned n = (unsigned)strtoul(key.data + 4, NULL, 10);

	(void)context;
	(void)fault;
	ck_assert_uint_lt(n, 40);
	ck_assert(slice_is(slice_of(value.data), arena_text(arena, "value %u", n)));
	walked[n]++;
	return true;
}

START_TEST(a_walk_gives_each_key_once)
{
	struct store *store = open_store();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t counts[STORE_TABLE_COUNT], number;

	for (unsigned round = 0; round < 4; round++) {
		for (unsigned n = round; n < 40; n += 1 + round)
			put(store, n, 100 * round);
		ck_assert(store_gdbm_settle(store, false));
	}
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	for (unsigned n = 0; n < 40; n += 5)
		ck_assert(store_remove(transaction, STORE_TEMPLATE, key_of(n), &fault));
	ck_assert(store_put(transaction, STORE_ROOM, key_of(1), SLICE("room"), &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	for (int round = 0; round < 2; round++) {
		ck_assert(store_wait(store, number, &fault));
		ck_assert(store_begin(store, STORE_READ, arena, &transaction, &fault));
		memset(walked, 0, sizeof walked);
		ck_assert(store_gdbm_walk(transaction, STORE_TEMPLATE, walk_visit, NULL, &fault));
		for (unsigned n = 0; n < 40; n++)
			ck_assert_uint_eq(walked[n], n % 5 != 0);
		ck_assert(store_gdbm_count(transaction, counts, &fault));
		ck_assert_uint_eq(counts[STORE_TEMPLATE], 32);
		ck_assert_uint_eq(counts[STORE_ROOM], 1);
		store_abandon(transaction);
		ck_assert(store_gdbm_settle(store, true));
	}
	store_close(store);
	/* A merge of everything keeps no removal. */
	ck_assert_uint_eq(check_store().records, 33);
}
END_TEST

START_TEST(an_overlay_keeps_versions)
{
	const struct installation installation = { { 1 } };
	struct overlay_memory *memory = overlay_memory_open();
	struct overlay *overlay = overlay_open(memory, 4096);
	struct overlay_entry *entries;
	struct record_key key, other;
	struct slice value;
	size_t n;

	record_key_make(&installation, STORE_TEMPLATE, SLICE("a"), &key);
	record_key_make(&installation, STORE_ROOM, SLICE("a"), &other);
	overlay_put(overlay, &key, 3, SLICE("three"));
	overlay_put(overlay, &key, 5, (struct slice){ NULL, 0 });
	overlay_put(overlay, &key, 8, SLICE(""));
	ck_assert(!overlay_get(overlay, &key, 2, &value));
	ck_assert(overlay_get(overlay, &key, 4, &value) && slice_is(value, "three"));
	ck_assert(overlay_get(overlay, &key, 7, &value) && value.data == NULL);
	ck_assert(overlay_get(overlay, &key, 8, &value) && value.data != NULL && value.size == 0);
	ck_assert(!overlay_get(overlay, &other, 8, &value));
	entries = overlay_sorted(overlay, 2, &n);
	ck_assert_uint_eq(n, 0);
	free(entries);
	entries = overlay_sorted(overlay, 6, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(entries[0].value.data == NULL);
	free(entries);
	ck_assert_uint_eq(overlay_last(overlay), 8);
	overlay_let_go(overlay);
	overlay_memory_close(memory);
}
END_TEST

static bool is_mapped(const void *place)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char is_there;

	return mincore((char *)((uintptr_t)place & ~(page - 1)), 1, &is_there) == 0;
}

/* Where an overlay of that memory holds a value of so many bytes. */
static const char *value_place(struct overlay *overlay, size_t size)
{
	const struct installation installation = { { 1 } };
	struct record_key key;
	struct slice value = { arena_zero(arena, size), size };

	record_key_make(&installation, STORE_TEMPLATE, SLICE("a"), &key);
	overlay_put(overlay, &key, 1, value);
	ck_assert(overlay_get(overlay, &key, 1, &value));
	return value.data;
}

static const struct kept {
	size_t most;
	size_t size; /* of a value */
	bool is_kept;
} kept[] = {
	{ 0, 100, false }, { 1 << 20, 100, true }, { 1000, 100, false }, { 1 << 20, 1 << 20, false }
};

START_TEST(the_memory_of_an_overlay_is_kept_for_the_next)
{
	const struct kept *row = &kept[_i];
	struct overlay_memory *memory = overlay_memory_open();
	struct overlay *overlay = overlay_open(memory, 4096);
	const char *place;

	overlay_memory_keep(memory, row->most);
	place = value_place(overlay, row->size);
	overlay_let_go(overlay);
	ck_assert_int_eq(is_mapped(place), row->is_kept);
	if (row->is_kept) {
		overlay = overlay_open(memory, 4096);
		ck_assert_ptr_eq(value_place(overlay, row->size), place);
		overlay_let_go(overlay);
		overlay_memory_keep(memory, 0);
		ck_assert(!is_mapped(place));
	}
	overlay_memory_close(memory);
}
END_TEST

static const struct sum {
	const char *bytes;
	uint32_t sum;
} sums[] = {
	{ "", 0 },
	{ "a", 0xc1d04330 },
	{ "123456789", 0xe3069283 },
	{ "The quick brown fox jumps over the lazy dog", 0x22620404 },
};

START_TEST(checksums_are_those_of_crc32c)
{
	struct slice bytes = slice_of(sums[_i].bytes);

	ck_assert_uint_eq(checksum(0, bytes.data, bytes.size), sums[_i].sum);
	for (size_t i = 0; i <= bytes.size; i++)
		ck_assert_uint_eq(
			checksum(checksum(0, bytes.data, i), bytes.data + i, bytes.size - i),
			sums[_i].sum);
}
END_TEST

/* However long they are, and wherever they are cut: in pieces of a few bytes there is one way only. */
START_TEST(checksums_of_many_bytes_are_those_of_their_pieces)
{
	unsigned char bytes[5000];
	uint64_t seed = 11;
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)chance(&seed);
	for (size_t size = 0; size < sizeof bytes; size++) {
		size_t cut = chance_below(&seed, size + 1);

		ck_assert_uint_eq(checksum(0, bytes, size), sum);
		ck_assert_uint_eq(checksum(checksum(0, bytes, cut), bytes + cut, size - cut), sum);
		sum = checksum(sum, bytes + size, 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *tcase = tcase_create("journal");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_torn_tail_is_cut, 0, ROWS(torn));
	tcase_add_test(tcase, garbage_behind_the_end_is_cut);
	tcase_add_loop_test(tcase, a_damaged_middle_is_refused, 0, ROWS(middles));
	tcase_add_test(tcase, damage_below_the_number_of_the_files_is_refused);
	tcase_add_loop_test(tcase, a_damaged_head_is_refused, 0, ROWS(heads));
	tcase_add_test(tcase, a_segment_of_another_installation_is_refused);
	tcase_add_test(tcase, segments_follow_each_other);
	tcase_add_test(tcase, a_missing_segment_is_refused);
	tcase_add_test(tcase, a_record_larger_than_a_segment_has_one_of_its_own);
	tcase_add_loop_test(tcase, a_segment_is_written_in_whole_blocks, 0, ROWS(block_sizes));
	tcase_add_loop_test(tcase, a_full_disk_refuses_and_then_goes_on, 0, ROWS(full_operations));
	tcase_add_test(tcase, who_has_no_room_gets_that_of_the_spare_segments);
	tcase_add_loop_test(tcase, a_write_waits_for_each_file_too_many, 0, ROWS(waits));
	tcase_add_loop_test(tcase, a_merge_steps_aside_for_others, 0, ROWS(asides));
	tcase_add_test(tcase, writes_wait_when_files_are_too_many);
	tcase_add_test(tcase, what_is_superseded_is_known_roughly);
	tcase_add_test(tcase, small_files_are_merged_while_a_large_merge_goes_on);
	tcase_add_test(tcase, files_are_merged_when_no_more_come);
	tcase_add_test(tcase, records_are_written_in_the_order_of_their_buckets);
	tcase_add_loop_test(tcase, a_failed_sync_stops_writing_for_good, 0, ROWS(sync_operations));
	tcase_add_test(tcase, a_second_owner_is_told_the_pid_of_the_first);
	tcase_add_loop_test(tcase, a_damaged_manifest_is_refused, 0, 11);
	tcase_add_loop_test(tcase, a_missing_file_is_refused, 0, ROWS(missing));
	tcase_add_loop_test(tcase, a_file_of_another_installation_is_refused, 0, 2);
	tcase_add_test(tcase, a_damaged_value_is_not_answered);
	tcase_add_loop_test(tcase, a_check_finds_every_flipped_bit, 0, 2);
	tcase_add_test(tcase, a_check_of_a_damaged_journal_says_what_can_be_saved);
	tcase_add_test(tcase, names_that_are_not_ours_are_left_alone);
	tcase_add_test(tcase, a_file_is_read_ahead_by_who_reads_all_of_it);
	tcase_add_test(tcase, a_live_store_is_looked_at_from_outside);
	tcase_add_loop_test(tcase, whoever_reads_the_journal_of_a_live_store_holds_it, 0,
			    ROWS(readers));
	tcase_add_test(tcase, a_walk_gives_each_key_once);
	tcase_add_test(tcase, an_overlay_keeps_versions);
	tcase_add_loop_test(tcase, the_memory_of_an_overlay_is_kept_for_the_next, 0, ROWS(kept));
	tcase_add_test(tcase, checksums_of_many_bytes_are_those_of_their_pieces);
	tcase_add_loop_test(tcase, checksums_are_those_of_crc32c, 0, ROWS(sums));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
