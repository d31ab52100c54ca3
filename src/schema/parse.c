/* Parses the bytes of a body into a JSON object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "schema/schema.h"

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static struct slice trim(struct slice text)
{
	while (text.size > 0 && is_space(text.data[text.size - 1]))
		text.size--;
	while (text.size > 0 && is_space(*text.data))
		text = (struct slice){ text.data + 1, text.size - 1 };
	return text;
}

/* PHP encodes an empty object as an empty array. */
static bool is_empty_array(struct slice text)
{
	return text.size >= 2 && text.data[0] == '[' && text.data[text.size - 1] == ']' &&
	       trim((struct slice){ text.data + 1, text.size - 2 }).size == 0;
}

bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault)
{
	struct slice content = trim(text);
	struct json_flaw flaw;

	if (content.size == 0 || slice_is(content, "null") || is_empty_array(content)) {
		*body = arena_json(arena, json_object());
		return true;
	}
	*body = json_text_read(arena, text, &flaw);
	if (*body != NULL)
		return true;
	return fault_detail(fault, FAULT_MALFORMED, "line %zu, column %zu: %s", flaw.line,
			    flaw.column, flaw.sentence);
}
