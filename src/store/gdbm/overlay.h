/* An overlay: recent changes in memory, until a file contains them. Each put and each removal is a
 * version with the number of its transaction; a reader gets the newest version whose number is not
 * above its own.
 *
 * Threads: one writer at a time (turn.h) and any number of readers without a lock. An overlay only
 * grows; a full one is frozen, and a new one begun. Aborts when memory is exhausted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_OVERLAY_H
#define STORE_GDBM_OVERLAY_H

#include "store/gdbm/entry_key.h"

struct overlay;

/* Creates the allocator of overlays, which must outlive them. Initially it keeps no freed memory.
 * Threads: any. */
struct overlay_memory *overlay_memory_open(void);
/* NULL is allowed. */
void overlay_memory_close(struct overlay_memory *memory);
/* Sets how many freed bytes are kept for the next overlay; 0 returns all of them to the system. */
void overlay_memory_keep(struct overlay_memory *memory, size_t most);

/* bytes: the size at which the overlay will be frozen; it determines the width of the table. */
struct overlay *overlay_open(struct overlay_memory *memory, size_t bytes);
/* Reference counting; overlay_open returns one reference. Threads: any. */
void overlay_hold(struct overlay *overlay);
void overlay_release(struct overlay *overlay);

/* Adds a version; a removal if value.data is NULL. number: not below earlier ones. Key and value
 * are copied. */
void overlay_put(struct overlay *overlay, const struct entry_key *key, uint64_t number,
		 struct slice value);

/* Finds the newest version of the key up to this number. False if there is none. *value lives as
 * long as the overlay; its data is NULL for a removal. */
bool overlay_get(const struct overlay *overlay, const struct entry_key *key, uint64_t number,
		 struct slice *value);

/* Returns the size in bytes. */
size_t overlay_size(const struct overlay *overlay);
/* Returns the number of the last put, or 0. For the writer, and for any thread once the overlay is
 * frozen. */
uint64_t overlay_last(const struct overlay *overlay);

/* The newest version of a key up to a number. */
struct overlay_entry {
	struct slice key; /* an entry key */
	uint32_t order; /* entry_key_order */
	struct slice value; /* data NULL for a removal */
};

/* Returns all keys with a version up to the number, in the order of entry_key_compare, from malloc;
 * the caller frees it. The slices live as long as the overlay. */
struct overlay_entry *overlay_sorted(const struct overlay *overlay, uint64_t number, size_t *n);

#endif
