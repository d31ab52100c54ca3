/* The state of the durable driver, for its own sources.
 *
 * Locks: while a thread holds the turn to write (turn.h) or `manifest_lock`, it may take one lock
 * of the background, the journal or the views. Those are held briefly, and no other lock is taken
 * meanwhile. One lock is held longer: the journal's `flushing`, during a sync; the journal's own
 * lock is taken inside it. If a transaction commits while the journal has no space, it takes
 * `flushing` while it has the turn, unless it is one that gives way: then it lends the turn until
 * there is space.
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

/* The time of the last backup (store_gdbm_note_backup). */
#define BACKUP_NAME "backup.mark"

struct store_gdbm {
	struct store base;
	struct stack_place place;
	char *directory;
	size_t overlay_bytes;
	struct overlay_memory *overlay_memory;
	int lock_file; /* -1 if the store is read-only */
	struct views *views;
	struct journal *journal; /* NULL if the store is read-only */
	struct background *background; /* NULL if the store is read-only */

	pthread_mutex_t manifest_lock; /* held while the manifest is replaced */
	struct manifest manifest; /* as on the disk */
	atomic_bool manifest_is_stuck; /* the rename could not be synced yet */

	_Atomic uint64_t files_written; /* these four are for the figures */
	_Atomic uint64_t files_merged;
	_Atomic uint64_t records_written;
	_Atomic uint64_t checksum_failures;

	struct turn turn; /* turn to write; protects the next two members */
	struct overlay *active; /* the newest overlay of the current view */
	/* the last committed transaction; if read-only, the state that the store shows */
	uint64_t last;
};

/* What a transaction has changed; each key once. */
struct write_set {
	struct change *list;
	uint64_t *hashes;
	uint32_t *chain; /* index of the next change in the bucket + 1; 0 at the end */
	/* index of the first change + 1; 0 if empty; twice `capacity` elements */
	uint32_t *buckets;
	size_t n;
	size_t capacity;
};

/* The newest id that a transaction has created. When a record with this id is put, its counter is
 * already written. */
struct counted_id {
	char letter; /* of the kind; 0 if there is none */
	struct id account, id;
};

struct gdbm_transaction {
	struct transaction base;
	struct pin pin;
	struct write_set write_set;
	struct btree_memory memory;
	struct counted_id counted;
	bool has_read;
	int64_t turn_began; /* clock_microseconds, set by the first store_give_way; 0 before */
	bool has_lent; /* has lent the turn at least once */
	/* FAULT_AGAIN, because it has read something in one state and would read the rest in
	 * another, or because another transaction has changed an entry that this one changes. */
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

/* The driver's walks (walk.c). An open transaction keeps the files and overlays that it reads. */
struct store_cursor *store_gdbm_walk(struct transaction *transaction, const struct store_kind *kind,
				     bool has_values);
bool store_gdbm_next(struct store_cursor *cursor, struct store_record *record, struct fault *fault);
void store_gdbm_end_walk(struct store_cursor *cursor);
bool store_gdbm_count(struct transaction *transaction, const struct store_kind *const *kinds,
		      size_t n, uint64_t *counts, struct fault *fault);

/* Begins a new overlay, unless the current one is empty. The caller has the turn to write. */
void store_gdbm_freeze(struct store_gdbm *store);

#endif
