/* Transactions whose content follows from their number, so that the whole of a store can be checked
 * against the number it stands at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_NUMBERED_H
#define TESTS_NUMBERED_H

#include "store/store.h"

/* Numbers above a cut were given out again after it: their transactions do something else. */
struct history {
	uint64_t cuts[2];
};

#define HISTORY_INITIAL ((struct history){ { UINT64_MAX, UINT64_MAX } })

/* Begins and fills the next transaction; store_number says which. The caller commits. False: it is
 * abandoned. */
bool numbered_begin(struct store *store, struct arena *arena, const struct history *history,
		    struct transaction **transaction, struct fault *fault);

/* NULL when everything is as it must be in the state that the transaction sees; else what is wrong,
 * and if it could not be read, why. */
const char *numbered_wrong(struct transaction *transaction, const struct history *history,
			   struct fault *fault);

#endif
