/* Sets of scopes: what the caller of the interface may do. A set is bits, 1 << enum scope.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_SCOPES_H
#define ACCOUNTS_SCOPES_H

#include <jansson.h>

#include "base/arena.h"
#include "base/slice.h"
#include "rules/key_rules.h"

#define SCOPE_BIT(name) (1u << SCOPE_##name)
#define SCOPES_ALL ((1u << SCOPES) - 1)

/* Adds the scopes that those of the set include. */
unsigned scopes_with_included(unsigned scopes);
/* The first scope of `needed` that `held` lacks; NULL: none. Constant. */
const char *scopes_missing(unsigned held, unsigned needed);

/* Of names separated by spaces, of which unknown ones give nothing. */
unsigned scopes_of_text(struct slice names);
/* Of an array of names, which its table has checked. */
unsigned scopes_of_list(const json_t *names);
/* Names separated by spaces. */
struct slice scopes_text(struct arena *arena, unsigned scopes);
/* An array of names in the order of the table; a new reference. */
json_t *scopes_list(unsigned scopes);

#endif
