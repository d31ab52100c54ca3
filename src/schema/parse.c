/* From the bytes of a body to a JSON object (decisions.md section 1, "JSON rules"). jansson does
 * the parsing; what it would take but the interface does not is found before: nesting beyond 32,
 * NUL bytes, a top level that is no object. jansson's own words are passed on only as far as they
 * do not quote the body, which may hold a secret.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "schema/schema.h"

#define DEPTH_MOST 32

/* Both from 1; columns count characters, as jansson's do. */
struct spot {
	size_t line, column;
};

static struct spot spot_of(struct slice text, const char *at)
{
	struct spot spot = { 1, 0 };

	for (const char *byte = text.data; byte <= at; byte++) {
		bool continues_a_character = ((unsigned char)*byte & 0xC0) == 0x80;

		if (*byte == '\n')
			spot = (struct spot){ spot.line + 1, 0 };
		else if (!continues_a_character)
			spot.column++;
	}
	return spot;
}

static bool malformed(struct fault *fault, struct spot spot, struct slice sentence)
{
	return fault_detail(fault, FAULT_MALFORMED, "line %zu, column %zu: %.*s", spot.line,
			    spot.column, (int)sentence.size, sentence.data);
}

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

/* The bracket that nests too deeply, or NULL. It need not know whether the text is JSON: where it is
 * not, what is taken for a string here may be none, but then jansson refuses the body anyway. */
static const char *too_deep(struct slice text)
{
	size_t depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < text.size; i++) {
		char byte = text.data[i];

		if (byte == '"')
			in_string = !in_string;
		else if (byte == '\\' && in_string)
			i++;
		else if ((byte == '{' || byte == '[') && !in_string && ++depth > DEPTH_MOST)
			return text.data + i;
		else if ((byte == '}' || byte == ']') && !in_string && depth > 0)
			depth--;
	}
	return NULL;
}

/* Where jansson would accept what the interface does not, or would not say so plainly. */
static bool scan(struct slice text, struct slice content, struct fault *fault)
{
	const char *nul = memchr(text.data, '\0', text.size);
	const char *bracket = too_deep(text);

	if (*content.data != '{')
		return malformed(fault, spot_of(text, content.data),
				 SLICE("the top level must be an object"));
	if (nul != NULL)
		return malformed(fault, spot_of(text, nul), SLICE("a NUL byte"));
	if (bracket != NULL)
		return malformed(fault, spot_of(text, bracket),
				 SLICE("nested deeper than 32 levels"));
	return true;
}

/* jansson's words for a fault of syntax are good up to where they begin to quote. */
static struct slice syntax_reason(const json_error_t *error)
{
	const char *end = strstr(error->text, " near ");

	if (strncmp(error->text, "invalid Unicode", strlen("invalid Unicode")) == 0)
		return SLICE("a surrogate that stands alone");
	return (struct slice){ error->text,
			       end == NULL ? strlen(error->text) : (size_t)(end - error->text) };
}

static struct slice reason(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_invalid_utf8:
		return SLICE("not UTF-8");
	case json_error_premature_end_of_input:
		return SLICE("the JSON ends too early");
	case json_error_end_of_input_expected:
		return SLICE("something follows the JSON object");
	case json_error_duplicate_key:
		return SLICE("a member that is there already");
	case json_error_numeric_overflow:
		return SLICE("a number that is too large");
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return SLICE("a NUL character in a string");
	default:
		return syntax_reason(error);
	}
}

static bool refused_by_jansson(struct fault *fault, const json_error_t *error)
{
	struct spot spot = { error->line > 0 ? (size_t)error->line : 1,
			     error->column > 0 ? (size_t)error->column : 0 };

	return malformed(fault, spot, reason(error));
}

bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault)
{
	json_error_t error;
	json_t *parsed;
	struct slice content = trim(text);

	*body = NULL;
	if (content.size == 0 || slice_is(content, "null")) {
		*body = arena_json(arena, json_object());
		return true;
	}
	if (!scan(text, content, fault))
		return false;
	parsed = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
	if (parsed == NULL)
		return refused_by_jansson(fault, &error);
	*body = arena_json(arena, parsed);
	return true;
}
