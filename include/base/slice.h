/* A borrowed run of bytes that need not be terminated. The function that returns a slice says how
 * long it lives. A slice whose data is NULL means "absent", which is not the same as empty.
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

/* A slice of a string literal or of a terminated array. */
#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ text, text == NULL ? 0 : strlen(text) };
}

/* Do not compare secrets with this: its time depends on where the texts differ (see
 * text_equal_secret). */
static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Orders bytes like memcmp; a prefix comes before longer texts. */
static inline int slice_compare(struct slice a, struct slice b)
{
	const size_t common = a.size < b.size ? a.size : b.size;
	const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool slice_begins(struct slice bytes, struct slice prefix)
{
	return bytes.size >= prefix.size &&
	       (prefix.size == 0 || memcmp(bytes.data, prefix.data, prefix.size) == 0);
}

static inline bool slice_ends(struct slice bytes, struct slice suffix)
{
	return bytes.size >= suffix.size &&
	       (suffix.size == 0 ||
		memcmp(bytes.data + bytes.size - suffix.size, suffix.data, suffix.size) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
	return slice_equal(a, slice_of(text));
}

#endif
