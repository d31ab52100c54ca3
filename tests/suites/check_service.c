/*
 * The cases of tests/cases in process: a request goes into service_answer and comes back as a
 * struct, with a store in memory and a clock that cases may move. What the edge does before and
 * after (parsing the method and the headers, waiting for the store) is done here in the same order.
 *
 * All cases run twice. In the second run, the store requires each call to be run again, once at a
 * get and once at the commit; no response may show that.
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
#include "service/service.h"
#include "store_failing.h"
#include "store_memory.h"
#include "store/postgres/store_postgres.h"
#include "suite.h"

/* The system's clock, with the offset set by cases. */
struct moved_clock {
	struct clock clock;
	int64_t offset;
};

struct in_process {
	struct transport transport;
	struct moved_clock clock;
	struct environment environment;
	struct service *service;
	char *directory;
	bool has_database;
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
	if (reads_log && in_process->has_database)
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

static struct store *open_postgres(void)
{
	char *url = database_store();
	const struct store_postgres_options options = { .url = url, .uses_callers_clock = true };
	struct fault fault = FAULT_INITIAL;
	struct store *store;

	if (!store_postgres_open(&options, &store, &fault)) {
		fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	free(url);
	return store;
}

static void open_service(struct in_process *in_process)
{
	in_process->environment.store = store_failing_open(
		in_process->has_database ? open_postgres() : store_memory_open());
	in_process->environment.kept_usage = kept_usage_open();
	in_process->service = service_open(&in_process->environment);
}

static void close_service(struct in_process *in_process)
{
	service_close(in_process->service);
	kept_usage_close(in_process->environment.kept_usage);
	store_close(in_process->environment.store);
}

/* The store in memory reads all its records for each page: records left by one file of cases would
 * slow down all later files. The database keeps everything. */
static void renew_store(struct transport *transport)
{
	struct in_process *in_process = in_process_of(transport);

	if (in_process->has_database)
		return;
	close_service(in_process);
	open_service(in_process);
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

static int run_cases(bool says_again, bool has_database)
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
			.store_renew = renew_store,
		},
		.clock.clock = { .now = moved_now, .random = clock_system.random },
		.says_again = says_again,
		.has_database = has_database,
	};
	int status = EXIT_FAILURE;

	if (begin(&in_process))
		status = case_main(&in_process.transport);
	end(&in_process);
	return status;
}

int main(void)
{
	const char *no_database = database_start();
	int status, status_again, status_database = EXIT_SUCCESS;

	json_object_seed(0);
	status = run_cases(false, false);
	puts("The same, with calls that are run again:");
	status_again = run_cases(true, false);
	if (no_database == NULL) {
		puts("The same, over PostgreSQL:");
		status_database = run_cases(false, true);
		database_stop();
	} else {
		printf("without PostgreSQL: %s\n", no_database);
	}
	if (status == EXIT_SUCCESS)
		status = status_again;
	return status == EXIT_SUCCESS ? status_database : status;
}
