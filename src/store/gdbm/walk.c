/* Walking over what a transaction sees: the overlays and files of its view as one stream. Own changes
 * are not part of it, so it is for READ transactions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "store/gdbm/inspect.h"
#include "store/gdbm/merge.h"
#include "store/gdbm/store_gdbm_parts.h"

static struct merge *view_merge(const struct transaction *base)
{
	const struct gdbm_transaction *transaction = (const struct gdbm_transaction *)base;
	const struct view *view = transaction->pin.view;

	assert(base->access == STORE_READ && base->store->driver == &store_gdbm_driver);
	return merge_open(view->overlays, view->n_overlays, base->number, view->files,
			  view->n_files);
}

/* The next key that is there. */
static bool next_put(struct merge *merge, struct merge_entry *entry, enum store_table *table,
		     struct slice *key, bool *is_there, struct fault *fault)
{
	for (;;) {
		if (!merge_next(merge, entry, is_there, fault))
			return false;
		if (!*is_there || (!entry->is_removal && record_key_parse(entry->key, table, key)))
			return true;
	}
}

static bool walk(struct merge *merge, struct arena *arena, enum store_table wanted,
		 store_visit *visit, void *context, struct fault *fault)
{
	struct merge_entry entry;
	enum store_table table;
	struct slice key, value;
	bool is_there;

	for (;;) {
		if (!next_put(merge, &entry, &table, &key, &is_there, fault))
			return false;
		if (!is_there)
			return true;
		if (table != wanted)
			continue;
		arena_reset(arena);
		if (!merge_value(merge, &entry, arena, &value, fault) ||
		    !visit(context, key, value, fault))
			return false;
	}
}

bool store_gdbm_walk(struct transaction *transaction, enum store_table table, store_visit *visit,
		     void *context, struct fault *fault)
{
	struct merge *merge = view_merge(transaction);
	struct arena *arena = arena_open();
	bool is_done = walk(merge, arena, table, visit, context, fault);

	arena_close(arena);
	merge_close(merge);
	return is_done;
}

bool store_gdbm_walk_keys(struct transaction *transaction, enum store_table wanted,
			  store_visit *visit, void *context, struct fault *fault)
{
	struct merge *merge = view_merge(transaction);
	struct merge_entry entry;
	enum store_table table;
	struct slice key;
	bool is_done, is_there;

	merge_spare_files(merge);
	while ((is_done = next_put(merge, &entry, &table, &key, &is_there, fault)) && is_there) {
		if (table == wanted && !visit(context, key, (struct slice){ NULL, 0 }, fault)) {
			is_done = false;
			break;
		}
	}
	merge_close(merge);
	return is_done;
}

bool store_gdbm_count(struct transaction *transaction, uint64_t counts[STORE_TABLE_COUNT],
		      struct fault *fault)
{
	struct merge *merge = view_merge(transaction);
	struct merge_entry entry;
	enum store_table table;
	struct slice key;
	bool is_counted, is_there;

	memset(counts, 0, STORE_TABLE_COUNT * sizeof *counts);
	while ((is_counted = next_put(merge, &entry, &table, &key, &is_there, fault)) && is_there)
		counts[table]++;
	merge_close(merge);
	return is_counted;
}

bool store_gdbm_verify(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);
	bool is_right = true, is_last;
	struct pin pin;
	size_t i;

	views_pin(store->views, &pin);
	for (i = 0; i < pin.view->n_files; i++) {
		struct stack_file *file = pin.view->files[i];
		uint64_t block = 0;

		do {
			struct fault ignored = FAULT_INITIAL;

			is_right = stack_file_verify_block(file, block++, &is_last, &ignored) &&
				   is_right;
		} while (!is_last && !stack_file_is_damaged(file));
	}
	views_unpin(store->views, &pin);
	return is_right;
}
