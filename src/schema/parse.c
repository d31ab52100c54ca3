/* Parses the bytes of a body into a JSON object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/text.h"
#include "schema/schema.h"

#define SPACE " \t\n\r"

/* Returns a hint for a body that is not JSON, or NULL if it is nothing that clients are known to
 * send. */
static const char *looks_like(struct slice text)
{
	static const char is_utf16[] = "the body looks like UTF-16; send UTF-8";
	static const char is_string[] = "the body is a JSON string with JSON in it; encode it once";
	static const struct {
		char start[4];
		size_t size;
		const char *sentence;
	} starts[] = {
		{ "\xef\xbb\xbf", 3, "the body begins with a byte order mark; leave it out" },
		{ "\xff\xfe", 2, is_utf16 },
		{ "\xfe\xff", 2, is_utf16 },
		{ "{\0", 2, is_utf16 },
		{ "[\0", 2, is_utf16 },
		{ "\0{", 2, is_utf16 },
		{ "\0[", 2, is_utf16 },
		{ "\x1f\x8b", 2, "the body looks compressed (gzip); send it uncompressed" },
		{ "\"{", 2, is_string },
		{ "\"[", 2, is_string },
		{ "--", 2, "the body looks like a form (multipart/form-data); send JSON" },
		{ "<", 1, "the body looks like XML or HTML; send JSON" },
	};
	static const char of_names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"_.-%+[]";
	size_t name = 0;

	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		if (slice_begins(text, (struct slice){ starts[i].start, starts[i].size }))
			return starts[i].sentence;
	}
	while (name < text.size && text.data[name] != '\0' &&
	       strchr(of_names, text.data[name]) != NULL)
		name++;
	return name > 0 && text.data[0] != '[' && name < text.size && text.data[name] == '='
		       ? "the body looks like a form (application/x-www-form-urlencoded); send JSON"
		       : NULL;
}

static bool refuse_flaw(const struct json_flaw *flaw, struct slice content, struct fault *fault)
{
	const char *sentence = looks_like(content);

	return fault_detail(fault, FAULT_MALFORMED, "line %zu, column %zu: %s", flaw->line,
			    flaw->column, sentence != NULL ? sentence : flaw->sentence);
}

bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault)
{
	struct slice content = text_trim(text, SPACE);
	struct json_flaw flaw;

	/* PHP encodes an empty object as an empty array. */
	if (content.size == 0 || slice_is(content, "null") ||
	    (content.size >= 2 && content.data[0] == '[' && content.data[content.size - 1] == ']' &&
	     text_trim((struct slice){ content.data + 1, content.size - 2 }, SPACE).size == 0)) {
		*body = arena_json(arena, json_object());
		return true;
	}
	*body = json_text_read(arena, text, &flaw);
	return *body != NULL || refuse_flaw(&flaw, content, fault);
}

bool schema_parse_list(struct arena *arena, const struct shape *shape, struct slice text,
		       json_t **body, struct fault *fault)
{
	struct slice content = text_trim(text, SPACE);
	struct json_flaw flaw;
	json_t *list;

	if (content.size == 0 || slice_is(content, "null"))
		list = arena_json(arena, json_array());
	else
		list = json_text_read_list(arena, text, &flaw);
	if (list == NULL)
		return refuse_flaw(&flaw, content, fault);
	*body = arena_json(arena, json_pack("{s:O}", shape->fields[0].name, list));
	return true;
}
