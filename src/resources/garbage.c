/* See resources/garbage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/garbage.h"

#include "resources/codes/code_record.h"
#include "resources/templates/deleted_role.h"

/* Children that one call removes. For each code it also puts a record
 * (resources/codes/code_words.h). */

static bool remove_deliveries(struct call *call, const struct id *webhook, bool *are_gone,
			      struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = webhook,
		.records = arena_alloc(call->arena, GARBAGE_AT_ONCE * sizeof *page.records),
		.most = GARBAGE_AT_ONCE,
	};

	if (!store_page(call->transaction, &kind_webhook_delivery, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, &kind_webhook_delivery, &page.records[i],
				  fault))
			return false;
	}
	*are_gone = page.is_last;
	return true;
}

/* *are_gone: nothing is left of it. */
static bool remove_children(struct call *call, enum garbage_of of, const struct id *id,
			    bool *are_gone, struct fault *fault)
{
	struct code_page page = { .most = GARBAGE_AT_ONCE };
	size_t removed;

	if (of == GARBAGE_WEBHOOK)
		return remove_deliveries(call, id, are_gone, fault);
	if (of == GARBAGE_TEMPLATE) {
		if (!deleted_roles_remove(call, id, INT64_MAX, GARBAGE_AT_ONCE, &removed, fault))
			return false;
		*are_gone = removed < GARBAGE_AT_ONCE;
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

static enum garbage_of kind_of(const struct store_record *record)
{
	return (enum garbage_of)record->value.data[0];
}

bool garbage_finish(struct call *call, const struct id *id, struct fault *fault)
{
	struct store_record record;
	bool are_gone;

	if (!store_get(call->transaction, &kind_garbage, id, STORE_TO_CHANGE, &record, fault))
		return false;
	if (record.value.data == NULL)
		return true;
	do {
		if (!remove_children(call, kind_of(&record), id, &are_gone, fault))
			return false;
	} while (!are_gone);
	return store_remove(call->transaction, &kind_garbage, &record, fault);
}

bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault)
{
	const char value = (char)of;
	const struct store_record record = { .id = *id, .value = { &value, 1 } };
	bool are_gone;

	if (!remove_children(call, of, id, &are_gone, fault))
		return false;
	/* An imported room may have the id of a template. */
	return are_gone || (garbage_finish(call, id, fault) &&
			    store_put(call->transaction, &kind_garbage, &record, NULL, fault));
}

bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault)
{
	struct store_record record;

	if (!store_get(call->transaction, &kind_garbage, id, STORE_TO_SHOW, &record, fault))
		return false;
	*has = record.value.data != NULL;
	return true;
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
	return remove_children(call, kind_of(&record), &record.id, &are_gone, fault) &&
	       (!are_gone || store_remove(call->transaction, &kind_garbage, &record, fault));
}
