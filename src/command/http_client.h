/* A client for HTTP/1.1 and 2, which keeps its connection from one request to the next. It follows
 * no redirect, verifies certificates against those that the system trusts, and uses the proxy that
 * the environment names (http_proxy, https_proxy, no_proxy). The implementation is libcurl's, which
 * http_client.c alone includes; a build without libcurl refuses to open a client. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_HTTP_CLIENT_H
#define COMMAND_HTTP_CLIENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

/* An answer with a longer body is a fault. The service gives at most half of it. */
#define HTTP_ANSWER_MOST ((size_t)16 << 20)
#define HTTP_HEADERS_MOST 8

struct http_request {
	const char *method;
	const char *url;
	/* "Name: value"; ends with NULL unless it is full. */
	const char *headers[HTTP_HEADERS_MOST];
	struct slice body; /* data NULL: none */
};

struct http_answer {
	int status;
	int64_t retry_after; /* seconds; 0: the answer has none */
	struct slice body; /* in the arena; data NULL: none */
	const char *location; /* where a redirect leads to, in the arena; NULL: it is none */
};

struct http_client;

bool http_client_open(struct http_client **client, struct fault *fault);
/* NULL is ignored. */
void http_client_close(struct http_client *client);

/* True when an answer came, whatever its status. FAULT_UNAVAILABLE when none came, and the same
 * request may have success later; the request may have been carried out all the same.
 * FAULT_INTERNAL for what stays as it is, such as a certificate that is not trusted. */
bool http_client_send(struct http_client *client, struct arena *arena,
		      const struct http_request *request, struct http_answer *answer,
		      struct fault *fault);

#endif
