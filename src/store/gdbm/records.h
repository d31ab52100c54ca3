/* Records as entries, with the indexes that pages and names need: the functions of the driver.
 *
 * The entry of a record has the table STORE_RECORD and the key: the kind's letter, account, id; of
 * a kind with STORE_NAME_ANYWHERE the table STORE_NAMED and the key: the kind's letter, name. Such
 * a name may be a secret: no log and no fault shows it. Its value has in front what the record has
 * besides its value. Three indexes, each a tree (btree.h) of its own for each account and kind:
 *
 *   names     name -> id                           kinds with STORE_NAME_IN_ACCOUNT
 *   made      [switch] id -> name                  kinds with pages of the account
 *   children  parent [switch] id -> name           kinds with a parent
 *
 * The name is there for kinds with STORE_NAME_ANYWHERE alone. An entry of the table STORE_COUNTER
 * has, for account and kind, the number and the time of the newest id.
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

/* The table of the kind's records. */
enum store_table records_table(const struct store_kind *kind);
/* Of the key of an entry in that table: the kind's letter; account and id, or the name, are set in
 * the record. False: the key is not that of a record of this kind. */
bool record_of_key(const struct store_kind *kind, struct slice key, struct store_record *record);
/* The same with all that the value has; FAULT_DAMAGED when it is not the value of a record. */
bool record_of_entry(const struct store_kind *kind, struct slice key, struct slice value,
		     struct store_record *record, struct fault *fault);

/* For check: FAULT_DAMAGED unless the record is in the indexes of its kind; sets the transaction's
 * account. */
bool records_check_indexed(struct transaction *transaction, const struct store_kind *kind,
			   const struct store_record *record, struct fault *fault);
/* For check: FAULT_DAMAGED unless this key of a tree of the kind leads to a record that belongs
 * there; sets the transaction's account. */
bool records_check_index(struct transaction *transaction, const struct store_kind *kind,
			 const struct btree *tree, struct slice key, struct slice value,
			 struct fault *fault);

#endif
