/* See background/keeper.h. A step that fails, for example because the store is unavailable, is done
 * again in the next round.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/keeper.h"

#include <pthread.h>
#include <stdlib.h>

#include "accounts/accounts.h"
#include "base/log.h"
#include "base/memory.h"
#include "resources/audit_record.h"
#include "background/join_log.h"
#include "background/account_watch.h"
#include "background/damage_log.h"
#include "background/door_watch.h"
#include "background/file_watch.h"

/* Milliseconds between two rounds. */
#define ROUND 250
/* After this many milliseconds of a round it stops numbering, because joins and the lease are
 * waiting. */
#define NUMBERING_MOST 200
/* Rounds between two checks of the accounts. */
#define ROUNDS_OF_A_COMPARISON 4

struct keeper {
	const struct environment *environment;
	struct lease *lease;
	struct account_watch *watch;
	struct door_watch *doors;
	struct file_watch *files;
	bool has_ended; /* the thread */
	struct audit_numbering numbering;
	struct id *left; /* accounts that the numbering leaves out */
	size_t left_capacity;
	int64_t left_since; /* clock_monotonic when the first of them was left out */
	struct damage_log damage;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool is_ending; /* protected by the lock */
};

/* Sets where the next pass over the queue begins: at the oldest event. While accounts with damaged
 * logs are left out, a pass begins at the events of the last DAMAGE_LOGGED_AFTER, and once in that
 * time at the oldest event, trying the damaged logs again. */
static void begin_pass(struct keeper *keeper)
{
	struct audit_numbering *numbering = &keeper->numbering;

	if (numbering->left_count > 0 &&
	    clock_monotonic() - keeper->left_since < DAMAGE_LOGGED_AFTER) {
		numbering->above = audit_queued_since(clock_now(keeper->environment->clock) -
						      DAMAGE_LOGGED_AFTER);
		return;
	}
	numbering->above = audit_no_account;
	numbering->left_count = 0;
}

/* Runs one transaction of audit_number. Returns false if nothing more is to be done in this
 * round. */
static bool number_some(struct keeper *keeper)
{
	const struct environment *environment = keeper->environment;
	const struct audit_times times = { clock_now(environment->clock), environment->log_keep };
	struct audit_numbering *numbering = &keeper->numbering;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	const struct id above = numbering->above;
	bool is_confirmed = false, is_numbered = false;
	uint64_t number;

	numbering->has_account = false;
	if (store_begin(environment->store, STORE_WRITE, arena, &transaction, &fault)) {
		is_confirmed = lease_confirm(keeper->lease, transaction, &fault);
		is_numbered = is_confirmed && audit_number(transaction, &times, numbering, &fault);
		if (is_numbered && store_has_changes(transaction))
			is_numbered = store_commit(transaction, &number, &fault);
		else
			store_abandon(transaction);
	}
	if (!is_numbered)
		numbering->above = above;
	else
		damage_log_add(&keeper->damage, "log_entry_not_numbered", &audit_no_account,
			       &numbering->damage);
	if (fault.kind == FAULT_DAMAGED) {
		damage_log_add(&keeper->damage, "log_not_numbered",
			       numbering->has_account ? &numbering->account : &audit_no_account,
			       &fault);
		if (numbering->has_account) {
			if (numbering->left_count == 0)
				keeper->left_since = clock_monotonic();
			keeper->left = memory_room(keeper->left, numbering->left_count + 1,
						   &keeper->left_capacity, sizeof *keeper->left);
			keeper->left[numbering->left_count++] = numbering->account;
			numbering->left = keeper->left;
		}
	}
	arena_close(arena);
	if (is_numbered && numbering->is_last)
		begin_pass(keeper);
	return is_numbered ? !numbering->is_last
			   : fault.kind == FAULT_DAMAGED && numbering->has_account;
}

/* Waits for this many milliseconds. Returns true if the keeper is ending. */
static bool wait_for_end(struct keeper *keeper, int64_t milliseconds)
{
	bool is_ending;

	pthread_mutex_lock(&keeper->lock);
	if (!keeper->is_ending && milliseconds > 0)
		clock_wait(&keeper->ending, &keeper->lock, milliseconds);
	is_ending = keeper->is_ending;
	pthread_mutex_unlock(&keeper->lock);
	return is_ending;
}

static void *run_keeper(void *context)
{
	struct keeper *keeper = context;
	const struct environment *environment = keeper->environment;
	unsigned long round = 0;
	bool is_behind;
	int64_t until;

	do {
		const bool compares = round++ % ROUNDS_OF_A_COMPARISON == 0;

		is_behind = false;
		join_log_write(environment->joins, environment);
		door_watch_round(keeper->doors);
		if (!lease_hold(keeper->lease))
			continue;
		if (store_is_shared(environment->store)) {
			/* What is left is done in the next round. */
			until = clock_monotonic() + NUMBERING_MOST;
			do
				is_behind = number_some(keeper);
			while (is_behind && !wait_for_end(keeper, 0) && clock_monotonic() < until);
		}
		is_behind = file_watch_round(keeper->files) || is_behind;
		if (compares)
			account_watch_compare(keeper->watch, keeper->lease);
	} while (!wait_for_end(keeper, is_behind ? 0 : ROUND));
	return NULL;
}

struct keeper *keeper_open(const struct environment *environment, struct lease *lease)
{
	struct keeper *keeper = memory_check(calloc(1, sizeof *keeper));

	keeper->environment = environment;
	keeper->lease = lease;
	keeper->watch = account_watch_open(environment);
	keeper->doors = door_watch_open(environment);
	keeper->files = file_watch_open(environment);
	clock_condition_init(&keeper->ending);
	if (pthread_mutex_init(&keeper->lock, NULL) != 0 ||
	    pthread_create(&keeper->thread, NULL, run_keeper, keeper) != 0)
		ABORT("cannot create a lock or thread");
	return keeper;
}

void keeper_end(struct keeper *keeper)
{
	if (keeper == NULL || keeper->has_ended)
		return;
	pthread_mutex_lock(&keeper->lock);
	keeper->is_ending = true;
	pthread_cond_signal(&keeper->ending);
	pthread_mutex_unlock(&keeper->lock);
	pthread_join(keeper->thread, NULL);
	join_log_write(keeper->environment->joins, keeper->environment);
	keeper->has_ended = true;
}

void keeper_close(struct keeper *keeper)
{
	if (keeper == NULL)
		return;
	keeper_end(keeper);
	account_watch_close(keeper->watch);
	door_watch_close(keeper->doors);
	file_watch_close(keeper->files);
	pthread_cond_destroy(&keeper->ending);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper->left);
	free(keeper);
}
