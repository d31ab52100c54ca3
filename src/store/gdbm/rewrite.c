/* See store/gdbm/rewrite.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/priority.h"
#include "store/gdbm/merge.h"

/* Interval at which syncing a directory is retried. */
#define RETRY_NANOSECONDS 100000000L
/* A merge calls `pause` after this many entries. */
#define PAUSE_ENTRIES 64
/* If an overlay has more entries than SAMPLE_ENTRIES, only about that many of its puts, and all
 * those with more than SAMPLE_BYTES, are looked up in the files. */
#define SAMPLE_ENTRIES 512
#define SAMPLE_BYTES 16384

struct rewrite {
	struct store_gdbm *store;
	const atomic_bool *is_stopped;
	struct fault *fault;
	struct arena *arena; /* for one value at a time */
	struct stack_build *build;
	uint64_t written;
	bool is_broken;
};

static bool rewrite_begin(struct rewrite *rewrite, uint64_t most_entries)
{
	struct store_gdbm *store = rewrite->store;
	uint64_t id;

	pthread_mutex_lock(&store->manifest_lock);
	id = store->manifest.next_id++;
	pthread_mutex_unlock(&store->manifest_lock);
	rewrite->arena = arena_open();
	return stack_build_begin(&store->place, id, most_entries, &rewrite->build, rewrite->fault);
}

static bool rewrite_add(struct rewrite *rewrite, struct slice key, struct slice value)
{
	if (atomic_load_explicit(rewrite->is_stopped, memory_order_relaxed))
		return false;
	rewrite->written++;
	priority_yield();
	return stack_build_add(rewrite->build, key, value, &rewrite->is_broken, rewrite->fault);
}

/* Opens the new file, after which its name is durable. *file is NULL if there were no entries. */
static bool rewrite_finish(struct rewrite *rewrite, uint64_t superseded, struct stack_file **file)
{
	const struct stack_place *place = &rewrite->store->place;
	struct stack_build *build = rewrite->build;
	struct stack_info info;

	*file = NULL;
	rewrite->build = NULL;
	if (rewrite->written == 0) {
		stack_build_abandon(build);
		return true;
	}
	if (!stack_build_end(build, &info, &rewrite->is_broken, rewrite->fault))
		return false;
	info.superseded = superseded;
	if (!stack_file_open(place, &info, file, rewrite->fault)) {
		stack_remove(place, info.id);
		return false;
	}
	if (file_sync_directory(place->files, place->directory, &rewrite->is_broken))
		return true;
	fault_cause(rewrite->fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", place->directory);
	stack_file_retire(*file);
	stack_file_release(*file);
	*file = NULL;
	return false;
}

/* If a manifest was renamed but the rename is not durable, this cannot be undone: the thread waits
 * until the directory is synced. */
static bool sync_until_done(struct rewrite *rewrite)
{
	const struct stack_place *place = &rewrite->store->place;
	const struct timespec pause = { .tv_nsec = RETRY_NANOSECONDS };
	bool is_done = false;

	atomic_store(&rewrite->store->manifest_is_stuck, true);
	while (!is_done && !rewrite->is_broken && !atomic_load(rewrite->is_stopped)) {
		nanosleep(&pause, NULL);
		is_done = file_sync_directory(place->files, place->directory, &rewrite->is_broken);
	}
	atomic_store(&rewrite->store->manifest_is_stuck, false);
	return is_done;
}

/* Names the new file (or none, for NULL) in the manifest: in place of the merged files, or, if
 * `merged` is NULL, as the newest file, with everything up to `number`. */
static bool manifest_change(struct rewrite *rewrite, const struct rewrite_files *merged,
			    uint64_t number, struct stack_file *file)
{
	struct store_gdbm *store = rewrite->store;
	const struct stack_place *place = &store->place;
	struct manifest next;
	size_t first = 0;
	bool is_done, is_replaced = false;

	pthread_mutex_lock(&store->manifest_lock);
	/* Newer files may have been added since the merge began. */
	while (merged != NULL &&
	       store->manifest.files[first].id != stack_file_info(merged->files[0])->id)
		first++;
	next = manifest_merged(&store->manifest, first, merged == NULL ? 0 : merged->n,
			       file == NULL ? NULL : stack_file_info(file));
	if (merged == NULL)
		next.number = number;
	is_done = manifest_write(place->files, place->directory, &next, &is_replaced,
				 &rewrite->is_broken, rewrite->fault) ||
		  (is_replaced && sync_until_done(rewrite));
	if (is_done) {
		*rewrite->fault = FAULT_INITIAL;
		manifest_free(&store->manifest);
		store->manifest = next;
	} else {
		manifest_free(&next);
		/* The manifest on the disk may already name the file; then the file is kept. */
		if (file != NULL && !is_replaced)
			stack_file_retire(file);
		if (file != NULL)
			stack_file_release(file);
	}
	pthread_mutex_unlock(&store->manifest_lock);
	return is_done;
}

static bool rewrite_end(struct rewrite *rewrite, bool is_done)
{
	if (rewrite->build != NULL)
		stack_build_abandon(rewrite->build);
	if (rewrite->arena != NULL)
		arena_close(rewrite->arena);
	if (rewrite->is_broken)
		journal_fail(rewrite->store->journal, rewrite->store->directory, EIO);
	return is_done;
}

/* Returns whether the files have the key, or true if that cannot be determined. *bytes is the size
 * of the newest entry, if known. */
static bool is_below(struct rewrite *rewrite, const struct view *view, struct slice key,
		     uint64_t *bytes)
{
	struct fault ignored = FAULT_INITIAL;
	struct slice value;
	bool is_there = false;

	*bytes = 0;
	arena_reset(rewrite->arena);
	for (size_t i = 0; i < view->n_files && !is_there; i++)
		if (!stack_file_get(view->files[i], key, rewrite->arena, &value, &is_there,
				    &ignored))
			return true;
	if (is_there)
		*bytes = stack_entry_bytes(key.size, value.size);
	return is_there;
}

/* Writes the entries of an overlay. Older overlays are files already, so a removal of a key that no
 * file has is dropped. Looking up a new key costs a look into each file. The superseded bytes need
 * only be estimated, so only a sample of the puts is looked up; it is random because the order is
 * by hash. */
static bool overlay_write(struct rewrite *rewrite, const struct view *view,
			  const struct overlay_entry *entries, size_t n, uint64_t *superseded)
{
	const size_t step = 1 + n / SAMPLE_ENTRIES;
	uint64_t bytes;

	if (!rewrite_begin(rewrite, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct slice value = entries[i].value;
		const size_t stands_for = value.data == NULL || value.size > SAMPLE_BYTES ? 1
											  : step;

		if (i % stands_for == 0 && is_below(rewrite, view, entries[i].key, &bytes))
			*superseded += stands_for * bytes;
		else if (value.data == NULL)
			continue;
		if (!rewrite_add(rewrite, entries[i].key, value))
			return false;
	}
	return true;
}

bool rewrite_overlay(struct store_gdbm *store, const atomic_bool *is_stopped, struct fault *fault)
{
	struct rewrite rewrite = { .store = store, .is_stopped = is_stopped, .fault = fault };
	struct overlay_entry *entries;
	struct stack_file *file = NULL;
	uint64_t number, superseded = 0;
	struct pin pin;
	size_t n;
	bool is_done;

	views_pin(store->views, &pin);
	const struct overlay *overlay = pin.view->overlays[pin.view->n_overlays - 1];
	number = overlay_last(overlay);
	/* Only durable transactions may be in files. */
	if (!journal_flush_to(store->journal, number)) {
		views_unpin(store->views, &pin);
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "a journal write failed");
	}
	entries = overlay_sorted(overlay, number, &n);
	is_done = overlay_write(&rewrite, pin.view, entries, n, &superseded) &&
		  rewrite_finish(&rewrite, superseded, &file);
	free(entries);
	views_unpin(store->views, &pin);
	is_done = is_done && manifest_change(&rewrite, NULL, number, file);
	if (is_done) {
		views_overlay_to_file(store->views, file);
		journal_drop(store->journal, number);
		atomic_fetch_add(&store->files_written, file == NULL ? 0 : 1);
		atomic_fetch_add(&store->records_written, rewrite.written);
	}
	return rewrite_end(&rewrite, is_done);
}

static bool files_write(struct rewrite *rewrite, const struct rewrite_files *order,
			struct merge *merge, uint64_t *skipped_bytes)
{
	struct merge_entry entry;
	struct slice value;
	bool is_there;

	for (;;) {
		if (!merge_next(merge, &entry, &is_there, rewrite->fault))
			return false;
		if (!is_there)
			return true;
		*skipped_bytes += entry.skipped_bytes;
		if (entry.is_removal && order->is_oldest_among)
			continue;
		arena_reset(rewrite->arena);
		if (!merge_value(merge, &entry, rewrite->arena, &value, rewrite->fault) ||
		    !rewrite_add(rewrite, entry.key, value))
			return false;
		if (rewrite->written % PAUSE_ENTRIES == 0)
			order->pause(order->context, order);
	}
}

bool rewrite_files(struct store_gdbm *store, const struct rewrite_files *order,
		   const atomic_bool *is_stopped, struct fault *fault)
{
	struct rewrite rewrite = { .store = store, .is_stopped = is_stopped, .fault = fault };
	struct merge *merge = merge_open(NULL, 0, 0, order->files, order->n);
	uint64_t entries = 0, superseded = 0, skipped_bytes = 0;
	struct stack_file *file = NULL;
	bool is_done;

	for (size_t i = 0; i < order->n; i++) {
		entries += stack_file_info(order->files[i])->entries;
		superseded += stack_file_info(order->files[i])->superseded;
	}
	is_done = rewrite_begin(&rewrite, entries) &&
		  files_write(&rewrite, order, merge, &skipped_bytes);
	merge_close(merge);
	superseded = order->is_oldest_among || superseded < skipped_bytes
			     ? 0
			     : superseded - skipped_bytes;
	is_done = is_done && rewrite_finish(&rewrite, superseded, &file) &&
		  manifest_change(&rewrite, order, 0, file);
	if (is_done) {
		for (size_t i = 0; i < order->n; i++)
			stack_file_retire(order->files[i]);
		views_merge_files(store->views, order->files, order->n, file);
		atomic_fetch_add(&store->files_merged, 1);
		atomic_fetch_add(&store->records_written, rewrite.written);
	}
	return rewrite_end(&rewrite, is_done);
}
