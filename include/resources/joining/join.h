/* The exchange of a room code for a token (anteroom-api(7), joining). Handler (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_JOIN_H
#define RESOURCES_JOINING_JOIN_H

#include "resources/reads.h"

/* An exchange of a code, or its refusal, for the log of joins (background/join_log.h). */
struct joining {
	struct id account, room;
	struct slice room_name, role, user_id, code, request_id;
	enum join_refusal refusal;
	int64_t time; /* milliseconds */
	uint64_t number; /* of the transaction that counted the exchange; 0: none did */
};

handler join;
/* What a code opens: refused as the exchange is, but counted only when the code is unknown. */
handler join_look;
/* For who has a token for joining: the way into the room on its media server. */
handler token_join;
read_page token_first_page; /* of the code that the token was exchanged for */

/* FAULT_TOO_MANY, with retry_after in seconds, while this address has used up its budget of unknown
 * codes. All its calls are refused then, so the service asks before it reads the body. */
bool join_check_budget(const struct call *call, struct fault *fault);

#endif
