/* The two threads: when they work, what they do next, and who waits for them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/background.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/merge_due.h"
#include "store/rewrite.h"
#include "store/scrub.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* So many overlays may wait besides the one that is written to. */
#define FROZEN_MOST 1
#define RETRY_AFTER_SECONDS 5
#define RETRY_MILLISECONDS 500
#define COLLECT_MILLISECONDS 100
#define ADMIT_MILLISECONDS 50
/* As setpriority(2): 0 is an ordinary thread, 19 the lowest. */
#define FREEZE_PRIORITY 5
#define MERGE_PRIORITY 10

struct background {
	struct store_gdbm *store;
	pthread_t freezer;
	pthread_t merger;
	atomic_bool is_stopped;

	pthread_mutex_t lock;
	pthread_cond_t work; /* for the two threads */
	pthread_cond_t done; /* something was done, or could not be */
	size_t frozen; /* overlays that wait */
	struct pace pace; /* in which they come */
	bool was_hurried; /* when the merger last looked */
	bool freeze_is_stuck; /* the last attempt failed */
	bool merge_is_stuck;
	bool merge_is_idle; /* looked, or is looking, since the last file came */
	bool merge_is_under_way; /* looks, or merges, right now */
	bool is_all_wanted; /* one merge of everything */

	struct scrub scrub; /* the merger's */
};

static void wait_for(struct background *background, pthread_cond_t *condition, int64_t milliseconds)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(milliseconds / 1000);
	until.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(condition, &background->lock, &until);
}

static void log_stuck(const char *event, const struct store_gdbm *store, const struct fault *fault)
{
	log_event(LOG_LEVEL_WARNING, event, "directory", store->directory, "error", fault->cause,
		  NULL);
}

/* Making files and many calls at once leave holes in the heap, tens of megabytes of them after long
 * writing; who has a way to give them back to the system does. */
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

/* The first thread. */

static void freeze_one(struct background *background)
{
	struct store_gdbm *store = background->store;
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	pthread_mutex_unlock(&background->lock);
	is_done = rewrite_overlay(store, &background->is_stopped, &fault);
	if (!is_done)
		journal_remove_spares(store->journal);
	pthread_mutex_lock(&background->lock);
	if (is_done) {
		background->frozen--;
		background->merge_is_idle = false;
		pthread_cond_broadcast(&background->work);
	} else if (!background->freeze_is_stuck && !atomic_load(&background->is_stopped)) {
		log_stuck("store_file_not_written", store, &fault);
	}
	background->freeze_is_stuck = !is_done;
	pthread_cond_broadcast(&background->done);
}

static void *freezer_run(void *context)
{
	struct background *background = context;

	setpriority(PRIO_PROCESS, 0, FREEZE_PRIORITY);
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
			wait_for(background, &background->work, RETRY_MILLISECONDS);
		else if (background->frozen == 0)
			pthread_cond_wait(&background->work, &background->lock);
	}
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

/* The second thread: merging. */

/* What was written last becomes a file too. */
static void freeze_rest(struct store_gdbm *store)
{
	pthread_mutex_lock(&store->writer);
	if (!journal_has_failed(store->journal))
		store_gdbm_freeze(store);
	pthread_mutex_unlock(&store->writer);
}

/* How fast files come decides what is due, and whether the memory of an overlay is kept for the next.
 * When no more come, the one that was begun need not stay in memory half full, and what the calls left
 * need not wait for the end of the merge, which may be minutes away. */
static bool look_at_pace(struct background *background)
{
	bool is_hurried, has_calmed;

	pthread_mutex_lock(&background->lock);
	is_hurried = pace_is_hurried(&background->pace);
	has_calmed = background->was_hurried && !is_hurried;
	background->was_hurried = is_hurried;
	pthread_mutex_unlock(&background->lock);
	overlay_memory_keep(background->store->overlay_memory,
			    is_hurried ? background->store->overlay_bytes : 0);
	if (has_calmed) {
		freeze_rest(background->store);
		memory_give_back();
	}
	return is_hurried;
}

/* The files that are due, held; from malloc, or NULL. The view is let go of at once: it would keep
 * overlays in memory that have long become files. */
static struct stack_file **files_take(struct background *background, const struct stack_file *busy,
				      bool is_all_wanted, struct rewrite_files *order)
{
	struct views *views = background->store->views;
	struct stack_file **files = NULL;
	struct pin pin;
	size_t i;

	views_pin(views, &pin);
	order->n = merge_due(pin.view, busy, look_at_pace(background), is_all_wanted);
	order->is_oldest_among = order->n == pin.view->n_files;
	if (order->n > 0) {
		files = malloc(order->n * sizeof *files);
		if (files == NULL)
			abort();
	}
	for (i = 0; i < order->n; i++) {
		files[i] = pin.view->files[i];
		stack_file_hold(files[i]);
	}
	views_unpin(views, &pin);
	order->files = files;
	return files;
}

static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted);

/* A merge of everything takes minutes, in which hundreds of small files may come: these are merged
 * among themselves meanwhile, and so on. Each merge within another is of newer and fewer records,
 * so they are as deep as there are sizes, some ten. */
static void merge_within(void *context, const struct rewrite_files *order)
{
	struct background *background = context;
	bool is_stuck;

	do {
		pthread_mutex_lock(&background->lock);
		is_stuck = background->merge_is_stuck;
		pthread_mutex_unlock(&background->lock);
	} while (!is_stuck && merge_once(background, order->files[0], false));
}

/* False: nothing was due. */
static bool merge_once(struct background *background, const struct stack_file *busy,
		       bool is_all_wanted)
{
	struct rewrite_files order = { .pause = merge_within, .context = background };
	struct stack_file **files = files_take(background, busy, is_all_wanted, &order);
	struct fault fault = FAULT_INITIAL;
	bool is_done = true;
	size_t i;

	if (order.n > 0)
		is_done = rewrite_files(background->store, &order, &background->is_stopped, &fault);
	for (i = 0; i < order.n; i++)
		stack_file_let_go(files[i]);
	free(files);
	if (order.n > 0)
		memory_give_back();
	pthread_mutex_lock(&background->lock);
	if (!is_done && !background->merge_is_stuck && !atomic_load(&background->is_stopped))
		log_stuck("store_files_not_merged", background->store, &fault);
	background->merge_is_stuck = !is_done;
	pthread_mutex_unlock(&background->lock);
	return order.n > 0;
}

/* With the lock held. One merge of everything begins when all overlays are files. */
static bool has_nothing_to_do(const struct background *background)
{
	return background->merge_is_stuck ||
	       (background->merge_is_idle &&
		(!background->is_all_wanted || background->frozen > 0));
}

/* With the lock held: until the slow reader's time, or something else is to be looked at. */
static void merger_wait(struct background *background, bool is_something_left)
{
	int64_t left = background->scrub.at - clock_monotonic();
	const bool was_hurried = pace_is_hurried(&background->pace);

	if (was_hurried && left > PACE_HURRIED)
		left = PACE_HURRIED;
	if (is_something_left && left > COLLECT_MILLISECONDS)
		left = COLLECT_MILLISECONDS;
	if (background->merge_is_stuck && left > RETRY_MILLISECONDS)
		left = RETRY_MILLISECONDS;
	if (left > 0)
		wait_for(background, &background->work, left);
	if (was_hurried)
		background->merge_is_idle = false;
}

static void *merger_run(void *context)
{
	struct background *background = context;
	struct store_gdbm *store = background->store;

	setpriority(PRIO_PROCESS, 0, MERGE_PRIORITY);
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

/* Who waits for them. */

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
	bool is_admitted;

	pthread_mutex_lock(&background->lock);
	/* It may get stuck without telling: then there is nobody to tell. */
	while (background->frozen > FROZEN_MOST && !is_stuck(background))
		wait_for(background, &background->done, ADMIT_MILLISECONDS);
	is_admitted = background->frozen <= FROZEN_MOST;
	pthread_mutex_unlock(&background->lock);
	if (is_admitted)
		return true;
	fault_cause(fault, FAULT_UNAVAILABLE, 0, "files cannot be written in %s",
		    background->store->directory);
	fault->retry_after = RETRY_AFTER_SECONDS;
	return false;
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
	background->pace = PACE_NONE; /* whoever waits is not writing */
	pthread_cond_broadcast(&background->work);
	while (!is_settled(background) && !background->merge_is_stuck && !is_stuck(background))
		wait_for(background, &background->done, ADMIT_MILLISECONDS);
	is_done = is_settled(background);
	pthread_mutex_unlock(&background->lock);
	return is_done;
}

static struct background *background_make(struct store_gdbm *store)
{
	struct background *background = calloc(1, sizeof *background);
	pthread_condattr_t attributes;
	struct pin pin;

	if (background == NULL)
		abort();
	background->store = store;
	views_pin(store->views, &pin);
	background->frozen = pin.view->n_overlays - 1;
	views_unpin(store->views, &pin);
	background->scrub = scrub_start();
	background->pace = PACE_NONE;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&background->lock, NULL);
	pthread_cond_init(&background->work, &attributes);
	pthread_cond_init(&background->done, &attributes);
	pthread_condattr_destroy(&attributes);
	return background;
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
	struct background *opened = background_make(store);
	int error = pthread_create(&opened->freezer, NULL, freezer_run, opened);

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
