/* Walks over all entries or records that a READ transaction sees, and checks the indexes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/merge.h"
#include "store/gdbm/records.h"
#include "store/gdbm/store_gdbm_parts.h"

struct entry_walk {
	struct store_cursor cursor;
	struct merge *merge;
	bool has_values;
	struct arena *arena; /* holds the value */
	const struct store_kind *kind; /* NULL in a walk over entries */
};

struct entry_walk *entries_walk(struct transaction *transaction, bool has_values)
{
	const struct view *view = gdbm_transaction_of(transaction)->pin.view;
	struct entry_walk *walk = memory_check(calloc(1, sizeof *walk));

	assert(transaction->access == STORE_READ);
	assert(transaction->store->driver == &store_gdbm_driver);
	walk->merge = merge_open(view->overlays, view->n_overlays, transaction->number, view->files,
				 view->n_files);
	if (!has_values)
		merge_keys_only(walk->merge);
	walk->has_values = has_values;
	walk->arena = arena_open();
	store_cursor_add(&walk->cursor, transaction);
	return walk;
}

void store_gdbm_end_walk(struct store_cursor *cursor)
{
	struct entry_walk *walk = (struct entry_walk *)cursor;

	merge_close(walk->merge);
	arena_close(walk->arena);
	free(walk);
}

static bool next_entry(struct entry_walk *walk, struct walked_entry *entry, struct fault *fault)
{
	struct merge_entry merged;
	bool is_there;

	entry->value = (struct slice){ NULL, 0 };
	do {
		if (!merge_next(walk->merge, &merged, &is_there, fault) || !is_there)
			return false;
	} while (merged.is_removal || !entry_key_parse(merged.key, &entry->table, &entry->key));
	arena_reset(walk->arena);
	return !walk->has_values ||
	       merge_value(walk->merge, &merged, walk->arena, &entry->value, fault);
}

bool entries_next(struct entry_walk *walk, struct walked_entry *entry, struct fault *fault)
{
	if (next_entry(walk, entry, fault))
		return true;
	store_cursor_end(&walk->cursor);
	return false;
}

/* ---- records ---- */

struct store_cursor *store_gdbm_walk(struct transaction *transaction, const struct store_kind *kind,
				     bool has_values)
{
	struct entry_walk *walk = entries_walk(transaction, has_values);

	walk->kind = kind;
	return &walk->cursor;
}

bool store_gdbm_next(struct store_cursor *cursor, struct store_record *record, struct fault *fault)
{
	struct entry_walk *walk = (struct entry_walk *)cursor;
	struct walked_entry entry;

	do {
		if (!next_entry(walk, &entry, fault))
			return false;
	} while (entry.table != records_table(walk->kind) ||
		 !record_of_key(walk->kind, entry.key, record));
	return !walk->has_values ||
	       record_of_entry(walk->kind, entry.key, entry.value, record, fault);
}

bool store_gdbm_count(struct transaction *transaction, const struct store_kind *const *kinds,
		      size_t n, uint64_t *counts, struct fault *fault)
{
	struct entry_walk *walk = entries_walk(transaction, false);
	struct walked_entry entry;
	struct store_record record;

	memset(counts, 0, n * sizeof *counts);
	while (entries_next(walk, &entry, fault))
		for (size_t i = 0; i < n; i++)
			counts[i] += entry.table == records_table(kinds[i]) &&
				     record_of_key(kinds[i], entry.key, &record);
	return fault->kind == FAULT_NONE;
}

/* ---- indexes ---- */

/* The kinds to which records and indexes may belong. */
struct index_check {
	struct transaction *transaction;
	const struct store_kind *const *kinds;
	size_t n;
};

/* Checks a node of an index, and of a leaf that its keys lead to records. */
static bool check_node(const struct index_check *check, const struct walked_entry *entry,
		       struct fault *fault)
{
	const struct store_kind *kind = NULL;
	struct btree_checked checked;
	struct slice key, value;

	if (!btree_check(check->transaction, entry->key, &checked, fault))
		return false;
	for (size_t i = 0; i < check->n && kind == NULL; i++)
		if (checked.tree.name_size > 1 && checked.tree.name[1] == check->kinds[i]->letter)
			kind = check->kinds[i];
	while (kind != NULL && btree_checked_next(&checked, &key, &value))
		if (!records_check_index(check->transaction, kind, &checked.tree, key, value,
					 fault))
			return false;
	return true;
}

static bool check_record(const struct index_check *check, const struct walked_entry *entry,
			 struct fault *fault)
{
	struct store_record record;

	for (size_t i = 0; i < check->n; i++) {
		const struct store_kind *kind = check->kinds[i];

		if (entry->table == records_table(kind) && record_of_key(kind, entry->key, &record))
			return record_of_entry(kind, entry->key, entry->value, &record, fault) &&
			       records_check_indexed(check->transaction, kind, &record, fault);
	}
	return true;
}

bool store_gdbm_check_indexes(struct transaction *transaction,
			      const struct store_kind *const *kinds, size_t n, store_report *report,
			      void *context, struct fault *fault)
{
	struct index_check check = { transaction, kinds, n };
	struct entry_walk *walk = entries_walk(transaction, true);
	struct arena *kept = transaction->arena;
	struct walked_entry entry;

	transaction->arena = arena_open();
	while (entries_next(walk, &entry, fault)) {
		struct fault own = FAULT_INITIAL;

		arena_reset(transaction->arena);
		if (!(entry.table == STORE_INDEX ? check_node : check_record)(&check, &entry, &own))
			report(context, fault_reason(&own));
	}
	arena_close(transaction->arena);
	transaction->arena = kept;
	return fault->kind == FAULT_NONE;
}
