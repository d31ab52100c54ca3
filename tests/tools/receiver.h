/* A receiver of webhooks and of requests to media servers: an HTTP server on a free port of
 * 127.0.0.1, in a thread of its own. The path of a request determines the response:
 *
 *     /STATUS             this status and an empty body, e.g. /204
 *     /STATUS/N           the same, with Retry-After: N
 *     /flaky/N            500 for the first N requests with a webhook-id, then 200
 *     /held               200, but not before receiver_release()
 *     /held/STATUS        the same with another status
 *     /middle             half of a response, then closes the connection
 *     /close              closes the connection
 *     /endless            200 and more than any client reads
 *     /trickle            endless headers
 *     /wide               one endless header
 *     /other              a protocol other than HTTP
 *     /length/N           200 with Content-Length: N and no body
 *     /body/N             200 with N bytes of body, and a Date
 *     .../twirp/..., .../rtc/...
 *                         what receiver_respond or receiver_serve set, else by the beginning
 *     /redirect           302 to /204
 *     /redirect/PORT      302 to /204 at this port of 127.0.0.1
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RECEIVER_H
#define TESTS_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>

#define RECEIVED_MOST 4096

/* A request, as NUL-terminated texts. */
struct received {
	char *path;
	char *head; /* request line and headers */
	char *body;
	char id[64]; /* webhook-id; empty if there is none */
};

struct receiver;

struct receiver *receiver_open(void);
/* Opens a receiver at another IPv4 address of this machine, and at this port. */
struct receiver *receiver_open_at(const char *address, unsigned port);
void receiver_close(struct receiver *receiver);
unsigned receiver_port(const struct receiver *receiver);

/* Responds to all waiting requests to /held, and to later ones immediately. */
void receiver_release(struct receiver *receiver);
/* Sets the response to all paths that contain /twirp/ or /rtc/: an HTTP response without
 * Content-Length, which must live as long as the receiver. */
void receiver_respond(struct receiver *receiver, const char *head, const char *body);
/* Sets what answers these paths instead, in the thread of the receiver: it returns the body of the
 * response, which is freed, and sets the status, which is 200 before. If the status is 0 or the
 * text begins with HTTP/, that is all that is sent. NULL: there is no response. */
typedef char *receiver_service(void *context, const struct received *received, int *status);
void receiver_serve(struct receiver *receiver, receiver_service *serve, void *context);
/* Waits at most 30 s until there are n requests in all. Returns false if there are fewer. */
bool receiver_wait(struct receiver *receiver, size_t n);
size_t receiver_count(struct receiver *receiver);
/* Returns the i-th request, which lives as long as the receiver. */
const struct received *receiver_request(struct receiver *receiver, size_t i);
/* Copies the value of a header, NUL-terminated, to `value`. Returns false if the request does not
 * have the header. */
bool received_header(const struct received *received, const char *name, char *value, size_t size);
/* Returns the largest number of requests that waited for a response at the same time. */
size_t receiver_most_at_once(struct receiver *receiver);

#endif
