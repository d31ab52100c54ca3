/* See service/service.h. The way of a request is one chain, and a refusal ends it at its place:
 *
 *     path and method (404, 405) -> token (401) -> scope (403) -> size and JSON (413, 400) -> query
 *     and body by the route's tables (400) -> the handler, inside a transaction: existence (404),
 *     rules that need what is stored (400), disabled (403), conditions (412), conflicts (409)
 *
 * Errors become bodies here and nowhere else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/service.h"

#include <assert.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "service/auth.h"
#include "service/costs.h"
#include "service/router.h"
#include "resources/code_words.h"
#include "resources/join.h"
#include "resources/join_log.h"
#include "resources/kept_usage.h"
#include "resources/audit.h"
#include "rules/list_rules.h"
#include "service/dispatcher.h"
#include "service/headers.h"
#include "service/idempotency.h"
#include "service/openapi.h"
#include "service/routes.h"

#define UNAVAILABLE_RETRY_AFTER 5
/* How often a store may say that a call has to be run again. */
#define AGAIN_MOST 10
/* Milliseconds after the first time, in which a call is run again, or waits for another one with its
 * key. A database lets it wait for a lock as long. */
#define AGAIN_UNTIL 10000

struct service {
	struct environment environment;
	struct router *router;
	char *document;
	struct costs *costs;
	_Atomic uint64_t requests; /* counted up from somewhere: what requests are called */
};

static void verify_tables(void)
{
	schema_verify(&write_query);
	for (const struct route *route = routes; route->path != NULL; route++) {
		assert(!route->is_alone || !route->is_open);
		if (route->body != NULL)
			schema_verify(route->body);
		if (route->query != NULL)
			schema_verify(route->query);
		if (route->answer != NULL)
			schema_verify(route->answer);
		if (route->summary != NULL)
			schema_verify(route->summary);
	}
}

/* Made once: it is the same for every request. */
static char *document_text(void)
{
	struct arena *arena = arena_open();
	char *text = json_dumps(openapi_document(arena, routes),
				JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (text == NULL)
		abort();
	arena_close(arena);
	return text;
}

struct service *service_open(const struct environment *environment)
{
	struct service *service = malloc(sizeof *service);
	uint64_t start;

	if (service == NULL)
		abort();
	verify_tables();
	service->document = document_text();
	service->environment = *environment;
	service->environment.document = slice_of(service->document);
	service->environment.document_etag = digest_number(service->environment.document);
	service->costs = costs_open();
	service->router = router_open(routes);
	service->environment.router = service->router;
	clock_random(environment->clock, &start, sizeof start);
	atomic_init(&service->requests, start);
	return service;
}

void service_close(struct service *service)
{
	if (service == NULL)
		return;
	router_close(service->router);
	free(service->document);
	costs_close(service->costs);
	free(service);
}

/* ---- the body and the query ---- */

static bool read_json(struct call *call, json_t **body, struct fault *fault)
{
	size_t most;

	if (call->route->body_kind == BODY_IGNORED)
		return true;
	most = call->route->takes_large_body ? CALL_LARGE_BODY_MOST : CALL_BODY_MOST;
	if (call->request.body_is_too_large || call->request.body.size > most)
		return fault_detail(fault, FAULT_TOO_LARGE, "a body has at most %zu bytes", most);
	if (!schema_parse(call->arena, call->request.body, body, fault))
		return false;
	call->body = *body;
	return true;
}

static bool read_query(struct call *call, struct slice query, struct fault *fault)
{
	json_t *of_writes;

	if (query.size > 0 && call_is_for_writing(call) &&
	    !schema_query(call->arena, &write_query, query, &of_writes, fault))
		return false;
	if (call->route->query == NULL)
		return true;
	/* Lists that are read have defaults. */
	if (query.size == 0 && (call_is_for_writing(call) || !call->route->is_list))
		return true;
	return schema_query(call->arena, call->route->query, query, &call->query, fault);
}

/* Before the query is read in its turn, since an Idempotency-Key is ignored with validate_only. */
static void look_for_validation(struct call *call, struct slice query)
{
	struct fault unused = FAULT_INITIAL;
	json_t *read;

	if (query.size > 0 && call_is_for_writing(call) &&
	    schema_query(call->arena, &write_query, query, &read, &unused))
		call->validates_only = json_is_true(json_object_get(read, "validate_only"));
}

/* The last change of the body: from here on it is const. */
static bool check_body(struct call *call, json_t *body, struct fault *fault)
{
	bool is_strict;

	if (call->route->body == NULL)
		return true;
	is_strict = headers_prefer_strict(call->request.prefer);
	if (is_strict)
		call_header(call, "Preference-Applied", SLICE("handling=strict"));
	if (call->route->check != NULL)
		return call->route->check(call, body, is_strict, fault);
	return schema_check(call->route->body, body, route_mode(call->route), is_strict,
			    &call->findings, fault);
}

/* ---- the handler in its transaction ---- */

/* What a run changes of the call, as it was before the first one. A copy of the whole call would be
 * a hundredth of a read. */
struct start {
	struct arena_mark mark;
	struct findings findings;
	struct id account;
	char account_text[ID_TEXT_SIZE + 1];
};

static struct start start_of(const struct call *call)
{
	struct start start = {
		.mark = arena_mark(call->arena),
		.findings = call->findings,
		.account = call->account,
	};

	memcpy(start.account_text, call->account_text, sizeof start.account_text);
	return start;
}

/* Releases the memory of the last run, with its answer. */
static void begin_again(struct call *call, const struct start *start, struct fault *fault)
{
	call_forget_answer(call);
	call->answer.status = 0;
	call->answer.parts = NULL;
	call->answer.part_capacity = 0;
	call->answer.number = 0;
	call->refusal = JOIN_NOT_REFUSED;
	call->link = NULL;
	call->findings = start->findings;
	call->account = start->account;
	memcpy(call->account_text, start->account_text, sizeof call->account_text);
	arena_release(call->arena, &start->mark);
	*fault = FAULT_INITIAL;
}

static bool run_once(struct call *call, enum store_access access, struct fault *fault)
{
	bool is_done, is_replay = false, is_committed;

	if (!store_begin(call->environment->store, access, call->arena, &call->transaction, fault))
		return false;
	store_of_account(call->transaction, &call->account);
	if (store_has_roster(call->environment->store))
		store_of_roster(call->transaction,
				call->route->is_open ? STORE_ROSTER_ANY : call->roster);
	call->now = clock_now(call->environment->clock);
	if (call->now < call->least_now)
		call->now = call->least_now;
	call->wants_write = false;
	if (access == STORE_WRITE)
		call_draw_etag(call);
	audit_forget(call);
	call->joining = NULL;
	call->words_asked = 0;
	call->test = NULL;
	is_done = call->route->run(call, fault);
	/* Who lacks a scope gets no kept answer either. */
	if (call->key.data != NULL && fault->scope == NULL)
		is_done = idempotency_end(call, is_done, &is_replay, fault);
	if (is_done && access == STORE_WRITE && !call->wants_write && !is_replay &&
	    !call->validates_only && words_count_asked(call, fault) && audit_write(call, fault)) {
		is_committed = store_commit(call->transaction, &call->answer.number, fault);
		kept_usage_end(call, is_committed);
		if (is_committed && call->test != NULL)
			dispatcher_test(call->environment->dispatcher, &call->account, call->test);
		return is_committed;
	}
	kept_usage_end(call, false);
	call->operations = 0;
	/* A refusal may rest on data that is not durable yet: it waits like an answer. */
	if (access == STORE_WRITE)
		call->answer.number = store_seen(call->transaction);
	store_abandon(call->transaction);
	if (is_done && call->validates_only && !call->wants_write) {
		call_forget_answer(call);
		return call_answer(call, SLICE("{\"valid\":true}"));
	}
	return fault->kind == FAULT_NONE;
}

/* A body that is too large was refused earlier: here the values that a handler read were too large,
 * unless it says otherwise. */
static void explain_size(struct fault *fault)
{
	if (fault->kind != FAULT_TOO_LARGE)
		return;
	(void)snprintf(fault->message, sizeof fault->message, "Too much for one call");
	if (fault->detail[0] != '\0')
		return;
	(void)snprintf(fault->detail, sizeof fault->detail,
		       "what it reads takes more than %zu MB; of a list, ask for a smaller page "
		       "(limit)",
		       ARENA_LIMIT >> 20);
}

/* Two calls that conflict again and again do not run again at the same time. */
static void let_others(const struct call *call, unsigned agains)
{
	uint32_t chance;

	if (agains < 2 || !store_is_shared(call->environment->store))
		return;
	clock_random(call->environment->clock, &chance, sizeof chance);
	(void)poll(NULL, 0, (int)(chance % (1u << agains)));
}

/* What seemed missing or damaged while others were writing is run again, and believed then. */
static bool is_to_be_run_again(const struct call *call, enum store_access access,
			       const struct fault *fault, unsigned agains)
{
	return fault->kind == FAULT_AGAIN ||
	       (fault->kind == FAULT_DAMAGED && access == STORE_WRITE && agains == 0 &&
		store_is_shared(call->environment->store));
}

/* Another request with the key has held what this one needs for as long as it may wait. */
static bool is_under_way(const struct call *call, const struct fault *fault, int64_t waited)
{
	return fault->kind == FAULT_AGAIN && call->key.data != NULL && waited >= AGAIN_UNTIL;
}

static bool refuse_under_way(struct fault *fault)
{
	*fault = FAULT_INITIAL;
	fault_set(fault, FAULT_CONFLICT, "A request with this Idempotency-Key is under way");
	fault->retry_after = 1;
	return false;
}

static bool check_caller(struct call *call, struct fault *fault)
{
	return auth_check(call, fault) && actor_may(&call->actor, call->route->scopes, fault);
}

/* Every run begins with the call as it was parsed, and with as much memory as the first. */
static bool run(struct call *call, struct fault *fault)
{
	const enum route_access route_access = call->route->access;
	const bool writes = route_access == ROUTE_WRITE || call->key.data != NULL;
	enum store_access access = writes ? STORE_WRITE : STORE_READ;
	const int64_t begun = call->key.data != NULL ? clock_monotonic() : 0;
	int64_t until = 0; /* once it was run again */
	unsigned agains = 0;

	if (route_access == ROUTE_STATELESS)
		return call->route->run(call, fault);

	const struct start start = start_of(call);

	for (;;) {
		if (run_once(call, access, fault)) {
			if (!call->wants_write)
				return true;
			access = STORE_WRITE;
		} else if (is_under_way(call, fault, clock_monotonic() - begun)) {
			return refuse_under_way(fault);
		} else if (!is_to_be_run_again(call, access, fault, agains) ||
			   ++agains == AGAIN_MOST || (until != 0 && clock_monotonic() > until)) {
			return false;
		} else {
			if (until == 0)
				until = clock_monotonic() + AGAIN_UNTIL;
			let_others(call, agains);
		}
		begin_again(call, &start, fault);
		/* The accounts may be others by now. */
		if (!call->route->is_open && store_has_roster(call->environment->store) &&
		    !check_caller(call, fault))
			return false;
	}
}

/* Calls that run one at a time may have more memory than others. */
static bool run_in_memory(struct call *call, struct fault *fault)
{
	bool is_done;

	if (!call->route->is_alone)
		return run(call, fault);
	arena_set_limit(call->arena, CALL_ALONE_MEMORY_MOST);
	is_done = run(call, fault);
	arena_set_limit(call->arena, ARENA_LIMIT);
	return is_done;
}

/* ---- answers ---- */

static void write_error(struct call *call, const struct fault *fault)
{
	json_t *body = arena_json(call->arena,
				  json_pack("{s:i, s:s}", "code", fault_status(fault->kind),
					    "message", fault->message));
	struct buffer text = BUFFER_INITIAL(call->arena);

	if (fault->details != NULL)
		json_object_set(body, "details", fault->details);
	else if (fault->detail[0] != '\0')
		json_object_set_new(body, "details", json_pack("[s]", fault->detail));
	/* `details` cannot be taken apart: a name in a pointer may contain ": ". */
	if (fault_status(fault->kind) == 400 && json_object_get(body, "details") != NULL)
		object_put(body, "faults", fault_parts(fault));
	buffer_append_json(&text, body);
	call->answer.status = fault_status(fault->kind);
	call_part(call, buffer_slice(&text));
}

/* Seconds; a full disk may have room again soon. */
static unsigned retry_after(const struct fault *fault)
{
	if (fault->kind == FAULT_UNAVAILABLE || fault->kind == FAULT_AGAIN)
		return UNAVAILABLE_RETRY_AFTER;
	return fault->retry_after;
}

static void answer_fault(struct call *call, const struct fault *fault)
{
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
	if (retry_after(fault) > 0)
		call_header(call, "Retry-After",
			    slice_of(arena_text(call->arena, "%u", retry_after(fault))));
	write_error(call, fault);
}

/* Which route it is, and whether the caller may call it. */
static bool admit(struct service *service, struct call *call, struct slice *query,
		  struct fault *fault)
{
	bool is_shared;
	bool is_found = router_find(service->router, call, query, &is_shared, fault);

	if (is_shared)
		headers_share(call);
	if (!is_found || call->route == NULL)
		return is_found;
	look_for_validation(call, *query);
	return (!call->route->is_limited || join_check_budget(call, fault)) &&
	       (call->route->is_open || check_caller(call, fault));
}

/* Everything else before the handler. */
static bool read_call(struct call *call, struct slice query, struct fault *fault)
{
	json_t *body = NULL;

	return read_json(call, &body, fault) && idempotency_read(call, fault) &&
	       router_decode(call, fault) && read_query(call, query, fault) &&
	       check_body(call, body, fault) &&
	       (call->route->prepare == NULL || call->route->prepare(call, fault));
}

static bool is_to_be_deferred(const struct service *service, const struct call *call)
{
	return call->may_be_deferred && !call->is_deferred && call->route != NULL &&
	       !call->route->is_open &&
	       (call->route->is_alone ||
		costs_are_high(service->costs, &call->account, call->route));
}

/* That a refused call asked for codes of other accounts, before the answer says so. */
static void count_words(struct call *call, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	if (!words_count_refused(call, &own))
		*fault = own;
}

/* A join that was granted or refused, once that is the answer. */
static void note_joining(const struct call *call)
{
	struct joining joining;

	if (call->joining == NULL || call->environment->joins == NULL ||
	    (call->answer.status != 200 && call->answer.status != 403))
		return;
	joining = *call->joining;
	joining.number = call->answer.number;
	join_log_add(call->environment->joins, &joining);
}

/* Answers a call that was admitted, or was not. */
static void answer(struct call *call, bool is_admitted, struct slice query, struct fault *fault)
{
	const bool is_read = is_admitted && (call->route == NULL || read_call(call, query, fault));

	call->answer.standing_count = call->answer.header_count;
	if (!is_read) {
		if (fault->scope != NULL || !idempotency_replay(call, fault))
			answer_fault(call, fault);
	} else if (call->route != NULL) {
		if (!run_in_memory(call, fault)) {
			count_words(call, fault);
			call_forget_answer(call);
			explain_size(fault);
			answer_fault(call, fault);
		}
	}
	note_joining(call);
	headers_unknown(call);
	headers_content(call);
}

/* When a call was admitted, on both clocks. */
struct begun {
	struct id account;
	int64_t elapsed, processor;
};

static void note_cost(struct service *service, const struct call *call, const struct begun *begun)
{
	int64_t cost = 0;

	/* Reading the thread's clock is a system call. */
	if (clock_microseconds() - begun->elapsed >= COSTS_HIGH)
		cost = clock_of_thread() - begun->processor;
	costs_note(service->costs, &begun->account, call->route, cost);
}

bool service_answer(struct service *service, struct call *call)
{
	struct arena *served = arena_serve(call->arena);
	struct fault fault = FAULT_INITIAL;
	struct slice query = { NULL, 0 };
	bool is_admitted;

	call->environment = &service->environment;
	call->answer = (struct answer){ .is_head = call->request.method == METHOD_HEAD };
	findings_open(&call->findings, call->arena);
	call->findings.clock = service->environment.clock;
	headers_identify(call, atomic_fetch_add(&service->requests, 1));
	is_admitted = admit(service, call, &query, &fault);
	if (is_admitted && is_to_be_deferred(service, call)) {
		call->is_deferred = true;
		arena_serve(served);
		return false;
	}
	if (is_admitted && call->route != NULL && !call->route->is_open) {
		const struct begun begun = { call->account, clock_microseconds(),
					     clock_of_thread() };

		answer(call, is_admitted, query, &fault);
		note_cost(service, call, &begun);
	} else {
		answer(call, is_admitted, query, &fault);
	}
	arena_serve(served);
	return true;
}

void service_settle(struct call *call, enum store_state state)
{
	struct fault fault = FAULT_INITIAL;

	if (state == STORE_DURABLE)
		return;
	fault_set(&fault, FAULT_UNAVAILABLE, NULL);
	call_forget_answer(call);
	call->answer.number = 0;
	answer_fault(call, &fault);
	headers_content(call);
}
