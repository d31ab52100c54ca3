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
static bool inspect_tables(struct wire *wire, int *version, struct fault *fault)
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

static bool make_tables(struct wire *wire, const struct store_form *form, bool *was_made,
			struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	char state[6], ignored[6];
	bool is_set;

	*was_made = wire_command(wire, "BEGIN", state);
	for (size_t i = 0; *was_made && table_commands[i] != NULL; i++)
		*was_made = wire_command(wire, table_commands[i], state);
	/* The form is set in the transaction that makes the tables. */
	if (*was_made && form != NULL) {
		struct arena *arena = arena_open();

		parameters_bytes(&parameters, form->text(arena));
		parameters_number(&parameters, form->number(), 4);
		wire_add(wire, FORM_SET, &parameters);
		is_set = wire_fly(wire, false, fault);
		arena_close(arena);
		if (!is_set)
			return false;
	}
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

#define WHAT "the data in the database"

/* Replaces an earlier form, unless another process has done so. */
static bool replace_form(struct wire *wire, const struct store_form *form,
			 const struct store_form_kept *kept, bool *is_replaced, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	struct arena *arena = arena_open();
	bool is_done;

	parameters_bytes(&parameters, form->text(arena));
	parameters_bytes(&parameters, kept->text);
	parameters_number(&parameters, kept->number, 4);
	wire->has_warned = false;
	wire_add(wire, FORM_REPLACE, &parameters);
	is_done = wire_fly(wire, false, fault);
	*is_replaced = is_done && wire_affected(wire, 0) == 1;
	arena_close(arena);
	return is_done && (!wire->has_warned ||
			   fault_cause(fault, FAULT_UNAVAILABLE, 0,
				       "the standby of the database does not confirm commits"));
}

/* Compares the form that the tables keep. A writer replaces an earlier one, and all but an upgrade
 * refuse one that must be upgraded first. */
static bool check_form(struct wire *wire, const struct store_form *form, enum tables_use use,
		       struct store_postgres_version *version, struct fault *fault)
{
	struct arena *arena = arena_open();
	bool is_right, is_earlier = true, is_to_be_upgraded;

	version->is_renewed = false;
	do {
		struct store_form_kept kept = { .number = 0 };

		wire_add(wire, FORM, NULL);
		is_right = wire_fly(wire, false, fault);
		if (is_right && wire_rows(wire, 0) == 1)
			kept = (struct store_form_kept){
				(unsigned)wire_number(wire, 0, 0, 1),
				arena_copy(arena, wire_bytes(wire, 0, 0, 0)),
			};
		version->number = (int)kept.number;
		is_right = is_right &&
			   (use == TABLES_UPGRADE
				    ? store_form_check(form, &kept, WHAT, &is_earlier,
						       &is_to_be_upgraded, fault)
				    : store_form_accept(form, &kept, WHAT, &is_earlier, fault));
		if (!is_right || !is_earlier || use != TABLES_WRITE)
			break;
		is_right = replace_form(wire, form, &kept, &version->is_renewed, fault);
	} while (is_right && !version->is_renewed);
	arena_close(arena);
	return is_right;
}

/* Tables of a program that was never released may have no form. */
static bool check_number(int number, struct fault *fault)
{
	const struct store_form_kept kept = { .number = number < 0 ? 0 : (unsigned)number };
	bool ignored;

	return number >= STORE_FORM_FIRST || store_form_accept(NULL, &kept, WHAT, &ignored, fault);
}

static bool create_tables(struct wire *wire, const struct store_form *form, bool *was_made,
			  struct fault *fault)
{
	struct store_postgres_version version;
	int number;

	*was_made = false;
	if (!inspect_tables(wire, &number, fault))
		return false;
	if (number == 0 &&
	    (!make_tables(wire, form, was_made, fault) || !inspect_tables(wire, &number, fault)))
		return false;
	if (number == 0)
		return is_foreign(fault);
	return check_number(number, fault) && check_form(wire, form, TABLES_READ, &version, fault);
}

bool store_postgres_create(const char *url, const struct store_form *form, bool *was_made,
			   struct fault *fault)
{
	struct wire_target target;
	struct wire wire;
	const bool is_right = open_for(url, &target, &wire, fault) &&
			      create_tables(&wire, form, was_made, fault);

	close_for(&target, &wire);
	return is_right;
}

static bool check_tables(struct wire *wire, const struct store_form *form, enum tables_use use,
			 struct store_postgres_version *version, struct fault *fault)
{
	if (!inspect_tables(wire, &version->number, fault))
		return false;
	if (version->number == 0)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"the database has no store; create one with: anteroom store create "
			"--store URL");
	return check_number(version->number, fault) && check_form(wire, form, use, version, fault);
}

bool tables_check(const char *url, const struct store_form *form, enum tables_use use,
		  struct store_postgres_version *version, struct fault *fault)
{
	struct wire_target target;
	struct wire wire;
	const bool is_right = open_for(url, &target, &wire, fault) &&
			      check_tables(&wire, form, use, version, fault);

	close_for(&target, &wire);
	return is_right;
}

bool store_postgres_check_form(const char *url, const struct store_form *form, unsigned *number,
			       struct fault *fault)
{
	struct store_postgres_version version = { .number = 0 };
	const bool is_right = tables_check(url, form, TABLES_UPGRADE, &version, fault);

	*number = (unsigned)version.number;
	return is_right;
}

bool store_postgres_renew(const char *url, const struct store_form *form,
			  struct store_postgres_version *version, struct fault *fault)
{
	return tables_check(url, form, TABLES_WRITE, version, fault);
}
