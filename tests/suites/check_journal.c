/* What is specific to the journal of the durable store: torn tails and damaged middles, segments,
 * full and failing disks, reading the journal while it is written. What every driver promises is in
 * check_records.c; segments that are reused are in check_segments.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <sched.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "fast_disk.h"
#include "file_hooks.h"
#include "scratch.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/journal.h"
#include "store/gdbm/journal_format.h"
#include "suite.h"

#define GROUPS 10

/* Makes a journal of GROUPS groups of equal size, each with one transaction, and closes or kills
 * the store. Returns the size of the groups. Closing cuts nothing off: the segment keeps its
 * zeros. */
static off_t journal_end(bool is_killed)
{
	struct store *store = scratch_store();
	off_t size = (off_t)(GROUP_HEAD +
			     record_padded(RECORD_HEAD + CHANGE_HEAD + strlen("key 0") + 132));

	for (unsigned n = 0; n < GROUPS; n++)
		scratch_put_durable(store, n, 100);
	if (is_killed)
		scratch_kill(store);
	else
		store_close(store);
	return size;
}

static off_t journal_make(void)
{
	return journal_end(false);
}

/* Which bytes of the last group are changed, as if it were still being written. */
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

/* Torn tails after a kill. */
START_TEST(a_torn_tail_is_cut)
{
	const struct torn *row = &torn[_i];
	off_t group = journal_end(true), last = (off_t)SEGMENT_HEAD + (GROUPS - 1) * group;
	char zeros[500] = { 0 };
	struct store *store;

	if (row->size == 1)
		file_flip(scratch_file("journal-", ""), last + row->from);
	else if (row->size > 0)
		file_overwrite(scratch_file("journal-", ""), last + row->from, zeros, row->size);
	for (int round = 0; round < 2; round++) {
		store = scratch_store();
		for (unsigned n = 0; n + 1 < GROUPS; n++)
			ck_assert(scratch_has(store, n));
		ck_assert(scratch_has(store, GROUPS - 1) == row->is_last_kept);
		ck_assert(scratch_has(store, GROUPS) == (round == 1));
		scratch_put_durable(store, GROUPS, 100);
		store_close(store);
	}
}
END_TEST

/* After a clean stop, nothing in the journal can be torn. */
START_TEST(a_torn_tail_of_a_closed_journal_is_damage)
{
	const struct torn *row = &torn[_i];
	off_t group = journal_make(), last = (off_t)SEGMENT_HEAD + (GROUPS - 1) * group;
	char zeros[500] = { 0 };
	struct store *store;

	if (row->size == 1)
		file_flip(scratch_file("journal-", ""), last + row->from);
	else if (row->size > 0)
		file_overwrite(scratch_file("journal-", ""), last + row->from, zeros, row->size);
	if (row->is_last_kept) {
		ck_assert_uint_eq(scratch_check(NULL).damages, 0);
		store = scratch_store();
		scratch_close_and_find(store, GROUPS);
		return;
	}
	scratch_refused("transaction 10 cannot be read");
	scratch_refused("though 10 was durable");
	ck_assert_uint_eq(scratch_check(NULL).damages, 1);
}
END_TEST

/* What happens to the newest segment, which is the only one or the last of many, after a kill or a
 * clean stop. */
enum loss { CUT_BY_ONE, CUT_TO_GROUP, CUT_TO_HEAD, CUT_TO_NOTHING, REMOVED, LOSSES };

static void lose_newest(enum loss loss)
{
	char *file = scratch_newest("journal-0");
	off_t sizes[] = {
		[CUT_BY_ONE] = file_size(file) - 1,
		[CUT_TO_GROUP] = (off_t)SEGMENT_HEAD + 600,
		[CUT_TO_HEAD] = (off_t)SEGMENT_HEAD,
		[CUT_TO_NOTHING] = 0,
	};

	ck_assert_int_eq(loss == REMOVED ? unlink(file) : truncate(file, sizes[loss]), 0);
}

START_TEST(a_newest_segment_cut_or_removed_is_damage)
{
	const enum loss loss = (enum loss)(_i / 4);
	const bool is_killed = _i % 2 != 0, is_large = _i / 2 % 2 != 0;
	const struct store_options options = { .segment_bytes = is_large ? 0 : 4096 };
	struct store *store = scratch_store_with(options);
	struct store_check check;
	struct fault fault = FAULT_INITIAL;

	for (unsigned n = 0; n < 60; n++)
		scratch_put_durable(store, n, 500);
	if (is_killed)
		scratch_kill(store);
	else
		store_close(store);
	/* A clean stop requires no more bytes than were used. */
	if (loss == CUT_BY_ONE && !is_killed) {
		lose_newest(loss);
		scratch_close_and_find(scratch_store_with(options), 60);
		return;
	}
	lose_newest(loss);
	ck_assert(!scratch_try_store(options, &store, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert(!store_gdbm_check(scratch.path, NULL, &(struct store_watch){ .context = NULL },
				    &check, &fault) ||
		  check.damages > 0);
}
END_TEST

/* One of the two slots of the mark may be damaged; without both, the journal is refused. */
START_TEST(a_journal_without_a_mark_is_damage)
{
	char *mark = arena_text(scratch.arena, "%s/" MARK_NAME, scratch.path);
	char zeros[1024] = { 0 };

	journal_make();
	file_overwrite(mark, 0, zeros, 512);
	scratch_close_and_find(scratch_store(), GROUPS);
	file_overwrite(mark, 0, zeros, sizeof zeros);
	scratch_refused("journal.mark is damaged");
	ck_assert_int_eq(unlink(mark), 0);
	scratch_refused("cannot read");
}
END_TEST

START_TEST(garbage_after_the_end_is_cut)
{
	off_t group = journal_make(), end = (off_t)SEGMENT_HEAD + GROUPS * group;
	struct store *store;
	char garbage[4096];
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof garbage; i++)
		garbage[i] = (char)chance_below(&seed, 256);
	file_overwrite(scratch_file("journal-", ""), end + (off_t)chance_below(&seed, 8), garbage,
		       sizeof garbage);
	store = scratch_store();
	ck_assert_int_eq(file_size(scratch_file("journal-", "")), end);
	for (unsigned n = 0; n < GROUPS; n++)
		ck_assert(scratch_has(store, n));
	store_close(store);
}
END_TEST

/* Changes one byte of a group that a later group calls durable. */
static const off_t middles[] = { 0, 5, 8, 17, 24, 33, 36, 40, 48, 56, 60, 70, 90, 150 };

START_TEST(a_damaged_middle_is_refused)
{
	off_t group = journal_make();

	file_flip(scratch_file("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + middles[_i]);
	scratch_refused("journal-0000000000000001 of ");
	scratch_refused(
		arena_text(scratch.arena, "offset %ld",
			   (long)(SEGMENT_HEAD) + 4 * (long)group + (middles[_i] < 32 ? 0 : 32)));
	scratch_refused("transaction 5 ");
	scratch_refused("durable");
	scratch_refused(scratch.path);
}
END_TEST

/* Changes to the first segment's head. */
static const struct head {
	off_t at;
	const char *says;
} heads[] = {
	{ 0, "is not a journal segment" },
	{ 8, "reads format 1" },
	{ 16, "the head of" },
	{ 33, "the head of" },
	{ 60, "the head of" },
};

START_TEST(a_damaged_head_is_refused)
{
	journal_make();
	file_flip(scratch_file("journal-", ""), heads[_i].at);
	scratch_refused(heads[_i].says);
}
END_TEST

START_TEST(a_segment_of_another_installation_is_refused)
{
	char *segment, bytes[65536];
	int file;

	journal_make();
	segment = scratch_file("journal-", "");
	file = open(segment, O_RDONLY);
	ck_assert_int_eq(read(file, bytes, sizeof bytes), sizeof bytes);
	close(file);
	snprintf(scratch.path, sizeof scratch.path, "%s/other", scratch.directory);
	journal_make();
	file_overwrite(scratch_file("journal-", ""), 0, bytes, sizeof bytes);
	scratch_refused("another installation");
}
END_TEST

static const struct store_options small_segments = { .segment_bytes = 4096 };

START_TEST(segments_follow_each_other)
{
	struct store *store = scratch_store_with(small_segments);
	char *first;

	for (unsigned n = 0; n < 60; n++)
		scratch_put_durable(store, n, 500);
	store_close(store);
	ck_assert_ptr_nonnull(scratch_name("journal-0000000000000001", ""));
	store = scratch_store_with(small_segments);
	for (unsigned n = 0; n < 60; n++)
		ck_assert(scratch_has(store, n));
	/* All data is then in a file, and only the last segment is needed. */
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	first = scratch_name("journal-", "");
	ck_assert_str_gt(first, "journal-0000000000000030");
	store = scratch_store_with(small_segments);
	for (unsigned n = 0; n < 60; n++)
		ck_assert(scratch_has(store, n));
	store_close(store);
}
END_TEST

START_TEST(a_missing_segment_is_refused)
{
	struct store *store = scratch_store_with(small_segments);
	unsigned n;

	for (n = 0; n < 60; n++)
		scratch_put_durable(store, n, 500);
	store_close(store);
	ck_assert_int_eq(unlink(scratch_file("journal-", "")), 0);
	scratch_refused("transaction 1 ");
}
END_TEST

START_TEST(a_record_larger_than_a_segment_has_one_of_its_own)
{
	struct store *store = scratch_store_with(small_segments);

	scratch_put_durable(store, 1, 100);
	scratch_put_durable(store, 2, 3000000);
	scratch_put_durable(store, 3, 100);
	store_close(store);
	store = scratch_store_with(small_segments);
	ck_assert(scratch_has(store, 1) && scratch_has(store, 2) && scratch_has(store, 3));
	store_close(store);
}
END_TEST

/* In milliseconds; only a failing test waits this long. */
#define PATIENCE 20000
/* Bytes of a record that fits into no segment. */
#define LARGE 3000000

/* Another transaction writes key `n` while a segment of at least `size` bytes is being created;
 * that operation then fails if `error` is set. */
struct meanwhile {
	struct file_hooks hooks;
	struct store *store;
	size_t size;
	unsigned n;
	int error;
	pthread_t thread;
	bool has_begun;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended; /* the transaction became durable */
	bool was_in_time; /* before the segment was finished */
};

static void *write_meanwhile(void *context)
{
	struct meanwhile *meanwhile = context;
	struct arena *arena = arena_open();
	struct slice value = slice_of(arena_text(arena, "value %u", meanwhile->n));
	struct slice key = slice_of(arena_text(arena, "key %u", meanwhile->n));
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t number;

	value.size++;
	if (!store_begin(meanwhile->store, STORE_WRITE, arena, &transaction, &fault) ||
	    !entry_put(transaction, STORE_RECORD, key, value, &fault) ||
	    !store_commit(transaction, &number, &fault) ||
	    !store_wait(meanwhile->store, number, &fault))
		abort();
	arena_close(arena);
	pthread_mutex_lock(&meanwhile->lock);
	meanwhile->has_ended = true;
	pthread_cond_signal(&meanwhile->ended);
	pthread_mutex_unlock(&meanwhile->lock);
	return NULL;
}

static int write_before_allocation(struct file_hooks *hooks, struct file_call *call)
{
	struct meanwhile *meanwhile = (struct meanwhile *)hooks;
	const int64_t until = clock_monotonic() + PATIENCE;

	if (call->operation != FILE_ALLOCATE || call->size < meanwhile->size)
		return 0;
	if (meanwhile->has_begun)
		return meanwhile->error;
	meanwhile->has_begun = pthread_create(&meanwhile->thread, NULL, write_meanwhile,
					      meanwhile) == 0;
	pthread_mutex_lock(&meanwhile->lock);
	while (!meanwhile->has_ended && clock_monotonic() < until)
		clock_wait(&meanwhile->ended, &meanwhile->lock, PATIENCE);
	meanwhile->was_in_time = meanwhile->has_ended;
	pthread_mutex_unlock(&meanwhile->lock);
	return meanwhile->error;
}

/* The key written in the meantime; 2 is the key of the large record itself. */
static const struct large {
	unsigned n;
	int error;
	enum fault_kind fault;
} large[] = {
	{ 3, 0, FAULT_NONE },
	{ 2, 0, FAULT_AGAIN },
	{ 3, ENOSPC, FAULT_UNAVAILABLE },
};

START_TEST(others_write_while_a_large_segment_is_created)
{
	static struct meanwhile meanwhile;
	const struct large *row = &large[_i];
	struct store_options options = { .files = &meanwhile.hooks.files, .segment_bytes = 65536 };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	char *value = arena_zero(scratch.arena, LARGE);
	enum fault_kind kind = FAULT_NONE;
	uint64_t number;

	snprintf(value, LARGE, "value 2");
	file_hooks_start(&meanwhile.hooks);
	meanwhile.hooks.before = write_before_allocation;
	meanwhile.size = LARGE;
	meanwhile.n = row->n;
	meanwhile.error = row->error;
	pthread_mutex_init(&meanwhile.lock, NULL);
	clock_condition_init(&meanwhile.ended);
	meanwhile.store = scratch_store_with(options);
	scratch_put_durable(meanwhile.store, 1, 100);
	ck_assert(store_begin(meanwhile.store, STORE_WRITE, scratch.arena, &transaction, &fault));
	ck_assert(entry_put(transaction, STORE_RECORD, scratch_key(2),
			    (struct slice){ value, LARGE }, &fault));
	ck_assert(store_give_way(transaction, &fault));
	if (!store_commit(transaction, &number, &fault) ||
	    !store_wait(meanwhile.store, number, &fault))
		kind = fault.kind;
	ck_assert(meanwhile.has_begun);
	pthread_join(meanwhile.thread, NULL);
	ck_assert(meanwhile.was_in_time);
	ck_assert_int_eq(kind, row->fault);
	meanwhile.error = 0;
	scratch_put_durable(meanwhile.store, 4, 100);
	store_close(meanwhile.store);
	meanwhile.store = scratch_store();
	ck_assert(scratch_has(meanwhile.store, row->n));
	ck_assert(scratch_has(meanwhile.store, 1) && scratch_has(meanwhile.store, 4));
	ck_assert(scratch_has(meanwhile.store, 2) == (row->fault != FAULT_UNAVAILABLE));
	store_close(meanwhile.store);
}
END_TEST

/* Counts the bytes written to segments, and the writes that are not whole blocks. */
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

/* If only part of a block is written and the system does not have the block in memory, it must read
 * the block first. */
START_TEST(a_segment_is_written_in_whole_blocks)
{
	static struct block_watch watch;
	struct store *store;

	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_blocks;
	store = scratch_store_with((struct store_options){ .files = &watch.hooks.files });
	for (unsigned n = 0; n < 12; n++)
		scratch_put_durable(store, n, block_sizes[_i]);
	scratch_put(store, 12, 700);
	scratch_put_durable(store, 13, block_sizes[_i]);
	ck_assert_uint_ge(watch.writes, 13);
	ck_assert_uint_eq(watch.torn, 0);
	scratch_close_and_find(store, 14);
}
END_TEST

/* A disk without space: the operations whose bit is set fail with `error`. */
struct disk {
	struct file_hooks hooks;
	_Atomic unsigned failing;
	_Atomic unsigned failed; /* failed calls */
	int error;
};

static int disk_before(struct file_hooks *hooks, struct file_call *call)
{
	struct disk *disk = (struct disk *)hooks;

	if ((disk->failing & 1u << call->operation) == 0)
		return 0;
	disk->failed++;
	return disk->error;
}

static struct store *open_on(struct disk *disk, size_t overlay_bytes)
{
	file_hooks_start(&disk->hooks);
	disk->hooks.before = disk_before;
	return scratch_store_with((struct store_options){ .files = &disk->hooks.files,
							  .segment_bytes = 65536,
							  .overlay_bytes = overlay_bytes });
}

/* The operations that fail while the disk is full; writes that fail are never acknowledged. */
static const unsigned full_operations[] = {
	1u << FILE_ALLOCATE, 1u << FILE_ALLOCATE | 1u << FILE_PWRITE, 1u << FILE_PWRITE,
	1u << FILE_OPEN,     1u << FILE_OPEN | 1u << FILE_ALLOCATE,   1u << FILE_RENAME,
};

/* The last is the error of a file size limit. */
static const int full_errors[] = { ENOSPC, EDQUOT, EFBIG };

START_TEST(a_full_disk_stops_writes_until_there_is_space)
{
	const unsigned operations = full_operations[_i / ROWS(full_errors)];
	char log[PATH_MAX];
	static struct disk disk;
	struct store *store;
	const char *said;
	size_t size;
	char *text;
	int file;
	struct fault fault = FAULT_INITIAL;
	unsigned n = 0;
	uint64_t number;

	/* The test runs in its own process. */
	snprintf(log, sizeof log, "%s/log", scratch.directory);
	file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	ck_assert_int_eq(dup2(file, STDERR_FILENO), STDERR_FILENO);
	close(file);
	store = open_on(&disk, 32768);
	disk.error = full_errors[_i % ROWS(full_errors)];
	scratch_put_durable(store, n++, 1000);
	disk.failing = operations;
	while (scratch_try_put(store, n, 1000, &number, &fault)) {
		store_flush(store);
		ck_assert_uint_lt(++n, 1000);
	}
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert(!store_can_write(store));
	ck_assert(scratch_has(store, 0));
	disk.failing = 0;
	while (!scratch_try_put(store, n, 1000, &number, &fault)) {
		ck_assert_msg(fault.kind == FAULT_UNAVAILABLE, "%s", fault.cause);
		arena_reset(scratch.arena);
	}
	ck_assert(store_wait(store, number, &fault));
	/* Waits until the threads notice that there is space again. */
	while (!store_can_write(store))
		sched_yield();
	scratch_close_and_find(store, n + 1);
	/* The log says that there is no space, and later that there is space again. */
	ck_assert(file_read_whole(&file_system_posix, log, (size_t)1 << 20, &text, &size));
	said = arena_copy(scratch.arena, (struct slice){ text, size }).data;
	free(text);
	ck_assert_msg((strstr(said, "journal_no_room") != NULL) ==
			      (strstr(said, "notice journal_has_room directory=") != NULL),
		      "%s", said);
	ck_assert_msg(strstr(said, "_no_room") != NULL || strstr(said, "_not_written") != NULL,
		      "%s", said);
}
END_TEST

/* Writes that failed were not acknowledged; earlier data is still present. */
START_TEST(a_store_on_a_full_disk_can_be_closed)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 8192);
	struct store_figures figures = { 0 };
	unsigned n = 0;

	disk.error = ENOSPC;
	while (n < 3)
		scratch_put_durable(store, n++, 1000);
	disk.failing = 1u << FILE_PWRITE;
	/* Writes until an overlay waits to become a file. */
	for (unsigned more = n; figures.overlays < 2; more++) {
		(void)scratch_put(store, more, 1000);
		store_figures(store, &figures);
	}
	/* The thread that writes that file flushes first. */
	while (disk.failed == 0)
		sched_yield();
	store_close(store);
	disk.failing = 0;
	store = open_on(&disk, 8192);
	scratch_close_and_find(store, n);
}
END_TEST

/* The pending write fails; the write acknowledged earlier is still present. */
START_TEST(a_process_on_a_full_disk_can_exit)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 32768);
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	scratch_put_durable(store, 0, 1000);
	disk.error = full_errors[_i];
	disk.failing = 1u << FILE_PWRITE;
	number = scratch_put(store, 1, 1000);
	store_flush(store);
	ck_assert_int_eq(store_state(store, number), STORE_PENDING);
	store_stop_retrying(store);
	ck_assert(!store_wait(store, number, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	store_close(store);
	disk.failing = 0;
	store = open_on(&disk, 32768);
	scratch_close_and_find(store, 1);
}
END_TEST

/* The file system may be out of space although the segment already exists. Each flush that finds no
 * space then waits 5 ms. A wait ends earlier only if the journal's own thread tries, which the disk
 * counts too, or if its next segment is started. On a busy machine everything takes longer, which
 * does not matter here. */
START_TEST(waiting_for_space_does_not_spin)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 0);
	struct fault fault = FAULT_INITIAL;
	unsigned flushes = 0, others;
	uint64_t number;
	int64_t began, waits;

	scratch_put_durable(store, 0, 100);
	disk.error = ENOSPC;
	disk.failing = 1u << FILE_PWRITE;
	number = scratch_put(store, 1, 100);
	began = clock_microseconds();
	for (; flushes < 20; flushes++)
		store_flush(store);
	waits = (clock_microseconds() - began) / 5000;
	ck_assert_uint_ge(disk.failed, flushes);
	others = disk.failed - flushes;
	ck_assert_int_le(flushes, waits + others + 1);
	ck_assert_int_eq(store_state(store, number), STORE_PENDING);
	disk.failing = 0;
	ck_assert(store_wait(store, number, &fault));
	scratch_close_and_find(store, 2);
}
END_TEST

static const unsigned sync_operations[] = { FILE_FDATASYNC, FILE_PWRITE };

START_TEST(a_failed_sync_stops_writing_until_a_restart)
{
	static struct disk disk;
	struct store *store = open_on(&disk, 0);
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	scratch_put_durable(store, 0, 100);
	number = scratch_put(store, 1, 100);
	disk.error = EIO;
	disk.failing = 1u << sync_operations[_i];
	ck_assert(!store_wait(store, number, &fault));
	disk.failing = 0;
	ck_assert_int_eq(store_state(store, number), STORE_FAILED);
	ck_assert_int_eq(store_state(store, number - 1), STORE_DURABLE);
	ck_assert(!scratch_try_put(store, 2, 100, &number, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert(!store_can_write(store));
	ck_assert(scratch_has(store, 0) && !scratch_has(store, 1));
	store_close(store);
	store = scratch_store();
	ck_assert(scratch_has(store, 0));
	scratch_put_durable(store, 2, 100);
	store_close(store);
}
END_TEST

START_TEST(a_check_of_a_damaged_journal_says_what_can_be_saved)
{
	off_t group = journal_make();

	ck_assert_uint_eq(scratch_check(NULL).transactions, GROUPS);
	file_flip(scratch_file("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + 60);
	ck_assert_uint_eq(scratch_check(NULL).damages, 1);
	ck_assert_uint_eq(scratch_check(NULL).last, 4);
}
END_TEST

/* The damaged part is already in files, but the disk cannot be trusted. */
START_TEST(damage_in_groups_already_in_files_is_refused)
{
	off_t group = journal_make();
	struct store *store = scratch_store();

	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	file_flip(scratch_file("journal-", ""), (off_t)SEGMENT_HEAD + 4 * group + 40);
	scratch_refused("transaction 5 ");
	ck_assert_uint_eq(scratch_check(NULL).damages, 1);
	ck_assert_uint_eq(scratch_check(NULL).transactions, 0);
}
END_TEST

/* Counts reads of the journal, and how often another process could have locked the directory in the
 * meantime. */
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
	hold = journal_hold(&file_system_posix, scratch.path, LOCK_EX | LOCK_NB);
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
	store_close(
		scratch_store_with((struct store_options){ .is_read_only = true, .files = files }));
}

static void read_by_check(const struct file_system *files)
{
	ck_assert_uint_eq(scratch_check(files).damages, 0);
}

static void read_by_backup(const struct file_system *files)
{
	const struct store_watch watch = { .context = NULL };
	struct fault fault = FAULT_INITIAL;
	char copy[PATH_MAX];

	snprintf(copy, sizeof copy, "%s/copy", scratch.directory);
	ck_assert(store_gdbm_backup(scratch.path, copy, files, &watch, &fault));
}

static const struct reader {
	void (*read)(const struct file_system *files);
	unsigned reads; /* minimum */
} readers[] = { { read_by_opening, 1 }, { read_by_check, 1 }, { read_by_backup, 2 } };

/* Without the lock, a segment might be reused while it is being read. */
START_TEST(reading_the_journal_of_a_live_store_holds_its_lock)
{
	static struct read_watch watch;
	struct store *store = scratch_store();

	scratch_put_durable(store, 1, 100);
	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_reads;
	readers[_i].read(&watch.hooks.files);
	ck_assert_uint_ge(watch.reads, readers[_i].reads);
	ck_assert_uint_eq(watch.unheld, 0);
	store_close(store);
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

START_TEST(checksums_are_crc32c)
{
	struct slice bytes = slice_of(sums[_i].bytes);

	ck_assert_uint_eq(checksum(0, bytes.data, bytes.size), sums[_i].sum);
	for (size_t i = 0; i <= bytes.size; i++)
		ck_assert_uint_eq(
			checksum(checksum(0, bytes.data, i), bytes.data + i, bytes.size - i),
			sums[_i].sum);
}
END_TEST

/* For any length, and cut anywhere: pieces of a few bytes are computed in only one way. */
START_TEST(checksums_of_many_bytes_equal_those_of_their_pieces)
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

/* ---- what `anteroom check --journal` prints ---- */

static const struct store_kind thing = {
	.letter = 't',
	.name = "thing",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
};
static const struct store_kind hidden = {
	.letter = 'h',
	.name = "hidden",
	.naming = STORE_NAME_ANYWHERE,
};
static const struct store_kind other = { .letter = 'o', .name = "other" };

/* A transaction: a thing and a hidden one, or their removal, and an ID. */
static void things_write(struct store *store, bool are_removed)
{
	const struct store_kind *const kinds[] = { &thing, &hidden, &other };
	const struct id account = id_lowest(10, 1);
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	int64_t now = 40000;
	uint64_t number;
	struct id id;

	ck_assert(store_begin(store, STORE_WRITE, scratch.arena, &transaction, &fault));
	store_set_account(transaction, &account);
	for (unsigned i = 0; i < ROWS(kinds); i++) {
		const struct store_record record = {
			.id = id_lowest(20, i),
			.parent = id_lowest(30, 0),
			.is_on = true,
			.name = i == 0 ? SLICE("a \"name\"") : SLICE("secret"),
			.value = SLICE("value"),
		};

		ck_assert(are_removed ? store_remove(transaction, kinds[i], &record, &fault)
				      : store_put(transaction, kinds[i], &record, NULL, &fault));
	}
	ck_assert(are_removed ||
		  store_new_id(transaction, &thing, &clock_system, &now, &id, &fault));
	ck_assert(store_commit(transaction, &number, &fault) && store_wait(store, number, &fault));
}

struct listed {
	char text[20000];
	size_t size, count;
};

static void list_change(void *context, const json_t *change)
{
	struct listed *listed = context;

	listed->size += json_dumpb(change, listed->text + listed->size,
				   sizeof listed->text - listed->size - 2, JSON_COMPACT);
	listed->text[listed->size++] = '\n';
	listed->count++;
}

/* The kind `other` is none that the program knows. */
static struct store_journal list_journal(struct listed *listed)
{
	static const struct store_kind *const known[] = { &hidden, &thing };
	struct fault fault = FAULT_INITIAL;
	struct store_journal journal;

	*listed = (struct listed){ .size = 0 };
	ck_assert(store_gdbm_journal(scratch.path, NULL, known, ROWS(known), list_change, listed,
				     &journal, &fault));
	return journal;
}

#define IN_FIRST \
	"{\"segment\":\"journal-0000000000000001\",\"offset\":96,\"transaction\":1,\"in_files\":false,"
#define ACCOUNT_OF_THINGS "\"account\":\"0000000a0000000001000000\""
/* clang-format off */
static const char *const changes[] = {
	IN_FIRST "\"change\":\"put\",\"table\":\"record\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"id\":\"000000140000000000000000\",\"parent\":\"0000001e0000000000000000\","
		"\"switch\":true,\"name\":\"a \\\"name\\\"\",\"bytes\":27}",
	IN_FIRST "\"change\":\"put\",\"table\":\"record\",\"kind\":\"hidden\"," ACCOUNT_OF_THINGS
		",\"id\":\"000000140000000001000000\",\"bytes\":30}",
	IN_FIRST "\"change\":\"put\",\"table\":\"record\",\"kind\":null,\"bytes\":6}",
	IN_FIRST "\"change\":\"put\",\"table\":\"counter\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"number\":1,\"bytes\":16}",
	IN_FIRST "\"change\":\"put\",\"table\":\"index\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"tree\":\"names\",\"node\":0,",
	IN_FIRST "\"change\":\"put\",\"table\":\"index\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"tree\":\"IDs\",\"node\":0,",
	IN_FIRST "\"change\":\"put\",\"table\":\"index\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"tree\":\"children\",\"node\":0,",
	"\"transaction\":2,\"in_files\":false,\"change\":\"remove\",\"table\":\"record\",\"kind\":\"thing\","
		ACCOUNT_OF_THINGS ",\"id\":\"000000140000000000000000\"}",
	"\"change\":\"remove\",\"table\":\"record\",\"kind\":\"hidden\"}",
	"\"change\":\"remove\",\"table\":\"record\",\"kind\":null}",
	"\"change\":\"remove\",\"table\":\"index\",\"kind\":\"thing\"," ACCOUNT_OF_THINGS
		",\"tree\":\"names\",\"node\":0}",
};
/* clang-format on */

/* Each change is listed, in the journal of a live store and of a closed one. Secret names and
 * values are not. */
START_TEST(the_journal_is_listed)
{
	struct store *store = scratch_store();
	struct store_journal journal;
	struct listed listed;

	things_write(store, false);
	things_write(store, true);
	for (int round = 0; round < 2; round++) {
		journal = list_journal(&listed);
		for (size_t i = 0; i < ROWS(changes); i++)
			ck_assert_msg(strstr(listed.text, changes[i]) != NULL, "no %s: %s",
				      changes[i], listed.text);
		ck_assert_ptr_null(strstr(listed.text, "secret"));
		ck_assert_ptr_null(strstr(listed.text, "value"));
		ck_assert_ptr_null(strstr(listed.text, "damaged"));
		ck_assert_uint_eq(journal.transactions, 2);
		ck_assert_uint_eq(journal.segments, 1);
		ck_assert_uint_eq(journal.in_files, 0);
		ck_assert(!journal.is_damaged);
		if (round == 0)
			store_close(store);
	}
}
END_TEST

START_TEST(the_journal_is_listed_up_to_the_damage)
{
	const off_t group = journal_make();
	struct store_journal journal;
	struct listed listed;

	file_flip(scratch_file("journal-", ""),
		  (off_t)(SEGMENT_HEAD + GROUP_HEAD) + 4 * group + 60);
	journal = list_journal(&listed);
	ck_assert(journal.is_damaged);
	ck_assert_uint_eq(journal.transactions, 4);
	ck_assert_uint_eq(listed.count, 4);
	/* The keys of these are no keys of records. */
	ck_assert_ptr_nonnull(strstr(listed.text, "\"transaction\":4,"));
	ck_assert_ptr_nonnull(strstr(listed.text, "\"kind\":null,\"bytes\":132}"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *tcase = tcase_create("journal");
	TCase *listed = tcase_create("listed");

	tcase_add_checked_fixture(tcase, scratch_open, scratch_close);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_torn_tail_is_cut, 0, ROWS(torn));
	tcase_add_loop_test(tcase, a_torn_tail_of_a_closed_journal_is_damage, 0, ROWS(torn));
	tcase_add_loop_test(tcase, a_newest_segment_cut_or_removed_is_damage, 0, 4 * LOSSES);
	tcase_add_test(tcase, a_journal_without_a_mark_is_damage);
	tcase_add_test(tcase, garbage_after_the_end_is_cut);
	tcase_add_loop_test(tcase, a_damaged_middle_is_refused, 0, ROWS(middles));
	tcase_add_test(tcase, damage_in_groups_already_in_files_is_refused);
	tcase_add_loop_test(tcase, a_damaged_head_is_refused, 0, ROWS(heads));
	tcase_add_test(tcase, a_segment_of_another_installation_is_refused);
	tcase_add_test(tcase, segments_follow_each_other);
	tcase_add_test(tcase, a_missing_segment_is_refused);
	tcase_add_test(tcase, a_record_larger_than_a_segment_has_one_of_its_own);
	tcase_add_loop_test(tcase, others_write_while_a_large_segment_is_created, 0, ROWS(large));
	tcase_add_loop_test(tcase, a_segment_is_written_in_whole_blocks, 0, ROWS(block_sizes));
	tcase_add_loop_test(tcase, a_full_disk_stops_writes_until_there_is_space, 0,
			    ROWS(full_operations) * ROWS(full_errors));
	tcase_add_test(tcase, a_store_on_a_full_disk_can_be_closed);
	tcase_add_loop_test(tcase, a_process_on_a_full_disk_can_exit, 0, ROWS(full_errors));
	tcase_add_test(tcase, waiting_for_space_does_not_spin);
	tcase_add_loop_test(tcase, a_failed_sync_stops_writing_until_a_restart, 0,
			    ROWS(sync_operations));
	tcase_add_test(tcase, a_check_of_a_damaged_journal_says_what_can_be_saved);
	tcase_add_loop_test(tcase, reading_the_journal_of_a_live_store_holds_its_lock, 0,
			    ROWS(readers));
	tcase_add_test(tcase, checksums_of_many_bytes_equal_those_of_their_pieces);
	tcase_add_loop_test(tcase, checksums_are_crc32c, 0, ROWS(sums));
	suite_add_tcase(suite, tcase);

	tcase_add_checked_fixture(listed, scratch_open, scratch_close);
	tcase_add_test(listed, the_journal_is_listed);
	tcase_add_test(listed, the_journal_is_listed_up_to_the_damage);
	suite_add_tcase(suite, listed);
	fast_disk();
	return suite_run_apart(suite);
}
