/* SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104). The implementation is libcrypto's, which this
 * module alone includes. Nothing of a key stays behind after a call. Any thread; what a thread
 * needs is made at its first call and freed when it ends. Out of memory aborts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>

#include "base/slice.h"

#define DIGEST_SIZE 32

void digest_sha256(struct slice text, unsigned char digest[DIGEST_SIZE]);
void digest_hmac_sha256(struct slice key, struct slice text, unsigned char mac[DIGEST_SIZE]);

/* Compares DIGEST_SIZE bytes in a time that does not depend on them. */
bool digest_equal(const void *digest, const void *other);

#endif
