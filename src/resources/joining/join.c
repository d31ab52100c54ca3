/* See resources/joining/join.h. The request does not name an account: the code determines it.
 * Unknown and malformed codes get the same response. They count as misses
 * (resources/joining/misses.h), unless the text does not look like a code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include <string.h>

#include "base/encode.h"
#include "base/text.h"
#include "base/text_name.h"
#include "accounts/accounts.h"
#include "resources/joining/misses.h"
#include "accounts/token.h"
#include "resources/bans/bans.h"
#include "resources/codes/code_life.h"
#include "resources/door/door.h"
#include "resources/joining/code_typed.h"
#include "resources/joining/livekit_join.h"
#include "resources/joining/media_join.h"
#include "records/record.h"
#include "resources/asking.h"
#include "resources/live/live_limits.h"
#include "resources/live/live_names.h"
#include "resources/live/live_rooms.h"
#include "resources/live/revocations.h"
#include "resources/live/made_rooms.h"
#include "resources/media/backends.h"
#include "resources/public_url.h"
#include "resources/rooms/room_record.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"
#include "rules/text_rules.h"

static bool refuse_for(unsigned seconds, struct fault *fault)
{
	fault_detail(fault, FAULT_TOO_MANY, "too many unknown codes from this address");
	fault->retry_after = seconds;
	return false;
}

bool join_check_budget(const struct call *call, struct fault *fault)
{
	unsigned seconds = misses_wait(call->environment->misses, call->request.address,
				       clock_monotonic());

	return seconds == 0 || refuse_for(seconds, fault);
}

static bool refuse_unknown_code(struct fault *fault)
{
	return fault_set(fault, FAULT_NOT_FOUND, "Room code not found");
}

static bool miss_code(const struct call *call, struct fault *fault)
{
	unsigned seconds = misses_count(call->environment->misses, call->request.address,
					clock_monotonic());

	if (seconds > 0)
		return refuse_for(seconds, fault);
	return refuse_unknown_code(fault);
}

/* The exchange of a code for a join token. */
struct exchange {
	struct slice sent_user, sent_name; /* of the request or the ticket; may be empty */
	const struct livekit_wish *wish; /* at LiveKit's token endpoint; else NULL */
	struct room_subject subject;
	bool has_code; /* false if the join token names no code, or one that is deleted */
	struct code code;
	struct slice role;
	struct door_ticket *ticket; /* admitted, which is exchanged; or NULL */
	bool is_at_once; /* the code was sent, not the ticket */
	const json_t *role_document, *room_document; /* NULL until they are decoded */
	struct slice user_id; /* from the code or the body; empty to generate one */
	int64_t time; /* of the exchange, or of the one it repeats, in milliseconds */
	bool is_retry;
	struct slice jti; /* of its tokens; data NULL if each gets its own */
	struct slice entry; /* of its tokens; data NULL until it is known */
	struct slice code_hash; /* of the code (media_code_hash) */
	struct slice answered_user; /* user_id in the response */
	struct slice shown_name; /* the display name; unset until it is known */
	enum name_origin name_origin;
	int64_t expires_at; /* seconds since 1970 */
	const struct backend *backend; /* the room's, in `media`; or NULL */
	const json_t *config; /* of the backend; NULL until it is decoded */
	bool is_waiting; /* the media server is asked to make the room; the handler ends here */
	bool has_knocked; /* the answer is a ticket */
	struct media media; /* unset unless has_media */
	bool has_media;
};

/* ---- checks of a code ---- */

/* Finds the account's backends and signing keys, and the backend that the room uses. */
static bool find_media(struct call *call, struct exchange *exchange, struct fault *fault)
{
	exchange->backend = NULL;
	if (!media_find(call, STORE_TO_SHOW, &exchange->media, &exchange->has_media, fault))
		return false;
	if (exchange->has_media)
		exchange->backend = media_backend_of(&exchange->media, &exchange->subject.template);
	return true;
}

/* Finds the code and its room, and sets call->account. */
static bool find_typed_code(struct call *call, struct slice text, struct exchange *exchange,
			    struct fault *fault)
{
	const struct typed_code typed = code_typed(call->arena, text);
	const struct slice meant[] = { typed.code, typed.grouped };
	const size_t n = typed.grouped.data == NULL ? 1 : 2;
	bool is_there = false;

	if (typed.code.data == NULL)
		return typed.is_guess ? miss_code(call, fault) : refuse_unknown_code(fault);
	for (size_t i = 0; i < n && !is_there; i++) {
		if (!code_find(call, meant[i], call_reading(call), &exchange->code, &call->account,
			       &is_there, fault))
			return false;
	}
	if (!is_there)
		return miss_code(call, fault);
	exchange->has_code = true;
	call_set_account(call);
	if (!room_subject_of_code(call, &exchange->code, STORE_TO_SHOW, &exchange->subject,
				  &is_there, fault))
		return false;
	return is_there || miss_code(call, fault);
}

static bool refuse_join(struct call *call, enum join_refusal refusal, const char *message,
			struct fault *fault)
{
	call->run.refusal = refusal;
	return fault_set(fault, FAULT_FORBIDDEN, "%s", message);
}

static bool refuse_at(struct call *call, enum join_refusal refusal, const char *message,
		      const char *member, int64_t seconds, struct fault *fault)
{
	char time[TEXT_TIME_SIZE];

	call->run.refusal = refusal;
	text_time_seconds(seconds * 1000, time);
	return fault_explain(fault, FAULT_FORBIDDEN, message, "%s: %s", member, time);
}

static bool check_switches(struct call *call, const struct exchange *exchange,
			   const struct shown_code *shown, const struct account *account,
			   struct fault *fault)
{
	/* A load that is running, or was interrupted, has records of an account that does not
	 * exist. */
	if (account == NULL)
		return miss_code(call, fault);
	if (!exchange->subject.room.is_enabled)
		return refuse_join(call, JOIN_ROOM_DISABLED, "Room is disabled", fault);
	if (!shown->has_role)
		return refuse_join(call, JOIN_ROLE_DELETED,
				   "The role of this code has been deleted", fault);
	if (!shown->is_enabled)
		return refuse_join(call, JOIN_DISABLED, "Room code is disabled", fault);
	return account->is_enabled ||
	       refuse_join(call, JOIN_ACCOUNT_DISABLED, "Account is disabled", fault);
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
	       terms->last_repeats < REPEATS_MOST && exchange->user_id.size > 0 &&
	       slice_equal(exchange->user_id, terms->last_user);
}

static bool is_counted(const struct exchange *exchange)
{
	return (exchange->code.terms.set & CODE_MAX_USES) != 0;
}

/* A ticket that was exchanged before. */
static bool is_taken(const struct exchange *exchange)
{
	return exchange->ticket != NULL && exchange->ticket->taken != 0;
}

static bool check_terms(struct call *call, const struct exchange *exchange, struct fault *fault)
{
	const struct code_terms *terms = &exchange->code.terms;
	const int64_t now = call->now / 1000;

	if ((terms->set & CODE_EXPIRES_AT) != 0 && now >= terms->expires_at)
		return refuse_at(call, JOIN_EXPIRED, "Room code has expired", "expires_at",
				 terms->expires_at, fault);
	if ((terms->set & CODE_MAX_USES) != 0 && terms->uses >= terms->max_uses &&
	    !exchange->is_retry && !is_taken(exchange))
		return refuse_join(call, JOIN_USED_UP, "Room code was used up", fault);
	if ((terms->set & CODE_NOT_BEFORE) != 0 && now < terms->not_before)
		return refuse_at(call, JOIN_NOT_YET_VALID, "Room code is not valid yet",
				 "not_before", terms->not_before, fault);
	return true;
}

/* user_id: empty if the person has none. code_hash: data NULL if there is no code. */
static bool check_bans(struct call *call, const struct exchange *exchange, struct slice user_id,
		       struct slice code_hash, struct fault *fault)
{
	bool is_banned;
	struct ban ban;

	return ban_find_with(call, exchange->has_media ? &exchange->media : NULL,
			     &exchange->subject.room.id, user_id, code_hash, &ban, &is_banned,
			     fault) &&
	       (!is_banned || refuse_join(call, JOIN_BANNED, "Banned from this room", fault));
}

/* Decodes the role when it is first needed: most exchanges do not need it. */
static const json_t *role_document(struct call *call, struct exchange *exchange)
{
	const struct template_record *template = &exchange->subject.template;

	if (exchange->role_document == NULL)
		exchange->role_document = template_role_document(
			call, template,
			&template->roles[template_role_index(template, exchange->role)]);
	return exchange->role_document;
}

static const json_t *document_of_room(struct call *call, struct exchange *exchange)
{
	if (exchange->room_document == NULL)
		exchange->room_document = room_document(call, &exchange->subject.room);
	return exchange->room_document;
}

static bool joins_outside_window(struct call *call, struct exchange *exchange)
{
	return json_is_true(
		json_object_get(json_object_get(role_document(call, exchange), "permissions"),
				"joinOutsideWindow"));
}

/* Also sets the expiry of the token, which must not outlive the opening times of the room. */
static bool check_opening_times(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct room_record *room = &exchange->subject.room;
	const int64_t now = call->now / 1000;

	exchange->expires_at = exchange->time / 1000 + call->environment->join_seconds;
	if ((room->opens_at <= now && exchange->expires_at <= room->closes_at) ||
	    joins_outside_window(call, exchange))
		return true;
	if (now < room->opens_at)
		return refuse_at(call, JOIN_NOT_OPEN, "Room is not open yet", "opens_at",
				 room->opens_at, fault);
	if (now >= room->closes_at)
		return refuse_at(call, JOIN_CLOSED, "Room is closed", "closes_at", room->closes_at,
				 fault);
	exchange->expires_at = room->closes_at;
	return true;
}

static bool admit_by_code(struct call *call, struct exchange *exchange,
			  const struct account *account, struct fault *fault)
{
	const bool is_of_code = is_counted(exchange) && exchange->ticket == NULL;
	const struct slice sent = exchange->sent_user;
	struct shown_code shown;

	if (!code_show(call, &exchange->subject.codes, &exchange->code, &exchange->subject.template,
		       &shown, fault))
		return false;
	exchange->role = shown.role;
	exchange->user_id = (exchange->code.terms.set & CODE_USER_ID) != 0
				    ? exchange->code.terms.user_id
				    : sent;
	/* A retry gets the token of the exchange that it repeats, and therefore its time; so does a
	 * ticket that is asked for again. A counted exchange has the time of the clock, to which a
	 * retry is compared: call->now may be later, because it is never before the last change of
	 * the code, and the clock may have been set back since. */
	exchange->is_retry = is_of_code && is_retry(call, exchange);
	exchange->time = exchange->is_retry   ? exchange->code.terms.last_use
			 : is_taken(exchange) ? exchange->ticket->taken
			 : is_of_code	      ? clock_now(call->environment->clock)
					      : call->now;
	if (!check_switches(call, exchange, &shown, account, fault) ||
	    !check_terms(call, exchange, fault))
		return false;
	if (exchange->has_media && exchange->media.ban_count > 0) {
		exchange->code_hash = media_code_hash(call->arena, &exchange->media,
						      exchange->code.letters);
		if (!check_bans(call, exchange, exchange->user_id, exchange->code_hash, fault))
			return false;
	}
	if (!check_opening_times(call, exchange, fault))
		return false;
	return sent.size == 0 || slice_equal(sent, exchange->user_id) ||
	       refuse_join(call, JOIN_OTHER_USER, "Room code is for another user", fault);
}

/* Checks what was asked for at LiveKit's token endpoint in addition. */
static bool check_wish(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct livekit_wish *wish = exchange->wish;
	const struct backend *backend = exchange->backend;

	if (wish == NULL)
		return true;
	if (!livekit_wish_is_for(call->arena, wish, &exchange->subject.room))
		return refuse_join(call, JOIN_OTHER_ROOM, "Room code is for another room", fault);
	if (!livekit_wish_has_agents(call, wish, &exchange->subject.template))
		return refuse_join(call, JOIN_NO_SUCH_AGENT, "Agent is not allowed", fault);
	if (media_admits_nobody(role_document(call, exchange)))
		return fault_set(fault, FAULT_FORBIDDEN, "Role admits nobody");
	return (backend != NULL && backend->type == BACKEND_LIVEKIT) ||
	       fault_set(fault, FAULT_CONFLICT, "The room's media server is not LiveKit");
}

/* ---- full rooms ---- */

/* Returns true if the account set the user_id, not the person. */
static bool user_is_known(const struct exchange *exchange)
{
	return !exchange->has_code || (exchange->code.terms.set & CODE_USER_ID) != 0;
}

/* Refuses somebody for whom there is no place. entry: of the token that the person has; empty if
 * none. */
static bool check_places(struct call *call, struct exchange *exchange, struct slice user_id,
			 struct slice entry, struct fault *fault)
{
	struct live_comer comer = {
		.room = exchange->subject.room.id,
		.role = exchange->role,
		.user_id = user_is_known(exchange) ? user_id : SLICE(""),
		.entry = entry.data == NULL ? SLICE("") : entry,
	};
	enum live_fit fit;

	/* They were checked before the media server was asked. */
	if (call->asking != NULL || exchange->backend == NULL ||
	    !media_holds_limits(call, exchange->backend->type) ||
	    media_admits_nobody(role_document(call, exchange)))
		return true;
	comer.backend = exchange->backend->id;
	comer.role_most = media_most_peers(role_document(call, exchange));
	comer.size = media_room_size(document_of_room(call, exchange));
	if (!live_find_fit(call, &comer, &fit, fault))
		return false;
	if (fit == LIVE_ROLE_IS_FULL)
		return refuse_join(call, JOIN_ROLE_FULL, "Role is full", fault);
	return fit == LIVE_FITS || refuse_join(call, JOIN_ROOM_FULL, "Room is full", fault);
}

/* ---- rooms that do not make themselves ---- */

/* Returns the agents that come into the room; NULL for none. */
static const json_t *agents_of(struct call *call, const struct exchange *exchange)
{
	if (exchange->backend->type != BACKEND_LIVEKIT)
		return NULL;
	return media_agents(call, &exchange->subject.template,
			    exchange->wish != NULL ? exchange->wish->agents : NULL);
}

static const json_t *config_of_backend(struct call *call, struct exchange *exchange)
{
	const struct backend *backend = exchange->backend;

	if (exchange->config == NULL)
		exchange->config = stored_json(call, backend->config, "backend", &backend->id);
	return exchange->config;
}

/* Returns true if nobody can join unless this service makes the room. */
static bool room_is_to_be_made(struct call *call, struct exchange *exchange)
{
	return exchange->backend != NULL && call->environment->live == LIVE_ON &&
	       !call->validates_only && !media_admits_nobody(role_document(call, exchange)) &&
	       server_makes_rooms(exchange->backend->type, config_of_backend(call, exchange));
}

/* Has the media server make the room, if it has to, and has not made it in the last `lasts`
 * milliseconds. Then exchange->is_waiting is set, and the call goes on when the room is there. */
static bool have_room_made(struct call *call, struct exchange *exchange, int64_t lasts,
			   struct fault *fault)
{
	struct made_room room = { .account = call->account, .room = exchange->subject.room.id };
	struct server_verdict verdict;
	struct asking *asking;
	struct server server;
	bool is_there;

	if (!room_is_to_be_made(call, exchange))
		return true;
	room.backend = exchange->backend->id;
	server = backend_server(call, exchange->backend);
	if (call->asking != NULL && id_compare(&call->asking->backend, &room.backend) == 0) {
		const struct asked *asked = &call->asking->asked[0];

		if (!asked_has_outcome(asked, fault))
			return false;
		server_read_made(call->arena, &server, call->now / 1000, &asked->outcome, &verdict);
		if (!asked_is_up(&verdict, fault))
			return false;
		made_rooms_note(call->environment->made_rooms, &room, call->asking->began);
		return true;
	}
	if (!made_room_is_there(call, &room, lasts, &is_there, fault))
		return false;
	if (is_there)
		return true;
	if (!call_can_ask(call, fault))
		return false;
	asking = call_ask(call, &room.backend, 1);
	asking->began = call->now;
	server_make_room(call->arena, &server, call->now / 1000,
			 id_as_text(call->arena, &room.room),
			 media_room_size(document_of_room(call, exchange)),
			 agents_of(call, exchange), &asking->asked[0].request);
	exchange->is_waiting = true;
	return true;
}

/* ---- the exchange ---- */

/* Bytes of an entry (accounts/token.h). */
#define ENTRY_SIZE 16

/* Returns 32 hex digits from 16 bytes. */
static struct slice entry_as_text(struct call *call, const unsigned char bytes[ENTRY_SIZE])
{
	char *text = arena_alloc(call->arena, 2 * ENTRY_SIZE);

	text_hex(bytes, ENTRY_SIZE, text);
	return (struct slice){ text, 2 * ENTRY_SIZE };
}

static struct slice new_entry(struct call *call)
{
	unsigned char bytes[ENTRY_SIZE];

	clock_random(call->environment->clock, bytes, sizeof bytes);
	return entry_as_text(call, bytes);
}

static void set_jti_of(struct call *call, struct exchange *exchange, struct slice use)
{
	unsigned char mac[DIGEST_SIZE];
	char text[UUID_TEXT_SIZE];

	digest_hmac_sha256((struct slice){ (const char *)exchange->media.code_key, DIGEST_SIZE },
			   use, mac);
	uuid_print(mac, text);
	exchange->jti = arena_copy(call->arena, slice_of(text));
	exchange->entry = entry_as_text(call, mac + UUID_SIZE);
}

/* Counts a use of the code. Sets a jti and an entry that are the same for all repeats of a counted
 * exchange, or of the exchange of a ticket, so that one exchange does not let in several people. */
static bool count_use(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct code *code = &exchange->code;
	struct code_terms *terms = &exchange->code.terms;
	char use[2 * ID_SIZE + 4 + 8];

	if (exchange->ticket != NULL)
		set_jti_of(call, exchange, exchange->ticket->name);
	if (!is_counted(exchange) || is_taken(exchange))
		return true;
	if (exchange->is_retry) {
		terms->last_repeats++;
	} else {
		terms->uses++;
		terms->last_use = exchange->time;
		terms->last_user = exchange->user_id;
		terms->last_repeats = 0;
	}
	if (exchange->ticket == NULL) {
		memcpy(use, code->room.bytes, ID_SIZE);
		memcpy(use + ID_SIZE, code->place.bytes, ID_SIZE);
		encode_32(use + 2 * ID_SIZE, terms->uses);
		encode_64(use + 2 * ID_SIZE + 4, (uint64_t)terms->last_use);
		set_jti_of(call, exchange, (struct slice){ use, sizeof use });
	}
	return code_put(call, &exchange->code, fault);
}

/* ---- the name ---- */

/* Returns what people see of the role: its title, or else its name. */
static struct slice shown_role(struct call *call, struct exchange *exchange)
{
	const struct slice title = text_shown_title(call->arena, role_document(call, exchange));

	return title.data == NULL ? exchange->role : title;
}

/* Returns the name of the code; data NULL if it has none. */
static struct slice name_of_code(struct call *call, const struct exchange *exchange)
{
	const struct code_terms *terms = &exchange->code.terms;

	return exchange->has_code && (terms->set & CODE_NAME) != 0
		       ? text_without_bidi(call->arena, terms->name)
		       : (struct slice){ NULL, 0 };
}

/* The smallest of the numbers for people without a name, and how many there are, where it is not
 * known who is inside: a person has always the same number. */
#define UNKNOWN_NUMBER_LEAST 1000
#define UNKNOWN_NUMBERS 9000

static struct slice name_without_index(struct call *call, const struct exchange *exchange,
				       const struct name_wish *wish)
{
	unsigned char digest[DIGEST_SIZE];
	uint32_t number;

	if (wish->origin != NAME_COUNTED)
		return wish->name;
	digest_sha256(exchange->answered_user, digest);
	number = decode_32(digest) % UNKNOWN_NUMBERS + UNKNOWN_NUMBER_LEAST;
	return text_name_numbered(call->arena, wish->name, false, number, SIZE_MAX);
}

/* Finds the name that the media server shows. A name that a code or the account gives stays as it
 * is. */
static bool find_shown_name(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct name_wish wish = {
		.room = &exchange->subject.room.id,
		.name = name_of_code(call, exchange),
		.origin = NAME_GIVEN,
		.entry = exchange->entry,
		.user_id = user_is_known(exchange) ? exchange->answered_user : SLICE(""),
	};

	if (exchange->backend == NULL || media_admits_nobody(role_document(call, exchange)))
		return true;
	if (text_is_blank(wish.name)) {
		wish.name = exchange->sent_name;
		wish.origin = exchange->has_code ? NAME_CHOSEN : NAME_GIVEN;
	}
	if (text_is_blank(wish.name)) {
		wish.name = shown_role(call, exchange);
		wish.origin = NAME_COUNTED;
	}
	exchange->name_origin = wish.origin;
	if (call->environment->live == LIVE_OFF ||
	    !server_can(exchange->backend->type, SERVER_LIST)) {
		exchange->shown_name = name_without_index(call, exchange, &wish);
		return true;
	}
	return names_find(call, &wish, &exchange->shown_name, fault);
}

static struct admission admission_of(struct call *call, struct exchange *exchange)
{
	const struct livekit_wish *wish = exchange->wish;

	return (struct admission){
		.config = config_of_backend(call, exchange),
		.room = &exchange->subject.room,
		.room_document = document_of_room(call, exchange),
		.template = &exchange->subject.template,
		.role = exchange->role,
		.role_document = role_document(call, exchange),
		.code = exchange->has_code ? &exchange->code : NULL,
		.code_hash = exchange->code_hash,
		.user_id = exchange->answered_user,
		.is_known = user_is_known(exchange),
		.name = exchange->shown_name,
		.name_origin = exchange->name_origin,
		.metadata = wish != NULL ? wish->metadata : SLICE(""),
		.attributes = wish != NULL ? wish->attributes : NULL,
		.agents = agents_of(call, exchange),
		.since = exchange->time / 1000,
		.expires = exchange->expires_at,
		.jti = exchange->jti,
		.entry = exchange->entry,
	};
}

/* Adds `join`, the access to the room on its media server. */
static bool add_join(struct call *call, struct exchange *exchange, struct json_writer *body,
		     struct fault *fault)
{
	const struct admission admission = admission_of(call, exchange);

	return media_join(call, &exchange->media, exchange->backend, &admission, body, fault);
}

static bool answer_exchange(struct call *call, struct exchange *exchange,
			    const struct account *account, struct fault *fault)
{
	char expires[TEXT_TIME_SIZE];
	struct token_join subject = {
		.room_id = id_as_text(call->arena, &exchange->subject.room.id),
		.role = exchange->role,
		.user_id = exchange->answered_user,
		.code_place = id_number(&exchange->code.place),
		.jti = exchange->jti,
		.entry = exchange->entry,
	};
	struct json_writer body = writer_begin(call->arena, false);

	exchange->code_hash = media_code_hash(call->arena, &exchange->media,
					      exchange->code.letters);
	if (exchange->wish != NULL) {
		const struct admission admission = admission_of(call, exchange);
		struct slice token;

		return media_livekit_token(call, &exchange->media, exchange->backend, &admission,
					   &token, fault) &&
		       livekit_answer(call, exchange->backend->url, token, &admission);
	}
	subject.code_hash = exchange->code_hash;
	text_time_seconds(exchange->expires_at * 1000, expires);
	if (exchange->ticket != NULL && !exchange->is_at_once)
		writer_plain(&body, "state", SLICE("admitted"));
	writer_plain(&body, "token",
		     token_sign_join(call->arena, call->environment->clock, account, &subject,
				     exchange->time, exchange->expires_at));
	writer_text(&body, "room_id", subject.room_id);
	writer_text(&body, "role", exchange->role);
	writer_text(&body, "user_id", exchange->answered_user);
	writer_text(&body, "expires_at", slice_of(expires));
	if (exchange->backend != NULL && !add_join(call, exchange, &body, fault))
		return false;
	return call_answer(call, writer_end(&body));
}

/* Whether people who come by the code wait until somebody lets them in. */
static bool asks_at_door(struct call *call, struct exchange *exchange, bool *asks,
			 struct fault *fault)
{
	const struct code_terms *terms = &exchange->code.terms;
	const struct template_record *template = &exchange->subject.template;
	struct live live;

	*asks = terms->admission == ADMISSION_ASK;
	if (!*asks && id_compare(&terms->asks_in, &kind_only_id) != 0) {
		if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault))
			return false;
		*asks = live.stored.value.data != NULL &&
			id_compare(&live.session, &terms->asks_in) == 0;
	}
	if (*asks || terms->admission == ADMISSION_OPEN)
		return true;
	*asks = template->roles[template_role_index(template, exchange->role)].asks;
	return true;
}

static bool exchange_code(struct call *call, struct exchange *exchange,
			  const struct account *account, struct fault *fault);

/* If a denial was taken back, exchanges the code at once, as the ticket that was denied. */
static bool knock_at_door(struct call *call, struct exchange *exchange,
			  const struct account *account, struct fault *fault)
{
	const struct slice name = name_of_code(call, exchange);
	const struct knock knock = {
		.room = &exchange->subject.room,
		.code = &exchange->code,
		.role = exchange->role,
		.user_id = exchange->user_id,
		.user_name = name.data != NULL ? name : exchange->sent_name,
		.browser = call_text(call, "browser"),
		.waits = json_is_true(call_member(call, "wait")),
	};
	struct door_ticket *ticket;
	struct door door;

	exchange->has_knocked = true;
	if (!door_knock(call, &knock, &door, &ticket, fault))
		return false;
	if (ticket == NULL)
		return true;
	exchange->has_knocked = false;
	exchange->is_at_once = true;
	exchange->ticket = ticket;
	exchange->sent_user = ticket->user_id;
	return exchange_code(call, exchange, account, fault) &&
	       (exchange->is_waiting ||
		door_take(call, &door, ticket, &exchange->subject.room, fault));
}

/* A counted exchange is a write. So is the first exchange of an account that has no media record
 * yet, because that contains the key for hashes of codes. All others only read. */
static bool exchange_code(struct call *call, struct exchange *exchange,
			  const struct account *account, struct fault *fault)
{
	bool asks = false;

	if (!admit_by_code(call, exchange, account, fault) || !check_wish(call, exchange, fault) ||
	    (exchange->ticket == NULL && !asks_at_door(call, exchange, &asks, fault)))
		return false;
	if (asks)
		return knock_at_door(call, exchange, account, fault);
	if (((is_counted(exchange) && !is_taken(exchange)) || !exchange->has_media) &&
	    !call_is_writing(call))
		return call_write_instead(call);
	if (!check_places(call, exchange, exchange->user_id, SLICE(""), fault) ||
	    !have_room_made(call, exchange, MADE_ROOMS_LAST, fault))
		return false;
	if (exchange->is_waiting)
		return true;
	if (!exchange->has_media && !media_load_lasting(call, &exchange->media, fault))
		return false;
	if (!count_use(call, exchange, fault))
		return false;
	/* The code was counted without a user_id if none was sent; one is generated only now. */
	exchange->answered_user = exchange->user_id.size > 0
					  ? exchange->user_id
					  : uuid_as_text(call->arena, call->environment->clock);
	if (exchange->backend == NULL)
		exchange->entry = (struct slice){ NULL, 0 };
	else if (exchange->entry.data == NULL)
		exchange->entry = new_entry(call);
	return find_shown_name(call, exchange, fault) &&
	       answer_exchange(call, exchange, account, fault);
}

/* Notes the exchange for the event log, if the account logs joins. */
static void note_join(struct call *call, const struct account *account,
		      const struct exchange *exchange, bool is_granted)
{
	struct joining *joining = arena_alloc(call->arena, sizeof *joining);
	const struct slice asked = exchange->sent_user;

	if (account == NULL || !account->is_enabled || !account->logs_joins ||
	    call->run.wants_write || exchange->is_waiting ||
	    (is_granted && (exchange->has_knocked || is_taken(exchange))) ||
	    (!is_granted && call->run.refusal == JOIN_NOT_REFUSED))
		return;
	*joining = (struct joining){
		.account = call->account,
		.room = exchange->subject.room.id,
		.room_name = exchange->subject.room.name,
		.role = exchange->role,
		.user_id = is_granted	    ? exchange->answered_user
			   : asked.size > 0 ? asked
					    : exchange->user_id,
		.code = exchange->code.letters,
		.request_id = slice_of(call->id),
		.refusal = is_granted ? JOIN_NOT_REFUSED : call->run.refusal,
		.time = call->now,
	};
	call->run.joining = joining;
}

/* text: the code as typed. */
static bool exchange_typed(struct call *call, struct slice text, struct exchange *exchange,
			   struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster;
	const struct account *account;
	bool is_done;

	if (!find_typed_code(call, text, exchange, fault) || !find_media(call, exchange, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_done = exchange_code(call, exchange, account, fault);
	note_join(call, account, exchange, is_done);
	accounts_release(accounts, roster);
	return is_done;
}

bool join(struct call *call, struct fault *fault)
{
	struct exchange exchange = {
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
	const struct livekit_wish wish = livekit_wish_of(call);
	struct exchange exchange = {
		.sent_user = call_text(call, "participant_identity"),
		.sent_name = call_text(call, "participant_name"),
		.wish = &wish,
	};

	return exchange_typed(call, call->parameters[0], &exchange, fault);
}

bool join_livekit_settle(struct call *call, struct fault *fault)
{
	return join_livekit(call, fault);
}

/* ---- tickets of people who wait ---- */

/* Finds the code by which the person came. Sets FAULT_FORBIDDEN if it was deleted, even if another
 * code has the same letters now. */
static bool find_code_of_ticket(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct door_ticket *ticket = exchange->ticket;
	struct id account;
	bool is_there;

	/* A code is only locked if its uses are counted, so that a crowd that came by it does not
	 * wait for each other. */
	if (!code_find(call, ticket->code, STORE_TO_SHOW, &exchange->code, &account, &is_there,
		       fault) ||
	    (is_there && is_counted(exchange) &&
	     !code_find(call, ticket->code, call_reading(call), &exchange->code, &account,
			&is_there, fault)))
		return false;
	if (!is_there || id_compare(&exchange->code.room, &ticket->room) != 0 ||
	    id_compare(&exchange->code.place, &ticket->code_place) != 0)
		return fault_set(fault, FAULT_FORBIDDEN, "Room code not found");
	exchange->has_code = true;
	if (!room_subject_of_code(call, &exchange->code, STORE_TO_SHOW, &exchange->subject,
				  &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_FORBIDDEN, "Room code not found");
}

/* Exchanges an admitted ticket, or only checks, while nothing is decided, that the room is neither
 * disabled nor closed for the person. */
static bool exchange_ticket(struct call *call, struct exchange *exchange, bool is_admitted,
			    struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	bool is_done;

	if (!find_code_of_ticket(call, exchange, fault) || !find_media(call, exchange, fault))
		is_done = false;
	else if (is_admitted)
		is_done = exchange_code(call, exchange, account, fault);
	else
		is_done = admit_by_code(call, exchange, account, fault);
	if (is_done && is_admitted)
		note_join(call, account, exchange, true);
	accounts_release(accounts, roster);
	return is_done;
}

static bool answer_ticket(struct call *call, struct door *door, struct door_ticket *ticket,
			  const struct room_record *room, struct fault *fault)
{
	struct exchange exchange = {
		.ticket = ticket,
		.sent_user = ticket->user_id,
		.sent_name = ticket->user_name,
	};
	const bool is_admitted = door_ticket_is_admitted(door, ticket);
	const bool was_taken = is_taken(&exchange);
	bool is_done;

	if (ticket->state == DOOR_DENIED)
		return door_answer_denied(call, ticket);
	if (!is_admitted && room->is_enabled && call->now / 1000 < room->closes_at)
		return door_answer_waiting(call, door);
	door_expect_exchange(call, ticket);
	is_done = exchange_ticket(call, &exchange, is_admitted, fault);
	if (!is_done && fault->kind == FAULT_FORBIDDEN) {
		const struct slice reason = arena_copy(call->arena, slice_of(fault->message));

		*fault = FAULT_INITIAL;
		call->run.refusal = JOIN_NOT_REFUSED;
		return call_is_writing(call) ? door_deny(call, door, ticket, room, reason, fault)
					     : call_write_instead(call);
	}
	if (!is_done || !is_admitted)
		return is_done && door_answer_waiting(call, door);
	return exchange.is_waiting || was_taken || call->run.wants_write ||
	       door_take(call, door, ticket, room, fault);
}

bool tickets_get(struct call *call, struct fault *fault)
{
	struct room_record room;
	struct door_ticket ticket;
	struct door door;
	bool is_there;

	call_header(call, "Cache-Control", SLICE("no-store"));
	if (!door_ticket_open(call, &ticket, &door, fault) ||
	    !room_find(call, &ticket.room, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	return is_there ? answer_ticket(call, &door, &ticket, &room, fault)
			: fault_set(fault, FAULT_NOT_FOUND, "ticket not found");
}

/* ---- what a code opens ---- */

/* Returns true if people who exchange the code have somewhere to go. The join page cannot open a
 * client_url that needs what the media server does not give. */
static bool leads_to_call(const struct exchange *exchange, const char *client_url)
{
	const struct backend *backend = exchange->backend;

	if (backend != NULL && backend_has_page(backend->type))
		return true;
	return client_url != NULL &&
	       strstr(client_url, backend != NULL ? "{join.link}" : "{join.") == NULL;
}

/* Returns the title of a document as a new value; NULL if it has none. */
static json_t *shown_title(struct call *call, const json_t *document)
{
	const struct slice title = text_shown_title(call->arena, document);

	return title.data == NULL ? NULL : json_of_text(title);
}

/* Returns the account's list of origins as a new value. */
static json_t *list_origins(const struct account *account)
{
	struct slice rest = slice_of(account->embed);
	json_t *origins = json_array();

	while (rest.data != NULL)
		array_put(origins, json_of_text(text_split(rest, ',', &rest)));
	return origins;
}

static bool answer_opened(struct call *call, struct exchange *exchange,
			  const struct account *account, bool asks, struct fault *fault)
{
	const char *client_url = public_url_client(call, account);
	const struct room_record *room = &exchange->subject.room;
	const struct code_terms *terms = &exchange->code.terms;
	const json_t *room_shown = room_document(call, room);
	const json_t *role_shown = role_document(call, exchange);
	json_t *body = arena_json(call->arena,
				  json_pack("{s:o, s:{s:o, s:O?, s:o*}, s:{s:o, s:o*, s:O?}, s:s?}",
					    "code", json_of_text(exchange->code.letters), "room",
					    "name", json_of_text(room->name), "description",
					    json_object_get(room_shown, "description"), "title",
					    shown_title(call, room_shown), "role", "name",
					    json_of_text(exchange->role), "title",
					    shown_title(call, role_shown), "publishParams",
					    json_object_get(role_shown, "publishParams"),
					    "client_url", client_url));

	if (!leads_to_call(exchange, client_url))
		object_put(body, "call", json_string("none"));
	else if (client_url == NULL && exchange->backend->type == BACKEND_LIVEKIT)
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
		object_put(body, "name", json_of_text(name_of_code(call, exchange)));
	if (asks)
		object_put(body, "admission", json_string("ask"));
	if (account->embed[0] != '\0')
		object_put(body, "embed", list_origins(account));
	return live_answer_opened(call, &room->id, &exchange->subject.template, role_shown,
				  exchange->backend, json_as_text(call->arena, body), fault);
}

bool join_look(struct call *call, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	struct exchange exchange = { .has_code = false };
	const struct roster *roster;
	const struct account *account;
	bool is_done, asks;

	if (!find_typed_code(call, call->parameters[0], &exchange, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	/* Bans are found by the account's media, and hold only for exchanges. */
	is_done = admit_by_code(call, &exchange, account, fault) &&
		  find_media(call, &exchange, fault) &&
		  asks_at_door(call, &exchange, &asks, fault) &&
		  answer_opened(call, &exchange, account, asks, fault);
	accounts_release(accounts, roster);
	/* Only rejected exchanges are counted. */
	call->run.refusal = JOIN_NOT_REFUSED;
	return is_done;
}

/* ---- with a join token ---- */

/* Finds the code at the place that the join token names, unless it is deleted. */
static bool find_bearer_code(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	struct code_page page = { .after = token->code_place - 1, .most = 1 };
	const struct code *code = &exchange->code;

	if (token->code_place == 0 || !exchange->has_media)
		return true;
	if (!codes_page(call, &exchange->subject.room.id, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	exchange->code = page.codes[0];
	/* A custom code that was deleted and created again is another code, at another place. */
	exchange->has_code =
		id_number(&code->place) == token->code_place &&
		slice_equal(media_code_hash(call->arena, &exchange->media, code->letters),
			    token->code_hash);
	return true;
}

static bool find_bearer(struct call *call, struct exchange *exchange, struct shown_code *shown,
			struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &exchange->subject.template;
	size_t role;

	if (!room_load_by_id(call, token->room_id, STORE_TO_SHOW, &exchange->subject.room, fault) ||
	    !room_subject_load(call, STORE_TO_SHOW, &exchange->subject, fault) ||
	    !find_media(call, exchange, fault))
		return false;
	if (token->code_hash.data != NULL && !find_bearer_code(call, exchange, fault))
		return false;
	if (exchange->has_code &&
	    !code_show(call, &exchange->subject.codes, &exchange->code, template, shown, fault))
		return false;
	/* If the token names a code that has a role, the bearer has that role, under its current
	 * name; otherwise the role with the name in the token. */
	role = template_role_index_ever(template, shown->has_role ? shown->role : token->role);
	if (role == template->role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "Role not found");
	exchange->role = template->roles[role].name;
	return true;
}

/* Checks that the code can still be exchanged for this token. Ignores not_before and the number of
 * uses, because the token was issued for one use. */
static bool check_code(struct call *call, const struct exchange *exchange,
		       const struct shown_code *shown, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct code_terms *terms = &exchange->code.terms;

	if (token->code_hash.data == NULL)
		return true;
	if (!exchange->has_code)
		return refuse_join(call, JOIN_DISABLED, "Room code not found", fault);
	if (!shown->has_role)
		return refuse_join(call, JOIN_ROLE_DELETED,
				   "The role of this code has been deleted", fault);
	if (!shown->is_enabled)
		return refuse_join(call, JOIN_DISABLED, "Room code is disabled", fault);
	if ((terms->set & CODE_EXPIRES_AT) != 0 && call->now / 1000 >= terms->expires_at)
		return refuse_at(call, JOIN_EXPIRED, "Room code has expired", "expires_at",
				 terms->expires_at, fault);
	return (terms->set & CODE_USER_ID) == 0 || slice_equal(terms->user_id, token->user_id) ||
	       refuse_join(call, JOIN_OTHER_USER, "Room code is for another user", fault);
}

bool token_first_page(struct call *call, struct store_page *page)
{
	const uint64_t place = call->app_token->subject.code_place;
	struct id *before = arena_alloc(call->arena, sizeof *before);

	*before = id_lowest(0, place - 1);
	page->above = place > 1 ? before : NULL; /* as in codes_page */
	return place > 0;
}

/* Refuses somebody who was put out of the room. */
static bool check_revocation(struct call *call, struct fault *fault)
{
	struct revocation revocation;
	bool is_revoked;

	if (!revocation_find(call, call->app_token->subject.entry, &revocation, &is_revoked, fault))
		return false;
	if (!is_revoked)
		return true;
	fault_set(fault, FAULT_FORBIDDEN, "Removed from this room");
	if (revocation.reason.size > 0)
		fault_add_detail(fault, call->arena,
				 arena_text(call->arena, "reason: %.*s",
					    (int)revocation.reason.size, revocation.reason.data));
	return false;
}

/* Replaces the role by the one that a call gave to the person in the present session. */
static bool take_given_role(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct token_join *token = &call->app_token->subject;
	const struct template_record *template = &exchange->subject.template;
	struct slice role;
	struct live live;
	size_t place;

	if (exchange->backend == NULL)
		return true;
	if (!live_load(call, &exchange->subject.room.id, STORE_TO_SHOW, &live, fault) ||
	    !given_role_find(call, &live, token->entry,
			     user_is_known(exchange) ? token->user_id : SLICE(""), &role, fault))
		return false;
	if (role.data == NULL)
		return true;
	place = template_role_index_ever(template, role);
	if (place < template->role_count) {
		exchange->role = template->roles[place].name;
		exchange->role_document = NULL;
	}
	return true;
}

/* Checks that the holder of the join token may be in its room now. */
static bool admit_by_token(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct shown_code shown = { .has_role = false };

	if (!find_bearer(call, exchange, &shown, fault))
		return false;
	if (!exchange->subject.room.is_enabled)
		return refuse_join(call, JOIN_ROOM_DISABLED, "Room is disabled", fault);
	exchange->time = call->now;
	return check_opening_times(call, exchange, fault) &&
	       check_code(call, exchange, &shown, fault) &&
	       check_bans(call, exchange, call->app_token->subject.user_id,
			  call->app_token->subject.code_hash, fault) &&
	       check_revocation(call, fault);
}

bool token_check(struct call *call, struct bearer *bearer, struct fault *fault)
{
	struct exchange exchange = { .has_code = false };

	if (!admit_by_token(call, &exchange, fault))
		return false;
	*bearer = (struct bearer){
		.room = exchange.subject.room,
		.template = exchange.subject.template,
		.has_backend = exchange.backend != NULL,
		.name_is_fixed = exchange.has_code && (exchange.code.terms.set & CODE_NAME) != 0,
	};
	if (bearer->has_backend)
		bearer->backend = exchange.backend->id;
	return true;
}

bool token_join(struct call *call, struct fault *fault)
{
	struct exchange exchange = { .sent_name = call_text(call, "name") };
	struct json_writer body = writer_begin(call->arena, false);

	if (!admit_by_token(call, &exchange, fault) || !take_given_role(call, &exchange, fault))
		return false;
	if (media_admits_nobody(role_document(call, &exchange)))
		return fault_set(fault, FAULT_FORBIDDEN, "Role admits nobody");
	if (!check_places(call, &exchange, call->app_token->subject.user_id,
			  call->app_token->subject.entry, fault))
		return false;
	if (exchange.backend == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "No backend");
	if (!have_room_made(call, &exchange, MADE_ROOMS_LAST_BRIEFLY, fault))
		return false;
	if (exchange.is_waiting)
		return true;
	exchange.answered_user = call->app_token->subject.user_id;
	exchange.expires_at = call->app_token->expires_at;
	exchange.entry = call->app_token->subject.entry;
	exchange.code_hash = call->app_token->subject.code_hash;
	if (exchange.entry.size < 2 * ENTRY_SIZE)
		exchange.entry = new_entry(call);
	if (!find_shown_name(call, &exchange, fault) || !add_join(call, &exchange, &body, fault))
		return false;
	misses_note_joined(call);
	return call_answer(call, writer_end(&body));
}

bool token_join_settle(struct call *call, struct fault *fault)
{
	return token_join(call, fault);
}
