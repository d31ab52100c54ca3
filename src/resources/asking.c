/* See resources/asking.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/asking.h"

#include <assert.h>

/* Seconds after which a client may try again. */
#define RETRY_AFTER_BUSY 2
#define RETRY_AFTER_DOWN 5

struct asking *call_ask(struct call *call, const struct id *backend, size_t count)
{
	struct asking *asking = arena_alloc(call->arena, sizeof *asking);

	assert(count > 0 && count <= ASKED_MOST);
	*asking = (struct asking){
		.account = call->account,
		.backend = *backend,
		.rank = ASKED_TO_MANAGE,
		.came = call->started,
		.asked = arena_zero(call->arena, count * sizeof *asking->asked),
		.count = count,
	};
	/* Another run of `settle` needs the answers again. */
	if (call->asking != NULL && call->asking->is_done) {
		asking->questioned = call->asking->questioned;
		asking->presence = call->asking->presence;
		call->asks_next = asking;
	} else {
		call->asking = asking;
	}
	return asking;
}

bool call_can_ask(const struct call *call, struct fault *fault)
{
	return call->environment->media_client != NULL ||
	       fault_detail(fault, FAULT_CANNOT, "the program was built without libcurl");
}

bool call_can_act(const struct call *call, enum backend_type type,
		  enum server_capability capability, struct fault *fault)
{
	if (!server_can(type, capability))
		return fault_detail(fault, FAULT_CANNOT, "%s", server_capability_names[capability]);
	if (call->environment->live != LIVE_ON)
		return fault_detail(fault, FAULT_CANNOT, "--live watch");
	return call_can_ask(call, fault);
}

enum server_result asked_result(struct call *call, const struct asked *asked,
				const struct server *server, const char *missing,
				struct fault *fault)
{
	enum server_result result = SERVER_MAYBE_DONE;
	struct server_verdict verdict;

	if (asked->end == ASKED_ANSWERED)
		result = server_read_result(call->arena, server, call->now / 1000, &asked->outcome,
					    &verdict);
	else if (!asked->outcome.was_sent)
		result = SERVER_FAILED;
	switch (result) {
	case SERVER_DONE:
		break;
	case SERVER_HAS_NOBODY:
		fault_set(fault, FAULT_NOT_FOUND, "%s", missing);
		break;
	case SERVER_FORBIDS:
		fault_detail(fault, FAULT_CANNOT, "%s", verdict.message);
		break;
	case SERVER_MAYBE_DONE:
		fault_set(fault, FAULT_MAYBE_DONE, NULL);
		break;
	case SERVER_FAILED:
		if (asked_has_outcome(asked, fault))
			(void)asked_is_up(&verdict, fault);
		break;
	}
	return result;
}

bool asking_is_done(struct call *call, const struct server *server, const char *missing,
		    struct fault *fault)
{
	const struct asking *asking = call->asking;
	bool has_done = false, has_failed = false;

	for (size_t i = 0; i < asking->count; i++) {
		struct fault own = FAULT_INITIAL;
		const enum server_result result = asked_result(call, &asking->asked[i], server,
							       missing, &own);

		has_done = has_done || result == SERVER_DONE || result == SERVER_MAYBE_DONE;
		if (result == SERVER_DONE)
			continue;
		if (!has_failed)
			*fault = own;
		has_failed = true;
	}
	/* Some requests were done, and some were not. */
	if (has_failed && has_done && fault->kind != FAULT_MAYBE_DONE) {
		*fault = FAULT_INITIAL;
		fault_set(fault, FAULT_MAYBE_DONE, NULL);
	}
	return !has_failed;
}

bool asked_is_up(const struct server_verdict *verdict, struct fault *fault)
{
	if (verdict->is_up)
		return true;
	fault_detail(fault, FAULT_SERVER_DOWN, "%s", verdict->message);
	fault->retry_after = RETRY_AFTER_DOWN;
	return false;
}

bool call_is_asking(const struct call *call)
{
	return call->asking != NULL && !call->asking->is_done;
}

bool asked_has_outcome(const struct asked *asked, struct fault *fault)
{
	if (asked->end == ASKED_ANSWERED)
		return true;
	if (asked->end == ASKED_TOO_LARGE)
		return fault_detail(fault, FAULT_TOO_LARGE,
				    "the request to the media server would be larger than %zu KB",
				    SENDER_BYTES_MOST >> 10);
	fault_set(fault, FAULT_SERVER_BUSY, NULL);
	fault->retry_after = RETRY_AFTER_BUSY;
	return false;
}
