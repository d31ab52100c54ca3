/* Media servers (backends), and signing keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_MEDIA_RULES_H
#define RULES_MEDIA_RULES_H

#include "rules/text_rules.h"

/* The answer, and POST /v2/signing-keys. */
extern const struct shape signing_key_shape;
extern const struct shape new_signing_key_shape;
/* A backend: to be made, with its secrets, or replaced, with those that change. */
extern const struct shape new_backend_shape;
extern const struct shape backend_shape;
#define BACKEND_TYPES "livekit", "jitsi", "galene", "bigbluebutton", "janus", "jwt"
/* Whether a member of `config` is for a type of backend, and with an alg (data NULL: the
 * default). */
bool backend_has_member(struct slice type, struct slice alg, const char *member);
/* Whether it is write-only. */
bool backend_member_is_secret(const char *member);
/* The default of a member of `config` for a type; NULL: it has none. */
const char *backend_default(struct slice type, const char *member);
/* GET /v2/jwks/{customer_id}.json. */
extern const struct shape key_set_shape;

/* SHA-256 of a kid in hexadecimal. */
extern const struct text_rule kid_hash_text;
#define SIGNING_ALG_NAMES ONE_OF("ES256", "RS256", "EdDSA")
#define SIGNING_KEY_STATES ONE_OF("active", "next", "retired")

#endif
