/* Signing keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_MEDIA_RULES_H
#define RULES_MEDIA_RULES_H

#include "rules/text_rules.h"

/* The answer, and POST /v2/signing-keys. */
extern const struct shape signing_key_shape;
extern const struct shape new_signing_key_shape;
/* GET /v2/jwks/{customer_id}.json. */
extern const struct shape key_set_shape;

extern const struct text_rule kid_text;
/* SHA-256 of a kid in hexadecimal. */
extern const struct text_rule kid_hash_text;
#define SIGNING_ALG_NAMES ONE_OF("ES256", "RS256", "EdDSA")
#define SIGNING_KEY_STATES ONE_OF("active", "next", "retired")

#endif
