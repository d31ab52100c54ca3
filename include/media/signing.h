/* Signing keys, whose signatures anyone can verify: ES256, RS256 and EdDSA (RFC 7518, RFC 8037), by
 * libcrypto. A private key is stored as PKCS #8 in DER. The public key is returned as a JWK (RFC
 * 7517) and identified by its thumbprint (RFC 7638), the kid.
 *
 * Any thread; each keeps the last keys that it signed with until it ends. The process aborts if it
 * runs out of memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_SIGNING_H
#define MEDIA_SIGNING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* Stored in records, so a number never gets another meaning. */
enum signing_alg { SIGNING_ES256, SIGNING_RS256, SIGNING_EDDSA, SIGNING_ALGS };

/* Returns "ES256" and so on. */
const char *signing_alg_name(enum signing_alg alg);
/* Returns false if the name is not one of these. */
bool signing_alg_named(struct slice name, enum signing_alg *alg);

/* Creates a private key. RSA takes some hundred milliseconds of processor time. */
struct slice signing_make(struct arena *arena, enum signing_alg alg);

/* Returns the public key of a private key as JSON text, {"kty","use","alg","kid",...}, and its kid.
 * Returns false if it is not a private key for this alg. */
bool signing_describe(struct arena *arena, enum signing_alg alg, struct slice private_key,
		      struct slice *kid, struct slice *jwk);

/* Returns the public key of an RSA key as PEM ("PUBLIC KEY"). */
struct slice signing_pem(struct arena *arena, struct slice private_key);

/* Signs a text. Returns false if it is not a private key for this alg. */
bool signing_sign(struct arena *arena, enum signing_alg alg, struct slice private_key,
		  struct slice text, struct slice *signature);

#endif
