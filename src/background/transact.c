/* See background/transact.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/transact.h"

#include "resources/audit.h"
#include "resources/live/live_queue.h"
#include "resources/media/failures.h"

/* Times that a transaction is run. */
#define RUNS_MOST 10

struct transact transact_begin(struct transactor *work, enum store_access access,
			       struct arena *arena, const struct id *account, struct fault *fault)
{
	return (struct transact){
		.work = work,
		.access = access,
		.arena = arena,
		.account = *account,
		.fault = fault,
	};
}

/* Commits what is done. */
static void end_run(struct transact *run)
{
	struct live_queue *queue = run->work->environment->live_queue;
	struct call *call = &run->call;
	uint64_t number;

	if (run->is_done && run->access == STORE_WRITE)
		run->is_done = audit_write(call, run->fault);
	if (run->is_done && run->access == STORE_WRITE && store_has_changes(call->transaction)) {
		run->is_done = store_commit(call->transaction, &number, run->fault);
		run->work->has_committed = true;
		if (run->is_done)
			failures_after_commit(call);
		if (run->is_done && call->run.wants != 0 && queue != NULL)
			live_queue_want(queue, &run->account, &call->run.wanted, call->run.wants);
	} else {
		store_abandon(call->transaction);
	}
	run->is_open = false;
	arena_use_for_json(run->json_before);
}

/* Returns false. */
static bool end_all(struct transact *run)
{
	run->has_ended = true;
	damage_log_add(&run->work->damage, run->work->event, &run->account, run->fault);
	return false;
}

bool transact_again(struct transact *run)
{
	const struct environment *environment = run->work->environment;

	if (run->has_ended)
		return false;
	if (run->is_open) {
		end_run(run);
		if (run->is_done || run->fault->kind != FAULT_AGAIN || run->runs == RUNS_MOST)
			return end_all(run);
	}

	run->is_done = false;
	run->call = (struct call){
		.environment = environment,
		.arena = run->arena,
		.account = run->account,
		.actor.kind = ACTOR_SERVICE,
		.now = clock_now(environment->clock),
	};
	*run->fault = FAULT_INITIAL;
	if (run->runs++ == 0)
		run->mark = arena_mark(run->arena);
	else
		arena_release(run->arena, &run->mark);
	if (!store_begin(environment->store, run->access, run->arena, &run->call.transaction,
			 run->fault))
		return end_all(run);
	run->is_open = true;
	run->json_before = arena_use_for_json(run->arena);
	call_set_account(&run->call);
	call_draw_etag(&run->call);
	return true;
}

void transact_end(struct transact *run)
{
	if (!run->is_open)
		return;
	run->is_done = false;
	end_run(run);
	(void)end_all(run);
}

bool transact_may_pass(const struct fault *fault)
{
	return fault->kind == FAULT_UNAVAILABLE || fault->kind == FAULT_AGAIN ||
	       fault->kind == FAULT_BUSY;
}
