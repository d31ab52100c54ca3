/* Removes the records of a dump that was given up: see transfer/transfer.h. Each transaction of a
 * load leaves pages and records in agreement, so that pages have all records.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/garbage.h"
#include "resources/kinds.h"
#include "resources/rooms.h"
#include "resources/templates.h"
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
		if (!template_read(call, &templates[i], &record, fault) ||
		    !template_remove(call, &record, fault))
			return false;
	}
	*n = page.count;
	return true;
}

/* The answers kept with Idempotency-Keys, and how many they are. */
static bool remove_kept(struct call *call, size_t *n, struct fault *fault)
{
	const struct id none = { { 0 } };
	struct store_record kept[PAGE_MOST], usage;
	struct store_page page = { .records = kept, .most = PAGE_MOST };

	if (!store_page(call->transaction, &kind_kept_answer, &page, fault) ||
	    !store_get(call->transaction, &kind_kept_usage, &none, STORE_TO_CHANGE, &usage, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, &kind_kept_answer, &kept[i], fault))
			return false;
	}
	*n = page.count;
	return usage.value.data == NULL ||
	       store_remove(call->transaction, &kind_kept_usage, &usage, fault);
}

static bool remove_media(struct call *call, struct fault *fault)
{
	const struct id none = { { 0 } };
	struct store_record media;

	return store_get(call->transaction, &kind_media, &none, STORE_TO_CHANGE, &media, fault) &&
	       (media.value.data == NULL ||
		store_remove(call->transaction, &kind_media, &media, fault));
}

bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault)
{
	struct store_record garbage;
	struct store_page page = { .records = &garbage, .most = 1 };
	size_t n;

	*is_empty = false;
	call_of_account(call);
	if (!garbage_collect(call, fault) || !remove_rooms(call, &n, fault))
		return false;
	if (n > 0)
		return true;
	if (!remove_templates(call, &n, fault))
		return false;
	if (n > 0)
		return true;
	if (!remove_kept(call, &n, fault))
		return false;
	if (n > 0)
		return true;
	if (!remove_media(call, fault))
		return false;
	if (!store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	*is_empty = page.count == 0;
	return true;
}
