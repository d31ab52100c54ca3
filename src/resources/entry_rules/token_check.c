/* See resources/entry_rules/token_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/entry_rules/token_check.h"

#include "accounts/token.h"
#include "resources/entry_rules/entry_rules.h"

/* Finds the code at the place that the join token names, unless it is deleted. */
static bool find_bearer_code(struct call *call, const struct token_holder *holder,
			     struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	struct code_page page = { .after = token->code_place - 1, .most = 1 };
	const struct code *code = holder->code;

	if (token->code_place == 0 || holder->entrant->media == NULL)
		return true;
	if (!codes_page(call, &holder->subject->room.id, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	*holder->code = page.codes[0];
	/* A custom code that was deleted and created again is another code, at another place. */
	if (id_number(&code->place) == token->code_place &&
	    slice_equal(media_code_hash(call->arena, holder->media, code->letters),
			token->code_hash))
		holder->entrant->code = code;
	return true;
}

bool token_check_holder(struct call *call, const struct token_holder *holder, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &holder->subject->template;
	struct shown_code shown = { .has_role = false };
	struct entrant *entrant = holder->entrant;
	size_t role;

	entrant->call = call;
	entrant->room = &holder->subject->room;
	entrant->template = template;
	entrant->names_code = token->code_hash.data != NULL;
	entrant->code_hash = token->code_hash;
	entrant->user_id = entrant->claimed_user = token->user_id;
	entrant->entry = token->entry;
	if (!room_load_by_id(call, token->room_id, STORE_TO_SHOW, &holder->subject->room, fault) ||
	    !room_subject_load(call, STORE_TO_SHOW, holder->subject, fault) ||
	    !entrant_find_media(entrant, holder->media, fault))
		return false;
	entrant->has_door = holder->subject->codes.has_door;
	if (entrant->names_code && !find_bearer_code(call, holder, fault))
		return false;
	if (entrant->code != NULL &&
	    !code_show(call, &holder->subject->codes, entrant->code, template, &shown, fault))
		return false;
	entrant->has_no_role = entrant->code != NULL && !shown.has_role;
	entrant->code_is_enabled = shown.is_enabled;
	/* If the token names a code that has a role, the bearer has that role, under its current
	 * name; otherwise the role with the name in the token. */
	role = template_role_index_ever(template, shown.has_role ? shown.role : token->role);
	if (role == template->role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "Role not found");
	entrant->role = template->roles[role].name;
	return entry_check(entrant, ENTRY_OF_ROOM | ENTRY_OF_PERSON, fault);
}

bool token_check(struct call *call, struct bearer *bearer, struct fault *fault)
{
	struct entrant entrant = { .moment = ENTRY_CALLER };
	struct room_subject subject;
	struct code code;
	struct media media;
	const struct token_holder holder = { &entrant, &subject, &code, &media };

	if (!token_check_holder(call, &holder, fault))
		return false;
	*bearer = (struct bearer){
		.room = subject.room,
		.template = subject.template,
		.has_backend = entrant.backend != NULL &&
			       (entrant.placing == NULL || entrant.placing->backend != NULL),
		.name_is_fixed = entrant.code != NULL && (entrant.code->terms.set & CODE_NAME) != 0,
	};
	if (bearer->has_backend)
		bearer->backend = entrant.backend->id;
	return true;
}
