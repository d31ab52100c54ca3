/* See transfer/record_check.h. A check of a record ends with false only when something could not be
 * read; that becomes a finding of this record, whatever else was wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/record_subject.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json_text.h"
#include "base/text.h"
#include "resources/account_record.h"
#include "resources/buried_role.h"
#include "resources/room_record.h"
#include "resources/packed.h"
#include "store/sequence.h"

#define PROBLEM_MOST 400

/* ---- keys as text ---- */

static void append_hex(struct buffer *text, struct slice bytes)
{
	text_hex(bytes.data, bytes.size, buffer_reserve(text, 2 * bytes.size));
	text->size += 2 * bytes.size;
}

static bool is_plain(struct slice bytes)
{
	for (size_t i = 0; i < bytes.size; i++) {
		if (bytes.data[i] < ' ' || bytes.data[i] > '~')
			return false;
	}
	return true;
}

/* Ids in hex with a slash between them, names as they are. */
static const char *key_text(const struct subject *subject)
{
	struct buffer text = BUFFER_INITIAL(subject->call->arena);
	struct slice rest = subject->key;
	bool has_name = subject->table == STORE_TEMPLATE_NAME || subject->table == STORE_ROOM_NAME;

	if (subject->table == STORE_CODE)
		return "(a code)";
	if (subject->table == STORE_SEQUENCE && rest.size > 0 && is_plain(rest)) {
		rest.size = subject->key.size;
	} else if (subject->table == STORE_SEQUENCE && rest.size > 0) {
		buffer_append_byte(&text, rest.data[0]);
		buffer_append_byte(&text, '/');
		rest = (struct slice){ rest.data + 1, rest.size - 1 };
	}
	while (rest.size >= ID_SIZE && !(has_name && rest.data != subject->key.data)) {
		append_hex(&text, (struct slice){ rest.data, ID_SIZE });
		rest = (struct slice){ rest.data + ID_SIZE, rest.size - ID_SIZE };
		if (rest.size > 0)
			buffer_append_byte(&text, '/');
	}
	if (has_name && is_plain(rest))
		buffer_append(&text, rest);
	else
		append_hex(&text, rest);
	buffer_append_byte(&text, '\0');
	return text.data;
}

bool subject_found(const struct subject *subject, const char *format, ...)
{
	char problem[PROBLEM_MOST];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof problem, format, arguments);
	va_end(arguments);
	subject->findings->tell(subject->findings, subject->table, key_text(subject), problem);
	return true;
}

/* ---- parts of records ---- */

bool subject_key_has(const struct subject *subject, size_t size)
{
	struct id account;

	if (subject->key.size != ID_SIZE + size)
		return false;
	memcpy(account.bytes, subject->key.data, ID_SIZE);
	survey_of_account(subject->survey, &account);
	return true;
}

struct id subject_id_at(struct slice bytes, size_t offset)
{
	struct id id;

	memcpy(id.bytes, bytes.data + offset, ID_SIZE);
	return id;
}

bool subject_name(const struct subject *subject, const char *thing, struct slice *name,
		  struct id *id)
{
	if (subject->key.size <= ID_SIZE ||
	    !subject_key_has(subject, subject->key.size - ID_SIZE)) {
		(void)subject_found(subject, "the key is no name");
		return false;
	}
	if (subject->value.size != ID_SIZE) {
		(void)subject_found(subject, "leads to no %s", thing);
		return false;
	}
	*name = (struct slice){ subject->key.data + ID_SIZE, subject->key.size - ID_SIZE };
	*id = subject_id_at(subject->value, 0);
	return true;
}

json_t *subject_parsed(const struct subject *subject, struct slice text)
{
	return json_text_read(subject->call->arena, text, NULL);
}

bool subject_says(const json_t *object, const char *name, struct slice text)
{
	const json_t *member = json_object_get(object, name);
	struct slice value = { json_string_value(member), json_string_length(member) };

	return value.data != NULL && slice_equal(value, text);
}

bool subject_listed(struct call *call, struct slice list, const struct id *id, bool *is_there,
		    struct fault *fault)
{
	struct sequence_walk walk;
	struct id bound = *id, next;
	size_t i = ID_SIZE;

	while (i > 0 && ++bound.bytes[i - 1] == 0)
		i--;
	sequence_start(&walk, call->transaction, list, i == 0 ? NULL : &bound);
	if (!sequence_next(&walk, &next, is_there, fault))
		return false;
	*is_there = *is_there && id_compare(&next, id) == 0;
	return true;
}

bool subject_check_listed(const struct subject *subject, struct slice list, const struct id *id,
			  bool should_be, const char *name, struct fault *fault)
{
	bool is_there;

	if (!subject_listed(subject->call, list, id, &is_there, fault))
		return false;
	return is_there == should_be ||
	       subject_found(subject,
			     is_there ? "is in the list of %s" : "is not in the list of %s", name);
}

bool subject_counted(const struct subject *subject, const struct id *id, int64_t created,
		     bool is_room, struct fault *fault)
{
	struct account_record account;
	uint64_t last;

	if (!account_load(subject->call, &account, fault))
		return false;
	last = is_room ? account.room_number : account.template_number;
	if (id_number(id) == 0 || id_number(id) > last)
		subject_found(subject, "its number %llu is above the account's counter, %llu",
			      (unsigned long long)id_number(id), (unsigned long long)last);
	if (created > account.last_time)
		subject_found(subject, "was made later than the account's youngest id");
	if (id_seconds(id) != created / 1000)
		subject_found(subject, "its id does not begin with the time when it was made");
	return true;
}

/* ---- accounts ---- */

static bool check_account(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	const struct roster *roster = subject->findings->roster;
	struct account_record record;
	struct template_record marked;
	bool is_there;

	if (!subject_key_has(subject, 0))
		return subject_found(subject, "the key is no account");
	if (roster != NULL && roster_by_id(roster, &call->account) == NULL)
		subject_found(subject,
			      "the accounts file does not have this account; if a load was cut "
			      "off, anteroom load removes its records");
	if (!account_load(call, &record, fault))
		return false;
	if (!record.has_default)
		return true;
	if (!template_find(call, &record.default_template, &marked, &is_there, fault))
		return false;
	return is_there || subject_found(subject, "its default template is not there");
}

/* ---- templates ---- */

static void check_texts(const struct subject *subject, const struct template_record *record)
{
	const struct slice texts[] = {
		record->settings,	 record->destinations,	      record->recording,
		record->hidden_settings, record->hidden_destinations, record->text
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (subject_parsed(subject, texts[i]) == NULL)
			subject_found(subject, "text %zu of the record is not JSON", i);
	}
	if (record->plugins.size > 0 && subject_parsed(subject, record->plugins) == NULL)
		subject_found(subject, "its plugins are not JSON");
	for (size_t i = 0; i < record->role_count; i++) {
		if (!subject_says(subject_parsed(subject, record->roles[i].text), "name",
				  record->roles[i].name))
			subject_found(subject, "the text of role %zu is not that of its name", i);
	}
}

/* The text is exactly what its parts give. */
static bool check_assembled(const struct subject *subject, const struct template_record *record,
			    struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record again = *record;

	again.roles = arena_alloc(call->arena, (record->role_count + 1) * sizeof *again.roles);
	if (record->role_count > 0)
		memcpy(again.roles, record->roles, record->role_count * sizeof *again.roles);
	if (!template_assemble(call, &again, fault))
		return false;
	return slice_equal(again.text, record->text) ||
	       subject_found(subject, "its text is not what its parts give");
}

static void check_identities(const struct subject *subject, const struct template_record *record)
{
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];

		if (role->identity == 0 || role->identity > record->last_identity)
			subject_found(subject, "the identity %u of role %zu was never given out",
				      role->identity, i);
		if (template_live_role(record, role->identity) != role)
			subject_found(subject, "role %zu has the identity of another one", i);
		if (template_role_index(record, role->name) != i)
			subject_found(subject, "role %zu has the name of another one", i);
	}
}

static bool check_template(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record record;
	struct id id, named;
	bool is_there;

	if (!subject_key_has(subject, ID_SIZE))
		return subject_found(subject, "the key is no template");
	id = subject_id_at(subject->key, ID_SIZE);
	if (!template_load(call, &id, &record, fault) ||
	    !template_find_name(call, record.name, &named, &is_there, fault))
		return false;
	if (!is_there || id_compare(&named, &id) != 0)
		subject_found(subject, "its name does not lead to it");
	check_texts(subject, &record);
	check_identities(subject, &record);
	return subject_counted(subject, &id, record.created, false, fault) &&
	       subject_check_listed(subject, list_of_templates(call), &id, true, "templates",
				    fault) &&
	       check_assembled(subject, &record, fault);
}

static bool check_template_name(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record record;
	struct slice name;
	struct id id;
	bool is_there;

	if (!subject_name(subject, "template", &name, &id))
		return true;
	if (!template_find(call, &id, &record, &is_there, fault))
		return false;
	if (!is_there || !slice_equal(record.name, name))
		return subject_found(subject,
				     "leads to a template that is not there or has another name");
	return true;
}

static bool check_role(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record record;
	struct buried_role buried;
	struct packed reader;
	struct id id;
	uint32_t identity;
	bool is_there;

	if (!subject_key_has(subject, ID_SIZE + 4))
		return subject_found(subject, "the key is no role");
	id = subject_id_at(subject->key, ID_SIZE);
	reader.rest = (struct slice){ subject->key.data + 2 * (size_t)ID_SIZE, 4 };
	reader.is_short = false;
	identity = (uint32_t)packed_number(&reader, 4);
	if (!buried_role_load(call, &id, identity, &buried, fault) ||
	    !template_find(call, &id, &record, &is_there, fault))
		return false;
	/* It stays when its template goes. */
	if (is_there &&
	    (template_live_role(&record, identity) != NULL || identity > record.last_identity))
		subject_found(subject, "was deleted, but the template has it, or never had it");
	return true;
}

/* ---- any record ---- */

static bool check_any(const struct subject *subject, struct fault *fault)
{
	switch (subject->table) {
	case STORE_ACCOUNT:
		return check_account(subject, fault);
	case STORE_TEMPLATE:
		return check_template(subject, fault);
	case STORE_TEMPLATE_NAME:
		return check_template_name(subject, fault);
	case STORE_ROLE:
		return check_role(subject, fault);
	case STORE_ROOM:
		return subject_check_room(subject, fault);
	case STORE_ROOM_NAME:
		return subject_check_room_name(subject, fault);
	case STORE_ROOM_CODES:
		return subject_check_room_codes(subject, fault);
	case STORE_CODE:
		return subject_check_code(subject, fault);
	case STORE_SEQUENCE:
		return subject_check_sequence(subject, fault);
	case STORE_TABLE_COUNT:
		break;
	}
	return true;
}

void record_check(struct survey *survey, enum store_table table, struct slice key,
		  struct slice value, struct record_findings *findings)
{
	const struct subject subject = {
		.survey = survey,
		.call = &survey->call,
		.findings = findings,
		.table = table,
		.key = key,
		.value = value,
	};
	struct fault fault = FAULT_INITIAL;

	if (!check_any(&subject, &fault))
		subject_found(&subject, "%s", fault.cause[0] != '\0' ? fault.cause : fault.message);
	survey_forget(survey);
}
