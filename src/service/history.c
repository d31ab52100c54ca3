/* See service/history.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/history.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/route.h"
#include "service/health.h"
#include "service/metrics.h"
#include "store/figures.h"

/* A quantile of nothing. */
#define NOTHING UINT32_MAX

/* Counters since the start. */
struct totals {
	uint64_t reads, writes, joins;
	uint64_t rejected, failed; /* responses 4xx and 5xx */
	struct histogram_state durations;
	struct histogram_state syncs; /* of the journal, or commits of a database */
};

struct sample {
	int64_t time; /* end of the minute, in milliseconds since 1970 */
	uint32_t reads, writes, joins, rejected, failed;
	uint32_t p50, p99, sync_p50, sync_p99; /* microseconds, or NOTHING */
};

struct history {
	const struct environment *environment;
	int64_t minute; /* that of the last tick, since 1970; 0: none */
	struct totals totals; /* at the first tick of that minute */
	bool is_whole; /* that tick was at the beginning of the minute */
	pthread_mutex_t lock; /* protects the following members */
	size_t count, next; /* samples; the place of the next one */
	struct sample samples[HISTORY_MOST];
};

struct history *history_open(const struct environment *environment)
{
	struct history *history = memory_check(calloc(1, sizeof *history));

	history->environment = environment;
	if (pthread_mutex_init(&history->lock, NULL) != 0)
		ABORT("cannot create a lock");
	return history;
}

void history_close(struct history *history)
{
	if (history == NULL)
		return;
	pthread_mutex_destroy(&history->lock);
	free(history);
}

/* ---- samples ---- */

/* Returns the counter for requests of a route. */
static uint64_t *counter_of(struct totals *totals, const struct route *route)
{
	if (route->method == METHOD_GET)
		return &totals->reads;
	return strcmp(route->path, "/v2/token") == 0 ||
			       strcmp(route->path, "/v2/livekit/{code}") == 0
		       ? &totals->joins
		       : &totals->writes;
}

/* Returns a quantile of the durations counted since `before`, in microseconds, as the console
 * computes it: evenly distributed between two bounds, and at most the last bound. */
static uint32_t quantile(const struct histogram_state *now, const struct histogram_state *before,
			 double part)
{
	uint64_t total = 0, below = 0, count;
	double low = 0;

	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
		total += now->counts[i] - before->counts[i];
	if (total == 0)
		return NOTHING;
	for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++, below += count) {
		const double high = histogram_bounds[i], rank = part * (double)total;

		count = now->counts[i] - before->counts[i];
		if (count > 0 && (double)(below + count) >= rank)
			return (uint32_t)(low +
					  (high - low) * (rank - (double)below) / (double)count);
		low = high;
	}
	return histogram_bounds[HISTOGRAM_BOUNDS - 1];
}

void history_tick(struct history *history)
{
	const int64_t minute = clock_now(history->environment->clock) / (HISTORY_SECONDS * 1000);
	const bool has_ended = minute == history->minute + 1;
	const struct environment *environment = history->environment;
	const struct totals *before = &history->totals;
	struct totals now = { .reads = 0 };
	struct store_figures figures;
	struct metrics_route read;

	if (minute == history->minute)
		return;

	for (size_t i = 0; metrics_read(environment->metrics, i, &read); i++) {
		/* Requests of those who watch the service are left out. */
		if (read.route != NULL &&
		    (read.route->is_internal || strncmp(read.route->path, "/v2/service/", 12) == 0))
			continue;
		for (size_t n = 0; n <= METRICS_STATUSES; n++) {
			const int status = n < METRICS_STATUSES ? metrics_statuses[n] : 0;

			if (read.route != NULL)
				*counter_of(&now, read.route) += read.statuses[n];
			now.rejected += status / 100 == 4 ? read.statuses[n] : 0;
			now.failed += status / 100 == 5 ? read.statuses[n] : 0;
		}
		for (size_t n = 0; n <= HISTOGRAM_BOUNDS; n++)
			now.durations.counts[n] += read.durations.counts[n];
	}
	if (store_figures(environment->store, &figures))
		now.syncs = figures.is_database ? figures.commits : figures.journal_syncs;

	if (has_ended && history->is_whole) {
		const struct sample sample = {
			.time = minute * HISTORY_SECONDS * 1000,
			.reads = (uint32_t)(now.reads - before->reads),
			.writes = (uint32_t)(now.writes - before->writes),
			.joins = (uint32_t)(now.joins - before->joins),
			.rejected = (uint32_t)(now.rejected - before->rejected),
			.failed = (uint32_t)(now.failed - before->failed),
			.p50 = quantile(&now.durations, &before->durations, 0.5),
			.p99 = quantile(&now.durations, &before->durations, 0.99),
			.sync_p50 = quantile(&now.syncs, &before->syncs, 0.5),
			.sync_p99 = quantile(&now.syncs, &before->syncs, 0.99),
		};

		pthread_mutex_lock(&history->lock);
		history->samples[history->next] = sample;
		history->next = (history->next + 1) % HISTORY_MOST;
		history->count += history->count < HISTORY_MOST;
		pthread_mutex_unlock(&history->lock);
	}
	history->minute = minute;
	history->is_whole = has_ended;
	history->totals = now;
}

/* ---- the response ---- */

/* The members of a sample, in the order of rules/history_rules.c. */
static const struct {
	const char *name;
	size_t at; /* of a uint32_t */
	bool is_time; /* in microseconds, or NOTHING */
} sample_members[] = {
	{ "reads", offsetof(struct sample, reads), false },
	{ "writes", offsetof(struct sample, writes), false },
	{ "joins", offsetof(struct sample, joins), false },
	{ "rejected", offsetof(struct sample, rejected), false },
	{ "failed", offsetof(struct sample, failed), false },
	{ "p50", offsetof(struct sample, p50), true },
	{ "p99", offsetof(struct sample, p99), true },
	{ "sync_p50", offsetof(struct sample, sync_p50), true },
	{ "sync_p99", offsetof(struct sample, sync_p99), true },
};

static void write_sample(struct json_writer *body, const struct sample *sample)
{
	writer_open(body, NULL, '{');
	writer_time(body, "time", sample->time);
	for (size_t i = 0; i < sizeof sample_members / sizeof sample_members[0]; i++) {
		const char *name = sample_members[i].name;
		uint32_t value;

		memcpy(&value, (const char *)sample + sample_members[i].at, sizeof value);
		if (!sample_members[i].is_time)
			writer_integer(body, name, value);
		else if (value == NOTHING)
			writer_json(body, name, SLICE("null"));
		else
			writer_seconds(body, name, value);
	}
	writer_close(body, '}');
}

bool history_get(struct call *call, struct fault *fault)
{
	struct history *history = call->environment->history;
	struct json_writer body = writer_begin(call->arena, false);
	struct sample *samples;
	size_t first, count = 0;

	if (!health_check_operator(call, fault))
		return false;

	/* Copied, oldest first, so that the lock is not held for long. */
	samples = arena_alloc(call->arena, sizeof history->samples);
	if (history != NULL) {
		pthread_mutex_lock(&history->lock);
		first = (history->next + HISTORY_MOST - history->count) % HISTORY_MOST;
		for (; count < history->count; count++)
			samples[count] = history->samples[(first + count) % HISTORY_MOST];
		pthread_mutex_unlock(&history->lock);
	}

	writer_integer(&body, "interval", HISTORY_SECONDS);
	writer_open(&body, "samples", '[');
	for (size_t i = 0; i < count; i++)
		write_sample(&body, &samples[i]);
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}
