/* Requests counted, for GET /metrics: by route and status, and how long they took. Counting costs
 * nanoseconds: each processor has counters of its own, which are added up when somebody asks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include "base/histogram.h"
#include "resources/call.h"

struct metrics;

/* The statuses that are told apart; all others are counted behind them. */
#define METRICS_STATUSES 14
extern const int metrics_statuses[METRICS_STATUSES];

/* The table is borrowed; it ends with a row whose path is NULL. */
struct metrics *metrics_open(const struct route *routes);
/* NULL is fine. */
void metrics_close(struct metrics *metrics);

/* The answer is complete; microseconds since the request came. metrics NULL counts nothing. Any
 * thread. */
void metrics_count(struct metrics *metrics, const struct call *call, int64_t microseconds);

/* What was counted of one route; `route` NULL: of the requests that found none. */
struct metrics_route {
	const struct route *route;
	uint64_t statuses[METRICS_STATUSES + 1];
	struct histogram_state durations;
};

/* Reads the n-th of all routes; false when there are no more. */
bool metrics_read(const struct metrics *metrics, size_t n, struct metrics_route *read);

#endif
