/* What a route reads, as a list in its row (resources/route.h). A driver behind a network is told
 * before the first read (store_expect), and reads it all in one round trip; so a handler reads what
 * it needs, one by one, and says nothing of that itself. What is listed and then not read is
 * harmless.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_READS_H
#define RESOURCES_READS_H

#include "resources/call.h"

/* Where the id or the name of a record is. */
enum read_from {
	READ_ACCOUNT, /* an id that needs none: the account's only record of the kind */
	READ_PATH, /* the first parameter of the path */
	READ_BODY, /* `member` of the body */
	READ_QUERY, /* the parameter `member` of the query */
	READ_TOKEN, /* the room of the token for joining */
	READ_KEY /* the Idempotency-Key */
};

/* Whether a call has a read. */
typedef bool read_when(const struct call *call);
/* Completes the first page of a list: its order, bounds and size. Returns false if no page is read
 * first. What the page points to lives in the call's arena. */
typedef bool read_page(struct call *call, struct store_page *page);

struct read {
	const struct store_kind *kind; /* NULL: the end of the list */
	/* A parent or a value is that of what the read before finds, an own record of the account
	 * is that of the code before; where there is none before, it is left out. */
	enum store_finding finding;
	/* Where a path or a token has no id, nothing at all is read. What the body or the query
	 * does not have is left out. */
	enum read_from from;
	const char *member; /* of READ_ACCOUNT: it is read only if the body has this member */
	const char *without; /* it is read only if the body does not have this member */
	read_when *when; /* NULL: always */
	bool is_shown; /* also when the call changes other records */
	bool is_lower; /* the names of the kind are in lower case */
	bool is_typed; /* a code as people type it, which may mean two */
	/* With its room, and with the room's template and codes: for a call that reads, one
	 * statement. */
	bool is_code;
	bool is_of_bulk; /* a bulk reads it of all its operations at once */
	/* Of a page, which is of the record that `from` names, if it names one; oldest first. */
	size_t most;
	enum store_side side;
	read_page *page; /* NULL: it is as above */
};

/* ---- rows ---- */

#define READ_BY_ID(of) \
	{ \
		.kind = &(of), .finding = STORE_FIND_ID, .from = READ_PATH \
	}
#define READ_ONLY(of) \
	{ \
		.kind = &(of), .finding = STORE_FIND_ID \
	}
#define READ_NAMED(of, name) \
	{ \
		.kind = &(of), .finding = STORE_FIND_NAME, .from = READ_BODY, .member = (name) \
	}
#define READ_PARENT(of) \
	{ \
		.kind = &(of), .finding = STORE_FIND_PARENT \
	}
#define READ_NEW_ID(of) \
	{ \
		.kind = &(of), .finding = STORE_FIND_NEW_ID \
	}
#define READ_LIST(of, first) \
	{ \
		.kind = &(of), .finding = STORE_FIND_PAGE, .page = (first) \
	}
#define READ_CODE(place, ...) \
	{ \
		.kind = &kind_code, .finding = STORE_FIND_NAME, .is_code = true, .from = (place), \
		__VA_ARGS__ \
	}

/* Tells the store what the list says, and what a call with an Idempotency-Key reads as well. Before
 * the first read of the transaction. */
void reads_tell(struct call *call, const struct read *reads);
/* The read of an operation of a bulk that is_of_bulk; false: it has none. */
bool reads_of_bulk(struct call *part, const struct read *reads, struct store_expected *expected);

#endif
