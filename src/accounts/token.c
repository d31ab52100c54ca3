/* See accounts/token.h.
 *
 * Verification reveals nothing to a client that cannot sign: until the signature is verified, there
 * is only one reason for rejection, and an unknown access key takes as long as a known one. Header
 * and claims are checked after that; the algorithm is never taken from the header.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/token.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/json_writer.h"
#include "base/jwt.h"
#include "base/text.h"
#include "accounts/scopes.h"
#include "accounts/token_memory.h"

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define VERSION 2
/* How far nbf and iat may be in the future, because clocks differ. exp has no leeway. */
#define LEEWAY_MILLISECONDS 60000.0
/* The years 1 and 9999, the limits of times as text. */
#define FIRST_TIME -62135596800000.0
#define LAST_TIME 253402300799999.0

/* --- Verifying: the signature --- */

static bool text_member(const json_t *object, const char *name, struct slice *text)
{
	*text = text_of_json(json_object_get(object, name));
	return text->data != NULL;
}

/* Used in place of a missing secret. A signature made with it is never accepted. */
#define IDLE_KEY SLICE("-------------------------------------------")

/* Returns the secret that signed the token, or NULL. Computes the same number of signatures whether
 * the account exists or not. */
static const struct secret *signing_secret(const struct account *account, const struct jwt *jwt,
					   struct slice mac)
{
	const struct secret *signer = NULL;

	for (size_t i = 0; i < ACCOUNT_SECRETS; i++) {
		const bool is_active = account != NULL && account->is_enabled &&
				       i < account->secret_count;
		const bool is_signer = jwt_mac_is_of(
			jwt, mac, is_active ? slice_of(account->secrets[i].text) : IDLE_KEY);

		if (signer == NULL && is_active && is_signer)
			signer = &account->secrets[i];
	}
	return signer;
}

const struct secret *token_signer(const struct account *account, struct arena *arena,
				  struct slice token)
{
	struct jwt jwt;
	struct slice mac;

	return jwt_split(token, &jwt) && jwt_mac(arena, &jwt, &mac)
		       ? signing_secret(account, &jwt, mac)
		       : NULL;
}

/* Returns the account that signed the token, or NULL. Sets *claims to the payload. */
static const struct account *find_signer(const struct roster *roster, struct arena *arena,
					 const struct jwt *jwt, json_t **claims)
{
	struct slice mac;
	struct slice text;
	struct id access_key;

	if (!jwt_mac(arena, jwt, &mac))
		return NULL;
	*claims = jwt_object(arena, jwt->payload);
	if (*claims == NULL || !text_member(*claims, "access_key", &text) ||
	    !id_parse(text, &access_key))
		return NULL;

	const struct account *account = roster_by_access_key(roster, &access_key);

	return signing_secret(account, jwt, mac) != NULL ? account : NULL;
}

/* --- Verifying: header and claims --- */

static bool refuse_token(struct fault *fault, const char *reason)
{
	return fault_detail(fault, FAULT_UNAUTHORIZED, "%s", reason);
}

static bool header_is_allowed(const json_t *header, struct fault *fault)
{
	struct slice text;

	if (header == NULL)
		return refuse_token(fault, "the token header is malformed");
	if (!text_member(header, "alg", &text) || !slice_is(text, "HS256"))
		return refuse_token(fault, "the token alg must be HS256");
	if (json_object_get(header, "crit") != NULL || json_object_get(header, "b64") != NULL)
		return refuse_token(fault, "the token header must not contain crit or b64");
	if (json_object_get(header, "typ") != NULL &&
	    (!text_member(header, "typ", &text) || !text_equal_ignoring_case(text, SLICE("JWT"))))
		return refuse_token(fault, "the token typ must be JWT");
	return true;
}

static bool kind_is_allowed(const json_t *claims, const char *wanted, struct fault *fault)
{
	const json_t *version = json_object_get(claims, "version");
	struct slice type;

	if (!text_member(claims, "type", &type) || !slice_is(type, wanted))
		return fault_detail(fault, FAULT_UNAUTHORIZED, "the token type must be %s", wanted);
	if (!json_is_number(version) || fabs(json_number_value(version) - VERSION) > 0)
		return refuse_token(fault, "the token version must be 2");
	return true;
}

/* Raises verified->not_before to the time of an optional claim. */
static bool read_start(const json_t *claims, const char *name, struct verified_token *verified,
		       struct fault *fault)
{
	const json_t *claim = json_object_get(claims, name);

	if (claim == NULL)
		return true;
	if (!json_is_number(claim))
		return fault_detail(fault, FAULT_UNAUTHORIZED, "the token %s must be a number",
				    name);
	verified->not_before = fmax(verified->not_before,
				    json_number_value(claim) * 1000.0 - LEEWAY_MILLISECONDS);
	return true;
}

/* Prints the time of a claim, in milliseconds, which may be outside the years 1 to 9999. */
#define TIME_SIZE 48
static void print_time(double time, char text[TIME_SIZE])
{
	if (time >= FIRST_TIME && time <= LAST_TIME)
		text_time_milliseconds((int64_t)time, text);
	else
		(void)snprintf(text, TIME_SIZE, "%.10g s after 1970", time / 1000.0);
}

/* Checks the times. The fault shows both times, because the cause is often a wrong clock. */
static bool token_is_in_time(const struct verified_token *verified, int64_t now,
			     struct fault *fault)
{
	char here[TEXT_TIME_SIZE], there[TIME_SIZE];

	if ((double)now < verified->expires && (double)now >= verified->not_before)
		return true;
	text_time_milliseconds(now, here);
	if ((double)now >= verified->expires) {
		print_time(verified->expires, there);
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the token expired at %s (exp); the server's time is %s", there,
				    here);
	}
	print_time(verified->not_before + LEEWAY_MILLISECONDS, there);
	return fault_detail(fault, FAULT_UNAUTHORIZED,
			    "the token is not valid until %s (nbf or iat); the server's time is %s "
			    "(%d s of difference are allowed)",
			    there, here, (int)(LEEWAY_MILLISECONDS / 1000));
}

/* Returns the account of a token that was verified with the same roster before, or NULL. */
static const struct account *recall(struct token_memory *memory, const struct roster *roster,
				    struct slice token, enum token_type type,
				    struct verified_token *verified)
{
	if (!token_memory_find(memory, token, verified) || verified->type != type ||
	    verified->generation != roster->generation || verified->place >= roster->count)
		return NULL;

	const struct account *account = &roster->accounts[verified->place];

	return id_compare(&account->id, &verified->account) == 0 ? account : NULL;
}

/* Verifies everything except the times. Returns the account and fills *verified and *claims, or
 * returns NULL. */
static const struct account *verify_signed(const struct roster *roster, struct arena *arena,
					   struct slice token, const char *type,
					   struct verified_token *verified, json_t **claims,
					   struct fault *fault)
{
	struct jwt jwt;
	const struct account *signer = NULL;
	const json_t *exp;

	if (token.size > TOKEN_MOST) {
		fault_detail(fault, FAULT_UNAUTHORIZED,
			     "the token is %zu bytes long; the maximum is %d", token.size,
			     TOKEN_MOST);
		return NULL;
	}
	if (jwt_split(token, &jwt))
		signer = find_signer(roster, arena, &jwt, claims);
	if (signer == NULL) {
		refuse_token(fault, "malformed token, unknown access key, or wrong signature");
		return NULL;
	}
	verified->generation = roster->generation;
	verified->account = signer->id;
	verified->place = (size_t)(signer - roster->accounts);
	if (!header_is_allowed(jwt_object(arena, jwt.header), fault) ||
	    !kind_is_allowed(*claims, type, fault))
		return NULL;

	exp = json_object_get(*claims, "exp");
	if (!json_is_number(exp)) {
		refuse_token(fault, "the token must have a numeric exp");
		return NULL;
	}
	verified->expires = json_number_value(exp) * 1000.0;
	verified->not_before = -INFINITY;
	return read_start(*claims, "nbf", verified, fault) &&
			       read_start(*claims, "iat", verified, fault)
		       ? signer
		       : NULL;
}

/* Returns seconds, at most those of the last time that can be written as text (in the year
 * 9999). */
static int64_t claim_seconds(double milliseconds)
{
	return (int64_t)(fmin(milliseconds, LAST_TIME) / 1000.0);
}

/* Checks the other claims of a session: its account was not disabled since, and the secret it
 * depends on is still active. */
static bool session_goes_on(const struct account *account, const json_t *claims,
			    struct fault *fault)
{
	const json_t *since = json_object_get(claims, "secret_created_at");
	bool has_secret = since == NULL;

	if (json_integer_value(json_object_get(claims, "times_disabled")) !=
	    account->times_disabled)
		return refuse_token(fault, "the account was disabled after the session began");
	for (size_t i = 0; i < account->secret_count; i++)
		has_secret = has_secret ||
			     json_integer_value(since) == account->secrets[i].created_at;
	return has_secret ||
	       refuse_token(fault, "the secret that the session began with has been retired");
}

/* Verifies everything except the times of a caller's token, like verify_signed. */
static const struct account *verify_caller(const struct roster *roster, struct arena *arena,
					   struct slice token, enum token_type type,
					   struct verified_token *verified, struct fault *fault)
{
	const bool is_session = type == TOKEN_SESSION;
	struct token_claims *read = &verified->claims;
	json_t *claims = NULL;
	const struct account *signer = verify_signed(roster, arena, token,
						     is_session ? "session" : "management",
						     verified, &claims, fault);
	struct slice scopes, id;

	if (signer == NULL)
		return NULL;
	read->is_limited = json_object_get(claims, "anteroom_scope") != NULL;
	read->scopes = SCOPES_ALL;
	if (read->is_limited) {
		if (!text_member(claims, "anteroom_scope", &scopes)) {
			refuse_token(fault, "the token anteroom_scope must be a string");
			return NULL;
		}
		read->scopes = scopes_of_text(scopes);
	}
	verified->type = type;
	read->account = signer;
	if (is_session && !session_goes_on(signer, claims, fault))
		return NULL;

	/* A value that is not a string is ignored. */
	read->id[0] = '\0';
	if (text_member(claims, is_session ? "key" : "jti", &id)) {
		id = text_cut(id, TOKEN_ID_MOST);
		memcpy(read->id, id.data, id.size);
		read->id[id.size] = '\0';
	}
	read->expires_at = claim_seconds(verified->expires);
	read->gives_until = is_session ? json_integer_value(json_object_get(claims, "gives_until"))
				       : read->expires_at;
	return signer;
}

bool token_verify(struct token_memory *memory, const struct roster *roster, struct arena *arena,
		  struct slice token, enum token_type type, int64_t now,
		  struct token_claims *claims, struct fault *fault)
{
	struct verified_token verified;
	const struct account *signer = recall(memory, roster, token, type, &verified);
	bool is_recalled = signer != NULL;

	claims->account = NULL;
	if (!is_recalled)
		signer = verify_caller(roster, arena, token, type, &verified, fault);
	if (signer == NULL || !token_is_in_time(&verified, now, fault))
		return false;
	if (!is_recalled)
		token_memory_keep(memory, token, &verified);
	*claims = verified.claims;
	claims->account = signer;
	return true;
}

bool token_verify_app(const struct roster *roster, struct arena *arena, struct slice token,
		      int64_t now, struct app_token *app, struct fault *fault)
{
	struct verified_token verified;
	const json_t *issued_at;
	json_t *claims = NULL;
	json_int_t place;

	app->account = verify_signed(roster, arena, token, "app", &verified, &claims, fault);
	if (app->account == NULL || !token_is_in_time(&verified, now, fault))
		return false;
	if (!text_member(claims, "room_id", &app->subject.room_id) ||
	    !text_member(claims, "role", &app->subject.role) ||
	    !text_member(claims, "user_id", &app->subject.user_id))
		return refuse_token(fault, "the token must have room_id, role and user_id");
	if (json_object_get(claims, "code_hash") != NULL &&
	    !text_member(claims, "code_hash", &app->subject.code_hash))
		return refuse_token(fault, "the token code_hash must be a string");
	if (json_object_get(claims, "entry") != NULL &&
	    !text_member(claims, "entry", &app->subject.entry))
		return refuse_token(fault, "the token entry must be a string");
	if (json_object_get(claims, "consent") != NULL &&
	    !text_member(claims, "consent", &app->subject.consent))
		return refuse_token(fault, "the token consent must be a string");
	if (json_object_get(claims, "consent_text") != NULL &&
	    !text_member(claims, "consent_text", &app->subject.consent_text))
		return refuse_token(fault, "the token consent_text must be a string");
	place = json_integer_value(json_object_get(claims, "code_place"));
	app->subject.code_place = place > 0 ? (uint64_t)place : 0;
	app->expires_at = claim_seconds(verified.expires);
	issued_at = json_object_get(claims, "iat");
	app->issued_at = issued_at == NULL
				 ? INT64_MIN
				 : claim_seconds(fmax(json_number_value(issued_at), 0) * 1000.0);
	return true;
}

bool token_is_for_joining(struct arena *arena, struct slice token)
{
	struct jwt jwt;

	return token.size <= TOKEN_MOST && jwt_split(token, &jwt) &&
	       slice_is(text_of_json(json_object_get(jwt_object(arena, jwt.payload), "type")),
			"app");
}

/* --- Signing --- */

/* Ends the claims and returns the signed token. */
static struct slice sign(struct arena *arena, const struct secret *secret,
			 struct json_writer *claims)
{
	const struct slice text = jwt_signed_text(arena, SLICE(HEADER), writer_end(claims));
	unsigned char mac[DIGEST_SIZE];

	digest_hmac_sha256(slice_of(secret->text), text, mac);
	return jwt_token(arena, text, (struct slice){ (const char *)mac, sizeof mac });
}

/* Begins the claims of a type of token. */
static struct json_writer begin_claims(struct arena *arena, const struct account *account,
				       const char *type)
{
	struct json_writer claims = writer_begin(arena, true);

	writer_text(&claims, "access_key", slice_of(account->access_key_text));
	writer_text(&claims, "type", slice_of(type));
	writer_integer(&claims, "version", VERSION);
	return claims;
}

/* Adds the claims that all tokens have. Times are in seconds. If jti.data is NULL, a jti is
 * generated. */
static void add_times(struct json_writer *claims, const struct clock *clock, int64_t from,
		      int64_t to, struct slice jti)
{
	char drawn[UUID_TEXT_SIZE];

	if (jti.data == NULL) {
		uuid_make(clock, drawn);
		jti = slice_of(drawn);
	}
	writer_integer(claims, "iat", from);
	writer_integer(claims, "nbf", from);
	writer_integer(claims, "exp", to);
	writer_text(claims, "jti", jti);
}

struct slice token_sign_management(struct arena *arena, const struct clock *clock,
				   const struct account *account, int64_t now, int64_t seconds)
{
	const struct secret *younger = &account->secrets[account->secret_count - 1];
	struct json_writer claims = begin_claims(arena, account, "management");

	add_times(&claims, clock, now / 1000, now / 1000 + seconds, (struct slice){ NULL, 0 });
	return sign(arena, younger, &claims);
}

struct slice token_sign_session(struct arena *arena, const struct clock *clock, int64_t now,
				const struct secret *secret, const struct secret *with,
				const struct token_claims *session)
{
	const struct account *account = session->account;
	struct json_writer claims = begin_claims(arena, account, "session");

	if (session->id[0] != '\0') {
		writer_text(&claims, "key", slice_of(session->id));
	} else if (session->is_limited) {
		writer_text(&claims, "anteroom_scope", scopes_text(arena, session->scopes));
		writer_integer(&claims, "gives_until", session->gives_until);
	}
	if (account->times_disabled > 0)
		writer_integer(&claims, "times_disabled", account->times_disabled);
	if (with != NULL)
		writer_integer(&claims, "secret_created_at", with->created_at);
	add_times(&claims, clock, now / 1000, session->expires_at, (struct slice){ NULL, 0 });
	return sign(arena, secret, &claims);
}

struct slice token_sign_join(struct arena *arena, const struct clock *clock,
			     const struct account *account, const struct token_join *join,
			     int64_t now, int64_t expires_at)
{
	const struct secret *older = &account->secrets[0];
	struct json_writer claims = begin_claims(arena, account, "app");

	writer_text(&claims, "room_id", join->room_id);
	writer_text(&claims, "role", join->role);
	writer_text(&claims, "user_id", join->user_id);
	if (join->code_hash.data != NULL) {
		writer_text(&claims, "code_hash", join->code_hash);
		writer_integer(&claims, "code_place", (int64_t)join->code_place);
	}
	if (join->consent.data != NULL)
		writer_text(&claims, "consent", join->consent);
	if (join->consent.data != NULL && join->consent_text.size > 0)
		writer_text(&claims, "consent_text", join->consent_text);
	if (join->entry.data != NULL)
		writer_text(&claims, "entry", join->entry);
	add_times(&claims, clock, now / 1000 - JWT_SECONDS_BACK, expires_at, join->jti);
	return sign(arena, older, &claims);
}
