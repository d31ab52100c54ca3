/* Background work of the durable driver: two threads of low priority.
 *
 * The freezer writes the oldest frozen overlay to a stack file; it never waits for the merger. The
 * merger merges a file with all newer ones when the newer ones have twice as many entries (ten
 * times as many while files are added fast), or all files when 30 % of the bytes are superseded. It
 * also freezes the current overlay when no more files are added, and slowly verifies all files.
 * While there are few files, it yields to calls; while there are many, writes wait
 * (store/gdbm/throttle.h).
 *
 * When the disk is full, the unfinished file is removed and the work is retried later; merges are
 * retried at growing intervals, and smaller merges run in the meantime. A failed sync stops all
 * writing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BACKGROUND_H
#define STORE_GDBM_BACKGROUND_H

#include "store/gdbm/store_gdbm_parts.h"

/* Starts the threads. The store must already have its views, its manifest and its journal. */
bool background_open(struct store_gdbm *store, struct background **background, struct fault *fault);
/* Ends the threads and removes unfinished files. NULL is allowed. */
void background_close(struct background *background);

/* Called when an overlay has been frozen and added to the view. */
void background_frozen(struct background *background);

/* Waits while too many frozen overlays are left to write, and briefly while there are too many
 * files. FAULT_UNAVAILABLE if the freezer cannot continue. The caller must not hold the turn to
 * write. */
bool background_admit(struct background *background, struct fault *fault);
bool background_can_write(struct background *background);

/* Waits until no frozen overlay is left and no merge is due, or, with is_all_merged, until one file
 * is left. Returns false if the threads cannot continue. */
bool background_settle(struct background *background, bool is_all_merged);

#endif
