/* An edge under test, without the rest of the program: a service that does what the path says, a
 * store whose disk is a gate that the test opens and shuts, and a socket in a directory of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EDGE_STAND_H
#define TESTS_EDGE_STAND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "edge/edge.h"
#include "edge/listener.h"
#include "fastcgi_client.h"
#include "store/store.h"

/* A store that consists only of transaction numbers. */
struct gate {
	struct store base;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t committed;
	uint64_t durable;
	uint64_t step; /* most numbers that one flush makes durable; 0 for no limit */
	uint64_t fails_from; /* this number and later ones never become durable; 0 for none */
	bool is_shut; /* a flush waits until it is opened */
	bool is_flushing;
	unsigned flushes;
};

void gate_shut(struct gate *gate, bool is_shut);
/* Returns when a flush has begun. */
void gate_await_flush(struct gate *gate);

/*
 *     /write       commits; the response waits for the commit
 *     /number/N    the response waits for the number N
 *     /size/N      N bytes, in three parts
 *     /status/N    this status
 *     /costly      deferred; answered when the gate is open
 *     /costly/now  deferred
 *     /alone, /serial  deferred, one at a time; answered when the gate is open
 *     all others   the request: method, Authorization, address, request ID, too large, and the body
 */
struct service {
	struct gate *gate;
	atomic_uint calls;
	unsigned alone,
		alone_most; /* calls of /alone or /serial now, and at most; under the gate's lock */
};

struct stand {
	char *directory;
	char path[100]; /* path of the socket */
	struct gate gate;
	struct service service;
	struct listener listener;
	struct edge *edge;
	unsigned patience;
};

/* threads: threads of the edge; with 0 the edge is not started yet. The patience is in seconds, see
 * edge/edge.h. */
struct stand *stand_open(unsigned threads);
struct stand *stand_open_patient(unsigned threads, unsigned patience);
void stand_start(struct stand *stand, unsigned threads);
/* Stops only the edge. */
void stand_stop(struct stand *stand);
void stand_close(struct stand *stand);
int stand_connect(const struct stand *stand);

extern const struct client_request request_get;
extern const struct client_request request_write;

/* Fails the test unless a GET on this connection gets a response. */
void stand_answers(int connection);

#endif
