/* See transfer/snapshot.h. A transaction allocates values from its arena. Elsewhere this arena
 * lives as long as the transaction. Here the transaction is allocated from one arena and uses
 * another for its values, which can be reset.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/snapshot.h"

#include "resources/record_kind.h"

bool snapshot_open(struct store *store, const struct clock *clock, struct snapshot *snapshot,
		   struct fault *fault)
{
	struct call *call = &snapshot->call;

	record_kinds_verify();
	*snapshot = (struct snapshot){ .environment = { .clock = clock, .store = store } };
	snapshot->lasting = arena_open();
	if (!store_begin(store, STORE_READ, snapshot->lasting, &call->transaction, fault)) {
		arena_close(snapshot->lasting);
		return false;
	}
	call->environment = &snapshot->environment;
	call->now = clock_now(clock);
	call->arena = call->transaction->arena = arena_open();
	arena_set_limit(call->arena, SNAPSHOT_ARENA_MOST);
	snapshot_release(snapshot);
	return true;
}

void snapshot_close(struct snapshot *snapshot)
{
	store_abandon(snapshot->call.transaction);
	arena_close(snapshot->call.arena);
	arena_close(snapshot->lasting);
}

void snapshot_set_account(struct snapshot *snapshot, const struct id *account)
{
	snapshot->call.account = *account;
	call_set_account(&snapshot->call);
}

void snapshot_release(struct snapshot *snapshot)
{
	arena_reset(snapshot->call.arena);
	snapshot->call.run = (struct run){ 0 };
	findings_open(&snapshot->call.findings, snapshot->call.arena);
}
