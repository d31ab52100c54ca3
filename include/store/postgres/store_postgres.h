/* The driver for several machines: a PostgreSQL database, version 13 or later, or one that speaks
 * the same SQL and protocol (CockroachDB and YugabyteDB are expected to work). Any number of
 * processes share it.
 *
 * Isolation: READ COMMITTED. A record that is read for change is locked, unique names are enforced
 * by unique indexes, and conflicts end with FAULT_AGAIN. A READ transaction is one statement, or
 * several in one snapshot. When a commit returns, it is durable; nothing is ever pending.
 *
 * Round trips: everything that store_expect() announces is read in one round trip; the changes of a
 * transaction and its commit take a second one.
 *
 * Connections: each transaction has a connection of its own. Each connection owns a row of the
 * table session. If the response to a commit is lost, this row tells whether the commit happened.
 * If that cannot be found out within 10 s, store_commit fails with FAULT_UNAVAILABLE and a detail.
 *
 * While the database is unavailable, transactions fail immediately (FAULT_UNAVAILABLE), and a
 * thread of the driver tries to reach the database twice a second.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_STORE_POSTGRES_H
#define STORE_POSTGRES_STORE_POSTGRES_H

#include "base/text.h"

#include "store/store.h"

struct store_postgres_options {
	const char *url; /* postgresql://... */
	unsigned connections; /* maximum number of transactions at the same time; 0 for 64 */
	bool is_patient; /* for commands: transactions and responses may take long */
	bool is_read_only; /* for commands that only read: keeps an earlier form */
	const struct store_form *form; /* of the records; NULL for tests, which accept any */
	bool uses_callers_clock; /* for tests: uses the caller's clock instead of the database's */
};

/* Returns whether a text begins like a URL of this driver. */
static inline bool store_postgres_is_url(const char *text)
{
	return text_begins_ignoring_case(slice_of(text), SLICE("postgresql://")) ||
	       text_begins_ignoring_case(slice_of(text), SLICE("postgres://"));
}

/* Opens a store. FAULT_BAD_REQUEST if the URL is unusable or contains a password, if the database
 * has no store, or if the program was built without libpq. FAULT_UNAVAILABLE if the database cannot
 * be reached, or if another version of the program wrote the data (struct store_form). */
bool store_postgres_open(const struct store_postgres_options *options, struct store **store,
			 struct fault *fault);

/* Creates the tables. *was_made is false if they existed already; then nothing has changed. */
bool store_postgres_create(const char *url, const struct store_form *form, bool *was_made,
			   struct fault *fault);

struct store_postgres_version {
	int number; /* of the form */
	bool is_renewed; /* the form of this program has replaced an earlier one */
};

/* Replaces an earlier form by that of this program, if no record has to be converted. */
bool store_postgres_renew(const char *url, const struct store_form *form,
			  struct store_postgres_version *version, struct fault *fault);

/* Compares the form of a store with that of the program, for commands that do not open the store.
 * Faults as in store_postgres_open, but not if the data must be upgraded first: then *number is
 * lower than that of the program. */
bool store_postgres_check_form(const char *url, const struct store_form *form, unsigned *number,
			       struct fault *fault);

/* ---- upgrades ----
 *
 * All of an upgrade is one transaction of the database, so one that is killed has changed nothing.
 * What begins it makes every program of an earlier version unable to commit: those that run get an
 * error with their next commit, or when they connect, and say that a newer version has upgraded the
 * database. */

/* Begins an upgrade. The transactions of *store are parts of the one of the upgrade.
 * FAULT_UNAVAILABLE if the database is in use; waits up to 10 s for connections that were killed.
 * If the database has this form already, *store is NULL. *number is that of its form. */
bool store_postgres_upgrade_begin(const char *url, const struct store_form *form,
				  struct store **store, unsigned *number, struct fault *fault);
/* Sets the form of the program, and commits everything. Afterwards the store must be closed, as
 * after a fault. */
bool store_postgres_upgrade_finish(struct store *store, const struct store_form *form,
				   struct fault *fault);

/* ---- the accounts, for commands ---- */

/* A change of the accounts. Other changes wait until it ends. */
struct store_roster_change;

/* Reads the text of the accounts (store_roster) into the arena. */
bool store_postgres_roster(const char *url, struct arena *arena, struct slice *text,
			   struct fault *fault);
/* Begins a change and reads the current text into the arena. *change must be ended even after a
 * fault, unless it is NULL. */
bool store_postgres_roster_begin(const char *url, struct arena *arena,
				 struct store_roster_change **change, struct slice *text,
				 struct fault *fault);
/* Replaces the text. When it returns true, the text is stored, and every call that begins after
 * that, on any machine, sees it. */
bool store_postgres_roster_replace(struct store_roster_change *change, struct slice text,
				   struct fault *fault);
void store_postgres_roster_end(struct store_roster_change *change);

/* ---- loads, which consist of many transactions ----
 *
 * Only one load runs at a time. It has a mark, a text that survives if the process is killed. */
struct store_load;

/* Begins a load. FAULT_CONFLICT if another load is in progress. */
bool store_postgres_load_begin(const char *url, struct store_load **load, struct fault *fault);
/* Reads the mark into the arena; text->data is NULL if there is none. store_postgres_load_mark
 * stores it before returning; a text with data NULL removes it. */
bool store_postgres_load_marked(struct store_load *load, struct arena *arena, struct slice *text,
				struct fault *fault);
bool store_postgres_load_mark(struct store_load *load, struct slice text, struct fault *fault);
void store_postgres_load_end(struct store_load *load);

#endif
