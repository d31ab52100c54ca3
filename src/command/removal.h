/* Removes what an account owns, in transactions of bounded size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_REMOVAL_H
#define COMMAND_REMOVAL_H

#include "base/id.h"
#include "command/progress.h"
#include "store/store.h"

struct removal {
	/* removes a dump that was given up; its codes are not remembered, because nobody has seen
	 * them */
	bool is_of_load;
	struct store *store;
	struct arena *arena; /* for one transaction; reset by each */
	struct id account;
	uint64_t last; /* number of the last transaction, which the caller waits for */
	struct progress *progress; /* counts transactions; NULL to show no progress */
};

/* Removes everything. After a fault, part of it may be removed; it can be called again. */
bool removal_run(struct removal *removal, struct fault *fault);

#endif
