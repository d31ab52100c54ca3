/* Lists, page by page (decisions.md section 9): {"limit":n,"data":[...],"last":"..."}. A
 * walk that begins with an empty `start`, or goes on behind the last item, ends in "data":null: published
 * clients walk on until they see that. The handler
 * walks and adds the items' texts as parts of the answer (call_part), announcing each by
 * list_add_item; this module writes what stands around them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LISTS_H
#define RESOURCES_LISTS_H

#include "resources/call.h"

/* Bytes of an answer. Ten templates fit, as large as they may be (TEMPLATE_TEXT_MOST). */
#define ANSWER_MOST ((size_t)8 << 20)

struct list {
	struct call *call;
	size_t limit;
	size_t count;
	bool is_bounded; /* `start` was given: only items below it */
	struct id start;
	struct slice last; /* `last` of the answer */
	char last_id[ID_TEXT_SIZE + 1]; /* where `last` is, when it is an item's id */
};

/* Reads limit and start from the query, which the route's table has checked. */
void list_open(struct call *call, struct list *list);
/* The same for a list whose `start` is no id, but the handler's own. */
void list_begin(struct call *call, struct list *list);

/* Also when the answer is larger than ANSWER_MOST already. */
bool list_is_full(const struct list *list);

/* Before an item's text. */
void list_add_item(struct list *list, const struct id *id);
void list_add(struct list *list, struct slice last);

/* Completes the answer. FAULT_TOO_LARGE when it is larger than ANSWER_MOST: what a slow client has not
 * taken yet lies in the web server's temporary files. */
bool list_close(struct list *list, struct fault *fault);

#endif
