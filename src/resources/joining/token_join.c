/* Access for the holders of join tokens (resources/joining/join.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include "accounts/token.h"
#include "resources/entry_rules/token_check.h"
#include "resources/joining/exchange.h"
#include "resources/misses.h"
#include "resources/live/server_rooms.h"
#include "resources/stored/revocations.h"
#include "resources/stored/template_record.h"

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

bool token_join(struct call *call, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	struct exchange exchange = {
		.entrant.moment = ENTRY_TOKEN,
		.sent_name = call_text(call, "name"),
		.time = call->now,
	};
	const struct token_holder holder = {
		&exchange.entrant,
		&exchange.subject,
		&exchange.code,
		&exchange.media,
	};
	struct json_writer body = writer_begin(call->arena, false);

	if (!token_check_holder(call, &holder, fault) || !take_given_role(call, &exchange, fault) ||
	    !entry_check(&exchange.entrant, ENTRY_OF_LOCK | ENTRY_OF_ROLE | ENTRY_OF_PLACE, fault))
		return false;
	if (exchange.entrant.backend == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "No backend");
	if (!exchange_make_room(call, &exchange, SERVER_ROOMS_LAST_BRIEFLY, fault))
		return false;
	if (exchange.is_waiting)
		return true;
	exchange.answered_user = token->user_id;
	exchange.expires_at = call->app_token->expires_at;
	exchange.entry = token->entry;
	if (exchange.entry.size < 2 * ENTRY_SIZE)
		exchange.entry = new_entry(call);
	if (!exchange_find_name_and_holds(call, &exchange, fault) ||
	    !exchange_add_join(call, &exchange, &body, fault))
		return false;
	misses_note_joined(call);
	return call_answer(call, writer_end(&body));
}

bool token_join_settle(struct call *call, struct fault *fault)
{
	return token_join(call, fault);
}
