/* See resources/route.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/route.h"

#include "base/text.h"

enum schema_mode route_mode(const struct route *route)
{
	if (route->body_kind == BODY_PARTIAL)
		return SCHEMA_PARTIAL;
	return route->body_kind == BODY_PATCH ? SCHEMA_PATCH : SCHEMA_WHOLE;
}

bool route_asks(const struct route *route)
{
	return route->settle != NULL || route->is_from_inside;
}

bool route_is_for_writing(const struct route *route)
{
	return route->method != METHOD_GET && route->access != ROUTE_STATELESS;
}

static bool read_condition(struct call *call, const char *name, struct slice *header,
			   struct fault *fault)
{
	struct slice shown;

	if (call_condition_read(header))
		return true;
	shown = text_is_utf8(*header) ? text_first(*header, 64) : SLICE("bytes that are not UTF-8");
	return fault_explain(fault, FAULT_BAD_REQUEST, arena_text(call->arena, "Invalid %s", name),
			     "%s: %s, got %.*s", name, CALL_CONDITION_SENTENCE, (int)shown.size,
			     shown.data);
}

bool route_read_conditions(struct call *call, struct fault *fault)
{
	struct request *request = &call->request;

	if (!call->route->has_etag || !route_is_for_writing(call->route))
		return true;
	return read_condition(call, "If-Match", &request->if_match, fault) &&
	       read_condition(call, "If-None-Match", &request->if_none_match, fault);
}
