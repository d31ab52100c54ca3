/* The bare responder that `make bench` sets beside the program: the same libfcgi, the same workers and
 * the same nginx, but no token, no parsing, no storage. It answers any request with as many bytes as
 * its query says (?size=N), from a socket on descriptor 0, until it is told to stop.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "edge/edge.h"
#include "edge/fastcgi.h"
#include "store/store_memory.h"

#define SIZE_MOST ((size_t)1 << 20)

static void answer(struct service *service, struct call *call)
{
	static const char bytes[SIZE_MOST];
	const char *mark = memchr(call->request.uri.data, '=', call->request.uri.size);
	struct slice uri = call->request.uri;
	int64_t size = 0;

	(void)service;
	if (mark != NULL)
		(void)text_integer(
			(struct slice){ mark + 1, uri.size - (size_t)(mark + 1 - uri.data) },
			&size);
	call->answer = (struct answer){ .status = 200 };
	call_header(call, "Content-Type", SLICE("application/octet-stream"));
	call_part(call,
		  (struct slice){ bytes, (size_t)size < SIZE_MOST ? (size_t)size : SIZE_MOST });
}

static void settle(struct service *service, struct call *call, enum store_state state)
{
	(void)service;
	(void)call;
	(void)state;
}

int main(void)
{
	const struct listener_options socket = { .owner = (uid_t)-1, .group = (gid_t)-1 };
	struct listener listener = { .descriptor = -1 };
	struct edge_options options = {
		.listener = &listener,
		.answer = answer,
		.settle = settle,
		.threads = edge_default_threads(),
		.store = store_memory_open(),
	};
	struct fault fault = FAULT_INITIAL;
	struct edge *edge = NULL;
	sigset_t signals;
	int signal_number;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!fastcgi_start() || !listener_open(&socket, &listener, &fault) ||
	    !edge_open(&options, &edge, &fault)) {
		fprintf(stderr, "bare: %s\n", fault.cause);
		return EXIT_FAILURE;
	}
	while (sigwait(&signals, &signal_number) != 0)
		continue;
	edge_close(edge);
	listener_close(&listener);
	store_close(options.store);
	return EXIT_SUCCESS;
}
