/* A parser in one pass, without recursion: open objects and arrays are on a stack of levels, and
 * read_next reads the next member, item or end of the innermost level. On failure, `at` is the
 * position of the flaw.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"

#include <assert.h>
#include <stdint.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#define REPLACEMENT_CHARACTER 0xfffd

/* What is allowed to a text, by where it comes from. */
struct origin {
	size_t depth; /* levels */
	const char *too_deep; /* the sentence for more */
	bool is_foreign; /* see json_text_read_foreign */
};
static const struct origin of_client = { JSON_TEXT_DEPTH, "nested deeper than 32 levels", false };
static const struct origin of_ours = { JSON_TEXT_STORED_DEPTH, "nested deeper than 64 levels",
				       false };
static const struct origin of_others = { JSON_TEXT_DEPTH, "nested deeper than 32 levels", true };

struct level {
	json_t *value;
	size_t count; /* members or items read so far */
	bool is_object;
};

struct reader {
	struct arena *arena;
	const char *at, *end;
	const char *sentence; /* says what the flaw is */
	const struct origin *origin;
	struct level *levels; /* an array of origin->depth levels */
	size_t depth;
	/* For strings with escapes. A name has a buffer of its own, because it is needed until its
	 * value is read. */
	struct buffer name, string;
};

static bool flawed(struct reader *reader, const char *sentence)
{
	if (reader->at == reader->end)
		reader->sentence = "unexpected end of JSON";
	else if (*reader->at == '\0')
		reader->sentence = "NUL byte";
	else
		reader->sentence = sentence;
	return false;
}

static bool flawed_at(struct reader *reader, const char *place, const char *sentence)
{
	reader->at = place;
	reader->sentence = sentence;
	return false;
}

static json_t *nothing(struct reader *reader, const char *sentence)
{
	(void)flawed(reader, sentence);
	return NULL;
}

static size_t left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

/* Returns '\0' at the end of the text; no token begins with it. */
static char next_byte(const struct reader *reader)
{
	return reader->at < reader->end ? *reader->at : '\0';
}

static char skip_space(struct reader *reader)
{
	char byte;

	while ((byte = next_byte(reader)) == ' ' || byte == '\n' || byte == '\r' || byte == '\t')
		reader->at++;
	return byte;
}

/* Skips space. Inline and in two steps, because the next byte is rarely a space. */
static inline char next_behind_space(struct reader *reader)
{
	char byte = next_byte(reader);

	return byte <= ' ' ? skip_space(reader) : byte;
}

/* ---- strings ---- */

/* Reads up to the closing quote or the next escape. */
static inline struct slice read_plain(struct reader *reader)
{
	struct plain plain = text_plain((struct slice){ reader->at, left(reader) });
	struct slice string = { reader->at, plain.size };

	reader->at += plain.size;
	if (!plain.is_ascii && !text_is_utf8(string))
		flawed_at(reader, string.data + text_utf8_size(string), "not UTF-8");
	else if (reader->at == reader->end || (unsigned char)*reader->at < 0x20)
		flawed(reader, "control character in a string");
	else
		return string;
	return (struct slice){ 0 };
}

/* Reads the four digits after \u. Returns -1 if they are invalid. */
static int32_t read_unit(struct reader *reader)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = text_hex_value(next_byte(reader));

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
		reader->at++;
	}
	return unit;
}

static bool is_high_surrogate(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_surrogate(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Reads the digits after \u, and a second escape if the character takes two. */
static bool read_character(struct reader *reader, struct buffer *string)
{
	/* The first byte of UTF-8, by the number of bytes. */
	static const unsigned char firsts[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	const char *escape = reader->at - 2;
	int32_t character = read_unit(reader);
	int size;

	if (character < 0)
		return flawed(reader, "invalid escape");
	if (character == 0 && !reader->origin->is_foreign)
		return flawed_at(reader, escape, "NUL character in a string");
	if (character == 0)
		character = REPLACEMENT_CHARACTER;
	if (is_high_surrogate(character) && left(reader) >= 2 && reader->at[0] == '\\' &&
	    reader->at[1] == 'u') {
		reader->at += 2;

		int32_t low = read_unit(reader);

		if (low < 0)
			return flawed(reader, "invalid escape");
		if (is_low_surrogate(low))
			character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
	}
	if (is_high_surrogate(character) || is_low_surrogate(character))
		return flawed_at(reader, escape, "lone surrogate");

	size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	buffer_append_byte(string, (char)(firsts[size] | character >> 6 * (size - 1)));
	for (int i = size - 2; i >= 0; i--)
		buffer_append_byte(string, (char)(0x80 | (character >> 6 * i & 0x3f)));
	return true;
}

/* Reads an escape; `at` is the backslash. */
static bool read_escape(struct reader *reader, struct buffer *string)
{
	static const char escapes[] = "\"\\/bfnrt";
	static const char bytes[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char letter;

	reader->at++;
	letter = next_byte(reader);
	if (letter == 'u') {
		reader->at++;
		return read_character(reader, string);
	}
	found = letter == '\0' ? NULL : strchr(escapes, letter);
	if (found == NULL)
		return flawed(reader, "invalid escape");
	reader->at++;
	buffer_append_byte(string, bytes[found - escapes]);
	return true;
}

/* Reads the rest of a string that begins with `plain`; `at` is an escape. Returns the whole
 * string. */
static struct slice read_escaped(struct reader *reader, struct slice plain, struct buffer *whole)
{
	whole->size = 0;
	buffer_append(whole, plain);
	while (*reader->at == '\\') {
		if (!read_escape(reader, whole))
			return (struct slice){ 0 };
		plain = read_plain(reader);
		if (plain.data == NULL)
			return (struct slice){ 0 };
		buffer_append(whole, plain);
	}
	return buffer_slice(whole);
}

/* Reads a string; `at` is the opening quote. A string with escapes is built in `whole`; others are
 * slices of the text. */
static struct slice read_string(struct reader *reader, struct buffer *whole)
{
	struct slice string;

	reader->at++;
	string = read_plain(reader);
	if (string.data != NULL && *reader->at == '\\')
		string = read_escaped(reader, string, whole);
	if (string.data != NULL)
		reader->at++;
	return string;
}

/* ---- values ---- */

static json_t *read_literal(struct reader *reader, struct slice literal, json_t *value)
{
	size_t i = 0;

	while (i < literal.size && i < left(reader) && reader->at[i] == literal.data[i])
		i++;
	if (i == literal.size) {
		reader->at += i;
		return value;
	}
	if (i == left(reader))
		reader->at = reader->end;
	return nothing(reader, "invalid token");
}

/* Begins an object or array; its members or items are read later. */
static json_t *open_level(struct reader *reader, json_t *value)
{
	assert(reader->depth < reader->origin->depth);
	reader->levels[reader->depth++] = (struct level){ .value = memory_check(value),
							  .is_object = json_is_object(value) };
	reader->at++;
	return value;
}

static json_t *read_number(struct reader *reader)
{
	bool is_real, is_integer = true;
	struct slice literal = text_number((struct slice){ reader->at, left(reader) }, &is_real);
	int64_t integer = 0;
	double real = 0;

	if (literal.size == 0)
		return nothing(reader, "invalid token");
	if (is_real ? !text_real(reader->arena, literal, &real, &is_integer)
		    : !text_integer(literal, &integer))
		return nothing(reader, "number out of range");
	reader->at += literal.size;
	if (!is_integer)
		return memory_check(json_real(real));
	return memory_check(json_integer(is_real ? (json_int_t)real : integer));
}

static json_t *read_value(struct reader *reader)
{
	char first = next_behind_space(reader);
	struct slice string;

	if ((first == '{' || first == '[') && reader->depth == reader->origin->depth)
		return nothing(reader, reader->origin->too_deep);
	switch (first) {
	case '"':
		string = read_string(reader, &reader->string);
		if (string.data == NULL)
			return NULL;
		return memory_check(json_stringn_nocheck(string.data, string.size));
	case '{':
		return open_level(reader, json_object());
	case '[':
		return open_level(reader, json_array());
	case 't':
		return read_literal(reader, SLICE("true"), json_true());
	case 'f':
		return read_literal(reader, SLICE("false"), json_false());
	case 'n':
		return read_literal(reader, SLICE("null"), json_null());
	default:
		return read_number(reader);
	}
}

/* A duplicate member replaces the earlier one, so the object does not grow. */
static bool read_member(struct reader *reader, struct level *level)
{
	const char *start = reader->at;
	struct slice name;
	json_t *value;

	if (next_byte(reader) != '"')
		return flawed(reader,
			      level->count == 0 ? "expected a string or '}'" : "expected a string");
	name = read_string(reader, &reader->name);
	if (name.data == NULL)
		return false;
	if (next_behind_space(reader) != ':')
		return flawed(reader, "expected ':'");
	reader->at++;
	value = read_value(reader);
	if (value == NULL)
		return false;
	if (json_object_setn_new_nocheck(level->value, name.data, name.size, value) != 0)
		ABORT("cannot change a JSON value");
	if (json_object_size(level->value) != ++level->count)
		return flawed_at(reader, start, "duplicate member");
	return true;
}

static bool read_next(struct reader *reader)
{
	struct level *level = &reader->levels[reader->depth - 1];
	char next = next_behind_space(reader);
	json_t *item;

	if (reader->origin->is_foreign && !arena_fits(reader->arena, 0))
		return flawed(reader, "too large");
	if (next == (level->is_object ? '}' : ']')) {
		reader->at++;
		reader->depth--;
		return true;
	}
	if (level->count > 0) {
		if (next != ',')
			return flawed(reader, level->is_object ? "expected ',' or '}'"
							       : "expected ',' or ']'");
		reader->at++;
		(void)next_behind_space(reader);
	}
	if (level->is_object)
		return read_member(reader, level);
	item = read_value(reader);
	if (item == NULL)
		return false;
	array_put(level->value, item);
	level->count++;
	return true;
}

static json_t *read_all(struct reader *reader, bool is_list)
{
	json_t *value;

	if (next_behind_space(reader) != (is_list ? '[' : '{'))
		return nothing(reader, is_list ? "the top level must be an array"
					       : "the top level must be an object");
	value = arena_json(reader->arena,
			   open_level(reader, is_list ? json_array() : json_object()));
	while (reader->depth > 0)
		if (!read_next(reader))
			return NULL;
	(void)next_behind_space(reader);
	if (reader->at < reader->end)
		return nothing(reader, is_list ? "unexpected text after the JSON array"
					       : "unexpected text after the JSON object");
	return value;
}

static json_t *read_from(const struct origin *origin, struct arena *arena, struct slice text,
			 bool is_list, struct json_flaw *flaw)
{
	struct level levels[JSON_TEXT_STORED_DEPTH];
	struct reader reader = {
		.arena = arena,
		.at = text.data,
		.end = text.data + text.size,
		.origin = origin,
		.levels = levels,
	};
	json_t *value;

	reader.name = reader.string = BUFFER_INITIAL(arena);
	value = read_all(&reader, is_list);
	if (value != NULL || flaw == NULL)
		return value;

	*flaw = (struct json_flaw){ 1, 1, reader.sentence };
	for (const char *byte = text.data; byte < reader.at; byte++) {
		bool continues_a_character = ((unsigned char)*byte & 0xc0) == 0x80;

		if (*byte == '\n') {
			flaw->line++;
			flaw->column = 1;
		} else if (!continues_a_character) {
			flaw->column++;
		}
	}
	return NULL;
}

json_t *json_text_read(struct arena *arena, struct slice text, struct json_flaw *flaw)
{
	return read_from(&of_client, arena, text, false, flaw);
}

json_t *json_text_read_list(struct arena *arena, struct slice text, struct json_flaw *flaw)
{
	return read_from(&of_client, arena, text, true, flaw);
}

json_t *json_text_read_stored(struct arena *arena, struct slice text, struct json_flaw *flaw)
{
	return read_from(&of_ours, arena, text, false, flaw);
}

json_t *json_text_read_foreign(struct arena *arena, struct slice text, struct json_flaw *flaw)
{
	return read_from(&of_others, arena, text, false, flaw);
}
