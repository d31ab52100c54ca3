/* Transactions whose contents follow from their numbers, so that a whole store can be checked
 * against its last number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_NUMBERED_H
#define TESTS_NUMBERED_H

#include "store/store.h"

/* After each cut, numbers above it were used again, with transactions that do something else. */
struct history {
	uint64_t cuts[2];
};

#define HISTORY_INITIAL ((struct history){ { UINT64_MAX, UINT64_MAX } })

/* Begins and fills the next transaction, whose number store_number returns; the caller commits it.
 * Returns false if it was abandoned. */
bool numbered_begin(struct store *store, struct arena *arena, const struct history *history,
		    struct transaction **transaction, struct fault *fault);

/* Returns NULL if everything is right in the state that the transaction sees; otherwise what is
 * wrong or, if a read failed, why. */
const char *numbered_wrong(struct transaction *transaction, const struct history *history,
			   struct fault *fault);

#endif
