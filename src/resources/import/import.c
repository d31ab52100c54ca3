/* See resources/import/import.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/import/import.h"

#include "accounts/accounts.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/audit.h"
#include "resources/codes/code_life.h"
#include "resources/stored/code_words.h"
#include "resources/import_origin.h"
#include "resources/stored.h"
#include "resources/route.h"
#include "resources/rooms/rooms.h"
#include "resources/templates/templates.h"
#include "rules/import_rules.h"
#include "rules/room_code_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"

enum import_kind { IMPORT_TEMPLATES, IMPORT_ROOMS, IMPORT_ROOM_CODES, IMPORT_KINDS };

struct import_object {
	json_t *body;
	/* From the check, or else from this run; NULL if there is none, or none to report. */
	const struct fault *fault;
	bool is_checked; /* the check found no fault */
};

struct import {
	struct {
		struct import_object *objects;
		size_t count;
	} lists[IMPORT_KINDS];
	bool skips;
	size_t skipped; /* number of objects that the check skips */
};

/* The data that the codes of a room share. It is loaded for the first code of the room, and stored
 * before a code of another room is handled. */
struct import_codes {
	struct room_subject subject;
	bool is_open; /* the subject is loaded */
	bool is_changed; /* the subject must be stored */
	bool has_come; /* the import created a code of the room, or found it unchanged */
	size_t stored; /* codes of the room that were stored */
};

/* One run. */
struct import_run {
	struct template_memo memo;
	int64_t now; /* latest time that an object required */
	struct import_codes codes;
	json_t *failed; /* ids of objects with a fault */
	size_t fault_count; /* of failed objects; one for each if they are skipped */
	json_t *tried; /* with validate_only, letters drawn in place of the sent codes */
	size_t created[IMPORT_KINDS], updated[IMPORT_KINDS];
};

/* ---- codes: their room ---- */

/* Stores the data that the codes of the room share, after its last code. */
static bool close_room(struct call *call, struct import_codes *codes, struct fault *fault)
{
	const struct template_record *template = &codes->subject.template;
	struct room_codes *stored = &codes->subject.codes;
	bool is_asked;

	if (!codes->is_open)
		return true;
	codes->is_open = false;

	/* If every role has a plain code, the codes of all roles count as requested. */
	is_asked = codes->has_come && !stored->was_asked;
	for (size_t i = 0; i < template->role_count && is_asked; i++)
		is_asked = codes_of_role(stored, template->roles[i].identity).plain > 0;
	if (is_asked) {
		stored->was_asked = true;
		stored->last_seen = template->last_identity;
		codes->is_changed = true;
	}
	return !codes->is_changed || codes_store(call, stored, template, fault);
}

static bool refuse_room(struct fault *fault)
{
	return fault_member(fault, FAULT_INVALID_BODY, NULL, "/room_id",
			    "must be a room of this account or of the request");
}

static bool open_room(struct call *call, struct import_codes *codes, struct fault *fault)
{
	struct room_subject *subject = &codes->subject;
	struct id id;
	bool is_there;

	if (!id_parse(text_of_json(call_member(call, "room_id")), &id))
		return refuse_room(fault);
	if (codes->is_open && codes->stored < CODES_SETTLED_AT_ONCE &&
	    id_compare(&id, &subject->room.id) == 0)
		return true;
	if (!close_room(call, codes, fault) ||
	    !room_find(call, &id, STORE_TO_CHANGE, &subject->room, &is_there, fault))
		return false;
	if (!is_there)
		return refuse_room(fault);
	if (!room_subject_load(call, STORE_TO_CHANGE, subject, fault))
		return false;
	codes->is_open = true;
	codes->is_changed = codes->has_come = false;
	codes->stored = 0;
	return true;
}

/* ---- one code ---- */

static bool refuse_code(struct fault *fault)
{
	return fault_member(fault, FAULT_CONFLICT, "Room code already exists", "/code",
			    "is already taken");
}

static bool make_due(struct call *call, struct import_codes *codes, struct fault *fault)
{
	struct room_subject *subject = &codes->subject;

	if (!codes_are_due(&subject->codes, &subject->template))
		return true;
	codes->is_changed = true;
	return codes_make_due(call, &subject->codes, &subject->template, fault);
}

/* is_taken: the code belongs to another account. */
static bool add_code(struct call *call, struct import_run *run, const char *sent, bool is_taken,
		     struct fault *fault)
{
	const struct import_origin origin = import_origin(call, "created_at", "updated_at");
	struct import_codes *codes = &run->codes;
	const struct template_record *template = &codes->subject.template;
	const struct slice name = text_of_json(call_member(call, "role"));
	const size_t role = template_role_index(template, name);
	uint32_t identity = 0;
	struct code code = {
		.is_enabled = !json_is_false(call_member(call, "enabled")),
		.created = origin.created / 1000,
		.updated = import_updated(&origin, origin.created) / 1000,
	};

	if (is_taken && !call->validates_only)
		call->run.words_asked++;

	/* Whether the room may have the code is checked both for free codes and for codes of other
	 * accounts, so that a full room does not reveal which of the two it is. Due codes are
	 * created first, and count against the limits. */
	if (role == template->role_count) {
		code.is_former = true;
		code.is_enabled = false;
		code.role = name;
	} else {
		identity = template->roles[role].identity;
		if (!make_due(call, codes, fault) ||
		    !codes_check_count(&codes->subject, NULL, &code, fault))
			return false;
	}

	if (is_taken && !call->validates_only)
		return refuse_code(fault);
	if (call->validates_only) {
		/* Such a call must not reveal, and does not count, codes of other accounts, so
		 * every code that is not the account's own is replaced by random letters, whether
		 * it is free or taken. */
		code.letters = codes_draw_letters(call);
		object_put(run->tried, sent, json_of_text(code.letters));
	} else {
		code.letters = slice_of(sent);
		if (!code_words_release(call, code.letters, fault))
			return false;
	}
	codes->is_changed = codes->has_come = true;
	codes->stored++;
	return codes_put_new(call, &codes->subject.codes, identity, &code, fault);
}

/* Updates an existing code of the same room and role. */
static bool update_code(struct call *call, struct import_codes *codes, const struct code *former,
			const struct shown_code *shown, struct fault *fault)
{
	const struct import_origin origin = import_origin(call, "created_at", "updated_at");
	const json_t *enabled = call_member(call, "enabled");
	struct room_subject *subject = &codes->subject;
	struct code code = *former;

	/* A code of a deleted role is never enabled again. */
	if (enabled == NULL || !shown->has_role || json_is_true(enabled) == shown->is_enabled)
		return true;
	code.is_enabled = json_is_true(enabled);
	code.updated = origin.has_updated ? import_updated(&origin, code.created * 1000) / 1000
					  : call->now / 1000;
	if (code.is_enabled &&
	    (!make_due(call, codes, fault) || !codes_check_count(subject, former, &code, fault)))
		return false;
	codes->is_changed = true;
	return codes_replace(call, &subject->codes, former, &code, fault);
}

/* Stores the code in the body of the call, unless an identical one exists. Sets faults of the
 * client before it stores anything. Sets *is_new to true if the code did not exist. */
static bool import_code(struct call *call, struct import_run *run, bool *is_new,
			struct fault *fault)
{
	const char *sent = json_string_value(call_member(call, "code"));
	const char *tried = json_string_value(json_object_get(run->tried, sent));
	const struct slice letters = slice_of(tried != NULL ? tried : sent);
	struct import_codes *codes = &run->codes;
	struct room_subject *subject = &codes->subject;
	struct shown_code shown;
	struct room_record room;
	struct code code;
	struct id account;
	bool is_there, is_kept = false, is_foreign;

	*is_new = true;
	if ((!call->validates_only && !code_words_check_budget(call, fault)) ||
	    !open_room(call, codes, fault) ||
	    !code_find(call, letters, STORE_TO_CHANGE, &code, &account, &is_there, fault) ||
	    /* In this order: a code that another call is removing is then found as reserved. */
	    (!is_there && !code_words_find(call, letters, &account, &is_kept, fault)))
		return false;
	is_foreign = (is_there || is_kept) && id_compare(&account, &call->account) != 0;
	if (!is_there || is_foreign)
		return add_code(call, run, sent, is_foreign, fault);
	if (id_compare(&code.room, &subject->room.id) != 0) {
		if (!room_find(call, &code.room, STORE_TO_SHOW, &room, &is_there, fault))
			return false;
		if (is_there)
			return refuse_code(fault);
		/* Its room is deleted, so it would otherwise be removed later. */
		return store_remove(call->transaction, &kind_code, &code.stored, fault) &&
		       add_code(call, run, sent, false, fault);
	}
	if (!code_show(call, &subject->codes, &code, &subject->template, &shown, fault))
		return false;
	if (!slice_equal(shown.role, text_of_json(call_member(call, "role"))))
		return refuse_code(fault);
	*is_new = false;
	codes->has_come = true;
	return update_code(call, codes, &code, &shown, fault);
}

/* ---- the kinds ---- */

static const struct {
	const char *name;
	const struct shape *shape;
	/* NULL for import_code. */
	bool (*run)(struct call *call, bool *is_new, struct fault *fault);
	const char *reference; /* member that may name an object of the body; may be NULL */
} kinds[IMPORT_KINDS] = {
	[IMPORT_TEMPLATES] = { "templates", &imported_template_shape, templates_import, NULL },
	[IMPORT_ROOMS] = { "rooms", &imported_room_shape, rooms_import, "template_id" },
	[IMPORT_ROOM_CODES] = { "room_codes", &imported_code_shape, NULL, "room_id" },
};

static const char *object_place(struct call *call, enum import_kind kind, size_t number)
{
	return arena_text(call->arena, "/%s/%zu", kinds[kind].name, number);
}

/* ---- checking ---- */

static void check_listed_object(struct call *call, struct import *import, enum import_kind kind,
				size_t number, bool is_strict)
{
	struct import_object *object = &import->lists[kind].objects[number];
	struct fault unused = FAULT_INITIAL;
	struct findings own, placed;
	struct fault *fault;
	json_t *recording;

	findings_open(&own, call->arena);
	own.clock = call->findings.clock;
	/* Faults of further objects are not listed, so finding one is enough. */
	if (import->skipped >= IMPORT_SKIPPED_MOST)
		own.fault_most = 1;
	if (json_is_array(object->body) && json_array_size(object->body) == 0)
		object->body = arena_json(call->arena, json_object());
	if (json_is_object(object->body))
		(void)schema_check(kinds[kind].shape, object->body, SCHEMA_WHOLE, is_strict, &own,
				   &unused);
	else
		findings_add(&own, "", "must be an object, got %s", schema_kind_of(object->body));
	object->is_checked = own.fault_count == 0;

	if (!object->is_checked && import->skips) {
		if (import->skipped++ < IMPORT_SKIPPED_MOST) {
			fault = arena_zero(call->arena, sizeof *fault);
			findings_open(&placed, call->arena);
			findings_take(&placed, object_place(call, kind, number), &own);
			(void)findings_result(&placed, fault);
			object->fault = fault;
		}
		own.fault_count = 0;
	}
	if (own.fault_count > 0 || own.unknown_count > 0)
		findings_take(&call->findings, object_place(call, kind, number), &own);

	/* 100ms has another name for this member of a room. */
	recording = kind == IMPORT_ROOMS ? json_object_get(object->body, "recording") : NULL;
	if (recording != NULL) {
		json_object_set(object->body, "recording_info", recording);
		json_object_del(object->body, "recording");
	}
}

bool import_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	struct import *import = arena_zero(call->arena, sizeof *import);
	struct fault of_table = FAULT_INITIAL;

	import->skips = json_is_true(json_object_get(call->query, "skip_invalid"));
	findings_keep_order(&call->findings, body);
	/* The objects are taken out of the body, because each is checked separately. */
	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++) {
		json_t *list = json_object_get(body, kinds[kind].name);
		const size_t n = json_is_array(list) ? json_array_size(list) : 0;

		import->lists[kind].objects =
			arena_zero(call->arena, (n + 1) * sizeof *import->lists[kind].objects);
		import->lists[kind].count = n;
		if (n == 0)
			continue;
		arena_json(call->arena, json_incref(list));
		for (size_t i = 0; i < n; i++)
			import->lists[kind].objects[i].body = json_array_get(list, i);
		object_put(body, kinds[kind].name, json_array());
	}
	(void)schema_check(call->route->body, body, SCHEMA_WHOLE, is_strict, &call->findings,
			   &of_table);
	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++) {
		for (size_t i = 0; i < import->lists[kind].count; i++) {
			if (!findings_are_full(&call->findings))
				check_listed_object(call, import, kind, i, is_strict);
		}
	}
	call->import = import;
	return findings_result(&call->findings, fault);
}

/* ---- faults of a run ---- */

static const char *failed_key(struct call *call, enum import_kind kind, const json_t *id)
{
	return arena_text(call->arena, "%s %s", kinds[kind].name, json_string_value(id));
}

/* pointer: within the object, or empty for the whole object. */
static void add_part(json_t *faults, const char *place, const char *pointer, const char *message)
{
	array_put(faults, json_pack("{s:o, s:s}", "pointer", json_sprintf("%s%s", place, pointer),
				    "message", message));
}

/* Returns the fault with its details changed to refer to the whole body. */
static const struct fault *explained(struct call *call, const char *place, struct fault *own)
{
	const json_t *of_own = own->details;
	const json_t *parts = arena_json(call->arena, fault_parts(own));
	const size_t n = of_own != NULL ? json_array_size(of_own) : own->detail[0] != '\0';
	json_t *details = arena_json(call->arena, json_array());
	json_t *faults = arena_json(call->arena, json_array());
	struct fault *fault = arena_alloc(call->arena, sizeof *fault);

	for (size_t i = 0; i < n; i++) {
		const char *detail = of_own != NULL ? json_string_value(json_array_get(of_own, i))
						    : own->detail;

		array_put(details,
			  json_sprintf(detail[0] == '/' ? "%s%s" : "%s: %s", place, detail));
	}
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);

		add_part(faults, place, json_string_value(json_object_get(part, "pointer")),
			 json_string_value(json_object_get(part, "message")));
	}
	if (n == 0) {
		array_put(details, json_sprintf("%s: %s", place, own->message));
		add_part(faults, place, "", own->message);
	}
	*fault = *own;
	fault->details = details;
	fault->faults = faults;
	return fault;
}

/* True if the run has as many faults as are reported. */
static bool faults_are_full(const struct call *call, const struct import_run *run)
{
	return run->fault_count >=
	       (call->import->skips ? IMPORT_SKIPPED_MOST : FINDINGS_FAULT_MOST);
}

static void note_fault(struct call *call, struct import_run *run, enum import_kind kind,
		       size_t number, struct fault *own)
{
	const struct import *import = call->import;
	struct import_object *object = &import->lists[kind].objects[number];
	const json_t *id = json_object_get(object->body, "id");
	const json_t *reference = kinds[kind].reference == NULL
					  ? NULL
					  : json_object_get(object->body, kinds[kind].reference);
	/* The object refers to one of the body that has a fault: when all faults are reported, its
	 * own would only follow from that one. */
	const bool follows = reference != NULL &&
			     json_object_get(run->failed, failed_key(call, kind - 1, reference)) !=
				     NULL;

	if (!faults_are_full(call, run) && (import->skips || !follows)) {
		object->fault = explained(call, object_place(call, kind, number), own);
		run->fault_count += import->skips ? 1 : json_array_size(object->fault->details);
	}
	if (id != NULL)
		object_put(run->failed, failed_key(call, kind, id), json_true());
}

/* Appends items up to the number of faults that are reported. */
static void append_some(json_t *list, const json_t *more)
{
	for (size_t i = 0; i < json_array_size(more) && json_array_size(list) < FINDINGS_FAULT_MOST;
	     i++)
		json_array_append(list, json_array_get(more, i));
}

/* Reports the faults of all objects, in the order of the body: invalid bodies, or, if there are
 * none, conflicts. */
static bool report_faults(struct call *call, struct fault *fault)
{
	enum import_kind order[IMPORT_KINDS];
	const struct import *import = call->import;
	const struct fault *first = NULL;
	json_t *details = arena_json(call->arena, json_array());
	json_t *faults = arena_json(call->arena, json_array());
	size_t kind_count = 0, n = 0;
	const char *name;
	json_t *unused;

	json_object_foreach(call_share(call->findings.sent), name, unused) {
		for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++) {
			if (strcmp(name, kinds[kind].name) == 0)
				order[kind_count++] = kind;
		}
	}

	for (size_t at = 0; at < kind_count; at++) {
		for (size_t i = 0; i < import->lists[order[at]].count; i++) {
			const struct fault *own = import->lists[order[at]].objects[i].fault;

			if (own == NULL || (first != NULL && own->kind != first->kind &&
					    own->kind != FAULT_INVALID_BODY))
				continue;
			if (first == NULL || own->kind != first->kind) {
				first = own;
				n = 0;
				json_array_clear(details);
				json_array_clear(faults);
			}
			n++;
			append_some(details, own->details);
			append_some(faults, own->faults);
		}
	}

	if (first == NULL)
		return true;
	(void)fault_set(fault, first->kind, "%s",
			n == 1 || first->kind != FAULT_INVALID_BODY ? first->message
								    : fault_text(first->kind));
	fault->details = details;
	fault->faults = faults;
	return false;
}

/* ---- the response ---- */

static struct slice counts_text(struct call *call, const struct import_run *run,
				enum import_kind kind)
{
	struct json_writer counts = writer_begin(call->arena, false);

	writer_integer(&counts, "created", (int64_t)run->created[kind]);
	writer_integer(&counts, "updated", (int64_t)run->updated[kind]);
	return writer_end(&counts);
}

static bool answer_import(struct call *call, const struct import_run *run, struct fault *fault)
{
	const struct import *import = call->import;
	struct json_writer body = writer_begin(call->arena, false);
	size_t skipped = 0;
	struct slice text;

	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++)
		writer_json(&body, kinds[kind].name, counts_text(call, run, kind));
	writer_open(&body, "skipped", '[');
	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++) {
		for (size_t i = 0; i < import->lists[kind].count; i++) {
			const struct fault *own = import->lists[kind].objects[i].fault;

			if (own == NULL || skipped++ >= IMPORT_SKIPPED_MOST)
				continue;
			writer_open(&body, NULL, '{');
			writer_text(&body, "pointer", slice_of(object_place(call, kind, i)));
			writer_text(&body, "message", slice_of(own->message));
			writer_value(&body, "details", own->details);
			writer_close(&body, '}');
		}
	}
	writer_close(&body, ']');
	text = writer_end(&body);
	if (text.size > CALL_ANSWER_MOST)
		return fault_explain(fault, FAULT_TOO_LARGE, "Too much for one request",
				     "the response would be larger than %zu MB",
				     CALL_ANSWER_MOST >> 20);
	return call_answer(call, text);
}

/* ---- the event log ---- */

/* Notes one event for the whole import. */
static void note_import(struct call *call, const struct import_run *run)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	struct audit_data data = {
		.kind = "account",
		.id = slice_of(call->account_text),
		.name = SLICE(""),
	};

	if (account != NULL)
		data.name = arena_copy(call->arena, slice_of(account->name));
	accounts_release(accounts, roster);
	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++)
		data.more[kind] = (struct audit_member){ kinds[kind].name,
							 counts_text(call, run, kind), true };
	audit_note(call, "account.imported", &data);
}

/* ---- running ---- */

/* Returns the call for one object, with the transaction and the time of the import. */
static struct call part_of(const struct call *call, struct import_run *run, json_t *body)
{
	struct call part = *call;

	part.body = body;
	part.is_part = true;
	part.memo = &run->memo;
	part.now = run->now;
	part.run.codes_made = 0;
	findings_open(&part.findings, call->arena);
	part.findings.clock = call->findings.clock;
	part.findings.sent = body;
	call_draw_etag(&part);
	return part;
}

static bool run_object(struct call *call, struct import_run *run, enum import_kind kind,
		       size_t number, struct fault *fault)
{
	struct import_object *object = &call->import->lists[kind].objects[number];
	struct call part;
	struct fault own = FAULT_INITIAL;
	bool is_new, is_done;

	if (!object->is_checked)
		return true;
	object->fault = NULL;
	part = part_of(call, run, object->body);
	is_done = kinds[kind].run == NULL ? import_code(&part, run, &is_new, &own)
					  : kinds[kind].run(&part, &is_new, &own);
	is_done = stored_sound(&part, is_done, &own);
	/* They count whatever the result of the call. */
	call->run.words_asked = part.run.words_asked;
	call->run.changed_roles = part.run.changed_roles;
	if (is_done) {
		run->created[kind] += is_new;
		run->updated[kind] += !is_new;
	} else if (fault_is_of_the_store(own.kind) || own.kind == FAULT_TOO_MANY) {
		*fault = own;
		return false;
	} else {
		note_fault(call, run, kind, number, &own);
	}
	run->now = part.now;
	return true;
}

static bool run_all(struct call *call, struct import_run *run, struct fault *fault)
{
	const struct import *import = call->import;
	struct call part;

	for (enum import_kind kind = 0; kind < IMPORT_KINDS; kind++) {
		for (size_t i = 0; i < import->lists[kind].count; i++) {
			/* The faults prevent storing, so the rest need not be run. */
			if (!import->skips && faults_are_full(call, run))
				return true;
			if (!store_give_way(call->transaction, fault) ||
			    !run_object(call, run, kind, i, fault))
				return false;
			/* All other calls wait for the commit. */
			if (store_put_bytes(call->transaction) > IMPORT_STORED_MOST)
				return fault_detail(
					fault, FAULT_TOO_LARGE,
					"the objects take more than %zu MB as they are stored; "
					"import fewer at a time",
					IMPORT_STORED_MOST >> 20);
		}
	}
	part = part_of(call, run, NULL);
	return stored_sound(&part, close_room(&part, &run->codes, fault), fault);
}

/* Announces the codes and their reservations, so that a remote store reads them in one round trip.
 * */
static void expect_codes(struct call *call)
{
	const struct import *import = call->import;
	const size_t count = import->lists[IMPORT_ROOM_CODES].count;
	struct store_expected *items;
	size_t n = 0;

	if (!store_wants_expected(call->transaction))
		return;
	items = arena_zero(call->arena, (2 * count + 1) * sizeof *items);
	for (size_t i = 0; i < count; i++) {
		const struct import_object *object = &import->lists[IMPORT_ROOM_CODES].objects[i];
		const struct slice letters = text_of_json(json_object_get(object->body, "code"));

		if (!object->is_checked)
			continue;
		items[n++] = (struct store_expected){ .kind = &kind_code,
						      .finding = STORE_FIND_NAME,
						      .name = letters };
		items[n++] = (struct store_expected){ .kind = &kind_words,
						      .finding = STORE_FIND_NAME,
						      .name = letters };
	}
	store_expect(call->transaction, STORE_EACH, items, n);
}

bool import_run(struct call *call, struct fault *fault)
{
	struct import_run run = {
		.failed = arena_json(call->arena, json_object()),
		.tried = arena_json(call->arena, json_object()),
	};

	expect_codes(call);
	if (!store_fix_time(call->transaction, call->least_now, &call->now, fault))
		return false;
	run.now = call->now;
	if (!run_all(call, &run, fault))
		return false;
	/* All objects have one time: if one needs a later time, everything is run again. */
	if (run.now > call->now) {
		call->least_now = run.now;
		return fault_set(fault, FAULT_AGAIN, NULL);
	}
	if (!call->import->skips && !report_faults(call, fault))
		return false;
	if (store_has_changes(call->transaction))
		note_import(call, &run);
	return answer_import(call, &run, fault);
}
