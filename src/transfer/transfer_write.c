/* The lines of a dump: see transfer/transfer_lines.h. A line is made as one JSON value; members of documents
 * that a load would ignore are left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/text.h"
#include "resources/account_record.h"
#include "resources/buried_role.h"
#include "resources/code_identities.h"
#include "resources/code_life.h"
#include "resources/room_record.h"
#include "resources/template_parts.h"
#include "transfer/transfer_lines.h"

#define FORMAT 1

static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) != 0)
		abort();
}

static void append(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) != 0)
		abort();
}

static json_t *text_value(struct slice text)
{
	return json_stringn(text.data, text.size);
}

static json_t *id_value(const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return json_string(text);
}

static json_t *time_value(int64_t milliseconds)
{
	char text[TEXT_TIME_SIZE];

	text_time_milliseconds(milliseconds, text);
	return json_string(text);
}

static json_t *seconds_value(int64_t seconds)
{
	char text[TEXT_TIME_SIZE];

	text_time_seconds(seconds * 1000, text);
	return json_string(text);
}

static json_t *number_value(uint64_t number)
{
	return json_integer((json_int_t)number);
}

/* {"kind": value} as a line; whatever was read for it is let go of. */
static bool send(struct survey *survey, struct transfer_output *output, const char *kind,
		 json_t *value, struct fault *fault)
{
	struct buffer text = BUFFER_INITIAL(survey->call.arena);
	bool is_sent;

	buffer_append_text(&text, "{\"");
	buffer_append_text(&text, kind);
	buffer_append_text(&text, "\":");
	buffer_append_json(&text, value);
	buffer_append_byte(&text, '}');
	is_sent = output->line(output, buffer_slice(&text), fault);
	survey_forget(survey);
	return is_sent;
}

/* ---- things that cannot be read ---- */

const char *transfer_name_of(struct call *call, const char *kind, const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return arena_text(call->arena, "%s %s/%s", kind, call->account_text, text);
}

static const char *reason_of(const struct fault *fault)
{
	return fault->cause[0] != '\0' ? fault->cause : fault->message;
}

bool transfer_leave_out(struct transfer_output *output, const char *what, const struct fault *why,
			struct fault *fault)
{
	if (output->lost == NULL) {
		*fault = *why;
		return false;
	}
	output->lost(output, what, reason_of(why));
	return true;
}

/* ---- the first line and the last ---- */

bool transfer_line_begin(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	json_t *head = arena_json(survey->call.arena, json_object());

	set(head, "format", json_integer(FORMAT));
	set(head, "program", json_string("anteroom " PACKAGE_VERSION));
	set(head, "made_at", time_value(survey->call.now));
	return send(survey, output, "dump", head, fault);
}

bool transfer_line_end(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	json_t *end = arena_json(survey->call.arena, json_object());

	set(end, "accounts", number_value(output->counts.accounts));
	set(end, "templates", number_value(output->counts.templates));
	set(end, "rooms", number_value(output->counts.rooms));
	return send(survey, output, "end", end, fault);
}

/* ---- templates ---- */

static void add_roles(struct call *call, const struct template_record *record, json_t *identities,
		      json_t *roles)
{
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];
		json_t *identity = json_object();

		set(identity, "identity", number_value(role->identity));
		set(identity, "added_at", time_value(role->added));
		if (json_object_setn_new(identities, role->name.data, role->name.size, identity) !=
			    0 ||
		    json_object_setn(roles, role->name.data, role->name.size,
				     template_role_document(call, role)) != 0)
			abort();
	}
}

static json_t *template_value(struct call *call, const struct template_record *record)
{
	json_t *value = arena_json(call->arena, json_object());
	json_t *identities = json_object();
	json_t *document = json_object();
	json_t *roles = json_object();

	set(value, "id", id_value(&record->id));
	set(value, "created_at", time_value(record->created));
	set(value, "updated_at", time_value(record->updated));
	set(value, "last_identity", number_value(record->last_identity));
	set(value, "identities", identities);
	set(value, "document", document);
	set(document, "name", text_value(record->name));
	set(document, "roles", roles);
	add_roles(call, record, identities, roles);
	set(document, "settings", json_incref(template_settings_document(call, record)));
	set(document, "destinations", json_incref(template_destinations_document(call, record)));
	if (record->plugins.size > 0)
		set(document, "plugins", json_incref(template_plugins_document(call, record)));
	return value;
}

/* A load refuses an id that was made by a clock beyond ID_TIME_MAX before that was a limit. */
static bool check_time(const struct id *id, int64_t created, struct fault *fault)
{
	return id_seconds(id) == created / 1000 ||
	       fault_cause(fault, FAULT_DAMAGED, 0,
			   "its id does not begin with the time when it was made");
}

bool transfer_line_template(struct survey *survey, const struct id *id,
			    struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	struct fault own = FAULT_INITIAL;
	struct template_record record;

	if (!template_load(call, id, &record, &own) || !check_time(id, record.created, &own))
		return transfer_leave_out(output, transfer_name_of(call, "template", id), &own,
					  fault);
	output->counts.templates++;
	return send(survey, output, "template", template_value(call, &record), fault);
}

/* ---- rooms ---- */

/* The deleted roles that codes of the room are for. Those that are left out stay in *missing. */
static bool add_deleted(struct call *call, const struct template_record *owner,
			const struct room_codes *codes, struct transfer_output *output,
			json_t *roles, struct code_identities *missing, struct fault *fault)
{
	const struct code_identities identities = code_identities_of(call, codes);

	*missing = (struct code_identities){ .items = identities.items };

	for (size_t i = 0; i < identities.count; i++) {
		const uint32_t identity = identities.items[i];
		struct fault own = FAULT_INITIAL;
		struct buried_role buried;
		json_t *role;

		if (template_live_role(owner, identity) != NULL)
			continue;
		if (!buried_role_load(call, &owner->id, identity, &buried, &own)) {
			const char *what =
				arena_text(call->arena, "codes of the deleted role %u of the %s",
					   identity, transfer_name_of(call, "room", &codes->room));

			if (!transfer_leave_out(output, what, &own, fault))
				return false;
			missing->items[missing->count++] = identity;
			continue;
		}
		role = json_object();
		set(role, "identity", number_value(identity));
		set(role, "name", text_value(buried.name));
		set(role, "added_at", time_value(buried.added));
		set(role, "deleted_at", time_value(buried.deleted));
		append(roles, role);
	}
	return true;
}

static json_t *code_value(const struct room_codes *codes, const struct code *code)
{
	json_t *value = json_object();

	set(value, "code", json_string(code->letters));
	set(value, "enabled", json_boolean(code->is_enabled));
	if (code->is_lost)
		set(value, "lost_role", text_value(codes->lost_names[code->role]));
	else
		set(value, "identity", number_value(code->role));
	set(value, "created_at", seconds_value(code->created));
	set(value, "updated_at", seconds_value(code->updated));
	return value;
}

static json_t *due_value(const struct due_role *due)
{
	json_t *value = json_object();

	set(value, "identity", number_value(due->identity));
	set(value, "due_at", seconds_value(due->since));
	return value;
}

/* Nothing for a room that never had to do with codes. */
static bool add_codes(struct call *call, const struct template_record *owner, const struct id *room,
		      struct transfer_output *output, json_t *value, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;
	struct code_identities missing;
	struct room_codes codes;
	json_t *object, *list, *deleted, *due;

	if (!codes_load(call, room, &codes, &own))
		return transfer_leave_out(output, transfer_name_of(call, "codes of the room", room),
					  &own, fault);
	if (!codes.was_asked && codes.count == 0 && codes.last_seen == 0)
		return true;
	object = json_object();
	list = json_array();
	deleted = json_array();
	due = json_array();
	set(object, "all_asked", json_boolean(codes.was_asked));
	set(object, "last_identity", number_value(codes.last_seen));
	set(object, "codes", list);
	set(object, "deleted_roles", deleted);
	set(object, "due_roles", due);
	set(value, "codes", object);
	if (!add_deleted(call, owner, &codes, output, deleted, &missing, fault))
		return false;
	for (size_t i = 0; i < codes.count; i++) {
		const struct code *code = &codes.codes[i];

		if (code->is_lost || !code_identities_have(&missing, code->role))
			append(list, code_value(&codes, code));
	}
	for (size_t i = 0; i < codes.due_count; i++) {
		if (template_live_role(owner, codes.due[i].identity) != NULL)
			append(due, due_value(&codes.due[i]));
	}
	return true;
}

/* What room_document has beside what can be sent. */
static const char *const not_sent[] = {
	"id", "customer_id", "template", "created_at", "updated_at", "customer",
};

bool transfer_find_template(struct call *call, const struct id *id, struct template_record *owner,
			    struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	return (template_load(call, id, owner, &own) && check_time(id, owner->created, &own)) ||
	       fault_cause(fault, FAULT_DAMAGED, 0, "it is of the %s, which is lost (%s)",
			   transfer_name_of(call, "template", id), reason_of(&own));
}

bool transfer_line_room(struct survey *survey, const struct id *id, struct transfer_output *output,
			struct fault *fault)
{
	struct call *call = &survey->call;
	json_t *value = arena_json(call->arena, json_object());
	struct fault own = FAULT_INITIAL;
	struct room_record record;
	struct template_record owner;
	json_t *document;

	if (!room_load(call, id, &record, &own) || !check_time(id, record.created, &own) ||
	    !transfer_find_template(call, &record.template_id, &owner, &own))
		return transfer_leave_out(output, transfer_name_of(call, "room", id), &own, fault);
	document = room_document(call, &record);
	for (size_t i = 0; i < sizeof not_sent / sizeof not_sent[0]; i++)
		(void)json_object_del(document, not_sent[i]);
	set(value, "id", id_value(&record.id));
	set(value, "created_at", time_value(record.created));
	set(value, "updated_at", time_value(record.updated));
	set(value, "document", json_incref(document));
	if (!add_codes(call, &owner, id, output, value, fault))
		return false;
	output->counts.rooms++;
	return send(survey, output, "room", value, fault);
}

/* ---- accounts ---- */

static json_t *account_value(struct call *call, const struct account *account,
			     const struct account_record *record)
{
	json_t *value = arena_json(call->arena, json_object());
	json_t *secrets = json_array();

	for (size_t i = 0; i < account->secret_count; i++) {
		json_t *secret = json_object();

		set(secret, "secret", json_string(account->secrets[i].text));
		set(secret, "created_at", time_value(account->secrets[i].created_at));
		append(secrets, secret);
	}
	set(value, "id", json_string(account->id_text));
	set(value, "name", json_string(account->name));
	set(value, "access_key", json_string(account->access_key_text));
	set(value, "enabled", json_boolean(account->is_enabled));
	set(value, "created_at", time_value(account->created_at));
	set(value, "secrets", secrets);
	set(value, "last_template", number_value(record->template_number));
	set(value, "last_room", number_value(record->room_number));
	set(value, "last_time", time_value(record->last_time));
	if (record->has_default)
		set(value, "default_template", id_value(&record->default_template));
	return value;
}

bool transfer_line_account(struct survey *survey, const struct account *account,
			   const struct account_record *record, struct transfer_output *output,
			   struct fault *fault)
{
	output->counts.accounts++;
	return send(survey, output, "account", account_value(&survey->call, account, record),
		    fault);
}
