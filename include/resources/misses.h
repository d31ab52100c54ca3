/* The budget of unknown room codes, so that codes cannot be guessed. Only misses count. An address
 * (of IPv6 a /64) has 20 misses a minute, and 2 while the whole service sees more than 2,000 a
 * minute; after that all its calls are refused until a minute has passed.
 *
 * The memory is fixed: 5 MB for 131,072 addresses. When more addresses miss within a minute, the
 * oldest of the few entries that share a place is replaced; an attacker with more addresses than
 * that is limited by the rate of the service and of nginx. Thread-safe; its lock is held for a
 * look-up only.
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
/* Counts an unknown code from this address. Returns the same as misses_wait, since concurrent calls
 * may have used up the budget. */
unsigned misses_count(struct misses *misses, struct slice address, int64_t now);
/* Misses in the last whole minute, or in the current one if it has more: for the metrics. */
unsigned misses_rate(struct misses *misses, int64_t now);
/* All misses since misses_open: for the metrics. */
uint64_t misses_total(struct misses *misses);

#endif
