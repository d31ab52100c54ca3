/* The background work of the durable store: which files are merged when, what stays in memory, and
 * who waits for whom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "file_hooks.h"
#include "scratch.h"
#include "store/figures.h"
#include "store/gdbm/merge_due.h"
#include "store/gdbm/stack.h"
#include "store/gdbm/throttle.h"
#include "suite.h"

/* A disk that blocks one merge, the next file to be created, until let_go_on is called. */
struct held_disk {
	struct file_hooks hooks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_armed;
	bool is_held;
	bool is_ended; /* the blocked file has been renamed to its final name */
	char path[PATH_MAX]; /* path of the blocked file */
	unsigned others; /* other files renamed to their final names */
	struct store *store;
	uint64_t merges; /* merges when the disk was armed; since is_ended: merges after that */
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

static void held_open(struct held_disk *disk, bool is_fast)
{
	file_hooks_start(&disk->hooks);
	disk->hooks.before = held_before;
	disk->hooks.after = held_after;
	disk->hooks.is_fast = is_fast;
	disk->store = scratch_store_with(
		(struct store_options){ .files = &disk->hooks.files, .overlay_bytes = 8192 });
}

/* Returns the number of files renamed to their final names, without the blocked file. */
static unsigned others_of(struct held_disk *disk)
{
	unsigned others;

	pthread_mutex_lock(&disk->lock);
	others = disk->others;
	pthread_mutex_unlock(&disk->lock);
	return others;
}

static void await_held(struct held_disk *disk)
{
	pthread_mutex_lock(&disk->lock);
	while (!disk->is_held)
		pthread_cond_wait(&disk->changed, &disk->lock);
	pthread_mutex_unlock(&disk->lock);
}

static void let_go_on(struct held_disk *disk)
{
	pthread_mutex_lock(&disk->lock);
	disk->is_held = false;
	pthread_cond_broadcast(&disk->changed);
	pthread_mutex_unlock(&disk->lock);
}

static void *merge_all(void *store)
{
	ck_assert(store_gdbm_settle(store, true));
	return NULL;
}

/* More files than the merger leaves unmerged when they arrive this fast. */
#define OVERLAYS 14

START_TEST(small_files_are_merged_while_a_large_merge_goes_on)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	unsigned n = 0;
	pthread_t merger;

	held_open(&disk, false);
	while (n < 300)
		scratch_put_durable(disk.store, n++, 100);
	ck_assert(store_gdbm_settle(disk.store, true));
	scratch_put_durable(disk.store, n++, 100);
	ck_assert(store_gdbm_settle(disk.store, false));
	disk.merges = merges_of(disk.store);
	disk.is_armed = true;
	ck_assert_int_eq(pthread_create(&merger, NULL, merge_all, disk.store), 0);
	await_held(&disk);
	for (unsigned others = others_of(&disk); others_of(&disk) < others + OVERLAYS;)
		scratch_put_durable(disk.store, n++, 1000);
	let_go_on(&disk);
	pthread_mutex_lock(&disk.lock);
	while (!disk.is_ended)
		pthread_cond_wait(&disk.changed, &disk.lock);
	ck_assert_uint_gt(disk.merges, 0);
	pthread_mutex_unlock(&disk.lock);
	pthread_join(merger, NULL);
	scratch_close_and_find(disk.store, n);
}
END_TEST

/* A disk with space for one file of the stack, which is blocked until is_held is cleared. */
struct short_disk {
	struct file_hooks hooks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_held;
	bool is_full;
	unsigned refused; /* files refused while the disk is full */
	unsigned removed; /* segments of the journal removed since the first refusal */
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

/* The first of two overlays becomes a file, after which its segments of the journal are no longer
 * needed. There is no space for the file of the second overlay. */
START_TEST(spare_segments_are_removed_on_a_full_disk)
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
	store = scratch_store_with(options);
	while (overlay_bytes_of(store) < 2 * options.overlay_bytes)
		scratch_put_durable(store, n++, 1000);
	pthread_mutex_lock(&disk.lock);
	disk.is_held = false;
	pthread_cond_broadcast(&disk.changed);
	while (!disk.is_full)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
	scratch_put_durable(store, n++,
			    1000); /* makes the second overlay large enough, if it was not yet */
	pthread_mutex_lock(&disk.lock);
	while (disk.refused < 2) /* the second refusal comes after the reaction to the first */
		pthread_cond_wait(&disk.changed, &disk.lock);
	ck_assert_uint_gt(disk.removed, 0);
	disk.is_full = false;
	pthread_mutex_unlock(&disk.lock);
	scratch_close_and_find(store, n);
}
END_TEST

/* While files arrive in quick succession, only a few are merged. The rest are merged later, and the
 * overlay in memory becomes a file, without any request. But while another overlay waits to become
 * a file, the current overlay stays, because otherwise every write would have to wait. */
START_TEST(files_are_merged_when_no_more_arrive)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	unsigned n = 0;

	held_open(&disk, false);
	while (others_of(&disk) < 4)
		scratch_put_durable(disk.store, n++, 1000);
	pthread_mutex_lock(&disk.lock);
	disk.is_armed = true;
	while (!disk.is_held) {
		pthread_mutex_unlock(&disk.lock);
		if (overlays_of(disk.store) == 1)
			scratch_put_durable(disk.store, n++, 1000);
		pthread_mutex_lock(&disk.lock);
	}
	pthread_mutex_unlock(&disk.lock);
	scratch_put_durable(disk.store, n++, 1000);
	while (merges_of(disk.store) == 0)
		poll(NULL, 0, 10);
	ck_assert_uint_eq(overlays_of(disk.store), 2);
	let_go_on(&disk);
	while (overlay_bytes_of(disk.store) > 0)
		poll(NULL, 0, 10);
	scratch_close_and_find(disk.store, n);
}
END_TEST

static const struct {
	size_t files;
	int64_t microseconds;
} waits[] = {
	{ 0, 0 },      { 1, 0 },      { 48, 0 },     { 49, 50 },     { 50, 100 },
	{ 147, 4950 }, { 148, 5000 }, { 149, 5000 }, { 1000, 5000 }, { SIZE_MAX, 5000 },
};

START_TEST(a_write_waits_longer_for_each_excess_file)
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
	bool is_busy; /* another thread is busy */
	size_t files;
	bool has_to_wait;
} asides[] = {
	{ false, 1, false },
	{ true, 1, true },
	{ true, THROTTLE_FEW, true },
	{ true, THROTTLE_FEW + 1, false },
};

START_TEST(a_merge_gives_way_to_other_threads)
{
	struct throttle throttle = { 0, 0, 0 };
	atomic_bool is_stopped = false;
	unsigned slices, waits_there = 0;
	pthread_t other;

	if (asides[_i].is_busy)
		ck_assert_int_eq(pthread_create(&other, NULL, work, &is_stopped), 0);
	/* The first slice also counts what the process did before it. */
	while (throttle.own == 0)
		throttle_merge(&throttle, asides[_i].files);
	/* The other thread need not get the processor in each slice. */
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

/* A merge of all files is blocked while small files arrive, until there are too many. */
START_TEST(writes_wait_when_there_are_too_many_files)
{
	static struct held_disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
					 .changed = PTHREAD_COND_INITIALIZER };
	struct store_figures figures = { 0 };
	unsigned n = 0, measured = 20;
	int64_t began, least;
	pthread_t merger;

	held_open(&disk, true);
	while (n < 100)
		scratch_put_durable(disk.store, n++, 1000);
	ck_assert(store_gdbm_settle(disk.store, false));
	scratch_put_durable(disk.store, n++, 1000);
	ck_assert(store_gdbm_settle(disk.store, false));
	disk.is_armed = true;
	ck_assert_int_eq(pthread_create(&merger, NULL, merge_all, disk.store), 0);
	await_held(&disk);
	do {
		scratch_put_durable(disk.store, n++, 1000);
		store_figures(disk.store, &figures);
	} while (figures.files < THROTTLE_MANY + 10);
	/* No files can be merged in the meantime. */
	least = measured * throttle_write(figures.files);
	began = clock_microseconds();
	while (measured-- > 0)
		scratch_put(disk.store, n++, 10);
	ck_assert_int_ge(clock_microseconds() - began, least);
	let_go_on(&disk);
	pthread_join(merger, NULL);
	store_figures(disk.store, &figures);
	ck_assert_uint_le(figures.files, THROTTLE_FEW);
	store_close(disk.store);
}
END_TEST

/* Counts the files that are created. While the disk is full, larger files find no space. */
struct small_disk {
	struct file_hooks hooks;
	atomic_bool is_full;
	_Atomic unsigned begun;
	_Atomic unsigned refused;
};

#define ROOM 100000

static int small_before(struct file_hooks *hooks, struct file_call *call)
{
	struct small_disk *disk = (struct small_disk *)hooks;

	if (strstr(call->path, ".gdbm.new") == NULL)
		return 0;
	disk->begun += call->operation == FILE_OPEN;
	if (call->operation != FILE_PWRITE || !disk->is_full || call->offset < ROOM)
		return 0;
	disk->refused++;
	return ENOSPC;
}

static struct store *small_open(struct small_disk *disk)
{
	file_hooks_start(&disk->hooks);
	disk->hooks.before = small_before;
	return scratch_store_with(
		(struct store_options){ .files = &disk->hooks.files, .overlay_bytes = 8192 });
}

/* A merge of all files fails for lack of space. Smaller merges still run; the large one is not
 * retried at every opportunity, and succeeds when there is space again. */
START_TEST(a_full_disk_does_not_stop_smaller_merges)
{
	static struct small_disk disk;
	struct store *store = small_open(&disk);
	uint64_t merges;
	unsigned n = 0;
	int64_t began;

	while (n < 2 * ROOM / 1000)
		scratch_put_durable(store, n++, 1000);
	ck_assert(store_gdbm_settle(store, true));
	disk.is_full = true;
	scratch_put_durable(store, n++, 1000);
	began = clock_monotonic();
	ck_assert(!store_gdbm_settle(store, true));
	merges = merges_of(store);
	while (merges_of(store) < merges + 2) {
		scratch_put_durable(store, n++, 1000);
		ck_assert(!store_gdbm_settle(store, true));
	}
	ck_assert_uint_ge(disk.refused, 1);
	/* Pauses of half a second, one second, two, four ... after each failure. */
	ck_assert_int_ge(clock_monotonic() - began + 1,
			 MERGE_PAUSE_FIRST * ((INT64_C(1) << (disk.refused - 1)) - 1));
	disk.is_full = false;
	while (!store_gdbm_settle(store, true))
		poll(NULL, 0, 10);
	scratch_close_and_find(store, n);
}
END_TEST

/* A damaged value does not stop other merges either; the file that contains it is not merged any
 * more. */
START_TEST(a_damaged_value_does_not_stop_other_merges)
{
	static struct small_disk disk;
	struct slice value;
	struct fault fault;
	struct store *store;
	unsigned begun, damaged = 1000;
	const char *file;

	/* Large enough that the scrub does not reach the value during the test. */
	scratch_make_stack(10000);
	file = scratch_file("stack-", ".gdbm");
	while (scratch_place(file, arena_text(scratch.arena, "value %u", damaged)) <
	       file_size(file) * 3 / 4)
		damaged++;
	file_flip(file, scratch_place(file, arena_text(scratch.arena, "value %u", damaged)) + 50);
	store = small_open(&disk);
	scratch_put_durable(store, 10000, 100);
	/* May return true if the merger has already given up the file. */
	(void)store_gdbm_settle(store, true);
	begun = disk.begun;
	while (!store_gdbm_settle(store, true))
		poll(NULL, 0, 10);
	ck_assert_uint_eq(disk.begun, begun);
	/* The files have equal sizes, so that the third is merged with the two before it. */
	for (unsigned n = 10001; n < 10004; n++) {
		scratch_put_durable(store, n, 100);
		ck_assert(store_gdbm_settle(store, false));
	}
	ck_assert_uint_eq(merges_of(store), 1);
	ck_assert(scratch_has(store, 10003));
	ck_assert(!scratch_try_get(store, damaged, &value, &fault));
	store_close(store);
}
END_TEST

/* The pause doubles each time, up to ten minutes. A success with at least as many bytes as the
 * failed merge removes the limit. */
START_TEST(a_failed_merge_is_retried_less_and_less_often)
{
	struct merge_limit limit = MERGE_NO_LIMIT;
	int64_t pause = MERGE_PAUSE_FIRST;

	ck_assert(!merge_limit_holds(&limit));
	for (int i = 0; i < 20; i++) {
		const int64_t before = clock_monotonic();

		merge_limit_failed(&limit, 1000);
		ck_assert(merge_limit_holds(&limit));
		ck_assert_int_ge(limit.until, before + pause);
		ck_assert_int_le(limit.until, clock_monotonic() + pause);
		pause = 2 * pause < MERGE_PAUSE_MOST ? 2 * pause : MERGE_PAUSE_MOST;
	}
	merge_limit_done(&limit, 999);
	ck_assert(merge_limit_holds(&limit));
	merge_limit_done(&limit, 1000);
	ck_assert(!merge_limit_holds(&limit));
	ck_assert_uint_eq(limit.bytes, UINT64_MAX);
}
END_TEST

struct asker {
	struct store *store;
	atomic_bool is_stopped;
};

static void *ask(void *context)
{
	struct asker *asker = context;

	while (!atomic_load(&asker->is_stopped))
		ck_assert_uint_gt(overlays_of(asker->store), 0);
	return NULL;
}

/* Run under ThreadSanitizer. */
START_TEST(figures_are_read_during_writes)
{
	struct asker asker = { .store = scratch_store_with(
				       (struct store_options){ .overlay_bytes = 8192 }) };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, ask, &asker), 0);
	for (unsigned n = 0; n < 300; n++)
		scratch_put(asker.store, n, 100);
	atomic_store(&asker.is_stopped, true);
	pthread_join(thread, NULL);
	store_close(asker.store);
}
END_TEST

/* Records that are overwritten once: more than are examined one by one. */
#define OVERWRITTEN 1500

START_TEST(superseded_bytes_are_estimated)
{
	const struct store_options options = { .overlay_bytes = 64 << 20 };
	struct store *store = scratch_store_with(options);
	/* The key of a record is nine bytes longer than the test's. */
	const uint64_t bytes = OVERWRITTEN * stack_entry_bytes(9 + scratch_key(4321).size, 132);
	const uint64_t large = stack_entry_bytes(9 + scratch_key(0).size, 400032);
	struct fault fault = FAULT_INITIAL;
	struct store_stat stat;
	unsigned n;

	for (n = 1000; n < 7000; n++)
		scratch_put(store, n, 100);
	scratch_put(store, 0, 400000);
	ck_assert(store_gdbm_settle(store, false));
	/* Half of these records are new, the other half overwrite old ones. */
	for (n = 7000 - OVERWRITTEN; n < 7000 + OVERWRITTEN; n++)
		scratch_put(store, n, 100);
	scratch_put(store, 0, 400000);
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	ck_assert(store_gdbm_stat(scratch.path, NULL, &stat, &fault));
	ck_assert_uint_eq(stat.n_files, 2);
	/* The tolerance is five times the expected deviation. */
	ck_assert_uint_ge(stat.superfluous_bytes, large + bytes * 75 / 100);
	ck_assert_uint_le(stat.superfluous_bytes, large + bytes * 125 / 100);
	free(stat.files);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("background");
	TCase *tcase = tcase_create("background");

	tcase_add_checked_fixture(tcase, scratch_open, scratch_close);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, spare_segments_are_removed_on_a_full_disk);
	tcase_add_loop_test(tcase, a_write_waits_longer_for_each_excess_file, 0, ROWS(waits));
	tcase_add_loop_test(tcase, a_merge_gives_way_to_other_threads, 0, ROWS(asides));
	tcase_add_test(tcase, writes_wait_when_there_are_too_many_files);
	tcase_add_test(tcase, a_full_disk_does_not_stop_smaller_merges);
	tcase_add_test(tcase, a_damaged_value_does_not_stop_other_merges);
	tcase_add_test(tcase, a_failed_merge_is_retried_less_and_less_often);
	tcase_add_test(tcase, figures_are_read_during_writes);
	tcase_add_test(tcase, superseded_bytes_are_estimated);
	tcase_add_test(tcase, small_files_are_merged_while_a_large_merge_goes_on);
	tcase_add_test(tcase, files_are_merged_when_no_more_arrive);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
