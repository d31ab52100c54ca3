/* The connections of a store, and the thread that keeps watch. See store_postgres_parts.h.
 *
 * A connection reads only after a commit of its own row of `session`: a server that was killed while
 * a commit waited for its standby shows that commit after a restart, and nobody else has it. What
 * this connection can see lies before its own commit, which the standby has confirmed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/postgres/store_postgres_parts.h"

/* Milliseconds. */
#define TAKE_MOST 5000
#define WATCH_EVERY 500
#define FIND_OUT_EVERY 200
/* So many rounds of the watch are between two commits of it. */
#define ROUNDS_OF_A_COMMIT 4

static bool refuse(struct fault *fault)
{
	return fault_detail(fault, FAULT_UNAVAILABLE, "the database does not answer");
}

static void set_away(struct store_postgres *store, const char *cause)
{
	if (!atomic_exchange(&store->is_away, true))
		log_event(LOG_LEVEL_ERROR, "database_away", "error", cause, "effect",
			  "calls are answered with 503 until it is back", NULL);
}

static void set_back(struct store_postgres *store)
{
	if (atomic_exchange(&store->is_away, false))
		log_event(LOG_LEVEL_NOTICE, "database_back", NULL);
}

/* ---- slots ---- */

static bool add_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	clock_random(&clock_system, &wire->slot, sizeof wire->slot);
	wire->slot >>= 1;
	parameters_number(&parameters, wire->slot, 8);
	wire_add(wire, SLOT_ADD, &parameters);
	if (!wire_fly(wire, false, fault))
		return false;
	wire->epoch = 1;
	wire->last = 0;
	wire->has_slot = true;
	return true;
}

/* Waits for a transaction of the former connection, and shuts out what comes of it later. */
static bool take_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	if (!wire->has_slot)
		return add_slot(wire, fault);
	parameters_number(&parameters, wire->slot, 8);
	wire_add(wire, SLOT_TAKE, &parameters);
	if (!wire_fly(wire, false, fault))
		return false;
	wire->has_slot = wire_rows(wire, 0) == 1;
	if (!wire->has_slot)
		return add_slot(wire, fault);
	wire->epoch = wire_number(wire, 0, 0, 0);
	wire->last = wire_number(wire, 0, 0, 1);
	return true;
}

static void remove_slot(struct wire *wire)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	struct fault ignored = FAULT_INITIAL;

	if (wire->state == WIRE_LOST || !wire->has_slot)
		return;
	parameters_number(&parameters, wire->slot, 8);
	wire_add(wire, SLOT_REMOVE, &parameters);
	(void)wire_fly(wire, false, &ignored);
}

/* That commits of this connection wait for the standby means that this one did. */
static bool connect_again(struct wire *wire, struct fault *fault)
{
	wire->has_warned = false;
	if (!wire_reopen(wire, fault) || !take_slot(wire, fault))
		return false;
	if (wire->has_warned) {
		wire->state = WIRE_LOST;
		return refuse(fault);
	}
	return true;
}

bool connections_reconnect(struct store_postgres *store, struct wire *wire, struct fault *fault)
{
	bool is_connected = false;

	pthread_mutex_lock(&store->connecting);
	if (atomic_load(&store->is_away)) {
		refuse(fault);
	} else {
		is_connected = connect_again(wire, fault);
		if (!is_connected)
			set_away(store, fault->cause);
	}
	pthread_mutex_unlock(&store->connecting);
	return is_connected;
}

bool connections_find_out(struct store_postgres *store, struct wire *wire, uint64_t last,
			  bool *happened, struct fault *fault)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	const uint64_t slot = wire->slot;

	do {
		struct fault ignored = FAULT_INITIAL;

		if (connect_again(wire, &ignored)) {
			/* A slot that is gone tells nothing. */
			if (wire->slot != slot)
				break;
			*happened = wire->last == last;
			return true;
		}
		set_away(store, ignored.cause);
		wire->state = WIRE_LOST;
		(void)poll(NULL, 0, FIND_OUT_EVERY);
	} while (clock_monotonic() < until);
	atomic_fetch_add_explicit(&store->target.figures.unknown, 1, memory_order_relaxed);
	return fault_detail(
		fault, FAULT_UNAVAILABLE,
		"the connection to the database broke: it is not known whether this was "
		"stored");
}

/* ---- taking and giving ---- */

/* NULL with *may_open: the caller opens one. */
static struct wire *take_idle(struct store_postgres *store, bool *may_open)
{
	const int64_t until = clock_monotonic() + TAKE_MOST;
	struct wire *wire = NULL;
	int64_t left = TAKE_MOST;

	*may_open = false;
	pthread_mutex_lock(&store->lock);
	while (store->idle == NULL && store->count >= store->most && left > 0) {
		clock_wait(&store->given, &store->lock, left);
		left = until - clock_monotonic();
	}
	if (store->idle != NULL) {
		wire = store->idle;
		store->idle = wire->next;
	} else if (store->count < store->most) {
		store->count++;
		*may_open = true;
	}
	pthread_mutex_unlock(&store->lock);
	return wire;
}

void connections_give(struct store_postgres *store, struct wire *wire)
{
	pthread_mutex_lock(&store->lock);
	/* After a loss the others are as old, and probably lost too. */
	if (wire->state == WIRE_LOST) {
		for (struct wire *other = store->idle; other != NULL; other = other->next)
			other->state = WIRE_LOST;
	}
	wire->next = store->idle;
	store->idle = wire;
	pthread_cond_signal(&store->given);
	pthread_mutex_unlock(&store->lock);
}

bool connections_take(struct store_postgres *store, struct wire **wire, struct fault *fault)
{
	bool may_open;

	if (atomic_load(&store->is_away))
		return refuse(fault);
	*wire = take_idle(store, &may_open);
	if (*wire == NULL && !may_open)
		return fault_detail(fault, FAULT_UNAVAILABLE,
				    "all connections to the database are in use");
	if (*wire == NULL) {
		*wire = calloc(1, sizeof **wire);
		if (*wire == NULL)
			abort();
		(*wire)->target = &store->target;
		(*wire)->state = WIRE_LOST;
	}
	if ((*wire)->state == WIRE_LOST && !connections_reconnect(store, *wire, fault)) {
		(*wire)->state = WIRE_LOST;
		connections_give(store, *wire);
		return false;
	}
	return true;
}

/* ---- the watch ---- */

/* A standby has to confirm commits. */
static bool has_standby(struct wire *wire)
{
	struct fault ignored = FAULT_INITIAL;

	wire_add(wire, STANDBY, NULL);
	return wire_fly(wire, false, &ignored) && wire_number(wire, 0, 0, 0) != 0;
}

/* Commits the row of this connection: the database can be written. */
static bool commit_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	parameters_number(&parameters, wire->slot, 8);
	parameters_number(&parameters, wire->epoch, 8);
	parameters_number(&parameters, ++wire->last, 8);
	wire_add(wire, SLOT_SET, &parameters);
	return wire_fly(wire, false, fault) && !wire->has_warned && wire_affected(wire, 0) == 1;
}

static void watch(struct store_postgres *store, struct wire *wire, unsigned round)
{
	const bool commits = round % ROUNDS_OF_A_COMMIT == 0 || atomic_load(&store->is_away);
	struct fault fault = FAULT_INITIAL;
	bool is_there = false;

	/* One lost connection is no lost database. */
	for (int attempt = 0; !is_there && attempt < 2; attempt++) {
		fault = FAULT_INITIAL;
		is_there = (wire->state != WIRE_LOST || connect_again(wire, &fault)) &&
			   (!commits || commit_slot(wire, &fault));
		if (!is_there)
			wire->state = WIRE_LOST;
	}
	if (!is_there) {
		wire->state = WIRE_LOST;
		set_away(store, fault.cause[0] != '\0' ? fault.cause : "it cannot be written");
		return;
	}
	set_back(store);
	if (round % ROUNDS_OF_A_COMMIT == 0)
		atomic_store(&store->is_synchronous, has_standby(wire));
}

static void *keep_watch(void *context)
{
	struct store_postgres *store = context;
	struct wire wire = { .target = &store->target, .state = WIRE_LOST };
	unsigned round = 0;
	bool ends;

	do {
		pthread_mutex_lock(&store->lock);
		if (!store->ends)
			clock_wait(&store->ending, &store->lock, WATCH_EVERY);
		ends = store->ends;
		pthread_mutex_unlock(&store->lock);
		if (!ends)
			watch(store, &wire, round++);
	} while (!ends);
	remove_slot(&wire);
	wire_close(&wire);
	return NULL;
}

/* ---- opening and closing ---- */

bool connections_open(struct store_postgres *store, struct fault *fault)
{
	struct wire *wire = NULL;
	bool is_connected;

	pthread_mutex_init(&store->connecting, NULL);
	pthread_mutex_init(&store->lock, NULL);
	clock_condition_init(&store->given);
	clock_condition_init(&store->ending);
	is_connected = connections_take(store, &wire, fault);
	if (!is_connected)
		return false;
	atomic_store(&store->is_synchronous, has_standby(wire));
	if (!atomic_load(&store->is_synchronous) && !store->target.is_patient)
		log_event(LOG_LEVEL_NOTICE, "database_alone", "effect",
			  "no standby confirms commits: what is acknowledged is on one machine",
			  NULL);
	wire_add(wire, SLOT_REMOVE_OLD, NULL);
	wire_send(wire);
	connections_give(store, wire);
	if (pthread_create(&store->keeper, NULL, keep_watch, store) != 0)
		abort();
	store->has_keeper = true;
	return true;
}

void connections_close(struct store_postgres *store)
{
	struct wire *wire;

	pthread_mutex_lock(&store->lock);
	store->ends = true;
	pthread_cond_signal(&store->ending);
	pthread_mutex_unlock(&store->lock);
	if (store->has_keeper)
		pthread_join(store->keeper, NULL);
	while ((wire = store->idle) != NULL) {
		store->idle = wire->next;
		remove_slot(wire);
		wire_close(wire);
		free(wire);
	}
	pthread_cond_destroy(&store->given);
	pthread_cond_destroy(&store->ending);
	pthread_mutex_destroy(&store->lock);
	pthread_mutex_destroy(&store->connecting);
}
