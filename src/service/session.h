/* Sessions of browsers: a cookie with a JWT, so that no secret and no token is ever in a page's
 * scripts or its storage (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SESSION_H
#define SERVICE_SESSION_H

#include "resources/call.h"

/* Before the table of the body: the header, and the address's budget of failures
 * (FAULT_TOO_MANY). */
body_check session_check;
/* Handlers: POST, GET and DELETE /v2/session. */
handler session_begin;
handler session_get;
handler session_end;

/* The session's token out of the request's cookies. */
bool session_find_cookie(const struct call *call, struct slice *token);
/* FAULT_FORBIDDEN without the header Anteroom-Console: 1, which a page of another origin cannot
 * send. */
bool session_check_header(const struct call *call, struct fault *fault);

#endif
