/* Authentication: finds the account of a request by its bearer token.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_AUTH_H
#define SERVICE_AUTH_H

#include "resources/call.h"

/* Sets call->account, or fails with FAULT_UNAUTHORIZED; the service adds WWW-Authenticate. */
bool auth_check(struct call *call, struct fault *fault);

#endif
