/* Browser sessions: a cookie with a JWT, so that no secret or token is ever in the scripts or the
 * storage of a page (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SESSION_H
#define SERVICE_SESSION_H

#include "resources/call.h"

/* Checks the console header and the address's budget of failures (FAULT_TOO_MANY), before the body
 * is checked by its table. */
body_check session_check;
/* Handle POST, GET and DELETE /v2/session. */
handler session_begin;
handler session_get;
handler session_end;

/* Finds the session token in the cookies of the request. */
bool session_find_cookie(const struct call *call, struct slice *token);
/* FAULT_FORBIDDEN without the header Anteroom-Console: 1, which a page of another origin cannot
 * send. */
bool session_check_header(const struct call *call, struct fault *fault);

#endif
