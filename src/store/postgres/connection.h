/* One connection to the database: statements are queued and sent together, in one flight, and their
 * results are read in order. Only connection.c and the files that include this header use libpq.
 *
 * A connection belongs to one thread at a time. No function waits longer than WAIT_MOST for a
 * response, or WAIT_MOST_PATIENT if the target is patient; connecting takes at most the URL's
 * connect_timeout for each address, plus SET_MOST. A connection that does not respond counts as
 * lost, and is closed without cancelling anything.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_CONNECTION_H
#define STORE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "base/fault.h"
#include "base/histogram.h"
#include "base/slice.h"
#include "store/postgres/parameters.h"
#include "store/postgres/statements.h"

/* Milliseconds. */
#define WAIT_MOST 11000
#define WAIT_MOST_PATIENT 600000
#define SET_MOST 3000 /* for the settings of a new session */

/* The detail of FAULT_UNAVAILABLE if the database can be reached, but not be changed. */
#define WIRE_READ_ONLY "the database is read-only"
/* The same, if a newer version of the program has upgraded it. */
#define WIRE_NEWER "the database was upgraded by a newer version of Anteroom"

/* Counts of all connections of a store. */
struct wire_figures {
	_Atomic uint64_t flights, connects, reruns, unknown;
	struct histogram commits;
};

/* Everything needed to connect. */
struct wire_target {
	char *url;
	unsigned form_number; /* that the database must have (struct store_form); 0 for any */
	bool is_patient; /* for commands: responses may take long, and a snapshot may be idle */
	struct wire_figures figures;
	_Atomic int64_t ends_at; /* when all waiting ends, by clock_monotonic; 0 for never */
	atomic_bool has_logged_plain_text;
	/* set once check_pooler has found that each connection has its own session */
	atomic_bool has_own_sessions;
};

/* Opens a target. FAULT_BAD_REQUEST if the text is not a valid URL or contains a password. */
bool wire_target_open(const char *url, bool is_patient, struct wire_target *target,
		      struct fault *fault);
void wire_target_close(struct wire_target *target);
/* Limits all waiting for responses of this target to `milliseconds` from now, including waits that
 * have already begun. Any thread. */
void wire_target_end(struct wire_target *target, int64_t milliseconds);
bool wire_target_is_ended(const struct wire_target *target);

struct wire {
	struct wire_target *target;
	PGconn *connection;
	bool is_connected; /* false if it must be opened again, or is closed */
	bool is_prepared[STATEMENTS];
	bool has_timed_out; /* a wait for a lock has timed out since this was reset */
	/* the server has refused a change, or the connection, because the database is read-only */
	bool is_read_only;
	/* SQLSTATE 01000 since this was reset: a commit may be on one machine only */
	bool has_warned;
	/* The flight: statements that are queued, or whose results have not been read. */
	struct wire_sent {
		enum statement statement;
		bool is_preparation;
	} * sent;
	size_t sent_count, sent_capacity;
	bool is_sent;
	PGresult **results;
	size_t result_count, result_capacity;
	/* The connection's row of the table session. */
	uint64_t slot;
	uint64_t epoch, last;
	bool has_slot;
	struct wire *next; /* the owner's list */
};

/* Closes the connection, if there is one, and connects again, with the settings of a session but
 * without taking its slot. FAULT_UNAVAILABLE if that fails; FAULT_BAD_REQUEST if the database can
 * be reached but must not be used in this way. All members of the wire except its target may be
 * zero. */
bool wire_reopen(struct wire *wire, struct fault *fault);
/* Closes the connection; the wire can be opened again. */
void wire_disconnect(struct wire *wire);
/* Closes the connection, and frees the memory of the wire. */
void wire_close(struct wire *wire);

/* Adds a statement to the flight. parameters: NULL if it has none. */
void wire_add(struct wire *wire, enum statement statement, const struct parameters *parameters);
/* Sends the flight and reads the results. They are in wire->results, in the order of the
 * statements, until the next flight begins. FAULT_AGAIN for a conflict and, if is_repeatable, for a
 * lost connection; otherwise FAULT_UNAVAILABLE. */
bool wire_fly(struct wire *wire, bool is_repeatable, struct fault *fault);
/* Sends the flight without waiting; its results are read and dropped before the next flight. */
void wire_send(struct wire *wire);
/* Executes SQL that is not a prepared statement, in a flight of its own. *state: the SQLSTATE, or
 * empty. */
bool wire_command(struct wire *wire, const char *sql, char state[6]);

/* Results. */
size_t wire_rows(const struct wire *wire, size_t result);
size_t wire_affected(const struct wire *wire, size_t result);
struct slice wire_bytes(const struct wire *wire, size_t result, size_t row, size_t column);
uint64_t wire_number(const struct wire *wire, size_t result, size_t row, size_t column);

#endif
