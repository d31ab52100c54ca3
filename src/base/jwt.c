/* See base/jwt.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jwt.h"

#include "base/text.h"

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
