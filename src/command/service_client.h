/* Sends requests to a running service, for the commands that need one. A request is sent
 * again if there was no response, if the service is briefly unavailable (502, 503, 504) or too
 * busy, or if a request with the same key is in progress (409 with Retry-After): at most three
 * times, with pauses of at most ten seconds in total. Each write has an Idempotency-Key of its own,
 * which stays the same when it is sent again, so it is carried out only once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_SERVICE_CLIENT_H
#define COMMAND_SERVICE_CLIENT_H

#include "command/client_settings.h"
#include "command/http_client.h"
#include "command/options.h"
#include "resources/call.h"

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
	/* The options that all these commands share. */
	const char *url, *token_file;
	bool wants_json;
	bool takes_text; /* responses need not be JSON */
	bool creates; /* a POST is rejected if an object of that name exists (If-None-Match: *) */
	bool acts; /* the media server does it: not repeated after 502 and 504 */
	struct arena *arena; /* for the settings and all requests */
	struct http_client *http;
	struct client_settings settings;
};

/* The caller has set the command and the options. Must be closed in any case. */
bool service_client_open(struct service_client *client, struct fault *fault);

/* Closes the client, prints the fault with the details from the service unless is_done, and flushes
 * standard output. Returns the exit status. */
int service_client_close(struct service_client *client, bool is_done, const struct fault *fault);

struct service_reply {
	int status; /* 0 if there is no response */
	struct slice body; /* as received; data is NULL if there is none */
	json_t *json; /* the body, if it is an object; otherwise NULL; borrowed */
};

/* A member of a body or a query, a text or a number; left out if `text` is NULL and `number` is
 * 0. */
struct service_member {
	const char *name;
	const char *text;
	int64_t number;
};

/* Returns a path with a query of these members, in the client's arena. */
const char *service_client_query(const struct service_client *client, const char *path,
				 const struct service_member *members, size_t n);

/* Sends a request. path: starts after the URL of the service, and includes the query. body: NULL
 * for none; otherwise the request is rejected unless the service knows all members of the body (RFC
 * 7240, handling=strict). The fault has the status and the texts of a refusal. The response is in
 * the client's arena. */
bool service_client_call(struct service_client *client, enum method method, const char *path,
			 const json_t *body, struct service_reply *answer, struct fault *fault);

/* What a command line may name instead of giving its ID. */
enum client_noun { CLIENT_ROOM, CLIENT_BACKEND };

/* Returns an ID. name: an ID, or a name, which is looked up. Returns NULL with a fault if the name
 * does not exist. */
const char *service_client_id(struct service_client *client, enum client_noun noun,
			      const char *name, struct fault *fault);

/* A walk through a list, page by page; its members are of service_client.c. */
struct service_list {
	struct service_client *client;
	const char *path;
	struct fault *fault;
	unsigned most, seen; /* items of the list */
	unsigned page; /* items per page */
	const json_t *items; /* of the page; NULL before the first one */
	size_t at; /* index of the next item */
	bool is_last; /* the page */
	char last[64]; /* where the next page begins; empty before the first page */
	struct arena_mark mark; /* the position in the client's arena before the page */
};

/* Begins a walk. path: may have a query; borrowed. most: the largest number of items; 0 for
 * all. */
struct service_list service_client_list(struct service_client *client, const char *path,
					unsigned most, struct fault *fault);
/* Returns the next item, which lives until the next call; NULL at the end and after a fault. */
const json_t *service_client_next(struct service_list *list);

#endif
