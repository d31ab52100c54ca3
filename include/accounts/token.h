/* JSON Web Tokens (RFC 7519) with HS256, keyed with the text of an account's secret. Management
 * tokens are verified, and signed for the command line; tokens for joining are only signed: the
 * media servers verify them.
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

/* Verifies `token` (the text after "Bearer" and its spaces) as a management token of an enabled
 * account at `now` (milliseconds). *account lives as long as the roster.
 *
 * FAULT_UNAUTHORIZED with a detail. The detail is the same for an unknown access key, a disabled
 * account, a wrong signature, and a token that cannot be parsed up to its signature; only for a
 * correctly signed token it names the problem.
 *
 * memory: NULL for no cache. */
bool token_verify(struct token_memory *memory, const struct roster *roster, struct arena *arena,
		  struct slice token, int64_t now, const struct account **account,
		  struct fault *fault);

struct token_join {
	struct slice room_id;
	struct slice role;
	struct slice user_id;
	struct slice code_hash; /* data NULL: the token has no such claim */
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

/* A token for joining. Signed with the older secret, so that verifiers that do not know the new one
 * yet accept it. now: milliseconds; expires_at: its `exp`, in seconds. */
struct slice token_sign_join(struct arena *arena, const struct clock *clock,
			     const struct account *account, const struct token_join *join,
			     int64_t now, int64_t expires_at);

#endif
