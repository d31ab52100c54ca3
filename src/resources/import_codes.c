/* See resources/import_codes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/import_codes.h"

#include "base/text.h"
#include "resources/import_origin.h"
#include "resources/code_words.h"

/* ---- the room ---- */

/* Every role has a plain code: the room counts as one that was asked for the codes of all. */
static bool has_code_for_every_role(const struct room_subject *subject)
{
	for (size_t i = 0; i < subject->owner.role_count; i++) {
		if (codes_of_role(&subject->codes, subject->owner.roles[i].identity).plain == 0)
			return false;
	}
	return true;
}

bool import_codes_close(struct call *call, struct import_codes *codes, struct fault *fault)
{
	struct room_codes *stored = &codes->subject.codes;

	if (!codes->is_open)
		return true;
	codes->is_open = false;
	if (codes->has_come && !stored->was_asked && has_code_for_every_role(&codes->subject)) {
		stored->was_asked = true;
		stored->last_seen = codes->subject.owner.last_identity;
		codes->is_changed = true;
	}
	return !codes->is_changed || codes_store(call, stored, &codes->subject.owner, fault);
}

static bool refuse_room(struct fault *fault)
{
	return fault_member(fault, FAULT_INVALID_BODY, NULL, "/room_id",
			    "must be a room of this account, or of the body");
}

static bool open_room(struct call *call, struct import_codes *codes, struct fault *fault)
{
	struct room_subject *subject = &codes->subject;
	struct id id;
	bool is_there;

	if (!id_parse(text_of_json(call_member(call, "room_id")), &id))
		return refuse_room(fault);
	if (codes->is_open && codes->stored < CODES_SETTLED_AT_ONCE &&
	    id_compare(&id, &subject->room.id) == 0)
		return true;
	if (!import_codes_close(call, codes, fault) ||
	    !room_find(call, &id, STORE_TO_CHANGE, &subject->room, &is_there, fault))
		return false;
	if (!is_there)
		return refuse_room(fault);
	if (!room_subject_load(call, STORE_TO_CHANGE, subject, fault))
		return false;
	codes->is_open = true;
	codes->is_changed = codes->has_come = false;
	codes->stored = 0;
	return true;
}

/* ---- a code ---- */

static bool refuse_code(struct fault *fault)
{
	return fault_member(fault, FAULT_CONFLICT, "Room code already exists", "/code", "is taken");
}

static bool make_due(struct call *call, struct import_codes *codes, struct fault *fault)
{
	struct room_subject *subject = &codes->subject;

	if (!codes_are_due(&subject->codes, &subject->owner))
		return true;
	codes->is_changed = true;
	return codes_make_due(call, &subject->codes, &subject->owner, fault);
}

static bool add(struct call *call, struct import_codes *codes, struct slice letters,
		struct fault *fault)
{
	const struct import_origin origin = import_origin(call, "created_at", "updated_at");
	struct room_subject *subject = &codes->subject;
	const struct slice name = text_of_json(call_member(call, "role"));
	const size_t role = template_role_index(&subject->owner, name);
	uint32_t identity = 0;
	struct code code = {
		.letters = letters,
		.is_enabled = !json_is_false(call_member(call, "enabled")),
		.created = origin.created / 1000,
		.updated = import_updated(&origin, origin.created) / 1000,
	};

	if (role == subject->owner.role_count) {
		code.is_former = true;
		code.is_enabled = false;
		code.role = name;
	} else {
		identity = subject->owner.roles[role].identity;
		/* Due codes come first, and count. */
		if (!make_due(call, codes, fault) ||
		    !codes_check_count(subject, NULL, &code, fault))
			return false;
	}
	codes->is_changed = codes->has_come = true;
	codes->stored++;
	return codes_put_new(call, &subject->codes, identity, &code, fault);
}

/* The code is there, in this room, and of this role. */
static bool update(struct call *call, struct import_codes *codes, const struct code *former,
		   const struct shown_code *shown, struct fault *fault)
{
	const struct import_origin origin = import_origin(call, "created_at", "updated_at");
	const json_t *enabled = call_member(call, "enabled");
	struct room_subject *subject = &codes->subject;
	struct code code = *former;

	/* One that lost its role is never enabled again. */
	if (enabled == NULL || !shown->has_role || json_is_true(enabled) == shown->is_enabled)
		return true;
	code.is_enabled = json_is_true(enabled);
	code.updated = origin.has_updated ? import_updated(&origin, code.created * 1000) / 1000
					  : call->now / 1000;
	if (code.is_enabled &&
	    (!make_due(call, codes, fault) || !codes_check_count(subject, former, &code, fault)))
		return false;
	codes->is_changed = true;
	return codes_replace(call, &subject->codes, former, &code, fault);
}

/* A code of a room that is deleted is removed some time, or now. */
static bool is_left_over(struct call *call, const struct code *code, bool *is, struct fault *fault)
{
	struct room_record room;
	bool is_there;

	if (!room_find(call, &code->room, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	*is = !is_there;
	return is_there || code_remove(call, code, fault);
}

bool import_code(struct call *call, struct import_codes *codes, bool *is_new, struct fault *fault)
{
	const struct slice letters = text_of_json(call_member(call, "code"));
	struct room_subject *subject = &codes->subject;
	struct shown_code shown;
	struct code code;
	struct id account;
	bool is_there, is_left;

	*is_new = true;
	if ((!call->validates_only && !code_words_check_budget(call, fault)) ||
	    !open_room(call, codes, fault) ||
	    !code_find(call, letters, STORE_TO_CHANGE, &code, &account, &is_there, fault))
		return false;
	if (!is_there)
		return add(call, codes, letters, fault);
	if (id_compare(&account, &call->account) != 0) {
		/* Whether it is taken is told only to whom gets it. */
		if (call->validates_only)
			return true;
		call->words_asked++;
		return refuse_code(fault);
	}
	if (id_compare(&code.room, &subject->room.id) != 0) {
		if (!is_left_over(call, &code, &is_left, fault))
			return false;
		return is_left ? add(call, codes, letters, fault) : refuse_code(fault);
	}
	if (!code_show(call, &subject->codes, &code, &subject->owner, &shown, fault))
		return false;
	if (!slice_equal(shown.role, text_of_json(call_member(call, "role"))))
		return refuse_code(fault);
	*is_new = false;
	codes->has_come = true;
	return update(call, codes, &code, &shown, fault);
}
