/* The segments of a journal as files: made ahead, begun, given up, cut, removed. Used by the
 * journal alone; nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_SEGMENT_H
#define STORE_GDBM_JOURNAL_SEGMENT_H

#include "store/gdbm/journal.h"

struct segment {
	int file; /* -1: none */
	bool is_named; /* it bears its number, and no longer the name of one made ahead */
	uint64_t first; /* when it is named */
	size_t size;
	size_t used;
};

#define SEGMENT_NONE ((struct segment){ .file = -1 })

/* First numbers of segments, oldest first. */
struct segment_list {
	uint64_t *first;
	size_t n;
};

/* The path of a named segment, or of the one made ahead. */
void segment_path(const struct journal_options *options, const struct segment *segment,
		  char path[]);

/* One ahead: `size` bytes of zeros, synced. False and errno: nothing is left behind; *is_broken as
 * in file_sync. */
bool segment_make(const struct journal_options *options, size_t size, struct segment *segment,
		  bool *is_broken);
/* The same of a named segment that nobody needs, with what is in it, if its size is right and
 * nobody reads the directory. False and errno: it is removed. */
bool segment_reuse(const struct journal_options *options, uint64_t first, size_t size,
		   struct segment *segment, bool *is_broken);
/* Gives one that was made its head and its name, all on disk; `block` is its first block then, of
 * SEGMENT_BLOCK bytes. False and errno: may be called again with the same number unless *is_broken
 * was set. */
bool segment_begin(const struct journal_options *options, struct segment *segment, uint64_t first,
		   char block[], bool *is_broken);
/* Closes and removes. */
void segment_discard(const struct journal_options *options, struct segment *segment);
/* Removes the segment ahead that a process left which was killed: that may be large, and take as
 * long as reading the journal. */
void segment_forget(const struct journal_options *options);

/* Takes over what journal_replay found: the tail of the last segment is cut, or the whole segment
 * removed when nothing was written into it, and that is on disk. */
bool segments_take_over(const struct journal_options *options, const struct journal_end *end,
			struct segment_list *list, struct fault *fault);
void segments_add(struct segment_list *list, uint64_t first);
/* Takes the oldest segment off the list; 0 if there is none. */
uint64_t segments_take(struct segment_list *list);
/* The same if its successor starts at or below base + 1. That one stays: whatever a power cut
 * brings back of those that are removed or reused, its successor starts at or below base + 1 too,
 * and it is not looked at. */
uint64_t segments_take_below(struct segment_list *list, uint64_t base);
/* A named one that is not open; what fails is logged, and tried again at the next start. */
void segment_remove(const struct journal_options *options, uint64_t first);

#endif
