/* See background/transact.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/transact.h"

#include "resources/audit.h"
#include "resources/live/live_queue.h"

/* Times that a transaction is run again. */
#define AGAIN_MOST 10

bool transact(struct transactor *work, enum store_access access, struct arena *arena,
	      const struct id *account, transact_run *run, void *context, struct fault *fault)
{
	const struct environment *environment = work->environment;
	const struct arena_mark mark = arena_mark(arena);
	struct arena *before = arena_use_for_json(arena);
	bool is_done = false;
	uint64_t number;

	for (unsigned i = 0; i < AGAIN_MOST && !is_done; i++) {
		struct call call = {
			.environment = environment,
			.arena = arena,
			.account = *account,
			.actor.kind = ACTOR_SERVICE,
			.now = clock_now(environment->clock),
		};

		*fault = FAULT_INITIAL;
		if (i > 0)
			arena_release(arena, &mark);
		if (!store_begin(environment->store, access, arena, &call.transaction, fault))
			break;
		call_set_account(&call);
		call_draw_etag(&call);
		is_done = run(&call, context, fault) &&
			  (access == STORE_READ || audit_write(&call, fault));
		if (is_done && access == STORE_WRITE && store_has_changes(call.transaction)) {
			is_done = store_commit(call.transaction, &number, fault);
			work->has_committed = true;
			if (is_done && call.run.wants != 0 && environment->live_queue != NULL)
				live_queue_want(environment->live_queue, account, &call.run.wanted,
						call.run.wants);
		} else {
			store_abandon(call.transaction);
		}
		if (!is_done && fault->kind != FAULT_AGAIN)
			break;
	}
	arena_use_for_json(before);
	damage_log_tell(&work->damage, work->event, account, fault);
	return is_done;
}

bool transact_may_pass(const struct fault *fault)
{
	return fault->kind == FAULT_UNAVAILABLE || fault->kind == FAULT_AGAIN ||
	       fault->kind == FAULT_BUSY;
}
