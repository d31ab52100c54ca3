/* anteroom serve: opens all parts in order, waits for a signal, and closes them in reverse order.
 * Only this file knows all parts of the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "accounts/accounts.h"
#include "accounts/client_url.h"
#include "service/history.h"
#include "service/metrics.h"
#include "background/join_log.h"
#include "resources/live/live_queue.h"
#include "resources/live/stay_limits.h"
#include "resources/live/server_rooms.h"
#include "resources/media/placements.h"
#include "resources/media/failures.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recorders.h"
#include "resources/stored/keep_rule.h"
#include "resources/retries/kept_usage.h"
#include "resources/door/door_polls.h"
#include "resources/record_kind.h"
#include "resources/misses.h"
#include "resources/backends/signing_keys.h"
#include "accounts/token.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "edge/edge.h"
#include "edge/fastcgi.h"
#include "command/notify.h"
#include "command/options.h"
#include "command/place.h"
#include "command/process.h"
#include "command/upgrade.h"
#include "background/dispatcher.h"
#include "background/job_watch.h"
#include "background/keeper.h"
#include "background/live_watch.h"
#include "background/media_client.h"
#include "service/routes.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "store/postgres/store_postgres.h"

#define THREADS_MOST 1024
/* Milliseconds that connecting to a media server may take. */
#define MEDIA_CONNECT_MOST 3000

/* Milliseconds to wait for the previous process to exit (--wait). */
#define WAIT_MOST 10000

struct serve_options {
	const char *directory;
	const char *path;
	const char *socket_group;
	const char *user;
	mode_t socket_mode;
	unsigned threads;
	int64_t join_seconds;
	int64_t signing_key_age;
	int64_t log_keep; /* seconds */
	int64_t session_seconds;
	unsigned live; /* enum live_mode */
	int64_t session_grace, session_keep; /* seconds */
	unsigned door_per_address;
	unsigned stays_per_minute;
	const char *public_url, *client_url;
	struct sender_options sender, media_sender;
	struct schedule schedule;
	const char *recordings, *recording_times;
	unsigned recordings_keep; /* days */
	struct recording_times times;
	struct address_ranges streams_allowed;
	bool logs_access;
	bool waits;
};

/* In the order in which they are opened. */
struct program {
	int notify; /* command/notify.h */
	struct listener listener;
	struct environment environment; /* clock, accounts, store, tokens, misses, metrics */
	struct place place; /* where the data is */
	struct sender *sender; /* sends webhooks; NULL if this build has no sender */
	struct sender *media_sender; /* asks media servers; the same */
	struct lease *lease;
	struct recordings recordings;
	struct job_watch *job_watch;
	struct service *service;
	struct keeper *keeper;
	struct edge *edge;
};

/* ---- options ---- */

static const char *const live_modes[] = {
	[LIVE_OFF] = "off",
	[LIVE_WATCH] = "watch",
	[LIVE_ON] = "on",
	[LIVE_ON + 1] = NULL,
};

static int parse_serve_options(const struct command *command, int argc, char **argv,
			       struct serve_options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		DATA_ROW(&options->directory),
		{ "listen", "PATH", "the socket to create (default: one passed by systemd or on descriptor 0)", TO_TEXT(&options->path) },
		{ "socket-mode", "MODE", "the mode of the socket (default: 0660)", TO_MODE(&options->socket_mode) },
		{ "socket-group", "GROUP", "the group of the socket, usually nginx's", TO_TEXT(&options->socket_group) },
		{ "user", "USER", "the user to switch to after creating the socket; needs root", TO_TEXT(&options->user) },
		{ "threads", "N", "the number of workers (default: twice the cores, at least 4; with --store four times the cores, at least 16)", TO_NUMBER(&options->threads, 1, THREADS_MOST) },
		{ "token-ttl", "DURATION", "how long join tokens are valid, such as 90s, 15m or 7d (default: 24h)", TO_DURATION(&options->join_seconds) },
		{ "signing-key-age", "DURATION", "the minimum age of a signing key before it can be activated (default: 10m)", TO_DURATION(&options->signing_key_age) },
		{ "log-keep", "DURATION", "how long events are kept at least (default: 90d)", TO_DURATION(&options->log_keep) },
		{ "session-ttl", "DURATION", "how long a console session lasts (default: 12h)", TO_DURATION(&options->session_seconds) },
		{ "public-url", "URL", "the public URL, such as https://HOST (default: from each request)", TO_TEXT(&options->public_url) },
		{ "client-url", "URL", "where the join page sends people; may contain placeholders such as {room_id}, see account set", TO_TEXT(&options->client_url) },
		{ "webhook-allow-http", NULL, "allows http URLs for webhooks", TO_SWITCH(&options->sender.allows_http) },
		{ "webhook-allow-private", NULL, "allows webhooks to private and local addresses", TO_SWITCH(&options->sender.allows_private) },
		{ "webhook-ca", "FILE", "a PEM file with extra certificate authorities for webhooks", TO_TEXT(&options->sender.authorities) },
		{ "webhook-schedule", "DURATIONS", "the delay before each delivery attempt (default: 0s,5s,5m,30m,2h,5h,10h,14h,20h,24h)", TO_SCHEDULE(&options->schedule) },
		{ "media-allow", "RANGES", "private and local addresses at which media servers are asked, such as 10.0.0.0/8", TO_RANGES(&options->media_sender.ranges) },
		{ "upload-allow", "RANGES", "private and local addresses of object storage for recordings, also with http, such as 10.0.0.0/8", TO_RANGES(&options->media_sender.storage_ranges) },
		{ "media-ca", "FILE", "a PEM file with extra certificate authorities for media servers", TO_TEXT(&options->media_sender.authorities) },
		{ "live", "off|watch|on", "whether to follow who is in rooms; watch changes nothing at media servers (default: on)", TO_CHOICE(&options->live, live_modes) },
		{ "session-grace", "DURATION", "how long the session of an empty room stays open (default: 20s)", TO_DURATION_OR_0S(&options->session_grace) },
		{ "session-keep", "DURATION", "how long the session of a room is kept after its end (default: 90d)", TO_DURATION_OR_0S(&options->session_keep) },
		{ "stays-per-minute", "N", "how many stays of people in its rooms are stored for an account in a minute (default: 20000)", TO_NUMBER(&options->stays_per_minute, 2, 1000000) },
		{ "door-per-address", "N", "how many people of one room may wait to be let in from one address (default: 200)", TO_NUMBER(&options->door_per_address, 1, DOOR_MOST) },
		{ "recordings", "DIR", "the folder of the recordings, which anteroom record fills", TO_TEXT_OR_NONE(&options->recordings) },
		{ "recordings-keep", "DAYS", "how many days the files of recordings are kept if their template does not say (default: for ever)", TO_NUMBER(&options->recordings_keep, 1, KEEP_DAYS_MOST) },
		{ "stream-allow", "RANGES", "private and local addresses to which streams may be sent, such as 10.0.0.0/8", TO_RANGES(&options->streams_allowed) },
		{ "recording-times", "NAME=DURATION,...", "other times for recordings: start, retry, lease, lost, join, sweep, live, output; for tests and slow machines", TO_TEXT(&options->recording_times) },
		{ "access-log", NULL, "logs every request", TO_SWITCH(&options->logs_access) },
		{ "wait", NULL, "waits up to 10 s for the process that uses the data to exit", TO_SWITCH(&options->waits) },
	};
	/* clang-format on */

	return OPTIONS_PARSE(command, rows, argc, argv, NULL);
}

/* Without this check, the address of a TCP socket would become a file name. */
static bool check_path(const struct serve_options *options, struct fault *fault)
{
	if (options->path == NULL || strchr(options->path, '/') != NULL)
		return true;
	return fault_cause(
		fault, FAULT_BAD_REQUEST, 0,
		"--listen %s must be a path with a '/', such as /run/anteroom/anteroom.sock or "
		"./NAME; TCP is not supported",
		options->path);
}

static bool check_serving_user(const struct serve_options *options, struct identity *identity,
			       struct fault *fault)
{
	bool is_root = geteuid() == 0;

	if (options->user == NULL && is_root)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"refuses to run as root; use --user USER to switch to that user, or start "
			"it as an ordinary user");
	if (options->user == NULL) {
		*identity = (struct identity){ .user = geteuid(), .group = getegid() };
		return true;
	}
	if (!process_find_user(options->user, identity, fault))
		return false;
	if (is_root && identity->user == 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "--user %s is root; choose an ordinary user", options->user);
	if (!is_root && identity->user != geteuid())
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "only root can switch to the user %s; omit --user",
				   options->user);
	return true;
}

static bool check_urls(const struct serve_options *options, struct fault *fault)
{
	const char *flaw = NULL;

	if (options->public_url != NULL)
		flaw = public_url_flaw(slice_of(options->public_url));
	if (flaw != NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "--public-url %s %s",
				   options->public_url, flaw);
	if (options->client_url != NULL)
		flaw = client_url_flaw(slice_of(options->client_url));
	return flaw == NULL || fault_cause(fault, FAULT_BAD_REQUEST, 0, "--client-url %s %s",
					   options->client_url, flaw);
}

/* The times that --recording-times may change. */
static const struct recording_time {
	const char *name;
	size_t member; /* offset of milliseconds in struct recording_times */
} recording_time_rows[] = {
	{ "start", offsetof(struct recording_times, start) },
	{ "retry", offsetof(struct recording_times, retry) },
	{ "lease", offsetof(struct recording_times, lease) },
	{ "lost", offsetof(struct recording_times, lost) },
	{ "join", offsetof(struct recording_times, join) },
	{ "sweep", offsetof(struct recording_times, sweep) },
	{ "live", offsetof(struct recording_times, live) },
	{ "output", offsetof(struct recording_times, output) },
};
#define RECORDING_TIME_ROWS (sizeof recording_time_rows / sizeof recording_time_rows[0])

/* Takes one NAME=DURATION. */
static bool read_recording_time(struct slice item, struct recording_times *times)
{
	struct slice value;
	const struct slice name = text_split(item, '=', &value);
	int64_t seconds;

	for (size_t i = 0; i < RECORDING_TIME_ROWS; i++) {
		const struct recording_time *row = &recording_time_rows[i];

		if (!slice_is(name, row->name))
			continue;
		if (value.data == NULL || !options_read_duration(value, 1, &seconds))
			return false;
		*(int64_t *)((char *)times + row->member) = seconds * 1000;
		return true;
	}
	return false;
}

static bool read_recording_times(const struct serve_options *options, struct recording_times *times,
				 struct fault *fault)
{
	struct slice rest = slice_of(options->recording_times != NULL ? options->recording_times
								      : ""),
		     item;

	while (options->recording_times != NULL && rest.data != NULL) {
		item = text_split(rest, ',', &rest);
		if (!read_recording_time(item, times))
			return fault_cause(
				fault, FAULT_BAD_REQUEST, 0,
				"--recording-times has \"%.*s\": must be start, "
				"retry, lease, lost, join, sweep, live or output, = and a "
				"duration such as 15s",
				(int)item.size, item.data);
	}
	return true;
}

/* ---- the process ---- */

/* Signals for an orderly shutdown; FastCGI uses SIGUSR1 for it. */
static const int ending_signals[] = { SIGTERM, SIGINT, SIGUSR1 };
#define ENDING_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

/* Signals whose default action would terminate the process, but that are not a request to stop. */
static const int ignored_signals[] = {
	SIGPIPE, SIGHUP, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
};

static void signals_to_wait_for(sigset_t *signals)
{
	sigemptyset(signals);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(signals, ending_signals[i]);
}

/* Prepares the process before the first thread: settings that threads inherit, and calls that are
 * not thread-safe. */
static bool prepare_process(struct fault *fault)
{
	bool is_set = true;
	sigset_t signals;

	for (size_t i = 0; i < sizeof ignored_signals / sizeof ignored_signals[0]; i++)
		is_set = is_set && signal(ignored_signals[i], SIG_IGN) != SIG_ERR;
	signals_to_wait_for(&signals);
	if (!is_set || pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot set up signals");
	if (!fastcgi_start())
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot initialise libfcgi");
	json_object_seed(0);
	store_gdbm_watch_medium();
	process_keep_memory();
	return process_try_memory(fault);
}

static void log_signal(int signal_number)
{
	log_event(LOG_LEVEL_NOTICE, "stopping", "signal", sigabbrev_np(signal_number), NULL);
}

static bool must_end(void)
{
	sigset_t pending;
	bool is_pending = false;

	if (sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		is_pending = is_pending || sigismember(&pending, ending_signals[i]) == 1;
	return is_pending;
}

/* ---- the parts ---- */

/* Does the steps that need root privileges, then drops them. */
static bool open_as_root(const struct serve_options *options, const struct identity *identity,
			 struct program *program, struct fault *fault)
{
	const bool is_root = geteuid() == 0;
	const bool is_database = store_postgres_is_url(options->directory);
	bool is_unfinished;
	struct listener_options listener = {
		.path = options->path,
		.mode = options->socket_mode,
		.owner = is_root ? identity->user : (uid_t)-1,
		.group = is_root ? identity->group : (gid_t)-1,
	};

	return (options->socket_group == NULL ||
		process_find_group(options->socket_group, &listener.group, fault)) &&
	       listener_open(&listener, &program->listener, fault) &&
	       /* Checked while root can still remove the socket. */
	       (is_database ||
		(process_check_directory(options->directory, false, "", fault) &&
		 upgrade_recover(options->directory, &record_form, &is_unfinished, fault) &&
		 data_directory_has_store(options->directory, fault))) &&
	       (!is_root || process_become(identity, fault)) && process_harden(fault) &&
	       (is_database || process_check_directory(options->directory, true, "", fault));
}

/* Ends the process immediately. An orderly shutdown would meanwhile answer from the old directory,
 * and write to the new one. Data that was not acknowledged is lost, as in a crash. */
_Noreturn static void end_at_once(const struct serve_options *options, struct program *program)
{
	log_event(LOG_LEVEL_ERROR, "data_moved", "data", options->directory, "error",
		  "the data directory was renamed, replaced or removed", "effect",
		  "exiting; acknowledged data is in the renamed directory", NULL);
	listener_close(&program->listener);
	_exit(EXIT_FAILURE);
}

static void tick(void *program)
{
	history_tick(((struct program *)program)->environment.history);
}

/* Returns the number of threads that use transactions: those of the edge, the keeper, the
 * dispatcher, and the watches of live rooms and of recordings. */
static unsigned transaction_threads(const struct serve_options *options)
{
	return options->threads + edge_deferring_threads(options->threads) + 4;
}

/* Milliseconds between two lines about an upgrade that is under way. */
#define UPGRADE_LOG_EVERY 5000

struct start_watch {
	struct store_upgrade_watch watch;
	int64_t next; /* clock_monotonic */
};

static void log_upgrade(struct store_upgrade_watch *watch, uint64_t done, uint64_t all)
{
	struct start_watch *start = (struct start_watch *)watch;

	if (clock_monotonic() < start->next)
		return;
	start->next = clock_monotonic() + UPGRADE_LOG_EVERY;
	log_event(LOG_LEVEL_NOTICE, "store_upgrading", "converted", LOG_NUMBER(done), "records",
		  LOG_NUMBER(all), NULL);
}

/* Upgrades the data of an earlier version, if there is little of it. */
static bool upgrade_at_start(const struct serve_options *options, struct fault *fault)
{
	struct start_watch watch = { .watch.progress = log_upgrade };
	const struct upgrade_order order = {
		.path = options->directory,
		.upgrades = &record_upgrades,
		.form = &record_form,
		.wait = options->waits ? WAIT_MOST : 0,
		.gives_up = must_end,
		.most = UPGRADE_AT_START,
		.watch = &watch.watch,
	};
	const int64_t began = clock_monotonic();
	struct upgrade_outcome outcome;

	if (!upgrade_data(&order, &outcome, fault))
		return false;
	if (outcome.was_done)
		log_event(LOG_LEVEL_NOTICE, "store_upgraded", "records",
			  LOG_NUMBER(outcome.records), "milliseconds",
			  LOG_NUMBER(clock_monotonic() - began), NULL);
	return true;
}

static bool open_data(const struct serve_options *options, struct environment *environment,
		      struct fault *fault)
{
	/* Each thread has one connection. The accounts are in the store, too. */
	const struct store_postgres_options database = {
		.url = options->directory,
		.connections = transaction_threads(options),
		.form = &record_form,
	};
	struct store_options files = {
		.readers = transaction_threads(options),
		.wait = options->waits ? WAIT_MOST : 0,
		.gives_up = must_end,
		.form = &record_form,
	};
	char *directory;
	bool is_open;

	if (!upgrade_at_start(options, fault))
		return false;
	if (store_postgres_is_url(options->directory))
		return store_postgres_open(&database, &environment->store, fault) &&
		       accounts_open_stored(environment->store, &environment->accounts, fault);
	directory = data_directory_store(options->directory);
	files.directory = directory;
	is_open = accounts_open(options->directory, &environment->accounts, fault) &&
		  store_gdbm_open(&files, &environment->store, fault);
	free(directory);
	return is_open;
}

static bool open_program(const struct serve_options *options, const struct identity *identity,
			 struct program *program, struct fault *fault)
{
	struct environment *environment = &program->environment;
	struct edge_options edge = {
		.listener = &program->listener,
		.answer = service_answer,
		.ask = service_ask,
		.settle = service_settle,
		.threads = options->threads,
		.logs_access = options->logs_access,
	};

	environment->clock = &clock_system;
	environment->join_seconds = options->join_seconds;
	environment->signing_key_age = options->signing_key_age;
	environment->log_keep = options->log_keep * 1000;
	environment->session_seconds = options->session_seconds;
	environment->live = (enum live_mode)options->live;
	environment->session_grace = options->session_grace * 1000;
	environment->session_keep = options->session_keep * 1000;
	environment->public_url = options->public_url;
	environment->client_url = options->client_url;
	environment->allows_http = options->sender.allows_http;
	environment->uploads_in_clear = options->media_sender.storage_ranges.count > 0;
	service_verify(); /* before the first thread */
	if (!open_as_root(options, identity, program, fault) || !prepare_process(fault))
		return false;
	/* The sender processes are started before the store and the accounts are opened, so they
	 * have none of their data. */
	if (sender_is_built() &&
	    (!sender_open(&options->sender, &program->sender, fault) ||
	     !sender_open(&options->media_sender, &program->media_sender, fault)))
		return false;
	if (!open_data(options, environment, fault) ||
	    (!store_postgres_is_url(options->directory) &&
	     !place_open(options->directory, &program->place, fault)))
		return false;
	environment->tokens = token_memory_open();
	environment->misses = misses_open(environment->clock);
	environment->door_polls = door_polls_open(options->door_per_address);
	environment->kept_usage = kept_usage_open();
	environment->recorders = recorders_open();
	environment->joins = join_log_open();
	environment->metrics = metrics_open(routes);
	environment->history = history_open(environment);
	program->lease = lease_open(environment->store, environment->clock);
	if (program->sender != NULL)
		environment->dispatcher = dispatcher_open(environment, program->lease,
							  program->sender, &options->schedule);
	if (program->media_sender != NULL)
		environment->media_client = media_client_open(program->media_sender);
	environment->placements = placements_open();
	if (environment->live != LIVE_OFF) {
		environment->live_queue = live_queue_open();
		environment->stay_limits = stay_limits_open(options->stays_per_minute);
		environment->server_rooms = server_rooms_open();
		environment->failures = failures_open();
		environment->live_watch = live_watch_open(environment, program->lease);
	}
	program->recordings.folder = options->recordings;
	program->recordings.times = options->times;
	program->recordings.streams_allowed = options->streams_allowed;
	environment->recordings = &program->recordings;
	environment->recordings_keep = options->recordings_keep;
	if (environment->live != LIVE_OFF)
		program->job_watch = job_watch_open(environment, program->lease);
	program->service = service_open(environment);
	program->keeper = keeper_open(environment, program->lease);
	edge.store = environment->store;
	edge.service = program->service;
	edge.metrics = environment->metrics;
	return edge_open(&edge, &program->edge, fault);
}

/* Also closes the parts of an incomplete open_program. The senders, which were opened before the
 * first thread started, are closed after the threads that use them. */
static void close_program(struct program *program)
{
	/* A full disk must not keep the process from ending. */
	if (program->environment.store != NULL)
		store_stop_retrying(program->environment.store);
	edge_close(program->edge);
	live_watch_end(program->environment.live_watch);
	job_watch_end(program->job_watch);
	keeper_end(program->keeper);
	service_close(program->service);
	media_client_close(program->environment.media_client);
	live_watch_close(program->environment.live_watch);
	job_watch_close(program->job_watch);
	keeper_close(program->keeper);
	dispatcher_close(program->environment.dispatcher);
	server_rooms_close(program->environment.server_rooms);
	placements_close(program->environment.placements);
	failures_close(program->environment.failures);
	live_queue_close(program->environment.live_queue);
	stay_limits_close(program->environment.stay_limits);
	sender_close(program->sender);
	sender_close(program->media_sender);
	lease_close(program->lease);
	history_close(program->environment.history);
	metrics_close(program->environment.metrics);
	join_log_close(program->environment.joins);
	recorders_close(program->environment.recorders);
	kept_usage_close(program->environment.kept_usage);
	door_polls_close(program->environment.door_polls);
	misses_close(program->environment.misses);
	token_memory_close(program->environment.tokens);
	place_close(&program->place);
	accounts_close(program->environment.accounts);
	store_close(program->environment.store);
	listener_close(&program->listener);
	notify_close(program->notify);
}

int command_serve(const struct command *command, int argc, char **argv)
{
	struct serve_options options = {
		.socket_mode = 0660,
		.times = RECORDING_TIMES,
		.join_seconds = (int64_t)24 * 60 * 60,
		.signing_key_age = SIGNING_KEY_AGE,
		.log_keep = (int64_t)90 * 24 * 60 * 60,
		.session_seconds = (int64_t)12 * 60 * 60,
		.live = LIVE_ON,
		.session_grace = 20,
		.door_per_address = DOOR_ADDRESS_MOST,
		.stays_per_minute = STAYS_PER_MINUTE,
		.session_keep = (int64_t)90 * 24 * 60 * 60,
		.sender.purpose = &sender_of_webhooks,
		.media_sender = {
			.purpose = &sender_of_media,
			.allows_http = true,
			.connect_patience = MEDIA_CONNECT_MOST,
		},
		.schedule = schedule_usual,
	};
	int status = parse_serve_options(command, argc, argv, &options);
	struct program program = {
		.notify = notify_open(),
		.listener.descriptor = -1,
		.place = PLACE_INITIAL,
	};
	struct fault fault = FAULT_INITIAL;
	struct identity identity;
	sigset_t signals;
	int signal_number = 0;

	if (status != OPTIONS_GO)
		return status;
	if (options.threads == 0) {
		options.threads = edge_default_threads();
		/* With a database, workers mostly wait for it. */
		if (store_postgres_is_url(options.directory))
			options.threads = options.threads > 8 ? 2 * options.threads : 16;
	}
	if (!check_path(&options, &fault) || !check_urls(&options, &fault) ||
	    !read_recording_times(&options, &options.times, &fault) ||
	    !check_serving_user(&options, &identity, &fault))
		return command_failed(command, &fault);
	status = EXIT_SUCCESS;
	signals_to_wait_for(&signals);
	if (open_program(&options, &identity, &program, &fault)) {
		log_event(LOG_LEVEL_NOTICE, "serving", "version", PACKAGE_VERSION, "socket",
			  options.path, "data", options.directory, "threads",
			  LOG_NUMBER(options.threads), NULL);
		notify_send(program.notify, "READY=1");
		if (!place_wait(&program.place, &signals, &signal_number, tick, &program))
			end_at_once(&options, &program);
		log_signal(signal_number);
		notify_send(program.notify, "STOPPING=1");
	} else if (options.waits && must_end()) {
		/* It was stopped while waiting for another process, so other faults do not
		 * matter. */
		while (sigwait(&signals, &signal_number) != 0)
			continue;
		log_signal(signal_number);
	} else {
		status = command_failed(command, &fault);
	}
	close_program(&program);
	if (status == EXIT_SUCCESS)
		log_event(LOG_LEVEL_NOTICE, "stopped", NULL);
	return status;
}
