/* See base/jwt.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jwt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static bool is_plain(char character)
{
	return character != '>' && character != '?' && character != '~' && character != '\177';
}

/* The four characters occur in strings only. */
static int append_plain(const char *text, size_t size, void *payload)
{
	struct buffer *buffer = payload;
	char escaped[8];

	for (size_t i = 0, end; i < size; i = end) {
		for (end = i; end < size && is_plain(text[end]); end++)
			continue;
		buffer_append(buffer, (struct slice){ text + i, end - i });
		if (end == size)
			break;
		(void)snprintf(escaped, sizeof escaped, "\\u%04X", (unsigned char)text[end++]);
		buffer_append_text(buffer, escaped);
	}
	return 0;
}

struct slice jwt_payload(struct arena *arena, const json_t *claims)
{
	struct buffer payload = BUFFER_INITIAL(arena);

	if (json_dump_callback(claims, append_plain, &payload, JSON_COMPACT | JSON_ENSURE_ASCII) !=
	    0)
		abort();
	return buffer_slice(&payload);
}

struct slice jwt_signed_text(struct arena *arena, struct slice header, struct slice payload)
{
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append(&text, text_base64url(arena, header));
	buffer_append_byte(&text, '.');
	buffer_append(&text, text_base64url(arena, payload));
	return buffer_slice(&text);
}

struct slice jwt_token(struct arena *arena, struct slice signed_text, struct slice signature)
{
	struct buffer token = BUFFER_INITIAL(arena);

	buffer_append(&token, signed_text);
	buffer_append_byte(&token, '.');
	buffer_append(&token, text_base64url(arena, signature));
	return buffer_slice(&token);
}
