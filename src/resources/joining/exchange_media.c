/* What somebody who may come in gets for the media server: a room that is there, a name, a ticket.
 * See src/resources/joining/exchange.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/exchange.h"

#include "base/encode.h"
#include "base/text.h"
#include "base/text_name.h"
#include "resources/asking.h"
#include "resources/media/failures.h"
#include "resources/media/media_join.h"
#include "resources/media/placing_down.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_names.h"
#include "resources/live/server_rooms.h"
#include "resources/stored/media_record.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"

/* Returns the agents that come into the room; NULL for none. */
static const json_t *agents_of(struct call *call, const struct exchange *exchange)
{
	if (exchange->entrant.backend->type != BACKEND_LIVEKIT)
		return NULL;
	return media_agents(call, &exchange->subject.template,
			    exchange->livekit != NULL ? exchange->livekit->agents : NULL);
}

static const json_t *config_of_backend(struct call *call, struct exchange *exchange)
{
	const struct backend *backend = exchange->entrant.backend;

	if (exchange->config == NULL)
		exchange->config = stored_json(call, backend->config, "backend", &backend->id);
	return exchange->config;
}

/* ---- rooms of pools ---- */

/* Returns true if the media server that the call has asked did not make the room. */
static bool has_refused(struct call *call, const struct backend *backend)
{
	const struct asked *asked = &call->asking->asked[0];
	const struct server server = backend_server(call, backend);
	struct server_verdict verdict;

	if (asked->end != ASKED_ANSWERED)
		return false;
	server_read_made(call->arena, &server, call->now / 1000, &asked->outcome, &verdict);
	return !verdict.is_up;
}

/* A media server that has made the room has it; in place of one that did not, another one is asked,
 * once. */
bool exchange_find_place(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct entrant *entrant = &exchange->entrant;
	struct placing *placing = entrant->placing;
	struct place_wish wish = { .room = entrant->room, .template = entrant->template };
	const struct leave_request leave = {
		.wish = &wish,
		.failed = call_text(call, "failed"),
		.entry = entrant->entry,
	};
	const struct backend *asked = NULL;

	if (placing == NULL || media_admits_nobody(entrant_role(entrant)))
		return true;
	if (call->asking != NULL && !call->asking->is_question)
		asked = media_backend(entrant->media, &call->asking->backend);
	if (backend_is_in(asked, placing->pool)) {
		wish.made_at = asked;
		wish.is_refused = call->asking->step == 0 && has_refused(call, asked);
	}
	if (placing->backend != NULL &&
	    !placing_leave(call, placing, &leave, &exchange->is_waiting, fault))
		return false;
	if (exchange->is_waiting || call->run.wants_write)
		return true;
	if (!placing_decide(call, placing, &wish, fault))
		return false;
	if (placing->backend != NULL)
		entrant->backend = placing->backend;
	return true;
}

bool exchange_keep_place(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct entrant *entrant = &exchange->entrant;
	int64_t ends;

	if (entrant->placing == NULL || media_admits_nobody(entrant_role(entrant)))
		return true;
	ends = exchange->time / 1000 + entrant->backend->ttl;
	return placing_keep(call, entrant->placing,
			    ends < exchange->expires_at ? ends : exchange->expires_at, fault);
}

/* ---- rooms that do not make themselves ---- */

/* Returns true if the room is one of a pool, and stays where it is. */
static bool stays(const struct exchange *exchange)
{
	const struct placing *placing = exchange->entrant.placing;

	return placing != NULL && !placing->is_chosen && placing->leaving == NULL;
}

/* A media server does not answer. If people are in the room there, the room is there, and others
 * may reach the server too; whoever does not says so. */
static bool go_without_answer(struct call *call, const struct exchange *exchange,
			      const struct server_verdict *verdict, struct fault *fault)
{
	struct live live;

	if (!stays(exchange))
		return asked_is_up(verdict, fault);
	if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault))
		return false;
	return (live.stored.value.data != NULL && !live_is_moved(&live) && live_peers(&live) > 0 &&
		id_compare(live_backend(&live), &exchange->entrant.backend->id) == 0) ||
	       asked_is_up(verdict, fault);
}

bool exchange_make_room(struct call *call, struct exchange *exchange, int64_t lasts,
			struct fault *fault)
{
	static const struct server_verdict silence = { .message = "no answer" };
	struct server_room_key room = { .account = call->account,
					.room = exchange->subject.room.id };
	struct server_verdict verdict;
	struct asking *asking;
	struct server server;
	bool is_there;

	/* Nobody needs a room that this service makes. */
	if (exchange->entrant.backend == NULL || call->environment->live != LIVE_ON ||
	    call->validates_only || media_admits_nobody(entrant_role(&exchange->entrant)) ||
	    !server_makes_rooms(exchange->entrant.backend->type, config_of_backend(call, exchange)))
		return true;

	room.backend = exchange->entrant.backend->id;
	server = backend_server(call, exchange->entrant.backend);
	if (call->asking != NULL && !call->asking->is_question &&
	    id_compare(&call->asking->backend, &room.backend) == 0) {
		const struct asked *asked = &call->asking->asked[0];

		if (!asked_has_outcome(asked, fault))
			return false;
		server_read_made(call->arena, &server, call->now / 1000, &asked->outcome, &verdict);
		if (asked->outcome.status == 0)
			return go_without_answer(call, exchange, &verdict, fault);
		if (!asked_is_up(&verdict, fault))
			return false;
		server_rooms_add(call->environment->server_rooms, &room, call->asking->began);
		return true;
	}

	if (!server_room_is_made(call, &room, lasts, &is_there, fault))
		return false;
	if (is_there)
		return true;
	/* It was asked a moment ago whether it is there. */
	if (stays(exchange) &&
	    failures_presence(call, &exchange->entrant.backend->id) == PRESENCE_SILENT)
		return go_without_answer(call, exchange, &silence, fault);
	if (!call_can_ask(call, fault))
		return false;
	asking = call_ask(call, &room.backend, 1);
	asking->step = asking != call->asking && !call->asking->is_question;
	asking->began = call->now;
	server_make_room(call->arena, &server, call->now / 1000,
			 id_as_text(call->arena, &room.room),
			 media_room_size(entrant_room(&exchange->entrant)),
			 agents_of(call, exchange), &asking->asked[0].request);
	exchange->is_waiting = true;
	return true;
}

/* ---- the entry ---- */

struct slice entry_as_text(struct call *call, const unsigned char bytes[ENTRY_SIZE])
{
	char *text = arena_alloc(call->arena, 2 * ENTRY_SIZE);

	text_hex(bytes, ENTRY_SIZE, text);
	return (struct slice){ text, 2 * ENTRY_SIZE };
}

struct slice new_entry(struct call *call)
{
	unsigned char bytes[ENTRY_SIZE];

	clock_random(call->environment->clock, bytes, sizeof bytes);
	return entry_as_text(call, bytes);
}

/* ---- the name ---- */

/* The smallest of the numbers for people without a name, and how many there are, where it is not
 * known who is inside: a person has always the same number. */
#define UNKNOWN_NUMBER_LEAST 1000
#define UNKNOWN_NUMBERS 9000

struct slice exchange_code_name(struct call *call, const struct exchange *exchange)
{
	const struct code_terms *terms = &exchange->code.terms;

	return exchange->entrant.code != NULL && (terms->set & CODE_NAME) != 0
		       ? text_without_bidi(call->arena, terms->name)
		       : (struct slice){ NULL, 0 };
}

static bool find_held(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct template_record *template = &exchange->subject.template;
	const struct live *live = exchange->entrant.live;
	struct live read;

	if (!exchange->subject.codes.has_holds)
		return true;
	if (live == NULL) {
		if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &read, fault))
			return false;
		live = &read;
	}
	if (live->stored.value.data != NULL)
		exchange->held = live_held(live, template,
					   template_role_index(template, exchange->entrant.role),
					   entrant_role(&exchange->entrant));
	return true;
}

bool exchange_find_name_and_holds(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct name_request request = {
		.room = &exchange->subject.room.id,
		.name = exchange_code_name(call, exchange),
		.origin = NAME_GIVEN,
		.entry = exchange->entry,
		.user_id = entrant_user_is_known(&exchange->entrant) ? exchange->answered_user
								     : SLICE(""),
		.reads_live = exchange->subject.codes.has_holds,
	};
	unsigned char digest[DIGEST_SIZE];
	struct slice title;

	if (exchange->entrant.backend == NULL ||
	    media_admits_nobody(entrant_role(&exchange->entrant)))
		return true;
	if (text_is_blank(request.name)) {
		request.name = exchange->sent_name;
		request.origin = exchange->entrant.code != NULL ? NAME_CHOSEN : NAME_GIVEN;
	}
	if (text_is_blank(request.name)) {
		title = text_shown_title(call->arena, entrant_role(&exchange->entrant));
		request.name = title.data == NULL ? exchange->entrant.role : title;
		request.origin = NAME_COUNTED;
	}
	exchange->name_origin = request.origin;

	if (call->environment->live != LIVE_OFF &&
	    server_can(exchange->entrant.backend->type, SERVER_LIST))
		return names_find(call, &request, &exchange->shown_name, fault) &&
		       find_held(call, exchange, fault);
	exchange->shown_name = request.name;
	if (request.origin == NAME_COUNTED) {
		digest_sha256(exchange->answered_user, digest);
		exchange->shown_name = text_name_numbered(
			call->arena, request.name, false,
			decode_32(digest) % UNKNOWN_NUMBERS + UNKNOWN_NUMBER_LEAST, SIZE_MAX);
	}
	return true;
}

/* ---- the ticket ---- */

struct admission exchange_admission(struct call *call, struct exchange *exchange)
{
	const struct livekit_request *request = exchange->livekit;

	return (struct admission){
		.config = config_of_backend(call, exchange),
		.room = &exchange->subject.room,
		.room_document = entrant_room(&exchange->entrant),
		.template = &exchange->subject.template,
		.role = exchange->entrant.role,
		.role_document = entrant_role(&exchange->entrant),
		.code = exchange->entrant.code != NULL ? &exchange->code : NULL,
		.code_hash = exchange->entrant.code_hash,
		.user_id = exchange->answered_user,
		.is_known = entrant_user_is_known(&exchange->entrant),
		.name = exchange->shown_name,
		.name_origin = exchange->name_origin,
		.held = exchange->held,
		.metadata = request != NULL ? request->metadata : SLICE(""),
		.attributes = request != NULL ? request->attributes : NULL,
		.agents = agents_of(call, exchange),
		.since = exchange->time / 1000,
		.expires = exchange->expires_at,
		.jti = exchange->jti,
		.entry = exchange->entry,
		.consent = consent_as_text(call->arena, exchange->consented),
		.consent_text = exchange->consent_text,
	};
}

bool exchange_add_join(struct call *call, struct exchange *exchange, struct json_writer *body,
		       struct fault *fault)
{
	const struct admission admission = exchange_admission(call, exchange);

	return media_join(call, &exchange->media, exchange->entrant.backend, &admission, body,
			  fault);
}
