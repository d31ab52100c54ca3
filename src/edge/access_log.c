/* See edge/access_log.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/access_log.h"

#include "base/id.h"
#include "base/log.h"
#include "base/text.h"

#define CODE_SIZE (CODE_TEXT_SIZE - 1)
#define CODE_OLD_SIZE (CODE_OLD_TEXT_SIZE - 1)

/* Returns the first `size` bytes of the decoded path, or fewer if it ends before. */
static struct slice decoded_start(struct slice path, char *bytes, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; n < size && i < path.size; i++) {
		int high = path.size - i < 3 ? -1 : text_hex_value(path.data[i + 1]);
		int low = path.size - i < 3 ? -1 : text_hex_value(path.data[i + 2]);

		bytes[n] = path.data[i];
		if (path.data[i] == '%' && high >= 0 && low >= 0) {
			bytes[n] = (char)(high * 16 + low);
			i += 2;
		}
		n++;
	}
	return (struct slice){ bytes, n };
}

/* Returns the size of the path before a room code, a token, or a segment that should be a code or a
 * ticket. A mistyped address may contain codes and tokens anywhere, and empty segments. */
static size_t size_before_secret(struct slice path)
{
	const struct slice before_code[] = {
		SLICE("/room-codes/code/"),
		SLICE("/join/"),
		SLICE("/livekit/"),
		SLICE("/tickets/"),
	};

	/* Moderators name a ticket by its ID. */
	if (slice_begins(path, SLICE("/v2/active-rooms/")))
		return path.size;
	for (size_t i = 0; i < path.size; i++) {
		const struct slice rest = { path.data + i, path.size - i };
		char bytes[CODE_SIZE];
		const struct slice start = decoded_start(rest, bytes, sizeof bytes);

		for (size_t k = 0; k < sizeof before_code / sizeof before_code[0]; k++)
			if (rest.size > before_code[k].size && slice_begins(rest, before_code[k]))
				return i + before_code[k].size;
		/* Tokens begin with {" in base64url. */
		if (code_is_well_formed(start) ||
		    code_is_well_formed(text_first(start, CODE_OLD_SIZE)) ||
		    (start.size >= 3 && memcmp(bytes, "eyJ", 3) == 0))
			return i;
	}
	return path.size;
}

void access_log(const struct call *call)
{
	struct slice query, path = text_split(call->request.uri, '?', &query);

	path.size = size_before_secret(path);
	log_event(LOG_LEVEL_INFO, "request", "method", method_name(call->request.method), "path",
		  arena_copy(call->arena, path).data, "status", LOG_NUMBER(call->answer.status),
		  "bytes", LOG_NUMBER(call->answer.size), "milliseconds",
		  LOG_NUMBER((clock_microseconds() - call->started) / 1000), "request_id",
		  call->id[0] != '\0' ? call->id : NULL, "account",
		  call->account_text[0] != '\0' ? call->account_text : NULL, NULL);
}
