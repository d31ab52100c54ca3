/* The list of rooms, with its filters in any combination (decisions.md sections 6 and 9). The page
 * costs in proportion to what it returns: `name` is one look-up; `enabled` and `template_id` each
 * have lists of their own; `after`, `before` and `start` are places in a list, since ids sort by the
 * time of creation. Where both enabled and disabled rooms are wanted, two lists are walked side by
 * side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/account_record.h"
#include "resources/lists.h"
#include "resources/room_record.h"
#include "resources/rooms.h"
#include "store/sequence.h"

#define SIDES 2 /* disabled, enabled */

struct filter {
	bool has_template;
	struct id template_id;
	const json_t *enabled; /* NULL: both */
	bool has_after, has_before;
	int64_t after, before; /* milliseconds, inclusive; the first and the last that match */
	bool is_bounded;
	struct id bound; /* only rooms below this id */
	bool is_empty; /* nothing can match */
};

/* One list of the walk, with the next id at hand. */
struct side {
	struct sequence_walk walk;
	bool has_next;
	struct id next;
};

/* Rooms of one page mostly share their template. */
struct page {
	struct list list;
	struct filter filter;
	struct template_record owner;
	bool has_owner;
	bool is_past; /* the walk has come to rooms older than `after` */
};

static void bound_by(struct filter *filter, const struct id *bound)
{
	if (!filter->is_bounded || id_compare(bound, &filter->bound) < 0)
		filter->bound = *bound;
	filter->is_bounded = true;
}

/* Ids hold whole seconds: the bound is the first id of the next second, and the room's own time
 * decides within it. */
static void bound_by_time(struct filter *filter)
{
	struct id bound = { { 0 } };
	int64_t seconds = filter->before / 1000 + 1;

	if (filter->before < 0) {
		filter->is_empty = true;
		return;
	}
	if (seconds > UINT32_MAX)
		return;
	for (size_t i = 0; i < 4; i++)
		bound.bytes[i] = (unsigned char)((uint64_t)seconds >> (24 - 8 * i));
	bound_by(filter, &bound);
}

static void read_filter(struct call *call, const struct list *list, struct filter *filter)
{
	struct slice template_id = call_query_text(call, "template_id");
	struct slice after = call_query_text(call, "after");
	struct slice before = call_query_text(call, "before");

	/* The query's table has let through only what parses. */
	filter->has_after = after.data != NULL && text_time_parse_up(after, &filter->after);
	filter->has_before = before.data != NULL && text_time_parse(before, &filter->before);
	filter->enabled = json_object_get(call->query, "enabled");
	filter->has_template = template_id.data != NULL;
	if (filter->has_template && !id_parse(template_id, &filter->template_id))
		filter->is_empty = true;
	if (list->is_bounded)
		bound_by(filter, &list->start);
	if (filter->has_before)
		bound_by_time(filter);
}

/* Adds a room unless a filter that the walk itself does not hold keeps it out. */
static bool add_room(struct call *call, struct page *page, const struct id *id, struct fault *fault)
{
	const struct filter *filter = &page->filter;
	struct room_record room;

	if (!room_load(call, id, &room, fault))
		return false;
	page->is_past = filter->has_after && room.created < filter->after;
	if (page->is_past || (filter->has_before && room.created > filter->before) ||
	    (filter->enabled != NULL && json_is_true(filter->enabled) != room.is_enabled) ||
	    (filter->has_template && id_compare(&filter->template_id, &room.template_id) != 0) ||
	    (filter->is_bounded && id_compare(id, &filter->bound) >= 0))
		return true;
	if (!page->has_owner || id_compare(&page->owner.id, &room.template_id) != 0) {
		if (!template_load(call, &room.template_id, &page->owner, fault))
			return false;
		page->has_owner = true;
	}
	list_add_item(&page->list, id);
	return room_answer(call, &room, &page->owner, (struct slice){ 0 });
}

static bool step(struct side *side, struct fault *fault)
{
	return sequence_next(&side->walk, &side->next, &side->has_next, fault);
}

static bool start_sides(struct call *call, const struct filter *filter, struct side sides[SIDES],
			struct fault *fault)
{
	for (int enabled = 0; enabled < SIDES; enabled++) {
		struct slice list = filter->has_template
					    ? list_of_template_rooms(call, &filter->template_id,
								     enabled != 0)
					    : list_of_rooms(call, enabled != 0);

		sides[enabled] = (struct side){ .has_next = false };
		if (filter->enabled != NULL && json_is_true(filter->enabled) != (enabled != 0))
			continue;
		sequence_start(&sides[enabled].walk, call->transaction, list,
			       filter->is_bounded ? &filter->bound : NULL);
		if (!step(&sides[enabled], fault))
			return false;
	}
	return true;
}

/* The side whose next room is newer, or NULL at the end of both. */
static struct side *newer(struct side sides[SIDES])
{
	if (!sides[0].has_next && !sides[1].has_next)
		return NULL;
	if (!sides[1].has_next)
		return &sides[0];
	if (!sides[0].has_next)
		return &sides[1];
	return id_compare(&sides[0].next, &sides[1].next) > 0 ? &sides[0] : &sides[1];
}

static bool walk(struct call *call, struct page *page, struct fault *fault)
{
	struct side sides[SIDES];
	struct side *side;

	if (!start_sides(call, &page->filter, sides, fault))
		return false;
	while (!list_is_full(&page->list) && !page->is_past && (side = newer(sides)) != NULL) {
		if (!add_room(call, page, &side->next, fault) || !step(side, fault))
			return false;
	}
	return true;
}

bool rooms_list(struct call *call, struct fault *fault)
{
	struct slice name = call_query_text(call, "name");
	struct page page = { .has_owner = false };
	struct id id;
	bool is_there;

	list_open(call, &page.list);
	read_filter(call, &page.list, &page.filter);
	if (page.filter.is_empty)
		return list_close(&page.list, fault);
	if (name.data == NULL)
		return walk(call, &page, fault) && list_close(&page.list, fault);
	if (!room_find_name(call, name, &id, &is_there, fault) ||
	    (is_there && !add_room(call, &page, &id, fault)))
		return false;
	return list_close(&page.list, fault);
}
