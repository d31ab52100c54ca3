/* See service/service.h. A request passes these checks in this order, and the first refusal ends
 * it:
 *
 *     1. path and method (404, 405)
 *     2. for calls with a code: how many unknown codes came from the address (429)
 *     3. token (401), scope (403)
 *     4. size of the body and its JSON (413, 400), Idempotency-Key, If-Match and If-None-Match
 *        (400), names in the path (400)
 *     5. query and body by the route's tables (400); what the route prepares (429)
 *     6. the handler, inside a transaction: the record exists (404), rules that compare with stored
 *        records (400), the room is enabled (403), If-Match and If-None-Match (412), conflicts
 *        (409)
 *
 * Errors become bodies here and nowhere else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/service.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "base/log.h"
#include "base/memory.h"
#include "service/auth.h"
#include "service/costs.h"
#include "service/router.h"
#include "resources/stored/code_words.h"
#include "resources/misses.h"
#include "background/media_client.h"
#include "background/join_log.h"
#include "resources/route.h"
#include "rules/list_rules.h"
#include "rules/recorder_rules.h"
#include "service/headers.h"
#include "service/idempotency.h"
#include "service/openapi.h"
#include "service/routes.h"
#include "service/run.h"

#define UNAVAILABLE_RETRY_AFTER 5
#define BUSY_RETRY_AFTER 1

struct service {
	struct environment environment;
	struct router *router;
	struct openapi *openapi;
	struct costs *costs;
	_Atomic uint64_t alone; /* same as environment.alone, which points to it */
	/* The number of the next request, for its X-Request-Id; the first one is random. */
	_Atomic uint64_t requests;
};

void service_verify(void)
{
	schema_verify(&write_query);
	schema_verify(&report_shape); /* its handler reads the body */
	for (const struct route *route = routes; route->path != NULL; route++) {
		assert(!route->is_alone || !route->is_open);
		if (route->body != NULL)
			schema_verify(route->body);
		if (route->query != NULL)
			schema_verify(route->query);
		if (route->answer != NULL)
			schema_verify(route->answer);
	}
}

struct service *service_open(const struct environment *environment)
{
	struct service *service = memory_check(malloc(sizeof *service));
	uint64_t start;

	service_verify();
	service->environment = *environment;
	service->openapi = openapi_open(routes);
	service->environment.openapi = service->openapi;
	service->environment.started = clock_now(environment->clock);
	service->costs = costs_open();
	service->router = router_open(routes);
	service->environment.router = service->router;
	clock_random(environment->clock, &start, sizeof start);
	atomic_init(&service->requests, start);
	atomic_init(&service->alone, 0);
	service->environment.alone = &service->alone;
	return service;
}

void service_close(struct service *service)
{
	if (service == NULL)
		return;
	router_close(service->router);
	openapi_close(service->openapi);
	costs_close(service->costs);
	free(service);
}

/* ---- the body ---- */

static bool read_json(struct call *call, json_t **body, struct fault *fault)
{
	const struct route *route = call->route;
	const size_t most = route->body_most != 0 ? route->body_most : CALL_BODY_MOST;
	size_t objects = 0;
	const char *name;
	json_t *list;

	if (route->body_kind == BODY_IGNORED)
		return true;
	if (call->request.body_is_too_large || call->request.body.size > most)
		return fault_detail(fault, FAULT_TOO_LARGE, "the maximum body size is %zu bytes",
				    most);
	if (route->body != NULL && shape_is_bare(route->body)
		    ? !schema_parse_list(call->arena, route->body, call->request.body, body, fault)
		    : !schema_parse(call->arena, call->request.body, body, fault))
		return false;
	call->body = *body;
	if (route->objects_most == 0)
		return true;
	json_object_foreach(*body, name, list)
		objects += shape_field(route->body, name) != NULL ? json_array_size(list) : 0;
	return objects <= route->objects_most ||
	       fault_explain(fault, FAULT_TOO_LARGE, "Too many objects",
			     "must have at most %zu objects, got %zu", route->objects_most,
			     objects);
}

/* ---- answers ---- */

/* Returns seconds. A full disk may have space again soon. */
static unsigned retry_seconds(const struct fault *fault)
{
	if (fault->kind == FAULT_UNAVAILABLE)
		return UNAVAILABLE_RETRY_AFTER;
	if (fault->kind == FAULT_AGAIN || fault->kind == FAULT_BUSY)
		return BUSY_RETRY_AFTER;
	return fault->retry_after;
}

static void answer_fault(struct call *call, const struct fault *fault)
{
	const int status = fault_status(fault->kind);
	const bool has_details = fault->details != NULL || fault->detail[0] != '\0';
	struct json_writer body = writer_begin(call->arena, false);

	if (fault->cause[0] != '\0')
		log_event(LOG_LEVEL_ERROR, "request_failed", "request_id", call->id, "cause",
			  fault->cause, NULL);
	if (fault->kind == FAULT_UNAUTHORIZED)
		call_header(call, "WWW-Authenticate", SLICE("Bearer error=\"invalid_token\""));
	if (fault->scope != NULL)
		call_header(call, "WWW-Authenticate",
			    slice_of(arena_text(call->arena,
						"Bearer error=\"insufficient_scope\", scope=\"%s\"",
						fault->scope)));
	if (retry_seconds(fault) > 0)
		call_header(call, "Retry-After",
			    slice_of(arena_text(call->arena, "%u", retry_seconds(fault))));
	writer_integer(&body, "code", status);
	writer_text(&body, "message", slice_of(fault->message));
	if (fault->details != NULL) {
		writer_value(&body, "details", fault->details);
	} else if (has_details) {
		writer_open(&body, "details", '[');
		writer_text(&body, NULL, slice_of(fault->detail));
		writer_close(&body, ']');
	}
	/* Clients cannot split `details`: a name in a pointer may contain ": ". */
	if (status == 400 && has_details)
		writer_value(&body, "faults", arena_json(call->arena, fault_parts(fault)));
	call->answer.status = status;
	call_part(call, writer_end(&body));
}

/* Finds the route, and checks whether the caller may call it. */
static bool admit(struct service *service, struct call *call, struct slice *query,
		  struct fault *fault)
{
	struct fault unused = FAULT_INITIAL;
	bool is_for_all_origins;
	bool is_found = router_find(service->router, call, query, &is_for_all_origins, fault);
	json_t *read;

	if (is_for_all_origins)
		headers_share(call);
	/* OPTIONS has no route, and its answer is complete. */
	if (!is_found || call->route == NULL)
		return is_found;
	/* The Idempotency-Key is looked at before the query is checked, and is ignored with
	 * validate_only. */
	if (query->size > 0 && route_is_for_writing(call->route) &&
	    schema_query(call->arena, &write_query, *query, &read, &unused))
		call->validates_only = json_is_true(json_object_get(read, "validate_only"));
	return (!call->route->is_limited || misses_check_codes(call, fault)) &&
	       auth_check(call, fault);
}

/* Checks everything that depends only on the request: body, names in the path, query, and the
 * route's rules for them. */
static bool read_and_check(struct call *call, struct slice query, struct fault *fault)
{
	const struct route *route = call->route;
	json_t *body = NULL, *of_writes;

	if (!read_json(call, &body, fault) || !idempotency_read(call, fault) ||
	    !route_read_conditions(call, fault) || !router_decode(call, fault))
		return false;

	if (query.size > 0 && route_is_for_writing(route) &&
	    !schema_query(call->arena, &write_query, query, &of_writes, fault))
		return false;
	/* Queries of lists have defaults. */
	if (route->query != NULL &&
	    (query.size > 0 || (!route_is_for_writing(route) && route->is_list)) &&
	    !schema_query(call->arena, route->query, query, &call->query, fault))
		return false;

	/* These are the last changes to the body; from here on it is const. */
	if (route->body != NULL) {
		const bool is_strict = headers_prefer_strict(call->request.prefer);

		if (is_strict)
			call_header(call, "Preference-Applied", SLICE("handling=strict"));
		if (!(route->check != NULL ? route->check(call, body, is_strict, fault)
					   : schema_check(route->body, body, route_mode(route),
							  is_strict, &call->findings, fault)))
			return false;
	}
	return route->prepare == NULL || route->prepare(call, fault);
}

static bool is_to_be_deferred(const struct service *service, const struct call *call)
{
	return call->may_be_deferred && !call->is_deferred && call->route != NULL &&
	       !call->route->is_open &&
	       (call->route->is_alone || run_would_wait(call) ||
		costs_are_high(service->costs, &call->account, call->route));
}

/* Logs a join that was granted or refused. */
static void log_joining(const struct call *call)
{
	struct joining joining;

	if (call->run.joining == NULL || call->environment->joins == NULL ||
	    (call->answer.status / 100 != 2 && call->answer.status != 403))
		return;
	joining = *call->run.joining;
	joining.number = call->answer.awaited;
	join_log_add(call->environment->joins, &joining);
}

/* Runs a call; a refusal becomes an error body. */
static void run_and_answer(struct call *call)
{
	struct fault fault = FAULT_INITIAL, own = FAULT_INITIAL;

	if (run_call(call, &fault)) {
		if (!call_is_asking(call) && call->asks_next == NULL)
			idempotency_release(call);
		return;
	}
	idempotency_release(call);
	/* Before the answer reveals it, count that the call asked for codes of other accounts. */
	if (!code_words_count_refused(call, &own))
		fault = own;
	call->asking = NULL;
	call->asks_next = NULL;
	call_reset_answer(call);
	/* A body that is too large was rejected earlier, so here the stored values that the handler
	 * read were too large, unless the fault says otherwise. */
	if (fault.kind == FAULT_TOO_LARGE) {
		const bool is_alone = call->route->is_alone;

		(void)snprintf(fault.message, sizeof fault.message, "Too much for one request");
		if (fault.detail[0] == '\0')
			(void)snprintf(fault.detail, sizeof fault.detail,
				       "the request needs more than %zu MB of memory%s",
				       (is_alone ? CALL_ALONE_MEMORY_MOST : ARENA_LIMIT) >> 20,
				       is_alone		      ? "; split it into several requests"
				       : call->route->is_list ? "; use a smaller limit"
							      : "");
	}
	answer_fault(call, &fault);
}

/* Checks and runs an admitted call; a refusal becomes an error body. Records the cost, for the next
 * call of this account and route. */
static void carry_out(struct service *service, struct call *call, struct slice query)
{
	const struct route *route = call->route;
	const struct id account = call->account;
	const int64_t began = route->is_open ? 0 : clock_microseconds();
	const int64_t processor = route->is_open ? 0 : clock_of_thread();
	struct fault fault = FAULT_INITIAL;
	int64_t cost = 0;
	bool is_read;

	if (route->is_alone)
		atomic_store(&service->alone, run_account_mark(&account));
	is_read = read_and_check(call, query, &fault);
	/* The headers that are set by now stay if the call is refused. */
	call->answer.lasting_count = call->answer.header_count;
	if (is_read) {
		/* Such calls run one at a time, so each may have more memory. */
		if (route->is_alone)
			arena_set_limit(call->arena, CALL_ALONE_MEMORY_MOST);
		run_and_answer(call);
		if (route->is_alone)
			arena_set_limit(call->arena, ARENA_LIMIT);
	} else if (fault.scope != NULL || !idempotency_replay(call, &fault)) {
		/* A request that was answered before gets the stored response, unless the caller
		 * now lacks the scope. */
		answer_fault(call, &fault);
	}
	if (route->is_alone)
		atomic_store(&service->alone, 0);
	if (route->is_open)
		return;
	/* Reading the thread's clock is a system call. */
	if (clock_microseconds() - began >= COSTS_HIGH)
		cost = clock_of_thread() - processor;
	costs_note(service->costs, &account, route, cost);
}

/* Releases the memory of a call that may use more of it than others, except for the answer, which
 * is kept until it is sent: the next such call starts in the meantime. */
static void release_all_but_answer(struct call *call, const struct arena_mark *start)
{
	struct answer *answer = &call->answer;
	struct arena *apart = arena_open();
	struct buffer body = BUFFER_INITIAL(apart);

	for (size_t i = 0; i < answer->part_count; i++)
		buffer_append(&body, answer->parts[i]);
	for (size_t i = 0; i < answer->header_count; i++)
		answer->headers[i].value = arena_copy(apart, answer->headers[i].value);
	call->body = NULL;
	call->query = NULL;
	call->bulk = NULL;
	call->import = NULL;
	findings_open(&call->findings, call->arena);
	arena_release(call->arena, start);
	for (size_t i = 0; i < answer->header_count; i++)
		answer->headers[i].value = arena_copy(call->arena, answer->headers[i].value);
	answer->kept = (struct slice){ NULL, 0 };
	answer->parts = NULL;
	answer->part_count = answer->part_capacity = answer->size = 0;
	call_part(call, arena_copy(call->arena, buffer_slice(&body)));
	arena_close(apart);
}

void service_ask(struct call *call, void (*done)(void *context, struct asking *asking),
		 void *context)
{
	struct media_client *client = call->environment->media_client;

	if (call->asking->waits_for_key)
		media_client_wait(client, call->asking, done, context);
	else
		media_client_ask(client, call->asking, done, context);
}

bool service_answer(struct service *service, struct call *call)
{
	struct arena *before = arena_use_for_json(call->arena);
	const struct arena_mark start = arena_mark(call->arena);
	struct fault fault = FAULT_INITIAL;
	struct slice query = { NULL, 0 };
	bool is_answered = true;

	/* The call goes on with what its media server answered. */
	if (call->asking != NULL) {
		struct asking *asking = call->asking;
		const bool has_waited = asking->waits_for_key;

		call_reset_answer(call);
		if (asking->prepare != NULL && !asking->is_follower)
			asking->prepare(call, asking);
		run_and_answer(call);
		if (!has_waited) {
			media_client_release(asking);
			call->asking = call->asks_next;
			call->asks_next = NULL;
		}
		if (!call_is_asking(call))
			log_joining(call);
		headers_unknown(call);
		headers_content(call);
		arena_use_for_json(before);
		return true;
	}
	call->environment = &service->environment;
	call->answer = (struct answer){ .is_head = call->request.method == METHOD_HEAD };
	findings_open(&call->findings, call->arena);
	call->findings.clock = service->environment.clock;
	headers_identify(call, atomic_fetch_add(&service->requests, 1));
	if (!admit(service, call, &query, &fault))
		answer_fault(call, &fault);
	else if (is_to_be_deferred(service, call))
		is_answered = false;
	else if (call->route != NULL)
		carry_out(service, call, query);
	if (call->run.wants_write) {
		call->run.wants_write = false;
		is_answered = false;
	}
	if (is_answered) {
		log_joining(call);
		headers_unknown(call);
		headers_content(call);
		if (call->route != NULL && call->route->is_alone)
			release_all_but_answer(call, &start);
	} else {
		call->is_deferred = true;
	}
	arena_use_for_json(before);
	return is_answered;
}

void service_settle(struct call *call, enum store_state state)
{
	struct fault fault = FAULT_INITIAL;

	if (state == STORE_DURABLE)
		return;
	/* A write that could not be synced may still be found after a restart. */
	if (call->answer.status < 300 && route_is_for_writing(call->route) && !call->validates_only)
		fault_detail(&fault, FAULT_UNAVAILABLE,
			     "a disk error occurred; the change may or may not have been stored");
	else
		fault_set(&fault, FAULT_UNAVAILABLE, NULL);
	idempotency_release(call);
	call_reset_answer(call);
	call->answer.awaited = 0;
	answer_fault(call, &fault);
	headers_content(call);
}
