/* Counts requests for GET /metrics, by route and status, with their durations. Each processor has
 * its own counters, so counting takes nanoseconds; reading adds them up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include "base/histogram.h"
#include "base/http_status.h"
#include "resources/call.h"

struct metrics;

/* The statuses that are counted separately; one more counter is for all others. */
#define METRICS_STATUSES HTTP_STATUS_COUNT
extern const int metrics_statuses[METRICS_STATUSES];

/* `routes` is borrowed and ends with a row whose path is NULL. */
struct metrics *metrics_open(const struct route *routes);
/* NULL is allowed. */
void metrics_close(struct metrics *metrics);

/* Counts a response. microseconds: the time since the request arrived. metrics may be NULL. Any
 * thread. */
void metrics_count(struct metrics *metrics, const struct call *call, int64_t microseconds);

uint64_t metrics_refused(const struct metrics *metrics, enum join_refusal refusal);
/* Returns the number of operations carried out in bulk requests. */
uint64_t metrics_operations(const struct metrics *metrics);
uint64_t metrics_deferred(const struct metrics *metrics);

/* The counters of a route or, if `route` is NULL, of requests that match no route. */
struct metrics_route {
	const struct route *route;
	uint64_t statuses[METRICS_STATUSES + 1];
	struct histogram_state durations;
};

/* Reads the counters of the n-th route. Returns false if there are no more. */
bool metrics_read(const struct metrics *metrics, size_t n, struct metrics_route *read);

#endif
