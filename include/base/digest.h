/* SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), and for the protocols of other servers also
 * SHA-384, SHA-512 and HMAC-SHA-1. Only this module includes libcrypto's headers for them. No copy
 * of a key remains in memory after a call. Any thread; each allocates what it needs at its first
 * call and frees it when it ends. The process aborts if it runs out of memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define DIGEST_SIZE 32

void digest_sha256(struct slice text, unsigned char digest[DIGEST_SIZE]);
/* Returns the first 63 bits of SHA-256, for an entity tag. */
uint64_t digest_number(struct slice text);
void digest_hmac_sha256(struct slice key, struct slice text, unsigned char mac[DIGEST_SIZE]);

enum digest { DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };
#define DIGEST_SIZE_MOST 64
/* Writes the hash and returns its size in bytes. */
size_t digest_of(enum digest kind, struct slice text, unsigned char digest[DIGEST_SIZE_MOST]);
/* Derives the key for one purpose from a secret (HKDF with SHA-256, RFC 5869, without a salt). The
 * label names the purpose, in at most DIGEST_LABEL_MOST bytes. */
#define DIGEST_LABEL_MOST 63
void digest_derive_key(struct slice secret, const char *label, unsigned char key[DIGEST_SIZE]);
#define DIGEST_SHA1_SIZE 20
void digest_hmac_sha1(struct slice key, struct slice text, unsigned char mac[DIGEST_SHA1_SIZE]);

/* Seals a text with AES-256-GCM (NIST SP 800-38D). What is sealed is SEAL_MORE bytes longer: the
 * nonce is in front, which must be random, and a tag at the end. */
#define SEAL_NONCE_SIZE 12
#define SEAL_TAG_SIZE 16
#define SEAL_MORE (SEAL_NONCE_SIZE + SEAL_TAG_SIZE)
void digest_seal(const unsigned char key[DIGEST_SIZE], const unsigned char nonce[SEAL_NONCE_SIZE],
		 struct slice text, unsigned char *sealed);
/* Opens it again into `text`, which has SEAL_MORE bytes less. Returns false if the key is another
 * one, or the sealed bytes were changed; `text` has nothing then. */
bool digest_open(const unsigned char key[DIGEST_SIZE], struct slice sealed, char *text);

/* Compares DIGEST_SIZE bytes in constant time. */
bool digest_equal(const void *digest, const void *other);

#endif
