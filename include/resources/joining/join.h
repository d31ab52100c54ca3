/* Handlers of the exchange of room codes for join tokens (anteroom-api(7), JOINING). Those that
 * lead into a room first have the media server make it, where rooms do not make themselves
 * (resources/live/made_rooms.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_JOIN_H
#define RESOURCES_JOINING_JOIN_H

#include "resources/reads.h"
#include "resources/stored/room_record.h"

/* An exchange of a code, or its refusal, for the log of joins (background/join_log.h). */
struct joining {
	struct id account, room;
	struct slice room_name, role, user_id, code, request_id;
	enum join_refusal refusal;
	int64_t time; /* milliseconds */
	uint64_t number; /* of the transaction that counted the exchange; 0 if none did */
};

handler join;
handler join_settle;
/* LiveKit's token endpoint (resources/joining/livekit_join.h). */
handler join_livekit;
handler join_livekit_settle;
/* Returns what was decided about the ticket of somebody who waits; if it is admitted, exchanges
 * it. */
handler tickets_get;
/* Returns what a code opens. Rejects codes like `join`, but counts only unknown codes. */
handler join_look;
/* Returns access to the media server for the holder of a join token. */
handler token_join;
handler token_join_settle;
read_page token_first_page; /* of the code that the join token was exchanged for */

/* The holder of a join token who calls from inside the room. */
struct bearer {
	struct room_record room;
	struct template_record template;
	bool has_backend; /* the room uses one; `backend` is set */
	struct id backend;
	bool name_is_fixed; /* by the code of the token */
};
/* Checks that the holder of the join token may be in its room now, as token_join does. */
bool token_check(struct call *call, struct bearer *bearer, struct fault *fault);

#endif
