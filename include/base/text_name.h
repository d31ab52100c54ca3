/* Names of people: when two of them are the same, and their numbers.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEXT_NAME_H
#define BASE_TEXT_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* Returns what two names have in common if people take them for the same: the UTF-8 text in the
 * compatibility form of Unicode (NFKC) with its case folded, with one blank for any number of
 * blanks, none at the ends, and without invisible characters. It follows the version of
 * libunistring, so it is not to be compared with what another program has stored. */
struct slice text_name_key(struct arena *arena, struct slice name);

/* The largest number of a name. */
#define TEXT_NAME_NUMBER_MOST 999999
/* Takes a number from the end of a key: with `in_brackets` " (2)" from 2 on, else " 2" from 1 on.
 * Returns the number, or 0 if there is none; then *base is the whole key. */
uint32_t text_name_number(struct slice key, bool in_brackets, struct slice *base);
/* Returns the name with a number at its end, in at most `most` bytes: the end of a longer name is
 * cut off. */
struct slice text_name_numbered(struct arena *arena, struct slice name, bool in_brackets,
				uint32_t number, size_t most);

#endif
