/* A receiver of webhooks: an HTTP server on a free port of 127.0.0.1, in a thread of its own. The
 * path of a request says how it answers:
 *
 *     /STATUS             with this status and an empty body: /204
 *     /STATUS/N           the same, with Retry-After: N
 *     /flaky/N            500 for the first N requests of a webhook-id, then 200
 *     /held               not before receiver_release(), then 200
 *     /held/STATUS        likewise, with another status
 *     /middle             half of an answer, then the end of the connection
 *     /close              the end of the connection
 *     /endless            200 and more than anyone reads
 *     /trickle            headers without an end
 *     /wide               one header without an end
 *     /other              another protocol than HTTP
 *     /length/N           200 with Content-Length: N and no body
 *     /redirect           302 to /204
 *     /redirect/PORT      302 to /204 at this port of 127.0.0.1
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RECEIVER_H
#define TESTS_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>

#define RECEIVED_MOST 4096

/* A request, as terminated texts. */
struct received {
	char *path;
	char *head; /* request line and headers */
	char *body;
	char id[64]; /* webhook-id; empty: there is none */
};

struct receiver;

struct receiver *receiver_open(void);
/* At another IPv4 address of this machine, and at this port. */
struct receiver *receiver_open_at(const char *address, unsigned port);
void receiver_close(struct receiver *receiver);
unsigned receiver_port(const struct receiver *receiver);

/* Answers all requests to /held, and those that come. */
void receiver_release(struct receiver *receiver);
/* Waits until there are n requests in all, 30 s at most; false: there are fewer. */
bool receiver_wait(struct receiver *receiver, size_t n);
size_t receiver_count(struct receiver *receiver);
/* The i-th request; it lives as long as the receiver. */
const struct received *receiver_request(struct receiver *receiver, size_t i);
/* The value of a header of a request in `value`, which is terminated; false: there is none. */
bool received_header(const struct received *received, const char *name, char *value, size_t size);
/* The most requests that were without an answer at one time. */
size_t receiver_most_at_once(struct receiver *receiver);

#endif
