/* Access for the holders of join tokens (resources/joining/join.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include "accounts/token.h"
#include "resources/joining/exchange.h"
#include "resources/media/media_join.h"
#include "resources/misses.h"
#include "resources/live/made_rooms.h"
#include "resources/stored/revocations.h"
#include "resources/stored/template_record.h"

/* Finds the code at the place that the join token names, unless it is deleted. */
static bool find_bearer_code(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	struct code_page page = { .after = token->code_place - 1, .most = 1 };
	const struct code *code = &exchange->code;

	if (token->code_place == 0 || exchange->entrant.media == NULL)
		return true;
	if (!codes_page(call, &exchange->subject.room.id, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	exchange->code = page.codes[0];
	/* A custom code that was deleted and created again is another code, at another place. */
	if (id_number(&code->place) == token->code_place &&
	    slice_equal(media_code_hash(call->arena, &exchange->media, code->letters),
			token->code_hash))
		exchange->entrant.code = code;
	return true;
}

static bool find_bearer(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &exchange->subject.template;
	struct shown_code shown = { .has_role = false };
	struct entrant *entrant = &exchange->entrant;
	size_t role;

	entrant->call = call;
	entrant->room = &exchange->subject.room;
	entrant->template = template;
	entrant->names_code = token->code_hash.data != NULL;
	entrant->code_hash = token->code_hash;
	entrant->user_id = entrant->claimed_user = token->user_id;
	entrant->entry = token->entry;
	if (!room_load_by_id(call, token->room_id, STORE_TO_SHOW, &exchange->subject.room, fault) ||
	    !room_subject_load(call, STORE_TO_SHOW, &exchange->subject, fault) ||
	    !exchange_find_media(call, exchange, fault))
		return false;
	if (entrant->names_code && !find_bearer_code(call, exchange, fault))
		return false;
	if (entrant->code != NULL &&
	    !code_show(call, &exchange->subject.codes, entrant->code, template, &shown, fault))
		return false;
	entrant->has_no_role = entrant->code != NULL && !shown.has_role;
	entrant->code_is_enabled = shown.is_enabled;
	/* If the token names a code that has a role, the bearer has that role, under its current
	 * name; otherwise the role with the name in the token. */
	role = template_role_index_ever(template, shown.has_role ? shown.role : token->role);
	if (role == template->role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "Role not found");
	entrant->role = template->roles[role].name;
	exchange->time = call->now;
	return true;
}

bool token_first_page(struct call *call, struct store_page *page)
{
	const uint64_t place = call->app_token->subject.code_place;
	struct id *before = arena_alloc(call->arena, sizeof *before);

	*before = id_lowest(0, place - 1);
	page->above = place > 1 ? before : NULL; /* as in codes_page */
	return place > 0;
}

/* Replaces the role by the one that a call gave to the person in the present session. */
static bool take_given_role(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &exchange->subject.template;
	struct slice role;
	struct live live;
	size_t place;

	if (exchange->entrant.backend == NULL)
		return true;
	if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault) ||
	    !given_role_find(call, &live, token->entry,
			     entrant_user_is_known(&exchange->entrant) ? token->user_id : SLICE(""),
			     &role, fault))
		return false;
	if (role.data == NULL)
		return true;
	place = template_role_index_ever(template, role);
	if (place < template->role_count)
		entrant_set_role(&exchange->entrant, template->roles[place].name);
	return true;
}

/* Checks that the holder of the join token may be in its room now, as far as others inside do not
 * matter. */
static bool check_bearer(struct call *call, struct exchange *exchange, struct fault *fault)
{
	return find_bearer(call, exchange, fault) &&
	       entry_check(&exchange->entrant, ENTRY_OF_ROOM | ENTRY_OF_PERSON, fault);
}

bool token_check(struct call *call, struct bearer *bearer, struct fault *fault)
{
	struct exchange exchange = { .entrant.moment = ENTRY_CALLER };
	const struct entrant *entrant = &exchange.entrant;

	if (!check_bearer(call, &exchange, fault))
		return false;
	*bearer = (struct bearer){
		.room = exchange.subject.room,
		.template = exchange.subject.template,
		.has_backend = entrant->backend != NULL,
		.name_is_fixed = entrant->code != NULL &&
				 (entrant->code->terms.set & CODE_NAME) != 0,
	};
	if (bearer->has_backend)
		bearer->backend = entrant->backend->id;
	return true;
}

bool token_join(struct call *call, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	struct exchange exchange = {
		.entrant.moment = ENTRY_TOKEN,
		.sent_name = call_text(call, "name"),
	};
	struct json_writer body = writer_begin(call->arena, false);

	if (!check_bearer(call, &exchange, fault) || !take_given_role(call, &exchange, fault) ||
	    !entry_check(&exchange.entrant, ENTRY_OF_ROLE | ENTRY_OF_PLACE, fault))
		return false;
	if (exchange.entrant.backend == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "No backend");
	if (!exchange_make_room(call, &exchange, MADE_ROOMS_LAST_BRIEFLY, fault))
		return false;
	if (exchange.is_waiting)
		return true;
	exchange.answered_user = token->user_id;
	exchange.expires_at = call->app_token->expires_at;
	exchange.entry = token->entry;
	if (exchange.entry.size < 2 * ENTRY_SIZE)
		exchange.entry = new_entry(call);
	if (!exchange_find_name(call, &exchange, fault) ||
	    !exchange_add_join(call, &exchange, &body, fault))
		return false;
	misses_note_joined(call);
	return call_answer(call, writer_end(&body));
}

bool token_join_settle(struct call *call, struct fault *fault)
{
	return token_join(call, fault);
}
