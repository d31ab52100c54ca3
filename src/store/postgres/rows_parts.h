/* The parts of the records of a transaction: rows.c (reading, new ids, flights), rows_known.c,
 * rows_page.c, rows_expected.c and rows_write.c. All of them work on one transaction, in one
 * thread, and what they return lives in its arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_ROWS_PARTS_H
#define STORE_POSTGRES_ROWS_PARTS_H

#include "store/postgres/store_postgres_parts.h"

/* Of kinds whose names are unique anywhere. They lie in a table of their own. */
static inline bool rows_are_named(const struct store_kind *kind)
{
	return kind->naming == STORE_NAME_ANYWHERE;
}

/* ---- statements (rows.c) ---- */

/* Parameters that begin with the account, but for named kinds, and the kind. */
void rows_start(struct parameters *parameters, const struct postgres_transaction *own,
		const struct store_kind *kind);
void rows_add_kind(struct parameters *parameters, const struct store_kind *kind);
/* The generation of the accounts comes with this result of the flight. */
void rows_await_roster(struct postgres_transaction *own, size_t result, size_t column);
/* The highest id among the own changes, or NULL. */
struct highest_id *rows_highest_id(const struct postgres_transaction *own,
				   const struct store_kind *kind);

/* ---- what is known (rows_known.c) ---- */

/* The key is not kept. */
void key_index_add(struct key_index *index, struct arena *arena, char letter, struct slice key,
		   void *item);
/* The newest first, with others among them: the caller compares. NULL: none. */
const struct key_entry *key_index_find(const struct key_index *index, char letter,
				       struct slice key);

uint32_t rows_checksum(char letter, const struct store_record *record, bool has_parent,
		       bool has_switch);
/* Sets FAULT_DAMAGED; false. */
bool rows_damaged(char letter, const struct id *id, const char *how, struct fault *fault);
/* False: the bytes are no id. */
bool rows_copy_id(struct slice bytes, struct id *id);
/* Whether the account is that of the transaction. */
bool rows_are_own(const struct postgres_transaction *own, const struct id *account);
/* Remembers that there is no record with the id, or, where that is NULL, with the name. */
void known_add_absent(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name);
/* Remembers the records of a result. */
bool known_take_rows(struct postgres_transaction *own, size_t result, bool are_locked,
		     struct fault *fault);
/* NULL: it has to be read. */
const struct known *known_by_id(const struct postgres_transaction *own,
				const struct store_kind *kind, const struct id *id,
				enum store_reading reading);
const struct known *known_by_name(const struct postgres_transaction *own,
				  const struct store_kind *kind, struct slice name,
				  enum store_reading reading);

/* ---- the own changes (rows_known.c) ---- */

/* Whether the change is one of a record of the kind that this transaction can see. */
bool change_is_of(const struct postgres_transaction *own, const struct store_kind *kind,
		  const struct change *change);
/* The last change of the record, by its id or, of a named kind, its name; NULL: none. */
const struct change *change_of(const struct postgres_transaction *own,
			       const struct store_kind *kind, const struct store_record *record);
/* Whether the record of this kind, after which others come to be (store_kind.after), is new in this
 * transaction: then the database has none of them. */
bool rows_are_new(const struct postgres_transaction *own, const struct store_kind *kind,
		  const struct id *id);

/* ---- pages (rows_page.c) ---- */

struct page_query {
	enum statement statement;
	struct parameters parameters;
	char prefix_end[STORE_NAME_MAX];
};

void page_query_make(const struct postgres_transaction *own, const struct store_kind *kind,
		     const struct store_page *page, struct page_query *query);
void page_add_side(struct parameters *parameters, const struct store_page *page);
/* A page out of the rows of a result, of which there is one more than it may have. */
bool page_take(struct postgres_transaction *own, size_t result, struct store_page *page,
	       struct fault *fault);
/* The same page as it was read ahead, or NULL; and remembers one. */
const struct store_page *page_known(const struct postgres_transaction *own,
				    const struct store_kind *kind, const struct store_page *page);
bool page_remember(struct postgres_transaction *own, const struct store_expected *expected,
		   size_t result, struct fault *fault);
/* The page with our own changes, out of what was read before them. False: it cannot be told, since
 * records after the last one that was read may belong to it. */
bool page_merge(const struct postgres_transaction *own, const struct store_kind *kind,
		const struct store_page *read, struct store_page *page);

/* ---- what is expected (rows_expected.c) ---- */

/* Reads all that is expected in one flight, if that was not done yet. */
bool rows_read_expected(struct postgres_transaction *own, struct fault *fault);
/* Add a statement to the flight, and return its result. */
size_t rows_add_children(struct postgres_transaction *own, const struct store_kind *kind,
			 const struct id *parent);
size_t rows_add_found(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name, enum store_reading reading);
void rows_remember_id(struct postgres_transaction *own, const struct store_kind *kind,
		      size_t result);

/* ---- changes (rows_write.c) ---- */

bool rows_send_changes(struct postgres_transaction *own, struct fault *fault);

#endif
