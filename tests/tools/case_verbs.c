/*
 * Lines of a case that neither send nor check: values, tokens, accounts, the clock, the store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case_verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* Returns the name in `NAME = VALUE`; `rest` is the value, unchanged. */
static const char *assigned(struct run *run, const char *text, const char **rest)
{
	const char *name = first_word(&run->pool, text, rest);

	if (strncmp(*rest, "=", 1) != 0) {
		problem(run, "expected NAME = VALUE");
	} else {
		*rest += 1;
		*rest += strspn(*rest, " ");
	}
	return name;
}

void verb_let(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);

	scope_set(&run->scope, name, expanded(run, rest));
}

void verb_bytes(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);
	struct bytes value;

	if (!bytes_from_hex(&run->pool, expanded(run, rest).bytes, &value))
		problem(run, "bytes must be pairs of hex digits");
	scope_set(&run->scope, name, value);
}

/* Sets $i and hides its earlier value. */
void count_to(struct run *run, unsigned long n)
{
	char text[32];

	snprintf(text, sizeof text, "%lu", n);
	scope_set_text(&run->scope, "i", text);
}

/* `NAME = N SEPARATOR TEXT`: repeats the text N times with $i counting from 1; the separator `-`
 * means none. */
void verb_join(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);
	const char *number = first_word(&run->pool, rest, &rest);
	unsigned long most = strtoul(expanded(run, number).bytes, NULL, 10);
	struct bytes separator = expanded(run, first_word(&run->pool, rest, &rest));
	char *built = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&built, &length);

	if (stream == NULL)
		abort();
	for (unsigned long n = 1; n <= most; n++) {
		struct bytes text;

		count_to(run, n);
		text = expanded(run, rest);
		if (n > 1 && strcmp(separator.bytes, "-") != 0)
			fwrite(separator.bytes, 1, separator.length, stream);
		fwrite(text.bytes, 1, text.length, stream);
	}
	fclose(stream);
	scope_set(&run->scope, name, bytes_copy(&run->pool, built, length));
	free(built);
}

/* `NAME = N TEXT`: repeats the text N times, without $i. */
void verb_fill(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);
	const char *number = first_word(&run->pool, rest, &rest);
	unsigned long most = strtoul(expanded(run, number).bytes, NULL, 10);
	struct bytes text = expanded(run, rest);
	struct bytes filled = { pool_take(&run->pool, text.length * most + 1), 0 };

	for (unsigned long n = 0; n < most && text.length > 0; n++) {
		memcpy(filled.bytes + filled.length, text.bytes, text.length);
		filled.length += text.length;
	}
	scope_set(&run->scope, name, filled);
}

/* `NAME = N TEXT`: the first N bytes of the text, or, if N is negative, the text without its first
 * N bytes; `-N-M` also drops the last M. */
void verb_cut(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);
	const char *number = first_word(&run->pool, rest, &rest);
	char *end;
	long most = strtol(expanded(run, number).bytes, &end, 10);
	size_t last = (size_t)labs(strtol(end, NULL, 10));
	struct bytes text = expanded(run, rest);
	size_t length = (size_t)labs(most) < text.length ? (size_t)labs(most) : text.length;

	text.length -= last < text.length - length ? last : text.length - length;
	scope_set(&run->scope, name,
		  most >= 0 ? bytes_copy(&run->pool, text.bytes, length)
			    : bytes_copy(&run->pool, text.bytes + length, text.length - length));
}

/* `NAME = TEXT`: the SHA-256 of the text in base64. */
void verb_digest(struct run *run, const char *rest)
{
	const char *name = assigned(run, rest, &rest);

	scope_set(&run->scope, name, sha256_in_base64(&run->pool, expanded(run, rest)));
}

void verb_save(struct run *run, const char *rest)
{
	const char *name = first_word(&run->pool, rest, &rest);
	const char *value = NULL;

	if (strncmp(rest, "header ", 7) == 0) {
		value = answer_header(run, rest + 7);
	} else if (strcmp(rest, "text") == 0) {
		value = run->answer.body;
	} else {
		json_t *found = value_at(&run->pool, run->document, expanded(run, rest).bytes);

		value = found == NULL ? NULL : value_text(&run->pool, found).bytes;
	}
	if (value == NULL) {
		problem(run, "there is nothing to save at %s", rest);
	} else {
		scope_set_text(&run->scope, name, value);
	}
}

static void set_with_suffix(struct run *run, const char *name, const char *suffix,
			    struct bytes value)
{
	struct bytes whole = bytes_join(&run->pool, bytes_text(&run->pool, name),
					bytes_text(&run->pool, suffix));

	scope_set(&run->scope, whole.bytes, value);
}

/* `NAME METHOD SECRET HEAD CLAIMS`; sets $NAME, and its parts in $NAME_head, $NAME_claims and
 * $NAME_sign. */
void verb_jwt(struct run *run, const char *rest)
{
	const char *name = first_word(&run->pool, rest, &rest);
	const char *method = expanded(run, first_word(&run->pool, rest, &rest)).bytes;
	struct bytes secret = expanded(run, first_word(&run->pool, rest, &rest));
	struct bytes head = expanded(run, first_word(&run->pool, rest, &rest));
	struct jwt token;

	if (!jwt_make(&run->pool, method, secret, head, expanded(run, rest), &token)) {
		problem(run, "unknown signing method: %s", method);
		return;
	}
	scope_set(&run->scope, name, token.whole);
	set_with_suffix(run, name, "_head", token.head);
	set_with_suffix(run, name, "_claims", token.claims);
	set_with_suffix(run, name, "_sign", token.sign);
}

/* `POINTER SECRET`: a token signed with the secret; the following lines check its claims. */
void verb_verify(struct run *run, const char *rest)
{
	const char *pointer = first_word(&run->pool, rest, &rest);
	json_t *found = value_at(&run->pool, run->document, pointer);
	struct bytes claims;

	if (!json_is_string(found) ||
	    !jwt_read(&run->pool, value_text(&run->pool, found), expanded(run, rest), &claims)) {
		problem(run, "no token at %s is signed with this secret", pointer);
		return;
	}
	run->document = pool_json(
		&run->pool, json_loadb(claims.bytes, claims.length, JSON_REJECT_DUPLICATES, NULL));
}

void set_account(struct run *run, const char *suffix, const struct case_account *account)
{
	struct jwt token;
	struct bytes claims;

	set_with_suffix(run, "account_id", suffix, bytes_text(&run->pool, account->id));
	set_with_suffix(run, "access_key", suffix, bytes_text(&run->pool, account->access_key));
	set_with_suffix(run, "secret", suffix, bytes_text(&run->pool, account->secret));
	scope_set_text(&run->scope, "signer", account->access_key);
	claims = expanded(run, "{\"access_key\":\"$signer\",\"type\":\"management\",\"version\":2,"
			       "\"iat\":$now,\"nbf\":$now,\"exp\":$now+3600,\"jti\":\"$unique\"}");
	jwt_make(&run->pool, "HS256", bytes_text(&run->pool, account->secret),
		 bytes_text(&run->pool, "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"), claims, &token);
	set_with_suffix(run, "token", suffix,
			*account->token == '\0' ? token.whole
						: bytes_text(&run->pool, account->token));
}

/* `account fresh|disable|enable|rotate|finish|operator|anonymous|named|embedded`; `fresh` makes a
 * new account, which is account A for the rest of the case. */
void verb_account(struct run *run, const char *rest)
{
	static const struct {
		const char *word;
		enum case_change change;
	} rows[] = {
		{ "disable", CASE_DISABLE },   { "enable", CASE_ENABLE },
		{ "rotate", CASE_ROTATE },     { "finish", CASE_FINISH },
		{ "operator", CASE_OPERATOR }, { "anonymous", CASE_ANONYMOUS },
		{ "named", CASE_NAMED },       { "embedded", CASE_EMBEDDED },
	};
	char trouble[256] = "";

	if (strcmp(rest, "fresh") == 0) {
		if (!run->transport->account_add(run->transport,
						 scope_get(&run->scope, "unique")->bytes, &run->a,
						 trouble)) {
			problem(run, "no account: %s", trouble);
		}
		set_account(run, "", &run->a);
		return;
	}
	for (size_t n = 0; n < ROWS(rows); n++) {
		if (strcmp(rest, rows[n].word) == 0) {
			if (!run->transport->account_change(run->transport, &run->a, rows[n].change,
							    trouble)) {
				problem(run, "account %s: %s", rest, trouble);
			}
			if (rows[n].change == CASE_ROTATE)
				set_account(run, "_new", &run->a);
			return;
		}
	}
	problem(run,
		"expected account fresh, disable, enable, rotate, finish, operator, anonymous, named or embedded");
}

void verb_clock(struct run *run, const char *rest)
{
	char trouble[256] = "";
	int seconds = (int)strtol(rest, NULL, 10);

	if (!run->transport->clock_advance(run->transport, seconds, trouble))
		problem(run, "the clock: %s", trouble);
	run->transport->ahead += seconds;
	run->scope.ahead = run->transport->ahead;
}

void verb_fail(struct run *run, const char *rest)
{
	run->transport->store_fail(run->transport,
				   (unsigned)strtoul(expanded(run, rest).bytes, NULL, 10));
}

void verb_calls(struct run *run, const char *rest)
{
	char text[32];

	snprintf(text, sizeof text, "%u", run->transport->store_calls(run->transport));
	scope_set_text(&run->scope, rest, text);
}
