/* See service/auth.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/auth.h"

#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/scopes.h"
#include "accounts/token.h"
#include "resources/stored/key_record.h"
#include "resources/route.h"
#include "service/session.h"

_Static_assert(ACTOR_ID_MOST == TOKEN_ID_MOST, "the jti of a token is the id of its actor");

/* Takes the text after `Bearer` (in upper or lower case) and one or more spaces. */
static bool take_token(struct slice header, struct slice *token)
{
	const struct slice scheme = SLICE("bearer ");

	if (header.size < scheme.size ||
	    !text_equal_ignoring_case((struct slice){ header.data, scheme.size }, scheme))
		return false;
	header.data += scheme.size;
	header.size -= scheme.size;
	while (header.size > 0 && header.data[0] == ' ') {
		header.data++;
		header.size--;
	}
	*token = header;
	return true;
}

static void take_account(struct call *call, const struct account *account)
{
	call->actor.is_operator = account->is_operator;
	call->account = account->id;
	memcpy(call->account_text, account->id_text, sizeof call->account_text);
}

/* ---- keys ---- */

static bool refuse_key(struct fault *fault)
{
	return fault_detail(fault, FAULT_UNAUTHORIZED, "invalid key");
}

/* Reads a key in a transaction of its own, because the key determines whose records the call may
 * see. If the accounts are in the store, the read also fetches their generation. */
static bool find_key(struct call *call, struct slice id, struct api_key *key, bool *is_there,
		     struct fault *fault)
{
	struct store *store = call->environment->store;
	struct transaction *transaction;
	bool is_read;

	if (!store_begin(store, STORE_READ, call->arena, &transaction, fault))
		return false;
	if (store_has_roster(store))
		store_set_roster(transaction, STORE_ROSTER_ANY);
	is_read = api_key_find(transaction, id, STORE_TO_SHOW, key, is_there, fault);
	store_abandon(transaction);
	return is_read;
}

static bool key_is_valid(const struct api_key *key, int64_t now)
{
	return key->expires_at == 0 || now / 1000 < key->expires_at;
}

static void limit_to_key(struct actor *actor, const struct api_key *key)
{
	actor->given = key->scopes;
	actor->scopes = scopes_with_included(key->scopes);
	actor->is_limited = true;
	actor->gives_until = key->expires_at;
}

/* ---- tokens ---- */

/* What a bearer token or cookie is verified as. */
enum credential { MANAGEMENT, SESSION, APP };

static bool verify_token(struct call *call, const struct roster *roster, struct slice token,
			 enum credential credential, struct fault *fault)
{
	const int64_t now = clock_now(call->environment->clock);
	const bool is_session = credential == SESSION;
	struct token_claims claims;
	struct actor *actor = &call->actor;
	struct slice code;

	if (credential == APP) {
		call->app_token = arena_zero(call->arena, sizeof *call->app_token);
		if (!token_verify_app(roster, call->arena, token, now, call->app_token, fault))
			return false;
		actor->kind = ACTOR_CODE;
		code = text_cut(call->app_token->subject.code_hash, ACTOR_ID_MOST);
		if (code.size > 0)
			memcpy(actor->id, code.data, code.size);
		take_account(call, call->app_token->account);
		return true;
	}
	if (!token_verify(call->environment->tokens, roster, call->arena, token,
			  is_session ? TOKEN_SESSION : TOKEN_MANAGEMENT, now, &claims, fault))
		return false;
	actor->kind = is_session ? ACTOR_SESSION : ACTOR_TOKEN;
	memcpy(actor->id, claims.id, sizeof actor->id);
	actor->given = claims.scopes;
	actor->scopes = claims.is_limited ? scopes_with_included(claims.scopes) : claims.scopes;
	actor->is_limited = claims.is_limited;
	actor->expires_at = claims.expires_at;
	actor->gives_until = claims.gives_until;
	take_account(call, claims.account);
	return true;
}

static bool check_token(struct call *call, struct slice token, enum credential credential,
			struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	/* Such a call has no transaction, which would notice that another machine has changed the
	 * accounts. */
	const bool looks_first = call->route->access == ROUTE_STATELESS;
	struct fault refused = FAULT_INITIAL;
	bool is_right = !looks_first && verify_token(call, roster, token, credential, &refused);
	bool has_changed;

	if (!is_right && accounts_refresh(accounts, &roster, &has_changed, fault)) {
		if (has_changed || looks_first) {
			refused = FAULT_INITIAL;
			is_right = verify_token(call, roster, token, credential, &refused);
		}
		if (!is_right)
			*fault = refused;
	}
	call->roster_generation = roster->generation;
	accounts_release(accounts, roster);
	return is_right;
}

bool auth_by_bearer(struct call *call, struct slice token, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	unsigned char digest[DIGEST_SIZE];
	const struct account *account;
	const struct roster *roster;
	struct slice id, secret;
	struct api_key key;
	bool is_there, is_right;

	if (!api_key_is_meant(token))
		return check_token(call, token, MANAGEMENT, fault);
	if (!api_key_parse(token, &id, &secret))
		return refuse_key(fault);
	if (!find_key(call, id, &key, &is_there, fault))
		return false;
	digest_sha256(secret, digest);
	if (!is_there || !digest_equal(digest, key.digest) ||
	    !key_is_valid(&key, clock_now(call->environment->clock)))
		return refuse_key(fault);
	call->actor = (struct actor){ .kind = ACTOR_KEY, .expires_at = key.expires_at };
	memcpy(call->actor.id, id.data, id.size);
	limit_to_key(&call->actor, &key);
	/* The call is one of the key's account, which must exist and be enabled. */
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &key.stored.account);
	is_right = account != NULL && account->is_enabled;
	call->roster_generation = roster->generation;
	if (is_right)
		take_account(call, account);
	accounts_release(accounts, roster);
	return is_right || refuse_key(fault);
}

/* ---- sessions ---- */

static bool check_session_cookie(struct call *call, struct slice token, struct fault *fault)
{
	struct actor *actor = &call->actor;
	struct api_key key;
	bool is_there;

	/* A call that is run again is checked again. */
	if (call_find_header(call, "Cache-Control").size == 0) {
		call_header(call, "Cache-Control", SLICE("no-store"));
		call_header(call, "Vary", SLICE("Cookie"));
	}
	if (!check_token(call, token, SESSION, fault))
		return false;

	/* The API key that the session was started with must still exist and be valid. */
	if (actor->id[0] != '\0') {
		if (!find_key(call, slice_of(actor->id), &key, &is_there, fault))
			return false;
		if (!is_there || id_compare(&key.stored.account, &call->account) != 0 ||
		    !key_is_valid(&key, clock_now(call->environment->clock)))
			return fault_detail(fault, FAULT_UNAUTHORIZED,
					    "the API key of this session has been deleted");
		limit_to_key(actor, &key);
	}
	return call->route->method == METHOD_GET || session_check_header(call, fault);
}

/* Finds the caller by the credentials in the request: a session cookie, or a token or API key in
 * the Authorization header. */
static bool find_caller(struct call *call, struct fault *fault)
{
	const bool takes_app_token = call->route->takes_app_token;
	struct slice token;

	if (call->request.authorization.data == NULL) {
		if (!takes_app_token && session_find_cookie(call, &token))
			return check_session_cookie(call, token, fault);
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the Authorization header is missing");
	}
	if (call->route->is_from_inside && take_token(call->request.authorization, &token) &&
	    token_is_for_joining(call->arena, token))
		return check_token(call, token, APP, fault);
	if (!take_token(call->request.authorization, &token))
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the Authorization header must be: Bearer <%s token>",
				    takes_app_token ? "app" : "management");
	return takes_app_token ? check_token(call, token, APP, fault)
			       : auth_by_bearer(call, token, fault);
}

bool auth_check(struct call *call, struct fault *fault)
{
	if (call->route->is_open)
		return true;
	/* What a person may do follows from the room, not from scopes. */
	return find_caller(call, fault) &&
	       (call->app_token != NULL || actor_may(&call->actor, call->route->scopes, fault));
}
