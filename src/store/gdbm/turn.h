/* The turn to write: one WRITE transaction has it at a time, usually from begin to end. A long
 * transaction gives way now and then: it lends the turn to the transactions that are waiting at
 * that moment, and gets it back when that many have had it, before any that came later.
 *
 * The turn is a mutex, so a short transaction pays only for that. The mutex also protects `away`
 * and `lent`. Only one transaction gives way at a time.
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
	struct gdbm_transaction *away; /* the transaction that has lent the turn, or NULL */
	unsigned lent; /* turns that others may still have before `away` gets it back */
	pthread_cond_t due; /* signalled when `lent` is 0 */
	pthread_cond_t returned; /* signalled when `away` has the turn again */
	pthread_cond_t ended; /* signalled when a transaction that had lent the turn has ended */
};

void turn_open(struct turn *turn);
void turn_close(struct turn *turn);

void turn_take(struct turn *turn);
/* has_lent: whether the transaction that ends has lent the turn before. */
void turn_give(struct turn *turn, bool has_lent);

/* The caller of the following functions has the turn, except for turn_take_back. While one
 * transaction is away, no other lends the turn. */

bool turn_is_wanted(const struct turn *turn);
/* Lends the turn to the waiting transactions. Returns when it is this transaction's turn again. */
void turn_lend(struct turn *turn, struct gdbm_transaction *transaction);
/* Lends the turn to everyone who wants it, until the transaction takes it back. In the meantime the
 * caller may wait for something else. */
void turn_lend_to_all(struct turn *turn, struct gdbm_transaction *transaction);
void turn_take_back(struct turn *turn);
/* Returns whether a transaction of the account has lent the turn; then the account's records must
 * not be used. */
bool turn_is_lent_by(const struct turn *turn, const struct id *account);
/* Leaves the turn to others until no transaction of the account has lent it. */
void turn_leave_to(struct turn *turn, const struct id *account);

#endif
