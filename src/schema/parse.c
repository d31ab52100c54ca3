/* Parses the bytes of a body into a JSON object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/text.h"
#include "schema/schema.h"

#define SPACE " \t\n\r"

/* PHP encodes an empty object as an empty array. */
static bool is_empty_array(struct slice text)
{
	return text.size >= 2 && text.data[0] == '[' && text.data[text.size - 1] == ']' &&
	       text_trim((struct slice){ text.data + 1, text.size - 2 }, SPACE).size == 0;
}

bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault)
{
	struct slice content = text_trim(text, SPACE);
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
