/* The router finds the route of a path. All paths form one anchored PCRE2 expression, compiled at
 * start. It matches the path as sent, and captures are decoded after matching, so that an encoded
 * '/' cannot move a boundary. One trailing slash is accepted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_ROUTER_H
#define SERVICE_ROUTER_H

#include "resources/call.h"

struct router;

/* `routes` is borrowed and ends with a row whose path is NULL. */
struct router *router_open(const struct route *routes);
void router_close(struct router *router);

/* Sets call->route and the parameters, still encoded (see router_decode). FAULT_NOT_FOUND for an
 * unknown path; FAULT_METHOD_NOT_ALLOWED and the header Allow for another method. OPTIONS returns
 * true with a NULL route and a complete answer (204, Allow). *query: the text after the '?'.
 * *is_for_all_origins: whether browsers of any origin may call the path; also set for 405 and
 * OPTIONS. */
bool router_find(const struct router *router, struct call *call, struct slice *query,
		 bool *is_for_all_origins, struct fault *fault);

/* Decodes the parameters; FAULT_BAD_REQUEST for a bad escape, an encoded NUL or an encoded '/'. */
bool router_decode(struct call *call, struct fault *fault);

#endif
