/* The inner state of the durable driver, for its own sources.
 *
 * Locks: `writer` or `manifest_lock` may be held while one of the background's, the journal's, the
 * views' is taken, each of which is held for moments and never while another is taken.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STORE_GDBM_PARTS_H
#define STORE_GDBM_STORE_GDBM_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/figures.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/journal.h"
#include "store/gdbm/manifest.h"
#include "store/gdbm/store_gdbm.h"
#include "store/gdbm/view.h"

struct background;

struct store_gdbm {
	struct store base;
	struct stack_place place;
	char *directory;
	size_t overlay_bytes;
	struct overlay_memory *overlay_memory;
	int lock_file; /* -1: read-only */
	uint64_t read_only_number; /* what a store that was opened read-only shows */
	struct views *views;
	struct journal *journal; /* NULL: read-only */
	struct background *background; /* NULL: read-only */

	pthread_mutex_t manifest_lock; /* held while the manifest is replaced */
	struct manifest manifest; /* as it is on the disk */
	atomic_bool manifest_is_stuck; /* it cannot be synced for now */

	_Atomic uint64_t files_written; /* these four for the figures alone */
	_Atomic uint64_t files_merged;
	_Atomic uint64_t records_written;
	_Atomic uint64_t checksum_failures;

	pthread_mutex_t writer; /* held from begin to commit of a WRITE transaction */
	struct overlay *active; /* the current view's first */
	uint64_t last; /* number of the last transaction committed */
};

/* Where one transaction keeps what it changes; each key once. */
struct changes {
	struct change *list;
	uint64_t *hashes;
	uint32_t *chain; /* the next in the same bucket + 1, or 0 */
	uint32_t *buckets; /* the first + 1, or 0; twice as many as places */
	size_t n;
	size_t capacity;
};

/* The newest id that a transaction made: it is counted when a record brings it. */
struct counted_id {
	char letter; /* of the kind; 0: none was made */
	struct id account, id;
};

struct gdbm_transaction {
	struct transaction base;
	struct pin pin;
	struct changes changes;
	struct btree_memory memory;
	struct counted_id counted;
};

extern const struct store_driver store_gdbm_driver;

static inline struct store_gdbm *store_gdbm_of(struct store *store)
{
	return (struct store_gdbm *)store;
}

/* store_figures of the driver. */
void store_gdbm_figures(struct store *store, struct store_figures *figures);

/* Goes over to a new overlay, unless the one being written is empty. */
void store_gdbm_freeze(struct store_gdbm *store);

#endif
