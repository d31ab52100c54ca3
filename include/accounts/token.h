/* JSON Web Tokens (decisions.md sections 3 and 8): RFC 7519 with one algorithm, HS256, keyed with the
 * characters of an account's secret. The management token is verified, and made for the command line;
 * the token for joining is only made: those who run the rooms verify it.
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

/* Longer ones are refused unread; also more than nginx takes in one header line by default. */
#define TOKEN_MOST 8192

/* Tokens that were verified: of a fixed size, shared by all threads. What is remembered holds for the
 * roster it was verified with, and its times are looked at each time. */
struct token_memory;

struct token_memory *token_memory_open(void);
void token_memory_close(struct token_memory *memory);
/* How many are remembered now, the expired among them included; NULL: none. */
uint64_t token_memory_count(const struct token_memory *memory);

/* Whether `token` (what follows "Bearer" and its spaces) is a management token of an enabled account,
 * at `now` in milliseconds; *account is that account then and lives as long as the roster.
 *
 * Else FAULT_UNAUTHORIZED with a detail. An unknown access key, a disabled account's, a wrong
 * signature, and whatever cannot be read as far as the signature all have the same one; only of a
 * token that is rightly signed it tells what is wrong.
 *
 * memory: NULL remembers nothing. */
bool token_verify(struct token_memory *memory, const struct roster *roster, struct arena *arena,
		  struct slice token, int64_t now, const struct account **account,
		  struct fault *fault);

/* A management token, valid for so many seconds from `now` (cut to whole seconds), signed with the
 * younger of the account's secrets, so that it survives the end of a rotation. */
struct slice token_sign_management(struct arena *arena, const struct clock *clock,
				   const struct account *account, int64_t now, int64_t seconds);

struct token_join {
	struct slice room_id;
	struct slice role;
	struct slice user_id;
};

/* A token for joining, signed with the older secret, so that a rotation is no outage for those who
 * verify it. *expires_at, in milliseconds, is its `exp`. */
struct slice token_sign_join(struct arena *arena, const struct clock *clock,
			     const struct account *account, const struct token_join *join,
			     int64_t now, int64_t seconds, int64_t *expires_at);

#endif
