/* See resources/sweep.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/sweep.h"

#include "records/kinds.h"
#include "resources/garbage.h"

bool sweep_kind(struct call *call, const struct record_kind *kind, size_t *n, struct fault *fault)
{
	const struct store_kind *stored_kind = kind->table->kind;
	const struct member *owner = record_owner(kind->table);
	struct store_record records[SWEPT_AT_ONCE];
	struct store_page page = {
		.order = STORE_BY_END,
		.until = call->now - (kind->kept == NULL ? 0 : kind->kept(call)),
		.records = records,
		.most = SWEPT_AT_ONCE,
	};

	*n = 0;
	if (!store_page(call->transaction, stored_kind, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		const struct id id = records[i].id;
		struct store_record stored;

		if (!store_get(call->transaction, stored_kind, &id, STORE_TO_CHANGE, &stored,
			       fault))
			return false;
		/* Another process may have changed it meanwhile. */
		if (stored.value.data == NULL || stored.ends == 0 || stored.ends > page.until)
			continue;
		if (!garbage_add(call, stored_kind, &id, fault) ||
		    !garbage_remove_record(call, kind, &stored, fault))
			return false;
		++*n;
	}
	return owner == NULL || garbage_count_removed(call, owner->relation, *n, fault);
}

bool sweep_account(struct call *call, bool *is_last, struct fault *fault)
{
	*is_last = true;
	if (!garbage_collect(call, fault))
		return false;
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		size_t n;

		if (!all_kinds[i]->has_ends)
			continue;
		if (!sweep_kind(call, record_kinds[i], &n, fault))
			return false;
		*is_last = *is_last && n < SWEPT_AT_ONCE;
	}
	return true;
}
