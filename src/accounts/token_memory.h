/* A cache of verified tokens: a table of fixed size with a lock for each place. A new token
 * replaces the token in its place; at worst, that token is verified again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_TOKEN_MEMORY_H
#define ACCOUNTS_TOKEN_MEMORY_H

#include "base/id.h"
#include "accounts/token.h"

/* The properties of a token for one roster. Times are milliseconds, as doubles, because tokens may
 * have fractions and numbers beyond any integer. */
struct verified_token {
	uint64_t generation; /* generation of the roster */
	double not_before; /* the first time at which it is valid */
	double expires; /* the first time at which it is not */
	struct id account;
	size_t place; /* index of the account in the roster */
	enum token_type type;
	struct token_claims claims; /* their account may no longer exist */
};

/* Returns true if `token` is in the cache, and fills *verified. */
bool token_memory_find(struct token_memory *memory, struct slice token,
		       struct verified_token *verified);
/* Puts a token into the cache. Its signature, at the end, selects the place. */
void token_memory_keep(struct token_memory *memory, struct slice token,
		       const struct verified_token *verified);

#endif
