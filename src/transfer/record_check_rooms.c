/* Rooms, their names and their codes: see transfer/record_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/account_record.h"
#include "resources/code_life.h"
#include "transfer/record_subject.h"

/* ---- rooms ---- */

static void check_room_texts(const struct subject *subject, const struct room_record *room,
			     const struct template_record *owner)
{
	struct call *call = subject->call;
	const json_t *text = subject_parsed(subject, room_text(call, room, owner));
	char id[ID_TEXT_SIZE + 1];

	id_print(&room->id, id);
	if (!subject_says(text, "id", slice_of(id)) || !subject_says(text, "name", room->name) ||
	    !subject_says(text, "customer_id", slice_of(call->account_text)) ||
	    !subject_says(text, "template", owner->name) ||
	    json_is_true(json_object_get(text, "enabled")) != room->is_enabled)
		subject_found(subject, "its text is not what its parts give");
	if (subject_parsed(subject, room->hidden) == NULL)
		subject_found(subject, "its hidden part is not JSON");
}

static bool check_room_lists(const struct subject *subject, const struct room_record *room,
			     struct fault *fault)
{
	struct call *call = subject->call;

	for (int enabled = 0; enabled < 2; enabled++) {
		bool should_be = (enabled != 0) == room->is_enabled;
		const char *state = enabled != 0 ? "enabled rooms" : "disabled rooms";
		const char *of_template = arena_text(call->arena, "its template's %s", state);

		if (!subject_check_listed(subject, list_of_rooms(call, enabled != 0), &room->id,
					  should_be, state, fault) ||
		    !subject_check_listed(
			    subject, list_of_template_rooms(call, &room->template_id, enabled != 0),
			    &room->id, should_be, of_template, fault))
			return false;
	}
	return true;
}

bool subject_check_room(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct room_record room;
	struct template_record owner;
	struct id id, named;
	bool is_there;

	if (!subject_key_has(subject, ID_SIZE))
		return subject_found(subject, "the key is no room");
	id = subject_id_at(subject->key, ID_SIZE);
	if (!room_load(call, &id, &room, fault) ||
	    !room_find_name(call, room.name, &named, &is_there, fault))
		return false;
	if (!is_there || id_compare(&named, &id) != 0)
		subject_found(subject, "its name does not lead to it");
	if (!template_find(call, &room.template_id, &owner, &is_there, fault))
		return false;
	if (is_there)
		check_room_texts(subject, &room, &owner);
	else
		subject_found(subject, "its template is not there");
	return subject_counted(subject, &id, room.created, true, fault) &&
	       check_room_lists(subject, &room, fault);
}

bool subject_check_room_name(const struct subject *subject, struct fault *fault)
{
	struct room_record room;
	struct slice name;
	struct id id;
	bool is_there;

	if (!subject_name(subject, "room", &name, &id))
		return true;
	if (!room_find(subject->call, &id, &room, &is_there, fault))
		return false;
	if (!is_there || !slice_equal(text_lower(subject->call->arena, room.name), name))
		return subject_found(subject,
				     "leads to a room that is not there or has another name");
	return true;
}

/* ---- codes ---- */

static bool check_one_code(const struct subject *subject, const struct room_codes *codes,
			   size_t index, const struct template_record *owner, struct fault *fault)
{
	struct call *call = subject->call;
	const struct code *code = &codes->codes[index];
	struct id account, room;
	struct shown_code shown;
	bool is_there;

	if (!code_find(call, slice_of(code->letters), &account, &room, &is_there, fault))
		return false;
	if (!is_there || id_compare(&account, &call->account) != 0 ||
	    id_compare(&room, &codes->room) != 0)
		subject_found(subject, "its code %zu does not lead to it", index);
	if (codes_index(codes, slice_of(code->letters)) != index)
		subject_found(subject, "its code %zu is there twice", index);
	return code_show(call, codes, index, owner, &shown, fault);
}

bool subject_check_room_codes(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct room_record room;
	struct template_record owner;
	struct room_codes codes;
	struct id id;
	bool is_there;

	if (!subject_key_has(subject, ID_SIZE))
		return subject_found(subject, "the key is no room");
	id = subject_id_at(subject->key, ID_SIZE);
	if (!room_find(subject->call, &id, &room, &is_there, fault))
		return false;
	if (!is_there)
		return subject_found(subject, "the room of these codes is not there");
	if (!template_load(call, &room.template_id, &owner, fault) ||
	    !codes_load(call, &id, &codes, fault))
		return false;
	if (codes.last_seen > owner.last_identity)
		subject_found(subject, "has seen roles that its template never had");
	for (size_t i = 0; i < codes.count; i++) {
		if (!check_one_code(subject, &codes, i, &owner, fault))
			return false;
	}
	for (size_t i = 0; i < codes.due_count; i++) {
		if (!codes_due_is_right(&codes, i))
			subject_found(subject, "its due role %zu has a code, or cannot be due", i);
	}
	return true;
}

bool subject_check_code(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct room_codes codes;
	struct id account, room;
	char text[ID_TEXT_SIZE + 1];

	if (!code_is_well_formed(subject->key) || subject->value.size != 2 * (size_t)ID_SIZE)
		return subject_found(subject, "is no code, or leads to no room");
	account = subject_id_at(subject->value, 0);
	room = subject_id_at(subject->value, ID_SIZE);
	survey_of_account(subject->survey, &account);
	if (!codes_load(call, &room, &codes, fault))
		return false;
	id_print(&room, text);
	return codes_index(&codes, subject->key) < codes.count ||
	       subject_found(subject, "leads to the room %s/%s, which does not have it",
			     call->account_text, text);
}
