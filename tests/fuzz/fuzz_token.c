/* Tokens. The first byte selects the input: the bytes as they are; or header and claims, separated
 * by a newline, which are encoded and correctly signed; or a valid token with one byte changed. A
 * token not signed with the secret must never be accepted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"

#define NOW INT64_C(1700000000000)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const char *data, size_t size);

static struct arena *arena;
static struct roster *roster;
static struct token_memory *memory;
static struct slice good;
static char good_text[1024];

/* The time and random numbers are fixed, so that a finding can be repeated. */
static int64_t fixed_now(const struct clock *clock)
{
	(void)clock;
	return NOW;
}

static void fixed_random(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	memset(bytes, 0x5a, size);
}

static const struct clock fixed = { .now = fixed_now, .random = fixed_random };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct account account = { .is_enabled = true, .name = "fuzz", .secret_count = 1 };
	struct fault fault = FAULT_INITIAL;

	(void)argc;
	(void)argv;
	json_object_seed(1);
	arena = arena_open();
	memory = token_memory_open();
	account.id = id_random(&fixed);
	account.access_key = id_random(&fixed);
	id_print(&account.id, account.id_text);
	id_print(&account.access_key, account.access_key_text);
	memset(account.secrets[0].text, 'A', SECRET_TEXT_SIZE);
	roster = roster_parse(roster_text(arena, &account, 1, NULL, 0), &fault);
	if (roster == NULL)
		abort();
	roster->generation = 1;
	good = token_sign_management(arena, &fixed, &roster->accounts[0], NOW, 3600);
	memcpy(good_text, good.data, good.size);
	good.data = good_text;
	arena_reset(arena);
	return 0;
}

static bool verify(struct slice token)
{
	struct token_claims claims;
	struct fault fault = FAULT_INITIAL;

	return token_verify(memory, roster, arena, token, TOKEN_MANAGEMENT, NOW, &claims, &fault);
}

static void append_encoded(struct buffer *token, const void *bytes, size_t size)
{
	unsigned char *encoded = arena_alloc(arena, size / 3 * 4 + 8);
	size_t n = (size_t)EVP_EncodeBlock(encoded, bytes, (int)size);

	for (size_t i = 0; i < n && encoded[i] != '='; i++)
		buffer_append_byte(token, encoded[i] == '+'   ? '-'
					  : encoded[i] == '/' ? '_'
							      : (char)encoded[i]);
}

/* Neither the header nor the claims may crash the process; an accepted token says HS256. */
static void sign_and_verify(const char *data, size_t size)
{
	const char *end = size == 0 ? NULL : memchr(data, '\n', size);
	size_t head = end == NULL ? size : (size_t)(end - data);
	struct buffer token = BUFFER_INITIAL(arena);
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int mac_size;

	append_encoded(&token, data, head);
	buffer_append_byte(&token, '.');
	if (end != NULL)
		append_encoded(&token, end + 1, size - head - 1);
	HMAC(EVP_sha256(), roster->accounts[0].secrets[0].text, SECRET_TEXT_SIZE,
	     (const unsigned char *)token.data, token.size, mac, &mac_size);
	buffer_append_byte(&token, '.');
	append_encoded(&token, mac, mac_size);
	if (verify(buffer_slice(&token)) && (head == 0 || memmem(data, head, "HS256", 5) == NULL) &&
	    memmem(data, head, "\\u", 2) == NULL)
		abort();
}

static void spoil_and_verify(const char *data, size_t size)
{
	char spoilt[sizeof good_text];
	size_t at;

	if (size < 3)
		return;
	at = ((unsigned char)data[0] * 256u + (unsigned char)data[1]) % good.size;
	if (data[2] == good.data[at])
		return;
	memcpy(spoilt, good.data, good.size);
	spoilt[at] = data[2];
	if (verify((struct slice){ spoilt, good.size }) || !verify(good))
		abort();
}

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	if (size == 0)
		return 0;
	switch ((unsigned char)data[0] % 3) {
	case 0:
		if (verify((struct slice){ data + 1, size - 1 }))
			abort();
		break;
	case 1:
		sign_and_verify(data + 1, size - 1);
		break;
	case 2:
		spoil_and_verify(data + 1, size - 1);
		break;
	}
	arena_reset(arena);
	return 0;
}
