/* Media servers (backends), and signing keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_MEDIA_RULES_H
#define RULES_MEDIA_RULES_H

#include "rules/text_rules.h"

/* The most seconds for which a backend's tokens are valid. */
#define BACKEND_TTL_MOST 86400
/* The largest weight. */
#define BACKEND_WEIGHT_MOST 1000

/* A signing key in a response, and the body of POST /v2/signing-keys. */
extern const struct shape signing_key_shape;
extern const struct shape new_signing_key_shape;
/* A backend to create, which needs its secrets, and a backend in a response or an update. */
extern const struct shape new_backend_shape;
extern const struct shape backend_shape;
/* The result of POST /v2/backends/{backend_id}/test. */
extern const struct shape backend_test_shape;
/* The result of POST /v2/backends/{backend_id}/move. */
extern const struct shape backend_move_shape;
#define BACKEND_TYPES "livekit", "jitsi", "galene", "bigbluebutton", "janus", "jwt"
/* Returns true if a type of backend uses a member of `config` with an alg. alg.data is NULL for the
 * default alg. */
bool backend_has_member(struct slice type, struct slice alg, const char *member);
/* Returns true if the member is write-only. */
bool backend_member_is_secret(const char *member);
/* Returns the default of a member of `config` for a type, or NULL if there is none. */
const char *backend_default(struct slice type, const char *member);
/* GET /v2/jwks/{customer_id}.json. */
extern const struct shape key_set_shape;

/* The SHA-256 of a kid in hexadecimal. */
extern const struct text_rule kid_hash_text;
#define SIGNING_ALG_NAMES ONE_OF("ES256", "RS256", "EdDSA")
#define SIGNING_KEY_STATES ONE_OF("active", "next", "retired")

#endif
