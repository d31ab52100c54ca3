/* An exchange of a code, or its refusal, for the log of joins (background/join_log.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_JOINING_H
#define RESOURCES_JOINING_JOINING_H

#include "resources/call.h"

struct joining {
	struct id account, room;
	struct slice room_name, role, user_id, code, request_id;
	enum join_refusal refusal;
	int64_t time; /* milliseconds */
	uint64_t number; /* of the transaction that counted the exchange; 0 if none did */
};

#endif
