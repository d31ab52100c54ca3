/* Rooms in a dump, and how they are checked (resources/record_kind.h). A dump contains a room as a
 * document, made from its pieces, and its hidden members separately.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/record_kind.h"
#include "resources/stored/room_record.h"
#include "resources/stored/room_times.h"
#include "resources/stored.h"
#include "rules/room_rules.h"

/* Returns the room's text, with null for the members that belong to its template. */
static struct slice own_text(struct call *call, const struct room_record *room)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	buffer_append(&text, room->pieces[0]);
	buffer_append(&text, room->follows_template ? SLICE("null") : room->recording);
	buffer_append(&text, room->pieces[1]);
	buffer_append(&text, SLICE("null"));
	buffer_append(&text, room->pieces[2]);
	return buffer_slice(&text);
}

static void room_print(struct call *call, void *record)
{
	struct room_record *room = record;

	room->document = own_text(call, room);
}

/* Members that requests do not send. */
static const char *const not_sent[] = {
	"id", "customer_id", "template", "created_at", "updated_at", "customer",
};

/* Members that the document of a room must have, although a request need not send them. */
static const char *const required[] = {
	"name", "enabled", "recording_source_template", "template_id", "region",
};

static bool room_load_dumped(struct call *call, void *record, const char *pointer,
			     struct findings *findings, struct fault *fault)
{
	const char *at = arena_text(call->arena, "%s/document", pointer);
	struct room_record *room = record;
	const json_t *hidden = stored_json(call, room->hidden, "room", &room->id);
	json_t *document = stored_json(call, room->document, "room", &room->id);
	char template_id[ID_TEXT_SIZE + 1];

	for (size_t i = 0; i < sizeof not_sent / sizeof not_sent[0]; i++)
		(void)json_object_del(document, not_sent[i]);
	for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
		if (json_object_get(document, required[i]) == NULL)
			findings_add(findings, arena_text(call->arena, "%s/%s", at, required[i]),
				     "is required");
	}
	room->follows_template =
		json_is_true(json_object_get(document, "recording_source_template"));
	if (room->follows_template)
		(void)json_object_del(document, "recording_info");
	document_unhide(&room_shape, document, hidden);
	if (json_equal(document_hidden(call->arena, &room_shape, document), hidden) == 0)
		findings_add(findings, arena_text(call->arena, "%s/hidden", pointer),
			     "must have only members of the document");
	record_check_document(&room_shape, document, at, findings);
	if (!room->follows_template && json_object_get(document, "recording_info") == NULL)
		findings_add(findings, arena_text(call->arena, "%s/recording_info", at),
			     "is required while recording_source_template is false");
	id_print(&room->template_id, template_id);
	if (!slice_is(text_of_json(json_object_get(document, "template_id")), template_id))
		findings_add(findings, arena_text(call->arena, "%s/template_id", at),
			     "must be the template_id of the room");
	if (!findings_result(findings, fault))
		return false;
	room->name = arena_copy(call->arena, text_of_json(json_object_get(document, "name")));
	room->is_enabled = json_is_true(json_object_get(document, "enabled"));
	room_set_document(call, room, document);
	room->key = text_lower(call->arena, room->name);
	return true;
}

static bool room_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct room_record *room = record;

	return room_times_note(call, &room->id, room->created, fault) &&
	       room_put(call, room, fault);
}

static bool says(const json_t *object, const char *name, struct slice text)
{
	const struct slice value = text_of_json(json_object_get(object, name));

	return value.data != NULL && slice_equal(value, text);
}

static bool room_derive(struct call *call, const void *record, struct findings *findings,
			struct fault *fault)
{
	const struct room_record *room = record;
	const json_t *text = json_text_read_stored(call->arena, own_text(call, room), NULL);
	struct room_times times = { .later = 0 };

	if (!says(text, "id", id_as_text(call->arena, &room->id)) ||
	    !says(text, "name", room->name) ||
	    (room->title.size > 0 ? !says(text, "title", room->title)
				  : json_object_get(text, "title") != NULL) ||
	    !says(text, "customer_id", slice_of(call->account_text)) ||
	    json_is_true(json_object_get(text, "enabled")) != room->is_enabled)
		findings_add(findings, "", "its text does not match its parts");
	if (!slice_equal(text_lower(call->arena, room->name), room->key))
		findings_add(findings, "/name", "is not the name by which the room is found");
	if (room_times_cover(&times, &room->id, room->created))
		return true;
	if (!room_times_load(call, &times, fault))
		return false;
	if (!room_times_cover(&times, &room->id, room->created))
		findings_add(findings, "/id",
			     "starts with a different time than the list of rooms expects");
	return true;
}

const struct record_kind room_kind = {
	.table = &room_table,
	.line = "room",
	.shapes = { &room_shape },
	.order = RECORD_PAGES,
	.print = room_print,
	.load = room_load_dumped,
	.put = room_put_loaded,
	.derive = room_derive,
};

/* Derived when rooms are loaded. */
const struct record_kind room_times_kind = { &room_times_table, .order = RECORD_ONE };
