/* See along.h. The nesting depth of a text follows from the tables, as it does in the code of
 * schema/.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "along.h"

#include <stdio.h>
#include <string.h>

#include "directory.h"
#include "suite.h"

#define ITEMS 4
#define LONGEST 300

static bool one_in(uint64_t *seed, uint64_t n)
{
	return chance_below(seed, n) == 0;
}

const char *along_name(uint64_t *seed)
{
	static const char *const names[] = { "a",  "b",	  "host",  "a",
					     "b",  "c d", "Z-._:", "",
					     "\1", "\2",  "\3",	   "2024-02-29T23:59:59.5-01:30" };

	return names[chance_below(seed, ROWS(names))];
}

static void put_strange(struct buffer *text, uint64_t *seed)
{
	static const char *const strange[] = {
		"null",
		"true",
		"-1",
		"0.5",
		"32.0",
		"99999999999999999999",
		"\"\"",
		"[]",
		"{}",
		"[null]",
		"\"\\u0000\"",
		"1e300",
		"[{}]",
		"\"x\"",
		"\"é\"",
		"{\"a\":null}",
		"\"\\ud83d\\ude00\"",
	};

	buffer_append_text(text, strange[chance_below(seed, ROWS(strange))]);
}

static void put_string(struct buffer *text, const char *string)
{
	buffer_append_string(text, slice_of(string));
}

/* Returns a random character from the text of the character class: the start or end of a range, or
 * a single character. The class accepts all of them except the '-' of a range. */
static char character(const struct text_rule *rule, uint64_t *seed)
{
	static const char any[] = "abz09 ._:-/\"\\";
	const char *of = rule->characters == NULL ? any : rule->characters;

	return of[chance_below(seed, strlen(of))];
}

static void put_text(struct buffer *text, const struct text_rule *rule, uint64_t *seed)
{
	char made[LONGEST + 1];
	size_t size = rule->shortest + chance_below(seed, 8);

	if (!one_in(seed, 3)) {
		put_string(text, along_name(seed));
		return;
	}
	if (one_in(seed, 4))
		size = rule->longest + chance_below(seed, 2);
	if (size > LONGEST)
		size = LONGEST;
	for (size_t i = 0; i < size; i++)
		made[i] = character(rule, seed);
	made[size] = '\0';
	put_string(text, made);
}

static void put_integer(struct buffer *text, const struct field *field, uint64_t *seed)
{
	const int64_t high = field->maximum == UNLIMITED ? 1000000 : field->maximum;
	const int64_t values[] = {
		field->minimum,
		high,
		field->minimum + 1,
		field->minimum - 1,
		high + 1,
		field->minimum + (int64_t)chance_below(seed, (uint64_t)(high - field->minimum) + 1),
	};

	buffer_append_integer(text, values[chance_below(seed, ROWS(values))]);
}

static void put_number(struct buffer *text, const struct field *field, uint64_t *seed)
{
	const double values[] = { field->low, field->high, (field->low + field->high) / 2,
				  field->low - 0.001, field->high + 1 };
	char made[64];

	snprintf(made, sizeof made, "%.15g", values[chance_below(seed, ROWS(values))]);
	buffer_append_text(text, made);
}

static void put_choice(struct buffer *text, const struct field *field, uint64_t *seed)
{
	size_t n = 0;

	while (field->choices[n] != NULL)
		n++;
	put_string(text, field->choices[chance_below(seed, n)]);
}

static void put_value(struct buffer *text, const struct field *field, uint64_t *seed);

static void put_items(struct buffer *text, const struct field *field, uint64_t *seed)
{
	const bool is_map = field->kind == KIND_MAP;
	const size_t n = chance_below(seed, ITEMS);

	buffer_append_byte(text, is_map ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buffer_append_byte(text, ',');
		if (is_map) {
			put_text(text, field->text, seed);
			buffer_append_byte(text, ':');
		}
		put_value(text, field->item, seed);
	}
	buffer_append_byte(text, is_map ? '}' : ']');
}

static void put_value(struct buffer *text, const struct field *field, uint64_t *seed)
{
	if (field->kind == KIND_ANY || one_in(seed, 32)) {
		put_strange(text, seed);
		return;
	}
	switch (field->kind) {
	case KIND_BOOLEAN:
		buffer_append_text(text, one_in(seed, 2) ? "true" : "false");
		return;
	case KIND_INTEGER:
		put_integer(text, field, seed);
		return;
	case KIND_NUMBER:
		put_number(text, field, seed);
		return;
	case KIND_TEXT:
		put_text(text, field->text, seed);
		return;
	case KIND_TIME:
		buffer_append_text(text, one_in(seed, 8) ? "\"\"" : "\"2026-11-23T09:00:00Z\"");
		return;
	case KIND_CHOICE:
		put_choice(text, field, seed);
		return;
	case KIND_OBJECT:
		along_shape(text, field->shape, seed);
		return;
	case KIND_MAP:
	case KIND_LIST:
		put_items(text, field, seed);
		return;
	case KIND_KEPT_OBJECT:
		buffer_append_text(text, "{\"a\":");
		put_strange(text, seed);
		buffer_append_byte(text, '}');
		return;
	case KIND_KEPT_LIST:
		buffer_append_byte(text, '[');
		put_strange(text, seed);
		buffer_append_byte(text, ']');
		return;
	case KIND_ANY:
		return;
	}
}

static void put_member(struct buffer *text, const char *name)
{
	if (text->data[text->size - 1] != '{')
		buffer_append_byte(text, ',');
	put_string(text, name);
	buffer_append_byte(text, ':');
}

void along_shape(struct buffer *text, const struct shape *shape, uint64_t *seed)
{
	/* Some objects get nearly all members, others hardly any. */
	const uint64_t rare = 1 + chance_below(seed, 6);

	buffer_append_byte(text, '{');
	for (const struct field *field = NULL;
	     shape != NULL && (field = shape_next(shape, field)) != NULL;) {
		const bool is_required = (field->flags & FIELD_REQUIRED) != 0;

		if (is_required ? one_in(seed, 16) : !one_in(seed, rare))
			continue;
		put_member(text, field->name);
		put_value(text, field, seed);
	}
	if (one_in(seed, 32)) {
		put_member(text, along_name(seed));
		put_strange(text, seed);
	}
	buffer_append_byte(text, '}');
}

/* Appends the value as it appears in a URL, without the quotes of JSON. */
static void put_plain(struct buffer *text, const struct field *field, uint64_t *seed)
{
	struct buffer value = BUFFER_INITIAL(text->arena);

	put_value(&value, field, seed);
	for (size_t i = 0; i < value.size; i++)
		if (value.data[i] != '"')
			buffer_append_byte(text, value.data[i]);
}

void along_query(struct buffer *text, const struct shape *shape, uint64_t *seed)
{
	bool is_first = true;

	for (const struct field *field = NULL;
	     shape != NULL && (field = shape_next(shape, field)) != NULL;) {
		if (!one_in(seed, 3))
			continue;
		if (!is_first)
			buffer_append_byte(text, '&');
		is_first = false;
		buffer_append_text(text, field->name);
		buffer_append_byte(text, '=');
		put_plain(text, field, seed);
	}
}
