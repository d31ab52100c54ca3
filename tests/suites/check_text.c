/* Texts in requests and responses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/text_name.h"
#include "base/time_zone.h"
#include "directory.h"
#include "resources/code_typed.h"
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

/* --- Percent-encoding --- */

/* clang-format off */
static const struct {
	enum text_place place;
	const char *encoded;
	const char *decoded;	/* NULL if refused */
} encoded_texts[] = {
	{ TEXT_PATH,  "",                    "" },
	{ TEXT_PATH,  "host",                "host" },
	{ TEXT_PATH,  "a%20b",               "a b" },
	{ TEXT_PATH,  "a+b",                 "a+b" },
	{ TEXT_PATH,  "%C3%a4",              "\xc3\xa4" },
	{ TEXT_PATH,  "%2541",               "%41" },
	{ TEXT_PATH,  "%2F",                 NULL },
	{ TEXT_PATH,  "a%2fb",               NULL },
	{ TEXT_PATH,  "%00",                 NULL },
	{ TEXT_PATH,  "%",                   NULL },
	{ TEXT_PATH,  "%4",                  NULL },
	{ TEXT_PATH,  "%4g",                 NULL },
	{ TEXT_PATH,  "% 4",                 NULL },
	{ TEXT_PATH,  "%-1",                 NULL },
	{ TEXT_PATH,  "%C3",                 NULL },
	{ TEXT_PATH,  "%C0%AF",              NULL },
	{ TEXT_PATH,  "%ED%A0%80",           NULL },
	{ TEXT_PATH,  "\xff",                NULL },
	{ TEXT_QUERY, "a+b%2Bc",             "a b+c" },
	{ TEXT_QUERY, "2026-01-31T12%3a00Z", "2026-01-31T12:00Z" },
	{ TEXT_QUERY, "a%2Fb/c",             "a/b/c" },
	{ TEXT_QUERY, "%00",                 NULL },
	{ TEXT_QUERY, "%zz",                 NULL },
	{ TEXT_QUERY, "%F5%80%80%80",        NULL },
};
/* clang-format on */

START_TEST(text_is_decoded_once)
{
	struct slice decoded;
	bool is_decoded = text_decode(arena, slice_of(encoded_texts[_i].encoded),
				      encoded_texts[_i].place, &decoded);

	ck_assert_int_eq(is_decoded, encoded_texts[_i].decoded != NULL);
	if (is_decoded)
		ck_assert_str_eq(decoded.data, encoded_texts[_i].decoded);
}
END_TEST

START_TEST(raw_zero_byte_is_refused)
{
	struct slice decoded;

	ck_assert(!text_decode(arena, (struct slice){ "a\0b", 3 }, TEXT_PATH, &decoded));
}
END_TEST

/* clang-format off */
static const struct {
	const char *text, *shown;
} visible_texts[] = {
	{ "",                   "" },
	{ "a b~\xc3\xab\xc2\xa0", "a b~\xc3\xab\xc2\xa0" },
	{ "\x1b[1m\n\x7f",      "\\x1b[1m\\x0a\\x7f" },
	{ "\xc2\x80\xc2\x9f.",  "\\xc2\\x80\\xc2\\x9f." },
	{ "\xc2",               "\\xc2" },
	{ "\xc3\xab\x9b" "1m",   "\\xc3\\xab\\x9b1m" },
};
/* clang-format on */

START_TEST(control_characters_are_shown)
{
	ck_assert(slice_is(text_visible(arena, slice_of(visible_texts[_i].text)),
			   visible_texts[_i].shown));
}
END_TEST

/* clang-format off */
static const struct {
	const char *text, *clean;
	size_t in_json; /* at least */
} typed_names[] = {
	{ "Ada",                          "Ada",       5 },
	{ "",                             "",          2 },
	{ "Ada\tL\nB\vC\fD\rE\r\nF",      "Ada L B C D E F", 2 + 9 + 7 * 6 },
	{ "a\x01" "b\x1b[1mc\x7f",         "ab[1mc",    20 },
	{ "\xc2\x80\xc2\x9f\xc2\xa0\xc3\xab", "\xc2\xa0\xc3\xab", 10 },
	{ "a\xc2\x85" "b\xe2\x80\xa8" "c\xe2\x80\xa9" "d\xe2\x80\xaa", "a b c d\xe2\x80\xaa", 17 },
	{ "\"\\",                         "\"\\",      6 },
	{ "\x01\x02",                     "",          14 },
};
/* clang-format on */

START_TEST(typed_names_have_no_control_characters)
{
	const struct slice text = slice_of(typed_names[_i].text);
	const bool is_clean = strcmp(typed_names[_i].text, typed_names[_i].clean) == 0;
	char clean[64];

	ck_assert_int_eq(text_has_controls(text), !is_clean);
	ck_assert(slice_is((struct slice){ clean, text_without_controls(text, clean) },
			   typed_names[_i].clean));
	ck_assert_uint_ge(text_size_in_json(text), typed_names[_i].in_json);
	ck_assert_uint_ge(text_size_in_json(text),
			  json_as_text(arena, arena_json(arena, json_of_text(text))).size);
}
END_TEST

/* clang-format off */
static const struct {
	const char *json, *shown;
} visible_jsons[] = {
	{ "{\n\t\"a\": \"\\u001b\xc3\xab\"}",  "{\n\t\"a\": \"\\u001b\xc3\xab\"}" },
	{ "[\"\x7f\xc2\x80\xc2\x9f\xc2\xa0\"]",   "[\"\\u007f\\u0080\\u009f\xc2\xa0\"]" },
	{ "[1]\r\n",                         "[1] \n" },
};
/* clang-format on */

START_TEST(json_for_a_terminal_is_the_same_json)
{
	const struct slice shown = text_visible_json(arena, slice_of(visible_jsons[_i].json));
	json_t *before = json_loads(visible_jsons[_i].json, 0, NULL);
	json_t *after = json_loadb(shown.data, shown.size, 0, NULL);

	ck_assert(slice_is(shown, visible_jsons[_i].shown));
	ck_assert(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}
END_TEST

/* clang-format off */
static const struct {
	const char *path, *name, *value;
	const char *whole;
} written_parameters[] = {
	{ "/a",     "b", "c",        "/a?b=c" },
	{ "/a?b=c", "d", "e",        "/a?b=c&d=e" },
	{ "/a",     "b", NULL,       "/a" },
	{ "/a",     "b", "",         "/a?b=" },
	{ "/a",     "b", "aZ09-._~", "/a?b=aZ09-._~" },
	{ "/a",     "b", " +&=%/?#", "/a?b=%20%2B%26%3D%25%2F%3F%23" },
	{ "/a",     "b", "\xc3\xab\n", "/a?b=%C3%AB%0A" },
};
/* clang-format on */

START_TEST(parameter_is_encoded)
{
	struct buffer path = BUFFER_INITIAL(arena);

	buffer_append_text(&path, written_parameters[_i].path);
	text_append_parameter(&path, written_parameters[_i].name, written_parameters[_i].value);
	buffer_append_byte(&path, '\0');
	ck_assert_str_eq(path.data, written_parameters[_i].whole);
}
END_TEST

/* clang-format off */
static const struct {
	const char *query;
	const char *shown;	/* "name=value;" for each parameter, without '=' if it had none */
	const char *bad;
} queries[] = {
	{ "",                       "",                    NULL },
	{ "limit=10",               "limit=10;",           NULL },
	{ "a=1&&b=2&",              "a=1;b=2;",            NULL },
	{ "b=1&a=2&b=3",            "b=1;a=2;b=3;",        NULL },
	{ "start=&flag",            "start=;flag;",        NULL },
	{ "name=a%26b%3Dc+d&x=a=b", "name=a&b=c d;x=a=b;", NULL },
	{ "n%61me=x",               "name=x;",             NULL },
	{ "=x",                     "=x;",                 NULL },
	{ "&",                      "",                    NULL },
	{ "a=1&b=%4&c=%",           NULL,                  "b=%4" },
	{ "a%=1",                   NULL,                  "a%=1" },
	{ "a=%ff",                  NULL,                  "a=%ff" },
};
/* clang-format on */

START_TEST(query_is_split_then_decoded)
{
	struct parameter *parameters;
	struct slice bad = { NULL, 0 };
	struct buffer shown = BUFFER_INITIAL(arena);
	size_t n;

	if (!text_query(arena, slice_of(queries[_i].query), &parameters, &n, &bad)) {
		ck_assert_ptr_nonnull(queries[_i].bad);
		ck_assert(slice_is(bad, queries[_i].bad));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		buffer_append(&shown, parameters[i].name);
		if (parameters[i].value.data != NULL)
			buffer_append_byte(&shown, '=');
		buffer_append(&shown, parameters[i].value);
		buffer_append_byte(&shown, ';');
	}
	ck_assert_ptr_null(queries[_i].bad);
	ck_assert(slice_is(buffer_slice(&shown), queries[_i].shown));
}
END_TEST

/* --- UTF-8 --- */

/* clang-format off */
static const struct {
	const char *text;
	bool is_utf8;
	size_t characters;
} utf8_texts[] = {
	{ "",                         true,  0 },
	{ "abc",                      true,  3 },
	{ "\x7f",                     true,  1 },
	{ "\xc2\x80\xdf\xbf",         true,  2 },
	{ "\xe0\xa0\x80\xef\xbf\xbf", true,  2 },
	{ "\xed\x9f\xbf\xee\x80\x80", true,  2 },
	{ "\xf0\x90\x80\x80",         true,  1 },
	{ "\xf4\x8f\xbf\xbf",         true,  1 },
	{ "a\xe2\x82\xac" "b",        true,  3 },
	{ "\x80",                     false, 0 },
	{ "\xc1\xbf",                 false, 0 },
	{ "\xe0\x9f\xbf",             false, 0 },
	{ "\xed\xa0\x80",             false, 0 },
	{ "\xf0\x8f\xbf\xbf",         false, 0 },
	{ "\xf4\x90\x80\x80",         false, 0 },
	{ "\xf5\x80\x80\x80",         false, 0 },
	{ "\xff",                     false, 0 },
	{ "\xc3",                     false, 0 },
	{ "\xe2\x82",                 false, 0 },
	{ "\xf0\x9f\x98",             false, 0 },
	{ "\xc3" "a",                 false, 0 },
	{ "\xe2\x82" "a",             false, 0 },
};
/* clang-format on */

START_TEST(utf8_is_recognised)
{
	struct slice text = slice_of(utf8_texts[_i].text);

	ck_assert_int_eq(text_is_utf8(text), utf8_texts[_i].is_utf8);
	if (utf8_texts[_i].is_utf8)
		ck_assert_uint_eq(text_characters(text), utf8_texts[_i].characters);
}
END_TEST

/* An incomplete character at the end must not read beyond the slice. */
START_TEST(utf8_is_not_read_beyond_its_slice)
{
	char *text = malloc(2);

	memcpy(text, "\xe2\x82", 2);
	ck_assert(!text_is_utf8((struct slice){ text, 2 }));
	free(text);
}
END_TEST

static void require_plain(struct slice text, size_t size, bool is_ascii)
{
	struct plain plain = text_plain(text);

	ck_assert_uint_eq(plain.size, size);
	ck_assert_int_eq(plain.is_ascii, is_ascii);
}

START_TEST(plain_text_ends_before_escaped_characters)
{
	for (int byte = 0; byte < 256; byte++) {
		const char text[] = { 'a', (char)byte, 'b' };
		bool stops = byte < 0x20 || byte == '"' || byte == '\\';

		require_plain((struct slice){ text, 3 }, stops ? 1 : 3, stops || byte < 0x80);
	}
	require_plain(SLICE(""), 0, true);
	require_plain(SLICE("\"\xc3\xa4"), 0, true);
	require_plain(SLICE("\xc3\xa4\""), 2, false);
}
END_TEST

START_TEST(text_is_cut_between_characters)
{
	static const size_t kept[] = { 0, 1, 1, 1, 4, 5, 5, 7, 7 };
	struct slice text = SLICE("a\xe2\x82\xac"
				  "b\xc3\xa4");

	for (size_t most = 0; most < ROWS(kept); most++) {
		struct slice cut = text_cut(text, most);

		ck_assert_ptr_eq(cut.data, text.data);
		ck_assert_uint_eq(cut.size, kept[most]);
	}
}
END_TEST

/* Names that look alike. */
static const char *const folded[][2] = {
	{ "AZ[@`az", "az[@`az" },
	{ " Anna\tK.\xc2\xa0 ", "annak." },
	{ "ZO\xc3\x8b\xe2\x80\x8b", "zo\xc3\xab" },
	{ "\xc3\x97\xc3\x9e\xc3\xb7\xc3\x9f", "\xc3\x97\xc3\xbe\xc3\xb7\xc3\x9f" },
	{ "\xc4\x8c\xc4\x8d\xc5\xbd\xc5\x82", "\xc4\x8d\xc4\x8d\xc5\xbe\xc5\x82" },
	{ "\xce\xa9\xcf\x83", "\xcf\x89\xcf\x83" },
	{ "\xd0\x81\xd0\x90\xd0\xaf\xd1\x8f", "\xd1\x91\xd0\xb0\xd1\x8f\xd1\x8f" },
	{ "\xe4\xb8\xad\xf0\x9f\x98\x80", "\xe4\xb8\xad\xf0\x9f\x98\x80" },
	{ " ", "" },
};

START_TEST(names_are_folded)
{
	const struct slice is = text_folded(arena, slice_of(folded[_i][0]));

	ck_assert_msg(slice_equal(is, slice_of(folded[_i][1])), "%.*s", (int)is.size, is.data);
}
END_TEST

static const struct {
	const char *text, *part;
	bool contains;
} contained[] = {
	{ "", "", true },
	{ "a", "", true },
	{ "", "a", false },
	{ "Klasse 7b", "SE 7", true },
	{ "Klasse 7b", "se7", false },
	{ "\xc3\x9c"
	  "bung",
	  "\xc3\xbc"
	  "BUNG",
	  true },
	{ "aab", "ab", true },
	{ "ab", "abc", false },
	{ "Kla\xc2\xadsse", "klass", true },
	{ "\xe2\x80\x8b", "a", false },
	{ "\xe6\x95\xb0\xe5\xad\xa6", "\xe5\xad\xa6", true },
};

START_TEST(words_are_found_as_people_see_them)
{
	const struct slice text = slice_of(contained[_i].text), part = slice_of(contained[_i].part);

	ck_assert_int_eq(text_contains_folded(text, part), contained[_i].contains);
}
END_TEST

/* The control characters of the bidirectional algorithm, and those around them. */
static const char *const bidi[][2] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "\xd7\xa9\xd7\x9c", "\xd7\xa9\xd7\x9c" },
	{ "a\xd8\x9c"
	  "b\xe2\x80\x8e\xe2\x80\x8f"
	  "c",
	  "abc" },
	{ "\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "" },
	{ "x\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "x" },
	{ "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
	  "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa" },
};

START_TEST(text_is_shown_without_bidi_controls)
{
	const struct slice is = text_without_bidi(arena, slice_of(bidi[_i][0]));

	ck_assert_msg(slice_equal(is, slice_of(bidi[_i][1])), "%.*s", (int)is.size, is.data);
}
END_TEST

/* What makes two names the same. */
static const char *const name_keys[][2] = {
	{ "Anna", "anna" },
	{ " Anna\tB. \n", "anna b." },
	{ "\x01"
	  "A\x7f"
	  "b",
	  "ab" },
	{ "  ", "" },
	{ "", "" },
	{ "A\xe2\x80\x8b\xe2\x81\xa0n\xc2\xad", "an" },
	{ "\xe2\x80\x8b\xe3\x85\xa4\xe2\xa0\x80", "" },
	{ "A\xc2\xa0\xe3\x80\x80\xe2\xa0\x80"
	  "B",
	  "a b" },
	{ "\xef\xbc\xa1\xef\xbc\x82", "a\"" },
	{ "\xef\xac\x81", "fi" },
	{ "Stra\xc3\x9f"
	  "e",
	  "strasse" },
	{ "Zoe\xcc\x88", "zo\xc3\xab" },
	{ "\xd0\x90\xd0\x9d", "\xd0\xb0\xd0\xbd" },
	{ "\xce\xa3\xcf\x82", "\xcf\x83\xcf\x83" },
	{ "\xd4\xb1", "\xd5\xa1" },
	{ "\xe4\xb8\xad\xf0\x9f\x98\x80\xef\xb8\x8f", "\xe4\xb8\xad\xf0\x9f\x98\x80" },
};

START_TEST(names_have_keys)
{
	const struct slice is = text_name_key(arena, slice_of(name_keys[_i][0]));

	ck_assert_msg(slice_equal(is, slice_of(name_keys[_i][1])), "%.*s", (int)is.size, is.data);
}
END_TEST

static const struct {
	const char *key;
	bool in_brackets;
	uint32_t number;
	const char *base;
} numbered_names[] = {
	{ "anna (2)", true, 2, "anna" },
	{ "anna (999999)", true, 999999, "anna" },
	{ "anna (1000000)", true, 0, "anna (1000000)" },
	{ "anna (1)", true, 0, "anna (1)" },
	{ "anna (0)", true, 0, "anna (0)" },
	{ "anna (02)", true, 0, "anna (02)" },
	{ "anna(2)", true, 0, "anna(2)" },
	{ " (2)", true, 0, " (2)" },
	{ "(2)", true, 0, "(2)" },
	{ "2)", true, 0, "2)" },
	{ ")", true, 0, ")" },
	{ "anna ()", true, 0, "anna ()" },
	{ "anna (2) ", true, 0, "anna (2) " },
	{ "anna 2", true, 0, "anna 2" },
	{ "", true, 0, "" },
	{ "guest 1", false, 1, "guest" },
	{ "guest 1 2", false, 2, "guest 1" },
	{ "guest 0", false, 0, "guest 0" },
	{ "guest1", false, 0, "guest1" },
	{ "1", false, 0, "1" },
	{ " 1", false, 0, " 1" },
	{ "guest (2)", false, 0, "guest (2)" },
	{ "", false, 0, "" },
};

START_TEST(names_have_numbers)
{
	struct slice base;
	const uint32_t number = text_name_number(slice_of(numbered_names[_i].key),
						 numbered_names[_i].in_brackets, &base);

	ck_assert_uint_eq(number, numbered_names[_i].number);
	ck_assert(slice_is(base, numbered_names[_i].base));
	if (number > 0)
		ck_assert(slice_is(text_name_numbered(arena, base, numbered_names[_i].in_brackets,
						      number, 100),
				   numbered_names[_i].key));
}
END_TEST

START_TEST(long_names_make_room_for_a_number)
{
	ck_assert(slice_is(text_name_numbered(arena, SLICE("abc\xc3\xa4"), true, 2, 9),
			   "abc\xc3\xa4 (2)"));
	ck_assert(slice_is(text_name_numbered(arena, SLICE("abc\xc3\xa4"), true, 2, 8), "abc (2)"));
	ck_assert(slice_is(text_name_numbered(arena, SLICE("abc"), false, 10, 5), "ab 10"));
}
END_TEST

START_TEST(bidi_controls_are_removed_in_place)
{
	char text[] = "a\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae"
		      "b"
		      "\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9"
		      "c\xe2\x80";
	const struct slice whole = { text, sizeof text - 1 };

	ck_assert(text_has_bidi(whole));
	ck_assert_uint_eq(text_remove_bidi(whole, text), 5);
	ck_assert_int_eq(memcmp(text, "abc\xe2\x80", 5), 0);
	ck_assert(!text_has_bidi(SLICE("\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"
				       "\xe2\x80\x90\xd8\x9b")));
}
END_TEST

START_TEST(case_is_ignored_only_in_ascii_letters)
{
	char camel[11];

	ck_assert(slice_is(text_lower(arena, SLICE("AZaz09[@`{\xc3\x84")), "azaz09[@`{\xc3\x84"));
	text_camel_case("joined_at_ms", camel, sizeof camel);
	ck_assert_str_eq(camel, "joinedAtMs");
	ck_assert(text_begins_ignoring_case(SLICE("WSS://x"), SLICE("wss://")));
	ck_assert(!text_begins_ignoring_case(SLICE("WSS:/"), SLICE("wss://")));
	ck_assert(text_contains_ignoring_case(SLICE("Lesson 7"), SLICE("SSON")));
	ck_assert(text_contains_ignoring_case(SLICE("Lesson 7"), SLICE("n 7")));
	ck_assert(text_contains_ignoring_case(SLICE("Lesson 7"), SLICE("lesson 7")));
	ck_assert(text_contains_ignoring_case(SLICE(""), SLICE("")));
	ck_assert(!text_contains_ignoring_case(SLICE("Lesson 7"), SLICE("lessons")));
	ck_assert(!text_contains_ignoring_case(SLICE("Lesson 7"), SLICE("lesson 77")));
	ck_assert(text_equal_ignoring_case(SLICE("Bearer"), SLICE("bEARER")));
	ck_assert(!text_equal_ignoring_case(SLICE("Bearer"), SLICE("Beare")));
	ck_assert(!text_equal_ignoring_case(SLICE("@"), SLICE("`")));
	ck_assert(!text_equal_ignoring_case(SLICE("\xc3\x84"), SLICE("\xc3\xa4")));
}
END_TEST

/* --- Numbers --- */

/* clang-format off */
static const struct {
	const char *text;
	bool is_integer;
	int64_t value;
} integers[] = {
	{ "0",                    true,  0 },
	{ "-0",                   true,  0 },
	{ "10",                   true,  10 },
	{ "007",                  true,  7 },
	{ "-25",                  true,  -25 },
	{ "9223372036854775807",  true,  INT64_MAX },
	{ "-9223372036854775808", true,  INT64_MIN },
	{ "9223372036854775808",  false, 0 },
	{ "-9223372036854775809", false, 0 },
	{ "99999999999999999999", false, 0 },
	{ "",                     false, 0 },
	{ "-",                    false, 0 },
	{ "--1",                  false, 0 },
	{ "+1",                   false, 0 },
	{ " 1",                   false, 0 },
	{ "1 ",                   false, 0 },
	{ "1.0",                  false, 0 },
	{ "1e1",                  false, 0 },
	{ "0x10",                 false, 0 },
	{ "1:",                   false, 0 },
	{ "1/",                   false, 0 },
};
/* clang-format on */

START_TEST(integer_consists_of_digits)
{
	int64_t value = 0;

	ck_assert_int_eq(text_integer(slice_of(integers[_i].text), &value),
			 integers[_i].is_integer);
	ck_assert_int_eq(value, integers[_i].value);
}
END_TEST

/* --- Times --- */

#define REFUSED INT64_MIN

/* clang-format off */
static const struct {
	const char *text;
	int64_t time;
} times[] = {
	{ "1970-01-01T00:00:00Z",             0 },
	{ "1970-01-01",                       0 },
	{ "1970-01-01T00:00:00.001Z",         1 },
	{ "1969-12-31T23:59:59.999Z",         -1 },
	{ "2026-01-31T12:34:56.789Z",         1769862896789 },
	{ "2026-01-31T12:34:56.7899999999Z",  1769862896789 },
	{ "2026-01-31T12:34:56.7Z",           1769862896700 },
	{ "2026-01-31t12:34:56z",             1769862896000 },
	{ "2026-01-31T12:34:56+01:30",        1769857496000 },
	{ "2026-01-31T12:34:56-23:59",        1769949236000 },
	{ "2026-01-31T12:34:56-00:00",        1769862896000 },
	{ "2000-02-29",                       951782400000 },
	{ "2024-02-29T00:00:00Z",             1709164800000 },
	{ "2024-03-01",                       1709251200000 },
	{ "1900-02-28",                       -2203977600000 },
	{ "0001-01-01T00:00:00Z",             -62135596800000 },
	{ "9999-12-31T23:59:59.999Z",         253402300799999 },
	{ "2016-12-31T23:59:60Z",             1483228799999 },
	{ "2016-12-31T23:59:60.5Z",           1483228799999 },
	{ "2017-01-01T00:59:60+01:00",        1483228799999 },
	{ "0000-12-31T23:59:59Z",             REFUSED },
	{ "0001-01-01T00:00:00+00:01",        REFUSED },
	{ "9999-12-31T23:59:59-00:01",        REFUSED },
	{ "2023-02-29",                       REFUSED },
	{ "1900-02-29",                       REFUSED },
	{ "2026-04-31",                       REFUSED },
	{ "2026-13-01",                       REFUSED },
	{ "2026-00-01",                       REFUSED },
	{ "2026-01-00",                       REFUSED },
	{ "2026-01-31T24:00:00Z",             REFUSED },
	{ "2026-01-31T12:60:00Z",             REFUSED },
	{ "2026-01-31T12:00:61Z",             REFUSED },
	{ "2026-01-31T12:34:56",              REFUSED },
	{ "2026-01-31T12:34Z",                REFUSED },
	{ "2026-01-31T12:34:56.Z",            REFUSED },
	{ "2026-01-31T12:34:56,5Z",           REFUSED },
	{ "2026-01-31T12:34:56+0100",         REFUSED },
	{ "2026-01-31T12:34:56+24:00",        REFUSED },
	{ "2026-01-31T12:34:56+01:60",        REFUSED },
	{ "2026-01-31T12:34:56 01:00",        REFUSED },
	{ "2026-01-31T12:34:56Zx",            REFUSED },
	{ "2026-01-31 12:34:56Z",             REFUSED },
	{ "2026-01-31T",                      REFUSED },
	{ "2026-01-31x",                      REFUSED },
	{ "2026-1-31",                        REFUSED },
	{ "+2026-01-31",                      REFUSED },
	{ "20260131",                         REFUSED },
	{ "",                                 REFUSED },
};
/* clang-format on */

START_TEST(time_is_rfc_3339)
{
	int64_t time = REFUSED;

	ck_assert_int_eq(text_time_parse(slice_of(times[_i].text), &time),
			 times[_i].time != REFUSED);
	ck_assert_int_eq(time, times[_i].time);
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	int64_t time;
} later_times[] = {
	{ "1970-01-01T00:00:00.069Z",         69 },
	{ "1970-01-01T00:00:00.0690000Z",     69 },
	{ "1970-01-01T00:00:00.0690001Z",     70 },
	{ "1970-01-01T00:00:00.0699Z",        70 },
	{ "1970-01-01T00:00:00.9999Z",        1000 },
	{ "1970-01-01T01:00:00.0001+01:00",   1 },
	{ "1969-12-31T23:59:59.9999Z",        0 },
	{ "1969-12-31T23:59:59.9980Z",        -2 },
	{ "1970-01-01",                       0 },
	{ "1972-06-30T23:59:60Z",             78796800000 },
	{ "1972-07-01T01:59:60.5+02:00",      78796800000 },
	{ "9999-12-31T23:59:59.9999Z",        253402300800000 },
	{ "0001-01-01T00:00:00+00:01",        REFUSED },
	{ "1970-01-01T00:00:00.Z",            REFUSED },
};
/* clang-format on */

START_TEST(time_is_rounded_up)
{
	int64_t time = REFUSED;

	ck_assert_int_eq(text_time_parse_up(slice_of(later_times[_i].text), &time),
			 later_times[_i].time != REFUSED);
	ck_assert_int_eq(time, later_times[_i].time);
}
END_TEST

static const struct {
	int64_t time;
	const char *milliseconds;
	const char *seconds;
} printed_times[] = {
	{ 0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z" },
	{ -1, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z" },
	{ 1769862896789, "2026-01-31T12:34:56.789Z", "2026-01-31T12:34:56Z" },
	{ 951782399999, "2000-02-28T23:59:59.999Z", "2000-02-28T23:59:59Z" },
	{ 951782400000, "2000-02-29T00:00:00.000Z", "2000-02-29T00:00:00Z" },
	{ -62135596800000, "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00Z" },
	{ 253402300799999, "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z" },
};

START_TEST(time_is_printed)
{
	char text[TEXT_TIME_SIZE];

	text_time_milliseconds(printed_times[_i].time, text);
	ck_assert_str_eq(text, printed_times[_i].milliseconds);
	text_time_seconds(printed_times[_i].time, text);
	ck_assert_str_eq(text, printed_times[_i].seconds);
}
END_TEST

static const struct {
	uint64_t microseconds;
	const char *seconds;
} printed_durations[] = {
	{ 0, "0" },	    { 1, "0.000001" },	     { 250000, "0.25" },       { 1000000, "1" },
	{ 60000000, "60" }, { 1020304, "1.020304" }, { 86400000000, "86400" },
};

START_TEST(a_duration_has_the_decimals_it_needs)
{
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_seconds(&text, printed_durations[_i].microseconds);
	buffer_append_byte(&text, '\0');
	ck_assert_str_eq(text.data, printed_durations[_i].seconds);
}
END_TEST

/* All days of 450 years, and times spread over all years, stay the same when they are printed and
 * read. */
START_TEST(time_survives_printing_and_parsing)
{
	const int64_t day = 86400000;

	for (int64_t i = 0; i < 450 * 366; i++) {
		int64_t rows[] = { (i - 200 * 365) * day, -62135596800000 + i * (1915744159 + 1) };

		for (size_t j = 0; j < 2; j++) {
			char text[TEXT_TIME_SIZE];
			int64_t time = REFUSED;

			if (rows[j] > 253402300799999)
				continue;
			text_time_milliseconds(rows[j], text);
			ck_assert_msg(text_time_parse(slice_of(text), &time), "%s", text);
			ck_assert_int_eq(time, rows[j]);
		}
	}
}
END_TEST

/* --- Time zones --- */

/* clang-format off */
/* Zones of tzdata, at times that are not to change any more. */
static const struct {
	const char *zone, *time, *local;
} zoned_times[] = {
	{ "UTC",                 "2026-01-31T12:34:56.999Z", "2026-01-31 12:34:56" },
	{ "Etc/UTC",             "2026-01-31T12:34:56Z",     "2026-01-31 12:34:56" },
	{ "Etc/GMT+5",           "2026-12-31T23:59:59Z",     "2026-12-31 18:59:59" },
	{ "Europe/Berlin",       "2026-01-31T12:34:56Z",     "2026-01-31 13:34:56" },
	{ "Europe/Berlin",       "2026-07-31T12:34:56Z",     "2026-07-31 14:34:56" },
	{ "Europe/Berlin",       "2026-03-29T00:59:59.999Z", "2026-03-29 01:59:59" },
	{ "Europe/Berlin",       "2026-03-29T01:00:00Z",     "2026-03-29 03:00:00" },
	{ "Europe/Berlin",       "2026-10-25T00:59:59Z",     "2026-10-25 02:59:59" },
	{ "Europe/Berlin",       "2026-10-25T01:00:00Z",     "2026-10-25 02:00:00" },
	{ "Europe/Berlin",       "1980-07-01T00:00:00Z",     "1980-07-01 02:00:00" },
	{ "Asia/Kathmandu",      "2026-01-31T12:34:56Z",     "2026-01-31 18:19:56" },
	{ "Asia/Kathmandu",      "1985-12-31T18:29:59Z",     "1985-12-31 23:59:59" },
	{ "Australia/Lord_Howe", "2026-01-31T12:34:56Z",     "2026-01-31 23:34:56" },
	{ "Australia/Lord_Howe", "2025-07-31T12:34:56Z",     "2025-07-31 23:04:56" },
	{ "Australia/Lord_Howe", "2026-04-04T14:59:59Z",     "2026-04-05 01:59:59" },
	{ "Australia/Lord_Howe", "2026-04-04T15:00:00Z",     "2026-04-05 01:30:00" },
	{ "America/St_Johns",    "2025-12-31T23:59:59Z",     "2025-12-31 20:29:59" },
	{ "Pacific/Kiritimati",  "2025-12-31T10:00:00Z",     "2026-01-01 00:00:00" },
	{ "Africa/Monrovia",     "1950-01-01T00:00:00Z",     "1949-12-31 23:15:30" },
};

/* Last lines, for times after the table of the file: it ends with 2000. */
static const struct {
	const char *line, *time, *local;
} ruled_times[] = {
	{ "",                                          "2026-07-01T00:00:00Z", "2026-07-01 01:00:00" },
	{ "UTC0",                                      "2026-07-01T00:00:00Z", "2026-07-01 00:00:00" },
	{ "<-05>5",                                    "2026-07-01T00:00:00Z", "2026-06-30 19:00:00" },
	{ "<+0545>-5:45",                              "2026-07-01T00:00:00Z", "2026-07-01 05:45:00" },
	{ "LMT0:44:30",                                "2026-07-01T00:00:00Z", "2026-06-30 23:15:30" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "2126-03-31T00:59:59Z", "2126-03-31 01:59:59" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "2126-03-31T01:00:00Z", "2126-03-31 03:00:00" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "2126-10-27T00:59:59Z", "2126-10-27 02:59:59" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "2126-10-27T01:00:00Z", "2126-10-27 02:00:00" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "9999-12-31T22:59:59Z", "9999-12-31 23:59:59" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3",                "9999-12-31T23:30:00Z", "9999-12-31 23:59:59" },
	/* The south: summer at both ends of a year. */
	{ "<-04>4<-03>,M9.1.6/24,M4.1.6/24",           "2059-12-31T12:00:00Z", "2059-12-31 09:00:00" },
	{ "<-04>4<-03>,M9.1.6/24,M4.1.6/24",           "2060-01-01T00:00:00Z", "2059-12-31 21:00:00" },
	{ "<-04>4<-03>,M9.1.6/24,M4.1.6/24",           "2060-07-01T00:00:00Z", "2060-06-30 20:00:00" },
	{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",      "2060-04-03T14:59:59Z", "2060-04-04 01:59:59" },
	{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",      "2060-04-03T15:00:00Z", "2060-04-04 01:30:00" },
	/* Summer is the time without a shift, in Ireland. */
	{ "IST-1GMT0,M10.5.0,M3.5.0/1",                "2050-01-31T12:00:00Z", "2050-01-31 12:00:00" },
	{ "IST-1GMT0,M10.5.0,M3.5.0/1",                "2050-07-31T12:00:00Z", "2050-07-31 13:00:00" },
	/* Hours before the day, and days later. */
	{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",           "2030-03-31T00:59:59Z", "2030-03-30 22:59:59" },
	{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",           "2030-03-31T01:00:00Z", "2030-03-31 00:00:00" },
	{ "EET-2EEST,M3.4.4/50,M10.4.4/50",            "2030-03-29T23:59:59Z", "2030-03-30 01:59:59" },
	{ "EET-2EEST,M3.4.4/50,M10.4.4/50",            "2030-03-30T00:00:00Z", "2030-03-30 03:00:00" },
	/* Summer all year, and days of the year, with and without 29 February. */
	{ "XXX3EDT4,0/0,J365/23",                      "2031-01-01T02:59:59Z", "2030-12-31 22:59:59" },
	{ "XXX3EDT4,0/0,J365/23",                      "2031-01-01T03:00:00Z", "2030-12-31 23:00:00" },
	{ "AAA0BBB,J60/0,J300/0",                      "2028-02-29T23:59:59Z", "2028-02-29 23:59:59" },
	{ "AAA0BBB,J60/0,J300/0",                      "2028-03-01T00:00:00Z", "2028-03-01 01:00:00" },
	{ "AAA0BBB,59/0,J300/0",                       "2028-02-29T00:00:00Z", "2028-02-29 01:00:00" },
	{ "AAA0BBB,59/0,J300/0",                       "2027-03-01T00:00:00Z", "2027-03-01 01:00:00" },
	/* Times before the last of the table. */
	{ "UTC0",                                      "1999-12-31T23:59:59Z", "1999-12-31 21:59:59" },
	{ "UTC0",                                      "1970-01-01T00:00:00Z", "1969-12-31 22:00:00" },
	{ "UTC0",                                      "1969-12-31T23:59:59Z", "1970-01-01 00:59:59" },
	{ "UTC0",                                      "0001-01-01T00:00:00Z", "0001-01-01 01:00:00" },
};

static const char *const bad_lines[] = {
	"X", "AB1", "CET", "CET-", "CET-25", "CET-1:60", "CET-1:00:60", "CET-1 ", "<+01-1", "<>-1", "<+1>-1", "<+0.1>-1",
	"CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,", "CET-1CEST-2", "CET-1,M3.5.0,M10.5.0",
	"CET-1CEST,M0.5.0,M10.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
	"CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5,M10.5.0", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,M3.5.0/,M10.5.0",
	"CET-1CEST,J0,J365", "CET-1CEST,J1,J366", "CET-1CEST,366,1", "CET-1CEST,-1,1", "CET-1CEST,M3.5.0,M10.5.0,",
	"CET-99999999999999999999", "CET-1CEST,M99999999999.5.0,M10.5.0", ":Europe/Berlin", "\xff\xff\xff-1",
};

/* Bytes of the file that make it no file of a zone. */
static const struct {
	const char *what;
	size_t at;
	unsigned char byte;
} bad_bytes[] = {
	{ "the magic number",                  0,           't' },
	{ "version 1",                         4,           '\0' },
	{ "a version before 2",                4,           '1' },
	{ "more times in the first part",      32,          0x80 },
	{ "the second magic number",           52 + 3,      'F' },
	{ "more flags than bytes",             52 + 20,     1 },
	{ "more flags of standard time",       52 + 27,     250 },
	{ "a leap second that is not there",   52 + 31,     1 },
	{ "more times than bytes",             52 + 32,     0xff },
	{ "one time fewer",                    52 + 35,     1 },
	{ "no types",                          52 + 39,     0 },
	{ "more types than bytes",             52 + 38,     0xff },
	{ "more abbreviations than bytes",     52 + 40,     1 },
	{ "times that do not ascend",          96,          0x7f },
	{ "a type that is not there",          96 + 16,     2 },
	{ "an offset of years",                96 + 18,     1 },
	{ "an offset of years to the west",    96 + 18,     0xf0 },
	{ "no line feed before the line",      96 + 30 + 4, ' ' },
};

static const char *const bad_zones[] = {
	"", "/", "Europe", "Europe/", "/Europe/Berlin", "Europe//Berlin", "europe/berlin", "Europe/Nowhere", "..", "../zone.tab",
	"Europe/../Europe/Berlin", "zone.tab", "tzdata.zi", "leapseconds", "Europe/Berlin\n", "Europe/Berlin ", "Europe/Berl\xc3\xadn",
	"right/Europe/Berlin",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
/* clang-format on */

#define ZONE_HEADER "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/* Returns a file, in the arena: +1 h, from 1970 on 2 h to the west, from 2000 on +1 h, and then
 * what the last line says. */
static struct slice zone_file(const char *line)
{
	struct buffer file = BUFFER_INITIAL(arena);

	buffer_append(&file, SLICE(ZONE_HEADER));
	buffer_append(&file, SLICE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2"));
	buffer_append(&file, SLICE("\0\0\0\0\0\0\0\0"));
	buffer_append(&file, SLICE(ZONE_HEADER));
	buffer_append(&file, SLICE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\2\0\0\0\4"));
	buffer_append(&file, SLICE("\0\0\0\0\0\0\0\0\0\0\0\0\x38\x6d\x43\x80"));
	buffer_append(&file, SLICE("\1\0"));
	buffer_append(&file, SLICE("\0\0\x0e\x10\0\0"));
	buffer_append(&file, SLICE("\xff\xff\xe3\xe0\0\0"));
	buffer_append(&file, SLICE("ABC\0\n"));
	buffer_append_text(&file, line);
	buffer_append_byte(&file, '\n');
	return buffer_slice(&file);
}

static void check_zoned(const struct time_zone *zone, const char *time, const char *local)
{
	char text[TIME_ZONE_TEXT_SIZE];
	int64_t parsed;

	ck_assert_ptr_nonnull(zone);
	ck_assert(text_time_parse(slice_of(time), &parsed));
	time_zone_print(zone, parsed, text);
	ck_assert_str_eq(text, local);
}

START_TEST(zones_of_the_system_are_read)
{
	const struct slice name = slice_of(zoned_times[_i].zone);

	check_zoned(time_zone_read(arena, TIME_ZONE_DIRECTORY, name), zoned_times[_i].time,
		    zoned_times[_i].local);
}
END_TEST

START_TEST(the_last_line_of_a_zone_holds_after_its_table)
{
	check_zoned(time_zone_parse(arena, zone_file(ruled_times[_i].line)), ruled_times[_i].time,
		    ruled_times[_i].local);
}
END_TEST

START_TEST(lines_that_are_no_rule_are_refused)
{
	ck_assert_ptr_null(time_zone_parse(arena, zone_file(bad_lines[_i])));
}
END_TEST

START_TEST(damaged_zones_are_refused)
{
	const struct slice file = zone_file("UTC0");
	char *bytes = arena_alloc(arena, file.size);

	memcpy(bytes, file.data, file.size);
	ck_assert_ptr_nonnull(time_zone_parse(arena, (struct slice){ bytes, file.size }));
	ck_assert_uint_ne((unsigned char)bytes[bad_bytes[_i].at], bad_bytes[_i].byte);
	bytes[bad_bytes[_i].at] = (char)bad_bytes[_i].byte;
	ck_assert_msg(time_zone_parse(arena, (struct slice){ bytes, file.size }) == NULL, "%s",
		      bad_bytes[_i].what);
}
END_TEST

START_TEST(names_that_no_zone_has_are_refused)
{
	ck_assert_ptr_null(time_zone_read(arena, TIME_ZONE_DIRECTORY, slice_of(bad_zones[_i])));
}
END_TEST

/* Each prefix, and each byte with other values, in memory that ends with the file. */
START_TEST(zones_are_never_read_beyond_their_end)
{
	static const unsigned char bytes[] = { 0, 1, 2, '\n', ',', '9', 0x7f, 0x80, 0xff };
	static const int64_t at[] = { INT64_C(-62135596800000),
				      -1,
				      0,
				      INT64_C(946684800000),
				      INT64_C(1769862896789),
				      TEXT_TIME_LAST };
	const struct slice file = zone_file("CET-1CEST,M3.5.0,M10.5.0/3");

	for (size_t size = 0; size < file.size; size++) {
		char *copy = malloc(size + (size == 0));

		memcpy(copy, file.data, size);
		ck_assert_msg(time_zone_parse(arena, (struct slice){ copy, size }) == NULL,
			      "%zu bytes", size);
		free(copy);
	}
	for (size_t i = 0; i < file.size * ROWS(bytes); i++) {
		char *copy = malloc(file.size), text[TIME_ZONE_TEXT_SIZE];
		const struct time_zone *zone;

		memcpy(copy, file.data, file.size);
		copy[i / ROWS(bytes)] = (char)bytes[i % ROWS(bytes)];
		zone = time_zone_parse(arena, (struct slice){ copy, file.size });
		for (size_t j = 0; zone != NULL && j < ROWS(at); j++) {
			ck_assert_int_lt(time_zone_offset(zone, at[j]), 48 * 3600);
			ck_assert_int_gt(time_zone_offset(zone, at[j]), -48 * 3600);
			time_zone_print(zone, at[j], text);
			ck_assert_uint_eq(strlen(text), TIME_ZONE_TEXT_SIZE - 1);
		}
		free(copy);
	}
}
END_TEST

START_TEST(a_file_of_a_zone_is_bounded)
{
	char *directory = directory_make();
	const char *path = arena_text(arena, "%s/large", directory);
	const struct slice zone = zone_file("UTC0");
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(zone.data, 1, zone.size, file), zone.size);
	ck_assert_int_eq(fflush(file), 0);
	ck_assert_ptr_nonnull(time_zone_read(arena, directory, SLICE("large")));
	ck_assert_int_eq(ftruncate(fileno(file), TIME_ZONE_FILE_MOST), 0);
	ck_assert_ptr_nonnull(time_zone_read(arena, directory, SLICE("large")));
	ck_assert_int_eq(ftruncate(fileno(file), TIME_ZONE_FILE_MOST + 1), 0);
	ck_assert_ptr_null(time_zone_read(arena, directory, SLICE("large")));
	fclose(file);
	directory_remove(directory);
}
END_TEST

/* --- base64url --- */

/* clang-format off */
static const struct {
	const char *bytes;
	const char *text;
} encodings[] = {
	{ "",             "" },
	{ "f",            "Zg" },
	{ "fo",           "Zm8" },
	{ "foo",          "Zm9v" },
	{ "foob",         "Zm9vYg" },
	{ "fooba",        "Zm9vYmE" },
	{ "foobar",       "Zm9vYmFy" },
	{ "\xfb\xef\xff", "--__" },
};

static const char *const bad_encodings[] = {
	"Z", "Zg==", "Zm8=", "Zm9vY", "Zm9v ", "Zm 9v", "Zm9v\n", "++//", "Zh", "Zm9", "Zm9vYh",
	"\xc3\xa4zz",
};
/* clang-format on */

START_TEST(base64url_has_no_padding)
{
	struct slice bytes;

	ck_assert(
		slice_is(text_base64url(arena, slice_of(encodings[_i].bytes)), encodings[_i].text));
	ck_assert(text_base64url_decode(arena, slice_of(encodings[_i].text), &bytes));
	ck_assert(slice_is(bytes, encodings[_i].bytes));
}
END_TEST

START_TEST(bad_base64url_is_refused)
{
	struct slice bytes;

	ck_assert(!text_base64url_decode(arena, slice_of(bad_encodings[_i]), &bytes));
}
END_TEST

START_TEST(base64url_survives_all_bytes)
{
	char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	for (size_t size = 0; size <= sizeof all; size++) {
		struct slice bytes;
		struct slice whole = { all + sizeof all - size, size };

		ck_assert(text_base64url_decode(arena, text_base64url(arena, whole), &bytes));
		ck_assert(slice_equal(bytes, whole));
	}
}
END_TEST

START_TEST(secrets_are_compared_completely)
{
	char a[40], b[40];

	ck_assert(!text_equal_secret(SLICE("secret"), SLICE("secre")));
	ck_assert(!text_equal_secret(SLICE(""), SLICE("s")));
	ck_assert(text_equal_secret((struct slice){ NULL, 0 }, SLICE("")));
	memset(a, 'a', sizeof a);
	memset(b, 'a', sizeof b);
	for (size_t size = 0; size < sizeof a; size++) {
		ck_assert(text_equal_secret((struct slice){ a, size }, (struct slice){ b, size }));
		for (size_t place = 0; place < sizeof a; place++) {
			b[place] ^= 0x10;
			ck_assert_int_eq(text_equal_secret((struct slice){ a, size },
							   (struct slice){ b, size }),
					 place >= size);
			b[place] ^= 0x10;
		}
	}
}
END_TEST

/* --- Values in messages --- */

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

/* clang-format off */
static const struct {
	const char *json;
	const char *shown;
} shown_values[] = {
	{ "9000",                      "9000" },
	{ "-9223372036854775808",      "-9223372036854775808" },
	{ "1.1",                       "1.1" },
	{ "2.0",                       "2" },
	{ "true",                      "true" },
	{ "false",                     "false" },
	{ "null",                      "null" },
	{ "{\"a\":1}",                 "an object" },
	{ "[1]",                       "an array" },
	{ "\"\"",                      "\"\"" },
	{ "\"a \\\"b\\\"\\n\"",        "\"a \\\"b\\\"\\n\"" },
	{ "\"" SIXTY "abcd\"",         "\"" SIXTY "abcd\"" },
	{ "\"" SIXTY "abcde\"",        "\"" SIXTY "abcd\"..." },
	{ "\"" SIXTY "abc\xc3\xa4\"",  "\"" SIXTY "abc\xc3\xa4\"" },
	{ "\"" SIXTY "abc\xc3\xa4x\"", "\"" SIXTY "abc\xc3\xa4\"..." },
};
/* clang-format on */

START_TEST(value_is_shown_in_64_characters)
{
	json_t *value = arena_json(arena, json_loads(shown_values[_i].json, JSON_DECODE_ANY, NULL));
	struct slice shown = text_shown(arena, value);

	ck_assert_msg(slice_is(shown, shown_values[_i].shown), "%.*s", (int)shown.size, shown.data);
}
END_TEST

START_TEST(pointer_escapes_its_names)
{
	struct buffer pointer = BUFFER_INITIAL(arena);

	text_pointer(&pointer, SLICE("roles"));
	text_pointer(&pointer, SLICE("a/b~c~1"));
	text_pointer(&pointer, SLICE(""));
	ck_assert(slice_is(buffer_slice(&pointer), "/roles/a~1b~0c~01/"));
}
END_TEST

START_TEST(clock_moves_forward)
{
	int64_t first = clock_monotonic();
	int64_t now = clock_now(&clock_system);
	unsigned char random[2][16];

	ck_assert_int_ge(clock_monotonic(), first);
	ck_assert_int_gt(now, 1700000000000);
	clock_random(&clock_system, random[0], sizeof random[0]);
	clock_random(&clock_system, random[1], sizeof random[1]);
	ck_assert_mem_ne(random[0], random[1], sizeof random[0]);
}
END_TEST

/* --- Codes as people type them --- */

/* A text, or a list of texts with the number of repetitions of each. */
static struct slice typed_text(const json_t *row)
{
	const json_t *parts = json_array_get(row, 0);
	struct buffer text = BUFFER_INITIAL(arena);

	if (json_is_string(parts))
		return text_of_json(parts);
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);

		for (json_int_t n = json_integer_value(json_array_get(part, 1)); n > 0; n--)
			buffer_append(&text, text_of_json(json_array_get(part, 0)));
	}
	return buffer_slice(&text);
}

static void check_is(struct slice found, const json_t *wanted, const char *row)
{
	const struct slice text = text_of_json(wanted);

	ck_assert_msg(text.data == NULL ? found.data == NULL
					: found.data != NULL && slice_equal(found, text),
		      "%s: found %.*s", row, (int)found.size, found.data == NULL ? "" : found.data);
}

/* Rows of tests/data/typed_codes.jsonl, which the join page must agree with, too
 * (tests/scripts/typed_codes.sh). A row has the text; the code; the code to try if the first one
 * does not exist or, if there is no code, whether the text counts as a guess. */
START_TEST(code_is_read_as_it_was_typed)
{
	const char *source = getenv("SOURCE_DIR");
	char *path = arena_text(arena, "%s/tests/data/typed_codes.jsonl",
				source == NULL ? "." : source);
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0, rows = 0;

	ck_assert_msg(file != NULL, "cannot open %s", path);
	while (getline(&line, &room, file) > 0) {
		json_t *row = json_loads(line, 0, NULL);
		const struct typed_code typed = code_typed(arena, typed_text(row));
		const json_t *last = json_array_get(row, 2);

		check_is(typed.code, json_array_get(row, 1), line);
		check_is(typed.grouped, last, line);
		ck_assert_msg(typed.is_guess == !json_is_false(last), "%s: is_guess", line);
		json_decref(row);
		rows++;
	}
	ck_assert_uint_gt(rows, 90);
	free(line);
	fclose(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *cases = tcase_create("text");

	suite_add_tcase(suite, cases);
	tcase_add_checked_fixture(cases, open_arena, close_arena);
	tcase_add_loop_test(cases, text_is_decoded_once, 0, ROWS(encoded_texts));
	tcase_add_test(cases, raw_zero_byte_is_refused);
	tcase_add_loop_test(cases, control_characters_are_shown, 0, ROWS(visible_texts));
	tcase_add_loop_test(cases, typed_names_have_no_control_characters, 0, ROWS(typed_names));
	tcase_add_loop_test(cases, json_for_a_terminal_is_the_same_json, 0, ROWS(visible_jsons));
	tcase_add_loop_test(cases, parameter_is_encoded, 0, ROWS(written_parameters));
	tcase_add_loop_test(cases, query_is_split_then_decoded, 0, ROWS(queries));
	tcase_add_loop_test(cases, utf8_is_recognised, 0, ROWS(utf8_texts));
	tcase_add_test(cases, utf8_is_not_read_beyond_its_slice);
	tcase_add_test(cases, plain_text_ends_before_escaped_characters);
	tcase_add_test(cases, text_is_cut_between_characters);
	tcase_add_test(cases, case_is_ignored_only_in_ascii_letters);
	tcase_add_loop_test(cases, names_are_folded, 0, ROWS(folded));
	tcase_add_loop_test(cases, words_are_found_as_people_see_them, 0, ROWS(contained));
	tcase_add_loop_test(cases, text_is_shown_without_bidi_controls, 0, ROWS(bidi));
	tcase_add_loop_test(cases, names_have_keys, 0, ROWS(name_keys));
	tcase_add_loop_test(cases, names_have_numbers, 0, ROWS(numbered_names));
	tcase_add_test(cases, long_names_make_room_for_a_number);
	tcase_add_test(cases, bidi_controls_are_removed_in_place);
	tcase_add_loop_test(cases, integer_consists_of_digits, 0, ROWS(integers));
	tcase_add_loop_test(cases, time_is_rfc_3339, 0, ROWS(times));
	tcase_add_loop_test(cases, time_is_rounded_up, 0, ROWS(later_times));
	tcase_add_loop_test(cases, time_is_printed, 0, ROWS(printed_times));
	tcase_add_loop_test(cases, a_duration_has_the_decimals_it_needs, 0,
			    ROWS(printed_durations));
	tcase_add_test(cases, time_survives_printing_and_parsing);
	tcase_add_loop_test(cases, zones_of_the_system_are_read, 0, ROWS(zoned_times));
	tcase_add_loop_test(cases, the_last_line_of_a_zone_holds_after_its_table, 0,
			    ROWS(ruled_times));
	tcase_add_loop_test(cases, lines_that_are_no_rule_are_refused, 0, ROWS(bad_lines));
	tcase_add_loop_test(cases, damaged_zones_are_refused, 0, ROWS(bad_bytes));
	tcase_add_loop_test(cases, names_that_no_zone_has_are_refused, 0, ROWS(bad_zones));
	tcase_add_test(cases, zones_are_never_read_beyond_their_end);
	tcase_add_test(cases, a_file_of_a_zone_is_bounded);
	tcase_add_loop_test(cases, base64url_has_no_padding, 0, ROWS(encodings));
	tcase_add_loop_test(cases, bad_base64url_is_refused, 0, ROWS(bad_encodings));
	tcase_add_test(cases, base64url_survives_all_bytes);
	tcase_add_test(cases, secrets_are_compared_completely);
	tcase_add_loop_test(cases, value_is_shown_in_64_characters, 0, ROWS(shown_values));
	tcase_add_test(cases, pointer_escapes_its_names);
	tcase_add_test(cases, clock_moves_forward);
	tcase_add_test(cases, code_is_read_as_it_was_typed);
	return suite_run(suite);
}
