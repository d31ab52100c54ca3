/* Base: arena and buffer, fault, ID, pattern, names of directories, log.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <sys/resource.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/digest.h"
#include "base/directory.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pattern.h"
#include "base/priority.h"
#include "base/text.h"
#include "suite.h"

static struct arena *arena;

static void open_arena(void)
{
	arena = arena_open();
}

static void close_arena(void)
{
	arena_close(arena);
}

/* --- Arena --- */

START_TEST(arena_gives_aligned_memory_of_any_size)
{
	static const size_t sizes[] = { 0, 1, 7, 16, 17, 4096, 65536, 65537, 1 << 20, 3 << 20 };
	char *previous = NULL;

	for (size_t i = 0; i < ROWS(sizes); i++) {
		char *memory = arena_alloc(arena, sizes[i]);

		ck_assert_ptr_nonnull(memory);
		ck_assert_ptr_ne(memory, previous);
		ck_assert_uint_eq((uintptr_t)memory % 16, 0);
		memset(memory, 'x', sizes[i]);
		previous = memory;
	}
}
END_TEST

START_TEST(arena_reuses_its_first_block_after_a_reset)
{
	void *first = arena_alloc(arena, 100);

	for (int i = 0; i < 100; i++)
		arena_alloc(arena, 10000);
	ck_assert_uint_ge(arena_used(arena), 1000000);
	arena_reset(arena);
	ck_assert_uint_eq(arena_used(arena), 0);
	ck_assert_ptr_eq(arena_alloc(arena, 100), first);
}
END_TEST

/* In an arena an array grows in place, unless something was allocated after it. */
START_TEST(arrays_grow_and_keep_their_items)
{
	uint32_t *in_arena = NULL, *outside = NULL;
	size_t arena_capacity = 0, capacity = 0;
	void *first;

	in_arena = arena_room(arena, in_arena, 1, &arena_capacity, sizeof *in_arena);
	first = in_arena;
	for (uint32_t i = 0; i < 1000; i++) {
		if (i == 100) {
			ck_assert_ptr_eq(in_arena, first);
			arena_alloc(arena, 1);
		}
		in_arena = arena_room(arena, in_arena, i + 1, &arena_capacity, sizeof *in_arena);
		outside = memory_room(outside, i + 1, &capacity, sizeof *outside);
		in_arena[i] = outside[i] = i;
	}
	ck_assert_ptr_ne(in_arena, first);
	ck_assert(arena_capacity >= 1000 && arena_capacity < 2100 && capacity == arena_capacity);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert(in_arena[i] == i && outside[i] == i);
	outside = memory_room(outside, 5000, &capacity, sizeof *outside);
	ck_assert_uint_eq(capacity, 5000);
	outside[4999] = 1;
	free(outside);
}
END_TEST

START_TEST(arena_counts_towards_its_limit)
{
	ck_assert(arena_fits(arena, ARENA_LIMIT));
	ck_assert(!arena_fits(arena, ARENA_LIMIT + 1));
	ck_assert(!arena_fits(arena, SIZE_MAX));
	arena_alloc(arena, 16);
	ck_assert(!arena_fits(arena, ARENA_LIMIT));
	ck_assert(arena_fits(arena, ARENA_LIMIT - 16));
}
END_TEST

/* The sanitizer notices values that are leaked or freed twice. */
START_TEST(arena_frees_adopted_values)
{
	json_t *kept = json_string("kept");

	for (int i = 0; i < 1000; i++)
		ck_assert_ptr_eq(arena_json(arena, json_incref(kept)), kept);
	ck_assert_uint_eq(kept->refcount, 1001);
	arena_reset(arena);
	ck_assert_uint_eq(kept->refcount, 1);
	arena_json(arena, kept);
}
END_TEST

/* Pieces, adopted memory and roots from before the mark stay. Those after it are freed, whether
 * they are in the block of the mark or in later blocks. */
START_TEST(arena_is_released_to_a_mark)
{
	json_t *older = json_string("older"), *younger = json_string("younger");
	char *kept = arena_text(arena, "kept");
	char *adopted = strdup("adopted");

	arena_json(arena, json_incref(older));
	arena_adopt(arena, adopted, sizeof "adopted");
	for (size_t size = 10; size <= 10000000; size *= 1000) {
		const size_t used = arena_used(arena);
		const struct arena_mark mark = arena_mark(arena);
		void *next = arena_alloc(arena, 10);

		memset(arena_alloc(arena, size), 1, size);
		memset(arena_alloc(arena, size), 1, size);
		arena_adopt(arena, malloc(size), size);
		arena_json(arena, json_incref(younger));
		ck_assert_uint_ge(arena_used(arena), used + 3 * size);
		arena_release(arena, &mark);
		ck_assert_uint_eq(arena_used(arena), used);
		ck_assert_ptr_eq(arena_alloc(arena, 10), next);
		ck_assert_uint_eq(younger->refcount, 1);
		ck_assert_uint_eq(older->refcount, 2);
	}
	ck_assert_str_eq(kept, "kept");
	ck_assert_str_eq(adopted, "adopted");
	arena_reset(arena);
	ck_assert_uint_eq(older->refcount, 1);
	ck_assert_uint_eq(arena_used(arena), 0);
	json_decref(older);
	json_decref(younger);
}
END_TEST

/* Simulates what a call leaves behind: values with references, and roots that were never freed. */
START_TEST(arena_serves_jansson)
{
	json_t *earlier = json_pack("{s:[i, i]}", "kept", 1, 2);
	struct arena *before = arena_use_for_json(arena);
	json_t *root = arena_json(arena,
				  json_pack("{s:s, s:[i, f, b]}", "a", "text", "b", 1, 1.5, 1));

	ck_assert_ptr_null(before);
	ck_assert_uint_gt(arena_used(arena), 0);
	json_incref(root);
	ck_assert_int_eq(json_object_del(root, "a"), 0);
	for (int i = 0; i < 1000; i++)
		json_object_set_new(root, arena_text(arena, "member %d", i), json_array());
	ck_assert_uint_eq(json_object_size(root), 1001);
	json_decref(earlier);
	ck_assert_ptr_eq(arena_use_for_json(before), arena);
	arena_reset(arena);
	ck_assert_uint_eq(arena_used(arena), 0);

	json_decref(json_string("from malloc again"));
	ck_assert_uint_eq(arena_used(arena), 0);
}
END_TEST

static void *use_elsewhere(void *root)
{
	struct arena *before = arena_use_for_json(arena);

	ck_assert_ptr_null(before);
	json_object_set_new(root, "thread", json_string("another"));
	json_object_clear(root);
	arena_use_for_json(before);
	arena_reset(arena);
	return NULL;
}

/* A parked call moves in this way from the worker that ran it to the thread that sends it. */
START_TEST(arena_moves_between_threads)
{
	for (int i = 0; i < 100; i++) {
		struct arena *other = arena_open();
		struct arena *before = arena_use_for_json(arena);
		json_t *root = arena_json(arena, json_pack("{s:i}", "thread", 1));
		pthread_t thread;

		ck_assert_ptr_eq(arena_use_for_json(other), arena);
		ck_assert_int_eq(pthread_create(&thread, NULL, use_elsewhere, root), 0);
		ck_assert_ptr_nonnull(arena_json(other, json_object()));
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_uint_eq(arena_used(arena), 0);
		arena_use_for_json(before);
		arena_close(other);
	}
}
END_TEST

START_TEST(arena_copies_and_prints)
{
	char bytes[] = { 'a', '\0', 'b' };
	struct slice copy = arena_copy(arena, (struct slice){ bytes, 3 });
	const char *zero = arena_zero(arena, 100);

	bytes[0] = 'x';
	ck_assert_uint_eq(copy.size, 3);
	ck_assert_mem_eq(copy.data, "a\0b", 4);
	ck_assert_uint_eq(arena_copy(arena, (struct slice){ NULL, 0 }).size, 0);
	ck_assert_str_eq(arena_text(arena, "%s-%d", "room", 7), "room-7");
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(zero[i], 0);
}
END_TEST

START_TEST(buffer_grows)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	ck_assert_ptr_null(buffer_slice(&buffer).data);
	for (int i = 0; i < 10000; i++) {
		buffer_append_text(&buffer, "ab");
		buffer_append_byte(&buffer, ',');
		buffer_append(&buffer, (struct slice){ "cde", 2 });
	}
	buffer_append_integer(&buffer, INT64_MIN);
	ck_assert_uint_eq(buffer.size, 50020);
	for (size_t i = 0; i < 50000; i += 5)
		ck_assert_mem_eq(buffer.data + i, "ab,cd", 5);
	ck_assert_mem_eq(buffer.data + 50000, "-9223372036854775808", 20);
}
END_TEST

static const char *written(const json_t *value)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	buffer_append_json(&buffer, value);
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

/* Our writer must write what jansson writes. */
static const char *const json_texts[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"9223372036854775807",
	"\"\"",
	"\"text\"",
	"[]",
	"{}",
	"[[],{},[{}]]",
	"[1,2,3]",
	"{\"b\":1,\"a\":{\"c\":[null,true]}}",
	"1.1",
	"-0.5",
	"1e300",
	"1.5e-7",
	"123456789.125",
	"3.14159265358979",
	"\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\"",
	"\"\\u00e4\\u20ac\\ud83d\\ude00\\u007f\"",
	"{\"\\\"\\n\\u0002\":\"\\u000b\"}",
	"{\"\":\"\"}",
};

START_TEST(json_is_written_as_jansson_does)
{
	json_t *value = arena_json(arena, json_loads(json_texts[_i], JSON_DECODE_ANY, NULL));
	char *expected = json_dumps(value,
				    JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	ck_assert_str_eq(written(value), expected);
	free(expected);
}
END_TEST

static const struct {
	double value;
	const char *text;
} reals[] = {
	{ 1.0, "1" },	  { -3.0, "-3" },
	{ 0.0, "0" },	  { -0.0, "-0.0" },
	{ 1.1, "1.1" },	  { 0.1, "0.1" },
	{ 12.5, "12.5" }, { 9007199254740991.0, "9007199254740991" },
	{ 1e17, "1e17" },
};

START_TEST(integral_reals_have_no_point)
{
	ck_assert_str_eq(written(arena_json(arena, json_real(reals[_i].value))), reals[_i].text);
}
END_TEST

START_TEST(json_keeps_zero_bytes_in_strings)
{
	json_t *value = arena_json(arena, json_stringn("a\0b", 3));

	ck_assert_str_eq(written(value), "\"a\\u0000b\"");
}
END_TEST

/* --- Fault --- */

START_TEST(fault_has_status_and_standard_text)
{
	static const struct {
		enum fault_kind kind;
		int status;
		const char *text;
	} rows[] = {
		{ FAULT_NONE, 200, "OK" },
		{ FAULT_MALFORMED, 400, "Malformed JSON" },
		{ FAULT_INVALID_BODY, 400, "Invalid body param" },
		{ FAULT_UNAUTHORIZED, 401, "Token validation error" },
		{ FAULT_UNAVAILABLE, 503, "The server cannot write at the moment" },
		{ FAULT_DAMAGED, 503, "The stored data is damaged" },
		{ FAULT_AGAIN, 409, "Too busy" },
		{ FAULT_BUSY, 409, "Too busy" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		ck_assert_int_eq(fault_status(rows[i].kind), rows[i].status);
		ck_assert_str_eq(fault_text(rows[i].kind), rows[i].text);
	}
}
END_TEST

START_TEST(first_fault_wins)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(!fault_set(&fault, FAULT_NOT_FOUND, "%s not found", "role"));
	ck_assert(!fault_set(&fault, FAULT_CONFLICT, NULL));
	ck_assert(!fault_detail(&fault, FAULT_CONFLICT, "later"));
	ck_assert(!fault_cause(&fault, FAULT_INTERNAL, 2, "later"));
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	ck_assert_str_eq(fault.message, "role not found");
	ck_assert_str_eq(fault.detail, "");
	ck_assert_str_eq(fault.cause, "");
}
END_TEST

START_TEST(fault_keeps_detail_and_cause_apart)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(!fault_detail(&fault, FAULT_INVALID_QUERY, "limit: %d", 5));
	ck_assert_str_eq(fault.message, "Invalid query parameter");
	ck_assert_str_eq(fault.detail, "limit: 5");
	fault = FAULT_INITIAL;
	ck_assert(!fault_cause(&fault, FAULT_INTERNAL, 2, "open %s", "x"));
	ck_assert_str_eq(fault.message, "Internal error");
	ck_assert_str_eq(fault.cause, "open x: No such file or directory");
	ck_assert_str_eq(fault.detail, "");
}
END_TEST

START_TEST(fault_is_cut_between_characters)
{
	/* With 0 to 2 bytes before it, a three-byte character meets the end at each of its
	 * bytes. */
	for (int before = 0; before < 3; before++) {
		struct fault fault = FAULT_INITIAL;
		char text[400] = "";

		for (int i = 0; i < before; i++)
			strcat(text, "x");
		for (int i = 0; i < 120; i++)
			strcat(text, "\xe2\x82\xac");
		fault_set(&fault, FAULT_BAD_REQUEST, "%s", text);
		ck_assert(text_is_utf8(slice_of(fault.message)));
		ck_assert_uint_ge(strlen(fault.message), sizeof fault.message - 3);
	}
}
END_TEST

/* --- Digests: FIPS 180-4 and RFC 4231, test case 2 --- */

static void print_digest(const unsigned char digest[DIGEST_SIZE], char text[2 * DIGEST_SIZE + 1])
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

#define K_16 "kkkkkkkkkkkkkkkk"
#define K_64 K_16 K_16 K_16 K_16
#define AA_10 "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"
#define AA_40 AA_10 AA_10 AA_10 AA_10
#define AA_131 AA_40 AA_40 AA_40 AA_10 "\xaa"

static const struct {
	const char *key; /* NULL for plain SHA-256 */
	const char *text, *digest;
} digests[] = {
	{ NULL, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ NULL, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "Jefe", "what do ya want for nothing?",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ "", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad" },
	/* A key of one block, which is used as it is, and longer keys, which are hashed. */
	{ K_64, "text", "0414bb1d8c0c4556cdb2028727b16610ae377b1a194b6db1f853d4297f2329bc" },
	{ K_64 "k", "text", "5b69580123e3d7e788b7e8352ac37a3247b911c5ec0837147b74109a6382d3f5" },
	{ AA_131, "Test Using Larger Than Block-Size Key - Hash Key First",
	  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
};

/* Runs twice, because each thread reuses its contexts. */
START_TEST(digest_agrees_with_the_standard)
{
	unsigned char digest[DIGEST_SIZE];
	char text[2 * DIGEST_SIZE + 1];

	for (int round = 0; round < 2; round++) {
		if (digests[_i].key == NULL)
			digest_sha256(slice_of(digests[_i].text), digest);
		else
			digest_hmac_sha256(slice_of(digests[_i].key), slice_of(digests[_i].text),
					   digest);
		print_digest(digest, text);
		ck_assert_str_eq(text, digests[_i].digest);
	}
}
END_TEST

/* RFC 5869, test case 3, whose output begins with this key; and another label. */
static const struct {
	const char *label, *key;
} derived_keys[] = {
	{ "", "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d" },
	{ "recording-files", "6e01407ba7a8c9cf45532571469bcbb3ce8b483892fa3b7f9aabed5c9ac28bf3" },
};

START_TEST(keys_are_derived_as_the_standard_says)
{
	static const char secret[] = "\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v";
	unsigned char key[DIGEST_SIZE];
	char text[2 * DIGEST_SIZE + 1];

	digest_derive_key(slice_of(secret), derived_keys[_i].label, key);
	print_digest(key, text);
	ck_assert_str_eq(text, derived_keys[_i].key);
}
END_TEST

/* The GCM specification, test case 14: a block of zeros under a key and a nonce of zeros. */
START_TEST(texts_are_sealed_as_the_standard_says)
{
	static const unsigned char zeros[DIGEST_SIZE];
	static const char expected[] =
		"cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919";
	unsigned char sealed[16 + SEAL_MORE];
	char text[2 * DIGEST_SIZE + 1], opened[16];
	const struct slice all = { (const char *)sealed, sizeof sealed };

	digest_seal(zeros, zeros, (struct slice){ (const char *)zeros, 16 }, sealed);
	print_digest(sealed + SEAL_NONCE_SIZE, text);
	ck_assert_str_eq(text, expected);
	memset(opened, 1, sizeof opened);
	ck_assert(digest_open(zeros, all, opened) && memcmp(opened, zeros, sizeof opened) == 0);
	/* Nothing that was changed is opened, nor with another key, nor what is too short. */
	for (size_t i = 0; i < sizeof sealed; i++) {
		sealed[i] ^= 1;
		ck_assert(!digest_open(zeros, all, opened));
		sealed[i] ^= 1;
	}
	ck_assert(!digest_open((const unsigned char *)expected, all, opened));
	ck_assert(!digest_open(zeros, (struct slice){ all.data, SEAL_MORE - 1 }, opened));
}
END_TEST

START_TEST(digests_are_compared_completely)
{
	unsigned char digest[DIGEST_SIZE] = { 0 }, other[DIGEST_SIZE] = { 0 };

	ck_assert(digest_equal(digest, other));
	for (size_t i = 0; i < DIGEST_SIZE; i++) {
		other[i] = 1;
		ck_assert(!digest_equal(digest, other));
		other[i] = 0;
	}
}
END_TEST

/* --- IDs --- */

static void count_up(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] = (unsigned char)(i + 1);
}

static const struct clock counting = { .now = NULL, .random = count_up };

START_TEST(id_holds_time_and_number)
{
	struct id id = id_make(&counting, 0x12345678, 0x9abcdef012);
	char text[ID_TEXT_SIZE + 1];

	id_print(&id, text);
	ck_assert_str_eq(text, "123456789abcdef012010203");
	ck_assert_uint_eq(id_seconds(&id), 0x12345678);
	ck_assert_uint_eq(id_number(&id), 0x9abcdef012);

	struct id parsed;

	ck_assert(id_parse(slice_of(text), &parsed));
	ck_assert_int_eq(id_compare(&id, &parsed), 0);
	ck_assert(slice_equal(id_slice(&id), id_slice(&parsed)));
}
END_TEST

/* Numbers also come from tokens, which an account signs and fills as it likes. */
START_TEST(lowest_id_has_the_low_bits_of_a_number)
{
	const struct id id = id_lowest(7, ID_NUMBER_MAX + 3);

	ck_assert_uint_eq(id_seconds(&id), 7);
	ck_assert_uint_eq(id_number(&id), 2);
	ck_assert_int_eq(id.bytes[ID_SIZE - 1], 0);
}
END_TEST

START_TEST(ids_sort_by_time_then_number)
{
	struct id rows[] = {
		id_make(&clock_system, 1, 500),	  id_make(&clock_system, 2, 1),
		id_make(&clock_system, 2, 2),	  id_make(&clock_system, 2, 256),
		id_make(&clock_system, 256, 257), id_make(&clock_system, UINT32_MAX, ID_NUMBER_MAX),
	};

	for (size_t i = 1; i < ROWS(rows); i++) {
		ck_assert_int_lt(id_compare(&rows[i - 1], &rows[i]), 0);
		ck_assert_int_gt(id_compare(&rows[i], &rows[i - 1]), 0);
	}
}
END_TEST

static const struct {
	const char *text;
	bool is_id;
} id_texts[] = {
	{ "0123456789abcdef01234567", true },
	{ "ffffffffffffffffffffffff", true },
	{ "0123456789ABCDEF01234567", false },
	{ "0123456789abcdef0123456", false },
	{ "0123456789abcdef012345678", false },
	{ "0123456789abcdef0123456g", false },
	{ "", false },
	{ "0123456789abcdef 1234567", false },
	{ "0x23456789abcdef01234567", false },
};

START_TEST(id_is_24_lower_case_hex_digits)
{
	struct id id;

	ck_assert_int_eq(id_parse(slice_of(id_texts[_i].text), &id), id_texts[_i].is_id);
}
END_TEST

START_TEST(uuid_is_version_4)
{
	char text[UUID_TEXT_SIZE];

	uuid_make(&counting, text);
	ck_assert_str_eq(text, "01020304-0506-4708-890a-0b0c0d0e0f10");
}
END_TEST

/* Every letter must occur about equally often. In 100,000 draws of 26 letters, each occurs 3846
 * times, with a standard deviation of 61; if bytes from 234 on were not drawn again, four letters
 * would occur 9 % less often. */
START_TEST(codes_are_drawn_without_bias)
{
	unsigned counts[26] = { 0 };

	for (int i = 0; i < 10000; i++) {
		char text[CODE_TEXT_SIZE];

		code_make(&clock_system, text);
		ck_assert(code_is_well_formed(slice_of(text)));
		for (int place = 0; place < CODE_TEXT_SIZE - 1; place++)
			if (text[place] != '-')
				counts[text[place] - 'a']++;
	}
	for (int i = 0; i < 26; i++) {
		ck_assert_uint_gt(counts[i], 3846 - 330);
		ck_assert_uint_lt(counts[i], 3846 + 330);
	}
}
END_TEST

static const struct {
	const char *text;
	bool is_code;
} codes[] = {
	{ "abc-defg-hij", true },   { "zzz-zzzz-zzz", true },  { "abc-defg-hi", false },
	{ "abc-defg-hijk", false }, { "abcd-efg-hij", false }, { "Abc-defg-hij", false },
	{ "abc-def1-hij", false },  { "abcdefghijkl", false }, { "", false },
	{ "abc-defg_hij", false },  { "abc-def-ghi", true },   { "abc-def-ghij", false },
	{ "abc-def-gh", false },    { "abc-de-fgh", false },   { "abc-Def-ghi", false },
};

static const struct {
	const char *text;
	bool is_words;
} words[] = {
	{ "monday-standup", true },
	{ "abcdef", true },
	{ "1-2-3-", false },
	{ "1-2-34", true },
	{ "abcde", false },
	{ "-abcdef", false },
	{ "abcdef-", false },
	{ "abc--def", false },
	{ "abc_def", false },
	{ "Abcdef", false },
	{ "abc def", false },
	{ "", false },
	{ "abc-defg-hij", false },
	{ "abc-def-ghi", false },
	{ "abc-def-gh1", true },
	{ "ab1-defg-hij", true },
	{ "abcd-efg-hij", true },
	{ "0123456789012345678901234567890123456789", true },
	{ "01234567890123456789012345678901234567890", false },
};

START_TEST(custom_codes_have_their_form)
{
	ck_assert_int_eq(code_is_words(slice_of(words[_i].text)), words[_i].is_words);
}
END_TEST

START_TEST(code_has_its_form)
{
	ck_assert_int_eq(code_is_well_formed(slice_of(codes[_i].text)), codes[_i].is_code);
}
END_TEST

/* --- Patterns --- */

START_TEST(pattern_matches_the_whole_subject)
{
	struct pattern *pattern = pattern_open("[a-z]+|x1");

	ck_assert(pattern_match(pattern, SLICE("abc"), NULL));
	ck_assert(pattern_match(pattern, SLICE("x1"), NULL));
	ck_assert(!pattern_match(pattern, SLICE("abc1"), NULL));
	ck_assert(!pattern_match(pattern, SLICE("1abc"), NULL));
	ck_assert(!pattern_match(pattern, SLICE("abc\n"), NULL));
	ck_assert(!pattern_match(pattern, (struct slice){ "a\0b", 3 }, NULL));
	ck_assert(!pattern_match(pattern, (struct slice){ NULL, 0 }, NULL));
	pattern_close(pattern);
}
END_TEST

START_TEST(pattern_gives_mark_and_captures)
{
	struct pattern *pattern =
		pattern_open("(?|/a/([^/]+)(*MARK:one)|/b/([^/]+)(?:/(x)?(y))?(*MARK:two))");
	struct match match;

	ck_assert(pattern_match(pattern, SLICE("/a/room%2F"), &match));
	ck_assert_str_eq(match.mark, "one");
	ck_assert_uint_eq(match.n, 1);
	ck_assert(slice_is(match.captures[0], "room%2F"));

	ck_assert(pattern_match(pattern, SLICE("/b/q/y"), &match));
	ck_assert_str_eq(match.mark, "two");
	ck_assert_uint_eq(match.n, 3);
	ck_assert_ptr_null(match.captures[1].data);
	ck_assert(slice_is(match.captures[2], "y"));
	ck_assert(!pattern_match(pattern, SLICE("/c/q"), &match));
	pattern_close(pattern);
}
END_TEST

START_TEST(pattern_fills_only_the_given_captures)
{
	struct pattern *pattern = pattern_open("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)");
	struct match match;

	ck_assert(pattern_match(pattern, SLICE("abcdefghij"), &match));
	ck_assert_uint_eq(match.n, PATTERN_CAPTURES);
	ck_assert(slice_is(match.captures[PATTERN_CAPTURES - 1], "h"));
	pattern_close(pattern);
}
END_TEST

static void *match_many(void *argument)
{
	const struct pattern *pattern = *(struct pattern **)argument;
	struct match match;

	for (int i = 0; i < 2000; i++) {
		char text[32];
		int size = snprintf(text, sizeof text, "%d-%d", i, i + 1);

		if (!pattern_match(pattern, (struct slice){ text, (size_t)size }, &match) ||
		    match.captures[0].data != text || match.n != 2)
			return argument;
	}
	return NULL;
}

START_TEST(pattern_is_shared_by_threads)
{
	struct pattern *pattern = pattern_open("([0-9]+)-([0-9]+)");
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, match_many, &pattern), 0);
	for (int i = 0; i < 4; i++) {
		void *failed;

		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	pattern_close(pattern);
}
END_TEST

/* --- Priorities --- */

static void *lower(void *argument)
{
	const int nice = *(const int *)argument;

	priority_lower(nice);
	return getpriority(PRIO_PROCESS, 0) == nice ? NULL : argument;
}

START_TEST(priority_is_lowered_for_one_thread)
{
	const int before = getpriority(PRIO_PROCESS, 0);
	int nice = before < 19 ? before + 1 : 19;
	pthread_t thread;
	void *failed;

	ck_assert_int_eq(pthread_create(&thread, NULL, lower, &nice), 0);
	ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), before);
}
END_TEST

/* --- Names of directories --- */

static const struct {
	const char *path;
	const char *directory;
} names[] = {
	{ "data", "." },
	{ "data/", "." },
	{ "/data", "/" },
	{ "/srv/data", "/srv" },
	{ "srv/data//", "srv" },
	{ "//srv//data", "//srv" },
	{ "../data/store", "../data" },
	{ "/", "/" },
	{ "", "." },
};

START_TEST(name_is_in_a_directory)
{
	char directory[PATH_MAX];

	directory_of(names[_i].path, directory);
	ck_assert_str_eq(directory, names[_i].directory);
}
END_TEST

/* --- Log --- */

/* How JOURNAL_STREAM describes the descriptor of stderr. */
enum journal { JOURNAL_UNSET, JOURNAL_OTHER_DEVICE, JOURNAL_OTHER_INODE, JOURNAL_NAMES_IT };

static void set_journal(enum journal journal, int descriptor)
{
	char text[64];
	struct stat there;

	ck_assert_int_eq(unsetenv("JOURNAL_STREAM"), 0);
	if (journal == JOURNAL_UNSET)
		return;
	ck_assert_int_eq(fstat(descriptor, &there), 0);
	snprintf(text, sizeof text, "%llu:%llu",
		 (unsigned long long)there.st_dev + (journal == JOURNAL_OTHER_DEVICE),
		 (unsigned long long)there.st_ino + (journal == JOURNAL_OTHER_INODE));
	ck_assert_int_eq(setenv("JOURNAL_STREAM", text, 1), 0);
}

/* Returns what one call writes to stderr. */
static const char *logged_to(enum journal journal, const char *value)
{
	int ends[2];
	int stderr_copy = dup(STDERR_FILENO);
	char *text = arena_zero(arena, 8192);

	ck_assert_int_eq(pipe(ends), 0);
	set_journal(journal, ends[1]);
	ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
	log_event(LOG_LEVEL_WARNING, "event", "key", value, "n", LOG_NUMBER(-7), NULL);
	ck_assert_int_ge(dup2(stderr_copy, STDERR_FILENO), 0);
	close(stderr_copy);
	close(ends[1]);
	ck_assert_int_ge((int)read(ends[0], text, 8191), 0);
	close(ends[0]);
	return text;
}

/* Returns a line without its time, which must be present: "2026-11-23T14:02:51.120Z ". */
static const char *logged(const char *value)
{
	const char *line = logged_to(JOURNAL_UNSET, value);

	ck_assert_uint_ge(strlen(line), TEXT_TIME_SIZE);
	ck_assert_int_eq(line[TEXT_TIME_SIZE - 1], ' ');
	return line + TEXT_TIME_SIZE;
}

static const struct {
	enum journal journal;
	bool has_time;
} log_places[] = {
	{ JOURNAL_UNSET, true },
	{ JOURNAL_OTHER_DEVICE, true },
	{ JOURNAL_OTHER_INODE, true },
	{ JOURNAL_NAMES_IT, false },
};

START_TEST(log_line_has_a_time_unless_the_journal_adds_it)
{
	int64_t before = clock_now(&clock_system);
	const char *line = logged_to(log_places[_i].journal, "x");
	int64_t time;

	if (!log_places[_i].has_time) {
		ck_assert_str_eq(line, "<4>warning event key=x n=-7\n");
		return;
	}
	ck_assert_uint_ge(strlen(line), TEXT_TIME_SIZE);
	ck_assert_str_eq(line + TEXT_TIME_SIZE - 1, " warning event key=x n=-7\n");
	ck_assert_int_eq(line[TEXT_TIME_SIZE - 6], '.');
	ck_assert(text_time_parse((struct slice){ line, TEXT_TIME_SIZE - 1 }, &time));
	ck_assert_int_ge(time, before);
	ck_assert_int_le(time, clock_now(&clock_system));
}
END_TEST

START_TEST(abort_logs_its_reason)
{
	char text[400] = "";
	int ends[2], status;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		set_journal(JOURNAL_UNSET, ends[1]);
		(void)dup2(ends[1], STDERR_FILENO);
		ABORT("no reason");
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	ck_assert_int_gt((int)read(ends[0], text, sizeof text - 1), 0);
	ck_assert_msg(
		strstr(text, " error abort reason=\"no reason\" at=tests/suites/check_base.c:") !=
			NULL,
		"%s", text);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

#ifdef COUNTERS_ABORT
enum { COUNTERS_END_THE_PROGRAM = true };
#else
enum { COUNTERS_END_THE_PROGRAM = false };
#endif

static const struct {
	size_t counter, n;
	int left; /* -1: it would go below zero */
} counted[] = {
	{ 0, 0, 0 }, { 7, 0, 7 }, { 7, 3, 4 }, { 7, 7, 0 }, { 7, 8, -1 }, { 0, SIZE_MAX, -1 },
};

START_TEST(a_counter_does_not_go_below_zero)
{
	const bool is_wrong = counted[_i].left < 0;
	struct {
		size_t acting;
	} backend = { counted[_i].counter };
	char text[400] = "";
	int ends[2], status;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		set_journal(JOURNAL_UNSET, ends[1]);
		(void)dup2(ends[1], STDERR_FILENO);
		COUNTER_LOWER(backend.acting, counted[_i].n);
		_exit((int)backend.acting);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(ends[1]);
	ck_assert_int_ge(read(ends[0], text, sizeof text - 1), 0);
	close(ends[0]);
	ck_assert_int_eq(strstr(text, " error counter_below_zero counter=backend.acting ") != NULL,
			 is_wrong);
	if (is_wrong && COUNTERS_END_THE_PROGRAM)
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	else
		ck_assert_int_eq(WEXITSTATUS(status), is_wrong ? 0 : counted[_i].left);
}
END_TEST

static const struct {
	const char *value;
	const char *line;
} log_lines[] = {
	{ "plain", "warning event key=plain n=-7\n" },
	{ "/a/b.c:1", "warning event key=/a/b.c:1 n=-7\n" },
	{ NULL, "warning event n=-7\n" },
	{ "", "warning event key=\"\" n=-7\n" },
	{ "two words", "warning event key=\"two words\" n=-7\n" },
	{ "a=b", "warning event key=\"a=b\" n=-7\n" },
	{ "\"\\", "warning event key=\"\\\"\\\\\" n=-7\n" },
	{ "x\nerror forged", "warning event key=\"x\\nerror forged\" n=-7\n" },
	{ "\x1b[31m\r\t\x7f", "warning event key=\"\\x1b[31m\\x0d\\x09\\x7f\" n=-7\n" },
	{ "\xc3\xa4", "warning event key=\"\xc3\xa4\" n=-7\n" },
	{ "\xff\xc3", "warning event key=\"\\xff\\xc3\" n=-7\n" },
	{ "\xc2\x9b", "warning event key=\"\\xc2\\x9b\" n=-7\n" },
};

START_TEST(log_line_cannot_be_forged)
{
	ck_assert_str_eq(logged(log_lines[_i].value), log_lines[_i].line);
}
END_TEST

START_TEST(long_log_line_is_cut)
{
	char *value = arena_zero(arena, 10001);

	memset(value, '"', 10000);

	const char *line = logged_to(JOURNAL_UNSET, value);
	size_t size = strlen(line);

	ck_assert_uint_le(size, 4096);
	ck_assert_uint_ge(size, 4090);
	ck_assert_str_eq(line + size - 4, "...\n");
	ck_assert_ptr_eq(strchr(line, '\n'), line + size - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *cases = tcase_create("base");

	suite_add_tcase(suite, cases);
	tcase_add_checked_fixture(cases, open_arena, close_arena);
	tcase_add_test(cases, arena_gives_aligned_memory_of_any_size);
	tcase_add_test(cases, arena_reuses_its_first_block_after_a_reset);
	tcase_add_test(cases, arrays_grow_and_keep_their_items);
	tcase_add_test(cases, arena_counts_towards_its_limit);
	tcase_add_test(cases, arena_frees_adopted_values);
	tcase_add_test(cases, arena_is_released_to_a_mark);
	tcase_add_test(cases, arena_serves_jansson);
	tcase_add_test(cases, arena_moves_between_threads);
	tcase_add_test(cases, arena_copies_and_prints);
	tcase_add_test(cases, buffer_grows);
	tcase_add_loop_test(cases, json_is_written_as_jansson_does, 0, ROWS(json_texts));
	tcase_add_loop_test(cases, integral_reals_have_no_point, 0, ROWS(reals));
	tcase_add_test(cases, json_keeps_zero_bytes_in_strings);
	tcase_add_test(cases, fault_has_status_and_standard_text);
	tcase_add_test(cases, first_fault_wins);
	tcase_add_test(cases, fault_keeps_detail_and_cause_apart);
	tcase_add_test(cases, fault_is_cut_between_characters);
	tcase_add_loop_test(cases, digest_agrees_with_the_standard, 0, ROWS(digests));
	tcase_add_test(cases, texts_are_sealed_as_the_standard_says);
	tcase_add_loop_test(cases, keys_are_derived_as_the_standard_says, 0, ROWS(derived_keys));
	tcase_add_test(cases, digests_are_compared_completely);
	tcase_add_test(cases, id_holds_time_and_number);
	tcase_add_test(cases, lowest_id_has_the_low_bits_of_a_number);
	tcase_add_test(cases, ids_sort_by_time_then_number);
	tcase_add_loop_test(cases, id_is_24_lower_case_hex_digits, 0, ROWS(id_texts));
	tcase_add_test(cases, uuid_is_version_4);
	tcase_add_test(cases, codes_are_drawn_without_bias);
	tcase_add_loop_test(cases, code_has_its_form, 0, ROWS(codes));
	tcase_add_loop_test(cases, custom_codes_have_their_form, 0, ROWS(words));
	tcase_add_test(cases, pattern_matches_the_whole_subject);
	tcase_add_test(cases, pattern_gives_mark_and_captures);
	tcase_add_test(cases, pattern_fills_only_the_given_captures);
	tcase_add_test(cases, pattern_is_shared_by_threads);
	tcase_add_test(cases, priority_is_lowered_for_one_thread);
	tcase_add_loop_test(cases, name_is_in_a_directory, 0, ROWS(names));
	tcase_add_test(cases, abort_logs_its_reason);
	tcase_add_loop_test(cases, a_counter_does_not_go_below_zero, 0, ROWS(counted));
	tcase_add_loop_test(cases, log_line_has_a_time_unless_the_journal_adds_it, 0,
			    ROWS(log_places));
	tcase_add_loop_test(cases, log_line_cannot_be_forged, 0, ROWS(log_lines));
	tcase_add_test(cases, long_log_line_is_cut);
	return suite_run(suite);
}
