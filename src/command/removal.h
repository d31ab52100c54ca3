/* Removing what an account owns, in transactions of bounded size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_REMOVAL_H
#define COMMAND_REMOVAL_H

#include "base/id.h"
#include "store/store.h"

struct removal {
	struct store *store;
	struct arena *arena; /* of one transaction; reset by each */
	struct id account;
	uint64_t last; /* number of the last transaction: to be waited for */
	/* Called after each transaction; NULL: none. */
	void (*progress)(void *context, uint64_t transactions);
	void *context;
};

/* Removes everything. After a fault some may be removed, and it can be called again. */
bool removal_run(struct removal *removal, struct fault *fault);

#endif
