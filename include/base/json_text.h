/* The JSON parser for bodies, tokens, files and stored values. It accepts RFC 8259 with these
 * limits: the text is UTF-8 and a single object; no object has a duplicate member; strings contain
 * neither a NUL nor a lone surrogate; nesting is at most JSON_TEXT_DEPTH; integers fit into 64
 * bits, and other numbers into the range of a double.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>

#include "base/arena.h"
#include "base/slice.h"

/* The top-level object is level 1. */
#define JSON_TEXT_DEPTH 32
#define JSON_TEXT_STORED_DEPTH 64

/* The first invalid position and the reason, which does not quote the text. Line and column count
 * from 1, columns in characters. If the text ends too early, the position is just after its end. */
struct json_flaw {
	size_t line, column;
	const char *sentence;
};

/* Returns the object, which belongs to the arena. If the text is invalid, returns NULL and fills
 * *flaw (which may be NULL).
 *
 * An integer becomes a JSON_INTEGER, also if it has a decimal point or an exponent, as long as its
 * size is below 2^53. Every other number, and -0, becomes the JSON_REAL of the nearest double. A
 * JSON_REAL with an integral value below 2^53 is therefore a rounded fraction, unless it is -0. */
json_t *json_text_read(struct arena *arena, struct slice text, struct json_flaw *flaw);
/* Does the same for a text that must be an array. */
json_t *json_text_read_list(struct arena *arena, struct slice text, struct json_flaw *flaw);
/* Reads a text that Anteroom wrote. It nests what clients sent in further objects (a part of a
 * template in the whole, a line of a dump, a result of a bulk request), so up to
 * JSON_TEXT_STORED_DEPTH levels are allowed. */
json_t *json_text_read_stored(struct arena *arena, struct slice text, struct json_flaw *flaw);
/* Reads a text of another server, which passes on what its users write and may be hostile. A NUL
 * character in a string becomes U+FFFD. The text is invalid ("too large") if reading it takes the
 * arena beyond its limit: values take up to 100 times the size of the text. The thread uses the
 * arena for JSON. */
json_t *json_text_read_foreign(struct arena *arena, struct slice text, struct json_flaw *flaw);

#endif
