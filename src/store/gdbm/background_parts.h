/* The state of the background threads, shared by background.c and merger.c only.
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
	bool was_hurried; /* and the overlay filled then is not frozen yet */
};

/* Reads the number of files from the view. Called without the lock. */
void background_note_files(struct background *background);
/* Logs a warning about work that has failed and will be tried again. */
void background_log_stuck(const struct background *background, const char *event,
			  const struct fault *fault);

/* The merger thread; context: the struct background. */
void *merger_run(void *context);

#endif
