/* See base/jwt.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jwt.h"

#include <string.h>

#include "base/digest.h"
#include "base/json_text.h"
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

/* A third dot stays in the signature, where it is invalid base64url. */
bool jwt_split(struct slice token, struct jwt *jwt)
{
	struct slice rest;

	jwt->header = text_split(token, '.', &rest);
	jwt->payload = text_split(rest, '.', &jwt->signature);
	if (jwt->signature.data == NULL)
		return false;
	jwt->signed_text = (struct slice){ token.data, token.size - jwt->signature.size - 1 };
	return true;
}

json_t *jwt_object(struct arena *arena, struct slice encoded)
{
	struct slice text;

	return text_base64url_decode(arena, encoded, &text) ? json_text_read(arena, text, NULL)
							    : NULL;
}

bool jwt_mac(struct arena *arena, const struct jwt *jwt, struct slice *mac)
{
	return text_base64url_decode(arena, jwt->signature, mac) && mac->size == DIGEST_SIZE;
}

bool jwt_mac_is_of(const struct jwt *jwt, struct slice mac, struct slice secret)
{
	unsigned char right[DIGEST_SIZE];
	bool is_equal;

	digest_hmac_sha256(secret, jwt->signed_text, right);
	is_equal = digest_equal(right, mac.data);
	explicit_bzero(right, sizeof right);
	return is_equal;
}
