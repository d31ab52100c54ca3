/* Room codes, and joining with one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROOM_CODE_RULES_H
#define RULES_ROOM_CODE_RULES_H

#include "rules/text_rules.h"

/* A room code in a response. */
extern const struct shape room_code_shape;
/* POST /v2/room-codes/code with the code in the body, and with the code in the path. */
extern const struct shape code_switch_shape;
extern const struct shape code_enabled_shape;

/* The largest max_uses. */
#define USES_MOST 1000000
/* POST /v2/room-codes/room/{room_id}/role/{role}, and .../rotate. */
extern const struct shape new_code_shape;
extern const struct shape rotation_shape;
/* PATCH /v2/room-codes/code/{code}. */
extern const struct shape code_patch_shape;
/* A room code in POST /v2/import. */
extern const struct shape imported_code_shape;
/* The states of a code, in order of precedence: a response shows the first that applies. */
#define CODE_STATES \
	ONE_OF("role_deleted", "disabled", "expired", "used_up", "not_yet_valid", "active")

/* POST /v2/token. */
extern const struct shape join_shape;
extern const struct shape token_answer_shape;
/* Its response to a person who waits, and GET /v2/tickets/{ticket}. */
extern const struct shape ticket_given_shape;
extern const struct shape ticket_shape;
/* POST /v2/livekit/{code}. */
extern const struct shape livekit_join_shape, livekit_query, livekit_join_answer_shape;
/* The most origins whose pages may show the join page of an account in a frame. */
#define EMBED_ORIGINS_MOST 8
/* GET /v2/join/{code}. */
extern const struct shape opened_shape;
/* POST /v2/token/join. */
extern const struct shape media_join_shape;
extern const struct shape media_join_answer_shape;

/* The restrictions of roles that some media servers cannot enforce, and one of them. */
#define RESTRICTIONS_NOT_ENFORCED \
	"publish.audio", "publish.video", "publish.screen", "subscribe", "max_peers", \
		"moderation", "expiry"
extern const struct field not_enforced_item;

#endif
