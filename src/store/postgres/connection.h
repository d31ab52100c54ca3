/* One connection to the database: statements are queued, sent in one flight, and their results read
 * in order. Only connection.c and what includes this header know libpq.
 *
 * A connection belongs to one thread at a time. No function waits longer than WAIT_MOST for an
 * answer, or WAIT_MOST_PATIENT where the target is patient; connecting takes at most the URL's
 * connect_timeout for each address, and SET_MOST. A connection that does not answer is lost, and is
 * closed without cancelling anything.
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

/* Counts of all connections of a store. */
struct wire_figures {
	_Atomic uint64_t flights, connects, reruns, unknown;
	struct histogram commits;
};

/* What is needed to connect. */
struct wire_target {
	char *url;
	bool is_patient; /* a command: answers may take long, and a snapshot may be idle */
	struct wire_figures figures;
	_Atomic int64_t ends_at; /* of clock_monotonic; 0: not */
	atomic_bool told_of_plain_text;
	atomic_bool has_own_sessions; /* behind a pooler: that was looked at */
};

/* FAULT_BAD_REQUEST: the text is no URL, or names a password, or a setting that is refused. */
bool wire_target_open(const char *url, bool is_patient, struct wire_target *target,
		      struct fault *fault);
void wire_target_close(struct wire_target *target);
/* Limits all waiting for answers of this target, also that which has begun, to `milliseconds` from
 * now. Any thread. */
void wire_target_end(struct wire_target *target, int64_t milliseconds);
bool wire_target_is_ended(const struct wire_target *target);

struct wire {
	struct wire_target *target;
	PGconn *connection;
	bool is_connected; /* false: to be opened again, or closed */
	bool is_prepared[STATEMENTS];
	bool has_timed_out; /* a wait for a lock, since it was reset */
	bool has_warned; /* SQLSTATE 01000 since it was reset: a commit may be on one machine */
	/* The flight: what is queued or not read yet. */
	struct wire_sent {
		enum statement statement;
		bool is_preparation;
	} * sent;
	size_t sent_count, sent_capacity;
	bool is_sent;
	PGresult **results;
	size_t result_count, result_capacity;
	/* Its row of `session`. */
	uint64_t slot;
	uint64_t epoch, last;
	bool has_slot;
	struct wire *next; /* the owner's list */
};

/* Drops the connection, if there is one, and connects again, with the settings of a session but
 * without its slot. FAULT_UNAVAILABLE; FAULT_BAD_REQUEST when the database can be reached but must
 * not be used so. A wire that is all zero but for its target is fine. */
bool wire_reopen(struct wire *wire, struct fault *fault);
/* Closes the connection; the wire can be opened again. */
void wire_disconnect(struct wire *wire);
/* Closes the connection, and frees what the wire has. */
void wire_close(struct wire *wire);

/* Adds a statement to the flight; parameters NULL: none. */
void wire_add(struct wire *wire, enum statement statement, const struct parameters *parameters);
/* Sends the flight and reads the results. The results of the statements lie in wire->results, in
 * order, until the next flight begins. Faults: FAULT_AGAIN for a conflict and, where is_repeatable,
 * for a lost connection; else FAULT_UNAVAILABLE. */
bool wire_fly(struct wire *wire, bool is_repeatable, struct fault *fault);
/* Sends the flight; its results are read and dropped before the next one. */
void wire_send(struct wire *wire);
/* Executes SQL that is no prepared statement, by itself. *state: five letters, or empty. */
bool wire_command(struct wire *wire, const char *sql, char state[6]);

/* Results. */
size_t wire_rows(const struct wire *wire, size_t result);
size_t wire_affected(const struct wire *wire, size_t result);
struct slice wire_bytes(const struct wire *wire, size_t result, size_t row, size_t column);
uint64_t wire_number(const struct wire *wire, size_t result, size_t row, size_t column);

#endif
