/* See resources/route.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/route.h"

enum schema_mode route_mode(const struct route *route)
{
	if (route->body_kind == BODY_PARTIAL)
		return SCHEMA_PARTIAL;
	return route->body_kind == BODY_PATCH ? SCHEMA_PATCH : SCHEMA_WHOLE;
}

bool route_is_for_writing(const struct route *route)
{
	return route->method != METHOD_GET && route->access != ROUTE_STATELESS;
}
