/* API keys, the scopes that limit them, and sessions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_KEY_RULES_H
#define RULES_KEY_RULES_H

#include "rules/text_rules.h"

/* Stored in records, so a number never gets another meaning. If a caller lacks several scopes, the
 * first of them is reported. */
enum scope {
	SCOPE_TEMPLATES_READ,
	SCOPE_TEMPLATES_WRITE,
	SCOPE_ROOMS_READ,
	SCOPE_ROOMS_WRITE,
	SCOPE_CODES_READ,
	SCOPE_CODES_WRITE,
	SCOPE_EVENTS_READ,
	SCOPE_WEBHOOKS_WRITE,
	SCOPE_BACKENDS_WRITE,
	SCOPE_KEYS_WRITE,
	SCOPE_LIVE_READ,
	SCOPE_LIVE_WRITE,
	SCOPE_SESSIONS_READ,
	SCOPE_SESSIONS_WRITE,
	SCOPE_BANS_READ,
	SCOPE_BANS_WRITE,
	SCOPE_TICKETS_WRITE,
	SCOPE_RECORDINGS_READ,
	SCOPE_RECORDINGS_WRITE,
	SCOPES
};

/* "templates:read" and so on, indexed by enum scope; ends with NULL. */
extern const char *const scope_names[SCOPES + 1];

extern const struct shape key_shape;
/* The response to the request that creates an API key. */
extern const struct shape made_key_shape;

/* POST and GET /v2/session. */
extern const struct shape new_session_shape;
extern const struct shape session_shape;

#endif
