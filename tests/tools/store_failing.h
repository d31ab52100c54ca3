/* A driver that passes all calls on to another store, counts them, and makes one of them fail, so
 * that tests can reach every error path of the modules that use a store, and measure its cost. It
 * can also require that a call be run again, as a store that several machines share may do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_STORE_FAILING_H
#define TESTS_STORE_FAILING_H

#include "store/store.h"

/* Takes ownership of `inner`, which is closed with it. */
struct store *store_failing_open(struct store *inner);
/* Closes the inner store, which must not be in use, and continues with another one. */
void store_failing_renew(struct store *store, struct store *inner);

/* The n-th call from now on (begin, get, put, remove, commit) fails with FAULT_UNAVAILABLE; with 0,
 * no call fails. Resets the count to 0. */
void store_failing_at(struct store *store, unsigned n);
/* Sets the fault to fail with instead; lasts as long as the store. */
void store_failing_with(struct store *store, enum fault_kind kind);
/* From now on the n-th get of a transaction (its commit if n is 0) returns FAULT_AGAIN, in so many
 * transactions (0 for none). May be set for a get and for the commit at the same time. */
void store_failing_again(struct store *store, unsigned n, unsigned times);
/* So many commits from now on happen, but report an unknown outcome. */
void store_failing_unknown(struct store *store, unsigned times);
/* Returns how many of these commits are left. */
unsigned store_failing_unknown_left(const struct store *store);
/* At the n-th store_give_way from now on, runs `act` in another thread, and gives way until `act`
 * has returned. The transactions of the inner store must be able to give way. */
void store_failing_meanwhile(struct store *store, unsigned n, void (*act)(void));
/* Returns the number of calls since store_failing_at. */
unsigned store_failing_calls(const struct store *store);

#endif
