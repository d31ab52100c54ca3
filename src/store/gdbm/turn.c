/* See turn.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/turn.h"

#include <assert.h>
#include <limits.h>

#include "store/gdbm/store_gdbm_parts.h"

void turn_open(struct turn *turn)
{
	pthread_mutex_init(&turn->mutex, NULL);
	pthread_cond_init(&turn->due, NULL);
	pthread_cond_init(&turn->returned, NULL);
	pthread_cond_init(&turn->ended, NULL);
	atomic_init(&turn->waiting, 0);
}

void turn_close(struct turn *turn)
{
	pthread_cond_destroy(&turn->ended);
	pthread_cond_destroy(&turn->returned);
	pthread_cond_destroy(&turn->due);
	pthread_mutex_destroy(&turn->mutex);
}

/* Called with the mutex: if the transaction that is away may have its turn back, lets it go
 * first. */
static void let_return(struct turn *turn)
{
	while (turn->away != NULL && turn->lent == 0)
		pthread_cond_wait(&turn->returned, &turn->mutex);
}

/* Counts one of the lent turns as finished. */
static void count_turn(struct turn *turn)
{
	if (turn->away != NULL && turn->lent > 0 && --turn->lent == 0)
		pthread_cond_signal(&turn->due);
}

void turn_take(struct turn *turn)
{
	atomic_fetch_add_explicit(&turn->waiting, 1, memory_order_relaxed);
	pthread_mutex_lock(&turn->mutex);
	let_return(turn);
	atomic_fetch_sub_explicit(&turn->waiting, 1, memory_order_relaxed);
}

void turn_give(struct turn *turn, bool has_lent)
{
	count_turn(turn);
	if (has_lent)
		pthread_cond_broadcast(&turn->ended);
	pthread_mutex_unlock(&turn->mutex);
}

bool turn_is_wanted(const struct turn *turn)
{
	return atomic_load_explicit(&turn->waiting, memory_order_relaxed) > 0;
}

void turn_lend(struct turn *turn, struct gdbm_transaction *transaction)
{
	assert(turn->away == NULL);
	turn->away = transaction;
	turn->lent = atomic_load_explicit(&turn->waiting, memory_order_relaxed);
	while (turn->lent > 0)
		pthread_cond_wait(&turn->due, &turn->mutex);
	turn->away = NULL;
	pthread_cond_broadcast(&turn->returned);
}

void turn_lend_to_all(struct turn *turn, struct gdbm_transaction *transaction)
{
	assert(turn->away == NULL);
	turn->away = transaction;
	turn->lent = UINT_MAX;
	pthread_mutex_unlock(&turn->mutex);
}

void turn_take_back(struct turn *turn)
{
	pthread_mutex_lock(&turn->mutex);
	turn->away = NULL;
}

bool turn_is_lent_by(const struct turn *turn, const struct id *account)
{
	return turn->away != NULL && id_compare(&turn->away->base.account, account) == 0;
}

void turn_leave_to(struct turn *turn, const struct id *account)
{
	count_turn(turn);
	while (turn_is_lent_by(turn, account))
		pthread_cond_wait(&turn->ended, &turn->mutex);
	atomic_fetch_add_explicit(&turn->waiting, 1, memory_order_relaxed);
	let_return(turn);
	atomic_fetch_sub_explicit(&turn->waiting, 1, memory_order_relaxed);
}
