/* See transfer/store_upgrade.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/store_upgrade.h"

/* A transaction is committed at either limit. */
#define BATCH_BYTES ((size_t)2 << 20)
#define BATCH_RECORDS 256

struct upgrading {
	struct store *store;
	struct store_upgrade_watch *watch;
	struct arena *paths; /* holds what upgrade_paths makes */
	struct arena *reading, *writing; /* of the walk, and of a batch */
	struct transaction *batch; /* NULL if none is open */
	unsigned batch_records;
	uint64_t last; /* number of the last transaction */
	uint64_t done, all;
};

static bool count_records(struct upgrading *upgrading, const struct upgrade_path *paths, size_t n,
			  struct fault *fault)
{
	const struct store_kind **kinds = arena_zero(upgrading->paths, (n + 1) * sizeof *kinds);
	uint64_t *counts = arena_zero(upgrading->paths, (n + 1) * sizeof *counts);
	struct transaction *transaction;
	bool is_counted;

	for (size_t i = 0; i < n; i++)
		kinds[i] = paths[i].first->kind;
	if (n == 0)
		return true;
	if (!store_begin(upgrading->store, STORE_READ, upgrading->reading, &transaction, fault))
		return false;
	is_counted = store_count(transaction, kinds, n, counts, fault);
	store_abandon(transaction);
	arena_reset(upgrading->reading);
	for (size_t i = 0; i < n; i++)
		upgrading->all += counts[i];
	return is_counted;
}

static bool end_batch(struct upgrading *upgrading, struct fault *fault)
{
	struct transaction *batch = upgrading->batch;

	if (batch == NULL)
		return true;
	upgrading->batch = NULL;
	upgrading->batch_records = 0;
	if (!store_commit(batch, &upgrading->last, fault))
		return false;
	arena_reset(upgrading->writing);
	if (upgrading->watch->progress != NULL)
		upgrading->watch->progress(upgrading->watch, upgrading->done, upgrading->all);
	return true;
}

/* Replaces a record by what it becomes, in the transaction of the batch. */
static bool convert(struct upgrading *upgrading, const struct upgrade_path *path,
		    const struct store_record *found, struct fault *fault)
{
	const struct store_kind *kind = path->first->kind;
	struct transaction *batch = upgrading->batch;
	struct arena *arena = upgrading->writing;
	void *earlier = arena_zero(arena, path->first->size), *record;
	struct buffer value = BUFFER_INITIAL(arena);
	struct store_record stored;

	store_set_account(batch, &found->account);
	if (path->last == NULL)
		return store_remove(batch, kind, found, fault);
	record = arena_zero(arena, path->last->size);
	if (!record_read(path->first, arena, found, earlier, fault) ||
	    !upgrade_record(path, arena, earlier, record, fault))
		return false;
	stored = record_key(path->last, record);
	record_pack(path->last, record, &value);
	stored.value = buffer_slice(&value);
	if (path->last->kind->letter == kind->letter)
		return store_put(batch, path->last->kind, &stored, found, fault);
	return store_remove(batch, kind, found, fault) &&
	       store_put(batch, path->last->kind, &stored, NULL, fault);
}

/* The found record lives until the next one is read, but the batch keeps what it is made of. */
static struct store_record keep_record(struct arena *arena, const struct store_record *found)
{
	struct store_record kept = *found;

	kept.name = found->name.data == NULL ? found->name : arena_copy(arena, found->name);
	kept.value = arena_copy(arena, found->value);
	return kept;
}

static bool convert_kind(struct upgrading *upgrading, const struct upgrade_path *path,
			 struct fault *fault)
{
	struct transaction *reading;
	struct store_walk walk;
	struct store_record found, kept;
	bool is_done = true;

	if (!store_begin(upgrading->store, STORE_READ, upgrading->reading, &reading, fault))
		return false;
	walk = store_walk_all(reading, path->first->kind, fault);
	while (is_done && store_next(&walk, &found)) {
		if (upgrading->batch == NULL &&
		    !store_begin(upgrading->store, STORE_WRITE, upgrading->writing,
				 &upgrading->batch, fault))
			break;
		kept = keep_record(upgrading->writing, &found);
		is_done = convert(upgrading, path, &kept, fault);
		upgrading->done++;
		if (is_done && (++upgrading->batch_records == BATCH_RECORDS ||
				arena_used(upgrading->writing) >= BATCH_BYTES))
			is_done = end_batch(upgrading, fault);
	}
	is_done = fault->kind == FAULT_NONE && end_batch(upgrading, fault);
	store_abandon(reading);
	arena_reset(upgrading->reading);
	return is_done;
}

static void open_upgrading(struct upgrading *upgrading, struct store *store)
{
	*upgrading = (struct upgrading){
		.store = store,
		.paths = arena_open(),
		.reading = arena_open(),
		.writing = arena_open(),
	};
}

static void close_upgrading(struct upgrading *upgrading)
{
	if (upgrading->batch != NULL)
		store_abandon(upgrading->batch);
	arena_close(upgrading->paths);
	arena_close(upgrading->reading);
	arena_close(upgrading->writing);
}

bool store_upgrade_count(struct store *store, const struct record_upgrades *upgrades,
			 unsigned number, uint64_t *count, struct fault *fault)
{
	struct upgrade_path *paths;
	struct upgrading upgrading;
	bool is_counted;
	size_t n;

	open_upgrading(&upgrading, store);
	upgrade_paths(upgrades, upgrading.paths, number, &paths, &n);
	is_counted = count_records(&upgrading, paths, n, fault);
	*count = upgrading.all;
	close_upgrading(&upgrading);
	return is_counted;
}

bool store_upgrade_records(struct store *store, const struct record_upgrades *upgrades,
			   unsigned number, struct store_upgrade_watch *watch, struct fault *fault)
{
	struct upgrade_path *paths;
	struct upgrading upgrading;
	bool is_done;
	size_t n;

	open_upgrading(&upgrading, store);
	upgrading.watch = watch;
	upgrade_paths(upgrades, upgrading.paths, number, &paths, &n);
	is_done = count_records(&upgrading, paths, n, fault);
	for (size_t i = 0; is_done && i < n; i++)
		is_done = convert_kind(&upgrading, &paths[i], fault);
	is_done = is_done && store_wait(store, upgrading.last, fault);
	close_upgrading(&upgrading);
	return is_done;
}
