/* See service/headers.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/headers.h"

#include <endian.h>

#include "base/text.h"

#define UNKNOWN_MOST 20
#define UNKNOWN_BYTES_MOST 1024
#define ALLOWED_HEADERS_MOST 1024

/* nginx gives each request one, and a text rule would take 5 % of the instructions of a GET. */
static bool is_request_id(struct slice text)
{
	if (text.data == NULL || text.size == 0 || text.size > 128)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

void headers_identify(struct call *call, uint64_t number)
{
	struct slice sent = call->request.request_id;
	const uint64_t bytes = htobe64(number);

	if (call->id[0] == '\0' && is_request_id(sent)) {
		memcpy(call->id, sent.data, sent.size);
		call->id[sent.size] = '\0';
	} else if (call->id[0] == '\0') {
		text_hex(&bytes, sizeof bytes, call->id);
		call->id[2 * sizeof bytes] = '\0';
	}
	call_header(call, "X-Request-Id", slice_of(call->id));
}

void headers_content(struct call *call)
{
	if (call->answer.size > 0 && call_find_header(call, "Content-Type").size == 0)
		call_header(call, "Content-Type", SLICE("application/json; charset=utf-8"));
}

/* Percent-encodes control characters, non-ASCII characters, commas, percent signs, and a space at
 * the end, which would be lost in transit. */
static void append_encoded(struct buffer *list, struct slice pointer)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < pointer.size; i++) {
		unsigned char c = (unsigned char)pointer.data[i];

		if (c < ' ' || c > '~' || c == ',' || c == '%' ||
		    (c == ' ' && i + 1 == pointer.size)) {
			buffer_append_byte(list, '%');
			buffer_append_byte(list, digits[c >> 4]);
			buffer_append_byte(list, digits[c & 15]);
		} else {
			buffer_append_byte(list, (char)c);
		}
	}
}

void headers_unknown(struct call *call)
{
	const struct findings *findings = &call->findings;
	struct buffer list = BUFFER_INITIAL(call->arena);
	size_t whole = 0, i = 0;

	if (findings->unknown_count == 0)
		return;
	for (; i < findings->unknown_count && i < UNKNOWN_MOST; i++) {
		if (i > 0)
			buffer_append_byte(&list, ',');
		append_encoded(&list, findings->unknown[i]);
		if (list.size > UNKNOWN_BYTES_MOST)
			break;
		whole = list.size;
	}
	list.size = whole;
	if (i < findings->unknown_count) {
		if (list.size > 0)
			buffer_append_byte(&list, ',');
		buffer_append_text(&list, "...");
	}
	call_header(call, "X-Unknown-Fields", buffer_slice(&list));
}

/* ---- other origins ---- */

#define ALWAYS_ALLOWED "content-type, authorization"
/* Seconds for which a browser need not ask again whether it may call. */
#define PREFLIGHT_SECONDS "600"

/* A lower-case name that a browser may ask for: a token (RFC 9110) other than `*`, which would
 * allow all headers. */
static const struct text_rule asked_header_text = {
	.characters = "a-z0-9!#$%&'+.^_`|~-",
	.shortest = 1,
	.longest = SIZE_MAX,
	.counts_bytes = true,
};

void headers_share(struct call *call)
{
	struct slice rest = call->request.asked_headers;
	struct buffer list = BUFFER_INITIAL(call->arena);

	call_header(call, "Access-Control-Allow-Origin", SLICE("*"));
	call_header(call, "Access-Control-Expose-Headers",
		    SLICE("Retry-After, X-Request-Id, ETag"));
	/* An unknown path has no methods. */
	if (call->request.method != METHOD_OPTIONS || call_find_header(call, "Allow").size == 0)
		return;
	call_header(call, "Access-Control-Allow-Methods", call_find_header(call, "Allow"));

	/* The headers that requests use, plus all others that the browser asks for: tracing adds
	 * headers to the requests of a page. They are listed by name, because browsers interpret a
	 * wildcard differently. */
	buffer_append_text(&list, ALWAYS_ALLOWED);
	while (rest.size > 0) {
		const struct slice part = text_split(rest, ',', &rest);
		const struct slice name = text_lower(call->arena, text_trim(part, TEXT_BLANKS));

		if (!schema_text_obeys(&asked_header_text, name) ||
		    slice_is(name, "content-type") || slice_is(name, "authorization"))
			continue;
		if (list.size + name.size > ALLOWED_HEADERS_MOST)
			break;
		buffer_append_text(&list, ", ");
		buffer_append(&list, name);
	}
	call_header(call, "Access-Control-Allow-Headers", buffer_slice(&list));
	call_header(call, "Access-Control-Max-Age", SLICE(PREFLIGHT_SECONDS));
}

/* ---- Prefer ---- */

bool headers_prefer_strict(struct slice prefer)
{
	while (prefer.size > 0) {
		struct slice rest, value;
		struct slice preference = text_split(prefer, ',', &prefer);
		struct slice name = text_split(text_split(preference, ';', &rest), '=', &value);

		if (!text_equal_ignoring_case(text_trim(name, TEXT_BLANKS), SLICE("handling")))
			continue;
		value = text_trim(value, TEXT_BLANKS);
		if (value.size >= 2 && value.data[0] == '"' && value.data[value.size - 1] == '"')
			value = (struct slice){ value.data + 1, value.size - 2 };
		return text_equal_ignoring_case(value, SLICE("strict"));
	}
	return false;
}
