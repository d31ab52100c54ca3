/* Signatures that anyone can verify, and key IDs: the examples of RFC 7638 and RFC 8037, and keys
 * of ours that libcrypto verifies with their published part.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/text.h"
#include "media/signing.h"
#include "suite.h"

static struct arena *arena;

static void set_up(void)
{
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

/* RFC 8037, appendix A: an Ed25519 key, its thumbprint, and a signature. */
static struct slice example_key(void)
{
	static const char head[] = "302e020100300506032b657004220420";
	struct buffer key = BUFFER_INITIAL(arena);
	struct slice seed;

	for (size_t i = 0; head[i] != '\0'; i += 2)
		buffer_append_byte(
			&key, (char)(text_hex_value(head[i]) << 4 | text_hex_value(head[i + 1])));
	ck_assert(text_base64url_decode(arena, SLICE("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"),
					&seed));
	buffer_append(&key, seed);
	return buffer_slice(&key);
}

START_TEST(the_example_of_rfc_8037)
{
	const struct slice key = example_key();
	struct slice kid, jwk, signature;

	ck_assert(signing_describe(arena, SIGNING_EDDSA, key, &kid, &jwk));
	ck_assert_str_eq(kid.data, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
	ck_assert_str_eq(arena_copy(arena, jwk).data,
			 "{\"kty\":\"OKP\",\"use\":\"sig\",\"alg\":\"EdDSA\",\"kid\":"
			 "\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\",\"crv\":\"Ed25519\","
			 "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}");
	ck_assert(signing_sign(arena, SIGNING_EDDSA, key,
			       SLICE("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"),
			       &signature));
	ck_assert_str_eq(
		text_base64url(arena, signature).data,
		"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvp"
		"Ar_MuM0KAg");
}
END_TEST

START_TEST(a_key_is_only_for_its_alg)
{
	struct slice kid, jwk, signature;

	for (enum signing_alg made = 0; made < SIGNING_ALGS; made++) {
		const struct slice key = signing_make(arena, made);

		for (enum signing_alg alg = 0; alg < SIGNING_ALGS; alg++) {
			ck_assert_int_eq(signing_describe(arena, alg, key, &kid, &jwk),
					 alg == made);
			ck_assert_int_eq(signing_sign(arena, alg, key, SLICE("text"), &signature),
					 alg == made);
		}
		for (size_t size = 0; size < key.size; size += 7)
			ck_assert(!signing_describe(arena, made, (struct slice){ key.data, size },
						    &kid, &jwk));
	}
}
END_TEST

static const size_t sizes[] = { [SIGNING_ES256] = 64, [SIGNING_RS256] = 256, [SIGNING_EDDSA] = 64 };

START_TEST(signatures_have_the_sizes_of_jws)
{
	for (enum signing_alg alg = 0; alg < SIGNING_ALGS; alg++) {
		const struct slice key = signing_make(arena, alg);
		struct slice signature;

		for (int i = 0; i < 20; i++) {
			ck_assert(signing_sign(arena, alg, key, SLICE("text"), &signature));
			ck_assert_uint_eq(signature.size, sizes[alg]);
		}
	}
}
END_TEST

/* Jitsi Meet reads keys in this format. */
START_TEST(a_pem_verifies)
{
	const struct slice key = signing_make(arena, SIGNING_RS256), text = SLICE("text");
	const struct slice pem = signing_pem(arena, key);
	BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.size);
	EVP_PKEY *public = PEM_read_bio_PUBKEY(memory, NULL, NULL, NULL);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	struct slice signature;

	ck_assert_int_eq(strncmp(pem.data, "-----BEGIN PUBLIC KEY-----\n", 27), 0);
	ck_assert(signing_sign(arena, SIGNING_RS256, key, text, &signature));
	ck_assert_ptr_nonnull(public);
	ck_assert_int_eq(EVP_DigestVerifyInit_ex(context, NULL, "SHA256", NULL, NULL, public, NULL),
			 1);
	ck_assert_int_eq(EVP_DigestVerify(context, (const unsigned char *)signature.data,
					  signature.size, (const unsigned char *)text.data,
					  text.size),
			 1);
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(public);
	BIO_free(memory);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("signing");
	Suite *suite = suite_create("media");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, the_example_of_rfc_8037);
	tcase_add_test(cases, a_key_is_only_for_its_alg);
	tcase_add_test(cases, signatures_have_the_sizes_of_jws);
	tcase_add_test(cases, a_pem_verifies);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
