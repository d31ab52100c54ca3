/* Takes the place of two functions of libcrypto in the programs that call fast_keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fast_keys.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define KEYS 4

static bool is_fast;

void fast_keys(void)
{
	is_fast = true;
}

typedef EVP_PKEY *make_key(OSSL_LIB_CTX *, const char *, const char *, ...);

static EVP_PKEY *next_key(make_key *make, OSSL_LIB_CTX *library, const char *properties,
			  size_t bits)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static EVP_PKEY *keys[KEYS];
	static unsigned next;
	EVP_PKEY **key, *copy;

	pthread_mutex_lock(&lock);
	key = &keys[next++ % KEYS];
	if (*key == NULL)
		*key = make(library, properties, "RSA", bits);
	copy = EVP_PKEY_dup(*key);
	pthread_mutex_unlock(&lock);
	return copy;
}

EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *library, const char *properties, const char *type, ...)
{
	make_key *make;
	size_t bits = 0;
	const char *group = NULL;
	va_list arguments;

	va_start(arguments, type);
	if (strcmp(type, "RSA") == 0)
		bits = va_arg(arguments, size_t);
	else if (strcmp(type, "EC") == 0)
		group = va_arg(arguments, const char *);
	va_end(arguments);
	*(void **)&make = dlsym(RTLD_NEXT, "EVP_PKEY_Q_keygen");
	if (is_fast && bits != 0)
		return next_key(make, library, properties, bits);
	return bits != 0 ? make(library, properties, type, bits)
			 : make(library, properties, type, group);
}

/* ---- keys that were read before ---- */

#define READ 64

struct read_key {
	unsigned char *encoded; /* NULL if the place is empty */
	int size;
	EVP_PKEY *key;
};

/* Takes what was encoded. Returns a key that the caller frees; no caller changes it. */
static EVP_PKEY *read_once(const PKCS8_PRIV_KEY_INFO *info, unsigned char *encoded, int size,
			   EVP_PKEY *(*read)(const PKCS8_PRIV_KEY_INFO *))
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct read_key keys[READ];
	static unsigned next;
	struct read_key *known = keys;
	EVP_PKEY *key;

	pthread_mutex_lock(&lock);
	while (known < keys + READ && (known->encoded == NULL || known->size != size ||
				       memcmp(known->encoded, encoded, (size_t)size) != 0))
		known++;
	key = known < keys + READ ? known->key : read(info);
	if (known == keys + READ && key != NULL) {
		known = &keys[next++ % READ];
		OPENSSL_free(known->encoded);
		EVP_PKEY_free(known->key);
		*known = (struct read_key){ encoded, size, key };
		encoded = NULL;
	}
	if (key != NULL)
		EVP_PKEY_up_ref(key);
	pthread_mutex_unlock(&lock);
	OPENSSL_free(encoded);
	return key;
}

EVP_PKEY *EVP_PKCS82PKEY(const PKCS8_PRIV_KEY_INFO *info)
{
	EVP_PKEY *(*read)(const PKCS8_PRIV_KEY_INFO *);
	unsigned char *encoded = NULL;
	int size;

	*(void **)&read = dlsym(RTLD_NEXT, "EVP_PKCS82PKEY");
	size = is_fast ? i2d_PKCS8_PRIV_KEY_INFO(info, &encoded) : 0;
	return size > 0 ? read_once(info, encoded, size, read) : read(info);
}
