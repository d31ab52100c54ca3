/* Who comes into a room, or is inside: what is known of whoever the rules are asked about
 * (resources/entry_rules/entry_rules.h, which explains the moments).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENTRY_RULES_ENTRANT_H
#define RESOURCES_ENTRY_RULES_ENTRANT_H

#include "accounts/accounts.h"
#include "resources/codes/code_life.h"
#include "resources/entry_rules/live_limits.h"
#include "resources/media/placing.h"
#include "resources/stored/door_record.h"
#include "resources/stored/media_record.h"

enum entry_moment {
	ENTRY_EXCHANGE,
	ENTRY_LIVEKIT,
	ENTRY_DESCRIBE,
	ENTRY_WAITING,
	ENTRY_ADMITTED,
	ENTRY_TOKEN,
	ENTRY_CALLER,
	ENTRY_NEW_INSIDE,
	ENTRY_INSIDE,
	ENTRY_ROLE,
	ENTRY_RECORDINGS, /* with a code, without coming in */
	ENTRY_MOMENTS
};

/* A person whom the rules are asked about, or a room. What is not known at the moment stays zero;
 * its rules do not ask for it. Everything is borrowed. */
struct entrant {
	struct call *call;
	enum entry_moment moment;

	/* ---- facts that the owner sets ---- */

	const struct room_record *room; /* NULL if it is deleted */
	const struct template_record *template; /* unset until the role is known */
	const struct account *account; /* NULL if it does not exist */
	bool names_code; /* the person came by a code */
	const struct code *code; /* NULL if it is not known, or deleted */
	bool code_is_enabled;
	bool is_repeated; /* an exchange that was counted before */
	bool consents; /* the person agrees to be recorded */
	struct slice role; /* its present name; data NULL if it is not known */
	bool has_no_role; /* that of the code, or of the stay, is deleted */
	struct slice user_id; /* of the person; empty if it has none */
	struct slice claimed_user; /* which the code must have; data NULL for any */
	struct slice entry; /* of the person's token; empty if it has none */
	struct slice code_hash; /* of the code; data NULL until it is known */
	const struct media *media; /* of the account; NULL if it has none */
	/* Of the room; NULL if it has none. Of a room of a pool that is nowhere yet: one of the
	 * pool, which tells the type. */
	const struct backend *backend;
	struct placing *placing; /* of a room of a pool; else NULL */
	/* At a door. */
	bool has_door; /* its record must be read (struct room_codes); inside: it is locked */
	bool asks, is_denied, is_patient; /* asks: whoever comes; is_patient: wants a ticket */
	struct slice denial; /* what a moderator wrote */
	/* Of a room in session. */
	const struct live *live;
	const struct peer *peer; /* NULL: the room is asked about */
	bool checks_bans; /* else what was found when the person came in holds */

	/* ---- facts that are read when they are asked for ---- */

	const json_t *role_document, *room_document;
	struct slice removal; /* what was written when the person was put out */
	int64_t longest_end; /* of the session, in milliseconds; 0 until it is known */
	const struct door *door; /* NULL until it is known */
	enum door_state door_state; /* if it is known: what it does now */
	bool has_lock, is_locked_out; /* is_locked_out: if has_lock */
	bool has_fit;
	enum live_fit fit;

	/* ---- results ---- */

	/* The time, in milliseconds, from which on a rule that holds now is broken, if that is
	 * earlier than what was set. */
	int64_t until;
	bool spares_some; /* a rule of the room is broken, but not for somebody inside */
	struct fault *fault; /* of the question being asked */
};

/* The documents of the role, which must be known, and of the room: decoded when they are first
 * needed, because most exchanges need neither. */
const json_t *entrant_role(struct entrant *entrant);
const json_t *entrant_room(struct entrant *entrant);
/* Reads the door of the room, which may have no record. */
bool entrant_find_door(struct entrant *entrant, struct fault *fault);
/* Returns true if the account set the user_id, not the person. */
bool entrant_user_is_known(const struct entrant *entrant);
/* Sets the role to another one of the template. */
void entrant_set_role(struct entrant *entrant, struct slice role);
/* Finds the account's media servers and signing keys, and the backend that the room uses, or where
 * it is in its pool. media: set if entrant->media is then, to it. */
bool entrant_find_media(struct entrant *entrant, struct media *media, struct fault *fault);

#endif
