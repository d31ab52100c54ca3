/* The SQL of the driver, as prepared statements. SQL text is never built from data: all data are
 * parameters, in binary form.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_STATEMENTS_H
#define STORE_POSTGRES_STATEMENTS_H

/* Milliseconds that a transaction waits for each lock after LOCK_BRIEFLY. */
#define LOCK_BRIEF_MOST 250

/* A number as text. */
#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number

enum statement {
	BEGIN_WRITE,
	BEGIN_SNAPSHOT,
	LOCK_BRIEFLY,
	COMMIT,
	ROLLBACK,
	/* Records, by account, kind and id, or by account, kind and name. */
	GET,
	GET_TO_CHANGE,
	FIND,
	FIND_TO_CHANGE,
	/* Records of a kind whose names are unique in the store, by kind and name. */
	NAMED,
	NAMED_TO_CHANGE,
	/* Records that another record leads to: its parent, its parent's parent, or the record
	 * whose id is its value. The last parameters are their kinds. */
	PARENT_OF_GET,
	PARENT_OF_FIND,
	PARENT_OF_NAMED,
	PARENT_OF_NAMED_TO_CHANGE,
	GRANDPARENT_OF_NAMED,
	/* In one statement: a record, its parent, the parent's parent, and another parent of the
	 * record, one row each; and the generation of the accounts in a row whose kind is NULL. */
	CHAIN_OF_NAMED,
	CHAIN_AND_OWN_OF_NAMED,
	CHAIN_AND_SIBLINGS_OF_NAMED,
	OWN_OF_NAMED,
	VALUE_OF_GET,
	/* Pages, each newest first and oldest first. */
	PAGE_ALL,
	PAGE_ALL_OLDEST,
	PAGE_SIDE,
	PAGE_SIDE_OLDEST,
	PAGE_CHILDREN,
	PAGE_CHILDREN_OLDEST,
	PAGE_CHILDREN_SIDE,
	PAGE_CHILDREN_SIDE_OLDEST,
	PAGE_CHILDREN_BOTH,
	PAGE_CHILDREN_BOTH_OLDEST,
	PAGE_NAMED,
	PAGE_NAMED_OLDEST,
	PAGE_NAMED_SIDE,
	PAGE_NAMED_SIDE_OLDEST,
	PAGE_NAMED_BOTH,
	PAGE_NAMED_BOTH_OLDEST,
	PAGE_BY_NAME,
	PAGE_BY_END,
	PARENTS_OF_PAGE_BY_NAME,
	PARENTS_OF_PAGE_ALL,
	PARENTS_OF_PAGE_SIDE,
	HAS_CHILDREN,
	HAS_NAMED_CHILDREN,
	LOCK_PARENT,
	CLOCK,
	NEW_ID,
	/* Changes. */
	INSERT,
	INSERT_SEVERAL,
	UPDATE,
	DELETE,
	/* Fails if one of the records no longer exists. */
	DELETE_SEVERAL,
	INSERT_NAMED,
	UPDATE_NAMED,
	DELETE_NAMED,
	/* Lock a record, and fail if it no longer exists: because it was read without a lock and is
	 * going to be changed, or because a child is put under it. */
	GUARD,
	GUARD_NAMED,
	GUARD_PARENT,
	/* The connection's row of the table session. */
	SLOT_SET,
	SLOT_TAKE,
	SLOT_ADD,
	SLOT_REMOVE,
	SLOT_REMOVE_OLD,
	/* Other statements. */
	INSTALLATION,
	/* Waits for an upgrade that has begun, and keeps one from beginning. */
	VERSION_SHARED,
	FORM,
	FORM_SET,
	FORM_REPLACE,
	/* An upgrade: the other connections that are in use; its beginning, after which no earlier
	 * program commits anything. */
	IN_USE,
	VERSION_RAISE,
	SLOTS_INVALIDATE,
	STANDBY,
	SIZE,
	GENERATION,
	ROSTER,
	ROSTER_TO_CHANGE,
	ROSTER_SET,
	LOAD_LOCK,
	LOAD_MARKED,
	LOAD_UNMARK,
	LOAD_MARK,
	WALK,
	WALK_KEYS,
	WALK_NAMED,
	WALK_NAMED_KEYS,
	COUNT,
	COUNT_NAMED,
	STATEMENTS
};

struct statement_text {
	const char *sql;
	/* The type of each parameter, a letter of parameter_type (store/postgres/parameters.h). */
	const char *types;
};

extern const struct statement_text statements[STATEMENTS];

/* The commands that create the tables, in order; ends with NULL. */
extern const char *const table_commands[];

/* The columns of a record in results. */
enum column {
	COLUMN_ACCOUNT,
	COLUMN_KIND,
	COLUMN_ID,
	COLUMN_PARENT,
	COLUMN_IS_ON,
	COLUMN_NAME,
	COLUMN_VALUE,
	COLUMN_CHECKSUM,
	COLUMN_ENDS,
	COLUMNS_OF_RECORD,
	COLUMN_GENERATION = COLUMNS_OF_RECORD
};
/* The columns of NEW_ID: the number, the time in milliseconds, the newest id, and the
 * generation. */
enum column_of_new_id { NEW_ID_NUMBER, NEW_ID_NOW, NEW_ID_NEWEST, NEW_ID_GENERATION };

#endif
