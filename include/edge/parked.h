/* Answers that wait until their transaction is durable, without a thread each (house rule: the
 * answer waits, the thread does not).
 *
 * A worker adds an exchange whose number is pending and goes on. Exactly one worker at a time
 * flushes: the first that finds nobody at it. It takes all that wait, flushes the store, hands them
 * to the list of ready ones, and begins again until nobody waits; it sends nothing while others
 * wait. Ready ones are sent by any worker: by the flusher when it is done, by one that is woken
 * through the descriptor when the flusher goes on. So the next flush never waits for a slow peer,
 * and a single client pays for no switch of threads.
 *
 * No wake-up is lost: "somebody flushes" and the list are one state under one lock, and the flusher
 * gives up its place only in the moment when it finds the list empty.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_PARKED_H
#define EDGE_PARKED_H

#include "edge/fastcgi.h"
#include "store/store.h"

struct parked;

/* NULL, with errno: no descriptor. */
struct parked *parked_open(struct store *store);
/* Nothing may be parked. NULL is fine. */
void parked_close(struct parked *parked);

/* For an epoll set, with EPOLLET: whoever gets its event calls parked_help. Never read. */
int parked_descriptor(const struct parked *parked);

/* True: nobody flushes, the caller must call parked_flush now. The exchange is no longer the
 * caller's in either case. */
bool parked_add(struct parked *parked, struct exchange *exchange);

/* Flushes until nobody waits; afterwards the caller sends what parked_next gives it. */
void parked_flush(struct parked *parked);

/* To be called by the one that was woken, before parked_next. */
void parked_help(struct parked *parked);

/* One exchange that is to be settled and sent, or NULL. Wakes another worker when more are there. */
struct exchange *parked_next(struct parked *parked);

#endif
