/* How many new stays are stored in a minute of the clock. A media server may report any number: a
 * media token connects again without this service, and each connection is another stay. What is
 * over the limit is reported in the service log, and is stored later, as long as surveys list it.
 *
 * An account has so many (serve --stays-per-minute). Of these, a room may have half of what the
 * account's other rooms have left, and a person, by the entry of the token, STAYS_OF_ENTRY.
 *
 * Any thread; the lock is held only for a moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_STAY_LIMITS_H
#define RESOURCES_LIVE_STAY_LIMITS_H

#include "base/id.h"
#include "base/slice.h"

#define STAYS_PER_MINUTE 20000
#define STAYS_OF_ENTRY 30

struct stay_limits;

struct stay_limits *stay_limits_open(uint64_t per_minute);
void stay_limits_close(struct stay_limits *limits);

/* Counts a new stay, if there is a place for it; else returns false. entry: may be empty. now:
 * milliseconds since 1970. */
bool stay_limits_take(struct stay_limits *limits, const struct id *account, const struct id *room,
		      struct slice entry, int64_t now);
/* Returns how often there was no place, for /metrics. */
uint64_t stay_limits_refused(struct stay_limits *limits);

#endif
