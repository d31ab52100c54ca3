/* Views: what a transaction reads from, one consistent whole that never changes. A view names the
 * overlays, newest first (the first is the one being written), and the files of the stack, newest
 * first. There is one current view; it is replaced as a whole when an overlay is frozen, when a
 * file has taken an overlay's place, and when one file has taken the place of several.
 *
 * A reader pins the current view without a lock: it writes the view's address into a slot that is
 * free (they are as many as readers, one cache line each, and it begins to look at the slot of its
 * processor) and looks whether the view is still current. A view that was replaced is freed when no
 * slot names it; with the last view that names them, overlays are freed and files closed and, when
 * a merge has made them superfluous, removed. Who finds no free slot is counted under the lock
 * instead.
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
	struct view *next; /* in the list of those that were replaced */
};

struct views;
struct view_slot;

struct pin {
	struct view *view;
	struct view_slot *slot; /* NULL: counted */
};

/* Takes over the holds on the overlay and on the files. */
struct views *views_open(unsigned readers, struct overlay *overlay, struct stack_file **files,
			 size_t n_files);
/* No pin may be left. NULL is fine. */
void views_close(struct views *views);

void views_pin(struct views *views, struct pin *pin);
/* False when another view has come since. */
bool views_is_current(const struct views *views, const struct pin *pin);
void views_unpin(struct views *views, struct pin *pin);

/* The three replacements; each takes over the hold on what comes, and lets go of what leaves as
 * soon as nobody reads it. */
void views_add_overlay(struct views *views, struct overlay *overlay);
/* file NULL: the overlay, the oldest, had nothing to keep. */
void views_overlay_to_file(struct views *views, struct stack_file *file);
/* The `n` files, which stand side by side in the current view, become one (NULL: none). */
void views_merge_files(struct views *views, struct stack_file *const *files, size_t n,
		       struct stack_file *file);

/* Frees what nobody reads any more; true when something is left to be freed later. */
bool views_collect(struct views *views);

#endif
