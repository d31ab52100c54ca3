/* The writing of JSON Web Tokens (RFC 7519): header and payload as text, with a signature that the
 * caller computes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JWT_H
#define BASE_JWT_H

#include "base/arena.h"
#include "base/slice.h"

/* How far the start of what is signed for others lies back, in seconds: their clocks may be
 * behind. */
#define JWT_SECONDS_BACK 10

/* `header.payload`, encoded: the text that is signed. Both are JSON. */
struct slice jwt_signed_text(struct arena *arena, struct slice header, struct slice payload);

/* The whole token. */
struct slice jwt_token(struct arena *arena, struct slice signed_text, struct slice signature);

#endif
