/* What background/door_watch.c does to the records of a door: writes the times of tickets, removes
 * tickets that have lapsed, and in the end the door. See resources/door/door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door.h"

#include "resources/door/door_change.h"
#include "resources/stored/code_record.h"

/* ---- times ---- */

bool door_write_polls(struct call *call, const struct door_poll *polls, size_t n,
		      struct fault *fault)
{
	struct store_expected *expected = arena_zero(call->arena, n * sizeof *expected);
	struct room_record room = { .id = { { 0 } } }; /* of the last exchange; zero if none */
	bool has_room = false;
	struct door door;

	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_door_ticket,
			.finding = STORE_FIND_NAME,
			.reading = STORE_TO_CHANGE,
			.name = { polls[i].name, sizeof polls[i].name },
		};
	store_expect(call->transaction, STORE_EACH, expected, n);
	for (size_t i = 0; i < n; i++) {
		const struct door_times *times = &polls[i].times;
		struct door_ticket ticket;

		if (!record_get_named(&door_ticket_table, call->transaction, expected[i].name,
				      STORE_TO_CHANGE, &ticket, fault))
			return false;
		if (ticket.stored.value.data == NULL || ticket.state == DOOR_DENIED ||
		    ticket.state == DOOR_TAKEN ||
		    (times->taken == 0 && ticket.polled >= times->polled))
			continue;
		ticket.polled = times->polled;
		if (times->taken == 0) {
			if (!record_put(&door_ticket_table, call->transaction, &ticket, fault))
				return false;
			continue;
		}
		if (id_compare(&room.id, &ticket.room) != 0) {
			if (!room_find(call, &ticket.room, STORE_TO_SHOW, &room, &has_room,
				       fault) ||
			    !door_load(call, &ticket.room, STORE_TO_SHOW, &door, fault))
				return false;
			room.id = ticket.room;
		}
		ticket.taken = times->taken;
		if (has_room && !door_put_taken(call, &door, &ticket, &room, fault))
			return false;
	}
	return true;
}

/* ---- tickets that have lapsed ---- */

/* Removes visitors of a room where nobody has a ticket. *are_gone is false if some are left. */
static bool sweep_visitors(struct call *call, const struct id *room, bool *are_gone,
			   struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = room,
		.records = arena_alloc(call->arena, DOOR_SWEPT_AT_ONCE * sizeof *page.records),
		.most = DOOR_SWEPT_AT_ONCE,
	};
	struct id ids[DOOR_SWEPT_AT_ONCE];

	if (!store_page(call->transaction, &kind_visitor, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++)
		ids[i] = page.records[i].id;
	visitors_expect(call, ids, page.count);
	for (size_t i = 0; i < page.count; i++) {
		struct visitor visitor;

		if (!record_get(&visitor_table, call->transaction, &ids[i], STORE_TO_CHANGE,
				&visitor, fault) ||
		    (visitor.stored.value.data != NULL &&
		     !store_remove(call->transaction, &kind_visitor, &visitor.stored, fault)))
			return false;
	}
	*are_gone = page.is_last;
	return true;
}

/* Ends a state that was set an hour ago. A session ends the states that were set in it
 * (live_merge.h). */
static bool end_state(struct call *call, struct door *door, struct door_sweep *sweep,
		      struct fault *fault)
{
	const uint64_t waiting = door->waiting;
	struct live live;

	if (door->set.state == DOOR_BY_ROLE)
		return true;
	if (!live_load_followed(call, &sweep->room, &live, fault) ||
	    !door_settle(call, door, &live, fault))
		return false;
	sweep->has_changed = sweep->has_changed || door->waiting != waiting;
	return true;
}

bool door_sweep(struct call *call, struct door_sweep *sweep, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &sweep->room,
		.above = &sweep->after,
		.records = arena_alloc(call->arena, DOOR_SWEPT_AT_ONCE * sizeof *page.records),
		.most = DOOR_SWEPT_AT_ONCE,
	};
	const bool is_first = id_compare(&sweep->after, &kind_only_id) == 0;
	size_t removed = 0;
	struct door door;

	sweep->lapsed = 0;
	if (!door_load(call, &sweep->room, STORE_TO_CHANGE, &door, fault) ||
	    !store_page(call->transaction, &kind_door_ticket, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct door_ticket ticket;

		sweep->after = page.records[i].id;
		if (!record_read(&door_ticket_table, NULL, &page.records[i], &ticket, fault))
			return false;
		/* Another process may have decided. */
		if (!door_ticket_is_waiting(&door, &ticket))
			door_polls_admit(call->environment->door_polls, ticket.name);
		if (!door_has_lapsed(call, &door, &ticket))
			continue;
		if (!record_get_named(&door_ticket_table, call->transaction, page.records[i].name,
				      STORE_TO_CHANGE, &ticket, fault))
			return false;
		/* Another process may have written a newer time meanwhile. */
		if (ticket.stored.value.data == NULL || !door_has_lapsed(call, &door, &ticket))
			continue;
		if (door_ticket_is_waiting(&door, &ticket)) {
			door_count_down(&door, &ticket);
			sweep->lapsed++;
		}
		if (!door_ticket_remove(call, &ticket, fault))
			return false;
		removed++;
	}
	sweep->is_last = page.is_last;
	sweep->is_empty = is_first && page.is_last && removed == page.count;
	sweep->has_changed = sweep->lapsed > 0;
	if (door.stored.value.data == NULL)
		return true;
	if (!end_state(call, &door, sweep, fault))
		return false;
	sweep->is_empty = sweep->is_empty && door.set.state == DOOR_BY_ROLE;
	if (sweep->is_empty && !sweep_visitors(call, &sweep->room, &sweep->is_empty, fault))
		return false;
	if (sweep->is_empty)
		return codes_mark(call, &sweep->room, CODES_DOOR, false, fault) &&
		       store_remove(call->transaction, &kind_door, &door.stored, fault);
	return !sweep->has_changed || door_put(call, &door, fault);
}
