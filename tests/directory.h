/* A directory of its own for each test, under TMPDIR or /tmp, and chance that can be repeated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_DIRECTORY_H
#define TESTS_DIRECTORY_H

#include <stdint.h>

/* A new empty directory. Aborts when there can be none. */
char *directory_make(void);
/* Removes it with all that is in it, and frees the path. */
void directory_remove(char *path);

/* Makes this a data directory with an empty store, by the real program (named by $ANTEROOM, else
 * ./anteroom). It is the user's that the program serves as: nobody's for root. */
void directory_make_data(const char *path);

/* The next of a row of numbers that looks like chance and is the same for the same seed
 * (splitmix64). */
uint64_t chance(uint64_t *seed);
/* One of 0 to n - 1. */
uint64_t chance_below(uint64_t *seed, uint64_t n);

#endif
