/* See service/keeper.h. A step that fails, because the store is away for example, is done again in the
 * next round.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/keeper.h"

#include <pthread.h>
#include <stdlib.h>

#include "accounts/accounts.h"
#include "base/log.h"
#include "base/memory.h"
#include "resources/audit_record.h"
#include "resources/join_log.h"
#include "service/account_watch.h"

/* Milliseconds between two rounds. */
#define ROUND 250
/* Rounds between two looks at the accounts. */
#define ROUNDS_OF_A_LOOK 4

struct keeper {
	const struct environment *environment;
	struct lease *lease;
	struct account_watch *watch;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool is_ending; /* under the lock */
};

/* One transaction of audit_number; false when no more is to be done in this round. */
static bool number_some(struct keeper *keeper)
{
	const struct environment *environment = keeper->environment;
	const struct audit_times times = { clock_now(environment->clock), environment->log_keep };
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;
	size_t n = 0;

	if (store_begin(environment->store, STORE_WRITE, arena, &transaction, &fault)) {
		if (lease_confirm(keeper->lease, transaction, &fault) &&
		    audit_number(transaction, &times, &n, &fault) && n > 0)
			(void)store_commit(transaction, &number, &fault);
		else
			store_abandon(transaction);
	}
	if (fault.kind == FAULT_DAMAGED)
		log_event(LOG_LEVEL_ERROR, "log_not_numbered", "cause", fault_reason(&fault), NULL);
	arena_close(arena);
	return fault.kind == FAULT_NONE && n == AUDIT_READ_MOST;
}

static void do_round(struct keeper *keeper, unsigned long round)
{
	join_log_write(keeper->environment->joins, keeper->environment);
	if (!lease_hold(keeper->lease))
		return;
	if (store_is_shared(keeper->environment->store)) {
		while (number_some(keeper))
			continue;
	}
	if (round % ROUNDS_OF_A_LOOK == 0)
		account_watch_look(keeper->watch, keeper->lease);
}

static bool wait(struct keeper *keeper)
{
	bool is_ending;

	if (pthread_mutex_lock(&keeper->lock) != 0)
		abort();
	if (!keeper->is_ending)
		clock_wait(&keeper->ending, &keeper->lock, ROUND);
	is_ending = keeper->is_ending;
	if (pthread_mutex_unlock(&keeper->lock) != 0)
		abort();
	return !is_ending;
}

static void *work(void *context)
{
	struct keeper *keeper = context;
	unsigned long round = 0;

	do {
		do_round(keeper, round++);
	} while (wait(keeper));
	return NULL;
}

struct keeper *keeper_open(const struct environment *environment, struct lease *lease)
{
	struct keeper *keeper = memory_check(calloc(1, sizeof *keeper));

	keeper->environment = environment;
	keeper->lease = lease;
	keeper->watch = account_watch_open(environment);
	clock_condition_init(&keeper->ending);
	if (pthread_mutex_init(&keeper->lock, NULL) != 0 ||
	    pthread_create(&keeper->thread, NULL, work, keeper) != 0)
		abort();
	return keeper;
}

void keeper_close(struct keeper *keeper)
{
	if (keeper == NULL)
		return;
	if (pthread_mutex_lock(&keeper->lock) != 0)
		abort();
	keeper->is_ending = true;
	if (pthread_cond_signal(&keeper->ending) != 0 || pthread_mutex_unlock(&keeper->lock) != 0 ||
	    pthread_join(keeper->thread, NULL) != 0)
		abort();
	join_log_write(keeper->environment->joins, keeper->environment);
	account_watch_close(keeper->watch);
	pthread_cond_destroy(&keeper->ending);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}
