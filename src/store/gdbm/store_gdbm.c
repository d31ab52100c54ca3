/* Transactions of the durable driver. Their changes are collected (entries.c); gdbm_commit writes
 * them to the journal and the current overlay. Background work is in background.c, opening in
 * store_gdbm_open.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/gdbm/background.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/records.h"
#include "store/gdbm/store_gdbm_parts.h"

/* Microseconds after which a transaction that can give way does so, if others wait. */
#define TURN_MOST 5000

/* Pins a view and returns the number up to which a reader sees changes. If a new overlay began in
 * between, the view may lack changes up to that number, so both steps are repeated. The files
 * contain nothing above the number, because they contain only durable changes. */
static uint64_t pin_to_read(struct store_gdbm *store, struct pin *pin)
{
	uint64_t number;

	for (;;) {
		views_pin(store->views, pin);
		number = store->journal == NULL ? store->last : journal_durable(store->journal);
		if (views_is_current(store->views, pin))
			return number;
		views_unpin(store->views, pin);
	}
}

/* Called with the turn: pins a view and returns the transaction's own number. It sees everything
 * with a lower number. */
static uint64_t pin_to_write(struct store_gdbm *store, struct pin *pin)
{
	views_pin(store->views, pin);
	return store->last + 1;
}

static bool gdbm_begin(struct store *base, enum store_access access, struct arena *arena,
		       struct transaction **transaction, struct fault *fault)
{
	struct store_gdbm *store = store_gdbm_of(base);
	struct gdbm_transaction *begun;

	if (access == STORE_WRITE && store->journal == NULL)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the store is open read-only");
	/* Waits until there is space for a write. */
	if (access == STORE_WRITE &&
	    (!background_admit(store->background, fault) || !journal_admit(store->journal, fault)))
		return false;
	begun = arena_alloc(arena, sizeof *begun);
	begun->base = (struct transaction){ .store = base, .arena = arena, .access = access };
	begun->write_set = (struct write_set){ .n = 0 };
	begun->memory.is_valid = false;
	begun->counted.letter = 0;
	begun->has_read = false;
	begun->turn_began = 0;
	begun->has_lent = false;
	begun->is_outdone = false;
	if (access == STORE_WRITE)
		turn_take(&store->turn); /* gdbm_end gives it back */
	begun->base.number = access == STORE_WRITE ? pin_to_write(store, &begun->pin)
						   : pin_to_read(store, &begun->pin);
	*transaction = &begun->base;
	return true;
}

/* Called after others have had the turn: makes visible what they have committed. */
static void renew_view(struct gdbm_transaction *transaction)
{
	struct store_gdbm *store = store_gdbm_of(transaction->base.store);

	views_unpin(store->views, &transaction->pin);
	transaction->memory.is_valid = false;
	transaction->base.number = pin_to_write(store, &transaction->pin);
}

/* Lends the turn if the transaction has had it for some time and others wait. In the meantime no
 * other transaction sees its changes. Transactions of its account wait (gdbm_enter); if any other
 * transaction changes the same entry, this one has to run again (gdbm_commit). */
static bool gdbm_give_way(struct transaction *base, struct fault *fault)
{
	struct gdbm_transaction *transaction = gdbm_transaction_of(base);
	struct turn *turn = &store_gdbm_of(base->store)->turn;
	const int64_t now = clock_microseconds();

	if (transaction->turn_began == 0)
		transaction->turn_began = now;
	if (now - transaction->turn_began < TURN_MOST || !turn_is_wanted(turn) ||
	    turn->away != NULL)
		return true;
	transaction->has_lent = true;
	turn_lend(turn, transaction);
	renew_view(transaction);
	transaction->turn_began = clock_microseconds();
	return !transaction->is_outdone || fault_set(fault, FAULT_AGAIN, NULL);
}

/* A larger segment may be needed, which takes a while to make: the turn is lent in the meantime. */
static bool prepare_journal(struct gdbm_transaction *transaction, struct fault *fault)
{
	struct store_gdbm *store = store_gdbm_of(transaction->base.store);
	const struct write_set *set = &transaction->write_set;
	bool is_prepared;

	if (transaction->turn_began == 0 || store->turn.away != NULL ||
	    journal_fits(store->journal, set->list, set->n))
		return true;
	transaction->has_lent = true;
	turn_lend_to_all(&store->turn, transaction);
	is_prepared = journal_prepare(store->journal, set->list, set->n, fault);
	turn_take_back(&store->turn);
	renew_view(transaction);
	return is_prepared;
}

static void gdbm_enter(struct transaction *base, const struct id *account)
{
	struct gdbm_transaction *transaction = gdbm_transaction_of(base);
	struct turn *turn = &store_gdbm_of(base->store)->turn;

	if (!turn_is_lent_by(turn, account))
		return;
	turn_leave_to(turn, account);
	renew_view(transaction);
	if (transaction->has_read)
		transaction->is_outdone = true;
}

/* Ends a transaction; also the driver's abandon. */
static void gdbm_end(struct transaction *base)
{
	struct store_gdbm *store = store_gdbm_of(base->store);

	views_unpin(store->views, &gdbm_transaction_of(base)->pin);
	if (base->access == STORE_WRITE)
		turn_give(&store->turn, gdbm_transaction_of(base)->has_lent);
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

/* Changes the overlay before the journal, because a reader that sees the number as durable must
 * find the changes. An overlay is frozen only between transactions, so that the changes of a
 * transaction are never in two overlays. */
static bool gdbm_commit(struct transaction *base, uint64_t *number, struct fault *fault)
{
	struct gdbm_transaction *transaction = gdbm_transaction_of(base);
	struct store_gdbm *store = store_gdbm_of(base->store);
	const struct write_set *set = &transaction->write_set;
	struct gdbm_transaction *away;
	struct entry_key key;

	if (!prepare_journal(transaction, fault)) {
		gdbm_end(base);
		return false;
	}
	if (transaction->is_outdone) {
		gdbm_end(base);
		return fault_set(fault, FAULT_AGAIN, NULL);
	}
	/* This may flush, and wait for the disk. */
	if (!journal_reserve(store->journal, set->list, set->n, fault)) {
		gdbm_end(base);
		return false;
	}
	away = store->turn.away;
	if (away != NULL && write_sets_meet(set, &away->write_set))
		away->is_outdone = true;
	store->last = base->number;
	*number = base->number;
	for (size_t i = 0; i < set->n; i++) {
		const struct change *change = &set->list[i];

		entry_key_remake(set->hashes[i], change->table, change->key, &key);
		overlay_put(store->active, &key, base->number, change->value);
	}
	journal_append(store->journal, base->number, set->list, set->n);
	if (overlay_size(store->active) >= store->overlay_bytes)
		store_gdbm_freeze(store);
	gdbm_end(base);
	return true;
}

static enum store_state gdbm_state(struct store *base, uint64_t number)
{
	struct store_gdbm *store = store_gdbm_of(base);

	if (store->journal == NULL)
		return number <= store->last ? STORE_DURABLE : STORE_FAILED;
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

/* Does not count files of the stack that are still being written: they may wait for the disk. */
static uint64_t disk_bytes(const struct store_gdbm *store)
{
	const struct file_system *files = store->place.files;
	char *names = files->list(files, store->directory);
	uint64_t bytes = 0;

	for (const char *name = names; name != NULL && *name != '\0'; name = file_next_name(name)) {
		char path[PATH_MAX];
		off_t size;
		int file;

		if (strstr(name, ".gdbm.new") != NULL)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", store->directory, name);
		file = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
		/* It may have been removed since. */
		if (file < 0)
			continue;
		if (files->size(files, file, &size) == 0)
			bytes += (uint64_t)size;
		files->close(files, file);
	}
	free(names);
	return bytes;
}

/* The figures are read one after the other while the store is in use, so they need not belong to
 * the same moment. */
static void gdbm_figures(struct store *base, struct store_figures *figures)
{
	struct store_gdbm *store = store_gdbm_of(base);
	const struct view *view;
	struct pin pin;

	figures->disk_bytes = disk_bytes(store);
	figures->backup_time = store_gdbm_backup_time(store->directory, store->place.files);
	if (store->journal != NULL)
		journal_figures(store->journal, figures);
	else
		figures->durable = store->last;
	views_pin(store->views, &pin);
	view = pin.view;
	figures->overlays = view->n_overlays;
	for (size_t i = 0; i < view->n_overlays; i++)
		figures->overlay_bytes += overlay_size(view->overlays[i]);
	figures->files = view->n_files;
	for (size_t i = 0; i < view->n_files; i++) {
		const struct stack_info *info = stack_file_info(view->files[i]);

		figures->files_bytes += info->gdbm_size + info->index_size;
		figures->files_records += info->entries;
		figures->files_damaged += stack_file_is_not_whole(view->files[i]) ? 1 : 0;
	}
	views_unpin(store->views, &pin);
	figures->files_written = atomic_load(&store->files_written);
	figures->files_merged = atomic_load(&store->files_merged);
	figures->records_written = atomic_load(&store->records_written);
	figures->checksum_failures = atomic_load(&store->checksum_failures);
}

static void gdbm_close(struct store *base)
{
	struct store_gdbm *store = store_gdbm_of(base);

	/* Called first, because the thread that writes overlays to files waits for the journal. */
	gdbm_stop_retrying(base);
	background_close(store->background);
	journal_close(store->journal);
	views_close(store->views);
	overlay_memory_close(store->overlay_memory);
	if (store->lock_file >= 0)
		store->place.files->close(store->place.files, store->lock_file);
	turn_close(&store->turn);
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
	.give_way = gdbm_give_way,
	.enter = gdbm_enter,
	.walk = store_gdbm_walk,
	.next = store_gdbm_next,
	.end_walk = store_gdbm_end_walk,
	.count = store_gdbm_count,
	.commit = gdbm_commit,
	.abandon = gdbm_end,
	.state = gdbm_state,
	.flush = gdbm_flush,
	.stop_retrying = gdbm_stop_retrying,
	.can_write = gdbm_can_write,
	.figures = gdbm_figures,
	.close = gdbm_close,
};
