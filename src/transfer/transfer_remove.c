/* Removes the records of an account: see transfer/transfer.h. Each transaction of a load keeps
 * lists and records consistent, so all records are found by lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/audit_record.h"
#include "resources/garbage.h"
#include "transfer/transfer.h"
#include "transfer/walk.h"

#define REMOVED_MOST 64

struct removing {
	struct walk walk;
	size_t removed;
};

static bool remove_record(struct walk *walk, const struct record_kind *kind, void *record,
			  bool *descends, struct fault *fault)
{
	struct removing *removing = (struct removing *)walk;
	struct call *call = walk->call;
	struct store_record *stored = (void *)((char *)record + kind->table->stored);

	(void)descends;
	if (removing->removed++ == REMOVED_MOST)
		return false;
	return (kind->removed == NULL || kind->removed(call, record, fault)) &&
	       garbage_check_refusals(call, kind->table->kind, &stored->id, fault) &&
	       store_remove(call->transaction, kind->table->kind, stored, fault);
}

bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault)
{
	struct removing removing = {
		.walk = { .call = call, .visit = remove_record, .is_upwards = true },
	};
	struct store_record garbage;
	struct store_page page = { .records = &garbage, .most = 1 };
	struct audit_state state;

	*is_empty = false;
	call_set_account(call);
	if (!garbage_collect(call, fault) ||
	    !store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	if (page.count > 0)
		return true;

	/* The oldest events. With the state of the event log updated, the next transaction does not
	 * look for them. */
	if (!audit_state_load(call->transaction, STORE_TO_CHANGE, &state, fault))
		return false;
	for (; state.first <= state.last && removing.removed < REMOVED_MOST; removing.removed++) {
		if (!audit_drop_first(call->transaction, &state, fault))
			return false;
	}
	if (removing.removed > 0)
		return audit_state_put(call->transaction, &state, fault);

	if (!walk_account(&removing.walk, fault))
		return fault->kind == FAULT_NONE;
	*is_empty = true;
	return true;
}
