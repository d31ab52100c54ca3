/* See resources/stored/room_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/room_record.h"

#include "base/digest.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "records/record.h"
#include "resources/stored.h"
#include "rules/room_rules.h"

#define PIECE_MOST ((int64_t)1 << 20)
/* 128 characters. */
#define TITLE_MOST 512

/* ---- the stored form ---- */

static const struct member room_members[] = {
	{ "id", AS_KEY, AT(struct room_record, id) },
	{ "template_id", AS_PARENT_OF(template, REFUSES), AT(struct room_record, template_id) },
	{ "enabled", AS_SWITCH, MARKED(MEMBER_DERIVED), AT(struct room_record, is_enabled) },
	{ "key", AS_NAME, MARKED(MEMBER_DERIVED), AT(struct room_record, key) },
	{ "created_at", AS_TIME, AT(struct room_record, created) },
	{ "updated_at", AS_TIME, AT(struct room_record, updated) },
	{ "etag", AS_ETAG, AT(struct room_record, etag) },
	{ "follows", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct room_record, follows_template) },
	{ "name", AS_TEXT(1, STORE_NAME_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, name) },
	{ "recording", AS_JSON(PIECE_MOST), MARKED(MEMBER_DERIVED | MEMBER_ABSENT),
	  AT(struct room_record, recording) },
	{ "hidden", AS_JSON(PIECE_MOST), AT(struct room_record, hidden) },
	{ "before_recording", AS_TEXT(1, PIECE_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, pieces[0]) },
	{ "before_template", AS_TEXT(1, PIECE_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, pieces[1]) },
	{ "after_template", AS_TEXT(1, PIECE_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, pieces[2]) },
	{ "opens_at", AS_NUMBER(8, INT64_MIN, INT64_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, opens_at) },
	{ "closes_at", AS_NUMBER(8, INT64_MIN, INT64_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, closes_at) },
	{ "title", AS_TEXT(0, TITLE_MOST), SINCE(2), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, title) },
	{ "was_placed", AS_BOOLEAN, SINCE(3), MARKED(MEMBER_DERIVED),
	  AT(struct room_record, was_placed) },
	{ "document", AS_JSON(PIECE_MOST), IN_A_DUMP_ALONE, AT(struct room_record, document) },
};
const struct record_table room_table = {
	RECORD(struct room_record, room_members, 4, &kind_room),
	VERSION(3),
};

bool room_put(struct call *call, const struct room_record *record, struct fault *fault)
{
	struct room_record put = *record;

	put.key = text_lower(call->arena, record->name);
	return record_put(&room_table, call->transaction, &put, fault);
}

bool room_read(struct call *call, const struct store_record *stored, struct room_record *record,
	       struct fault *fault)
{
	if (!record_read(&room_table, NULL, stored, record, fault))
		return false;
	call_raise_time(call, record->updated);
	return true;
}

bool room_find(struct call *call, const struct id *id, enum store_reading reading,
	       struct room_record *record, bool *is_there, struct fault *fault)
{
	struct store_record stored;

	if (!store_get(call->transaction, &kind_room, id, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	return !*is_there || room_read(call, &stored, record, fault);
}

bool room_find_named(struct call *call, struct slice name, enum store_reading reading,
		     struct room_record *record, bool *is_there, struct fault *fault)
{
	struct store_record stored;

	if (!store_get_named(call->transaction, &kind_room, text_lower(call->arena, name), reading,
			     &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	return !*is_there || room_read(call, &stored, record, fault);
}

bool room_load_by_id(struct call *call, struct slice text, enum store_reading reading,
		     struct room_record *record, struct fault *fault)
{
	struct id id;
	bool is_there = false;

	if (id_parse(text, &id) && !room_find(call, &id, reading, record, &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_NOT_FOUND, "Room not found");
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	call->room = arena_alloc(call->arena, sizeof *call->room);
	call->template = arena_alloc(call->arena, sizeof *call->template);
	return room_load_by_id(call, call->parameters[0], load_reading(call, load), call->room,
			       fault) &&
	       template_load(call, &call->room->template_id, call->template, fault);
}

static const struct read reads_of_path[] = {
	READ_BY_ID(kind_room),
	READ_PARENT(kind_template),
	READS_END,
};
const struct loading load_room = { .load = load_of_path, .reads = reads_of_path };

/* ---- the response ---- */

#define PARTS 5

/* Sets the parts of the response, in their order. */
static void take_parts(struct call *call, const struct room_record *record,
		       const struct template_record *template, struct slice recording,
		       struct slice parts[PARTS])
{
	struct buffer name = BUFFER_INITIAL(call->arena);

	if (recording.data == NULL)
		recording = record->follows_template ? template->recording : record->recording;
	buffer_append_string(&name, template->name);
	parts[0] = record->pieces[0];
	parts[1] = recording;
	parts[2] = record->pieces[1];
	parts[3] = buffer_slice(&name);
	parts[4] = record->pieces[2];
}

struct slice room_text(struct call *call, const struct room_record *record,
		       const struct template_record *template)
{
	struct buffer text = BUFFER_INITIAL(call->arena);
	struct slice parts[PARTS];

	take_parts(call, record, template, (struct slice){ 0 }, parts);
	for (size_t i = 0; i < PARTS; i++)
		buffer_append(&text, parts[i]);
	return buffer_slice(&text);
}

bool room_answer(struct call *call, const struct room_record *record,
		 const struct template_record *template, struct slice recording)
{
	struct slice parts[PARTS];

	take_parts(call, record, template, recording, parts);
	call_answer(call, parts[0]);
	for (size_t i = 1; i < PARTS; i++)
		call_part(call, parts[i]);
	return true;
}

struct slice room_shown_name(struct call *call, const struct room_record *record)
{
	return record->title.size > 0 ? text_without_bidi(call->arena, record->title)
				      : record->name;
}

struct slice room_summary(struct call *call, const struct room_record *record,
			  const struct template_record *template)
{
	struct json_writer text = writer_begin(call->arena, false);

	writer_plain(&text, "id", id_as_text(call->arena, &record->id));
	writer_text(&text, "name", record->name);
	if (record->title.size > 0)
		writer_text(&text, "title", record->title);
	writer_flag(&text, "enabled", record->is_enabled);
	writer_plain(&text, "template_id", id_as_text(call->arena, &record->template_id));
	writer_text(&text, "template", template->name);
	writer_time_milliseconds(&text, "updated_at", record->updated);
	return writer_end(&text);
}

uint64_t room_etag(const struct room_record *record, const struct template_record *template)
{
	const uint64_t both[] = { record->etag, template->rooms_etag };
	unsigned char bytes[2 * 8];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(both[i / 8] >> (56 - i % 8 * 8));
	return digest_number((struct slice){ (const char *)bytes, sizeof bytes });
}

json_t *room_document(struct call *call, const struct room_record *record)
{
	struct buffer text = BUFFER_INITIAL(call->arena);
	json_t *document;

	buffer_append(&text, record->pieces[0]);
	buffer_append(&text, record->follows_template ? SLICE("null") : record->recording);
	buffer_append(&text, record->pieces[1]);
	buffer_append(&text, SLICE("null"));
	buffer_append(&text, record->pieces[2]);
	document = stored_json(call, buffer_slice(&text), "room", &record->id);
	if (record->follows_template)
		json_object_del(document, "recording_info");
	document_unhide(&room_shape, document,
			stored_json(call, record->hidden, "room", &record->id));
	return document;
}

/* value: text of this program, which is valid UTF-8. */
static void set_text(json_t *document, const char *name, const char *value)
{
	json_object_set_new_nocheck(document, name, json_string_nocheck(value));
}

/* True for members whose value belongs to the template. They end a piece after their colon; the
 * value is inserted when the room is shown. */
static bool is_the_templates(const struct field *field)
{
	return strcmp(field->name, "recording_info") == 0 || strcmp(field->name, "template") == 0;
}

static int64_t opening_time(const json_t *document, const char *name, int64_t otherwise)
{
	int64_t seconds;

	return text_time_parse_seconds(text_of_json(json_object_get(document, name)), &seconds)
		       ? seconds
		       : otherwise;
}

void room_set_document(struct call *call, struct room_record *record, json_t *document)
{
	const json_t *recording = json_object_get(document, "recording_info");
	const struct slice title = text_of_json(json_object_get(document, "title"));
	struct buffer piece = BUFFER_INITIAL(call->arena);
	char id[ID_TEXT_SIZE + 1], time[TEXT_TIME_SIZE];
	size_t n = 0;

	record->title = title.data != NULL ? arena_copy(call->arena, title) : SLICE("");
	record->opens_at = opening_time(document, "opens_at", INT64_MIN);
	record->closes_at = opening_time(document, "closes_at", INT64_MAX);

	/* Members that clients cannot send, or that the record has. */
	id_print(&record->id, id);
	set_text(document, "id", id);
	id_print(&record->template_id, id);
	set_text(document, "template_id", id);
	set_text(document, "customer_id", call->account_text);
	set_text(document, "customer", call->account_text);
	text_time_milliseconds(record->created, time);
	set_text(document, "created_at", time);
	text_time_milliseconds(record->updated, time);
	set_text(document, "updated_at", time);
	json_object_set_new_nocheck(document, "name",
				    json_stringn_nocheck(record->name.data, record->name.size));
	json_object_set_new_nocheck(document, "enabled", json_boolean(record->is_enabled));
	json_object_set_new_nocheck(document, "recording_source_template",
				    json_boolean(record->follows_template));

	buffer_append_byte(&piece, '{');
	for (const struct field *field = NULL; (field = shape_next(&room_shape, field)) != NULL;) {
		const json_t *value = json_object_get(document, field->name);

		if (!is_the_templates(field) && value == NULL && field->standard == NULL)
			continue;
		if (field > room_shape.fields)
			buffer_append_byte(&piece, ',');
		buffer_append_string(&piece, slice_of(field->name));
		buffer_append_byte(&piece, ':');
		if (is_the_templates(field)) {
			record->pieces[n++] = buffer_slice(&piece);
			piece = BUFFER_INITIAL(call->arena);
		} else {
			document_write_member(field, value, &piece);
		}
	}
	buffer_append_byte(&piece, '}');
	record->pieces[n] = buffer_slice(&piece);

	record->recording = recording == NULL ? SLICE("")
					      : document_as_text(call->arena, &recording_info_shape,
								 recording, false);
	record->hidden = json_as_text(call->arena,
				      document_hidden(call->arena, &room_shape, document));
}
