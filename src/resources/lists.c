/* See resources/lists.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/lists.h"

void list_begin(struct call *call, struct list *list)
{
	*list = (struct list){
		.call = call,
		.limit = (size_t)json_integer_value(json_object_get(call->query, "limit")),
		.last = SLICE(""),
	};
	call->answer.status = 200;
	call_part(call,
		  slice_of(arena_text(call->arena, "{\"limit\":%zu,\"data\":[", list->limit)));
}

void list_open(struct call *call, struct list *list)
{
	struct slice start = call_query_text(call, "start");

	list_begin(call, list);
	list->is_bounded = start.data != NULL && id_parse(start, &list->start);
}

bool list_is_full(const struct list *list)
{
	return list->count == list->limit;
}

void list_add(struct list *list, struct slice last)
{
	if (list->count > 0)
		call_part(list->call, SLICE(","));
	list->count++;
	list->last = last;
}

void list_add_item(struct list *list, const struct id *id)
{
	id_print(id, list->last_id);
	list_add(list, (struct slice){ list->last_id, ID_TEXT_SIZE });
}

bool list_close(struct list *list)
{
	struct buffer end = BUFFER_INITIAL(list->call->arena);

	buffer_append_text(&end, "],\"last\":");
	buffer_append_string(&end, list->last);
	buffer_append_byte(&end, '}');
	call_part(list->call, buffer_slice(&end));
	return true;
}
