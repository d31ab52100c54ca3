/* Codes in a dump, and how they are checked (resources/record_kind.h). A load counts the codes of
 * each role again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "resources/code_typed.h"
#include "resources/codes/code_life.h"
#include "resources/codes/code_terms.h"
#include "resources/stored/code_words.h"
#include "resources/record_kind.h"
#include "resources/stored/room_record.h"
#include "resources/stored.h"
#include "resources/stored/deleted_role.h"
#include "rules/room_code_rules.h"

#define CODES_AT_ONCE 256

/* ---- the data that the codes of a room share ---- */

static bool codes_record_check(struct call *call, const void *record, struct findings *findings,
			       struct fault *fault)
{
	const struct room_codes *codes = record;
	struct room_record room;
	struct template_record owner;
	struct deleted_role deleted;
	bool is_there;

	if (!room_find(call, &codes->room, STORE_TO_SHOW, &room, &is_there, fault) ||
	    (is_there && !template_load(call, &room.template_id, &owner, fault)))
		return false;
	if (!is_there)
		return true;
	if (codes->last_seen > owner.last_identity)
		findings_add(findings, "/last_identity",
			     "is of a role that the template never had");
	for (size_t i = 0; i < codes->group_count; i++) {
		const struct code_group *group = &codes->groups[i];

		if (codes_group(codes, group->number) != group)
			findings_add(findings, arena_text(call->arena, "/groups/%zu/number", i),
				     "is the same as another group's");
		if (group->identity != 0 && template_live_role(&owner, group->identity) == NULL &&
		    !deleted_role_load(call, &owner.id, group->identity, &deleted, fault))
			return false;
	}
	return true;
}

/* Releases each page, but not its findings, so these come last. */
static bool subtract_codes(struct call *call, struct room_codes *codes, struct findings *findings,
			   struct fault *fault)
{
	struct code_page page = { .most = CODES_AT_ONCE };
	bool is_older = false;

	do {
		const struct arena_mark mark = arena_mark(call->arena);

		if (!codes_page(call, &codes->room, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct code *code = &page.codes[i];
			const struct code_group *group = code->is_former
								 ? NULL
								 : codes_group(codes, code->group);

			if (!code->is_former && group == NULL)
				continue; /* the check of the code finds this */
			if (!codes_count_removed(codes, code, fault))
				return false;
			if (group != NULL && code->is_enabled && code_is_plain(code) &&
			    id_number(&code->place) < group->oldest)
				is_older = true;
		}
		arena_release(call->arena, &mark);
	} while (!page.is_last);
	if (is_older)
		findings_add(findings, "/groups", "a code is older than its group says");
	return true;
}

static bool codes_derive(struct call *call, const void *record, struct findings *findings,
			 struct fault *fault)
{
	struct room_codes codes = *(const struct room_codes *)record;

	codes.groups = arena_alloc(call->arena, (codes.group_count + 1) * sizeof *codes.groups);
	memcpy(codes.groups, ((const struct room_codes *)record)->groups,
	       codes.group_count * sizeof *codes.groups);
	for (size_t i = 0; i < codes.due_count; i++) {
		if (!codes_due_is_right(&codes, i))
			findings_add(findings, arena_text(call->arena, "/due_roles/%zu", i),
				     "has a code, or cannot be due");
	}
	if (!subtract_codes(call, &codes, findings, fault))
		return false;
	for (size_t i = 0; i < codes.group_count; i++) {
		if (codes.groups[i].count != 0 || codes.groups[i].enabled != 0 ||
		    codes.groups[i].others != 0)
			findings_add(findings, arena_text(call->arena, "/groups/%zu", i),
				     "the number of its codes does not match its count");
	}
	if (codes.former_count != 0 || codes.former_others != 0)
		findings_add(findings, "", "the number of former codes does not match their count");
	return true;
}

const struct record_kind codes_kind = {
	.table = &codes_table,
	.line = "codes",
	.order = RECORD_BESIDE,
	.check = codes_record_check,
	.derive = codes_derive,
};

/* ---- codes ---- */

static bool code_load_dumped(struct call *call, void *record, const char *pointer,
			     struct findings *findings, struct fault *fault)
{
	const struct code *code = record;
	const char *at = arena_text(call->arena, "%s/code", pointer);
	struct room_codes codes;
	struct id account;
	bool is_kept;

	/* The letters must not be, or have been, a code of another account. */
	if (!code_can_be(code->letters))
		findings_add(findings, at,
			     "must be a code (abc-defg-hij or abc-def-ghi) or a custom code");
	else if (!code_words_find(call, code->letters, &account, &is_kept, fault))
		return false;
	else if (is_kept && id_compare(&account, &call->account) != 0)
		findings_add(findings, at, "is or was a code of another account");
	else if (is_kept && !code_is_words(code->letters) &&
		 !code_words_release(call, code->letters, fault))
		return false;

	if (!codes_load(call, &code->room, STORE_TO_CHANGE, &codes, fault))
		return false;
	if (codes.stored.value.data == NULL ||
	    (!code->is_former && codes_group(&codes, code->group) == NULL))
		findings_add(findings, arena_text(call->arena, "%s/group", pointer),
			     "must be a group in the line \"codes\" of its room");
	return true;
}

static bool code_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct code *code = record;
	struct room_codes codes;
	struct id account;
	bool is_kept = true;

	if (code_is_words(code->letters) &&
	    (!code_words_find(call, code->letters, &account, &is_kept, fault) ||
	     (!is_kept && !code_words_claim(call, code->letters, fault))))
		return false;
	return codes_load(call, &code->room, STORE_TO_CHANGE, &codes, fault) &&
	       codes_count_added(&codes, code, fault) && codes_put(call, &codes, fault) &&
	       code_put(call, code, fault);
}

static bool code_record_check(struct call *call, const void *record, struct findings *findings,
			      struct fault *fault)
{
	const struct code *code = record;
	struct room_subject room;
	struct shown_code shown;
	bool is_there;
	json_t *terms;

	if (!room_subject_of_code(call, code, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	if (is_there && room.codes.stored.value.data == NULL)
		findings_add(findings, "", "the record that its room's codes share does not exist");
	if ((is_there && !code_show(call, &room.codes, code, &room.template, &shown, fault)))
		return false;
	if (code->terms.set == 0)
		return true;
	terms = code_terms_document(call, code, false);
	(void)json_object_del(terms, "enabled");
	record_check_document(&code_patch_shape, terms, "", findings);
	return true;
}

static bool code_derive(struct call *call, const void *record, struct findings *findings,
			struct fault *fault)
{
	const struct code *code = record;
	struct room_codes codes;
	struct id account;
	bool is_kept;

	if (!codes_load(call, &code->room, STORE_TO_SHOW, &codes, fault))
		return false;
	if (id_number(&code->place) > codes.last_place)
		findings_add(findings, "/place", "was never assigned");
	if (!code_can_be(code->letters)) {
		findings_add(findings, "", "is not a code");
		return true;
	}
	/* A custom code must be reserved for its account; a generated code must not be while it
	 * exists. */
	if (!code_words_find(call, code->letters, &account, &is_kept, fault))
		return false;
	if (!code_is_words(code->letters) && is_kept)
		findings_add(findings, "", "is reserved as if it had been deleted");
	if (code_is_words(code->letters) && (!is_kept || id_compare(&account, &call->account) != 0))
		findings_add(findings, "", "is a custom code that is not reserved for the account");
	return true;
}

static bool code_removed(struct call *call, const void *record, struct fault *fault)
{
	const struct code *code = record;

	return call->frees_codes || code_words_keep(call, code->letters, fault);
}

const struct record_kind code_kind = {
	.table = &code_table,
	.line = "code",
	.shapes = { &code_patch_shape },
	.order = RECORD_CHILDREN,
	.load = code_load_dumped,
	.put = code_put_loaded,
	.removed = code_removed,
	.check = code_record_check,
	.derive = code_derive,
};

/* ---- reserved codes ---- */

static void words_print(struct call *call, void *record)
{
	struct code_words *words = record;

	(void)call;
	words->account = words->stored.account;
}

/* Checks a code that is reserved for its account, which may be removed. */
static bool words_load(struct call *call, void *record, const char *pointer,
		       struct findings *findings, struct fault *fault)
{
	const struct slice letters = ((const struct code_words *)record)->stored.name;
	struct id account;
	struct code code;
	bool is_there = false;

	if (!code_can_be(letters))
		findings_add(findings, pointer,
			     "must be a code (abc-defg-hij or abc-def-ghi) or a custom code");
	else if (!code_is_words(letters) &&
		 !code_find(call, letters, STORE_TO_SHOW, &code, &account, &is_there, fault))
		return false;
	if (is_there)
		findings_add(findings, pointer, "is already used as a code in this store");
	else if (!code_words_find(call, letters, &account, &is_there, fault))
		return false;
	else if (is_there && id_compare(&account, &call->account) != 0)
		findings_add(findings, pointer, "belongs to another account");
	return true;
}

/* Reserves the code unless it is reserved for the account already. */
static bool words_put(struct call *call, void *record, struct fault *fault)
{
	const struct slice letters = ((const struct code_words *)record)->stored.name;
	struct id account;
	bool is_there;

	return code_words_find(call, letters, &account, &is_there, fault) &&
	       (is_there || code_words_claim(call, letters, fault));
}

static bool words_record_check(struct call *call, const void *record, struct findings *findings,
			       struct fault *fault)
{
	const struct code_words *words = record;

	(void)call;
	(void)fault;
	if (!code_can_be(words->stored.name))
		findings_add(findings, "", "is neither a code nor a custom code");
	return true;
}

const struct record_kind words_kind = {
	.table = &code_words_table,
	.line = "words",
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
	.print = words_print,
	.load = words_load,
	.put = words_put,
	.check = words_record_check,
};

const struct record_kind words_asked_kind = { &code_words_asked_table, .order = RECORD_ONE };
