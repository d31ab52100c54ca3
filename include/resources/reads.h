/* What a route reads, in its row (resources/route.h).
 *
 * LOADS names what the path names by an id: the service loads and locks it, in the order of the
 * row, which is the order of locks (src/README), and answers 404 if it is not there. The handler
 * finds it in the member of struct call that has its name. What a body, a code, a ticket or a token
 * names, the handler loads itself, because its refusal has an order and words of its own.
 *
 * MAY_READ announces what some calls of the route read besides. A driver behind a network gets both
 * lists before the first read (store_expect) and reads all of it in one round trip, so handlers can
 * read record by record. Announcing a record that the handler then does not read is harmless.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_READS_H
#define RESOURCES_READS_H

#include "resources/call.h"

/* The source of a record's id or name. */
enum read_from {
	READ_ACCOUNT, /* none needed: the account's only record of the kind */
	READ_PATH, /* the first parameter of the path */
	READ_BODY, /* `member` of the body */
	READ_QUERY, /* the parameter `member` of the query */
	READ_TOKEN, /* the room of the join token */
	READ_ENTRY, /* the entry of the join token */
	READ_KEY /* the Idempotency-Key */
};

/* Returns true if the call needs the read. */
typedef bool read_when(const struct call *call);
/* Completes the first page of a list: its order, bounds and size. Returns false if the call does
 * not start with a page. What the page points to lives in the call's arena. */
typedef bool read_page(struct call *call, struct store_page *page);

struct read {
	const struct store_kind *kind; /* NULL at the end of the list */
	/* STORE_FIND_PARENT and STORE_FIND_VALUE refer to the record of the preceding row,
	 * STORE_FIND_OWN and STORE_FIND_SIBLINGS to the codes of earlier rows. If that record does
	 * not exist, the row is skipped. */
	enum store_finding finding;
	/* If the path or the token has no id, no row is read. If the body or the query lacks the
	 * member, the row is skipped. */
	enum read_from from;
	const char *member; /* with READ_ACCOUNT: read only if the body has this member */
	const char *without; /* read only if the body does not have this member */
	read_when *when; /* NULL for always */
	bool is_shown; /* read to show, even if the call, or the load, changes other records */
	bool is_lower; /* names of the kind are in lower case */
	bool is_typed; /* a code as people type it, which may mean two codes */
	/* Read with its room and with the room's template and codes: one statement if the call
	 * only reads. */
	bool is_code;
	bool is_of_bulk; /* a bulk request reads it for all its operations together */
	/* For a page, oldest first, of the children of the record that `from` names, if any. */
	size_t most;
	enum store_side side;
	read_page *page; /* completes the page; NULL if that is not needed */
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

/* Ends a list of rows. */
#define READS_END \
	{ \
		.kind = NULL \
	}

/* ---- loads ---- */

struct load;

/* Something that the service can load for a call. */
struct loading {
	/* Reads the query, before anything is read; NULL if nothing follows from it. */
	void (*prepare)(struct call *call);
	/* Sets the member of the call; FAULT_NOT_FOUND if there is no such record. If it has the
	 * call ask a media server (resources/asking.h) or run as a write (call_write_instead), the
	 * handler does not run. NULL for a page, which the handler reads (list_add_pages in
	 * resources/lists.h). */
	bool (*load)(struct call *call, const struct load *load, struct fault *fault);
	const struct read *reads; /* what that reads */
};

/* An element of LOADS. */
struct load {
	const struct loading *what; /* NULL at the end of the list */
	enum store_reading reading; /* in a READ transaction, always STORE_TO_SHOW */
	unsigned sight; /* of a view: enum live_sight (resources/live/live_caller.h) */
	const char *permission; /* of a view: what a caller from inside needs; NULL: nothing */
};

/* Returns how to read what is loaded. */
enum store_reading load_reading(const struct call *call, const struct load *load);
/* Reads the query, and tells the store what the lists say: `of_key` with an Idempotency-Key; the
 * others may be NULL. Must be called before the first read of the transaction. */
void reads_announce(struct call *call, const struct load *loads, const struct read *reads,
		    const struct read *of_key);
/* Loads all of the list, which may be NULL. */
bool loads_run(struct call *call, const struct load *loads, struct fault *fault);
/* Returns the is_of_bulk read of an operation in a bulk request; false if it has none. */
bool reads_of_bulk(struct call *part, const struct read *reads, struct store_expected *expected);

#endif
