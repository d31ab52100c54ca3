/* A responder over a database without its sockets, for tests: requests go to service_answer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RESPONDER_H
#define TESTS_RESPONDER_H

#include "accounts/accounts.h"
#include "service/service.h"

/* Of a responder to the database, at most. */
#define RESPONDER_CONNECTIONS 16

struct responder {
	struct environment environment;
	struct service *service;
};

/* Over the store of the URL; aborts when that cannot be opened. */
void responder_open(struct responder *responder, const char *url, const struct clock *clock);
void responder_close(struct responder *responder);

struct reply {
	int status;
	bool has_retry_after;
	const char *text; /* the body; in the arena */
};

/* Asks with a token of the account, of the responder's time; body NULL, key NULL (Idempotency-Key):
 * none. Any thread. */
struct reply responder_ask(const struct responder *responder, const struct account *account,
			   struct arena *arena, enum method method, const char *path,
			   const char *body, const char *key);

#endif
