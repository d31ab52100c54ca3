/*
 * Checks of the case language: compare a response with what a line expects. What is true of every
 * response, and is therefore not written in cases, is checked in case_promise.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case_check.h"

#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void problem(struct run *run, const char *format, ...)
{
	va_list values;

	if (run->line != NULL)
		fprintf(run->report, "\n  %s.case:%u: ", run->line->file, run->line->number);
	va_start(values, format);
	vfprintf(run->report, format, values);
	va_end(values);
	run->problems++;
}

struct bytes expanded(struct run *run, const char *text)
{
	struct bytes out;
	const char *missing = "";

	if (!scope_expand(&run->scope, text, &out, &missing))
		problem(run, "the case has no value for $%s", missing);
	return out;
}

const char *first_word(struct pool *pool, const char *text, const char **rest)
{
	size_t length = strcspn(text, " ");

	*rest = text + length + strspn(text + length, " ");
	return bytes_copy(pool, text, length).bytes;
}

bool text_matches(struct run *run, const char *text, const char *pattern)
{
	regex_t expression;
	bool matches;

	if (regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
		problem(run, "not a regular expression: %s", pattern);
		return false;
	}
	matches = regexec(&expression, text, 0, NULL, 0) == 0;
	regfree(&expression);
	return matches;
}

const char *answer_header(const struct run *run, const char *name)
{
	for (size_t n = 0; n < run->answer.n_headers; n++) {
		if (strcasecmp(run->answer.names[n], name) == 0)
			return run->answer.values[n];
	}
	return NULL;
}

void check_status(struct run *run, const char *wanted)
{
	char pattern[64];
	char came[16];

	snprintf(pattern, sizeof pattern, "^(%s)$", wanted);
	snprintf(came, sizeof came, "%d", run->answer.status);
	if (!text_matches(run, came, pattern))
		problem(run, "expected status %s, got %s", wanted, came);
}

static json_t *parsed(struct run *run, const char *text)
{
	json_error_t error;
	struct bytes value = expanded(run, text);
	json_t *root = json_loadb(value.bytes, value.length, JSON_DECODE_ANY, &error);

	if (root == NULL)
		problem(run, "the case has bad JSON (%s): %s", error.text, value.bytes);
	return pool_json(&run->pool, root);
}

/* Returns a negative number, 0 or a positive number, as `first` is less than, equal to or greater
 * than `second`. */
static int value_order(struct run *run, const json_t *first, const json_t *second)
{
	if (json_is_number(first) && json_is_number(second)) {
		double one = json_number_value(first);
		double other = json_number_value(second);

		return one < other ? -1 : one > other ? 1 : 0;
	}
	return strcmp(value_text(&run->pool, first).bytes, value_text(&run->pool, second).bytes);
}

static bool keys_are(const json_t *object, const json_t *wanted)
{
	size_t n = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		const char *name = json_string_value(json_array_get(wanted, n));

		if (name == NULL || strcmp(name, key) != 0)
			return false;
		n++;
	}
	return json_is_object(object) && n == json_array_size(wanted);
}

static bool order_holds(const char *operator, int order)
{
	return strcmp(operator, "<") == 0    ? order < 0
	       : strcmp(operator, "<=") == 0 ? order <= 0
	       : strcmp(operator, ">") == 0  ? order > 0
					     : order >= 0;
}

/* Compares a value with the line's expectation. Reports an unknown operator as a separate
 * problem. */
static bool pointer_holds(struct run *run, const char *operator, const json_t * value,
			  const char *rest)
{
	if (strcmp(operator, "absent") == 0)
		return value == NULL;
	if (value == NULL)
		return false;
	if (strcmp(operator, "present") == 0)
		return true;
	if (strcmp(operator, "~") == 0) {
		return text_matches(run, value_text(&run->pool, value).bytes,
				    expanded(run, rest).bytes);
	}
	if (strcmp(operator, "!~") == 0) {
		return !text_matches(run, value_text(&run->pool, value).bytes,
				     expanded(run, rest).bytes);
	}
	if (strcmp(operator, "==") == 0)
		return json_equal(value, parsed(run, rest));
	if (strcmp(operator, "!=") == 0)
		return !json_equal(value, parsed(run, rest));
	if (strcmp(operator, "count") == 0) {
		size_t size = json_is_array(value) ? json_array_size(value)
						   : json_object_size(value);

		return (json_int_t)size == json_integer_value(parsed(run, rest));
	}
	if (strcmp(operator, "keys") == 0)
		return keys_are(value, parsed(run, rest));
	if (strcmp(operator, "includes") == 0)
		return value_includes(value, parsed(run, rest));
	if (strcmp(operator, "lacks") == 0)
		return !value_includes(value, parsed(run, rest));
	if (*operator== '<' || * operator== '>')
		return order_holds(operator, value_order(run, value, parsed(run, rest)));
	problem(run, "unknown operator: %s", operator);
	return true;
}

void check_pointer(struct run *run, const char *text)
{
	const char *rest;
	const char *pointer = expanded(run, first_word(&run->pool, text, &rest)).bytes;
	const char *operator= first_word(&run->pool, rest, &rest);
	const json_t *value = value_at(&run->pool, run->document, pointer);

	if (!pointer_holds(run, operator, value, rest)) {
		const char *came = value == NULL ? "absent" : value_text(&run->pool, value).bytes;

		problem(run, "%s %s %s, but is %.600s", pointer, operator,
			expanded(run, rest).bytes, came);
	}
}

static bool text_has_words(struct run *run, const char *text, const char *words)
{
	while (*words != '\0') {
		const char *word = first_word(&run->pool, words, &words);

		if (strstr(text, word) == NULL)
			return false;
	}
	return true;
}

/* Compares two texts by an operator. */
static bool texts_hold(struct run *run, const char *operator, const char * came, const char *wanted)
{
	if (strcmp(operator, "==") == 0)
		return strcmp(came, wanted) == 0;
	if (strcmp(operator, "!=") == 0)
		return strcmp(came, wanted) != 0;
	if (strcmp(operator, "~") == 0)
		return text_matches(run, came, wanted);
	if (strcmp(operator, "!~") == 0)
		return !text_matches(run, came, wanted);
	if (strcmp(operator, "has") == 0)
		return text_has_words(run, came, wanted);
	if (*operator== '<' || * operator== '>')
		return order_holds(operator, strcmp(came, wanted));
	problem(run, "unknown operator: %s", operator);
	return true;
}

void check_header(struct run *run, const char *rest)
{
	const char *name = first_word(&run->pool, rest, &rest);
	const char *operator= first_word(&run->pool, rest, &rest);
	const char *came = answer_header(run, name);
	const char *wanted = expanded(run, rest).bytes;
	bool holds = strcmp(operator, "any") == 0 ? true
		     : strcmp(operator, "absent") == 0
			     ? came == NULL
			     : came != NULL && texts_hold(run, operator, came, wanted);

	if (strcasecmp(name, "X-Unknown-Fields") == 0)
		run->unknown_fields_checked = true;
	if (!holds) {
		problem(run, "header %s %s %s, but is %s", name, operator, wanted,
			came == NULL ? "absent" : came);
	}
}

void check_text(struct run *run, const char *rest)
{
	const char *operator= first_word(&run->pool, rest, &rest);
	const char *wanted = expanded(run, rest).bytes;
	const char *came = run->answer.body == NULL ? "" : run->answer.body;

	if (!texts_hold(run, operator, came, wanted))
		problem(run, "the body must be %s %s", operator, wanted);
}

void check_compare(struct run *run, const char *rest)
{
	const char *first = expanded(run, first_word(&run->pool, rest, &rest)).bytes;
	const char *operator= first_word(&run->pool, rest, &rest);
	const char *second = expanded(run, rest).bytes;

	if (!texts_hold(run, operator, first, second))
		problem(run, "must be: %s %s %s", first, operator, second);
}

/* Returns the n-th detail, or "" if there are fewer. */
static const char *detail(const struct run *run, size_t n)
{
	const json_t *details = json_object_get(run->document, "details");
	const char *text = json_string_value(json_array_get(details, n));

	return text == NULL ? "" : text;
}

static size_t details_count(const struct run *run)
{
	return json_array_size(json_object_get(run->document, "details"));
}

static bool detail_is_at(const char *text, const char *pointer)
{
	size_t length = strlen(pointer);

	return strncmp(text, pointer, length) == 0 && text[length] == ':';
}

static void check_message(struct run *run, const char *wanted)
{
	const json_t *message = json_object_get(run->document, "message");

	if (!json_is_string(message) || strcmp(json_string_value(message), wanted) != 0)
		problem(run, "the message must be \"%s\"", wanted);
}

void check_fault(struct run *run, const char *rest)
{
	const char *pointer = expanded(run, first_word(&run->pool, rest, &rest)).bytes;
	const char *words = expanded(run, rest).bytes;

	for (size_t n = 0; n < details_count(run); n++) {
		if (detail_is_at(detail(run, n), pointer) &&
		    text_has_words(run, detail(run, n), words)) {
			return;
		}
	}
	problem(run, "no detail begins with \"%s:\" and contains the words \"%s\"", pointer, words);
}

void check_faults(struct run *run, const char *rest)
{
	const char *pointers = expanded(run, rest).bytes;
	size_t n = 0;

	while (*pointers != '\0') {
		const char *pointer = first_word(&run->pool, pointers, &pointers);

		if (!detail_is_at(detail(run, n), pointer)) {
			problem(run, "detail %zu must begin with \"%s:\", is \"%s\"", n, pointer,
				detail(run, n));
		}
		n++;
	}
	if (details_count(run) != n)
		problem(run, "expected %zu details, got %zu", n, details_count(run));
}

void check_refused(struct run *run, const char *rest)
{
	check_status(run, "400");
	check_message(run, "Invalid body param");
	check_fault(run, rest);
	if (details_count(run) != 1)
		problem(run, "expected 1 detail, got %zu", details_count(run));
}

/* `rest` may name the line and column. */
void check_malformed(struct run *run, const char *rest)
{
	const char *words = expanded(run, rest).bytes;

	check_status(run, "400");
	check_message(run, "Malformed JSON");
	if (!text_matches(run, detail(run, 0), "line [0-9]+.*column [0-9]+") ||
	    !text_has_words(run, detail(run, 0), words)) {
		problem(run, "the detail must name line and column (%s): %s", words,
			detail(run, 0));
	}
}
