/* The bearer token of a request -> its account (interface.md section 5, decisions.md section 3).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_AUTH_H
#define SERVICE_AUTH_H

#include "resources/call.h"

/* Sets call->account. FAULT_UNAUTHORIZED otherwise; the service adds WWW-Authenticate. */
bool auth_check(struct call *call, struct fault *fault);

#endif
