/* Balances merges and calls by the number of files. A merge takes processor and disk time from
 * calls, but without merges each read has more and more files to look into. While there are few
 * files, a merge yields to calls; with more files, it runs at its low priority; with too many, each
 * write waits a little, longer the more files there are, until merges catch up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_THROTTLE_H
#define STORE_GDBM_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

/* A merge yields with up to FEW files; writes wait with more than MANY files. */
#define THROTTLE_FEW 24
#define THROTTLE_MANY 48
/* The longest wait of a write, in microseconds. */
#define THROTTLE_LONGEST 5000

/* Microseconds at the end of the last slice: used by the merging thread, used by the process, and
 * on the clock. Zeros at first. */
struct throttle {
	int64_t own;
	int64_t all;
	int64_t clock;
};

/* Returns how many milliseconds the merging thread, which calls this from time to time, should
 * wait. 0 if its slice is not over or the other threads were idle. */
int64_t throttle_merge(struct throttle *throttle, size_t files);

/* Returns how many microseconds a write should wait. */
int64_t throttle_write(size_t files);

#endif
