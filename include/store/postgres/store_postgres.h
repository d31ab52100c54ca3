/* The driver for several machines: a PostgreSQL database, 13 or later, or one that speaks the same
 * SQL and protocol (CockroachDB and YugabyteDB are expected to work). Any number of processes share
 * it.
 *
 * Isolation: READ COMMITTED. A record that is read for change is locked, unique names are unique
 * indexes, and what conflicts ends as FAULT_AGAIN. A READ transaction is one statement, or several
 * in one snapshot. A commit that returns is durable: nothing is ever pending.
 *
 * Round trips: what store_expect() names is read in one; the changes of a transaction and its
 * commit are another one.
 *
 * Connections: each transaction has one for itself. Each connection owns a row of the table
 * session. A commit whose answer is lost is looked up there: the row says whether it happened.
 * Where that cannot be found out within 10 s, store_commit sets FAULT_UNAVAILABLE with a detail.
 *
 * When the database is away, transactions are refused at once (FAULT_UNAVAILABLE), and a thread of
 * the driver tries to reach it twice a second.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_STORE_POSTGRES_H
#define STORE_POSTGRES_STORE_POSTGRES_H

#include "base/text.h"

#include "store/store.h"

struct store_postgres_options {
	const char *url; /* postgresql://... */
	unsigned connections; /* transactions at the same time, at most; 0: 64 */
	bool is_patient; /* for a command: transactions and answers may take long */
	bool uses_callers_clock; /* for tests: times are not those of the database */
};

/* Whether a text begins as a URL of this driver does. */
static inline bool store_postgres_is_url(const char *text)
{
	return text_begins_ignoring_case(slice_of(text), SLICE("postgresql://")) ||
	       text_begins_ignoring_case(slice_of(text), SLICE("postgres://"));
}

/* FAULT_BAD_REQUEST: the URL cannot be used, or has a password; the database has no store, or one
 * that this program does not know; this build has no PostgreSQL. FAULT_UNAVAILABLE: the database
 * cannot be reached. */
bool store_postgres_open(const struct store_postgres_options *options, struct store **store,
			 struct fault *fault);

/* Makes the tables. *was_made false: they were there, and nothing changed. */
bool store_postgres_create(const char *url, bool *was_made, struct fault *fault);

/* Brings the tables to the version of this program. *version: what they were. */
bool store_postgres_upgrade(const char *url, int *version, struct fault *fault);

/* ---- the accounts, for commands ---- */

/* A change of the accounts: others wait until it ends. */
struct store_roster_change;

/* The text of the accounts (store_roster), in the arena. */
bool store_postgres_roster(const char *url, struct arena *arena, struct slice *text,
			   struct fault *fault);
/* *change has to be ended, also after a fault; NULL: nothing began. */
bool store_postgres_roster_begin(const char *url, struct arena *arena,
				 struct store_roster_change **change, struct slice *text,
				 struct fault *fault);
/* When it returns, the text is stored, and every call that begins on any machine sees it. */
bool store_postgres_roster_replace(struct store_roster_change *change, struct slice text,
				   struct fault *fault);
void store_postgres_roster_end(struct store_roster_change *change);

/* ---- a load, which is many transactions ----
 *
 * There is one at a time. Its mark is a text that stays when the process is killed. */
struct store_load;

/* FAULT_CONFLICT: another one is under way. */
bool store_postgres_load_begin(const char *url, struct store_load **load, struct fault *fault);
/* data NULL: there is no mark. It is in the arena, or stored when the function returns. */
bool store_postgres_load_marked(struct store_load *load, struct arena *arena, struct slice *text,
				struct fault *fault);
bool store_postgres_load_mark(struct store_load *load, struct slice text, struct fault *fault);
void store_postgres_load_end(struct store_load *load);

#endif
