/* The freezer thread, the merger thread, and the functions that wait for either.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/background.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/priority.h"
#include "store/gdbm/merge_due.h"
#include "store/gdbm/rewrite.h"
#include "store/gdbm/throttle.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* While more frozen overlays than this wait to become files, writes wait. */
#define FROZEN_MOST 1
#define ADMIT_MILLISECONDS 50
#define RETRY_MILLISECONDS 500
#define COLLECT_MILLISECONDS 100
#define SCRUB_STEP 50 /* milliseconds between two blocks, and after a round */
#define SCRUB_PAUSE (INT64_C(6) * 3600 * 1000)
#define FREEZE_PRIORITY 5
#define MERGE_PRIORITY 10

/* The scrub verifies all stack files block by block, so that a failing medium is noticed early: a
 * block of 64 KB at a time, and a pause after each round. A damaged block is logged
 * (stack_file_verify_block). Correctness does not depend on it: a request verifies the blocks that
 * it needs. */
struct scrub {
	uint64_t file; /* id of the file */
	uint64_t block;
	int64_t at; /* time of the next step, by clock_monotonic */
};

struct background {
	struct store_gdbm *store;
	pthread_t freezer;
	pthread_t merger;
	atomic_bool is_stopped;
	_Atomic size_t files; /* in the view */

	pthread_mutex_t lock;
	pthread_cond_t work; /* for both threads */
	pthread_cond_t done; /* work was done or has failed */
	size_t frozen; /* overlays not yet written */
	struct pace pace; /* of frozen overlays */
	bool freeze_is_stuck; /* the last attempt failed */
	bool merge_is_stuck;
	bool merge_is_idle; /* has checked for work since the last new file */
	bool merge_is_under_way; /* is checking or merging now */
	bool is_all_wanted; /* one merge of all files is requested */

	struct scrub scrub; /* these are the merger's */
	struct throttle throttle;
	struct merge_limit limit;
	bool was_hurried; /* files were added fast; the current overlay was not frozen since */
};

/* Reads the number of files from the view. Called without the lock. */
static void note_files(struct background *background)
{
	struct pin pin;

	views_pin(background->store->views, &pin);
	atomic_store(&background->files, pin.view->n_files);
	views_unpin(background->store->views, &pin);
}

/* Logs a warning about work that has failed and will be retried. */
static void log_stuck(const struct background *background, const char *event,
		      const struct fault *fault)
{
	log_event(LOG_LEVEL_WARNING, event, "directory", background->store->directory, "error",
		  fault->cause, NULL);
}

/* ---- the freezer ---- */

static void freeze_one(struct background *background)
{
	struct store_gdbm *store = background->store;
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	pthread_mutex_unlock(&background->lock);
	is_done = rewrite_overlay(store, &background->is_stopped, &fault);
	if (is_done)
		note_files(background);
	else
		journal_remove_spares(store->journal);
	pthread_mutex_lock(&background->lock);
	if (is_done) {
		background->frozen--;
		background->merge_is_idle = false;
		pthread_cond_broadcast(&background->work);
	} else if (!background->freeze_is_stuck && !atomic_load(&background->is_stopped)) {
		log_stuck(background, "store_file_not_written", &fault);
	}
	background->freeze_is_stuck = !is_done;
	pthread_cond_broadcast(&background->done);
}

static void *freezer_run(void *context)
{
	struct background *background = context;

	priority_lower(FREEZE_PRIORITY);
	pthread_mutex_lock(&background->lock);
	while (!atomic_load(&background->is_stopped)) {
		bool has_failed = journal_has_failed(background->store->journal);

		if (has_failed)
			pthread_cond_broadcast(&background->done);
		else if (background->frozen > 0)
			freeze_one(background);
		if (atomic_load(&background->is_stopped))
			break;
		if (has_failed || background->freeze_is_stuck)
			clock_wait(&background->work, &background->lock, RETRY_MILLISECONDS);
		else if (background->frozen == 0)
			pthread_cond_wait(&background->work, &background->lock);
	}
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

/* ---- the scrub ---- */

/* Verifies one block of a file in the current view, and sets the time of the next step. Files are
 * verified in the order of their ids, which only rise: a file that is added is verified in the same
 * round, and a file that is removed is skipped. */
static void scrub_step(struct scrub *scrub, struct views *views)
{
	struct fault ignored = FAULT_INITIAL;
	struct stack_file *next = NULL;
	struct pin pin;
	bool is_last;

	views_pin(views, &pin);
	/* The file with the lowest id that is not below the one reached. */
	for (size_t i = 0; i < pin.view->n_files; i++) {
		struct stack_file *file = pin.view->files[i];

		if (stack_file_info(file)->id >= scrub->file && !stack_file_is_damaged(file) &&
		    (next == NULL || stack_file_info(file)->id < stack_file_info(next)->id))
			next = file;
	}
	scrub->at = clock_monotonic() + SCRUB_STEP;
	if (next != NULL) {
		const uint64_t id = stack_file_info(next)->id;

		if (id != scrub->file)
			scrub->block = 0;
		scrub->file = id;
		/* A file that is damaged as a whole has been logged, and is not read again. */
		(void)stack_file_verify_block(next, scrub->block++, &is_last, &ignored);
		if (is_last || stack_file_is_damaged(next)) {
			scrub->file = id + 1;
			scrub->block = 0;
		}
	} else {
		scrub->file = 0;
		scrub->at += SCRUB_PAUSE;
	}
	views_unpin(views, &pin);
}

/* ---- the merger ---- */

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

/* Freezes the current overlay. False if another frozen overlay is waiting; with two, every write
 * would have to wait. */
static bool freeze_rest(struct background *background)
{
	struct store_gdbm *store = background->store;
	bool is_free;

	pthread_mutex_lock(&store->turn.mutex);
	pthread_mutex_lock(&background->lock);
	is_free = background->frozen == 0;
	pthread_mutex_unlock(&background->lock);
	if (is_free && !journal_has_failed(store->journal))
		store_gdbm_freeze(store);
	pthread_mutex_unlock(&store->turn.mutex);
	return is_free;
}

/* The pace at which files are added decides which merges are due, and whether an overlay's memory
 * is kept for the next overlay. When no more files are added, the current overlay is frozen and
 * unused memory is returned immediately, not after the current merge, which may take minutes. */
static bool adapt_to_pace(struct background *background)
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

static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted);

/* A merge of everything takes minutes, and hundreds of small files may be added during it. These
 * are merged in the meantime, recursively. Each inner merge has newer and fewer entries, so the
 * depth is at most about ten. */
static void merge_within(void *context, const struct rewrite_files *order)
{
	struct background *background = context;
	int64_t pause = throttle_merge(&background->throttle, atomic_load(&background->files));

	while (merge_once(background, order->files[0], false))
		continue;
	if (pause == 0)
		return;
	/* Frees views that readers have released now and then, not only after the merge. */
	views_collect(background->store->views);
	pthread_mutex_lock(&background->lock);
	if (!atomic_load(&background->is_stopped))
		clock_wait(&background->work, &background->lock, pause);
	pthread_mutex_unlock(&background->lock);
}

/* Sets whether a merge has failed and will be retried; fault: the reason, logged once. */
static void set_stuck(struct background *background, bool is_stuck, const struct fault *fault)
{
	pthread_mutex_lock(&background->lock);
	if (is_stuck && !background->merge_is_stuck)
		log_stuck(background, "store_files_not_merged", fault);
	background->merge_is_stuck = is_stuck;
	pthread_mutex_unlock(&background->lock);
}

/* Merges the files that are due. Returns false if no files were due or the merge failed. After a
 * failure, merges of that many bytes or more are not tried for some time (struct merge_limit). The
 * merger counts as stuck until that time is over and no merge is due. */
static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted)
{
	struct rewrite_files order = { .pause = merge_within, .context = background };
	struct views *views = background->store->views;
	const bool is_hurried = adapt_to_pace(background);
	struct fault fault = FAULT_INITIAL;
	uint64_t bytes = 0;
	struct pin pin;
	bool is_done;

	/* The view is pinned only briefly, because it keeps overlays in memory that have already
	 * become files. */
	views_pin(views, &pin);
	order.n = merge_due(pin.view, busy, is_hurried, is_all_wanted, &background->limit);
	order.is_oldest_among = order.n == pin.view->n_files;
	if (order.n > 0)
		order.files = memory_check(malloc(order.n * sizeof *order.files));
	for (size_t i = 0; i < order.n; i++) {
		order.files[i] = pin.view->files[i];
		stack_file_hold(order.files[i]);
		bytes += stack_file_info(order.files[i])->bytes;
	}
	views_unpin(views, &pin);

	if (order.n == 0) {
		if (busy == NULL && !merge_limit_holds(&background->limit))
			set_stuck(background, false, NULL);
		return false;
	}
	is_done = rewrite_files(background->store, &order, &background->is_stopped, &fault);
	for (size_t i = 0; i < order.n; i++)
		stack_file_release(order.files[i]);
	free(order.files);
	memory_give_back();
	note_files(background);
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
	/* Check again when files are no longer added fast. */
	const bool was_hurried = background->was_hurried || pace_is_hurried(&background->pace);

	if (was_hurried && left > PACE_HURRIED)
		left = PACE_HURRIED;
	if (is_something_left && left > COLLECT_MILLISECONDS)
		left = COLLECT_MILLISECONDS;
	if (background->merge_is_stuck && left > RETRY_MILLISECONDS)
		left = RETRY_MILLISECONDS;
	if (left > 0)
		clock_wait(&background->work, &background->lock, left);
	if (was_hurried)
		background->merge_is_idle = false;
}

static void *merger_run(void *context)
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

/* ---- the store ---- */

void background_frozen(struct background *background)
{
	pthread_mutex_lock(&background->lock);
	background->frozen++;
	pace_note(&background->pace);
	pthread_cond_broadcast(&background->work);
	pthread_mutex_unlock(&background->lock);
}

static bool is_stuck(const struct background *background)
{
	return background->freeze_is_stuck || atomic_load(&background->store->manifest_is_stuck) ||
	       journal_has_failed(background->store->journal);
}

bool background_admit(struct background *background, struct fault *fault)
{
	const int64_t delay = throttle_write(atomic_load(&background->files));
	bool is_admitted;

	if (delay > 0)
		nanosleep(&(struct timespec){ .tv_nsec = (long)delay * 1000 }, NULL);
	pthread_mutex_lock(&background->lock);
	/* The state read by is_stuck may change without a signal to `done`, hence the timeout. */
	while (background->frozen > FROZEN_MOST && !is_stuck(background))
		clock_wait(&background->done, &background->lock, ADMIT_MILLISECONDS);
	is_admitted = background->frozen <= FROZEN_MOST;
	pthread_mutex_unlock(&background->lock);
	if (is_admitted)
		return true;
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "cannot write files in %s",
			   background->store->directory);
}

bool background_can_write(struct background *background)
{
	bool can_write;

	pthread_mutex_lock(&background->lock);
	can_write = background->frozen <= FROZEN_MOST || !is_stuck(background);
	pthread_mutex_unlock(&background->lock);
	return can_write;
}

static bool is_settled(const struct background *background)
{
	return background->frozen == 0 && background->merge_is_idle &&
	       !background->merge_is_under_way && !background->is_all_wanted;
}

bool background_settle(struct background *background, bool is_all_merged)
{
	bool is_done;

	pthread_mutex_lock(&background->lock);
	background->is_all_wanted = is_all_merged;
	background->merge_is_idle = false;
	background->pace = PACE_NONE; /* the caller does not write while it waits */
	pthread_cond_broadcast(&background->work);
	while (!is_settled(background) && !background->merge_is_stuck && !is_stuck(background))
		clock_wait(&background->done, &background->lock, ADMIT_MILLISECONDS);
	is_done = is_settled(background);
	pthread_mutex_unlock(&background->lock);
	return is_done;
}

static void background_free(struct background *background)
{
	pthread_cond_destroy(&background->done);
	pthread_cond_destroy(&background->work);
	pthread_mutex_destroy(&background->lock);
	free(background);
}

static void stop(struct background *background)
{
	pthread_mutex_lock(&background->lock);
	atomic_store(&background->is_stopped, true);
	pthread_cond_broadcast(&background->work);
	pthread_mutex_unlock(&background->lock);
}

bool background_open(struct store_gdbm *store, struct background **background, struct fault *fault)
{
	struct background *opened = memory_check(calloc(1, sizeof *opened));
	struct pin pin;
	int error;

	opened->store = store;
	views_pin(store->views, &pin);
	opened->frozen = pin.view->n_overlays - 1;
	opened->files = pin.view->n_files;
	views_unpin(store->views, &pin);
	opened->scrub.at = clock_monotonic() + SCRUB_STEP;
	opened->pace = PACE_NONE;
	opened->limit = MERGE_NO_LIMIT;
	pthread_mutex_init(&opened->lock, NULL);
	clock_condition_init(&opened->work);
	clock_condition_init(&opened->done);

	error = pthread_create(&opened->freezer, NULL, freezer_run, opened);
	if (error == 0) {
		error = pthread_create(&opened->merger, NULL, merger_run, opened);
		if (error == 0) {
			*background = opened;
			return true;
		}
		stop(opened);
		pthread_join(opened->freezer, NULL);
	}
	background_free(opened);
	return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot start a thread");
}

void background_close(struct background *background)
{
	if (background == NULL)
		return;
	stop(background);
	pthread_join(background->freezer, NULL);
	pthread_join(background->merger, NULL);
	background_free(background);
}
