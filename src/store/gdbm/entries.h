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

/* *value: data NULL if there is no such entry. */
bool entry_get(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault);
/* value: it is not copied, so it stays unchanged until the transaction ends; data NULL: the entry
 * is removed, if there is one. */
bool entry_change(struct transaction *transaction, enum store_table table, struct slice key,
		  struct slice value, struct fault *fault);
/* The same with a copy of the value. */
bool entry_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault);
bool entry_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault);

/* Whether two transactions that have changed these have changed the same entry. */
bool write_sets_meet(const struct write_set *one, const struct write_set *other);

/* Calls `visit` for each entry that a READ transaction sees, in no particular order, until it
 * returns false and has set the fault. has_values false: values are not read, and their data is
 * NULL. */
typedef bool entry_visit(void *context, enum store_table table, struct slice key,
			 struct slice value, struct fault *fault);
bool entries_walk(struct transaction *transaction, bool has_values, entry_visit *visit,
		  void *context, struct fault *fault);

#endif
