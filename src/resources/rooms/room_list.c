/* Lists rooms, with filters in any combination. The cost of a page is in proportion to what it
 * returns: `name` is one look-up; the store has pages of enabled and of disabled rooms, of the
 * account and of a template; `after`, `before` and `start` are bounds of ids, which begin with the
 * time of creation. `name_prefix` is a range of names, in which the other filters skip rooms that
 * do not match.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "records/record.h"
#include "resources/route.h"
#include "resources/stored/room_record.h"
#include "resources/stored/room_times.h"
#include "resources/rooms/rooms.h"
#include "rules/room_rules.h"

struct filter {
	bool has_template;
	struct id template_id;
	const json_t *enabled; /* NULL: both */
	bool has_after, has_before;
	int64_t after, before; /* first and last matching time, in milliseconds since 1970 */
	bool has_below, has_above;
	struct id below, above; /* only rooms between these ids */
	struct room_times times;
	bool is_empty; /* no room can match */
	bool is_summary;
};

static void bound_below(struct filter *filter, const struct id *bound)
{
	if (!filter->has_below || id_compare(bound, &filter->below) < 0)
		filter->below = *bound;
	filter->has_below = true;
}

/* Ids contain whole seconds, so the bound is the first id of the next second; within the second,
 * the room's own time decides. */
static void bound_before(struct filter *filter)
{
	const int64_t seconds = filter->before / 1000 + 1 + (int64_t)filter->times.earlier;
	struct id bound;

	if (filter->before < 0) {
		filter->is_empty = true;
		return;
	}
	if (seconds > UINT32_MAX)
		return;
	bound = id_lowest((uint32_t)seconds, 0);
	bound_below(filter, &bound);
}

static void bound_after(struct filter *filter)
{
	const int64_t seconds = filter->after / 1000 - (int64_t)filter->times.later;

	if (seconds <= 0)
		return;
	filter->is_empty = filter->is_empty || seconds > UINT32_MAX;
	filter->has_above = true;
	/* The last id of the previous second. */
	filter->above = id_lowest((uint32_t)(seconds - 1), 0);
	memset(filter->above.bytes + 4, 0xff, ID_SIZE - 4);
}

static void set_bounds(const struct list *list, struct filter *filter)
{
	filter->has_below = filter->has_above = false;
	if (list->is_bounded)
		bound_below(filter, &list->start);
	if (filter->has_before)
		bound_before(filter);
	if (filter->has_after)
		bound_after(filter);
}

static bool room_matches(const struct filter *filter, const struct room_record *room)
{
	return (!filter->has_after || room->created >= filter->after) &&
	       (!filter->has_before || room->created <= filter->before) &&
	       (filter->enabled == NULL || json_is_true(filter->enabled) == room->is_enabled) &&
	       (!filter->has_template ||
		id_compare(&filter->template_id, &room->template_id) == 0) &&
	       (!filter->has_below || id_compare(&room->id, &filter->below) < 0);
}

/* The templates of the rooms of a page, each once. */
struct owners {
	struct template_record *items;
	size_t count;
};

static const struct template_record *owner_of(const struct owners *owners,
					      const struct room_record *room)
{
	size_t i = 0;

	while (i < owners->count && id_compare(&owners->items[i].id, &room->template_id) != 0)
		i++;
	return i < owners->count ? &owners->items[i] : NULL;
}

static bool load_owners(struct call *call, const struct store_record *rooms, size_t n,
			struct owners *owners, struct fault *fault)
{
	struct store_record *stored = arena_alloc(call->arena, (n + 1) * sizeof *stored);
	struct id *ids = arena_alloc(call->arena, (n + 1) * sizeof *ids);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < count && id_compare(&ids[j], &rooms[i].parent) != 0)
			j++;
		ids[j] = rooms[i].parent;
		count += j == count;
	}
	owners->items = arena_alloc(call->arena, (count + 1) * sizeof *owners->items);
	if (!store_get_several(call->transaction, &kind_template, NULL, ids, count, stored, fault))
		return false;
	for (owners->count = 0; owners->count < count; owners->count++) {
		if (stored[owners->count].value.data == NULL)
			return record_missing("template", &ids[owners->count], fault);
		if (!template_unpack(call, &stored[owners->count], &owners->items[owners->count],
				     fault))
			return false;
	}
	return true;
}

static bool add_rooms(struct call *call, struct list *list, const void *context,
		      const struct store_record *stored, size_t n, struct fault *fault)
{
	const struct filter *filter = context;
	struct room_record room;
	struct owners owners;

	if (!load_owners(call, stored, n, &owners, fault))
		return false;
	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		if (!room_read(call, &stored[i], &room, fault))
			return false;
		if (!room_matches(filter, &room) ||
		    !list_wants_name(list, stored[i].name, room.title))
			continue;
		list_add_named(list, &room.id, room.name);
		if (filter->is_summary)
			call_part(call, room_summary(call, &room, owner_of(&owners, &room)));
		else
			room_answer(call, &room, owner_of(&owners, &room), (struct slice){ 0 });
	}
	return true;
}

static bool room_title_of(struct call *call, const struct store_record *stored, struct slice *title,
			  struct fault *fault)
{
	struct room_record room;

	if (!room_read(call, stored, &room, fault))
		return false;
	*title = room.title;
	return true;
}

/* In the order of names, only room_matches decides. */
static struct store_page filter_page(const struct list *list, const struct filter *filter)
{
	struct store_page page = {
		.parent = filter->has_template ? &filter->template_id : NULL,
		.below = filter->has_below ? &filter->below : NULL,
		.above = filter->has_above ? &filter->above : NULL,
	};

	if (list->prefix.data != NULL)
		return (struct store_page){ .count = 0 };
	if (filter->enabled != NULL)
		page.side = json_is_true(filter->enabled) ? STORE_ON : STORE_OFF;
	return page;
}

/* Reads the filters from the query. */
static void read_list(struct call *call, struct list *list, struct filter *filter)
{
	const struct slice template_id = call_query_text(call, "template_id");
	const struct slice after = call_query_text(call, "after");
	const struct slice before = call_query_text(call, "before");

	if (list->prefix.data != NULL) {
		list->prefix = text_lower(call->arena, list->prefix);
		list->after = text_lower(call->arena, list->after);
	}
	/* These are times: the table of the query has checked them. */
	filter->has_after = after.data != NULL && text_time_parse_up(after, &filter->after);
	filter->has_before = before.data != NULL && text_time_parse(before, &filter->before);
	filter->enabled = json_object_get(call->query, "enabled");
	filter->is_summary = call->route->answer == &room_summary_shape ||
			     call_query_text(call, "view").data != NULL;
	filter->has_template = template_id.data != NULL;
	if (filter->has_template && !id_parse(template_id, &filter->template_id))
		filter->is_empty = true;
	set_bounds(list, filter);
}

bool rooms_list_is_of_times(const struct call *call)
{
	return call_query_text(call, "before").data != NULL ||
	       call_query_text(call, "after").data != NULL;
}

bool rooms_first_page(struct call *call, struct store_page *page)
{
	struct filter *filter = arena_zero(call->arena, sizeof *filter);
	struct list *list = arena_alloc(call->arena, sizeof *list);

	if (call_query_text(call, "name").data != NULL)
		return false;
	list_read(call, list);
	read_list(call, list, filter);
	*page = filter_page(list, filter);
	list_set_page(list, page);
	return !filter->is_empty;
}

bool rooms_list(struct call *call, struct fault *fault)
{
	struct slice name = call_query_text(call, "name");
	struct filter filter = { .has_template = false };
	struct store_record stored;
	struct store_page page;
	struct list list;

	list_open(call, &list);
	list.title_of = room_title_of;
	read_list(call, &list, &filter);
	if (filter.is_empty)
		return list_close(&list, fault);
	/* Ids of imported rooms may begin with other times than those of the rooms' creation, so
	 * these times widen the bounds. */
	if (filter.has_before || filter.has_after) {
		if (!room_times_load(call, &filter.times, fault))
			return false;
		set_bounds(&list, &filter);
	}
	if (name.data == NULL) {
		page = filter_page(&list, &filter);
		return list_add_pages(&list, &kind_room, &page, add_rooms, &filter, fault) &&
		       list_close(&list, fault);
	}
	return store_get_named(call->transaction, &kind_room, text_lower(call->arena, name),
			       STORE_TO_SHOW, &stored, fault) &&
	       (stored.value.data == NULL || add_rooms(call, &list, &filter, &stored, 1, fault)) &&
	       list_close(&list, fault);
}
