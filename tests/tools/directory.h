/* A directory of its own for each test, under TMPDIR or /tmp, and repeatable random numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_DIRECTORY_H
#define TESTS_DIRECTORY_H

#include <stdint.h>

/* Makes a new empty directory and returns its path. Aborts if that fails. */
char *directory_make(void);
/* Makes a new directory with a copy of the directories and regular files in `from`, with their
 * modes, and returns its path. Aborts if that fails. */
char *directory_copy(const char *from);
/* Removes the directory with everything in it, and frees the path. */
void directory_remove(char *path);

/* Makes this a data directory with an empty store, with the real program (named by $ANTEROOM, else
 * ./anteroom). Its owner is the user as whom the program serves: `nobody` if started by root. */
void directory_make_data(const char *path);

/* Returns the next of a sequence of pseudo-random numbers, which is the same for the same seed
 * (splitmix64). */
uint64_t chance(uint64_t *seed);
/* Returns a pseudo-random number from 0 to n - 1. */
uint64_t chance_below(uint64_t *seed, uint64_t n);

#endif
