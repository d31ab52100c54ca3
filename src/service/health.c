/* See service/health.h. Names of metrics follow the conventions of Prometheus: _total for counters,
 * _seconds and _bytes for units.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/health.h"

#include <stddef.h>

#include "background/dispatcher.h"
#include "background/live_watch.h"
#include "background/media_client.h"
#include "base/text.h"
#include "service/metrics.h"
#include "background/join_log.h"
#include "resources/retries/kept_usage.h"
#include "resources/door/door_polls.h"
#include "resources/recordings/recorders.h"
#include "resources/media/failures.h"
#include "resources/misses.h"
#include "resources/live/live_queue.h"
#include "resources/live/stay_limits.h"
#include "accounts/token.h"
#include "resources/route.h"
#include "resources/stored/place_record.h"
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
}

/* ---- all others ---- */

enum { MEDIA_RESULTS = 5, BACKEND_STATES = 2 };

/* What the metrics show. What this process does not have, such as a dispatcher, is zero. */
struct figures {
	struct dispatcher_figures webhooks;
	struct media_figures media;
	struct live_figures live;
	struct live_queue_figures queue;
	struct door_figures door;
	struct recording_figures recordings;
	uint64_t recorded_seconds;
	struct store_figures store;
	uint64_t started, bulk_operations, deferred;
	uint64_t tokens, misses, misses_rate, replays, joins_dropped;
	uint64_t stays_delayed;
	uint64_t webhook_outcomes[2], media_results[MEDIA_RESULTS], backends[BACKEND_STATES];
	uint64_t is_writable, is_synchronous, backup_time;
	uint64_t moved[MOVE_REASONS];
};

static void read_figures(const struct environment *environment, struct figures *figures)
{
	struct media_figures *media = &figures->media;

	*figures = (struct figures){
		.started = (uint64_t)(environment->started / 1000),
		.tokens = token_memory_count(environment->tokens),
		.misses = misses_total(environment->misses),
		.misses_rate = misses_rate(environment->misses, clock_monotonic()),
		.replays = kept_usage_replays(environment->kept_usage),
		.joins_dropped = join_log_dropped(environment->joins),
		.is_writable = store_can_write(environment->store),
	};
	if (environment->metrics != NULL) {
		figures->bulk_operations = metrics_operations(environment->metrics);
		figures->deferred = metrics_deferred(environment->metrics);
	}
	if (environment->dispatcher != NULL)
		dispatcher_figures(environment->dispatcher, &figures->webhooks);
	figures->webhook_outcomes[0] = figures->webhooks.delivered;
	figures->webhook_outcomes[1] = figures->webhooks.failed;
	if (environment->media_client != NULL)
		media_client_figures(environment->media_client, media);
	figures->media_results[0] = media->ended[ASKED_ANSWERED] - media->failed;
	figures->media_results[1] = media->failed;
	figures->media_results[2] = media->ended[ASKED_BUSY];
	figures->media_results[3] = media->ended[ASKED_LOST];
	figures->media_results[4] = media->ended[ASKED_TOO_LARGE];
	if (environment->live_watch != NULL)
		live_watch_figures(environment->live_watch, &figures->live);
	figures->backends[0] = figures->live.backends_up;
	figures->backends[1] = figures->live.backends_down;
	if (environment->live_queue != NULL)
		live_queue_figures(environment->live_queue, &figures->queue);
	if (environment->stay_limits != NULL)
		figures->stays_delayed = stay_limits_refused(environment->stay_limits);
	failures_read_moved(environment->failures, figures->moved);
	if (environment->door_polls != NULL)
		door_polls_figures(environment->door_polls, &figures->door);
	if (environment->recorders != NULL)
		recorders_figures(environment->recorders, &figures->recordings);
	figures->recorded_seconds = figures->recordings.recorded / 1000;
}

static const char *const webhook_outcomes[] = { "delivered", "failed" };
static const char *const media_results[MEDIA_RESULTS] = {
	"answered", "failed", "busy", "lost", "too_large",
};
static const char *const backend_states[BACKEND_STATES] = { "up", "down" };
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
static const char *const job_failures[JOB_FAILURES] = {
	"NO_RECORDER", "MAX_RETRIES_REACHED", "UPLOAD_ERROR", "BEAM_STOPPED", "INTERNAL_ERROR",
};
static const char *const door_ends[DOOR_ENDS] = {
	[DOOR_END_ADMITTED] = "admitted",
	[DOOR_END_DENIED] = "denied",
	[DOOR_END_LAPSED] = "lapsed",
};

/* Whose metrics they are. */
enum metric_of { OF_ALL, OF_STORE, OF_FILES, OF_DATABASE };

/* A metric of struct figures. */
struct metric {
	const char *name, *type, *help;
	size_t at; /* of a uint64_t, of an array of them, or of a struct histogram_state */
	enum metric_of of;
	bool is_known_if_set; /* without a value if it is 0 */
	bool is_histogram;
	/* The values of a label, for each element of an array; none for an empty one. */
	const char *label;
	const char *const *values;
	size_t count;
	/* The values of a second label, for each element of the arrays in such an array. */
	const char *second_label;
	const char *const *second_values;
	size_t second_count;
};

/* clang-format off */
#define GAUGE(name, member) (name), "gauge", .at = offsetof(struct figures, member)
#define COUNTER(name, member) (name), "counter", .at = offsetof(struct figures, member)
#define HISTOGRAM(name, member) (name), "histogram", .at = offsetof(struct figures, member), .is_histogram = true
#define BY(name, texts) .label = (name), .values = (texts), .count = sizeof (texts) / sizeof (texts)[0]
#define AND_BY(name, texts, n) .second_label = (name), .second_values = (texts), .second_count = (n)
#define HELP(text) .help = (text)

static const struct metric all_metrics[] = {
	{ GAUGE("anteroom_start_time_seconds", started),
	  HELP("Start time of the process, in seconds since 1970.") },
	{ COUNTER("anteroom_bulk_operations_total", bulk_operations),
	  HELP("Operations carried out in bulk requests.") },
	{ COUNTER("anteroom_requests_deferred_total", deferred),
	  HELP("Expensive requests that were handled on separate threads.") },
	{ GAUGE("anteroom_tokens_remembered", tokens),
	  HELP("Verified tokens in the cache.") },
	{ COUNTER("anteroom_code_misses_total", misses),
	  HELP("Attempts to join with an unknown room code, not counting addresses that already get 429.") },
	{ GAUGE("anteroom_code_misses_per_minute", misses_rate),
	  HELP("Attempts to join with an unknown room code, counted as in anteroom_code_misses_total, in the last "
	       "full minute or, if it has more, in the current minute.") },
	{ COUNTER("anteroom_idempotency_replays_total", replays),
	  HELP("Requests that got the stored response to an earlier request with the same Idempotency-Key.") },
	{ COUNTER("anteroom_joins_dropped_total", joins_dropped),
	  HELP("Joins that were not logged because too many were waiting.") },

	{ GAUGE("anteroom_webhook_entries_waiting", webhooks.waiting),
	  HELP("Events that have not been sent to webhooks yet.") },
	{ GAUGE("anteroom_webhook_deliveries_pending", webhooks.pending),
	  HELP("Failed deliveries that will be retried.") },
	{ GAUGE("anteroom_webhook_oldest_pending_seconds", webhooks.oldest),
	  HELP("Age of the oldest pending delivery, since its first attempt.") },
	{ COUNTER("anteroom_webhook_deliveries_total", webhook_outcomes), BY("outcome", webhook_outcomes),
	  HELP("Finished webhook deliveries.") },
	{ COUNTER("anteroom_webhook_attempts_failed_total", webhooks.attempts_failed),
	  HELP("Failed delivery attempts.") },
	{ GAUGE("anteroom_webhooks_failing", webhooks.failing),
	  HELP("Enabled webhooks with failed deliveries that will be retried.") },
	{ GAUGE("anteroom_webhooks_disabled", webhooks.ended), .label = "reason", .values = webhook_ends,
	  .count = WEBHOOK_FAILING + 1,
	  HELP("Webhooks that were disabled automatically.") },

	{ COUNTER("anteroom_media_requests_total", media_results), BY("result", media_results),
	  HELP("Finished requests to media servers.") },
	{ GAUGE("anteroom_media_requests_waiting", media.waiting),
	  HELP("Requests to media servers that wait for their turn.") },
	{ GAUGE("anteroom_media_requests_under_way", media.under_way),
	  HELP("Requests to media servers that have not been answered yet.") },
	{ HISTOGRAM("anteroom_media_request_duration_seconds", media.durations),
	  HELP("Time from sending a request to a media server until it is answered or fails.") },

	{ GAUGE("anteroom_live_rooms", live.rooms),
	  HELP("Rooms in session, as far as this process knows.") },
	{ GAUGE("anteroom_live_people", live.people),
	  HELP("People in these rooms, as far as this process knows.") },
	{ GAUGE("anteroom_overdue_removals", live.overdue_removals),
	  HELP("People who should have been removed from these rooms at least 10 s ago.") },
	{ COUNTER("anteroom_live_events_total", queue.ends), BY("result", received_ends),
	  HELP("Events from media servers: taken, ignored, refused because of their signature, or dropped because "
	       "too many were waiting.") },
	{ GAUGE("anteroom_live_events_waiting", queue.waiting),
	  HELP("Events from media servers that are not in the store yet.") },
	{ COUNTER("anteroom_live_events_set_aside_total", queue.set_aside),
	  HELP("Events from media servers that could not be stored; surveys repaired what was missing.") },
	{ COUNTER("anteroom_live_stays_delayed_total", stays_delayed),
	  HELP("Times that a new stay was not stored because of --stays-per-minute.") },
	{ COUNTER("anteroom_live_looks_total", live.surveys), BY("result", survey_ends),
	  HELP("Lists of rooms and people that media servers were asked for.") },
	{ GAUGE("anteroom_live_backends", backends), BY("state", backend_states),
	  HELP("Media servers that answer and that do not; of several processes on one database, the one that "
	       "surveys them has these.") },

	{ COUNTER("anteroom_rooms_moved_total", moved[MOVE_DOWN]), .label = "reason",
	  .values = &move_reason_names[MOVE_DOWN], .count = MOVE_REASONS - MOVE_DOWN,
	  HELP("Rooms of pools that were moved to another media server: because theirs was down, or drained.") },

	{ GAUGE("anteroom_door_waiting", door.waiting),
	  HELP("People who wait to be let into a room, as far as this process was asked for their tickets.") },
	{ COUNTER("anteroom_door_tickets_total", door.ends), BY("result", door_ends),
	  HELP("People who waited: admitted, denied, or given up without a word.") },

	{ GAUGE("anteroom_jobs", recordings.jobs), BY("type", job_type_names), AND_BY("state", job_status_names, JOB_COMPLETED),
	  HELP("Recordings that have not ended; of several processes on one database, the one that follows them has "
	       "these, and the next three.") },
	{ GAUGE("anteroom_recording_bytes", recordings.bytes),
	  HELP("Sizes of all files of recordings.") },
	{ GAUGE("anteroom_recordings_missing", recordings.missing),
	  HELP("Files of recordings that were not in their folder when it was last looked at.") },
	{ GAUGE("anteroom_recordings_free_bytes", recordings.free_bytes), .is_known_if_set = true,
	  HELP("Free space of the folder of recordings, as its recorders see it; no value if none has reported.") },
	{ COUNTER("anteroom_recorded_seconds_total", recorded_seconds),
	  HELP("What was recorded.") },
	{ COUNTER("anteroom_recording_starts_failed_total", recordings.failed), BY("reason", job_failures),
	  HELP("Recordings that failed before their first media.") },
	{ HISTOGRAM("anteroom_recording_first_media_seconds", recordings.first_media),
	  HELP("Time from the start of a recording to its first media.") },

	{ GAUGE("anteroom_store_writable", is_writable),
	  HELP("1 if the store can write, else 0. Also 0 when there is no space for the next journal segment, "
	       "although writes continue until the current one is full.") },
	{ GAUGE("anteroom_store_disk_bytes", store.disk_bytes), .of = OF_STORE, .is_known_if_set = true,
	  HELP("Disk space of the data directory's store, or of the database; no value if it is unknown.") },

	{ COUNTER("anteroom_transactions_total", store.durable), .of = OF_FILES,
	  HELP("Durable transactions since the store was created.") },
	{ HISTOGRAM("anteroom_journal_sync_duration_seconds", store.journal_syncs), .of = OF_FILES,
	  HELP("Time of each fdatasync of the journal; writes wait for it.") },
	{ COUNTER("anteroom_journal_written_bytes_total", store.journal_bytes), .of = OF_FILES,
	  HELP("Bytes written to the journal.") },
	{ GAUGE("anteroom_journal_segments", store.journal_segments), .of = OF_FILES,
	  HELP("Segments of the journal.") },
	{ GAUGE("anteroom_overlays", store.overlays), .of = OF_FILES,
	  HELP("Overlays: parts of the store in memory that have not become files yet.") },
	{ GAUGE("anteroom_overlay_bytes", store.overlay_bytes), .of = OF_FILES,
	  HELP("Memory used by overlays, waiting to be written to files.") },
	{ GAUGE("anteroom_files", store.files), .of = OF_FILES,
	  HELP("Files of the stack: the GDBM files of the store.") },
	{ GAUGE("anteroom_files_bytes", store.files_bytes), .of = OF_FILES,
	  HELP("Disk space of the GDBM files and their indexes.") },
	{ GAUGE("anteroom_files_records", store.files_records), .of = OF_FILES,
	  HELP("Records in the files of the stack, removals included.") },
	{ GAUGE("anteroom_files_damaged", store.files_damaged), .of = OF_FILES,
	  HELP("Files of the stack that were found damaged.") },
	{ COUNTER("anteroom_files_written_total", store.files_written), .of = OF_FILES,
	  HELP("Overlays that became a file.") },
	{ COUNTER("anteroom_files_merged_total", store.files_merged), .of = OF_FILES,
	  HELP("Merges of several files into one.") },
	{ COUNTER("anteroom_file_records_written_total", store.records_written), .of = OF_FILES,
	  HELP("Records written to files, from overlays and by merges.") },
	{ COUNTER("anteroom_checksum_failures_total", store.checksum_failures), .of = OF_FILES,
	  HELP("Checksum failures of values or files.") },
	{ GAUGE("anteroom_backup_time_seconds", backup_time), .of = OF_FILES, .is_known_if_set = true,
	  HELP("End of the last `anteroom backup` of the data directory, in seconds since 1970; no value before "
	       "the first one.") },

	{ COUNTER("anteroom_store_round_trips_total", store.round_trips), .of = OF_DATABASE,
	  HELP("Round trips to the database.") },
	{ COUNTER("anteroom_store_conflicts_total", store.conflicts), .of = OF_DATABASE,
	  HELP("Requests run again because of a conflict.") },
	{ COUNTER("anteroom_store_connects_total", store.connects), .of = OF_DATABASE,
	  HELP("Database connections opened.") },
	{ COUNTER("anteroom_store_unknown_outcomes_total", store.unknown_outcomes), .of = OF_DATABASE,
	  HELP("Writes that failed with 503 and an unknown outcome.") },
	{ GAUGE("anteroom_store_synchronous", is_synchronous), .of = OF_DATABASE,
	  HELP("1 if a database standby must confirm each commit, else 0.") },
	{ HISTOGRAM("anteroom_store_commit_duration_seconds", store.commits), .of = OF_DATABASE,
	  HELP("Time of the round trip with the changes and the commit.") },
};
/* clang-format on */

static void append_metric(struct buffer *page, const struct metric *metric,
			  const struct figures *figures)
{
	const void *at = (const char *)figures + metric->at;
	const uint64_t *values = at;

	begin_metric(page, metric->name, metric->type, metric->help);
	if (metric->is_histogram) {
		append_histogram(page, metric->name, (struct slice){ 0 }, at);
	} else if (metric->label == NULL) {
		if (*values != 0 || !metric->is_known_if_set)
			append_sample(page, metric->name, "", (struct slice){ 0 }, *values);
		return;
	}
	for (size_t i = 0; i < metric->count * metric->second_count; i++)
		append_sample(page, metric->name, "",
			      slice_of(arena_text(page->arena, "%s=\"%s\",%s=\"%s\"", metric->label,
						  metric->values[i / metric->second_count],
						  metric->second_label,
						  metric->second_values[i % metric->second_count])),
			      values[i]);
	for (size_t i = 0; metric->second_count == 0 && i < metric->count; i++) {
		if (*metric->values[i] != '\0')
			append_sample(page, metric->name, "",
				      slice_of(arena_text(page->arena, "%s=\"%s\"", metric->label,
							  metric->values[i])),
				      values[i]);
	}
}

/* Adds those by media server, whose names have no characters that are special in a label. */
static void append_failures(struct buffer *page, struct failures *failures)
{
	static const char failed[] = "anteroom_backend_failed_total";
	struct failed_backend *backends;
	size_t n;

	backends = failures_read(failures, page->arena, &n);
	begin_metric(
		page, failed, "counter",
		"Times that people said that they cannot connect to a media server, by its name; "
		"once a minute a person.");
	for (size_t i = 0; i < n; i++)
		append_sample(
			page, failed, "",
			slice_of(arena_text(page->arena, "backend=\"%.*s\"",
					    (int)backends[i].name.size, backends[i].name.data)),
			backends[i].count);
}

/* Adds a metric by media server, whose names have no characters that are special in a label. */
static void append_of_backends(struct buffer *page, const char *name, const char *help,
			       const struct backend_figures *backends, size_t n, size_t at)
{
	begin_metric(page, name, "gauge", help);
	for (size_t i = 0; i < n; i++)
		append_sample(
			page, name, "",
			slice_of(arena_text(page->arena, "backend=\"%.*s\"",
					    (int)backends[i].name.size, backends[i].name.data)),
			*(const uint64_t *)(const void *)((const char *)&backends[i] + at));
}

/* Adds what was counted of the media servers of pools. */
static void append_loads(struct buffer *page, struct live_watch *watch)
{
	static const char without[] = "anteroom_pools_without_reserve";
	struct backend_figures *backends = NULL;
	size_t n = 0, lacking = 0;

	if (watch != NULL)
		backends = live_watch_backends(watch, page->arena, &n);
	for (size_t i = 0; i < n; i++)
		lacking += backends[i].lacks_reserve;
	append_of_backends(page, "anteroom_backend_rooms",
			   "Rooms that are placed on a media server of a pool, by its name.",
			   backends, n, offsetof(struct backend_figures, rooms));
	append_of_backends(page, "anteroom_backend_people",
			   "People in the rooms of a media server of a pool, by its name.",
			   backends, n, offsetof(struct backend_figures, people));
	begin_metric(page, without, "gauge",
		     "Pools with several media servers of which fewer than two are up and not "
		     "draining.");
	append_sample(page, without, "", (struct slice){ 0 }, lacking);
}

bool health_metrics(struct call *call, struct fault *fault)
{
	static const char build[] = "anteroom_build_info";
	const struct environment *environment = call->environment;
	struct figures *figures = arena_alloc(call->arena, sizeof *figures);
	struct buffer page = BUFFER_INITIAL(call->arena);
	bool is_of[OF_DATABASE + 1] = { [OF_ALL] = true };

	(void)fault;
	read_figures(environment, figures);
	/* The stores of tests may have no figures. */
	is_of[OF_STORE] = store_figures(environment->store, &figures->store);
	is_of[OF_DATABASE] = is_of[OF_STORE] && figures->store.is_database;
	is_of[OF_FILES] = is_of[OF_STORE] && !figures->store.is_database;
	figures->is_synchronous = figures->store.is_synchronous;
	figures->backup_time = (uint64_t)figures->store.backup_time;

	begin_metric(&page, build, "gauge", "1, with the version of the program.");
	append_sample(&page, build, "", SLICE("version=\"" PACKAGE_VERSION "\""), 1);
	if (environment->metrics != NULL)
		append_requests(&page, environment->metrics);
	append_failures(&page, environment->failures);
	append_loads(&page, environment->live_watch);
	for (size_t i = 0; i < sizeof all_metrics / sizeof all_metrics[0]; i++) {
		if (is_of[all_metrics[i].of])
			append_metric(&page, &all_metrics[i], figures);
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
