/* Builds lists page by page: {"limit":n,"data":[...],"last":"..."}. A route of a list loads
 * load_list, or a struct loading of its own (resources/reads.h), whose `prepare` calls list_prepare
 * and completes the page: then the service knows what is read first. The handler finds call->list,
 * opens it, calls list_add_item for each item, appends the item's text as a part of the response,
 * and closes the list; this module writes the rest. The "data" of an empty page is null if the
 * query has `start`, even an empty one: published clients read pages until they get null.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LISTS_H
#define RESOURCES_LISTS_H

#include "resources/reads.h"

/* Reads the title of a record; empty if it has none. */
typedef bool list_title(struct call *call, const struct store_record *record, struct slice *title,
			struct fault *fault);

struct list {
	struct call *call;
	/* The first page that is read, as the query says. `prepare` sets its parent and its side,
	 * and bounds other than `start`; in the order of names, nothing. */
	struct store_page page;
	bool has_page; /* false: something else must be read first, or nothing is in the list */
	void *filter; /* private to the source that prepares the list */
	size_t limit;
	size_t count;
	bool is_bounded; /* `start` was sent: only items below it are listed */
	struct id start;
	struct id read; /* the last record that list_add_pages has read */
	/* From `name_prefix`, for a list in the order of names: lists names with this prefix (data
	 * NULL: newest first) that come after `after`. Both are spelled as in the store. */
	struct slice prefix, after;
	struct slice words; /* from `q`: lists names that contain each of them; data NULL: all */
	/* Filters leave out records, perhaps most of them: the list ends after LIST_EXAMINED_MOST,
	 * too, and the next page continues there. */
	bool is_filtered;
	list_title
		*title_of; /* of records with titles, which may contain the words, too; else NULL */
	size_t examined, bytes_examined; /* records that list_add_pages read, and their values */
	bool is_cut; /* ended before the last record, after many or (with `q`) after `limit` items */
	struct slice last; /* `last` of the response */
	char last_id[ID_TEXT_SIZE + 1]; /* the text of `last` if that is an item's id */
};

/* Makes call->list from limit, start, name_prefix and q of the query, which has been checked. A
 * handler whose `start` is not an id reads `start` itself. */
struct list *list_prepare(struct call *call, void *filter);
/* A list without a page or a filter. */
extern const struct loading load_list;
/* The page, for rows of reads. */
read_page list_first_page;
/* Begins the response. */
void list_open(struct list *list);

/* True if the list has `limit` items, or the response exceeds CALL_ANSWER_MOST. */
bool list_is_full(const struct list *list);

/* True if the list includes an item with this name, spelled as in the store, and this title, which
 * may be empty (name_prefix, q). */
bool list_wants_name(const struct list *list, struct slice name, struct slice title);

/* Must be called before the item's text is appended. */
void list_add_item(struct list *list, const struct id *id);
/* Does the same in a list that may be in the order of names. name: as shown to the client. */
void list_add_named(struct list *list, const struct id *id, struct slice name);
void list_add(struct list *list, struct slice last);

/* Reads records, page by page from list->page on, and passes them to `add`, until the list is full
 * or no records are left. In the order of names, `add` leaves out records that other filters
 * exclude, and the list also ends after LIST_EXAMINED_MOST records; the next page continues there.
 * With `q`, `add` gets only records whose names or titles contain the words, and the list ends in
 * the same way; `last` is then "" if no records follow. */
#define LIST_EXAMINED_MOST 10000
typedef bool list_add_records(struct list *list, const struct store_record *records, size_t n,
			      struct fault *fault);
bool list_add_pages(struct list *list, const struct store_kind *kind, list_add_records *add,
		    struct fault *fault);

/* Completes the response. Sets FAULT_TOO_LARGE if it exceeds CALL_ANSWER_MOST: the web server keeps
 * responses that clients have not read in temporary files. */
bool list_close(struct list *list, struct fault *fault);

#endif
