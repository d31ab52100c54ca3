/* See media/signing.h. Together with base/digest.c, the only file that includes OpenSSL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/signing.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#define RSA_BITS 2048
#define EC_SIZE 32 /* bytes of a coordinate of P-256, and of r and s */

static const char *const names[SIGNING_ALGS] = {
	[SIGNING_ES256] = "ES256",
	[SIGNING_RS256] = "RS256",
	[SIGNING_EDDSA] = "EdDSA",
};

static const int types[SIGNING_ALGS] = {
	[SIGNING_ES256] = EVP_PKEY_EC,
	[SIGNING_RS256] = EVP_PKEY_RSA,
	[SIGNING_EDDSA] = EVP_PKEY_ED25519,
};

const char *signing_alg_name(enum signing_alg alg)
{
	return names[alg];
}

bool signing_alg_named(struct slice name, enum signing_alg *alg)
{
	for (size_t i = 0; i < SIGNING_ALGS; i++) {
		if (slice_is(name, names[i])) {
			*alg = (enum signing_alg)i;
			return true;
		}
	}
	return false;
}

/* ---- keys of libcrypto ---- */

/* Keeps libcrypto from reading its configuration, as in base/digest.c. */
static void begin_libcrypto(void)
{
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		ABORT("OpenSSL failed");
}

struct slice signing_make(struct arena *arena, enum signing_alg alg)
{
	EVP_PKEY *key = NULL;
	PKCS8_PRIV_KEY_INFO *info;
	unsigned char *encoded = NULL;
	struct slice made;
	int size;

	begin_libcrypto();
	switch (alg) {
	case SIGNING_ES256:
		key = EVP_EC_gen("P-256");
		break;
	case SIGNING_RS256:
		key = EVP_RSA_gen((unsigned)RSA_BITS);
		break;
	case SIGNING_EDDSA:
	case SIGNING_ALGS:
		key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
		break;
	}
	info = key == NULL ? NULL : EVP_PKEY2PKCS8(key);
	if (info == NULL || (size = i2d_PKCS8_PRIV_KEY_INFO(info, &encoded)) <= 0)
		ABORT("OpenSSL failed");
	made = arena_copy(arena, (struct slice){ (const char *)encoded, (size_t)size });
	OPENSSL_clear_free(encoded, (size_t)size);
	PKCS8_PRIV_KEY_INFO_free(info);
	EVP_PKEY_free(key);
	return made;
}

static bool key_is_for(EVP_PKEY *key, enum signing_alg alg)
{
	char group[32] = "";

	if (EVP_PKEY_get_base_id(key) != types[alg])
		return false;
	if (alg == SIGNING_RS256)
		return EVP_PKEY_get_bits(key) >= RSA_BITS;
	return alg != SIGNING_ES256 ||
	       (EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
		strcmp(group, "prime256v1") == 0);
}

/* Returns NULL if it is not a private key for the alg. */
static EVP_PKEY *read_private_key(enum signing_alg alg, struct slice private_key)
{
	const unsigned char *at = (const unsigned char *)private_key.data;
	PKCS8_PRIV_KEY_INFO *info;
	EVP_PKEY *key;

	begin_libcrypto();
	info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)private_key.size);
	key = info == NULL ? NULL : EVP_PKCS82PKEY(info);

	PKCS8_PRIV_KEY_INFO_free(info);
	if (key != NULL && !key_is_for(key, alg)) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	return key;
}

/* ---- keys that a thread keeps ---- */

/* Reading a key costs twenty times as much as signing with it, so each thread keeps its last
 * keys. */
#define KEPT 8

struct kept_key {
	enum signing_alg alg;
	unsigned char *encoded; /* NULL if the place is empty */
	size_t size;
	EVP_PKEY *key;
	EVP_PKEY_CTX *signer; /* signs digests; NULL for EdDSA, which signs texts */
};

struct kept_keys {
	struct kept_key keys[KEPT];
	size_t next; /* the place to replace next */
};

static pthread_key_t kept_keys_key;
static pthread_once_t kept_keys_once = PTHREAD_ONCE_INIT;

static void release_key(struct kept_key *kept)
{
	OPENSSL_clear_free(kept->encoded, kept->size);
	EVP_PKEY_CTX_free(kept->signer);
	EVP_PKEY_free(kept->key);
	*kept = (struct kept_key){ .encoded = NULL };
}

static void free_kept_keys(void *place)
{
	struct kept_keys *kept = place;

	for (size_t i = 0; i < KEPT; i++)
		release_key(&kept->keys[i]);
	free(kept);
}

static void make_kept_keys_key(void)
{
	if (pthread_key_create(&kept_keys_key, free_kept_keys) != 0)
		ABORT("cannot create a thread key");
}

static struct kept_keys *kept_keys(void)
{
	struct kept_keys *kept;

	if (pthread_once(&kept_keys_once, make_kept_keys_key) != 0)
		ABORT("cannot create a thread key");
	kept = pthread_getspecific(kept_keys_key);
	if (kept == NULL) {
		kept = memory_check(calloc(1, sizeof *kept));
		if (pthread_setspecific(kept_keys_key, kept) != 0)
			ABORT("cannot create a thread key");
	}
	return kept;
}

/* Returns the key, borrowed until the next call in this thread, or NULL if it is not a key for the
 * alg. */
static const struct kept_key *keep_key(enum signing_alg alg, struct slice private_key)
{
	struct kept_keys *all = kept_keys();
	struct kept_key *kept = all->keys;

	for (; kept < all->keys + KEPT; kept++) {
		if (kept->encoded != NULL && kept->alg == alg && kept->size == private_key.size &&
		    CRYPTO_memcmp(kept->encoded, private_key.data, kept->size) == 0)
			return kept;
	}
	kept = &all->keys[all->next++ % KEPT];
	release_key(kept);
	kept->key = read_private_key(alg, private_key);
	if (kept->key == NULL)
		return NULL;
	kept->alg = alg;
	kept->size = private_key.size;
	kept->encoded = memory_check(OPENSSL_memdup(private_key.data, private_key.size));
	if (alg == SIGNING_EDDSA)
		return kept;
	/* Creating a signer costs a third of an ES256 signature. */
	kept->signer = EVP_PKEY_CTX_new_from_pkey(NULL, kept->key, NULL);
	if (kept->signer == NULL || EVP_PKEY_sign_init(kept->signer) != 1 ||
	    EVP_PKEY_CTX_set_signature_md(kept->signer, EVP_sha256()) != 1)
		ABORT("OpenSSL failed");
	return kept;
}

/* ---- the public key ---- */

/* Returns a number of the key in base64url: unsigned, big-endian, at least `size` bytes. */
static struct slice number_of(struct arena *arena, const EVP_PKEY *key, const char *name,
			      size_t least)
{
	BIGNUM *number = NULL;
	unsigned char *bytes;
	size_t size;

	if (EVP_PKEY_get_bn_param(key, name, &number) != 1)
		ABORT("OpenSSL failed");
	size = (size_t)BN_num_bytes(number);
	if (size < least)
		size = least;
	bytes = arena_alloc(arena, size + 1);
	if (BN_bn2binpad(number, bytes, (int)size) < 0)
		ABORT("OpenSSL failed");
	BN_free(number);
	return text_base64url(arena, (struct slice){ (const char *)bytes, size });
}

/* Returns the members that the thumbprint covers, in the order of their names, without the
 * braces. */
static struct slice members_of(struct arena *arena, const EVP_PKEY *key, enum signing_alg alg)
{
	struct slice first, second;
	unsigned char bytes[EC_SIZE];
	size_t size = sizeof bytes;

	switch (alg) {
	case SIGNING_ES256:
		first = number_of(arena, key, OSSL_PKEY_PARAM_EC_PUB_X, EC_SIZE);
		second = number_of(arena, key, OSSL_PKEY_PARAM_EC_PUB_Y, EC_SIZE);
		return slice_of(arena_text(
			arena, "\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"%s\",\"y\":\"%s\"",
			first.data, second.data));
	case SIGNING_RS256:
		first = number_of(arena, key, OSSL_PKEY_PARAM_RSA_E, 1);
		second = number_of(arena, key, OSSL_PKEY_PARAM_RSA_N, 1);
		return slice_of(arena_text(arena, "\"e\":\"%s\",\"kty\":\"RSA\",\"n\":\"%s\"",
					   first.data, second.data));
	case SIGNING_EDDSA:
	case SIGNING_ALGS:
		break;
	}
	if (EVP_PKEY_get_raw_public_key(key, bytes, &size) != 1)
		ABORT("OpenSSL failed");
	first = text_base64url(arena, (struct slice){ (const char *)bytes, size });
	return slice_of(
		arena_text(arena, "\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"%s\"", first.data));
}

bool signing_describe(struct arena *arena, enum signing_alg alg, struct slice private_key,
		      struct slice *kid, struct slice *jwk)
{
	EVP_PKEY *key = read_private_key(alg, private_key);
	struct buffer text = BUFFER_INITIAL(arena);
	unsigned char digest[DIGEST_SIZE];
	const char *members;
	json_t *parsed, *shown;
	json_error_t error;

	if (key == NULL)
		return false;
	members = arena_text(arena, "{%s}", members_of(arena, key, alg).data);
	EVP_PKEY_free(key);
	digest_sha256(slice_of(members), digest);
	*kid = text_base64url(arena, (struct slice){ (const char *)digest, sizeof digest });

	/* In the order of the JWK's table, which begins with kty. */
	parsed = arena_json(arena, json_loads(members, 0, &error));
	shown = arena_json(arena,
			   json_pack("{s:O, s:s, s:s, s:s%}", "kty", json_object_get(parsed, "kty"),
				     "use", "sig", "alg", names[alg], "kid", kid->data, kid->size));
	if (json_object_update_missing(shown, parsed) != 0)
		ABORT("cannot change a JSON value");
	buffer_append_json(&text, shown);
	*jwk = buffer_slice(&text);
	return true;
}

struct slice signing_pem(struct arena *arena, struct slice private_key)
{
	EVP_PKEY *key = read_private_key(SIGNING_RS256, private_key);
	BIO *memory = BIO_new(BIO_s_mem());
	struct slice pem;
	char *text;
	long size;

	if (key == NULL || memory == NULL || PEM_write_bio_PUBKEY(memory, key) != 1 ||
	    (size = BIO_get_mem_data(memory, &text)) <= 0)
		ABORT("OpenSSL failed");
	pem = arena_copy(arena, (struct slice){ text, (size_t)size });
	BIO_free(memory);
	EVP_PKEY_free(key);
	return pem;
}

/* ---- signatures ---- */

/* Converts the DER signature of libcrypto to r and s of EC_SIZE bytes each. */
static struct slice plain_signature(struct arena *arena, const unsigned char *encoded, size_t size)
{
	ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &encoded, (long)size);
	unsigned char *bytes = arena_alloc(arena, 2 * EC_SIZE);

	if (signature == NULL ||
	    BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes, EC_SIZE) != EC_SIZE ||
	    BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes + EC_SIZE, EC_SIZE) != EC_SIZE)
		ABORT("OpenSSL failed");
	ECDSA_SIG_free(signature);
	return (struct slice){ (const char *)bytes, 2 * EC_SIZE };
}

bool signing_sign(struct arena *arena, enum signing_alg alg, struct slice private_key,
		  struct slice text, struct slice *signature)
{
	const struct kept_key *kept = keep_key(alg, private_key);
	unsigned char digest[DIGEST_SIZE], *made;
	EVP_MD_CTX *context;
	bool is_signed;
	size_t size;

	if (kept == NULL)
		return false;
	size = (size_t)EVP_PKEY_get_size(kept->key);
	made = arena_alloc(arena, size);
	if (kept->signer != NULL) {
		digest_sha256(text, digest);
		is_signed = EVP_PKEY_sign(kept->signer, made, &size, digest, sizeof digest) == 1;
	} else {
		context = EVP_MD_CTX_new();
		is_signed = context != NULL &&
			    EVP_DigestSignInit_ex(context, NULL, NULL, NULL, NULL, kept->key,
						  NULL) == 1 &&
			    EVP_DigestSign(context, made, &size, (const unsigned char *)text.data,
					   text.size) == 1;
		EVP_MD_CTX_free(context);
	}
	if (!is_signed)
		return false;
	*signature = alg == SIGNING_ES256 ? plain_signature(arena, made, size)
					  : (struct slice){ (const char *)made, size };
	return true;
}
