/* SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104); for other servers' protocols also the longer
 * hashes and HMAC-SHA-1. The implementation is libcrypto's, which this module alone includes.
 * Nothing of a key stays behind after a call. Any thread; what a thread needs is made at its first
 * call and freed when it ends. Out of memory aborts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define DIGEST_SIZE 32

void digest_sha256(struct slice text, unsigned char digest[DIGEST_SIZE]);
/* The first 63 bits of SHA-256, for an entity tag. */
uint64_t digest_number(struct slice text);
void digest_hmac_sha256(struct slice key, struct slice text, unsigned char mac[DIGEST_SIZE]);

enum digest { DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };
#define DIGEST_SIZE_MOST 64
/* Returns the size of the hash. */
size_t digest_of(enum digest kind, struct slice text, unsigned char digest[DIGEST_SIZE_MOST]);
#define DIGEST_SHA1_SIZE 20
void digest_hmac_sha1(struct slice key, struct slice text, unsigned char mac[DIGEST_SHA1_SIZE]);

/* Compares DIGEST_SIZE bytes in a time that does not depend on them. */
bool digest_equal(const void *digest, const void *other);

#endif
