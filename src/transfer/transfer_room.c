/* The room of a dump, and its codes: see transfer/transfer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "resources/codes/code_terms.h"
#include "resources/codes/code_words.h"
#include "resources/rooms/room_record.h"
#include "resources/rooms/room_times.h"
#include "transfer/transfer_parts.h"

/* ---- codes ---- */

/* The codes of a room that are being read. */
struct code_reading {
	struct transfer_input *input;
	const struct template_record *owner;
	const json_t *deleted; /* deleted roles by their identities; format 1 has them */
	struct room_codes codes;
};

static bool check_letters(struct call *call, struct slice letters, const char *pointer,
			  bool *is_right, struct fault *fault)
{
	struct code code;
	struct id account;
	bool is_taken;

	*is_right = code_can_be(letters);
	if (!*is_right)
		findings_add(&call->findings, arena_text(call->arena, "%s/code", pointer),
			     "must be a code (abc-defg-hij or abc-def-ghi), or words for one");
	if (!code_find(call, letters, STORE_TO_SHOW, &code, &account, &is_taken, fault))
		return false;
	if (is_taken)
		findings_add(&call->findings, arena_text(call->arena, "%s/code", pointer),
			     "is a code already, here or in another room of this store");
	*is_right = *is_right && !is_taken;
	return !*is_right || transfer_take_letters(call, letters, pointer, fault);
}

bool transfer_take_letters(struct call *call, struct slice letters, const char *pointer,
			   struct fault *fault)
{
	struct id account;
	bool is_kept;

	if (!code_words_find(call, letters, &account, &is_kept, fault))
		return false;
	if (is_kept && id_compare(&account, &call->account) != 0) {
		findings_add(&call->findings, pointer,
			     code_is_words(letters) ? "its words are those of another account"
						    : "was a code of another account");
		return true;
	}
	if (code_is_words(letters))
		return is_kept || code_words_claim(call, letters, fault);
	return code_words_release(call, letters, fault);
}

static void read_terms(struct transfer_input *input, const json_t *object, const char *pointer,
		       struct code *code)
{
	const json_t *terms = json_object_get(object, "terms");

	if (terms == NULL)
		return;
	code_terms_read(&input->call, terms, &code->terms);
	if ((code->terms.set & CODE_MAX_USES) == 0)
		return;
	code->terms.uses = (uint32_t)transfer_number(object, "uses");
	if (json_object_get(object, "last_use") != NULL)
		code->terms.last_use = transfer_time(input, pointer, object, "last_use");
	code->terms.last_user = transfer_text(object, "last_user");
	code->terms.last_repeats = (uint32_t)transfer_number(object, "last_repeats");
}

/* The deleted roles of a room by their identities, since there may be as many as codes. */
static json_t *by_identity(struct call *call, const json_t *deleted)
{
	json_t *roles = arena_json(call->arena, json_object()), *role;
	char key[16];
	size_t i;

	json_array_foreach(deleted, i, role) {
		(void)snprintf(key, sizeof key, "%u", (unsigned)transfer_number(role, "identity"));
		json_object_set(roles, key, role);
	}
	return roles;
}

static const json_t *find_deleted(const json_t *roles, uint32_t identity)
{
	char key[16];

	(void)snprintf(key, sizeof key, "%u", identity);
	return json_object_get(roles, key);
}

static void make_former(struct code *code, struct slice role)
{
	code->is_former = true;
	code->is_enabled = false;
	code->role = role;
}

/* Sets the role of the code, or its group. */
static void set_role(struct code_reading *reading, const json_t *object, const char *pointer,
		     struct code *code)
{
	struct call *call = &reading->input->call;
	const struct slice lost_role = transfer_text(object, "lost_role");
	const uint32_t identity = (uint32_t)transfer_number(object, "identity");
	const json_t *deleted;

	if ((lost_role.data != NULL) == (identity != 0))
		findings_add(&call->findings, pointer, "must have either identity or lost_role");
	if (lost_role.data != NULL && code->is_enabled)
		findings_add(&call->findings, arena_text(call->arena, "%s/enabled", pointer),
			     "must be false: its role is gone");
	if (lost_role.data != NULL) {
		make_former(code, lost_role);
		return;
	}
	if (template_live_role(reading->owner, identity) != NULL) {
		code->group = codes_group_of(call, &reading->codes, identity)->number;
		return;
	}
	deleted = find_deleted(reading->deleted, identity);
	if (deleted == NULL) {
		findings_add(&call->findings, pointer,
			     "its role is neither one of the template nor a deleted one");
		return;
	}
	if (code->is_enabled)
		code->updated = transfer_time(reading->input, pointer, deleted, "deleted_at") /
				1000;
	make_former(code, transfer_text(deleted, "name"));
}

/* The due roles of the room's line are compared with the codes of that line when these have been
 * read (read_due); here they are compared with a code of a later line. */
static void check_not_due(struct code_reading *reading, const struct code *code,
			  const char *pointer)
{
	struct call *call = &reading->input->call;
	const struct room_codes *codes = &reading->codes;
	const struct code_group *group = codes_group(codes, code->group);

	for (size_t i = 0; i < codes->due_count && code_is_plain(code) && group != NULL; i++) {
		if (codes->due[i].identity == group->identity)
			findings_add(&call->findings,
				     arena_text(call->arena, "%s/identity", pointer),
				     "must not be that of a due role of the room's line, which "
				     "has no code");
	}
}

/* Tokens refer to a code by its place: it is kept, where the room's codes are in order. */
static struct id next_place(struct code_reading *reading, const json_t *object)
{
	const uint64_t place = transfer_number(object, "place");
	uint64_t *last = &reading->codes.last_place;

	*last = place > *last ? place : *last + 1;
	return id_lowest(0, *last);
}

static bool read_code(struct code_reading *reading, const json_t *object, const char *pointer,
		      struct fault *fault)
{
	struct transfer_input *input = reading->input;
	const struct slice letters = transfer_text(object, "code");
	struct code code = {
		.room = reading->codes.room,
		.letters = letters,
		.place = next_place(reading, object),
		.is_enabled = json_is_true(json_object_get(object, "enabled")),
		.created = transfer_time(input, pointer, object, "created_at") / 1000,
		.updated = transfer_time(input, pointer, object, "updated_at") / 1000,
	};
	bool is_right;

	set_role(reading, object, pointer, &code);
	read_terms(input, object, pointer, &code);
	if (!check_letters(&input->call, letters, pointer, &is_right, fault))
		return false;
	/* A finding, which ends the line. */
	if (!is_right || (!code.is_former && code.group == 0))
		return true;
	check_not_due(reading, &code, pointer);
	return codes_count_added(&reading->codes, &code, fault) &&
	       code_put(&input->call, &code, fault);
}

/* After the codes, to which they are compared. */
static void read_due(struct code_reading *reading, const json_t *list)
{
	struct call *call = &reading->input->call;
	struct room_codes *codes = &reading->codes;

	codes->due = arena_zero(call->arena, (json_array_size(list) + 1) * sizeof *codes->due);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		const char *pointer = arena_text(call->arena, "/room/codes/due_roles/%zu", i);
		struct due_role *due = &codes->due[codes->due_count++];

		due->identity = (uint32_t)transfer_number(object, "identity");
		due->since = transfer_time(reading->input, pointer, object, "due_at") / 1000;
		if (template_live_role(reading->owner, due->identity) == NULL ||
		    !codes_due_is_right(codes, i))
			findings_add(&call->findings, pointer,
				     "must be a role of the template that has no code, though the "
				     "room was asked for all and its last_identity is not below");
	}
}

static bool read_list(struct code_reading *reading, const json_t *list, const char *pointer,
		      struct fault *fault)
{
	struct arena *arena = reading->input->call.arena;

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!read_code(reading, json_array_get(list, i),
			       arena_text(arena, "%s/%zu", pointer, i), fault))
			return false;
	}
	return true;
}

static bool read_codes(struct transfer_input *input, const struct template_record *owner,
		       const struct id *room, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *list = json_object_get(object, "codes");
	struct code_reading reading = {
		.input = input,
		.owner = owner,
		.deleted = by_identity(call, json_object_get(object, "deleted_roles")),
	};

	if (object == NULL)
		return true;
	if (!codes_load(call, room, STORE_TO_CHANGE, &reading.codes, fault))
		return false;
	reading.codes.was_asked = json_is_true(json_object_get(object, "all_asked"));
	reading.codes.last_seen = (uint32_t)transfer_number(object, "last_identity");
	if (reading.codes.last_seen > owner->last_identity)
		findings_add(&call->findings, "/room/codes/last_identity",
			     "must not be above the template's");
	if (!read_list(&reading, list, "/room/codes/codes", fault))
		return false;
	read_due(&reading, json_object_get(object, "due_roles"));
	return findings_result(&call->findings, fault) && codes_put(call, &reading.codes, fault);
}

bool transfer_read_codes(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const struct id room = transfer_id(object, "room_id");
	struct code_reading reading = { .input = input };
	struct template_record owner;

	if (!input->may_have_codes || id_compare(&room, &input->above) != 0) {
		findings_add(&call->findings, "/codes/room_id",
			     "must be the room of the line before it, which has codes");
		return findings_result(&call->findings, fault);
	}
	if (!template_load(call, &input->owner, &owner, fault) ||
	    !codes_load(call, &room, STORE_TO_CHANGE, &reading.codes, fault))
		return false;
	reading.owner = &owner;
	if (!read_list(&reading, json_object_get(object, "codes"), "/codes/codes", fault) ||
	    !findings_result(&call->findings, fault))
		return false;
	input->counts.codes++;
	return codes_put(call, &reading.codes, fault);
}

/* ---- rooms ---- */

/* Members that a dumped room must have, though a request need not have them. */
static const char *const room_members[] = {
	"name", "enabled", "recording_source_template", "template_id", "region",
};

static bool check_room(struct call *call, const json_t *document, struct slice name,
		       struct template_record *owner, struct fault *fault)
{
	struct room_record holder;
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
	if (name.size > 0 && !room_find_named(call, name, STORE_TO_SHOW, &holder, &is_there, fault))
		return false;
	if (is_there)
		findings_add(&call->findings, "/room/document/name",
			     "an earlier room of the account has it");
	id = transfer_id(document, "template_id");
	if (!template_find(call, &id, STORE_TO_SHOW, owner, &is_there, fault))
		return false;
	if (is_there)
		return true;
	findings_add(&call->findings, "/room/document/template_id",
		     "must be an earlier template of the account");
	return findings_result(&call->findings, fault);
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
	record.id = transfer_check_id(input, "room", object);
	if (!check_room(call, document, record.name, &owner, fault))
		return false;
	if (record.follows_template)
		(void)json_object_del(document, "recording_info");
	room_set_document(call, &record, document);
	input->is_at_rooms = input->has_above = true;
	input->above = record.id;
	input->may_have_codes = json_object_get(object, "codes") != NULL;
	input->owner = record.template_id;
	input->counts.rooms++;
	return read_codes(input, &owner, &record.id, json_object_get(object, "codes"), fault) &&
	       findings_result(&call->findings, fault) &&
	       room_times_note(call, &record.id, record.created, fault) &&
	       room_put(call, &record, fault);
}
