/* The gate, the service and the stand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge_stand.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "directory.h"
#include "edge/fastcgi.h"
#include "resources/route.h"

/* ---- the store: numbers, and a gate in front of the disk ---- */

static struct gate *gate_of(struct store *store)
{
	return (struct gate *)(void *)store;
}

static enum store_state gate_state(struct store *store, uint64_t number)
{
	struct gate *gate = gate_of(store);
	enum store_state state = STORE_PENDING;

	pthread_mutex_lock(&gate->lock);
	if (number <= gate->durable)
		state = gate->fails_from != 0 && number >= gate->fails_from ? STORE_FAILED
									    : STORE_DURABLE;
	pthread_mutex_unlock(&gate->lock);
	return state;
}

static void gate_flush(struct store *store)
{
	struct gate *gate = gate_of(store);
	uint64_t goal;

	pthread_mutex_lock(&gate->lock);
	while (gate->is_flushing)
		pthread_cond_wait(&gate->changed, &gate->lock);
	gate->is_flushing = true;
	gate->flushes++;
	pthread_cond_broadcast(&gate->changed);
	goal = gate->committed;
	if (gate->step != 0 && goal > gate->durable + gate->step)
		goal = gate->durable + gate->step;
	while (gate->is_shut)
		pthread_cond_wait(&gate->changed, &gate->lock);
	gate->durable = goal > gate->durable ? goal : gate->durable;
	gate->is_flushing = false;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static const struct store_driver gate_driver = {
	.name = "gate",
	.state = gate_state,
	.flush = gate_flush,
};

static uint64_t gate_commit(struct gate *gate)
{
	uint64_t number;

	pthread_mutex_lock(&gate->lock);
	number = ++gate->committed;
	pthread_mutex_unlock(&gate->lock);
	return number;
}

void gate_shut(struct gate *gate, bool is_shut)
{
	pthread_mutex_lock(&gate->lock);
	gate->is_shut = is_shut;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

void gate_await_flush(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->is_flushing)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

/* ---- the service ---- */

static void add_part(struct call *call, struct slice part)
{
	struct answer *answer = &call->answer;

	answer->parts[answer->part_count++] = part;
	answer->size += part.size;
}

/* Responds with `size` bytes in three parts. */
static void answer_bytes(struct call *call, size_t size)
{
	char *bytes = arena_alloc(call->arena, size);

	memset(bytes, 'x', size);
	add_part(call, (struct slice){ bytes, size / 3 });
	add_part(call, (struct slice){ bytes, size / 3 });
	add_part(call, (struct slice){ bytes, size - size / 3 * 2 });
}

/* Responds with 0 1 2 ... in n parts. */
static void answer_parts(struct call *call, size_t n)
{
	call->answer.parts = arena_alloc(call->arena, n * sizeof *call->answer.parts);
	for (size_t i = 0; i < n; i++)
		add_part(call, slice_of(arena_text(call->arena, "%zu ", i)));
}

/* Responds with the request, so that the test can check it. */
static void answer_echo(struct call *call)
{
	const struct request *request = &call->request;

	add_part(call,
		 slice_of(arena_text(call->arena, "%d %.*s %.*s %.*s %d ", (int)request->method,
				     (int)request->authorization.size, request->authorization.data,
				     (int)request->address.size, request->address.data,
				     (int)request->request_id.size, request->request_id.data,
				     (int)request->body_is_too_large)));
	add_part(call, request->body);
}

static int64_t number_after(struct slice uri, const char *prefix)
{
	size_t size = strlen(prefix);
	int64_t number;

	if (uri.size < size || memcmp(uri.data, prefix, size) != 0 ||
	    !text_integer((struct slice){ uri.data + size, uri.size - size }, &number))
		return -1;
	return number;
}

static void await_gate(struct service *service, bool is_alone)
{
	struct gate *gate = service->gate;

	pthread_mutex_lock(&gate->lock);
	service->alone += is_alone;
	if (service->alone > service->alone_most)
		service->alone_most = service->alone;
	while (gate->is_shut)
		pthread_cond_wait(&gate->changed, &gate->lock);
	service->alone -= is_alone;
	pthread_mutex_unlock(&gate->lock);
}

/* Returns true if the call is answered now. */
static bool begin_costly(struct service *service, struct call *call)
{
	static const struct route costly = { .path = "/costly" };
	static const struct route alone = { .path = "/alone", .is_alone = true };
	const bool is_alone = slice_is(call->request.uri, "/alone");
	const bool is_serial = slice_is(call->request.uri, "/serial");

	if (!is_alone && !is_serial && !slice_is(call->request.uri, "/costly") &&
	    !slice_is(call->request.uri, "/costly/now"))
		return true;
	if (call->is_deferred) {
		if (!slice_is(call->request.uri, "/costly/now"))
			await_gate(service, is_alone || is_serial);
		return true;
	}
	ck_assert(call->may_be_deferred);
	call->route = is_alone ? &alone : &costly;
	call->is_deferred = true;
	call->is_serial = is_serial;
	return false;
}

static bool stub_answer(struct service *service, struct call *call)
{
	struct answer *answer = &call->answer;
	struct slice uri = call->request.uri;

	if (!begin_costly(service, call))
		return false;
	atomic_fetch_add(&service->calls, 1);
	answer->parts = arena_alloc(call->arena, 3 * sizeof *answer->parts);
	answer->is_head = call->request.method == METHOD_HEAD;
	answer->headers[answer->header_count++] = (struct header){ "X-Stub", SLICE("here") };
	answer->status = 200;
	if (slice_is(uri, "/write")) {
		answer->awaited = gate_commit(service->gate);
		add_part(call, SLICE("written"));
	} else if (number_after(uri, "/write/") > 0) {
		answer->awaited = gate_commit(service->gate);
		answer_bytes(call, (size_t)number_after(uri, "/write/"));
	} else if (number_after(uri, "/number/") > 0) {
		answer->awaited = (uint64_t)number_after(uri, "/number/");
	} else if (number_after(uri, "/size/") >= 0) {
		answer_bytes(call, (size_t)number_after(uri, "/size/"));
	} else if (number_after(uri, "/parts/") > 0) {
		answer_parts(call, (size_t)number_after(uri, "/parts/"));
	} else if (number_after(uri, "/status/") > 0) {
		answer->status = (int)number_after(uri, "/status/");
	} else {
		answer_echo(call);
	}
	return true;
}

static void stub_settle(struct call *call, enum store_state state)
{
	ck_assert_int_ne(state, STORE_PENDING);
	if (state == STORE_FAILED)
		call->answer.status = 503;
}

/* ---- one edge for a test ---- */

void stand_start(struct stand *stand, unsigned threads)
{
	struct fault fault = FAULT_INITIAL;
	struct edge_options options = {
		.listener = &stand->listener,
		.store = &stand->gate.base,
		.service = &stand->service,
		.answer = stub_answer,
		.settle = stub_settle,
		.threads = threads,
		.patience = stand->patience,
	};

	ck_assert_msg(edge_open(&options, &stand->edge, &fault), "%s", fault.cause);
}

struct stand *stand_open(unsigned threads)
{
	return stand_open_patient(threads, 0);
}

struct stand *stand_open_patient(unsigned threads, unsigned patience)
{
	struct stand *stand = calloc(1, sizeof *stand);
	struct listener_options options = { NULL, 0600, (uid_t)-1, (gid_t)-1 };
	struct fault fault = FAULT_INITIAL;

	ck_assert_ptr_nonnull(stand);
	signal(SIGPIPE, SIG_IGN);
	ck_assert(fastcgi_start());
	stand->patience = patience;
	stand->directory = directory_make();
	snprintf(stand->path, sizeof stand->path, "%s/socket", stand->directory);
	stand->gate.base.driver = &gate_driver;
	pthread_mutex_init(&stand->gate.lock, NULL);
	pthread_cond_init(&stand->gate.changed, NULL);
	stand->service.gate = &stand->gate;
	options.path = stand->path;
	ck_assert_msg(listener_open(&options, &stand->listener, &fault), "%s", fault.cause);
	if (threads > 0)
		stand_start(stand, threads);
	return stand;
}

void stand_stop(struct stand *stand)
{
	edge_close(stand->edge);
	stand->edge = NULL;
}

void stand_close(struct stand *stand)
{
	edge_close(stand->edge);
	listener_close(&stand->listener);
	pthread_cond_destroy(&stand->gate.changed);
	pthread_mutex_destroy(&stand->gate.lock);
	directory_remove(stand->directory);
	free(stand);
}

int stand_connect(const struct stand *stand)
{
	int connection = client_connect(stand->path);

	ck_assert_int_ge(connection, 0);
	return connection;
}

const struct client_request request_get = { "GET", "/echo", NULL, 0, NULL };
const struct client_request request_write = { "POST", "/write", "{}", 2, NULL };

void stand_answers(int connection)
{
	ck_assert(client_ask(connection, &request_get, 200));
}
