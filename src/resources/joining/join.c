/* The calls that name a code: the exchange, LiveKit's token endpoint, and what a code opens. See
 * resources/joining/join.h. The request does not name an account: the code determines it. Unknown
 * and malformed codes get the same response. They count as misses (resources/misses.h),
 * unless the text does not look like a code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include <string.h>

#include "base/text.h"
#include "resources/code_typed.h"
#include "resources/joining/exchange.h"
#include "resources/live/live_rooms.h"
#include "resources/public_url.h"

/* Finds the code and its room, and sets call->account. */
static bool find_typed_code(struct call *call, struct slice text, struct exchange *exchange,
			    struct fault *fault)
{
	const struct typed_code typed = code_typed(call->arena, text);
	const struct slice meant[] = { typed.code, typed.grouped };
	const size_t n = typed.grouped.data == NULL ? 1 : 2;
	bool is_there = false;

	if (typed.code.data == NULL)
		return typed.is_guess ? entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault)
				      : fault_set(fault, FAULT_NOT_FOUND, "%s",
						  entry_rules[ENTRY_CODE_UNKNOWN].message);
	for (size_t i = 0; i < n && !is_there; i++) {
		if (!code_find(call, meant[i], call_reading(call), &exchange->code, &call->account,
			       &is_there, fault))
			return false;
	}
	if (!is_there)
		return entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault);
	call_set_account(call);
	return exchange_find_room(call, exchange, &is_there, fault) &&
	       (is_there || entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault));
}

/* text: the code as typed. */
static bool exchange_typed(struct call *call, struct slice text, struct exchange *exchange,
			   struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster;
	const struct account *account;
	bool is_done;

	if (!find_typed_code(call, text, exchange, fault) ||
	    !entrant_find_media(&exchange->entrant, &exchange->media, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_done = exchange_code(call, exchange, account, fault);
	exchange_note(call, account, exchange, is_done);
	accounts_release(accounts, roster);
	return is_done;
}

bool join(struct call *call, struct fault *fault)
{
	struct exchange exchange = {
		.entrant = { .call = call, .moment = ENTRY_EXCHANGE },
		.sent_user = call_text(call, "user_id"),
		.sent_name = call_text(call, "name"),
	};

	return exchange_typed(call, call_text(call, "code"), &exchange, fault);
}

bool join_settle(struct call *call, struct fault *fault)
{
	return join(call, fault);
}

bool join_livekit(struct call *call, struct fault *fault)
{
	const struct livekit_request request = livekit_request_of(call);
	struct exchange exchange = {
		.entrant = { .call = call, .moment = ENTRY_LIVEKIT },
		.sent_user = call_text(call, "participant_identity"),
		.sent_name = call_text(call, "participant_name"),
		.livekit = &request,
	};

	return exchange_typed(call, call->parameters[0], &exchange, fault);
}

bool join_livekit_settle(struct call *call, struct fault *fault)
{
	return join_livekit(call, fault);
}

/* ---- what a code opens ---- */

/* Returns the title of a document as a new value; NULL if it has none. */
static json_t *shown_title(struct call *call, const json_t *document)
{
	const struct slice title = text_shown_title(call->arena, document);

	return title.data == NULL ? NULL : json_of_text(title);
}

static bool answer_opened(struct call *call, struct exchange *exchange,
			  const struct account *account, bool asks, struct fault *fault)
{
	const char *client_url = public_url_client(call, account);
	const struct backend *backend = exchange->entrant.backend;
	const struct room_record *room = &exchange->subject.room;
	const struct code_terms *terms = &exchange->code.terms;
	const json_t *room_shown = room_document(call, room);
	const json_t *role_shown = entrant_role(&exchange->entrant);
	json_t *body = arena_json(call->arena,
				  json_pack("{s:o, s:{s:o, s:O?, s:o*}, s:{s:o, s:o*, s:O?}, s:s?}",
					    "code", json_of_text(exchange->code.letters), "room",
					    "name", json_of_text(room->name), "description",
					    json_object_get(room_shown, "description"), "title",
					    shown_title(call, room_shown), "role", "name",
					    json_of_text(exchange->entrant.role), "title",
					    shown_title(call, role_shown), "publishParams",
					    json_object_get(role_shown, "publishParams"),
					    "client_url", client_url));
	struct slice rest = slice_of(account->embed);
	json_t *origins;

	/* The join page cannot open a client_url that needs what the media server does not give. */
	if ((backend == NULL || !backend_has_page(backend->type)) &&
	    (client_url == NULL ||
	     strstr(client_url, backend != NULL ? "{join.link}" : "{join.") != NULL))
		object_put(body, "call", json_string("none"));
	else if (client_url == NULL && backend->type == BACKEND_LIVEKIT)
		/* The join page itself shows the call. */
		object_put(body, "call", json_string(backend_type_name(BACKEND_LIVEKIT)));
	if ((terms->set & CODE_NOT_BEFORE) != 0)
		object_put(body, "not_before", json_time_seconds(terms->not_before * 1000));
	if ((terms->set & CODE_EXPIRES_AT) != 0)
		object_put(body, "expires_at", json_time_seconds(terms->expires_at * 1000));
	if (room->opens_at != INT64_MIN)
		object_put(body, "opens_at", json_time_seconds(room->opens_at * 1000));
	if (room->closes_at != INT64_MAX)
		object_put(body, "closes_at", json_time_seconds(room->closes_at * 1000));
	if ((terms->set & CODE_NAME) != 0)
		object_put(body, "name", json_of_text(exchange_code_name(call, exchange)));
	if (asks)
		object_put(body, "admission", json_string("ask"));
	if (account->embed[0] != '\0') {
		origins = json_array();
		while (rest.data != NULL)
			array_put(origins, json_of_text(text_split(rest, ',', &rest)));
		object_put(body, "embed", origins);
	}
	return live_answer_opened(call, &room->id, &exchange->subject.template, role_shown, backend,
				  json_as_text(call->arena, body), fault);
}

bool join_describe(struct call *call, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	struct exchange exchange = { .entrant = { .call = call, .moment = ENTRY_DESCRIBE } };
	const struct roster *roster;
	const struct account *account;
	bool is_done, asks;

	if (!find_typed_code(call, call->parameters[0], &exchange, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_done = exchange_check(call, &exchange, account, fault) &&
		  entrant_find_media(&exchange.entrant, &exchange.media, fault) &&
		  exchange_asks_at_door(call, &exchange, &asks, fault) &&
		  answer_opened(call, &exchange, account, asks, fault);
	accounts_release(accounts, roster);
	return is_done;
}
