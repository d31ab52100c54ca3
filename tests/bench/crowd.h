/* A crowd of writers that wait for the disk, and the least that they can write to: a file written
 * ahead, to which records are appended, with a group commit and nothing else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_BENCH_CROWD_H
#define TESTS_BENCH_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define WRITERS_MOST 32

/* What is measured: something that takes a record, gives its number, and makes it durable. */
struct target {
	uint64_t (*append)(struct target *target, struct arena *arena, uint64_t key);
	bool (*flush)(struct target *target);
	bool (*is_durable)(struct target *target, uint64_t number);
};

/* A file in the directory, for records of this size. Ends the program when it cannot be. */
struct target *bare_open(const char *directory, size_t record_size);
void bare_close(struct target *target);

/* Each writer appends, and waits until that is durable, again and again. Gives records a second;
 * *longest, unless NULL, is the longest that one took, in milliseconds. */
double crowd_run(struct target *target, unsigned writers, int64_t milliseconds, double *longest);

#endif
