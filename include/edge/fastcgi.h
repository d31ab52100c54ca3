/* One request and its answer, between a connection and a struct call. This is the only module that
 * knows libfcgi, and it uses it in a way of its own: libfcgi ties a thread to a connection, we do
 * not. The edge keeps all idle connections in an epoll set and lends one to libfcgi when there is
 * something to read; libfcgi reads exactly one request, and after the answer the connection comes
 * back, if it is still open.
 *
 * An exchange carries one request at a time from its first byte to its last, so it may be laid aside
 * (edge/parked.h) and go on in another thread. It belongs to one thread at a time and is used again
 * and again: its arena keeps its first block.
 *
 * libfcgi aborts the process on some records that only a FastCGI peer can send, never a client
 * behind nginx. So the socket is a local one that nginx alone may open (edge/listener.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_FASTCGI_H
#define EDGE_FASTCGI_H

#include <stdbool.h>

#include "resources/call.h"

struct exchange {
	struct call call; /* its arena is the exchange's own */
	int connection; /* the descriptor at hand */
	struct exchange *next; /* in the one list it stands in */
};

/* What has to be done once, before the first thread: libfcgi's environment, its start, its signal
 * handlers put back. False: libfcgi does not start. */
bool fastcgi_start(void);

struct exchange *fastcgi_open(void);
/* NULL is fine. No request may be at hand. */
void fastcgi_close(struct exchange *exchange);

/* Reads one request from a blocking connection and fills call.request; the rest of the call is zero,
 * but for call.started. Standard input is read to its end, at most CALL_BODY_MOST bytes of it are
 * kept. False: the peer has gone, was too slow (SO_RCVTIMEO), gave up, or does not speak FastCGI:
 * the connection is closed then, and nothing is at hand. */
bool fastcgi_receive(struct exchange *exchange, int connection);

/* Whether fastcgi_send may have to wait for the peer: the answer is a large one, or what was sent before
 * has not been taken. */
bool fastcgi_may_wait(const struct exchange *exchange);

/* Sends call.answer and lets go of everything that belonged to the request. Whether the connection
 * is still open: false when `keep` is false, when the peer asked for that, or when it has gone. */
bool fastcgi_send(struct exchange *exchange, bool keep);

#endif
