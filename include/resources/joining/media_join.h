/* The way from an account's backends to a ticket for one person (media/ticket.h): which backend is
 * in effect for a room, and what a role allows there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_MEDIA_JOIN_H
#define RESOURCES_JOINING_MEDIA_JOIN_H

#include "resources/codes/code_record.h"
#include "resources/media/media_record.h"
#include "resources/rooms/room_record.h"
#include "resources/templates/template_record.h"

/* Who joins; all is borrowed. */
struct admission {
	const struct room_record *room;
	const struct template_record *template;
	struct slice role; /* its name */
	const json_t *role_document;
	const struct code *code; /* NULL: none is known */
	struct slice user_id;
	bool is_known; /* see media/ticket.h */
	struct slice name; /* as sent; empty: none */
	int64_t since, expires; /* seconds: of the token that the ticket goes with */
	struct slice jti; /* see media/ticket.h */
};

/* The backend that is in effect for rooms of the template; NULL: none. */
const struct backend *media_backend_of(const struct media *media,
				       const struct template_record *template);
/* maxPeerCount is -1. */
bool media_admits_nobody(const json_t *role);
/* Writes the member `join` of the answer; writes nothing when the role admits nobody. FAULT_DAMAGED
 * when the signing key is missing. */
bool media_join(struct call *call, const struct media *media, const struct backend *backend,
		const struct admission *admission, struct json_writer *answer, struct fault *fault);

/* What stands for a code where the code itself may not: hex of HMAC-SHA-256 under the account's
 * secret. */
struct slice media_code_hash(struct arena *arena, const struct media *media, struct slice letters);

#endif
