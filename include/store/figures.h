/* What a store can say of itself, for the metrics; see store_figures in store/store.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_FIGURES_H
#define STORE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

/* Counts begin when the store is opened. */
struct store_figures {
	uint64_t durable; /* the number of the last transaction that is durable */
	uint64_t journal_segments; /* there are */
	uint64_t journal_bytes; /* written */
	struct histogram_state journal_syncs;
	uint64_t overlays; /* there are, the one being written included */
	uint64_t overlay_bytes;
	uint64_t files; /* of the stack, there are */
	uint64_t files_bytes;
	uint64_t files_records; /* removals included */
	uint64_t files_damaged;
	uint64_t files_written; /* out of overlays */
	uint64_t files_merged; /* how often several became one */
	uint64_t records_written; /* into files, in both ways */
	uint64_t checksum_failures;
	/* Of a database; then those above are zero. */
	bool is_database;
	uint64_t round_trips;
	uint64_t conflicts; /* calls that had to be run again */
	uint64_t connects; /* connections opened */
	uint64_t unknown_outcomes; /* commits: it was not found out whether they happened */
	bool is_synchronous; /* a standby has to confirm commits */
	struct histogram_state commits;
};

#endif
