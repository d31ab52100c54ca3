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

/* Returns the file with the lowest id that is not below this one. */
static struct stack_file *file_from(const struct view *view, uint64_t id)
{
	struct stack_file *next = NULL;

	for (size_t i = 0; i < view->n_files; i++) {
		struct stack_file *file = view->files[i];

		if (stack_file_info(file)->id >= id && !stack_file_is_damaged(file) &&
		    (next == NULL || stack_file_info(file)->id < stack_file_info(next)->id))
			next = file;
	}
	return next;
}

static void block_verify(struct scrub *scrub, struct stack_file *file)
{
	uint64_t id = stack_file_info(file)->id;
	struct fault ignored = FAULT_INITIAL;
	bool is_last;

	if (id != scrub->file)
		scrub->block = 0;
	scrub->file = id;
	/* A file that is damaged as a whole has been logged, and is not read again. */
	(void)stack_file_verify_block(file, scrub->block++, &is_last, &ignored);
	if (is_last || stack_file_is_damaged(file)) {
		scrub->file = id + 1;
		scrub->block = 0;
	}
}

void scrub_step(struct scrub *scrub, struct views *views)
{
	struct stack_file *file;
	struct pin pin;

	views_pin(views, &pin);
	file = file_from(pin.view, scrub->file);
	scrub->at = clock_monotonic() + STEP_MILLISECONDS;
	if (file != NULL) {
		block_verify(scrub, file);
	} else {
		scrub->file = 0;
		scrub->at += PAUSE_MILLISECONDS;
	}
	views_unpin(views, &pin);
}
