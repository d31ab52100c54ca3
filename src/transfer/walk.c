/* See transfer/walk.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/walk.h"

#include <stdlib.h>

#include "base/memory.h"
#include "resources/events/audit_record.h"

#define PAGE_MOST 64
#define PAGE_BYTES ((size_t)1 << 20)

/* ---- keys ---- */

void walk_keys_add(struct walk_keys *keys, const struct walk_key *key)
{
	if (keys->count == keys->capacity) {
		keys->capacity = keys->capacity * 2 + 64;
		keys->items =
			memory_check(realloc(keys->items, keys->capacity * sizeof *keys->items));
	}
	keys->items[keys->count++] = *key;
}

static int compare_owners(const struct walk_key *a, const struct walk_key *b)
{
	const int accounts = id_compare(&a->account, &b->account);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return accounts != 0 ? accounts : id_compare(&a->parent, &b->parent);
}

/* Sorts in the order of pages: newest first within an account, oldest first within a parent. */
static int compare_keys(const void *first, const void *second)
{
	const struct walk_key *a = first, *b = second;
	const int owners = compare_owners(a, b);

	if (owners != 0)
		return owners;
	return a->kind->order == RECORD_PAGES ? id_compare(&b->id, &a->id)
					      : id_compare(&a->id, &b->id);
}

void walk_keys_sort(struct walk_keys *keys)
{
	size_t count = 0;

	if (keys->count > 0)
		qsort(keys->items, keys->count, sizeof *keys->items, compare_keys);
	for (size_t i = 0; i < keys->count; i++) {
		if (count == 0 || compare_keys(&keys->items[count - 1], &keys->items[i]) != 0)
			keys->items[count++] = keys->items[i];
	}
	keys->count = count;
}

/* Returns the index of the first key that is not before `owner`. */
static size_t keys_from(const struct walk_keys *keys, const struct walk_key *owner)
{
	size_t low = 0, high = keys->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_owners(&keys->items[middle], owner) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- the walk ---- */

static bool walk_pass(struct walk *walk, const struct record_kind *kind, const struct id *id,
		      const struct fault *why, struct fault *fault)
{
	if (walk->lost != NULL && why->kind == FAULT_DAMAGED)
		return walk->lost(walk, kind, id, why, fault);
	*fault = *why;
	return false;
}

static bool walk_kind(struct walk *walk, const struct record_kind *kind, const struct id *owner,
		      const void *parent, struct fault *fault);

static bool walk_children(struct walk *walk, const struct record_kind *kind, const void *record,
			  const struct store_record *stored, struct fault *fault)
{
	const struct id *owners = &stored->id;
	size_t n = 1;

	if (kind->owners != NULL)
		n = kind->owners(walk->call, record, &owners);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < RECORD_KINDS; j++) {
			if (record_kinds[j]->parent == kind &&
			    !walk_kind(walk, record_kinds[j], &owners[i], record, fault))
				return false;
		}
	}
	return true;
}

static bool walk_record(struct walk *walk, const struct record_kind *kind,
			const struct store_record *stored, struct fault *fault)
{
	struct call *call = walk->call;
	const struct arena_mark mark = arena_mark(call->arena);
	/* A writing transaction has its changes in the arena, so the arena cannot be released. */
	const bool is_reading = call->transaction->access == STORE_READ;
	void *record = arena_zero(call->arena, kind->table->size);
	struct fault own = FAULT_INITIAL;
	bool descends = true, is_done;

	if (!record_read(kind->table, call->arena, stored, record, &own))
		is_done = walk_pass(walk, kind, &stored->id, &own, fault);
	else if (walk->is_upwards)
		is_done = walk_children(walk, kind, record, stored, fault) &&
			  walk->visit(walk, kind, record, &descends, fault);
	else
		is_done = walk->visit(walk, kind, record, &descends, fault) &&
			  (!descends || walk_children(walk, kind, record, stored, fault));
	if (is_reading)
		arena_release(call->arena, &mark);
	return is_done;
}

/* Visits the record with this id, if it exists. */
static bool walk_one(struct walk *walk, const struct record_kind *kind, const struct id *id,
		     struct fault *fault)
{
	struct transaction *transaction = walk->call->transaction;
	const enum store_reading reading = transaction->access == STORE_WRITE ? STORE_TO_CHANGE
									      : STORE_TO_SHOW;
	struct fault own = FAULT_INITIAL;
	struct store_record stored;

	if (!store_get(transaction, kind->table->kind, id, reading, &stored, &own))
		return walk_pass(walk, kind, id, &own, fault);
	stored.id = *id;
	return stored.value.data == NULL || walk_record(walk, kind, &stored, fault);
}

static bool walk_pages(struct walk *walk, const struct record_kind *kind, const struct id *parent,
		       struct fault *fault)
{
	struct call *call = walk->call;
	struct id last;
	struct store_page page = {
		.order = kind->order == RECORD_PAGES ? STORE_NEWEST_FIRST : STORE_OLDEST_FIRST,
		.parent = parent,
		.most = PAGE_MOST,
		.bytes_most = PAGE_BYTES,
	};

	do {
		const struct arena_mark mark = arena_mark(call->arena);
		struct fault own = FAULT_INITIAL;
		bool is_done = true;

		page.damaged = kind_only_id;
		page.records = arena_alloc(call->arena, PAGE_MOST * sizeof *page.records);
		if (!store_page(call->transaction, kind->table->kind, &page, &own)) {
			const bool is_known = id_compare(&page.damaged, &kind_only_id) != 0;

			if (own.kind != FAULT_DAMAGED || !is_known)
				return walk_pass(walk, kind, NULL, &own, fault);
			for (size_t i = 0; is_done && i < page.count; i++)
				is_done = walk_record(walk, kind, &page.records[i], fault);
			is_done = is_done && walk_pass(walk, kind, &page.damaged, &own, fault);
			last = page.damaged;
			page.is_last = false;
		} else {
			for (size_t i = 0; is_done && i < page.count; i++)
				is_done = walk_record(walk, kind, &page.records[i], fault);
			if (page.count > 0)
				last = page.records[page.count - 1].id;
		}
		if (kind->order == RECORD_PAGES)
			page.below = &last;
		else
			page.above = &last;
		if (call->transaction->access == STORE_READ)
			arena_release(call->arena, &mark);
		if (!is_done)
			return false;
	} while (!page.is_last);
	return true;
}

static bool walk_by_keys(struct walk *walk, const struct record_kind *kind, const struct id *parent,
			 struct fault *fault)
{
	struct call *call = walk->call;
	const struct walk_key owner = {
		.kind = kind,
		.account = call->account,
		.parent = parent == NULL ? kind_only_id : *parent,
	};

	for (size_t i = keys_from(walk->keys, &owner);
	     i < walk->keys->count && compare_owners(&walk->keys->items[i], &owner) == 0; i++) {
		const struct walk_key *key = &walk->keys->items[i];
		struct fault own = FAULT_INITIAL;
		struct store_record stored;

		if (key->name[0] == '\0') {
			if (!store_get(call->transaction, kind->table->kind, &key->id,
				       STORE_TO_SHOW, &stored, &own) ||
			    (stored.value.data == NULL &&
			     record_missing(kind->table->kind->name, &key->id, &own))) {
				if (!walk_pass(walk, kind, &key->id, &own, fault))
					return false;
				continue;
			}
		} else if (!store_get_named(call->transaction, kind->table->kind,
					    slice_of(key->name), STORE_TO_SHOW, &stored, &own)) {
			if (!walk_pass(walk, kind, &key->id, &own, fault))
				return false;
			continue;
		}
		if (stored.value.data != NULL && !walk_record(walk, kind, &stored, fault))
			return false;
	}
	return true;
}

static bool walk_entries(struct walk *walk, const struct audit_state *state, struct fault *fault)
{
	for (uint64_t seq = state->first; seq <= state->last; seq++) {
		const struct id id = audit_id_of(seq);
		struct store_record stored;

		if (!store_get(walk->call->transaction, &kind_entry, &id, STORE_TO_SHOW, &stored,
			       fault))
			return false;
		stored.id = id;
		if (stored.value.data == NULL)
			return record_missing(kind_entry.name, &id, fault);
		if (!walk_record(walk, &entry_kind, &stored, fault))
			return false;
	}
	return true;
}

/* Visits the records of the owner, or, if that is NULL, of the account. */
static bool walk_kind(struct walk *walk, const struct record_kind *kind, const struct id *owner,
		      const void *parent, struct fault *fault)
{
	if (walk->is_dump && kind->line == NULL)
		return true;
	switch (kind->order) {
	case RECORD_ONE:
		return walk_one(walk, kind, &kind_only_id, fault);
	case RECORD_BESIDE:
		return walk_one(walk, kind, owner, fault);
	case RECORD_PAGES:
	case RECORD_CHILDREN:
		if (walk->keys != NULL)
			return walk_by_keys(walk, kind, owner, fault);
		if (kind->order == RECORD_PAGES)
			return walk_pages(walk, kind, NULL, fault);
		return walk_pages(walk, kind, owner != NULL ? owner : &kind_only_id, fault);
	case RECORD_NUMBERED:
		return walk_entries(walk, parent, fault);
	case RECORD_UNLISTED:
		break;
	}
	return true;
}

bool walk_account(struct walk *walk, struct fault *fault)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_kind *kind =
			record_kinds[walk->is_upwards ? RECORD_KINDS - 1 - i : i];

		if (kind->parent == NULL && !kind->is_of_no_account &&
		    !walk_kind(walk, kind, NULL, NULL, fault))
			return false;
	}
	return true;
}
