/* The bare responder that bench.sh compares with the program: libfcgi, as many workers, kept
 * connections in an epoll set, and nothing else: no token, no parsing, no storage. It is the most
 * that nginx and libfcgi can do with a response of this size. It answers any request with as many
 * bytes as the query says (size=N at its end), on a listening socket on descriptor 0, until it is
 * killed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcgiapp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "edge/edge.h"

#define SIZE_MOST (1 << 20)

static void watch(int set, int operation, int descriptor)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.fd = descriptor };

	if (epoll_ctl(set, operation, descriptor, &event) != 0) {
		perror("bare: epoll_ctl");
		exit(EXIT_FAILURE);
	}
}

static int size_wanted(const FCGX_Request *request)
{
	const char *query = FCGX_GetParam("QUERY_STRING", request->envp);
	const char *wanted = query == NULL ? NULL : strstr(query, "size=");
	int64_t size;

	if (wanted == NULL || !text_integer(slice_of(wanted + 5), &size) || size < 0 ||
	    size > SIZE_MOST)
		return 0;
	return (int)size;
}

static void answer(FCGX_Request *request)
{
	static const char bytes[SIZE_MOST];
	const int size = size_wanted(request);
	char body[8192];

	while (FCGX_GetStr(body, sizeof body, request->in) == (int)sizeof body)
		continue;
	(void)FCGX_FPrintF(request->out,
			   "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", size);
	(void)FCGX_PutStr(bytes, size, request->out);
}

/* Serves one request of a connection; libfcgi sets ipcFd to -1 when it closes the connection. */
static void serve(FCGX_Request *request, int set, int connection)
{
	request->ipcFd = connection;
	request->keepConnection = 1;
	if (FCGX_Accept_r(request) == 0) {
		answer(request);
		FCGX_Finish_r(request);
		if (request->ipcFd >= 0)
			watch(set, EPOLL_CTL_MOD, connection);
	}
	request->ipcFd = -1;
}

static void *work(void *context)
{
	const int set = *(const int *)context;
	FCGX_Request request;

	if (FCGX_InitRequest(&request, -1, 0) != 0)
		abort();
	for (;;) {
		struct epoll_event event;
		int connection;

		if (epoll_wait(set, &event, 1, -1) != 1)
			continue;
		if (event.data.fd != STDIN_FILENO) {
			serve(&request, set, event.data.fd);
			continue;
		}
		connection = accept(STDIN_FILENO, NULL, NULL);
		watch(set, EPOLL_CTL_MOD, STDIN_FILENO);
		if (connection >= 0)
			watch(set, EPOLL_CTL_ADD, connection);
	}
	return NULL;
}

int main(void)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;

	if (set < 0 || setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1) != 0 || FCGX_Init() != 0) {
		fprintf(stderr, "bare: cannot start\n");
		return EXIT_FAILURE;
	}
	/* libfcgi would make the process ignore SIGTERM. */
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	watch(set, EPOLL_CTL_ADD, STDIN_FILENO);
	for (unsigned i = 1; i < edge_default_threads(); i++)
		if (pthread_create(&thread, NULL, work, &set) != 0)
			return EXIT_FAILURE;
	(void)work(&set);
	return EXIT_SUCCESS;
}
