/* Entries: the keys and values that journal, overlays and files hold, in transactions. The records
 * of the store's interface are made of them (records.c), and so are their indexes (btree.c).
 *
 * A value that was read lives as long as the transaction's arena. What is put is copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_ENTRIES_H
#define STORE_GDBM_ENTRIES_H

#include "store/gdbm/entry_key.h"

/* *value: data NULL when there is no such entry. */
bool entry_get(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault);
bool entry_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault);
/* The same with a value that lies in the transaction's arena and stays as it is: it is not copied. */
bool entry_put_kept(struct transaction *transaction, enum store_table table, struct slice key,
		    struct slice value, struct fault *fault);
/* Removing an entry that is not there is no fault. */
bool entry_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault);

/* Calls `visit` for each entry that a READ transaction sees, in no particular order, until it
 * returns false and has set the fault. With has_values false no value is read, and data is NULL. */
typedef bool entry_visit(void *context, enum store_table table, struct slice key,
			 struct slice value, struct fault *fault);
bool entries_walk(struct transaction *transaction, bool has_values, entry_visit *visit,
		  void *context, struct fault *fault);

#endif
