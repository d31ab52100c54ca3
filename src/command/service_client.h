/* Calls of a live service by its interface, for the commands for rooms, codes and keys. Every call
 * is sent again when no answer came, when the service is away for a moment (502, 503, 504), too
 * busy, or has a request with the same key under way (409 with Retry-After): three times at most,
 * with pauses of ten seconds at most together. A write has an Idempotency-Key of its own, the same
 * each time, so it is carried out once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_SERVICE_CLIENT_H
#define COMMAND_SERVICE_CLIENT_H

#include "command/client_settings.h"
#include "command/http_client.h"
#include "command/options.h"

/* clang-format off */
#define CLIENT_ROWS(to) \
	{ "url", "URL", "the URL of the service (default: $ANTEROOM_URL, or client.conf)", \
	  TO_TEXT(&(to)->url) }, \
	{ "token-file", "FILE", \
	  "a file with the management token (default: $ANTEROOM_TOKEN, or client.conf)", \
	  TO_TEXT(&(to)->token_file) }
#define LIMIT_ROW(to) \
	{ "limit", "N", "shows the first N (default: all)", TO_NUMBER(to, 1, 1000000000) }
/* clang-format on */

struct service_client {
	const struct command *command;
	/* The options of all these commands. */
	const char *url, *token_file;
	bool wants_json;
	struct arena *arena; /* of the settings and of all calls */
	struct http_client *http;
	struct client_settings settings;
};

/* The caller has set the command and the options. To be closed in either case. */
bool service_client_open(struct service_client *client, struct fault *fault);

/* Closes, prints the fault, with the details of the service, unless is_done, and flushes standard
 * output. Returns the exit status. */
int service_client_close(struct service_client *client, bool is_done, const struct fault *fault);

struct service_reply {
	int status; /* 0: there is no answer */
	struct slice body; /* as it came; data NULL: none */
	json_t *json; /* the same, an object, or NULL; borrowed */
};

/* A member of a body or a query, a text or a number; it is left out when `text` is NULL and
 * `number` 0. */
struct service_member {
	const char *name;
	const char *text;
	int64_t number;
};

/* A path with a query of these members, in the client's arena. */
const char *service_client_query(const struct service_client *client, const char *path,
				 const struct service_member *members, size_t n);

/* create: a POST that is refused when there is a thing of that name already (If-None-Match: *). */
enum service_method { SERVICE_GET, SERVICE_POST, SERVICE_CREATE, SERVICE_DELETE };

/* One call. path: with the query, after the URL of the service. body: NULL for none; else the
 * answer is refused unless the service understands all of its members (RFC 7240, handling=strict).
 * The fault has the status and the texts of a refusal. The answer lives in the client's arena. */
bool service_client_call(struct service_client *client, enum service_method method,
			 const char *path, const json_t *body, struct service_reply *answer,
			 struct fault *fault);

/* Called with each item of a list. */
typedef void service_client_visit(void *context, const json_t *item);

/* Walks a list page by page. path: may have a query. most: how many items; 0: all. */
bool service_client_walk(struct service_client *client, const char *path, unsigned most,
			 service_client_visit *visit, void *context, struct fault *fault);

#endif
