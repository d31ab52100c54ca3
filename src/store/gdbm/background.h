/* What goes on behind the durable store: two threads of low priority. One turns the oldest frozen
 * overlay into a file of the stack, and never waits for the other. The other merges files: a file
 * with all newer ones as soon as these together hold twice as many records as it (ten times as many
 * while files hurry), or everything when three tenths of all bytes are superfluous; lets the
 * overlay that is written to become a file too when no more come; and reads, slowly, all files
 * against their checksums. While it merges it steps aside for calls, and where files come faster
 * than it merges them writes wait (store/gdbm/throttle.h).
 *
 * A full disk stops neither for good: what was begun is removed, the overlay or the files stay as
 * they are, and it is tried again; a merge ever less often, and smaller ones meanwhile. A failed
 * sync is a fail stop for the whole store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BACKGROUND_H
#define STORE_GDBM_BACKGROUND_H

#include "store/gdbm/store_gdbm_parts.h"

/* The store has its views, its manifest and its journal. */
bool background_open(struct store_gdbm *store, struct background **background, struct fault *fault);
/* Ends what is being written, without finishing it. NULL is fine. */
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
