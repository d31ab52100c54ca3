/* The dispatcher of webhooks: a thread that reads the event logs of accounts with webhooks, gives
 * the events that they want to the sender (delivery/sender.h), a few at a time for each webhook,
 * and stores how far each webhook is. It stores the deliveries of which an attempt failed, and
 * retries them by a schedule. Every event is delivered at least once: a delivery without an outcome
 * when the service or the sender ends is sent again, with the same webhook-id. No request waits for
 * any of this.
 *
 * If several processes use the store, the holder of the lease (background/lease.h) does this, and
 * writes only while it holds the lease.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DISPATCHER_H
#define BACKGROUND_DISPATCHER_H

#include "delivery/sender.h"
#include "resources/call.h"
#include "background/lease.h"
#include "resources/events/webhooks.h"

#define SCHEDULE_MOST 32

/* When the attempts of a delivery are made: the delay before each attempt in seconds, counted from
 * the previous attempt, and for the first attempt from the time of the event. */
struct schedule {
	int64_t seconds[SCHEDULE_MOST];
	size_t count; /* at least 1 */
};

/* 0s,5s,5m,30m,2h,5h,10h,14h,20h,24h */
extern const struct schedule schedule_usual;

struct dispatcher;

/* All arguments are borrowed and outlive the dispatcher; no other thread uses the sender. */
struct dispatcher *dispatcher_open(const struct environment *environment, struct lease *lease,
				   struct sender *sender, const struct schedule *schedule);
/* Stores the outcomes it has, and ends the thread. NULL is allowed. */
void dispatcher_close(struct dispatcher *dispatcher);

/* Sends a test, once, as soon as its account has a free place. Copies the test. Does nothing
 * without a dispatcher, or if the account has used up its share of the 1,024 tests and events of
 * dispatcher_send_once that may wait. Any thread. */
void dispatcher_test(struct dispatcher *dispatcher, const struct id *account,
		     const struct webhook_test *test);

/* Sends an event that is in no event log, once, to each enabled webhook of the account that wants
 * its type; its seq is 0 and its actor the service. data: JSON text. Copies its arguments, and
 * never waits for the store: the dispatcher's thread reads the webhooks. Nothing is promised: the
 * event is dropped without a dispatcher, if the webhooks cannot be read, or if the account has used
 * up its share of the 1,024 tests and such events that may wait. Any thread. */
void dispatcher_send_once(struct dispatcher *dispatcher, const struct id *account,
			  struct slice type, struct slice data, int64_t time);

/* Counted since the start, except for the gauges. Any thread. */
struct dispatcher_figures {
	uint64_t pending; /* deliveries to be retried; a gauge */
	uint64_t waiting; /* events that have not been sent to webhooks yet; a gauge */
	uint64_t oldest; /* age of the oldest pending delivery in seconds; a gauge */
	uint64_t delivered, failed; /* deliveries */
	uint64_t attempts_failed;
	uint64_t failing; /* enabled webhooks with deliveries to be retried; a gauge */
	/* webhooks that were disabled automatically, by the reason; gauges */
	uint64_t ended[WEBHOOK_FAILING + 1];
};
void dispatcher_figures(struct dispatcher *dispatcher, struct dispatcher_figures *figures);

#endif
