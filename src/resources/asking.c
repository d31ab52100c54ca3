/* See resources/asking.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/asking.h"

#include <assert.h>

/* Seconds after which a client may try again. */
#define RETRY_AFTER_BUSY 2

struct asking *call_ask(struct call *call, const struct id *backend, size_t count)
{
	assert(count > 0 && count <= ASKED_MOST);
	call->asking = arena_alloc(call->arena, sizeof *call->asking);
	*call->asking = (struct asking){
		.account = call->account,
		.backend = *backend,
		.asked = arena_alloc(call->arena, count * sizeof *call->asking->asked),
		.count = count,
	};
	memset(call->asking->asked, 0, count * sizeof *call->asking->asked);
	return call->asking;
}

bool call_is_asking(const struct call *call)
{
	return call->asking != NULL && !call->asking->is_done;
}

bool asked_has_outcome(const struct asked *asked, struct fault *fault)
{
	if (asked->end == ASKED_ANSWERED)
		return true;
	fault_set(fault, FAULT_SERVER_BUSY, NULL);
	fault->retry_after = RETRY_AFTER_BUSY;
	return false;
}
