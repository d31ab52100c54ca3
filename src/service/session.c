/* See service/session.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/session.h"

#include <stdio.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/scopes.h"
#include "accounts/token.h"
#include "resources/misses.h"
#include "resources/public_url.h"
#include "resources/route.h"
#include "resources/codes/qr.h"
#include "service/auth.h"

/* ---- the request ---- */

/* Browsers accept a cookie with the prefix __Host- only over https and only for this host. */
static const char *cookie_name(const struct call *call)
{
	return public_url_is_secure(call) ? "__Host-anteroom" : "anteroom";
}

bool session_find_cookie(const struct call *call, struct slice *token)
{
	const char *name = cookie_name(call);
	struct slice rest = call->request.cookie;

	while (rest.size > 0) {
		struct slice value;
		const struct slice pair = text_split(rest, ';', &rest);
		const struct slice own = text_split(text_trim(pair, TEXT_BLANKS), '=', &value);

		if (slice_is(own, name) && value.data != NULL) {
			*token = value;
			return true;
		}
	}
	return false;
}

bool session_check_header(const struct call *call, struct fault *fault)
{
	return slice_is(call->request.console, "1") ||
	       fault_set(fault, FAULT_FORBIDDEN, "Missing header Anteroom-Console");
}

/* ---- the answer ---- */

static void set_cookie(struct call *call, struct slice token, int64_t seconds)
{
	call_header(
		call, "Set-Cookie",
		slice_of(arena_text(
			call->arena, "%s=%.*s; Path=/;%s HttpOnly; SameSite=Strict; Max-Age=%lld",
			cookie_name(call), (int)token.size, token.data,
			public_url_is_secure(call) ? " Secure;" : "", (long long)seconds)));
}

/* ---- beginning ---- */

/* Rejects all credentials that do not lead to an account in the same way, and counts a miss. */
static bool refuse_credentials(struct call *call, struct fault *fault)
{
	misses_session_count(call->environment->misses, call->request.address, clock_monotonic());
	*fault = FAULT_INITIAL;
	return fault_detail(fault, FAULT_UNAUTHORIZED, "invalid credentials");
}

/* Returns the account's secret with this text, or NULL. Compares as many secrets for an unknown
 * account as for any other, so that timing reveals nothing. */
static const struct secret *find_secret(const struct account *account, struct slice secret)
{
	static const char no_secret[] = "-------------------------------------------";
	const struct secret *found = NULL;

	for (size_t i = 0; i < ACCOUNT_SECRETS; i++) {
		const bool is_active = account != NULL && i < account->secret_count;
		const bool is_equal = text_equal_secret(
			slice_of(is_active ? account->secrets[i].text : no_secret), secret);

		if (is_active && is_equal)
			found = &account->secrets[i];
	}
	return found != NULL && account->is_enabled ? found : NULL;
}

/* Returns the current accounts, including changes that another machine has just made, or NULL if
 * the store is unavailable. The caller releases them. */
static const struct roster *current_roster(struct call *call, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	bool has_changed;

	if (accounts_refresh(accounts, &roster, &has_changed, fault))
		return roster;
	accounts_release(accounts, roster);
	return NULL;
}

/* Signs a session for the call's actor with this secret. If `with` is not NULL, the session also
 * ends when that secret is retired. */
static void give_session(struct call *call, const struct account *account,
			 const struct secret *secret, const struct secret *with)
{
	const int64_t now = clock_now(call->environment->clock);
	struct token_claims claims = {
		.account = account,
		.expires_at = now / 1000 + call->environment->session_seconds,
		.scopes = call->actor.given,
		.is_limited = call->actor.is_limited,
		.gives_until = call->actor.gives_until,
	};

	if (call->actor.expires_at != 0 && call->actor.expires_at < claims.expires_at)
		claims.expires_at = call->actor.expires_at;
	if (call->actor.kind == ACTOR_KEY)
		(void)snprintf(claims.id, sizeof claims.id, "%s", call->actor.id);
	set_cookie(call,
		   token_sign_session(call->arena, call->environment->clock, now, secret, with,
				      &claims),
		   claims.expires_at - now / 1000);
}

static bool begin_by_token(struct call *call, struct slice token, struct fault *fault)
{
	const struct roster *roster;
	const struct account *account;
	const struct secret *newest, *signer = NULL;
	bool is_right;

	if (!auth_by_bearer(call, token, fault))
		return fault->kind == FAULT_UNAUTHORIZED ? refuse_credentials(call, fault) : false;
	roster = current_roster(call, fault);
	if (roster == NULL)
		return false;
	account = roster_by_id(roster, &call->account);
	is_right = account != NULL;
	if (is_right && call->actor.kind == ACTOR_TOKEN) {
		/* The accounts may have changed, and the secret of the token may have been
		 * retired. */
		signer = token_signer(account, call->arena, token);
		is_right = signer != NULL;
	}
	if (is_right) {
		newest = &account->secrets[account->secret_count - 1];
		give_session(call, account, newest, signer == newest ? NULL : signer);
	}
	accounts_release(call->environment->accounts, roster);
	return is_right || refuse_credentials(call, fault);
}

bool session_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	unsigned wait;

	call_header(call, "Cache-Control", SLICE("no-store"));
	if (!session_check_header(call, fault))
		return false;
	wait = misses_session_wait(call->environment->misses, call->request.address,
				   clock_monotonic());
	if (wait > 0) {
		fault_set(fault, FAULT_TOO_MANY, NULL);
		fault->retry_after = wait;
		return false;
	}
	return schema_check(call->route->body, body, SCHEMA_WHOLE, is_strict, &call->findings,
			    fault);
}

bool session_begin(struct call *call, struct fault *fault)
{
	const struct slice token = text_of_json(call_member(call, "token"));
	const struct account *account = NULL;
	const struct secret *secret;
	const struct roster *roster;
	struct id access_key;

	if (token.data != NULL)
		return begin_by_token(call, token, fault) && call_answer_nothing(call);
	roster = current_roster(call, fault);
	if (roster == NULL)
		return false;
	if (id_parse(text_of_json(call_member(call, "access_key")), &access_key))
		account = roster_by_access_key(roster, &access_key);
	secret = find_secret(account, text_of_json(call_member(call, "secret")));
	if (secret != NULL)
		give_session(call, account, secret, NULL);
	accounts_release(call->environment->accounts, roster);
	return secret != NULL ? call_answer_nothing(call) : refuse_credentials(call, fault);
}

/* ---- who am I ---- */

bool session_get(struct call *call, struct fault *fault)
{
	const struct roster *roster = accounts_current(call->environment->accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const struct actor *actor = &call->actor;
	const char *client_url;
	struct json_writer text;

	if (account == NULL) {
		accounts_release(call->environment->accounts, roster);
		return fault_detail(fault, FAULT_UNAUTHORIZED, "the account no longer exists");
	}
	client_url = public_url_client(call, account);
	text = writer_begin(call->arena, false);
	writer_open(&text, "account", '{');
	writer_text(&text, "id", slice_of(account->id_text));
	writer_text(&text, "name", slice_of(account->name));
	writer_close(&text, '}');
	writer_value(&text, "scopes",
		     actor->is_limited ? arena_json(call->arena, scopes_list(actor->given))
				       : json_null());
	if (actor->expires_at != 0)
		writer_time(&text, "expires_at", actor->expires_at * 1000);
	else
		writer_value(&text, "expires_at", json_null());
	writer_flag(&text, "operator", account->is_operator && !actor->is_limited);
	writer_text(&text, "version", SLICE(PACKAGE_VERSION));
	writer_text(&text, "public_url", public_url_of(call));
	if (client_url != NULL)
		writer_text(&text, "client_url", slice_of(client_url));
	writer_flag(&text, "qr", qr_is_there());
	accounts_release(call->environment->accounts, roster);
	return call_answer(call, writer_end(&text));
}

bool session_end(struct call *call, struct fault *fault)
{
	(void)fault;
	set_cookie(call, SLICE(""), 0);
	return call_answer_nothing(call);
}
