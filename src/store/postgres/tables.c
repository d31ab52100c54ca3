/* The tables of a store: creating them, and checking whether this program can use them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/store_postgres_parts.h"

/* SQLSTATEs of a missing table, a missing column and an existing table. */
#define NO_TABLE "42P01"
#define NO_COLUMN "42703"
#define TABLE_EXISTS "42P07"

static bool is_foreign(struct fault *fault)
{
	return fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "the database contains tables of another program with the same names; "
			   "use an empty database or schema");
}

/* Reads the version of the tables; *version is 0 if there are none. */
static bool look_at_tables(struct wire *wire, int *version, struct fault *fault)
{
	char state[6];

	*version = 0;
	if (!wire_command(wire, "SELECT program FROM installation LIMIT 1", state)) {
		if (strcmp(state, NO_COLUMN) == 0)
			return is_foreign(fault);
		return strcmp(state, NO_TABLE) == 0 ||
		       fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "cannot read the tables of the store (SQLSTATE %s)", state);
	}
	wire_add(wire, INSTALLATION, NULL);
	if (!wire_fly(wire, false, fault))
		return false;
	if (wire_rows(wire, 0) != 1 || !slice_is(wire_bytes(wire, 0, 0, 0), "anteroom"))
		return is_foreign(fault);
	*version = (int)wire_number(wire, 0, 0, 1);
	return true;
}

static bool refuse_newer(int version, struct fault *fault)
{
	return fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "the store in the database has version %d, but this program supports "
			   "versions up to %d; use a newer anteroom",
			   version, SCHEMA_VERSION);
}

static bool make_tables(struct wire *wire, bool *was_made, struct fault *fault)
{
	char state[6], ignored[6];

	*was_made = wire_command(wire, "BEGIN", state);
	for (size_t i = 0; *was_made && table_commands[i] != NULL; i++)
		*was_made = wire_command(wire, table_commands[i], state);
	if (*was_made && wire_command(wire, "COMMIT", state))
		return true;
	*was_made = false;
	(void)wire_command(wire, "ROLLBACK", ignored);
	/* Another process may have created them at the same time; then its tables are used. */
	if (strcmp(state, TABLE_EXISTS) == 0 || strcmp(state, "23505") == 0 ||
	    strncmp(state, "40", 2) == 0)
		return true;
	return fault_cause(fault, FAULT_UNAVAILABLE, 0,
			   "cannot create the tables of the store (SQLSTATE %s%s)", state,
			   strcmp(state, "42501") == 0 ? ": permission denied for the role" : "");
}

/* Connects for one of the functions below. */
static bool open_for(const char *url, struct wire_target *target, struct wire *wire,
		     struct fault *fault)
{
	*wire = (struct wire){ .target = target };
	return wire_target_open(url, false, target, fault) && wire_reopen(wire, fault);
}

static void close_for(struct wire_target *target, struct wire *wire)
{
	wire_close(wire);
	wire_target_close(target);
}

static bool create_tables(struct wire *wire, bool *was_made, struct fault *fault)
{
	int version;

	*was_made = false;
	if (!look_at_tables(wire, &version, fault))
		return false;
	if (version == 0 &&
	    (!make_tables(wire, was_made, fault) || !look_at_tables(wire, &version, fault)))
		return false;
	if (version == 0)
		return is_foreign(fault);
	return version <= SCHEMA_VERSION || refuse_newer(version, fault);
}

bool store_postgres_create(const char *url, bool *was_made, struct fault *fault)
{
	struct wire_target target;
	struct wire wire;
	const bool is_right = open_for(url, &target, &wire, fault) &&
			      create_tables(&wire, was_made, fault);

	close_for(&target, &wire);
	return is_right;
}

static bool check_version(struct wire *wire, int *version, struct fault *fault)
{
	if (!look_at_tables(wire, version, fault))
		return false;
	if (*version == 0)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"the database has no store; create one with: anteroom store create "
			"--store URL");
	return *version <= SCHEMA_VERSION || refuse_newer(*version, fault);
}

bool tables_check(const char *url, int *version, struct fault *fault)
{
	struct wire_target target;
	struct wire wire;
	const bool is_right = open_for(url, &target, &wire, fault) &&
			      check_version(&wire, version, fault);

	close_for(&target, &wire);
	return is_right;
}

/* Only checks the tables, because there is only one version so far. */
bool store_postgres_upgrade(const char *url, int *version, struct fault *fault)
{
	return tables_check(url, version, fault);
}
