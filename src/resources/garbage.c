/* See resources/garbage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/garbage.h"

#include "resources/code_record.h"
#include "resources/deleted_role.h"
#include "resources/expected.h"
#include "resources/packed.h"

/* Children that one call removes. */
#define REMOVED_MOST 256

/* *are_gone: nothing is left of it. */
static bool remove_children(struct call *call, enum garbage_of of, const struct id *id,
			    bool *are_gone, struct fault *fault)
{
	struct code_page page = { .most = REMOVED_MOST };
	size_t removed;

	if (of == GARBAGE_TEMPLATE) {
		if (!deleted_roles_remove(call, id, INT64_MAX, REMOVED_MOST, &removed, fault))
			return false;
		*are_gone = removed < REMOVED_MOST;
		return true;
	}
	if (!codes_page(call, id, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!code_remove(call, &page.codes[i], fault))
			return false;
	}
	*are_gone = page.is_last;
	return true;
}

bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault)
{
	const char value = (char)of;
	const struct store_record record = { .id = *id, .value = { &value, 1 } };
	bool are_gone;

	return remove_children(call, of, id, &are_gone, fault) &&
	       (are_gone || store_put(call->transaction, &kind_garbage, &record, NULL, fault));
}

bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault)
{
	struct store_record record;

	if (!store_get(call->transaction, &kind_garbage, id, STORE_TO_SHOW, &record, fault))
		return false;
	*has = record.value.data != NULL;
	return true;
}

void garbage_expect(struct expected *expected, const struct id *room)
{
	const struct store_page oldest = { .order = STORE_OLDEST_FIRST, .most = 1 };
	const struct store_page codes = {
		.order = STORE_OLDEST_FIRST,
		.parent = room,
		.most = REMOVED_MOST,
	};

	expected_page(expected, &kind_garbage, &oldest);
	if (room != NULL)
		expected_page(expected, &kind_code, &codes);
}

bool garbage_collect(struct call *call, struct fault *fault)
{
	struct store_record record;
	struct store_page page = { .order = STORE_OLDEST_FIRST, .records = &record, .most = 1 };
	bool are_gone;

	if (!store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	return remove_children(
		       call, record.value.data[0] == GARBAGE_ROOM ? GARBAGE_ROOM : GARBAGE_TEMPLATE,
		       &record.id, &are_gone, fault) &&
	       (!are_gone || store_remove(call->transaction, &kind_garbage, &record, fault));
}
