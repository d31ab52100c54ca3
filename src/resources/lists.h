/* Lists, page by page: {"limit":n,"data":[...],"last":"..."}. The handler announces each item by
 * list_add_item and appends its text as a part of the answer; this module writes the rest. An empty
 * page has "data":null when the query has `start`, even an empty one: published clients read pages
 * until they get that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LISTS_H
#define RESOURCES_LISTS_H

#include "resources/call.h"

struct list {
	struct call *call;
	size_t limit;
	size_t count;
	bool is_bounded; /* `start` was given: only items below it */
	struct id start;
	struct id read; /* the last record that list_add_pages read */
	/* In the order of names, `name_prefix`: names with this prefix (data NULL: newest first),
	 * after this one, as the store has them. */
	struct slice prefix, after;
	size_t looked_at, bytes_looked_at; /* records that list_add_pages read, and their values */
	bool is_cut; /* after so many that there may be more items behind `last` */
	struct slice last; /* `last` of the answer */
	char last_id[ID_TEXT_SIZE + 1]; /* where `last` is, when it is an item's id */
};

/* Reads limit, start and name_prefix from the query, which the route's table has checked. A handler
 * whose `start` is no id reads it itself. */
void list_read(struct call *call, struct list *list);
/* The same, and begins the answer. */
void list_open(struct call *call, struct list *list);

/* Also when the answer is larger than CALL_ANSWER_MOST already. */
bool list_is_full(const struct list *list);

/* Whether the list has an item of this name, as the store has it. */
bool list_wants_name(const struct list *list, struct slice name);

/* Before an item's text. */
void list_add_item(struct list *list, const struct id *id);
/* The same in a list that may be in the order of names; name: as it is shown. */
void list_add_named(struct list *list, const struct id *id, struct slice name);
void list_add(struct list *list, struct slice last);

/* Reads records newest first, page by page, and hands them to `add`, until the list is full or no
 * more are left. page: the parent, the side, and bounds other than `start`; the rest is set here.
 * In the order of names page has nothing, `add` leaves out what other filters do not want, and the
 * list ends after LIST_LOOKED_AT_MOST records too: the next page goes on there. */
#define LIST_LOOKED_AT_MOST 10000
typedef bool list_add_records(struct call *call, struct list *list, const void *context,
			      const struct store_record *records, size_t n, struct fault *fault);
bool list_add_pages(struct list *list, const struct store_kind *kind, struct store_page *page,
		    list_add_records *add, const void *context, struct fault *fault);

/* What list_add_pages sets of its first page. */
void list_set_page(const struct list *list, struct store_page *page);
/* The same for a list that is not open yet (read_page of resources/reads.h). */
void list_first_page(struct call *call, struct store_page *page);

/* Completes the answer. FAULT_TOO_LARGE when it exceeds CALL_ANSWER_MOST: the web server keeps
 * unread answers in temporary files. */
bool list_close(struct list *list, struct fault *fault);

#endif
