/* Sets of scopes: what the caller of the API may do. A set consists of bits, 1 << enum scope.
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

/* Returns the set, with the scopes that its scopes include. */
unsigned scopes_with_included(unsigned scopes);
/* Returns the name of the first scope in `needed` that is missing in `held`, or NULL. A
 * constant. */
const char *scopes_missing(unsigned held, unsigned needed);

/* Parses names separated by spaces. Ignores unknown names. */
unsigned scopes_of_text(struct slice names);
/* Converts an array of names that was checked by its table. */
unsigned scopes_of_list(const json_t *names);
/* Returns the names, separated by spaces. */
struct slice scopes_text(struct arena *arena, unsigned scopes);
/* Returns an array of the names in the order of the table, as a new reference. */
json_t *scopes_list(unsigned scopes);

#endif
