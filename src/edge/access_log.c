/* The line of one request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/access_log.h"

#include "base/log.h"

static const char *method_name(enum method method)
{
	switch (method) {
	case METHOD_GET:
		return "GET";
	case METHOD_HEAD:
		return "HEAD";
	case METHOD_POST:
		return "POST";
	case METHOD_PATCH:
		return "PATCH";
	case METHOD_DELETE:
		return "DELETE";
	case METHOD_OPTIONS:
		return "OPTIONS";
	case METHOD_OTHER:
		break;
	}
	return "other";
}

/* The path as it was sent, cut where a code may begin. */
static const char *shown_path(const struct call *call)
{
	const struct slice before_code = SLICE("/v2/room-codes/code/");
	struct slice uri = call->request.uri;
	const char *query = uri.size > 0 ? memchr(uri.data, '?', uri.size) : NULL;
	size_t size = query == NULL ? uri.size : (size_t)(query - uri.data);

	if (size > before_code.size && memcmp(uri.data, before_code.data, before_code.size) == 0)
		size = before_code.size;
	return arena_copy(call->arena, (struct slice){ uri.data, size }).data;
}

void access_log(const struct call *call)
{
	log_event(LOG_LEVEL_INFO, "request", "method", method_name(call->request.method), "path",
		  shown_path(call), "status", LOG_NUMBER(call->answer.status), "bytes",
		  LOG_NUMBER(call->answer.size), "milliseconds",
		  LOG_NUMBER((clock_microseconds() - call->started) / 1000), "request_id",
		  call->id[0] != '\0' ? call->id : NULL, "account",
		  call->account_text[0] != '\0' ? call->account_text : NULL, NULL);
}
