/* Removes the records of a dump that was given up: see transfer/transfer.h. Each transaction of a
 * load leaves pages and records in agreement, so that pages have all records.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/events/audit_record.h"
#include "resources/garbage.h"
#include "resources/access/key_record.h"
#include "resources/kinds.h"
#include "resources/rooms/rooms.h"
#include "resources/templates/templates.h"
#include "resources/events/webhook_record.h"
#include "transfer/transfer.h"

static bool remove_rooms(struct call *call, size_t *n, struct fault *fault)
{
	struct store_record rooms[PAGE_MOST];
	struct store_page page = { .records = rooms, .most = PAGE_MOST };
	struct room_record room;

	if (!store_page(call->transaction, &kind_room, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!room_read(call, &rooms[i], &room, fault) || !room_remove(call, &room, fault))
			return false;
	}
	*n = page.count;
	return true;
}

static bool remove_templates(struct call *call, size_t *n, struct fault *fault)
{
	struct store_record templates[PAGE_MOST];
	struct store_page page = { .records = templates, .most = PAGE_MOST };
	struct template_record record;

	if (!store_page(call->transaction, &kind_template, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!template_unpack(call, &templates[i], &record, fault) ||
		    !template_remove(call, &record, fault))
			return false;
	}
	*n = page.count;
	return true;
}

/* Of a kind of which an account has one record. */
static bool remove_only(struct call *call, const struct store_kind *kind, struct fault *fault)
{
	const struct id none = { { 0 } };
	struct store_record record;

	return store_get(call->transaction, kind, &none, STORE_TO_CHANGE, &record, fault) &&
	       (record.value.data == NULL || store_remove(call->transaction, kind, &record, fault));
}

/* Records of a kind, and the one that counts them. page: its bounds. */
static bool remove_counted(struct call *call, const struct store_kind *kind, struct store_page page,
			   const struct store_kind *counting, size_t *n, struct fault *fault)
{
	struct store_record records[PAGE_MOST];

	page.records = records;
	page.most = PAGE_MOST;
	if (!store_page(call->transaction, kind, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, kind, &records[i], fault))
			return false;
	}
	*n = page.count;
	return remove_only(call, counting, fault);
}

/* The answers kept with Idempotency-Keys. */
static bool remove_kept(struct call *call, size_t *n, struct fault *fault)
{
	const struct store_page page = { .records = NULL };

	return remove_counted(call, &kind_kept_answer, page, &kind_kept_usage, n, fault);
}

/* The log, the newest entries last. */
static bool remove_entries(struct call *call, size_t *n, struct fault *fault)
{
	struct audit_state state;

	*n = 0;
	if (!audit_state_load(call->transaction, STORE_TO_CHANGE, &state, fault) ||
	    state.stored.value.data == NULL)
		return state.stored.value.data == NULL && fault->kind == FAULT_NONE;
	for (; state.first <= state.last && *n < PAGE_MOST; ++*n) {
		if (!audit_drop_first(call->transaction, &state, fault))
			return false;
	}
	if (*n == 0)
		return store_remove(call->transaction, &kind_audit, &state.stored, fault);
	return audit_state_put(call->transaction, &state, fault);
}

static bool remove_keys(struct call *call, size_t *n, struct fault *fault)
{
	struct store_page page = { .records = NULL };

	api_keys_set_page(&page);
	return remove_counted(call, &kind_key, page, &kind_keys, n, fault);
}

/* What is left of their deliveries becomes garbage, which is removed first of all. */
static bool remove_webhooks(struct call *call, size_t *n, struct fault *fault)
{
	struct webhooks webhooks;

	if (!webhooks_load(call->transaction, STORE_TO_CHANGE, &webhooks, fault))
		return false;
	*n = webhooks.count;
	for (size_t i = 0; i < webhooks.count; i++) {
		struct webhook_position position;

		if (!webhook_position_load(call->transaction, &webhooks.items[i].id,
					   STORE_TO_CHANGE, &position, fault) ||
		    !garbage_add(call, GARBAGE_WEBHOOK, &webhooks.items[i].id, fault) ||
		    (position.stored.value.data != NULL &&
		     !store_remove(call->transaction, &kind_webhook_position, &position.stored,
				   fault)))
			return false;
	}
	return webhooks.stored.value.data == NULL ||
	       (store_remove(call->transaction, &kind_webhooks, &webhooks.stored, fault) &&
		webhook_account_remove(call->transaction, fault));
}

/* Some of the records of a kind; *n: how many. */
typedef bool remove_step(struct call *call, size_t *n, struct fault *fault);

static remove_step *const steps[] = {
	remove_rooms, remove_templates, remove_kept, remove_entries, remove_keys, remove_webhooks,
};

bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault)
{
	struct store_record garbage;
	struct store_page page = { .records = &garbage, .most = 1 };
	size_t n = 0;

	*is_empty = false;
	call_set_account(call);
	if (!garbage_collect(call, fault))
		return false;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		if (!steps[i](call, &n, fault))
			return false;
		if (n > 0)
			return true;
	}
	if (!remove_only(call, &kind_media, fault) || !remove_only(call, &kind_room_times, fault) ||
	    !remove_only(call, &kind_words_asked, fault) ||
	    !remove_only(call, &kind_default, fault))
		return false;
	if (!store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	*is_empty = page.count == 0;
	return true;
}
