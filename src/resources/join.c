/* See resources/join.h. No account is named by the request: it is the code's. Unknown and malformed
 * codes answer alike and count as misses (resources/misses.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/join.h"

#include "base/text.h"
#include "accounts/accounts.h"
#include "resources/misses.h"
#include "accounts/token.h"
#include "resources/code_life.h"
#include "resources/room_record.h"
#include "rules/room_code_rules.h"

/* An empty text when it was not supplied. */
static struct slice member_text(const struct call *call, const char *name)
{
	const struct slice text = text_of_json(call_member(call, name));

	return text.data == NULL ? SLICE("") : text;
}

/* The code as it may have been typed: with white space around it, and in capitals. */
static struct slice typed_code(const struct call *call)
{
	return text_lower(call->arena, text_trim(member_text(call, "code"), " \t\n\v\f\r"));
}

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

static bool miss(const struct call *call, struct fault *fault)
{
	unsigned seconds = misses_count(call->environment->misses, call->request.address,
					clock_monotonic());

	if (seconds > 0)
		return refuse_for(seconds, fault);
	return fault_set(fault, FAULT_NOT_FOUND, "room code not found");
}

/* The room and the role of a code that can be used; sets call->account. */
static bool resolve(struct call *call, struct room_record *room, struct slice *role,
		    struct fault *fault)
{
	struct room_subject subject;
	struct shown_code shown;
	struct code code;
	bool is_there;

	code_expect(call, typed_code(call));
	if (!code_find(call, typed_code(call), STORE_TO_SHOW, &code, &call->account, &is_there,
		       fault))
		return false;
	if (!is_there)
		return miss(call, fault);
	call_of_account(call);
	if (!room_subject_of_code(call, &code, STORE_TO_SHOW, &subject, &is_there, fault))
		return false;
	if (!is_there)
		return miss(call, fault);
	if (!code_show(call, &subject.codes, &code, &subject.owner, &shown, fault))
		return false;
	*room = subject.room;
	if (!room->is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
	if (!shown.has_role)
		return fault_set(fault, FAULT_FORBIDDEN, "the role of this code was deleted");
	if (!shown.is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "room code is disabled");
	*role = shown.role;
	return true;
}

/* The user's own name for itself, or one made up. */
static struct slice user_id(const struct call *call)
{
	struct slice supplied = member_text(call, "user_id");
	char generated[UUID_TEXT_SIZE];

	if (supplied.size > 0)
		return supplied;
	uuid_make(call->environment->clock, generated);
	return arena_copy(call->arena, slice_of(generated));
}

static bool sign(struct call *call, const struct token_join *subject, struct slice *token,
		 int64_t *expires_at, struct fault *fault)
{
	const struct environment *environment = call->environment;
	const struct roster *roster = accounts_current(environment->accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	bool is_known = account != NULL;
	bool is_enabled = is_known && account->is_enabled;

	if (is_enabled)
		*token = token_sign_join(call->arena, environment->clock, account, subject,
					 call->now, environment->join_seconds, expires_at);
	accounts_release(environment->accounts, roster);
	/* An interrupted load can have left records of an unknown account. */
	if (!is_known)
		return fault_set(fault, FAULT_NOT_FOUND, "room code not found");
	return is_enabled || fault_set(fault, FAULT_FORBIDDEN, "account is disabled");
}

bool join(struct call *call, struct fault *fault)
{
	struct room_record room;
	struct token_join subject;
	struct slice token;
	int64_t expires_at;
	char room_id[ID_TEXT_SIZE + 1], expires[TEXT_TIME_SIZE];
	struct buffer text = BUFFER_INITIAL(call->arena);

	if (!resolve(call, &room, &subject.role, fault))
		return false;
	id_print(&room.id, room_id);
	subject.room_id = slice_of(room_id);
	subject.user_id = user_id(call);
	if (!sign(call, &subject, &token, &expires_at, fault))
		return false;
	text_time_seconds(expires_at, expires);
	buffer_append_json(
		&text,
		arena_json(call->arena,
			   json_pack("{s:s%, s:s, s:s%, s:s%, s:s}", "token", token.data,
				     token.size, "room_id", room_id, "role", subject.role.data,
				     subject.role.size, "user_id", subject.user_id.data,
				     subject.user_id.size, "expires_at", expires)));
	return call_answer(call, buffer_slice(&text));
}
