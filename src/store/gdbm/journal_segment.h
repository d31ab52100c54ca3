/* The segments of a journal as files: prepared, begun, truncated, removed.
 *
 * Threads: callers lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_SEGMENT_H
#define STORE_GDBM_JOURNAL_SEGMENT_H

#include <limits.h>

#include "store/gdbm/journal.h"

struct segment {
	int file; /* -1 if there is none */
	uint64_t first; /* first number; 0 while it has the name of a prepared segment */
	size_t size;
	size_t used;
};

#define SEGMENT_NONE ((struct segment){ .file = -1 })

/* First numbers of segments, oldest first. */
struct segment_list {
	uint64_t *first;
	size_t n, capacity;
};

/* Builds the path of the segment with this first number, or of the prepared segment for 0. */
void segment_path(const struct journal_options *options, uint64_t first, char path[PATH_MAX]);

/* Prepares a segment: `size` bytes of zeros, synced. False and errno on failure: the segment is
 * removed; *is_broken as in file_sync. */
bool segment_make(const struct journal_options *options, size_t size, struct segment *segment,
		  bool *is_broken);
/* Prepares a segment by reusing a named one that is no longer needed, with its contents, if it has
 * this size and no reader holds the directory. False and errno on failure: the segment is
 * removed. */
bool segment_reuse(const struct journal_options *options, uint64_t first, size_t size,
		   struct segment *segment, bool *is_broken);
/* Gives a prepared segment its head and its name, durably; `block` (SEGMENT_BLOCK bytes) becomes a
 * copy of its first block. False and errno on failure: it may be called again with the same number
 * unless *is_broken is set. */
bool segment_begin(const struct journal_options *options, struct segment *segment, uint64_t first,
		   char block[], bool *is_broken);
/* Closes and removes the segment. */
void segment_discard(const struct journal_options *options, struct segment *segment);
/* Removes the prepared segment that a killed process left. The journal's thread does this, because
 * it may take as long as reading the journal. */
void segment_remove_prepared(const struct journal_options *options);

/* Takes over what journal_replay found: durably truncates the last segment, or removes it if it is
 * empty. */
bool segments_take_over(const struct journal_options *options, const struct journal_end *end,
			struct segment_list *list, struct fault *fault);
void segments_add(struct segment_list *list, uint64_t first);
/* Takes the oldest segment from the list; returns 0 if the list is empty. */
uint64_t segments_take(struct segment_list *list);
/* Takes the oldest segment if its successor starts at or below base + 1; otherwise returns 0. The
 * successor stays in the list: if a power failure brings back removed or reused segments, they are
 * not read because of it. */
uint64_t segments_take_below(struct segment_list *list, uint64_t base);
/* Removes a named segment that is not open. A failure is logged; the next start tries again. */
void segment_remove(const struct journal_options *options, uint64_t first);

#endif
