/* Makes the access (media/access.h) of one person: finds the backend that a room uses and what the
 * role allows there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_MEDIA_JOIN_H
#define RESOURCES_MEDIA_MEDIA_JOIN_H

#include "resources/stored/code_record.h"
#include "resources/stored/live_record.h"
#include "resources/stored/media_record.h"
#include "resources/stored/room_record.h"
#include "resources/stored/template_record.h"

/* A person who joins; everything is borrowed. */
struct admission {
	const json_t *config; /* of the backend */
	const struct room_record *room;
	const json_t *room_document;
	const struct template_record *template;
	struct slice role; /* its name */
	const json_t *role_document;
	const struct code *code; /* NULL if it is not known */
	struct slice code_hash; /* of `code` (media_code_hash) */
	struct slice user_id;
	bool is_known; /* see media/access.h */
	struct slice name; /* the display name */
	enum name_origin name_origin;
	unsigned held; /* from the role (media_read_role) */
	struct slice metadata; /* as sent, for a code without metadata; may be empty */
	const json_t *attributes; /* as sent; NULL for none */
	const json_t *agents; /* for the room (media_agents) */
	int64_t since, expires; /* of the join token, in seconds since 1970 */
	struct slice jti, entry, consent, consent_text; /* see media/access.h */
};

/* Returns the agents that the template names for its rooms, as in struct access_guest. asked:
 * agents with agent_name, whose metadata and deployment take the place of the template's; or
 * NULL. */
const json_t *media_agents(struct call *call, const struct template_record *template,
			   const json_t *asked);
/* Returns the agent with this name in a list, where `member` has the name; or NULL. */
const json_t *media_agent_named(const json_t *agents, const char *member, struct slice name);
/* Sets what the role, with this document, may do at a media server. held: what it may not publish
 * now (a set of 1 << enum held_source). */
void media_read_role(const json_t *role, const struct template_record *template, unsigned held,
		     struct access_guest *guest);
/* Returns true if the role has the permission. */
bool media_permits(const json_t *role, const char *permission);
/* Returns true if people with the role are moderators at a media server: the role has `moderator`,
 * or else all powers of one. */
bool media_moderates(const json_t *role);
/* Returns what people with the role lack to start and stop what this permission is about, a
 * recording (browserRecording), a live stream (hlsStreaming) or an external stream (rtmpStreaming):
 * the permission, or else "moderator", because the permissions are true by default. NULL if they
 * may. */
const char *media_lacks_to_start(const json_t *role, const char *permission);
/* maxPeerCount of a role: 0 for no limit. */
int64_t media_most_peers(const json_t *role);
/* True if it is -1. */
bool media_admits_nobody(const json_t *role);
/* Returns the most people in the room; 0 for no limit. */
int64_t media_room_size(const json_t *room_document);
/* Returns true if the limits of roles and rooms are held at such a media server. */
bool media_holds_limits(const struct call *call, enum backend_type type);
/* Writes the member `join` of the response; writes nothing if the role admits nobody. Sets
 * FAULT_DAMAGED if the signing key is missing. */
bool media_join(struct call *call, const struct media *media, const struct backend *backend,
		const struct admission *admission, struct json_writer *answer, struct fault *fault);

/* Returns the token alone, for a backend that is a LiveKit. The role must admit people. */
bool media_livekit_token(struct call *call, const struct media *media,
			 const struct backend *backend, const struct admission *admission,
			 struct slice *token, struct fault *fault);

#endif
