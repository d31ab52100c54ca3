/* Writes JSON Web Tokens (RFC 7519) from header, payload, and a signature that the caller computes.
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

#endif
