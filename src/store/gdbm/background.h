/* The background work of the durable driver: two threads of low priority.
 *
 * The freezer writes the oldest frozen overlay to a stack file; it never waits for the merger. The
 * merger merges a file with all newer ones when these have twice as many entries (ten times as many
 * while files are added fast), or all files when 30 % of the bytes are superseded. It also freezes
 * the current overlay when no more files are added, and verifies all files slowly. It yields to
 * calls while there are few files; while there are many, writes wait (store/gdbm/throttle.h).
 *
 * On a full disk the unfinished file is removed and the work is tried again, a merge at growing
 * intervals and smaller ones meanwhile. A failed sync stops all writing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BACKGROUND_H
#define STORE_GDBM_BACKGROUND_H

#include "store/gdbm/store_gdbm_parts.h"

/* Starts the threads. The store has its views, its manifest and its journal. */
bool background_open(struct store_gdbm *store, struct background **background, struct fault *fault);
/* Ends the threads and removes unfinished files. NULL is allowed. */
void background_close(struct background *background);

/* Called when an overlay was frozen and added to the view. */
void background_frozen(struct background *background);

/* Waits while too many frozen overlays are left to write, and briefly when there are too many
 * files. FAULT_UNAVAILABLE: the freezer cannot continue. The caller does not hold
 * the turn to write. */
bool background_admit(struct background *background, struct fault *fault);
bool background_can_write(struct background *background);

/* Waits until no frozen overlay is left and no merge is due; is_all_merged: until one file is left.
 * False: the threads cannot continue. */
bool background_settle(struct background *background, bool is_all_merged);

#endif
