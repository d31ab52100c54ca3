/* One epoll set and a few workers. A connection is either idle in the set (armed for one event) or
 * used by the exchange that carries its request. libfcgi closes connections by itself, so an open
 * connection is known here only by its descriptor. `open` counts the uses of each descriptor,
 * because the kernel may reuse a descriptor before the worker that closed it has counted down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/edge.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/id.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/asking.h"
#include "service/metrics.h"
#include "edge/deferred.h"
#include "edge/fastcgi.h"
#include "edge/parked.h"

/* Seconds without progress after which a peer is dropped. */
#define RECEIVE_SECONDS 5
#define SEND_SECONDS 10

/* The size of the send buffer; the kernel limits it (net.core.wmem_max) and counts its overhead. A
 * list of 100 fits, so that no worker waits while nginx reads it. */
#define SEND_BUFFER (1 << 20)

/* Milliseconds from the signal until idle connections are closed, and from then on between two
 * checks for peers that do not read their answers. */
#define STOP_IDLE 900
#define STOP_CHECK 60

/* After a failed accept: milliseconds until the next attempt, and until the next log line. */
#define ACCEPT_PAUSE 100
#define ACCEPT_LOG_INTERVAL 10000

/* Descriptors from this number on are not used for connections. */
#define CONNECTIONS_MOST 65536
/* This many descriptors are reserved for the store and the accounts file, or half of all if there
 * are few. */
#define DESCRIPTORS_KEPT 256

/* Unused exchanges that are kept. Each takes about 64 KB. */
#define POOL_MOST 64

#define CODE_SIZE (CODE_TEXT_SIZE - 1)
#define CODE_OLD_SIZE (CODE_OLD_TEXT_SIZE - 1)

/* Unused exchanges. There is one exchange per request in progress, including parked ones, so a
 * burst creates many; only some are kept. A list, last in, first out, so that the exchange used
 * last is still in the processor's cache. Any thread. */
struct pool {
	pthread_mutex_t lock;
	struct exchange *first;
	size_t count;
};

/* What a connection does. */
enum stage {
	STAGE_RECEIVING, /* or nothing */
	STAGE_ANSWERING, /* its request has arrived */
	STAGE_SENDING,
	STAGE_SENDING_LONG, /* during shutdown: it was already sending at the last check */
};

struct edge {
	struct edge_options options;
	struct deferred *deferred;
	struct parked *parked;
	int epoll;
	int timer; /* rearms the listener */
	int end; /* becomes readable, permanently, when the workers must end */
	int emptied; /* becomes readable when the last connection ends during shutdown */
	atomic_bool is_stopping;
	atomic_int connections; /* open, or about to be accepted */
	atomic_uchar *open; /* uses of each descriptor */
	atomic_uchar *stages; /* enum stage of each descriptor */
	size_t open_size;
	int connections_most;
	atomic_llong logged_at; /* time of the last log line about accept */
	struct pool pool;
	pthread_t *workers;
	unsigned worker_count;
};

/* ---- unused exchanges ---- */

static struct exchange *pool_take_kept(struct pool *pool)
{
	struct exchange *exchange = pool->first;

	if (exchange != NULL) {
		pool->first = exchange->next;
		COUNTER_LOWER(pool->count, 1u);
	}
	return exchange;
}

/* Never returns NULL. The caller owns the exchange until pool_give or fastcgi_close. */
static struct exchange *pool_take(struct pool *pool)
{
	struct exchange *exchange;

	pthread_mutex_lock(&pool->lock);
	exchange = pool_take_kept(pool);
	pthread_mutex_unlock(&pool->lock);
	return exchange != NULL ? exchange : fastcgi_open();
}

static void pool_give(struct pool *pool, struct exchange *exchange)
{
	bool is_kept;

	pthread_mutex_lock(&pool->lock);
	is_kept = pool->count < POOL_MOST;
	if (is_kept) {
		exchange->next = pool->first;
		pool->first = exchange;
		pool->count++;
	}
	pthread_mutex_unlock(&pool->lock);
	if (!is_kept)
		fastcgi_close(exchange);
}

/* ---- epoll ---- */

static bool watch_descriptor(struct edge *edge, int operation, int descriptor, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = descriptor };

	return epoll_ctl(edge->epoll, operation, descriptor, &event) == 0;
}

/* Has no effect once the listener is removed from the set, which is intended. */
static void arm_listener(struct edge *edge)
{
	(void)watch_descriptor(edge, EPOLL_CTL_MOD, edge->options.listener->descriptor,
			       EPOLLIN | EPOLLONESHOT);
}

static void count_down(struct edge *edge)
{
	if (atomic_fetch_sub(&edge->connections, 1) == 1 && atomic_load(&edge->is_stopping) &&
	    eventfd_write(edge->emptied, 1) != 0)
		ABORT("cannot write an event");
}

/* Counts down for a connection that libfcgi has closed. */
static void remove_connection(struct edge *edge, int connection)
{
	atomic_fetch_sub(&edge->open[connection], 1);
	count_down(edge);
}

/* ---- accepting ---- */

/* Connections are blocking, with timeouts, because libfcgi needs that. */
static bool take_connection(struct edge *edge, int connection)
{
	const unsigned patience = edge->options.patience;
	const struct timeval receive = { .tv_sec = patience != 0 ? patience : RECEIVE_SECONDS };
	const struct timeval send = { .tv_sec = patience != 0 ? patience : SEND_SECONDS };
	const int buffer = SEND_BUFFER;

	if ((size_t)connection >= edge->open_size) {
		errno = EMFILE;
		return false;
	}
	if (setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof receive) != 0 ||
	    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof send) != 0 ||
	    setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) != 0)
		return false;
	atomic_store(&edge->stages[connection], STAGE_RECEIVING);
	atomic_fetch_add(&edge->open[connection], 1);
	if (watch_descriptor(edge, EPOLL_CTL_ADD, connection, EPOLLIN | EPOLLONESHOT))
		return true;
	atomic_fetch_sub(&edge->open[connection], 1);
	return false;
}

/* The connection is counted first, so that the count is never zero while one is being accepted
 * during shutdown. Returns 0 or an errno. */
static int accept_one(struct edge *edge)
{
	struct listener *listener = edge->options.listener;
	int connection = -1;
	int error = 0;

	if (atomic_fetch_add(&edge->connections, 1) >= edge->connections_most) {
		error = EMFILE;
	} else if (!atomic_load(&edge->is_stopping) || listener->is_ours) {
		connection = accept4(listener->descriptor, NULL, NULL, SOCK_CLOEXEC);
		if (connection >= 0 && take_connection(edge, connection))
			return 0;
		error = errno;
	}
	if (connection >= 0)
		close(connection);
	count_down(edge);
	return error;
}

/* After a failure that lasts, accepting pauses. */
static void accept_next(struct edge *edge)
{
	const struct itimerspec pause = { .it_value.tv_nsec = ACCEPT_PAUSE * 1000000L };
	const int error = accept_one(edge);
	long long now, logged_at;

	if (error == 0 || error == EAGAIN || error == EINTR || error == ECONNABORTED ||
	    atomic_load(&edge->is_stopping)) {
		arm_listener(edge);
		return;
	}
	now = clock_monotonic();
	logged_at = atomic_load(&edge->logged_at);
	if ((logged_at == 0 || now - logged_at >= ACCEPT_LOG_INTERVAL) &&
	    atomic_compare_exchange_strong(&edge->logged_at, &logged_at, now))
		log_event(LOG_LEVEL_ERROR, "accept", "error", strerror(error), "connections",
			  LOG_NUMBER(atomic_load(&edge->connections)), "consequence",
			  error == EMFILE || error == ENFILE
				  ? "new connections wait until others close; raise the limit of "
				    "open files"
				  : "new connections wait a moment",
			  NULL);
	if (timerfd_settime(edge->timer, 0, &pause, NULL) != 0)
		ABORT("cannot set a timer");
}

/* ---- the access log ---- */

/* Returns the first `size` bytes of the decoded path, or fewer if it ends before. */
static struct slice decoded_start(struct slice path, char *bytes, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; n < size && i < path.size; i++) {
		int high = path.size - i < 3 ? -1 : text_hex_value(path.data[i + 1]);
		int low = path.size - i < 3 ? -1 : text_hex_value(path.data[i + 2]);

		bytes[n] = path.data[i];
		if (path.data[i] == '%' && high >= 0 && low >= 0) {
			bytes[n] = (char)(high * 16 + low);
			i += 2;
		}
		n++;
	}
	return (struct slice){ bytes, n };
}

/* Returns the size of the path before a room code, a token, or a segment that should be a code or a
 * ticket. A mistyped address may contain codes and tokens anywhere, and empty segments. */
static size_t size_before_secret(struct slice path)
{
	const struct slice before_code[] = {
		SLICE("/room-codes/code/"),
		SLICE("/join/"),
		SLICE("/livekit/"),
		SLICE("/tickets/"),
	};

	/* Moderators name a ticket by its ID. */
	if (slice_begins(path, SLICE("/v2/active-rooms/")))
		return path.size;
	for (size_t i = 0; i < path.size; i++) {
		const struct slice rest = { path.data + i, path.size - i };
		char bytes[CODE_SIZE];
		const struct slice start = decoded_start(rest, bytes, sizeof bytes);

		for (size_t k = 0; k < sizeof before_code / sizeof before_code[0]; k++)
			if (rest.size > before_code[k].size && slice_begins(rest, before_code[k]))
				return i + before_code[k].size;
		/* Tokens begin with {" in base64url. */
		if (code_is_well_formed(start) ||
		    code_is_well_formed(text_first(start, CODE_OLD_SIZE)) ||
		    (start.size >= 3 && memcmp(bytes, "eyJ", 3) == 0))
			return i;
	}
	return path.size;
}

/* Logs a request: method, path, status and so on. Called just before the answer is sent; the
 * duration is from arrival to now. The path is cut at the '?', and before the first room code or
 * token in it, percent-encoded or not, because a room code is enough to join. */
static void access_log(const struct call *call)
{
	struct slice query, path = text_split(call->request.uri, '?', &query);

	path.size = size_before_secret(path);
	log_event(LOG_LEVEL_INFO, "request", "method", method_name(call->request.method), "path",
		  arena_copy(call->arena, path).data, "status", LOG_NUMBER(call->answer.status),
		  "bytes", LOG_NUMBER(call->answer.size), "milliseconds",
		  LOG_NUMBER((clock_microseconds() - call->started) / 1000), "request_id",
		  call->id[0] != '\0' ? call->id : NULL, "account",
		  call->account_text[0] != '\0' ? call->account_text : NULL, NULL);
}

/* ---- requests ---- */

/* Sends an answer whose transaction (answer.awaited) is durable or has failed. */
static void deliver(struct edge *edge, struct exchange *exchange)
{
	struct call *call = &exchange->call;
	int connection = exchange->connection;

	edge->options.settle(call, store_state(edge->options.store, call->answer.awaited));
	metrics_count(edge->options.metrics, call, clock_microseconds() - call->started);
	if (edge->options.logs_access)
		access_log(call);
	atomic_store(&edge->stages[connection], STAGE_SENDING);
	if (!fastcgi_send(exchange, !atomic_load(&edge->is_stopping))) {
		remove_connection(edge, connection);
		return;
	}
	atomic_store(&edge->stages[connection], STAGE_RECEIVING);
	if (!watch_descriptor(edge, EPOLL_CTL_MOD, connection, EPOLLIN | EPOLLONESHOT))
		ABORT("cannot watch a connection");
}

/* A media server was asked for a call. Called by the thread that asks. */
static void came_back(void *context, struct asking *asking)
{
	struct exchange *exchange = context;
	struct edge *edge = exchange->edge;

	(void)asking;
	if (parked_add(edge->parked, exchange))
		parked_pass_on(edge->parked);
}

/* Lets a media server be asked for a call; the caller no longer owns the exchange. */
static void ask(struct edge *edge, struct exchange *exchange)
{
	exchange->edge = edge;
	edge->options.ask(&exchange->call, came_back, exchange);
}

/* Goes on with a parked call that asks a media server: what it wrote is durable, or the server has
 * been asked. Returns false if its answer is complete and can be sent. */
static bool go_on(struct edge *edge, struct exchange *exchange, bool *is_flusher)
{
	struct call *call = &exchange->call;

	if (call->asking == NULL)
		return false;
	/* Not if what it wrote is lost. */
	if (call_is_asking(call) &&
	    store_state(edge->options.store, call->answer.awaited) == STORE_DURABLE) {
		ask(edge, exchange);
		return true;
	}
	if (call_is_asking(call))
		return false;
	/* It may take as long as any request. */
	if (*is_flusher)
		parked_pass_on(edge->parked);
	*is_flusher = false;
	(void)edge->options.answer(edge->options.service, call);
	if (store_state(edge->options.store, call->answer.awaited) == STORE_PENDING)
		*is_flusher = parked_add(edge->parked, exchange);
	else if (call_is_asking(call))
		ask(edge, exchange);
	else
		return false;
	return true;
}

/* Flushes until nothing is parked, or until a slow peer may block it; then another worker takes
 * over. */
static void flush_parked(struct edge *edge)
{
	bool is_flusher = true;

	while (is_flusher) {
		struct exchange *ready = parked_flush(edge->parked, &is_flusher);

		while (ready != NULL) {
			struct exchange *exchange = ready;

			ready = exchange->next;
			if (go_on(edge, exchange, &is_flusher))
				continue;
			if (is_flusher && fastcgi_may_wait(exchange)) {
				parked_pass_on(edge->parked);
				is_flusher = false;
			}
			deliver(edge, exchange);
			pool_give(&edge->pool, exchange);
		}
	}
}

/* The state of a worker. */
struct work {
	struct exchange *exchange; /* for the next request; may be NULL */
	bool owes_flush; /* the result of parked_add */
};

/* Answers a request in a thread for deferred requests; a worker sends the answer. */
static void answer_deferred(void *context, struct exchange *exchange)
{
	struct edge *edge = context;

	(void)edge->options.answer(edge->options.service, &exchange->call);
	if (parked_add(edge->parked, exchange))
		parked_pass_on(edge->parked);
}

/* Handles one request. The worker keeps the exchange unless the request or its answer has to
 * wait. */
static void serve(struct edge *edge, int connection, struct work *work)
{
	struct exchange *exchange;

	if (work->exchange == NULL)
		work->exchange = pool_take(&edge->pool);
	exchange = work->exchange;
	if (!fastcgi_receive(exchange, connection)) {
		remove_connection(edge, connection);
		return;
	}
	atomic_store(&edge->stages[connection], STAGE_ANSWERING);
	exchange->call.may_be_deferred = true;
	/* If there is no answer yet, a thread for deferred requests answers it. */
	if (!edge->options.answer(edge->options.service, &exchange->call)) {
		work->exchange = NULL;
		deferred_add(edge->deferred, exchange);
	} else if (store_state(edge->options.store, exchange->call.answer.awaited) ==
		   STORE_PENDING) {
		work->exchange = NULL;
		work->owes_flush = parked_add(edge->parked, exchange);
	} else if (call_is_asking(&exchange->call)) {
		work->exchange = NULL;
		ask(edge, exchange);
	} else {
		deliver(edge, exchange);
	}
}

static void *run_worker(void *argument)
{
	struct edge *edge = argument;
	struct work work = { NULL, false };
	struct epoll_event event;
	int ready;

	for (;;) {
		ready = epoll_wait(edge->epoll, &event, 1, work.owes_flush ? 0 : -1) == 1
				? event.data.fd
				: -1;
		if (ready == edge->end)
			break;
		/* Requests that are ready come first, because they may write, too. If there are
		 * none, `ready` is -1: a worker that owes a flush does not wait for events. */
		if (work.owes_flush && ready >= 0)
			parked_pass_on(edge->parked);
		else if (work.owes_flush)
			flush_parked(edge);
		work.owes_flush = false;
		if (ready == edge->options.listener->descriptor)
			accept_next(edge);
		else if (ready == edge->timer)
			arm_listener(edge);
		else if (ready == parked_descriptor(edge->parked))
			flush_parked(edge);
		else if (ready >= 0)
			serve(edge, ready, &work);
	}
	fastcgi_close(work.exchange);
	return NULL;
}

/* ---- opening ---- */

unsigned edge_default_threads(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 2 ? (unsigned)cores * 2 : 4;
}

unsigned edge_deferring_threads(unsigned threads)
{
	return (threads + 3) / 4 + 1;
}

/* Allocates the tables, sized by the limit of open files. */
static bool make_table(struct edge *edge)
{
	struct rlimit limit;
	size_t kept;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	edge->open_size = limit.rlim_cur < CONNECTIONS_MOST ? limit.rlim_cur : CONNECTIONS_MOST;
	kept = edge->open_size < 2 * DESCRIPTORS_KEPT ? edge->open_size / 2 : DESCRIPTORS_KEPT;
	edge->connections_most = (int)(edge->open_size - kept);
	edge->open = calloc(edge->open_size, sizeof *edge->open);
	edge->stages = calloc(edge->open_size, sizeof *edge->stages);
	return edge->open != NULL && edge->stages != NULL;
}

static bool make_set(struct edge *edge)
{
	edge->epoll = epoll_create1(EPOLL_CLOEXEC);
	edge->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	edge->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	edge->emptied = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	edge->parked = parked_open(edge->options.store);
	return edge->epoll >= 0 && edge->timer >= 0 && edge->end >= 0 && edge->emptied >= 0 &&
	       edge->parked != NULL && watch_descriptor(edge, EPOLL_CTL_ADD, edge->end, EPOLLIN) &&
	       watch_descriptor(edge, EPOLL_CTL_ADD, edge->timer, EPOLLIN | EPOLLET) &&
	       watch_descriptor(edge, EPOLL_CTL_ADD, parked_descriptor(edge->parked),
				EPOLLIN | EPOLLET) &&
	       watch_descriptor(edge, EPOLL_CTL_ADD, edge->options.listener->descriptor,
				EPOLLIN | EPOLLONESHOT);
}

static bool start_workers(struct edge *edge)
{
	edge->workers = calloc(edge->options.threads, sizeof *edge->workers);
	if (edge->workers == NULL)
		return false;
	while (edge->worker_count < edge->options.threads) {
		int error = pthread_create(&edge->workers[edge->worker_count], NULL, run_worker,
					   edge);

		if (error != 0) {
			errno = error;
			return false;
		}
		edge->worker_count++;
	}
	return true;
}

bool edge_open(const struct edge_options *options, struct edge **opened, struct fault *fault)
{
	struct edge *edge = memory_check(calloc(1, sizeof *edge));

	assert(options->threads > 0);
	edge->options = *options;
	edge->epoll = edge->timer = edge->end = edge->emptied = -1;
	pthread_mutex_init(&edge->pool.lock, NULL);
	edge->deferred = deferred_open(edge_deferring_threads(options->threads), answer_deferred,
				       edge);
	if (edge->deferred != NULL && make_table(edge) && make_set(edge) && start_workers(edge)) {
		*opened = edge;
		return true;
	}
	fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot start the workers");
	edge_close(edge);
	return false;
}

/* ---- closing ---- */

/* deadline: a time of clock_monotonic. */
static bool wait_until_empty(struct edge *edge, int64_t deadline)
{
	while (atomic_load(&edge->connections) > 0) {
		struct pollfd wait = { .fd = edge->emptied, .events = POLLIN };
		int64_t rest = deadline - clock_monotonic();
		eventfd_t ignored;

		if (rest <= 0)
			return false;
		(void)poll(&wait, 1, (int)rest);
		(void)eventfd_read(edge->emptied, &ignored);
	}
	return true;
}

/* Cuts the connections that were already sending at the last check: their peers do not read. */
static void cut_slow_peers(struct edge *edge)
{
	for (size_t i = 0; i < edge->open_size; i++) {
		unsigned char stage = STAGE_SENDING;

		if (atomic_load(&edge->open[i]) > 0 &&
		    !atomic_compare_exchange_strong(&edge->stages[i], &stage, STAGE_SENDING_LONG) &&
		    stage == STAGE_SENDING_LONG)
			(void)shutdown((int)i, SHUT_RDWR);
	}
}

static void stop_edge(struct edge *edge)
{
	int64_t start = clock_monotonic();
	int error = 0;

	atomic_store(&edge->is_stopping, true);
	/* Connections queued on a socket of our own are accepted after it is withdrawn. */
	if (listener_withdraw(edge->options.listener))
		while (error == 0 || error == EINTR || error == ECONNABORTED)
			error = accept_one(edge);
	(void)epoll_ctl(edge->epoll, EPOLL_CTL_DEL, edge->options.listener->descriptor, NULL);
	if (!wait_until_empty(edge, start + STOP_IDLE)) {
		/* Makes each connection readable, so that workers notice its end, or a request that
		 * arrived before. A descriptor that was closed and reused in the meantime is not a
		 * connection of ours, because the listener is gone. At worst it is a new connection
		 * of the store to its database, which then finds it broken and handles that. */
		for (size_t i = 0; i < edge->open_size; i++)
			if (atomic_load(&edge->open[i]) > 0)
				(void)shutdown((int)i, SHUT_RD);
		do {
			cut_slow_peers(edge);
		} while (!wait_until_empty(edge, clock_monotonic() + STOP_CHECK));
	}
	if (eventfd_write(edge->end, 1) != 0)
		ABORT("cannot write an event");
	for (unsigned i = 0; i < edge->worker_count; i++)
		pthread_join(edge->workers[i], NULL);
}

static void close_if_open(int descriptor)
{
	if (descriptor >= 0)
		close(descriptor);
}

void edge_close(struct edge *edge)
{
	if (edge == NULL)
		return;
	if (edge->worker_count > 0)
		stop_edge(edge);
	deferred_close(edge->deferred);
	while (edge->pool.first != NULL)
		fastcgi_close(pool_take_kept(&edge->pool));
	pthread_mutex_destroy(&edge->pool.lock);
	parked_close(edge->parked);
	close_if_open(edge->emptied);
	close_if_open(edge->end);
	close_if_open(edge->timer);
	close_if_open(edge->epoll);
	free(edge->workers);
	free(edge->open);
	free(edge->stages);
	free(edge);
}
