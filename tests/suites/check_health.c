/* Health, readiness and metrics in process, with a store that reports what the test sets.
 * tests/scripts/operation.sh reads the whole page with Prometheus' own parser.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "service/history.h"
#include "service/metrics.h"
#include "resources/misses.h"
#include "service/routes.h"
#include "store/figures.h"
#include "fast_disk.h"
#include "suite.h"
#include "world.h"

/* ---- a store that only reports its state ---- */

struct told_store {
	struct store base;
	bool can_write;
	struct store_figures figures;
};

static bool told_can_write(struct store *store)
{
	return ((const struct told_store *)(const void *)store)->can_write;
}

static void told_figures(struct store *store, struct store_figures *figures)
{
	*figures = ((const struct told_store *)(const void *)store)->figures;
}

static const struct store_driver told_driver = {
	.name = "told",
	.can_write = told_can_write,
	.figures = told_figures,
};

static struct told_store told;
static struct world world;

static void open_parts(struct world *opened)
{
	opened->environment.metrics = metrics_open(routes);
	opened->environment.history = history_open(&opened->environment);
}

static void close_parts(struct world *opened)
{
	history_close(opened->environment.history);
	metrics_close(opened->environment.metrics);
}

static void begin(void)
{
	told = (struct told_store){ .base.driver = &told_driver, .can_write = true };
	world_open(&world, &(const struct world_options){ .store = WORLD_GIVEN,
							  .given = &told.base,
							  .begins = INT64_C(1795100000000),
							  .stands = true,
							  .parts_open = open_parts,
							  .parts_close = close_parts });
}

static void end(void)
{
	world_close(&world);
}

static struct call ask(enum method method, const char *uri)
{
	const struct request request = world_request(&world, world.arena, NULL, method, uri, NULL);

	return world_call(&world, &request);
}

static const char *body_of(const struct call *call)
{
	return world_body(world.arena, call);
}

static const char *header_of(const struct call *call, const char *name)
{
	return arena_copy(world.arena, call_find_header(call, name)).data;
}

/* ---- readiness ---- */

static const struct {
	bool can_write;
	uint64_t damaged;
	int status;
	const char *says;
	const char *retry; /* NULL for damage, which does not pass */
} states[] = {
	{ true, 0, 200, "{\"status\":\"ready\"}", "" },
	{ false, 0, 503, "cannot write", "5" },
	{ true, 1, 503, "damaged", "" },
	{ false, 2, 503, "cannot write", "5" },
};

START_TEST(it_is_ready_if_the_store_is)
{
	struct call call;

	told.can_write = states[_i].can_write;
	told.figures.files_damaged = states[_i].damaged;
	call = ask(METHOD_GET, "/readyz");
	ck_assert_int_eq(call.answer.status, states[_i].status);
	ck_assert_ptr_nonnull(strstr(body_of(&call), states[_i].says));
	ck_assert_str_eq(header_of(&call, "Retry-After"), states[_i].retry);
	ck_assert_int_eq(ask(METHOD_GET, "/healthz").answer.status, 200);
}
END_TEST

/* ---- the page ---- */

static void expect_line(const char *page, const char *line)
{
	const char *whole = arena_text(world.arena, "\n%s\n", line);

	ck_assert_msg(strstr(page, whole) != NULL, "no line \"%s\"", line);
}

START_TEST(the_page_shows_the_figures_of_the_store)
{
	static const char *const lines[] = {
		"anteroom_transactions_total 17",
		"anteroom_journal_sync_duration_seconds_bucket{le=\"0.0001\"} 3",
		"anteroom_journal_sync_duration_seconds_bucket{le=\"0.00025\"} 3",
		"anteroom_journal_sync_duration_seconds_bucket{le=\"5\"} 3",
		"anteroom_journal_sync_duration_seconds_bucket{le=\"+Inf\"} 7",
		"anteroom_journal_sync_duration_seconds_sum 12.000345",
		"anteroom_journal_sync_duration_seconds_count 7",
		"anteroom_overlay_bytes 9000000000",
		"anteroom_files 5",
		"anteroom_files_merged_total 6",
		"anteroom_file_records_written_total 12",
		"anteroom_checksum_failures_total 8",
		"anteroom_store_writable 1",
		"anteroom_store_disk_bytes 9100000000",
		"anteroom_backup_time_seconds 1795000000",
		"anteroom_build_info{version=\"" PACKAGE_VERSION "\"} 1",
		"anteroom_start_time_seconds 1795100000",
		"anteroom_webhooks_failing 0",
		"anteroom_webhooks_disabled{reason=\"gone\"} 0",
		"anteroom_webhooks_disabled{reason=\"failing\"} 0",
	};
	struct call call;
	const char *page;

	told.figures = (struct store_figures){
		.durable = 17,
		.overlay_bytes = 9000000000,
		.files = 5,
		.files_merged = 6,
		.records_written = 12,
		.checksum_failures = 8,
		.disk_bytes = 9100000000,
		.backup_time = 1795000000,
		.journal_syncs = { .counts = { 3, [HISTOGRAM_BOUNDS] = 4 }, .sum = 12000345 },
	};
	call = ask(METHOD_GET, "/metrics");
	ck_assert_int_eq(call.answer.status, 200);
	ck_assert_str_eq(header_of(&call, "Content-Type"),
			 "text/plain; version=0.0.4; charset=utf-8");
	page = body_of(&call);
	for (size_t i = 0; i < ROWS(lines); i++)
		expect_line(page, lines[i]);
}
END_TEST

START_TEST(the_page_shows_the_requests_of_a_route)
{
	static const char *const lines[] = {
		"anteroom_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"} 1",
		"anteroom_request_duration_seconds_bucket{method=\"GET\",route=\"/healthz\",le=\"0.0001\"} 1",
		"anteroom_request_duration_seconds_bucket{method=\"GET\",route=\"/healthz\",le=\"+Inf\"} 1",
		"anteroom_request_duration_seconds_count{method=\"GET\",route=\"/healthz\"} 1",
	};
	const struct call counted = ask(METHOD_GET, "/healthz");
	struct call call;

	metrics_count(world.environment.metrics, &counted, 50);
	call = ask(METHOD_GET, "/metrics");
	for (size_t i = 0; i < ROWS(lines); i++)
		expect_line(body_of(&call), lines[i]);
}
END_TEST

/* Before the first backup, and while a database has not told its size. */
START_TEST(unknown_figures_have_no_value)
{
	const struct call call = ask(METHOD_GET, "/metrics");
	const char *page = body_of(&call);

	ck_assert_ptr_nonnull(strstr(page, "\n# TYPE anteroom_backup_time_seconds gauge\n"));
	ck_assert_ptr_null(strstr(page, "\nanteroom_backup_time_seconds"));
	ck_assert_ptr_nonnull(strstr(page, "\n# TYPE anteroom_store_disk_bytes gauge\n"));
	ck_assert_ptr_null(strstr(page, "\nanteroom_store_disk_bytes"));
}
END_TEST

/* A store without figures (such as that of the tests) still gets a page. */
START_TEST(a_store_may_have_no_figures)
{
	static const struct store_driver silent = { .name = "silent", .can_write = told_can_write };
	struct call call;

	told.base.driver = &silent;
	ck_assert_int_eq(ask(METHOD_GET, "/readyz").answer.status, 200);
	call = ask(METHOD_GET, "/metrics");
	ck_assert_int_eq(call.answer.status, 200);
	ck_assert_ptr_null(strstr(body_of(&call), "anteroom_files"));
}
END_TEST

START_TEST(a_browser_gets_a_page)
{
	struct call call = ask(METHOD_GET, "/");

	ck_assert_int_eq(call.answer.status, 200);
	ck_assert_str_eq(header_of(&call, "Content-Type"), "text/html; charset=utf-8");
	ck_assert_ptr_nonnull(strstr(body_of(&call), "<title>Anteroom</title>"));
	ck_assert_int_eq(ask(METHOD_POST, "/").answer.status, 405);
	ck_assert_int_eq(ask(METHOD_GET, "/index.html").answer.status, 404);
}
END_TEST

START_TEST(health_and_metrics_are_not_in_the_openapi_document)
{
	struct call call = ask(METHOD_GET, "/v2/openapi.json");
	const char *document = body_of(&call);

	ck_assert_ptr_nonnull(strstr(document, "/v2/templates"));
	ck_assert_ptr_null(strstr(document, "\"/metrics\""));
	ck_assert_ptr_null(strstr(document, "/healthz"));
	ck_assert_ptr_null(strstr(document, "\"welcome\""));
}
END_TEST

/* ---- counting ---- */

enum { THREADS = 4, REQUESTS = 5000 };

static void *count_some(void *context)
{
	const struct call *call = context;

	for (int i = 0; i < REQUESTS; i++)
		metrics_count(world.environment.metrics, call, i % 2 == 0 ? 50 : 6000000);
	return NULL;
}

START_TEST(threads_lose_no_counts)
{
	struct call call = ask(METHOD_GET, "/healthz");
	pthread_t threads[THREADS];
	struct metrics_route read;
	size_t seen = 0;

	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count_some, &call), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; metrics_read(world.environment.metrics, i, &read); i++) {
		if (read.route != call.route) {
			ck_assert_uint_eq(read.statuses[0], 0);
			continue;
		}
		seen++;
		ck_assert_uint_eq(read.statuses[0], THREADS * REQUESTS);
		ck_assert_uint_eq(read.durations.counts[0], THREADS * REQUESTS / 2);
		ck_assert_uint_eq(read.durations.counts[HISTOGRAM_BOUNDS], THREADS * REQUESTS / 2);
		ck_assert_uint_eq(read.durations.sum, UINT64_C(6000050) * THREADS * REQUESTS / 2);
	}
	ck_assert_uint_eq(seen, 1);
}
END_TEST

START_TEST(an_unknown_status_is_counted_too)
{
	struct call call = ask(METHOD_GET, "/nowhere");
	struct metrics_route read, last = { 0 };

	ck_assert_ptr_null(call.route);
	metrics_count(world.environment.metrics, &call, -1);
	call.answer.status = 299;
	metrics_count(world.environment.metrics, &call, 0);
	metrics_count(NULL, &call, 0);
	for (size_t i = 0; metrics_read(world.environment.metrics, i, &read); i++)
		last = read;
	ck_assert_ptr_null(last.route);
	ck_assert_uint_eq(last.statuses[METRICS_STATUSES], 1);
	ck_assert_uint_eq(last.durations.counts[0], 2);
}
END_TEST

static const char refused_twice[] = "anteroom_join_refusals_total{reason=\"%s\"} 2\n";

START_TEST(each_rejection_is_counted)
{
	struct call call = ask(METHOD_GET, "/nowhere"), page;

	call.run.refusal = (enum join_refusal)_i;
	metrics_count(world.environment.metrics, &call, 0);
	metrics_count(world.environment.metrics, &call, 0);
	page = ask(METHOD_GET, "/metrics");
	ck_assert_ptr_nonnull(strstr(
		body_of(&page), arena_text(world.arena, refused_twice, join_refusal_names[_i])));
}
END_TEST

START_TEST(operations_are_counted_when_they_are_done)
{
	struct call call = ask(METHOD_GET, "/nowhere"), page;

	call.run.operations = 7;
	metrics_count(world.environment.metrics, &call, 0);
	call.answer.status = 200;
	metrics_count(world.environment.metrics, &call, 0);
	page = ask(METHOD_GET, "/metrics");
	ck_assert_ptr_nonnull(strstr(body_of(&page), "anteroom_bulk_operations_total 7\n"));
}
END_TEST

START_TEST(deferred_calls_are_counted)
{
	struct call call = ask(METHOD_GET, "/nowhere"), page;

	metrics_count(world.environment.metrics, &call, 0);
	call.is_deferred = true;
	metrics_count(world.environment.metrics, &call, 0);
	page = ask(METHOD_GET, "/metrics");
	ck_assert_ptr_nonnull(strstr(body_of(&page), "anteroom_requests_deferred_total 1\n"));
}
END_TEST

/* ---- the history ---- */

#define MINUTE 60000

/* Counts n responses to a request, each after this many microseconds. */
static void count_responses(unsigned n, enum method method, const char *uri, int status,
			    int64_t microseconds)
{
	struct call call = ask(method, uri);

	call.answer.status = status;
	while (n-- > 0)
		metrics_count(world.environment.metrics, &call, microseconds);
}

static void tick_at(int64_t time)
{
	world_move(&world, time - world_now(&world));
	history_tick(world.environment.history);
}

static const char *history_of(bool is_operator, bool is_limited)
{
	struct fault fault = FAULT_INITIAL;
	struct call call = {
		.environment = &world.environment,
		.arena = world.arena,
		.actor = { .is_operator = is_operator, .is_limited = is_limited },
	};

	return history_get(&call, &fault) ? body_of(&call)
					  : arena_text(world.arena, "%s", fault_reason(&fault));
}

/* Requests for health, metrics and history are left out, and so is what came before the minute. */
START_TEST(a_minute_has_a_sample)
{
	const char *expected =
		"{\"interval\":60,\"samples\":["
		"{\"time\":\"2026-11-19T17:35:00Z\",\"reads\":3,\"writes\":2,\"joins\":5,"
		"\"rejected\":3,\"failed\":1,\"p50\":0.00019,\"p99\":0.00985,\"sync_p50\":null,"
		"\"sync_p99\":null},"
		"{\"time\":\"2026-11-19T17:36:00Z\",\"reads\":0,\"writes\":0,\"joins\":0,"
		"\"rejected\":1,\"failed\":0,\"p50\":5,\"p99\":5,\"sync_p50\":0.0001,"
		"\"sync_p99\":0.000247}]}";

	tick_at(1795109640000 - 20000);
	count_responses(7, METHOD_GET, "/v2/rooms", 200, 50);
	tick_at(1795109640000);
	count_responses(3, METHOD_GET, "/v2/rooms", 200, 50);
	count_responses(1, METHOD_POST, "/v2/rooms", 503, 9000);
	count_responses(1, METHOD_PATCH, "/v2/rooms/x", 404, 9000);
	count_responses(5, METHOD_POST, "/v2/token", 200, 200);
	count_responses(2, METHOD_GET, "/nowhere", 404, 9000);
	count_responses(9, METHOD_GET, "/metrics", 200, 9000);
	count_responses(9, METHOD_GET, "/readyz", 503, 9000);
	count_responses(9, METHOD_GET, "/v2/service/history", 200, 9000);
	tick_at(1795109640000 + MINUTE - 1);
	ck_assert_str_eq(history_of(true, false), "{\"interval\":60,\"samples\":[]}");
	tick_at(1795109640000 + MINUTE);
	tick_at(1795109640000 + MINUTE + 1);
	told.figures.journal_syncs.counts[0] = 50;
	told.figures.journal_syncs.counts[1] = 50;
	count_responses(1, METHOD_GET, "/nowhere", 400, 6000000);
	tick_at(1795109640000 + 2 * MINUTE + 900);
	ck_assert_str_eq(history_of(true, false), expected);
	ck_assert_str_eq(history_of(false, false), "Account is not an operator");
	ck_assert_str_eq(history_of(true, true), "Account is not an operator");
}
END_TEST

/* A pause, and a clock that is set back, give no samples of other lengths. */
START_TEST(only_whole_minutes_have_samples)
{
	tick_at(1795109640000);
	tick_at(1795109640000 + 2 * MINUTE);
	tick_at(1795109640000 - 5 * MINUTE);
	ck_assert_str_eq(history_of(true, false), "{\"interval\":60,\"samples\":[]}");
	tick_at(1795109640000 - 4 * MINUTE);
	ck_assert_str_eq(history_of(true, false), "{\"interval\":60,\"samples\":[]}");
	tick_at(1795109640000 - 3 * MINUTE);
	ck_assert_ptr_nonnull(
		strstr(history_of(true, false), "[{\"time\":\"2026-11-19T17:31:00Z\""));
}
END_TEST

START_TEST(a_day_of_samples_is_kept)
{
	const char *text;
	json_t *history, *samples;

	for (int i = 0; i <= HISTORY_MOST + 100; i++)
		tick_at(1795109640000 + (int64_t)i * MINUTE);
	text = history_of(true, false);
	history = json_loads(text, 0, NULL);
	samples = json_object_get(history, "samples");
	ck_assert_uint_eq(json_array_size(samples), HISTORY_MOST);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(samples, 0), "time")),
			 "2026-11-19T19:15:00Z");
	ck_assert_str_eq(json_string_value(json_object_get(
				 json_array_get(samples, HISTORY_MOST - 1), "time")),
			 "2026-11-20T19:14:00Z");
	json_decref(history);
}
END_TEST

static const struct {
	uint64_t microseconds;
	size_t place;
} durations[] = {
	{ 0, 0 },
	{ 100, 0 },
	{ 101, 1 },
	{ 250, 1 },
	{ 1000, 3 },
	{ 5000000, HISTOGRAM_BOUNDS - 1 },
	{ 5000001, HISTOGRAM_BOUNDS },
	{ UINT64_MAX / 2, HISTOGRAM_BOUNDS },
};

START_TEST(a_bound_is_within)
{
	struct histogram histogram = { .sum = 0 };
	struct histogram_state state = { .sum = 0 };

	histogram_add(&histogram, durations[_i].microseconds);
	histogram_read(&histogram, &state);
	ck_assert_uint_eq(state.counts[durations[_i].place], 1);
	ck_assert_uint_eq(state.sum, durations[_i].microseconds);
}
END_TEST

/* ---- the budget of unknown codes ---- */

START_TEST(addresses_do_not_displace_each_other)
{
	struct misses *misses = misses_open(&clock_system);
	unsigned refused = 0;
	char address[32];

	/* A whole /48: 65,536 networks, which take turns. */
	for (int round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 65536; i++) {
			struct slice text;

			snprintf(address, sizeof address, "2001:db8:1:%x::1", i);
			text = slice_of(address);
			if (misses_wait(misses, text, 1000) > 0)
				refused++;
			else
				misses_count(misses, text, 1000);
		}
	}
	/* After two misses each, all are rejected except those for which there was no place. */
	ck_assert_uint_ge(refused, 60000);
	misses_close(misses);
}
END_TEST

/* Two hundred calls at once: each was admitted while there was a budget left. */
START_TEST(simultaneous_calls_share_the_budget)
{
	enum { AT_ONCE = 200, NOW = 1000 };
	struct misses *misses = misses_open(&clock_system);
	struct slice address = SLICE("192.0.2.1");
	unsigned within = 0;

	for (int i = 0; i < AT_ONCE; i++)
		ck_assert_uint_eq(misses_wait(misses, address, NOW), 0);
	for (int i = 0; i < AT_ONCE; i++) {
		unsigned seconds = misses_count(misses, address, NOW);

		if (seconds == 0)
			within++;
		else
			ck_assert_uint_eq(seconds, MISSES_MINUTE / 1000);
	}
	ck_assert_uint_eq(within, MISSES_ADDRESS_MOST);
	ck_assert_uint_eq(misses_wait(misses, address, NOW + MISSES_MINUTE), 0);
	ck_assert_uint_eq(misses_count(misses, address, NOW + MISSES_MINUTE), 0);
	misses_close(misses);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("health");
	TCase *tcase = tcase_create("health");

	json_object_seed(0);
	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_loop_test(tcase, it_is_ready_if_the_store_is, 0, ROWS(states));
	tcase_add_test(tcase, the_page_shows_the_figures_of_the_store);
	tcase_add_test(tcase, the_page_shows_the_requests_of_a_route);
	tcase_add_test(tcase, unknown_figures_have_no_value);
	tcase_add_test(tcase, a_store_may_have_no_figures);
	tcase_add_test(tcase, a_browser_gets_a_page);
	tcase_add_test(tcase, health_and_metrics_are_not_in_the_openapi_document);
	tcase_add_test(tcase, threads_lose_no_counts);
	tcase_add_test(tcase, an_unknown_status_is_counted_too);
	tcase_add_loop_test(tcase, each_rejection_is_counted, JOIN_DISABLED, JOIN_REFUSALS);
	tcase_add_test(tcase, operations_are_counted_when_they_are_done);
	tcase_add_test(tcase, deferred_calls_are_counted);
	tcase_add_test(tcase, a_minute_has_a_sample);
	tcase_add_test(tcase, only_whole_minutes_have_samples);
	tcase_add_test(tcase, a_day_of_samples_is_kept);
	tcase_add_loop_test(tcase, a_bound_is_within, 0, ROWS(durations));
	tcase_add_test(tcase, addresses_do_not_displace_each_other);
	tcase_add_test(tcase, simultaneous_calls_share_the_budget);
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run(suite);
}
