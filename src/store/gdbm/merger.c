/* The merger thread: when it merges which files, and its other work.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/priority.h"
#include "store/gdbm/background_parts.h"
#include "store/gdbm/rewrite.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define COLLECT_MILLISECONDS 100
#define MERGE_PRIORITY 10

/* Long writing leaves tens of megabytes of free memory in the heap, which glibc returns to the
 * system only if told to. */
#if defined(__GLIBC__)
static void memory_give_back(void)
{
	malloc_trim(0);
}
#else
static void memory_give_back(void)
{
}
#endif

/* Freezes the current overlay. False: another frozen overlay is waiting; with two, every write
 * would have to wait. */
static bool freeze_rest(struct background *background)
{
	struct store_gdbm *store = background->store;
	bool is_free;

	pthread_mutex_lock(&store->writer);
	pthread_mutex_lock(&background->lock);
	is_free = background->frozen == 0;
	pthread_mutex_unlock(&background->lock);
	if (is_free && !journal_has_failed(store->journal))
		store_gdbm_freeze(store);
	pthread_mutex_unlock(&store->writer);
	return is_free;
}

/* How fast files are added decides what is due, and whether the memory of an overlay is kept for
 * the next. When no more are added, the current overlay is frozen and unused memory returned at
 * once, not after the current merge, which may take minutes. */
static bool look_at_pace(struct background *background)
{
	bool is_hurried;

	pthread_mutex_lock(&background->lock);
	is_hurried = pace_is_hurried(&background->pace);
	pthread_mutex_unlock(&background->lock);
	overlay_memory_keep(background->store->overlay_memory,
			    is_hurried ? background->store->overlay_bytes : 0);
	if (is_hurried) {
		background->was_hurried = true;
	} else if (background->was_hurried && freeze_rest(background)) {
		background->was_hurried = false;
		memory_give_back();
	}
	return is_hurried;
}

/* Takes references to the files that are due; from malloc, or NULL. The view is unpinned at once,
 * because it keeps overlays in memory that are already files. */
static struct stack_file **files_take(struct background *background, const struct stack_file *busy,
				      bool is_all_wanted, struct rewrite_files *order)
{
	struct views *views = background->store->views;
	struct stack_file **files = NULL;
	struct pin pin;

	views_pin(views, &pin);
	order->n = merge_due(pin.view, busy, look_at_pace(background), is_all_wanted,
			     &background->limit);
	order->is_oldest_among = order->n == pin.view->n_files;
	if (order->n > 0) {
		files = memory_check(malloc(order->n * sizeof *files));
	}
	for (size_t i = 0; i < order->n; i++) {
		files[i] = pin.view->files[i];
		stack_file_hold(files[i]);
	}
	views_unpin(views, &pin);
	order->files = files;
	return files;
}

static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted);

/* A merge of everything takes minutes, in which hundreds of small files may be added. These are
 * merged meanwhile, recursively. Each inner merge has newer and fewer entries, so the depth is at
 * most about ten. */
static void merge_within(void *context, const struct rewrite_files *order)
{
	struct background *background = context;
	int64_t pause = throttle_merge(&background->throttle, atomic_load(&background->files));

	while (merge_once(background, order->files[0], false))
		continue;
	if (pause == 0)
		return;
	/* Views that a reader has released are freed now and then, not only after the merge. */
	views_collect(background->store->views);
	pthread_mutex_lock(&background->lock);
	if (!atomic_load(&background->is_stopped))
		clock_wait(&background->work, &background->lock, pause);
	pthread_mutex_unlock(&background->lock);
}

/* Sets whether a merge has failed and will be tried again; fault: the reason, logged once. */
static void set_stuck(struct background *background, bool is_stuck, const struct fault *fault)
{
	pthread_mutex_lock(&background->lock);
	if (is_stuck && !background->merge_is_stuck)
		background_log_stuck(background, "store_files_not_merged", fault);
	background->merge_is_stuck = is_stuck;
	pthread_mutex_unlock(&background->lock);
}

static uint64_t bytes_of(const struct rewrite_files *order)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < order->n; i++)
		bytes += stack_file_info(order->files[i])->bytes;
	return bytes;
}

/* Merges what is due. False: nothing was due, or the merge failed. While a limit is in force, what
 * is due may not be tried: the merger stays stuck until that has been merged or is not due any
 * more. */
static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted)
{
	struct rewrite_files order = { .pause = merge_within, .context = background };
	struct stack_file **files = files_take(background, busy, is_all_wanted, &order);
	const uint64_t bytes = bytes_of(&order);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (order.n == 0) {
		if (busy == NULL && !merge_limit_holds(&background->limit))
			set_stuck(background, false, NULL);
		return false;
	}
	is_done = rewrite_files(background->store, &order, &background->is_stopped, &fault);
	for (size_t i = 0; i < order.n; i++)
		stack_file_release(files[i]);
	free(files);
	memory_give_back();
	background_note_files(background);
	if (is_done) {
		merge_limit_done(&background->limit, bytes);
	} else if (!atomic_load(&background->is_stopped)) {
		merge_limit_failed(&background->limit, bytes);
		set_stuck(background, true, &fault);
		journal_remove_spares(background->store->journal);
	}
	return is_done;
}

/* Called with the lock held. A requested merge of everything begins when all overlays are files. */
static bool has_nothing_to_do(const struct background *background)
{
	return background->merge_is_stuck ||
	       (background->merge_is_idle &&
		(!background->is_all_wanted || background->frozen > 0));
}

/* Called with the lock held. Waits for the next step of the scrub, or for work. */
static void merger_wait(struct background *background, bool is_something_left)
{
	int64_t left = background->scrub.at - clock_monotonic();
	/* Checks again when files are no longer added fast. */
	const bool was_hurried = background->was_hurried || pace_is_hurried(&background->pace);

	if (was_hurried && left > PACE_HURRIED)
		left = PACE_HURRIED;
	if (is_something_left && left > COLLECT_MILLISECONDS)
		left = COLLECT_MILLISECONDS;
	if (background->merge_is_stuck && left > BACKGROUND_RETRY_MILLISECONDS)
		left = BACKGROUND_RETRY_MILLISECONDS;
	if (left > 0)
		clock_wait(&background->work, &background->lock, left);
	if (was_hurried)
		background->merge_is_idle = false;
}

void *merger_run(void *context)
{
	struct background *background = context;
	struct store_gdbm *store = background->store;

	priority_lower(MERGE_PRIORITY);
	while (!atomic_load(&background->is_stopped)) {
		bool was_idle, is_all_wanted, is_merged, is_something_left;

		pthread_mutex_lock(&background->lock);
		was_idle = background->merge_is_idle && !background->merge_is_stuck;
		is_all_wanted = background->is_all_wanted && background->frozen == 0;
		background->merge_is_idle = true;
		background->merge_is_under_way = true;
		pthread_mutex_unlock(&background->lock);

		is_merged = !journal_has_failed(store->journal) && (!was_idle || is_all_wanted) &&
			    merge_once(background, NULL, is_all_wanted);
		is_something_left = views_collect(store->views);
		if (!is_merged && clock_monotonic() >= background->scrub.at)
			scrub_step(&background->scrub, store->views);

		pthread_mutex_lock(&background->lock);
		background->merge_is_under_way = false;
		if (is_merged)
			background->merge_is_idle = false;
		if (is_all_wanted && !background->merge_is_stuck)
			background->is_all_wanted = false;
		pthread_cond_broadcast(&background->done);
		if (!atomic_load(&background->is_stopped) && has_nothing_to_do(background))
			merger_wait(background, is_something_left);
		pthread_mutex_unlock(&background->lock);
	}
	return NULL;
}
