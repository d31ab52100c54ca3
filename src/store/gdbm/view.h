/* Views: the immutable state that a transaction reads. A view has the overlays, newest first (the
 * first one is still being written), and the stack files, newest first. The current view is
 * replaced as a whole when an overlay is frozen, when a file replaces an overlay, and when a file
 * replaces several files.
 *
 * A reader pins the current view without a lock: it writes the view's address into a free slot and
 * checks that the view is still current. Slots are one cache line each, one for each reader, tried
 * from that of the current processor on. If no slot is free, the pin is counted under a lock. A
 * replaced view is freed when it has no pins. The last view with an overlay or a file releases it;
 * a merged file is removed then.
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
	struct view_slot *slot; /* NULL if the pin is counted */
};

/* Creates the views, and takes over the references to the overlay and the files. */
struct views *views_open(unsigned readers, struct overlay *overlay, struct stack_file **files,
			 size_t n_files);
/* Frees the views. No pin may be left. NULL is allowed. */
void views_close(struct views *views);

void views_pin(struct views *views, struct pin *pin);
/* Returns false if the view has been replaced since it was pinned. */
bool views_is_current(const struct views *views, const struct pin *pin);
void views_unpin(struct views *views, struct pin *pin);

/* Each replacement takes over the reference to the new part; the replaced parts are released when
 * no reader uses them. */
void views_add_overlay(struct views *views, struct overlay *overlay);
/* Replaces the oldest overlay; file is NULL if the overlay had nothing to keep. */
void views_overlay_to_file(struct views *views, struct stack_file *file);
/* Replaces `n` adjacent files of the current view by one, or by none if `file` is NULL. */
void views_merge_files(struct views *views, struct stack_file *const *files, size_t n,
		       struct stack_file *file);

/* Frees replaced views without pins. Returns true if some are still pinned. */
bool views_collect(struct views *views);

#endif
