/* Requests and responses over a local socket: kept and idle connections, bodies, slow or vanished
 * peers, responses that wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "edge/fastcgi.h"
#include "edge_stand.h"
#include "suite.h"

/* ---- requests and responses ---- */

static const struct exchange_row {
	const char *method;
	const char *uri;
	size_t body; /* bytes */
	const char *length;
	int status;
	const char *head; /* must be part of the response's head */
	const char *start; /* start of the response's body, or NULL */
	size_t size; /* size of the response's body; 0 if not checked */
} exchanges[] = {
	/* clang-format off */
	{ "GET", "/echo", 0, NULL, 200, "\r\nX-Stub: here\r\n", "0 Bearer first 192.0.2.7 an-id 0 ", 0 },
	{ "POST", "/echo", 3, NULL, 200, "", "2 Bearer first 192.0.2.7 an-id 0 bbb", 0 },
	{ "POST", "/echo", 3, "", 200, "", "2 Bearer first 192.0.2.7 an-id 0 bbb", 0 },
	{ "PATCH", "/echo", 0, NULL, 200, "", "3 ", 0 },
	{ "DELETE", "/echo", 0, NULL, 200, "", "4 ", 0 },
	{ "OPTIONS", "/echo", 0, NULL, 200, "", "5 ", 0 },
	{ "BREW", "/echo", 0, NULL, 200, "", "6 ", 0 },
	{ "", "", 0, NULL, 200, "", "6 ", 0 },
	{ "HEAD", "/size/1000", 0, NULL, 200, "\r\nContent-Length: 1000\r\n", "", 0 },
	{ "GET", "/size/0", 0, NULL, 200, "\r\nContent-Length: 0\r\n", "", 0 },
	{ "GET", "/size/8000", 0, NULL, 200, "\r\nContent-Length: 8000\r\n", "xxx", 8000 },
	{ "GET", "/size/3000001", 0, NULL, 200, "\r\nContent-Length: 3000001\r\n", "xxx", 3000001 },
	{ "GET", "/status/204", 0, NULL, 204, "Status: 204 No Content\r\nX-Stub: here\r\n\r\n", "", 0 },
	{ "GET", "/status/304", 0, NULL, 304, "Status: 304 Not Modified\r\nX-Stub: here\r\n\r\n", "", 0 },
	{ "GET", "/status/404", 0, NULL, 404, "Status: 404 Not Found\r\n", "", 0 },
	{ "GET", "/status/410", 0, NULL, 410, "Status: 410 Gone\r\n", "", 0 },
	{ "POST", "/echo", CALL_LARGE_BODY_MOST, NULL, 200, "", "2 Bearer first 192.0.2.7 an-id 0 b", 33 + CALL_LARGE_BODY_MOST },
	{ "POST", "/echo", CALL_LARGE_BODY_MOST, "", 200, "", "2 Bearer first 192.0.2.7 an-id 0 b", 33 + CALL_LARGE_BODY_MOST },
	{ "POST", "/echo", CALL_LARGE_BODY_MOST + 1, NULL, 200, "", "2 Bearer first 192.0.2.7 an-id 1 ", 0 },
	{ "POST", "/echo", CALL_LARGE_BODY_MOST + 1, "", 200, "", "2 Bearer first 192.0.2.7 an-id 1 ", 0 },
	{ "POST", "/echo", 9 * CALL_LARGE_BODY_MOST, NULL, 200, "", "2 Bearer first 192.0.2.7 an-id 1 ", 0 },
	/* clang-format on */
};

/* Sends every row twice, all on one connection. */
START_TEST(one_connection_carries_all_requests)
{
	struct stand *stand = stand_open(2);
	int connection = stand_connect(stand);
	char *body = malloc(9 * CALL_LARGE_BODY_MOST);

	ck_assert_ptr_nonnull(body);
	memset(body, 'b', 9 * CALL_LARGE_BODY_MOST);
	for (size_t i = 0; i < 2 * ROWS(exchanges); i++) {
		const struct exchange_row *row = &exchanges[i / 2];
		struct client_request request = { row->method, row->uri, body, row->body,
						  row->length };
		struct client_answer answer;

		ck_assert(client_send(connection, &request));
		client_receive(connection, &answer);
		ck_assert_msg(answer.is_whole, "row %zu: no complete response", i / 2);
		ck_assert_int_eq(answer.status, row->status);
		ck_assert_ptr_nonnull(strstr(answer.head, row->head));
		ck_assert_msg(strncmp(answer.body, row->start, strlen(row->start)) == 0,
			      "row %zu: %.80s", i / 2, answer.body);
		ck_assert_uint_le(answer.size, 33 + 3000001);
		if (row->size > 0)
			ck_assert_uint_eq(answer.size, row->size);
		if (row->start[0] == '\0')
			ck_assert_uint_eq(answer.size, 0);
		client_forget(&answer);
	}
	free(body);
	close(connection);
	stand_close(stand);
}
END_TEST

/* Head and body share the records, each of which has at most 65,528 bytes. */
START_TEST(records_end_anywhere)
{
	struct stand *stand = stand_open(1);
	int connection = stand_connect(stand);

	for (size_t size = 65528 - 200; size <= 65528; size++) {
		char uri[32];
		struct client_request request = { "GET", uri, NULL, 0, NULL };
		struct client_answer answer;

		(void)snprintf(uri, sizeof uri, "/size/%zu", size);
		ck_assert(client_send(connection, &request));
		client_receive(connection, &answer);
		ck_assert(answer.is_whole);
		ck_assert_uint_eq(answer.size, size);
		client_forget(&answer);
	}
	close(connection);
	stand_close(stand);
}
END_TEST

/* Many more parts than one system call accepts. */
START_TEST(all_parts_arrive_in_order)
{
	struct stand *stand = stand_open(1);
	int connection = stand_connect(stand);
	const struct client_request request = { "GET", "/parts/30000", NULL, 0, NULL };
	struct client_answer answer;
	const char *rest;

	ck_assert(client_send(connection, &request));
	client_receive(connection, &answer);
	ck_assert(answer.is_whole);
	rest = answer.body;
	for (unsigned long i = 0; i < 30000; i++) {
		char *end;

		ck_assert_uint_eq(strtoul(rest, &end, 10), i);
		ck_assert_int_eq(*end, ' ');
		rest = end + 1;
	}
	ck_assert_ptr_eq(rest, answer.body + answer.size);
	client_forget(&answer);
	close(connection);
	stand_close(stand);
}
END_TEST

/* The protocol allows padding after each record, including empty records. */
static const struct client_padding paddings[] = {
	{ .contents = 8 },
	{ .parameters_end = 1 },
	{ .parameters_end = 8 },
	{ .parameters_end = 255 },
	{ .contents = 255, .parameters_end = 255 },
};

/* Repeats on one connection, because the pieces may arrive together or separately. */
START_TEST(padding_is_skipped)
{
	const struct client_request request = { "POST", "/echo", "body", 4, NULL };
	struct stand *stand = stand_open(1);
	int connection = stand_connect(stand);

	for (size_t i = 0; i < 200; i++) {
		struct client_answer answer;

		ck_assert_msg(client_send_padded(connection, &request, &paddings[_i]),
			      "closed before request %zu", i);
		client_receive(connection, &answer);
		ck_assert_msg(answer.is_whole, "no complete response to request %zu", i);
		ck_assert_str_eq(answer.body, "2 Bearer first 192.0.2.7 an-id 0 body");
		client_forget(&answer);
	}
	close(connection);
	stand_close(stand);
}
END_TEST

START_TEST(a_connection_not_to_be_kept_is_closed)
{
	struct stand *stand = stand_open(1);
	int connection = stand_connect(stand);
	struct client_answer answer;

	ck_assert(client_begin(connection, false) && client_parameters(connection, &request_get) &&
		  client_body(connection, NULL, 0));
	client_receive(connection, &answer);
	ck_assert_int_eq(answer.status, 200);
	client_forget(&answer);
	ck_assert(client_is_closed(connection, 1000 * CLIENT_PATIENCE));
	close(connection);
	stand_close(stand);
}
END_TEST

/* Many more connections than threads are open, and only one of them is used. */
START_TEST(idle_connections_cost_nothing)
{
	enum { IDLE = 1000 };
	struct rlimit limit;
	struct stand *stand;
	int idle[IDLE];
	int busy;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	stand = stand_open(2);
	for (size_t i = 0; i < IDLE; i++)
		idle[i] = stand_connect(stand);
	busy = stand_connect(stand);
	for (size_t i = 0; i < 200; i++)
		stand_answers(busy);
	for (size_t i = 0; i < IDLE; i++)
		stand_answers(idle[i]);
	for (size_t i = 0; i < IDLE; i++)
		close(idle[i]);
	stand_answers(busy);
	close(busy);
	stand_close(stand);
}
END_TEST

/* When the process may not open more files, connections wait in the queue and the edge
 * continues. */
START_TEST(connections_beyond_the_limit_wait)
{
	struct stand *stand = stand_open(2);
	const struct rlimit tight = { .rlim_cur = 40, .rlim_max = 40 };
	int connections[40];
	size_t n = 0;
	int waiting;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	while (n < 40 && (connections[n] = open("/dev/null", O_RDONLY)) >= 0)
		n++;
	ck_assert_uint_gt(n, 2);
	close(connections[--n]);
	waiting = stand_connect(stand);
	ck_assert(client_send(waiting, &request_get));
	ck_assert(!client_is_closed(waiting, 300));
	close(connections[--n]);
	{
		struct client_answer answer;

		client_receive(waiting, &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
	}
	while (n > 0)
		close(connections[--n]);
	close(waiting);
	stand_close(stand);
}
END_TEST

static size_t open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory) != NULL)
		n++;
	closedir(directory);
	return n;
}

/* Another process connects, so that its descriptors do not count here. */
static pid_t connect_many(const struct stand *stand, int n, const struct rlimit *limit)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || setrlimit(RLIMIT_NOFILE, limit) != 0)
		_exit(1);
	while (n > 0 && client_connect(stand->path) >= 0)
		n--;
	for (;;)
		(void)pause();
}

/* The store and the accounts file can be opened however many connections there are. */
START_TEST(connections_leave_descriptors_for_files)
{
	enum { LIMIT = 200, HALF = LIMIT / 2, REST = 50 };
	struct rlimit limit, tight;
	struct stand *stand;
	int others[REST];
	pid_t peers;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = (struct rlimit){ .rlim_cur = LIMIT, .rlim_max = limit.rlim_max };
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	stand = stand_open(2);
	peers = connect_many(stand, LIMIT, &limit);
	while (open_files() < HALF)
		(void)poll(NULL, 0, 10);
	for (size_t i = 0; i < REST; i++) {
		others[i] = open("/dev/null", O_RDONLY);
		ck_assert_int_ge(others[i], 0);
	}
	ck_assert_int_eq(kill(peers, SIGKILL), 0);
	ck_assert_int_eq(waitpid(peers, NULL, 0), peers);
	for (size_t i = 0; i < REST; i++)
		close(others[i]);
	{
		int connection = stand_connect(stand);

		stand_answers(connection);
		close(connection);
	}
	stand_close(stand);
}
END_TEST

/* ---- slow or vanished peers ---- */

/* Half requests occupy every worker, but not forever. */
START_TEST(half_a_request_times_out)
{
	enum { THREADS = 2 };
	struct stand *stand = stand_open(THREADS);
	int slow[THREADS];
	int good;

	for (size_t i = 0; i < THREADS; i++) {
		slow[i] = stand_connect(stand);
		ck_assert(client_begin(slow[i], true));
		if (i > 0)
			ck_assert(client_parameters(slow[i], &request_write));
	}
	good = stand_connect(stand);
	stand_answers(good);
	for (size_t i = 0; i < THREADS; i++) {
		ck_assert(client_is_closed(slow[i], 1000 * CLIENT_PATIENCE));
		close(slow[i]);
	}
	ck_assert_uint_eq(atomic_load(&stand->service.calls), 1);
	close(good);
	stand_close(stand);
}
END_TEST

/* What a peer may do instead of sending a request; the service must not notice any of it. */
enum misdeed {
	SAYS_NOTHING,
	LEAVES_AFTER_BEGIN,
	LEAVES_IN_BODY,
	ABORTS,
	SENDS_LESS_THAN_SAID,
	SENDS_MORE_THAN_SAID,
	SAYS_BAD_LENGTH,
	SPEAKS_HTTP,
	IS_A_FILTER,
	MISDEEDS
};

static void misbehave(int connection, enum misdeed misdeed)
{
	struct client_request request = request_write;
	const unsigned char filter[8] = { 0, 3, 1 };

	switch (misdeed) {
	case SAYS_NOTHING:
		break;
	case LEAVES_AFTER_BEGIN:
		client_begin(connection, true);
		break;
	case LEAVES_IN_BODY:
		client_begin(connection, true);
		client_parameters(connection, &request);
		client_record(connection, RECORD_STDIN, "{}", 2);
		break;
	case ABORTS:
		client_begin(connection, true);
		client_parameters(connection, &request);
		client_record(connection, RECORD_ABORT, NULL, 0);
		break;
	case SENDS_LESS_THAN_SAID:
		request.length = "3";
		client_send(connection, &request);
		break;
	case SENDS_MORE_THAN_SAID:
		request.length = "1";
		client_send(connection, &request);
		break;
	case SAYS_BAD_LENGTH:
		request.length = "-2";
		client_send(connection, &request);
		break;
	case SPEAKS_HTTP:
		ck_assert_int_gt(send(connection, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 0);
		break;
	case IS_A_FILTER:
		client_record(connection, RECORD_BEGIN, filter, sizeof filter);
		client_parameters(connection, &request);
		client_body(connection, "{}", 2);
		break;
	case MISDEEDS:
		break;
	}
}

START_TEST(malformed_requests_are_not_served)
{
	struct stand *stand = stand_open(1);
	int good = stand_connect(stand);

	for (unsigned n = 0; n < 3; n++) {
		int bad = stand_connect(stand);

		misbehave(bad, (enum misdeed)_i);
		shutdown(bad, SHUT_WR);
		ck_assert(client_is_closed(bad, 1000 * CLIENT_PATIENCE));
		close(bad);
		stand_answers(good);
		ck_assert_uint_eq(atomic_load(&stand->service.calls), n + 1);
	}
	close(good);
	stand_close(stand);
}
END_TEST

/* The request was complete, but its sender does not wait for the response, whether it is small or
 * large, immediate or parked. */
START_TEST(a_vanished_peer_is_no_error)
{
	static const char *const uris[] = { "/echo", "/size/3000000", "/write" };
	struct stand *stand = stand_open(2);
	int good = stand_connect(stand);

	for (size_t i = 0; i < 60; i++) {
		struct client_request request = { "POST", uris[i % 3], "{}", 2, NULL };
		int bad = stand_connect(stand);

		ck_assert(client_send(bad, &request));
		close(bad);
		stand_answers(good);
	}
	close(good);
	stand_close(stand);
}
END_TEST

/* ---- responses that wait ---- */

/* Sets `order` to one of all permutations of four numbers. */
static void order_of(int which, int order[4])
{
	int left[4] = { 1, 2, 3, 4 };

	for (int n = 4; n > 0; which /= n, n--) {
		int at = which % n;

		order[4 - n] = left[at];
		memmove(&left[at], &left[at + 1], (size_t)(n - at - 1) * sizeof left[0]);
	}
}

/* Parks four responses in some order and makes them durable together or one by one, all or only
 * some with success. */
static void park_in_order(struct stand *stand, const int order[4])
{
	int connections[4];
	struct client_answer answer;

	gate_shut(&stand->gate, true);
	for (size_t i = 0; i < 4; i++) {
		char uri[24];
		struct client_request request = { "POST", uri, NULL, 0, NULL };

		snprintf(uri, sizeof uri, "/number/%d", order[i]);
		connections[i] = stand_connect(stand);
		ck_assert(client_send(connections[i], &request));
	}
	gate_await_flush(&stand->gate);
	gate_shut(&stand->gate, false);
	for (size_t i = 0; i < 4; i++) {
		bool has_failed = stand->gate.fails_from != 0 &&
				  (uint64_t)order[i] >= stand->gate.fails_from;

		client_receive(connections[i], &answer);
		ck_assert(answer.is_whole);
		ck_assert_int_eq(answer.status, has_failed ? 503 : 200);
		client_forget(&answer);
		close(connections[i]);
	}
}

START_TEST(parked_answers_complete_in_any_order)
{
	int order[4];

	order_of(_i, order);
	for (unsigned variant = 0; variant < 4; variant++) {
		struct stand *stand = stand_open(2);

		stand->gate.committed = 4;
		stand->gate.step = variant % 2;
		stand->gate.fails_from = variant / 2 == 0 ? 0 : 3;
		park_in_order(stand, order);
		stand_close(stand);
	}
}
END_TEST

/* One worker is stopped at the gate; the other serves readers and parks writers. */
START_TEST(reads_continue_while_the_disk_is_busy)
{
	enum { WRITERS = 20 };
	struct stand *stand = stand_open(2);
	int reader = stand_connect(stand);
	int writers[WRITERS];
	struct client_answer answer;

	gate_shut(&stand->gate, true);
	for (size_t i = 0; i < WRITERS; i++) {
		writers[i] = stand_connect(stand);
		ck_assert(client_send(writers[i], &request_write));
		stand_answers(reader);
	}
	for (size_t i = 0; i < WRITERS; i++)
		ck_assert(!client_is_closed(writers[i], 0));
	gate_shut(&stand->gate, false);
	for (size_t i = 0; i < WRITERS; i++) {
		client_receive(writers[i], &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
		close(writers[i]);
	}
	ck_assert_uint_le(stand->gate.flushes, WRITERS);
	close(reader);
	stand_close(stand);
}
END_TEST

/* A response so large that sending it must wait for the peer does not delay other requests. */
START_TEST(a_slow_reader_delays_no_one_else)
{
	const struct client_request large = { "GET", "/size/3000000", NULL, 0, NULL };
	struct stand *stand = stand_open(2);
	int slow = stand_connect(stand);
	int good = stand_connect(stand);
	struct client_answer answer;

	ck_assert(client_send(slow, &large));
	for (size_t i = 0; i < 50; i++)
		ck_assert(client_ask(good, &request_write, 200));
	client_receive(slow, &answer);
	ck_assert_uint_eq(answer.size, 3000000);
	client_forget(&answer);
	close(slow);
	close(good);
	stand_close(stand);
}
END_TEST

/* The same for a writer's response: the thread that flushed must send it while others wait for the
 * next flush. */
START_TEST(a_slow_writer_delays_no_flush)
{
	const struct client_request large = { "POST", "/write/3000000", NULL, 0, NULL };
	struct stand *stand = stand_open(2);
	int slow = stand_connect(stand), good = stand_connect(stand), reader = stand_connect(stand);
	struct client_answer answer;

	gate_shut(&stand->gate, true);
	ck_assert(client_send(slow, &large));
	gate_await_flush(&stand->gate);
	ck_assert(client_send(good, &request_write));
	stand_answers(reader);
	gate_shut(&stand->gate, false);
	client_receive(good, &answer);
	ck_assert_int_eq(answer.status, 200);
	client_forget(&answer);
	client_receive(slow, &answer);
	ck_assert_uint_eq(answer.size, 3000000);
	client_forget(&answer);
	close(slow);
	close(good);
	close(reader);
	stand_close(stand);
}
END_TEST

static const struct client_request request_costly = { "GET", "/costly", NULL, 0, NULL };
static const struct client_request requests_alone[] = {
	{ "GET", "/alone", NULL, 0, NULL },
	{ "GET", "/serial", NULL, 0, NULL },
};

/* Any number of deferred calls leaves the only worker free; their responses need no flush. */
START_TEST(deferred_calls_leave_the_workers_free)
{
	enum { CALLS = 5 };
	struct stand *stand = stand_open(1);
	int reader = stand_connect(stand);
	int costly[CALLS];
	struct client_answer answer;

	gate_shut(&stand->gate, true);
	for (size_t i = 0; i < CALLS; i++) {
		costly[i] = stand_connect(stand);
		ck_assert(client_send(costly[i], &request_costly));
		stand_answers(reader);
	}
	gate_shut(&stand->gate, false);
	for (size_t i = 0; i < CALLS; i++) {
		client_receive(costly[i], &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
		stand_answers(costly[i]);
		close(costly[i]);
	}
	ck_assert_uint_eq(stand->gate.flushes, 0);
	close(reader);
	stand_close(stand);
}
END_TEST

/* Other deferred calls go on meanwhile. */
START_TEST(calls_that_must_be_alone_run_one_at_a_time)
{
	enum { CALLS = 5 };
	const struct client_request at_once = { "GET", "/costly/now", NULL, 0, NULL };
	struct stand *stand = stand_open(8);
	int other = stand_connect(stand);
	int alone[CALLS];
	struct client_answer answer;

	gate_shut(&stand->gate, true);
	for (size_t i = 0; i < CALLS; i++) {
		alone[i] = stand_connect(stand);
		ck_assert(client_send(alone[i], &requests_alone[_i]));
		ck_assert(client_ask(other, &at_once, 200));
	}
	gate_shut(&stand->gate, false);
	for (size_t i = 0; i < CALLS; i++) {
		client_receive(alone[i], &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
		close(alone[i]);
	}
	ck_assert_uint_eq(stand->service.alone_most, 1);
	close(other);
	stand_close(stand);
}
END_TEST

START_TEST(only_large_responses_and_slow_peers_may_wait)
{
	static char bytes[4096];
	struct exchange *exchange = fastcgi_open();
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	exchange->connection = pair[0];
	exchange->call.answer.size = 3000;
	ck_assert(!fastcgi_may_wait(exchange));
	exchange->call.answer.size = 100000;
	ck_assert(fastcgi_may_wait(exchange));
	exchange->call.answer.size = 3000;
	while (send(pair[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		continue;
	ck_assert(fastcgi_may_wait(exchange));
	while (recv(pair[1], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		continue;
	ck_assert(!fastcgi_may_wait(exchange));
	exchange->connection = -1;
	fastcgi_close(exchange);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

struct writer {
	const char *path;
	unsigned requests;
	unsigned good;
	pthread_t thread;
};

static void *write_often(void *argument)
{
	struct writer *writer = argument;
	int connection = client_connect(writer->path);

	while (writer->requests-- > 0 && client_ask(connection, &request_write, 200))
		writer->good++;
	close(connection);
	return NULL;
}

/* If a single wake-up were lost, its writer would wait forever. */
START_TEST(no_writer_is_forgotten)
{
	enum { WRITERS = 8, REQUESTS = 1500 };
	static const unsigned threads[] = { 1, 2, 8 };
	struct writer writers[WRITERS];
	struct stand *stand = stand_open(threads[_i]);

	for (size_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .path = stand->path, .requests = REQUESTS };
		ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_often, &writers[i]),
				 0);
	}
	for (size_t i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		ck_assert_uint_eq(writers[i].good, REQUESTS);
	}
	ck_assert_uint_eq(stand->gate.durable, WRITERS * REQUESTS);
	stand_close(stand);
}
END_TEST

/* ---- the suite ---- */

static TCase *requests_case(void)
{
	TCase *tcase = tcase_create("requests");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, one_connection_carries_all_requests);
	tcase_add_test(tcase, records_end_anywhere);
	tcase_add_test(tcase, all_parts_arrive_in_order);
	tcase_add_loop_test(tcase, padding_is_skipped, 0, ROWS(paddings));
	tcase_add_test(tcase, a_connection_not_to_be_kept_is_closed);
	tcase_add_test(tcase, idle_connections_cost_nothing);
	tcase_add_test(tcase, connections_beyond_the_limit_wait);
	tcase_add_test(tcase, connections_leave_descriptors_for_files);
	tcase_add_test(tcase, half_a_request_times_out);
	tcase_add_loop_test(tcase, malformed_requests_are_not_served, 0, MISDEEDS);
	tcase_add_test(tcase, a_vanished_peer_is_no_error);
	return tcase;
}

static TCase *waiting_case(void)
{
	TCase *tcase = tcase_create("waiting");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, parked_answers_complete_in_any_order, 0, 24);
	tcase_add_test(tcase, reads_continue_while_the_disk_is_busy);
	tcase_add_test(tcase, a_slow_reader_delays_no_one_else);
	tcase_add_test(tcase, a_slow_writer_delays_no_flush);
	tcase_add_test(tcase, deferred_calls_leave_the_workers_free);
	tcase_add_loop_test(tcase, calls_that_must_be_alone_run_one_at_a_time, 0,
			    ROWS(requests_alone));
	tcase_add_test(tcase, only_large_responses_and_slow_peers_may_wait);
	tcase_add_loop_test(tcase, no_writer_is_forgotten, 0, 3);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("edge");

	suite_add_tcase(suite, requests_case());
	suite_add_tcase(suite, waiting_case());
	return suite_run_apart(suite);
}
