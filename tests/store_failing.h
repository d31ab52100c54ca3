/* A driver that passes everything on to another store, counts the calls and lets one of them fail:
 * so every error path of the modules that use a store can be walked, and its cost be counted. It
 * can also say that a call has to be run again, as a store may that several machines share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_STORE_FAILING_H
#define TESTS_STORE_FAILING_H

#include "store/store.h"

/* Takes over `inner`, which is closed with it. */
struct store *store_failing_open(struct store *inner);
/* Closes the inner store, which nobody is using, and goes on with another. */
void store_failing_renew(struct store *store, struct store *inner);

/* The n-th call from now on (begin, get, put, remove, commit) fails with FAULT_UNAVAILABLE; 0: none
 * does. The count starts again at 0. */
void store_failing_at(struct store *store, unsigned n);
/* What it fails with instead; for the tests of one store. */
void store_failing_with(struct store *store, enum fault_kind kind);
/* From now on the n-th get of a transaction (n 0: its commit) says FAULT_AGAIN, in so many
 * transactions; 0: in none. For a get and for the commit at the same time, if both were asked
 * for. */
void store_failing_again(struct store *store, unsigned n, unsigned times);
/* So many commits from now on happen, and are told as if it were not known; counted down. */
void store_failing_unknown(struct store *store, unsigned times);
/* How many of them are left. */
unsigned store_failing_unknown_left(const struct store *store);
/* At the n-th store_give_way from now on `act` is run in a thread of its own, and the transaction
 * gives way until it has returned. The inner store is one whose transactions give way. */
void store_failing_meanwhile(struct store *store, unsigned n, void (*act)(void));
/* How many calls there were since store_failing_at. */
unsigned store_failing_calls(const struct store *store);

#endif
