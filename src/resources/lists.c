/* See resources/lists.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/lists.h"

#include <string.h>

#include "base/text.h"

void list_begin(struct call *call, struct list *list)
{
	*list = (struct list){
		.call = call,
		.limit = (size_t)json_integer_value(json_object_get(call->query, "limit")),
		.last = SLICE(""),
	};
	call->answer.status = 200;
	call_part(call, slice_of(arena_text(call->arena, "{\"limit\":%zu,\"data\":", list->limit)));
}

void list_open(struct call *call, struct list *list)
{
	struct slice start = call_query_text(call, "start");

	list_begin(call, list);
	list->is_bounded = start.data != NULL && id_parse(start, &list->start);
}

static bool is_too_large(const struct list *list)
{
	return list->call->answer.size > CALL_ANSWER_MOST;
}

bool list_is_full(const struct list *list)
{
	return list->count == list->limit || is_too_large(list);
}

void list_add(struct list *list, struct slice last)
{
	call_part(list->call, list->count > 0 ? SLICE(",") : SLICE("["));
	list->count++;
	list->last = last;
}

void list_add_item(struct list *list, const struct id *id)
{
	id_print(id, list->last_id);
	list_add(list, (struct slice){ list->last_id, ID_TEXT_SIZE });
}

void list_set_page(const struct list *list, struct store_page *page)
{
	page->order = STORE_NEWEST_FIRST;
	page->most = list->limit;
	page->bytes_most = CALL_ANSWER_MOST;
}

bool list_add_pages(struct list *list, const struct store_kind *kind, struct store_page *page,
		    list_add_records *add, const void *context, struct fault *fault)
{
	struct call *call = list->call;

	list_set_page(list, page);
	page->records = arena_alloc(call->arena, list->limit * sizeof *page->records);
	do {
		if (!store_page(call->transaction, kind, page, fault) ||
		    !add(call, list, context, page->records, page->count, fault))
			return false;
		if (page->count > 0)
			list->read = page->records[page->count - 1].id;
		page->below = &list->read;
	} while (!page->is_last && !list_is_full(list));
	return true;
}

/* Whether the query has `start`, even an empty one, which counts as absent everywhere else. */
static bool is_walk(const struct call *call)
{
	struct slice uri = call->request.uri, bad;
	const char *mark = memchr(uri.data, '?', uri.size);
	struct parameter *parameters;
	size_t n;

	if (mark == NULL)
		return false;
	uri.size -= (size_t)(mark + 1 - uri.data);
	uri.data = mark + 1;
	if (!text_query(call->arena, uri, &parameters, &n, &bad))
		return false;
	while (n > 0 && !slice_is(parameters[n - 1].name, "start"))
		n--;
	return n > 0;
}

bool list_close(struct list *list, struct fault *fault)
{
	struct buffer end = BUFFER_INITIAL(list->call->arena);

	if (is_too_large(list))
		return fault_detail(fault, FAULT_TOO_LARGE,
				    "the answer would have more than %zu bytes, after %zu of its "
				    "items: ask for a smaller limit; 10 always fit",
				    CALL_ANSWER_MOST, list->count - 1);
	if (list->count > 0)
		buffer_append_text(&end, "]");
	else
		buffer_append_text(&end, is_walk(list->call) ? "null" : "[]");
	buffer_append_text(&end, ",\"last\":");
	buffer_append_string(&end, list->last);
	buffer_append_byte(&end, '}');
	call_part(list->call, buffer_slice(&end));
	return true;
}
