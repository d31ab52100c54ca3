/* The edge: connections, workers and shutdown. The listening socket and all idle connections are in
 * one epoll set, so a few workers serve any number of connections and an idle connection costs
 * nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_EDGE_H
#define EDGE_EDGE_H

#include <stdbool.h>

#include "resources/call.h"
#include "edge/listener.h"
#include "store/store.h"

struct edge;
struct service;
struct asking;

/* Options. Everything is borrowed and outlives the edge. */
struct edge_options {
	struct listener *listener;
	struct store *store;
	struct service *service;
	/* service_answer, service_ask and service_settle (service/service.h) */
	bool (*answer)(struct service *service, struct call *call);
	void (*ask)(struct call *call, void (*done)(void *context, struct asking *asking),
		    void *context);
	void (*settle)(struct call *call, enum store_state state);
	unsigned threads; /* workers; at least 1 */
	/* seconds without progress before a peer is dropped; 0 means 5 s for receiving, 10 s for
	 * sending */
	unsigned patience;
	bool logs_access; /* one log line per request */
	struct metrics *metrics; /* counts requests; may be NULL */
};

/* Starts to serve. Requires that fastcgi_start() was called, that SIGPIPE is ignored, and that the
 * signals that end the process are blocked; workers inherit this. The cause of a fault says what is
 * missing. */
bool edge_open(const struct edge_options *options, struct edge **edge, struct fault *fault);

/* Stops without losing a request and frees everything. Takes at most a second, or as long as the
 * calls in progress. New connections are not accepted, except those queued on a socket of our own.
 * Every answer closes its connection. Idle connections stay open at first, because nginx may just
 * have sent a request that it would not send again. When no connection is left, or after 900 ms,
 * the rest is closed. Requests that have arrived by then are answered, except to peers that do not
 * read their answers. Called by the thread that opened the edge. NULL is allowed. */
void edge_close(struct edge *edge);

/* Returns twice the number of cores, at least 4. */
unsigned edge_default_threads(void);
/* Returns the number of threads for deferred calls that run in addition to `threads` workers: a
 * quarter as many, plus one. */
unsigned edge_deferring_threads(unsigned threads);

#endif
