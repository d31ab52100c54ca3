/* The turn to write: one WRITE transaction has it at a time, as a rule from its begin to its end. A
 * long one gives way now and then: it lends the turn to those that wait for it at that moment, and
 * has it back when as many have had it, before any that came later.
 *
 * The turn is a mutex, so that it costs a short transaction no more than that; what is said here of
 * one that gives way is protected by it, too. One transaction gives way at a time.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_TURN_H
#define STORE_GDBM_TURN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/id.h"

struct gdbm_transaction;

struct turn {
	pthread_mutex_t mutex; /* held by whose turn it is */
	atomic_uint waiting; /* threads that wait for the turn */
	struct gdbm_transaction *away; /* it has lent the turn; NULL: none has */
	unsigned lent; /* turns that others have before that one */
	pthread_cond_t due; /* they have had them */
	pthread_cond_t returned; /* `away` has the turn again */
	pthread_cond_t ended; /* one that had lent the turn has ended */
};

void turn_open(struct turn *turn);
void turn_close(struct turn *turn);

void turn_take(struct turn *turn);
/* has_lent: whether the transaction that ends had lent it. */
void turn_give(struct turn *turn, bool has_lent);

/* The others are called by who has the turn. */

bool turn_is_wanted(const struct turn *turn);
/* Returns when it is the transaction's turn again. */
void turn_lend(struct turn *turn, struct gdbm_transaction *transaction);
/* Whether a transaction of the account has lent it, so that its records are not to be used. */
bool turn_is_lent_by(const struct turn *turn, const struct id *account);
/* Leaves the turn to others until no transaction of the account has lent it. */
void turn_leave_to(struct turn *turn, const struct id *account);

#endif
