/* Upgrades of a database: one transaction, in which everything is converted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "store/postgres/store_postgres_parts.h"

/* Milliseconds to wait until connections that were killed count as ended, and between looks. */
#define IN_USE_MOST 10000
#define IN_USE_EVERY 500

/* Waits until no other connection is in use: those of a responder commit their slot all the time
 * (connections.c). */
static bool await_others(struct wire *wire, struct fault *fault)
{
	const int64_t until = clock_monotonic() + IN_USE_MOST;

	for (;;) {
		struct parameters parameters = PARAMETERS_INITIAL;

		parameters_number(&parameters, wire->slot, 8);
		wire_add(wire, IN_USE, &parameters);
		if (!wire_fly(wire, false, fault))
			return false;
		if (wire_number(wire, 0, 0, 0) == 0)
			return true;
		if (clock_monotonic() >= until)
			return fault_cause(fault, FAULT_UNAVAILABLE, 0,
					   "the database is in use; stop all responders and "
					   "commands that use it, on every machine, before its "
					   "data is upgraded");
		(void)poll(NULL, 0, IN_USE_EVERY);
	}
}

/* Begins the transaction. The row of the installation keeps others from connecting until its end;
 * those that are connected need their slots to commit. */
static bool begin_held(struct wire *wire, unsigned from, unsigned to, bool *has_begun,
		       struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	struct fault own = FAULT_INITIAL;

	parameters_number(&parameters, to, 4);
	parameters_number(&parameters, from, 4);
	wire_add(wire, BEGIN_WRITE, NULL);
	wire_add(wire, VERSION_RAISE, &parameters);
	wire_add(wire, SLOTS_INVALIDATE, NULL);
	if (wire_fly(wire, false, &own)) {
		*has_begun = wire_affected(wire, 1) == 1;
		return true;
	}
	if (own.kind == FAULT_AGAIN)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "another process uses or upgrades the database");
	*fault = own;
	return false;
}

bool store_postgres_upgrade_begin(const char *url, const struct store_form *form,
				  struct store **store, unsigned *number, struct fault *fault)
{
	struct store_postgres_version version;
	struct store_postgres *opened;
	struct wire *wire = NULL;
	bool has_begun = false;

	*store = NULL;
	*number = 0;
	if (!tables_check(url, form, TABLES_UPGRADE, &version, fault))
		return false;
	*number = (unsigned)version.number;
	if (*number == form->number())
		return true;
	opened = memory_check(calloc(1, sizeof *opened));
	opened->store.driver = &postgres_driver;
	opened->most = 1;
	if (wire_target_open(url, true, &opened->target, fault) &&
	    connections_open(opened, false, fault) && connections_take(opened, &wire, fault) &&
	    await_others(wire, fault) &&
	    begin_held(wire, *number, form->number(), &has_begun, fault) && has_begun) {
		opened->held = wire;
		*store = &opened->store;
		return true;
	}
	if (fault->kind == FAULT_NONE) /* another process was faster */
		*number = form->number();
	if (wire != NULL) {
		wire_disconnect(wire);
		connections_give(opened, wire);
	}
	store_close(&opened->store);
	return fault->kind == FAULT_NONE;
}

bool store_postgres_upgrade_finish(struct store *store, const struct store_form *form,
				   struct fault *fault)
{
	struct store_postgres *opened = (struct store_postgres *)store;
	struct parameters parameters = PARAMETERS_INITIAL;
	struct wire *wire = opened->held;
	struct arena *arena = arena_open();
	bool is_done;

	parameters_bytes(&parameters, form->text(arena));
	parameters_number(&parameters, form->number(), 4);
	wire->has_warned = false;
	wire_add(wire, FORM_SET, &parameters);
	wire_add(wire, COMMIT, NULL);
	is_done = wire_fly(wire, false, fault);
	arena_close(arena);
	return is_done && (!wire->has_warned ||
			   fault_cause(fault, FAULT_UNAVAILABLE, 0,
				       "the standby of the database does not confirm commits"));
}
