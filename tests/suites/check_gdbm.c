/* Files written by gdbm_writer and read by libgdbm itself: libgdbm finds every record exactly once
 * and no other, walks through all records, counts them, and does not ask for recovery. gdbm_reader
 * finds the same.
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

#include "directory.h"
#include "fast_disk.h"
#include "store/gdbm/block_writer.h"
#include "base/checksum.h"
#include "base/encode.h"
#include "store/gdbm/entry_key.h"
#include "store/gdbm/gdbm_library.h"
#include "store/gdbm/gdbm_reader.h"
#include "store/gdbm/gdbm_writer.h"
#include "suite.h"

#define KEY_MOST 80

struct record {
	char key[KEY_MOST];
	size_t key_size;
	size_t value_size;
	uint32_t order;
};

static char *directory;
static char path[512];
static struct record *records;
static size_t records_n;

static void setup(void)
{
	directory = directory_make();
	snprintf(path, sizeof path, "%s/file.gdbm", directory);
}

static void teardown(void)
{
	directory_remove(directory);
}

static uint64_t step(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 33;
}

static int compare(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return entry_key_compare(x->order, (struct slice){ x->key, x->key_size }, y->order,
				 (struct slice){ y->key, y->key_size });
}

/* Sets the value of a record: its key, repeated. */
static void value_make(const struct record *record, char *value)
{
	for (size_t i = 0; i < record->value_size; i++)
		value[i] = record->key[i % record->key_size];
}

static void record_add(const void *key, size_t key_size, size_t value_size)
{
	struct record *record;

	/* The memory is doubled whenever the count reaches a power of two. */
	if ((records_n & (records_n - 1)) == 0) {
		records = realloc(records, (records_n == 0 ? 1 : 2 * records_n) * sizeof *records);
		ck_assert_ptr_nonnull(records);
	}
	record = &records[records_n++];
	ck_assert_uint_le(key_size, sizeof record->key);
	memset(record, 0, sizeof *record);
	memcpy(record->key, key, key_size);
	record->key_size = key_size;
	record->value_size = value_size;
	record->order = entry_key_order((struct slice){ record->key, key_size });
}

static bool write_records(struct gdbm_writer *writer, const struct block_writer **written)
{
	static char value[1 << 20];
	bool is_broken = false;

	if (records_n > 1)
		qsort(records, records_n, sizeof *records, compare);
	for (size_t i = 0; i < records_n; i++) {
		const struct record *record = &records[i];
		size_t head = record->value_size < 8 ? record->value_size : 8;

		value_make(record, value);
		if (!gdbm_writer_add(writer, (struct slice){ record->key, record->key_size },
				     (struct slice){ value, head },
				     (struct slice){ value + head, record->value_size - head },
				     &is_broken))
			return false;
	}
	return gdbm_writer_end(writer, written, &is_broken) && !is_broken;
}

static void expect_sums(const struct block_writer *written)
{
	char *bytes;
	size_t size;

	ck_assert(file_read_whole(&file_system_posix, path, (size_t)1 << 30, &bytes, &size));
	ck_assert_uint_eq(size, written->size);
	ck_assert_uint_eq(written->n_sums, (size + STACK_BLOCK - 1) / STACK_BLOCK);
	for (size_t i = 0; i < written->n_sums; i++) {
		size_t at = i * STACK_BLOCK, left = size - at;

		ck_assert_uint_eq(decode_32(written->sums + 4 * i),
				  checksum(0, bytes + at, left < STACK_BLOCK ? left : STACK_BLOCK));
	}
	free(bytes);
}

static void expect_each(GDBM_FILE file)
{
	static char value[1 << 20];

	for (size_t i = 0; i < records_n; i++) {
		struct record *record = &records[i];
		datum found = gdbm_fetch(
			file, (datum){ .dptr = record->key, .dsize = (int)record->key_size });

		value_make(record, value);
		ck_assert_ptr_nonnull(found.dptr);
		ck_assert_uint_eq((size_t)found.dsize, record->value_size);
		ck_assert_mem_eq(found.dptr, value, record->value_size);
		free(found.dptr);
	}
	ck_assert_ptr_null(gdbm_fetch(file, (datum){ .dptr = "absent", .dsize = 6 }).dptr);
}

static void expect_reader(void)
{
	static char value[1 << 20];
	struct gdbm_reader reader;
	struct slice found;
	struct stack_blocks blocks = { .has_refused = false };
	uint64_t block;
	char *bytes;
	size_t size;

	ck_assert(file_read_whole(&file_system_posix, path, (size_t)1 << 30, &bytes, &size));
	blocks.states = calloc(size / STACK_BLOCK + 1, sizeof *blocks.states);
	ck_assert_ptr_nonnull(blocks.states);
	for (block = 0; block <= size / STACK_BLOCK; block++)
		block_believe(&blocks, block);
	ck_assert(gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0));
	for (size_t i = 0; i < records_n; i++) {
		const struct slice key = { records[i].key, records[i].key_size };

		value_make(&records[i], value);
		ck_assert_int_eq(gdbm_reader_find(&reader, key, &found, &block), GDBM_FOUND);
		ck_assert_uint_eq(found.size, records[i].value_size);
		ck_assert_mem_eq(found.data, value, found.size);
	}
	ck_assert_int_eq(gdbm_reader_find(&reader, SLICE("absent"), &found, &block), GDBM_ABSENT);
	free(blocks.states);
	free(bytes);
}

static void expect_no_more(GDBM_FILE file)
{
	gdbm_count_t count;
	size_t n = 0;

	ck_assert_int_eq(gdbm_count(file, &count), 0);
	ck_assert_uint_eq(count, records_n);
	for (datum key = gdbm_firstkey(file), next; key.dptr != NULL; key = next) {
		next = gdbm_nextkey(file, key);
		free(key.dptr);
		n++;
	}
	ck_assert_uint_eq(n, records_n);
}

/* Writes the records, reads them with libgdbm in the given way, and frees them. */
static void expect_file(int flags)
{
	int opened = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct gdbm_writer *writer = gdbm_writer_open(&file_system_posix, opened);
	const struct block_writer *written;
	GDBM_FILE file;

	ck_assert(write_records(writer, &written));
	expect_sums(written);
	expect_reader();
	gdbm_writer_close(writer);
	close(opened);
	file = gdbm_open(path, 0, GDBM_READER | flags, 0, NULL);
	ck_assert_msg(file != NULL, "%s", gdbm_strerror(gdbm_errno));
	ck_assert_int_eq(gdbm_needs_recovery(file), 0);
	expect_each(file);
	expect_no_more(file);
	ck_assert_int_eq(gdbm_needs_recovery(file), 0);
	ck_assert_int_eq(gdbm_close(file), 0);
	free(records);
	records = NULL;
	records_n = 0;
}

/* Numbers around the size of a bucket (166 entries), of a block of checksums, of a sync, and beyond
 * the smallest directory. */
static const struct {
	size_t n, value_most;
} sizes[] = {
	{ 0, 0 },     { 1, 0 },	   { 1, 200000 }, { 2, 10 },   { 165, 100 },   { 166, 100 },
	{ 167, 100 }, { 332, 10 }, { 333, 10 },	  { 1000, 7 }, { 5000, 1000 }, { 120000, 30 },
};

START_TEST(libgdbm_reads_what_was_written)
{
	uint64_t seed = 11;

	for (size_t i = 0; i < sizes[_i].n; i++) {
		char key[24];

		memcpy(key, &i, sizeof i);
		for (size_t at = sizeof i; at < sizeof key; at++)
			key[at] = (char)step(&seed);
		record_add(key, 9 + step(&seed) % (sizeof key - 8),
			   sizes[_i].value_most == 0 ? 0 : step(&seed) % sizes[_i].value_most);
	}
	expect_file(_i % 2 == 0 ? 0 : GDBM_NOMMAP);
}
END_TEST

/* Keys whose hashes share a prefix: most of the directory leads to one bucket, or to empty
 * buckets. */
START_TEST(hashes_share_a_prefix)
{
	uint32_t n = 0;

	for (uint32_t i = 0; n < 1500; i++) {
		if (entry_key_order((struct slice){ (const char *)&i, sizeof i }) >> 19 != 77)
			continue;
		record_add(&i, sizeof i, 20);
		n++;
	}
	expect_file(0);
}
END_TEST

/* GDBM's hash adds bytes that are 24 places apart: increasing one and decreasing the other leaves
 * the hash unchanged. */
static void add_alike(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char key[48];

		memset(key, 'k', sizeof key);
		key[0] = (char)(key[0] + (char)(i % 10));
		key[24] = (char)(key[24] - (char)(i % 10));
		key[1] = (char)(key[1] + (char)(i / 10));
		key[25] = (char)(key[25] - (char)(i / 10));
		record_add(key, sizeof key, 5);
		ck_assert_uint_eq(records[i].order, records[0].order);
	}
}

START_TEST(a_bucket_is_full_of_one_hash)
{
	add_alike(166);
	expect_file(0);
}
END_TEST

START_TEST(one_hash_exceeds_what_gdbm_can_hold)
{
	int opened = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct gdbm_writer *writer = gdbm_writer_open(&file_system_posix, opened);
	const struct block_writer *written;

	add_alike(167);
	ck_assert(!write_records(writer, &written));
	ck_assert_int_eq(errno, EOVERFLOW);
	gdbm_writer_close(writer);
	close(opened);
	free(records);
	records = NULL;
	records_n = 0;
}
END_TEST

/* For people who need the data without this program. */
START_TEST(libgdbm_can_write_the_file)
{
	uint64_t seed = 5;
	GDBM_FILE file;
	gdbm_count_t count;

	for (size_t i = 0; i < 2000; i++)
		record_add(&i, sizeof i, step(&seed) % 300);
	expect_file(0);
	file = gdbm_open(path, 0, GDBM_WRITER, 0, NULL);
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < 3000; i++)
		ck_assert_int_eq(gdbm_store(file,
					    (datum){ .dptr = (char *)&i, .dsize = (int)sizeof i },
					    (datum){ .dptr = (char *)&i, .dsize = (int)sizeof i },
					    GDBM_REPLACE),
				 0);
	ck_assert_int_eq(gdbm_count(file, &count), 0);
	ck_assert_uint_eq(count, 3000);
	ck_assert_int_eq(gdbm_needs_recovery(file), 0);
	ck_assert_int_eq(gdbm_close(file), 0);
}
END_TEST

START_TEST(libgdbm_counts)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t n = 0;
	int opened;

	for (size_t i = 0; i < 300; i++)
		record_add(&i, sizeof i, 3);
	expect_file(0);
	opened = open(path, O_RDWR);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(gdbm_library_count(opened, "it", &n, &fault));
	ck_assert_uint_eq(n, 300);
	ck_assert_int_eq(ftruncate(opened, 5000), 0);
	ck_assert(!gdbm_library_count(opened, "it", &n, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(fault.cause, " in it: "));
	ck_assert_int_eq(close(opened), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gdbm");
	TCase *tcase = tcase_create("files");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, libgdbm_reads_what_was_written, 0, ROWS(sizes));
	tcase_add_test(tcase, hashes_share_a_prefix);
	tcase_add_test(tcase, a_bucket_is_full_of_one_hash);
	tcase_add_test(tcase, one_hash_exceeds_what_gdbm_can_hold);
	tcase_add_test(tcase, libgdbm_can_write_the_file);
	tcase_add_test(tcase, libgdbm_counts);
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run(suite);
}
