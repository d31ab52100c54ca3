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
/* Everything is merged when more than this share of all bytes is superfluous. */
#define SUPERFLUOUS_PERCENT 30
/* A file is merged with all newer ones when these hold so many times its records. With 1 (a tower of
 * twos) a record of a million is rewritten nine times and there are some four files; with 2 (threes)
 * six times, and some five files, each of which costs a reader one look into a filter. While files
 * come one upon the other, writing is what the disk and the processor are wanted for: then with 10
 * (elevens), which is two or three times and up to twenty files, until there is time again. */
#define MERGE_RATIO 2
#define MERGE_RATIO_HURRIED 10
/* Two files that came within so long of each other, the last of them not longer ago. */
#define HURRIED_MILLISECONDS 5000
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
	int64_t frozen_at[2]; /* when the last one came, and the one before */
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

/* Making files leaves holes in the heap, tens of megabytes of them after long writing; who has a way
 * to give them back to the system does. */
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

/* How many of the newest files are to become one now; 0: none. What a damaged file hides behind
 * itself cannot be merged, nor can what is newer be merged with it; the same holds of `busy` and
 * what is older, which is being merged already, unless it is NULL. */
static size_t files_due(const struct view *view, const struct stack_file *busy, uint64_t ratio,
			bool is_all_wanted)
{
	uint64_t newer = 0, bytes = 0, superfluous = 0;
	size_t n = 0, due = 0, i;

	while (n < view->n_files && view->files[n] != busy &&
	       !stack_file_is_damaged(view->files[n]))
		n++;
	for (i = 0; i < n; i++) {
		const struct stack_info *info = stack_file_info(view->files[i]);

		if (i > 0 && newer >= ratio * info->records)
			due = i + 1;
		newer += info->records;
		bytes += info->bytes;
		superfluous += info->superseded + info->removals * stack_record_bytes(0, 0);
	}
	if (n == 0 || n < view->n_files)
		return due;
	if (100 * superfluous > SUPERFLUOUS_PERCENT * bytes)
		return n;
	if (is_all_wanted && (n > 1 || stack_file_info(view->files[0])->removals > 0))
		return n;
	return due;
}

/* With the lock held. */
static bool is_hurried(const struct background *background)
{
	return clock_monotonic() - background->frozen_at[0] < HURRIED_MILLISECONDS &&
	       background->frozen_at[0] - background->frozen_at[1] < HURRIED_MILLISECONDS;
}

/* How fast files come decides what is due, and whether the memory of an overlay is kept for the next.
 */
static uint64_t set_pace(struct background *background)
{
	bool was_hurried;

	pthread_mutex_lock(&background->lock);
	was_hurried = is_hurried(background);
	pthread_mutex_unlock(&background->lock);
	overlay_memory_keep(background->store->overlay_memory,
			    was_hurried ? background->store->overlay_bytes : 0);
	return was_hurried ? MERGE_RATIO_HURRIED : MERGE_RATIO;
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
	order->n = files_due(pin.view, busy, set_pace(background), is_all_wanted);
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

/* With the lock held: until the slow reader's time, or something else is to be looked at. */
static void merger_wait(struct background *background, bool is_something_left)
{
	int64_t left = background->scrub.at - clock_monotonic();
	const bool was_hurried = is_hurried(background);

	if (was_hurried && left > HURRIED_MILLISECONDS)
		left = HURRIED_MILLISECONDS;

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
		if (!atomic_load(&background->is_stopped) &&
		    (background->merge_is_stuck ||
		     (background->merge_is_idle && !background->is_all_wanted)))
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
	background->frozen_at[1] = background->frozen_at[0];
	background->frozen_at[0] = clock_monotonic();
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
	background->frozen_at[1] = -HURRIED_MILLISECONDS; /* whoever waits is not writing */
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
