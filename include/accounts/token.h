/* JSON Web Tokens (RFC 7519) with HS256. The key is the text of an account's secret. Management
 * tokens are verified, and signed for the command line. Join tokens are signed, and verified when
 * they are exchanged for access to a media server.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_TOKEN_H
#define ACCOUNTS_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/slice.h"
#include "accounts/roster.h"

/* Longer tokens are rejected unread. nginx's default limit for a header line is lower. */
#define TOKEN_MOST 8192

/* A cache of verified tokens, of fixed size, shared by all threads. An entry is valid for the
 * roster it was verified with; its times are checked at each use. */
struct token_memory;

struct token_memory *token_memory_open(void);
void token_memory_close(struct token_memory *memory);
/* Returns the number of entries, including expired ones; 0 if `memory` is NULL. */
uint64_t token_memory_count(const struct token_memory *memory);

/* Maximum bytes of a jti that are kept. */
#define TOKEN_ID_MOST 64

/* The token of a caller of the API: a program's management token, or a browser's session token. */
enum token_type { TOKEN_MANAGEMENT, TOKEN_SESSION };

/* The content of such a token. */
struct token_claims {
	const struct account *account; /* lives as long as the roster */
	int64_t expires_at; /* its `exp`, in seconds since 1970 */
	unsigned scopes; /* a set (accounts/scopes.h); all if there is no anteroom_scope */
	bool is_limited; /* it has anteroom_scope */
	/* If it is limited: the latest expiry, in seconds, of what it may create. That is its own
	 * `exp`, or for a session the `exp` of the token that began it. */
	int64_t gives_until;
	/* Its jti, cut after a whole character; for a session, the ID of the API key that began it.
	 * Empty if there is none. */
	char id[TOKEN_ID_MOST + 1];
};

/* Verifies `token` (the text after "Bearer" and its spaces) as a token of this type of an enabled
 * account at `now` (milliseconds). Sets *claims; the account is NULL if the token is rejected.
 *
 * Fails with FAULT_UNAUTHORIZED and a detail. The detail is the same for an unknown access key, a
 * disabled account, a wrong signature, and a token that cannot be parsed up to its signature. It
 * names the problem only if the token is signed correctly.
 *
 * memory: the cache, or NULL. */
bool token_verify(struct token_memory *memory, const struct roster *roster, struct arena *arena,
		  struct slice token, enum token_type type, int64_t now,
		  struct token_claims *claims, struct fault *fault);

struct token_join {
	struct slice room_id;
	struct slice role;
	struct slice user_id;
	struct slice code_hash; /* data is NULL if the token has no such claim, and no code_place */
	uint64_t code_place; /* place of the code in its room; 0 if the token has none */
	/* What the person is found by at the media server: 32 hex digits, drawn for each token;
	 * data is NULL if the token has none. */
	struct slice entry;
	/* When the person agreed to be recorded, in seconds since 1970 as text; data is NULL if
	 * that is not known. And which sentence was shown; data is NULL if that is not known. */
	struct slice consent, consent_text;
	struct slice jti; /* for signing; data is NULL to generate one */
};

/* A verified join token, signed by any account. */
struct app_token {
	const struct account *account; /* lives as long as the roster */
	struct token_join subject; /* in the arena */
	int64_t expires_at; /* seconds */
	int64_t issued_at; /* its iat, in seconds; INT64_MIN if it has none */
};
/* Returns true if the token says that it is a join token; verifies nothing. */
bool token_is_for_joining(struct arena *arena, struct slice token);
/* Verifies a join token (type app). These tokens are not cached. */
bool token_verify_app(const struct roster *roster, struct arena *arena, struct slice token,
		      int64_t now, struct app_token *app, struct fault *fault);

/* Returns a management token, valid for `seconds` from `now` (truncated to whole seconds). It is
 * signed with the newer secret, so that it survives the end of a rotation. */
struct slice token_sign_management(struct arena *arena, const struct clock *clock,
				   const struct account *account, int64_t now, int64_t seconds);

/* Returns the active secret of the account that signed the token, or NULL. Verifies nothing
 * else. */
const struct secret *token_signer(const struct account *account, struct arena *arena,
				  struct slice token);

/* Returns a session token, signed with `secret`. It becomes invalid when that secret is retired,
 * when the secret `with` (if not NULL) is retired, and when the account is disabled, even if it is
 * enabled again. claims: expires_at, id (of an API key, whose scopes the session has), and if
 * is_limited scopes and gives_until. */
struct slice token_sign_session(struct arena *arena, const struct clock *clock, int64_t now,
				const struct secret *secret, const struct secret *with,
				const struct token_claims *claims);

/* Returns a join token. It is signed with the older secret, so that verifiers that do not know the
 * new one yet accept it, and is valid from 10 s before `now` (milliseconds), for verifiers with
 * slow clocks. expires_at: its `exp`, in seconds. */
struct slice token_sign_join(struct arena *arena, const struct clock *clock,
			     const struct account *account, const struct token_join *join,
			     int64_t now, int64_t expires_at);

#endif
