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
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "accounts/accounts.h"
#include "background/door_watch.h"
#include "background/live_watch.h"
#include "base/clock.h"
#include "resources/events/audit_record.h"
#include "resources/live/live_queue.h"
#include "resources/retries/kept_usage.h"
#include "resources/media/signing_keys.h"
#include "resources/door/door_polls.h"
#include "resources/joining/misses.h"
#include "accounts/token.h"
#include "case.h"
#include "database.h"
#include "directory.h"
#include "fast_disk.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "store/postgres/store_postgres.h"
#include "store_failing.h"
#include "store_memory.h"
#include "suite.h"

/* The system's clock, with the offset set by cases. */
struct moved_clock {
	struct clock clock;
	int64_t offset;
};

struct in_process;

struct driver {
	const char *name;
	struct store *(*open)(struct in_process *in_process);
	/* A reason to leave its passes out, or NULL. */
	const char *(*start)(void);
	void (*stop)(void);
	bool is_numbered_later; /* the entries of the event log, by a thread of the service */
};

struct in_process {
	struct transport transport;
	struct moved_clock clock;
	struct environment environment;
	struct service *service;
	const struct driver *driver;
	char *store_directory;
	char *directory;
	bool says_again;
};

/* Cases move the clock by days. */
#define TOKEN_SECONDS (30 * 24 * 60 * 60)

static struct in_process *in_process_of(struct transport *transport)
{
	return (struct in_process *)(void *)transport;
}

static int64_t moved_now(const struct clock *clock)
{
	const struct moved_clock *moved = (const struct moved_clock *)(const void *)clock;

	return clock_now(&clock_system) + moved->offset;
}

static bool move_clock(struct transport *transport, int seconds, char problem[static 256])
{
	(void)problem;
	in_process_of(transport)->clock.offset += (int64_t)seconds * 1000;
	return true;
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
	struct store *store = in_process->environment.store;
	const struct audit_times times = { clock_now(&in_process->clock.clock), LOG_KEPT };
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
	struct door_watch *watch = door_watch_open(&in_process->environment);

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
	const struct environment *environment = &in_process->environment;
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
	struct store *store = in_process->environment.store;
	struct arena *arena = arena_open();
	struct call call = { .arena = arena, .request = request_of(request) };
	uint64_t number;

	const bool reads_log = strncmp(request->target, "/v2/events", 10) == 0;

	(void)problem;
	if (reads_log)
		write_tickets(in_process);
	if (reads_log && in_process->driver->is_numbered_later)
		number_entries(in_process);
	store_failing_again(store, 2, in_process->says_again ? 1 : 0);
	store_failing_again(store, 0, in_process->says_again ? 1 : 0);
	service_answer(in_process->service, &call);
	number = call.answer.awaited;
	while (number != 0 && store_state(store, number) == STORE_PENDING)
		store_flush(store);
	if (number != 0)
		service_settle(&call, store_state(store, number));
	if (tells_event(request) && call.answer.status == 204)
		merge_events(in_process);
	copy_answer(arena, &call.answer, answer);
	arena_close(arena);
	return true;
}

static void fail_store(struct transport *transport, unsigned n)
{
	store_failing_at(in_process_of(transport)->environment.store, n);
}

static unsigned count_store(struct transport *transport)
{
	return store_failing_calls(in_process_of(transport)->environment.store);
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

	if (!accounts_add(in_process->directory, &in_process->clock.clock, name, &made, &fault)) {
		snprintf(problem, 256, "accounts_add failed");
		return false;
	}
	copy_account(&in_process->clock.clock, &made, account);
	return true;
}

static bool change_account(struct transport *transport, struct case_account *account,
			   enum case_change change, char problem[static 256])
{
	struct in_process *in_process = in_process_of(transport);
	const char *directory = in_process->directory;
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
		done = accounts_rotate(directory, &in_process->clock.clock, which, &made, &fault);
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
	}
	if (!done) {
		snprintf(problem, 256, "the change failed");
		return false;
	}
	if (change == CASE_ROTATE)
		copy_account(&in_process->clock.clock, &made, account);
	return true;
}

/* ---- start and end ---- */

static struct store *open_memory(struct in_process *in_process)
{
	(void)in_process;
	return store_memory_open();
}

static struct store *open_gdbm(struct in_process *in_process)
{
	const struct store_options options = {
		.directory = in_process->store_directory = directory_make(),
		.readers = 1,
		.creates = true,
	};
	struct fault fault = FAULT_INITIAL;
	struct store *store;

	if (!store_gdbm_open(&options, &store, &fault)) {
		fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	return store;
}

static struct store *open_postgres(struct in_process *in_process)
{
	char *url = database_store();
	const struct store_postgres_options options = { .url = url, .uses_callers_clock = true };
	struct fault fault = FAULT_INITIAL;
	struct store *store;

	(void)in_process;
	if (!store_postgres_open(&options, &store, &fault)) {
		fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	free(url);
	return store;
}

static const char *start_nothing(void)
{
	return NULL;
}

static void stop_nothing(void)
{
}

static const struct driver drivers[] = {
	{ .name = "memory", .open = open_memory, .start = start_nothing, .stop = stop_nothing },
	{ .name = "gdbm", .open = open_gdbm, .start = start_nothing, .stop = stop_nothing },
	{ .name = "postgres",
	  .open = open_postgres,
	  .start = database_start,
	  .stop = database_stop,
	  .is_numbered_later = true },
};

static void open_service(struct in_process *in_process)
{
	in_process->environment.store = store_failing_open(in_process->driver->open(in_process));
	in_process->environment.kept_usage = kept_usage_open();
	in_process->service = service_open(&in_process->environment);
}

static void close_service(struct in_process *in_process)
{
	service_close(in_process->service);
	kept_usage_close(in_process->environment.kept_usage);
	store_close(in_process->environment.store);
	if (in_process->store_directory != NULL)
		directory_remove(in_process->store_directory);
	in_process->store_directory = NULL;
}

static bool begin(struct in_process *in_process)
{
	char problem[256] = "";
	struct fault fault = FAULT_INITIAL;

	in_process->directory = directory_make();
	if (!add_account(&in_process->transport, "a", &in_process->transport.a, problem) ||
	    !add_account(&in_process->transport, "b", &in_process->transport.b, problem) ||
	    !accounts_open(in_process->directory, &in_process->environment.accounts, &fault)) {
		fprintf(stderr, "cannot create the accounts: %s\n", problem);
		return false;
	}
	in_process->environment.clock = &in_process->clock.clock;
	in_process->environment.tokens = token_memory_open();
	in_process->environment.misses = misses_open(&in_process->clock.clock);
	in_process->environment.door_polls = door_polls_open(DOOR_ADDRESS_MOST);
	in_process->environment.join_seconds = 24 * 60 * 60;
	in_process->environment.session_seconds = 12 * 60 * 60;
	in_process->environment.signing_key_age = SIGNING_KEY_AGE;
	in_process->environment.log_keep = LOG_KEPT;
	in_process->environment.live = LIVE_ON;
	in_process->environment.live_queue = live_queue_open();
	in_process->environment.session_grace = SESSION_GRACE;
	in_process->environment.session_keep = SESSION_KEEP;
	open_service(in_process);
	return true;
}

static void end(struct in_process *in_process)
{
	close_service(in_process);
	live_queue_close(in_process->environment.live_queue);
	door_polls_close(in_process->environment.door_polls);
	misses_close(in_process->environment.misses);
	token_memory_close(in_process->environment.tokens);
	if (in_process->environment.accounts != NULL)
		accounts_close(in_process->environment.accounts);
	directory_remove(in_process->directory);
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
			.store_fail = fail_store,
			.store_calls = count_store,
			.renew = renew,
		},
		.clock.clock = { .now = moved_now, .random = clock_system.random },
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
	for (int i = 1; i < count; i++)
		status = run_pass(arguments[i]) == EXIT_SUCCESS ? status : EXIT_FAILURE;
	for (int i = 0; count == 1 && i < ROWS(usual); i++)
		status = run_pass(usual[i]) == EXIT_SUCCESS ? status : EXIT_FAILURE;
	return status;
}
