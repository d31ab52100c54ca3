/* Generates bodies and queries that are nearly valid, from the tables of the schema, so that a
 * fuzzer gets past the check of each member. Some members are left out, some values are just
 * outside the range of their row, some have another type, and some members are unknown.
 *
 * The seed (directory.h) determines the text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_ALONG_H
#define TESTS_ALONG_H

#include <stdint.h>

#include "schema/schema.h"

/* Appends a JSON object. If `shape` is NULL, the object is empty or has one unknown member. */
void along_shape(struct buffer *text, const struct shape *shape, uint64_t *seed);

/* Appends "a=1&b=2", or nothing if `shape` is NULL. */
void along_query(struct buffer *text, const struct shape *shape, uint64_t *seed);

/* Returns one of a few names, so that one request often refers to what another one created. Three
 * of the names are the bytes 1, 2 and 3 (in JSON \u0001 and so on), which the caller replaces by
 * known values. */
const char *along_name(uint64_t *seed);

#endif
