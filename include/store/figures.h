/* The figures of a store, for the metrics; see store_figures in store/store.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_FIGURES_H
#define STORE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

/* Counts begin when the store is opened. */
struct store_figures {
	/* disk space: of all files in the directory, or of the database; 0 if it is unknown */
	uint64_t disk_bytes;
	uint64_t durable; /* the number of the last durable transaction */
	uint64_t journal_segments; /* current number */
	uint64_t journal_bytes; /* bytes written */
	struct histogram_state journal_syncs;
	uint64_t overlays; /* current number, including the one being written */
	uint64_t overlay_bytes;
	uint64_t files; /* GDBM files in the stack */
	uint64_t files_bytes;
	uint64_t files_records; /* including removals */
	uint64_t files_damaged;
	uint64_t files_written; /* files written from overlays */
	uint64_t files_merged; /* merges of several files into one */
	uint64_t records_written; /* records written to files by either of these */
	uint64_t checksum_failures;
	int64_t backup_time; /* when the last backup ended, in seconds since 1970; 0: unknown */
	/* The following are for a database; all figures above are zero then. */
	bool is_database;
	uint64_t round_trips;
	uint64_t conflicts; /* calls that had to be run again */
	uint64_t connects; /* connections opened */
	uint64_t unknown_outcomes; /* commits whose outcome could not be found out */
	bool is_synchronous; /* a standby must confirm commits */
	struct histogram_state commits;
};

#endif
