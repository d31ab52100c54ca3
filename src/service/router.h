/* Path -> route. One anchored PCRE2 expression is made out of the paths of all routes, compiled at
 * start; what is matched is the path as it was sent, and captures are decoded after matching, so
 * that an encoded '/' cannot move a boundary. One trailing slash is accepted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_ROUTER_H
#define SERVICE_ROUTER_H

#include "resources/call.h"

struct router;

/* The table is borrowed; it ends with a row whose path is NULL. */
struct router *router_open(const struct route *routes);
void router_close(struct router *router);

/* Sets call->route and the parameters, still encoded (router_decode decodes them). No such path:
 * FAULT_NOT_FOUND. No such method there: FAULT_METHOD_NOT_ALLOWED, with the header Allow. OPTIONS:
 * true, with route NULL and the answer (204, Allow) complete. *query is what follows the '?'. For
 * 405 and OPTIONS is_shared still tells whether the path is one for browsers of any origin. */
bool router_find(const struct router *router, struct call *call, struct slice *query,
		 bool *is_shared, struct fault *fault);

/* Decodes the parameters; FAULT_BAD_REQUEST for a bad escape, an encoded NUL or an encoded '/'. */
bool router_decode(struct call *call, struct fault *fault);

#endif
