/* Out of a store: see resources/transfer.h. A line is made as one JSON value; members of documents
 * that a load would ignore are left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/text.h"
#include "resources/account_record.h"
#include "resources/buried_role.h"
#include "resources/code_identities.h"
#include "resources/code_life.h"
#include "resources/record_subject.h"
#include "resources/room_record.h"
#include "resources/template_parts.h"
#include "resources/transfer.h"
#include "store/inspect.h"

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

/* "room ACCOUNT/ID". */
static const char *name_of(struct call *call, const char *kind, const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return arena_text(call->arena, "%s %s/%s", kind, call->account_text, text);
}

static const char *reason_of(const struct fault *fault)
{
	return fault->cause[0] != '\0' ? fault->cause : fault->message;
}

/* True: it has been told, and the dump goes on without it. */
static bool leave_out(struct transfer_output *output, const char *what, const struct fault *why,
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

static bool write_begin(struct survey *survey, struct transfer_output *output, struct fault *fault)
{
	json_t *head = arena_json(survey->call.arena, json_object());

	set(head, "format", json_integer(FORMAT));
	set(head, "program", json_string("anteroom " PACKAGE_VERSION));
	set(head, "made_at", time_value(survey->call.now));
	return send(survey, output, "dump", head, fault);
}

static bool write_end(struct survey *survey, struct transfer_output *output, struct fault *fault)
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

static bool write_template(struct survey *survey, const struct id *id,
			   struct transfer_output *output, struct fault *fault)
{
	struct call *call = &survey->call;
	struct fault own = FAULT_INITIAL;
	struct template_record record;

	if (!template_load(call, id, &record, &own) || !check_time(id, record.created, &own))
		return leave_out(output, name_of(call, "template", id), &own, fault);
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
					   identity, name_of(call, "room", &codes->room));

			if (!leave_out(output, what, &own, fault))
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
		return leave_out(output, name_of(call, "codes of the room", room), &own, fault);
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

/* A template that is not in the dump is not there for its rooms. */
static bool find_owner(struct call *call, const struct id *id, struct template_record *owner,
		       struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	return (template_load(call, id, owner, &own) && check_time(id, owner->created, &own)) ||
	       fault_cause(fault, FAULT_DAMAGED, 0, "it is of the %s, which is lost (%s)",
			   name_of(call, "template", id), reason_of(&own));
}

static bool write_room(struct survey *survey, const struct id *id, struct transfer_output *output,
		       struct fault *fault)
{
	struct call *call = &survey->call;
	json_t *value = arena_json(call->arena, json_object());
	struct fault own = FAULT_INITIAL;
	struct room_record record;
	struct template_record owner;
	json_t *document;

	if (!room_load(call, id, &record, &own) || !check_time(id, record.created, &own) ||
	    !find_owner(call, &record.template_id, &owner, &own))
		return leave_out(output, name_of(call, "room", id), &own, fault);
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

/* ---- ids, by lists and by keys ---- */

/* Of what an account has in a table. */
struct kind {
	const char *name;
	enum store_table table;
	bool (*next_page)(struct call *call, const struct id *below, struct page *page,
			  struct fault *fault);
	bool (*write)(struct survey *survey, const struct id *id, struct transfer_output *output,
		      struct fault *fault);
};

static const struct kind of_templates = { "template", STORE_TEMPLATE, page_of_templates,
					  write_template };
static const struct kind of_rooms = { "room", STORE_ROOM, page_of_rooms, write_room };

struct owned {
	struct id account, id;
};

struct keys {
	struct owned *items; /* from malloc */
	size_t count, capacity;
};

static void keys_add(struct keys *keys, const struct id *account, const struct id *id)
{
	if (keys->count == keys->capacity) {
		keys->capacity = keys->capacity * 2 + 64;
		keys->items = realloc(keys->items, keys->capacity * sizeof *keys->items);
		if (keys->items == NULL)
			abort();
	}
	keys->items[keys->count++] = (struct owned){ *account, *id };
}

/* By account; of an account the youngest first. */
static int compare_owned(const void *a, const void *b)
{
	const struct owned *first = a, *second = b;
	const int accounts = id_compare(&first->account, &second->account);

	return accounts != 0 ? accounts : id_compare(&second->id, &first->id);
}

/* Each once. */
static void keys_sort(struct keys *keys)
{
	size_t count = 0;

	if (keys->count > 0)
		qsort(keys->items, keys->count, sizeof *keys->items, compare_owned);
	for (size_t i = 0; i < keys->count; i++) {
		if (count == 0 || compare_owned(&keys->items[count - 1], &keys->items[i]) != 0)
			keys->items[count++] = keys->items[i];
	}
	keys->count = count;
}

/* The next page, and lets go of all that was read for it. */
static bool read_page(struct survey *survey, const struct kind *kind, const struct page *before,
		      struct page *page, struct fault *fault)
{
	const struct id last = before->count > 0 ? before->ids[before->count - 1]
						 : (struct id){ { 0 } };
	bool is_read = kind->next_page(&survey->call, before->count > 0 ? &last : NULL, page,
				       fault);

	survey_forget(survey);
	return is_read;
}

/* Also an id that no key says: then the record is lost. */
static bool add_listed(struct survey *survey, const struct kind *kind,
		       struct transfer_output *output, struct keys *keys, struct fault *fault)
{
	struct call *call = &survey->call;
	struct page page = { .count = 0 };
	struct fault own = FAULT_INITIAL;

	do {
		if (!read_page(survey, kind, &page, &page, &own))
			return leave_out(output,
					 arena_text(call->arena, "list of %ss of the account %s",
						    kind->name, call->account_text),
					 &own, fault);
		for (size_t i = 0; i < page.count; i++)
			keys_add(keys, &call->account, &page.ids[i]);
	} while (page.count > 0);
	return true;
}

/* Of the accounts to be dumped: those of the roster, or one. */
struct looking {
	struct survey *survey;
	const struct roster *roster;
	const struct account *only;
	const struct kind *kind;
	struct keys *keys;
	uint64_t count;
};

static bool is_wanted(const struct looking *looking, struct slice key, struct owned *owned)
{
	if (key.size != 2 * (size_t)ID_SIZE)
		return false;
	memcpy(owned->account.bytes, key.data, ID_SIZE);
	memcpy(owned->id.bytes, key.data + ID_SIZE, ID_SIZE);
	return looking->only != NULL ? id_compare(&looking->only->id, &owned->account) == 0
				     : roster_by_id(looking->roster, &owned->account) != NULL;
}

static bool visit_gather(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct owned owned;

	(void)value;
	(void)fault;
	if (is_wanted(looking, key, &owned))
		keys_add(looking->keys, &owned.account, &owned.id);
	return true;
}

static bool visit_count(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct owned owned;

	(void)value;
	(void)fault;
	looking->count += is_wanted(looking, key, &owned);
	return true;
}

static bool is_in_list(struct call *call, const struct kind *kind, const struct id *id,
		       bool *is_there, struct fault *fault)
{
	if (kind->table == STORE_TEMPLATE)
		return subject_listed(call, list_of_templates(call), id, is_there, fault);
	return subject_listed(call, list_of_rooms(call, true), id, is_there, fault) &&
	       (*is_there || subject_listed(call, list_of_rooms(call, false), id, is_there, fault));
}

/* Ends the walk at the first record that is in no list. */
static bool visit_find(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct call *call = &looking->survey->call;
	struct owned owned;
	bool is_there;

	(void)value;
	if (!is_wanted(looking, key, &owned))
		return true;
	survey_forget(looking->survey);
	survey_of_account(looking->survey, &owned.account);
	if (!is_in_list(call, looking->kind, &owned.id, &is_there, fault))
		return false;
	return is_there ||
	       fault_cause(fault, FAULT_DAMAGED, 0,
			   "the %s is not in the list of its account's %ss",
			   name_of(call, looking->kind->name, &owned.id), looking->kind->name);
}

/* Each line had a record of its own; so lists and records agree when they are as many. */
static bool check_count(struct survey *survey, const struct looking *all, const struct kind *kind,
			uint64_t written, struct fault *fault)
{
	struct transaction *transaction = survey->call.transaction;
	struct looking looking = *all;

	looking.kind = kind;
	if (!store_gdbm_walk_keys(transaction, kind->table, visit_count, &looking, fault))
		return false;
	if (looking.count == written)
		return true;
	return store_gdbm_walk_keys(transaction, kind->table, visit_find, &looking, fault) &&
	       fault_cause(fault, FAULT_DAMAGED, 0, "the lists have %llu %ss, and there are %llu",
			   (unsigned long long)written, kind->name,
			   (unsigned long long)looking.count);
}

/* ---- the whole ---- */

/* last_number: the account's counter. */
static bool write_listed(struct survey *survey, const struct kind *kind, uint64_t last_number,
			 struct transfer_output *output, struct fault *fault)
{
	struct page page = { .count = 0 };
	struct id last;
	bool has_last = false;

	do {
		if (!read_page(survey, kind, &page, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (has_last && id_number(&page.ids[i]) >= id_number(&last))
				return fault_cause(fault, FAULT_DAMAGED, 0,
						   "the list of %ss of the account %s is not in "
						   "order",
						   kind->name, survey->call.account_text);
			if (id_number(&page.ids[i]) > last_number)
				return fault_cause(
					fault, FAULT_DAMAGED, 0,
					"the %s is above the account's counter",
					name_of(&survey->call, kind->name, &page.ids[i]));
			last = page.ids[i];
			has_last = true;
			if (!kind->write(survey, &last, output, fault))
				return false;
		}
	} while (page.count > 0);
	return true;
}

static bool write_account(struct survey *survey, const struct account *account,
			  struct transfer_output *output, struct fault *fault)
{
	struct account_record record;

	survey_of_account(survey, &account->id);
	if (!account_load(&survey->call, &record, fault))
		return false;
	output->counts.accounts++;
	return send(survey, output, "account", account_value(&survey->call, account, &record),
		    fault) &&
	       write_listed(survey, &of_templates, record.template_number, output, fault) &&
	       write_listed(survey, &of_rooms, record.room_number, output, fault);
}

static bool write_accounts(struct survey *survey, const struct looking *all,
			   struct transfer_output *output, struct fault *fault)
{
	for (size_t i = 0; i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if ((all->only == NULL || all->only == account) &&
		    !write_account(survey, account, output, fault))
			return false;
	}
	return check_count(survey, all, &of_templates, output->counts.templates, fault) &&
	       check_count(survey, all, &of_rooms, output->counts.rooms, fault);
}

/* ---- the whole, as far as it can be read ---- */

struct salvage {
	struct keys templates, rooms;
};

static bool gather(struct survey *survey, const struct looking *all, const struct kind *kind,
		   struct transfer_output *output, struct keys *keys, struct fault *fault)
{
	struct looking looking = *all;
	struct fault own = FAULT_INITIAL;

	looking.keys = keys;
	if (!store_gdbm_walk_keys(survey->call.transaction, kind->table, visit_gather, &looking,
				  &own) &&
	    !leave_out(output,
		       arena_text(survey->call.arena, "%ss that are in no list", kind->name), &own,
		       fault))
		return false;
	for (size_t i = 0; i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only != NULL && all->only != account)
			continue;
		survey_of_account(survey, &account->id);
		if (!add_listed(survey, kind, output, keys, fault))
			return false;
		survey_forget(survey);
	}
	keys_sort(keys);
	return true;
}

/* The first key of the account. */
static size_t keys_find(const struct keys *keys, const struct id *account)
{
	size_t low = 0, high = keys->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (id_compare(&keys->items[middle].account, account) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct keys *keys, size_t i, const struct id *account)
{
	return i < keys->count && id_compare(&keys->items[i].account, account) == 0;
}

/* Raises what no id may be above. */
static void count_anew(const struct keys *keys, const struct id *account, uint64_t *number,
		       int64_t *last_time)
{
	for (size_t i = keys_find(keys, account); is_of(keys, i, account); i++) {
		const struct id *id = &keys->items[i].id;
		const int64_t time = (int64_t)id_seconds(id) * 1000 + 999;

		if (id_number(id) > *number)
			*number = id_number(id);
		if (time / 1000 > *last_time / 1000)
			*last_time = time;
	}
}

static bool salvage_counters(struct survey *survey, const struct salvage *salvage,
			     struct transfer_output *output, struct account_record *record,
			     struct fault *fault)
{
	struct call *call = &survey->call;
	const char *what = arena_text(
		call->arena, "counters and default template of the account %s", call->account_text);
	struct fault own = FAULT_INITIAL;
	struct account_record before;

	if (!account_load(call, record, &own)) {
		if (!leave_out(output, what, &own, fault))
			return false;
		*record = (struct account_record){ .template_number = 0 };
	}
	before = *record;
	count_anew(&salvage->templates, &call->account, &record->template_number,
		   &record->last_time);
	count_anew(&salvage->rooms, &call->account, &record->room_number, &record->last_time);
	if (own.kind != FAULT_NONE ||
	    (before.template_number == record->template_number &&
	     before.room_number == record->room_number && before.last_time == record->last_time))
		return true;
	(void)fault_cause(&own, FAULT_DAMAGED, 0, "there are ids above the counters");
	return leave_out(output, what, &own, fault);
}

static bool salvage_record(struct survey *survey, const struct salvage *salvage,
			   struct transfer_output *output, struct account_record *record,
			   struct fault *fault)
{
	struct call *call = &survey->call;
	struct template_record marked;
	struct fault own = FAULT_INITIAL;

	if (!salvage_counters(survey, salvage, output, record, fault))
		return false;
	if (!record->has_default || find_owner(call, &record->default_template, &marked, &own))
		return true;
	record->has_default = false;
	return leave_out(
		output,
		arena_text(call->arena, "default template of the account %s", call->account_text),
		&own, fault);
}

static bool salvage_all(struct survey *survey, const struct kind *kind, const struct keys *keys,
			struct transfer_output *output, struct fault *fault)
{
	const struct id account = survey->call.account;

	for (size_t i = keys_find(keys, &account); is_of(keys, i, &account); i++) {
		if (!kind->write(survey, &keys->items[i].id, output, fault))
			return false;
		survey_forget(survey);
	}
	return true;
}

static bool salvage_account(struct survey *survey, const struct salvage *salvage,
			    const struct account *account, struct transfer_output *output,
			    struct fault *fault)
{
	struct account_record record;

	survey_of_account(survey, &account->id);
	if (!salvage_record(survey, salvage, output, &record, fault))
		return false;
	output->counts.accounts++;
	return send(survey, output, "account", account_value(&survey->call, account, &record),
		    fault) &&
	       salvage_all(survey, &of_templates, &salvage->templates, output, fault) &&
	       salvage_all(survey, &of_rooms, &salvage->rooms, output, fault);
}

static bool salvage_accounts(struct survey *survey, const struct looking *all,
			     struct transfer_output *output, struct fault *fault)
{
	struct salvage salvage = { .templates = { .count = 0 } };
	bool is_saved = gather(survey, all, &of_templates, output, &salvage.templates, fault) &&
			gather(survey, all, &of_rooms, output, &salvage.rooms, fault);

	for (size_t i = 0; is_saved && i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only == NULL || all->only == account)
			is_saved = salvage_account(survey, &salvage, account, output, fault);
	}
	free(salvage.templates.items);
	free(salvage.rooms.items);
	return is_saved;
}

bool transfer_write(struct survey *survey, const struct roster *roster, const struct account *only,
		    struct transfer_output *output, struct fault *fault)
{
	const struct looking all = { .survey = survey, .roster = roster, .only = only };

	return write_begin(survey, output, fault) &&
	       (output->lost == NULL ? write_accounts(survey, &all, output, fault)
				     : salvage_accounts(survey, &all, output, fault)) &&
	       write_end(survey, output, fault);
}
