/* A client for HTTP/1.1 and 2, which keeps its connection from one request to the next. It follows
 * no redirects, verifies certificates against the authorities that the system trusts, and uses the
 * proxy of the environment (http_proxy, https_proxy, no_proxy). It is implemented with libcurl,
 * which only http_client.c includes; a build without libcurl fails to open a client. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_HTTP_CLIENT_H
#define COMMAND_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"

/* A response with a longer body is a fault. The largest response of the service is half of it. */
#define HTTP_ANSWER_MOST ((size_t)16 << 20)
#define HTTP_HEADERS_MOST 8

struct http_request {
	const char *method;
	const char *url;
	/* "Name: value"; ends with NULL unless it is full. */
	const char *headers[HTTP_HEADERS_MOST];
	struct slice body; /* data is NULL if there is no body */
	/* Where a body of any size goes if the status is 200; NULL: into the answer. */
	FILE *file;
};

struct http_answer {
	int status;
	int64_t retry_after; /* seconds; 0 if the response has none */
	struct slice body; /* in the arena; data is NULL if there is no body */
	const char *location; /* target of a redirect, in the arena; otherwise NULL */
};

struct http_client;

bool http_client_open(struct http_client **client, struct fault *fault);
/* NULL is allowed. */
void http_client_close(struct http_client *client);

/* Returns true if a response came, whatever its status. FAULT_UNAVAILABLE if none came, and the
 * same request may succeed later; it may have been carried out nevertheless. FAULT_INTERNAL for a
 * lasting failure, such as a certificate that is not trusted. */
bool http_client_send(struct http_client *client, struct arena *arena,
		      const struct http_request *request, struct http_answer *answer,
		      struct fault *fault);

#endif
