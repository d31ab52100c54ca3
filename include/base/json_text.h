/* The JSON parser for bodies, tokens, files and stored values. It accepts RFC 8259 with these
 * limits: UTF-8, a single value, which is an object; no repeated member, no NUL in a string, no
 * lone surrogate, no nesting deeper than JSON_TEXT_DEPTH; integers within 64 bits, other numbers
 * within the range of a double.
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

/* The first invalid position and the reason, without the text found there. Line and column count
 * from 1, columns in characters. For a text that ends too early, it is just after its end. */
struct json_flaw {
	size_t line, column;
	const char *sentence;
};

/* Returns the object, which belongs to the arena; or NULL and *flaw (which may be NULL).
 *
 * An integer becomes a JSON_INTEGER, also with a point or an exponent as long as it is below 2^53
 * in size. Every other number, and -0, becomes the JSON_REAL of the nearest double: so a JSON_REAL
 * of an integral value below 2^53 is a fraction, unless it is -0. */
json_t *json_text_read(struct arena *arena, struct slice text, struct json_flaw *flaw);
/* The same for a text of our own, which has what clients sent within objects that they did not send
 * (a part of a template in the whole, a line of a dump, a result of a bulk): its depth is
 * JSON_TEXT_STORED_DEPTH. */
json_t *json_text_read_stored(struct arena *arena, struct slice text, struct json_flaw *flaw);

#endif
