/* The writing of JSON Web Tokens (RFC 7519): header and payload as text, with a signature that the
 * caller computes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JWT_H
#define BASE_JWT_H

#include <jansson.h>

#include "base/arena.h"
#include "base/slice.h"

/* The claims as compact JSON in ASCII, in which > ? ~ and DEL are escaped too: so its base64url has
 * neither - nor _. Some browsers' libraries decode the payload as plain base64 and take each byte for
 * a character. */
struct slice jwt_payload(struct arena *arena, const json_t *claims);

/* `header.payload`, encoded: what is signed. header: JSON. */
struct slice jwt_signed_text(struct arena *arena, struct slice header, struct slice payload);

/* The whole token. */
struct slice jwt_token(struct arena *arena, struct slice signed_text, struct slice signature);

#endif
