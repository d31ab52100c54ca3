/* Opens ten thousand connections to the program (named by $ANTEROOM, else ./anteroom), directly on
 * its socket: they cost no threads and almost no memory, and the next connection still gets a
 * response. Skipped, with exit status 77, if the process may not open that many files.
 *
 * If started by root, the program drops privileges to `nobody`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "fastcgi_client.h"
#include "suite.h"

#define SKIPPED 77
#define CONNECTIONS 10000
/* Descriptors for everything else, in the test and in the program. */
#define SPARE 100
/* The limit with which many systems start a process. */
#define SOFT_LIMIT 1024
/* ThreadSanitizer itself uses kilobytes for each descriptor. */
#if defined(__SANITIZE_THREAD__)
#define BYTES_MOST 8192
#else
#define BYTES_MOST 1024
#endif

static const struct client_request ready = { "GET", "/readyz", NULL, 0, NULL };

struct responder {
	char *directory;
	char socket[100];
	char data[100];
	char notify[100];
	pid_t process;
};

/* ---- the program ---- */

static int bind_at(const char *path, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int bound = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(bound, 0);
	ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	ck_assert_int_eq(bind(bound, (const struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	return bound;
}

/* Runs in the child. The soft limit is low again, because the program must raise it. */
static _Noreturn void become(const struct responder *responder, int listener)
{
	const char *program = getenv("ANTEROOM");
	struct rlimit limit;

	if (program == NULL)
		program = "./anteroom";
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		_exit(126);
	limit.rlim_cur = SOFT_LIMIT;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || dup2(listener, STDIN_FILENO) < 0 ||
	    setenv("NOTIFY_SOCKET", responder->notify, 1) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
		_exit(126);
	if (geteuid() == 0)
		execl(program, program, "serve", "--data", responder->data, "--user", "nobody",
		      (char *)NULL);
	else
		execl(program, program, "serve", "--data", responder->data, (char *)NULL);
	perror(program);
	_exit(127);
}

/* Starts the program and returns when it reports that it is ready, as it does to systemd: by then
 * all its threads exist. */
static void responder_start(struct responder *responder)
{
	int listener, notified;
	char word[100] = "";

	responder->directory = directory_make();
	/* The user that the program becomes needs access to the directory. */
	ck_assert_int_eq(chmod(responder->directory, 0711), 0);
	snprintf(responder->socket, sizeof responder->socket, "%s/socket", responder->directory);
	snprintf(responder->data, sizeof responder->data, "%s/data", responder->directory);
	snprintf(responder->notify, sizeof responder->notify, "%s/notify", responder->directory);
	directory_make_data(responder->data);
	listener = bind_at(responder->socket, SOCK_STREAM);
	notified = bind_at(responder->notify, SOCK_DGRAM);
	ck_assert_int_eq(listen(listener, SOMAXCONN), 0);
	responder->process = fork();
	ck_assert_int_ge(responder->process, 0);
	if (responder->process == 0)
		become(responder, listener);
	close(listener);
	ck_assert_int_gt(recv(notified, word, sizeof word - 1, 0), 0);
	ck_assert_str_eq(word, "READY=1");
	close(notified);
}

static void responder_stop(struct responder *responder)
{
	int status = -1;

	ck_assert_int_eq(kill(responder->process, SIGTERM), 0);
	ck_assert_int_eq(waitpid(responder->process, &status, 0), responder->process);
	ck_assert_int_eq(status, 0);
	directory_remove(responder->directory);
}

static int responder_connect(const struct responder *responder)
{
	int connection = client_connect(responder->socket);

	ck_assert_msg(connection >= 0, "cannot connect: %s", strerror(errno));
	return connection;
}

/* Returns a number from the process's status file: Threads, or RssAnon in KB. */
static long status_of(const struct responder *responder, const char *name)
{
	char line[256];
	long number = -1;
	FILE *status;

	snprintf(line, sizeof line, "/proc/%ld/status", (long)responder->process);
	status = fopen(line, "re");
	ck_assert_ptr_nonnull(status);
	while (number < 0 && fgets(line, sizeof line, status) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			number = strtol(line + strlen(name) + 1, NULL, 10);
	fclose(status);
	ck_assert_msg(number >= 0, "the system does not report %s", name);
	return number;
}

/* ---- the test ---- */

START_TEST(ten_thousand_connections_cost_almost_nothing)
{
	static int connections[CONNECTIONS];
	struct responder responder;
	long threads, memory;
	int next;

	responder_start(&responder);
	next = responder_connect(&responder);
	ck_assert(client_ask(next, &ready, 200));
	close(next);
	threads = status_of(&responder, "Threads");
	memory = status_of(&responder, "RssAnon");
	for (size_t i = 0; i < CONNECTIONS; i++)
		connections[i] = responder_connect(&responder);
	/* Connections are accepted in order: when this one gets its response, all others have been
	 * accepted. */
	next = responder_connect(&responder);
	ck_assert_msg(client_ask(next, &ready, 200), "the next connection gets no response");
	ck_assert_int_eq(status_of(&responder, "Threads"), threads);
	memory = (status_of(&responder, "RssAnon") - memory) * 1024;
	printf("a connection costs %ld bytes\n", memory / CONNECTIONS);
	ck_assert_int_lt(memory, (long)CONNECTIONS * BYTES_MOST);
	for (size_t i = 0; i < CONNECTIONS; i += CONNECTIONS / 100)
		ck_assert_msg(client_ask(connections[i], &ready, 200),
			      "connection %zu gets no response", i);
	for (size_t i = 0; i < CONNECTIONS; i++)
		close(connections[i]);
	ck_assert(client_ask(next, &ready, 200));
	close(next);
	responder_stop(&responder);
}
END_TEST

/* Returns true if this process and the program may open that many files. */
static bool may_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	if (limit.rlim_max < CONNECTIONS + SPARE) {
		printf("a process may open only %llu files here (ulimit -Hn), not %d\n",
		       (unsigned long long)limit.rlim_max, CONNECTIONS + SPARE);
		return false;
	}
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int main(void)
{
	Suite *suite;
	TCase *tests;

	if (!may_open_files())
		return SKIPPED;
	suite = suite_create("connections");
	tests = tcase_create("connections");
	suite_add_tcase(suite, tests);
	tcase_add_test(tests, ten_thousand_connections_cost_almost_nothing);
	return suite_run(suite);
}
