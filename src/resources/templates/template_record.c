/* See resources/templates/template_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/template_record.h"

#include <assert.h>

#include "base/text.h"
#include "resources/kinds.h"
#include "resources/media/media_record.h"
#include "resources/packed.h"

/* A template without settings.backend has the version 1. */
#define VERSION 1
#define VERSION_BACKEND 2

/* The bytes of struct deleted_roles. */
#define DELETED_SIZE (4 + 8 + ID_SIZE)
static const struct slice none_deleted = { (const char[DELETED_SIZE]){ 0 }, DELETED_SIZE };

#define PLACE_SIZE (4 + 4)
/* Of a role, after its name: identity, time, ETag, place. */
#define ROLE_SIZE (4 + 8 + 8 + PLACE_SIZE)

/* ---- the stored form ---- */

static void put_place(struct buffer *value, struct slice text, struct slice part)
{
	assert(part.data >= text.data && part.data + part.size <= text.data + text.size);
	packed_put_number(value, (uint64_t)(part.data - text.data), 4);
	packed_put_number(value, part.size, 4);
}

/* Of a part in the text. */
struct place {
	size_t offset, size;
};

struct places {
	struct place parts[PART_COUNT], plugins;
	bool has_backend;
};

static struct place place_of(struct packed *reader)
{
	struct place place = { 0 };

	place.offset = packed_number(reader, 4);
	place.size = packed_number(reader, 4);
	return place;
}

/* Places come before the text they point into, so they are resolved when it is known. */
static bool resolve(struct slice text, struct place place, struct slice *part)
{
	if (place.offset > text.size || place.size > text.size - place.offset)
		return false;
	*part = (struct slice){ text.data + place.offset, place.size };
	return true;
}

static void put_role(struct buffer *value, struct slice text, const struct template_role *role)
{
	packed_put_text(value, role->name);
	packed_put_number(value, role->identity, 4);
	packed_put_number(value, (uint64_t)role->added, 8);
	packed_put_number(value, role->etag, 8);
	put_place(value, text, role->text);
}

static struct buffer pack(struct call *call, const struct template_record *record)
{
	struct buffer value = BUFFER_INITIAL(call->arena);

	packed_put_number(&value, record->backend.size > 0 ? VERSION_BACKEND : VERSION, 1);
	packed_put_number(&value, (uint64_t)record->created, 8);
	packed_put_number(&value, (uint64_t)record->updated, 8);
	packed_put_number(&value, record->etag, 8);
	for (size_t i = 0; i < PART_COUNT; i++)
		packed_put_number(&value, record->parts[i].etag, 8);
	packed_put_number(&value, record->rooms_etag, 8);
	packed_put_number(&value, record->last_identity, 4);
	buffer_append(&value, record->deleted.size > 0 ? record->deleted : none_deleted);
	packed_put_text(&value, record->region);
	packed_put_text(&value, record->recording);
	for (size_t i = 0; i < PART_COUNT; i++)
		packed_put_text(&value, record->parts[i].hidden);
	for (size_t i = 0; i < PART_COUNT; i++)
		put_place(&value, record->text, record->parts[i].text);
	put_place(&value, record->text, record->plugins);
	packed_put_number(&value, record->role_count, 2);
	for (size_t i = 0; i < record->role_count; i++)
		put_role(&value, record->text, &record->roles[i]);
	packed_put_text(&value, record->text);
	if (record->backend.size > 0)
		packed_put_text(&value, record->backend);
	return value;
}

bool template_put(struct call *call, const struct template_record *record, struct fault *fault)
{
	struct store_record wanted = { .id = record->id, .name = record->name };
	const struct buffer value = pack(call, record);

	if (call->memo != NULL)
		call->memo->count = 0;
	return media_use(call, record->former_backend, record->backend, fault) &&
	       packed_store(call->transaction, &kind_template, &wanted, &value, &record->stored,
			    fault);
}

/* Decodes all before the roles, and their number. False: it is of another version. */
static bool decode_head(struct packed *reader, struct template_record *record,
			struct places *places)
{
	const uint64_t version = packed_number(reader, 1);

	record->created = (int64_t)packed_number(reader, 8);
	record->updated = (int64_t)packed_number(reader, 8);
	record->etag = packed_number(reader, 8);
	for (size_t i = 0; i < PART_COUNT; i++)
		record->parts[i].etag = packed_number(reader, 8);
	record->rooms_etag = packed_number(reader, 8);
	record->last_identity = (uint32_t)packed_number(reader, 4);
	record->deleted = packed_bytes(reader, DELETED_SIZE);
	record->region = packed_text(reader);
	record->recording = packed_text(reader);
	for (size_t i = 0; i < PART_COUNT; i++)
		record->parts[i].hidden = packed_text(reader);
	for (size_t i = 0; i < PART_COUNT; i++)
		places->parts[i] = place_of(reader);
	places->plugins = place_of(reader);
	record->role_count = packed_number(reader, 2);
	places->has_backend = version == VERSION_BACKEND;
	return version == VERSION || version == VERSION_BACKEND;
}

/* What comes after the roles. */
static void decode_tail(struct packed *reader, const struct places *places,
			struct template_record *record)
{
	record->text = packed_text(reader);
	record->backend = (struct slice){ NULL, 0 };
	if (places->has_backend)
		record->backend = packed_text(reader);
	record->former_backend = record->backend;
}

static bool decode(struct call *call, struct packed *reader, struct template_record *record)
{
	struct places places;
	struct place *roles;
	bool is_right = decode_head(reader, record, &places);

	record->roles = arena_alloc(call->arena, (record->role_count + 1) * sizeof *record->roles);
	roles = arena_alloc(call->arena, (record->role_count + 1) * sizeof *roles);
	for (size_t i = 0; i < record->role_count && !reader->is_short; i++) {
		struct template_role *role = &record->roles[i];

		role->name = packed_text(reader);
		role->identity = (uint32_t)packed_number(reader, 4);
		role->added = (int64_t)packed_number(reader, 8);
		role->etag = packed_number(reader, 8);
		roles[i] = place_of(reader);
	}
	decode_tail(reader, &places, record);
	is_right = is_right && packed_ended(reader) &&
		   resolve(record->text, places.plugins, &record->plugins);
	for (size_t i = 0; is_right && i < PART_COUNT; i++)
		is_right = resolve(record->text, places.parts[i], &record->parts[i].text);
	for (size_t i = 0; is_right && i < record->role_count; i++)
		is_right = resolve(record->text, roles[i], &record->roles[i].text);
	return is_right;
}

/* Decodes only the text of the answer. */
static bool decode_text(struct packed *reader, struct template_record *record)
{
	struct places places;
	const bool is_right = decode_head(reader, record, &places);

	for (size_t i = 0; i < record->role_count && !reader->is_short; i++) {
		packed_text(reader);
		packed_skip(reader, ROLE_SIZE);
	}
	decode_tail(reader, &places, record);
	return is_right && packed_ended(reader);
}

bool template_unpack(struct call *call, const struct store_record *stored,
		     struct template_record *record, struct fault *fault)
{
	struct packed reader = { .rest = stored->value };

	*record = (struct template_record){
		.stored = *stored,
		.id = stored->id,
		.name = stored->name,
	};
	if (!decode(call, &reader, record))
		return packed_damaged("template", &stored->id, fault);
	call_raise_time(call, record->updated);
	return true;
}

bool template_unpack_text(const struct store_record *stored, struct slice *text,
			  struct fault *fault)
{
	struct template_record record;
	struct packed reader = { .rest = stored->value };

	if (!decode_text(&reader, &record))
		return packed_damaged("template", &stored->id, fault);
	*text = record.text;
	return true;
}

static bool is_remembered(const struct template_memo *memo, const struct id *id,
			  struct template_record *record)
{
	for (size_t i = 0; i < memo->count && i < TEMPLATE_MEMO_MOST; i++) {
		if (id_compare(&memo->records[i].id, id) == 0) {
			*record = memo->records[i];
			return true;
		}
	}
	return false;
}

bool template_find(struct call *call, const struct id *id, enum store_reading reading,
		   struct template_record *record, bool *is_there, struct fault *fault)
{
	struct template_memo *memo = reading == STORE_TO_SHOW ? call->memo : NULL;
	struct store_record stored;

	if (memo != NULL && is_remembered(memo, id, record)) {
		*is_there = true;
		return true;
	}
	if (!store_get(call->transaction, &kind_template, id, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	if (*is_there && !template_unpack(call, &stored, record, fault))
		return false;
	if (memo != NULL && *is_there)
		memo->records[memo->count++ % TEMPLATE_MEMO_MOST] = *record;
	return true;
}

bool template_find_named(struct call *call, struct slice name, enum store_reading reading,
			 struct template_record *record, bool *is_there, struct fault *fault)
{
	struct store_record stored;

	if (!store_get_named(call->transaction, &kind_template, name, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	return !*is_there || template_unpack(call, &stored, record, fault);
}

bool template_load(struct call *call, const struct id *id, struct template_record *record,
		   struct fault *fault)
{
	bool is_there;

	if (!template_find(call, id, STORE_TO_SHOW, record, &is_there, fault))
		return false;
	return is_there || packed_missing("template", id, fault);
}

bool template_load_from_path(struct call *call, enum store_reading reading,
			     struct template_record *record, struct fault *fault)
{
	struct id id;
	bool is_there = false;
	const bool is_id = id_parse(call->parameters[0], &id);

	if (is_id && !template_find(call, &id, reading, record, &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_NOT_FOUND, "template not found");
}

size_t template_role_index(const struct template_record *record, struct slice name)
{
	size_t i = 0;

	while (i < record->role_count && !slice_equal(record->roles[i].name, name))
		i++;
	return i;
}

const struct template_role *template_live_role(const struct template_record *record,
					       uint32_t identity)
{
	for (size_t i = 0; i < record->role_count; i++) {
		if (record->roles[i].identity == identity)
			return &record->roles[i];
	}
	return NULL;
}

struct deleted_roles template_deleted_roles(const struct template_record *record)
{
	struct packed reader = {
		.rest = record->deleted.size > 0 ? record->deleted : none_deleted,
	};
	struct deleted_roles deleted;

	deleted.count = (uint32_t)packed_number(&reader, 4);
	deleted.round_began = (int64_t)packed_number(&reader, 8);
	deleted.last_room = packed_id(&reader);
	return deleted;
}

void template_set_deleted_roles(struct call *call, struct template_record *record,
				const struct deleted_roles *deleted)
{
	struct buffer bytes = BUFFER_INITIAL(call->arena);

	packed_put_number(&bytes, deleted->count, 4);
	packed_put_number(&bytes, (uint64_t)deleted->round_began, 8);
	packed_put_id(&bytes, &deleted->last_room);
	record->deleted = buffer_slice(&bytes);
}

/* ---- the text ---- */

/* Appends a part and gives where it stands, as an offset: the buffer moves when it grows. */
static size_t append_part(struct buffer *text, struct slice part)
{
	size_t offset = text->size;

	buffer_append(text, part);
	return offset;
}

/* The members in the order of the interface. `offsets` gets the places of the roles, the parts and
 * the plugins. */
static struct slice join(struct call *call, const struct template_record *record,
			 struct slice settings, size_t *offsets)
{
	struct buffer text = BUFFER_INITIAL(call->arena);
	char id[ID_TEXT_SIZE + 1];

	id_print(&record->id, id);
	buffer_append_member(&text, "{\"id\":", slice_of(id));
	buffer_append_member(&text, ",\"name\":", record->name);
	buffer_append_member(&text, ",\"customerId\":", slice_of(call->account_text));
	buffer_append_text(&text, ",\"roles\":{");
	for (size_t i = 0; i < record->role_count; i++) {
		if (i > 0)
			buffer_append_byte(&text, ',');
		buffer_append_string(&text, record->roles[i].name);
		buffer_append_byte(&text, ':');
		offsets[i] = append_part(&text, record->roles[i].text);
	}
	buffer_append_text(&text, "},\"settings\":");
	offsets[record->role_count] = append_part(&text, settings);
	buffer_append_text(&text, ",\"destinations\":");
	offsets[record->role_count + 1] = append_part(&text, record->parts[PART_DESTINATIONS].text);
	buffer_append_time_milliseconds(&text, ",\"createdAt\":", record->created);
	buffer_append_time_milliseconds(&text, ",\"updatedAt\":", record->updated);
	buffer_append_member(&text, ",\"_id\":", slice_of(id));
	buffer_append_member(&text, ",\"customer\":", slice_of(call->account_text));
	if (record->plugins.size > 0)
		buffer_append_text(&text, ",\"plugins\":");
	offsets[record->role_count + PART_COUNT] = append_part(&text, record->plugins);
	buffer_append_byte(&text, '}');
	return buffer_slice(&text);
}

/* Hidden members have no other limit, and each merge may add to them. */
static void check_hidden(struct call *call, const char *pointer, struct slice hidden)
{
	if (hidden.size > TEMPLATE_HIDDEN_MOST)
		findings_add(&call->findings, pointer,
			     "must leave what is stored of it but not shown within %zu bytes, it "
			     "would have %zu",
			     TEMPLATE_HIDDEN_MOST, hidden.size);
}

static bool check_backend(struct call *call, const struct template_record *record,
			  struct fault *fault)
{
	struct media media;

	if (record->backend.data == NULL ||
	    (record->backend.size > 0 && slice_equal(record->backend, record->former_backend)))
		return true;
	if (!media_load(call, STORE_TO_CHANGE, &media, fault))
		return false;
	if (media_backend_named(&media, record->backend) == NULL)
		findings_add(&call->findings, "/settings/backend", "no such backend");
	return true;
}

bool template_assemble(struct call *call, struct template_record *record, struct fault *fault)
{
	size_t n = record->role_count;
	size_t *offsets = arena_alloc(call->arena, (n + PART_COUNT + 1) * sizeof *offsets);

	record->text = join(call, record, record->parts[PART_SETTINGS].text, offsets);
	for (size_t i = 0; i < n; i++)
		record->roles[i].text.data = record->text.data + offsets[i];
	for (size_t i = 0; i < PART_COUNT; i++)
		record->parts[i].text.data = record->text.data + offsets[n + i];
	record->plugins.data = record->text.data + offsets[n + PART_COUNT];
	if (record->text.size > TEMPLATE_TEXT_MOST)
		findings_add(&call->findings, "/roles",
			     "must leave the template within %zu bytes, it would have %zu",
			     TEMPLATE_TEXT_MOST, record->text.size);
	check_hidden(call, "/settings", record->parts[PART_SETTINGS].hidden);
	check_hidden(call, "/destinations", record->parts[PART_DESTINATIONS].hidden);
	return check_backend(call, record, fault) && findings_result(&call->findings, fault);
}

bool template_assemble_changed(struct call *call, struct template_record *record,
			       struct fault *fault)
{
	record->updated = call->now;
	record->etag = call->etag;
	return template_assemble(call, record, fault);
}

struct slice template_answer(struct call *call, const struct template_record *record)
{
	size_t *offsets;

	if (record->echo.data == NULL)
		return record->text;
	offsets = arena_alloc(call->arena, (record->role_count + PART_COUNT + 1) * sizeof *offsets);
	return join(call, record, record->echo, offsets);
}

struct slice template_summary(struct call *call, const struct template_record *record,
			      bool is_default)
{
	struct buffer text = BUFFER_INITIAL(call->arena);
	char id[ID_TEXT_SIZE + 1];

	id_print(&record->id, id);
	buffer_append_member(&text, "{\"id\":", slice_of(id));
	buffer_append_member(&text, ",\"name\":", record->name);
	buffer_append_text(&text, is_default ? ",\"default\":true,\"roles\":["
					     : ",\"default\":false,\"roles\":[");
	for (size_t i = 0; i < record->role_count; i++) {
		if (i > 0)
			buffer_append_byte(&text, ',');
		buffer_append_string(&text, record->roles[i].name);
	}
	buffer_append_member(&text, "],\"region\":", record->region);
	buffer_append_time_milliseconds(&text, ",\"updatedAt\":", record->updated);
	buffer_append_byte(&text, '}');
	return buffer_slice(&text);
}
