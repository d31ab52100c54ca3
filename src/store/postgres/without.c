/* The driver in a build without libpq: it refuses every database.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/store_postgres.h"

static bool refuse_database(struct fault *fault)
{
	return fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "PostgreSQL is not available: this program was built without libpq");
}

bool store_postgres_open(const struct store_postgres_options *options, struct store **store,
			 struct fault *fault)
{
	(void)options;
	*store = NULL;
	return refuse_database(fault);
}

bool store_postgres_create(const char *url, const struct store_form *form, bool *was_made,
			   struct fault *fault)
{
	(void)url;
	(void)form;
	*was_made = false;
	return refuse_database(fault);
}

bool store_postgres_renew(const char *url, const struct store_form *form,
			  struct store_postgres_version *version, struct fault *fault)
{
	(void)url;
	(void)form;
	*version = (struct store_postgres_version){ .number = 0 };
	return refuse_database(fault);
}

bool store_postgres_check_form(const char *url, const struct store_form *form, unsigned *number,
			       struct fault *fault)
{
	(void)url;
	(void)form;
	*number = 0;
	return refuse_database(fault);
}

bool store_postgres_upgrade_begin(const char *url, const struct store_form *form,
				  struct store **store, unsigned *number, struct fault *fault)
{
	*store = NULL;
	return store_postgres_check_form(url, form, number, fault);
}

bool store_postgres_upgrade_finish(struct store *store, const struct store_form *form,
				   struct fault *fault)
{
	(void)store;
	(void)form;
	return refuse_database(fault);
}

bool store_postgres_roster(const char *url, struct arena *arena, struct slice *text,
			   struct fault *fault)
{
	(void)url;
	(void)arena;
	*text = (struct slice){ NULL, 0 };
	return refuse_database(fault);
}

bool store_postgres_roster_begin(const char *url, struct arena *arena,
				 struct store_roster_change **change, struct slice *text,
				 struct fault *fault)
{
	*change = NULL;
	return store_postgres_roster(url, arena, text, fault);
}

bool store_postgres_roster_replace(struct store_roster_change *change, struct slice text,
				   struct fault *fault)
{
	(void)change;
	(void)text;
	return refuse_database(fault);
}

void store_postgres_roster_end(struct store_roster_change *change)
{
	(void)change;
}

bool store_postgres_load_begin(const char *url, struct store_load **load, struct fault *fault)
{
	(void)url;
	*load = NULL;
	return refuse_database(fault);
}

bool store_postgres_load_marked(struct store_load *load, struct arena *arena, struct slice *text,
				struct fault *fault)
{
	(void)load;
	(void)arena;
	*text = (struct slice){ NULL, 0 };
	return refuse_database(fault);
}

bool store_postgres_load_mark(struct store_load *load, struct slice text, struct fault *fault)
{
	(void)load;
	(void)text;
	return refuse_database(fault);
}

void store_postgres_load_end(struct store_load *load)
{
	(void)load;
}
