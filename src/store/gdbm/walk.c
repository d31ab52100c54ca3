/* Walks over all entries or records that a READ transaction sees, and checks the indexes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "store/gdbm/inspect.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/merge.h"
#include "store/gdbm/records.h"
#include "store/gdbm/store_gdbm_parts.h"

static bool walk(struct merge *merge, struct arena *arena, bool has_values, entry_visit *visit,
		 void *context, struct fault *fault)
{
	struct merge_entry entry;
	enum store_table table;
	struct slice key, value = { NULL, 0 };
	bool is_there;

	for (;;) {
		if (!merge_next(merge, &entry, &is_there, fault))
			return false;
		if (!is_there)
			return true;
		if (entry.is_removal || !entry_key_parse(entry.key, &table, &key))
			continue;
		arena_reset(arena);
		if ((has_values && !merge_value(merge, &entry, arena, &value, fault)) ||
		    !visit(context, table, key, value, fault))
			return false;
	}
}

bool entries_walk(struct transaction *transaction, bool has_values, entry_visit *visit,
		  void *context, struct fault *fault)
{
	const struct gdbm_transaction *own = (const struct gdbm_transaction *)transaction;
	struct arena *arena = arena_open();
	const struct view *view;
	struct merge *merge;
	bool is_done;

	assert(transaction->access == STORE_READ);
	assert(transaction->store->driver == &store_gdbm_driver);
	view = own->pin.view;
	merge = merge_open(view->overlays, view->n_overlays, transaction->number, view->files,
			   view->n_files);
	if (!has_values)
		merge_keys_only(merge);
	is_done = walk(merge, arena, has_values, visit, context, fault);
	arena_close(arena);
	merge_close(merge);
	return is_done;
}

/* ---- records ---- */

struct record_walk {
	const struct store_kind *kind;
	store_visit *visit;
	void *context;
};

static bool visit_record(void *context, enum store_table table, struct slice key,
			 struct slice value, struct fault *fault)
{
	const struct record_walk *of = context;
	struct store_record record;

	if (table != records_table(of->kind) || !record_of_key(of->kind, key, &record))
		return true;
	return (value.data == NULL || record_of_entry(of->kind, key, value, &record, fault)) &&
	       of->visit(of->context, &record, fault);
}

bool store_gdbm_walk(struct transaction *transaction, const struct store_kind *kind,
		     store_visit *visit, void *context, struct fault *fault)
{
	struct record_walk of = { kind, visit, context };

	return entries_walk(transaction, true, visit_record, &of, fault);
}

bool store_gdbm_walk_keys(struct transaction *transaction, const struct store_kind *kind,
			  store_visit *visit, void *context, struct fault *fault)
{
	struct record_walk of = { kind, visit, context };

	return entries_walk(transaction, false, visit_record, &of, fault);
}

struct count {
	const struct store_kind *const *kinds;
	size_t n;
	uint64_t *counts;
};

static bool visit_count(void *context, enum store_table table, struct slice key, struct slice value,
			struct fault *fault)
{
	const struct count *count = context;
	struct store_record record;

	(void)value;
	(void)fault;
	for (size_t i = 0; i < count->n; i++)
		count->counts[i] += table == records_table(count->kinds[i]) &&
				    record_of_key(count->kinds[i], key, &record);
	return true;
}

bool store_gdbm_count(struct transaction *transaction, const struct store_kind *const *kinds,
		      size_t n, uint64_t *counts, struct fault *fault)
{
	struct count count = { kinds, n, counts };

	memset(counts, 0, n * sizeof *counts);
	return entries_walk(transaction, false, visit_count, &count, fault);
}

/* ---- indexes ---- */

struct index_check {
	struct transaction *transaction;
	const struct store_kind *const *kinds;
	size_t n;
	store_tell *tell;
	void *context;
};

static bool check_key(void *context, const struct btree *tree, struct slice key, struct slice value,
		      struct fault *fault)
{
	const struct index_check *check = context;

	for (size_t i = 0; i < check->n; i++) {
		const struct store_kind *kind = check->kinds[i];

		if (tree->name_size > 1 && tree->name[1] == kind->letter)
			return records_check_index(check->transaction, kind, tree, key, value,
						   fault);
	}
	return true;
}

static bool check_record(const struct index_check *check, enum store_table table, struct slice key,
			 struct slice value, struct fault *fault)
{
	struct store_record record;

	for (size_t i = 0; i < check->n; i++) {
		const struct store_kind *kind = check->kinds[i];

		if (table == records_table(kind) && record_of_key(kind, key, &record))
			return record_of_entry(kind, key, value, &record, fault) &&
			       records_check_indexed(check->transaction, kind, &record, fault);
	}
	return true;
}

/* Reports a problem with one entry, and continues the check. */
static bool check_entry(void *context, enum store_table table, struct slice key, struct slice value,
			struct fault *fault)
{
	struct index_check *check = context;
	struct fault own = FAULT_INITIAL;

	(void)fault;
	arena_reset(check->transaction->arena);
	if (table == STORE_INDEX ? !btree_check(check->transaction, key, check_key, check, &own)
				 : !check_record(check, table, key, value, &own))
		check->tell(check->context, fault_reason(&own));
	return true;
}

bool store_gdbm_check_indexes(struct transaction *transaction,
			      const struct store_kind *const *kinds, size_t n, store_tell *tell,
			      void *context, struct fault *fault)
{
	struct index_check check = { transaction, kinds, n, tell, context };
	struct arena *kept = transaction->arena;
	bool is_done;

	transaction->arena = arena_open();
	is_done = entries_walk(transaction, true, check_entry, &check, fault);
	arena_close(transaction->arena);
	transaction->arena = kept;
	return is_done;
}
