/* The budget of unknown codes (decisions.md section 8): codes cannot be guessed. Only misses count.
 * An address has 20 a minute (an IPv6 address: its /64), and 2 while the whole service sees more than
 * 2,000 a minute; then every call of that address is refused until a minute has passed. An address
 * without misses never notices.
 *
 * Memory is fixed, 5 MB for 131,072 addresses: when more miss within a minute than fit, the one whose
 * minute began first is forgotten among the few places it could be in. So whoever has more addresses
 * than that (a /32 of IPv6) is bounded by what the service can answer, and by nginx. Any thread;
 * guarded by its own lock, held for a look-up only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MISSES_H
#define RESOURCES_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/slice.h"

#define MISSES_ADDRESS_MOST 20
#define MISSES_ADDRESS_MOST_UNDER_ATTACK 2
#define MISSES_SERVICE_MOST 2000
#define MISSES_MINUTE 60000 /* milliseconds */

struct misses;

struct misses *misses_open(const struct clock *clock);
void misses_close(struct misses *misses);

/* now: clock_monotonic's milliseconds. 0: the address may call; else the seconds until it may. */
unsigned misses_wait(struct misses *misses, struct slice address, int64_t now);
/* One more unknown code from this address. Gives what misses_wait would have, had it been asked now:
 * calls that came at once may have used up the budget together. */
unsigned misses_count(struct misses *misses, struct slice address, int64_t now);
/* Misses of the last whole minute or of the one that runs, whichever is more: for the metrics. */
unsigned misses_rate(struct misses *misses, int64_t now);
/* All misses since misses_open: for the metrics. */
uint64_t misses_total(struct misses *misses);

#endif
