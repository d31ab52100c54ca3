/* A borrowed run of bytes: keys, values, texts that are not terminated. Whoever hands one out says
 * how long it lives; a slice itself owns nothing. A slice whose data is NULL means "nothing there",
 * which is not the same as an empty one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
	const char *data;
	size_t size;
};

/* A slice of a string literal or of an array whose last byte is a terminator. */
#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ text, text == NULL ? 0 : strlen(text) };
}

/* Not for secrets: it tells by its time where two texts differ (text_equal_secret does not). */
static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* In the order of the bytes, a prefix before what it begins: below 0, 0, above 0. */
static inline int slice_compare(struct slice a, struct slice b)
{
	const size_t common = a.size < b.size ? a.size : b.size;
	const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool slice_is(struct slice a, const char *text)
{
	return slice_equal(a, slice_of(text));
}

#endif
