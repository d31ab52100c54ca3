/* The dispatcher of webhooks: a thread that reads the logs of accounts with webhooks, hands what
 * they want to the sender (delivery/sender.h), a few at once for each webhook, and writes how far
 * each is, and the deliveries of which an attempt failed, which it repeats by a schedule. A
 * delivery is made at least once: what has no outcome when the service or the sender ends is made
 * again, under the same webhook-id. No request waits for any of it.
 *
 * Where several processes have the store, the holder of the lease (background/lease.h) does it, and
 * writes under its lease alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DISPATCHER_H
#define BACKGROUND_DISPATCHER_H

#include "delivery/sender.h"
#include "resources/call.h"
#include "background/lease.h"
#include "resources/events/webhooks.h"

#define SCHEDULE_MOST 32

/* When the attempts of a delivery are made: of each one the seconds from the one before, of the
 * first one from the time of the entry. */
struct schedule {
	int64_t seconds[SCHEDULE_MOST];
	size_t count; /* at least 1 */
};

/* 0s,5s,5m,30m,2h,5h,10h,14h,20h,24h */
extern const struct schedule schedule_usual;

struct dispatcher;

/* All are borrowed and outlive the dispatcher; the sender is used by no other thread. */
struct dispatcher *dispatcher_open(const struct environment *environment, struct lease *lease,
				   struct sender *sender, const struct schedule *schedule);
/* Writes what is known, and ends the thread. NULL is fine. */
void dispatcher_close(struct dispatcher *dispatcher);

/* Sends a test, once, as soon as its account has a place. Any thread; it is copied. Does nothing
 * without a dispatcher, or if the account has used up its share of the 1,024 tests that may
 * wait. */
void dispatcher_test(struct dispatcher *dispatcher, const struct id *account,
		     const struct webhook_test *test);

/* Since the start, but for the gauges; any thread. */
struct dispatcher_figures {
	uint64_t pending; /* deliveries to be repeated; a gauge */
	uint64_t waiting; /* entries that no attempt was made for; a gauge */
	uint64_t oldest; /* age of the oldest pending delivery in seconds; a gauge */
	uint64_t delivered, failed; /* deliveries */
	uint64_t attempts_failed;
};
void dispatcher_figures(struct dispatcher *dispatcher, struct dispatcher_figures *figures);

#endif
