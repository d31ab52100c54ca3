/* Access: what lets one person into one room of one media server, as tokens and links, with the
 * restrictions of the role that the server cannot enforce. anteroom-api(7), JOINING, describes the
 * tokens claim by claim.
 *
 * A media server may give a role fewer rights, but never more: a person is a moderator there only
 * if the role allows everything that a moderator may do.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_ACCESS_H
#define MEDIA_ACCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "media/backend_type.h"
#include "media/signing.h"

/* Where the name of a person comes from. Stored in records, so a number never gets another
 * meaning. */
enum name_origin {
	NAME_CHOSEN, /* by the person */
	NAME_GIVEN, /* by a code or the account */
	NAME_COUNTED, /* the role and a number, since there was none */
	NAME_ORIGINS
};
/* The attribute with it, which names the second and third: people cannot set such attributes. */
#define NAME_ORIGIN_ATTRIBUTE "anteroom.name"
extern const char *const name_origin_attributes[NAME_ORIGINS];

/* The attributes with when a person agreed to be recorded, and which sentence was shown. */
#define CONSENT_ATTRIBUTE "consent"
#define CONSENT_TEXT_ATTRIBUTE "anteroom.consent_text"

/* All slices and documents are borrowed. */
struct access_server {
	enum backend_type type;
	struct slice name, url;
	const json_t *config; /* by the table in rules/media_rules.h */
	/* The signing key, if the alg needs one. */
	enum signing_alg alg; /* SIGNING_ALGS if there is none */
	struct slice kid, private_key;
	bool holds_limits; /* this service puts out people who are too many */
};

struct access_guest {
	struct slice customer_id, room_id, room_name, role, user_id;
	struct slice name; /* display name */
	enum name_origin name_origin;
	struct slice metadata; /* for programs in the room; may be empty */
	const json_t *attributes; /* texts by name, besides those of this service; NULL for none */
	bool is_known; /* the user_id was set by the account, not by the person */
	/* What the role may do. */
	bool audio, video, screen; /* audio: of the microphone */
	bool screen_audio; /* the sound of what a screen shows */
	bool data; /* messages */
	bool subscribes, subscribes_to_all;
	bool moderates, records, streams;
	bool has_most_peers;
	/* Limits of the room; 0 for no limit. */
	int64_t size, seconds_most;
	bool is_recorded;
	/* Agents for the room: objects with agentName, and metadata and deployment if they are set.
	 * NULL for none. */
	const json_t *agents;
	int64_t now, expires; /* seconds since 1970 */
	struct slice jti; /* a UUID; data is NULL to generate one */
	/* What tells this stay's token from others of the same user_id: 32 hex digits. */
	struct slice entry;
	struct slice code; /* identifies the code; empty if the person has none */
	/* When the person agreed to be recorded, in seconds since 1970 as text, and which sentence
	 * was shown; empty if the person did not agree. data NULL: as it is. */
	struct slice consent, consent_text;
	/* When the person raised a hand, as text; empty if it is down. data NULL: as it is. Only
	 * for somebody inside (server_update_person). */
	struct slice hand;
};

/* Sets what the server cannot enforce of the guest's role, and returns how many that is. */
#define ACCESS_NOT_ENFORCED_MOST 7
size_t access_not_enforced(const struct access_server *server, const struct access_guest *guest,
			   const char *names[ACCESS_NOT_ENFORCED_MOST]);

/* Writes the members of the access: backend, type, url, room and so on. Returns false if the key
 * cannot sign. */
bool access_write(struct arena *arena, const struct clock *clock,
		  const struct access_server *server, const struct access_guest *guest,
		  struct json_writer *answer);

/* Returns the token alone, for a LiveKit. */
struct slice access_livekit_token(struct arena *arena, const struct clock *clock,
				  const struct access_server *server,
				  const struct access_guest *guest);

/* Writes the members of the access of a recorder, which nobody sees and which publishes nothing, to
 * a LiveKit: without an entry. times: in seconds since 1970. */
void access_write_recorder(struct arena *arena, const struct access_server *server,
			   struct slice room_id, struct slice identity, int64_t now,
			   int64_t expires, struct json_writer *answer);

#endif
