/* Takes the place of libcrypto's function in the programs that call fast_keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fast_keys.h"

#include <dlfcn.h>
#include <openssl/evp.h>
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
