/* A cache of verified tokens: a table of fixed size with a lock per place. A new token replaces the
 * previous one of its place; the worst case is verifying a token again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_TOKEN_MEMORY_H
#define ACCOUNTS_TOKEN_MEMORY_H

#include "base/id.h"
#include "accounts/token.h"

/* The properties of a token for one roster. Times are milliseconds; doubles, because tokens may
 * have fractions and numbers beyond any integer. */
struct verified_token {
	uint64_t generation; /* of the roster */
	double not_before; /* the first time at which it is valid */
	double expires; /* the first time at which it is not */
	struct id account;
	size_t place; /* index of the account in the roster */
	enum token_type type;
	struct token_claims claims; /* whose account may be gone */
};

/* True when `token` is in the cache. */
bool token_memory_find(struct token_memory *memory, struct slice token,
		       struct verified_token *verified);
/* The end of `token` is its signature, which selects the place. */
void token_memory_keep(struct token_memory *memory, struct slice token,
		       const struct verified_token *verified);

#endif
