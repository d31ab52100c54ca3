/* Removing what an account owns, in transactions of bounded size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_REMOVAL_H
#define COMMAND_REMOVAL_H

#include "base/id.h"
#include "command/progress.h"
#include "store/store.h"

struct removal {
	bool is_of_load; /* a dump that was given up: nobody has seen its codes, which are not kept */
	struct store *store;
	struct arena *arena; /* of one transaction; reset by each */
	struct id account;
	uint64_t last; /* number of the last transaction: to be waited for */
	struct progress *progress; /* of transactions; NULL: it is not shown */
};

/* Removes everything. After a fault some may be removed, and it can be called again. */
bool removal_run(struct removal *removal, struct fault *fault);

#endif
