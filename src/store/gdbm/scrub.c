/* See store/gdbm/scrub.h. Files are verified in the order of their ids, which only rise: a file
 * that is added is verified in the same round, and a file that is removed is skipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/scrub.h"

#include "base/clock.h"

#define STEP_MILLISECONDS 50
#define PAUSE_MILLISECONDS (INT64_C(6) * 3600 * 1000)

struct scrub scrub_start(void)
{
	return (struct scrub){ .at = clock_monotonic() + STEP_MILLISECONDS };
}

void scrub_step(struct scrub *scrub, struct views *views)
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
	scrub->at = clock_monotonic() + STEP_MILLISECONDS;
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
		scrub->at += PAUSE_MILLISECONDS;
	}
	views_unpin(views, &pin);
}
