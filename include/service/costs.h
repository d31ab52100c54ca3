/* What the calls of each account and route cost lately, in processor time, so that those that are
 * likely to cost much can be handled apart from others (edge/deferred.h). An estimate follows what
 * calls cost, upwards faster than downwards: cheap calls in between do not hide costly ones.
 *
 * Any thread; without locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_COSTS_H
#define SERVICE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

/* Microseconds of processor time from which a call is costly. A list of 100 common templates takes
 * less. */
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
