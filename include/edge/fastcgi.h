/* Exchanges: reads one FastCGI request into a struct call and sends its answer. The only module
 * that uses libfcgi. libfcgi ties a thread to a connection; here the edge keeps idle connections in
 * an epoll set and lends one to libfcgi when it is readable. libfcgi then reads exactly one
 * request, and after the answer the edge gets the connection back if it is still open.
 *
 * An exchange carries one request at a time. It may be parked (edge/parked.h) and continued in
 * another thread, but only one thread uses it at a time. It is reused: its arena keeps its first
 * block.
 *
 * libfcgi aborts the process on some records that only a FastCGI peer can send, never a client of
 * nginx. Therefore the socket is a local one that only nginx can open (edge/listener.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_FASTCGI_H
#define EDGE_FASTCGI_H

#include <stdbool.h>

#include "resources/call.h"

struct edge;

struct exchange {
	struct call call; /* uses the exchange's own arena */
	int connection; /* the current descriptor */
	struct exchange *next; /* in the list that contains it */
	struct edge *edge; /* set while a media server is asked for it */
};

/* Sets the environment for libfcgi, initialises it, and restores the signal handlers that it
 * replaces. Must be called once, before the first thread. Returns false if libfcgi cannot be
 * initialised. */
bool fastcgi_start(void);

struct exchange *fastcgi_open(void);
/* NULL is allowed. No request may be in progress. */
void fastcgi_close(struct exchange *exchange);

/* Reads one request from a blocking connection into call.request; the rest of the call is zero
 * except call.started. The body is read to its end, but at most CALL_LARGE_BODY_MOST bytes of it
 * are kept. Returns false if the peer has closed the connection, was too slow (SO_RCVTIMEO), has
 * aborted the request, or does not speak FastCGI; the connection is then closed. */
bool fastcgi_receive(struct exchange *exchange, int connection);

/* Returns whether fastcgi_send may block: the answer is large, or the peer has not read earlier
 * data. */
bool fastcgi_may_wait(const struct exchange *exchange);

/* Sends call.answer and ends the request. Returns whether the connection is still open: it is not
 * if `keep` is false, or if the peer asked to close it or has closed it. */
bool fastcgi_send(struct exchange *exchange, bool keep);

#endif
