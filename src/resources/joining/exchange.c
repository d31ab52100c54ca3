/* The exchange of a code for a join token: by the code, or by a ticket that was admitted. See
 * src/resources/joining/exchange.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/exchange.h"

#include <string.h>

#include "accounts/token.h"
#include "base/encode.h"
#include "base/text.h"
#include "resources/door/door.h"
#include "resources/joining/joining.h"
#include "resources/media/media_join.h"
#include "resources/live/server_rooms.h"

/* ---- who comes ---- */

bool exchange_find_room(struct call *call, struct exchange *exchange, bool *is_there,
			struct fault *fault)
{
	struct entrant *entrant = &exchange->entrant;

	entrant->names_code = true;
	entrant->code = &exchange->code;
	entrant->room = &exchange->subject.room;
	entrant->template = &exchange->subject.template;
	return room_subject_of_code(call, &exchange->code, STORE_TO_SHOW, &exchange->subject,
				    is_there, fault);
}

/* Milliseconds in which the last user of a code may repeat the exchange, and the most repeats. */
#define RETRY_MOST 10000
#define REPEATS_MOST 9

/* True if this repeats the last exchange, whose response may have been lost. */
static bool is_retry(const struct call *call, const struct exchange *exchange)
{
	const struct code_terms *terms = &exchange->code.terms;
	const int64_t since = clock_now(call->environment->clock) - terms->last_use;

	return terms->last_use != 0 && since >= -RETRY_MOST && since <= RETRY_MOST &&
	       terms->last_repeats < REPEATS_MOST && exchange->entrant.user_id.size > 0 &&
	       slice_equal(exchange->entrant.user_id, terms->last_user);
}

bool exchange_is_counted(const struct exchange *exchange)
{
	return (exchange->code.terms.set & CODE_MAX_USES) != 0;
}

bool exchange_is_taken(const struct exchange *exchange)
{
	return exchange->ticket != NULL && exchange->ticket->taken != 0;
}

/* Finds out whether the person agrees to be recorded, if people are asked: by the request, or by
 * the ticket that a knock with it got. */
static void find_consent(struct call *call, struct exchange *exchange)
{
	const struct door_ticket *ticket = exchange->ticket;

	if (exchange->subject.template.rules.consent == CONSENT_NOTICE || exchange->consented != 0)
		return;
	if (exchange->entrant.moment == ENTRY_EXCHANGE) {
		if (json_is_true(call_member(call, "consent"))) {
			exchange->consented = exchange->time;
			exchange->consent_text = call_text(call, "consent_text");
		}
	} else if (exchange->entrant.moment == ENTRY_LIVEKIT) {
		if (json_is_true(json_object_get(call->query, "consent")))
			exchange->consented = exchange->time;
	} else if (ticket != NULL && ticket->consented != 0) {
		exchange->consented = ticket->consented;
		exchange->consent_text = ticket->consent_text;
	}
	exchange->entrant.consents = exchange->consented != 0;
}

bool exchange_check(struct call *call, struct exchange *exchange, const struct account *account,
		    struct fault *fault)
{
	const bool is_of_code = exchange_is_counted(exchange) && exchange->ticket == NULL;
	const struct code_terms *terms = &exchange->code.terms;
	const struct slice sent = exchange->sent_user;
	struct entrant *entrant = &exchange->entrant;
	struct shown_code shown;

	if (!code_show(call, &exchange->subject.codes, &exchange->code, &exchange->subject.template,
		       &shown, fault))
		return false;
	entrant->account = account;
	entrant->has_door = exchange->subject.codes.has_door;
	entrant->role = shown.role;
	entrant->has_no_role = !shown.has_role;
	entrant->code_is_enabled = shown.is_enabled;
	entrant->user_id = (terms->set & CODE_USER_ID) != 0 ? terms->user_id : sent;
	entrant->claimed_user = sent.size > 0 ? sent : (struct slice){ NULL, 0 };
	/* A retry gets the token of the exchange that it repeats, and therefore its time; so does a
	 * ticket that is asked for again. A counted exchange has the time of the clock, to which a
	 * retry is compared: call->now may be later, because it is never before the last change of
	 * the code, and the clock may have been set back since. */
	exchange->is_retry = is_of_code && is_retry(call, exchange);
	exchange->time = exchange->is_retry	       ? terms->last_use
			 : exchange_is_taken(exchange) ? exchange->ticket->taken
			 : is_of_code		       ? clock_now(call->environment->clock)
						       : call->now;
	entrant->is_repeated = exchange->is_retry || exchange_is_taken(exchange);
	entrant->until = (exchange->time / 1000 + call->environment->join_seconds) * 1000;
	find_consent(call, exchange);
	if (!entry_check(entrant, ENTRY_OF_ROOM | ENTRY_OF_PERSON, fault))
		return false;
	exchange->expires_at = entrant->until / 1000;
	return true;
}

/* Checks what was asked for at LiveKit's token endpoint in addition. */
static bool check_livekit_request(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct livekit_request *request = exchange->livekit;
	const struct backend *backend = exchange->entrant.backend;

	if (request == NULL)
		return true;
	if (!livekit_request_is_for(call->arena, request, &exchange->subject.room)) {
		call->run.refusal = JOIN_OTHER_ROOM;
		return fault_set(fault, FAULT_FORBIDDEN, "Room code is for another room");
	}
	if (!livekit_request_has_agents(call, request, &exchange->subject.template)) {
		call->run.refusal = JOIN_NO_SUCH_AGENT;
		return fault_set(fault, FAULT_FORBIDDEN, "Agent is not allowed");
	}
	if (!entry_check(&exchange->entrant, ENTRY_OF_ROLE, fault))
		return false;
	return (backend != NULL && backend->type == BACKEND_LIVEKIT) ||
	       fault_set(fault, FAULT_CONFLICT, "The room's media server is not LiveKit");
}

/* ---- what is written, and answered ---- */

/* Counts a use of the code. Sets a jti and an entry that are the same for all repeats of a counted
 * exchange, or of the exchange of a ticket, so that one exchange does not let in several people. */
static bool count_use(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const bool is_counted = exchange_is_counted(exchange) && !exchange_is_taken(exchange);
	const struct code *code = &exchange->code;
	struct code_terms *terms = &exchange->code.terms;
	char use_of_code[2 * ID_SIZE + 4 + 8];
	struct slice use = { use_of_code, sizeof use_of_code };
	unsigned char mac[DIGEST_SIZE];
	char text[UUID_TEXT_SIZE];

	if (exchange->ticket == NULL && !is_counted)
		return true;

	if (is_counted && exchange->is_retry) {
		terms->last_repeats++;
	} else if (is_counted) {
		terms->uses++;
		terms->last_use = exchange->time;
		terms->last_user = exchange->entrant.user_id;
		terms->last_repeats = 0;
	}

	if (exchange->ticket != NULL) {
		use = exchange->ticket->name;
	} else {
		memcpy(use_of_code, code->room.bytes, ID_SIZE);
		memcpy(use_of_code + ID_SIZE, code->place.bytes, ID_SIZE);
		encode_32(use_of_code + 2 * ID_SIZE, terms->uses);
		encode_64(use_of_code + 2 * ID_SIZE + 4, (uint64_t)terms->last_use);
	}
	digest_hmac_sha256((struct slice){ (const char *)exchange->media.code_key, DIGEST_SIZE },
			   use, mac);
	uuid_print(mac, text);
	exchange->jti = arena_copy(call->arena, slice_of(text));
	exchange->entry = entry_as_text(call, mac + UUID_SIZE);
	return !is_counted || code_put(call, &exchange->code, fault);
}

static bool answer_exchange(struct call *call, struct exchange *exchange,
			    const struct account *account, struct fault *fault)
{
	char expires[TEXT_TIME_SIZE];
	struct token_join subject = {
		.room_id = id_as_text(call->arena, &exchange->subject.room.id),
		.role = exchange->entrant.role,
		.user_id = exchange->answered_user,
		.code_place = id_number(&exchange->code.place),
		.jti = exchange->jti,
		.entry = exchange->entry,
	};
	struct json_writer body = writer_begin(call->arena, false);

	if (exchange->entrant.code_hash.data == NULL)
		exchange->entrant.code_hash = media_code_hash(call->arena, &exchange->media,
							      exchange->code.letters);
	if (exchange->consented != 0) {
		subject.consent = consent_as_text(call->arena, exchange->consented);
		subject.consent_text = exchange->consent_text;
	}
	if (exchange->livekit != NULL) {
		const struct admission admission = exchange_admission(call, exchange);
		struct slice token;

		return media_livekit_token(call, &exchange->media, exchange->entrant.backend,
					   &admission, &token, fault) &&
		       livekit_answer(call, exchange->entrant.backend->url, token, &admission);
	}
	subject.code_hash = exchange->entrant.code_hash;
	text_time_seconds(exchange->expires_at * 1000, expires);
	if (exchange->ticket != NULL && !exchange->is_at_once)
		writer_plain(&body, "state", SLICE("admitted"));
	writer_plain(&body, "token",
		     token_sign_join(call->arena, call->environment->clock, account, &subject,
				     exchange->time, exchange->expires_at));
	writer_text(&body, "room_id", subject.room_id);
	writer_text(&body, "role", exchange->entrant.role);
	writer_text(&body, "user_id", exchange->answered_user);
	writer_text(&body, "expires_at", slice_of(expires));
	if (exchange->entrant.backend != NULL && !exchange_add_join(call, exchange, &body, fault))
		return false;
	return call_answer(call, writer_end(&body));
}

/* ---- at the door ---- */

bool exchange_asks_at_door(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct code_terms *terms = &exchange->code.terms;
	const struct template_record *template = &exchange->subject.template;
	struct entrant *entrant = &exchange->entrant;
	bool asks = terms->admission == ADMISSION_ASK, asks_in_session = false;
	struct live live;

	if ((!asks || entrant->has_door) && id_compare(&terms->asks_in, &kind_only_id) != 0) {
		if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault))
			return false;
		asks_in_session = live.stored.value.data != NULL &&
				  id_compare(&live.session, &terms->asks_in) == 0;
	}
	asks = asks || asks_in_session ||
	       (terms->admission != ADMISSION_OPEN &&
		template->roles[template_role_index(template, entrant->role)].asks);
	entrant->asks = asks;
	if (!entrant->has_door)
		return true;
	if (!entrant_find_door(entrant, fault))
		return false;
	switch (entrant->door_state) {
	case DOOR_BY_ROLE:
	case DOOR_LOCKED:
		break;
	case DOOR_OPEN:
		entrant->asks = asks_in_session;
		break;
	case DOOR_ASK:
		entrant->asks = asks || !media_permits(entrant_role(entrant), "mute");
		break;
	}
	exchange->is_unasked = entrant->asks && !asks;
	return true;
}

/* Returns true if it depends on the door whether the person may come in. */
static bool door_matters(const struct call *call, const struct entrant *entrant)
{
	return entrant->asks ||
	       (entrant->door != NULL &&
		(entrant->door_state == DOOR_LOCKED || door_has_denials(entrant->door, call->now)));
}

/* If a denial was taken back, exchanges the code at once, as the ticket that was denied. *is_free:
 * the door lets the person in. */
static bool apply_at_door(struct call *call, struct exchange *exchange,
			  const struct account *account, bool *is_free, struct fault *fault)
{
	const struct slice name = exchange_code_name(call, exchange);
	const struct door_applicant applicant = {
		.entrant = &exchange->entrant,
		.is_unasked = exchange->is_unasked,
		.user_name = name.data != NULL ? name : exchange->sent_name,
		.browser = call_text(call, "browser"),
		.consented = exchange->consented,
		.consent_text = exchange->consented != 0 ? exchange->consent_text : SLICE(""),
	};
	struct door_ticket *ticket;
	struct door door;

	exchange->entrant.is_patient = json_is_true(call_member(call, "wait"));
	if (!door_apply(call, &applicant, &door, &ticket, fault))
		return false;
	*is_free = ticket == NULL && !exchange->entrant.asks && !call->run.wants_write;
	exchange->is_at_door = ticket == NULL && !*is_free;
	if (ticket == NULL)
		return true;
	exchange->is_at_once = true;
	exchange->ticket = ticket;
	exchange->entrant.moment = ENTRY_ADMITTED;
	exchange->sent_user = ticket->user_id;
	return exchange_code(call, exchange, account, fault) &&
	       (exchange->is_waiting ||
		door_take(call, &door, ticket, &exchange->subject.room, fault));
}

/* Whoever was admitted comes through a locked door with the token of the exchange. */
static bool give_pass(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct entrant *entrant = &exchange->entrant;
	const struct passer passer = {
		.room = &exchange->subject.room.id,
		.entry = exchange->entry.data != NULL ? exchange->entry : SLICE(""),
		.user_id = entrant_user_is_known(entrant) ? entrant->user_id : SLICE(""),
	};
	bool may_pass;

	if (exchange->ticket == NULL || !entrant->has_door)
		return true;
	if (!entrant_find_door(entrant, fault))
		return false;
	if (entrant->door_state != DOOR_LOCKED)
		return true;
	if (!door_finds_pass(call, entrant->door, entrant->live, &passer, &may_pass, fault) ||
	    may_pass)
		return may_pass;
	if (!call_is_writing(call))
		return call_write_instead(call);
	return door_give_passes(call, entrant->door, &passer, 1, NULL, fault);
}

/* ---- the exchange ---- */

bool exchange_code(struct call *call, struct exchange *exchange, const struct account *account,
		   struct fault *fault)
{
	const bool is_counted = exchange_is_counted(exchange) && !exchange_is_taken(exchange);
	bool is_free = false;

	if (!exchange_check(call, exchange, account, fault) ||
	    !check_livekit_request(call, exchange, fault))
		return false;

	/* The holder of a ticket has been at the door. */
	if (exchange->ticket == NULL && !exchange_asks_at_door(call, exchange, fault))
		return false;
	if (exchange->ticket == NULL && door_matters(call, &exchange->entrant)) {
		if (!apply_at_door(call, exchange, account, &is_free, fault))
			return false;
		if (!is_free)
			return true;
	}

	/* A counted exchange is a write. So is the first exchange of an account that has no media
	 * record yet, because that contains the key for hashes of codes. All others only read. */
	if ((is_counted || exchange->entrant.media == NULL) && !call_is_writing(call))
		return call_write_instead(call);

	if (!exchange_find_place(call, exchange, fault) || call->run.wants_write)
		return call->run.wants_write;
	if (exchange->is_waiting)
		return true;
	if (!entry_check(&exchange->entrant, ENTRY_OF_PLACE, fault) ||
	    !exchange_make_room(call, exchange, SERVER_ROOMS_LAST, fault))
		return false;
	if (exchange->is_waiting)
		return true;

	if (exchange->entrant.media == NULL && !media_load_lasting(call, &exchange->media, fault))
		return false;
	if (!count_use(call, exchange, fault))
		return false;

	/* The code was counted without a user_id if none was sent; one is generated only now. */
	exchange->answered_user = exchange->entrant.user_id.size > 0
					  ? exchange->entrant.user_id
					  : uuid_as_text(call->arena, call->environment->clock);
	if (exchange->entrant.backend == NULL)
		exchange->entry = (struct slice){ NULL, 0 };
	else if (exchange->entry.data == NULL)
		exchange->entry = new_entry(call);
	if (!exchange_keep_place(call, exchange, fault) || call->run.wants_write)
		return call->run.wants_write;
	if (!give_pass(call, exchange, fault) || call->run.wants_write)
		return call->run.wants_write;
	return exchange_find_name_and_holds(call, exchange, fault) &&
	       answer_exchange(call, exchange, account, fault);
}

void exchange_note(struct call *call, const struct account *account,
		   const struct exchange *exchange, bool is_granted)
{
	struct joining *joining = arena_alloc(call->arena, sizeof *joining);
	const struct slice asked = exchange->sent_user;

	if (account == NULL || !account->is_enabled || !account->logs_joins ||
	    call->run.wants_write || exchange->is_waiting ||
	    (is_granted && (exchange->is_at_door || exchange_is_taken(exchange))) ||
	    (!is_granted && call->run.refusal == JOIN_NOT_REFUSED))
		return;
	*joining = (struct joining){
		.account = call->account,
		.room = exchange->subject.room.id,
		.room_name = exchange->subject.room.name,
		.role = exchange->entrant.role,
		.user_id = is_granted	    ? exchange->answered_user
			   : asked.size > 0 ? asked
					    : exchange->entrant.user_id,
		.code = exchange->code.letters,
		.request_id = slice_of(call->id),
		.refusal = is_granted ? JOIN_NOT_REFUSED : call->run.refusal,
		.time = call->now,
	};
	call->run.joining = joining;
}
