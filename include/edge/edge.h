/* Connections, workers, shutdown. The listening socket and all idle connections sit in one epoll
 * set; a handful of workers serves any number of connections, and an idle one costs nothing.
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

/* Everything is borrowed and outlives the edge. */
struct edge_options {
	struct listener *listener;
	struct store *store;
	struct service *service;
	/* service_answer and service_settle (service/service.h). */
	void (*answer)(struct service *service, struct call *call);
	void (*settle)(struct service *service, struct call *call, enum store_state state);
	unsigned threads; /* at least 1 */
	unsigned patience; /* seconds for which a peer may send or take nothing; 0: 5 and 10 */
	bool logs_access; /* one line a request */
	struct metrics *metrics; /* counts requests; NULL: nobody does */
};

/* Starts to serve. fastcgi_start() has been called, SIGPIPE is ignored, and the signals that end the
 * process are blocked: workers inherit that. A fault's cause says what is missing. */
bool edge_open(const struct edge_options *options, struct edge **edge, struct fault *fault);

/* Stops without losing a request and gives everything back; takes a second at most, plus what the
 * disk takes to make durable what is parked. New connections are no longer accepted (what is queued
 * on a socket that is ours alone still is), every answer closes its connection; an idle one is left
 * open at first, since nginx may just have put a request on it that it would not repeat. When no
 * connection is left, or after 900 ms, the rest is closed: what has arrived by then is answered.
 * Called by the thread that opened the edge. NULL is fine. */
void edge_close(struct edge *edge);

/* Twice the cores, at least 4. */
unsigned edge_default_threads(void);

#endif
