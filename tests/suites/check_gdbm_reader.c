/* gdbm_reader: files written by libgdbm with several block sizes, and damaged bytes. The bytes are
 * in memory of exactly their size, so that AddressSanitizer notices any access beyond them.
 * (check_gdbm.c has files written by gdbm_writer.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <gdbm.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "store/gdbm/file.h"
#include "store/gdbm/entry_key.h"
#include "store/gdbm/gdbm_format.h"
#include "store/gdbm/gdbm_reader.h"
#include "suite.h"

#define VALUE_MOST 600

static char *directory;
static char *bytes;
static size_t size;
static atomic_uchar states[64]; /* states of the blocks: all right, unless a test changes them */
static struct stack_blocks blocks;

static void setup(void)
{
	directory = directory_make();
	memset(states, BLOCK_RIGHT, sizeof states);
	blocks = (struct stack_blocks){ .states = states };
}

static void teardown(void)
{
	free(bytes);
	bytes = NULL;
	directory_remove(directory);
}

/* ---- files of libgdbm ---- */

static struct slice key_of(unsigned i, char key[32])
{
	int length = snprintf(key, 32, "the key %u", i);

	return (struct slice){ key, (size_t)length };
}

static struct slice value_of(unsigned i, char value[VALUE_MOST])
{
	memset(value, 'a' + (int)(i % 26), VALUE_MOST);
	return (struct slice){ value, (i + 1) * 7 % VALUE_MOST };
}

static datum datum_of(struct slice from)
{
	return (datum){ .dptr = (char *)(uintptr_t)from.data, .dsize = (int)from.size };
}

static void file_make(int block_size, unsigned records)
{
	char path[512], key[32], value[VALUE_MOST];
	GDBM_FILE file;

	snprintf(path, sizeof path, "%s/file", directory);
	file = gdbm_open(path, block_size, GDBM_NEWDB | GDBM_BSEXACT, 0600, NULL);
	ck_assert_msg(file != NULL, "%s", gdbm_strerror(gdbm_errno));
	for (unsigned i = 0; i < records; i++)
		ck_assert_int_eq(gdbm_store(file, datum_of(key_of(i, key)),
					    datum_of(value_of(i, value)), GDBM_INSERT),
				 0);
	ck_assert_int_eq(gdbm_close(file), 0);
	ck_assert(file_read_whole(&file_system_posix, path, (size_t)1 << 30, &bytes, &size));
	bytes = realloc(bytes, size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_lt(size / STACK_BLOCK, ROWS(states));
}

static enum gdbm_answer find(unsigned i, struct slice *value)
{
	struct gdbm_reader reader;
	char key[32];
	uint64_t block;

	if (!gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0))
		return GDBM_DAMAGED;
	return gdbm_reader_find(&reader, key_of(i, key), value, &block);
}

static const struct {
	int block_size;
	unsigned records;
} files[] = { { 512, 0 },    { 512, 1 },     { 512, 5000 },  { 4096, 1 },
	      { 4096, 166 }, { 4096, 5000 }, { 16384, 5000 } };

START_TEST(records_of_libgdbm_are_found)
{
	char value[VALUE_MOST];
	struct slice found;

	file_make(files[_i].block_size, files[_i].records);
	for (unsigned i = 0; i < files[_i].records; i++) {
		const struct slice stored = value_of(i, value);

		ck_assert_int_eq(find(i, &found), GDBM_FOUND);
		ck_assert_uint_eq(found.size, stored.size);
		ck_assert_mem_eq(found.data, stored.data, stored.size);
	}
	for (unsigned i = files[_i].records; i < files[_i].records + 1000; i++)
		ck_assert_int_eq(find(i, &found), GDBM_ABSENT);
}
END_TEST

/* ---- refused blocks ---- */

/* A key whose absence depends on the refused block is refused; all others are found or absent. */
START_TEST(a_refused_block_is_not_used)
{
	unsigned refused = 0, absent = 0;
	struct slice found;
	size_t from;

	file_make(4096, 5000);
	from = size / 2 / STACK_BLOCK * STACK_BLOCK;
	ck_assert(block_refuse(&blocks, from / STACK_BLOCK));
	ck_assert(!block_refuse(&blocks, from / STACK_BLOCK));
	block_believe(&blocks, from / STACK_BLOCK);
	for (unsigned i = 0; i < 10000; i++) {
		enum gdbm_answer answer = find(i, &found);

		ck_assert_int_eq(answer == GDBM_FOUND, i < 5000);
		ck_assert_int_ne(answer, GDBM_DAMAGED);
		refused += answer == GDBM_REFUSED;
		absent += answer == GDBM_ABSENT;
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_lt(refused, 5000);
	ck_assert_uint_gt(absent, 2000);
}
END_TEST

/* Without the directory, no key is known to be absent. */
START_TEST(a_refused_directory_refuses_all)
{
	struct gdbm_header header;
	struct slice found;

	file_make(4096, 5000);
	memcpy(&header, bytes, sizeof header);
	for (off_t at = header.directory; at < header.directory + header.directory_size; at++)
		block_refuse(&blocks, (uint64_t)at / STACK_BLOCK);
	for (unsigned i = 0; i < 10000; i++)
		ck_assert_int_eq(find(i, &found), i < 5000 ? GDBM_FOUND : GDBM_REFUSED);
}
END_TEST

/* Finding a record needs no verified block; finding that it is absent needs a few. */
START_TEST(absence_needs_verified_blocks)
{
	struct gdbm_reader reader;
	struct slice found;
	unsigned verified = 0;
	uint64_t block;
	size_t bucket;
	char key[32];

	file_make(4096, 5000);
	memset(states, BLOCK_UNKNOWN, sizeof states);
	ck_assert(gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0));
	for (unsigned i = 0; i < 5000; i++)
		ck_assert_int_eq(find(i, &found), GDBM_FOUND);
	while (gdbm_reader_find(&reader, key_of(5000, key), &found, &block) == GDBM_UNVERIFIED) {
		ck_assert_int_eq(block_state(&blocks, block), BLOCK_UNKNOWN);
		block_believe(&blocks, block);
		ck_assert_uint_le(++verified, 4);
	}
	ck_assert_int_eq(find(5000, &found), GDBM_ABSENT);
	ck_assert_int_eq(block_state(&blocks, 0), BLOCK_RIGHT);
	bucket = gdbm_reader_bucket(&reader, entry_key_order(key_of(5000, key)));
	ck_assert_int_eq(block_state(&blocks, bucket / STACK_BLOCK), BLOCK_RIGHT);
}
END_TEST

/* ---- headers that are refused ---- */

/* A number that replaces another. */
struct patch {
	size_t at;
	size_t size; /* size of an int or an off_t */
	off_t value;
};

static void patch_make(char *structure, const struct patch *patch)
{
	const int as_int = (int)patch->value;

	if (patch->size == sizeof as_int)
		memcpy(structure + patch->at, &as_int, sizeof as_int);
	else
		memcpy(structure + patch->at, &patch->value, sizeof patch->value);
}

#define PATCH(type, member, value) \
	{ \
		offsetof(struct type, member), sizeof(((struct type *)0)->member), (value) \
	}
#define HEADER(member, value) PATCH(gdbm_header, member, value)
static const struct {
	const char *what;
	struct patch patch;
} headers[] = {
	{ "another magic number", HEADER(magic, 0x13579ad0) },
	{ "a directory without bits", HEADER(directory_bits, 0) },
	{ "fewer bits", HEADER(directory_bits, -1) },
	{ "a directory that is larger than the file", HEADER(directory_bits, 30) },
	{ "as many bits as a hash has", HEADER(directory_bits, GDBM_HASH_BITS) },
	{ "more bits than a number has", HEADER(directory_bits, 64) },
	{ "a directory beyond the end of the file", HEADER(directory, INT_MAX) },
	{ "a directory before the file", HEADER(directory, -64) },
	{ "a bucket without places", HEADER(bucket_places, 0) },
	{ "fewer places", HEADER(bucket_places, -1) },
	{ "more places than a bucket holds", HEADER(bucket_places, 167) },
	{ "a bucket without a head", HEADER(bucket_size, 8) },
};

START_TEST(a_header_is_refused)
{
	struct gdbm_reader reader;

	file_make(4096, 1);
	ck_assert(gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0));
	patch_make(bytes, &headers[_i].patch);
	ck_assert_msg(!gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0), "%s",
		      headers[_i].what);
}
END_TEST

START_TEST(a_short_file_is_refused)
{
	struct gdbm_reader reader;
	struct gdbm_header header;

	file_make(4096, 1);
	memcpy(&header, bytes, sizeof header);
	for (size_t cut = 0; cut < (size_t)header.directory + (size_t)header.directory_size;
	     cut += cut < sizeof header ? 1 : 64) {
		char *copy = malloc(cut + 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, bytes, cut);
		copy = realloc(copy, cut > 0 ? cut : 1);
		ck_assert(!gdbm_reader_open(&reader, (struct slice){ copy, cut }, &blocks, 0));
		free(copy);
	}
}
END_TEST

/* ---- records with wrong places ---- */

#define PLACE(member, value) PATCH(gdbm_place, member, value)
#define ENTRY(value) \
	{ \
		0, sizeof(off_t), (value) \
	}
static const struct {
	const char *what;
	struct patch patch; /* of the record's place, or of all entries of the directory */
	bool is_entry;
	enum gdbm_answer answer;
} places[] = {
	{ "another start of the key", PLACE(key_start, 0), false, GDBM_FOUND }, /* not checked */
	{ "another hash", PLACE(hash, 5), false, GDBM_ABSENT },
	{ "no hash", PLACE(hash, -1), false, GDBM_ABSENT },
	{ "another size of the key", PLACE(key_size, 8), false, GDBM_ABSENT },
	{ "a record after the end of the file", PLACE(at, INT_MAX), false, GDBM_DAMAGED },
	{ "a record before the start of the file", PLACE(at, -8), false, GDBM_DAMAGED },
	{ "a key of negative size", PLACE(key_size, -1), false, GDBM_DAMAGED },
	{ "a value of negative size", PLACE(value_size, -1), false, GDBM_DAMAGED },
	{ "a value that is too long", PLACE(value_size, INT_MAX), false, GDBM_DAMAGED },
	{ "a bucket after the end of the file", ENTRY(INT_MAX), true, GDBM_DAMAGED },
	{ "a bucket before the start of the file", ENTRY(-64), true, GDBM_DAMAGED },
};

/* Returns the i-th place, in a file whose directory has only one bucket. */
static char *place_at(const struct gdbm_header *header, int i)
{
	off_t bucket;

	memcpy(&bucket, bytes + header->directory, sizeof bucket);
	return bytes + bucket + sizeof(struct gdbm_bucket_head) +
	       (size_t)i * sizeof(struct gdbm_place);
}

static int hash_at(const struct gdbm_header *header, int i)
{
	int hash;

	memcpy(&hash, place_at(header, i), sizeof hash);
	return hash;
}

/* Returns the place of the only record. */
static int only_place(const struct gdbm_header *header)
{
	int i = 0;

	while (hash_at(header, i) == -1)
		ck_assert_int_lt(++i, header->bucket_places);
	return i;
}

START_TEST(a_record_has_a_wrong_place)
{
	struct gdbm_header header;
	struct slice found;

	file_make(4096, 1);
	memcpy(&header, bytes, sizeof header);
	if (!places[_i].is_entry)
		patch_make(place_at(&header, only_place(&header)), &places[_i].patch);
	else
		for (int i = 0; i < header.directory_size; i += (int)sizeof(off_t))
			patch_make(bytes + header.directory + i, &places[_i].patch);
	ck_assert_msg(find(0, &found) == places[_i].answer, "%s", places[_i].what);
}
END_TEST

/* No place ends the search, and the record is in the last place of the search. */
START_TEST(a_bucket_has_no_empty_place)
{
	const int another = 7;
	struct gdbm_header header;
	struct slice found;
	int only, before;

	file_make(4096, 1);
	memcpy(&header, bytes, sizeof header);
	only = only_place(&header);
	before = (only + header.bucket_places - 1) % header.bucket_places;
	memcpy(place_at(&header, before), place_at(&header, only), sizeof(struct gdbm_place));
	for (int i = 0; i < header.bucket_places; i++)
		if (i != before)
			memcpy(place_at(&header, i), &another, sizeof another);
	ck_assert_int_eq(find(0, &found), GDBM_FOUND);
	ck_assert_int_eq(find(1, &found), GDBM_ABSENT);
}
END_TEST

/* The record has the same hash as the key, but another key. That the key is absent depends on the
 * record's block, which here contains only that record. */
START_TEST(another_key_with_the_same_hash_needs_its_block)
{
	const off_t at = 2 * (off_t)STACK_BLOCK;
	struct gdbm_reader reader;
	struct gdbm_header header;
	struct gdbm_place place;
	struct slice found;
	uint64_t block;
	char key[32], *from;

	file_make(4096, 1);
	ck_assert_uint_le(size, (size_t)at);
	bytes = realloc(bytes, (size_t)at + 64);
	ck_assert_ptr_nonnull(bytes);
	size = (size_t)at + 64;
	memcpy(&header, bytes, sizeof header);
	from = place_at(&header, only_place(&header));
	memcpy(&place, from, sizeof place);
	memcpy(bytes + at, bytes + place.at, (size_t)(place.key_size + place.value_size));
	place.at = at;
	memcpy(from, &place, sizeof place);
	ck_assert_int_eq(find(0, &found), GDBM_FOUND);
	bytes[at]++;
	ck_assert_int_eq(find(0, &found), GDBM_ABSENT);
	states[2] = BLOCK_UNKNOWN;
	ck_assert(gdbm_reader_open(&reader, (struct slice){ bytes, size }, &blocks, 0));
	ck_assert_int_eq(gdbm_reader_find(&reader, key_of(0, key), &found, &block),
			 GDBM_UNVERIFIED);
	ck_assert_uint_eq(block, 2);
	block_refuse(&blocks, block);
	ck_assert_int_eq(find(0, &found), GDBM_REFUSED);
}
END_TEST

/* Changes single bytes: every value that is found lies within the file. */
START_TEST(damaged_bytes_do_no_harm)
{
	uint64_t seed = (uint64_t)_i + 1;

	file_make(512, 300);
	for (int turn = 0; turn < 2000; turn++) {
		struct slice found = { bytes, 0 };
		size_t at;
		char right;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		at = (seed >> 20) % size;
		right = bytes[at];
		bytes[at] = (char)(seed >> 12);
		for (unsigned i = 0; i < 310; i += 10)
			if (find(i, &found) == GDBM_FOUND)
				ck_assert(found.data >= bytes && found.size <= size &&
					  found.data <= bytes + size - found.size);
		bytes[at] = right;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gdbm_reader");
	TCase *tcase = tcase_create("reader");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_refused_block_is_not_used);
	tcase_add_test(tcase, a_refused_directory_refuses_all);
	tcase_add_test(tcase, absence_needs_verified_blocks);
	tcase_add_test(tcase, another_key_with_the_same_hash_needs_its_block);
	tcase_add_loop_test(tcase, records_of_libgdbm_are_found, 0, ROWS(files));
	tcase_add_loop_test(tcase, a_header_is_refused, 0, ROWS(headers));
	tcase_add_test(tcase, a_short_file_is_refused);
	tcase_add_loop_test(tcase, a_record_has_a_wrong_place, 0, ROWS(places));
	tcase_add_test(tcase, a_bucket_has_no_empty_place);
	tcase_add_loop_test(tcase, damaged_bytes_do_no_harm, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
