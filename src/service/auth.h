/* Authentication: finds the account and the actor of a request by its bearer token or API key. API
 * keys are read from the store for each request, so that a deleted key is rejected immediately on
 * every machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_AUTH_H
#define SERVICE_AUTH_H

#include "resources/call.h"

/* Returns whether the caller may call call->route; true for an open route. Sets call->account and
 * call->actor, or fails with FAULT_UNAUTHORIZED, to which the service adds WWW-Authenticate, or
 * with FAULT_FORBIDDEN if a scope is missing. A browser session (service/session.h) counts only if
 * there is no Authorization header. To change something with a session, the request must have the
 * header Anteroom-Console; otherwise FAULT_FORBIDDEN. */
bool auth_check(struct call *call, struct fault *fault);

/* The same for a management token or API key, ignoring the headers. */
bool auth_by_bearer(struct call *call, struct slice token, struct fault *fault);

#endif
