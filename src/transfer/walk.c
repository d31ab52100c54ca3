/* See transfer/walk.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/walk.h"

#include "resources/audit_record.h"

#define PAGE_MOST 64
#define PAGE_BYTES ((size_t)1 << 20)
#define ENTRIES_AT_ONCE 32

/* Releases what was read since the mark. A writing transaction has its changes in the arena. */
static void walk_release(struct walk *walk, const struct arena_mark *mark)
{
	if (walk->call->transaction->access == STORE_READ)
		arena_release(walk->call->arena, mark);
}

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
	const struct record_table *table = kind->table;

	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_kind *child = record_kinds[i];
		const struct member *list = NULL;
		const char *items;
		size_t n = 1;

		if (record_kind_above(child) != kind)
			continue;
		if (child->order != RECORD_NUMBERED &&
		    record_owner(child->table)->relation->list != NULL)
			list = record_member(table, record_owner(child->table)->relation->list);
		if (list != NULL)
			n = record_items(list, record, &items);
		for (size_t j = 0; j < n; j++) {
			const struct id *owner =
				list == NULL ? &stored->id
					     : record_id(record_member(list->items, "id"),
							 items + j * list->items->size);

			if (!walk_kind(walk, child, owner, record, fault))
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
	walk_release(walk, &mark);
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
		walk_release(walk, &mark);
		if (!is_done)
			return false;
	} while (!page.is_last);
	return true;
}

/* Visits the record with this key. A named record may have been removed. */
static bool walk_key(struct walk *walk, const struct record_kind *kind,
		     const struct salvage_key *key, struct fault *fault)
{
	const struct store_kind *stored_kind = kind->table->kind;
	struct transaction *transaction = walk->call->transaction;
	struct fault own = FAULT_INITIAL;
	struct store_record stored;
	const bool is_read = key->name[0] == '\0'
				     ? store_get(transaction, stored_kind, &key->id, STORE_TO_SHOW,
						 &stored, &own) &&
					       (stored.value.data != NULL ||
						record_missing(stored_kind->name, &key->id, &own))
				     : store_get_named(transaction, stored_kind,
						       slice_of(key->name), STORE_TO_SHOW, &stored,
						       &own);

	if (!is_read)
		return walk_pass(walk, kind, &key->id, &own, fault);
	return stored.value.data == NULL || walk_record(walk, kind, &stored, fault);
}

static bool walk_by_keys(struct walk *walk, const struct record_kind *kind, const struct id *parent,
			 struct fault *fault)
{
	struct call *call = walk->call;
	struct salvage_key key;
	bool is_there = true;

	while (is_there) {
		const struct arena_mark mark = arena_mark(call->arena);

		if (!salvage_keys_next(walk->keys, kind, &call->account,
				       parent == NULL ? &kind_only_id : parent, &key, &is_there,
				       fault) ||
		    (is_there && !walk_key(walk, kind, &key, fault)))
			return false;
		walk_release(walk, &mark);
	}
	return true;
}

static bool walk_entries(struct walk *walk, const struct audit_state *state, struct fault *fault)
{
	struct id ids[ENTRIES_AT_ONCE] = { { { 0 } } };
	struct store_record stored[ENTRIES_AT_ONCE];
	bool is_done = true;
	size_t n;

	for (uint64_t seq = state->first; is_done && seq <= state->last; seq += n) {
		const struct arena_mark mark = arena_mark(walk->call->arena);

		n = state->last - seq < ENTRIES_AT_ONCE ? (size_t)(state->last - seq + 1)
							: ENTRIES_AT_ONCE;
		/* Read together, so that a database needs one round trip for them. */
		for (size_t i = 0; i < n; i++)
			ids[i] = audit_id_of(seq + i);
		is_done = store_get_several(walk->call->transaction, &kind_entry, NULL, ids, n,
					    stored, fault);
		for (size_t i = 0; is_done && i < n; i++) {
			stored[i].id = ids[i];
			is_done = stored[i].value.data != NULL
					  ? walk_record(walk, &entry_kind, &stored[i], fault)
					  : record_missing(kind_entry.name, &ids[i], fault);
		}
		walk_release(walk, &mark);
	}
	return is_done;
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

		if (record_kind_above(kind) == NULL && !kind->is_of_no_account &&
		    !walk_kind(walk, kind, NULL, NULL, fault))
			return false;
	}
	return true;
}
