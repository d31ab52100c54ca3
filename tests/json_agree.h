/* The reader of JSON beside jansson's own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_JSON_AGREE_H
#define TESTS_JSON_AGREE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* Whether json_text_read takes this text if, and only if, jansson does and it is an object of at
 * most JSON_TEXT_DEPTH levels without a NUL byte, and gives the same value; and whether that value,
 * written and read again, is the same and is written alike. */
bool json_agrees(struct arena *arena, struct slice text);

/* Whether a value of json_text_read is the same as one of jansson: members in the same order, and
 * numbers as the same integer or the same double. */
bool json_same_value(json_t *ours, json_t *theirs);

#endif
