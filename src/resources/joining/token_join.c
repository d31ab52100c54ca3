/* Access for the holders of join tokens (resources/joining/join.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include "accounts/token.h"
#include "base/text.h"
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

/* Reads what was set of the person in the present session; and replaces the role by the one that a
 * call gave. */
static bool take_given(struct call *call, struct exchange *exchange, struct given *given,
		       struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &exchange->subject.template;
	struct live live;
	size_t place;

	*given = (struct given){ .has_consent = false };
	if (exchange->entrant.backend == NULL)
		return true;
	if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault) ||
	    !given_find(call, &live, token->entry,
			entrant_user_is_known(&exchange->entrant) ? token->user_id : SLICE(""),
			given, fault))
		return false;
	if (given->role.data == NULL)
		return true;
	place = template_role_index_ever(template, given->role);
	if (place < template->role_count)
		entrant_set_role(&exchange->entrant, template->roles[place].name);
	return true;
}

/* Keeps what the person has said for the next stays in the session, if there is one. */
static bool keep_consent(struct call *call, const struct exchange *exchange, struct fault *fault)
{
	struct live live;

	if (call->app_token->subject.entry.size == 0)
		return true;
	if (!call_is_writing(call))
		return call_write_instead(call);
	return live_load(call, &exchange->subject.room.id, STORE_TO_CHANGE, &live, fault) &&
	       (live.stored.value.data == NULL ||
		(given_consent_set(call, &live, call->app_token->subject.entry, exchange->consented,
				   exchange->consent_text, fault) &&
		 record_put(&live_table, call->transaction, &live, fault)));
}

/* Finds out whether the person agrees to be recorded: as they say now, though a yes does not count
 * where nothing is asked; else as was said in this session; else as the token says. Nobody is kept
 * out for it, because whoever does not agree is not recorded. */
static bool take_consent(struct call *call, struct exchange *exchange, const struct given *given,
			 struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const json_t *sent = call_member(call, "consent");
	int64_t seconds;

	exchange->consent_text = SLICE("");
	if (given->has_consent) {
		exchange->consented = given->consented;
		exchange->consent_text = given->consent_text;
	} else if (token->consent.data != NULL && text_integer(token->consent, &seconds) &&
		   seconds > 0 && seconds <= TEXT_TIME_LAST / 1000) {
		exchange->consented = seconds * 1000;
		if (token->consent_text.data != NULL)
			exchange->consent_text = text_cut(token->consent_text, LIVE_CONSENT_MOST);
	}
	/* A null is as if nothing was sent. */
	if (!json_is_boolean(sent) || json_is_true(sent) == (exchange->consented != 0) ||
	    (json_is_true(sent) && exchange->subject.template.rules.consent == CONSENT_NOTICE))
		return true;
	exchange->consented = json_is_true(sent) ? call->now / 1000 * 1000 : 0;
	exchange->consent_text = json_is_true(sent) ? call_text(call, "consent_text") : SLICE("");
	return keep_consent(call, exchange, fault);
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
	struct given given;

	if (!token_check_holder(call, &holder, fault) ||
	    !take_given(call, &exchange, &given, fault) ||
	    !entry_check(&exchange.entrant, ENTRY_OF_LOCK | ENTRY_OF_ROLE, fault))
		return false;
	if (!exchange_find_place(call, &exchange, fault) || call->run.wants_write)
		return call->run.wants_write;
	if (exchange.is_waiting)
		return true;
	if (!entry_check(&exchange.entrant, ENTRY_OF_PLACE, fault))
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
	if (!take_consent(call, &exchange, &given, fault) || call->run.wants_write)
		return call->run.wants_write;
	if (!exchange_keep_place(call, &exchange, fault) || call->run.wants_write)
		return call->run.wants_write;
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
