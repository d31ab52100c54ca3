/* Writes JSON Web Tokens (RFC 7519) from header, payload, and a signature that the caller computes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JWT_H
#define BASE_JWT_H

#include "base/arena.h"
#include "base/slice.h"

/* Seconds by which tokens for other servers are backdated, because their clocks may be slow. */
#define JWT_SECONDS_BACK 10

/* Returns `header.payload`, encoded: the text to be signed. Both are given as JSON text. */
struct slice jwt_signed_text(struct arena *arena, struct slice header, struct slice payload);

/* Returns the whole token. */
struct slice jwt_token(struct arena *arena, struct slice signed_text, struct slice signature);

#endif
