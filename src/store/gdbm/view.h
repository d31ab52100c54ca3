/* Views: the immutable state that a transaction reads. A view has the overlays, newest first (the
 * first one is being written), and the files of the stack, newest first. The current view is
 * replaced as a whole when an overlay is frozen, when a file replaces an overlay, and when one file
 * replaces several.
 *
 * A reader pins the current view without a lock: it writes the view's address into a free slot (one
 * cache line each, as many as readers, beginning with that of its processor) and checks that the
 * view is still current. A replaced view is freed when no slot has it. With the last view that has
 * them, overlays are freed, and files closed and, after a merge, removed. A reader that finds no
 * free slot is counted under the lock.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_VIEW_H
#define STORE_GDBM_VIEW_H

#include "store/gdbm/overlay.h"
#include "store/gdbm/stack.h"

struct view {
	struct overlay **overlays;
	size_t n_overlays;
	struct stack_file **files;
	size_t n_files;
	unsigned counted; /* pins without a slot */
	struct view *next; /* in the list of replaced views */
};

struct views;
struct view_slot;

struct pin {
	struct view *view;
	struct view_slot *slot; /* NULL: counted */
};

/* Takes over the references to the overlay and the files. */
struct views *views_open(unsigned readers, struct overlay *overlay, struct stack_file **files,
			 size_t n_files);
/* No pin may be left. NULL is fine. */
void views_close(struct views *views);

void views_pin(struct views *views, struct pin *pin);
/* False when it was replaced since. */
bool views_is_current(const struct views *views, const struct pin *pin);
void views_unpin(struct views *views, struct pin *pin);

/* The three replacements. Each takes over the reference to the new part, and releases the replaced
 * ones when no reader has them. */
void views_add_overlay(struct views *views, struct overlay *overlay);
/* Replaces the oldest overlay. file NULL: it had nothing to keep. */
void views_overlay_to_file(struct views *views, struct stack_file *file);
/* Replaces `n` adjacent files of the current view by one (NULL: none). */
void views_merge_files(struct views *views, struct stack_file *const *files, size_t n,
		       struct stack_file *file);

/* Frees replaced views without readers; true when some have readers still. */
bool views_collect(struct views *views);

#endif
