/* What moderators see and decide: who waits, who is admitted, denied, or let in after all. See
 * resources/door/door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door.h"

#include <assert.h>

#include "base/text.h"
#include "resources/audit.h"
#include "resources/door/door_change.h"
#include "resources/live/live_caller.h"
#include "resources/stored/code_record.h"

/* Most people in a list. */
#define LISTED_MOST 100

/* ---- what routes load ---- */

static bool load_door_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	call->door = arena_alloc(call->arena, sizeof *call->door);
	return door_load(call, &call->view->room.id, load_reading(call, load), call->door, fault);
}

static bool load_marked_door_of_path(struct call *call, const struct load *load,
				     struct fault *fault)
{
	struct room_codes codes;

	/* The record of the codes is changed only if the room is not marked yet. */
	return codes_load(call, &call->view->room.id, load_reading(call, load), &codes, fault) &&
	       load_door_of_path(call, load, fault);
}

static bool load_ticket_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	bool is_there = false;
	struct id id;

	call->door_ticket = arena_alloc(call->arena, sizeof *call->door_ticket);
	if (id_parse(call->parameters[1], &id) &&
	    !door_ticket_find(call, &call->view->room.id, &id, load_reading(call, load),
			      call->door_ticket, &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_NOT_FOUND, "ticket not found");
}

static const struct read reads_of_door[] = { READ_BY_ID(kind_door), READS_END };
static const struct read reads_of_marked_door[] = {
	READ_BY_ID(kind_codes),
	READ_BY_ID(kind_door),
	READS_END,
};
static const struct read no_reads[] = { READS_END };
const struct loading load_door = { .load = load_door_of_path, .reads = reads_of_door };
const struct loading load_marked_door = {
	.load = load_marked_door_of_path,
	.reads = reads_of_marked_door,
};
const struct loading load_ticket = { .load = load_ticket_of_path, .reads = no_reads };

/* ---- the list ---- */

/* Returns whether the person is still waiting with this stored ticket. */
static bool still_waits(struct call *call, const struct door_ticket *ticket)
{
	return call->view->room.is_enabled && door_ticket_is_waiting(call->door, ticket) &&
	       !door_has_lapsed(call, call->door, ticket);
}

/* Writes who has the ticket, with the current name of the role. */
static void write_person(struct call *call, struct json_writer *body,
			 const struct template_record *template, const struct door_ticket *ticket)
{
	const size_t role = template_role_index_ever(template, ticket->role);

	writer_plain(body, "id", id_as_text(call->arena, &ticket->id));
	writer_text(body, "name", ticket->user_name);
	writer_text(body, "user_id", ticket->user_id);
	writer_text(body, "role",
		    role < template->role_count ? template->roles[role].name : ticket->role);
}

/* Writes the members of a ticket, without the closing brace. */
static void write_ticket(struct call *call, struct json_writer *body,
			 const struct template_record *template, const struct door_ticket *ticket)
{
	write_person(call, body, template, ticket);
	writer_time(body, "since", ticket->since);
}

/* Writes the people whose denial can be taken back, the newest first. */
static bool write_denied(struct call *call, struct json_writer *body,
			 const struct template_record *template, struct fault *fault)
{
	const struct id *room = &call->view->room.id;
	const struct door *door = call->door;
	struct store_expected expected[DOOR_DENIED_MOST];
	const struct id *ids[DOOR_DENIED_MOST];
	size_t n = 0;

	for (size_t i = door->denial_count; i-- > 0;) {
		if (door->denials[i].until <= call->now)
			continue;
		ids[n] = &door->denials[i].ticket;
		expected[n] = (struct store_expected){
			.kind = &kind_door_ticket,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_SHOW,
			.id = ids[n],
		};
		n++;
	}
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
	writer_open(body, "denied", '[');
	for (size_t i = 0; i < n; i++) {
		char until[TEXT_TIME_SIZE];
		struct door_ticket ticket;
		bool is_there;

		if (!door_ticket_find(call, room, ids[i], STORE_TO_SHOW, &ticket, &is_there, fault))
			return false;
		if (!is_there || ticket.state != DOOR_DENIED)
			continue;
		text_time_seconds(ticket.decided + DOOR_DENIES_FOR, until);
		writer_open(body, NULL, '{');
		write_person(call, body, template, &ticket);
		writer_plain(body, "until", slice_of(until));
		writer_close(body, '}');
	}
	writer_close(body, ']');
	return true;
}

bool tickets_list(struct call *call, struct fault *fault)
{
	const struct room_record *room = &call->view->room;
	const struct door *door = call->door;
	const struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &room->id,
		.above = &door->admitted,
	};
	struct json_writer body = writer_begin(call->arena, false);
	struct template_record template = { .role_count = 0 };
	struct store_walk walk;
	struct store_record record;
	struct door_ticket ticket;
	bool are_all = true;
	int64_t count = 0;
	struct slice text;

	writer_open(&body, "tickets", '[');
	if (door->stored.value.data != NULL) {
		if (!template_load(call, &room->template_id, &template, fault))
			return false;
		walk = store_walk_pages(call->transaction, &kind_door_ticket, &page, true, fault);
		while (store_next(&walk, &record)) {
			if (!record_read(&door_ticket_table, NULL, &record, &ticket, fault))
				return false;
			if (!still_waits(call, &ticket))
				continue;
			are_all = count < LISTED_MOST;
			if (!are_all)
				break;
			count++;
			writer_open(&body, NULL, '{');
			write_ticket(call, &body, &template, &ticket);
			writer_close(&body, '}');
		}
		if (fault->kind != FAULT_NONE)
			return false;
	}
	writer_close(&body, ']');
	/* If there are more people than are listed, the door has their number. */
	writer_integer(&body, "count", are_all ? count : (int64_t)door->waiting);
	door_write_state(call, &body);
	if (!write_denied(call, &body, &template, fault))
		return false;
	text = writer_end(&body);
	if (door->stored.value.data != NULL)
		door_polls_watch(call->environment->door_polls, &call->account, &room->id);
	call_etag(call, digest_number(text));
	return call_not_modified(call, digest_number(text)) || call_answer(call, text);
}

/* ---- decisions ---- */

/* Stores that a moderator has denied the person, who then cannot ask again for a while: not in the
 * same browser, not from this address with the same name, and not from there without a name by this
 * code. */
static bool put_denied_visitor(struct call *call, const struct door_ticket *ticket,
			       struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);
	struct id ids[3] = { ticket->visitor };
	size_t n = 1;

	change->has_address = !ticket->is_known &&
			      door_polls_address(call->environment->door_polls, ticket->name,
						 change->address);
	if (change->has_address) {
		ids[n++] = visitor_id(&ticket->room, &ticket->code_place, change->address);
		if (ticket->user_name.size > 0)
			ids[n++] = visitor_id_of_name(call->arena, &ticket->room, ticket->user_name,
						      change->address);
	}
	if (!codes_mark(call, &ticket->room, CODES_DOOR, true, fault))
		return false;
	visitors_expect(call, ids, n);
	for (size_t i = 0; i < n; i++) {
		struct visitor visitor;

		if (i > 0 && id_compare(&ids[i], &ids[0]) == 0)
			continue;
		if (!record_get(&visitor_table, call->transaction, &ids[i], STORE_TO_CHANGE,
				&visitor, fault))
			return false;
		visitor.stored.id = ids[i];
		visitor.stored.parent = ticket->room;
		visitor.ticket = ticket->name;
		visitor.denied_until = call->now + DOOR_DENIES_FOR;
		visitor.reason = ticket->reason;
		if (!record_put(&visitor_table, call->transaction, &visitor, fault))
			return false;
	}
	return true;
}

/* Returns true if the list has the denial. */
static bool is_listed(const struct call *call, const struct id *ticket)
{
	const struct door *door = call->door;
	size_t i = door->denial_count;

	while (i > 0 && id_compare(&door->denials[i - 1].ticket, ticket) != 0)
		i--;
	return i > 0 && door->denials[i - 1].until > call->now;
}

/* Admits somebody whom a moderator has denied. People whom the rules of the room denied have no
 * denial in the door or in a record of visitors. They stay denied, because the rules would deny
 * them again. The ticket must last until the call is committed. */
static bool take_back(struct call *call, struct door_ticket *ticket, bool *is_taken_back,
		      struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);
	struct visitor visitor;

	if (!record_get(&visitor_table, call->transaction, &ticket->visitor, STORE_TO_SHOW,
			&visitor, fault))
		return false;
	*is_taken_back = is_listed(call, &ticket->id) ||
			 (visitor.denied_until > call->now &&
			  slice_equal(visitor.ticket, ticket->name));
	if (!*is_taken_back)
		return true;
	ticket->state = DOOR_ADMITTED;
	ticket->decided = call->now;
	ticket->taken = 0;
	ticket->reason = SLICE("");
	door_note(call, "peer.admitted", &call->view->room, call->door, ticket, SLICE(""));
	change->ends[DOOR_END_ADMITTED]++;
	change->allowed = ticket;
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

/* Stores that this person is admitted; the caller stores the door. */
static bool put_admitted(struct call *call, struct door_ticket *ticket, struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);

	door_count_down(call->door, ticket);
	ticket->state = DOOR_ADMITTED;
	ticket->decided = call->now;
	door_note(call, "peer.admitted", &call->view->room, call->door, ticket, SLICE(""));
	change->ends[DOOR_END_ADMITTED]++;
	assert(change->name_count < ADMITTED_MOST);
	change->names[change->name_count++] = ticket->name;
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

static bool answer_decided(struct call *call, const struct door_ticket *ticket, struct slice state,
			   struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);
	struct template_record template;

	if (!template_load(call, &call->view->room.template_id, &template, fault))
		return false;
	write_ticket(call, &body, &template, ticket);
	writer_plain(&body, "state", state);
	return call_answer(call, writer_end(&body));
}

bool tickets_decide(struct call *call, struct fault *fault)
{
	const bool admits = slice_is(call_text(call, "state"), "admitted");
	const struct slice state = admits ? SLICE("admitted") : SLICE("denied");
	struct door_ticket *ticket = call->door_ticket;
	struct door *door = call->door;
	bool is_done;

	if (ticket->state == DOOR_DENIED || door_ticket_is_admitted(door, ticket)) {
		is_done = (ticket->state == DOOR_DENIED) != admits;
		if (!is_done && admits && !take_back(call, ticket, &is_done, fault))
			return false;
		return is_done ? answer_decided(call, ticket, state, fault)
			       : fault_set(fault, FAULT_CONFLICT, "Ticket was decided");
	}
	if (!still_waits(call, ticket))
		return fault_set(fault, FAULT_NOT_FOUND, "ticket not found");
	return (admits ? put_admitted(call, ticket, fault) && door_put_changed(call, door, fault)
		       : door_put_denied(call, door, ticket, &call->view->room,
					 call_text(call, "reason"), SLICE(""), true, fault) &&
				 put_denied_visitor(call, ticket, fault)) &&
	       answer_decided(call, ticket, state, fault);
}

static bool answer_admitted(struct call *call, uint64_t n)
{
	return call_answer(call, slice_of(arena_text(call->arena, "{\"admitted\":%llu}",
						     (unsigned long long)n)));
}

static bool admit_all(struct call *call, struct door *door, struct fault *fault)
{
	struct door_change *change = door_change_of(call, &door->stored.id);
	const uint64_t n = door->waiting;

	if (n == 0)
		return answer_admitted(call, 0);
	door_admit_all(door, audit_caller_text(call));
	change->ends[DOOR_END_ADMITTED] += n;
	change->admitted = door->admitted;
	return door_put_changed(call, door, fault) && answer_admitted(call, n);
}

bool tickets_admit(struct call *call, struct fault *fault)
{
	const json_t *admit = call_member(call, "admit");
	const struct room_record *room = &call->view->room;
	uint64_t n = 0;

	if (!room->is_enabled)
		return answer_admitted(call, 0);
	if (json_is_string(admit))
		return admit_all(call, call->door, fault);
	for (size_t i = 0; i < json_array_size(admit); i++) {
		struct door_ticket ticket;
		struct id id;
		bool is_there;

		if (!id_parse(text_of_json(json_array_get(admit, i)), &id))
			continue;
		if (!door_ticket_find(call, &room->id, &id, STORE_TO_CHANGE, &ticket, &is_there,
				      fault))
			return false;
		if (!is_there || !still_waits(call, &ticket))
			continue;
		if (!put_admitted(call, &ticket, fault))
			return false;
		n++;
	}
	return (n == 0 || door_put_changed(call, call->door, fault)) && answer_admitted(call, n);
}
