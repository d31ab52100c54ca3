/* Implements the records of the store's interface as entries, with indexes for pages and names.
 * These are functions of the driver.
 *
 * A record's entry is in the table STORE_RECORD; its key is the kind's letter, account, id. For a
 * kind with STORE_NAME_ANYWHERE the table is STORE_NAMED and the key is the kind's letter, name;
 * such a name may be a secret and is never shown in logs and faults. A head before the value has
 * the other members of the record. Each account and kind has up to four indexes, which are trees
 * (btree.h):
 *
 *    BY_NAME    name -> id                          kinds with STORE_NAME_IN_ACCOUNT
 *    BY_ID      [switch] id -> name                 kinds with pages of the account
 *    BY_PARENT  parent [switch] id -> name          kinds with a parent
 *    BY_END     end id                              kinds with ends, records that have one
 *
 * BY_ID and BY_PARENT contain names only for kinds with STORE_NAME_ANYWHERE. An entry of the table
 * STORE_COUNTER has the number and time of the newest id of an account and kind.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_RECORDS_H
#define STORE_GDBM_RECORDS_H

#include "store/gdbm/btree.h"
#include "store/gdbm/entry_key.h"

bool records_get(struct transaction *transaction, const struct store_kind *kind,
		 const struct id *id, enum store_reading reading, struct store_record *record,
		 struct fault *fault);
bool records_get_named(struct transaction *transaction, const struct store_kind *kind,
		       struct slice name, enum store_reading reading, struct store_record *record,
		       struct fault *fault);
bool records_page(struct transaction *transaction, const struct store_kind *kind,
		  struct store_page *page, struct fault *fault);
bool records_have_children(struct transaction *transaction, const struct store_kind *kind,
			   const struct id *parent, bool *have_children, struct fault *fault);
bool records_new_id(struct transaction *transaction, const struct store_kind *kind,
		    const struct clock *clock, int64_t *now, struct id *id, struct fault *fault);
bool records_put(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record, const struct store_record *former,
		 struct fault *fault);
bool records_remove(struct transaction *transaction, const struct store_kind *kind,
		    const struct store_record *record, struct fault *fault);

/* The table of a kind's records. */
enum store_table records_table(const struct store_kind *kind);
/* Sets the members that the key of an entry in that table contains: account and id, or the name.
 * False if it is not a key of a record of this kind. */
bool record_of_key(const struct store_kind *kind, struct slice key, struct store_record *record);
/* Like record_of_key, but also sets the members from the entry's value; FAULT_DAMAGED if it is
 * malformed. */
bool record_of_entry(const struct store_kind *kind, struct slice key, struct slice value,
		     struct store_record *record, struct fault *fault);

/* The account and the number of a put of the table STORE_COUNTER. False if it is malformed. */
bool records_of_counter(struct slice key, struct slice value, struct id *account, uint64_t *number);
/* The account of a tree, and its contents: "names", "IDs", "children" or "ends". False if no tree
 * of records has this name. */
bool records_of_tree(const struct btree *tree, struct id *account, const char **contents);

/* For `check`: FAULT_DAMAGED unless the record is in the indexes of its kind. Sets the
 * transaction's account. */
bool records_check_indexed(struct transaction *transaction, const struct store_kind *kind,
			   const struct store_record *record, struct fault *fault);
/* For `check`: FAULT_DAMAGED unless this item of a tree of the kind leads to a record that belongs
 * there. Sets the transaction's account. */
bool records_check_index(struct transaction *transaction, const struct store_kind *kind,
			 const struct btree *tree, struct slice key, struct slice value,
			 struct fault *fault);

#endif
