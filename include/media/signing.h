/* Keys for signatures that anyone can verify: ES256, RS256 and EdDSA (RFC 7518, RFC 8037), by
 * libcrypto. A private key is stored as PKCS #8 in DER; the public one is answered as a JWK (RFC
 * 7517) and is named by its thumbprint (RFC 7638), the kid.
 *
 * Any thread; each keeps the last keys that it signed with until it ends. Out of memory aborts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_SIGNING_H
#define MEDIA_SIGNING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* In stored records: a number never gets another meaning. */
enum signing_alg { SIGNING_ES256, SIGNING_RS256, SIGNING_EDDSA, SIGNING_ALGS };

/* "ES256" and so on. */
const char *signing_alg_name(enum signing_alg alg);
/* False: it is none of them. */
bool signing_alg_named(struct slice name, enum signing_alg *alg);

/* Makes a private key. RSA takes some hundred milliseconds of processor time. */
struct slice signing_make(struct arena *arena, enum signing_alg alg);

/* The public key of a private one, with its kid: {"kty","use","alg","kid",...} as JSON text. False:
 * it is no private key for this alg. */
bool signing_describe(struct arena *arena, enum signing_alg alg, struct slice private_key,
		      struct slice *kid, struct slice *jwk);

/* The public key of an RSA key as PEM ("PUBLIC KEY"). */
struct slice signing_pem(struct arena *arena, struct slice private_key);

/* Signs; false: it is no private key for this alg. */
bool signing_sign(struct arena *arena, enum signing_alg alg, struct slice private_key,
		  struct slice text, struct slice *signature);

#endif
