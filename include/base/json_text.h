/* From text to JSON: the one reader of bodies, tokens, files and of what is stored. RFC 8259, and no
 * more than decisions.md section 1 ("JSON rules", "Integers") lets through: UTF-8, one value, an
 * object, in it no member twice, no NUL in a string, no lone surrogate, nothing deeper than
 * JSON_TEXT_DEPTH; integers within 64 bits, other numbers within a double.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>

#include "base/arena.h"
#include "base/slice.h"

/* The object at the top is level 1. */
#define JSON_TEXT_DEPTH 32

/* The first place that cannot be right, and why; what stands there is not repeated. Both count from
 * 1, columns in characters. Where the text ends too early, it is the place behind its end. */
struct json_flaw {
	size_t line, column;
	const char *sentence;
};

/* The object, or NULL and *flaw (which may be NULL). It belongs to the arena.
 *
 * A number with a point or an exponent is a real; one that is no integer never becomes a real that
 * is one, however close it is. */
json_t *json_text_read(struct arena *arena, struct slice text, struct json_flaw *flaw);

#endif
