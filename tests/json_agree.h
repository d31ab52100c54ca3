/* The reader of JSON beside jansson's own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_JSON_AGREE_H
#define TESTS_JSON_AGREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* Whether json_text_read takes this text if, and only if, jansson does and it is an object of at
 * most JSON_TEXT_DEPTH levels without a NUL byte, and gives the same value: members in the same
 * order, and reals the same too, unless they had become an integer that was not written. */
bool json_agrees(struct arena *arena, struct slice text);

#endif
