/* See resources/entry_rules/entry_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/entry_rules/entry_rules.h"

#include "base/text.h"
#include "resources/entry_rules/entry_facts.h"
#include "resources/media/media_join.h"
#include "resources/misses.h"

/* ---- what the rules ask ---- */

static int64_t seconds_now(const struct entrant *entrant)
{
	return entrant->call->now / 1000;
}

static bool code_has(const struct entrant *entrant, enum code_term term)
{
	return entrant->code != NULL && (entrant->code->terms.set & term) != 0;
}

static bool code_is_unknown(struct entrant *entrant)
{
	return entrant->names_code && entrant->code == NULL;
}

static bool account_is_unknown(struct entrant *entrant)
{
	return entrant->account == NULL;
}

static bool room_is_deleted(struct entrant *entrant)
{
	return entrant->room == NULL;
}

static bool room_is_disabled(struct entrant *entrant)
{
	return !entrant->room->is_enabled;
}

static bool role_is_deleted(struct entrant *entrant)
{
	return entrant->has_no_role;
}

static bool code_is_disabled(struct entrant *entrant)
{
	return entrant->code != NULL && !entrant->code_is_enabled;
}

static bool account_is_disabled(struct entrant *entrant)
{
	return !entrant->account->is_enabled;
}

static bool code_has_expired(struct entrant *entrant)
{
	return code_has(entrant, CODE_EXPIRES_AT) &&
	       seconds_now(entrant) >= entrant->code->terms.expires_at;
}

static int64_t code_expires(struct entrant *entrant)
{
	return entrant->code->terms.expires_at * 1000;
}

static bool code_is_used_up(struct entrant *entrant)
{
	return code_has(entrant, CODE_MAX_USES) && !entrant->is_repeated &&
	       entrant->code->terms.uses >= entrant->code->terms.max_uses;
}

static bool code_is_not_yet_valid(struct entrant *entrant)
{
	return code_has(entrant, CODE_NOT_BEFORE) &&
	       seconds_now(entrant) < entrant->code->terms.not_before;
}

static int64_t code_begins(struct entrant *entrant)
{
	return entrant->code->terms.not_before * 1000;
}

static bool room_is_not_open(struct entrant *entrant)
{
	return seconds_now(entrant) < entrant->room->opens_at;
}

static int64_t room_opens(struct entrant *entrant)
{
	return entrant->room->opens_at * 1000;
}

static bool room_is_closed(struct entrant *entrant)
{
	return seconds_now(entrant) >= entrant->room->closes_at;
}

static int64_t room_closes(struct entrant *entrant)
{
	const int64_t closes = entrant->room->closes_at;

	return closes == INT64_MAX ? INT64_MAX : closes * 1000;
}

static bool session_is_too_long(struct entrant *entrant)
{
	return entrant->call->now >= entrant_longest_end(entrant);
}

static bool code_is_for_another(struct entrant *entrant)
{
	return code_has(entrant, CODE_USER_ID) && entrant->claimed_user.data != NULL &&
	       !slice_equal(entrant->claimed_user, entrant->code->terms.user_id);
}

static bool lacks_consent(struct entrant *entrant)
{
	return entrant->template->rules.consent == CONSENT_REQUIRED && !entrant->consents;
}

static bool was_denied(struct entrant *entrant)
{
	return entrant->is_denied;
}

static bool does_not_wait(struct entrant *entrant)
{
	return entrant->asks && !entrant->is_patient;
}

static bool role_admits_nobody(struct entrant *entrant)
{
	return media_admits_nobody(entrant_role(entrant));
}

static bool role_is_full(struct entrant *entrant)
{
	int64_t most;

	if (entrant->moment != ENTRY_ROLE)
		return entrant_fit(entrant) == LIVE_ROLE_IS_FULL;
	most = media_most_peers(entrant_role(entrant));
	return most > 0 && live_peers_with(entrant->live, entrant->role) >= (uint64_t)most;
}

static bool room_is_full(struct entrant *entrant)
{
	return entrant_fit(entrant) == LIVE_ROOM_IS_FULL;
}

static struct slice removal_reason(struct entrant *entrant)
{
	return entrant->removal;
}

static struct slice denial_reason(struct entrant *entrant)
{
	return entrant->denial;
}

/* ---- the rules ---- */

static const char code_not_found[] = "Room code not found";

#define AT_MOMENT(moment) (1u << ENTRY_##moment)
#define REFUSAL(kind, text, label) .status = FAULT_##kind, .message = (text), .refusal = (label)
#define AT_TIME(name, function) .time_name = (name), .time = (function)

/* clang-format off */
const struct entry_rule entry_rules[ENTRY_RULES] = {
	[ENTRY_CODE_UNKNOWN] = {
		code_is_unknown, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, code_not_found, JOIN_DISABLED),
		.misses = AT_MOMENT(EXCHANGE) | AT_MOMENT(LIVEKIT) | AT_MOMENT(DESCRIBE) |
			  AT_MOMENT(RECORDINGS),
	},
	/* A load that is running, or was interrupted, has records of an account that does not
	 * exist. */
	[ENTRY_ACCOUNT_UNKNOWN] = {
		account_is_unknown, ENTRY_OF_PERSON,
		REFUSAL(NOT_FOUND, code_not_found, JOIN_NOT_REFUSED),
		.misses = AT_MOMENT(EXCHANGE) | AT_MOMENT(LIVEKIT) | AT_MOMENT(DESCRIBE) |
			  AT_MOMENT(WAITING) | AT_MOMENT(ADMITTED) | AT_MOMENT(RECORDINGS),
	},
	[ENTRY_ROOM_DELETED] = {
		room_is_deleted, ENTRY_OF_ROOM,
		.cause = LEAVE_ENDED, .word = "ended", .logged = "deleted",
	},
	[ENTRY_ROOM_DISABLED] = {
		room_is_disabled, ENTRY_OF_ROOM,
		REFUSAL(FORBIDDEN, "Room is disabled", JOIN_ROOM_DISABLED),
		.cause = LEAVE_ENDED, .word = "disabled", .logged = "disabled",
	},
	[ENTRY_ROLE_DELETED] = {
		role_is_deleted, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "The role of this code has been deleted", JOIN_ROLE_DELETED),
		.cause = LEAVE_NOT_ADMITTED,
	},
	[ENTRY_CODE_DISABLED] = {
		code_is_disabled, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Room code is disabled", JOIN_DISABLED),
	},
	[ENTRY_ACCOUNT_DISABLED] = {
		account_is_disabled, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Account is disabled", JOIN_ACCOUNT_DISABLED),
	},
	[ENTRY_CODE_EXPIRED] = {
		code_has_expired, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Room code has expired", JOIN_EXPIRED),
		AT_TIME("expires_at", code_expires),
	},
	[ENTRY_CODE_USED_UP] = {
		code_is_used_up, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Room code was used up", JOIN_USED_UP),
	},
	[ENTRY_CODE_NOT_YET_VALID] = {
		code_is_not_yet_valid, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Room code is not valid yet", JOIN_NOT_YET_VALID),
		AT_TIME("not_before", code_begins),
	},
	[ENTRY_BANNED] = {
		entrant_is_banned, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Banned from this room", JOIN_BANNED),
		.cause = LEAVE_BANNED,
	},
	[ENTRY_REMOVED] = {
		entrant_was_removed, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Removed from this room", JOIN_NOT_REFUSED),
		.reason = removal_reason,
		.cause = LEAVE_REMOVED,
	},
	[ENTRY_ROOM_NOT_OPEN] = {
		room_is_not_open, ENTRY_OF_ROOM, .spares = "joinOutsideWindow",
		REFUSAL(FORBIDDEN, "Room is not open yet", JOIN_NOT_OPEN),
		AT_TIME("opens_at", room_opens),
		.cause = LEAVE_ENDED, .word = "closed", .logged = "closed",
	},
	[ENTRY_ROOM_CLOSED] = {
		room_is_closed, ENTRY_OF_ROOM, .spares = "joinOutsideWindow",
		REFUSAL(FORBIDDEN, "Room is closed", JOIN_CLOSED),
		AT_TIME("closes_at", room_closes), .begins = true, .caps_tokens = true,
		.cause = LEAVE_ENDED, .word = "closed", .logged = "closed",
	},
	[ENTRY_SESSION_TOO_LONG] = {
		session_is_too_long, ENTRY_OF_ROOM,
		.time = entrant_longest_end, .begins = true,
		.cause = LEAVE_ENDED, .word = "duration", .logged = "maximum duration",
	},
	[ENTRY_OTHER_USER] = {
		code_is_for_another, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Room code is for another user", JOIN_OTHER_USER),
	},
	[ENTRY_NEEDS_CONSENT] = {
		lacks_consent, ENTRY_OF_PERSON,
		REFUSAL(FORBIDDEN, "Consent to recording is needed", JOIN_CONSENT),
	},
	/* Somebody inside was found to be locked out when they came in. */
	[ENTRY_ROOM_LOCKED] = {
		entrant_is_locked_out, ENTRY_OF_LOCK, .spares = "removeOthers",
		REFUSAL(FORBIDDEN, "Room is locked", JOIN_ROOM_LOCKED),
		.cause = LEAVE_NOT_ADMITTED,
	},
	[ENTRY_DENIED] = {
		was_denied, ENTRY_OF_DOOR,
		REFUSAL(FORBIDDEN, "Not admitted", JOIN_NOT_ADMITTED),
		.reason = denial_reason,
	},
	[ENTRY_NEEDS_ADMISSION] = {
		does_not_wait, ENTRY_OF_DOOR,
		REFUSAL(FORBIDDEN, "Admission is needed", JOIN_NEEDS_ADMISSION),
	},
	[ENTRY_ROLE_ADMITS_NOBODY] = {
		role_admits_nobody, ENTRY_OF_ROLE,
		REFUSAL(FORBIDDEN, "Role admits nobody", JOIN_NOT_REFUSED),
		.cause = LEAVE_NOT_ADMITTED,
	},
	[ENTRY_ROLE_FULL] = {
		role_is_full, ENTRY_OF_PLACE,
		REFUSAL(FORBIDDEN, "Role is full", JOIN_ROLE_FULL),
		.cause = LEAVE_FULL, .is_of_role = true,
	},
	[ENTRY_ROOM_FULL] = {
		room_is_full, ENTRY_OF_PLACE,
		REFUSAL(FORBIDDEN, "Room is full", JOIN_ROOM_FULL),
		.cause = LEAVE_FULL,
	},
};

#define RULE(name) &entry_rules[ENTRY_##name]

/* What a code is asked for, up to the person; where a rule has no cost, it stands before those that
 * read. */
#define OF_CODE \
	RULE(CODE_UNKNOWN), RULE(ACCOUNT_UNKNOWN), RULE(ROOM_DISABLED), RULE(ROLE_DELETED), \
	RULE(CODE_DISABLED), RULE(ACCOUNT_DISABLED), RULE(CODE_EXPIRED), RULE(CODE_USED_UP), \
	RULE(CODE_NOT_YET_VALID)
#define OF_TOKEN \
	RULE(ROOM_DISABLED), RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED), RULE(CODE_UNKNOWN), \
	RULE(ROLE_DELETED), RULE(CODE_DISABLED), RULE(CODE_EXPIRED), RULE(OTHER_USER), \
	RULE(BANNED), RULE(REMOVED)

/* The rules that are asked at each moment, in this order. */
static const struct entry_rule *const orders[ENTRY_MOMENTS][ENTRY_RULES + 1] = {
	[ENTRY_EXCHANGE] = {
		OF_CODE, RULE(BANNED), RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED), RULE(OTHER_USER),
		RULE(NEEDS_CONSENT), RULE(ROOM_LOCKED), RULE(DENIED), RULE(NEEDS_ADMISSION), RULE(ROLE_FULL), RULE(ROOM_FULL),
	},
	[ENTRY_LIVEKIT] = {
		OF_CODE, RULE(BANNED), RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED), RULE(OTHER_USER),
		RULE(NEEDS_CONSENT), RULE(ROLE_ADMITS_NOBODY), RULE(ROOM_LOCKED), RULE(DENIED), RULE(NEEDS_ADMISSION),
		RULE(ROLE_FULL), RULE(ROOM_FULL),
	},
	[ENTRY_DESCRIBE] = {
		OF_CODE, RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED),
	},
	/* Whoever waits for a room that is not open yet goes on waiting. */
	[ENTRY_WAITING] = {
		OF_CODE, RULE(BANNED), RULE(ROOM_CLOSED), RULE(OTHER_USER),
	},
	[ENTRY_ADMITTED] = {
		OF_CODE, RULE(BANNED), RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED), RULE(OTHER_USER),
		RULE(ROLE_FULL), RULE(ROOM_FULL),
	},
	[ENTRY_TOKEN] = {
		OF_TOKEN, RULE(ROOM_LOCKED), RULE(ROLE_ADMITS_NOBODY), RULE(ROLE_FULL), RULE(ROOM_FULL),
	},
	[ENTRY_CALLER] = { OF_TOKEN },
	[ENTRY_NEW_INSIDE] = { RULE(BANNED), RULE(REMOVED), RULE(ROOM_LOCKED) },
	[ENTRY_INSIDE] = {
		RULE(ROOM_DELETED), RULE(ROOM_DISABLED), RULE(SESSION_TOO_LONG), RULE(REMOVED),
		RULE(BANNED), RULE(ROOM_LOCKED), RULE(ROLE_DELETED), RULE(ROLE_ADMITS_NOBODY),
		RULE(ROOM_NOT_OPEN), RULE(ROOM_CLOSED), RULE(ROLE_FULL), RULE(ROOM_FULL),
	},
	[ENTRY_ROLE] = { RULE(ROLE_ADMITS_NOBODY), RULE(ROLE_FULL) },
	/* Whenever the room is open, and however often the code was used. */
	[ENTRY_RECORDINGS] = {
		RULE(CODE_UNKNOWN), RULE(ACCOUNT_UNKNOWN), RULE(ROOM_DISABLED), RULE(ROLE_DELETED),
		RULE(CODE_DISABLED), RULE(ACCOUNT_DISABLED), RULE(CODE_EXPIRED), RULE(BANNED),
	},
};
/* clang-format on */

/* Moments at which the metric does not count refusals. */
#define UNCOUNTED (AT_MOMENT(DESCRIBE) | AT_MOMENT(ROLE) | AT_MOMENT(RECORDINGS))

enum entry_rule_name entry_rule_at(enum entry_moment moment, size_t rank)
{
	const struct entry_rule *rule = orders[moment][rank];

	return rule == NULL ? ENTRY_NO_RULE : (enum entry_rule_name)(rule - entry_rules);
}

/* ---- asking ---- */

static bool spares(struct entrant *entrant, const struct entry_rule *rule)
{
	return rule->spares != NULL && entrant_may(entrant, rule->spares);
}

static bool is_about_room(const struct entrant *entrant)
{
	return entrant->moment == ENTRY_INSIDE && entrant->peer == NULL;
}

/* Notes when a rule that holds now will be broken. */
static void note_time(struct entrant *entrant, const struct entry_rule *rule)
{
	const bool is_room = is_about_room(entrant);
	int64_t time;

	if (!(is_room ? !entrant->spares_some : rule->caps_tokens))
		return;
	time = rule->time(entrant);
	if (time < entrant->until && (is_room || !spares(entrant, rule)))
		entrant->until = time;
}

bool entry_find(struct entrant *entrant, unsigned scopes, const struct entry_rule **broken,
		struct fault *fault)
{
	const struct entry_rule *const *order = orders[entrant->moment];

	*broken = NULL;
	entrant->fault = fault;
	for (size_t i = 0; order[i] != NULL; i++) {
		const struct entry_rule *rule = order[i];
		bool is_broken;

		if ((rule->scope & scopes) == 0)
			continue;
		is_broken = rule->is_broken(entrant);
		if (fault->kind != FAULT_NONE)
			return false;
		if (!is_broken) {
			if (rule->begins)
				note_time(entrant, rule);
		} else if (!spares(entrant, rule)) {
			*broken = rule;
			return true;
		} else {
			entrant->spares_some = entrant->spares_some || is_about_room(entrant);
		}
	}
	return true;
}

/* ---- refusing ---- */

static bool refuse_with(struct entrant *entrant, const struct entry_rule *rule, struct fault *fault)
{
	struct call *call = entrant->call;
	char time[TEXT_TIME_SIZE];

	if ((rule->misses & 1u << entrant->moment) != 0)
		return misses_count_code(call, fault) &&
		       fault_set(fault, FAULT_NOT_FOUND, "%s", rule->message);
	if ((UNCOUNTED & 1u << entrant->moment) == 0)
		call->run.refusal = rule->refusal;
	if (rule->time != NULL) {
		text_time_seconds(rule->time(entrant), time);
		return fault_explain(fault, rule->status, rule->message, "%s: %s", rule->time_name,
				     time);
	}
	fault_set(fault, rule->status, "%s", rule->message);
	if (rule->reason != NULL) {
		const struct slice reason = rule->reason(entrant);

		if (reason.size > 0)
			fault_add_detail(fault, call->arena,
					 arena_text(call->arena, "reason: %.*s", (int)reason.size,
						    reason.data));
	}
	return false;
}

bool entry_check(struct entrant *entrant, unsigned scopes, struct fault *fault)
{
	const struct entry_rule *broken;

	return entry_find(entrant, scopes, &broken, fault) &&
	       (broken == NULL || refuse_with(entrant, broken, fault));
}

bool entry_refuse(struct entrant *entrant, enum entry_rule_name name, struct fault *fault)
{
	return refuse_with(entrant, &entry_rules[name], fault);
}
