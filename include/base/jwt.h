/* JSON Web Tokens (RFC 7519): writes them from header, payload, and a signature that the caller
 * computes, and takes them apart. What the claims must say is up to the caller.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JWT_H
#define BASE_JWT_H

#include "base/json_writer.h"

/* Seconds by which tokens for other servers are backdated, because their clocks may be slow. */
#define JWT_SECONDS_BACK 10

/* Returns `header.payload`, encoded: the text to be signed. Both are given as JSON text. */
struct slice jwt_signed_text(struct arena *arena, struct slice header, struct slice payload);

/* Returns the whole token. */
struct slice jwt_token(struct arena *arena, struct slice signed_text, struct slice signature);

/* Ends the claims, which were begun for a JWT, and returns the text to be signed. kid: names the
 * key in the header; empty: it is not named. */
struct slice jwt_claims_text(struct arena *arena, const char *alg, struct slice kid,
			     struct json_writer *claims);
/* The same, and returns the whole token, signed with HS256. */
struct slice jwt_with_secret(struct arena *arena, struct slice kid, struct json_writer *claims,
			     struct slice secret);

/* The parts of a token, all of them encoded. Borrowed from its text. */
struct jwt {
	struct slice signed_text; /* header.payload */
	struct slice header, payload, signature;
};

/* Splits a token at its dots. Returns false if it has fewer than two. */
bool jwt_split(struct slice token, struct jwt *jwt);
/* Decodes the header or the payload, or returns NULL if it is not a JSON object. The object belongs
 * to the arena. */
json_t *jwt_object(struct arena *arena, struct slice encoded);
/* Decodes the signature. Returns false if it cannot be one of HS256. */
bool jwt_mac(struct arena *arena, const struct jwt *jwt, struct slice *mac);
/* Returns true if `mac`, from jwt_mac, is the signature with this secret. Takes the same time if it
 * is not. */
bool jwt_mac_is_of(const struct jwt *jwt, struct slice mac, struct slice secret);

#endif
