/* Which files are to become one, and when. Few files are cheap to read, but each merge writes its
 * records once more: how many files there may be depends on how fast they come.
 *
 * Nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_MERGE_DUE_H
#define STORE_GDBM_MERGE_DUE_H

#include "store/gdbm/view.h"

/* Milliseconds: files hurry when two came within so long of each other, the last of them not longer
 * ago. */
#define PACE_HURRIED 5000

struct pace {
	int64_t came[2]; /* clock_monotonic: when the last file came, and the one before */
};

#define PACE_NONE ((struct pace){ { 0, -PACE_HURRIED } })

/* A file comes. */
void pace_note(struct pace *pace);
bool pace_is_hurried(const struct pace *pace);

/* What could not be merged, most often for want of room: so much at once is not tried for a while,
 * each time twice as long. Less is, as ever. */
struct merge_limit {
	uint64_t bytes;
	int64_t until; /* clock_monotonic */
	int64_t pause; /* milliseconds, the last */
};

#define MERGE_NO_LIMIT ((struct merge_limit){ UINT64_MAX, 0, 0 })
/* The first and the longest time. */
#define MERGE_PAUSE_FIRST 500
#define MERGE_PAUSE_MOST 600000

/* Files of so many bytes could not be merged; files of so many were. */
void merge_limit_failed(struct merge_limit *limit, uint64_t bytes);
void merge_limit_done(struct merge_limit *limit, uint64_t bytes);
/* Whether there is one now. */
bool merge_limit_holds(const struct merge_limit *limit);

/* How many of the newest files are to become one now; 0: none. What is damaged, as a whole or in
 * one value, is not merged, since what it hides would be lost or come to light; nor is what is
 * older, nor what is newer with it. The same holds of `busy`, which is being merged already, unless
 * it is NULL. */
size_t merge_due(const struct view *view, const struct stack_file *busy, bool is_hurried,
		 bool is_all_wanted, const struct merge_limit *limit);

#endif
