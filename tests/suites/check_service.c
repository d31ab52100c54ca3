/*
 * The cases of tests/cases in process: a request goes into service_answer and comes back as a
 * struct, with a clock that cases may move. What the edge does before and after (parsing the method
 * and the headers, waiting for the store) is done here in the same order.
 *
 * The arguments are the passes, each the name of a driver: memory, gdbm, postgres. In a pass with
 * +again after the name, the store requires each call to be run again, once at a get and once at
 * the commit; no response may show that. Without arguments: memory memory+again postgres. The
 * environment may choose cases (tests/tools/case.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "background/door_watch.h"
#include "background/live_watch.h"
#include "resources/audit_record.h"
#include "resources/live/live_queue.h"
#include "resources/recordings/job_merge.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored/recorder_record.h"
#include "resources/backends/signing_keys.h"
#include "accounts/token.h"
#include "case.h"
#include "database.h"
#include "fast_disk.h"
#include "fast_keys.h"
#include "store_failing.h"
#include "suite.h"
#include "world.h"

struct driver {
	const char *name;
	enum world_store store;
	/* A reason to leave its passes out, or NULL. */
	const char *(*start)(void);
	void (*stop)(void);
	bool is_numbered_later; /* the entries of the event log, by a thread of the service */
};

struct in_process {
	struct transport transport;
	struct world world;
	const struct driver *driver;
	char *url; /* of the database, or NULL */
	bool says_again;
};

/* Cases move the clock by days. */
#define TOKEN_SECONDS (30 * 24 * 60 * 60)

static struct in_process *in_process_of(struct transport *transport)
{
	return (struct in_process *)(void *)transport;
}

static bool move_clock(struct transport *transport, int seconds, char problem[static 256])
{
	(void)problem;
	world_move(&in_process_of(transport)->world, (int64_t)seconds * 1000);
	return true;
}

static int64_t hold_clock(struct transport *transport)
{
	return world_hold(&in_process_of(transport)->world);
}

/* ---- requests ---- */

static enum method method_of(const char *name)
{
	static const char *const names[] = {
		[METHOD_GET] = "GET",	  [METHOD_HEAD] = "HEAD",     [METHOD_POST] = "POST",
		[METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE", [METHOD_OPTIONS] = "OPTIONS",
	};

	for (size_t i = 0; i < ROWS(names); i++)
		if (strcmp(names[i], name) == 0)
			return (enum method)i;
	return METHOD_OTHER;
}

/* Distinguishes a missing header from an empty one, as the edge does. */
static struct slice header_of(const struct case_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_headers; i++)
		if (strcasecmp(request->headers[i].name, name) == 0 &&
		    *request->headers[i].value != '\0')
			return slice_of(request->headers[i].value);
	return (struct slice){ NULL, 0 };
}

static struct request request_of(const struct case_request *request)
{
	bool is_too_large = request->body_length > CALL_LARGE_BODY_MOST;

	return (struct request){
		.method = method_of(request->method),
		.uri = slice_of(request->target),
		.body = { request->body,
			  is_too_large ? CALL_LARGE_BODY_MOST : request->body_length },
		.body_is_too_large = is_too_large,
		.authorization = header_of(request, "Authorization"),
		.if_match = header_of(request, "If-Match"),
		.if_none_match = header_of(request, "If-None-Match"),
		.prefer = header_of(request, "Prefer"),
		.idempotency_key = header_of(request, "Idempotency-Key"),
		.request_id = header_of(request, "X-Request-Id"),
		.cookie = header_of(request, "Cookie"),
		.host = header_of(request, "Host"),
		.https = header_of(request, "HTTPS"),
		.console = header_of(request, "Anteroom-Console"),
		.asked_headers = header_of(request, "Access-Control-Request-Headers"),
		.address = slice_of(request->from),
	};
}

static void copy_answer(struct arena *arena, const struct answer *from, struct case_answer *to)
{
	struct buffer body = BUFFER_INITIAL(arena);

	to->status = from->status;
	for (size_t i = 0; i < from->header_count; i++)
		case_answer_header(to, from->headers[i].name,
				   arena_copy(arena, from->headers[i].value).data);
	for (size_t i = 0; i < from->part_count && !from->is_head; i++)
		buffer_append(&body, from->parts[i]);
	case_answer_body(to, body.data, body.size);
}

/* Milliseconds that entries of the event log are kept; that the session of an empty room stays
 * open, and is kept when it is closed. */
#define LOG_KEPT ((int64_t)60 * 60 * 1000)
#define SESSION_GRACE ((int64_t)20 * 1000)
#define SESSION_KEEP ((int64_t)90 * 24 * 60 * 60 * 1000)

/* Does what a thread of the service does if several machines share the store. */
static void number_entries(struct in_process *in_process)
{
	struct store *store = in_process->world.environment.store;
	const struct audit_times times = { world_now(&in_process->world), LOG_KEPT };
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;
	struct audit_numbering numbering = { .left_count = 0 };

	if (!store_begin(store, STORE_WRITE, arena, &transaction, &fault) ||
	    !audit_number(transaction, &times, &numbering, &fault) ||
	    !store_commit(transaction, &number, &fault))
		abort();
	arena_close(arena);
}

/* The same with what the exchange of tickets has left in memory. */
static void write_tickets(struct in_process *in_process)
{
	struct door_watch *watch = door_watch_open(&in_process->world.environment);

	door_watch_round(watch);
	door_watch_close(watch);
}

static bool tells_event(const struct case_request *request)
{
	return strcmp(request->method, "POST") == 0 &&
	       strncmp(request->target, "/v2/backends/", 13) == 0 &&
	       strstr(request->target, "/events") != NULL;
}

/* Does what a thread of the service does with the events of media servers. */
static void merge_events(struct in_process *in_process)
{
	const struct environment *environment = &in_process->world.environment;
	struct lease *lease = lease_open(environment->store, environment->clock);
	struct live_watch *watch = live_watch_open(environment, lease);

	live_watch_end(watch);
	live_watch_close(watch);
	lease_close(lease);
}

static bool answer_in_process(struct transport *transport, const struct case_request *request,
			      struct case_answer *answer, char problem[static 256])
{
	struct in_process *in_process = in_process_of(transport);
	struct store *store = in_process->world.environment.store;
	struct arena *arena = arena_open();
	struct call call = { .arena = arena, .request = request_of(request) };
	const bool reads_log = strncmp(request->target, "/v2/events", 10) == 0;

	(void)problem;
	if (reads_log)
		write_tickets(in_process);
	if (reads_log && in_process->driver->is_numbered_later)
		number_entries(in_process);
	store_failing_again(store, 2, in_process->says_again ? 1 : 0);
	store_failing_again(store, 0, in_process->says_again ? 1 : 0);
	world_answer(&in_process->world, &call);
	if (tells_event(request) && call.answer.status == 204)
		merge_events(in_process);
	copy_answer(arena, &call.answer, answer);
	arena_close(arena);
	return true;
}

static void fail_store(struct transport *transport, unsigned n)
{
	store_failing_at(in_process_of(transport)->world.environment.store, n);
}

static unsigned count_store(struct transport *transport)
{
	return store_failing_calls(in_process_of(transport)->world.environment.store);
}

/* ---- accounts ---- */

/* The token is valid for so long that no case moves the clock past its expiry. */
static void copy_account(const struct clock *clock, const struct account *from,
			 struct case_account *to)
{
	struct arena *arena = arena_open();
	struct slice token = token_sign_management(arena, clock, from, clock_now(clock),
						   TOKEN_SECONDS);

	snprintf(to->token, sizeof to->token, "%.*s", (int)token.size, token.data);
	arena_close(arena);
	snprintf(to->id, sizeof to->id, "%s", from->id_text);
	snprintf(to->access_key, sizeof to->access_key, "%s", from->access_key_text);
	snprintf(to->secret, sizeof to->secret, "%s", from->secrets[from->secret_count - 1].text);
}

static bool add_account(struct transport *transport, const char *name, struct case_account *account,
			char problem[static 256])
{
	struct in_process *in_process = in_process_of(transport);
	struct account made;
	struct fault fault = FAULT_INITIAL;

	if (!accounts_add(in_process->world.directory, in_process->world.environment.clock, name,
			  &made, &fault)) {
		snprintf(problem, 256, "accounts_add failed");
		return false;
	}
	copy_account(in_process->world.environment.clock, &made, account);
	return true;
}

static bool change_account(struct transport *transport, struct case_account *account,
			   enum case_change change, char problem[static 256])
{
	struct in_process *in_process = in_process_of(transport);
	const char *directory = in_process->world.directory;
	const char *which = account->access_key;
	struct account made;
	struct fault fault = FAULT_INITIAL;
	bool done = false;

	switch (change) {
	case CASE_DISABLE:
		done = accounts_set_enabled(directory, which, false, &made, &fault);
		break;
	case CASE_ENABLE:
		done = accounts_set_enabled(directory, which, true, &made, &fault);
		break;
	case CASE_ROTATE:
		done = accounts_rotate(directory, in_process->world.environment.clock, which, &made,
				       &fault);
		break;
	case CASE_FINISH:
		done = accounts_finish(directory, which, &made, &fault);
		break;
	case CASE_OPERATOR:
		done = accounts_set(directory, which, SLICE("operator"), SLICE("on"), &made,
				    &fault);
		break;
	case CASE_ANONYMOUS:
	case CASE_NAMED:
		done = accounts_set(directory, which, SLICE("sessions"),
				    change == CASE_NAMED ? SLICE("on") : SLICE("off"), &made,
				    &fault);
		break;
	case CASE_EMBEDDED:
		done = accounts_set(directory, which, SLICE("embed"), SLICE(CASE_ORIGINS), &made,
				    &fault);
		break;
	}
	if (!done) {
		snprintf(problem, 256, "the change failed");
		return false;
	}
	if (change == CASE_ROTATE)
		copy_account(in_process->world.environment.clock, &made, account);
	return true;
}

/* ---- start and end ---- */

static const char *start_nothing(void)
{
	return NULL;
}

static void stop_nothing(void)
{
}

static const struct driver drivers[] = {
	{ .name = "memory", .store = WORLD_MEMORY, .start = start_nothing, .stop = stop_nothing },
	{ .name = "gdbm", .store = WORLD_GDBM, .start = start_nothing, .stop = stop_nothing },
	{ .name = "postgres",
	  .store = WORLD_POSTGRES,
	  .start = database_start,
	  .stop = database_stop,
	  .is_numbered_later = true },
};

#define FOLDER_ID "0123456789abcdef01234567"

/* The folder of recordings, which has an id as the one of a recorder has. */
static struct {
	char path[PATH_MAX];
	struct recordings recordings;
} folder = { .recordings = { .times = RECORDING_TIMES } };

static void open_folder(struct world *world)
{
	char marker[PATH_MAX];
	FILE *file;

	if (snprintf(folder.path, sizeof folder.path, "%s/recordings", world->directory) >=
		    PATH_MAX ||
	    snprintf(marker, sizeof marker, "%.4000s/.anteroom", folder.path) >= PATH_MAX ||
	    (mkdir(folder.path, 0700) != 0 && errno != EEXIST))
		abort();
	file = fopen(marker, "w");
	if (file == NULL || fputs(FOLDER_ID "\n", file) < 0 || fclose(file) != 0)
		abort();
	folder.recordings.folder = folder.path;
	world->environment.recordings = &folder.recordings;
}

/* A recorder that has reported with this folder, for all accounts. */
static void add_recorder(struct world *world)
{
	struct recorder recorder = {
		.name = SLICE("studio"),
		.boot = SLICE("boot"),
		.folder = SLICE(FOLDER_ID),
		.slots = 1,
		.free_bytes = (uint64_t)100 << 30,
		.total_bytes = (uint64_t)200 << 30,
	};
	struct fault fault = FAULT_INITIAL;
	struct secret secret;
	struct call call;

	if (!accounts_add_recorder(world->directory, &clock_system, "studio", NULL, &secret,
				   &fault))
		abort();
	world_begin(world, &world->account.id, &call);
	recorder.first_seen = recorder.seen = call.now;
	if (!recorder_put(&call, &recorder, &fault))
		abort();
	world_commit(&call);
}

static void open_parts(struct world *world)
{
	open_folder(world);
	world->environment.kept_usage = kept_usage_open();
	world->environment.live_queue = live_queue_open();
}

static void close_parts(struct world *world)
{
	kept_usage_close(world->environment.kept_usage);
	live_queue_close(world->environment.live_queue);
}

static bool begin(struct in_process *in_process)
{
	struct world_options options = {
		.store = in_process->driver->store,
		.has_account_file = true,
		.may_fail = true,
		.environment = { .join_seconds = 24 * 60 * 60,
				 .session_seconds = 12 * 60 * 60,
				 .signing_key_age = SIGNING_KEY_AGE,
				 .log_keep = LOG_KEPT,
				 .live = LIVE_ON,
				 .session_grace = SESSION_GRACE,
				 .session_keep = SESSION_KEEP },
		.parts_open = open_parts,
		.parts_close = close_parts,
	};
	char problem[256] = "";

	if (options.store == WORLD_POSTGRES) {
		in_process->url = database_store();
		options.postgres.url = in_process->url;
		options.postgres.uses_callers_clock = true;
	}
	world_open(&in_process->world, &options);
	/* Cases know by how much the clock is ahead of the system's. */
	world_move(&in_process->world, in_process->transport.ahead * 1000);
	add_recorder(&in_process->world);
	copy_account(in_process->world.environment.clock, &in_process->world.account,
		     &in_process->transport.a);
	if (!add_account(&in_process->transport, "b", &in_process->transport.b, problem)) {
		fprintf(stderr, "cannot create the accounts: %s\n", problem);
		return false;
	}
	return true;
}

static void end(struct in_process *in_process)
{
	world_close(&in_process->world);
	free(in_process->url);
	in_process->url = NULL;
}

/* The store in memory reads all its records for each page, and all accounts are read again after
 * each change: what one file of cases has left would slow down all later files. */
static void renew(struct transport *transport)
{
	struct in_process *in_process = in_process_of(transport);

	end(in_process);
	if (!begin(in_process))
		abort();
}

static int run_cases(const struct driver *driver, bool says_again)
{
	struct in_process in_process = {
		.transport = {
			.name = "service",
			.send = answer_in_process,
			.account_add = add_account,
			.account_change = change_account,
			.clock_advance = move_clock,
			.clock_hold = hold_clock,
			.store_fail = fail_store,
			.store_calls = count_store,
			.renew = renew,
		},
		.driver = driver,
		.says_again = says_again,
	};
	const struct case_choice choice = case_choice_read();
	int status = EXIT_FAILURE;

	if (begin(&in_process))
		status = case_main(&in_process.transport, &choice);
	end(&in_process);
	return status;
}

/* Runs the pass that an argument names. */
static int run_pass(const char *name)
{
	size_t length = strcspn(name, "+");
	const bool says_again = strcmp(name + length, "+again") == 0;

	for (int i = 0; i < ROWS(drivers); i++) {
		const char *reason;
		int status = EXIT_SUCCESS;

		if (strncmp(drivers[i].name, name, length) != 0 ||
		    drivers[i].name[length] != '\0' || (name[length] != '\0' && !says_again))
			continue;
		printf("Over the driver %s%s:\n", drivers[i].name,
		       says_again ? ", with calls that are run again" : "");
		reason = drivers[i].start();
		if (reason == NULL) {
			status = run_cases(&drivers[i], says_again);
			drivers[i].stop();
		} else {
			printf("left out: %s\n", reason);
		}
		return status;
	}
	fprintf(stderr, "%s: not a pass\n", name);
	return EXIT_FAILURE;
}

int main(int count, char **arguments)
{
	static const char *const usual[] = { "memory", "memory+again", "postgres" };
	int status = EXIT_SUCCESS;

	json_object_seed(0);
	fast_disk();
	fast_keys();
	for (int i = 1; i < count; i++)
		status = run_pass(arguments[i]) == EXIT_SUCCESS ? status : EXIT_FAILURE;
	for (int i = 0; count == 1 && i < ROWS(usual); i++)
		status = run_pass(usual[i]) == EXIT_SUCCESS ? status : EXIT_FAILURE;
	return status;
}
