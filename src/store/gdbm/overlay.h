/* An overlay: what was written lately, in memory, until a file holds it. It keeps versions: each
 * put and each removal under the number of its transaction, so that a reader finds the newest that
 * is not above the number it may see.
 *
 * Threads: one writer at a time (the store's writer mutex); any number of readers beside it,
 * without a lock: what is reachable is complete and never changes, new versions are put in front.
 * It only grows; when it is full, the store freezes it (nobody writes to it any more) and begins
 * another. Out of memory aborts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_OVERLAY_H
#define STORE_GDBM_OVERLAY_H

#include "store/gdbm/record.h"

struct overlay;

/* Where overlays have their memory from; it outlives them. At first nothing is kept of what they
 * give back. Any thread. */
struct overlay_memory *overlay_memory_open(void);
/* NULL is fine. */
void overlay_memory_close(struct overlay_memory *memory);
/* From now on at most so many bytes are kept for the next overlay; 0: none, and what is kept goes
 * back to the system. */
void overlay_memory_keep(struct overlay_memory *memory, size_t most);

/* bytes: the size at which it will be frozen; only the width of the table follows from it. */
struct overlay *overlay_open(struct overlay_memory *memory, size_t bytes);
/* Whoever opened it holds it once; it is freed when the last holder lets go. Any thread. */
void overlay_hold(struct overlay *overlay);
void overlay_let_go(struct overlay *overlay);

/* number: not below any that was put before. value.data NULL: a removal. All is copied. */
void overlay_put(struct overlay *overlay, const struct record_key *key, uint64_t number,
		 struct slice value);

/* False: the overlay says nothing about this key up to this number. True: *value is what it holds
 * (it lives as long as the overlay), or data NULL for a removal. */
bool overlay_get(const struct overlay *overlay, const struct record_key *key, uint64_t number,
		 struct slice *value);

/* Bytes taken. */
size_t overlay_size(const struct overlay *overlay);
/* The number of the last put (0: none); the writer's to ask, and anybody's when it is frozen. */
uint64_t overlay_last(const struct overlay *overlay);

/* The newest version up to a number of each key that has one. */
struct overlay_entry {
	struct slice key; /* a record key */
	uint32_t order; /* record_key_order */
	struct slice value; /* data NULL: a removal */
};

/* All of them in the order of record_key_compare, from malloc, to be freed by the caller; the
 * slices live as long as the overlay. */
struct overlay_entry *overlay_sorted(const struct overlay *overlay, uint64_t number, size_t *n);

#endif
