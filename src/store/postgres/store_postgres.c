/* Begins and ends transactions, and opens a store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/figures.h"
#include "store/postgres/rows_parts.h"

#define CONNECTIONS_STANDARD 64

static struct store_postgres *postgres_of(struct store *store)
{
	return (struct store_postgres *)store;
}

static bool postgres_begin(struct store *store, enum store_access access, struct arena *arena,
			   struct transaction **transaction, struct fault *fault)
{
	struct store_postgres *postgres = postgres_of(store);
	struct postgres_transaction *own;
	struct wire *wire;

	if (postgres->held == NULL && !connections_take(postgres, &wire, fault))
		return false;
	own = arena_zero(arena, sizeof *own);
	own->base = (struct transaction){
		.store = store,
		.arena = arena,
		.access = access,
		.number = atomic_load(&postgres->newest) + (access == STORE_WRITE ? 1 : 0),
	};
	own->wire = postgres->held == NULL ? wire : postgres->held;
	own->wire->has_timed_out = false;
	own->is_open = postgres->held != NULL;
	*transaction = &own->base;
	return true;
}

static void postgres_enter(struct transaction *transaction, const struct id *account)
{
	crowd_enter(postgres_of(transaction->store), rows_own(transaction), account);
}

/* Rolls back without waiting: the response is read before the connection is used again. */
static void postgres_abandon(struct transaction *transaction)
{
	struct postgres_transaction *own = rows_own(transaction);
	struct wire *wire = own->wire;

	crowd_leave(postgres_of(transaction->store), own);
	if (wire == NULL || wire == postgres_of(transaction->store)->held)
		return;
	if (own->is_open && wire->is_connected) {
		wire_add(wire, ROLLBACK, NULL);
		wire_send(wire);
	}
	connections_give(postgres_of(transaction->store), wire);
}

static bool commit_changes(struct postgres_transaction *own, struct fault *fault)
{
	struct wire *wire = own->wire;
	struct parameters parameters = PARAMETERS_INITIAL;
	const int64_t start = clock_microseconds();
	uint64_t last;
	bool happened, is_right;
	size_t slot;

	if (own->is_refused)
		return crowd_refuse(postgres_of(own->base.store), fault);
	last = ++wire->last;
	rows_add_changes(own);
	parameters_number(&parameters, wire->slot, 8);
	parameters_number(&parameters, wire->epoch, 8);
	parameters_number(&parameters, last, 8);
	slot = rows_add(own, SLOT_SET, &parameters);
	rows_add(own, COMMIT, NULL);
	own->flight = 0;
	wire->has_warned = false;
	wire->is_read_only = false;

	struct fault lost = FAULT_INITIAL;

	is_right = wire_fly(wire, false, &lost);
	histogram_add(&wire->target->figures.commits, (uint64_t)(clock_microseconds() - start));
	if (is_right && !wire->has_warned) {
		own->is_open = false;
		/* If its slot no longer exists, the connection is not used for another commit. */
		if (wire_affected(wire, slot) != 1) {
			wire->has_slot = false;
			wire->is_connected = false;
		}
		return true;
	}
	/* A server that has refused the change has not committed it. */
	if ((wire->is_connected || wire->is_read_only) && !wire->has_warned) {
		*fault = lost;
		return crowd_explain(own, fault);
	}
	own->is_open = false;
	if (!connections_find_out(postgres_of(own->base.store), wire, last, &happened, fault))
		return false;
	return happened || fault_set(fault, FAULT_AGAIN, NULL);
}

static bool postgres_commit(struct transaction *transaction, uint64_t *number, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	struct store_postgres *store = postgres_of(transaction->store);
	/* The transaction of an upgrade goes on. */
	const bool is_committed = store->held != NULL	     ? rows_send_changes(own, fault)
				  : own->last_change == NULL ? true
							     : commit_changes(own, fault);

	*number = atomic_fetch_add(&store->newest, 1) + 1;
	postgres_abandon(transaction);
	return is_committed;
}

static enum store_state postgres_state(struct store *store, uint64_t number)
{
	(void)store;
	(void)number;
	return STORE_DURABLE;
}

static void postgres_flush(struct store *store)
{
	(void)store;
}

static bool postgres_can_write(struct store *store)
{
	return !atomic_load(&postgres_of(store)->is_away);
}

static const char *postgres_trouble(struct store *store)
{
	return connections_trouble(postgres_of(store));
}

static void postgres_figures(struct store *store, struct store_figures *figures)
{
	struct store_postgres *postgres = postgres_of(store);
	struct wire_figures *wires = &postgres->target.figures;

	figures->is_database = true;
	figures->disk_bytes = atomic_load(&postgres->disk_bytes);
	figures->round_trips = atomic_load(&wires->flights);
	figures->conflicts = atomic_load(&wires->reruns);
	figures->connects = atomic_load(&wires->connects);
	figures->unknown_outcomes = atomic_load(&wires->unknown);
	figures->is_synchronous = atomic_load(&postgres->is_synchronous);
	histogram_read(&wires->commits, &figures->commits);
}

static void postgres_close(struct store *store)
{
	struct store_postgres *postgres = postgres_of(store);

	/* What an upgrade has not committed is undone by the server. */
	if (postgres->held != NULL) {
		wire_disconnect(postgres->held);
		connections_give(postgres, postgres->held);
	}
	connections_close(postgres);
	wire_target_close(&postgres->target);
	free(postgres);
}

const struct store_driver postgres_driver = {
	.name = "postgresql",
	.begin = postgres_begin,
	.expect = rows_expect,
	.is_shared = true,
	.get = rows_get,
	.get_several = rows_get_several,
	.get_named = rows_get_named,
	.page = rows_page,
	.has_children = rows_have_children,
	.fix_time = rows_fix_time,
	.new_id = rows_new_id,
	.put = rows_put,
	.remove = rows_remove,
	.enter = postgres_enter,
	.walk = rows_walk,
	.next = rows_next,
	.end_walk = rows_end_walk,
	.count = rows_count,
	.commit = postgres_commit,
	.abandon = postgres_abandon,
	.state = postgres_state,
	.flush = postgres_flush,
	.can_write = postgres_can_write,
	.trouble = postgres_trouble,
	.roster = roster_read,
	.roster_generation = roster_seen,
	.figures = postgres_figures,
	.close = postgres_close,
};

bool store_postgres_open(const struct store_postgres_options *options, struct store **store,
			 struct fault *fault)
{
	const enum tables_use use = options->is_read_only ? TABLES_READ : TABLES_WRITE;
	struct store_postgres_version ignored;
	struct store_postgres *opened;

	*store = NULL;
	if (!tables_check(options->url, options->form, use, &ignored, fault))
		return false;
	opened = memory_check(calloc(1, sizeof *opened));
	opened->store.driver = &postgres_driver;
	opened->most = options->connections > 0 ? options->connections : CONNECTIONS_STANDARD;
	opened->uses_callers_clock = options->uses_callers_clock;
	if (wire_target_open(options->url, options->is_patient, &opened->target, fault)) {
		opened->target.form_number = options->form == NULL ? 0 : options->form->number();
		if (connections_open(opened, true, fault)) {
			*store = &opened->store;
			return true;
		}
	}
	store_close(&opened->store);
	return false;
}
