/* JSON Web Tokens (RFC 7519) with HS256, keyed with the text of an account's secret. Management
 * tokens are verified, and signed for the command line; tokens for joining are signed, and verified
 * when they are exchanged for the way into a media server.
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

/* Longer tokens are rejected unread; also more than nginx accepts in a header line by default. */
#define TOKEN_MOST 8192

/* A cache of verified tokens: fixed size, shared by all threads. An entry is valid for the roster
 * it was verified with; its times are checked at each use. */
struct token_memory;

struct token_memory *token_memory_open(void);
void token_memory_close(struct token_memory *memory);
/* The number of entries, including expired ones; NULL: 0. */
uint64_t token_memory_count(const struct token_memory *memory);

/* The most bytes of a jti that are kept. */
#define TOKEN_ID_MOST 64

/* Who calls the interface: a program with a management token, or a browser with a session's. */
enum token_type { TOKEN_MANAGEMENT, TOKEN_SESSION };

/* What such a token says. */
struct token_claims {
	const struct account *account; /* lives as long as the roster */
	int64_t expires_at; /* seconds; its `exp` */
	unsigned scopes; /* accounts/scopes.h; all without anteroom_scope */
	bool is_limited; /* it has anteroom_scope */
	/* The end of what it may give away when it is limited, in seconds: its `exp`; that of the
	 * token that a session came from. */
	int64_t gives_until;
	/* Its jti, cut between characters; of a session the id of the key that it came from. Empty:
	 * there is none. */
	char id[TOKEN_ID_MOST + 1];
};

/* Verifies `token` (the text after "Bearer" and its spaces) as a token of this type of an enabled
 * account at `now` (milliseconds). Sets *claims; a
 * refused token has account NULL.
 *
 * FAULT_UNAUTHORIZED with a detail. The detail is the same for an unknown access key, a disabled
 * account, a wrong signature, and a token that cannot be parsed up to its signature; only for a
 * correctly signed token it names the problem.
 *
 * memory: NULL for no cache. */
bool token_verify(struct token_memory *memory, const struct roster *roster, struct arena *arena,
		  struct slice token, enum token_type type, int64_t now,
		  struct token_claims *claims, struct fault *fault);

struct token_join {
	struct slice room_id;
	struct slice role;
	struct slice user_id;
	struct slice code_hash; /* data NULL: the token has no such claim, and no code_place */
	uint64_t code_place; /* where the room has the code; 0: the token does not say */
	struct slice jti; /* of a token that is signed; data NULL: one is drawn */
};

/* A token for joining, of any account that signed one. */
struct app_token {
	const struct account *account; /* lives as long as the roster */
	struct token_join subject; /* in the arena */
	int64_t expires_at; /* seconds */
};
/* The same for tokens of type app, which are not remembered. */
bool token_verify_app(const struct roster *roster, struct arena *arena, struct slice token,
		      int64_t now, struct app_token *app, struct fault *fault);

/* A management token, valid for `seconds` from `now` (truncated to whole seconds). Signed with the
 * younger secret, so that it survives the end of a rotation. */
struct slice token_sign_management(struct arena *arena, const struct clock *clock,
				   const struct account *account, int64_t now, int64_t seconds);

/* The active secret of the account that signed the token, or NULL. Nothing else is verified. */
const struct secret *token_signer(const struct account *account, struct arena *arena,
				  struct slice token);

/* A token of a session. Signed with this secret of the account; it ends with it, with the secret
 * `with` if that is not NULL, and when the account is disabled, for good. claims: expires_at, id
 * (of a key, whose scopes are the session's), and scopes and gives_until when is_limited. */
struct slice token_sign_session(struct arena *arena, const struct clock *clock, int64_t now,
				const struct secret *secret, const struct secret *with,
				const struct token_claims *claims);

/* A token for joining. Signed with the older secret, so that verifiers that do not know the new one
 * yet accept it; valid from 10 s before `now` (milliseconds), for those whose clock is behind.
 * expires_at: its `exp`, in seconds. */
struct slice token_sign_join(struct arena *arena, const struct clock *clock,
			     const struct account *account, const struct token_join *join,
			     int64_t now, int64_t expires_at);

#endif
