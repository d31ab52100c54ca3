/* The state of the durable driver, for its own sources.
 *
 * Locks: while the turn to write (turn.h) or `manifest_lock` is held, one lock of the background,
 * the journal or the views may be taken. These are held briefly, and no other lock is taken
 * meanwhile. One is held for long: the journal's `flushing`, over a sync, inside of which its own
 * lock is taken. A transaction that commits while the journal has no room takes it in its turn,
 * unless it gives way: then it lends the turn until there is room.
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
#include "store/gdbm/turn.h"
#include "store/gdbm/view.h"

struct background;

struct store_gdbm {
	struct store base;
	struct stack_place place;
	char *directory;
	size_t overlay_bytes;
	struct overlay_memory *overlay_memory;
	int lock_file; /* -1: read-only */
	struct views *views;
	struct journal *journal; /* NULL: read-only */
	struct background *background; /* NULL: read-only */

	pthread_mutex_t manifest_lock; /* held while the manifest is replaced */
	struct manifest manifest; /* as on the disk */
	atomic_bool manifest_is_stuck; /* its name could not be synced yet */

	_Atomic uint64_t files_written; /* these four are for the figures */
	_Atomic uint64_t files_merged;
	_Atomic uint64_t records_written;
	_Atomic uint64_t checksum_failures;

	struct turn turn; /* to write; it protects these two */
	struct overlay *active; /* the newest of the current view */
	uint64_t last; /* the last committed transaction; read-only: what the store shows */
};

/* What a transaction has changed; each key once. */
struct write_set {
	struct change *list;
	uint64_t *hashes;
	uint32_t *chain; /* index of the next change in the bucket + 1; 0: none */
	uint32_t *buckets; /* index of the first change + 1; 0: none; twice `capacity` */
	size_t n;
	size_t capacity;
};

/* The newest id made by a transaction: its counter is already written when a record is put with
 * it. */
struct counted_id {
	char letter; /* of the kind; 0: none */
	struct id account, id;
};

struct gdbm_transaction {
	struct transaction base;
	struct pin pin;
	struct write_set write_set;
	struct btree_memory memory;
	struct counted_id counted;
	bool has_read;
	int64_t turn_began; /* clock_microseconds, from the first store_give_way on; 0: none came */
	bool has_lent; /* the turn, once at least */
	/* It has read in one state what it would go on to read in another one, or another
	 * transaction has changed what this one changes: FAULT_AGAIN. */
	bool is_outdone;
};

extern const struct store_driver store_gdbm_driver;

static inline struct store_gdbm *store_gdbm_of(struct store *store)
{
	return (struct store_gdbm *)store;
}

static inline struct gdbm_transaction *gdbm_transaction_of(struct transaction *transaction)
{
	return (struct gdbm_transaction *)transaction;
}

/* Begins a new overlay, unless the current one is empty. Called in a turn to write. */
void store_gdbm_freeze(struct store_gdbm *store);

#endif
