/* How merges and calls share the processor and the disk, by how many files there are. A merge takes
 * what calls want; without merges there are ever more files, each of which costs a reader a look.
 * So while they are few, a merge only has what calls leave; while they are many, it goes on beside
 * them, as its low priority lets it; and when they come faster than even so they can be merged,
 * each write waits a little, the longer the more there are, until both are in step.
 *
 * Nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_THROTTLE_H
#define STORE_GDBM_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

/* A merge steps aside with so many files or fewer; writes wait when there are more than so many. */
#define THROTTLE_FEW 24
#define THROTTLE_MANY 48
/* Microseconds: no write waits longer. */
#define THROTTLE_LONGEST 5000

/* Microseconds of the merging thread, of the whole process and of the clock when the last slice of
 * work ended. Zeros at first. */
struct throttle {
	int64_t own;
	int64_t all;
	int64_t clock;
};

/* The merging thread asks now and then: how many milliseconds it shall wait. 0 while its slice is
 * not at its end, or the other threads hardly did anything meanwhile. */
int64_t throttle_merge(struct throttle *throttle, size_t files);

/* How many microseconds a write waits. */
int64_t throttle_write(size_t files);

#endif
