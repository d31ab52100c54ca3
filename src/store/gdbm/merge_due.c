/* See store/gdbm/merge_due.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/merge_due.h"

#include "base/clock.h"

/* All files are merged when this share of their bytes is superseded. */
#define SUPERFLUOUS_PERCENT 30
/* A file is merged with all newer ones when these together have this many times its entries. With
 * 2, in a store of a million, an entry is rewritten six times, and there are about five files, each
 * of which costs a reader a look into a filter; with 1 it would be nine times and four files. While
 * files are added fast, the disk and the processor are needed for writes: with 10 an entry is
 * rewritten two or three times, and there are up to twenty files. */
#define RATIO 2
#define RATIO_HURRIED 10

void pace_note(struct pace *pace)
{
	pace->came[1] = pace->came[0];
	pace->came[0] = clock_monotonic();
}

bool pace_is_hurried(const struct pace *pace)
{
	return clock_monotonic() - pace->came[0] < PACE_HURRIED &&
	       pace->came[0] - pace->came[1] < PACE_HURRIED;
}

void merge_limit_failed(struct merge_limit *limit, uint64_t bytes)
{
	limit->pause = limit->pause == 0 ? MERGE_PAUSE_FIRST : 2 * limit->pause;
	if (limit->pause > MERGE_PAUSE_MOST)
		limit->pause = MERGE_PAUSE_MOST;
	limit->bytes = bytes;
	limit->until = clock_monotonic() + limit->pause;
}

void merge_limit_done(struct merge_limit *limit, uint64_t bytes)
{
	if (bytes >= limit->bytes)
		*limit = MERGE_NO_LIMIT;
}

bool merge_limit_holds(const struct merge_limit *limit)
{
	return clock_monotonic() < limit->until;
}

size_t merge_due(const struct view *view, const struct stack_file *busy, bool is_hurried,
		 bool is_all_wanted, const struct merge_limit *limit)
{
	const uint64_t most = merge_limit_holds(limit) ? limit->bytes : UINT64_MAX;
	const uint64_t ratio = is_hurried ? RATIO_HURRIED : RATIO;
	uint64_t newer = 0, bytes = 0, superfluous = 0;
	size_t n = 0, due = 0;

	/* The newest files that can be merged. */
	while (n < view->n_files && view->files[n] != busy &&
	       !stack_file_has_damage(view->files[n]))
		n++;
	for (size_t i = 0; i < n; i++) {
		const struct stack_info *info = stack_file_info(view->files[i]);

		bytes += info->bytes;
		if (i > 0 && newer >= ratio * info->entries && bytes < most)
			due = i + 1;
		newer += info->entries;
		superfluous += info->superseded + info->removals * stack_entry_bytes(0, 0);
	}
	if (n == 0 || n < view->n_files || bytes >= most)
		return due;
	if (100 * superfluous > SUPERFLUOUS_PERCENT * bytes)
		return n;
	if (is_all_wanted && (n > 1 || stack_file_info(view->files[0])->removals > 0))
		return n;
	return due;
}
