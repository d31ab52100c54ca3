/* The room of a dump, and its codes: see transfer/transfer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/account_record.h"
#include "resources/buried_role.h"
#include "resources/code_identities.h"
#include "resources/code_life.h"
#include "resources/room_record.h"
#include "transfer/transfer_parts.h"
#include "store/sequence.h"

/* ---- codes ---- */

/* A role may be deleted for several rooms; then they all say the same of it. */
static bool read_deleted(struct transfer_input *input, const struct template_record *owner,
			 const json_t *object, const char *pointer, struct fault *fault)
{
	struct call *call = &input->call;
	uint32_t identity = (uint32_t)transfer_number(object, "identity");
	const struct buried_role role = {
		.name = transfer_text(object, "name"),
		.added = transfer_time(input, pointer, object, "added_at"),
		.deleted = transfer_time(input, pointer, object, "deleted_at"),
	};
	struct buried_role stored;
	bool is_there;

	if (template_live_role(owner, identity) != NULL || identity > owner->last_identity)
		findings_add(&call->findings, pointer,
			     "its identity must be one that the template has used, and no longer "
			     "has");
	if (!buried_role_find(call, &owner->id, identity, &stored, &is_there, fault))
		return false;
	if (is_there && (!slice_equal(stored.name, role.name) || stored.added != role.added ||
			 stored.deleted != role.deleted))
		findings_add(&call->findings, pointer, "an earlier room says otherwise of it");
	return buried_role_put(call, &owner->id, identity, &role, fault);
}

static bool check_letters(struct call *call, struct slice letters, const char *pointer,
			  bool *is_right, struct fault *fault)
{
	struct id account, room;
	bool is_taken;

	*is_right = code_is_well_formed(letters);
	if (!*is_right)
		findings_add(&call->findings, arena_text(call->arena, "%s/code", pointer),
			     "must be a code (abc-defg-hij)");
	if (!code_find(call, letters, &account, &room, &is_taken, fault))
		return false;
	if (is_taken)
		findings_add(&call->findings, arena_text(call->arena, "%s/code", pointer),
			     "is a code already, here or in another room of this store");
	return true;
}

static bool check_role(struct call *call, const struct template_record *owner,
		       const struct code *code, const char *pointer, struct fault *fault)
{
	struct buried_role buried;
	bool is_there = true;

	if (code->is_lost || template_live_role(owner, code->role) != NULL)
		return true;
	if (!buried_role_find(call, &owner->id, code->role, &buried, &is_there, fault))
		return false;
	if (!is_there)
		findings_add(&call->findings, pointer,
			     "its role is neither one of the template nor a deleted one");
	return true;
}

static bool read_code(struct transfer_input *input, const struct template_record *owner,
		      const json_t *object, const char *pointer, struct room_codes *codes,
		      struct fault *fault)
{
	struct call *call = &input->call;
	struct slice letters = transfer_text(object, "code");
	struct slice lost_role = transfer_text(object, "lost_role");
	struct code code = {
		.is_enabled = json_is_true(json_object_get(object, "enabled")),
		.is_lost = lost_role.data != NULL,
		.role = (uint32_t)transfer_number(object, "identity"),
		.created = transfer_time(input, pointer, object, "created_at") / 1000,
		.updated = transfer_time(input, pointer, object, "updated_at") / 1000,
	};
	bool is_right;

	if (code.is_lost == (json_object_get(object, "identity") != NULL))
		findings_add(&call->findings, pointer, "must have either identity or lost_role");
	if (code.is_lost && code.is_enabled)
		findings_add(&call->findings, arena_text(call->arena, "%s/enabled", pointer),
			     "must be false: its role was lost");
	if (code.is_lost)
		code.role = codes_lost_index(call, codes, lost_role);
	if (!check_letters(call, letters, pointer, &is_right, fault) ||
	    !check_role(call, owner, &code, pointer, fault))
		return false;
	if (!is_right)
		return true;
	memcpy(code.letters, letters.data, letters.size);
	codes->codes[codes->count++] = code;
	return code_put_place(call, letters, &codes->room, fault);
}

/* Behind the codes, to which they are compared. */
static void read_due(struct transfer_input *input, const struct template_record *owner,
		     const json_t *list, struct room_codes *codes)
{
	struct call *call = &input->call;

	codes->due = arena_zero(call->arena, (json_array_size(list) + 1) * sizeof *codes->due);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		const char *pointer = arena_text(call->arena, "/room/codes/due_roles/%zu", i);
		struct due_role *due = &codes->due[codes->due_count++];

		due->identity = (uint32_t)transfer_number(object, "identity");
		due->since = transfer_time(input, pointer, object, "due_at") / 1000;
		if (template_live_role(owner, due->identity) == NULL ||
		    !codes_due_is_right(codes, i))
			findings_add(&call->findings, pointer,
				     "must be a role of the template that has no code, though the "
				     "room was asked for all and its last_identity is not below");
	}
}

/* So that what is not referred to is never stored: nothing would ever remove it. */
static void check_all_referred(struct call *call, const struct room_codes *codes,
			       const json_t *deleted)
{
	const struct code_identities identities = code_identities_of(call, codes);

	for (size_t i = 0; i < json_array_size(deleted); i++) {
		uint64_t identity = transfer_number(json_array_get(deleted, i), "identity");

		if (!code_identities_have(&identities, (uint32_t)identity))
			findings_add(&call->findings,
				     arena_text(call->arena, "/room/codes/deleted_roles/%zu", i),
				     "no code of the room refers to it");
	}
}

static bool read_codes(struct transfer_input *input, const struct template_record *owner,
		       const struct id *room, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *list = json_object_get(object, "codes");
	const json_t *deleted = json_object_get(object, "deleted_roles");
	size_t most = json_array_size(list) + 1;
	struct room_codes codes = {
		.room = *room,
		.was_asked = json_is_true(json_object_get(object, "all_asked")),
		.last_seen = (uint32_t)transfer_number(object, "last_identity"),
		.codes = arena_zero(call->arena, most * sizeof *codes.codes),
	};

	if (object == NULL)
		return true;
	if (codes.last_seen > owner->last_identity)
		findings_add(&call->findings, "/room/codes/last_identity",
			     "must not be above the template's");
	for (size_t i = 0; i < json_array_size(deleted); i++) {
		if (!read_deleted(input, owner, json_array_get(deleted, i),
				  arena_text(call->arena, "/room/codes/deleted_roles/%zu", i),
				  fault))
			return false;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!read_code(input, owner, json_array_get(list, i),
			       arena_text(call->arena, "/room/codes/codes/%zu", i), &codes, fault))
			return false;
	}
	read_due(input, owner, json_object_get(object, "due_roles"), &codes);
	if (call->findings.fault_count == 0)
		check_all_referred(call, &codes, deleted);
	return findings_result(&call->findings, fault) && codes_put(call, &codes, fault);
}

/* ---- rooms ---- */

/* Members that a new room may lack, but not one that is dumped. */
static const char *const room_members[] = {
	"name", "enabled", "recording_source_template", "template_id", "region",
};

static bool check_room(struct call *call, const json_t *document, struct slice name,
		       struct template_record *owner, struct fault *fault)
{
	struct id id = { { 0 } };
	bool is_there = false;

	for (size_t i = 0; i < sizeof room_members / sizeof room_members[0]; i++) {
		if (json_object_get(document, room_members[i]) == NULL)
			findings_add(&call->findings,
				     arena_text(call->arena, "/room/document/%s", room_members[i]),
				     "is required");
	}
	if (json_is_false(json_object_get(document, "recording_source_template")) &&
	    json_object_get(document, "recording_info") == NULL)
		findings_add(&call->findings, "/room/document/recording_info",
			     "is required while recording_source_template is false");
	if (name.size > 0 && !room_find_name(call, name, &id, &is_there, fault))
		return false;
	if (is_there)
		findings_add(&call->findings, "/room/document/name",
			     "an earlier room of the account has it");
	id = transfer_id(document, "template_id");
	if (!template_find(call, &id, owner, &is_there, fault))
		return false;
	if (is_there)
		return true;
	findings_add(&call->findings, "/room/document/template_id",
		     "must be an earlier template of the account");
	return findings_result(&call->findings, fault);
}

static bool put_room(struct call *call, struct room_record *record, struct fault *fault)
{
	return room_put(call, record, fault) &&
	       room_put_name(call, record->name, &record->id, fault) &&
	       sequence_add(call->transaction, list_of_rooms(call, record->is_enabled), &record->id,
			    fault) &&
	       sequence_add(call->transaction,
			    list_of_template_rooms(call, &record->template_id, record->is_enabled),
			    &record->id, fault);
}

bool transfer_read_room(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	json_t *document = json_object_get(object, "document");
	struct room_record record = {
		.template_id = transfer_id(document, "template_id"),
		.created = transfer_time(input, "/room", object, "created_at"),
		.updated = transfer_time(input, "/room", object, "updated_at"),
		.etag = call->etag,
		.is_enabled = json_is_true(json_object_get(document, "enabled")),
		.follows_template =
			json_is_true(json_object_get(document, "recording_source_template")),
		/* Copied: the record's document gets its members anew. */
		.name = arena_copy(call->arena, transfer_name(document)),
	};
	struct template_record owner;

	input->has_above = input->has_above && input->is_at_rooms;
	record.id = transfer_check_id(input, "room", object, input->last_room, record.created);
	if (!check_room(call, document, record.name, &owner, fault))
		return false;
	if (record.follows_template)
		(void)json_object_del(document, "recording_info");
	room_set_document(call, &record, document);
	input->is_at_rooms = input->has_above = true;
	input->above = record.id;
	input->counts.rooms++;
	return read_codes(input, &owner, &record.id, json_object_get(object, "codes"), fault) &&
	       findings_result(&call->findings, fault) && put_room(call, &record, fault);
}
