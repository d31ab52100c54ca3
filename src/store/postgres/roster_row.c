/* The accounts: the only row of the table roster.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "store/postgres/store_postgres_parts.h"

struct store_roster_change {
	struct wire_target target;
	struct wire wire;
	uint64_t generation;
};

static bool take_roster(const struct wire *wire, size_t result, struct arena *arena,
			uint64_t *generation, struct slice *text, struct fault *fault)
{
	if (wire_rows(wire, result) != 1)
		return fault_cause(fault, FAULT_DAMAGED, 0, "the database has no accounts record");
	*generation = wire_number(wire, result, 0, 0);
	if (text != NULL)
		*text = arena_copy(arena, wire_bytes(wire, result, 0, 1));
	return true;
}

bool roster_read(struct store *store, struct arena *arena, uint64_t *generation, struct slice *text,
		 struct fault *fault)
{
	struct store_postgres *postgres = (struct store_postgres *)store;
	bool is_read = false, is_lost = true;

	/* An idle connection may have been closed; then the second attempt uses a new one. */
	for (int attempt = 0; is_lost && attempt < 2; attempt++) {
		struct wire *wire;

		*fault = FAULT_INITIAL;
		if (!connections_take(postgres, &wire, fault))
			return false;
		wire_add(wire, text != NULL ? ROSTER : GENERATION, NULL);
		is_read = wire_fly(wire, false, fault) &&
			  take_roster(wire, 0, arena, generation, text, fault);
		is_lost = !wire->is_connected;
		connections_give(postgres, wire);
	}
	if (is_read)
		atomic_store(&postgres->roster, *generation);
	return is_read;
}

uint64_t roster_seen(struct store *store)
{
	return atomic_load(&((struct store_postgres *)store)->roster);
}

/* ---- for commands ---- */

bool store_postgres_roster_begin(const char *url, struct arena *arena,
				 struct store_roster_change **change, struct slice *text,
				 struct fault *fault)
{
	struct store_roster_change *begun;
	struct fault locked = FAULT_INITIAL;
	struct store_postgres_version ignored;

	*change = NULL;
	*text = (struct slice){ NULL, 0 };
	if (!tables_check(url, NULL, TABLES_READ, &ignored, fault))
		return false;
	begun = memory_check(calloc(1, sizeof *begun));
	*change = begun;
	begun->wire.target = &begun->target;
	if (!wire_target_open(url, false, &begun->target, fault) ||
	    !wire_reopen(&begun->wire, fault))
		return false;
	wire_add(&begun->wire, BEGIN_WRITE, NULL);
	wire_add(&begun->wire, ROSTER_TO_CHANGE, NULL);
	if (wire_fly(&begun->wire, false, &locked))
		return take_roster(&begun->wire, 1, arena, &begun->generation, text, fault);
	/* The wait for the row took as long as any wait for a lock may take. */
	if (locked.kind == FAULT_AGAIN)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "another command is changing the accounts");
	*fault = locked;
	return false;
}

bool store_postgres_roster_replace(struct store_roster_change *change, struct slice text,
				   struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	struct fault lost = FAULT_INITIAL;

	parameters_number(&parameters, change->generation + 1, 8);
	parameters_bytes(&parameters, text);
	wire_add(&change->wire, ROSTER_SET, &parameters);
	wire_add(&change->wire, COMMIT, NULL);
	change->wire.has_warned = false;
	if (wire_fly(&change->wire, false, &lost) && !change->wire.has_warned)
		return true;
	if (!change->wire.is_connected || change->wire.has_warned)
		return fault_cause(
			fault, FAULT_UNAVAILABLE, 0,
			"the database connection was lost; the accounts may or may not have been "
			"changed (check with account list)");
	*fault = lost;
	return false;
}

/* Ends the change; the server rolls back anything that is not committed. */
void store_postgres_roster_end(struct store_roster_change *change)
{
	if (change == NULL)
		return;
	wire_close(&change->wire);
	wire_target_close(&change->target);
	free(change);
}

bool store_postgres_roster(const char *url, struct arena *arena, struct slice *text,
			   struct fault *fault)
{
	struct store_roster_change *change;
	const bool is_read = store_postgres_roster_begin(url, arena, &change, text, fault);

	store_postgres_roster_end(change);
	return is_read;
}
