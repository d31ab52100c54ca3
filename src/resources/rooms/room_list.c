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

struct room_filter {
	bool has_template;
	struct id template_id;
	const json_t *enabled; /* NULL: both */
	struct slice name; /* data NULL: any */
	bool has_after, has_before;
	int64_t after, before; /* first and last matching time, in milliseconds since 1970 */
	bool has_below, has_above;
	struct id below, above; /* only rooms between these ids */
	struct room_times times;
	bool is_empty; /* no room can match */
	bool is_summary;
};

static void bound_below(struct room_filter *filter, const struct id *bound)
{
	if (!filter->has_below || id_compare(bound, &filter->below) < 0)
		filter->below = *bound;
	filter->has_below = true;
}

static void set_bounds(const struct list *list, struct room_filter *filter)
{
	int64_t seconds;
	struct id bound;

	filter->has_below = filter->has_above = false;
	if (list->is_bounded)
		bound_below(filter, &list->start);

	/* Ids contain whole seconds, so the bound is the first id of the next second; within the
	 * second, the room's own time decides. */
	if (filter->has_before) {
		seconds = filter->before / 1000 + 1 + (int64_t)filter->times.earlier;
		if (filter->before < 0) {
			filter->is_empty = true;
		} else if (seconds <= UINT32_MAX) {
			bound = id_lowest((uint32_t)seconds, 0);
			bound_below(filter, &bound);
		}
	}

	seconds = filter->after / 1000 - (int64_t)filter->times.later;
	if (filter->has_after && seconds > 0) {
		filter->is_empty = filter->is_empty || seconds > UINT32_MAX;
		filter->has_above = true;
		/* The last id of the previous second. */
		filter->above = id_lowest((uint32_t)(seconds - 1), 0);
		memset(filter->above.bytes + 4, 0xff, ID_SIZE - 4);
	}
}

static bool room_matches(const struct room_filter *filter, const struct room_record *room)
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

static bool add_rooms(struct list *list, const struct store_record *stored, size_t n,
		      struct fault *fault)
{
	struct call *call = list->call;
	const struct room_filter *filter = list->filter;
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
static void set_page(struct list *list)
{
	const struct room_filter *filter = list->filter;
	struct store_page *page = &list->page;

	if (list->prefix.data != NULL)
		return;
	page->parent = filter->has_template ? &filter->template_id : NULL;
	page->below = filter->has_below ? &filter->below : NULL;
	page->above = filter->has_above ? &filter->above : NULL;
	if (filter->enabled != NULL)
		page->side = json_is_true(filter->enabled) ? STORE_ON : STORE_OFF;
}

static void prepare_rooms(struct call *call)
{
	const struct slice template_id = call_query_text(call, "template_id");
	const struct slice after = call_query_text(call, "after");
	const struct slice before = call_query_text(call, "before");
	struct room_filter *filter = arena_zero(call->arena, sizeof *filter);
	struct list *list = list_prepare(call, filter);

	list->title_of = room_title_of;
	if (list->prefix.data != NULL) {
		list->page.prefix = list->prefix = text_lower(call->arena, list->prefix);
		list->page.after = list->after = text_lower(call->arena, list->after);
	}
	filter->name = call_query_text(call, "name");
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
	set_page(list);
	list->has_page = filter->name.data == NULL && !filter->is_empty;
}

static bool is_of_times(const struct call *call)
{
	const struct room_filter *filter = call->list->filter;

	return filter->has_before || filter->has_after;
}

static const struct read reads_of_list[] = {
	{ .kind = &kind_room,
	  .finding = STORE_FIND_NAME,
	  .from = READ_QUERY,
	  .member = "name",
	  .is_lower = true },
	READ_PARENT(kind_template),
	READ_LIST(kind_room, list_first_page),
	READ_PARENT(kind_template),
	{ .kind = &kind_template,
	  .finding = STORE_FIND_ID,
	  .from = READ_QUERY,
	  .member = "template_id" },
	{ .kind = &kind_room_times, .finding = STORE_FIND_ID, .when = is_of_times },
	READS_END,
};
const struct loading load_rooms = { .prepare = prepare_rooms, .reads = reads_of_list };

bool rooms_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;
	struct room_filter *filter = list->filter;
	struct store_record stored;

	list_open(list);
	if (filter->is_empty)
		return list_close(list, fault);
	/* Ids of imported rooms may begin with other times than those of the rooms' creation, so
	 * these times widen the bounds. */
	if (is_of_times(call)) {
		if (!room_times_load(call, &filter->times, fault))
			return false;
		set_bounds(list, filter);
		set_page(list);
	}
	if (filter->name.data == NULL)
		return list_add_pages(list, &kind_room, add_rooms, fault) &&
		       list_close(list, fault);
	return store_get_named(call->transaction, &kind_room, text_lower(call->arena, filter->name),
			       STORE_TO_SHOW, &stored, fault) &&
	       (stored.value.data == NULL || add_rooms(list, &stored, 1, fault)) &&
	       list_close(list, fault);
}
