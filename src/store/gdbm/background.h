/* The background work of the durable driver: two threads of low priority. One writes the oldest
 * frozen overlay to a file of the stack, and never waits for the other. The other one merges a file
 * with all newer ones when these have twice as many entries (ten times as many while files come
 * fast), or all files when three tenths of the bytes are superfluous; freezes the current overlay
 * when no more files come; and verifies all files slowly. While it merges it yields to calls; where
 * files come faster than it merges them, writes wait (store/gdbm/throttle.h).
 *
 * A full disk stops neither: the unfinished file is removed and the work is repeated, a merge ever
 * less often, and smaller ones meanwhile. A failed sync stops all writing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BACKGROUND_H
#define STORE_GDBM_BACKGROUND_H

#include "store/gdbm/store_gdbm_parts.h"

/* The store has its views, its manifest and its journal. */
bool background_open(struct store_gdbm *store, struct background **background, struct fault *fault);
/* Abandons the unfinished files. NULL is fine. */
void background_close(struct background *background);

/* One more frozen overlay is in the view. */
void background_frozen(struct background *background);

/* Waits while too many frozen overlays wait for the first thread, and for a moment when there are
 * too many files; FAULT_UNAVAILABLE (retry_after 5) when the first thread cannot get on. Never
 * called with the writer mutex held. */
bool background_admit(struct background *background, struct fault *fault);
bool background_can_write(struct background *background);

/* Waits until no frozen overlay is left and no merge is due; merges everything into one file before
 * if asked to. False when it cannot get on. */
bool background_settle(struct background *background, bool is_all_merged);

#endif
