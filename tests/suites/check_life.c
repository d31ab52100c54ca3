/* The life of the real program (named by $ANTEROOM, else ./anteroom): what it reports to systemd
 * and the journal, how one process waits for another, and what the process may do. The test keeps
 * the listening socket and passes it as descriptor 0 or as systemd does; requests are bare FastCGI.
 * If started by root, the program drops privileges to `nobody`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "fastcgi_client.h"
#include "suite.h"

#define ARGUMENTS 12

struct life {
	char *directory;
	char data[PATH_MAX];
	char path[108]; /* path of the listening socket */
	int listener;
	/* Number of sockets that systemd passes, from descriptor 3 on; NULL if the socket is
	 * descriptor 0. */
	const char *passed;
	rlim_t file_size; /* largest size of the program's files; 0 for no limit */
	int notify; /* receives what the program reports to systemd */
	char notify_path[108];
};

static struct life life;

static int bind_socket(int type, char path[108], const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = CLIENT_PATIENCE };
	int descriptor = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_lt(snprintf(path, 108, "%s/%s", life.directory, name), 108);
	memcpy(address.sun_path, path, strlen(path) + 1);
	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(
		setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	return descriptor;
}

static void begin(void)
{
	life.directory = directory_make();
	snprintf(life.data, sizeof life.data, "%s/data", life.directory);
	ck_assert_int_eq(chmod(life.directory, 0755), 0);
	directory_make_data(life.data);
	life.passed = NULL;
	life.file_size = 0;
	life.listener = bind_socket(SOCK_STREAM, life.path, "socket");
	ck_assert_int_eq(listen(life.listener, 64), 0);
	life.notify = bind_socket(SOCK_DGRAM, life.notify_path, "notify");
}

static void end(void)
{
	close(life.listener);
	close(life.notify);
	directory_remove(life.directory);
}

/* ---- processes ---- */

struct process {
	pid_t pid;
	int log; /* its stderr */
};

/* Moves the socket from descriptor 0 to where systemd.socket(5) expects it; the next descriptor is
 * a duplicate. */
static void pass_as_systemd(void)
{
	char pid[32];

	if (dup2(STDIN_FILENO, 3) != 3 || dup2(STDIN_FILENO, 4) != 4 || close(STDIN_FILENO) != 0 ||
	    open("/dev/null", O_RDONLY) != STDIN_FILENO)
		_exit(126);
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", life.passed, 1);
}

static void become(char *const *arguments, int log)
{
	char journal[64];
	struct stat there;

	if (dup2(life.listener, STDIN_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || fstat(log, &there) != 0)
		_exit(126);
	snprintf(journal, sizeof journal, "%llu:%llu", (unsigned long long)there.st_dev,
		 (unsigned long long)there.st_ino);
	for (int inherited = STDERR_FILENO + 1; inherited < 256; inherited++)
		close(inherited);
	if (life.passed != NULL)
		pass_as_systemd();
	if (life.file_size != 0 &&
	    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ life.file_size, life.file_size }) != 0)
		_exit(126);
	setenv("JOURNAL_STREAM", journal, 1);
	setenv("NOTIFY_SOCKET", life.notify_path, 1);
	execv(arguments[0], arguments);
	_exit(127);
}

/* more: another option, or NULL. */
static struct process start(const char *more)
{
	const char *named = getenv("ANTEROOM");
	char program[PATH_MAX];
	char serve[] = "serve", data[] = "--data", user[] = "--user", nobody[] = "nobody";
	char option[32] = "";
	char *arguments[ARGUMENTS] = { program, serve, data, life.data };
	struct process process;
	size_t n = 4;
	int pipes[2];

	ck_assert_ptr_nonnull(realpath(named == NULL ? "./anteroom" : named, program));
	if (geteuid() == 0) {
		arguments[n++] = user;
		arguments[n++] = nobody;
	}
	if (more != NULL) {
		snprintf(option, sizeof option, "%s", more);
		arguments[n++] = option;
	}
	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	process.pid = fork();
	if (process.pid == 0)
		become(arguments, pipes[1]);
	close(pipes[1]);
	process.log = pipes[0];
	return process;
}

/* Reads the log to its end and returns the exit status. */
static int finish(struct process *process, char *log, size_t size)
{
	size_t length = 0;
	int status;
	ssize_t n;

	while (length + 1 < size && (n = read(process->log, log + length, size - length - 1)) > 0)
		length += (size_t)n;
	log[length] = '\0';
	close(process->log);
	ck_assert_int_eq(waitpid(process->pid, &status, 0), process->pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Returns when the process blocks SIGTERM, which would have ended it immediately before then. (fork
 * also blocks signals briefly, before the program runs.) */
static void await_signals_blocked(const struct process *process)
{
	char path[64], line[128];
	unsigned long long blocked = 0;
	bool is_program = false;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)process->pid);
	while (!is_program || (blocked & 1ULL << (SIGTERM - 1)) == 0) {
		poll(NULL, 0, 1);
		status = fopen(path, "re");
		ck_assert_ptr_nonnull(status);
		while (fgets(line, sizeof line, status) != NULL) {
			(void)sscanf(line, "SigBlk: %llx", &blocked);
			if (strncmp(line, "Name:", 5) == 0)
				is_program = strstr(line, "anteroom") != NULL;
		}
		fclose(status);
	}
}

static void expect_told(const char *expected)
{
	char told[64];
	ssize_t n = recv(life.notify, told, sizeof told - 1, 0);

	ck_assert_int_gt(n, 0);
	told[n] = '\0';
	ck_assert_str_eq(told, expected);
}

/* Returns true if the response is the expected one. */
static bool is_answered(const char *path, int status, const char *body)
{
	const struct client_request request = { "GET", path, NULL, 0, NULL };
	struct client_answer answer;
	int connection = client_connect(life.path);
	bool is_expected;

	ck_assert_int_ge(connection, 0);
	ck_assert(client_send(connection, &request));
	client_receive(connection, &answer);
	is_expected = answer.status == status && strstr(answer.body, body) != NULL;
	client_forget(&answer);
	close(connection);
	return is_expected;
}

static void expect_answer(const char *path, int status, const char *body)
{
	ck_assert_msg(is_answered(path, status, body), "%s: not %d, %s", path, status, body);
}

/* ---- reports to systemd ---- */

START_TEST(readiness_and_stopping_are_reported)
{
	struct process process = start(NULL);
	char log[4096];

	expect_told("READY=1");
	expect_answer("/healthz", 200, "{\"status\":\"up\"}");
	expect_answer("/readyz", 200, "{\"status\":\"ready\"}");
	kill(process.pid, SIGTERM);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
	ck_assert_msg(strncmp(log, "<5>notice serving ", 18) == 0, "%s", log);
	ck_assert_ptr_nonnull(strstr(log, "\n<5>notice stopped\n"));
}
END_TEST

static const struct {
	int number;
	const char *logged;
} ending[] = {
	{ SIGTERM, "\n<5>notice stopping signal=TERM\n" },
	{ SIGINT, "\n<5>notice stopping signal=INT\n" },
	{ SIGUSR1, "\n<5>notice stopping signal=USR1\n" },
};

START_TEST(a_signal_stops_it_cleanly)
{
	struct process process = start(NULL);
	char log[4096];

	expect_told("READY=1");
	kill(process.pid, ending[_i].number);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
	ck_assert_msg(strstr(log, ending[_i].logged) != NULL, "%s", log);
	ck_assert_ptr_nonnull(strstr(log, "\n<5>notice stopped\n"));
}
END_TEST

static const int skipped_bytes[] = {
	SIGHUP, SIGUSR2, SIGALRM, SIGXFSZ, SIGPIPE, SIGVTALRM, SIGPROF, SIGIO, SIGWINCH, SIGCHLD,
};

START_TEST(other_signals_are_ignored)
{
	struct process process = start(NULL);
	char log[4096];

	expect_told("READY=1");
	kill(process.pid, skipped_bytes[_i]);
	expect_answer("/readyz", 200, "{\"status\":\"ready\"}");
	kill(process.pid, SIGTERM);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
}
END_TEST

/* Too little for the journal: writes fail as on a full disk. */
START_TEST(a_limit_of_file_sizes_does_not_end_the_process)
{
	struct process process;
	char log[4096];

	life.file_size = 100000;
	process = start(NULL);
	expect_told("READY=1");
	expect_answer("/healthz", 200, "{\"status\":\"up\"}");
	/* A thread of the journal notices at some point. */
	while (!is_answered("/readyz", 503, "see the log for the reason"))
		continue;
	kill(process.pid, SIGTERM);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
	ck_assert_msg(strstr(log, "journal_no_room") != NULL, "%s", log);
}
END_TEST

START_TEST(nothing_is_reported_if_it_cannot_serve)
{
	struct process process;
	char path[PATH_MAX + 16], log[4096], told[64];

	snprintf(path, sizeof path, "%s/accounts.json", life.data);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	process = start(NULL);
	ck_assert_int_eq(finish(&process, log, sizeof log), 1);
	ck_assert_int_lt(recv(life.notify, told, sizeof told, MSG_DONTWAIT), 0);
}
END_TEST

/* ---- one process after the other ---- */

START_TEST(a_second_process_is_refused)
{
	struct process first = start(NULL), second;
	char log[4096];

	expect_told("READY=1");
	second = start(NULL);
	ck_assert_int_eq(finish(&second, log, sizeof log), 1);
	ck_assert_msg(strncmp(log, "<3>anteroom serve: ", 19) == 0, "%s", log);
	ck_assert_ptr_nonnull(strstr(log, "is in use by process "));
	kill(first.pid, SIGTERM);
	ck_assert_int_eq(finish(&first, log, sizeof log), 0);
}
END_TEST

START_TEST(a_waiting_process_takes_over)
{
	struct process first = start(NULL), second;
	struct pollfd silence = { .fd = life.notify, .events = POLLIN };
	char log[4096];

	expect_told("READY=1");
	second = start("--wait");
	await_signals_blocked(&second);
	ck_assert_int_eq(poll(&silence, 1, 300), 0);
	kill(first.pid, SIGTERM);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&first, log, sizeof log), 0);
	expect_told("READY=1");
	expect_answer("/readyz", 200, "ready");
	kill(second.pid, SIGTERM);
	ck_assert_int_eq(finish(&second, log, sizeof log), 0);
}
END_TEST

START_TEST(it_waits_at_most_ten_seconds)
{
	struct process first = start(NULL), second;
	int64_t began = clock_monotonic();
	char log[4096];

	expect_told("READY=1");
	second = start("--wait");
	ck_assert_int_eq(finish(&second, log, sizeof log), 1);
	ck_assert_int_ge(clock_monotonic() - began, 10000);
	kill(first.pid, SIGTERM);
	ck_assert_int_eq(finish(&first, log, sizeof log), 0);
}
END_TEST

START_TEST(a_waiting_process_can_be_stopped)
{
	struct process first = start(NULL), second;
	char log[4096];

	expect_told("READY=1");
	second = start("--wait");
	await_signals_blocked(&second);
	kill(second.pid, SIGTERM);
	/* The process would fail if its wait timed out. */
	ck_assert_int_eq(finish(&second, log, sizeof log), 0);
	ck_assert_ptr_nonnull(strstr(log, "stopping signal=TERM"));
	expect_answer("/readyz", 200, "ready");
	kill(first.pid, SIGTERM);
	ck_assert_int_eq(finish(&first, log, sizeof log), 0);
}
END_TEST

/* systemd keeps the socket: connections that arrive while no process serves wait for the next
 * process. */
START_TEST(a_socket_from_systemd_is_used)
{
	const struct client_request request = { "GET", "/readyz", NULL, 0, NULL };
	struct client_answer answer;
	struct process process;
	char log[4096];
	int waiting;

	life.passed = "1";
	process = start(NULL);
	expect_told("READY=1");
	expect_answer("/readyz", 200, "ready");
	kill(process.pid, SIGTERM);
	expect_told("STOPPING=1");
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
	waiting = client_connect(life.path);
	ck_assert_int_ge(waiting, 0);
	ck_assert(client_send(waiting, &request));
	process = start(NULL);
	expect_told("READY=1");
	client_receive(waiting, &answer);
	ck_assert_int_eq(answer.status, 200);
	client_forget(&answer);
	close(waiting);
	kill(process.pid, SIGTERM);
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
}
END_TEST

START_TEST(a_second_socket_from_systemd_is_refused)
{
	struct process process;
	char log[4096];

	life.passed = "2";
	process = start(NULL);
	ck_assert_int_eq(finish(&process, log, sizeof log), 2);
	ck_assert_ptr_nonnull(strstr(log, "systemd passed 2 sockets; expected one"));
}
END_TEST

/* ---- what the process may do ---- */

static void read_status(pid_t pid, char *status, size_t size)
{
	char path[64];
	int file;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(file, 0);
	n = read(file, status, size - 1);
	ck_assert_int_gt(n, 0);
	status[n] = '\0';
	close(file);
}

/* Sockets, pipes and the like have names without a slash. */
static bool may_be_open(const char *target)
{
	return target[0] != '/' || strcmp(target, "/dev/null") == 0 ||
	       strncmp(target, life.directory, strlen(life.directory)) == 0;
}

/* Without the permission to look, there is nothing to check. */
static void look_at_open_files(pid_t pid)
{
	char path[128], target[PATH_MAX];
	struct dirent *entry;
	DIR *open_files;

	snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
	open_files = opendir(path);
	while (open_files != NULL && (entry = readdir(open_files)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof path, "/proc/%ld/fd/%.16s", (long)pid, entry->d_name);
		n = readlink(path, target, sizeof target - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		ck_assert_msg(may_be_open(target) || strcmp(entry->d_name, "1") == 0,
			      "descriptor %s is %s", entry->d_name, target);
	}
	if (open_files != NULL)
		closedir(open_files);
}

START_TEST(the_process_has_only_what_it_needs)
{
	struct process process = start(NULL);
	char status[8192], log[4096], path[PATH_MAX + 16];
	struct stat there;

	expect_told("READY=1");
	read_status(process.pid, status, sizeof status);
	ck_assert_ptr_nonnull(strstr(status, "\nNoNewPrivs:\t1\n"));
	ck_assert_ptr_nonnull(strstr(status, "\nUmask:\t0077\n"));
	ck_assert_ptr_nonnull(strstr(status, "\nCapEff:\t0000000000000000\n"));
	look_at_open_files(process.pid);
	snprintf(path, sizeof path, "%s/store/lock", life.data);
	ck_assert_int_eq(stat(path, &there), 0);
	ck_assert_uint_eq(there.st_mode & 07777, 0600);
	kill(process.pid, SIGTERM);
	ck_assert_int_eq(finish(&process, log, sizeof log), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("life");
	TCase *tcase = tcase_create("life");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, readiness_and_stopping_are_reported);
	tcase_add_loop_test(tcase, a_signal_stops_it_cleanly, 0, ROWS(ending));
	tcase_add_loop_test(tcase, other_signals_are_ignored, 0, ROWS(skipped_bytes));
	tcase_add_test(tcase, a_limit_of_file_sizes_does_not_end_the_process);
	tcase_add_test(tcase, nothing_is_reported_if_it_cannot_serve);
	tcase_add_test(tcase, a_second_process_is_refused);
	tcase_add_test(tcase, a_waiting_process_takes_over);
	tcase_add_test(tcase, a_waiting_process_can_be_stopped);
	tcase_add_test(tcase, it_waits_at_most_ten_seconds);
	tcase_add_test(tcase, a_socket_from_systemd_is_used);
	tcase_add_test(tcase, a_second_socket_from_systemd_is_refused);
	tcase_add_test(tcase, the_process_has_only_what_it_needs);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
