/* The parts that implement the records of a transaction: rows.c (reading, new ids, flights),
 * rows_known.c, rows_page.c, rows_expected.c and rows_write.c. All of them work on one transaction,
 * in one thread, and what they return lives in its arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_ROWS_PARTS_H
#define STORE_POSTGRES_ROWS_PARTS_H

#include "store/postgres/store_postgres_parts.h"

/* Returns whether the kind's names are unique in the store. Such records are in a table of their
 * own. */
static inline bool rows_are_named(const struct store_kind *kind)
{
	return kind->naming == STORE_NAME_ANYWHERE;
}

/* ---- statements (rows.c) ---- */

/* Begins the parameters with the account (except for named kinds) and the kind. */
void rows_start(struct parameters *parameters, const struct postgres_transaction *own,
		const struct store_kind *kind);
void rows_add_kind(struct parameters *parameters, const struct store_kind *kind);
/* Notes that the generation of the accounts comes with this result of the flight. */
void rows_await_roster(struct postgres_transaction *own, size_t result, size_t column);
/* Returns the highest id among the transaction's own changes, or NULL. */
struct highest_id *rows_highest_id(const struct postgres_transaction *own,
				   const struct store_kind *kind);

/* ---- what is known (rows_known.c) ---- */

/* Adds an item; the key is not kept. */
void key_index_add(struct key_index *index, struct arena *arena, char letter, struct slice key,
		   void *item);
/* Returns the list that has the items with this key, newest first, or NULL. The list may contain
 * other items, so the caller compares. */
const struct key_entry *key_index_find(const struct key_index *index, char letter,
				       struct slice key);

uint32_t rows_checksum(char letter, const struct store_record *record, bool has_parent,
		       bool has_switch);
/* Sets FAULT_DAMAGED and returns false. */
bool rows_damaged(char letter, const struct id *id, const char *how, struct fault *fault);
/* Copies an id. False if the bytes are not an id. */
bool rows_copy_id(struct slice bytes, struct id *id);
/* Returns whether the account is the transaction's. */
bool rows_are_own(const struct postgres_transaction *own, const struct id *account);
/* Remembers that there is no record with this id or, if id is NULL, with this name. */
void known_add_absent(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name);
/* Remembers the records of a result. */
bool known_take_rows(struct postgres_transaction *own, size_t result, bool are_locked,
		     struct fault *fault);
/* Find a remembered record. NULL if it must be read. */
const struct known *known_by_id(const struct postgres_transaction *own,
				const struct store_kind *kind, const struct id *id,
				enum store_reading reading);
const struct known *known_by_name(const struct postgres_transaction *own,
				  const struct store_kind *kind, struct slice name,
				  enum store_reading reading);

/* ---- own changes (rows_known.c) ---- */

/* Returns whether the change is one of a record of this kind that the transaction can see. */
bool change_is_of(const struct postgres_transaction *own, const struct store_kind *kind,
		  const struct change *change);
/* Returns the last change of the record, found by its id or, for a named kind, by its name; NULL if
 * there is none. */
const struct change *change_of(const struct postgres_transaction *own,
			       const struct store_kind *kind, const struct store_record *record);
/* Returns whether the record with this id, of the kind after which others are created
 * (store_kind.after), is new in this transaction: then the database has no records that depend on
 * it. */
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
/* Fills a page from the rows of a result, which has one row more than the page if more records
 * follow. */
bool page_take(struct postgres_transaction *own, size_t result, struct store_page *page,
	       struct fault *fault);
/* page_known returns the same page as it was read before, or NULL; page_remember remembers one. */
const struct store_page *page_known(const struct postgres_transaction *own,
				    const struct store_kind *kind, const struct store_page *page);
bool page_remember(struct postgres_transaction *own, const struct store_expected *expected,
		   size_t result, struct fault *fault);
/* Remembers the page of the children of a parent (STORE_FIND_SIBLINGS), whose rows are among others
 * of a result. */
bool page_remember_siblings(struct postgres_transaction *own, const struct store_expected *expected,
			    const struct id *parent, size_t result, struct fault *fault);
/* Fills a page from one that was read before, with the own changes applied. False if this is not
 * possible, because records after the last one that was read may belong to the page. */
bool page_merge(const struct postgres_transaction *own, const struct store_kind *kind,
		const struct store_page *read, struct store_page *page);

/* ---- expected items (rows_expected.c) ---- */

/* Reads all expected items in one flight, unless this has been done already. */
bool rows_read_expected(struct postgres_transaction *own, struct fault *fault);
/* These two add a statement to the flight and return its result. */
size_t rows_add_children(struct postgres_transaction *own, const struct store_kind *kind,
			 const struct id *parent);
size_t rows_add_found(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name, enum store_reading reading);
void rows_remember_id(struct postgres_transaction *own, const struct store_kind *kind,
		      size_t result);

/* ---- changes (rows_write.c) ---- */

bool rows_send_changes(struct postgres_transaction *own, struct fault *fault);

#endif
