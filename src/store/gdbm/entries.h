/* Entries: the keys and values that journal, overlays and files hold, read and changed in
 * transactions. The records of the store's interface (records.c) and their indexes (btree.c) are
 * made of entries.
 *
 * A value that was read lives as long as the transaction's arena. Keys are copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_ENTRIES_H
#define STORE_GDBM_ENTRIES_H

#include "store/gdbm/entry_key.h"

struct write_set;

/* Reads an entry; value->data is NULL if there is no such entry. */
bool entry_get(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault);
/* Puts an entry, or removes it if value.data is NULL. The value is not copied, so it must stay
 * unchanged until the transaction ends. */
bool entry_change(struct transaction *transaction, enum store_table table, struct slice key,
		  struct slice value, struct fault *fault);
/* Like entry_change, but copies the value. */
bool entry_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault);
bool entry_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault);

/* Returns whether both transactions have changed the same entry. */
bool write_sets_meet(const struct write_set *one, const struct write_set *other);

/* A walk over all entries that a READ transaction sees, in no particular order. It ends with the
 * transaction, if not before. */
struct entry_walk;

struct walked_entry {
	enum store_table table;
	struct slice key;
	struct slice value; /* data is NULL if the walk reads no values */
};

struct entry_walk *entries_walk(struct transaction *transaction, bool has_values);
/* Reads the next entry, which lives until the next call. Returns false at the end and after a
 * fault; the walk has then ended. */
bool entries_next(struct entry_walk *walk, struct walked_entry *entry, struct fault *fault);

#endif
