/* Reused segments of the journal: when segments are reused, in which order of steps, and how a
 * segment is read if older groups follow its end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "file_hooks.h"
#include "store/gdbm/journal.h"
#include "store/gdbm/journal_format.h"
#include "suite.h"

#define SEGMENT_BYTES ((size_t)4 * SEGMENT_BLOCK)
/* With its heads, a group has 1,000 bytes, so that no group starts at a block boundary. */
#define GROUP_BYTES ((size_t)1000)
#define VALUE_BYTES (GROUP_BYTES - GROUP_HEAD - RECORD_HEAD - CHANGE_HEAD - KEY_BYTES)
#define KEY_BYTES ((size_t)8)
#define GROUPS_MOST 2000

/* Counts the reused segments, and the writes to a segment whose new name could still be lost. */
struct watch {
	struct file_hooks hooks;
	_Atomic unsigned reused;
	atomic_bool is_unsynced;
	_Atomic unsigned early;
};

static struct watch watch;
static struct journal_options options;
static struct journal *journal;
static uint64_t number; /* number of the last transaction */
static char *directory;

static void watch_segments(struct file_hooks *hooks, const struct file_call *call)
{
	(void)hooks;
	if (call->operation == FILE_RENAME &&
	    strcmp(strrchr(call->to, '/'), "/" SEGMENT_AHEAD) == 0) {
		watch.reused++;
		watch.is_unsynced = true;
	}
	if (call->operation == FILE_SYNC_DIRECTORY)
		watch.is_unsynced = false;
	if (call->operation == FILE_PWRITE && strstr(call->path, SEGMENT_AHEAD) != NULL)
		watch.early += watch.is_unsynced;
}

static void setup(void)
{
	static const struct journal_end start;
	static const struct journal_mark mark;
	struct fault fault = FAULT_INITIAL;
	bool is_broken;

	directory = directory_make();
	file_hooks_start(&watch.hooks);
	watch.hooks.after = watch_segments;
	watch.hooks.is_fast = true;
	options = (struct journal_options){ .files = &watch.hooks.files,
					    .directory = directory,
					    .segment_bytes = SEGMENT_BYTES };
	ck_assert(mark_create(options.files, directory, &options.installation, &mark, &is_broken,
			      &fault));
	ck_assert(journal_open(&options, &start, &journal, &fault));
}

static void teardown(void)
{
	directory_remove(directory);
}

static char *value_of(uint64_t n, char value[VALUE_BYTES])
{
	memset(value, 'a' + (int)(n % 26), VALUE_BYTES);
	return value;
}

static void append_one(void)
{
	char value[VALUE_BYTES];
	const struct change change = { .table = STORE_RECORD,
				       .key = { "the key!", KEY_BYTES },
				       .value = { value_of(number + 1, value), VALUE_BYTES } };
	struct fault fault = FAULT_INITIAL;

	ck_assert(journal_reserve(journal, &change, 1, &fault));
	journal_append(journal, ++number, &change, 1);
}

/* Appends a group and drops everything before it. */
static void append(void)
{
	append_one();
	ck_assert(journal_flush_to(journal, number));
	journal_drop(journal, number - 1);
}

static uint64_t visited; /* number of the last transaction visited */

static void visit(void *context, uint64_t n, const struct change *change)
{
	char value[VALUE_BYTES];

	(void)context;
	ck_assert_uint_eq(n, visited + 1);
	ck_assert_uint_eq(change->value.size, VALUE_BYTES);
	ck_assert_mem_eq(change->value.data, value_of(n, value), VALUE_BYTES);
	visited = n;
}

static struct journal_end replay(uint64_t base)
{
	struct fault fault = FAULT_INITIAL;
	struct journal_end end;

	visited = base;
	ck_assert(journal_replay(&options, base, visit, NULL, &end, &fault));
	return end;
}

static size_t segments_there(void)
{
	struct journal_end end = replay(number);
	size_t n = end.n;

	journal_end_free(&end);
	return n;
}

/* Finds the current segment and returns its first number. */
static uint64_t last_segment(char path[512])
{
	struct journal_end end = replay(number);
	uint64_t first = end.segments[end.n - 1];
	char name[SEGMENT_NAME_SIZE];

	segment_name(first, name);
	snprintf(path, 512, "%s/%s", directory, name);
	journal_end_free(&end);
	return first;
}

static off_t size_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	return status.st_size;
}

/* ---- when segments are reused ---- */

static const struct reuse {
	bool is_read; /* another process reads the journal at the same time */
	unsigned wanted; /* minimum number of reused segments; 0 if none may be reused */
} reuses[] = {
	{ false, 10 },
	{ true, 0 },
};

START_TEST(segments_are_reused)
{
	const struct reuse *row = &reuses[_i];
	int hold = row->is_read ? journal_hold(&file_system_posix, directory, LOCK_SH) : -1;

	while (number < GROUPS_MOST / 10 || watch.reused < row->wanted) {
		ck_assert_uint_lt(number, GROUPS_MOST);
		append();
	}
	ck_assert_uint_eq(watch.reused > 0, row->wanted > 0);
	ck_assert_uint_eq(watch.early, 0);
	/* Segments that were not reused were removed: at most the current one and two spare ones
	 * remain. */
	ck_assert_uint_le(segments_there(), 3);
	journal_close(journal);
	ck_assert_uint_eq(segments_there(), 1);
	ck_assert_int_eq(hold < 0, !row->is_read);
	if (hold >= 0)
		close(hold);
}
END_TEST

/* The segment has another size than the journal now uses. */
START_TEST(a_segment_of_another_size_is_not_reused)
{
	struct fault fault = FAULT_INITIAL;
	struct journal_end end;
	char path[512];

	while (number < 40)
		append();
	journal_close(journal);
	end = replay(number);
	options.segment_bytes = 2 * SEGMENT_BYTES;
	ck_assert(journal_open(&options, &end, &journal, &fault));
	journal_end_free(&end);
	while (watch.reused < 3) {
		ck_assert_uint_lt(number, GROUPS_MOST);
		append();
		(void)last_segment(path);
		ck_assert_int_eq(size_of(path), (off_t)(2 * SEGMENT_BYTES));
	}
	journal_close(journal);
}
END_TEST

/* ---- bytes after the end ---- */

/* Changes one bit of a byte, or none, and returns the byte's former value. */
static char flip(const char *path, size_t at, char bit)
{
	int file = open(path, O_RDWR);
	char byte, other;

	ck_assert_int_eq(pread(file, &byte, 1, (off_t)at), 1);
	other = (char)(byte ^ bit);
	ck_assert_int_eq(pwrite(file, &other, 1, (off_t)at), 1);
	close(file);
	return byte;
}

static size_t place_of(uint64_t group)
{
	return SEGMENT_HEAD + (size_t)group * GROUP_BYTES;
}

static const struct behind {
	const char *name;
	size_t groups_back; /* group with the wrong byte: 1 is the last one, 0 is none */
	size_t at; /* offset in the group */
	bool is_torn;
	bool is_damaged;
} behinds[] = {
	{ "nothing wrong", 0, 0, false, false },
	{ "the last head", 1, 16, true, false },
	{ "the last record", 1, GROUP_BYTES - 1, true, false },
	{ "a head before", 2, 16, true, true },
	{ "a record before", 2, GROUP_HEAD + 100, true, true },
};

START_TEST(older_groups_follow_the_end)
{
	const struct behind *row = &behinds[_i];
	uint64_t first, lost;
	struct journal_end end;
	char path[512];

	do {
		ck_assert_uint_lt(number, GROUPS_MOST);
		append();
		first = last_segment(path);
	} while (number - first != 5 || flip(path, place_of(12), 0) == 0);
	journal_close(journal);
	lost = row->groups_back == 0 ? number + 1 : number + 1 - row->groups_back;
	if (row->groups_back != 0)
		flip(path, place_of(lost - first) + row->at, 0x10);
	end = replay(first - 1);
	ck_assert_msg(visited == lost - 1, "%s: replayed to %llu, not %llu", row->name,
		      (unsigned long long)visited, (unsigned long long)(lost - 1));
	ck_assert_uint_eq(end.last, lost - 1);
	ck_assert_int_eq(end.is_torn, row->is_torn);
	ck_assert_int_eq(end.is_damaged, row->is_damaged);
	ck_assert(!row->is_damaged || end.damaged_number == lost);
	journal_end_free(&end);
}
END_TEST

/* A write that fills a segment continues in the next one and leaves the bytes after its end in
 * the first segment unchanged: this is not a torn tail. */
START_TEST(a_full_segment_is_not_taken_for_torn)
{
	struct journal_end end;
	uint64_t base;

	while (watch.reused < 3)
		append();
	base = number;
	while (number < base + 30) {
		for (int i = 0; i < 5; i++)
			append_one();
		ck_assert(journal_flush_to(journal, number));
	}
	end = replay(base);
	ck_assert_uint_eq(visited, number);
	ck_assert_uint_gt(end.n, 1);
	ck_assert(!end.is_torn && !end.is_damaged);
	journal_end_free(&end);
	journal_close(journal);
}
END_TEST

/* When a journal is continued, the bytes after its end are cut off together with the torn tail. */
START_TEST(a_journal_can_be_continued)
{
	struct fault fault = FAULT_INITIAL;
	struct journal_end end;

	while (watch.reused < 3)
		append();
	journal_close(journal);
	end = replay(number - 1);
	ck_assert_uint_eq(end.last, number);
	ck_assert(journal_open(&options, &end, &journal, &fault));
	journal_end_free(&end);
	for (int i = 0; i < 3; i++)
		append();
	journal_close(journal);
	end = replay(number - 1);
	ck_assert_uint_eq(end.last, number);
	ck_assert(!end.is_torn && !end.is_damaged);
	journal_end_free(&end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("segments");
	TCase *tcase = tcase_create("segments");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, segments_are_reused, 0, ROWS(reuses));
	tcase_add_test(tcase, a_segment_of_another_size_is_not_reused);
	tcase_add_loop_test(tcase, older_groups_follow_the_end, 0, ROWS(behinds));
	tcase_add_test(tcase, a_full_segment_is_not_taken_for_torn);
	tcase_add_test(tcase, a_journal_can_be_continued);
	suite_add_tcase(suite, tcase);
	return suite_run_apart(suite);
}
