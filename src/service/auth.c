/* See service/auth.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/auth.h"

#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/token.h"

/* The text after `Bearer`, in any case, and one or more spaces. */
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

/* By the token that the route takes. */
static bool verify(struct call *call, const struct roster *roster, struct slice token,
		   const struct account **account, struct fault *fault)
{
	const struct environment *environment = call->environment;
	const int64_t now = clock_now(environment->clock);

	if (!call->route->takes_app_token)
		return token_verify(environment->tokens, roster, call->arena, token, now, account,
				    fault);
	call->app_token = arena_zero(call->arena, sizeof *call->app_token);
	if (!token_verify_app(roster, call->arena, token, now, call->app_token, fault))
		return false;
	*account = call->app_token->account;
	return true;
}

bool auth_check(struct call *call, struct fault *fault)
{
	const struct environment *environment = call->environment;
	const struct roster *roster;
	const struct account *account;
	struct slice token;
	bool is_right;

	if (call->request.authorization.data == NULL)
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the header Authorization is missing");
	if (!take_token(call->request.authorization, &token))
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the header Authorization must be: Bearer <%s token>",
				    call->route->takes_app_token ? "app" : "management");
	roster = accounts_current(environment->accounts);
	is_right = verify(call, roster, token, &account, fault);
	/* Another machine may have changed the accounts. */
	if (!is_right && accounts_look(environment->accounts, roster)) {
		accounts_release(environment->accounts, roster);
		roster = accounts_current(environment->accounts);
		*fault = FAULT_INITIAL;
		is_right = verify(call, roster, token, &account, fault);
	}
	call->roster = roster->generation;
	if (is_right) {
		call->account = account->id;
		memcpy(call->account_text, account->id_text, sizeof call->account_text);
	}
	accounts_release(environment->accounts, roster);
	return is_right;
}
