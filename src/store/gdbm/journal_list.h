/* Lists what the journal contains, change by change, for `anteroom check --journal`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_LIST_H
#define STORE_GDBM_JOURNAL_LIST_H

#include "store/gdbm/inspect.h"
#include "store/gdbm/journal.h"

struct journal_list {
	const struct store_kind *const *kinds; /* those whose records are described */
	size_t n;
	store_journal_visit *visit;
	void *context;
};

/* Lists the segments that were read by the journal_replay that set *found, also the transactions up
 * to `base`, which files have. *end is as of journal_replay, and is freed by the caller. */
bool journal_list(const struct journal_list *list, const struct journal_options *options,
		  uint64_t base, const struct journal_end *found, struct journal_end *end,
		  struct fault *fault);

#endif
