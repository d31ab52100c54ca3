/* Decides which files are merged, and when. Few files are cheap to read, but each merge writes its
 * entries again: how many files are tolerated depends on how fast new ones are added.
 *
 * Threads: callers lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_MERGE_DUE_H
#define STORE_GDBM_MERGE_DUE_H

#include "store/gdbm/view.h"

/* Milliseconds. Files are added fast ("hurried") if the last two were within this time. */
#define PACE_HURRIED 5000

struct pace {
	int64_t came[2]; /* when the last two files were added, newest first, by clock_monotonic */
};

#define PACE_NONE ((struct pace){ { 0, -PACE_HURRIED } })

/* Notes a new file. */
void pace_note(struct pace *pace);
bool pace_is_hurried(const struct pace *pace);

/* The limit after a failed merge, usually caused by lack of space: merges of this many bytes or
 * more are not tried for a time that doubles with each failure. Smaller merges continue. */
struct merge_limit {
	uint64_t bytes;
	int64_t until; /* clock_monotonic */
	int64_t pause; /* milliseconds; the last one used */
};

#define MERGE_NO_LIMIT ((struct merge_limit){ UINT64_MAX, 0, 0 })
/* The first and the longest pause. */
#define MERGE_PAUSE_FIRST 500
#define MERGE_PAUSE_MOST 600000

/* Notes that a merge of this many bytes failed or succeeded. */
void merge_limit_failed(struct merge_limit *limit, uint64_t bytes);
void merge_limit_done(struct merge_limit *limit, uint64_t bytes);
/* Whether a limit is in force now. */
bool merge_limit_holds(const struct merge_limit *limit);

/* Returns how many of the newest files to merge now, or 0. A damaged file and all older ones are
 * not merged, because values that it contains or hides would be lost or become visible. The same
 * applies to `busy` (or NULL), a file that is being merged. */
size_t merge_due(const struct view *view, const struct stack_file *busy, bool is_hurried,
		 bool is_all_wanted, const struct merge_limit *limit);

#endif
