/* What Anteroom asks media servers. Each type has a file of functions that build a request and read
 * its answer (media/livekit.c); a type without them cannot be asked. The requests are made
 * elsewhere (resources/asking.h): nothing here waits for a server.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_SERVER_H
#define MEDIA_SERVER_H

#include "delivery/sender.h"
#include "media/ticket.h"

/* A media server as it is asked. Borrowed. */
struct server {
	enum backend_type type;
	struct slice url; /* of its API: http or https */
	const json_t *config; /* by the table in rules/media_rules.h */
};

/* A POST to a media server. Its texts are in the arena in which it was built. */
struct server_request {
	struct slice url, headers, body;
	size_t answer_most; /* bytes of the answer that are read */
	bool is_once; /* it changes something, so it is never made again */
};

/* What an answer says about the server. */
struct server_verdict {
	bool is_up;
	/* Why it is not up, or that its clock differs: one of the sentences of anteroom-api(7);
	 * empty if all is well. Never text of the answer. */
	char message[100];
};

enum server_capability { SERVER_LIST, SERVER_CAPABILITIES };
extern const char *const server_capability_names[SERVER_CAPABILITIES];
bool server_can(enum backend_type type, enum server_capability capability);

/* Returns the URL of the API that belongs to a backend's url: its own with http for ws. */
struct slice server_api_url(struct arena *arena, struct slice url);

/* Builds the request for the rooms with these names. now: seconds since 1970. The type must have
 * SERVER_LIST. */
void server_list_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const json_t *names, struct server_request *request);
/* Reads its answer. */
void server_read_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const struct outcome *outcome, struct server_verdict *verdict);

/* ---- for the files of the types ---- */

struct server_functions {
	/* The name in "not a LiveKit". */
	const char *product;
	void (*list_rooms)(struct arena *arena, const struct server *server, int64_t now,
			   const json_t *names, struct server_request *request);
	/* The member of an answer with the rooms: an array. */
	const char *rooms;
};
extern const struct server_functions livekit_functions;

#endif
