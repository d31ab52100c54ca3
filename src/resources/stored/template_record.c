/* See resources/stored/template_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/template_record.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/stored/media_record.h"
#include "records/record.h"
#include "resources/stored.h"

#define TEXT_MOST ((int64_t)64 << 10)

const char *const recording_consent_names[RECORDING_CONSENTS] = {
	[CONSENT_NOTICE] = "notice",
	[CONSENT_ASKED] = "asked",
	[CONSENT_REQUIRED] = "required",
};

/* ---- the stored form ---- */

static const struct member role_members[] = {
	{ "name", AS_TEXT(1, STORE_NAME_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct template_role, name) },
	{ "identity", AS_NUMBER(4, 1, UINT32_MAX), AT(struct template_role, identity) },
	{ "former", AS_TEXT(0, TEMPLATE_FORMER_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct template_role, former) },
	{ "added_at", AS_TIME, AT(struct template_role, added) },
	{ "etag", AS_ETAG, AT(struct template_role, etag) },
	{ "asks", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct template_role, asks) },
	{ "role", AS_PART, AT(struct template_role, text) },
};
static const struct record_table role_table = { ITEMS(struct template_role, role_members) };

/* The text comes first, because lists read only the text. */
static const struct member template_members[] = {
	{ "id", AS_KEY, AT(struct template_record, id) },
	{ "name", AS_NAME, AT(struct template_record, name) },
	{ "text", AS_JSON(TEMPLATE_TEXT_MOST), MARKED(MEMBER_DERIVED | MEMBER_WHOLE),
	  AT(struct template_record, text) },
	{ "created_at", AS_TIME, AT(struct template_record, created) },
	{ "updated_at", AS_TIME, AT(struct template_record, updated) },
	{ "etag", AS_ETAG, AT(struct template_record, etag) },
	{ "settings_etag", AS_ETAG, AT(struct template_record, parts[PART_SETTINGS].etag) },
	{ "destinations_etag", AS_ETAG, AT(struct template_record, parts[PART_DESTINATIONS].etag) },
	{ "recordings_etag", AS_ETAG, AT(struct template_record, recordings_etag) },
	{ "rooms_etag", AS_ETAG, AT(struct template_record, rooms_etag) },
	{ "last_identity", AS_NUMBER(4, 0, UINT32_MAX), AT(struct template_record, last_identity) },
	{ "deleted_roles", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct template_record, deleted.count) },
	{ "round_began", AS_TIME, MARKED(MEMBER_ABSENT),
	  AT(struct template_record, deleted.round_began) },
	{ "last_room", AS_ID, MARKED(MEMBER_ABSENT),
	  AT(struct template_record, deleted.last_room) },
	{ "region", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct template_record, region) },
	{ "recording", AS_JSON(TEMPLATE_TEXT_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct template_record, recording) },
	{ "has_agents", AS_BOOLEAN, MARKED(MEMBER_DERIVED),
	  AT(struct template_record, has_agents) },
	{ "recording_consent", AS_CHOICE(RECORDING_CONSENTS - 1, recording_consent_names), SINCE(2),
	  MARKED(MEMBER_DERIVED), AT(struct template_record, rules.consent) },
	{ "recording_days", AS_NUMBER(4, 0, UINT32_MAX), SINCE(2), MARKED(MEMBER_DERIVED),
	  AT(struct template_record, rules.keep.days) },
	{ "recording_chat", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_DERIVED),
	  AT(struct template_record, rules.has_chat) },
	{ "days_before", AS_NUMBER(4, 0, UINT32_MAX), SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct template_record, rules.keep.before) },
	{ "days_changed_at", AS_TIME, SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct template_record, rules.keep.changed) },
	{ "settings_hidden", AS_JSON(TEMPLATE_HIDDEN_MOST),
	  AT(struct template_record, parts[PART_SETTINGS].hidden) },
	{ "destinations_hidden", AS_JSON(TEMPLATE_HIDDEN_MOST),
	  AT(struct template_record, parts[PART_DESTINATIONS].hidden) },
	{ "settings", AS_PART, AT(struct template_record, parts[PART_SETTINGS].text) },
	{ "destinations", AS_PART, AT(struct template_record, parts[PART_DESTINATIONS].text) },
	{ "plugins", AS_PART, MARKED(MEMBER_ABSENT), AT(struct template_record, plugins) },
	{ "recordings", AS_JSON(TEMPLATE_TEXT_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct template_record, recordings) },
	{ "backend", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_DERIVED),
	  REFERS_TO(media, REFUSES, OR_NONE, BY_NAME(backends), OR_OF(pools), COUNTED(media, uses)),
	  AT(struct template_record, backend) },
	{ "roles", AS_LIST(struct template_record, role_count, UINT16_MAX, role_table),
	  AT(struct template_record, roles) },
};
const struct record_table template_table = {
	RECORD(struct template_record, template_members, 2, &kind_template),
	VERSION(2),
};

bool template_put(struct call *call, const struct template_record *record, struct fault *fault)
{
	if (call->memo != NULL)
		call->memo->count = 0;
	return media_use(call, record->former_backend, record->backend, fault) &&
	       record_put(&template_table, call->transaction, record, fault);
}

bool template_unpack(struct call *call, const struct store_record *stored,
		     struct template_record *record, struct fault *fault)
{
	if (!record_read(&template_table, call->arena, stored, record, fault))
		return false;
	if (record->backend.size == 0)
		record->backend.data = NULL;
	record->former_backend = record->backend;
	record->former_keep = record->rules.keep;
	call_raise_time(call, record->updated);
	return true;
}

bool template_unpack_text(const struct store_record *stored, struct slice *text,
			  struct fault *fault)
{
	return record_first_text(&template_table, stored->value, text) ||
	       record_damaged(kind_template.name, &stored->id, fault);
}

bool template_find(struct call *call, const struct id *id, enum store_reading reading,
		   struct template_record *record, bool *is_there, struct fault *fault)
{
	struct template_memo *memo = reading == STORE_TO_SHOW ? call->memo : NULL;
	struct store_record stored;

	for (size_t i = 0; memo != NULL && i < memo->count && i < TEMPLATE_MEMO_MOST; i++) {
		if (id_compare(&memo->records[i].id, id) == 0) {
			*record = memo->records[i];
			*is_there = true;
			return true;
		}
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
	return is_there || record_missing("template", id, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct id id;
	bool is_there = false;

	call->template = arena_alloc(call->arena, sizeof *call->template);
	if (id_parse(call->parameters[0], &id) &&
	    !template_find(call, &id, load_reading(call, load), call->template, &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_NOT_FOUND, "Template not found");
}

static const struct read reads_of_path[] = { READ_BY_ID(kind_template), READS_END };
const struct loading load_template = { .load = load_of_path, .reads = reads_of_path };

size_t template_role_index(const struct template_record *record, struct slice name)
{
	size_t i = 0;

	while (i < record->role_count && !slice_equal(record->roles[i].name, name))
		i++;
	return i;
}

size_t template_role_index_ever(const struct template_record *record, struct slice name)
{
	size_t i = template_role_index(record, name);

	if (i < record->role_count)
		return i;
	for (i = 0; i < record->role_count; i++) {
		struct slice rest = record->roles[i].former;

		while (rest.size > 0) {
			if (slice_equal(text_split(rest, '\n', &rest), name) && name.size > 0)
				return i;
		}
	}
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

/* ---- the text ---- */

/* Returns what is wrong with the roles together; data NULL if nothing is. */
static struct slice find_warning(struct call *call, const struct template_record *record)
{
	size_t asking = 0;

	for (size_t i = 0; i < record->role_count; i++)
		asking += record->roles[i].asks;
	if (asking == 0)
		return (struct slice){ NULL, 0 };
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];
		const json_t *document;

		if (role->asks)
			continue;
		/* People with this role come in by themselves. */
		document = stored_json(call, role->text, "template", &record->id);
		if (json_is_true(json_object_get(json_object_get(document, "permissions"),
						 "removeOthers")))
			return (struct slice){ NULL, 0 };
	}
	return asking == record->role_count
		       ? SLICE("Every role has admission ask, so nobody inside can let people in")
		       : SLICE("No role that joins without asking has the permission removeOthers, "
			       "so nobody inside can let people in");
}

/* Writes a part and returns its offset: the text moves when it grows. */
static size_t write_part(struct json_writer *text, const char *name, struct slice part)
{
	writer_json(text, name, part);
	return text->text.size - part.size;
}

/* Joins the members in the order of the interface. Sets `offsets` to the positions of the roles,
 * the parts and the plugins. */
static struct slice join_text(struct call *call, const struct template_record *record,
			      struct slice settings, size_t *offsets)
{
	const struct slice warning = find_warning(call, record);
	const struct slice id = id_as_text(call->arena, &record->id);
	struct json_writer text = writer_begin(call->arena, false);

	writer_plain(&text, "id", id);
	writer_text(&text, "name", record->name);
	writer_plain(&text, "customerId", slice_of(call->account_text));
	writer_open(&text, "roles", '{');
	for (size_t i = 0; i < record->role_count; i++) {
		writer_name(&text, record->roles[i].name);
		offsets[i] = write_part(&text, NULL, record->roles[i].text);
	}
	writer_close(&text, '}');
	offsets[record->role_count] = write_part(&text, "settings", settings);
	offsets[record->role_count + 1] = write_part(&text, "destinations",
						     record->parts[PART_DESTINATIONS].text);
	writer_time_milliseconds(&text, "createdAt", record->created);
	writer_time_milliseconds(&text, "updatedAt", record->updated);
	writer_plain(&text, "_id", id);
	writer_plain(&text, "customer", slice_of(call->account_text));
	offsets[record->role_count + PART_COUNT] = 0;
	if (record->plugins.size > 0)
		offsets[record->role_count + PART_COUNT] = write_part(&text, "plugins",
								      record->plugins);
	if (warning.data != NULL) {
		writer_open(&text, "warnings", '[');
		writer_text(&text, NULL, warning);
		writer_close(&text, ']');
	}
	return writer_end(&text);
}

/* Hidden members have no other limit, and each patch may add some. */
static void check_hidden(struct call *call, const char *pointer, struct slice hidden)
{
	if (hidden.size > TEMPLATE_HIDDEN_MOST)
		findings_add(&call->findings, pointer,
			     "would store %zu bytes that are not shown, more than the %zu allowed",
			     hidden.size, TEMPLATE_HIDDEN_MOST);
}

bool template_assemble(struct call *call, struct template_record *record, struct fault *fault)
{
	size_t n = record->role_count;
	size_t *offsets = arena_alloc(call->arena, (n + PART_COUNT + 1) * sizeof *offsets);
	struct media media;

	/* Of a new template, nothing has been kept. */
	if (record->stored.value.data != NULL &&
	    record->rules.keep.days != record->former_keep.days)
		record->rules.keep = keep_rule_change(&record->former_keep, record->rules.keep.days,
						      call->environment->recordings_keep,
						      call->now);
	record->text = join_text(call, record, record->parts[PART_SETTINGS].text, offsets);
	for (size_t i = 0; i < n; i++)
		record->roles[i].text.data = record->text.data + offsets[i];
	for (size_t i = 0; i < PART_COUNT; i++)
		record->parts[i].text.data = record->text.data + offsets[n + i];
	record->plugins.data = record->text.data + offsets[n + PART_COUNT];
	if (record->text.size > TEMPLATE_TEXT_MOST)
		findings_add(&call->findings, "/roles",
			     "would make the template %zu bytes, more than the %zu allowed",
			     record->text.size, TEMPLATE_TEXT_MOST);
	check_hidden(call, "/settings", record->parts[PART_SETTINGS].hidden);
	check_hidden(call, "/destinations", record->parts[PART_DESTINATIONS].hidden);

	if (record->backend.data != NULL &&
	    (record->backend.size == 0 || !slice_equal(record->backend, record->former_backend))) {
		if (!media_load(call, STORE_TO_CHANGE, &media, fault))
			return false;
		if (media_backend_named(&media, record->backend) == NULL &&
		    media_pool_named(&media, record->backend) == NULL)
			findings_add(&call->findings, "/settings/backend", "no such backend");
	}
	return findings_result(&call->findings, fault);
}

bool template_assemble_changed(struct call *call, struct template_record *record,
			       struct fault *fault)
{
	record->updated = call->now;
	record->etag = call->etag;
	return template_assemble(call, record, fault);
}

struct slice template_shown(struct call *call, const struct template_record *record,
			    struct slice text)
{
	struct buffer shown = BUFFER_INITIAL(call->arena);

	if (record->rules.consent == CONSENT_NOTICE || !call_is_anonymous(call))
		return text;
	buffer_append(&shown, (struct slice){ text.data, text.size - 1 });
	buffer_append_text(&shown, ",\"not_enforced\":[\"evidence\"]}");
	return buffer_slice(&shown);
}

struct slice template_answer(struct call *call, const struct template_record *record)
{
	size_t *offsets;

	if (record->echo.data == NULL)
		return template_shown(call, record, record->text);
	offsets = arena_alloc(call->arena, (record->role_count + PART_COUNT + 1) * sizeof *offsets);
	return template_shown(call, record, join_text(call, record, record->echo, offsets));
}

struct slice template_summary(struct call *call, const struct template_record *record,
			      bool is_default)
{
	struct json_writer text = writer_begin(call->arena, false);

	writer_plain(&text, "id", id_as_text(call->arena, &record->id));
	writer_text(&text, "name", record->name);
	writer_flag(&text, "default", is_default);
	writer_open(&text, "roles", '[');
	for (size_t i = 0; i < record->role_count; i++)
		writer_text(&text, NULL, record->roles[i].name);
	writer_close(&text, ']');
	writer_text(&text, "region", record->region);
	writer_time_milliseconds(&text, "updatedAt", record->updated);
	return writer_end(&text);
}
