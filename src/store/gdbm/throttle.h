/* Balances merges and calls by the number of files. A merge takes processor and disk from calls,
 * but without merges each read has more and more files to look into. With few files a merge yields
 * to calls; with more it runs at its low priority; with too many each write waits a little, longer
 * the more there are, until merges keep up.
 *
 * Threads: callers lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_THROTTLE_H
#define STORE_GDBM_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

/* Up to FEW files a merge yields; above MANY files writes wait. */
#define THROTTLE_FEW 24
#define THROTTLE_MANY 48
/* Microseconds: the longest wait of a write. */
#define THROTTLE_LONGEST 5000

/* Microseconds used by the merging thread and by the process, and of the clock, at the end of the
 * last slice. Zeros at first. */
struct throttle {
	int64_t own;
	int64_t all;
	int64_t clock;
};

/* Milliseconds that the merging thread, which calls this now and then, is to wait. 0: its slice is
 * not over, or the other threads were idle. */
int64_t throttle_merge(struct throttle *throttle, size_t files);

/* Microseconds that a write is to wait. */
int64_t throttle_write(size_t files);

#endif
