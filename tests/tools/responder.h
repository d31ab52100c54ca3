/* A responder for tests, with a database and without sockets: requests go to service_answer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RESPONDER_H
#define TESTS_RESPONDER_H

#include "accounts/accounts.h"
#include "service/service.h"

/* The most connections of a responder to the database. */
#define RESPONDER_CONNECTIONS 16

struct responder {
	struct environment environment;
	struct service *service;
};

/* Opens a responder with the store at the URL; aborts if the store cannot be opened. */
void responder_open(struct responder *responder, const char *url, const struct clock *clock);
void responder_close(struct responder *responder);

struct reply {
	int status;
	bool has_retry_after;
	const char *text; /* the body, in the arena */
};

/* Makes a request with a management token of the account, at the responder's time. body and key
 * (Idempotency-Key) may be NULL. May be called from any thread. */
struct reply responder_ask(const struct responder *responder, const struct account *account,
			   struct arena *arena, enum method method, const char *path,
			   const char *body, const char *key);

/* Makes any request, at the responder's service. From any thread. */
struct reply responder_send(const struct responder *responder, struct arena *arena,
			    const struct request *request);

#endif
