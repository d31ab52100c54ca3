/* The reader of JSON: what it accepts, where it reports an error, and that it agrees with jansson
 * about every text that differs from a valid one by one change. The writer of JSON: jansson must
 * read back what was written.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "json_agree.h"
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

/* ---- texts ---- */

#define BYTES(literal) \
	{ \
		(literal), sizeof(literal) - 1 \
	}
#define TEN_OPEN "[[[[[[[[[["
#define TEN_CLOSE "]]]]]]]]]]"

/* clang-format off */
static const struct slice good_texts[] = {
	BYTES("{}"),
	BYTES(" {\t\"a\" :\r\n[ 1 , -2,0 ,-0, 9223372036854775807,-9223372036854775808 ] }\n"),
	BYTES("{\"\":\"\",\"a\":{\"a\":{}},\"b\":[[],{},[{}],true,false,null]}"),
	BYTES("{\"a\":1.5,\"b\":[-0.0,0e0,1E2,1e+2,1.25e-2,123456789012345678.5,1e-400,1e308]}"),
	BYTES("{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\":\"x\\u0041\\u00e4\\u20AC\\uD83d\\uDe00\\u0001 y\"}"),
	BYTES("{\"\xc3\xa4\":\"\x7f\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbf\"}"),
	BYTES("{\"a\":\"[{\\\"\",\"b\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[\"[{\"]]]]]]]]]"
	      TEN_CLOSE TEN_CLOSE "]]}"),
	BYTES("{\"one\":1,\"two\":2,\"three\":3,\"four\":4,\"five\":5,\"six\":6,\"seven\":7,"
	      "\"eight\":8,\"nine\":9,\"ten\":10,\"n\\u0069ne\\u002e\":11}"),
};

static const struct {
	struct slice text;
	size_t line, column;
	const char *sentence;
} flaws[] = {
	{ BYTES(""),                     1, 1,  "unexpected end of JSON" },
	{ BYTES(" \n "),                 2, 2,  "unexpected end of JSON" },
	{ BYTES("null"),                 1, 1,  "the top level must be an object" },
	{ BYTES("[]"),                   1, 1,  "the top level must be an object" },
	{ BYTES("\xef\xbb\xbf{}"),       1, 1,  "the top level must be an object" },
	{ BYTES("\0{}"),                 1, 1,  "NUL byte" },
	{ BYTES("{"),                    1, 2,  "unexpected end of JSON" },
	{ BYTES("{\"a\""),               1, 5,  "unexpected end of JSON" },
	{ BYTES("{\"a"),                 1, 4,  "unexpected end of JSON" },
	{ BYTES("{\"a\\"),               1, 5,  "unexpected end of JSON" },
	{ BYTES("{\"a\\u00"),            1, 8,  "unexpected end of JSON" },
	{ BYTES("{\"a\":tru"),           1, 9,  "unexpected end of JSON" },
	{ BYTES("{\"a\":-"),             1, 6,  "invalid token" },
	{ BYTES("{\"a\":1."),            1, 6,  "invalid token" },
	{ BYTES("{\"a\":1e+"),           1, 6,  "invalid token" },
	{ BYTES("{} {}"),                1, 4,  "unexpected text after the JSON object" },
	{ BYTES("{}\n\0"),               2, 1,  "NUL byte" },
	{ BYTES("{,}"),                  1, 2,  "expected a string or '}'" },
	{ BYTES("{1:2}"),                1, 2,  "expected a string or '}'" },
	{ BYTES("{\"\xc3\xa4\":\n \"\xc3\xa4\xc3\xa4\",}"),
	                                 2, 7,  "expected a string" },
	{ BYTES("{\"a\" 1}"),            1, 6,  "expected ':'" },
	{ BYTES("{\"a\":1 \"b\":2}"),    1, 8,  "expected ',' or '}'" },
	{ BYTES("{\"a\":[1 2]}"),        1, 9,  "expected ',' or ']'" },
	{ BYTES("{\"a\":[1}"),           1, 8,  "expected ',' or ']'" },
	{ BYTES("{\"a\":[,1]}"),         1, 7,  "invalid token" },
	{ BYTES("{\"a\":[1,]}"),         1, 9,  "invalid token" },
	{ BYTES("{\"a\":}"),             1, 6,  "invalid token" },
	{ BYTES("{\"a\":True}"),         1, 6,  "invalid token" },
	{ BYTES("{\"a\":trux}"),         1, 6,  "invalid token" },
	{ BYTES("{\"a\":\xc3\xa4}"),     1, 6,  "invalid token" },
	{ BYTES("{\"a\":01}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":-01}"),          1, 6,  "invalid token" },
	{ BYTES("{\"a\":+1}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":-x}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":.5}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":1.}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":1e}"),           1, 6,  "invalid token" },
	{ BYTES("{\"a\":1.e5}"),         1, 6,  "invalid token" },
	{ BYTES("{\"a\":1x}"),           1, 7,  "expected ',' or '}'" },
	{ BYTES("{\"a\":9223372036854775808}"), 1, 6, "number out of range" },
	{ BYTES("{\"a\":-9223372036854775809}"), 1, 6, "number out of range" },
	{ BYTES("{\"a\":1e400}"),        1, 6,  "number out of range" },
	{ BYTES("{\"a\":-1e400}"),       1, 6,  "number out of range" },
	{ BYTES("{\"a\":\"b\nc\"}"),     1, 8,  "control character in a string" },
	{ BYTES("{\"a\":\"b\0c\"}"),     1, 8,  "NUL byte" },
	{ BYTES("{\"a\":\"b\\x\"}"),     1, 9,  "invalid escape" },
	{ BYTES("{\"a\":\"\\u12g4\"}"),  1, 11, "invalid escape" },
	{ BYTES("{\"a\":\"\xc3\xa4\\u0000\"}"), 1, 8, "NUL character in a string" },
	{ BYTES("{\"\\u0000\":1}"),      1, 3,  "NUL character in a string" },
	{ BYTES("{\"a\":\"\\ud800\"}"),  1, 7,  "lone surrogate" },
	{ BYTES("{\"a\":\"\\udc00\"}"),  1, 7,  "lone surrogate" },
	{ BYTES("{\"a\":\"\\ud800\\u0041\"}"), 1, 7, "lone surrogate" },
	{ BYTES("{\"a\":\"\xc3\xa4" "b\xff\"}"), 1, 9, "not UTF-8" },
	{ BYTES("{\"a\":\"\xed\xa0\x80\"}"), 1, 7, "not UTF-8" },
	{ BYTES("{\"a\xc3\":1}"),        1, 4,  "not UTF-8" },
	{ BYTES("{\"a\":1,\"a\":2}"),    1, 8,  "duplicate member" },
	{ BYTES("{\"a\":{},\"\\u0061\":{}}"), 1, 9, "duplicate member" },
	{ BYTES("{\"a\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[["), 1, 37, "nested deeper than 32 levels" },
	{ BYTES("{\"a\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[{"), 1, 37, "nested deeper than 32 levels" },
};
/* clang-format on */

/* A stored text may be deeper than texts of clients, because it contains them in objects of
 * ours. */
START_TEST(a_stored_text_may_be_nested_more_deeply)
{
	for (size_t depth = 2; depth < 200; depth++) {
		struct buffer text = BUFFER_INITIAL(arena);
		struct json_flaw flaw = { 0 };

		buffer_append_text(&text, "{\"a\":");
		for (size_t i = 1; i < depth; i++)
			buffer_append_byte(&text, '[');
		for (size_t i = 1; i < depth; i++)
			buffer_append_byte(&text, ']');
		buffer_append_byte(&text, '}');
		ck_assert((json_text_read(arena, buffer_slice(&text), NULL) != NULL) ==
			  (depth <= JSON_TEXT_DEPTH));
		ck_assert((json_text_read_stored(arena, buffer_slice(&text), &flaw) != NULL) ==
			  (depth <= JSON_TEXT_STORED_DEPTH));
		ck_assert(depth <= JSON_TEXT_STORED_DEPTH ||
			  strcmp(flaw.sentence, "nested deeper than 64 levels") == 0);
	}
}
END_TEST

/* A text of another server may have a NUL character, and less than the arena can hold. */
START_TEST(a_foreign_text_may_not_fill_the_memory)
{
	const json_t *object =
		json_text_read_foreign(arena, SLICE("{\"a\\u0000\":\"\\u0000b\\u0000\"}"), NULL);
	struct buffer text = BUFFER_INITIAL(arena);
	struct json_flaw flaw;

	ck_assert_str_eq(json_string_value(json_object_get(object, "a\xef\xbf\xbd")),
			 "\xef\xbf\xbd"
			 "b\xef\xbf\xbd");
	ck_assert_ptr_null(json_text_read_foreign(arena, SLICE("{\"a\":\"\0\"}"), NULL));
	buffer_append_text(&text, "{\"a\":[{}");
	for (size_t i = 0; i < 10000; i++)
		buffer_append_text(&text, ",{}");
	buffer_append_text(&text, "]}");
	(void)arena_use_for_json(arena);
	arena_set_limit(arena, (size_t)1 << 20);
	ck_assert_ptr_null(json_text_read_foreign(arena, buffer_slice(&text), &flaw));
	ck_assert_str_eq(flaw.sentence, "too large");
	ck_assert_uint_lt(arena_used(arena), (size_t)3 << 19);
	arena_set_limit(arena, (size_t)8 << 20);
	ck_assert_ptr_nonnull(json_text_read_foreign(arena, buffer_slice(&text), NULL));
	(void)arena_use_for_json(NULL);
}
END_TEST

START_TEST(an_error_is_reported_at_its_place)
{
	struct json_flaw flaw;

	ck_assert_ptr_null(json_text_read(arena, flaws[_i].text, &flaw));
	ck_assert_str_eq(flaw.sentence, flaws[_i].sentence);
	ck_assert_uint_eq(flaw.line, flaws[_i].line);
	ck_assert_uint_eq(flaw.column, flaws[_i].column);
	ck_assert_ptr_null(json_text_read(arena, flaws[_i].text, NULL));
}
END_TEST

/* clang-format off */
/* Each text is an array, an object, or neither. */
static const struct {
	struct slice text;
	const char *of_array; /* NULL if it is an array */
	const char *of_object;
} tops[] = {
	{ BYTES(" [ ] "), NULL, "the top level must be an object" },
	{ BYTES("[{\"a\":[1]},null]"), NULL, "the top level must be an object" },
	{ BYTES("{\"a\":[]}"), "the top level must be an array", NULL },
	{ BYTES("1"), "the top level must be an array", "the top level must be an object" },
	{ BYTES("[]]"), "unexpected text after the JSON array", "the top level must be an object" },
	{ BYTES("{}["), "the top level must be an array", "unexpected text after the JSON object" },
	{ BYTES("[1"), "unexpected end of JSON", "the top level must be an object" },
};
/* clang-format on */

static void expect_flaw(const json_t *value, const struct json_flaw *flaw, const char *expected)
{
	ck_assert((value == NULL) == (expected != NULL));
	if (expected != NULL)
		ck_assert_str_eq(flaw->sentence, expected);
}

START_TEST(the_top_level_is_an_array_or_an_object)
{
	struct json_flaw flaw;
	const json_t *value = json_text_read_list(arena, tops[_i].text, &flaw);

	expect_flaw(value, &flaw, tops[_i].of_array);
	value = json_text_read(arena, tops[_i].text, &flaw);
	expect_flaw(value, &flaw, tops[_i].of_object);
}
END_TEST

START_TEST(a_valid_text_gives_what_jansson_gives)
{
	ck_assert_ptr_nonnull(json_text_read(arena, good_texts[_i], NULL));
	ck_assert(json_agrees(arena, good_texts[_i]));
}
END_TEST

/* Uses memory of exactly the text's size, so that the sanitizer notices reads beyond it. */
static void expect_agreement(struct slice before, char byte, struct slice behind, bool has_byte)
{
	size_t size = before.size + has_byte + behind.size;
	char *text = malloc(size + (size == 0));

	ck_assert_ptr_nonnull(text);
	if (before.size > 0)
		memcpy(text, before.data, before.size);
	text[before.size < size ? before.size : 0] = byte;
	if (behind.size > 0)
		memcpy(text + size - behind.size, behind.data, behind.size);
	ck_assert_msg(json_agrees(arena, (struct slice){ text, size }), "%.*s", (int)size, text);
	free(text);
	arena_reset(arena);
}

/* Cuts the text at every place, drops every byte, and replaces every byte with each byte that
 * has a meaning in JSON, or inserts one before it. */
START_TEST(a_nearly_valid_text_is_judged_as_by_jansson)
{
	static const char bytes[] = "{}[]:,\"\\ \n\t/ubte0aD.+-Ex8\x1f\x7f\x80\xc3\xed\xf4\xff";
	struct slice text = good_texts[_i];

	for (size_t i = 0; i < text.size; i++) {
		struct slice before = { text.data, i };
		struct slice from = { text.data + i, text.size - i };
		struct slice behind = { text.data + i + 1, text.size - i - 1 };

		expect_agreement(before, '\0', (struct slice){ NULL, 0 }, false);
		expect_agreement(before, '\0', behind, false);
		for (size_t k = 0; k < sizeof bytes; k++) {
			expect_agreement(before, bytes[k], behind, true);
			expect_agreement(before, bytes[k], from, true);
		}
	}
}
END_TEST

/* ---- numbers ---- */

static const struct {
	const char *literal;
	bool is_integer;
	const char *written; /* NULL if too large */
} reals[] = {
	{ "32.0", true, "32" },
	{ "3.2e1", true, "32" },
	{ "320e-1", true, "32" },
	{ "0.32E+2", true, "32" },
	{ "-0.0", false, "-0.0" },
	{ "-0", false, "-0.0" },
	{ "0e99999999999999999999", true, "0" },
	{ "0.000e-99999999999999999999", true, "0" },
	{ "1.5", false, "1.5" },
	{ "-1.25e-1", false, "-0.125" },
	{ "30.000000000000000000", true, "30" },
	{ "300000000000000000000000e-22", true, "30" },
	{ "29.999999999999999999", false, "30" },
	{ "30.000000000000000001", false, "30" },
	{ "-29.999999999999999999", false, "-30" },
	{ "2999999999999999999999e-20", false, "30" },
	{ "0.3000000000000000000001e2", false, "30" },
	{ "1e-400", false, "0" },
	{ "-1e-400", false, "0" },
	{ "1e-99999999999999999999", false, "0" },
	{ "5e-324", false, "4.94065645841247e-324" },
	{ "0.12345678901234566", false, "0.12345678901234566" },
	{ "0.3333333333333333", false, "0.3333333333333333" },
	{ "4503599627370495.5", false, "4503599627370495.5" },
	{ "4503599627370496.3", false, "4503599627370496" },
	{ "-6267453810119131.2", false, "-6267453810119131" },
	{ "-9007199254740990.7", false, "-9007199254740991" },
	{ "9007199254740991.0", true, "9007199254740991" },
	{ "9007199254740992.0", false, "9007199254740992.0" },
	{ "9007199254740992.5", false, "9007199254740992.0" },
	{ "1e308", false, "1e308" },
	{ "1.7976931348623157e308", false, "1.7976931348623157e308" },
	{ "-1.7976931348623157e308", false, "-1.7976931348623157e308" },
	{ "1.8e308", false, NULL },
	{ "1e309", false, NULL },
	{ "-1e99999999999999999999", false, NULL },
};

START_TEST(a_real_is_only_an_integer_if_written_as_one)
{
	const struct slice literal = slice_of(reals[_i].literal);
	bool is_real, is_integer;
	double value;

	ck_assert_uint_eq(text_number(literal, &is_real).size, literal.size);
	ck_assert(is_real);
	is_real = text_real(arena, literal, &value, &is_integer);
	ck_assert_int_eq(is_real, reals[_i].written != NULL);
	ck_assert(!is_real || is_integer == reals[_i].is_integer);
}
END_TEST

/* A real that was read is written as the same number, and reading and writing it again gives the
 * same text. */
START_TEST(a_real_is_written_so_that_it_reads_back)
{
	const double sent = strtod(reals[_i].literal, NULL);
	struct slice text = slice_of(arena_text(arena, "{\"a\":%s}", reals[_i].literal));

	for (int times = 0; reals[_i].written != NULL && times < 3; times++) {
		json_t *object = json_text_read(arena, text, NULL);
		const double read = json_number_value(json_object_get(object, "a"));

		ck_assert_ptr_nonnull(object);
		ck_assert(!(read < sent || read > sent));
		text = json_as_text(arena, object);
		ck_assert_str_eq(arena_copy(arena, text).data,
				 arena_text(arena, "{\"a\":%s}", reals[_i].written));
	}
}
END_TEST

/* ---- the writer ---- */

static const char *const written_texts[] = {
	"",
	"plain",
	"{[,]}",
	"\"quoted\" \\ / \b\f\n\r\t\x01\x1f",
	">?~\x7f",
	"\xc2\x80\xc3\xa4\xdf\xbf",
	"\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbf",
	"\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf!",
};

static struct slice written_with(const char *text, bool for_jwt)
{
	struct json_writer writer = writer_begin(arena, for_jwt);

	writer_text(&writer, "text", slice_of(text));
	writer_name(&writer, slice_of(text));
	writer_text(&writer, NULL, slice_of(text));
	writer_open(&writer, "object", '{');
	writer_close(&writer, '}');
	writer_open(&writer, "list", '[');
	writer_text(&writer, NULL, slice_of(text));
	writer_integer(&writer, NULL, INT64_MIN);
	writer_open(&writer, NULL, '{');
	writer_flag(&writer, "no", false);
	writer_flag(&writer, "yes", true);
	writer_close(&writer, '}');
	writer_close(&writer, ']');
	return writer_end(&writer);
}

START_TEST(jansson_reads_what_was_written)
{
	const char *text = written_texts[_i];
	json_t *expected = arena_json(
		arena, json_pack("{s:s, s:s, s:{}, s:[s, I, {s:b, s:b}]}", "text", text, text, text,
				 "object", "list", text, (json_int_t)INT64_MIN, "no", 0, "yes", 1));

	for (int for_jwt = 0; for_jwt < 2; for_jwt++) {
		const struct slice written = written_with(text, for_jwt != 0);
		json_t *read = arena_json(arena, json_loadb(written.data, written.size, 0, NULL));

		ck_assert_msg(json_equal(read, expected), "%.*s", (int)written.size, written.data);
	}
}
END_TEST

/* The length of what precedes the payload determines where in a group of four letters the payload
 * begins. */
START_TEST(plain_base64_reads_a_payload)
{
	struct buffer before = BUFFER_INITIAL(arena);

	for (int i = 0; i < 3; i++) {
		struct buffer text = BUFFER_INITIAL(arena);
		struct slice written;

		buffer_append(&text, buffer_slice(&before));
		buffer_append_text(&text, written_texts[_i]);
		written = text_base64url(
			arena, written_with(arena_copy(arena, buffer_slice(&text)).data, true));
		ck_assert_ptr_null(memchr(written.data, '-', written.size));
		ck_assert_ptr_null(memchr(written.data, '_', written.size));
		buffer_append_byte(&before, ' ');
	}
}
END_TEST

/* Returns a token's text with this byte at this place, among letters. */
static struct slice token_with(size_t size, size_t place, char byte)
{
	struct json_writer writer = writer_begin(arena, true);
	char text[17];

	memset(text, 'a', sizeof text);
	text[place] = byte;
	writer_text(&writer, NULL, (struct slice){ text, size });
	return writer_end(&writer);
}

START_TEST(a_token_escapes_these_bytes_everywhere)
{
	const int byte = _i;
	const bool is_escaped = byte < 0x20 || byte == 0x7f || strchr("\"\\>?~", byte) != NULL;
	const char *shown = arena_text(arena, is_escaped ? "\\u%04x" : "%c", byte);

	for (size_t size = 1; size <= 17; size++) {
		for (size_t place = 0; place < size; place++)
			ck_assert(
				slice_is(token_with(size, place, (char)byte),
					 arena_text(arena, "{\"%.*s%s%.*s\"}", (int)place,
						    "aaaaaaaaaaaaaaaaa", shown,
						    (int)(size - place - 1), "aaaaaaaaaaaaaaaaa")));
	}
}
END_TEST

START_TEST(a_plain_text_is_written_as_it_is)
{
	for (int named = 0; named < 2; named++) {
		const char *name = named != 0 ? "token" : NULL;
		struct json_writer plain = writer_begin(arena, false);
		struct json_writer text = writer_begin(arena, false);

		for (int i = 0; i < 2; i++) {
			writer_plain(&plain, name, SLICE("eyJ-._Q"));
			writer_text(&text, name, SLICE("eyJ-._Q"));
		}
		ck_assert(slice_equal(writer_end(&plain), writer_end(&text)));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *cases = tcase_create("json");

	suite_add_tcase(suite, cases);
	tcase_add_checked_fixture(cases, open_arena, close_arena);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, an_error_is_reported_at_its_place, 0, ROWS(flaws));
	tcase_add_loop_test(cases, the_top_level_is_an_array_or_an_object, 0, ROWS(tops));
	tcase_add_test(cases, a_stored_text_may_be_nested_more_deeply);
	tcase_add_test(cases, a_foreign_text_may_not_fill_the_memory);
	tcase_add_loop_test(cases, a_valid_text_gives_what_jansson_gives, 0, ROWS(good_texts));
	tcase_add_loop_test(cases, a_nearly_valid_text_is_judged_as_by_jansson, 0,
			    ROWS(good_texts));
	tcase_add_loop_test(cases, a_real_is_only_an_integer_if_written_as_one, 0, ROWS(reals));
	tcase_add_loop_test(cases, a_real_is_written_so_that_it_reads_back, 0, ROWS(reals));
	tcase_add_loop_test(cases, a_token_escapes_these_bytes_everywhere, 0, 0x80);
	tcase_add_test(cases, a_plain_text_is_written_as_it_is);
	tcase_add_loop_test(cases, jansson_reads_what_was_written, 0, ROWS(written_texts));
	tcase_add_loop_test(cases, plain_base64_reads_a_payload, 0, ROWS(written_texts));
	return suite_run(suite);
}
