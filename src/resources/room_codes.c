/* See resources/room_codes.h. The calls that name a room refuse in this order: room not found, room
 * disabled, role not found. Calls that look at the codes of a room begin reading and start again as
 * a write only when there is something to make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/room_codes.h"

#include "base/text.h"
#include "resources/code_life.h"
#include "resources/lists.h"
#include "resources/room_record.h"
#include "rules/room_code_rules.h"

/* The room that the path names, enabled. */
static bool load_room(struct call *call, struct room_subject *subject, struct fault *fault)
{
	if (!room_load_named(call, call->parameters[0], &subject->room, fault))
		return false;
	return subject->room.is_enabled || fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
}

static bool load(struct call *call, struct room_subject *subject, struct fault *fault)
{
	return load_room(call, subject, fault) && room_subject_load(call, subject, fault);
}

/* ---- what is answered ---- */

static struct slice code_text(struct call *call, const struct room_subject *subject, size_t index,
			      const struct shown_code *shown)
{
	char room[ID_TEXT_SIZE + 1], created[TEXT_TIME_SIZE], updated[TEXT_TIME_SIZE];
	struct buffer text = BUFFER_INITIAL(call->arena);

	id_print(&subject->room.id, room);
	text_time_seconds(shown->created * 1000, created);
	text_time_seconds(shown->updated * 1000, updated);
	document_write(
		&room_code_shape,
		arena_json(call->arena, json_pack("{s:s, s:s, s:s%, s:b, s:s, s:s}", "code",
						  subject->codes.codes[index].letters, "room_id",
						  room, "role", shown->role.data, shown->role.size,
						  "enabled", shown->is_enabled, "created_at",
						  created, "updated_at", updated)),
		(struct slice){ 0 }, false, &text);
	return buffer_slice(&text);
}

static bool answer_code(struct call *call, const struct room_subject *subject, size_t index,
			struct fault *fault)
{
	struct shown_code shown;

	return code_show(call, &subject->codes, index, &subject->owner, &shown, fault) &&
	       call_answer(call, code_text(call, subject, index, &shown));
}

/* ---- making ---- */

static bool lacks_a_code(const struct room_subject *subject)
{
	for (size_t i = 0; i < subject->owner.role_count; i++) {
		if (codes_oldest_enabled(&subject->codes, subject->owner.roles[i].identity) ==
		    subject->codes.count)
			return true;
	}
	return !subject->codes.was_asked || codes_are_due(&subject->codes, &subject->owner);
}

static bool make_lacking(struct call *call, struct room_subject *subject, struct fault *fault)
{
	struct room_codes *codes = &subject->codes;

	if (!codes_make_due(call, codes, &subject->owner, fault))
		return false;
	for (size_t i = 0; i < subject->owner.role_count; i++) {
		uint32_t identity = subject->owner.roles[i].identity;

		if (codes_oldest_enabled(codes, identity) == codes->count &&
		    !codes_add(call, codes, identity, call->now / 1000, fault))
			return false;
	}
	codes->was_asked = true;
	return codes_store(call, codes, &subject->owner, fault);
}

bool room_codes_create_all(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct shown_code shown;

	if (!load_room(call, &subject, fault) ||
	    !codes_load(call, &subject.room.id, &subject.codes, fault))
		return false;
	/* The first call for a room is most of them, and needs no look at the template to know. */
	if (!subject.codes.was_asked && !call_is_writing(call))
		return call_write_instead(call);
	if (!template_load(call, &subject.room.template_id, &subject.owner, fault))
		return false;
	if (lacks_a_code(&subject)) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!make_lacking(call, &subject, fault))
			return false;
	}
	call_answer(call, SLICE("{\"data\":["));
	for (size_t i = 0; i < subject.owner.role_count; i++) {
		size_t index = codes_oldest_enabled(&subject.codes,
						    subject.owner.roles[i].identity);

		if (!code_show(call, &subject.codes, index, &subject.owner, &shown, fault))
			return false;
		if (i > 0)
			call_part(call, SLICE(","));
		call_part(call, code_text(call, &subject, index, &shown));
	}
	call_part(call, SLICE("]}"));
	return true;
}

static bool check_enabled_count(const struct room_subject *subject, struct fault *fault)
{
	if (codes_count(&subject->codes, &subject->owner, true) >= CODES_ENABLED_MOST)
		return fault_set(fault, FAULT_CONFLICT, "the room has %d enabled codes, the most",
				 CODES_ENABLED_MOST);
	return true;
}

bool room_codes_create(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	size_t role;

	if (!load(call, &subject, fault))
		return false;
	role = template_role_index(&subject.owner, call->parameters[1]);
	if (role == subject.owner.role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "role not found");
	if (!codes_make_due(call, &subject.codes, &subject.owner, fault))
		return false;
	if (codes_count(&subject.codes, &subject.owner, false) >= CODES_MOST)
		return fault_set(fault, FAULT_CONFLICT, "the room has %d codes, the most",
				 CODES_MOST);
	return check_enabled_count(&subject, fault) &&
	       codes_add(call, &subject.codes, subject.owner.roles[role].identity, call->now / 1000,
			 fault) &&
	       codes_store(call, &subject.codes, &subject.owner, fault) &&
	       answer_code(call, &subject, subject.codes.count - 1, fault);
}

/* ---- the list ---- */

/* The index of the first code after `start`. */
static bool place_of_start(const struct call *call, const struct room_subject *subject,
			   size_t *place, struct fault *fault)
{
	struct slice start = call_query_text(call, "start");
	size_t index;

	*place = 0;
	if (start.data == NULL)
		return true;
	index = codes_index(&subject->codes, start);
	if (index == subject->codes.count)
		return fault_detail(fault, FAULT_INVALID_QUERY,
				    "start: must be a code of this room");
	*place = index + 1;
	return true;
}

/* Without a look at the role when that is not needed: a former code's name may be one more record. */
static bool is_out(const struct call *call, const struct room_subject *subject, size_t index)
{
	const struct code *code = &subject->codes.codes[index];

	return json_is_true(json_object_get(call->query, "enabled")) &&
	       call_query_text(call, "role").data == NULL && (code->is_lost || !code->is_enabled);
}

/* Adds codes until the page is full. With a role, those before the page tell whether any code shows it. */
static bool add_codes(struct call *call, const struct room_subject *subject, size_t place,
		      struct list *list, bool *shows_role, struct fault *fault)
{
	const json_t *enabled = json_object_get(call->query, "enabled");
	struct slice role = call_query_text(call, "role");
	struct shown_code shown;

	for (size_t i = *shows_role ? place : 0; i < subject->codes.count && !list_is_full(list);
	     i++) {
		bool is_of_role;

		if (is_out(call, subject, i))
			continue;
		if (!code_show(call, &subject->codes, i, &subject->owner, &shown, fault))
			return false;
		is_of_role = role.data == NULL || slice_equal(role, shown.role);
		*shows_role = *shows_role || is_of_role;
		if (i < place || !is_of_role ||
		    (enabled != NULL && json_is_true(enabled) != shown.is_enabled))
			continue;
		list_add(list, slice_of(subject->codes.codes[i].letters));
		call_part(call, code_text(call, subject, i, &shown));
	}
	return true;
}

bool room_codes_list(struct call *call, struct fault *fault)
{
	struct slice role = call_query_text(call, "role");
	struct room_subject subject;
	struct list list;
	size_t place;
	bool shows_role;

	if (!room_load_named(call, call->parameters[0], &subject.room, fault) ||
	    !room_subject_load(call, &subject, fault))
		return false;
	if (codes_are_due(&subject.codes, &subject.owner) && subject.room.is_enabled) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!codes_make_due(call, &subject.codes, &subject.owner, fault) ||
		    !codes_store(call, &subject.codes, &subject.owner, fault))
			return false;
	}
	if (!place_of_start(call, &subject, &place, fault))
		return false;
	if (!subject.room.is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
	list_begin(call, &list);
	shows_role = role.data == NULL ||
		     template_role_index(&subject.owner, role) < subject.owner.role_count;
	if (!add_codes(call, &subject, place, &list, &shows_role, fault))
		return false;
	if (!shows_role)
		return fault_set(fault, FAULT_NOT_FOUND, "role not found");
	return list_close(&list, fault);
}

/* ---- by code ---- */

/* Another account's code is one that does not exist. */
static bool load_by_code(struct call *call, struct slice letters, struct room_subject *subject,
			 size_t *index, struct fault *fault)
{
	struct id account, room;
	bool is_there;

	if (!code_find(call, letters, &account, &room, &is_there, fault))
		return false;
	if (!is_there || id_compare(&account, &call->account) != 0)
		return fault_set(fault, FAULT_NOT_FOUND, "room code not found");
	return room_subject_of_code(call, &room, letters, subject, index, fault);
}

bool room_codes_get(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	size_t index;

	return load_by_code(call, call->parameters[0], &subject, &index, fault) &&
	       answer_code(call, &subject, index, fault);
}

static bool switch_code(struct call *call, struct slice letters, struct fault *fault)
{
	bool enables = json_is_true(call_member(call, "enabled"));
	struct room_subject subject;
	struct shown_code shown;
	struct code *code;
	size_t index;

	if (!load_by_code(call, letters, &subject, &index, fault) ||
	    !code_show(call, &subject.codes, index, &subject.owner, &shown, fault))
		return false;
	if (enables && !shown.has_role)
		return fault_set(fault, FAULT_FORBIDDEN, "the role of this code was deleted");
	if (enables == shown.is_enabled)
		return answer_code(call, &subject, index, fault);
	/* Disabling makes nothing and moves nothing, so that the record is never too large for it. */
	if (enables && (!codes_make_due(call, &subject.codes, &subject.owner, fault) ||
			!check_enabled_count(&subject, fault)))
		return false;
	code = &subject.codes.codes[index];
	code->is_enabled = enables;
	code->updated = call->now / 1000;
	return codes_put(call, &subject.codes, fault) && answer_code(call, &subject, index, fault);
}

bool room_codes_switch(struct call *call, struct fault *fault)
{
	const json_t *code = call_member(call, "code");

	return switch_code(
		call, (struct slice){ json_string_value(code), json_string_length(code) }, fault);
}

bool room_codes_switch_named(struct call *call, struct fault *fault)
{
	return switch_code(call, call->parameters[0], fault);
}
