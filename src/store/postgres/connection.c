/* See connection.h. Connections are in pipeline mode: a flight is any number of statements followed
 * by one Sync.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/connection.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/postgres/store_postgres.h"
#include "store/store.h"

/* Milliseconds. */
#define POLL_EVERY 100
/* Number of checks whether a pooler shares sessions. */
#define POOLER_CHECKS 8

/* ---- the target ---- */

/* Default connection parameters; the URL overrides them. */
static const struct {
	const char *keyword, *value;
} standards[] = {
	{ "target_session_attrs", "read-write" },
	{ "connect_timeout", "2" },
	{ "keepalives_idle", "10" },
	{ "keepalives_interval", "3" },
	{ "keepalives_count", "3" },
	{ "tcp_user_timeout", "10000" },
	{ "fallback_application_name", "anteroom" },
	{ "client_encoding", "UTF8" },
};
#define STANDARDS (sizeof standards / sizeof standards[0])

static bool has_password(const PQconninfoOption *options)
{
	for (; options->keyword != NULL; options++) {
		if (options->val != NULL && (strcmp(options->keyword, "password") == 0 ||
					     strcmp(options->keyword, "sslpassword") == 0))
			return true;
	}
	return false;
}

bool wire_target_open(const char *url, bool is_patient, struct wire_target *target,
		      struct fault *fault)
{
	char *error = NULL;
	PQconninfoOption *options;
	bool is_right;

	*target = (struct wire_target){
		.url = memory_check(strdup(url)),
		.is_patient = is_patient,
	};
	/* libpq accepts the scheme only in lower case. */
	if (store_postgres_is_url(url)) {
		for (char *at = target->url; *at != ':'; at++) {
			if (*at >= 'A' && *at <= 'Z')
				*at = (char)(*at - 'A' + 'a');
		}
	}
	options = PQconninfoParse(target->url, &error);
	if (options == NULL) {
		fault_cause(fault, FAULT_BAD_REQUEST, 0, "invalid store URL: %s",
			    error == NULL ? "out of memory" : error);
		PQfreemem(error);
		return false;
	}
	is_right =
		!has_password(options) ||
		fault_cause(fault, FAULT_BAD_REQUEST, 0,
			    "the URL must not contain a password, because other users can see it; "
			    "use ~/.pgpass or PGPASSFILE");
	PQconninfoFree(options);
	return is_right;
}

void wire_target_close(struct wire_target *target)
{
	free(target->url);
}

void wire_target_end(struct wire_target *target, int64_t milliseconds)
{
	atomic_store(&target->ends_at, clock_monotonic() + milliseconds);
}

bool wire_target_is_ended(const struct wire_target *target)
{
	return atomic_load(&target->ends_at) != 0;
}

/* ---- waiting ---- */

/* Waits until the socket can be read, or can be written if there is something to send. Also returns
 * after a short time, so that the caller notices the end of the target. */
static bool wait_for(const struct wire *wire, int64_t until)
{
	PGconn *connection = wire->connection;
	const int rest = PQflush(connection);
	const int64_t ends_at = atomic_load(&wire->target->ends_at);
	const int64_t left = (ends_at != 0 && ends_at < until ? ends_at : until) -
			     clock_monotonic();
	struct pollfd poller = { .fd = PQsocket(connection), .events = POLLIN };
	int n;

	if (rest < 0 || left <= 0 || poller.fd < 0)
		return false;
	if (rest > 0)
		poller.events |= POLLOUT;
	n = poll(&poller, 1, left < POLL_EVERY ? (int)left : POLL_EVERY);
	if (n == 0 || (n < 0 && errno == EINTR))
		return true;
	if (n < 0)
		return false;
	return (poller.revents & POLLIN) == 0 || PQconsumeInput(connection) == 1;
}

/* Returns the next result, or NULL at the end of a statement's results. NULL also if the connection
 * is lost. */
static PGresult *next_result(struct wire *wire, int64_t until)
{
	while (PQisBusy(wire->connection)) {
		if (!wait_for(wire, until)) {
			wire->is_connected = false;
			return NULL;
		}
	}
	return PQgetResult(wire->connection);
}

/* ---- errors ---- */

static const char *state_of(const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return state == NULL ? "" : state;
}

static bool state_is_any(const char *state, const char *const *states)
{
	while (*states != NULL && strncmp(state, *states, strlen(*states)) != 0)
		states++;
	return *states != NULL;
}

#define LOCK_TIMEOUT "55P03"
#define READ_ONLY "25006"
/* Serialization failure, deadlock, taken name, missing parent, slot of another epoch, missing
 * record, lock timeout. */
static const char *const conflicts[] = { "40001", "40P01", "23505",	 "23503",
					 "23502", "22012", LOCK_TIMEOUT, NULL };
/* The server is shutting down, the connection was lost, or the server became a standby. Also a
 * statement that the server has forgotten, or whose tables have changed: it is prepared again on a
 * new connection. */
static const char *const losses[] = { "08",	 "57P01", "57P02", "57P03", "57P05", "25P03",
				      READ_ONLY, "26000", "0A000", "XX",    NULL };

/* Sets the fault with a message of libpq, put into one line. */
static bool unavailable(const char *message, struct fault *fault)
{
	char text[240];
	size_t n;

	(void)snprintf(text, sizeof text, "%s", message);
	for (n = strlen(text); n > 0 && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n')
			text[i] = ' ';
	}
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the database: %s", text);
}

/* Adds the detail to the fault that the server or libpq has given the cause of. */
static void note_read_only(struct wire *wire, struct fault *fault)
{
	wire->is_read_only = true;
	(void)snprintf(fault->detail, sizeof fault->detail, "%s", WIRE_READ_ONLY);
}

static bool take_error(struct wire *wire, const PGresult *result, bool is_repeatable,
		       struct fault *fault)
{
	const char *state = state_of(result);

	if (state_is_any(state, conflicts)) {
		atomic_fetch_add_explicit(&wire->target->figures.reruns, 1, memory_order_relaxed);
		wire->has_timed_out = wire->has_timed_out || strcmp(state, LOCK_TIMEOUT) == 0;
		return fault_set(fault, FAULT_AGAIN, NULL);
	}
	if (state[0] == '\0' || state_is_any(state, losses)) {
		wire->is_connected = false;
		if (is_repeatable)
			return fault_set(fault, FAULT_AGAIN, NULL);
	}
	(void)unavailable(PQresultErrorMessage(result), fault);
	if (strcmp(state, READ_ONLY) == 0)
		note_read_only(wire, fault);
	return false;
}

static bool lost(struct wire *wire, bool is_repeatable, struct fault *fault)
{
	wire->is_connected = false;
	if (is_repeatable)
		return fault_set(fault, FAULT_AGAIN, NULL);
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the database does not respond");
}

/* Returns the time after which a response is no longer waited for. */
static int64_t deadline(const struct wire *wire)
{
	return clock_monotonic() + (wire->target->is_patient ? WAIT_MOST_PATIENT : WAIT_MOST);
}

/* ---- flights ---- */

static void discard_results(struct wire *wire)
{
	for (size_t i = 0; i < wire->result_count; i++)
		PQclear(wire->results[i]);
	wire->result_count = 0;
}

static void note_sent(struct wire *wire, enum statement statement, bool is_preparation)
{
	wire->sent = memory_room(wire->sent, wire->sent_count + 1, &wire->sent_capacity,
				 sizeof *wire->sent);
	wire->sent[wire->sent_count++] = (struct wire_sent){ statement, is_preparation };
}

/* Reads the results of one queued command. */
static bool read_one(struct wire *wire, const struct wire_sent *sent, int64_t until,
		     bool is_repeatable, struct fault *fault)
{
	PGresult *result = next_result(wire, until), *end;
	bool is_right = false;

	if (result == NULL)
		return lost(wire, is_repeatable, fault);
	switch (PQresultStatus(result)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
		is_right = true;
		break;
	case PGRES_PIPELINE_ABORTED:
		break; /* an earlier failure has set the fault */
	default:
		take_error(wire, result, is_repeatable, fault);
	}
	if (is_right && sent->is_preparation)
		wire->is_prepared[sent->statement] = true;
	if (is_right && !sent->is_preparation) {
		wire->results = memory_room(wire->results, wire->result_count + 1,
					    &wire->result_capacity, sizeof *wire->results);
		wire->results[wire->result_count++] = result;
	} else {
		PQclear(result);
	}
	while (wire->is_connected && (end = next_result(wire, until)) != NULL)
		PQclear(end);
	return is_right;
}

/* Reads the results of the flight that was sent. */
static bool read_flight(struct wire *wire, bool is_repeatable, struct fault *fault)
{
	const int64_t until = deadline(wire);
	bool is_right = true;
	PGresult *result;

	for (size_t i = 0; i < wire->sent_count && wire->is_connected; i++)
		is_right = read_one(wire, &wire->sent[i], until, is_repeatable, fault) && is_right;
	if (wire->is_connected) {
		result = next_result(wire, until);
		if (result == NULL || PQresultStatus(result) != PGRES_PIPELINE_SYNC)
			is_right = lost(wire, is_repeatable, fault);
		PQclear(result);
	}
	wire->sent_count = 0;
	wire->is_sent = false;
	return is_right && wire->is_connected;
}

/* Reads the results that an earlier wire_send left. */
static void finish_sent(struct wire *wire)
{
	struct fault ignored = FAULT_INITIAL;

	if (!wire->is_sent)
		return;
	if (!read_flight(wire, true, &ignored))
		wire->is_connected = false;
	discard_results(wire);
}

static bool is_in_flight(const struct wire *wire, enum statement statement)
{
	for (size_t i = 0; i < wire->sent_count; i++) {
		if (wire->sent[i].statement == statement)
			return true;
	}
	return false;
}

void wire_add(struct wire *wire, enum statement statement, const struct parameters *parameters)
{
	static const int binary[PARAMETERS_MOST] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	const struct statement_text *text = &statements[statement];
	const int n = parameters == NULL ? 0 : parameters->count;
	Oid types[PARAMETERS_MOST];
	char name[16];

	assert((size_t)n == strlen(text->types));
	finish_sent(wire);
	if (wire->sent_count == 0)
		discard_results(wire);
	if (!wire->is_connected)
		return;
	(void)snprintf(name, sizeof name, "s%d", (int)statement);
	if (!wire->is_prepared[statement] && !is_in_flight(wire, statement)) {
		for (int i = 0; i < n; i++)
			types[i] = parameter_type(text->types[i]);
		if (PQsendPrepare(wire->connection, name, text->sql, n, types) == 1)
			note_sent(wire, statement, true);
		else
			wire->is_connected = false;
	}
	if (wire->is_connected &&
	    PQsendQueryPrepared(wire->connection, name, n, n == 0 ? NULL : parameters->values,
				n == 0 ? NULL : parameters->sizes, binary, 1) == 1)
		note_sent(wire, statement, false);
	else
		wire->is_connected = false;
}

void wire_send(struct wire *wire)
{
	if (!wire->is_connected)
		return;
	if (PQpipelineSync(wire->connection) != 1 || PQflush(wire->connection) < 0)
		wire->is_connected = false;
	wire->is_sent = true;
	atomic_fetch_add_explicit(&wire->target->figures.flights, 1, memory_order_relaxed);
}

bool wire_fly(struct wire *wire, bool is_repeatable, struct fault *fault)
{
	wire_send(wire);
	if (!wire->is_connected) {
		wire->sent_count = 0;
		wire->is_sent = false;
		return lost(wire, is_repeatable, fault);
	}
	return read_flight(wire, is_repeatable, fault);
}

/* Sends SQL with a Sync of its own, so that if it fails, later SQL is still executed. */
static void send_alone(struct wire *wire, const char *sql)
{
	if (wire->is_connected &&
	    (PQsendQueryParams(wire->connection, sql, 0, NULL, NULL, NULL, NULL, 0) != 1 ||
	     PQpipelineSync(wire->connection) != 1))
		wire->is_connected = false;
}

/* Returns the result of the next SQL that was sent alone, or NULL if the connection is lost. */
static PGresult *read_alone(struct wire *wire, int64_t until)
{
	PGresult *result = wire->is_connected ? next_result(wire, until) : NULL, *next;

	if (result == NULL)
		wire->is_connected = false;
	while (wire->is_connected && (next = next_result(wire, until)) != NULL)
		PQclear(next);
	if (wire->is_connected) {
		next = next_result(wire, until);
		if (next == NULL || PQresultStatus(next) != PGRES_PIPELINE_SYNC)
			wire->is_connected = false;
		PQclear(next);
	}
	if (wire->is_connected)
		return result;
	PQclear(result);
	return NULL;
}

bool wire_command(struct wire *wire, const char *sql, char state[6])
{
	const int64_t until = deadline(wire);
	PGresult *result;
	ExecStatusType status;

	finish_sent(wire);
	send_alone(wire, sql);
	result = read_alone(wire, until);
	status = PQresultStatus(result);
	(void)snprintf(state, 6, "%s", state_of(result));
	PQclear(result);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* ---- connecting ---- */

/* The server must give up waiting for a lock before this side gives up waiting for the server,
 * which would count as a lost connection. */
_Static_assert(STORE_LOCK_MOST + 1000 <= WAIT_MOST, "a wait for a lock ends in time");

/* Settings of a session; a server that does not know one of them continues without it. Plans always
 * use the indexes: the statements are designed for them, and if a table was empty when a statement
 * was planned, it would be scanned for a long time afterwards. Large values are compressed before
 * they are stored. */
static const char *const settings[] = {
	"SET idle_in_transaction_session_timeout = '5s'",
	("SET lock_timeout = " TEXT_OF(STORE_LOCK_MOST)),
	"SET client_min_messages = warning",
	"SET plan_cache_mode = force_generic_plan",
	"SET enable_seqscan = off",
	"SET enable_bitmapscan = off",
	"SET jit = off",
	"SET default_toast_compression = lz4",
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static void take_notice(void *context, const PGresult *result)
{
	struct wire *wire = context;

	/* If waiting for the standby is cancelled, the commit succeeds with this warning. */
	if (strcmp(state_of(result), "01000") == 0)
		wire->has_warned = true;
}

/* Returns the process ID of the server, from the row of wire_set_session; 0 if unknown. */
static int process_of(const PGresult *result)
{
	return PQresultStatus(result) == PGRES_TUPLES_OK
		       ? (int)strtol(PQgetvalue(result, 0, 1), NULL, 10)
		       : 0;
}

/* Sets the session, and checks in the same flight how it commits. A pooler may have accepted the
 * login without having a server. */
static bool wire_set_session(struct wire *wire, int *process, struct fault *fault)
{
	const int64_t until = clock_monotonic() + SET_MOST;
	PGresult *result;
	bool is_right = false;

	for (size_t i = 0; i < SETTINGS; i++)
		send_alone(wire, settings[i]);
	if (wire->target->is_patient)
		send_alone(wire, "SET idle_in_transaction_session_timeout = 0");
	send_alone(wire, "SELECT current_setting('synchronous_commit', true), pg_backend_pid()");
	for (size_t i = 0; i < SETTINGS + wire->target->is_patient; i++)
		PQclear(read_alone(wire, until));
	result = read_alone(wire, until);
	if (result == NULL) {
		lost(wire, false, fault);
	} else if (PQresultStatus(result) != PGRES_TUPLES_OK) {
		unavailable(PQresultErrorMessage(result), fault);
	} else {
		/* A server without this setting returns an empty value. */
		const char *value = PQgetvalue(result, 0, 0);

		is_right =
			(strcmp(value, "off") != 0 && strcmp(value, "local") != 0 &&
			 strcmp(value, "remote_write") != 0) ||
			fault_cause(
				fault, FAULT_BAD_REQUEST, 0,
				"synchronous_commit is %s, so acknowledged writes could be lost; set it "
				"to on for the role or the database",
				value);
	}
	*process = process_of(result);
	PQclear(result);
	return is_right;
}

void wire_disconnect(struct wire *wire)
{
	discard_results(wire);
	PQfinish(wire->connection);
	wire->connection = NULL;
	wire->sent_count = 0;
	wire->is_sent = false;
	wire->has_warned = false;
	memset(wire->is_prepared, 0, sizeof wire->is_prepared);
	wire->is_connected = false;
}

static bool connect_to(struct wire *wire, struct fault *fault)
{
	struct wire_target *target = wire->target;
	const char *keywords[STANDARDS + 2] = { NULL }, *values[STANDARDS + 2] = { NULL };
	const char *message;

	/* libpq uses the later of two equal keywords; the parameters of the URL are at the place of
	 * "dbname". */
	for (size_t i = 0; i < STANDARDS; i++) {
		keywords[i] = standards[i].keyword;
		values[i] = standards[i].value;
	}
	keywords[STANDARDS] = "dbname";
	values[STANDARDS] = target->url;
	wire_disconnect(wire);
	wire->connection = PQconnectdbParams(keywords, values, 1);
	if (PQstatus(wire->connection) != CONNECTION_OK) {
		message = PQerrorMessage(wire->connection);
		if (strstr(message, "session is read-only") == NULL) {
			unavailable(message, fault);
		} else { /* the most frequent reason */
			fault_cause(
				fault, FAULT_UNAVAILABLE, 0,
				"the database is read-only: it is a standby, or "
				"default_transaction_read_only is on; use the URL of the primary "
				"server or of all servers (postgresql://HOST,HOST/NAME), or set "
				"default_transaction_read_only to off for the role or the "
				"database");
			note_read_only(wire, fault);
		}
		wire_disconnect(wire);
		return false;
	}
	atomic_fetch_add_explicit(&target->figures.connects, 1, memory_order_relaxed);
	PQsetNoticeReceiver(wire->connection, take_notice, wire);
	wire->is_connected = true;
	if (PQsetnonblocking(wire->connection, 1) != 0 ||
	    PQenterPipelineMode(wire->connection) != 1) {
		unavailable(PQerrorMessage(wire->connection), fault);
		wire_disconnect(wire);
		return false;
	}
	return true;
}

/* ---- poolers ---- */

/* Returns the ID of the server process that executes a statement of this connection now; 0 if
 * unknown. */
static int process_now(struct wire *wire)
{
	PGresult *result;
	int process;

	send_alone(wire, "SELECT NULL, pg_backend_pid()");
	result = read_alone(wire, clock_monotonic() + SET_MOST);
	process = process_of(result);
	PQclear(result);
	return process;
}

/* Returns whether two connections use the sessions of the same processes in turn: then a pooler
 * lends sessions for a transaction or a statement. A pooler that lends them for the duration of a
 * connection may have none left for the second connection. */
static bool shares_sessions(struct wire *wire, struct wire *other)
{
	const int own = process_now(wire);

	for (int i = 0; i < POOLER_CHECKS; i++) {
		const int others = process_now(other);

		if (own == 0 || others == 0)
			return false;
		if (others == own || process_now(wire) != own)
			return true;
	}
	return false;
}

/* Called when the process ID differs from the one that the connection was told, which means that
 * there is a pooler. Checks only once, because the mode of a pooler does not change while this
 * program runs. */
static bool check_pooler(struct wire *wire, struct fault *fault)
{
	struct wire other = { .target = wire->target };
	struct fault unused = FAULT_INITIAL;
	bool shares;

	if (atomic_load(&wire->target->has_own_sessions))
		return true;
	shares = connect_to(&other, &unused) && shares_sessions(wire, &other);
	wire_close(&other);
	if (shares)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"the URL leads to a pooler, such as PgBouncer, in transaction or statement "
			"mode, which mixes up the prepared statements and settings of connections; "
			"set pool_mode = session there, or use the URL of the server itself");
	atomic_store(&wire->target->has_own_sessions, true);
	return true;
}

bool wire_reopen(struct wire *wire, struct fault *fault)
{
	struct wire_target *target = wire->target;
	bool is_plain_tcp;
	const char *host;
	int process;

	if (!connect_to(wire, fault))
		return false;
	if (!wire_set_session(wire, &process, fault) ||
	    (process > 0 && process != PQbackendPID(wire->connection) &&
	     !check_pooler(wire, fault))) {
		wire_disconnect(wire);
		return false;
	}
	host = PQhost(wire->connection);
	is_plain_tcp = host != NULL && host[0] != '\0' && host[0] != '/' && host[0] != '@' &&
		       !PQsslInUse(wire->connection);
	if (is_plain_tcp && !atomic_exchange(&target->has_logged_plain_text, true))
		log_event(LOG_LEVEL_WARNING, "database_without_tls", "host", host, "remedy",
			  "sslmode=verify-full in the URL", NULL);
	return true;
}

void wire_close(struct wire *wire)
{
	wire_disconnect(wire);
	free(wire->results);
	free(wire->sent);
}

/* ---- results ---- */

size_t wire_rows(const struct wire *wire, size_t result)
{
	return (size_t)PQntuples(wire->results[result]);
}

size_t wire_affected(const struct wire *wire, size_t result)
{
	return (size_t)strtoul(PQcmdTuples(wire->results[result]), NULL, 10);
}

struct slice wire_bytes(const struct wire *wire, size_t result, size_t row, size_t column)
{
	const PGresult *from = wire->results[result];

	if (PQgetisnull(from, (int)row, (int)column))
		return (struct slice){ NULL, 0 };
	return (struct slice){ PQgetvalue(from, (int)row, (int)column),
			       (size_t)PQgetlength(from, (int)row, (int)column) };
}

uint64_t wire_number(const struct wire *wire, size_t result, size_t row, size_t column)
{
	const struct slice bytes = wire_bytes(wire, result, row, column);
	uint64_t number = 0;

	for (size_t i = 0; i < bytes.size; i++)
		number = number << 8 | (unsigned char)bytes.data[i];
	return number;
}
