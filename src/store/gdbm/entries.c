/* See store/gdbm/entries.h. Changes are an array in order of arrival, with a chained hash table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/entries.h"

#include <assert.h>

#include "store/gdbm/store_gdbm_parts.h"

#define CHANGES_FIRST 16

/* ---- the changes of a transaction ---- */

static void write_set_grow(struct write_set *set, struct arena *arena)
{
	struct write_set grown = { .n = set->n, .capacity = 2 * set->capacity };

	if (set->capacity == 0)
		grown.capacity = CHANGES_FIRST;
	grown.list = arena_alloc(arena, grown.capacity * sizeof *grown.list);
	grown.hashes = arena_alloc(arena, grown.capacity * sizeof *grown.hashes);
	grown.chain = arena_alloc(arena, grown.capacity * sizeof *grown.chain);
	grown.buckets = arena_zero(arena, 2 * grown.capacity * sizeof *grown.buckets);
	for (size_t i = 0; i < set->n; i++) {
		uint32_t *bucket = &grown.buckets[set->hashes[i] % (2 * grown.capacity)];

		grown.list[i] = set->list[i];
		grown.hashes[i] = set->hashes[i];
		grown.chain[i] = *bucket;
		*bucket = (uint32_t)i + 1;
	}
	*set = grown;
}

static struct change *write_set_find(const struct write_set *set, uint64_t hash,
				     enum store_table table, struct slice key)
{
	uint32_t at;

	if (set->n == 0)
		return NULL;
	for (at = set->buckets[hash % (2 * set->capacity)]; at != 0; at = set->chain[at - 1]) {
		struct change *change = &set->list[at - 1];

		if (set->hashes[at - 1] == hash && change->table == table &&
		    slice_equal(change->key, key))
			return change;
	}
	return NULL;
}

/* ---- reading and changing ---- */

/* Reads the newest value: the transaction's own, or the one in its view with a number up to the
 * transaction's. */
bool entry_get(struct transaction *base, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault)
{
	struct gdbm_transaction *transaction = gdbm_transaction_of(base);
	const struct view *view = transaction->pin.view;
	const struct change *own;
	struct entry_key entry_key;
	struct slice key_in_files, stored;
	bool is_there;

	if (transaction->is_outdone)
		return fault_set(fault, FAULT_AGAIN, NULL);
	transaction->has_read = true;
	entry_key_make(&store_gdbm_of(base->store)->place.installation, table, key, &entry_key);
	own = write_set_find(&transaction->write_set, entry_key.hash, table, key);
	if (own != NULL) {
		*value = own->value;
		return true;
	}
	/* The result if there is no entry. A removal is an entry without a value; it hides older
	 * entries. */
	*value = (struct slice){ NULL, 0 };
	for (size_t i = 0; i < view->n_overlays; i++) {
		if (!overlay_get(view->overlays[i], &entry_key, base->number, &stored))
			continue;
		if (stored.data == NULL)
			return true;
		if (!arena_fits(base->arena, stored.size + 1))
			return fault_set(fault, FAULT_TOO_LARGE, NULL);
		*value = arena_copy(base->arena, stored);
		return true;
	}
	key_in_files = (struct slice){ entry_key.bytes, entry_key.size };
	for (size_t i = 0; i < view->n_files; i++) {
		if (!stack_file_get(view->files[i], key_in_files, base->arena, value, &is_there,
				    fault))
			return false;
		if (is_there)
			return true;
	}
	return true;
}

bool entry_change(struct transaction *base, enum store_table table, struct slice key,
		  struct slice value, struct fault *fault)
{
	struct gdbm_transaction *transaction = gdbm_transaction_of(base);
	struct store_gdbm *store = store_gdbm_of(base->store);
	struct write_set *set = &transaction->write_set;
	struct change *present;
	struct entry_key entry_key;
	uint32_t *bucket;

	assert(base->access == STORE_WRITE && key.size <= STORE_KEY_MAX);
	assert(value.size <= STORE_VALUE_MAX + ENTRY_HEAD_MAX);
	if (transaction->is_outdone)
		return fault_set(fault, FAULT_AGAIN, NULL);
	if (!arena_fits(base->arena, key.size + sizeof *present))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	base->has_changes = true;
	entry_key_make(&store->place.installation, table, key, &entry_key);

	present = write_set_find(set, entry_key.hash, table, key);
	if (present != NULL) {
		present->value = value;
		return true;
	}
	if (set->n == set->capacity)
		write_set_grow(set, base->arena);
	bucket = &set->buckets[entry_key.hash % (2 * set->capacity)];
	set->list[set->n] = (struct change){ .table = table,
					     .key = arena_copy(base->arena, key),
					     .value = value };
	set->hashes[set->n] = entry_key.hash;
	set->chain[set->n] = *bucket;
	*bucket = (uint32_t)++set->n;
	return true;
}

bool write_sets_meet(const struct write_set *one, const struct write_set *other)
{
	for (size_t i = 0; i < one->n; i++) {
		const struct change *change = &one->list[i];

		if (write_set_find(other, one->hashes[i], change->table, change->key) != NULL)
			return true;
	}
	return false;
}

bool entry_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault)
{
	assert(value.data != NULL);
	return (arena_fits(transaction->arena, value.size + 1) ||
		fault_set(fault, FAULT_TOO_LARGE, NULL)) &&
	       entry_change(transaction, table, key, arena_copy(transaction->arena, value), fault);
}

bool entry_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault)
{
	return entry_change(transaction, table, key, (struct slice){ NULL, 0 }, fault);
}
