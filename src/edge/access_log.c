/* The line of one request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/access_log.h"

#include "base/id.h"
#include "base/log.h"

#define CODE_SIZE (CODE_TEXT_SIZE - 1)

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

/* How much of a path comes before a code, or before what stands in the place of one. A client that
 * mistypes an address has its code anywhere in it. */
static size_t size_before_code(struct slice path)
{
	const struct slice before_code = SLICE("/v2/room-codes/code/");

	if (path.size > before_code.size &&
	    memcmp(path.data, before_code.data, before_code.size) == 0)
		return before_code.size;
	for (size_t i = 0; i + CODE_SIZE <= path.size; i++)
		if (code_is_well_formed((struct slice){ path.data + i, CODE_SIZE }))
			return i;
	return path.size;
}

/* The path as it was sent. */
static const char *shown_path(const struct call *call)
{
	struct slice path = call->request.uri;
	const char *query = path.size > 0 ? memchr(path.data, '?', path.size) : NULL;

	if (query != NULL)
		path.size = (size_t)(query - path.data);
	path.size = size_before_code(path);
	return arena_copy(call->arena, path).data;
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
