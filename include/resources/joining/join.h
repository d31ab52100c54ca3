/* Handlers of the exchange of room codes for join tokens (anteroom-api(7), JOINING).
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
	uint64_t number; /* of the transaction that counted the exchange; 0 if none did */
};

handler join;
/* Returns what a code opens. Rejects codes like `join`, but counts only unknown codes. */
handler join_look;
/* Returns access to the media server for the holder of a join token. */
handler token_join;
read_page token_first_page; /* of the code that the join token was exchanged for */

/* Sets FAULT_TOO_MANY, with retry_after in seconds, while this address has used up its budget of
 * unknown codes. All its calls are then rejected, so the service calls this before it reads the
 * body. */
bool join_check_budget(const struct call *call, struct fault *fault);

#endif
