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

/* Options. Everything is borrowed and outlives the edge. */
struct edge_options {
	struct listener *listener;
	struct store *store;
	struct service *service;
	/* service_answer, service_settle (service/service.h). */
	bool (*answer)(struct service *service, struct call *call);
	void (*settle)(struct call *call, enum store_state state);
	unsigned threads; /* workers; at least 1 */
	/* Seconds without progress, then a peer is dropped; 0: 5 (receiving), 10 (sending). */
	unsigned patience;
	bool logs_access; /* one log line per request */
	struct metrics *metrics; /* counts requests; NULL: none */
};

/* Starts to serve. Before, fastcgi_start() was called, SIGPIPE is ignored, and the signals that end
 * the process are blocked, which workers inherit. The cause of a fault says what is missing. */
bool edge_open(const struct edge_options *options, struct edge **edge, struct fault *fault);

/* Stops without losing a request and frees everything; takes at most a second, or as long as the
 * calls under way. New connections are not accepted, except those queued on a socket of our own.
 * Every answer closes its connection. Idle connections stay open at first, because nginx may just
 * have sent a request that it would not repeat. When no connection is left, or after 900 ms, the
 * rest is closed; requests that have arrived by then are answered, but for peers that do not read
 * what they are sent. Called by the thread that opened the edge. NULL is allowed. */
void edge_close(struct edge *edge);

/* Twice the number of cores, at least 4. */
unsigned edge_default_threads(void);
/* How many threads there are besides so many workers, for calls that are deferred: a quarter as
 * many, and one. */
unsigned edge_deferring_threads(unsigned threads);

#endif
