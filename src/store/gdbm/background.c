/* The freezer thread, and the functions that wait for either thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/background_parts.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/priority.h"
#include "store/gdbm/rewrite.h"

/* Frozen overlays that may wait before writes do. */
#define FROZEN_MOST 1
#define RETRY_AFTER_SECONDS 5
#define ADMIT_MILLISECONDS 50
#define FREEZE_PRIORITY 5

void background_note_files(struct background *background)
{
	struct pin pin;

	views_pin(background->store->views, &pin);
	atomic_store(&background->files, pin.view->n_files);
	views_unpin(background->store->views, &pin);
}

void background_log_stuck(const struct background *background, const char *event,
			  const struct fault *fault)
{
	log_event(LOG_LEVEL_WARNING, event, "directory", background->store->directory, "error",
		  fault->cause, NULL);
}

static void freeze_one(struct background *background)
{
	struct store_gdbm *store = background->store;
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	pthread_mutex_unlock(&background->lock);
	is_done = rewrite_overlay(store, &background->is_stopped, &fault);
	if (is_done)
		background_note_files(background);
	else
		journal_remove_spares(store->journal);
	pthread_mutex_lock(&background->lock);
	if (is_done) {
		background->frozen--;
		background->merge_is_idle = false;
		pthread_cond_broadcast(&background->work);
	} else if (!background->freeze_is_stuck && !atomic_load(&background->is_stopped)) {
		background_log_stuck(background, "store_file_not_written", &fault);
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
			clock_wait(&background->work, &background->lock,
				   BACKGROUND_RETRY_MILLISECONDS);
		else if (background->frozen == 0)
			pthread_cond_wait(&background->work, &background->lock);
	}
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

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
	background->pace = PACE_NONE; /* the caller does not write while it waits */
	pthread_cond_broadcast(&background->work);
	while (!is_settled(background) && !background->merge_is_stuck && !is_stuck(background))
		clock_wait(&background->done, &background->lock, ADMIT_MILLISECONDS);
	is_done = is_settled(background);
	pthread_mutex_unlock(&background->lock);
	return is_done;
}

static struct background *background_make(struct store_gdbm *store)
{
	struct background *background = memory_check(calloc(1, sizeof *background));
	struct pin pin;

	background->store = store;
	views_pin(store->views, &pin);
	background->frozen = pin.view->n_overlays - 1;
	background->files = pin.view->n_files;
	views_unpin(store->views, &pin);
	background->scrub = scrub_start();
	background->pace = PACE_NONE;
	background->limit = MERGE_NO_LIMIT;
	pthread_mutex_init(&background->lock, NULL);
	clock_condition_init(&background->work);
	clock_condition_init(&background->done);
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
