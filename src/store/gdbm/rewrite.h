/* The two kinds of background work: writing an overlay to a file, and merging files. Each writes a
 * new file, then the manifest, then replaces the view; replaced files are removed when no reader
 * has them. If the process is killed, the old files remain, and perhaps a new one that no manifest
 * names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_REWRITE_H
#define STORE_GDBM_REWRITE_H

#include <stdatomic.h>

#include "store/gdbm/store_gdbm_parts.h"

/* Writes the oldest frozen overlay of the current view, which must have one, to a file, and drops
 * journal segments that are no longer needed. Threads: one. If it returns false, nothing has
 * changed; either *is_stopped or the fault is set. A failed sync has stopped all writing. */
bool rewrite_overlay(struct store_gdbm *store, const atomic_bool *is_stopped, struct fault *fault);

/* The arguments of a merge. */
struct rewrite_files {
	struct stack_file **files; /* adjacent, newest first; the caller has references */
	size_t n;
	bool is_oldest_among; /* the oldest file of all is included, so removals are dropped */
	/* Called from time to time; it may rewrite other files. */
	void (*pause)(void *context, const struct rewrite_files *order);
	void *context;
};

/* Merges the files. Threads: one; overlays may become files in the meantime. If it returns false,
 * see rewrite_overlay. */
bool rewrite_files(struct store_gdbm *store, const struct rewrite_files *order,
		   const atomic_bool *is_stopped, struct fault *fault);

#endif
