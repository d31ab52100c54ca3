/* Several runs of records in the order of entry_key_compare, read as one: for turning files into
 * one file, and for walking over everything that a view shows. Of each key the newest record comes,
 * a removal too; the older ones are passed over.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_MERGE_H
#define STORE_GDBM_MERGE_H

#include "store/gdbm/overlay.h"
#include "store/gdbm/stack_index.h"

struct merge;

struct merge_entry {
	struct slice key; /* an entry key */
	uint32_t order; /* of it */
	bool is_removal;
	uint64_t passed_over; /* bytes of the older records of this key, as stack_entry_bytes */
	size_t run; /* which run it comes from */
	struct slice value; /* of an overlay's entry; others: merge_value */
};

/* Overlays first, newest first, up to a number; then files, newest first. Both stay whose they are
 * and are not let go of before merge_close. */
struct merge *merge_open(struct overlay *const *overlays, size_t n_overlays, uint64_t number,
			 struct stack_file *const *files, size_t n_files);
void merge_close(struct merge *merge);
/* For who reads the keys alone: a damaged index ends the merge, but the file's values, which are
 * found without those keys, are still read. */
void merge_spare_files(struct merge *merge);

/* *is_there false: the end. A fault: a file is damaged (it has been logged and marked). */
bool merge_next(struct merge *merge, struct merge_entry *entry, bool *is_there,
		struct fault *fault);
/* The value of the entry just given, verified; in the arena unless it is an overlay's. data NULL
 * for a removal. */
bool merge_value(struct merge *merge, const struct merge_entry *entry, struct arena *arena,
		 struct slice *value, struct fault *fault);

#endif
