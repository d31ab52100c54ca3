/* See command/removal.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/removal.h"

#include "command/again.h"
#include "transfer/transfer.h"

static bool remove_some(struct removal *removal, bool *is_last, struct fault *fault)
{
	const struct environment environment = { .clock = &clock_system, .store = removal->store };
	struct call call = { .environment = &environment,
			     .arena = removal->arena,
			     .frees_codes = removal->is_of_load };

	call.account = removal->account;
	id_print(&removal->account, call.account_text);
	arena_reset(removal->arena);
	if (!store_begin(removal->store, STORE_WRITE, removal->arena, &call.transaction, fault))
		return false;
	if (!transfer_remove_some(&call, is_last, fault)) {
		store_abandon(call.transaction);
		return false;
	}
	return store_commit(call.transaction, &removal->last, fault);
}

bool removal_run(struct removal *removal, struct fault *fault)
{
	uint64_t transactions = 0;
	bool is_last = false;

	while (!is_last) {
		struct again again = { .fault = fault };

		while (again_try(&again))
			again.is_done = remove_some(removal, &is_last, fault);
		if (!again.is_done)
			return false;
		if (removal->progress != NULL)
			progress_show(removal->progress, ++transactions, 0);
	}
	return true;
}
