/* The table language, with small shapes of its own: parsing, faults and their order, cleaning,
 * defaults, merging, hidden members, queries. One row per case.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <signal.h>

#include "base/text.h"
#include "schema/changes.h"
#include "schema/describe.h"
#include "schema/schema.h"
#include "suite.h"

/* clang-format off */
static const struct text_rule name_rule = {
	.characters = "a-zA-Z0-9 ._:-", .sentence = "must be 1 to 8 of the accepted characters",
	.shortest = 1, .longest = 8, .no_outer_space = true,
};
static const struct text_rule any_rule = { .sentence = "must be at most 5 characters", .longest = 5 };
static const struct text_rule byte_rule = {
	.sentence = "must be at most 5 bytes", .longest = 5, .counts_bytes = true,
};

static const struct field color_item = { .name = NULL, ONE_OF("red", "green", "blue") };
static const struct field word_item = { .name = NULL, TEXT(any_rule) };

static const struct field secret_fields[] = {
	{ "key",    TEXT(any_rule), FLAGS(FIELD_REQUIRED) },
	{ "secret", TEXT(any_rule), FLAGS(FIELD_REQUIRED) },
};
static const struct shape secret_shape = { "Secret", FIELDS(secret_fields) };

static const struct field place_fields[] = {
	{ "kind",        ONE_OF("s3", "gs"), FLAGS(FIELD_REQUIRED) },
	{ "where",       TEXT(any_rule), FLAGS(FIELD_REQUIRED) },
	{ "credentials", OBJECT(secret_shape),
	  FLAGS(FIELD_WRITE_ONLY | FIELD_ECHO | FIELD_ATOMIC | FIELD_SECRET) },
};
static const struct shape place_shape = { "Place", FIELDS(place_fields) };

static void check_sides(struct rule_context *context, const json_t *object)
{
	if (json_integer_value(json_object_get(object, "width")) == 13)
		schema_fault(context, "/width", "must not be unlucky");
}

static const struct rule layer_rules[] = {
	{ "luck", "A width of 13 is refused.", check_sides },
	{ NULL, NULL, NULL },
};
static const struct field layer_fields[] = {
	{ "width",  INTEGER(1, 100) },
	{ "scale",  NUMBER(1.0, 12.0) },
	{ "id",     ANY(), FLAGS(FIELD_READ_ONLY) },
};
static const struct shape layer_shape = { "Layer", FIELDS(layer_fields), .rules = layer_rules };
static const struct field layer_item = { .name = NULL, OBJECT(layer_shape) };

static const struct field entry_fields[] = {
	{ "name",   TEXT(name_rule), FLAGS(FIELD_KEPT) },
	{ "size",   INTEGER(30, 2000), DEFAULT(256) },
	{ "layers", LIST_OF(layer_item), MOST(3) },
	{ "mark",   BOOLEAN(), FLAGS(FIELD_WRITE_ONLY) },
	{ "type",   ONE_OF("live", "event") },
	{ "parts",  INTEGER(3, 12), DEFAULT_WHEN("type", "live", 5) },
};
static const struct shape entry_shape = { "Entry", FIELDS(entry_fields), .key_member = "name" };
static const struct field entry_item = { .name = NULL, OBJECT(entry_shape) };

static const struct field inner_fields[] = {
	{ "on",    BOOLEAN(), DEFAULT(true) },
	{ "speed", INTEGER_STEP(5, 3600, 5), DEFAULT(5) },
	{ "place", OBJECT(place_shape), FLAGS(FIELD_SECRET) },
};
static const struct shape inner_shape = { "Inner", FIELDS(inner_fields) };

static void check_limits(struct rule_context *context, const json_t *object)
{
	if (json_object_get(object, "least") != NULL && json_object_get(object, "big") == NULL)
		schema_fault(context, "/least", "needs big");
}

static const struct rule top_rules[] = {
	{ "limits", "least needs big.", check_limits },
	{ NULL, NULL, NULL },
};
static const struct field top_fields[] = {
	{ "id",      TEXT(any_rule), FLAGS(FIELD_READ_ONLY) },
	{ "name",    TEXT(name_rule), FLAGS(FIELD_KEPT) },
	{ "colors",  LIST_OF(color_item), FLAGS(FIELD_UNIQUE), DEFAULT(["red","green"]) },
	{ "words",   LIST_OF(word_item), FLAGS(FIELD_UNIQUE) },
	{ "bytes",   TEXT(byte_rule) },
	{ "inner",   OBJECT(inner_shape), DEFAULT({}) },
	{ "maybe",   OBJECT(place_shape), FLAGS(FIELD_NULLABLE) },
	{ "entries", MAP_OF(name_rule, entry_item), MOST(3), DEFAULT({}) },
	{ "least",   INTEGER(500, UNLIMITED) },
	{ "big",     INTEGER(INT64_MIN, UNLIMITED) },
	{ "made",    BOOLEAN(), FLAGS(FIELD_HIDDEN_DEFAULT), DEFAULT(true) },
	{ "retry",   ANY(), FLAGS(FIELD_READ_ONLY), DEFAULT({}) },
	{ "opus",    ONE_OF("opus") },
};
static const struct shape top_shape = { "Top", FIELDS(top_fields), .rules = top_rules };

static const struct field needy_fields[] = {
	{ "a", TEXT(any_rule), FLAGS(FIELD_REQUIRED) },
	{ "b", BOOLEAN(), FLAGS(FIELD_REQUIRED) },
};
static const struct shape needy_shape = { "Needy", FIELDS(needy_fields) };

static const struct field bare_fields[] = {
	{ "layers", LIST_OF(layer_item), MOST(1), FLAGS(FIELD_BARE) },
};
static const struct shape bare_shape = { "Bare", FIELDS(bare_fields) };

static const struct field query_fields[] = {
	{ "limit",  INTEGER(10, 100), DEFAULT(10) },
	{ "open",   BOOLEAN() },
	{ "name",   TEXT(any_rule) },
	{ "color",  ONE_OF("red", "green") },
};
static const struct shape query_shape = { "Query", FIELDS(query_fields) };

static const struct field viewed_fields[] = {
	{ "code", TEXT(any_rule), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER) },
	{ "code", TEXT(byte_rule), FLAGS(FIELD_REQUIRED | FIELD_WRITE_ONLY), IN(IN_NEW) },
	{ "note", TEXT(any_rule) },
	{ "size", INTEGER(1, 5), IN(IN_NEW | IN_ANSWER), DEFAULT(2) },
	{ "from", BOOLEAN(), IN(IN_CHANGE), DEFAULT(true) },
	{ "uses", INTEGER(0, 9), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(IN_ANSWER) },
};
static const struct shape viewed_shapes[] = {
	{ "Viewed", FIELDS(viewed_fields) },
	{ "Viewed", FIELDS(viewed_fields), .views = IN_ANSWER },
	{ "Viewed", FIELDS(viewed_fields), .views = IN_NEW },
	{ "Viewed", FIELDS(viewed_fields), .views = IN_CHANGE },
};
/* clang-format on */

static struct arena *arena;

static void set_up(void)
{
	schema_verify(&top_shape);
	schema_verify(&needy_shape);
	schema_verify(&bare_shape);
	schema_verify(&query_shape);
	for (size_t i = 0; i < ROWS(viewed_shapes); i++)
		schema_verify(&viewed_shapes[i]);
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

static struct slice text_of(const json_t *value)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	buffer_append_json(&buffer, value);
	buffer_append_byte(&buffer, '\0');
	return (struct slice){ buffer.data, buffer.size - 1 };
}

static json_t *parse(const char *text)
{
	json_t *body;
	struct fault fault = FAULT_INITIAL;

	ck_assert_msg(schema_parse(arena, slice_of(text), &body, &fault), "%s: %s", text,
		      fault.detail);
	return body;
}

/* Returns the details of a fault, one per line. */
static const char *lines(const struct fault *fault)
{
	struct buffer buffer = BUFFER_INITIAL(arena);
	size_t i;
	json_t *line;

	json_array_foreach(fault->details, i, line) {
		buffer_append_text(&buffer, i == 0 ? "" : "\n");
		buffer_append_text(&buffer, json_string_value(line));
	}
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

static const char *unknown_lines(const struct findings *findings)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < findings->unknown_count; i++) {
		buffer_append_text(&buffer, i == 0 ? "" : " ");
		buffer_append(&buffer, findings->unknown[i]);
	}
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

/* ---- parsing ---- */

#define BYTES(literal) \
	{ \
		(literal), sizeof(literal) - 1 \
	}
#define TEN_OPEN "[[[[[[[[[["
#define TEN_CLOSE "]]]]]]]]]]"

/* clang-format off */
static const struct {
	struct slice text;
	const char *expected;	/* the body, or the detail */
	bool is_refused;
} parse_cases[] = {
	{ BYTES(""), "{}", false },
	{ BYTES(" \r\n\t"), "{}", false },
	{ BYTES("null"), "{}", false },
	{ BYTES("\n null "), "{}", false },
	{ BYTES(" {\"a\" : 1.0 }\n"), "{\"a\":1}", false },
	{ BYTES("{\"a\":\"\xc3\xa4\"}"), "{\"a\":\"\xc3\xa4\"}", false },
	{ BYTES("{\"a\":9223372036854775807}"), "{\"a\":9223372036854775807}", false },
	{ BYTES("{\"a\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[\"[{\\\"[\"]]]]]]]]]"
		TEN_CLOSE TEN_CLOSE "]]}"),
	  "{\"a\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[\"[{\\\"[\"]]]]]]]]]"
	  TEN_CLOSE TEN_CLOSE "]]}", false },
	{ BYTES("{\"a\":[[" TEN_OPEN TEN_OPEN "[[[[[[[[[[]]]]]]]]]]"
		TEN_CLOSE TEN_CLOSE "]]}"),
	  "line 1, column 37: nested deeper than 32 levels", true },
	{ BYTES("[]"), "{}", false },
	{ BYTES(" [ \n] "), "{}", false },
	{ BYTES("[1]"), "line 1, column 1: the top level must be an object", true },
	{ BYTES("[[]]"), "line 1, column 1: the top level must be an object", true },
	{ BYTES("\n\n  \"a\""), "line 3, column 3: the top level must be an object", true },
	{ BYTES("nul"), "line 1, column 1: the top level must be an object", true },
	{ BYTES("null null"), "line 1, column 1: the top level must be an object", true },
	{ BYTES("\xef\xbb\xbf{}"), "line 1, column 1: the body begins with a byte order mark; leave it out", true },
	{ BYTES("{\"a\":1,\"a\":2}"), "line 1, column 8: duplicate member", true },
	{ BYTES("{\"a\":{\"b\":1,\n\"b\":\"geheim\"}}"),
	  "line 2, column 1: duplicate member", true },
	{ BYTES("{\"\xc3\xa4\":\n \"\xc3\xa4\xc3\xa4\",}"),
	  "line 2, column 7: expected a string", true },
	{ BYTES("{\"a\":\"geheim\" \"b\"}"), "line 1, column 15: expected ',' or '}'", true },
	{ BYTES("{\"a\":1"), "line 1, column 7: unexpected end of JSON", true },
	{ BYTES("{} {}"), "line 1, column 4: unexpected text after the JSON object", true },
	{ BYTES("{}x"), "line 1, column 3: unexpected text after the JSON object", true },
	{ BYTES("{\"a\":\"\\u0000\"}"), "line 1, column 7: NUL character in a string", true },
	{ BYTES("{\"\\u0000\":1}"), "line 1, column 3: NUL character in a string", true },
	{ BYTES("{\"a\":\"\\ud800\"}"), "line 1, column 7: lone surrogate", true },
	{ BYTES("{\"a\":\"\\ud800\\u0041\"}"),
	  "line 1, column 7: lone surrogate", true },
	{ BYTES("{\"a\":\"\xff\"}"), "line 1, column 7: not UTF-8", true },
	{ BYTES("{\"a\":\"\xed\xa0\x80\"}"), "line 1, column 7: not UTF-8", true },
	{ BYTES("{\"a\":1e400}"), "line 1, column 6: number out of range", true },
	{ BYTES("{\"a\":9223372036854775808}"),
	  "line 1, column 6: number out of range", true },
	{ BYTES("{}\0"), "line 1, column 3: NUL byte", true },
	{ BYTES("{\"a\":\"\0\"}"), "line 1, column 7: NUL byte", true },
	{ BYTES("{\"a\":NaN}"), "line 1, column 6: invalid token", true },
	{ BYTES("{'a':1}"), "line 1, column 2: expected a string or '}'", true },
	{ BYTES("{\"a\":01}"), "line 1, column 6: invalid token", true },
};
/* clang-format on */

START_TEST(a_body_is_parsed)
{
	struct fault fault = FAULT_INITIAL;
	json_t *body;
	bool ok = schema_parse(arena, parse_cases[_i].text, &body, &fault);

	ck_assert_int_eq(ok, !parse_cases[_i].is_refused);
	if (ok) {
		ck_assert_str_eq(text_of(body).data, parse_cases[_i].expected);
		return;
	}
	ck_assert_int_eq(fault.kind, FAULT_MALFORMED);
	ck_assert_str_eq(fault.message, "Malformed JSON");
	ck_assert_str_eq(fault.detail, parse_cases[_i].expected);
}
END_TEST

/* ---- checking ---- */

/* 64 characters. */
#define SHOWN_KEY "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
#define LONG_KEY \
	"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk" \
	"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"

/* clang-format off */
static const struct check_case {
	const char *body;
	const char *faults;	/* one per line; NULL if none, and `cleaned` is the result */
	const char *cleaned;
	const char *unknown;	/* NULL if there are none */
	enum schema_mode mode;
	bool is_strict;
} check_cases[] = {
	/* kinds of rows */
	{ .body = "{}", NULL, "{}" },
	{ .body = "{\"inner\":{\"on\":1}}", "/inner/on: must be a boolean, got 1" },
	{ .body = "{\"inner\":{\"on\":\"true\"}}", "/inner/on: must be a boolean, got \"true\"" },
	{ .body = "{\"inner\":{\"on\":false}}", NULL, "{\"inner\":{\"on\":false}}" },
	{ .body = "{\"inner\":[1]}", "/inner: must be an object, got an array" },
	{ .body = "{\"inner\":[],\"entries\":[],\"colors\":[]}", NULL,
	  "{\"inner\":{},\"entries\":{},\"colors\":[]}" },
	{ .body = "{\"entries\":{\"a\":[]}}", NULL, "{\"entries\":{\"a\":{}}}" },
	{ .body = "{\"entries\":{\"a\":[]}}", NULL, "{\"entries\":{\"a\":{}}}", NULL, SCHEMA_PATCH },
	{ .body = "{\"inner\":\"{}\"}", "/inner: must be an object, got a string" },
	{ .body = "{\"entries\":3}", "/entries: must be an object, got a number" },
	{ .body = "{\"colors\":{}}", "/colors: must be an array, got an object" },
	{ .body = "{\"colors\":true}", "/colors: must be an array, got a boolean" },
	{ .body = "{\"name\":7}", "/name: must be a string, got 7" },
	{ .body = "{\"name\":{}}", "/name: must be a string, got an object" },
	{ .body = "{\"opus\":\"vp8\"}", "/opus: must be opus, got \"vp8\"" },
	{ .body = "{\"colors\":[\"red\",\"pink\"]}",
	  "/colors/1: must be one of red, green, blue, got \"pink\"" },
	{ .body = "{\"colors\":[3]}", "/colors/0: must be one of red, green, blue, got 3" },
	/* integers */
	{ .body = "{\"entries\":{\"a\":{\"size\":30}}}", NULL, "{\"entries\":{\"a\":{\"size\":30}}}" },
	{ .body = "{\"entries\":{\"a\":{\"size\":2000}}}", NULL, "{\"entries\":{\"a\":{\"size\":2000}}}" },
	{ .body = "{\"entries\":{\"a\":{\"size\":29}}}",
	  "/entries/a/size: must be from 30 to 2000, got 29" },
	{ .body = "{\"entries\":{\"a\":{\"size\":9000}}}",
	  "/entries/a/size: must be from 30 to 2000, got 9000" },
	{ .body = "{\"entries\":{\"a\":{\"size\":32.0}}}", NULL, "{\"entries\":{\"a\":{\"size\":32}}}" },
	{ .body = "{\"entries\":{\"a\":{\"size\":1e2}}}", NULL, "{\"entries\":{\"a\":{\"size\":100}}}" },
	{ .body = "{\"entries\":{\"a\":{\"size\":32.5}}}",
	  "/entries/a/size: must be an integer, got 32.5" },
	{ .body = "{\"entries\":{\"a\":{\"size\":29.999999999999999999}}}",
	  "/entries/a/size: must be an integer, with only zeros after the point, got 30" },
	{ .body = "{\"entries\":{\"a\":{\"size\":\"32\"}}}",
	  "/entries/a/size: must be an integer, got \"32\"" },
	{ .body = "{\"entries\":{\"a\":{\"size\":1e20}}}",
	  "/entries/a/size: must be from 30 to 2000, got 1e20" },
	{ .body = "{\"entries\":{\"a\":{\"size\":true}}}",
	  "/entries/a/size: must be an integer, got true" },
	{ .body = "{\"least\":3,\"big\":0}", "/least: must be at least 500, got 3" },
	{ .body = "{\"big\":9007199254740993}", NULL, "{\"big\":9007199254740993}" },
	{ .body = "{\"big\":9007199254740991.0}", NULL, "{\"big\":9007199254740991}" },
	{ .body = "{\"big\":-9007199254740991.0}", NULL, "{\"big\":-9007199254740991}" },
	{ .body = "{\"big\":-0.0}", NULL, "{\"big\":0}" },
	{ .body = "{\"big\":9007199254740992.0}",
	  "/big: must be an integer below 2^53 if written with a decimal point or exponent, "
	  "got 9007199254740992" },
	{ .body = "{\"inner\":{\"speed\":7}}",
	  "/inner/speed: must be a multiple of 5 from 5 to 3600, got 7" },
	{ .body = "{\"inner\":{\"speed\":0}}",
	  "/inner/speed: must be a multiple of 5 from 5 to 3600, got 0" },
	{ .body = "{\"inner\":{\"speed\":3600}}", NULL, "{\"inner\":{\"speed\":3600}}" },
	{ .body = "{\"inner\":{\"speed\":3605}}",
	  "/inner/speed: must be a multiple of 5 from 5 to 3600, got 3605" },
	/* numbers */
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"scale\":1.0},{\"scale\":1.1},{\"scale\":12}]}}}",
	  NULL,
	  "{\"entries\":{\"a\":{\"layers\":[{\"scale\":1},{\"scale\":1.1},{\"scale\":12}]}}}" },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"scale\":1.00000000000000022}]}}}", NULL,
	  "{\"entries\":{\"a\":{\"layers\":[{\"scale\":1}]}}}" },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"scale\":0.9},{\"scale\":12.5},{\"scale\":\"2\"}]}}}",
	  "/entries/a/layers/0/scale: must be from 1 to 12, got 0.9\n"
	  "/entries/a/layers/1/scale: must be from 1 to 12, got 12.5\n"
	  "/entries/a/layers/2/scale: must be a number, got \"2\"" },
	/* texts */
	{ .body = "{\"name\":\"a-b.c_:9\"}", NULL, "{\"name\":\"a-b.c_:9\"}" },
	{ .body = "{\"name\":\"\"}", "/name: must be 1 to 8 of the accepted characters, got \"\"" },
	{ .body = "{\"name\":\"123456789\"}",
	  "/name: must be 1 to 8 of the accepted characters, got \"123456789\"" },
	{ .body = "{\"name\":\"a/b\"}",
	  "/name: must be 1 to 8 of the accepted characters, got \"a/b\"" },
	{ .body = "{\"name\":\"\xc3\xa4\"}",
	  "/name: must be 1 to 8 of the accepted characters, got \"\xc3\xa4\"" },
	{ .body = "{\"name\":\" a\"}", "/name: must be 1 to 8 of the accepted characters, got \" a\"" },
	{ .body = "{\"name\":\"a \"}", "/name: must be 1 to 8 of the accepted characters, got \"a \"" },
	{ .body = "{\"name\":\"a b\"}", NULL, "{\"name\":\"a b\"}" },
	{ .body = "{\"words\":[\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"]}", NULL,
	  "{\"words\":[\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"]}" },
	{ .body = "{\"bytes\":\"\xc3\xa4\xc3\xa4\xc3\xa4\"}",
	  "/bytes: must be at most 5 bytes, got \"\xc3\xa4\xc3\xa4\xc3\xa4\"" },
	{ .body = "{\"bytes\":\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\"}",
	  "/bytes: must be at most 5 bytes, got "
	  "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg\"..." },
	/* lists */
	{ .body = "{\"words\":[\"a\",null,\"b\"]}", "/words/1: must be a string, got null" },
	{ .body = "{\"words\":[\"a\",\"b\",\"a\"]}",
	  "/words/2: must not repeat an earlier item, got \"a\"" },
	{ .body = "{\"words\":[1,\"\"]}", "/words/0: must be a string, got 1" },
	{ .body = "{\"words\":[\"\",\"\"]}", "/words/1: must not repeat an earlier item, got \"\"" },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{},{},{},{}]}}}",
	  "/entries/a/layers: must have at most 3 items, got 4" },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[null]}}}",
	  "/entries/a/layers/0: must be an object, got null" },
	{ .body = "{\"colors\":[],\"words\":[]}", NULL, "{\"colors\":[],\"words\":[]}" },
	/* maps */
	{ .body = "{\"entries\":{\"a*b\":{\"size\":1}}}",
	  "/entries/a*b: the key must be 1 to 8 of the accepted characters\n"
	  "/entries/a*b/size: must be from 30 to 2000, got 1" },
	{ .body = "{\"entries\":{\"a*b\":null}}", NULL, "{\"entries\":{}}" },
	{ .body = "{\"entries\":{\"a*b\":null}}",
	  "/entries/a*b: the key must be 1 to 8 of the accepted characters", NULL, NULL,
	  SCHEMA_PATCH },
	{ .body = "{\"entries\":{\"a/b~c\":7}}",
	  "/entries/a~1b~0c: the key must be 1 to 8 of the accepted characters\n"
	  "/entries/a~1b~0c: must be an object, got a number" },
	{ .body = "{\"entries\":{\"" LONG_KEY "\":{\"size\":1}}}",
	  "/entries/" SHOWN_KEY "...: the key must be 1 to 8 of the accepted characters" },
	{ .body = "{\"entries\":{\"a\":{\"name\":\"a\"}}}", NULL, "{\"entries\":{\"a\":{\"name\":\"a\"}}}" },
	{ .body = "{\"entries\":{\"a\":{\"name\":\"b\"}}}",
	  "/entries/a/name: must equal its key, got \"b\"" },
	{ .body = "{\"entries\":{\"a\":{},\"b\":null,\"c\":{},\"d\":{}}}", NULL,
	  "{\"entries\":{\"a\":{},\"c\":{},\"d\":{}}}" },
	{ .body = "{\"entries\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{}}}",
	  "/entries: must have at most 3 entries, got 4" },
	/* null, read-only, unknown */
	{ .body = "{\"name\":null,\"maybe\":null,\"least\":null,\"inner\":{\"on\":null}}", NULL,
	  "{\"inner\":{}}" },
	{ .body = "{\"id\":17,\"retry\":{\"x\":{\"y\":1}},\"big\":1}", NULL, "{\"big\":1}" },
	{ .body = "{\"x\":1,\"inner\":{\"y/z\":{\"deep\":2},\"on\":true},\"entries\":{\"a\":{\"layers\":"
	  "[{},{\"w\":null}]}}}",
	  NULL, "{\"inner\":{\"on\":true},\"entries\":{\"a\":{\"layers\":[{},{}]}}}",
	  "/x /inner/y~1z /entries/a/layers/1/w" },
	{ .body = "{\"x\":1,\"big\":true}", "/big: must be an integer, got true", NULL, "/x" },
	{ .body = "{\"inner\":{\"x\":1},\"y\":2,\"id\":1}", "/inner/x: is not a known field\n/y: is not a known field",
	  NULL, "/inner/x /y", SCHEMA_WHOLE, true },
	/* required, secrets */
	{ .body = "{\"maybe\":{}}", "/maybe/kind: is required\n/maybe/where: is required" },
	{ .body = "{\"maybe\":{\"where\":null,\"kind\":\"s3\"}}", "/maybe/where: is required" },
	{ .body = "{\"maybe\":{\"kind\":\"x\",\"where\":\"\"}}",
	  "/maybe/kind: must be one of s3, gs, got \"x\"" },
	{ .body = "{\"maybe\":{\"kind\":\"s3\",\"where\":\"\",\"credentials\":{\"key\":\"geheim\","
	  "\"secret\":5}}}",
	  "/maybe/credentials/key: must be at most 5 characters\n"
	  "/maybe/credentials/secret: must be a string, got a number" },
	{ .body = "{\"maybe\":{\"kind\":\"s3\",\"where\":\"\",\"credentials\":\"geheim\"}}",
	  "/maybe/credentials: must be an object, got a string" },
	{ .body = "{\"inner\":{\"place\":{\"kind\":\"geheim\",\"where\":\"geheim\"}}}",
	  "/inner/place/kind: must be one of s3, gs\n"
	  "/inner/place/where: must be at most 5 characters" },
	/* named rules: checked on the accepted members, together with other faults */
	{ .body = "{\"least\":500}", "/least: needs big" },
	{ .body = "{\"least\":500,\"big\":1.5}",
	  "/least: needs big\n/big: must be an integer, got 1.5" },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"width\":0},{\"width\":13},{\"width\":13.0}]}}}",
	  "/entries/a/layers/0/width: must be from 1 to 100, got 0\n"
	  "/entries/a/layers/1/width: must not be unlucky\n"
	  "/entries/a/layers/2/width: must not be unlucky" },
	/* faults are in the order of the body; missing members come after the present ones */
	{ .body = "{\"opus\":1,\"maybe\":{\"x\":1,\"credentials\":{},\"kind\":2},\"least\":600,\"name\":2}",
	  "/opus: must be opus, got 1\n"
	  "/maybe/credentials/key: is required\n"
	  "/maybe/credentials/secret: is required\n"
	  "/maybe/kind: must be one of s3, gs, got 2\n"
	  "/maybe/where: is required\n"
	  "/least: needs big\n"
	  "/name: must be a string, got 2", NULL, "/maybe/x" },
	/* partial bodies: requirements of the top level do not apply yet */
	{ .body = "{\"least\":500}", NULL, "{\"least\":500}", NULL, SCHEMA_PARTIAL },
	{ .body = "{\"name\":null,\"maybe\":{}}",
	  "/maybe/kind: is required\n/maybe/where: is required", NULL, NULL, SCHEMA_PARTIAL },
	/* patches */
	{ .body = "{\"least\":null,\"id\":null,\"entries\":{\"a\":null,\"b\":{\"size\":null}}}", NULL,
	  "{\"least\":null,\"entries\":{\"a\":null,\"b\":{\"size\":null}}}", NULL, SCHEMA_PATCH },
	{ .body = "{\"name\":null,\"entries\":{\"a\":{\"name\":null}}}",
	  "/name: cannot be removed\n/entries/a/name: cannot be removed", NULL, NULL, SCHEMA_PATCH },
	{ .body = "{\"maybe\":{\"where\":null},\"least\":600}", NULL,
	  "{\"maybe\":{\"where\":null},\"least\":600}", NULL, SCHEMA_PATCH },
	{ .body = "{\"maybe\":{\"credentials\":{\"key\":\"k\"}}}",
	  "/maybe/credentials/secret: is required", NULL, NULL, SCHEMA_PATCH },
	{ .body = "{\"maybe\":{\"credentials\":{\"key\":\"k\",\"secret\":null}}}",
	  "/maybe/credentials/secret: is required", NULL, NULL, SCHEMA_PATCH },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"width\":13,\"scale\":null}]}}}",
	  "/entries/a/layers/0/width: must not be unlucky", NULL, NULL, SCHEMA_PATCH },
	{ .body = "{\"entries\":{\"a\":{\"layers\":[{\"width\":1,\"scale\":null}]}}}", NULL,
	  "{\"entries\":{\"a\":{\"layers\":[{\"width\":1}]}}}", NULL, SCHEMA_PATCH },
	{ .body = "{\"entries\":{\"a\":{\"name\":\"b\"}},\"big\":2.0,\"x\":null}",
	  "/entries/a/name: must equal its key, got \"b\"", NULL, "/x", SCHEMA_PATCH },
	{ .body = "{\"entries\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{}}}", NULL,
	  "{\"entries\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{}}}", NULL, SCHEMA_PATCH },
};
/* clang-format on */

START_TEST(a_body_is_checked_and_cleaned)
{
	const struct check_case *row = &check_cases[_i];
	json_t *body = parse(row->body);
	struct fault fault = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, arena);

	bool ok = schema_check(&top_shape, body, row->mode, row->is_strict, &findings, &fault);

	ck_assert_str_eq(unknown_lines(&findings), row->unknown == NULL ? "" : row->unknown);
	if (row->faults == NULL) {
		ck_assert_msg(ok, "%s", lines(&fault));
		ck_assert_str_eq(text_of(body).data, row->cleaned);
		return;
	}
	ck_assert(!ok);
	ck_assert_int_eq(fault.kind, FAULT_INVALID_BODY);
	ck_assert_str_eq(fault.message, "Invalid body param");
	ck_assert_str_eq(lines(&fault), row->faults);
}
END_TEST

START_TEST(required_members_of_the_top_level)
{
	static const struct {
		const char *body, *faults;
		enum schema_mode mode;
	} rows[] = {
		{ "{}", "/a: is required\n/b: is required", SCHEMA_WHOLE },
		{ "{\"b\":null,\"a\":null}", "/b: is required\n/a: is required", SCHEMA_WHOLE },
		{ "{\"b\":1}", "/b: must be a boolean, got 1\n/a: is required", SCHEMA_WHOLE },
		{ "{\"a\":null}", "", SCHEMA_PARTIAL },
		{ "{\"a\":null}", "", SCHEMA_PATCH },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct fault fault = FAULT_INITIAL;
		struct findings findings;

		findings_open(&findings, arena);
		(void)schema_check(&needy_shape, parse(rows[i].body), rows[i].mode, false,
				   &findings, &fault);
		ck_assert_str_eq(lines(&fault), rows[i].faults);
	}
}
END_TEST

START_TEST(at_most_fifty_faults_and_twenty_unknown_members_are_kept)
{
	struct buffer text = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;

	buffer_append_text(&text, "{\"words\":[1");
	for (int i = 0; i < 99; i++)
		buffer_append_text(&text, ",2");
	buffer_append_text(&text, "]");
	for (int i = 0; i < 30; i++)
		buffer_append_text(&text, arena_text(arena, ",\"x%d\":1", i));
	buffer_append_text(&text, "}");
	ck_assert(schema_parse(arena, buffer_slice(&text), &body, &fault));
	findings_open(&findings, arena);
	ck_assert(!schema_check(&top_shape, body, SCHEMA_WHOLE, false, &findings, &fault));
	ck_assert_uint_eq(json_array_size(fault.details), FINDINGS_FAULT_MOST);
	ck_assert_str_eq(json_string_value(json_array_get(fault.details, 49)),
			 "/words/49: must be a string, got 2");
	ck_assert_uint_eq(findings.fault_count, FINDINGS_FAULT_MOST);
	ck_assert_uint_eq(findings.unknown_count, 30);
	ck_assert(slice_is(findings.unknown[FINDINGS_UNKNOWN_MOST - 1], "/x19"));
}
END_TEST

/* A bulk request or import has one body for each of many operations or objects. */
START_TEST(one_fault_takes_little_memory)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;
	size_t used;

	ck_assert(schema_parse(arena, SLICE("{\"words\":[1]}"), &body, &fault));
	used = arena_used(arena);
	findings_open(&findings, arena);
	ck_assert(!schema_check(&top_shape, body, SCHEMA_WHOLE, false, &findings, &fault));
	ck_assert_uint_lt(arena_used(arena) - used, 4096);
}
END_TEST

/* clang-format off */
static const struct {
	const char *body, *cleaned, *faults, *unknown;
} bare_cases[] = {
	{ "", "{\"layers\":[]}", "", "" },
	{ " null\n", "{\"layers\":[]}", "", "" },
	{ "[]", "{\"layers\":[]}", "", "" },
	{ "[{\"width\":5.0,\"id\":1,\"x\":{}}]", "{\"layers\":[{\"width\":5}]}", "", "/0/x" },
	{ "[{\"scale\":0,\"width\":0}]", "",
	  "/0/scale: must be from 1 to 12, got 0\n/0/width: must be from 1 to 100, got 0", "" },
	{ "[{\"width\":13}]", "", "/0/width: must not be unlucky", "" },
	{ "[{},{}]", "", "must have at most 1 item, got 2", "" },
};
/* clang-format on */

START_TEST(a_body_may_be_a_list_itself)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;
	bool ok;

	ck_assert(schema_parse_list(arena, &bare_shape, slice_of(bare_cases[_i].body), &body,
				    &fault));
	findings_open(&findings, arena);
	ok = schema_check(&bare_shape, body, SCHEMA_WHOLE, false, &findings, &fault);
	ck_assert_str_eq(lines(&fault), bare_cases[_i].faults);
	if (ok)
		ck_assert_str_eq(text_of(body).data, bare_cases[_i].cleaned);
	ck_assert_str_eq(unknown_lines(&findings), bare_cases[_i].unknown);
}
END_TEST

START_TEST(the_walk_ends_early_if_fewer_faults_are_reported)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;

	ck_assert(schema_parse(arena, SLICE("{\"words\":[1,2,3,4],\"x\":1}"), &body, &fault));
	findings_open(&findings, arena);
	findings.fault_most = 3;
	ck_assert(!findings_are_full(&findings));
	ck_assert(!schema_check(&top_shape, body, SCHEMA_WHOLE, false, &findings, &fault));
	ck_assert(findings_are_full(&findings));
	ck_assert_uint_eq(json_array_size(fault.details), 3);
	ck_assert_str_eq(json_string_value(json_array_get(fault.details, 2)),
			 "/words/2: must be a string, got 3");
}
END_TEST

START_TEST(a_long_list_of_different_texts_is_checked_fast)
{
	struct buffer text = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;

	buffer_append_text(&text, "{\"words\":[\"a\"");
	for (int i = 0; i < 40000; i++)
		buffer_append_text(&text, arena_text(arena, ",\"%x\"", i));
	buffer_append_text(&text, "]}");
	ck_assert(schema_parse(arena, buffer_slice(&text), &body, &fault));
	findings_open(&findings, arena);
	ck_assert(!schema_check(&top_shape, body, SCHEMA_WHOLE, false, &findings, &fault));
	ck_assert_str_eq(lines(&fault), "/words/11: must not repeat an earlier item, got \"a\"");
}
END_TEST

/* In any number: short lists are compared pairwise, long lists use a look-up. */
START_TEST(a_repeated_item_is_found)
{
	for (size_t n = 1; n < 40; n++) {
		struct buffer text = BUFFER_INITIAL(arena);
		struct fault fault = FAULT_INITIAL;
		struct findings findings;

		buffer_append_text(&text, "{\"words\":[");
		for (size_t i = 0; i < n; i++)
			buffer_append_text(&text, arena_text(arena, "\"%zu\",", i));
		buffer_append_text(&text, arena_text(arena, "\"%zu\"]}", n - 1));
		buffer_append_byte(&text, '\0');
		findings_open(&findings, arena);
		ck_assert(!schema_check(&top_shape, parse(text.data), SCHEMA_WHOLE, false,
					&findings, &fault));
		ck_assert_str_eq(lines(&fault),
				 arena_text(arena,
					    "/words/%zu: must not repeat an earlier item, "
					    "got \"%zu\"",
					    n, n - 1));
	}
}
END_TEST

START_TEST(faults_of_handlers_are_sorted_among_the_others)
{
	json_t *body = parse("{\"b\":{\"x\":1},\"a\":[1,2,{\"c/d\":3}],\"e~f\":4,\"g\":5}");
	struct fault fault = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, arena);
	ck_assert(findings_result(&findings, &fault));
	findings.sent = body;
	findings_add(&findings, "/z", "last");
	findings_add(&findings, "/g", "six");
	findings_add(&findings, "/e~0f", "five");
	findings_add(&findings, "/a/2/c~1d", "%s", "four");
	findings_add(&findings, "/a/2", "three");
	findings_add(&findings, "/b/y", "two");
	findings_add(&findings, "/b/x", "one");
	ck_assert(!findings_result(&findings, &fault));
	ck_assert_str_eq(lines(&fault), "/b/x: one\n/b/y: two\n/a/2: three\n/a/2/c~1d: four\n"
					"/e~0f: five\n/g: six\n"
					"/z: last");
}
END_TEST

START_TEST(an_earlier_fault_wins)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, arena);
	findings_add(&findings, "/a", "bad");
	(void)fault_set(&fault, FAULT_NOT_FOUND, NULL);
	ck_assert(!findings_result(&findings, &fault));
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	ck_assert_ptr_null(fault.details);
}
END_TEST

/* ---- documents ---- */

/* clang-format off */
static const struct {
	const char *document, *key, *expected;
	bool echo;
} write_cases[] = {
	{ "{}", NULL,
	  "{\"colors\":[\"red\",\"green\"],\"inner\":{\"on\":true,\"speed\":5},\"maybe\":null,"
	  "\"entries\":{},\"retry\":{}}", false },
	{ "{\"retry\":{\"n\":1},\"made\":false,\"maybe\":null,\"entries\":{\"b\":{\"mark\":true},"
	  "\"a\":{\"name\":\"a\",\"layers\":[{\"scale\":1.0},{}],\"type\":\"live\"},"
	  "\"c\":{\"type\":\"event\",\"size\":31}},\"stranger\":1,\"id\":\"i\",\"inner\":{}}", NULL,
	  "{\"id\":\"i\",\"colors\":[\"red\",\"green\"],\"inner\":{\"on\":true,\"speed\":5},"
	  "\"maybe\":null,\"entries\":{\"b\":{\"name\":\"b\",\"size\":256},\"a\":{\"name\":\"a\","
	  "\"size\":256,\"layers\":[{\"scale\":1},{}],\"type\":\"live\",\"parts\":5},\"c\":{\"name\":"
	  "\"c\",\"size\":31,\"type\":\"event\"}},\"made\":false,\"retry\":{\"n\":1}}", false },
	{ "{\"maybe\":{\"credentials\":{\"secret\":\"s\",\"key\":\"k\"},\"kind\":\"s3\","
	  "\"where\":\"w\\n\"},\"colors\":[],\"inner\":{\"on\":false,\"speed\":10}}", NULL,
	  "{\"colors\":[],\"inner\":{\"on\":false,\"speed\":10},\"maybe\":{\"kind\":\"s3\","
	  "\"where\":\"w\\n\"},\"entries\":{},\"retry\":{}}", false },
	{ "{\"maybe\":{\"credentials\":{\"secret\":\"s\",\"key\":\"k\"},\"kind\":\"s3\","
	  "\"where\":\"w\"},\"colors\":[],\"entries\":{\"a\":{\"mark\":true}}}", NULL,
	  "{\"colors\":[],\"inner\":{\"on\":true,\"speed\":5},\"maybe\":{\"kind\":\"s3\","
	  "\"where\":\"w\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}},\"entries\":{\"a\":"
	  "{\"name\":\"a\",\"size\":256}},\"retry\":{}}", true },
};
/* clang-format on */

START_TEST(a_document_is_written_with_its_defaults)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	document_write(&top_shape, parse(write_cases[_i].document), (struct slice){ 0 },
		       write_cases[_i].echo, &buffer);
	buffer_append_byte(&buffer, '\0');
	ck_assert_str_eq(buffer.data, write_cases[_i].expected);
}
END_TEST

START_TEST(an_entry_is_written_with_its_key)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	document_write(&entry_shape, NULL, SLICE("a\"b"), false, &buffer);
	document_write(&entry_shape, parse("{\"name\":\"x\"}"), SLICE("y"), false, &buffer);
	document_write(&entry_shape, parse("{\"name\":\"x\"}"), (struct slice){ 0 }, false,
		       &buffer);
	buffer_append_byte(&buffer, '\0');
	ck_assert_str_eq(buffer.data, "{\"name\":\"a\\\"b\",\"size\":256}"
				      "{\"name\":\"y\",\"size\":256}{\"name\":\"x\",\"size\":256}");
}
END_TEST

START_TEST(one_member_is_written_alone)
{
	static const struct {
		const char *name, *value, *expected;
	} rows[] = {
		{ "inner", NULL, "{\"on\":true,\"speed\":5}" },
		{ "inner", "{\"on\":false}", "{\"on\":false,\"speed\":5}" },
		{ "entries", NULL, "{}" },
		{ "maybe", NULL, "null" },
		{ "made", NULL, NULL },
		{ "name", NULL, NULL },
		{ "colors", NULL, "[\"red\",\"green\"]" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct buffer buffer = BUFFER_INITIAL(arena);
		const json_t *value = rows[i].value == NULL ? NULL : parse(rows[i].value);
		bool wrote = document_write_member(shape_field(&top_shape, rows[i].name), value,
						   &buffer);

		ck_assert_int_eq(wrote, rows[i].expected != NULL);
		if (wrote)
			ck_assert(slice_is(buffer_slice(&buffer), rows[i].expected));
		else
			ck_assert_uint_eq(buffer.size, 0);
	}
	ck_assert_ptr_null(shape_field(&top_shape, "nobody"));

	struct buffer nothing = BUFFER_INITIAL(arena);

	ck_assert(!document_write_member(shape_field(&entry_shape, "mark"), json_true(), &nothing));
	ck_assert_uint_eq(nothing.size, 0);
}
END_TEST

/* clang-format off */
static const struct {
	const char *target, *patch, *expected;
} merge_cases[] = {
	{ "{}", "{}", "{}" },
	{ "{\"name\":\"a\",\"big\":1}", "{\"big\":2}", "{\"name\":\"a\",\"big\":2}" },
	{ "{\"name\":\"a\",\"big\":1}", "{\"name\":\"b\",\"least\":600}",
	  "{\"name\":\"b\",\"big\":1,\"least\":600}" },
	{ "{\"big\":1,\"least\":600}", "{\"big\":null}", "{\"least\":600}" },
	{ "{}", "{\"big\":null,\"inner\":{\"on\":null,\"speed\":5}}", "{\"inner\":{\"speed\":5}}" },
	{ "{\"colors\":[\"red\",\"green\"]}", "{\"colors\":[\"blue\"]}", "{\"colors\":[\"blue\"]}" },
	{ "{\"entries\":{\"a\":{\"size\":31},\"b\":{\"size\":32},\"c\":{}}}",
	  "{\"entries\":{\"b\":{\"type\":\"live\"},\"a\":null,\"d\":{\"size\":null}}}",
	  "{\"entries\":{\"b\":{\"size\":32,\"type\":\"live\"},\"c\":{},\"d\":{}}}" },
	{ "{\"maybe\":null}", "{\"maybe\":{\"kind\":\"s3\"}}", "{\"maybe\":{\"kind\":\"s3\"}}" },
	{ "{\"maybe\":{\"kind\":\"s3\",\"credentials\":{\"key\":\"a\",\"secret\":\"b\"}}}",
	  "{\"maybe\":{\"credentials\":{\"key\":\"c\"}}}",
	  "{\"maybe\":{\"kind\":\"s3\",\"credentials\":{\"key\":\"c\"}}}" },
	{ "{\"maybe\":{\"kind\":\"s3\"}}", "{\"maybe\":null}", "{}" },
};
/* clang-format on */

START_TEST(a_patch_is_merged)
{
	json_t *target = parse(merge_cases[_i].target);
	json_t *patch = parse(merge_cases[_i].patch);
	const char *before = text_of(patch).data;

	document_merge(&top_shape, target, patch);
	ck_assert_str_eq(text_of(target).data, merge_cases[_i].expected);
	ck_assert_str_eq(text_of(patch).data, before);
}
END_TEST

/* clang-format off */
static const struct {
	const char *document, *faults;
} finish_cases[] = {
	{ "{}", "" },
	{ "{\"maybe\":null,\"retry\":{}}", "" },
	{ "{\"least\":500}", "/least: needs big" },
	{ "{\"maybe\":{\"kind\":\"s3\"}}", "/maybe/where: is required" },
	{ "{\"entries\":{\"a\":{\"layers\":[{},{\"width\":13}]}}}",
	  "/entries/a/layers/1/width: must not be unlucky" },
	{ "{\"entries\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{}}}",
	  "/entries: must have at most 3 entries, got 4" },
};
/* clang-format on */

START_TEST(a_whole_document_is_checked)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, arena);
	ck_assert_int_eq(
		document_finish(&top_shape, parse(finish_cases[_i].document), &findings, &fault),
		finish_cases[_i].faults[0] == '\0');
	ck_assert_str_eq(lines(&fault), finish_cases[_i].faults);
}
END_TEST

/* clang-format off */
static const struct {
	const char *document, *hidden, *target, *expected;
} hidden_cases[] = {
	{ "{\"name\":\"a\",\"maybe\":null,\"entries\":{\"a\":{}}}", "{}", "{\"big\":1}",
	  "{\"big\":1}" },
	{ "{\"maybe\":{\"kind\":\"s3\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}},"
	  "\"entries\":{\"a\":{},\"b\":{\"size\":31,\"mark\":true},\"c\":{\"mark\":false}}}",
	  "{\"maybe\":{\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}},\"entries\":{\"b\":"
	  "{\"mark\":true},\"c\":{\"mark\":false}}}",
	  "{\"maybe\":{\"kind\":\"s3\"},\"entries\":{\"b\":{\"mark\":false},\"c\":{}}}",
	  "{\"maybe\":{\"kind\":\"s3\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}},"
	  "\"entries\":{\"b\":{\"mark\":false},\"c\":{\"mark\":false}}}" },
	{ "{\"maybe\":{\"kind\":\"s3\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}}}",
	  "{\"maybe\":{\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}}}", "{\"maybe\":null}",
	  "{\"maybe\":null}" },
	{ "{\"entries\":{\"a\":{\"mark\":true}}}", "{\"entries\":{\"a\":{\"mark\":true}}}",
	  "{\"big\":1}", "{\"big\":1}" },
};
/* clang-format on */

START_TEST(hidden_members_are_taken_out_and_put_back)
{
	json_t *target = parse(hidden_cases[_i].target);
	json_t *hidden = document_hidden(arena, &top_shape, parse(hidden_cases[_i].document));

	ck_assert_str_eq(text_of(hidden).data, hidden_cases[_i].hidden);
	document_unhide(&top_shape, target, hidden);
	ck_assert_str_eq(text_of(target).data, hidden_cases[_i].expected);
}
END_TEST

/* ---- queries ---- */

/* clang-format off */
static const struct {
	const char *query, *expected;	/* expected: the values, or the faults */
	bool is_refused;
} query_cases[] = {
	{ "", "{\"limit\":10}", false },
	{ "limit=100&name=a+%C3%A4&other=1&other=2", "{\"limit\":100,\"name\":\"a \xc3\xa4\"}",
	  false },
	{ "open=true&color=green&l%69mit=11", "{\"open\":true,\"color\":\"green\",\"limit\":11}",
	  false },
	{ "open=false&limit=&name&color=", "{\"open\":false,\"limit\":10}", false },
	{ "limit=9", "limit: must be from 10 to 100, got 9", true },
	{ "limit=101&open=1&color=pink", "limit: must be from 10 to 100, got 101\n"
	  "open: must be true or false, got \"1\"\ncolor: must be one of red, green, got \"pink\"",
	  true },
	{ "limit=ten", "limit: must be an integer, got \"ten\"", true },
	{ "limit=10.0", "limit: must be an integer, got \"10.0\"", true },
	{ "limit=20&limit=20", "limit: must not be given twice", true },
	{ "limit=&limit=20", "limit: must not be given twice", true },
	{ "name=abcdef", "name: must be at most 5 characters, got \"abcdef\"", true },
};
/* clang-format on */

START_TEST(a_query_is_checked)
{
	struct fault fault = FAULT_INITIAL;
	json_t *query;
	bool ok = schema_query(arena, &query_shape, slice_of(query_cases[_i].query), &query,
			       &fault);

	ck_assert_int_eq(ok, !query_cases[_i].is_refused);
	if (ok) {
		ck_assert_str_eq(text_of(query).data, query_cases[_i].expected);
		return;
	}
	ck_assert_str_eq(fault.message, "Invalid query parameter");
	ck_assert_str_eq(lines(&fault), query_cases[_i].expected);
}
END_TEST

START_TEST(a_query_that_cannot_be_decoded_is_rejected)
{
	static const char *const queries[] = { "limit=%zz", "x=%00", "name=%ff", "%c3=1" };

	for (size_t i = 0; i < ROWS(queries); i++) {
		struct fault fault = FAULT_INITIAL;
		json_t *query;

		ck_assert(!schema_query(arena, &query_shape, slice_of(queries[i]), &query, &fault));
		ck_assert_int_eq(fault.kind, FAULT_INVALID_QUERY);
	}
}
END_TEST

/* ---- views ---- */

/* clang-format off */
static const struct view_case {
	unsigned view;
	const char *body;
	const char *faults;	/* of the strict check, one per line */
	const char *cleaned, *written, *merged, *hidden;
	const char *described, *required;	/* members of the schema of a response, and those always there */
} view_cases[] = {
	{ 0, "{\"code\":\"a\",\"note\":\"b\",\"size\":9}",
	  "/code: is not a known field\n/size: is not a known field",
	  "{\"note\":\"b\"}", "{\"note\":\"b\"}", "{\"size\":1,\"note\":\"b\"}", "{}", "note", "" },
	{ IN_ANSWER, "{\"code\":\"a\",\"note\":\"b\",\"uses\":9,\"from\":1}", "/from: is not a known field",
	  "{\"note\":\"b\"}", "{\"note\":\"b\",\"size\":2}", "{\"size\":1,\"note\":\"b\"}", "{}",
	  "code note size uses", "code size" },
	{ IN_NEW, "{\"uses\":1,\"size\":6}",
	  "/uses: is not a known field\n/size: must be from 1 to 5, got 6\n/code: is required",
	  "{}", "{\"size\":2}", "{\"size\":1}", "{}", "note size", "size" },
	{ IN_NEW, "{\"size\":3,\"code\":\"abc\"}", "",
	  "{\"size\":3,\"code\":\"abc\"}", "{\"size\":3}", "{\"size\":3,\"code\":\"abc\"}",
	  "{\"code\":\"abc\"}", "note size", "size" },
	{ IN_CHANGE, "{\"size\":3,\"from\":false,\"note\":\"b\"}", "/size: is not a known field",
	  "{\"from\":false,\"note\":\"b\"}", "{\"note\":\"b\",\"from\":false}",
	  "{\"size\":1,\"from\":false,\"note\":\"b\"}", "{}", "note from", "from" },
};
/* clang-format on */

/* The names of a list of texts, or of the members of an object. */
static const char *names_in(json_t *value)
{
	struct buffer text = BUFFER_INITIAL(arena);
	const char *name;
	json_t *member;
	size_t i;

	json_array_foreach(value, i, member)
		buffer_append_text(&text, arena_text(arena, "%s%s", i == 0 ? "" : " ",
						     json_string_value(member)));
	json_object_foreach(value, name, member)
		buffer_append_text(&text,
				   arena_text(arena, "%s%s", text.size == 0 ? "" : " ", name));
	buffer_append_byte(&text, '\0');
	return text.data;
}

START_TEST(a_shape_has_the_rows_of_its_views)
{
	const struct view_case *row = &view_cases[_i];
	const struct shape *shape = viewed_shapes;
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body = parse(row->body), *target = parse("{\"size\":1}");
	json_t *components = arena_json(arena, json_object()), *schema;

	while (shape->views != row->view)
		shape++;
	findings_open(&findings, arena);
	(void)schema_check(shape, body, SCHEMA_WHOLE, true, &findings, &fault);
	ck_assert_str_eq(lines(&fault), row->faults);
	ck_assert_str_eq(text_of(body).data, row->cleaned);
	ck_assert(slice_is(document_as_text(arena, shape, body, false), row->written));
	document_merge(shape, target, body);
	ck_assert_str_eq(text_of(target).data, row->merged);
	ck_assert_str_eq(text_of(document_hidden(arena, shape, body)).data, row->hidden);
	fault = FAULT_INITIAL;
	findings_open(&findings, arena);
	ck_assert_int_eq(document_finish(shape, body, &findings, &fault),
			 row->view != IN_NEW || json_object_get(body, "code") != NULL);
	describe_components(components, shape, DESCRIBE_ANSWER);
	schema = json_object_get(components, "Viewed");
	ck_assert_str_eq(names_in(json_object_get(schema, "properties")), row->described);
	ck_assert_str_eq(names_in(json_object_get(schema, "required")), row->required);
}
END_TEST

/* ---- tables ---- */

static const struct field low_default[] = { { "a", INTEGER(1, 5), DEFAULT(6) } };
static const struct field spaced_default[] = { { "a", LIST_OF(word_item), DEFAULT([ "a", "b" ]) } };
static const struct field twice[] = { { "a", BOOLEAN() }, { "a", BOOLEAN() } };
static const struct field twice_in_view[] = {
	{ "a", BOOLEAN(), IN(IN_NEW) },
	{ "a", BOOLEAN(), IN(IN_NEW | IN_ANSWER) },
};
static const struct field empty_text[] = { { "a", .kind = KIND_TEXT } };
static const struct field when_unknown[] = {
	{ "kind", ONE_OF("x") },
	{ "a", INTEGER(1, 5), DEFAULT_WHEN("kind", "y", 1) },
};
static const struct field quoted_name[] = { { "a\"b", BOOLEAN() } };
static const struct field open_any[] = { { "a", ANY() } };
static const struct field silent_null[] = {
	{ "a", BOOLEAN(), FLAGS(FIELD_WRITE_ONLY | FIELD_NULLABLE) },
};
static const struct field sent_sometimes[] = { { "a", BOOLEAN(), FLAGS(FIELD_SOMETIMES) } };
static const struct field bare_text[] = { { "a", TEXT(any_rule), FLAGS(FIELD_BARE) } };
static const struct field bare_and_more[] = {
	{ "a", LIST_OF(word_item), FLAGS(FIELD_BARE) },
	{ "b", BOOLEAN() },
};

static const struct shape broken_shapes[] = {
	{ "LowDefault", FIELDS(low_default) },
	{ "SpacedDefault", FIELDS(spaced_default) },
	{ "Twice", FIELDS(twice) },
	{ "TwiceInView", FIELDS(twice_in_view), .views = IN_NEW },
	{ "EmptyText", FIELDS(empty_text) },
	{ "WhenUnknown", FIELDS(when_unknown) },
	{ "QuotedName", FIELDS(quoted_name) },
	{ "OpenAny", FIELDS(open_any) },
	{ "SilentNull", FIELDS(silent_null) },
	{ "SentSometimes", FIELDS(sent_sometimes) },
	{ "BareText", FIELDS(bare_text) },
	{ "BareAndMore", FIELDS(bare_and_more) },
};

START_TEST(a_malformed_table_aborts_the_process)
{
	schema_verify(&broken_shapes[_i]);
}
END_TEST

/* ---- changes ---- */

static const struct {
	const char *former, *latter, *pointers;
} change_cases[] = {
	{ "{}", "{}", "[]" },
	{ "{\"a\":1}", "{\"a\":1}", "[]" },
	{ "{\"a\":1}", "{\"a\":2}", "[\"/a\"]" },
	{ "{\"a\":1}", "{\"a\":12}", "[\"/a\"]" },
	{ "{}", "{\"a\":1}", "[\"/a\"]" },
	{ "{\"a\":1}", "{}", "[\"/a\"]" },
	{ "{\"a\":1}", "{\"a\":1,\"b\":2}", "[\"/b\"]" },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2}", "[\"/a\"]" },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "[]" },
	{ "{\"a\":1,\"skip\":2}", "{\"a\":1,\"skip\":3}", "[]" },
	{ "{\"a\":{\"b\":1,\"c\":2},\"d\":3}", "{\"a\":{\"b\":1,\"c\":4},\"d\":3}", "[\"/a/c\"]" },
	{ "{\"a\":[1,{\"b\":2}],\"c\":3}", "{\"a\":[1,{\"b\":4}],\"c\":5}", "[\"/a\",\"/c\"]" },
	{ "{\"a\":\"x\\\",\\\"b\\\":}\",\"c\":1}", "{\"a\":\"x\\\",\\\"b\\\":}\",\"c\":2}",
	  "[\"/c\"]" },
	{ "{\"a\":\"\\\\\",\"c\":\"]\"}", "{\"a\":\"\\\\\",\"c\":\"[\"}", "[\"/c\"]" },
	{ "{\"a,}\":1,\"b\":\"\"}", "{\"a,}\":2,\"b\":\"\"}", "[\"/a,}\"]" },
};

START_TEST(changes_of_two_texts_are_found)
{
	static const char *const ignored[] = { "skip", NULL };
	struct json_writer list = writer_begin(arena, false);
	struct changes changes = CHANGES_INITIAL(arena);
	struct slice text;

	changes_find_in_texts(&changes, SLICE(""), slice_of(change_cases[_i].former),
			      slice_of(change_cases[_i].latter), ignored);
	writer_open(&list, "list", '[');
	changes_write(&changes, &list);
	writer_close(&list, ']');
	text = writer_end(&list);
	ck_assert_str_eq(arena_text(arena, "{\"list\":%s}", change_cases[_i].pointers),
			 arena_text(arena, "%.*s", (int)text.size, text.data));
}
END_TEST

static Suite *schema_suite(void)
{
	Suite *suite = suite_create("schema");
	TCase *bodies = tcase_create("bodies");
	TCase *documents = tcase_create("documents");
	TCase *tables = tcase_create("tables");

	tcase_add_checked_fixture(bodies, set_up, tear_down);
	tcase_add_loop_test(bodies, a_body_is_parsed, 0, ROWS(parse_cases));
	tcase_add_loop_test(bodies, a_body_is_checked_and_cleaned, 0, ROWS(check_cases));
	tcase_add_test(bodies, required_members_of_the_top_level);
	tcase_add_test(bodies, at_most_fifty_faults_and_twenty_unknown_members_are_kept);
	tcase_add_test(bodies, one_fault_takes_little_memory);
	tcase_add_loop_test(bodies, a_body_may_be_a_list_itself, 0, ROWS(bare_cases));
	tcase_add_test(bodies, the_walk_ends_early_if_fewer_faults_are_reported);
	tcase_add_test(bodies, a_long_list_of_different_texts_is_checked_fast);
	tcase_add_test(bodies, a_repeated_item_is_found);
	tcase_add_test(bodies, faults_of_handlers_are_sorted_among_the_others);
	tcase_add_test(bodies, an_earlier_fault_wins);
	tcase_add_loop_test(bodies, a_query_is_checked, 0, ROWS(query_cases));
	tcase_add_test(bodies, a_query_that_cannot_be_decoded_is_rejected);
	suite_add_tcase(suite, bodies);

	tcase_add_checked_fixture(documents, set_up, tear_down);
	tcase_add_loop_test(documents, a_document_is_written_with_its_defaults, 0,
			    ROWS(write_cases));
	tcase_add_test(documents, an_entry_is_written_with_its_key);
	tcase_add_test(documents, one_member_is_written_alone);
	tcase_add_loop_test(documents, a_patch_is_merged, 0, ROWS(merge_cases));
	tcase_add_loop_test(documents, a_whole_document_is_checked, 0, ROWS(finish_cases));
	tcase_add_loop_test(documents, hidden_members_are_taken_out_and_put_back, 0,
			    ROWS(hidden_cases));
	tcase_add_loop_test(documents, a_shape_has_the_rows_of_its_views, 0, ROWS(view_cases));
	tcase_add_loop_test(documents, changes_of_two_texts_are_found, 0, ROWS(change_cases));
	suite_add_tcase(suite, documents);

	tcase_add_loop_test_raise_signal(tables, a_malformed_table_aborts_the_process, SIGABRT, 0,
					 ROWS(broken_shapes));
	suite_add_tcase(suite, tables);
	return suite;
}

int main(void)
{
	return suite_run_apart(schema_suite());
}
