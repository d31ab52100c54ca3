/* Tokens that were verified, remembered. A table of fixed size, each place with a lock of its own; a
 * new token takes the place of the one before, so that the worst that can happen is that a token is
 * verified again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_TOKEN_MEMORY_H
#define ACCOUNTS_TOKEN_MEMORY_H

#include "base/id.h"
#include "accounts/token.h"

/* What holds of a token as long as the roster is the same. Times in milliseconds; doubles, because
 * tokens may have fractions, and numbers beyond any integer. */
struct verified_token {
	uint64_t generation; /* of the roster */
	double not_before; /* the first moment it is valid */
	double expires; /* the first moment it no longer is */
	struct id account;
	size_t place; /* of the account in the roster */
};

/* Whether `token`, byte for byte, is remembered. */
bool token_memory_find(struct token_memory *memory, struct slice token,
		       struct verified_token *verified);
/* The last part of `token` is its signature, which spreads the tokens over the table. */
void token_memory_keep(struct token_memory *memory, struct slice token,
		       const struct verified_token *verified);

#endif
