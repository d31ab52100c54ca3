/* How the edge stops, with requests at every stage; handing over to another process under load;
 * where the listening socket comes from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "edge_stand.h"
#include "suite.h"

/* ---- stopping ---- */

/* Stopping must not wait for peers. The peers here have this many seconds, much longer than Check
 * lets a test run: a test in which stopping waits for a peer fails, however busy the machine is. */
#define PATIENT 3600

/* Milliseconds after the signal for which idle connections are kept. */
#define STOP_IDLE 900

static void *stop_in_thread(void *stand)
{
	stand_stop(stand);
	return NULL;
}

/* Some requests are with a worker, some deferred, some parked, some accepted, some still in the
 * queue. */
START_TEST(requests_that_have_arrived_are_answered)
{
	enum { REQUESTS = 60 };
	const struct client_request costly = { "GET", "/costly/now", NULL, 0, NULL };
	struct stand *stand = stand_open_patient(2, PATIENT);
	int connections[REQUESTS];
	struct client_answer answer;

	for (size_t i = 0; i < REQUESTS; i++) {
		connections[i] = stand_connect(stand);
		ck_assert(client_send(connections[i], i % 3 == 0 ? &costly : &request_write));
	}
	stand_stop(stand);
	for (size_t i = 0; i < REQUESTS; i++) {
		client_receive(connections[i], &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
		ck_assert(client_is_closed(connections[i], 1000 * CLIENT_PATIENCE));
		close(connections[i]);
	}
	ck_assert_int_lt(client_connect(stand->path), 0);
	ck_assert_int_ne(access(stand->path, F_OK), 0);
	stand_close(stand);
}
END_TEST

/* A web server may send a request on a kept connection at any time until it notices that the
 * connection is closed. */
START_TEST(idle_connections_are_served_while_stopping)
{
	enum { IDLE = 10 };
	struct stand *stand = stand_open_patient(2, PATIENT);
	int idle[IDLE];
	int busy = stand_connect(stand);
	int64_t began;
	pthread_t closer;

	for (size_t i = 0; i < IDLE; i++)
		stand_answers(idle[i] = stand_connect(stand));
	began = clock_monotonic();
	ck_assert_int_eq(pthread_create(&closer, NULL, stop_in_thread, stand), 0);
	do {
		stand_answers(busy);
	} while (!client_is_closed(busy, 1));
	/* If a request was not served, the connection was closed, and not too early. */
	for (size_t i = 0; i < IDLE / 2; i++) {
		if (client_is_closed(idle[i], 0) || !client_ask(idle[i], &request_write, 200))
			ck_assert_int_ge(clock_monotonic() - began, STOP_IDLE);
		ck_assert(client_is_closed(idle[i], 1000 * CLIENT_PATIENCE));
	}
	for (size_t i = IDLE / 2; i < IDLE; i++)
		ck_assert(client_is_closed(idle[i], 1000 * CLIENT_PATIENCE));
	pthread_join(closer, NULL);
	for (size_t i = 0; i < IDLE; i++)
		close(idle[i]);
	close(busy);
	stand_close(stand);
}
END_TEST

/* Milliseconds after the signal at which peers that do not read are disconnected. */
#define STOP_SLOW 1200

/* Either the disk is slow, or the handler. */
START_TEST(requests_that_take_longer_than_stopping_are_answered)
{
	const struct client_request deferred = { "GET", "/costly", NULL, 0, NULL };
	const struct client_request *const requests[] = { &request_write, &deferred };
	struct stand *stand = stand_open_patient(2, PATIENT);
	int connections[ROWS(requests)];
	int idle = stand_connect(stand);
	struct client_answer answer;
	int64_t began;
	pthread_t closer;

	gate_shut(&stand->gate, true);
	for (int i = 0; i < ROWS(requests); i++) {
		connections[i] = stand_connect(stand);
		ck_assert(client_send(connections[i], requests[i]));
	}
	gate_await_flush(&stand->gate);
	began = clock_monotonic();
	ck_assert_int_eq(pthread_create(&closer, NULL, stop_in_thread, stand), 0);
	ck_assert(client_is_closed(idle, 1000 * CLIENT_PATIENCE));
	while (clock_monotonic() - began < STOP_SLOW)
		sched_yield();
	gate_shut(&stand->gate, false);
	for (int i = 0; i < ROWS(requests); i++) {
		client_receive(connections[i], &answer);
		ck_assert_int_eq(answer.status, 200);
		client_forget(&answer);
		close(connections[i]);
	}
	pthread_join(closer, NULL);
	close(idle);
	stand_close(stand);
}
END_TEST

/* Neither a peer that sends half a request nor one that does not read delays stopping. */
START_TEST(stopping_does_not_wait_for_slow_peers)
{
	const struct client_request large = { "GET", "/size/3000000", NULL, 0, NULL };
	struct stand *stand = stand_open_patient(4, PATIENT);
	int sends_half = stand_connect(stand);
	int does_not_read = stand_connect(stand);
	int good = stand_connect(stand);

	ck_assert(client_begin(sends_half, true));
	ck_assert(client_send(does_not_read, &large));
	stand_answers(good);
	stand_stop(stand);
	close(sends_half);
	close(does_not_read);
	close(good);
	stand_close(stand);
}
END_TEST

/* ---- handing over ---- */

/* An edge in a process of its own; all of them share the listening socket. */
struct child {
	pid_t process;
	int orders; /* one byte: begin; end of file: stop */
	int ready; /* one byte: the process serves requests */
};

static void obey(struct stand *stand, int orders, int ready)
{
	char byte;

	if (read(orders, &byte, 1) != 1)
		_exit(1);
	stand->listener.is_ours = false;
	stand_start(stand, 4);
	if (write(ready, &byte, 1) != 1 || read(orders, &byte, 1) != 0)
		_exit(1);
	edge_close(stand->edge);
	_exit(0);
}

/* Creates all processes before there is a thread. No process may keep the orders of another one
 * open. */
static void make_children(struct stand *stand, struct child *children, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int orders[2];
		int ready[2];

		ck_assert_int_eq(pipe2(orders, O_CLOEXEC), 0);
		ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
		children[i].process = fork();
		ck_assert_int_ge(children[i].process, 0);
		if (children[i].process == 0) {
			for (size_t before = 0; before < i; before++)
				close(children[before].orders);
			close(orders[1]);
			obey(stand, orders[0], ready[1]);
		}
		close(orders[0]);
		close(ready[1]);
		children[i].orders = orders[1];
		children[i].ready = ready[0];
	}
}

static void begin_child(const struct child *child)
{
	char byte = 'b';

	ck_assert_int_eq(write(child->orders, &byte, 1), 1);
	ck_assert_int_eq(read(child->ready, &byte, 1), 1);
	close(child->ready);
}

static void end_child(const struct child *child)
{
	int status;

	close(child->orders);
	ck_assert_int_eq(waitpid(child->process, &status, 0), child->process);
	ck_assert_int_eq(status, 0);
}

struct poster {
	const char *path;
	atomic_bool *is_over;
	int connection;
	unsigned sent;
	unsigned lost;
	pthread_t thread;
};

/* Posts on one connection, which is kept as nginx would keep it; no request is repeated. Between
 * checking a connection and sending on it, a web server may take as long as idle connections are
 * kept, but no longer. */
static void post(struct poster *poster)
{
	const int64_t looked = clock_monotonic();

	if (poster->connection >= 0 && !client_may_keep(poster->connection)) {
		close(poster->connection);
		poster->connection = -1;
	}
	if (poster->connection < 0)
		poster->connection = client_connect(poster->path);
	poster->sent++;
	if (!client_ask(poster->connection, &request_write, 200))
		poster->lost += clock_monotonic() - looked < STOP_IDLE;
}

static void *post_on(void *argument)
{
	struct poster *poster = argument;

	while (!atomic_load(poster->is_over))
		post(poster);
	return NULL;
}

/* The first poster is this thread, so that each server gets its share. While this thread waits for
 * a server to stop, its connection is idle or, to save time in most rounds, closed. */
START_TEST(handing_over_loses_nothing)
{
	enum { POSTERS = 9, TIMES = 20, EACH = 50 };
	struct stand *stand = stand_open(0);
	struct child children[TIMES + 1];
	struct poster posters[POSTERS];
	atomic_bool is_over = false;

	make_children(stand, children, TIMES + 1);
	begin_child(&children[0]);
	for (size_t i = 0; i < POSTERS; i++) {
		posters[i] = (struct poster){
			.path = stand->path,
			.is_over = &is_over,
			.connection = -1,
		};
		if (i > 0)
			ck_assert_int_eq(
				pthread_create(&posters[i].thread, NULL, post_on, &posters[i]), 0);
	}
	for (size_t i = 0; i < TIMES; i++) {
		for (size_t n = 0; n < EACH; n++)
			post(&posters[0]);
		if (i % 10 != 0) {
			close(posters[0].connection);
			posters[0].connection = -1;
		}
		begin_child(&children[i + 1]);
		end_child(&children[i]);
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < POSTERS; i++) {
		if (i > 0)
			pthread_join(posters[i].thread, NULL);
		if (posters[i].connection >= 0)
			close(posters[i].connection);
		ck_assert_uint_ge(posters[i].sent, TIMES);
		ck_assert_msg(posters[i].lost == 0, "%u of %u lost", posters[i].lost,
			      posters[i].sent);
	}
	end_child(&children[TIMES]);
	stand_close(stand);
}
END_TEST

/* ---- the listening socket ---- */

static bool listens(const char *path, struct listener *listener, struct fault *fault)
{
	const struct listener_options options = { path, 0640, (uid_t)-1, (gid_t)-1 };

	*fault = FAULT_INITIAL;
	return listener_open(&options, listener, fault);
}

START_TEST(only_a_stale_socket_is_replaced)
{
	char *directory = directory_make();
	struct listener first;
	struct listener second;
	struct fault fault;
	struct stat there;
	char path[100];

	snprintf(path, sizeof path, "%s/socket", directory);
	ck_assert(listens(path, &first, &fault));
	ck_assert_int_eq(lstat(path, &there), 0);
	ck_assert_uint_eq(there.st_mode & 07777, 0640);
	ck_assert(!listens(path, &second, &fault));
	ck_assert_ptr_nonnull(strstr(fault.cause, "another process listens"));
	close(first.descriptor);
	ck_assert(listens(path, &first, &fault));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(listens(path, &second, &fault));
	listener_close(&first);
	ck_assert_int_eq(access(path, F_OK), 0);
	listener_close(&second);
	ck_assert_int_ne(access(path, F_OK), 0);
	directory_remove(directory);
}
END_TEST

START_TEST(unusable_socket_paths_are_refused)
{
	char *directory = directory_make();
	struct listener listener;
	struct fault fault;
	char path[300];

	snprintf(path, sizeof path, "%s/none/socket", directory);
	ck_assert(!listens(path, &listener, &fault));
	ck_assert_ptr_nonnull(strstr(fault.cause, path));
	snprintf(path, sizeof path, "%s/file", directory);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ck_assert(!listens(path, &listener, &fault));
	ck_assert_ptr_nonnull(strstr(fault.cause, "is not a socket"));
	ck_assert_int_eq(access(path, F_OK), 0);
	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	ck_assert(!listens(path, &listener, &fault));
	ck_assert_int_eq(fault.kind, FAULT_BAD_REQUEST);
	ck_assert(!listens("", &listener, &fault));
	directory_remove(directory);
}
END_TEST

/* The socket is descriptor 0, as spawn-fcgi passes it. */
START_TEST(a_socket_on_descriptor_0_is_used)
{
	char *directory = directory_make();
	struct listener ours;
	struct listener listener;
	struct fault fault;
	char path[100];

	ck_assert_int_eq(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0), 0);
	ck_assert(!listens(NULL, &listener, &fault));
	ck_assert_int_eq(fault.kind, FAULT_BAD_REQUEST);
	ck_assert_ptr_nonnull(strstr(fault.cause, "--listen PATH"));
	ck_assert_int_eq(dup2(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 0), 0);
	ck_assert_int_eq(listen(0, 1), 0);
	ck_assert(!listens(NULL, &listener, &fault));
	ck_assert_ptr_nonnull(strstr(fault.cause, "not a Unix socket"));
	snprintf(path, sizeof path, "%s/socket", directory);
	ck_assert(listens(path, &ours, &fault));
	ck_assert_int_eq(dup2(ours.descriptor, 0), 0);
	ck_assert_msg(listens(NULL, &listener, &fault), "%s", fault.cause);
	ck_assert_int_eq(listener.descriptor, 0);
	ck_assert(!listener_withdraw(&listener));
	listener_close(&listener);
	ck_assert_int_eq(access(path, F_OK), 0);
	listener_close(&ours);
	directory_remove(directory);
}
END_TEST

/* ---- the suite ---- */

static TCase *end_case(void)
{
	TCase *tcase = tcase_create("end");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, requests_that_have_arrived_are_answered);
	tcase_add_test(tcase, idle_connections_are_served_while_stopping);
	tcase_add_test(tcase, requests_that_take_longer_than_stopping_are_answered);
	tcase_add_test(tcase, stopping_does_not_wait_for_slow_peers);
	tcase_add_test(tcase, handing_over_loses_nothing);
	return tcase;
}

static TCase *listener_case(void)
{
	TCase *tcase = tcase_create("listener");

	tcase_add_test(tcase, only_a_stale_socket_is_replaced);
	tcase_add_test(tcase, unusable_socket_paths_are_refused);
	tcase_add_test(tcase, a_socket_on_descriptor_0_is_used);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("edge_end");

	suite_add_tcase(suite, end_case());
	suite_add_tcase(suite, listener_case());
	return suite_run(suite);
}
