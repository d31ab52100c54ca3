/* See resources/code_identities.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_identities.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const uint32_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

struct code_identities code_identities_of(struct call *call, const struct room_codes *codes)
{
	struct code_identities identities = {
		.items = arena_alloc(call->arena, (codes->count + 1) * sizeof *identities.items),
	};
	size_t all = 0;

	for (size_t i = 0; i < codes->count; i++) {
		if (!codes->codes[i].is_lost)
			identities.items[all++] = codes->codes[i].role;
	}
	qsort(identities.items, all, sizeof *identities.items, compare);
	for (size_t i = 0; i < all; i++) {
		if (i == 0 || identities.items[i] != identities.items[identities.count - 1])
			identities.items[identities.count++] = identities.items[i];
	}
	return identities;
}

bool code_identities_have(const struct code_identities *identities, uint32_t identity)
{
	return bsearch(&identity, identities->items, identities->count, sizeof identity, compare) !=
	       NULL;
}
