/* See base/jwt.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jwt.h"

#include "base/digest.h"
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

struct slice jwt_claims_text(struct arena *arena, const char *alg, struct slice kid,
			     struct json_writer *claims)
{
	struct json_writer header = writer_begin(arena, true);

	writer_text(&header, "alg", slice_of(alg));
	writer_text(&header, "typ", SLICE("JWT"));
	if (kid.size > 0)
		writer_text(&header, "kid", kid);
	return jwt_signed_text(arena, writer_end(&header), writer_end(claims));
}

struct slice jwt_with_secret(struct arena *arena, struct slice kid, struct json_writer *claims,
			     struct slice secret)
{
	const struct slice text = jwt_claims_text(arena, "HS256", kid, claims);
	unsigned char mac[DIGEST_SIZE];

	digest_hmac_sha256(secret, text, mac);
	return jwt_token(arena, text, (struct slice){ (const char *)mac, sizeof mac });
}
