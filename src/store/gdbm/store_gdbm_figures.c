/* The figures of the durable store. They are read one after the other while the store is in use, so
 * they need not belong to the same moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/store_gdbm_parts.h"

static void count_view(const struct view *view, struct store_figures *figures)
{
	figures->overlays = view->n_overlays;
	for (size_t i = 0; i < view->n_overlays; i++)
		figures->overlay_bytes += overlay_size(view->overlays[i]);
	figures->files = view->n_files;
	for (size_t i = 0; i < view->n_files; i++) {
		const struct stack_info *info = stack_file_info(view->files[i]);

		figures->files_bytes += info->gdbm_size + info->index_size;
		figures->files_records += info->entries;
		figures->files_damaged += stack_file_is_not_whole(view->files[i]) ? 1 : 0;
	}
}

void store_gdbm_figures(struct store *base, struct store_figures *figures)
{
	struct store_gdbm *store = store_gdbm_of(base);
	struct pin pin;

	if (store->journal != NULL)
		journal_figures(store->journal, figures);
	else
		figures->durable = store->read_only_number;
	views_pin(store->views, &pin);
	count_view(pin.view, figures);
	views_unpin(store->views, &pin);
	figures->files_written = atomic_load(&store->files_written);
	figures->files_merged = atomic_load(&store->files_merged);
	figures->records_written = atomic_load(&store->records_written);
	figures->checksum_failures = atomic_load(&store->checksum_failures);
}
