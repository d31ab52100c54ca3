/* Reads a dump: see transfer/transfer.h. Each line is checked against the rows of its kind, then
 * against the records in the store, and is then stored. When all records are stored, they are
 * checked against each other, as in anteroom check.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/record_check.h"
#include "resources/stored.h"
#include "rules/transfer_rules.h"
#include "transfer/record_findings.h"
#include "transfer/transfer.h"
#include "transfer/walk.h"

void transfer_input_open(struct transfer_input *input, struct store *store,
			 const struct clock *clock, const struct roster *present)
{
	schema_verify(&transfer_line_shape);
	record_kinds_verify();
	*input = (struct transfer_input){
		.environment = { .clock = clock, .store = store },
		.present = present,
		.taken = memory_check(json_object()),
		.upgrades = &record_upgrades,
		.form = &record_form,
	};
}

void transfer_input_close(struct transfer_input *input)
{
	if (input->counts.accounts > 0)
		explicit_bzero(input->accounts,
			       (size_t)input->counts.accounts * sizeof *input->accounts);
	free(input->accounts);
	json_decref(input->taken);
	if (input->earlier != NULL)
		arena_close(input->earlier);
}

void transfer_input_back(struct transfer_input *input, const struct transfer_input *mark)
{
	const struct transfer_input now = *input;

	*input = *mark;
	input->call.arena = now.call.arena;
	input->call.transaction = now.call.transaction;
	input->accounts = now.accounts;
	input->capacity = now.capacity;
	/* The first line is read again. */
	input->earlier = now.earlier;
}

/* ---- members of an account line, which its table has checked ---- */

static struct slice line_text(const json_t *object, const char *name)
{
	return text_of_json(json_object_get(object, name));
}

/* ---- accounts ---- */

static void check_taken(struct transfer_input *input, const char *name, struct slice text,
			bool is_present)
{
	struct call *call = &input->call;
	const char *key = arena_text(call->arena, "%s %.*s", name, (int)text.size, text.data);
	/* An account from this one on was read before transfer_input_back, and is read again. */
	const json_t *holder = json_object_get(input->taken, key);

	if (is_present)
		findings_add(
			&call->findings, arena_text(call->arena, "/account/%s", name),
			"an account with this value already exists; a dump can only create new "
			"accounts");
	else if (holder != NULL && json_integer_value(holder) < (json_int_t)input->counts.accounts)
		findings_add(&call->findings, arena_text(call->arena, "/account/%s", name),
			     "an earlier account in this dump has the same value");
	object_put(input->taken, key, json_integer((json_int_t)input->counts.accounts));
}

/* Checks that the store has no records of an account that is not in the accounts file. */
static bool check_empty(const struct transfer_input *input, struct call *call, struct fault *fault)
{
	struct store_record record;
	struct store_page page = { .records = &record, .most = 1 };

	if (roster_by_id(input->present, &call->account) != NULL)
		return true;
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->order != RECORD_PAGES)
			continue;
		if (!store_page(call->transaction, record_kinds[i]->table->kind, &page, fault))
			return false;
		if (page.count == 0)
			continue;
		findings_add(
			&call->findings, "/account/id",
			"the store has records of this account, but the accounts file does not");
		return true;
	}
	return true;
}

static bool read_account(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	const struct roster *present = input->present;
	struct call *call = &input->call;
	struct account_flaw flaw;
	struct account account;

	if (!account_read(object, &account, &flaw))
		findings_add(&call->findings, arena_text(call->arena, "/account/%s", flaw.member),
			     "%s", flaw.what);
	check_taken(input, "id", slice_of(account.id_text),
		    roster_by_id(present, &account.id) != NULL);
	check_taken(input, "name", slice_of(account.name),
		    roster_by_name(present, slice_of(account.name)) != NULL);
	check_taken(input, "access_key", slice_of(account.access_key_text),
		    roster_by_access_key(present, &account.access_key) != NULL);
	call->account = account.id;
	call_set_account(call);
	if (!check_empty(input, call, fault) || !findings_result(&call->findings, fault))
		return false;

	input->accounts = memory_room_secret(input->accounts, (size_t)input->counts.accounts + 1,
					     &input->capacity, sizeof *input->accounts);
	input->accounts[input->counts.accounts++] = account;
	explicit_bzero(&account, sizeof account);
	return true;
}

/* ---- records ---- */

/* Checks that no other record has the id or the name, and that the record's owner exists. */
static bool check_new_record(struct call *call, const struct record_kind *kind, const void *record,
			     const char *pointer, struct fault *fault)
{
	const struct record_table *table = kind->table;
	const struct store_record key = record_key(table, record);
	const struct member *owner = record_owner(table);
	enum record_referred referred;
	struct store_record other;

	if (kind->order == RECORD_UNLISTED)
		return true;
	if (table->kind->naming != STORE_NAME_ANYWHERE) {
		if (!store_get(call->transaction, table->kind, &key.id, STORE_TO_CHANGE, &other,
			       fault))
			return false;
		if (other.value.data != NULL && !kind->may_be_there)
			findings_add(&call->findings, pointer, "already exists");
	}
	if (table->kind->naming != STORE_NO_NAME) {
		if (!store_get_named(call->transaction, table->kind, key.name, STORE_TO_SHOW,
				     &other, fault))
			return false;
		if (other.value.data != NULL)
			findings_add(&call->findings, pointer,
				     "another object already has its name");
	}
	if (owner == NULL || owner->relation->list != NULL)
		return true;
	if (!record_find_referred(call, owner, record, &referred, fault))
		return false;
	if (referred != RECORD_REFERRED_THERE)
		findings_add(&call->findings, pointer,
			     "belongs to a %s that no earlier line contains",
			     owner->relation->of->name);
	return true;
}

/* path: what becomes of a record of an earlier version; NULL for one of this version. */
static bool put_line_record(struct call *call, const struct record_kind *kind,
			    const struct upgrade_path *path, const json_t *object,
			    struct fault *fault)
{
	const struct record_table *table = path == NULL ? kind->table : path->first;
	const char *line = path != NULL && path->line != NULL ? path->line : kind->line;
	const char *pointer = arena_text(call->arena, "/%s", line);
	struct findings *findings = &call->findings;
	void *record = arena_zero(call->arena, table->size);

	record_scan(table, object, pointer, call->etag, record, findings);
	if (!findings_result(findings, fault))
		return false;
	if (path != NULL) {
		const void *earlier = record;
		struct fault damage = FAULT_INITIAL;

		record = arena_zero(call->arena, kind->table->size);
		if (!upgrade_record(path, call->arena, earlier, record, &damage))
			findings_add(findings, pointer, "cannot be converted to this version");
		if (!findings_result(findings, fault))
			return false;
	}
	record_verify(kind->table, record, pointer, false, findings);
	return findings_result(findings, fault) &&
	       (kind->load == NULL || kind->load(call, record, pointer, findings, fault)) &&
	       findings_result(findings, fault) &&
	       check_new_record(call, kind, record, pointer, fault) &&
	       findings_result(findings, fault) &&
	       record_count_loaded(call, kind->table, record, pointer, findings, fault) &&
	       (kind->put != NULL ? kind->put(call, record, fault)
				  : record_put(kind->table, call->transaction, record, fault));
}

/* Reads the line of a record. Reserved codes belong to the account in their line, which may be
 * removed. */
static bool read_record_line(struct transfer_input *input, const struct record_kind *kind,
			     const struct upgrade_path *path, const json_t *object,
			     struct fault *fault)
{
	struct call *call = &input->call;
	const struct id account = call->account;
	bool is_done;

	if (kind != &words_kind && input->counts.accounts == 0)
		return fault_set(fault, FAULT_CONFLICT,
				 "this line must follow an \"account\" line");
	if (kind == &words_kind) {
		call->account = (struct id){ { 0 } };
		(void)id_parse(line_text(object, "account"), &call->account);
	}
	call_set_account(call);
	is_done = stored_sound(call, put_line_record(call, kind, path, object, fault), fault);
	call->account = account;
	call_set_account(call);
	transfer_count_line(&input->counts, kind);
	return is_done;
}

/* ---- lines ---- */

/* Compares the form of the dump with that of this program, before the rules of the first line.
 * Finds out what becomes of the records of an earlier one. */
static bool check_form(struct transfer_input *input, const json_t *head, struct fault *fault)
{
	const json_t *format = json_object_get(head, "format");
	const json_int_t version = json_integer_value(format);
	const json_t *named = json_object_get(head, "number");
	const json_int_t number = named == NULL ? STORE_FORM_FIRST : json_integer_value(named);
	const struct slice form = line_text(head, "form");
	enum store_form_match match;

	if (!json_is_integer(format) || version < TRANSFER_FORMAT ||
	    (named != NULL && !json_is_integer(named)))
		return true;
	if (version > TRANSFER_FORMAT)
		match = version <= TRANSFER_UNRELEASED && slice_is(line_text(head, "program"),
								   TRANSFER_UNRELEASED_PROGRAM)
				? STORE_FORM_OTHER
				: STORE_FORM_NEWER;
	else if (number > input->form->number())
		match = STORE_FORM_NEWER;
	else
		match = form.data == NULL || number < STORE_FORM_FIRST
				? STORE_FORM_OTHER
				: input->form->compare((unsigned)number, form);
	if (input->earlier == NULL)
		input->earlier = arena_open();
	if (match <= STORE_FORM_EARLIER && version == TRANSFER_FORMAT)
		upgrade_paths(input->upgrades, input->earlier, (unsigned)number, &input->paths,
			      &input->path_count);
	assert(input->path_count <= TRANSFER_PATHS_MOST);
	switch (match) {
	case STORE_FORM_SAME:
	case STORE_FORM_EARLIER:
		return true;
	case STORE_FORM_NEWER:
		return fault_set(fault, FAULT_CONFLICT,
				 "the dump was written by a newer version of Anteroom");
	case STORE_FORM_OTHER:
		break;
	}
	return fault_set(fault, FAULT_CONFLICT,
			 "the dump was written by an unreleased version of Anteroom; load it with "
			 "that one");
}

/* Reads a first line, a last line or the line of an account. Their table is in
 * rules/transfer_rules.h. */
static bool read_framing(struct transfer_input *input, const char *name, json_t *line,
			 struct fault *fault)
{
	const json_t *object = json_object_get(line, name), *lines;
	bool is_whole;

	if (strcmp(name, "dump") == 0 && !check_form(input, object, fault))
		return false;
	if (!schema_check(&transfer_line_shape, line, SCHEMA_WHOLE, true, &input->call.findings,
			  fault))
		return false;
	if (strcmp(name, "account") == 0)
		return read_account(input, object, fault);
	if (strcmp(name, "dump") == 0) {
		input->has_begun = true;
		return true;
	}

	lines = json_object_get(object, "lines");
	is_whole = (uint64_t)json_integer_value(json_object_get(object, "accounts")) ==
		   input->counts.accounts;
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const char *of = record_kinds[i]->line;
		uint64_t count = input->counts.lines[i];

		/* Of those that were converted, the dump counts what they were. */
		for (size_t j = 0; j < input->path_count; j++) {
			if (input->paths[j].last == record_kinds[i]->table &&
			    input->paths[j].line != NULL)
				count -= input->path_lines[j];
		}
		if (of != NULL && (uint64_t)json_integer_value(json_object_get(lines, of)) != count)
			is_whole = false;
	}
	for (size_t j = 0; j < input->path_count; j++) {
		const char *of = input->paths[j].line;

		if (of != NULL && (uint64_t)json_integer_value(json_object_get(lines, of)) !=
					  input->path_lines[j])
			is_whole = false;
	}
	if (!is_whole)
		return fault_set(fault, FAULT_CONFLICT,
				 "the line counts in the last line do not match the dump");
	input->has_ended = true;
	return true;
}

/* Returns what becomes of the records of a line of an earlier version; NULL if they stay as they
 * are. kind: the one that has lines of this name now, or NULL. */
static const struct upgrade_path *path_of_line(const struct transfer_input *input, const char *name,
					       const struct record_kind *kind)
{
	for (size_t i = 0; i < input->path_count; i++) {
		const struct upgrade_path *path = &input->paths[i];

		if (path->line != NULL ? strcmp(path->line, name) == 0
				       : kind != NULL && path->last == kind->table)
			return path;
	}
	return NULL;
}

bool transfer_read_line(struct transfer_input *input, struct slice text, struct fault *fault)
{
	struct call *call = &input->call;
	const struct record_kind *kind = NULL;
	const struct upgrade_path *path;
	struct json_flaw flaw;
	const char *name;
	bool is_head;
	json_t *line;

	call->environment = &input->environment;
	call->now = clock_now(input->environment.clock);
	call->least_now = 0;
	call->run = (struct run){ 0 };
	call_draw_etag(call);
	line = json_text_read_stored(call->arena, text, &flaw);
	if (line == NULL)
		return fault_detail(fault, FAULT_MALFORMED, "column %zu: %s", flaw.column,
				    flaw.sentence);
	name = json_object_iter_key(json_object_iter(line));
	for (size_t i = 0; name != NULL && kind == NULL && i < RECORD_KINDS; i++) {
		if (record_kinds[i]->line != NULL && strcmp(record_kinds[i]->line, name) == 0)
			kind = record_kinds[i];
	}
	is_head = name != NULL && strcmp(name, "dump") == 0;
	if (json_object_size(line) != 1)
		return fault_set(fault, FAULT_CONFLICT,
				 "a line must have exactly one member, which names its kind");
	if (!input->has_begun && !is_head)
		return fault_set(fault, FAULT_CONFLICT,
				 "not a dump, or its beginning is missing: the first line must be "
				 "\"dump\"");
	if (input->has_ended || (input->has_begun && is_head))
		return fault_set(fault, FAULT_CONFLICT,
				 "there is more after the line \"end\"; load one dump at a time");
	path = path_of_line(input, name, kind);
	if (path != NULL)
		input->path_lines[path - input->paths]++;
	if (path != NULL && path->last == NULL)
		return true; /* the kind is gone */
	if (path != NULL)
		kind = record_kind_of(path->last->kind);
	if (kind == NULL)
		return read_framing(input, name, line, fault);
	return read_record_line(input, kind, path, json_object_get(line, name), fault);
}

bool transfer_read_end(struct transfer_input *input, struct fault *fault)
{
	if (!input->has_ended)
		return fault_set(fault, FAULT_CONFLICT,
				 "the dump is incomplete: the line \"end\" is missing");
	return true;
}

/* ---- checking the loaded records ---- */

struct verifying {
	struct walk walk;
	struct record_findings *findings;
};

static bool verify_record(struct walk *walk, const struct record_kind *kind, void *record,
			  bool *descends, struct fault *fault)
{
	struct verifying *verifying = (struct verifying *)walk;

	(void)fault;
	(void)descends;
	record_findings_report(walk->call, kind, record, verifying->findings);
	return true;
}

bool transfer_verify(struct snapshot *snapshot, const struct transfer_input *input,
		     struct record_findings *findings, struct fault *fault)
{
	struct verifying verifying = {
		.walk = { .call = &snapshot->call, .visit = verify_record },
		.findings = findings,
	};

	for (size_t i = 0; i < input->counts.accounts; i++) {
		snapshot_set_account(snapshot, &input->accounts[i].id);
		if (!walk_account(&verifying.walk, fault))
			return false;
		snapshot_release(snapshot);
	}
	return findings->count == 0 ||
	       fault_set(fault, FAULT_CONFLICT,
			 "the records of the dump are inconsistent: %llu findings",
			 (unsigned long long)findings->count);
}
