/* See service/metrics.h. Rows of different processors share no cache line. A thread that moves to
 * another processor while counting still counts correctly.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/metrics.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "resources/route.h"

#define PROCESSORS_MOST 64
#define CACHE_LINE 64

const int metrics_statuses[METRICS_STATUSES] = {
#define HTTP_STATUS(status, reason) status,
	HTTP_STATUSES(HTTP_STATUS)
#undef HTTP_STATUS
};

struct row {
	_Alignas(CACHE_LINE) _Atomic uint64_t statuses[METRICS_STATUSES + 1];
	struct histogram durations;
};

struct metrics {
	const struct route *routes;
	size_t n_routes;
	size_t n_processors;
	_Atomic uint64_t refused[JOIN_REFUSALS];
	_Atomic uint64_t operations;
	_Atomic uint64_t deferred;
	/* for each processor: its routes, then one row for requests without a route */
	struct row *rows;
};

struct metrics *metrics_open(const struct route *routes)
{
	struct metrics *metrics = memory_check(calloc(1, sizeof *metrics));
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t size;

	metrics->routes = routes;
	while (routes[metrics->n_routes].path != NULL)
		metrics->n_routes++;
	metrics->n_processors = processors < 1 ? 1 : (size_t)processors;
	if (metrics->n_processors > PROCESSORS_MOST)
		metrics->n_processors = PROCESSORS_MOST;
	size = metrics->n_processors * (metrics->n_routes + 1) * sizeof *metrics->rows;
	metrics->rows = memory_check(aligned_alloc(CACHE_LINE, size));
	memset(metrics->rows, 0, size);
	return metrics;
}

void metrics_close(struct metrics *metrics)
{
	if (metrics == NULL)
		return;
	free(metrics->rows);
	free(metrics);
}

static struct row *row_of(const struct metrics *metrics, size_t processor, size_t route)
{
	return &metrics->rows[processor * (metrics->n_routes + 1) + route];
}

void metrics_count(struct metrics *metrics, const struct call *call, int64_t microseconds)
{
	int processor = sched_getcpu();
	size_t route, status = 0;
	struct row *row;

	if (metrics == NULL)
		return;
	route = call->route == NULL ? metrics->n_routes : (size_t)(call->route - metrics->routes);
	row = row_of(metrics, processor < 0 ? 0 : (size_t)processor % metrics->n_processors, route);
	while (status < METRICS_STATUSES && metrics_statuses[status] != call->answer.status)
		status++;
	atomic_fetch_add_explicit(&row->statuses[status], 1, memory_order_relaxed);
	histogram_add(&row->durations, microseconds < 0 ? 0 : (uint64_t)microseconds);
	if (call->run.refusal != JOIN_NOT_REFUSED)
		atomic_fetch_add_explicit(&metrics->refused[call->run.refusal], 1,
					  memory_order_relaxed);
	if (call->is_deferred)
		atomic_fetch_add_explicit(&metrics->deferred, 1, memory_order_relaxed);
	if (call->run.operations > 0 && call->answer.status == 200)
		atomic_fetch_add_explicit(&metrics->operations, call->run.operations,
					  memory_order_relaxed);
}

uint64_t metrics_refused(const struct metrics *metrics, enum join_refusal refusal)
{
	return atomic_load_explicit(&metrics->refused[refusal], memory_order_relaxed);
}

uint64_t metrics_operations(const struct metrics *metrics)
{
	return atomic_load_explicit(&metrics->operations, memory_order_relaxed);
}

uint64_t metrics_deferred(const struct metrics *metrics)
{
	return atomic_load_explicit(&metrics->deferred, memory_order_relaxed);
}

bool metrics_read(const struct metrics *metrics, size_t n, struct metrics_route *read)
{
	if (n > metrics->n_routes)
		return false;
	*read = (struct metrics_route){
		.route = n == metrics->n_routes ? NULL : &metrics->routes[n],
	};
	for (size_t i = 0; i < metrics->n_processors; i++) {
		const struct row *row = row_of(metrics, i, n);

		for (size_t status = 0; status <= METRICS_STATUSES; status++)
			read->statuses[status] += atomic_load_explicit(&row->statuses[status],
								       memory_order_relaxed);
		histogram_read(&row->durations, &read->durations);
	}
	return true;
}
