/* The only file that includes OpenSSL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/digest.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/log.h"
#include "base/memory.h"

/* Creating a context costs several times as much as using it, so each thread keeps its own. */
struct contexts {
	EVP_MD *sha256;
	EVP_MD_CTX *digest;
};

static pthread_key_t contexts_key;
static pthread_once_t contexts_once = PTHREAD_ONCE_INIT;

static void free_contexts(void *place)
{
	struct contexts *contexts = place;

	EVP_MD_CTX_free(contexts->digest);
	EVP_MD_free(contexts->sha256);
	free(contexts);
}

/* Keeps libcrypto from reading its configuration file, which would happen in the middle of a
 * request and is not needed. */
static void make_contexts_key(void)
{
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 ||
	    pthread_key_create(&contexts_key, free_contexts) != 0)
		ABORT("cannot create a thread key");
}

static struct contexts *thread_contexts(void)
{
	if (pthread_once(&contexts_once, make_contexts_key) != 0)
		ABORT("cannot create a thread key");

	struct contexts *contexts = pthread_getspecific(contexts_key);

	if (contexts != NULL)
		return contexts;
	contexts = memory_check(malloc(sizeof *contexts));
	*contexts = (struct contexts){
		.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL),
		.digest = EVP_MD_CTX_new(),
	};
	if (contexts->sha256 == NULL || contexts->digest == NULL ||
	    pthread_setspecific(contexts_key, contexts) != 0)
		ABORT("OpenSSL failed");
	return contexts;
}

void digest_sha256(struct slice text, unsigned char digest[DIGEST_SIZE])
{
	const struct contexts *contexts = thread_contexts();
	unsigned size = 0;

	if (EVP_DigestInit_ex2(contexts->digest, contexts->sha256, NULL) != 1 ||
	    EVP_DigestUpdate(contexts->digest, text.data, text.size) != 1 ||
	    EVP_DigestFinal_ex(contexts->digest, digest, &size) != 1 || size != DIGEST_SIZE)
		ABORT("OpenSSL failed");
}

uint64_t digest_number(struct slice text)
{
	unsigned char digest[DIGEST_SIZE];
	uint64_t first = 0;

	digest_sha256(text, digest);
	for (size_t i = 0; i < 8; i++)
		first = first << 8 | digest[i];
	return first >> 1;
}

#define BLOCK_SIZE 64

static void apply_pad(unsigned char block[BLOCK_SIZE], unsigned char pad)
{
	for (size_t i = 0; i < BLOCK_SIZE; i++)
		block[i] ^= pad;
}

/* Implements RFC 2104. OpenSSL's implementation keeps a copy of the key in its context until the
 * next key, so it would need another key after each use, and it takes a third longer. */
void digest_hmac_sha256(struct slice key, struct slice text, unsigned char mac[DIGEST_SIZE])
{
	const struct contexts *contexts = thread_contexts();
	unsigned char block[BLOCK_SIZE + DIGEST_SIZE] = { 0 }; /* the key, then the inner digest */
	unsigned size = 0;

	if (key.size > BLOCK_SIZE)
		digest_sha256(key, block);
	else if (key.size > 0)
		memcpy(block, key.data, key.size);
	apply_pad(block, 0x36);
	if (EVP_DigestInit_ex2(contexts->digest, contexts->sha256, NULL) != 1 ||
	    EVP_DigestUpdate(contexts->digest, block, BLOCK_SIZE) != 1 ||
	    EVP_DigestUpdate(contexts->digest, text.data, text.size) != 1 ||
	    EVP_DigestFinal_ex(contexts->digest, block + BLOCK_SIZE, &size) != 1 ||
	    size != DIGEST_SIZE)
		ABORT("OpenSSL failed");
	apply_pad(block, 0x36 ^ 0x5c);
	digest_sha256((struct slice){ (const char *)block, sizeof block }, mac);
	explicit_bzero(block, sizeof block);
}

size_t digest_of(enum digest kind, struct slice text, unsigned char digest[DIGEST_SIZE_MOST])
{
	static const char *const names[] = {
		[DIGEST_SHA256] = "SHA256",
		[DIGEST_SHA384] = "SHA384",
		[DIGEST_SHA512] = "SHA512",
	};
	size_t size = 0;

	(void)thread_contexts();
	if (EVP_Q_digest(NULL, names[kind], NULL, text.data, text.size, digest, &size) != 1)
		ABORT("OpenSSL failed");
	return size;
}

void digest_derive_key(struct slice secret, const char *label, unsigned char key[DIGEST_SIZE])
{
	static const char no_salt[DIGEST_SIZE];
	char info[DIGEST_LABEL_MOST + 1];
	const size_t size = strlen(label);
	unsigned char extracted[DIGEST_SIZE];

	if (size > DIGEST_LABEL_MOST)
		ABORT("the label of a key is too long");
	memcpy(info, label, size);
	info[size] = 1;
	digest_hmac_sha256((struct slice){ no_salt, sizeof no_salt }, secret, extracted);
	digest_hmac_sha256((struct slice){ (const char *)extracted, sizeof extracted },
			   (struct slice){ info, size + 1 }, key);
	explicit_bzero(extracted, sizeof extracted);
}

void digest_hmac_sha1(struct slice key, struct slice text, unsigned char mac[DIGEST_SHA1_SIZE])
{
	size_t size = 0;

	(void)thread_contexts();
	if (EVP_Q_mac(NULL, "HMAC", NULL, "SHA1", NULL, key.data, key.size,
		      (const unsigned char *)text.data, text.size, mac, DIGEST_SHA1_SIZE,
		      &size) == NULL ||
	    size != DIGEST_SHA1_SIZE)
		ABORT("OpenSSL failed");
}

void digest_seal(const unsigned char key[DIGEST_SIZE], const unsigned char nonce[SEAL_NONCE_SIZE],
		 struct slice text, unsigned char *sealed)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	unsigned char *const body = sealed + SEAL_NONCE_SIZE;
	int size = 0, rest = 0;

	(void)thread_contexts();
	memcpy(sealed, nonce, SEAL_NONCE_SIZE);
	if (context == NULL || text.size > INT_MAX ||
	    EVP_EncryptInit_ex2(context, EVP_aes_256_gcm(), key, sealed, NULL) != 1 ||
	    EVP_EncryptUpdate(context, body, &size, (const unsigned char *)text.data,
			      (int)text.size) != 1 ||
	    EVP_EncryptFinal_ex(context, body + size, &rest) != 1 ||
	    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG_SIZE, body + text.size) !=
		    1)
		ABORT("OpenSSL failed");
	EVP_CIPHER_CTX_free(context);
}

bool digest_open(const unsigned char key[DIGEST_SIZE], struct slice sealed, char *text)
{
	const unsigned char *bytes = (const unsigned char *)sealed.data;
	unsigned char tag[SEAL_TAG_SIZE];
	EVP_CIPHER_CTX *context;
	int size = 0, rest = 0;
	size_t n;
	bool is_right;

	if (sealed.size < SEAL_MORE || sealed.size > INT_MAX)
		return false;
	(void)thread_contexts();
	n = sealed.size - SEAL_MORE;
	memcpy(tag, bytes + SEAL_NONCE_SIZE + n, sizeof tag);
	context = EVP_CIPHER_CTX_new();
	if (context == NULL ||
	    EVP_DecryptInit_ex2(context, EVP_aes_256_gcm(), key, bytes, NULL) != 1 ||
	    EVP_DecryptUpdate(context, (unsigned char *)text, &size, bytes + SEAL_NONCE_SIZE,
			      (int)n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG_SIZE, tag) != 1)
		ABORT("OpenSSL failed");
	is_right = EVP_DecryptFinal_ex(context, (unsigned char *)text + size, &rest) == 1;
	if (!is_right)
		explicit_bzero(text, n);
	EVP_CIPHER_CTX_free(context);
	return is_right;
}

bool digest_equal(const void *digest, const void *other)
{
	return CRYPTO_memcmp(digest, other, DIGEST_SIZE) == 0;
}
