/* The time from the start to the first response: starts the program on a socket on which a request
 * already waits, and prints the milliseconds until /readyz returns 200. Then stops the program.
 *
 *     start PROGRAM DIR
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fastcgi_client.h"

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof address.sun_path)
		give_up("the path of the socket is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	if (listener < 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(listener, SOMAXCONN) != 0)
		give_up(path);
	return listener;
}

int main(int argc, char **argv)
{
	const struct client_request ready = { "GET", "/readyz", NULL, 0, NULL };
	char path[512];
	int listener, connection, status;
	int64_t start, end;
	pid_t process;
	bool is_answered;

	if (argc != 3) {
		fprintf(stderr, "usage: start PROGRAM DIR\n");
		return EXIT_FAILURE;
	}
	snprintf(path, sizeof path, "%s/start.sock", argv[2]);
	listener = listen_at(path);
	connection = client_connect(path);
	start = clock_microseconds();
	process = fork();
	if (process == 0) {
		if (dup2(listener, STDIN_FILENO) >= 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0)
			execl(argv[1], argv[1], "serve", "--data", argv[2], (char *)NULL);
		_exit(127);
	}
	close(listener);
	if (connection < 0 || process < 0)
		give_up(path);
	is_answered = client_ask(connection, &ready, 200);
	end = clock_microseconds();
	close(connection);
	(void)unlink(path);
	if (kill(process, SIGTERM) != 0 || waitpid(process, &status, 0) != process || status != 0 ||
	    !is_answered)
		give_up(argv[1]);
	printf("%lld.%lld\n", (long long)(end - start) / 1000, (long long)(end - start) / 100 % 10);
	return EXIT_SUCCESS;
}
