/* Tokens: accepted tokens, and every known attack with a forged token.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/text.h"
#include "accounts/roster.h"
#include "accounts/scopes.h"
#include "accounts/token.h"
#include "suite.h"

/* The time that all times in the tables refer to: 2000000000.5 seconds. */
#define NOW INT64_C(2000000000500)

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbb"
#define KEY_C "cccccccccccccccccccccccc"
#define KEY_NOBODY "dddddddddddddddddddddddd"

/* a has one secret, b has two, c is disabled; the secret of NOBODY belongs to no account. */
enum signer { A, B_OLDER, B_YOUNGER, C, NOBODY, SIGNERS };

static struct arena *arena;
static struct roster *roster;
static char secrets[SIGNERS][SECRET_TEXT_SIZE + 1];

static void add_account(json_t *list, const char *letter, const char *key, bool is_enabled,
			const char *older, const char *younger)
{
	const char *id = arena_text(arena, "%s00000000000000000000000", letter);
	json_t *account = json_pack("{s:s, s:s, s:s, s:b, s:s, s:[{s:s, s:s}]}", "id", id, "name",
				    letter, "access_key", key, "enabled", is_enabled, "created_at",
				    "2026-01-31", "secrets", "secret", older, "created_at",
				    "2026-01-31");

	if (younger != NULL)
		json_array_append_new(
			json_object_get(account, "secrets"),
			json_pack("{s:s, s:s}", "secret", younger, "created_at", "2026-02-01"));
	json_array_append_new(list, account);
}

static struct roster *make_roster(bool a_is_enabled, const char *b_older, const char *b_younger)
{
	json_t *list = json_array();
	json_t *file = arena_json(arena, json_pack("{s:i, s:o}", "version", 1, "accounts", list));
	struct fault fault = FAULT_INITIAL;
	struct buffer text = BUFFER_INITIAL(arena);

	add_account(list, "a", KEY_A, a_is_enabled, secrets[A], NULL);
	add_account(list, "b", KEY_B, true, b_older, b_younger);
	add_account(list, "c", KEY_C, false, secrets[C], NULL);
	buffer_append_json(&text, file);

	struct roster *made = roster_parse(buffer_slice(&text), &fault);

	ck_assert_msg(made != NULL, "%s", fault.cause);
	return made;
}

static void set_up(void)
{
	arena = arena_open();
	for (int i = 0; i < SIGNERS; i++) {
		char bytes[32];

		clock_random(&clock_system, bytes, sizeof bytes);
		strcpy(secrets[i], text_base64url(arena, (struct slice){ bytes, 32 }).data);
	}
	roster = make_roster(true, secrets[B_OLDER], secrets[B_YOUNGER]);
}

static void tear_down(void)
{
	roster_close(roster);
	arena_close(arena);
}

/* --- Making tokens, with other code than the code under test --- */

static const char *encoded(const char *text)
{
	return text_base64url(arena, slice_of(text)).data;
}

static const char *signature(const EVP_MD *digest, const char *key, const char *text)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	ck_assert_ptr_nonnull(HMAC(digest, key, (int)strlen(key), (const unsigned char *)text,
				   strlen(text), mac, &size));
	return text_base64url(arena, (struct slice){ (const char *)mac, size }).data;
}

static const char *signed_token(const char *header, const char *claims, enum signer signer)
{
	const char *text = arena_text(arena, "%s.%s", encoded(header), encoded(claims));

	return arena_text(arena, "%s.%s", text, signature(EVP_sha256(), secrets[signer], text));
}

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define CLAIMS(key, rest) "{\"access_key\":\"" key "\"," rest "}"
#define MANAGEMENT "\"type\":\"management\",\"version\":2"
#define GOOD MANAGEMENT ",\"exp\":2000000100"
#define UNSIGNED "malformed token, unknown access key, or wrong signature"

/* Returns the reason for rejecting the token, or NULL if it is accepted for this account. */
static const char *reason(struct token_memory *memory, const struct roster *in, const char *token,
			  int64_t now, const char *name)
{
	struct fault fault = FAULT_INITIAL;
	struct token_claims claims;

	if (token_verify(memory, in, arena, slice_of(token), TOKEN_MANAGEMENT, now, &claims,
			 &fault)) {
		ck_assert_str_eq(claims.account->name, name);
		return NULL;
	}
	ck_assert_ptr_null(claims.account);
	ck_assert_int_eq(fault.kind, FAULT_UNAUTHORIZED);
	ck_assert_str_eq(fault.message, "Token validation error");
	ck_assert_str_eq(fault.cause, "");
	return arena_text(arena, "%s", fault.detail);
}

static void check_reason(const char *got, const char *expected)
{
	if (expected == NULL)
		ck_assert_msg(got == NULL, "refused: %s", got);
	else
		ck_assert_msg(got != NULL, "accepted");
	if (expected != NULL)
		ck_assert_str_eq(got, expected);
}

/* --- Header and claims --- */

#define BAD_HEADER "the token header is malformed"
#define BAD_ALG "the token alg must be HS256"
#define BAD_CRIT "the token header must not contain crit or b64"
#define BAD_TYP "the token typ must be JWT"
#define BAD_TYPE "the token type must be management"
#define BAD_VERSION "the token version must be 2"
#define BAD_EXP "the token must have a numeric exp"
#define EXPIRED_AT(exp, now) "the token expired at " exp " (exp); the server's time is " now
#define TOO_EARLY_AT(start, now) \
	"the token is not valid until " start " (nbf or iat); the server's time is " now \
	" (60 s of difference are allowed)"
#define NOW_TEXT "2033-05-18T03:33:20.500Z"
#define EXPIRED(exp) EXPIRED_AT(exp, NOW_TEXT)
#define TOO_EARLY(start) TOO_EARLY_AT(start, NOW_TEXT)
#define BAD_NBF "the token nbf must be a number"
#define BAD_IAT "the token iat must be a number"

/* clang-format off */
static const struct {
	const char *header;
	const char *claims;
	enum signer signer;
	const char *reason;	/* NULL if accepted for the account of the access key */
} tokens[] = {
	/* Accepted. */
	{ HEADER, CLAIMS(KEY_A, GOOD), A, NULL },
	{ HEADER, CLAIMS(KEY_B, GOOD), B_OLDER, NULL },
	{ HEADER, CLAIMS(KEY_B, GOOD), B_YOUNGER, NULL },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"iat\":2000000000,\"nbf\":2000000000,\"jti\":\"x\""), A, NULL },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"more\":{\"a\":[1]},\"iss\":null"), A, NULL },
	{ "{\"typ\":\"jwt\",\"alg\":\"HS256\"}", CLAIMS(KEY_A, GOOD), A, NULL },
	{ "{\"alg\":\"HS256\"}", CLAIMS(KEY_A, GOOD), A, NULL },
	{ "{\"alg\":\"HS256\",\"kid\":\"1\",\"cty\":7}", CLAIMS(KEY_A, GOOD), A, NULL },
	{ " { \"alg\" : \"HS\\u003256\" } ", CLAIMS(KEY_A, GOOD), A, NULL },
	{ HEADER, "{\"exp\":2000000100,\"version\":2.0,\"type\":\"management\",\"access_key\":\"" KEY_A "\"}", A, NULL },
	/* Times: exp without leeway, nbf and iat with 60 s. */
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":2000000001"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":2000000000.501"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":1e300"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":9223372036854775807"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":2000000000.5"), A, EXPIRED("2033-05-18T03:33:20.500Z") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":2000000000.499"), A, EXPIRED("2033-05-18T03:33:20.499Z") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":2000000000"), A, EXPIRED("2033-05-18T03:33:20.000Z") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":1999999999"), A, EXPIRED("2033-05-18T03:33:19.000Z") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":0"), A, EXPIRED("1970-01-01T00:00:00.000Z") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":-1e300"), A, EXPIRED("-1e+300 s after 1970") },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT), A, BAD_EXP },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":\"2000000100\""), A, BAD_EXP },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":null"), A, BAD_EXP },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":true"), A, BAD_EXP },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":[2000000100]"), A, BAD_EXP },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":2000000060.5"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":2000000060.501"), A, TOO_EARLY("2033-05-18T03:34:20.501Z") },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":2000000061"), A, TOO_EARLY("2033-05-18T03:34:21.000Z") },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":1e300"), A, TOO_EARLY("1e+300 s after 1970") },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":-5"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":\"1\""), A, BAD_NBF },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":null"), A, BAD_NBF },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"iat\":2000000060.5"), A, NULL },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"iat\":2000000061"), A, TOO_EARLY("2033-05-18T03:34:21.000Z") },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"iat\":2000000061,\"nbf\":1"), A, TOO_EARLY("2033-05-18T03:34:21.000Z") },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"iat\":{}"), A, BAD_IAT },
	/* Correctly signed, but for another purpose. */
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"app\",\"version\":2,\"exp\":2000000100"), A, BAD_TYPE },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"Management\",\"version\":2,\"exp\":2000000100"), A, BAD_TYPE },
	{ HEADER, CLAIMS(KEY_A, "\"type\":[\"management\"],\"version\":2,\"exp\":2000000100"), A, BAD_TYPE },
	{ HEADER, CLAIMS(KEY_A, "\"version\":2,\"exp\":2000000100"), A, BAD_TYPE },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"management\",\"version\":\"2\",\"exp\":2000000100"), A, BAD_VERSION },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"management\",\"version\":3,\"exp\":2000000100"), A, BAD_VERSION },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"management\",\"version\":2.5,\"exp\":2000000100"), A, BAD_VERSION },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"management\",\"exp\":2000000100"), A, BAD_VERSION },
	/* Correctly signed, with a header that is not allowed. */
	{ "{\"alg\":\"none\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":\"hs256\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":\"HS256 \"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":\"HS384\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":\"RS256\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":null}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":[\"HS256\"]}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"ALG\":\"HS256\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"typ\":\"JWT\"}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{}", CLAIMS(KEY_A, GOOD), A, BAD_ALG },
	{ "{\"alg\":\"HS256\",\"typ\":\"JWE\"}", CLAIMS(KEY_A, GOOD), A, BAD_TYP },
	{ "{\"alg\":\"HS256\",\"typ\":1}", CLAIMS(KEY_A, GOOD), A, BAD_TYP },
	{ "{\"alg\":\"HS256\",\"crit\":[\"exp\"]}", CLAIMS(KEY_A, GOOD), A, BAD_CRIT },
	{ "{\"alg\":\"HS256\",\"crit\":null}", CLAIMS(KEY_A, GOOD), A, BAD_CRIT },
	{ "{\"alg\":\"HS256\",\"b64\":false}", CLAIMS(KEY_A, GOOD), A, BAD_CRIT },
	{ "{\"alg\":\"HS256\",\"alg\":\"HS256\"}", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	{ "{\"alg\":\"none\",\"alg\":\"HS256\"}", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	{ "{\"alg\":\"HS256\",\"a\":{\"b\":1,\"b\":1}}", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	{ "{\"alg\":\"HS256\"}x", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	{ "[\"HS256\"]", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	{ "", CLAIMS(KEY_A, GOOD), A, BAD_HEADER },
	/* The payload does not name one account unambiguously. */
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"access_key\":\"" KEY_A "\""), A, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, GOOD ",\"exp\":2000000100"), A, UNSIGNED },
	{ HEADER, "{" GOOD "}", A, UNSIGNED },
	{ HEADER, "{\"access_key\":7," GOOD "}", A, UNSIGNED },
	{ HEADER, CLAIMS("AAAAAAAAAAAAAAAAAAAAAAAA", GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS("aaaaaaaaaaaaaaaaaaaaaaa", GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS("a00000000000000000000000", GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS("", GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, GOOD) "{}", A, UNSIGNED },
	{ HEADER, "[" CLAIMS(KEY_A, GOOD) "]", A, UNSIGNED },
	{ HEADER, "\"" KEY_A "\"", A, UNSIGNED },
	{ HEADER, "null", A, UNSIGNED },
	{ HEADER, "", A, UNSIGNED },
	/* Not correctly signed: the same response, whatever else is wrong. */
	{ HEADER, CLAIMS(KEY_A, GOOD), B_OLDER, UNSIGNED },
	{ HEADER, CLAIMS(KEY_B, GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, GOOD), C, UNSIGNED },
	{ HEADER, CLAIMS(KEY_C, GOOD), C, UNSIGNED },
	{ HEADER, CLAIMS(KEY_C, GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS(KEY_C, MANAGEMENT ",\"exp\":1"), C, UNSIGNED },
	{ HEADER, CLAIMS(KEY_NOBODY, GOOD), NOBODY, UNSIGNED },
	{ HEADER, CLAIMS(KEY_NOBODY, GOOD), A, UNSIGNED },
	{ HEADER, CLAIMS(KEY_NOBODY, "\"exp\":1"), NOBODY, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, GOOD), NOBODY, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, MANAGEMENT ",\"exp\":1"), NOBODY, UNSIGNED },
	{ HEADER, CLAIMS(KEY_A, "\"type\":\"app\",\"version\":1"), NOBODY, UNSIGNED },
	{ "{\"alg\":\"none\"}", CLAIMS(KEY_A, GOOD), NOBODY, UNSIGNED },
	{ "{\"alg\":\"HS256\",\"crit\":[]}", CLAIMS(KEY_A, GOOD), NOBODY, UNSIGNED },
	{ "junk", CLAIMS(KEY_A, GOOD), NOBODY, UNSIGNED },
};
/* clang-format on */

static char account_letter(const char *claims)
{
	const char *key = strstr(claims, "\"access_key\":\"");

	return key == NULL ? '-' : key[strlen("\"access_key\":\"")];
}

START_TEST(token_is_accepted_or_rejected_for_its_reason)
{
	const char *token = signed_token(tokens[_i].header, tokens[_i].claims, tokens[_i].signer);
	const char *name = arena_text(arena, "%c", account_letter(tokens[_i].claims));
	struct token_memory *memory = token_memory_open();

	/* The second time the token may be cached, which must make no difference. */
	for (int i = 0; i < 2; i++) {
		check_reason(reason(NULL, roster, token, NOW, name), tokens[_i].reason);
		check_reason(reason(memory, roster, token, NOW, name), tokens[_i].reason);
	}
	token_memory_close(memory);
}
END_TEST

/* --- The text of a token --- */

struct token_parts {
	const char *header, *claims, *mac;
};

static const char *joined(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.%s", parts->header, parts->claims, parts->mac);
}

static const char *as_it_is(const struct token_parts *parts)
{
	return joined(parts);
}

static const char *nothing(const struct token_parts *parts)
{
	(void)parts;
	return "";
}

static const char *dots(const struct token_parts *parts)
{
	(void)parts;
	return "..";
}

static const char *no_signature(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.", parts->header, parts->claims);
}

static const char *two_parts(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s", parts->header, parts->claims);
}

static const char *four_parts(const struct token_parts *parts)
{
	return arena_text(arena, "%s.", joined(parts));
}

static const char *five_parts(const struct token_parts *parts)
{
	return arena_text(arena, "%s.e30.e30", joined(parts));
}

static const char *cut_signature(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.%.42s", parts->header, parts->claims, parts->mac);
}

static const char *half_signature(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.%.20s", parts->header, parts->claims, parts->mac);
}

static const char *longer_signature(const struct token_parts *parts)
{
	return arena_text(arena, "%sAAA", joined(parts));
}

static const char *padded_signature(const struct token_parts *parts)
{
	return arena_text(arena, "%s=", joined(parts));
}

static const char *padded_header(const struct token_parts *parts)
{
	return arena_text(arena, "%s=.%s.%s", parts->header, parts->claims, parts->mac);
}

/* The last character of 32 bytes holds four bits and two bits that must be zero. */
static const char *bits_left_over(const struct token_parts *parts)
{
	char *token = arena_text(arena, "%s", joined(parts));

	token[strlen(token) - 1]++;
	return token;
}

static const char *trailing_space(const struct token_parts *parts)
{
	return arena_text(arena, "%s ", joined(parts));
}

static const char *leading_space(const struct token_parts *parts)
{
	return arena_text(arena, " %s", joined(parts));
}

static const char *line_end(const struct token_parts *parts)
{
	return arena_text(arena, "%s\n", joined(parts));
}

static const char *other_claims(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.%s", parts->header, encoded(CLAIMS(KEY_B, GOOD)),
			  parts->mac);
}

static const char *other_header(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.%s", encoded("{\"alg\":\"HS256\"}"), parts->claims,
			  parts->mac);
}

static const char *other_digest(const struct token_parts *parts, const EVP_MD *digest,
				const char *header)
{
	const char *text = arena_text(arena, "%s.%s", encoded(header), parts->claims);

	return arena_text(arena, "%s.%s", text, signature(digest, secrets[A], text));
}

static const char *hs384(const struct token_parts *parts)
{
	return other_digest(parts, EVP_sha384(), "{\"alg\":\"HS384\"}");
}

static const char *hs512(const struct token_parts *parts)
{
	return other_digest(parts, EVP_sha512(), "{\"alg\":\"HS512\"}");
}

static const char *hs512_named_hs256(const struct token_parts *parts)
{
	return other_digest(parts, EVP_sha512(), HEADER);
}

static const char *none(const struct token_parts *parts)
{
	return arena_text(arena, "%s.%s.", encoded("{\"alg\":\"none\"}"), parts->claims);
}

static const char *empty_key(const struct token_parts *parts)
{
	const char *text = arena_text(arena, "%s.%s", parts->header, parts->claims);

	return arena_text(arena, "%s.%s", text, signature(EVP_sha256(), "", text));
}

/* The key that replaces a missing key must not accept anything. */
static const char *idle_key(const struct token_parts *parts)
{
	const char *text = arena_text(arena, "%s.%s", parts->header, parts->claims);

	return arena_text(
		arena, "%s.%s", text,
		signature(EVP_sha256(), "-------------------------------------------", text));
}

static const char *huge(const struct token_parts *parts)
{
	char *padding = arena_zero(arena, 9001);

	(void)parts;
	memset(padding, ' ', 9000);
	return signed_token(HEADER, arena_text(arena, "%s%s", CLAIMS(KEY_A, GOOD), padding), A);
}

static const char *large(const struct token_parts *parts)
{
	char *padding = arena_zero(arena, 4001);

	(void)parts;
	memset(padding, ' ', 4000);
	return signed_token(HEADER, arena_text(arena, "%s%s", CLAIMS(KEY_A, GOOD), padding), A);
}

static const char *deep(const struct token_parts *parts)
{
	char *nested = arena_zero(arena, 5001);

	(void)parts;
	memset(nested, '[', 5000);
	return signed_token(HEADER, nested, A);
}

static const struct {
	const char *name;
	const char *(*make)(const struct token_parts *parts);
	bool is_let_in;
} texts[] = {
	{ "as it is", as_it_is, true },
	{ "large", large, true },
	{ "nothing", nothing, false },
	{ "dots", dots, false },
	{ "no signature", no_signature, false },
	{ "two parts", two_parts, false },
	{ "four parts", four_parts, false },
	{ "five parts", five_parts, false },
	{ "cut signature", cut_signature, false },
	{ "half a signature", half_signature, false },
	{ "longer signature", longer_signature, false },
	{ "padded signature", padded_signature, false },
	{ "padded header", padded_header, false },
	{ "bits left over", bits_left_over, false },
	{ "trailing space", trailing_space, false },
	{ "leading space", leading_space, false },
	{ "line end", line_end, false },
	{ "other claims", other_claims, false },
	{ "other header", other_header, false },
	{ "HS384", hs384, false },
	{ "HS512", hs512, false },
	{ "HS512 named HS256", hs512_named_hs256, false },
	{ "none", none, false },
	{ "empty key", empty_key, false },
	{ "idle key", idle_key, false },
	{ "huge", huge, false },
	{ "deep", deep, false },
};

START_TEST(malformed_token_is_rejected)
{
	struct token_parts parts = { encoded(HEADER), encoded(CLAIMS(KEY_A, GOOD)), NULL };
	const char *text = arena_text(arena, "%s.%s", parts.header, parts.claims);

	parts.mac = signature(EVP_sha256(), secrets[A], text);

	const char *token = texts[_i].make(&parts);
	const char *refused =
		strlen(token) <= TOKEN_MOST
			? UNSIGNED
			: arena_text(arena, "the token is %zu bytes long; the maximum is 8192",
				     strlen(token));

	check_reason(reason(NULL, roster, token, NOW, "a"), texts[_i].is_let_in ? NULL : refused);
}
END_TEST

/* '+' and '/' for '-' and '_': the signature covers the text, so the changed text is signed. */
START_TEST(plain_base64_is_rejected)
{
	const char *claims = CLAIMS(KEY_A, GOOD ",\"x\":\"\xc3\xbe\xc3\xbe\xc3\xbe~~~???\"");
	char *text = arena_text(arena, "%s.%s", encoded(HEADER), encoded(claims));
	bool is_changed = false;

	for (char *at = text; *at != '\0'; at++) {
		is_changed = is_changed || *at == '-' || *at == '_';
		*at = (char)(*at == '-' ? '+' : *at == '_' ? '/' : *at);
	}
	ck_assert(is_changed);

	const char *mac = signature(EVP_sha256(), secrets[A], text);

	check_reason(reason(NULL, roster, arena_text(arena, "%s.%s", text, mac), NOW, "a"),
		     UNSIGNED);
	check_reason(reason(NULL, roster, signed_token(HEADER, claims, A), NOW, "a"), NULL);
}
END_TEST

/* Changes each byte of a valid token to some other bytes. */
START_TEST(changed_byte_is_rejected)
{
	static const char others[] = "AZaz09-_.=+/ {\"\n\x80\xff";
	struct token_memory *memory = token_memory_open();
	char *token = arena_text(arena, "%s", signed_token(HEADER, CLAIMS(KEY_A, GOOD), A));

	check_reason(reason(memory, roster, token, NOW, "a"), NULL);
	for (size_t place = 0; token[place] != '\0'; place++) {
		char kept = token[place];

		for (size_t i = 0; i < sizeof others - 1; i++) {
			token[place] = others[i];
			if (others[i] != kept)
				check_reason(reason(memory, roster, token, NOW, "a"), UNSIGNED);
		}
		token[place] = kept;
	}
	check_reason(reason(memory, roster, token, NOW, "a"), NULL);
	token_memory_close(memory);
}
END_TEST

/* --- The scopes of a token --- */

#define SIXTY "123456789012345678901234567890123456789012345678901234567890"

static const struct {
	const char *claims;
	const char *id;
	bool is_limited;
	unsigned scopes;
} said[] = {
	{ GOOD, "", false, SCOPES_ALL },
	{ GOOD ",\"jti\":\"one\"", "one", false, SCOPES_ALL },
	{ GOOD ",\"jti\":7", "", false, SCOPES_ALL },
	{ GOOD ",\"jti\":\"" SIXTY "1234\"", SIXTY "1234", false, SCOPES_ALL },
	{ GOOD ",\"jti\":\"" SIXTY "12345\"", SIXTY "1234", false, SCOPES_ALL },
	{ GOOD ",\"jti\":\"" SIXTY "123\xc3\xb6\"", SIXTY "123", false, SCOPES_ALL },
	{ GOOD ",\"anteroom_scope\":\"\"", "", true, 0 },
	{ GOOD ",\"anteroom_scope\":\"rooms:read\"", "", true, SCOPE_BIT(ROOMS_READ) },
	{ GOOD ",\"anteroom_scope\":\"rooms:write\"", "", true, SCOPE_BIT(ROOMS_WRITE) },
	{ GOOD ",\"anteroom_scope\":\" rooms  webhooks:write keys:write Rooms:read \"", "", true,
	  SCOPE_BIT(WEBHOOKS_WRITE) | SCOPE_BIT(KEYS_WRITE) },
};

/* The same for a cached token. */
START_TEST(token_has_its_scopes)
{
	const char *token = signed_token(
		HEADER, arena_text(arena, "{\"access_key\":\"" KEY_A "\",%s}", said[_i].claims), A);
	struct token_memory *memory = token_memory_open();

	for (int i = 0; i < 2; i++) {
		struct fault fault = FAULT_INITIAL;
		struct token_claims claims;

		ck_assert(token_verify(memory, roster, arena, slice_of(token), TOKEN_MANAGEMENT,
				       NOW, &claims, &fault));
		ck_assert_str_eq(claims.account->name, "a");
		ck_assert_int_eq(claims.expires_at, 2000000100);
		ck_assert_str_eq(claims.id, said[_i].id);
		ck_assert_int_eq(claims.is_limited, said[_i].is_limited);
		ck_assert_uint_eq(claims.scopes, said[_i].scopes);
	}
	token_memory_close(memory);
}
END_TEST

static const char *const bad_scopes[] = { "7", "null", "[\"rooms:read\"]", "{}", "true" };

START_TEST(scope_is_a_string)
{
	const char *token = signed_token(
		HEADER,
		arena_text(arena, "{\"access_key\":\"" KEY_A "\"," GOOD ",\"anteroom_scope\":%s}",
			   bad_scopes[_i]),
		A);

	check_reason(reason(NULL, roster, token, NOW, "a"),
		     "the token anteroom_scope must be a string");
}
END_TEST

/* --- Cached tokens --- */

START_TEST(cached_token_expires)
{
	struct token_memory *memory = token_memory_open();
	const char *token = signed_token(HEADER, CLAIMS(KEY_A, GOOD ",\"nbf\":2000000000"), A);

	check_reason(reason(memory, roster, token, NOW, "a"), NULL);
	check_reason(reason(memory, roster, token, 2000000099999, "a"), NULL);
	check_reason(reason(memory, roster, token, 2000000100000, "a"),
		     EXPIRED_AT("2033-05-18T03:35:00.000Z", "2033-05-18T03:35:00.000Z"));
	check_reason(reason(memory, roster, token, 1999999939999, "a"),
		     TOO_EARLY_AT("2033-05-18T03:33:20.000Z", "2033-05-18T03:32:19.999Z"));
	check_reason(reason(memory, roster, token, 1999999940000, "a"), NULL);
	token_memory_close(memory);
}
END_TEST

START_TEST(cached_token_ends_with_its_roster)
{
	struct token_memory *memory = token_memory_open();
	const char *of_a = signed_token(HEADER, CLAIMS(KEY_A, GOOD), A);
	const char *of_b_older = signed_token(HEADER, CLAIMS(KEY_B, GOOD), B_OLDER);
	const char *of_b_younger = signed_token(HEADER, CLAIMS(KEY_B, GOOD), B_YOUNGER);
	struct roster *next = make_roster(false, secrets[B_YOUNGER], NULL);

	next->generation = roster->generation + 1;
	check_reason(reason(memory, roster, of_a, NOW, "a"), NULL);
	check_reason(reason(memory, roster, of_b_older, NOW, "b"), NULL);
	check_reason(reason(memory, roster, of_b_younger, NOW, "b"), NULL);
	check_reason(reason(memory, next, of_a, NOW, "a"), UNSIGNED);
	check_reason(reason(memory, next, of_b_older, NOW, "b"), UNSIGNED);
	check_reason(reason(memory, next, of_b_younger, NOW, "b"), NULL);
	check_reason(reason(memory, roster, of_a, NOW, "a"), NULL);
	roster_close(next);
	token_memory_close(memory);
}
END_TEST

/* Tests that tokens are cached at all: with a roster of the same generation but other secrets,
 * only a cached token can be accepted. */
START_TEST(token_is_cached)
{
	struct token_memory *memory = token_memory_open();
	const char *token = signed_token(HEADER, CLAIMS(KEY_B, GOOD), B_OLDER);
	struct roster *other = make_roster(true, secrets[B_YOUNGER], NULL);

	other->generation = roster->generation;
	check_reason(reason(memory, other, token, NOW, "b"), UNSIGNED);
	check_reason(reason(memory, roster, token, NOW, "b"), NULL);
	check_reason(reason(memory, other, token, NOW, "b"), NULL);
	roster_close(other);
	token_memory_close(memory);
}
END_TEST

/* More tokens than the cache has places, from several threads and two accounts. */
#define MANY 3000

struct crowd {
	struct token_memory *memory;
	const char *tokens[MANY];
};

static void *verify_many(void *argument)
{
	struct crowd *crowd = argument;
	struct arena *own = arena_open();
	void *failed = NULL;

	for (size_t i = 0; i < 2 * MANY && failed == NULL; i++) {
		struct fault fault = FAULT_INITIAL;
		struct token_claims claims;
		size_t which = i % MANY;

		if (!token_verify(crowd->memory, roster, own, slice_of(crowd->tokens[which]),
				  TOKEN_MANAGEMENT, NOW, &claims, &fault) ||
		    claims.account->name[0] != (which % 2 == 0 ? 'a' : 'b'))
			failed = crowd;
		arena_reset(own);
	}
	arena_close(own);
	return failed;
}

START_TEST(cache_is_shared_by_threads)
{
	struct crowd crowd = { .memory = token_memory_open() };
	pthread_t threads[4];

	for (int i = 0; i < MANY; i++) {
		const char *claims = arena_text(arena, "{\"access_key\":\"%s\",%s,\"jti\":%d}",
						i % 2 == 0 ? KEY_A : KEY_B, GOOD, i);

		crowd.tokens[i] = signed_token(HEADER, claims, i % 2 == 0 ? A : B_OLDER);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, verify_many, &crowd), 0);
	for (int i = 0; i < 4; i++) {
		void *failed;

		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	token_memory_close(crowd.memory);
}
END_TEST

/* --- Signing --- */

static const json_t *claims_of(struct slice token, enum signer signer)
{
	const char *text = arena_text(arena, "%.*s", (int)token.size, token.data);
	const char *second = strrchr(text, '.');
	const char *first = strchr(text, '.');
	const char *signed_text = arena_text(arena, "%.*s", (int)(second - text), text);
	struct slice claims;

	ck_assert_str_eq(second + 1, signature(EVP_sha256(), secrets[signer], signed_text));
	ck_assert(text_base64url_decode(
		arena, (struct slice){ first + 1, (size_t)(second - first - 1) }, &claims));
	return arena_json(arena, json_loadb(claims.data, claims.size, 0, NULL));
}

static void check_claims(const json_t *claims, const char *expected)
{
	const char *jti = json_string_value(json_object_get(claims, "jti"));
	json_t *rest = arena_json(arena, json_deep_copy(claims));

	ck_assert_ptr_nonnull(jti);
	ck_assert_uint_eq(strlen(jti), UUID_TEXT_SIZE - 1);
	json_object_del(rest, "jti");
	ck_assert(json_equal(rest, arena_json(arena, json_loads(expected, 0, NULL))));
}

START_TEST(management_token_is_signed_with_the_younger_secret)
{
	const struct account *account = roster_find(roster, "b");
	struct slice token = token_sign_management(arena, &clock_system, account, NOW, 3600);

	check_claims(claims_of(token, B_YOUNGER),
		     CLAIMS(KEY_B, MANAGEMENT
			    ",\"iat\":2000000000,\"nbf\":2000000000,\"exp\":2000003600"));
	check_reason(reason(NULL, roster, arena_copy(arena, token).data, NOW, "b"), NULL);
}
END_TEST

START_TEST(join_token_is_signed_with_the_older_secret)
{
	const struct account *account = roster_find(roster, "b");
	struct token_join join = {
		.room_id = SLICE("room"),
		.role = SLICE("ho\"st"),
		.user_id = SLICE("J\xc3\xb6rg"),
	};
	struct slice token = token_sign_join(arena, &clock_system, account, &join, NOW,
					     NOW / 1000 + 86400);

	check_claims(
		claims_of(token, B_OLDER),
		CLAIMS(KEY_B,
		       "\"type\":\"app\",\"version\":2,\"room_id\":\"room\",\"role\":\"ho\\\"st\","
		       "\"user_id\":\"J\xc3\xb6rg\",\"iat\":1999999990,\"nbf\":1999999990,"
		       "\"exp\":2000086400"));
	check_reason(reason(NULL, roster, arena_copy(arena, token).data, NOW, "b"), BAD_TYPE);
}
END_TEST

/* User IDs as clients may choose them. A client decodes the payload with plain base64 and takes
 * each byte for a character. */
static const char *const user_ids[] = {
	"who??",
	">>>",
	"~",
	"\177",
	"\303\205sa",
	"\343\201\202\343\201\204",
	"\360\237\230\200",
	"a\\?\"b",
	"\t\r\n\x1f",
	"J\303\266rg <j@example.org>",
};

static char plain_byte(char letter)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *place = strchr(letters, letter);

	ck_assert_msg(place != NULL && letter != '\0', "%c is not plain base64", letter);
	return (char)(place - letters);
}

START_TEST(payload_can_be_read_with_plain_base64)
{
	char padded[64];

	/* Preceded by zero, one or two letters, so that each byte appears in each of the three
	 * positions. */
	for (int before = 0; before < 3; before++) {
		struct token_join join = {
			.room_id = SLICE("room"),
			.role = SLICE("host"),
			.user_id = { padded, 0 },
		};
		struct buffer read = BUFFER_INITIAL(arena);
		unsigned bits = 0, n = 0;
		json_t *claims;
		struct slice token;

		join.user_id.size = (size_t)snprintf(padded, sizeof padded, "%.*s%s", before, "xx",
						     user_ids[_i]);
		token = token_sign_join(arena, &clock_system, roster_find(roster, "b"), &join, NOW,
					NOW / 1000 + 86400);
		for (const char *at = (const char *)memchr(token.data, '.', token.size) + 1;
		     *at != '.'; at++) {
			bits = bits << 6 | (unsigned)plain_byte(*at);
			n += 6;
			if (n >= 8) {
				n -= 8;
				buffer_append_byte(&read, (char)(bits >> n & 0xff));
				ck_assert_int_lt((int)(bits >> n & 0xff), 0x80);
			}
		}
		claims = json_loadb(read.data, read.size, 0, NULL);
		ck_assert_ptr_nonnull(claims);
		ck_assert_str_eq(json_string_value(json_object_get(claims, "user_id")), padded);
		json_decref(claims);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("token");
	TCase *cases = tcase_create("token");

	json_object_seed(0);
	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(cases, token_is_accepted_or_rejected_for_its_reason, 0, ROWS(tokens));
	tcase_add_loop_test(cases, malformed_token_is_rejected, 0, ROWS(texts));
	tcase_add_test(cases, plain_base64_is_rejected);
	tcase_add_test(cases, changed_byte_is_rejected);
	tcase_add_loop_test(cases, token_has_its_scopes, 0, ROWS(said));
	tcase_add_loop_test(cases, scope_is_a_string, 0, ROWS(bad_scopes));
	tcase_add_test(cases, cached_token_expires);
	tcase_add_test(cases, cached_token_ends_with_its_roster);
	tcase_add_test(cases, token_is_cached);
	tcase_add_test(cases, cache_is_shared_by_threads);
	tcase_add_test(cases, management_token_is_signed_with_the_younger_secret);
	tcase_add_test(cases, join_token_is_signed_with_the_older_secret);
	tcase_add_loop_test(cases, payload_can_be_read_with_plain_base64, 0, ROWS(user_ids));
	return suite_run(suite);
}
