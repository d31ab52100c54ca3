/* See rules/media_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/media_rules.h"

/* clang-format off */

const struct text_rule kid_text = {
	.characters = "a-zA-Z0-9_-",
	.sentence = "must be 43 of a-z A-Z 0-9 - _",
	.shortest = 43,
	.longest = 43,
};
const struct text_rule kid_hash_text = {
	.characters = "0-9a-f",
	.sentence = "must be 64 lower-case hex digits",
	.shortest = 64,
	.longest = 64,
};

/* ---- signing keys ---- */

static const struct field jwk_fields[] = {
	{ "kty", ONE_OF("EC", "RSA", "OKP"), FLAGS(FIELD_REQUIRED) },
	{ "use", ONE_OF("sig"), FLAGS(FIELD_REQUIRED) },
	{ "alg", SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED) },
	{ "kid", TEXT(kid_text), FLAGS(FIELD_REQUIRED) },
	{ "crv", ONE_OF("P-256", "Ed25519") },
	{ "x",   TEXT(some_text) },
	{ "y",   TEXT(some_text) },
	{ "e",   TEXT(some_text) },
	{ "n",   TEXT(some_text) },
};
static const struct shape jwk_shape = {
	"Jwk", FIELDS(jwk_fields), .doc = "A public key (RFC 7517).",
};
static const struct field jwk_item = { .name = NULL, OBJECT(jwk_shape) };

static const struct field signing_key_fields[] = {
	{ "kid",        TEXT(kid_text), FLAGS(FIELD_REQUIRED), DOC("The thumbprint (RFC 7638).") },
	{ "alg",        SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED) },
	{ "state",      SIGNING_KEY_STATES, FLAGS(FIELD_REQUIRED),
	  DOC("active: it signs; next: it will; retired: it signs no more. All are published.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_REQUIRED) },
	{ "retires_at", TEXT(time_text), DOC("When a retired key is gone.") },
	{ "jwk",        OBJECT(jwk_shape), FLAGS(FIELD_REQUIRED) },
};
const struct shape signing_key_shape = {
	"SigningKey", FIELDS(signing_key_fields), .doc = "A key that signs tokens for media servers.",
};

static const struct field new_signing_key_fields[] = {
	{ "alg", SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED),
	  DOC("ES256, RS256 with 2048 bits, or EdDSA with Ed25519.") },
};
const struct shape new_signing_key_shape = {
	"NewSigningKey", FIELDS(new_signing_key_fields), .doc = "A signing key to be made.",
};

static const struct field key_set_fields[] = {
	{ "keys", LIST_OF(jwk_item), FLAGS(FIELD_REQUIRED) },
};
const struct shape key_set_shape = {
	"KeySet", FIELDS(key_set_fields),
	.doc = "The public keys of an account (RFC 7517): active, next and retired ones.",
};

/* clang-format on */
