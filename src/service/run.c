/* See service/run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/run.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "resources/asking.h"
#include "resources/audit.h"
#include "resources/stored/code_words.h"
#include "resources/door/door_change.h"
#include "resources/live/live_enforcement.h"
#include "resources/media/failures.h"
#include "resources/retries/kept_answer.h"
#include "resources/reads.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored.h"
#include "resources/route.h"
#include "service/auth.h"
#include "background/dispatcher.h"
#include "service/idempotency.h"

/* How often a call is run at most, if the store asks for reruns. */
#define AGAIN_MOST 10
/* For at most this many milliseconds a call is run again, or waits for another call with the same
 * Idempotency-Key. */
#define AGAIN_UNTIL STORE_LOCK_MOST

/* The parts of the call that a run changes, as they were before the first run. Copying the whole
 * call would take 1 % of the time of a GET. If a code has led to an account, the account stays: the
 * next run writes for it from the start, and so waits as one of its writes (store_set_account). */
struct start {
	struct arena_mark mark;
	struct findings findings;
};

/* Releases the memory of the last run, including its answer. */
static void begin_again(struct call *call, const struct start *start, struct fault *fault)
{
	call_reset_answer(call);
	call->answer.status = 0;
	call->answer.parts = NULL;
	call->answer.part_capacity = 0;
	call->answer.awaited = 0;
	call->findings = start->findings;
	arena_release(call->arena, &start->mark);
	*fault = FAULT_INITIAL;
}

/* ---- one run ---- */

/* Loads what the path names, and runs the handler. What has changed after the media server did
 * something does not matter, so nothing is loaded then. If a load asks the media server, the rest
 * follows when it has answered; if it wants to write, in the next run. */
static bool load_and_run(struct call *call, struct fault *fault)
{
	const struct route *route = call->route;
	const struct asking *asking = call->asking;
	const bool settles = asking != NULL && !asking->is_survey && route->settle != NULL;
	const struct load *loads = !settles	       ? route->loads
				   : asking->step == 0 ? route->settle_loads
						       : NULL;

	reads_announce(call, loads, route->reads, kept_answer_reads);
	if (!loads_run(call, loads, fault))
		return false;
	if (call->run.wants_write || call->asking != asking || call->asks_next != NULL)
		return true;
	return (settles ? route->settle : route->run)(call, fault);
}

/* Runs the handler in its transaction, then commits with the events. */
static bool run_once(struct call *call, enum store_access access, struct fault *fault)
{
	struct store *store = call->environment->store;
	const struct route *route = call->route;
	bool is_done, is_replay = false, is_to_be_stored;

	call->run = (struct run){ 0 };
	call->asks_next = NULL;
	if (call->asking != NULL && !call->asking->is_done)
		call->asking = NULL;
	if (!store_begin(store, access, call->arena, &call->transaction, fault))
		return false;
	store_set_account(call->transaction, &call->account);
	if (store_has_roster(store))
		store_set_roster(call->transaction,
				 route->is_open ? STORE_ROSTER_ANY : call->roster_generation);
	call->now = clock_now(call->environment->clock);
	if (call->now < call->least_now)
		call->now = call->least_now;
	if (access == STORE_WRITE)
		call_draw_etag(call);
	is_done = stored_sound(call, load_and_run(call, fault), fault);
	if (access == STORE_READ) {
		store_abandon(call->transaction);
		return is_done;
	}
	/* A caller who lacks the scope does not get the stored response either. */
	if (call->idempotency_key.data != NULL && fault->scope == NULL)
		is_done = idempotency_end(call, is_done, &is_replay, fault);
	if (is_replay)
		call->asking = NULL;
	call->run.goes_on = call->run.goes_on && is_done && !is_replay;
	is_to_be_stored = is_done && !is_replay && !call->validates_only;
	/* Count the codes of other accounts that it asked for, and write its events. */
	if (is_to_be_stored)
		is_done = code_words_store_asked(call, fault) && audit_write(call, fault);
	if (is_to_be_stored && is_done) {
		is_done = store_commit(call->transaction, &call->answer.awaited, fault);
		kept_usage_end(call, is_done);
		if (is_done) {
			live_after_commit(call);
			door_after_commit(call);
			failures_after_commit(call);
		}
		if (is_done && call->run.test != NULL)
			dispatcher_test(call->environment->dispatcher, &call->account,
					call->run.test);
		return is_done;
	}
	/* A refusal, a stored response, or a call that is only validated. Its answer may depend on
	 * commits that are not durable yet, so it waits for the last commit that it saw. */
	kept_usage_end(call, false);
	call->run.operations = 0;
	call->answer.awaited = store_seen(call->transaction);
	store_abandon(call->transaction);
	return is_done;
}

/* ---- and again ---- */

/* Pauses at random, so that two calls that keep conflicting do not run again at the same time. */
static void let_others(const struct call *call, unsigned agains)
{
	uint32_t chance;

	if (agains < 2 || !store_is_shared(call->environment->store))
		return;
	clock_random(call->environment->clock, &chance, sizeof chance);
	(void)poll(NULL, 0, (int)(chance % (1u << agains)));
}

/* Damage that is seen while others write may not be real, so the call is run again once. */
static bool is_to_be_run_again(const struct call *call, enum store_access access,
			       const struct fault *fault, unsigned agains)
{
	return fault->kind == FAULT_AGAIN ||
	       (fault->kind == FAULT_DAMAGED && access == STORE_WRITE && agains == 0 &&
		store_is_shared(call->environment->store));
}

uint64_t run_account_mark(const struct id *account)
{
	uint64_t mark;

	memcpy(&mark, account->bytes + sizeof account->bytes - sizeof mark, sizeof mark);
	return mark | 1;
}

bool run_would_wait(const struct call *call)
{
	return call->may_be_deferred && !call->is_deferred &&
	       (call->is_serial ||
		(route_is_for_writing(call->route) &&
		 atomic_load_explicit(call->environment->alone, memory_order_relaxed) ==
			 run_account_mark(&call->account)));
}

bool run_call(struct call *call, struct fault *fault)
{
	const bool has_key = call->idempotency_key.data != NULL;
	const int64_t begun = has_key ? clock_monotonic() : 0;
	const struct start start = {
		.mark = arena_mark(call->arena),
		.findings = call->findings,
	};
	enum store_access access = STORE_READ;
	int64_t until = 0; /* set when it is run again */
	unsigned agains = 0;

	if (call->route->access == ROUTE_STATELESS)
		return call->route->run(call, fault);
	if (has_key) {
		bool waits;

		if (!idempotency_claim(call, &waits, fault))
			return false;
		if (waits)
			return true;
	}
	if (call->route->access == ROUTE_WRITE || has_key || call->asking != NULL ||
	    (call->is_serial && call->is_deferred))
		access = STORE_WRITE;
	for (;;) {
		if (run_once(call, access, fault)) {
			if (call->run.goes_on && !call->validates_only) {
				call->step = call->run.step;
				agains = 0;
				until = 0;
			} else if (call->run.wants_write) {
				if (run_would_wait(call))
					return true;
				call->run.wants_write = false;
				access = STORE_WRITE;
			} else if (call->validates_only) {
				call->asking = NULL;
				call_reset_answer(call);
				return call_answer(call, SLICE("{\"valid\":true}"));
			} else {
				return true;
			}
		} else if (has_key && fault->kind == FAULT_AGAIN &&
			   clock_monotonic() - begun >= AGAIN_UNTIL) {
			/* Another request with this key has held the records that this one needs
			 * for longer than it may wait. */
			*fault = FAULT_INITIAL;
			return idempotency_refuse(fault);
		} else if (!is_to_be_run_again(call, access, fault, agains) ||
			   ++agains == AGAIN_MOST || (until != 0 && clock_monotonic() >= until)) {
			return false;
		} else {
			if (until == 0)
				until = clock_monotonic() + AGAIN_UNTIL;
			let_others(call, agains);
		}
		begin_again(call, &start, fault);
		/* The accounts may have changed. */
		if (store_has_roster(call->environment->store) && !auth_check(call, fault))
			return false;
	}
}
