/* A crowd of writers that wait for the disk, and the simplest target for them: a file written
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

/* What is measured: it takes a record, returns its number, and makes it durable. */
struct target {
	uint64_t (*append)(struct target *target, struct arena *arena, uint64_t key);
	bool (*flush)(struct target *target);
	bool (*is_durable)(struct target *target, uint64_t number);
};

/* Makes a file in the directory for records of this size. Ends the program if that fails. */
struct target *bare_open(const char *directory, size_t record_size);
void bare_close(struct target *target);

/* Each writer appends a record and waits until it is durable, again and again. Returns records per
 * second; sets *longest, unless it is NULL, to the longest time of a record, in milliseconds. */
double crowd_run(struct target *target, unsigned writers, int64_t milliseconds, double *longest);

#endif
