/* See service/health.h. Names of metrics follow the conventions of Prometheus: _total for counters,
 * _seconds and _bytes for units.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/health.h"

#include "background/dispatcher.h"
#include "background/live_watch.h"
#include "background/media_client.h"
#include "base/text.h"
#include "service/metrics.h"
#include "background/join_log.h"
#include "resources/retries/kept_usage.h"
#include "resources/door/door_polls.h"
#include "resources/misses.h"
#include "resources/live/live_queue.h"
#include "resources/live/stay_limits.h"
#include "accounts/token.h"
#include "resources/route.h"
#include "store/figures.h"

bool health_live(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, SLICE("{\"status\":\"up\"}"));
}

bool health_ready(struct call *call, struct fault *fault)
{
	struct store *store = call->environment->store;
	struct store_figures figures;

	if (!store_can_write(store))
		return fault_detail(fault, FAULT_UNAVAILABLE, "%s", store_trouble(store));
	if (store_figures(store, &figures) && figures.files_damaged > 0)
		return fault_set(fault, FAULT_DAMAGED, "A file of the store is damaged");
	return call_answer(call, SLICE("{\"status\":\"ready\"}"));
}

/* ---- the page ---- */

static void begin_metric(struct buffer *page, const char *name, const char *type, const char *help)
{
	buffer_append_text(page, arena_text(page->arena, "# HELP %s %s\n# TYPE %s %s\n", name, help,
					    name, type));
}

/* `labels`: the text for the braces, which may be empty. */
static void append_name(struct buffer *page, const char *name, const char *end, struct slice labels)
{
	buffer_append_text(page, name);
	buffer_append_text(page, end);
	if (labels.size > 0) {
		buffer_append_byte(page, '{');
		buffer_append(page, labels);
		buffer_append_byte(page, '}');
	}
	buffer_append_byte(page, ' ');
}

static void append_sample(struct buffer *page, const char *name, const char *end,
			  struct slice labels, uint64_t value)
{
	append_name(page, name, end, labels);
	buffer_append_integer(page, (json_int_t)value);
	buffer_append_byte(page, '\n');
}

static void append_one(struct buffer *page, const char *name, const char *type, const char *help,
		       uint64_t value)
{
	begin_metric(page, name, type, help);
	append_sample(page, name, "", (struct slice){ 0 }, value);
}

static void append_histogram(struct buffer *page, const char *name, struct slice labels,
			     const struct histogram_state *state)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
		struct buffer both = BUFFER_INITIAL(page->arena);

		/* Each bucket counts those below it too. */
		count += state->counts[i];
		buffer_append(&both, labels);
		buffer_append_text(&both, labels.size > 0 ? ",le=\"" : "le=\"");
		if (i < HISTOGRAM_BOUNDS)
			buffer_append_seconds(&both, histogram_bounds[i]);
		else
			buffer_append_text(&both, "+Inf");
		buffer_append_byte(&both, '"');
		append_sample(page, name, "_bucket", buffer_slice(&both), count);
	}
	append_name(page, name, "_sum", labels);
	buffer_append_seconds(page, state->sum);
	buffer_append_byte(page, '\n');
	append_sample(page, name, "_count", labels, count);
}

/* ---- requests ---- */

/* Paths and methods come from the table, so they need no escaping. */
static struct slice route_labels(struct arena *arena, const struct route *route)
{
	if (route == NULL)
		return SLICE("method=\"\",route=\"\"");
	return slice_of(arena_text(arena, "method=\"%s\",route=\"%s\"", method_name(route->method),
				   route->path));
}

/* Routes without requests are omitted to keep the page short. */
static void append_requests(struct buffer *page, const struct metrics *metrics)
{
	static const char requests[] = "anteroom_requests_total";
	static const char durations[] = "anteroom_request_duration_seconds";
	static const char refusals[] = "anteroom_join_refusals_total";
	struct metrics_route read;

	begin_metric(page, requests, "counter",
		     "Responses, by route (empty if no route matched) and status.");
	for (size_t i = 0; metrics_read(metrics, i, &read); i++) {
		const struct slice labels = route_labels(page->arena, read.route);

		for (size_t n = 0; n <= METRICS_STATUSES; n++) {
			const int status = n < METRICS_STATUSES ? metrics_statuses[n] : 0;

			if (read.statuses[n] > 0)
				append_sample(page, requests, "",
					      slice_of(arena_text(page->arena, "%s,status=\"%d\"",
								  labels.data, status)),
					      read.statuses[n]);
		}
	}
	begin_metric(page, durations, "histogram",
		     "Time from the arrival of a request until the response is "
		     "sent, including the disk.");
	for (size_t i = 0; metrics_read(metrics, i, &read); i++) {
		uint64_t count = 0;

		for (size_t n = 0; n <= METRICS_STATUSES; n++)
			count += read.statuses[n];
		if (count > 0)
			append_histogram(page, durations, route_labels(page->arena, read.route),
					 &read.durations);
	}

	begin_metric(page, refusals, "counter", "Rejected joins, by reason.");
	for (enum join_refusal i = JOIN_DISABLED; i < JOIN_REFUSALS; i++)
		append_sample(
			page, refusals, "",
			slice_of(arena_text(page->arena, "reason=\"%s\"", join_refusal_names[i])),
			metrics_refused(metrics, i));
	append_one(page, "anteroom_bulk_operations_total", "counter",
		   "Operations carried out in bulk requests.", metrics_operations(metrics));
	append_one(page, "anteroom_requests_deferred_total", "counter",
		   "Expensive requests that were handled on separate threads.",
		   metrics_deferred(metrics));
}

/* Without a dispatcher, all values are zero. */
static void append_webhooks(struct buffer *page, const struct environment *environment)
{
	static const char deliveries[] = "anteroom_webhook_deliveries_total";
	static const char disabled[] = "anteroom_webhooks_disabled";
	struct dispatcher_figures figures = { .pending = 0 };

	if (environment->dispatcher != NULL)
		dispatcher_figures(environment->dispatcher, &figures);
	append_one(page, "anteroom_webhook_entries_waiting", "gauge",
		   "Events that have not been sent to webhooks yet.", figures.waiting);
	append_one(page, "anteroom_webhook_deliveries_pending", "gauge",
		   "Failed deliveries that will be retried.", figures.pending);
	append_one(page, "anteroom_webhook_oldest_pending_seconds", "gauge",
		   "Age of the oldest pending delivery, since its first attempt.", figures.oldest);
	begin_metric(page, deliveries, "counter", "Finished webhook deliveries.");
	append_sample(page, deliveries, "", SLICE("outcome=\"delivered\""), figures.delivered);
	append_sample(page, deliveries, "", SLICE("outcome=\"failed\""), figures.failed);
	append_one(page, "anteroom_webhook_attempts_failed_total", "counter",
		   "Failed delivery attempts.", figures.attempts_failed);
	append_one(page, "anteroom_webhooks_failing", "gauge",
		   "Enabled webhooks with failed deliveries that will be retried.",
		   figures.failing);
	begin_metric(page, disabled, "gauge", "Webhooks that were disabled automatically.");
	for (size_t i = WEBHOOK_GONE; i <= WEBHOOK_FAILING; i++)
		append_sample(page, disabled, "",
			      slice_of(arena_text(page->arena, "reason=\"%s\"", webhook_ends[i])),
			      figures.ended[i]);
}

/* Without a client, all values are zero. */
static void append_media(struct buffer *page, const struct environment *environment)
{
	static const char requests[] = "anteroom_media_requests_total";
	static const char durations[] = "anteroom_media_request_duration_seconds";
	struct media_figures figures = { .waiting = 0 };

	if (environment->media_client != NULL)
		media_client_figures(environment->media_client, &figures);
	begin_metric(page, requests, "counter", "Finished requests to media servers.");
	append_sample(page, requests, "", SLICE("result=\"answered\""),
		      figures.ended[ASKED_ANSWERED] - figures.failed);
	append_sample(page, requests, "", SLICE("result=\"failed\""), figures.failed);
	append_sample(page, requests, "", SLICE("result=\"busy\""), figures.ended[ASKED_BUSY]);
	append_sample(page, requests, "", SLICE("result=\"lost\""), figures.ended[ASKED_LOST]);
	append_sample(page, requests, "", SLICE("result=\"too_large\""),
		      figures.ended[ASKED_TOO_LARGE]);
	append_one(page, "anteroom_media_requests_waiting", "gauge",
		   "Requests to media servers that wait for their turn.", figures.waiting);
	append_one(page, "anteroom_media_requests_under_way", "gauge",
		   "Requests to media servers that have not been answered yet.", figures.under_way);
	begin_metric(
		page, durations, "histogram",
		"Time from sending a request to a media server until it is answered or fails.");
	append_histogram(page, durations, (struct slice){ 0 }, &figures.durations);
}

static const char *const received_ends[RECEIVED_ENDS] = {
	[RECEIVED_TAKEN] = "taken",
	[RECEIVED_IGNORED] = "ignored",
	[RECEIVED_REFUSED] = "refused",
	[RECEIVED_TOO_MANY] = "dropped",
};

static const char *const survey_ends[SURVEY_ENDS] = {
	[SURVEY_MERGED] = "merged",
	[SURVEY_FAILED] = "failed",
	[SURVEY_BUSY] = "busy",
};

static void append_results(struct buffer *page, const char *name, const char *const *results,
			   const uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		append_sample(page, name, "",
			      slice_of(arena_text(page->arena, "result=\"%s\"", results[i])),
			      counts[i]);
}

/* With --live off, all values are zero. */
static void append_live_rooms(struct buffer *page, const struct environment *environment)
{
	static const char events[] = "anteroom_live_events_total";
	static const char surveys[] = "anteroom_live_looks_total";
	static const char backends[] = "anteroom_live_backends";
	struct live_figures figures = { .rooms = 0 };
	struct live_queue_figures queue = { .waiting = 0 };

	if (environment->live_watch != NULL)
		live_watch_figures(environment->live_watch, &figures);
	if (environment->live_queue != NULL)
		live_queue_figures(environment->live_queue, &queue);
	append_one(page, "anteroom_live_rooms", "gauge",
		   "Rooms in session, as far as this process knows.", figures.rooms);
	append_one(page, "anteroom_live_people", "gauge",
		   "People in these rooms, as far as this process knows.", figures.people);
	append_one(page, "anteroom_overdue_removals", "gauge",
		   "People who should have been removed from these rooms at least 10 s ago.",
		   figures.overdue_removals);
	begin_metric(page, events, "counter",
		     "Events from media servers: taken, ignored, refused because of their "
		     "signature, or dropped because too many were waiting.");
	append_results(page, events, received_ends, queue.ends, RECEIVED_ENDS);
	append_one(page, "anteroom_live_events_waiting", "gauge",
		   "Events from media servers that are not in the store yet.", queue.waiting);
	append_one(page, "anteroom_live_events_set_aside_total", "counter",
		   "Events from media servers that could not be stored; surveys repaired what was "
		   "missing.",
		   queue.set_aside);
	append_one(page, "anteroom_live_stays_delayed_total", "counter",
		   "Times that a new stay was not stored because of --stays-per-minute.",
		   environment->stay_limits == NULL
			   ? 0
			   : stay_limits_refused(environment->stay_limits));
	begin_metric(page, surveys, "counter",
		     "Lists of rooms and people that media servers were asked for.");
	append_results(page, surveys, survey_ends, figures.surveys, SURVEY_ENDS);
	begin_metric(page, backends, "gauge",
		     "Media servers that answer and that do not; of several processes on one "
		     "database, the one that surveys them has these.");
	append_sample(page, backends, "", SLICE("state=\"up\""), figures.backends_up);
	append_sample(page, backends, "", SLICE("state=\"down\""), figures.backends_down);
}

static void append_doors(struct buffer *page, const struct environment *environment)
{
	static const char *const ends[DOOR_ENDS] = {
		[DOOR_END_ADMITTED] = "admitted",
		[DOOR_END_DENIED] = "denied",
		[DOOR_END_LAPSED] = "lapsed",
	};
	static const char ended[] = "anteroom_door_tickets_total";
	struct door_figures figures = { .waiting = 0 };

	if (environment->door_polls != NULL)
		door_polls_figures(environment->door_polls, &figures);
	append_one(page, "anteroom_door_waiting", "gauge",
		   "People who wait to be let into a room, as far as this process was asked for "
		   "their tickets.",
		   figures.waiting);
	begin_metric(page, ended, "counter",
		     "People who waited: admitted, denied, or given up without a word.");
	append_results(page, ended, ends, figures.ends, DOOR_ENDS);
}

/* ---- the store ---- */

/* A figure that is not known has no value. */
static void append_if_known(struct buffer *page, const char *name, const char *help, uint64_t value)
{
	begin_metric(page, name, "gauge", help);
	if (value != 0)
		append_sample(page, name, "", (struct slice){ 0 }, value);
}

/* The journal and the files of a data directory. */
static void append_files(struct buffer *page, const struct store_figures *figures)
{
	static const char syncs[] = "anteroom_journal_sync_duration_seconds";

	append_one(page, "anteroom_transactions_total", "counter",
		   "Durable transactions since the store was created.", figures->durable);
	begin_metric(page, syncs, "histogram",
		     "Time of each fdatasync of the journal; writes wait for it.");
	append_histogram(page, syncs, (struct slice){ 0 }, &figures->journal_syncs);
	append_one(page, "anteroom_journal_written_bytes_total", "counter",
		   "Bytes written to the journal.", figures->journal_bytes);
	append_one(page, "anteroom_journal_segments", "gauge", "Segments of the journal.",
		   figures->journal_segments);

	append_one(page, "anteroom_overlays", "gauge",
		   "Overlays: parts of the store in memory that have not become files yet.",
		   figures->overlays);
	append_one(page, "anteroom_overlay_bytes", "gauge",
		   "Memory used by overlays, waiting to be written to files.",
		   figures->overlay_bytes);
	append_one(page, "anteroom_files", "gauge",
		   "Files of the stack: the GDBM files of the store.", figures->files);
	append_one(page, "anteroom_files_bytes", "gauge",
		   "Disk space of the GDBM files and their indexes.", figures->files_bytes);
	append_one(page, "anteroom_files_records", "gauge",
		   "Records in the files of the stack, removals included.", figures->files_records);
	append_one(page, "anteroom_files_damaged", "gauge",
		   "Files of the stack that were found damaged.", figures->files_damaged);
	append_one(page, "anteroom_files_written_total", "counter", "Overlays that became a file.",
		   figures->files_written);
	append_one(page, "anteroom_files_merged_total", "counter",
		   "Merges of several files into one.", figures->files_merged);
	append_one(page, "anteroom_file_records_written_total", "counter",
		   "Records written to files, from overlays and by merges.",
		   figures->records_written);
	append_one(page, "anteroom_checksum_failures_total", "counter",
		   "Checksum failures of values or files.", figures->checksum_failures);
	append_if_known(page, "anteroom_backup_time_seconds",
			"End of the last `anteroom backup` of the data directory, in seconds since "
			"1970; no value before the first one.",
			(uint64_t)figures->backup_time);
}

static void append_database(struct buffer *page, const struct store_figures *figures)
{
	static const char commits[] = "anteroom_store_commit_duration_seconds";

	append_one(page, "anteroom_store_round_trips_total", "counter",
		   "Round trips to the database.", figures->round_trips);
	append_one(page, "anteroom_store_conflicts_total", "counter",
		   "Requests run again because of a conflict.", figures->conflicts);
	append_one(page, "anteroom_store_connects_total", "counter", "Database connections opened.",
		   figures->connects);
	append_one(page, "anteroom_store_unknown_outcomes_total", "counter",
		   "Writes that failed with 503 and an unknown outcome.",
		   figures->unknown_outcomes);
	append_one(page, "anteroom_store_synchronous", "gauge",
		   "1 if a database standby must confirm each commit, else 0.",
		   figures->is_synchronous);
	begin_metric(page, commits, "histogram",
		     "Time of the round trip with the changes and the commit.");
	append_histogram(page, commits, (struct slice){ 0 }, &figures->commits);
}

bool health_metrics(struct call *call, struct fault *fault)
{
	static const char build[] = "anteroom_build_info";
	const struct environment *environment = call->environment;
	struct buffer page = BUFFER_INITIAL(call->arena);
	struct store_figures figures;

	(void)fault;
	begin_metric(&page, build, "gauge", "1, with the version of the program.");
	append_sample(&page, build, "", SLICE("version=\"" PACKAGE_VERSION "\""), 1);
	append_one(&page, "anteroom_start_time_seconds", "gauge",
		   "Start time of the process, in seconds since 1970.",
		   (uint64_t)(environment->started / 1000));

	if (environment->metrics != NULL)
		append_requests(&page, environment->metrics);

	append_one(&page, "anteroom_tokens_remembered", "gauge", "Verified tokens in the cache.",
		   token_memory_count(environment->tokens));
	append_one(&page, "anteroom_code_misses_total", "counter",
		   "Attempts to join with an unknown room code, not counting "
		   "addresses that already get 429.",
		   misses_total(environment->misses));
	append_one(&page, "anteroom_code_misses_per_minute", "gauge",
		   "Attempts to join with an unknown room code, counted as in "
		   "anteroom_code_misses_total, in the last full minute or, if it has more, in the "
		   "current minute.",
		   misses_rate(environment->misses, clock_monotonic()));
	append_one(&page, "anteroom_idempotency_replays_total", "counter",
		   "Requests that got the stored response to an earlier request with the same "
		   "Idempotency-Key.",
		   kept_usage_replays(environment->kept_usage));
	append_one(&page, "anteroom_joins_dropped_total", "counter",
		   "Joins that were not logged because too many were waiting.",
		   join_log_dropped(environment->joins));

	append_webhooks(&page, environment);
	append_media(&page, environment);
	append_live_rooms(&page, environment);
	append_doors(&page, environment);

	append_one(&page, "anteroom_store_writable", "gauge",
		   "1 if the store can write, else 0. Also 0 when there is no "
		   "space for the next journal segment, although writes continue "
		   "until the current one is full.",
		   store_can_write(environment->store) ? 1 : 0);
	/* The stores of tests may have no figures. */
	if (store_figures(environment->store, &figures)) {
		append_if_known(&page, "anteroom_store_disk_bytes",
				"Disk space of the data directory's store, or of the database; no "
				"value if it is unknown.",
				figures.disk_bytes);
		if (figures.is_database)
			append_database(&page, &figures);
		else
			append_files(&page, &figures);
	}
	call_header(call, "Content-Type", SLICE("text/plain; version=0.0.4; charset=utf-8"));
	return call_answer(call, buffer_slice(&page));
}

bool health_check_operator(const struct call *call, struct fault *fault)
{
	return (call->actor.is_operator && !call->actor.is_limited) ||
	       fault_set(fault, FAULT_FORBIDDEN, "Account is not an operator");
}

bool health_operator_metrics(struct call *call, struct fault *fault)
{
	return health_check_operator(call, fault) && health_metrics(call, fault);
}
