/* See resources/rooms/rooms.h. A write builds the room's new document, checks it, finds its
 * template and stores the room. The lists that contain the room, its name and its codes are updated
 * according to the difference between the old and the new room.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/rooms/rooms.h"

#include <string.h>

#include "base/text.h"
#include "resources/codes/code_life.h"
#include "resources/media/placing.h"
#include "resources/stored/default_template.h"
#include "resources/garbage.h"
#include "resources/import_origin.h"
#include "resources/stored/revocations.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/stored.h"
#include "resources/stored/room_record.h"
#include "resources/stored/room_times.h"
#include "resources/templates/template_parts.h"
#include "rules/room_rules.h"

/* A room before and after a write. */
struct room_change {
	bool exists;
	bool name_is_free; /* of a new room: its name has been looked up */
	struct room_record former; /* set if it exists */
	struct template_record former_owner;
	struct room_record room;
	struct template_record template;
	json_t *document;
	struct slice echo; /* recording_info with the sent credentials; data NULL: none */
};

/* ---- the new document ---- */

/* Members of a body that are not simply copied as they were sent. */
static const char *const special_members[] = {
	"name", "enabled", "template_id", "recording_source_template", "recording_info",
};

static bool is_plain(const struct field *field)
{
	for (size_t i = 0; i < sizeof special_members / sizeof special_members[0]; i++) {
		if (strcmp(field->name, special_members[i]) == 0)
			return false;
	}
	return (field->flags & FIELD_READ_ONLY) == 0;
}

static const json_t *upload_of(const json_t *recording)
{
	return json_object_get(recording, "upload_info");
}

static void apply_body(struct call *call, struct room_change *change)
{
	const json_t *name = call_member(call, "name");
	const json_t *enabled = call_member(call, "enabled");
	const bool is_by_id = call->parameters[0].data != NULL;
	const json_t *recording = call_member(call, "recording_info");
	json_t *credentials, *kept;

	for (const struct field *field = NULL; (field = shape_next(&room_shape, field)) != NULL;) {
		const json_t *value = call_member(call, field->name);
		const bool is_null = json_is_null(value);

		/* A body that finds its room by name has null for members that it does not set. */
		if (value == NULL || (is_null && !is_by_id) || !is_plain(field))
			continue;
		if (is_null ||
		    (slice_is(text_of_json(value), "") && (field->flags & FIELD_CLEARABLE) != 0))
			json_object_del(change->document, field->name);
		else
			json_object_set(change->document, field->name, call_share(value));
	}

	if (name != NULL)
		change->room.name = text_of_json(name);
	if (enabled != NULL)
		change->room.is_enabled = json_is_true(enabled);

	if (json_is_true(call_member(call, "recording_source_template"))) {
		change->room.follows_template = true;
		json_object_del(change->document, "recording_info");
		return;
	}
	if (recording == NULL)
		return;
	change->room.follows_template = false;
	if (json_object_get(upload_of(recording), "credentials") != NULL)
		change->echo = document_as_text(call->arena, &recording_info_shape, recording,
						true);
	credentials = upload_kept_credentials(
		upload_of(json_object_get(change->document, "recording_info")),
		upload_of(recording));
	kept = credentials == NULL ? call_share(recording) : call_copy(call, recording);
	if (credentials != NULL)
		json_object_set(call_copy_member(kept, "upload_info"), "credentials", credentials);
	json_object_set(change->document, "recording_info", kept);
}

/* ---- the template ---- */

static bool refuse_template(struct call *call, struct fault *fault)
{
	struct slice shown = text_shown(call->arena, call_member(call, "template_id"));

	return fault_member(fault, FAULT_INVALID_BODY, "Error: template not found", "/template_id",
			    "must be a template of this account, got %.*s", (int)shown.size,
			    shown.data);
}

static bool find_owner(struct call *call, struct room_change *change, struct fault *fault)
{
	const json_t *supplied = call_member(call, "template_id");
	struct id id;
	bool is_there;

	if (supplied == NULL && change->exists) {
		change->template = change->former_owner;
		return true;
	}
	if (supplied == NULL) {
		if (!default_template_load(call, &id, &is_there, fault))
			return false;
		if (is_there)
			return template_load(call, &id, &change->template, fault);
		return fault_member(fault, FAULT_INVALID_BODY, "Error: no default template",
				    "/template_id",
				    "is required because the account has no default template");
	}
	if (!id_parse(text_of_json(supplied), &id))
		return refuse_template(call, fault);
	if (!template_find(call, &id, STORE_TO_SHOW, &change->template, &is_there, fault))
		return false;
	return is_there || refuse_template(call, fault);
}

/* ---- storing ---- */

/* Checks that no other room has the name. Names are compared ignoring case, so a new spelling of
 * the room's own name is not a conflict. */
static bool check_room_name(struct call *call, const struct room_change *change,
			    struct fault *fault)
{
	struct room_record holder;
	bool is_there;

	if (change->exists ? text_equal_ignoring_case(change->former.name, change->room.name)
			   : change->name_is_free)
		return true;
	if (!room_find_named(call, change->room.name, STORE_TO_SHOW, &holder, &is_there, fault))
		return false;
	return !is_there || fault_set(fault, FAULT_CONFLICT, "Overwrite error");
}

static bool move_codes(struct call *call, const struct room_change *change, struct fault *fault)
{
	if (!change->exists || id_compare(&change->former_owner.id, &change->template.id) == 0)
		return true;
	return codes_move(call, &change->room.id, &change->former_owner, &change->template, fault);
}

/* ---- the event log ---- */

static void note_room(struct call *call, const char *type, const struct room_record *room,
		      struct changes *changes)
{
	const struct audit_data data = {
		.kind = "room",
		.id = id_as_text(call->arena, &room->id),
		.name = room->name,
		.changes = changes,
		.more = { { "template_id", id_as_text(call->arena, &room->template_id), false } },
	};

	audit_note(call, type, &data);
}

static void note_room_update(struct call *call, const struct room_change *change)
{
	static const char *const ignored[] = { "updated_at", NULL };
	const struct slice former = room_text(call, &change->former, &change->former_owner);
	const struct slice text = room_text(call, &change->room, &change->template);
	struct changes changes = CHANGES_INITIAL(call->arena);

	changes_find_in_texts(&changes, SLICE(""), former, text, ignored);
	if (!slice_equal(change->former.hidden, change->room.hidden))
		changes_find_hidden(
			&changes, SLICE(""), &room_shape,
			stored_json(call, change->former.hidden, "room", &change->room.id),
			stored_json(call, change->room.hidden, "room", &change->room.id));
	note_room(call, "room.updated", &change->room, &changes);
}

/* Sets the parts of the record that follow from the document and the template. */
static void set_document(struct call *call, struct room_change *change)
{
	struct room_record *room = &change->room;

	room->template_id = change->template.id;
	if (json_object_get(change->document, "region") == NULL)
		object_put(change->document, "region", json_of_text(change->template.region));
	room_set_document(call, room, change->document);
}

/* Checks, in this order: the rules of the result, the template, the conditions of the request,
 * conflicts. */
static bool save_room(struct call *call, struct room_change *change, struct fault *fault)
{
	struct room_record *room = &change->room;
	uint64_t condition = change->exists ? room_etag(&change->former, &change->former_owner) : 0;

	apply_body(call, change);
	if (!document_finish(&room_shape, change->document, &call->findings, fault) ||
	    !find_owner(call, change, fault) ||
	    !call_precondition(call, change->exists, condition, fault))
		return false;
	if (!change->exists) {
		if (!garbage_collect(call, fault) ||
		    !store_new_id(call->transaction, &kind_room, call->environment->clock,
				  &call->now, &room->id, fault))
			return false;
		room->created = call->now;
	}
	room->updated = call->now;
	room->etag = call->etag;
	set_document(call, change);
	if (!check_room_name(call, change, fault) || !move_codes(call, change, fault) ||
	    !room_put(call, room, fault))
		return false;

	if (change->exists)
		note_room_update(call, change);
	else
		note_room(call, "room.created", room, NULL);
	call_etag(call, room_etag(room, &change->template));
	if (change->echo.data != NULL)
		call_keep_instead(call, room_text(call, room, &change->template));
	return room_answer(call, room, &change->template, change->echo);
}

static void begin_change(struct call *call, struct room_change *change)
{
	change->exists = true;
	change->room = change->former;
	change->document = room_document(call, &change->former);
}

static bool load_former(struct call *call, struct room_change *change, struct fault *fault)
{
	begin_change(call, change);
	return template_load(call, &change->former.template_id, &change->former_owner, fault);
}

/* Begins a room with a generated name, which no other room has. */
static void begin_room(struct call *call, struct room_change *change)
{
	change->room = (struct room_record){
		.is_enabled = true,
		.follows_template = true,
		.name = uuid_as_text(call->arena, call->environment->clock),
	};
	change->document = arena_json(call->arena, json_object());
}

bool rooms_create(struct call *call, struct fault *fault)
{
	const json_t *name = call_member(call, "name");
	struct room_change change = { .exists = false };
	bool is_there = false;

	if (name != NULL && !room_find_named(call, text_of_json(name), STORE_TO_CHANGE,
					     &change.former, &is_there, fault))
		return false;
	if (is_there)
		return load_former(call, &change, fault) && save_room(call, &change, fault);
	change.name_is_free = true;
	begin_room(call, &change);
	return save_room(call, &change, fault);
}

bool rooms_update(struct call *call, struct fault *fault)
{
	struct room_change change = { .former = *call->room, .former_owner = *call->template };

	begin_change(call, &change);
	return save_room(call, &change, fault);
}

bool room_disable(struct call *call, const struct id *id, struct fault *fault)
{
	struct room_change change = { .exists = false };

	if (!room_find(call, id, STORE_TO_CHANGE, &change.former, &change.exists, fault))
		return false;
	if (!change.exists || !change.former.is_enabled)
		return true;
	if (!load_former(call, &change, fault))
		return false;
	change.template = change.former_owner;
	change.room.is_enabled = false;
	change.room.updated = call->now;
	change.room.etag = call->etag;
	set_document(call, &change);
	if (!room_put(call, &change.room, fault))
		return false;
	note_room_update(call, &change);
	return true;
}

/* ---- import ---- */

static bool room_is_same(const struct room_record *room, const struct room_record *former)
{
	for (size_t i = 0; i < sizeof room->pieces / sizeof room->pieces[0]; i++) {
		if (!slice_equal(room->pieces[i], former->pieces[i]))
			return false;
	}
	return slice_equal(room->recording, former->recording) &&
	       slice_equal(room->hidden, former->hidden) &&
	       room->follows_template == former->follows_template;
}

bool rooms_import(struct call *call, bool *is_new, struct fault *fault)
{
	struct import_origin origin = import_origin(call, "created_at", "updated_at");
	struct room_change change = { .exists = false };
	struct room_record *room = &change.room;

	if (origin.has_id &&
	    !room_find(call, &origin.id, STORE_TO_CHANGE, &change.former, &change.exists, fault))
		return false;
	*is_new = !change.exists;
	if (change.exists && !load_former(call, &change, fault))
		return false;
	if (!change.exists) {
		begin_room(call, &change);
		room->created = origin.created;
	}
	apply_body(call, &change);
	/* Finds all errors of the client before it stores anything. */
	if (!document_finish(&room_shape, change.document, &call->findings, fault) ||
	    !find_owner(call, &change, fault) || !check_room_name(call, &change, fault))
		return false;
	if (!change.exists || origin.has_updated)
		room->updated = import_updated(&origin, room->created);
	set_document(call, &change);
	if (change.exists && room_is_same(room, &change.former))
		return true;
	if (!change.exists && !import_take_id(call, &kind_room, &origin, fault))
		return false;
	if (change.exists && !origin.has_updated)
		room->updated = call->now;
	room->id = origin.id;
	room->etag = call->etag;
	set_document(call, &change);
	return room_times_note(call, &room->id, room->created, fault) &&
	       move_codes(call, &change, fault) && room_put(call, room, fault);
}

/* Answers with the room, and where it is if it has a place. */
static bool answer_placed(struct call *call, struct fault *fault)
{
	struct buffer body = BUFFER_INITIAL(call->arena);
	struct slice backend, text;

	if (!placing_shown(call, call->room, call->template, &backend, fault))
		return false;
	if (backend.data == NULL)
		return room_answer(call, call->room, call->template, (struct slice){ 0 });
	text = room_text(call, call->room, call->template);
	buffer_append(&body, (struct slice){ text.data, text.size - 1 });
	buffer_append_text(&body, ",\"backend\":");
	buffer_append_string(&body, backend);
	buffer_append_byte(&body, '}');
	return call_answer(call, buffer_slice(&body));
}

bool rooms_get(struct call *call, struct fault *fault)
{
	const uint64_t etag = room_etag(call->room, call->template);

	call_etag(call, etag);
	return call_not_modified(call, etag) || answer_placed(call, fault);
}

bool rooms_delete(struct call *call, struct fault *fault)
{
	const struct room_record *room = call->room;

	if (!call_precondition(call, true, room_etag(room, call->template), fault))
		return false;
	note_room(call, "room.deleted", room, NULL);
	return garbage_collect(call, fault) && garbage_add(call, &kind_room, &room->id, fault) &&
	       store_remove(call->transaction, &kind_room, &room->stored, fault) &&
	       revocation_add_room(call, &room->id, fault) && call_answer_nothing(call);
}
