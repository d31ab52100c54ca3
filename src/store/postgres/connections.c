/* The connections of a store, and the thread that watches the database. See store_postgres_parts.h.
 *
 * A connection reads only after it has committed its own row of `session`. If a server was killed
 * while a commit waited for its standby, it shows that commit after a restart although no other
 * machine has it. Everything that this connection can see precedes its own commit, which the
 * standby has confirmed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/postgres/store_postgres_parts.h"

/* Milliseconds. */
#define TAKE_MOST 5000
#define WATCH_EVERY 500
#define FIND_OUT_EVERY 200
#define OPEN_EVERY 1000
#define CLOSE_MOST 1000
/* CROWD_LASTS: after a write has waited for a lock in vain, the writes of its account may not wait
 * beyond their part for this long, and fail if that part is in use. CROWD_IS_KNOWN: the same, if
 * all those that wait as usual have already waited longer than the others may. */
#define CROWD_LASTS 1000
#define CROWD_IS_KNOWN (STORE_LOCK_MOST + 2000)
/* The writes of one account may wait as usual in a third of the connections, which is about half of
 * the workers, because some connections are for other threads. If the writes of all accounts use
 * that many, each account may have one; if they use half of the connections, none. Half is also the
 * most that wait for locks at all, usually and briefly, for one account, and for all but the first
 * write of each account. */
#define PART_OF_AN_ACCOUNT 3
#define PART_OF_ALL 2
/* Milliseconds for which a write waits without a connection; longer than others wait briefly. */
#define PLACE_MOST (LOCK_BRIEF_MOST + 100)
/* Rounds of the watch from one of its commits to the next. */
#define ROUNDS_OF_A_COMMIT 4
/* Rounds of the watch until it asks again for the size of the database. */
#define ROUNDS_OF_A_SIZE 120

#define UNRESPONSIVE "the database does not respond"

const char *connections_trouble(const struct store_postgres *store)
{
	const char *trouble = atomic_load(&store->trouble);

	return trouble != NULL ? trouble : UNRESPONSIVE;
}

static void set_away(struct store_postgres *store, const char *cause, const struct fault *fault)
{
	static const char *const troubles[] = { WIRE_READ_ONLY, WIRE_NEWER };
	const char *trouble = NULL;

	for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
		if (strcmp(fault->detail, troubles[i]) == 0)
			trouble = troubles[i];
	}
	atomic_store(&store->trouble, trouble);
	if (atomic_exchange(&store->is_away, true))
		return;
	log_event(LOG_LEVEL_ERROR, "database_away", "error", cause, "effect",
		  "requests fail with 503 until the database is back", NULL);
	pthread_mutex_lock(&store->lock);
	pthread_cond_broadcast(&store->given);
	pthread_mutex_unlock(&store->lock);
}

/* Makes the watch check immediately whether the database is unavailable. A connection that cannot
 * be opened does not prove it, because the server may only have too many connections. */
static void doubt(struct store_postgres *store)
{
	atomic_store(&store->is_doubted, true);
	pthread_cond_signal(&store->ending);
}

/* ---- slots ---- */

/* Sends the statement, which adds or takes the slot, and waits for an upgrade that has begun. A
 * program of an earlier version does not use a database that was upgraded. */
static bool fly_for_slot(struct wire *wire, enum statement statement,
			 const struct parameters *parameters, struct fault *fault)
{
	const unsigned number = wire->target->form_number;

	wire_add(wire, statement, parameters);
	wire_add(wire, VERSION_SHARED, NULL);
	if (!wire_fly(wire, false, fault))
		return false;
	if (number == 0 || (wire_rows(wire, 1) == 1 && wire_number(wire, 1, 0, 0) == number))
		return true;
	fault_cause(fault, FAULT_UNAVAILABLE, 0,
		    "the data in the database was written by a newer version of Anteroom");
	(void)snprintf(fault->detail, sizeof fault->detail, "%s", WIRE_NEWER);
	return false;
}

static bool add_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	clock_random(&clock_system, &wire->slot, sizeof wire->slot);
	wire->slot >>= 1;
	parameters_number(&parameters, wire->slot, 8);
	if (!fly_for_slot(wire, SLOT_ADD, &parameters, fault))
		return false;
	wire->epoch = 1;
	wire->last = 0;
	wire->has_slot = true;
	return true;
}

/* Takes the slot over: waits for a transaction of the previous connection, and invalidates anything
 * that arrives from it later. */
static bool take_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	if (!wire->has_slot)
		return add_slot(wire, fault);
	parameters_number(&parameters, wire->slot, 8);
	if (!fly_for_slot(wire, SLOT_TAKE, &parameters, fault))
		return false;
	wire->has_slot = wire_rows(wire, 0) == 1;
	if (!wire->has_slot)
		return add_slot(wire, fault);
	wire->epoch = wire_number(wire, 0, 0, 0);
	wire->last = wire_number(wire, 0, 0, 1);
	return true;
}

/* Removes the slots of all connections in the list, in one flight of the first connection. */
static void remove_slots(struct wire *list)
{
	struct fault ignored = FAULT_INITIAL;

	for (const struct wire *one = list; one != NULL; one = one->next) {
		struct parameters parameters = PARAMETERS_INITIAL;

		if (!one->has_slot)
			continue;
		parameters_number(&parameters, one->slot, 8);
		wire_add(list, SLOT_REMOVE, &parameters);
	}
	(void)wire_fly(list, false, &ignored);
}

/* Connects and takes the slot, which is a commit. If the wait of this commit for the standby was
 * cancelled, the connection is not used. */
static bool connect_again(struct wire *wire, struct fault *fault)
{
	wire->has_warned = false;
	if (!wire_reopen(wire, fault) || !take_slot(wire, fault))
		return false;
	if (wire->has_warned) {
		wire->is_connected = false;
		return fault_detail(fault, FAULT_UNAVAILABLE, UNRESPONSIVE);
	}
	return true;
}

bool connections_find_out(struct store_postgres *store, struct wire *wire, uint64_t last,
			  bool *happened, struct fault *fault)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	const uint64_t slot = wire->slot;

	do {
		struct fault ignored = FAULT_INITIAL;

		if (connect_again(wire, &ignored)) {
			/* If the slot no longer exists, it cannot tell anything. */
			if (wire->slot != slot)
				break;
			*happened = wire->last == last;
			return true;
		}
		pthread_mutex_lock(&store->lock);
		doubt(store);
		pthread_mutex_unlock(&store->lock);
		wire->is_connected = false;
		(void)poll(NULL, 0, FIND_OUT_EVERY);
	} while (clock_monotonic() < until);
	atomic_fetch_add_explicit(&store->target.figures.unknown, 1, memory_order_relaxed);
	return fault_detail(
		fault, FAULT_UNAVAILABLE,
		"the database connection was lost; the change may or may not have been stored");
}

/* ---- taking and giving; static functions are called with the lock held ---- */

/* Returns whether another connection may be opened. Connections are opened one at a time; other
 * callers wait in the meantime, and take a connection that is given back. */
static bool may_open(const struct store_postgres *store)
{
	return store->count < store->most && !store->is_opening &&
	       (store->count == 0 || clock_monotonic() >= store->open_from);
}

static struct wire *remove_first(struct wire **list)
{
	struct wire *first = *list;

	*list = first->next;
	return first;
}

/* Waits until a connection is idle or another one may be opened; the latter is returned
 * unconnected. NULL if the database is unavailable or the time is over. */
static struct wire *take_one(struct store_postgres *store, int64_t until)
{
	int64_t now = clock_monotonic(), next;
	struct wire *made;

	while (!atomic_load(&store->is_away) && store->idle == NULL && !may_open(store) &&
	       now < until) {
		next = store->open_from > now && store->open_from < until ? store->open_from
									  : until;
		clock_wait(&store->given, &store->lock, next - now);
		now = clock_monotonic();
	}
	if (atomic_load(&store->is_away))
		return NULL;
	if (store->idle != NULL)
		return remove_first(&store->idle);
	if (!may_open(store))
		return NULL;
	store->is_opening = true;
	store->count++;
	if (store->lost != NULL)
		return remove_first(&store->lost);
	made = memory_check(calloc(1, sizeof *made));
	made->target = &store->target;
	return made;
}

/* Keeps an unconnected wire; its slot is taken over when it is connected again. */
static void keep_lost(struct store_postgres *store, struct wire *wire)
{
	wire_disconnect(wire);
	wire->next = store->lost;
	store->lost = wire;
	store->count--;
	pthread_cond_broadcast(&store->given);
}

void connections_give(struct store_postgres *store, struct wire *wire)
{
	pthread_mutex_lock(&store->lock);
	if (!wire->is_connected) {
		keep_lost(store, wire);
		/* The other idle connections are as old, and probably lost too. */
		while (store->idle != NULL)
			keep_lost(store, remove_first(&store->idle));
	} else {
		wire->next = store->idle;
		store->idle = wire;
		pthread_cond_signal(&store->given);
	}
	pthread_mutex_unlock(&store->lock);
}

/* Connects a wire. If that fails and there are other connections, the caller waits for one of them,
 * and the watch finds out whether the database is unavailable. */
static bool open_one(struct store_postgres *store, struct wire *wire, bool *is_only,
		     struct fault *fault)
{
	bool is_connected;

	pthread_mutex_unlock(&store->lock);
	is_connected = connect_again(wire, fault);
	pthread_mutex_lock(&store->lock);
	store->is_opening = false;
	pthread_cond_signal(&store->given);
	if (is_connected) {
		store->is_refused = false;
		return true;
	}
	keep_lost(store, wire);
	*is_only = store->count == 0;
	if (!*is_only) {
		if (!store->is_refused)
			log_event(LOG_LEVEL_WARNING, "database_connection_refused", "error",
				  fault_reason(fault), "connections", LOG_NUMBER(store->count),
				  "effect", "requests wait for the existing connections", NULL);
		store->is_refused = true;
		store->open_from = clock_monotonic() + OPEN_EVERY;
		doubt(store);
		*fault = FAULT_INITIAL;
	}
	return false;
}

bool connections_take(struct store_postgres *store, struct wire **wire, struct fault *fault)
{
	const int64_t until = clock_monotonic() + TAKE_MOST;
	bool is_taken = false, is_only = false;

	pthread_mutex_lock(&store->lock);
	do {
		*wire = take_one(store, until);
		is_taken = *wire != NULL &&
			   ((*wire)->is_connected || open_one(store, *wire, &is_only, fault));
	} while (!is_taken && *wire != NULL && !is_only);
	pthread_mutex_unlock(&store->lock);
	if (is_only)
		set_away(store, fault->cause, fault);
	if (is_taken || is_only)
		return is_taken;
	if (atomic_load(&store->is_away))
		return fault_detail(fault, FAULT_UNAVAILABLE, "%s", connections_trouble(store));
	return fault_set(fault, FAULT_BUSY, NULL);
}

/* ---- crowds ---- */

/* Returns the crowd of the account if it is remembered, otherwise a place for it. */
static struct crowd *crowd_of(struct store_postgres *store, const struct id *account)
{
	struct crowd *oldest = store->crowds;

	for (struct crowd *crowd = store->crowds; crowd < store->crowds + CROWDS; crowd++) {
		if (id_compare(&crowd->account, account) == 0)
			return crowd;
		if (crowd->timed_out < oldest->timed_out)
			oldest = crowd;
	}
	return oldest;
}

/* has_fresh: one of the writes that may wait as usual has not waited for long yet. */
static bool crowd_is_stuck(struct store_postgres *store, const struct id *account, bool has_fresh)
{
	const struct crowd *crowd = crowd_of(store, account);

	return id_compare(&crowd->account, account) == 0 &&
	       clock_monotonic() < crowd->timed_out + (has_fresh ? CROWD_LASTS : CROWD_IS_KNOWN);
}

/* Decides how the transaction may wait, with the lock held. Returns false if it may not have a
 * connection now, because those that may wait for locks have as many as they may. */
static bool find_place(struct store_postgres *store, struct postgres_transaction *own)
{
	const unsigned half = store->most / PART_OF_ALL;
	unsigned n = 0, all = 0, usual = 0;
	bool has_fresh = false;

	for (const struct postgres_transaction *at = store->writing; at != NULL; at = at->next) {
		const bool is_ours = id_compare(&at->entered, &own->entered) == 0;

		n += is_ours;
		all++;
		usual += !at->waits_briefly;
		has_fresh = has_fresh || (is_ours && !at->waits_briefly &&
					  own->entered_at - at->entered_at <= LOCK_BRIEF_MOST);
	}
	own->waits_briefly = n >= store->most / PART_OF_AN_ACCOUNT ||
			     (n > 0 && usual >= store->most / PART_OF_AN_ACCOUNT) || usual >= half;
	own->is_refused = own->waits_briefly && crowd_is_stuck(store, &own->entered, has_fresh);
	return own->is_refused || n == 0 || (n < half && all < half);
}

/* Waits for a place, with the lock held, but without a connection. Those that wait briefly end
 * before that; if they were in vain, so is this, and if not, the database is only slow. */
static void await_place(struct store_postgres *store, struct postgres_transaction *own)
{
	const int64_t until = own->entered_at + PLACE_MOST;
	int64_t now;

	pthread_mutex_unlock(&store->lock);
	connections_give(store, own->wire);
	own->wire = NULL;
	pthread_mutex_lock(&store->lock);
	while (!find_place(store, own)) {
		now = clock_monotonic();
		own->is_refused = atomic_load(&store->is_away);
		if (own->is_refused || now >= until)
			return;
		clock_wait(&store->left, &store->lock, until - now);
	}
}

void crowd_enter(struct store_postgres *store, struct postgres_transaction *own,
		 const struct id *account)
{
	static const struct id none = { { 0 } };
	struct fault ignored = FAULT_INITIAL;

	/* If there are several accounts, the first one counts. */
	if (store->held != NULL || own->has_entered || own->is_refused ||
	    id_compare(account, &none) == 0)
		return;
	own->entered = *account;
	own->entered_at = clock_monotonic();
	pthread_mutex_lock(&store->lock);
	/* A transaction that has begun on the server cannot leave its connection. */
	if (!find_place(store, own) && !own->is_open && own->flight == 0)
		await_place(store, own);
	own->has_entered = !own->is_refused;
	if (own->has_entered) {
		own->next = store->writing;
		store->writing = own;
	}
	pthread_mutex_unlock(&store->lock);
	if (own->wire == NULL && !own->is_refused &&
	    !connections_take(store, &own->wire, &ignored)) {
		own->wire = NULL;
		own->is_refused = true;
	} else if (own->wire != NULL) {
		own->wire->has_timed_out = false;
	}
}

bool crowd_refuse(const struct store_postgres *store, struct fault *fault)
{
	if (atomic_load(&store->is_away))
		return fault_detail(fault, FAULT_UNAVAILABLE, "%s", connections_trouble(store));
	return fault_set(fault, FAULT_BUSY, NULL);
}

void crowd_leave(struct store_postgres *store, struct postgres_transaction *own)
{
	struct postgres_transaction **place = &store->writing;

	if (!own->has_entered)
		return;
	pthread_mutex_lock(&store->lock);
	while (*place != own)
		place = &(*place)->next;
	*place = own->next;
	pthread_cond_broadcast(&store->left);
	if (own->wire != NULL && own->wire->has_timed_out)
		*crowd_of(store, &own->entered) = (struct crowd){ own->entered, clock_monotonic() };
	pthread_mutex_unlock(&store->lock);
}

bool crowd_explain(const struct postgres_transaction *own, struct fault *fault)
{
	if (!own->waits_briefly || !own->wire->has_timed_out || fault->kind != FAULT_AGAIN)
		return false;
	*fault = FAULT_INITIAL;
	return fault_set(fault, FAULT_BUSY, NULL);
}

/* ---- the watch ---- */

/* Returns whether a standby must confirm commits. */
static bool has_standby(struct wire *wire)
{
	struct fault ignored = FAULT_INITIAL;

	wire_add(wire, STANDBY, NULL);
	return wire_fly(wire, false, &ignored) && wire_number(wire, 0, 0, 0) != 0;
}

/* Commits the row of this connection, which proves that the database can be written. */
static bool commit_slot(struct wire *wire, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	parameters_number(&parameters, wire->slot, 8);
	parameters_number(&parameters, wire->epoch, 8);
	parameters_number(&parameters, ++wire->last, 8);
	wire_add(wire, SLOT_SET, &parameters);
	return wire_fly(wire, false, fault) && !wire->has_warned && wire_affected(wire, 0) == 1;
}

static void watch_once(struct store_postgres *store, struct wire *wire, unsigned round)
{
	const bool commits = atomic_exchange(&store->is_doubted, false) ||
			     round % ROUNDS_OF_A_COMMIT == 0 || atomic_load(&store->is_away);
	struct fault fault = FAULT_INITIAL;
	bool is_there = false;

	/* A lost connection, or two in a row, does not mean that the database is lost. */
	for (int attempt = 0; !is_there && attempt < 3 && !wire_target_is_ended(&store->target);
	     attempt++) {
		fault = FAULT_INITIAL;
		is_there = (wire->is_connected || connect_again(wire, &fault)) &&
			   (!commits || commit_slot(wire, &fault));
		if (!is_there)
			wire->is_connected = false;
	}
	if (!is_there) {
		wire->is_connected = false;
		if (!wire_target_is_ended(&store->target))
			set_away(store,
				 fault.cause[0] != '\0' ? fault.cause
							: "the database cannot be written",
				 &fault);
		return;
	}
	if (atomic_exchange(&store->is_away, false))
		log_event(LOG_LEVEL_NOTICE, "database_back", NULL);
	if (round % ROUNDS_OF_A_COMMIT == 0)
		atomic_store(&store->is_synchronous, has_standby(wire));
	if (round % ROUNDS_OF_A_SIZE == 0) {
		wire_add(wire, SIZE, NULL);
		/* 0 if the database does not say. */
		atomic_store(&store->disk_bytes,
			     wire_fly(wire, false, &fault) ? wire_number(wire, 0, 0, 0) : 0);
	}
}

static void *keep_watch(void *context)
{
	struct store_postgres *store = context;
	struct wire wire = { .target = &store->target };
	unsigned round = 0;
	bool ends;

	do {
		pthread_mutex_lock(&store->lock);
		if (!store->ends && !atomic_load(&store->is_doubted))
			clock_wait(&store->ending, &store->lock, WATCH_EVERY);
		ends = store->ends;
		pthread_mutex_unlock(&store->lock);
		if (!ends)
			watch_once(store, &wire, round++);
	} while (!ends);
	if (wire.is_connected)
		remove_slots(&wire);
	wire_close(&wire);
	return NULL;
}

/* ---- opening and closing ---- */

bool connections_open(struct store_postgres *store, bool is_watched, struct fault *fault)
{
	struct wire *wire;

	pthread_mutex_init(&store->lock, NULL);
	clock_condition_init(&store->given);
	clock_condition_init(&store->left);
	clock_condition_init(&store->ending);
	if (!connections_take(store, &wire, fault))
		return false;
	atomic_store(&store->is_synchronous, has_standby(wire));
	if (!atomic_load(&store->is_synchronous) && !store->target.is_patient)
		log_event(LOG_LEVEL_NOTICE, "database_alone", "effect",
			  "no synchronous standby: acknowledged writes are on one machine only",
			  NULL);
	wire_add(wire, SLOT_REMOVE_OLD, NULL);
	wire_send(wire);
	connections_give(store, wire);
	if (!is_watched)
		return true;
	if (pthread_create(&store->keeper, NULL, keep_watch, store) != 0)
		ABORT("cannot start a thread");
	store->has_keeper = true;
	return true;
}

static void close_all(struct wire *list)
{
	while (list != NULL) {
		struct wire *wire = remove_first(&list);

		wire_close(wire);
		free(wire);
	}
}

/* If the database does not respond, its slots remain, and are removed later as old ones. */
void connections_close(struct store_postgres *store)
{
	wire_target_end(&store->target, CLOSE_MOST);
	pthread_mutex_lock(&store->lock);
	store->ends = true;
	pthread_cond_signal(&store->ending);
	pthread_mutex_unlock(&store->lock);
	if (store->has_keeper)
		pthread_join(store->keeper, NULL);
	if (store->idle != NULL && !atomic_load(&store->is_away))
		remove_slots(store->idle);
	close_all(store->idle);
	close_all(store->lost);
	pthread_cond_destroy(&store->given);
	pthread_cond_destroy(&store->left);
	pthread_cond_destroy(&store->ending);
	pthread_mutex_destroy(&store->lock);
}
