/* A ticket: what lets one person into one room of one media server, as tokens and links, and what
 * of the role that server cannot hold. anteroom-api(7), JOINING, has the tokens claim by claim.
 *
 * A role becomes less on a media server, never more: who may not do all that a moderator there may
 * is none.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_TICKET_H
#define MEDIA_TICKET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "media/signing.h"

/* In stored records: a number never gets another meaning. */
enum backend_type {
	BACKEND_LIVEKIT,
	BACKEND_JITSI,
	BACKEND_GALENE,
	BACKEND_BIGBLUEBUTTON,
	BACKEND_JANUS,
	BACKEND_JWT,
	BACKEND_TYPES_COUNT
};
extern const char *const backend_type_names[BACKEND_TYPES_COUNT];
const char *backend_type_name(enum backend_type type);

/* All slices and documents are borrowed. */
struct ticket_server {
	enum backend_type type;
	struct slice name, url;
	const json_t *config; /* as rules/media_rules.h has it */
	/* The key that signs with an alg of public keys: */
	enum signing_alg alg; /* SIGNING_ALGS: none */
	struct slice kid, private_key;
};

struct ticket_guest {
	struct slice customer_id, room_id, room_name, role, user_id;
	struct slice name; /* as others see it */
	bool is_known; /* the user_id is vouched for; else the person could be anyone */
	/* What the role allows. */
	bool audio, video, screen;
	bool subscribes, subscribes_to_all;
	bool moderates, records, streams;
	bool has_most_peers;
	/* The room: 0, no bound. */
	int64_t size, seconds_most;
	bool is_recorded;
	int64_t now, expires; /* seconds since 1970 */
	struct slice jti; /* a UUID; data NULL: one is drawn */
};

/* Writes the members of a ticket, backend, type, url, room and so on. False: the key cannot
 * sign. */
bool ticket_write(struct arena *arena, const struct clock *clock,
		  const struct ticket_server *server, const struct ticket_guest *guest,
		  struct json_writer *ticket);

#endif
