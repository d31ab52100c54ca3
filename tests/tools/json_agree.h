/* Compares the reader of JSON with jansson's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_JSON_AGREE_H
#define TESTS_JSON_AGREE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* Returns true if json_text_read accepts the text exactly when jansson does and the text is an
 * object of at most JSON_TEXT_DEPTH levels without a NUL byte; if both give the same value; and if
 * that value, written and read again, is the same and is written alike. */
bool json_agrees(struct arena *arena, struct slice text);

/* Returns true if a value of json_text_read equals a value of jansson: members in the same order,
 * numbers with the same integer or the same double. */
bool json_same_value(json_t *ours, json_t *theirs);

#endif
