/* Estimates what the calls of each account and route cost, in processor time, so that expensive
 * calls can run on separate threads (edge/deferred.h). An estimate follows the measured cost,
 * upwards faster than downwards, so that cheap calls in between do not hide expensive ones.
 *
 * Any thread; without locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_COSTS_H
#define SERVICE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

/* A call that costs at least this much processor time, in microseconds, is expensive. A list of 100
 * common templates costs less. */
#define COSTS_HIGH 500

struct costs;
struct route;

struct costs *costs_open(void);
/* NULL is allowed. */
void costs_close(struct costs *costs);

bool costs_are_high(struct costs *costs, const struct id *account, const struct route *route);
void costs_note(struct costs *costs, const struct id *account, const struct route *route,
		int64_t microseconds);

#endif
