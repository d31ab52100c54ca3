/* What goes on behind the store, from inside: what background.c and merger.c share. Nobody else
 * includes this.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BACKGROUND_PARTS_H
#define STORE_GDBM_BACKGROUND_PARTS_H

#include "store/gdbm/background.h"
#include "store/gdbm/merge_due.h"
#include "store/gdbm/scrub.h"
#include "store/gdbm/throttle.h"

#define BACKGROUND_RETRY_MILLISECONDS 500

struct background {
	struct store_gdbm *store;
	pthread_t freezer;
	pthread_t merger;
	atomic_bool is_stopped;
	_Atomic size_t files; /* in the view */

	pthread_mutex_t lock;
	pthread_cond_t work; /* for the two threads */
	pthread_cond_t done; /* something was done, or could not be */
	size_t frozen; /* overlays that wait */
	struct pace pace; /* in which they come */
	bool freeze_is_stuck; /* the last attempt failed */
	bool merge_is_stuck;
	bool merge_is_idle; /* looked, or is looking, since the last file came */
	bool merge_is_under_way; /* looks, or merges, right now */
	bool is_all_wanted; /* one merge of everything */

	struct scrub scrub; /* the merger's, as is what follows */
	struct throttle throttle;
	struct merge_limit limit;
	bool was_hurried; /* and what was left then has not become a file since */
};

/* How many files there are has changed. Without the lock. */
void background_note_files(struct background *background);
/* Something could not be done, and will be tried again: a warning. */
void background_log_stuck(const struct background *background, const char *event,
			  const struct fault *fault);

/* The second thread; context: the struct background. */
void *merger_run(void *context);

#endif
