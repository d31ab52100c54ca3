/* Texts along the tables of the schema: bodies and queries that are nearly right, so that a fuzzer
 * comes to what lies behind the check of each member. Some members are left out, some values are
 * just beyond what their row allows, some are of another kind, some members nobody knows.
 *
 * What is made follows from the seed (directory.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_ALONG_H
#define TESTS_ALONG_H

#include <stdint.h>

#include "schema/schema.h"

/* A JSON object; for NULL, {} or one with a member that nobody knows. */
void along_shape(struct buffer *text, const struct shape *shape, uint64_t *seed);

/* "a=1&b=2"; for NULL, nothing. */
void along_query(struct buffer *text, const struct shape *shape, uint64_t *seed);

/* A name of which there are few, so that one place often means what another made. Three of them are
 * the bytes 1, 2 and 3, in JSON \u0001 and so on, for what the caller knows. */
const char *along_name(uint64_t *seed);

#endif
