/* The two pieces of work behind the store: an overlay becomes a file, and files become one. Each
 * writes a new file, then the manifest, then replaces the view; what was is removed after that,
 * when nobody reads it any more. So a process that ends in the middle leaves what was, and a file
 * that no manifest names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_REWRITE_H
#define STORE_GDBM_REWRITE_H

#include <stdatomic.h>

#include "store/gdbm/store_gdbm_parts.h"

/* The oldest frozen overlay of the current view, which has one, becomes a file; the journal is
 * dropped as far as it is not needed any more. Only one thread does this. False: nothing has
 * changed (*is_stopped was set, or a fault says why; a sync that failed has stopped the store). */
bool rewrite_overlay(struct store_gdbm *store, const atomic_bool *is_stopped, struct fault *fault);

/* What is to become one file, and what is done beside it. */
struct rewrite_files {
	struct stack_file *const *files; /* side by side, newest first; the caller holds them */
	size_t n;
	bool is_oldest_among; /* of all there are: removals are dropped then */
	/* Called now and then, since the whole takes long; it may rewrite other files. */
	void (*pause)(void *context, const struct rewrite_files *order);
	void *context;
};

/* Only one thread does this; overlays may become files meanwhile. False: as above. */
bool rewrite_files(struct store_gdbm *store, const struct rewrite_files *order,
		   const atomic_bool *is_stopped, struct fault *fault);

#endif
