/* Who makes a call, and what it may do. The log names the actor of each change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ACTOR_H
#define RESOURCES_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

enum actor_kind {
	ACTOR_TOKEN, /* a management token; id: its jti, or empty */
	ACTOR_KEY, /* id: of the key */
	ACTOR_SESSION, /* id: of the key that it came from, or empty */
	ACTOR_CODE, /* who exchanges a room code; id: the hash of the code */
	ACTOR_CLI, /* the command line; without an id */
	ACTOR_SERVICE /* the service itself; without an id */
};

#define ACTOR_ID_MOST 64

struct actor {
	enum actor_kind kind;
	char id[ACTOR_ID_MOST + 1];
	unsigned given; /* the scopes that it was given (accounts/scopes.h) */
	unsigned scopes; /* what it may do: the same, with all that is included */
	bool is_limited; /* a key, or what has scopes of its own: it gives nothing that it lacks */
	bool is_operator; /* its account is one */
	int64_t expires_at; /* seconds since 1970; 0: never */
	int64_t gives_until; /* a key that it gives ends no later; 0: no matter when */
};

/* FAULT_FORBIDDEN, which names the first scope of `needed` that the actor lacks. */
bool actor_may(const struct actor *actor, unsigned needed, struct fault *fault);

#endif
