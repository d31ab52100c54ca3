/* See resources/rooms.h. A write makes the room's document as it will be, has the rules look at it,
 * finds its template, and stores: the lists a room is in, its name and its codes follow from the
 * difference between what it was and what it is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/rooms.h"

#include <stdio.h>

#include "base/text.h"
#include "resources/account_record.h"
#include "resources/code_life.h"
#include "resources/packed.h"
#include "resources/room_record.h"
#include "rules/room_rules.h"
#include "store/sequence.h"

/* A room on its way: what it was, what it will be. */
struct change {
	bool exists;
	struct room_record former; /* when it exists */
	struct template_record former_owner;
	struct room_record room;
	struct template_record owner;
	json_t *document;
	struct slice echo; /* recording_info with the credentials of this request, or none */
};

/* ---- the document as it will be ---- */

/* Members that are taken over as they were supplied. */
static const char *const plain_members[] = {
	"description", "region", "large_room", "size", "max_duration_seconds", "webhook", "polls",
};

static const json_t *upload_of(const json_t *recording)
{
	return json_object_get(recording, "upload_info");
}

/* Whether an upload that was sent without credentials is for the same bucket as the stored one. */
static bool keeps_credentials(const json_t *stored, const json_t *upload)
{
	return upload != NULL && json_object_get(upload, "credentials") == NULL &&
	       json_equal(json_object_get(stored, "type"), json_object_get(upload, "type")) &&
	       json_equal(json_object_get(stored, "location"), json_object_get(upload, "location"));
}

/* The recording that was sent, with the stored credentials where it keeps them. */
static json_t *recording_to_store(struct call *call, const json_t *stored, const json_t *sent)
{
	json_t *credentials = json_object_get(upload_of(stored), "credentials");
	json_t *recording;

	if (credentials == NULL || !keeps_credentials(upload_of(stored), upload_of(sent)))
		return call_share(sent);
	recording = call_copy(call, sent);
	json_object_set(call_copy_member(recording, "upload_info"), "credentials", credentials);
	return recording;
}

static void set_recording(struct call *call, struct change *change)
{
	const json_t *recording = call_member(call, "recording_info");
	struct buffer echo = BUFFER_INITIAL(call->arena);

	if (json_is_true(call_member(call, "recording_source_template"))) {
		change->room.follows_template = true;
		json_object_del(change->document, "recording_info");
		return;
	}
	if (recording == NULL)
		return;
	change->room.follows_template = false;
	if (json_object_get(upload_of(recording), "credentials") != NULL) {
		document_write(&recording_info_shape, recording, (struct slice){ 0 }, true, &echo);
		change->echo = buffer_slice(&echo);
	}
	json_object_set(change->document, "recording_info",
			recording_to_store(call,
					   json_object_get(change->document, "recording_info"),
					   recording));
}

static void apply_body(struct call *call, struct change *change)
{
	const json_t *name = call_member(call, "name");
	const json_t *enabled = call_member(call, "enabled");

	for (size_t i = 0; i < sizeof plain_members / sizeof plain_members[0]; i++) {
		const json_t *value = call_member(call, plain_members[i]);

		if (value != NULL)
			json_object_set(change->document, plain_members[i], call_share(value));
	}
	if (name != NULL)
		change->room.name = text_of_json(name);
	if (enabled != NULL)
		change->room.is_enabled = json_is_true(enabled);
	set_recording(call, change);
}

/* ---- its template ---- */

/* The service's own words for one fault of a body. */
static bool refuse_as(struct fault *fault, const char *message)
{
	(void)snprintf(fault->message, sizeof fault->message, "%s", message);
	return false;
}

static bool refuse_template(struct call *call, struct fault *fault)
{
	struct slice shown = text_shown(call->arena, call_member(call, "template_id"));

	fault_detail(fault, FAULT_INVALID_BODY,
		     "/template_id: must be a template of this account, got %.*s", (int)shown.size,
		     shown.data);
	return refuse_as(fault, "Error: template not found");
}

static bool find_default(struct call *call, struct id *id, struct fault *fault)
{
	struct account_record account;

	if (!account_load(call, &account, fault))
		return false;
	if (!account.has_default) {
		fault_detail(fault, FAULT_INVALID_BODY,
			     "/template_id: is required while no template is the default");
		return refuse_as(fault, "Error: no default template");
	}
	*id = account.default_template;
	return true;
}

static bool find_owner(struct call *call, struct change *change, struct fault *fault)
{
	const json_t *supplied = call_member(call, "template_id");
	struct id id;
	bool is_there;

	if (supplied == NULL && change->exists) {
		change->owner = change->former_owner;
		return true;
	}
	if (supplied == NULL)
		return find_default(call, &id, fault) &&
		       template_load(call, &id, &change->owner, fault);
	if (!id_parse(text_of_json(supplied), &id))
		return refuse_template(call, fault);
	if (!template_find(call, &id, &change->owner, &is_there, fault))
		return false;
	return is_there || refuse_template(call, fault);
}

/* ---- storing ---- */

static bool move_lists(struct call *call, const struct change *change, struct fault *fault)
{
	const struct room_record *former = &change->former, *room = &change->room;
	bool switches = !change->exists || former->is_enabled != room->is_enabled;
	bool moves = !change->exists || id_compare(&former->template_id, &room->template_id) != 0;
	struct transaction *transaction = call->transaction;

	if (change->exists && switches &&
	    !sequence_remove(transaction, list_of_rooms(call, former->is_enabled), &room->id,
			     fault))
		return false;
	if (change->exists && (switches || moves) &&
	    !sequence_remove(transaction,
			     list_of_template_rooms(call, &former->template_id, former->is_enabled),
			     &room->id, fault))
		return false;
	if (switches &&
	    !sequence_add(transaction, list_of_rooms(call, room->is_enabled), &room->id, fault))
		return false;
	return !(switches || moves) ||
	       sequence_add(transaction,
			    list_of_template_rooms(call, &room->template_id, room->is_enabled),
			    &room->id, fault);
}

/* Names are compared without regard to case, so another spelling of the same name is no conflict. */
static bool move_name(struct call *call, const struct change *change, struct fault *fault)
{
	struct id holder;
	bool is_there;

	if (!room_find_name(call, change->room.name, &holder, &is_there, fault))
		return false;
	if (is_there && id_compare(&holder, &change->room.id) == 0)
		return true;
	if (is_there)
		return fault_set(fault, FAULT_CONFLICT, "Overwrite error");
	if (change->exists && !room_remove_name(call, change->former.name, fault))
		return false;
	return room_put_name(call, change->room.name, &change->room.id, fault);
}

static bool move_codes(struct call *call, const struct change *change, struct fault *fault)
{
	if (!change->exists || id_compare(&change->former_owner.id, &change->owner.id) == 0)
		return true;
	return codes_move(call, &change->room.id, &change->former_owner, &change->owner, fault);
}

static bool new_id(struct call *call, struct change *change, struct fault *fault)
{
	struct account_record account;

	if (change->exists)
		return true;
	if (!account_load(call, &account, fault))
		return false;
	change->room.id = account_next_id(call, &account, &account.room_number);
	change->room.created = call->now;
	return account_put(call, &account, fault);
}

/* The order is that of decisions.md section 1: rules of the result, the template, the conditions of
 * the request, conflicts. */
static bool save(struct call *call, struct change *change, struct fault *fault)
{
	struct room_record *room = &change->room;
	uint64_t condition = change->exists ? room_etag(&change->former, &change->former_owner) : 0;

	apply_body(call, change);
	if (!document_finish(&room_shape, change->document, &call->findings, fault) ||
	    !find_owner(call, change, fault) ||
	    !call_precondition(call, change->exists, condition, fault) ||
	    !new_id(call, change, fault))
		return false;
	room->template_id = change->owner.id;
	room->updated = call->now;
	room->etag = call->etag;
	if (json_object_get(change->document, "region") == NULL)
		json_object_set_new(
			change->document, "region",
			json_stringn(change->owner.region.data, change->owner.region.size));
	room_set_document(call, room, change->document);
	if (!move_name(call, change, fault) || !move_lists(call, change, fault) ||
	    !move_codes(call, change, fault) || !room_put(call, room, fault))
		return false;
	call_etag(call, room_etag(room, &change->owner));
	return room_answer(call, room, &change->owner, change->echo);
}

static bool load_former(struct call *call, struct change *change, struct fault *fault)
{
	change->exists = true;
	change->room = change->former;
	change->document = room_document(call, &change->former);
	return template_load(call, &change->former.template_id, &change->former_owner, fault);
}

bool rooms_create(struct call *call, struct fault *fault)
{
	const json_t *name = call_member(call, "name");
	struct change change = { .exists = false };
	char generated[UUID_TEXT_SIZE];
	struct id id;
	bool is_there = false;

	if (name != NULL && !room_find_name(call, text_of_json(name), &id, &is_there, fault))
		return false;
	if (is_there)
		return room_load(call, &id, &change.former, fault) &&
		       load_former(call, &change, fault) && save(call, &change, fault);
	uuid_make(call->environment->clock, generated);
	change.room = (struct room_record){
		.is_enabled = true,
		.follows_template = true,
		.name = arena_copy(call->arena, slice_of(generated)),
	};
	change.document = arena_json(call->arena, json_object());
	return save(call, &change, fault);
}

bool rooms_update(struct call *call, struct fault *fault)
{
	struct change change = { .exists = true };

	return room_load_named(call, call->parameters[0], &change.former, fault) &&
	       load_former(call, &change, fault) && save(call, &change, fault);
}

bool rooms_get(struct call *call, struct fault *fault)
{
	struct room_record room;
	struct template_record owner;

	if (!room_load_named(call, call->parameters[0], &room, fault) ||
	    !template_load(call, &room.template_id, &owner, fault))
		return false;
	call_etag(call, room_etag(&room, &owner));
	return call_not_modified(call, room_etag(&room, &owner)) ||
	       room_answer(call, &room, &owner, (struct slice){ 0 });
}

bool room_remove(struct call *call, const struct room_record *room, struct fault *fault)
{
	struct transaction *transaction = call->transaction;

	return store_remove(transaction, STORE_ROOM,
			    account_key(call->arena, &call->account, id_slice(&room->id)), fault) &&
	       room_remove_name(call, room->name, fault) &&
	       sequence_remove(transaction, list_of_rooms(call, room->is_enabled), &room->id,
			       fault) &&
	       sequence_remove(transaction,
			       list_of_template_rooms(call, &room->template_id, room->is_enabled),
			       &room->id, fault) &&
	       codes_remove_all(call, &room->id, fault);
}

bool rooms_delete(struct call *call, struct fault *fault)
{
	struct room_record room;
	struct template_record owner;

	return room_load_named(call, call->parameters[0], &room, fault) &&
	       template_load(call, &room.template_id, &owner, fault) &&
	       call_precondition(call, true, room_etag(&room, &owner), fault) &&
	       room_remove(call, &room, fault) && call_answer_nothing(call);
}
