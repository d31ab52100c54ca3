/* Authentication: finds the account and the actor of a request by its bearer token, or key. A key
 * is read from the store for each request, so that a deleted one is refused at once on every
 * machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_AUTH_H
#define SERVICE_AUTH_H

#include "resources/call.h"

/* Whether the caller may call call->route; true for an open one. Sets call->account and
 * call->actor, or fails with FAULT_UNAUTHORIZED, to which the service adds WWW-Authenticate, or
 * with FAULT_FORBIDDEN: a scope is missing. A browser's session (service/session.h) counts only
 * where there is no Authorization, and to change something the request has to have the header
 * Anteroom-Console: FAULT_FORBIDDEN. */
bool auth_check(struct call *call, struct fault *fault);

/* The same by a management token or a key, whatever the headers say. */
bool auth_by_bearer(struct call *call, struct slice token, struct fault *fault);

#endif
