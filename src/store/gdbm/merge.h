/* Merges several runs of entries, each in the order of entry_key_compare, into one stream. Used to
 * merge files, and to walk over everything that a view shows. Each key comes once, with its newest
 * entry, which may be a removal; older entries are skipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_MERGE_H
#define STORE_GDBM_MERGE_H

#include "store/gdbm/overlay.h"
#include "store/gdbm/stack_index.h"

struct merge;

struct merge_entry {
	struct slice key; /* entry_key_order of the key */
	uint32_t order; /* of the key */
	bool is_removal;
	uint64_t skipped_bytes; /* bytes of the skipped entries, as stack_entry_bytes */
	size_t run; /* index of the run it comes from */
	struct slice value; /* if the run is an overlay; otherwise use merge_value */
};

/* Opens a merge of the overlays up to a transaction number, followed by the files, both newest
 * first. The caller keeps its references until merge_close. */
struct merge *merge_open(struct overlay *const *overlays, size_t n_overlays, uint64_t number,
			 struct stack_file *const *files, size_t n_files);
void merge_close(struct merge *merge);
/* For merges that read only keys: a damaged index then ends the merge without marking the file as
 * damaged, because its values can be read without the index. */
void merge_keys_only(struct merge *merge);

/* Reads the next entry; *is_there is false at the end. A fault means that a file is damaged, which
 * has been logged and marked. */
bool merge_next(struct merge *merge, struct merge_entry *entry, bool *is_there,
		struct fault *fault);
/* Returns the verified value of the last entry, in the arena unless it belongs to an overlay.
 * value->data is NULL for a removal. */
bool merge_value(struct merge *merge, const struct merge_entry *entry, struct arena *arena,
		 struct slice *value, struct fault *fault);

#endif
