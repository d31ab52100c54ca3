/* See store/gdbm/merge.h. There are few runs, so a linear search finds the least first key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/merge.h"

#include <stdlib.h>

#include "base/memory.h"

struct run {
	/* Either the rest of a sorted overlay, or a cursor in the index of a file. */
	struct overlay_entry *entries;
	size_t n;
	size_t at;
	struct stack_file *file;
	struct index_cursor cursor;
	uint64_t ahead; /* the end of the read-ahead */

	struct index_entry current;
	struct slice value; /* value of the current entry, if the run is an overlay */
	bool is_there; /* false at the end */
};

struct merge {
	bool is_started;
	bool reads_keys_only; /* see merge_keys_only */
	size_t n;
	struct run runs[];
};

static bool run_next(const struct merge *merge, struct run *run, struct fault *fault)
{
	const struct overlay_entry *from;

	if (run->file != NULL) {
		if (index_cursor_next(&run->cursor, &run->current, &run->is_there, fault))
			return true;
		if (!merge->reads_keys_only)
			stack_file_damage(run->file, "the index");
		return false;
	}
	run->is_there = run->at < run->n;
	if (!run->is_there)
		return true;
	from = &run->entries[run->at++];
	run->current = (struct index_entry){ .key = from->key,
					     .order = from->order,
					     .value_size = (uint32_t)from->value.size,
					     .is_removal = from->value.data == NULL };
	run->value = from->value;
	return true;
}

struct merge *merge_open(struct overlay *const *overlays, size_t n_overlays, uint64_t number,
			 struct stack_file *const *files, size_t n_files)
{
	size_t n = n_overlays + n_files;
	struct merge *merge = memory_check(calloc(1, sizeof *merge + n * sizeof *merge->runs));

	merge->n = n;
	for (size_t i = 0; i < n_overlays; i++)
		merge->runs[i].entries = overlay_sorted(overlays[i], number, &merge->runs[i].n);
	for (size_t i = 0; i < n_files; i++) {
		merge->runs[n_overlays + i].file = files[i];
		merge->runs[n_overlays + i].cursor = index_cursor_start(stack_file_index(files[i]));
	}
	return merge;
}

void merge_keys_only(struct merge *merge)
{
	merge->reads_keys_only = true;
}

void merge_close(struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++)
		free(merge->runs[i].entries);
	free(merge);
}

static int compare(const struct index_entry *a, const struct index_entry *b)
{
	return entry_key_compare(a->order, a->key, b->order, b->key);
}

bool merge_next(struct merge *merge, struct merge_entry *entry, bool *is_there, struct fault *fault)
{
	const struct run *least = NULL;
	struct index_entry first;

	for (size_t i = 0; !merge->is_started && i < merge->n; i++)
		if (!run_next(merge, &merge->runs[i], fault))
			return false;
	merge->is_started = true;
	for (size_t i = 0; i < merge->n; i++)
		if (merge->runs[i].is_there &&
		    (least == NULL || compare(&merge->runs[i].current, &least->current) < 0))
			least = &merge->runs[i];
	*is_there = least != NULL;
	if (least == NULL)
		return true;
	first = least->current;
	*entry = (struct merge_entry){ .key = first.key,
				       .order = first.order,
				       .is_removal = first.is_removal,
				       .run = (size_t)(least - merge->runs),
				       .value = least->value };
	for (size_t i = entry->run; i < merge->n; i++) {
		struct run *run = &merge->runs[i];

		if (!run->is_there || compare(&run->current, &first) != 0)
			continue;
		if (i > entry->run)
			entry->skipped_bytes += stack_entry_bytes(run->current.key.size,
								  run->current.value_size);
		if (!run_next(merge, run, fault))
			return false;
	}
	return true;
}

bool merge_value(struct merge *merge, const struct merge_entry *entry, struct arena *arena,
		 struct slice *value, struct fault *fault)
{
	struct run *run = &merge->runs[entry->run];
	bool is_there;

	*value = entry->value;
	if (run->file == NULL || entry->is_removal)
		return true;
	stack_file_read_ahead(run->file, entry->order, &run->ahead);
	if (!stack_file_get(run->file, entry->key, arena, value, &is_there, fault))
		return false;
	if (is_there && value->data != NULL)
		return true;
	stack_file_damage(run->file, "a record in the index is missing in the GDBM file");
	return fault_cause(fault, FAULT_DAMAGED, 0, "a record is missing in stack file %llu",
			   (unsigned long long)stack_file_info(run->file)->id);
}
