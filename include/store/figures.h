/* What a store can say of itself, for the metrics; see store_figures in store/store.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_FIGURES_H
#define STORE_FIGURES_H

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
};

#endif
