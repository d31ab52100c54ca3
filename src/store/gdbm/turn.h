/* The turn to write: one WRITE transaction has it at a time, as a rule from its begin to its end. A
 * long one gives way now and then: it lends the turn to the transactions that wait for it at that
 * moment, and gets it back when as many have had it, before any that came later.
 *
 * The turn is a mutex, so a short transaction pays only for that. The mutex also protects `away`
 * and `lent`. One transaction gives way at a time.
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
	pthread_mutex_t mutex; /* held by the transaction whose turn it is */
	atomic_uint waiting; /* threads that wait for the turn */
	struct gdbm_transaction *away; /* has lent the turn; NULL if none has */
	unsigned lent; /* turns that others have before `away` gets it back */
	pthread_cond_t due; /* `lent` is 0 */
	pthread_cond_t returned; /* `away` has the turn again */
	pthread_cond_t ended; /* one that had lent the turn has ended */
};

void turn_open(struct turn *turn);
void turn_close(struct turn *turn);

void turn_take(struct turn *turn);
/* has_lent: whether the transaction that ends had lent it. */
void turn_give(struct turn *turn, bool has_lent);

/* The caller of these has the turn, but for turn_take_back. No transaction lends it while another
 * one is away. */

bool turn_is_wanted(const struct turn *turn);
/* Lends it to those that wait. Returns when it is the transaction's turn again. */
void turn_lend(struct turn *turn, struct gdbm_transaction *transaction);
/* Lends the turn to all that want it, until the transaction takes it back. Meanwhile the caller may
 * wait for something else. */
void turn_lend_to_all(struct turn *turn, struct gdbm_transaction *transaction);
void turn_take_back(struct turn *turn);
/* Whether a transaction of the account has lent the turn, so that the account's records must not be
 * used. */
bool turn_is_lent_by(const struct turn *turn, const struct id *account);
/* Leaves the turn to others until no transaction of the account has lent it. */
void turn_leave_to(struct turn *turn, const struct id *account);

#endif
