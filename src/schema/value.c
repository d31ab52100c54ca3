/* Checks of the rows that hold a single value, and their sentences.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "schema/walk.h"

const char *schema_kind_of(const json_t *value)
{
	static const char *const kinds[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
		[JSON_INTEGER] = "a number", [JSON_REAL] = "a number",	[JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
	};

	return kinds[json_typeof(value)];
}

const char *value_got(struct findings *findings, const struct place *place, const json_t *value)
{
	if (place->is_secret)
		return "";

	struct slice shown = text_shown(findings->arena, value);

	return arena_text(findings->arena, ", got %.*s", (int)shown.size, shown.data);
}

/* Reports a value of the wrong type. Shows only the type of a secret. */
static json_t *is_no(const char *what, const json_t *value, const struct place *place,
		     struct findings *findings)
{
	if (place->is_secret)
		findings_report(findings, place, "must be %s, got %s", what, schema_kind_of(value));
	else
		findings_report(findings, place, "must be %s%s", what,
				value_got(findings, place, value));
	return NULL;
}

/* ---- numbers ---- */

static const char *integer_sentence(const struct field *row, struct arena *arena)
{
	const char *what = "";

	if (row->step > 1)
		what = arena_text(arena, "a multiple of %" PRId64 " ", row->step);
	if (row->maximum == UNLIMITED)
		return arena_text(arena, "must be %sat least %" PRId64, what, row->minimum);
	return arena_text(arena, "must be %sfrom %" PRId64 " to %" PRId64, what, row->minimum,
			  row->usual != 0 ? row->usual : row->maximum);
}

static json_t *integer_checked(const struct field *row, json_t *value, const struct place *place,
			       struct findings *findings)
{
	int64_t integer = 0;

	if (json_is_integer(value)) {
		integer = json_integer_value(value);
	} else if (!json_is_real(value)) {
		return is_no("an integer", value, place, findings);
	} else {
		const double real = json_real_value(value);
		const bool is_exact = real > -DOUBLE_EXACT_BELOW && real < DOUBLE_EXACT_BELOW;

		if (!is_exact && row->maximum < (int64_t)DOUBLE_EXACT_BELOW) {
			findings_report(findings, place, "%s%s",
					integer_sentence(row, findings->arena),
					value_got(findings, place, value));
			return NULL;
		}
		if (!is_exact)
			return is_no("an integer below 2^53 if written with a decimal point or "
				     "exponent",
				     value, place, findings);
		/* The parser returns integers for all integral numbers below 2^53 except -0. */
		if (!(real == 0.0 && signbit(real)))
			return is_no(real_is_integer(real)
					     ? "an integer, with only zeros after the point"
					     : "an integer",
				     value, place, findings);
	}

	if (integer < row->minimum || integer > row->maximum ||
	    (row->step > 1 && integer % row->step != 0)) {
		findings_report(findings, place, "%s%s", integer_sentence(row, findings->arena),
				value_got(findings, place, value));
		return NULL;
	}
	return json_is_real(value) ? json_integer(integer) : value;
}

/* Returns the number as a response shows it: 15 digits, an integer if it is integral. This value is
 * compared with the range, so that a client can send a response back. Not inlined, because it is
 * rarely called. */
static __attribute__((noinline)) json_t *number_as_shown(double real)
{
	char text[40];

	(void)snprintf(text, sizeof text, "%.15g", real);
	real = strtod(text, NULL);
	return real_is_integer(real) ? json_integer((json_int_t)real) : json_real(real);
}

static json_t *number_checked(const struct field *row, json_t *value, const struct place *place,
			      struct findings *findings)
{
	if (!json_is_number(value))
		return is_no("a number", value, place, findings);

	json_t *shown = json_is_real(value) ? number_as_shown(json_real_value(value)) : value;
	double number = json_number_value(shown);

	if (number >= row->low && number <= row->high)
		return shown;
	if (shown != value)
		json_decref(shown);
	findings_report(findings, place, "must be from %.15g to %.15g%s", row->low, row->high,
			value_got(findings, place, value));
	return NULL;
}

/* ---- texts ---- */

/* Returns true if `characters` (see struct text_rule) includes the byte. */
static bool is_accepted(const char *characters, char byte)
{
	for (const char *at = characters; *at != '\0'; at++) {
		if (at[1] == '-' && at[2] != '\0') {
			if (byte >= at[0] && byte <= at[2])
				return true;
			at += 2;
		} else if (*at == byte) {
			return true;
		}
	}
	return false;
}

/* Returns true if the text obeys the rule, but perhaps has control characters. */
static bool has_form(const struct text_rule *rule, struct slice text)
{
	size_t size = rule->counts_bytes ? text.size : text_characters(text);

	if (size < rule->shortest || size > rule->longest)
		return false;
	if (rule->no_outer_space && text.size > 0 &&
	    (text.data[0] == ' ' || text.data[text.size - 1] == ' '))
		return false;
	for (size_t i = 0; i < text.size && rule->characters != NULL; i++) {
		if (!is_accepted(rule->characters, text.data[i]))
			return false;
	}
	return true;
}

bool schema_text_obeys(const struct text_rule *rule, struct slice text)
{
	return has_form(rule, text) && !(rule->no_controls && text_has_controls(text));
}

static json_t *text_checked(const struct field *row, json_t *value, const struct place *place,
			    struct findings *findings)
{
	const struct text_rule *rule = row->text;
	const struct slice text = text_of_json(value);
	bool has_controls;

	if (!json_is_string(value))
		return is_no("a string", value, place, findings);
	has_controls = rule->no_controls && !findings->is_stored && text_has_controls(text);
	if (!has_controls && has_form(rule, text))
		return value;
	findings_report(findings, place, "%s%s",
			has_controls ? "must not contain control characters or line breaks"
				     : rule->sentence,
			value_got(findings, place, value));
	return NULL;
}

/* Not inlined, because it is rarely called. */
static __attribute__((noinline)) json_t *time_checked(const struct field *row, json_t *value,
						      const struct place *place,
						      struct findings *findings)
{
	const struct slice sent = text_of_json(value);
	char text[TEXT_TIME_SIZE];
	int64_t seconds;

	if (sent.data != NULL && sent.size == 0 && (row->flags & FIELD_CLEARABLE) != 0)
		return value;
	if (sent.data == NULL || !text_time_parse_seconds(sent, &seconds)) {
		findings_report(findings, place, "must be a time such as 2026-11-23T09:00:00Z");
		return NULL;
	}
	text_time_seconds(seconds * 1000, text);
	return slice_is(sent, text) ? value : json_string(text);
}

static json_t *choice_checked(const struct field *row, json_t *value, const struct place *place,
			      struct findings *findings)
{
	const char *text = json_string_value(value);
	struct buffer choices = BUFFER_INITIAL(findings->arena);

	for (const char *const *choice = row->choices; text != NULL && *choice != NULL; choice++) {
		if (strcmp(*choice, text) == 0)
			return value;
	}
	for (const char *const *choice = row->choices; *choice != NULL; choice++) {
		buffer_append_text(&choices, choices.size == 0 ? "" : ", ");
		buffer_append_text(&choices, *choice);
	}
	buffer_append_byte(&choices, '\0');
	findings_report(findings, place, "must be %s%s%s", row->choices[1] == NULL ? "" : "one of ",
			choices.data, value_got(findings, place, value));
	return NULL;
}

json_t *value_checked(const struct field *row, json_t *value, const struct place *place,
		      struct findings *findings)
{
	switch (row->kind) {
	case KIND_BOOLEAN:
		return json_is_boolean(value) ? value : is_no("a boolean", value, place, findings);
	case KIND_INTEGER:
		return integer_checked(row, value, place, findings);
	case KIND_NUMBER:
		return number_checked(row, value, place, findings);
	case KIND_TEXT:
		return text_checked(row, value, place, findings);
	case KIND_TIME:
		return time_checked(row, value, place, findings);
	case KIND_CHOICE:
		return choice_checked(row, value, place, findings);
	case KIND_OBJECT:
	case KIND_MAP:
	case KIND_LIST:
	case KIND_KEPT_OBJECT:
	case KIND_KEPT_LIST:
	case KIND_ANY:
		break;
	}
	/* check_value handles the other kinds itself. */
	assert(false);
	return NULL;
}
