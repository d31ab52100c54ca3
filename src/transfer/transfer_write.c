/* The lines of a dump: see transfer/transfer_lines.h. A line is made as one JSON value; members of
 * documents that a load would ignore are left out. The codes of a room are read for one line at a
 * time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

#include "base/log.h"
#include "base/text.h"
#include "resources/media/backends.h"
#include "resources/codes/code_life.h"
#include "resources/codes/code_terms.h"
#include "resources/access/keys.h"
#include "resources/kinds.h"
#include "resources/packed.h"
#include "resources/rooms/room_record.h"
#include "resources/templates/template_parts.h"
#include "rules/transfer_rules.h"
#include "transfer/transfer_lines.h"

#define FORMAT 6
#define CODES_AT_ONCE 256

static json_t *id_value(const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return json_string(text);
}

static json_t *number_value(uint64_t number)
{
	return json_integer((json_int_t)number);
}

/* Writes {"kind": value} as a line. */
static bool send_line(struct call *call, struct transfer_output *output, const char *kind,
		      json_t *value, struct fault *fault)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	buffer_append_text(&text, "{\"");
	buffer_append_text(&text, kind);
	buffer_append_text(&text, "\":");
	buffer_append_json(&text, value);
	buffer_append_byte(&text, '}');
	return output->line(output, buffer_slice(&text), fault);
}

bool transfer_send(struct survey *survey, struct transfer_output *output, const char *kind,
		   json_t *value, struct fault *fault)
{
	const bool is_sent = send_line(&survey->call, output, kind, value, fault);

	survey_forget(survey);
	return is_sent;
}

/* ---- things that cannot be read ---- */

/* "room ACCOUNT/ID", in the arena. */
static const char *name_of(struct call *call, const char *kind, const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return arena_text(call->arena, "%s %s/%s", kind, call->account_text, text);
}

bool transfer_leave_out(struct transfer_output *output, const char *what, const struct fault *why,
			struct fault *fault)
{
	if (output->lost == NULL) {
		*fault = *why;
		return false;
	}
	output->lost(output, what, fault_reason(why));
	return true;
}

bool transfer_leave_out_part(struct call *call, struct transfer_output *output, const char *what,
			     const struct fault *why, struct fault *fault)
{
	return transfer_leave_out(
		output, arena_text(call->arena, "%s of the account %s", what, call->account_text),
		why, fault);
}

/* ---- the first line and the last ---- */

bool transfer_line_begin(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	json_t *head = arena_json(survey->call.arena, json_object());

	object_put(head, "format", json_integer(FORMAT));
	object_put(head, "program", json_string("anteroom " PACKAGE_VERSION));
	object_put(head, "made_at", json_time_milliseconds(survey->call.now));
	return transfer_send(survey, output, "dump", head, fault);
}

bool transfer_line_end(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	json_t *end = arena_json(survey->call.arena, json_object());

	object_put(end, "accounts", number_value(output->counts.accounts));
	object_put(end, "media", number_value(output->counts.media));
	object_put(end, "keys", number_value(output->counts.keys));
	object_put(end, "webhooks", number_value(output->counts.webhooks));
	object_put(end, "templates", number_value(output->counts.templates));
	object_put(end, "rooms", number_value(output->counts.rooms));
	if (output->counts.codes > 0)
		object_put(end, "codes", number_value(output->counts.codes));
	object_put(end, "words", number_value(output->counts.words));
	object_put(end, "events", number_value(output->counts.events));
	return transfer_send(survey, output, "end", end, fault);
}

/* ---- templates ---- */

static json_t *template_value(struct call *call, const struct template_record *record)
{
	json_t *value = arena_json(call->arena, json_object());
	json_t *identities = json_object();

	object_put(value, "id", id_value(&record->id));
	object_put(value, "created_at", json_time_milliseconds(record->created));
	object_put(value, "updated_at", json_time_milliseconds(record->updated));
	object_put(value, "last_identity", number_value(record->last_identity));
	object_put(value, "identities", identities);
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];
		json_t *identity = json_object();

		object_put(identity, "identity", number_value(role->identity));
		object_put(identity, "added_at", json_time_milliseconds(role->added));
		if (json_object_setn_new_nocheck(identities, role->name.data, role->name.size,
						 identity) != 0)
			ABORT("a JSON value could not be changed");
	}
	object_put(value, "document", json_incref(template_document(call, record)));
	return value;
}

/* Of a damaged store: the backend that the template names may be lost. */
static bool keep_backend(struct call *call, const struct template_record *record,
			 struct transfer_output *output, json_t *value, struct fault *fault)
{
	json_t *document = json_object_get(value, "document");
	struct fault own = FAULT_INITIAL;
	struct media media;

	if (record->backend.data == NULL || (media_load(call, STORE_TO_SHOW, &media, &own) &&
					     media_backend_named(&media, record->backend) != NULL))
		return true;
	json_object_del(json_object_get(document, "settings"), "backend");
	if (own.kind == FAULT_NONE)
		fault_cause(&own, FAULT_DAMAGED, 0, "it is not there");
	return transfer_leave_out(output,
				  arena_text(call->arena, "backend of the %s",
					     name_of(call, "template", &record->id)),
				  &own, fault);
}

bool transfer_line_template(struct survey *survey, const struct id *id,
			    struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	struct fault own = FAULT_INITIAL;
	struct template_record record;
	json_t *value;

	if (!template_load(call, id, &record, &own))
		return transfer_leave_out(output, name_of(call, "template", id), &own, fault);
	value = template_value(call, &record);
	if (!packed_sound(call, true, &own))
		return transfer_leave_out(output, name_of(call, "template", id), &own, fault);
	if (!keep_backend(call, &record, output, value, fault))
		return false;
	output->counts.templates++;
	return transfer_send(survey, output, "template", value, fault);
}

/* ---- rooms ---- */

static void set_terms(struct call *call, json_t *value, const struct code *code)
{
	const struct code_terms *terms = &code->terms;
	json_t *document;

	if (terms->set == 0)
		return;
	document = code_terms_document(call, code, false);
	(void)json_object_del(document, "enabled");
	object_put(value, "terms", json_incref(document));
	if ((terms->set & CODE_MAX_USES) != 0)
		object_put(value, "uses", number_value(terms->uses));
	if (terms->last_use != 0)
		object_put(value, "last_use", json_time_milliseconds(terms->last_use));
	if (terms->last_user.size > 0)
		object_put(value, "last_user", json_of_text(terms->last_user));
	if (terms->last_repeats > 0)
		object_put(value, "last_repeats", number_value(terms->last_repeats));
}

static json_t *code_value(struct call *call, const struct code *code,
			  const struct shown_code *shown, uint32_t identity)
{
	json_t *value = json_object();

	object_put(value, "code", json_of_text(code->letters));
	object_put(value, "enabled", json_boolean(shown->is_enabled));
	if (shown->has_role)
		object_put(value, "identity", number_value(identity));
	else
		object_put(value, "lost_role", json_of_text(shown->role));
	object_put(value, "created_at", json_time_seconds(shown->created * 1000));
	object_put(value, "updated_at", json_time_seconds(shown->updated * 1000));
	set_terms(call, value, code);
	object_put(value, "place", number_value(id_number(&code->place)));
	return value;
}

/* The codes of one room on their way into its lines. */
struct code_list {
	struct template_record owner;
	struct room_codes codes;
	const struct kept_codes *kept; /* NULL: the codes are in the store's pages */
	struct transfer_output *output;
	uint64_t after; /* the place of the last one that was read from a page */
	size_t next; /* of kept->items */
	bool is_done; /* no codes are left */
	json_t *list; /* of the line at hand */
};

static bool add_code(struct call *call, const struct code_list *to, const struct code *code,
		     struct fault *fault)
{
	const struct code_group *group = codes_group(&to->codes, code->group);
	const uint32_t identity = group == NULL ? 0 : group->identity;
	struct fault own = FAULT_INITIAL;
	struct shown_code shown;
	json_t *value = NULL;

	if (code_show(call, &to->codes, code, &to->owner, &shown, &own))
		value = arena_json(call->arena, code_value(call, code, &shown, identity));
	if (!packed_sound(call, value != NULL, &own))
		return transfer_leave_out(to->output,
					  arena_text(call->arena, "a code of the %s",
						     name_of(call, "room", &code->room)),
					  &own, fault);
	array_put(to->list, json_incref(value));
	return true;
}

static size_t space_of(const struct code_list *to)
{
	return CODES_OF_LINE - json_array_size(to->list);
}

static bool add_pages(struct call *call, struct code_list *to, struct fault *fault)
{
	struct code_page page = { .after = to->after };

	while (!to->is_done && space_of(to) > 0) {
		page.most = space_of(to) < CODES_AT_ONCE ? space_of(to) : CODES_AT_ONCE;
		if (!codes_page(call, &to->codes.room, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (!add_code(call, to, &page.codes[i], fault))
				return false;
		}
		to->after = page.after;
		to->is_done = page.is_last;
	}
	return true;
}

/* The place of the room's first code. */
static size_t first_kept(const struct call *call, const struct kept_codes *kept,
			 const struct id *room)
{
	size_t at = id_place(room, kept->items, kept->count, sizeof *kept->items);

	while (at < kept->count && id_compare(&kept->items[at].room, room) == 0 &&
	       id_compare(&kept->items[at].account, &call->account) < 0)
		at++;
	return at;
}

static bool add_kept(struct call *call, struct code_list *to, struct fault *fault)
{
	const struct kept_codes *kept = to->kept;
	struct code code;
	struct id account;
	bool is_there;

	while (space_of(to) > 0) {
		struct fault own = FAULT_INITIAL;

		to->is_done = to->next == kept->count ||
			      id_compare(&kept->items[to->next].room, &to->codes.room) != 0 ||
			      id_compare(&kept->items[to->next].account, &call->account) != 0;
		if (to->is_done)
			break;
		if (code_find(call, slice_of(kept->items[to->next++].letters), STORE_TO_SHOW, &code,
			      &account, &is_there, &own)
			    ? is_there && !add_code(call, to, &code, fault)
			    : !transfer_leave_out(to->output, "a code", &own, fault))
			return false;
	}
	return true;
}

static json_t *due_value(const struct due_role *due)
{
	json_t *value = json_object();

	object_put(value, "identity", number_value(due->identity));
	object_put(value, "due_at", json_time_seconds(due->since * 1000));
	return value;
}

/* Reads the codes of the next line. */
static bool fill(struct call *call, struct code_list *to, struct fault *fault)
{
	to->list = arena_json(call->arena, json_array());
	return to->kept != NULL ? add_kept(call, to, fault) : add_pages(call, to, fault);
}

/* Nothing for a room that never had codes, and for one whose codes are lost. */
static bool open_codes(struct call *call, const struct id *room, struct code_list *to,
		       struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	to->is_done = true;
	if (!codes_load(call, room, STORE_TO_SHOW, &to->codes, &own))
		return transfer_leave_out(to->output, name_of(call, "codes of the room", room),
					  &own, fault);
	to->is_done = to->codes.stored.value.data == NULL;
	if (!to->is_done && to->kept != NULL)
		to->next = first_kept(call, to->kept, room);
	return true;
}

static bool add_codes(struct call *call, struct code_list *to, json_t *value, struct fault *fault)
{
	const struct room_codes *codes = &to->codes;
	json_t *object, *due;

	if (to->is_done)
		return true;
	if (!fill(call, to, fault))
		return false;
	object = arena_json(call->arena, json_object());
	due = json_array();
	object_put(object, "codes", json_incref(to->list));
	object_put(object, "due_roles", due);
	object_put(object, "all_asked", json_boolean(codes->was_asked));
	object_put(object, "last_identity", number_value(codes->last_seen));
	for (size_t i = 0; i < codes->due_count; i++) {
		if (template_live_role(&to->owner, codes->due[i].identity) != NULL)
			array_put(due, due_value(&codes->due[i]));
	}
	object_put(value, "codes", json_incref(object));
	return true;
}

/* The codes that the line of the room has no space for. */
static bool send_more(struct call *call, struct code_list *to, struct fault *fault)
{
	json_t *value = arena_json(call->arena, json_object());

	if (!fill(call, to, fault))
		return false;
	if (json_array_size(to->list) == 0)
		return true;
	object_put(value, "room_id", id_value(&to->codes.room));
	object_put(value, "codes", json_incref(to->list));
	to->output->counts.codes++;
	return send_line(call, to->output, "codes", value, fault);
}

/* Members of room_document that cannot be sent. */
static const char *const not_sent[] = {
	"id", "customer_id", "template", "created_at", "updated_at", "customer",
};

bool transfer_find_template(struct call *call, const struct id *id, struct template_record *owner,
			    struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	return template_load(call, id, owner, &own) ||
	       fault_cause(fault, FAULT_DAMAGED, 0, "it is of the %s, which is lost (%s)",
			   name_of(call, "template", id), fault_reason(&own));
}

static bool send_room(struct call *call, const struct room_record *record, json_t *document,
		      struct code_list *to, struct fault *fault)
{
	json_t *value = arena_json(call->arena, json_object());

	for (size_t i = 0; i < sizeof not_sent / sizeof not_sent[0]; i++)
		(void)json_object_del(document, not_sent[i]);
	object_put(value, "id", id_value(&record->id));
	object_put(value, "created_at", json_time_milliseconds(record->created));
	object_put(value, "updated_at", json_time_milliseconds(record->updated));
	object_put(value, "document", json_incref(document));
	if (!add_codes(call, to, value, fault))
		return false;
	to->output->counts.rooms++;
	return send_line(call, to->output, "room", value, fault);
}

bool transfer_line_room(struct survey *survey, const struct id *id, const struct kept_codes *kept,
			struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	struct code_list to = { .kept = kept, .output = output };
	struct fault own = FAULT_INITIAL;
	struct room_record record;
	json_t *document = NULL;
	struct arena_mark mark;
	bool is_there, is_sent;

	if (room_find(call, id, STORE_TO_SHOW, &record, &is_there, &own) &&
	    (is_there || packed_missing("room", id, &own)) &&
	    transfer_find_template(call, &record.template_id, &to.owner, &own))
		document = room_document(call, &record);
	if (!packed_sound(call, document != NULL, &own))
		return transfer_leave_out(output, name_of(call, "room", id), &own, fault);
	if (!open_codes(call, id, &to, fault))
		return false;
	/* The record, the template and what the codes have in common serve for all lines of the
	 * room. */
	mark = arena_mark(call->arena);
	is_sent = send_room(call, &record, document, &to, fault);
	arena_release(call->arena, &mark);
	while (is_sent && !to.is_done) {
		is_sent = send_more(call, &to, fault);
		arena_release(call->arena, &mark);
	}
	survey_forget(survey);
	return is_sent;
}

bool transfer_line_words(struct survey *survey, const struct id *account, struct slice words,
			 struct transfer_output *output, struct fault *fault)
{
	json_t *value = arena_json(survey->call.arena, json_object());

	object_put(value, "account", id_value(account));
	object_put(value, "words", json_of_text(words));
	output->counts.words++;
	return transfer_send(survey, output, "words", value, fault);
}

/* ---- accounts ---- */

bool transfer_line_account(struct survey *survey, const struct account *account,
			   const struct id *default_template, uint64_t last_event,
			   struct transfer_output *output, struct fault *fault)
{
	json_t *value = arena_json(survey->call.arena, account_json(account));

	if (default_template != NULL)
		object_put(value, "default_template", id_value(default_template));
	if (last_event > 0)
		object_put(value, "last_event", number_value(last_event));
	output->counts.accounts++;
	return transfer_send(survey, output, "account", value, fault);
}

/* ---- media ---- */

static json_t *key_value(struct call *call, const struct signing_key *key)
{
	json_t *value = json_object();

	object_put(value, "alg", json_string(signing_alg_name(key->alg)));
	object_put(value, "state", json_string(key_state_name(key->state)));
	object_put(value, "created_at", json_time_milliseconds(key->created));
	if (key->state == KEY_RETIRED)
		object_put(value, "retires_at", json_time_seconds(key->retires * 1000));
	object_put(value, "private_key",
		   json_of_text(text_base64url(call->arena, key->private_key)));
	return value;
}

static json_t *backend_value(struct call *call, const struct backend *backend)
{
	json_t *value = json_object();

	object_put(value, "id", id_value(&backend->id));
	object_put(value, "created_at", json_time_milliseconds(backend->created));
	object_put(value, "updated_at", json_time_milliseconds(backend->updated));
	object_put(value, "document", json_incref(backend_document(call, backend)));
	return value;
}

bool transfer_line_media(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	json_t *value = arena_json(call->arena, json_object());
	json_t *keys = json_array(), *backends = json_array();
	struct fault own = FAULT_INITIAL;
	struct media media;

	object_put(value, "signing_keys", keys);
	object_put(value, "backends", backends);
	if (!media_load(call, STORE_TO_SHOW, &media, &own))
		return transfer_leave_out_part(call, output, "media", &own, fault);
	if (media.stored.value.data == NULL)
		return true;
	object_put(
		value, "code_key",
		json_of_text(text_base64url(
			call->arena, (struct slice){ (const char *)media.code_key, DIGEST_SIZE })));
	for (size_t i = 0; i < media.key_count; i++)
		array_put(keys, key_value(call, &media.keys[i]));
	object_put(value, "last_backend", number_value(media.last_backend));
	for (size_t i = 0; i < media.backend_count; i++)
		array_put(backends, backend_value(call, &media.backends[i]));
	if (!packed_sound(call, true, &own))
		return transfer_leave_out_part(call, output, "media", &own, fault);
	output->counts.media++;
	return transfer_send(survey, output, "media", value, fault);
}

/* ---- keys ---- */

static json_t *key_line(struct call *call, const struct api_key *key)
{
	json_t *value = json_object();

	object_put(value, "id", id_value(&key->id));
	object_put(value, "created_at", json_time_milliseconds(key->created));
	object_put(value, "digest",
		   json_of_text(text_base64url(
			   call->arena, (struct slice){ (const char *)key->digest, DIGEST_SIZE })));
	object_put(value, "document", json_incref(key_document(call, key)));
	return value;
}

static bool gather_keys(struct call *call, json_t *list, struct fault *fault)
{
	struct store_record records[API_KEYS_MOST];
	struct store_page page = { .order = STORE_OLDEST_FIRST,
				   .records = records,
				   .most = API_KEYS_MOST };
	struct api_key key;

	api_keys_set_page(&page);
	if (!store_page(call->transaction, &kind_key, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!api_key_read(&records[i], &key, fault))
			return false;
		array_put(list, key_line(call, &key));
	}
	return true;
}

bool transfer_line_keys(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	json_t *value = arena_json(call->arena, json_object());
	json_t *list = json_array();
	struct fault own = FAULT_INITIAL;

	object_put(value, "keys", list);
	if (!gather_keys(call, list, &own))
		return transfer_leave_out_part(call, output, "keys", &own, fault);
	if (json_array_size(list) == 0)
		return true;
	output->counts.keys++;
	return transfer_send(survey, output, "keys", value, fault);
}
