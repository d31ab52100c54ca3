/* See service/costs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/costs.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ENTRIES 4096
/* An estimate moves upwards by one RISE-th of its error, and downwards by one FALL-th. So one call
 * that was interrupted by the kernel, whose time then counts as the call's, does not make a cheap
 * route look expensive. */
#define RISE 2
#define FALL 8

/* An entry holds a tag for an account and a route, and in its low 32 bits the estimate in
 * microseconds. If two pairs of account and route share a place, it belongs to the pair whose call
 * was expensive last. */
struct costs {
	_Atomic uint64_t entries[ENTRIES];
};

struct costs *costs_open(void)
{
	return memory_check(calloc(1, sizeof(struct costs)));
}

void costs_close(struct costs *costs)
{
	free(costs);
}

/* IDs differ most in their last bytes; the multiplication (Knuth, by the golden ratio) spreads the
 * difference over all bits. */
static uint64_t costs_hash(const struct id *account, const struct route *route)
{
	uint64_t last;

	memcpy(&last, account->bytes + sizeof account->bytes - sizeof last, sizeof last);
	last ^= (uint64_t)(uintptr_t)route;
	last *= 0x9e3779b97f4a7c15u;
	last ^= last >> 32;
	return last * 0x9e3779b97f4a7c15u;
}

static bool entry_is_of(uint64_t entry, uint64_t hash)
{
	return entry >> 32 == hash >> 32;
}

bool costs_are_high(struct costs *costs, const struct id *account, const struct route *route)
{
	const uint64_t of = costs_hash(account, route);
	const uint64_t entry = atomic_load_explicit(&costs->entries[of % ENTRIES],
						    memory_order_relaxed);

	return entry_is_of(entry, of) && (uint32_t)entry >= COSTS_HIGH;
}

void costs_note(struct costs *costs, const struct id *account, const struct route *route,
		int64_t microseconds)
{
	const uint64_t of = costs_hash(account, route);
	_Atomic uint64_t *place = &costs->entries[of % ENTRIES];
	const uint64_t entry = atomic_load_explicit(place, memory_order_relaxed);
	const uint32_t cost = microseconds < UINT32_MAX ? (uint32_t)microseconds : UINT32_MAX;
	uint32_t estimate = entry_is_of(entry, of) ? (uint32_t)entry : 0;

	/* A usual call writes no shared memory. */
	if (cost < COSTS_HIGH && estimate < COSTS_HIGH)
		return;
	if (cost >= estimate)
		estimate += (cost - estimate) / RISE;
	else
		estimate -= (estimate - cost) / FALL;
	atomic_store_explicit(place, (of >> 32 << 32) | estimate, memory_order_relaxed);
}
