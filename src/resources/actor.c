/* See resources/actor.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/actor.h"

#include "accounts/scopes.h"

bool actor_may(const struct actor *actor, unsigned needed, struct fault *fault)
{
	const char *missing;

	if ((needed & ~actor->scopes) == 0)
		return true;
	missing = scopes_missing(actor->scopes, needed);
	fault_explain(fault, FAULT_FORBIDDEN, "Insufficient scope", "needs %s", missing);
	fault->scope = missing;
	return false;
}
