/* Which files are to become one, and when. Few files are cheap to read, but each merge writes its
 * records once more: how many files there may be depends on how fast they come.
 *
 * Nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_MERGE_DUE_H
#define STORE_MERGE_DUE_H

#include "store/view.h"

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

/* How many of the newest files are to become one now; 0: none. What a damaged file hides behind
 * itself cannot be merged, nor can what is newer be merged with it; the same holds of `busy` and
 * what is older, which is being merged already, unless it is NULL. */
size_t merge_due(const struct view *view, const struct stack_file *busy, bool is_hurried,
		 bool is_all_wanted);

#endif
