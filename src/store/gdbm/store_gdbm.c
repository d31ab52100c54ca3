/* Transactions of the durable driver. Entries are read from a view. Changes are collected in the
 * transaction; gdbm_commit writes them to the journal and the current overlay. Background work is in
 * background.c, opening in store_gdbm_open.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm.h"

#include <assert.h>
#include <stdlib.h>

#include "store/gdbm/background.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/records.h"
#include "store/gdbm/store_gdbm_parts.h"

#define CHANGES_FIRST 16

static uint64_t visible_number(const struct store_gdbm *store)
{
	return store->journal == NULL ? store->read_only_number : journal_durable(store->journal);
}

/* Pins a view and takes the number up to which a reader sees changes. The number is taken before
 * the view is found to be still current: so the view has everything up to it (an overlay is in the
 * view before its first change), and its files have nothing above it (they have durable changes
 * only). */
static uint64_t pin_to_read(struct store_gdbm *store, struct pin *pin)
{
	uint64_t number;

	for (;;) {
		views_pin(store->views, pin);
		number = visible_number(store);
		if (views_is_current(store->views, pin))
			return number;
		views_unpin(store->views, pin);
	}
}

static bool gdbm_begin(struct store *base, enum store_access access, struct arena *arena,
		       struct transaction **transaction, struct fault *fault)
{
	struct store_gdbm *store = store_gdbm_of(base);
	struct gdbm_transaction *begun;

	if (access == STORE_WRITE) {
		if (store->journal == NULL)
			return fault_cause(fault, FAULT_UNAVAILABLE, 0,
					   "the store was opened for reading");
		if (!background_admit(store->background, fault) ||
		    !journal_admit(store->journal, fault))
			return false;
	}
	begun = arena_alloc(arena, sizeof *begun);
	begun->base = (struct transaction){ .store = base, .arena = arena, .access = access };
	begun->changes = (struct changes){ .n = 0 };
	begun->memory.is_valid = false;
	begun->counted.letter = 0;
	if (access == STORE_WRITE) {
		pthread_mutex_lock(&store->writer);
		views_pin(store->views, &begun->pin);
		begun->base.number = store->last + 1;
	} else {
		begun->base.number = pin_to_read(store, &begun->pin);
	}
	*transaction = &begun->base;
	return true;
}

static struct gdbm_transaction *transaction_of(struct transaction *transaction)
{
	return (struct gdbm_transaction *)transaction;
}

/* The changes of a transaction: an array in order of arrival, with a chained hash table. */

static void changes_grow(struct changes *changes, struct arena *arena)
{
	struct changes grown = { .n = changes->n, .capacity = 2 * changes->capacity };

	if (changes->capacity == 0)
		grown.capacity = CHANGES_FIRST;
	grown.list = arena_alloc(arena, grown.capacity * sizeof *grown.list);
	grown.hashes = arena_alloc(arena, grown.capacity * sizeof *grown.hashes);
	grown.chain = arena_alloc(arena, grown.capacity * sizeof *grown.chain);
	grown.buckets = arena_zero(arena, 2 * grown.capacity * sizeof *grown.buckets);
	for (size_t i = 0; i < changes->n; i++) {
		uint32_t *bucket = &grown.buckets[changes->hashes[i] % (2 * grown.capacity)];

		grown.list[i] = changes->list[i];
		grown.hashes[i] = changes->hashes[i];
		grown.chain[i] = *bucket;
		*bucket = (uint32_t)i + 1;
	}
	*changes = grown;
}

static struct change *changes_find(const struct changes *changes, uint64_t hash,
				   enum store_table table, struct slice key)
{
	uint32_t at;

	if (changes->n == 0)
		return NULL;
	for (at = changes->buckets[hash % (2 * changes->capacity)]; at != 0;
	     at = changes->chain[at - 1]) {
		struct change *change = &changes->list[at - 1];

		if (changes->hashes[at - 1] == hash && change->table == table &&
		    slice_equal(change->key, key))
			return change;
	}
	return NULL;
}

static void changes_put(struct changes *changes, struct arena *arena, uint64_t hash,
			const struct change *change)
{
	struct change *place = changes_find(changes, hash, change->table, change->key);
	uint32_t *bucket;

	if (place != NULL) {
		place->value = change->value;
		return;
	}
	if (changes->n == changes->capacity)
		changes_grow(changes, arena);
	bucket = &changes->buckets[hash % (2 * changes->capacity)];
	changes->list[changes->n] = *change;
	changes->list[changes->n].key = arena_copy(arena, change->key);
	changes->hashes[changes->n] = hash;
	changes->chain[changes->n] = *bucket;
	*bucket = (uint32_t)++changes->n;
}

static bool copy_out(struct slice stored, struct arena *arena, struct slice *value,
		     struct fault *fault)
{
	if (stored.data == NULL)
		return true;
	if (!arena_fits(arena, stored.size + 1))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	*value = arena_copy(arena, stored);
	return true;
}

/* Reads the newest value: the transaction's own, or that of its view, up to its number. */
bool entry_get(struct transaction *base, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault)
{
	const struct gdbm_transaction *transaction = transaction_of(base);
	const struct view *view = transaction->pin.view;
	const struct change *own;
	struct entry_key entry_key;
	struct slice bytes, stored;
	bool is_there;

	entry_key_make(&store_gdbm_of(base->store)->place.installation, table, key, &entry_key);
	own = changes_find(&transaction->changes, entry_key.hash, table, key);
	if (own != NULL) {
		*value = own->value;
		return true;
	}
	*value = (struct slice){ NULL, 0 };
	for (size_t i = 0; i < view->n_overlays; i++)
		if (overlay_get(view->overlays[i], &entry_key, base->number, &stored))
			return copy_out(stored, base->arena, value, fault);
	bytes = (struct slice){ entry_key.bytes, entry_key.size };
	for (size_t i = 0; i < view->n_files; i++) {
		if (!stack_file_get(view->files[i], bytes, base->arena, value, &is_there, fault))
			return false;
		if (is_there)
			return true;
	}
	return true;
}

static bool change_entry(struct transaction *base, enum store_table table, struct slice key,
			 struct slice value, struct fault *fault)
{
	struct gdbm_transaction *transaction = transaction_of(base);
	struct store_gdbm *store = store_gdbm_of(base->store);
	const struct change change = { .table = table, .key = key, .value = value };
	struct entry_key entry_key;

	assert(base->access == STORE_WRITE && key.size <= STORE_KEY_MAX);
	assert(value.size <= STORE_VALUE_MAX + ENTRY_HEAD_MAX);
	if (!arena_fits(base->arena, key.size + sizeof(struct changes)))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	base->has_changes = true;
	entry_key_make(&store->place.installation, table, key, &entry_key);
	changes_put(&transaction->changes, base->arena, entry_key.hash, &change);
	return true;
}

bool entry_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault)
{
	assert(value.data != NULL);
	return (arena_fits(transaction->arena, value.size + 1) ||
		fault_set(fault, FAULT_TOO_LARGE, NULL)) &&
	       change_entry(transaction, table, key, arena_copy(transaction->arena, value), fault);
}

bool entry_put_kept(struct transaction *transaction, enum store_table table, struct slice key,
		    struct slice value, struct fault *fault)
{
	return change_entry(transaction, table, key, value, fault);
}

bool entry_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault)
{
	return change_entry(transaction, table, key, (struct slice){ NULL, 0 }, fault);
}

static void gdbm_end(struct transaction *base)
{
	struct store_gdbm *store = store_gdbm_of(base->store);

	views_unpin(store->views, &transaction_of(base)->pin);
	if (base->access == STORE_WRITE)
		pthread_mutex_unlock(&store->writer);
}

void store_gdbm_freeze(struct store_gdbm *store)
{
	if (overlay_last(store->active) == 0)
		return;
	store->active = overlay_open(store->overlay_memory, store->overlay_bytes);
	views_add_overlay(store->views, store->active);
	if (store->background != NULL)
		background_frozen(store->background);
}

static void apply(struct store_gdbm *store, uint64_t number, const struct changes *changes)
{
	struct entry_key key;

	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->list[i];

		entry_key_remake(changes->hashes[i], change->table, change->key, &key);
		overlay_put(store->active, &key, number, change->value);
	}
}

/* The overlay is changed before the journal, because a reader that sees the number durable must
 * find the changes. An overlay is frozen only between transactions, so that none is in two
 * overlays. */
static bool gdbm_commit(struct transaction *base, uint64_t *number, struct fault *fault)
{
	struct store_gdbm *store = store_gdbm_of(base->store);
	const struct changes *changes = &transaction_of(base)->changes;

	if (!journal_reserve(store->journal, changes->list, changes->n, fault)) {
		gdbm_end(base);
		return false;
	}
	store->last = *number = base->number;
	apply(store, base->number, changes);
	journal_append(store->journal, base->number, changes->list, changes->n);
	if (overlay_size(store->active) >= store->overlay_bytes)
		store_gdbm_freeze(store);
	gdbm_end(base);
	return true;
}

static enum store_state gdbm_state(struct store *base, uint64_t number)
{
	struct store_gdbm *store = store_gdbm_of(base);

	if (store->journal == NULL)
		return number <= store->read_only_number ? STORE_DURABLE : STORE_FAILED;
	return journal_state(store->journal, number);
}

static void gdbm_flush(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);

	if (store->journal != NULL)
		journal_flush(store->journal);
}

static void gdbm_stop_retrying(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);

	if (store->journal != NULL)
		journal_stop_retrying(store->journal);
}

static bool gdbm_can_write(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);

	return store->journal != NULL && journal_can_write(store->journal) &&
	       background_can_write(store->background);
}

static void gdbm_close(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);

	/* The thread that writes overlays to files waits for the journal. */
	gdbm_stop_retrying(base);
	background_close(store->background);
	journal_close(store->journal);
	views_close(store->views);
	overlay_memory_close(store->overlay_memory);
	if (store->lock_file >= 0)
		store->place.files->close(store->place.files, store->lock_file);
	pthread_mutex_destroy(&store->writer);
	pthread_mutex_destroy(&store->manifest_lock);
	manifest_free(&store->manifest);
	free(store->directory);
	free(store);
}

const struct store_driver store_gdbm_driver = {
	.name = "gdbm",
	.begin = gdbm_begin,
	.get = records_get,
	.get_named = records_get_named,
	.page = records_page,
	.has_children = records_have_children,
	.new_id = records_new_id,
	.put = records_put,
	.remove = records_remove,
	.walk = store_gdbm_walk,
	.walk_keys = store_gdbm_walk_keys,
	.count = store_gdbm_count,
	.commit = gdbm_commit,
	.abandon = gdbm_end,
	.state = gdbm_state,
	.flush = gdbm_flush,
	.stop_retrying = gdbm_stop_retrying,
	.can_write = gdbm_can_write,
	.figures = store_gdbm_figures,
	.close = gdbm_close,
};
