/* The directory of the durable store and the files of its stack: the lock, the manifest, missing
 * and damaged files, and inspecting all of it from another process.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fast_disk.h"
#include "file_hooks.h"
#include "scratch.h"
#include "store/gdbm/block_writer.h"
#include "base/checksum.h"
#include "base/encode.h"
#include "store/figures.h"
#include "store/gdbm/store_gdbm_parts.h"
#include "suite.h"
#include "store/gdbm/entries.h"

/* Verifies all blocks as the scrub does. */
static bool all_blocks_are_right(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);
	bool is_right = true, is_last;
	struct pin pin;
	size_t i;

	views_pin(store->views, &pin);
	for (i = 0; i < pin.view->n_files; i++) {
		struct stack_file *file = pin.view->files[i];
		uint64_t block = 0;

		do {
			struct fault ignored = FAULT_INITIAL;

			is_right = stack_file_verify_block(file, block++, &is_last, &ignored) &&
				   is_right;
		} while (!is_last && !stack_file_is_damaged(file));
	}
	views_unpin(store->views, &pin);
	return is_right;
}

START_TEST(a_second_owner_learns_the_pid_of_the_first)
{
	struct store *store = scratch_store();

	scratch_refused(arena_text(scratch.arena, "in use by process %ld ", (long)getpid()));
	store_close(store);
	store_close(scratch_store());
}
END_TEST

START_TEST(a_damaged_manifest_is_refused)
{
	static const off_t places[] = { 0, 12, 16, 32, 40, 48, 52, 110, -1, -4 };
	struct store *store = scratch_store();
	off_t at = places[_i];

	scratch_put_durable(store, 1, 100);
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	file_flip(scratch_file("manifest", ""),
		  at < 0 ? file_size(scratch_file("manifest", "")) + at : at);
	scratch_refused("manifest");
	ck_assert_int_eq(truncate(scratch_file("manifest", ""), 20), 0);
	scratch_refused("is not a store manifest");
	ck_assert_int_eq(unlink(scratch_file("manifest", "")), 0);
	scratch_refused("no manifest");
}
END_TEST

/* Changes the number in front of the manifest, with a right checksum. */
static void set_manifest_number(uint32_t number)
{
	char *manifest = scratch_file("manifest", ""), bytes[4096];
	const size_t size = (size_t)file_size(manifest);
	int file = open(manifest, O_RDWR);

	ck_assert_int_eq(read(file, bytes, sizeof bytes), (ssize_t)size);
	encode_32(bytes + 8, number);
	encode_32(bytes + size - 4, checksum(0, bytes, size - 4));
	ck_assert_int_eq(pwrite(file, bytes, size, 0), (ssize_t)size);
	close(file);
}

static const struct {
	uint32_t number;
	const char *says;
} numbers[] = {
	{ 1, "by an unreleased version of Anteroom; dump with that one" },
	{ 2, "by an unreleased version of Anteroom; dump with that one" },
	{ 3, "by an unreleased version of Anteroom; dump with that one" },
	{ 4, "by an unreleased version of Anteroom; dump with that one" },
	{ 5, "by an unreleased version of Anteroom; dump with that one" },
	{ 6, "by an unreleased version of Anteroom; dump with that one" },
	{ STORE_FORM_FIRST + 1, "by a newer version of Anteroom" },
	{ UINT32_MAX, "by a newer version of Anteroom" },
};

START_TEST(a_manifest_with_another_number_is_refused)
{
	scratch_make_stack(100);
	set_manifest_number(numbers[_i].number);
	scratch_refused(arena_text(scratch.arena, "the data in %s was written %s", scratch.path,
				   numbers[_i].says));
}
END_TEST

/* ---- the form ---- */

/* Forms whose first letter is that of the rows, and whose length is their number. */
static const char *form_now;

static struct slice text_of_form(struct arena *arena)
{
	return arena_copy(arena, slice_of(form_now));
}

static unsigned number_of_form(void)
{
	return STORE_FORM_FIRST;
}

static enum store_form_match compare_form(unsigned number, struct slice kept)
{
	(void)number;
	if (kept.size == 0 || kept.data[0] != form_now[0])
		return STORE_FORM_OTHER;
	if (kept.size == strlen(form_now))
		return STORE_FORM_SAME;
	return kept.size < strlen(form_now) ? STORE_FORM_EARLIER : STORE_FORM_NEWER;
}

static const struct store_form form = {
	.number = number_of_form,
	.text = text_of_form,
	.compare = compare_form,
};

/* Returns NULL, or the reason why the store does not open. */
static const char *try_form(const char *text, bool is_read_only)
{
	const struct store_options options = { .form = &form, .is_read_only = is_read_only };
	struct store *store;
	struct fault fault;

	form_now = text;
	if (!scratch_try_store(options, &store, &fault))
		return arena_text(scratch.arena, "%s", fault.cause);
	store_close(store);
	return NULL;
}

static const struct {
	const char *kept, *now, *says; /* NULL: it opens */
} forms[] = {
	{ "aa", "aa", NULL },
	{ "aa", "aaa", NULL },
	{ "aaa", "aa", "by a newer version of Anteroom" },
	{ "aa", "bb", "by an unreleased version of Anteroom; dump with that one" },
	{ NULL, "aa", "by an unreleased version of Anteroom; dump with that one" },
};

START_TEST(a_store_keeps_its_form)
{
	const char *now = forms[_i].now;

	if (forms[_i].kept == NULL)
		store_close(scratch_store());
	else
		ck_assert_ptr_null(try_form(forms[_i].kept, false));
	for (int is_read_only = 1; is_read_only >= 0; is_read_only--) {
		const char *says = try_form(now, is_read_only == 1);
		struct fault fault = FAULT_INITIAL;
		unsigned number;

		ck_assert_int_eq(says == NULL, forms[_i].says == NULL);
		ck_assert(says == NULL || strstr(says, forms[_i].says) != NULL);
		ck_assert_int_eq(store_gdbm_check_form(scratch.path, &form, &number, &fault),
				 says == NULL);
		ck_assert(says == NULL || strcmp(says, fault.cause) == 0);
	}
	/* Whoever does not look at the form does not change it. */
	store_close(scratch_store());
	ck_assert_int_eq(try_form(now, false) == NULL, forms[_i].says == NULL);
}
END_TEST

/* An older program finds what a newer one may have written, from the moment on when that has the
 * store open; reading alone does not shut it out, nor do merges and new files lose the form. */
START_TEST(an_earlier_form_is_replaced_before_the_first_write)
{
	const struct store_options options = { .form = &form };
	struct store *store;
	struct fault fault = FAULT_INITIAL;
	char copy[PATH_MAX];
	unsigned number;

	ck_assert_ptr_null(try_form("aa", false));
	ck_assert_ptr_null(try_form("aaaa", true));
	ck_assert_ptr_null(try_form("aa", false));
	form_now = "aaaa";
	store = scratch_store_with(options);
	form_now = "aa";
	ck_assert(!store_gdbm_check_form(scratch.path, &form, &number, &fault));
	ck_assert_msg(strstr(fault.cause, "by a newer version") != NULL, "%s", fault.cause);
	form_now = "aaaa";
	for (unsigned n = 0; n < 3; n++) {
		scratch_put_durable(store, n, 100);
		ck_assert(store_gdbm_settle(store, true));
	}
	snprintf(copy, sizeof copy, "%s/copy", scratch.directory);
	fault = FAULT_INITIAL;
	ck_assert(store_gdbm_backup(scratch.path, copy, NULL, &(struct store_watch){ 0 }, &fault));
	store_close(store);
	ck_assert_ptr_null(try_form("aaaa", false));
	ck_assert_ptr_nonnull(try_form("aaa", false));
	form_now = "aaa";
	ck_assert(!store_gdbm_check_form(copy, &form, &number, &fault));
}
END_TEST

/* GDBM returns records bucket by bucket. Reading and writing in any other order would access
 * another bucket for each record. */
START_TEST(records_are_written_in_the_order_of_their_buckets)
{
	uint32_t above = 0;
	GDBM_FILE file;
	datum key;

	scratch_make_stack(5000);
	file = gdbm_open(scratch_file("stack-", ".gdbm"), 0, GDBM_READER | GDBM_NOLOCK, 0, NULL);
	ck_assert_ptr_nonnull(file);
	key = gdbm_firstkey(file);
	while (key.dptr != NULL) {
		const struct slice bytes = { key.dptr, (size_t)key.dsize };
		const uint32_t sixteenth = entry_key_order(bytes) >> 27; /* of 31 bits */
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

/* Counts the bytes of a GDBM file that are read ahead, and its mappings. */
struct ahead_watch {
	struct file_hooks hooks;
	off_t ahead;
	unsigned scattered;
	unsigned others; /* other mappings */
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

/* A lookup reads one record without the bytes around it; a walk through all records asks the system
 * to read ahead. */
START_TEST(only_a_complete_walk_reads_a_file_ahead)
{
	const struct store_watch nobody = { .context = NULL };
	static struct ahead_watch watch;
	struct fault fault = FAULT_INITIAL;
	struct store_check check;
	struct store *store;
	off_t size;

	scratch_make_stack(5000);
	size = file_size(scratch_file("stack-", ".gdbm"));
	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_ahead;
	store = scratch_store_with(
		(struct store_options){ .is_read_only = true, .files = &watch.hooks.files });
	ck_assert(scratch_has(store, 0) && scratch_has(store, 4999));
	store_close(store);
	ck_assert_uint_eq(watch.scattered, 1);
	ck_assert_int_eq(watch.ahead, 0);
	ck_assert(store_gdbm_check(scratch.path, &watch.hooks.files, &nobody, &check, &fault));
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
	bool is_cut; /* otherwise removed */
} missing[] = { { ".gdbm", false }, { ".gdbm", true }, { ".index", false }, { ".index", true } };

START_TEST(a_missing_file_is_refused)
{
	const struct missing *row = &missing[_i];
	char *file;

	scratch_make_stack(100);
	file = scratch_file("stack-", row->suffix);
	if (row->is_cut)
		ck_assert_int_eq(truncate(file, file_size(file) - 1), 0);
	else
		ck_assert_int_eq(unlink(file), 0);
	scratch_refused(file);
}
END_TEST

START_TEST(a_file_of_another_installation_is_refused)
{
	char *files[2], *others[2], command[4 * PATH_MAX];
	static const char *const suffixes[] = { ".gdbm", ".index" };

	scratch_make_stack(100);
	for (int i = 0; i < 2; i++)
		files[i] = scratch_file("stack-", suffixes[i]);
	snprintf(scratch.path, sizeof scratch.path, "%s/other", scratch.directory);
	scratch_make_stack(100);
	others[_i] = scratch_file("stack-", suffixes[_i]);
	snprintf(command, sizeof command, "cp '%s' '%s'", files[_i], others[_i]);
	ck_assert_int_eq(system(command), 0);
	scratch_refused(others[_i]);
}
END_TEST

START_TEST(a_damaged_value_is_not_returned)
{
	struct slice value;
	struct fault fault;
	struct store *store;
	char *file;

	scratch_make_stack(100);
	file = scratch_file("stack-", ".gdbm");
	file_flip(file, scratch_place(file, "value 7") + 50);
	store = scratch_store();
	ck_assert(!scratch_try_get(store, 7, &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert_ptr_nonnull(strstr(fault.cause, "RECORD 6b65792037"));
	ck_assert(scratch_has(store, 8));
	/* The checksums of the blocks notice it as well; other values are intact. */
	ck_assert(!all_blocks_are_right(store));
	ck_assert(scratch_has(store, 8));
	scratch_put_durable(store, 7, 100);
	ck_assert(scratch_has(store, 7));
	store_close(store);
}
END_TEST

/* The size of a value is in the bucket, which has no checksum. */
START_TEST(a_value_that_is_too_large_is_damaged)
{
	const unsigned large = 5;
	struct slice value;
	struct fault fault;
	struct store *store = scratch_store();
	char *file;
	int opened;

	/* With what precedes it, the value has 0x020305 bytes; a different fourth byte of that
	 * number makes it more than 16 MB. */
	scratch_put_durable(store, 7, 0x020305 - 8 - 32);
	for (unsigned i = 0; i < large; i++)
		scratch_put_durable(store, 10 + i, STORE_VALUE_MAX - 32);
	ck_assert(store_gdbm_settle(store, true));
	store_close(store);
	file = scratch_file("stack-", ".gdbm");
	opened = open(file, O_RDWR);
	ck_assert_int_eq(pwrite(opened, "\1", 1, scratch_place(file, "\5\3\2") + 3), 1);
	close(opened);
	store = scratch_store();
	arena_reset(scratch.arena);
	arena_set_limit(scratch.arena, 2 * STORE_VALUE_MAX);
	ck_assert(!scratch_try_get(store, 7, &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert(scratch_has(store, 10));
	store_close(store);
}
END_TEST

/* Flips one bit in each of two blocks: all other values are returned, also after a restart. Keys
 * whose absence depends on these blocks are refused. */
START_TEST(a_damaged_block_is_refused_alone)
{
	enum { RECORDS = 10000 };
	struct slice value;
	struct store *store;
	char *file;

	scratch_make_stack(RECORDS);
	file = scratch_file("stack-", ".gdbm");
	ck_assert_int_gt(file_size(file), 1000000);
	file_flip(file, scratch_place(file, "value 3333") + 50);
	file_flip(file, scratch_place(file, "value 6666") + 50);
	for (int i = 0; i < 2; i++) {
		unsigned refused = 0, blocks;
		struct store_figures figures;
		struct arena_mark mark;
		struct fault fault;

		store = scratch_store();
		mark = arena_mark(scratch.arena);
		ck_assert(!all_blocks_are_right(store));
		store_figures(store, &figures);
		ck_assert_uint_eq(figures.files_damaged, 1);
		blocks = (unsigned)figures.checksum_failures;
		ck_assert(blocks == 1 || blocks == 2); /* both values may be in the same block */
		for (unsigned n = 0; n < RECORDS; n++) {
			const bool is_right = scratch_try_get(store, n, &value, &fault);

			ck_assert(!is_right || (n != 3333 && n != 6666 && value.data != NULL));
			ck_assert(is_right || fault.kind == FAULT_DAMAGED);
			arena_release(scratch.arena, &mark);
			refused += !is_right;
		}
		/* The refused keys include some whose records are in an older file, because the
		 * damaged file is read first. */
		ck_assert_uint_lt(refused, RECORDS / 100);
		refused = 0;
		/* For most keys, the filter shows that they are absent, so the blocks are not
		 * needed. */
		for (unsigned n = RECORDS; n < 6 * RECORDS; n++)
			refused += !scratch_try_get(store, n, &value, &fault);
		ck_assert_uint_gt(refused, 0);
		ck_assert_uint_lt(refused, RECORDS / 4);
		/* Damaged blocks are reported once, damaged values each time they are read. */
		ck_assert(!all_blocks_are_right(store));
		store_figures(store, &figures);
		ck_assert_uint_eq(figures.checksum_failures, blocks + 2);
		store_close(store);
	}
}
END_TEST

/* Counts the blocks read from files of the stack, and can make the reads fail. */
struct block_watch {
	struct file_hooks hooks;
	unsigned reads;
	bool is_failing;
};

static int watch_blocks(struct file_hooks *hooks, struct file_call *call)
{
	struct block_watch *watch = (struct block_watch *)hooks;

	if (call->operation != FILE_PREAD || strstr(call->path, "/stack-") == NULL)
		return 0;
	watch->reads++;
	return watch->is_failing ? EIO : 0;
}

/* Makes a store with keys in one file; sets *blocks to the number of blocks of its two files. */
static struct store *block_watch_start(struct block_watch *watch, unsigned *blocks)
{
	const off_t block = (off_t)STACK_BLOCK;

	scratch_make_stack(2000);
	*blocks = (unsigned)((file_size(scratch_file("stack-", ".gdbm")) + block - 1) / block +
			     (file_size(scratch_file("stack-", ".index")) + block - 1) / block);
	*watch = (struct block_watch){ .reads = 0 };
	file_hooks_start(&watch->hooks);
	watch->hooks.before = watch_blocks;
	return scratch_store_with(
		(struct store_options){ .is_read_only = true, .files = &watch->hooks.files });
}

/* A block is verified by the first lookup of an absent key, or before that by the scrub; looking up
 * an existing key verifies none. */
START_TEST(a_block_is_verified_once)
{
	static struct block_watch watch;
	unsigned blocks;
	struct store *store = block_watch_start(&watch, &blocks);

	for (unsigned n = 0; n < 2000; n++)
		ck_assert(scratch_has(store, n));
	/* In one store of 250, two keys have the same hash of GDBM; the blocks of the first are
	 * then verified before the second is found (at most 4 of 11 in 2,000 stores). */
	ck_assert_uint_le(watch.reads, blocks / 2);
	if (_i == 1) {
		ck_assert(all_blocks_are_right(store));
		watch.reads = 0;
	}
	for (unsigned n = 2000; n < 3000; n++)
		ck_assert(!scratch_has(store, n));
	ck_assert(_i == 1 ? watch.reads == 0 : watch.reads > 0 && watch.reads <= blocks);
	watch.reads = 0;
	for (unsigned n = 2000; n < 3000; n++)
		ck_assert(!scratch_has(store, n));
	ck_assert_uint_eq(watch.reads, 0);
	store_close(store);
}
END_TEST

START_TEST(a_block_that_cannot_be_read_is_damaged)
{
	static struct block_watch watch;
	struct slice value;
	struct fault fault;
	unsigned blocks;
	struct store *store = block_watch_start(&watch, &blocks);

	watch.is_failing = true;
	ck_assert(scratch_has(store, 7));
	ck_assert(!scratch_try_get(store, 2000, &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_close(store);
}
END_TEST

/* Sets the whole filter so that it reports every key as absent. */
static void filter_clear(const char *index)
{
	const char zeros[4096] = { 0 };
	char head[128];
	int opened = open(index, O_RDONLY);
	uint64_t filter, size;

	ck_assert_int_eq(read(opened, head, sizeof head), (ssize_t)sizeof head);
	close(opened);
	filter = decode_64(head + 64);
	size = decode_64(head + 72) * 64;
	ck_assert_uint_le(size, sizeof zeros);
	file_overwrite(index, (off_t)filter, zeros, size);
}

/* If a newer file is damaged, its record must not be taken for absent and the value of an older
 * file returned: one bit of a key is flipped, and one bit of its entry in the filter. The lookup
 * itself verifies the blocks. */
START_TEST(an_older_value_never_replaces_a_damaged_newer_one)
{
	struct store *store = scratch_store();
	struct store_figures figures;
	struct slice value;
	struct fault fault;
	char *file;

	for (unsigned n = 0; n < 100; n++)
		scratch_put(store, n, 200);
	ck_assert(store_gdbm_settle(store, true));
	scratch_put_durable(store, 7, 300);
	ck_assert(store_gdbm_settle(store, false));
	store_close(store);
	file = scratch_file("stack-0000000000000002", _i == 0 ? ".gdbm" : ".index");
	if (_i == 0)
		file_flip(file, scratch_place(file, "value 7") - 16);
	else
		filter_clear(file);
	store = scratch_store();
	ck_assert(!scratch_try_get(store, 7, &value, &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_figures(store, &figures);
	ck_assert_uint_eq(figures.checksum_failures, 1);
	ck_assert_uint_eq(figures.files_damaged, 1);
	store_close(store);
}
END_TEST

/* Flips one bit of a file at each of many places; the check must find each of them. */
START_TEST(a_check_finds_every_flipped_bit)
{
	static const char *const suffixes[] = { ".gdbm", ".index" };
	char *file;
	off_t size;

	scratch_make_stack(300);
	ck_assert_uint_eq(scratch_check(NULL).records, 300);
	ck_assert_uint_eq(scratch_check(NULL).damages, 0);
	file = scratch_file("stack-", suffixes[_i]);
	size = file_size(file);
	for (off_t at = 0; at < size; at += size / 41) {
		/* The rest of an index's head consists of unused zeros. */
		if (_i == 1 && at >= 256 && at < 4096)
			continue;
		file_flip(file, at);
		ck_assert_msg(scratch_check(NULL).damages > 0, "%s at %ld", file, (long)at);
		file_flip(file, at);
	}
	ck_assert_uint_eq(scratch_check(NULL).damages, 0);
}
END_TEST

START_TEST(a_damaged_file_is_not_copied)
{
	static const char *const suffixes[] = { ".gdbm", ".index" };
	const struct store_watch watch = { .context = NULL };
	struct fault fault = FAULT_INITIAL;
	char copy[PATH_MAX], *file;

	scratch_make_stack(300);
	file = scratch_file("stack-", suffixes[_i]);
	file_flip(file, file_size(file) / 2);
	snprintf(copy, sizeof copy, "%s/copy", scratch.directory);
	ck_assert(!store_gdbm_backup(scratch.path, copy, NULL, &watch, &fault));
	ck_assert_ptr_nonnull(
		strstr(fault.cause, "the copy would be damaged (stack file 1: wrong"));
	ck_assert_int_eq(rmdir(copy), 0);
}
END_TEST

static void unlink_stack(void *context, uint64_t done, uint64_t all)
{
	static const char *const suffixes[] = { ".gdbm", ".index" };

	(void)context;
	(void)done;
	(void)all;
	for (int i = 0; i < 2; i++)
		if (scratch_name("stack-", suffixes[i]) != NULL)
			ck_assert_int_eq(unlink(scratch_file("stack-", suffixes[i])), 0);
}

/* A merge by the running service may remove the files at any moment. */
START_TEST(a_check_opens_all_files_at_its_start)
{
	const struct store_watch watch = { .progress = unlink_stack };
	struct fault fault = FAULT_INITIAL;
	struct store_check check;

	scratch_make_stack(300);
	ck_assert(store_gdbm_check(scratch.path, NULL, &watch, &check, &fault));
	ck_assert_ptr_null(scratch_name("stack-", ""));
	ck_assert_uint_eq(check.records, 300);
	ck_assert_uint_eq(check.damages, 0);
}
END_TEST

struct open_watch {
	struct file_hooks hooks;
	unsigned manifests;
};

static int watch_opens(struct file_hooks *hooks, struct file_call *call)
{
	struct open_watch *watch = (struct open_watch *)hooks;

	watch->manifests += call->operation == FILE_OPEN && strstr(call->path, "/manifest") != NULL;
	return 0;
}

/* The manifest is read a second time, to notice replaced files. The result must not depend on the
 * former contents of the memory that it uses. */
START_TEST(the_manifest_is_read_twice_if_nothing_changes)
{
	static struct open_watch watch;
	struct fault fault = FAULT_INITIAL;
	struct store_stat stat;
	void *blocks[50];
	size_t i;

	scratch_make_stack(100);
	for (i = 0; i < 50; i++) {
		blocks[i] = malloc(30 + 16 * i);
		memset(blocks[i], 0xa5, 30 + 16 * i);
	}
	for (i = 0; i < 50; i++)
		free(blocks[i]);
	file_hooks_start(&watch.hooks);
	watch.hooks.before = watch_opens;
	ck_assert(store_gdbm_stat(scratch.path, &watch.hooks.files, &stat, &fault));
	free(stat.files);
	ck_assert_uint_eq(watch.manifests, 2);
}
END_TEST

START_TEST(names_of_other_files_are_ignored)
{
	static const char *const theirs[] = { "journal-1", "stack-1.gdbm", "notes", "x.new" };
	static const char *const unfinished[] = { "journal.new", "manifest.new",
						  "stack-0000000000000009.gdbm.new",
						  "stack-0000000000000009.index" };
	size_t i;

	scratch_make_stack(10);
	for (i = 0; i < 4; i++) {
		close(open(arena_text(scratch.arena, "%s/%s", scratch.path, theirs[i]),
			   O_CREAT | O_WRONLY, 0600));
		close(open(arena_text(scratch.arena, "%s/%s", scratch.path, unfinished[i]),
			   O_CREAT | O_WRONLY, 0600));
	}
	store_close(scratch_store());
	for (i = 0; i < 4; i++) {
		ck_assert_ptr_nonnull(scratch_name(theirs[i], ""));
		ck_assert_ptr_null(scratch_name(unfinished[i], ""));
	}
}
END_TEST

START_TEST(a_live_store_can_be_inspected)
{
	const struct store_watch watch = { .context = NULL };
	const struct store_options read_only = { .is_read_only = true };
	struct store *store = scratch_store(), *other;
	struct fault fault = FAULT_INITIAL;
	struct store_stat stat;
	uint64_t number;
	char copy[PATH_MAX];

	for (unsigned n = 0; n < 50; n++)
		scratch_put_durable(store, n, 100);
	ck_assert(store_gdbm_settle(store, false));
	for (unsigned n = 50; n < 70; n++)
		scratch_put_durable(store, n, 100);
	other = scratch_store_with(read_only);
	ck_assert(scratch_has(other, 0) && scratch_has(other, 69) && !scratch_has(other, 70));
	ck_assert(!scratch_try_put(other, 70, 100, &number, &fault));
	ck_assert(!store_can_write(other));
	ck_assert_uint_eq(scratch_check(NULL).records, 50);
	ck_assert_uint_eq(scratch_check(NULL).transactions, 20);
	fault = FAULT_INITIAL;
	ck_assert(store_gdbm_stat(scratch.path, NULL, &stat, &fault));
	ck_assert_uint_eq(stat.last, 70);
	ck_assert_uint_eq(stat.n_files, 1);
	free(stat.files);
	/* Files that are removed while a reader uses them stay readable for it. */
	ck_assert(store_gdbm_settle(store, true));
	ck_assert(scratch_has(other, 0) && scratch_has(other, 69));
	store_close(other);
	snprintf(copy, sizeof copy, "%s/copy", scratch.directory);
	ck_assert(store_gdbm_backup(scratch.path, copy, NULL, &watch, &fault));
	scratch_put_durable(store, 70, 100);
	store_close(store);
	snprintf(scratch.path, sizeof scratch.path, "%s", copy);
	ck_assert_uint_eq(scratch_check(NULL).damages, 0);
	store = scratch_store();
	ck_assert(scratch_has(store, 0) && scratch_has(store, 69) && !scratch_has(store, 70));
	scratch_put_durable(store, 70, 100);
	store_close(store);
}
END_TEST

START_TEST(a_walk_returns_each_key_once)
{
	struct store *store = scratch_store();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct walked_entry entry;
	uint64_t number;

	for (unsigned round = 0; round < 4; round++) {
		for (unsigned n = round; n < 40; n += 1 + round)
			scratch_put(store, n, 100 * round);
		ck_assert(store_gdbm_settle(store, false));
	}
	ck_assert(store_begin(store, STORE_WRITE, scratch.arena, &transaction, &fault));
	for (unsigned n = 0; n < 40; n += 5)
		ck_assert(entry_remove(transaction, STORE_RECORD, scratch_key(n), &fault));
	ck_assert(entry_put(transaction, STORE_INDEX, scratch_key(1), SLICE("room"), &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	for (int round = 0; round < 2; round++) {
		unsigned walked[40] = { 0 }, others = 0;
		struct entry_walk *walk;

		ck_assert(store_wait(store, number, &fault));
		ck_assert(store_begin(store, STORE_READ, scratch.arena, &transaction, &fault));
		walk = entries_walk(transaction, true);
		while (entries_next(walk, &entry, &fault)) {
			const unsigned n = (unsigned)strtoul(entry.key.data + 4, NULL, 10);

			if (entry.table != STORE_RECORD) {
				others++;
				continue;
			}
			ck_assert_uint_lt(n, 40);
			ck_assert(slice_is(slice_of(entry.value.data),
					   arena_text(scratch.arena, "value %u", n)));
			walked[n]++;
		}
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		for (unsigned n = 0; n < 40; n++)
			ck_assert_uint_eq(walked[n], n % 5 != 0);
		ck_assert_uint_eq(others, 1);
		store_abandon(transaction);
		ck_assert(store_gdbm_settle(store, true));
	}
	store_close(store);
	/* A merge of all files keeps no removals. */
	ck_assert_uint_eq(scratch_check(NULL).records, 33);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack");
	TCase *tcase = tcase_create("stack");

	tcase_add_checked_fixture(tcase, scratch_open, scratch_close);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, records_are_written_in_the_order_of_their_buckets);
	tcase_add_test(tcase, a_second_owner_learns_the_pid_of_the_first);
	tcase_add_loop_test(tcase, a_damaged_manifest_is_refused, 0, 10);
	tcase_add_loop_test(tcase, a_manifest_with_another_number_is_refused, 0, ROWS(numbers));
	tcase_add_loop_test(tcase, a_store_keeps_its_form, 0, ROWS(forms));
	tcase_add_test(tcase, an_earlier_form_is_replaced_before_the_first_write);
	tcase_add_loop_test(tcase, a_missing_file_is_refused, 0, ROWS(missing));
	tcase_add_loop_test(tcase, a_file_of_another_installation_is_refused, 0, 2);
	tcase_add_test(tcase, a_damaged_value_is_not_returned);
	tcase_add_test(tcase, a_value_that_is_too_large_is_damaged);
	tcase_add_test(tcase, a_damaged_block_is_refused_alone);
	tcase_add_loop_test(tcase, a_block_is_verified_once, 0, 2);
	tcase_add_test(tcase, a_block_that_cannot_be_read_is_damaged);
	tcase_add_loop_test(tcase, an_older_value_never_replaces_a_damaged_newer_one, 0, 2);
	tcase_add_loop_test(tcase, a_check_finds_every_flipped_bit, 0, 2);
	tcase_add_loop_test(tcase, a_damaged_file_is_not_copied, 0, 2);
	tcase_add_test(tcase, a_check_opens_all_files_at_its_start);
	tcase_add_test(tcase, the_manifest_is_read_twice_if_nothing_changes);
	tcase_add_test(tcase, names_of_other_files_are_ignored);
	tcase_add_test(tcase, only_a_complete_walk_reads_a_file_ahead);
	tcase_add_test(tcase, a_live_store_can_be_inspected);
	tcase_add_test(tcase, a_walk_returns_each_key_once);
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run(suite);
}
