/* Request counters for GET /metrics: by route and status, with durations. Each processor has its
 * own counters, so counting costs nanoseconds; reading adds them up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include "base/histogram.h"
#include "base/http_status.h"
#include "resources/call.h"

struct metrics;

/* Known statuses; one more counter is for all others. */
#define METRICS_STATUSES HTTP_STATUS_COUNT
extern const int metrics_statuses[METRICS_STATUSES];

/* `routes` is borrowed and ends with a row whose path is NULL. */
struct metrics *metrics_open(const struct route *routes);
/* NULL is allowed. */
void metrics_close(struct metrics *metrics);

/* Counts an answer; microseconds since the request arrived. metrics may be NULL. Any thread. */
void metrics_count(struct metrics *metrics, const struct call *call, int64_t microseconds);

/* "expired" and so on. */
extern const char *const metrics_refusals[JOIN_REFUSALS];
uint64_t metrics_refused(const struct metrics *metrics, enum join_refusal refusal);
/* Operations of bulks that were carried out. */
uint64_t metrics_operations(const struct metrics *metrics);
uint64_t metrics_deferred(const struct metrics *metrics);

/* The counters of a route; `route` NULL: of requests that match no route. */
struct metrics_route {
	const struct route *route;
	uint64_t statuses[METRICS_STATUSES + 1];
	struct histogram_state durations;
};

/* Reads the n-th route; false when there are no more. */
bool metrics_read(const struct metrics *metrics, size_t n, struct metrics_route *read);

#endif
