/* The sender of a request and its rights. The event log names the actor of each change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ACTOR_H
#define RESOURCES_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

enum actor_kind {
	ACTOR_TOKEN, /* a management token; id: its jti, or empty */
	ACTOR_KEY, /* an API key; id: the key's */
	ACTOR_SESSION, /* a session; id: that of the API key it began with, or empty */
	ACTOR_CODE, /* a person with a room code; id: the hash of the code, or empty */
	ACTOR_CLI, /* the command line; no id */
	ACTOR_SERVICE /* the service itself; no id */
};

#define ACTOR_ID_MOST 64

struct actor {
	enum actor_kind kind;
	char id[ACTOR_ID_MOST + 1];
	unsigned given; /* the scopes it was given (accounts/scopes.h) */
	unsigned scopes; /* what it may do: `given` and all scopes that these include */
	bool is_limited; /* an API key, or limited to scopes: it cannot give scopes it lacks */
	bool is_operator; /* its account is an operator */
	int64_t expires_at; /* seconds since 1970; 0 for never */
	int64_t gives_until; /* latest expiry of an API key that it creates; 0 for no limit */
};

/* Returns true if the actor has all scopes in `needed`; else sets FAULT_FORBIDDEN, which names the
 * first missing scope. */
bool actor_may(const struct actor *actor, unsigned needed, struct fault *fault);

#endif
