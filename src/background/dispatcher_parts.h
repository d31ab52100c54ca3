/* The dispatcher's state. Only its thread uses it, except for the members under the lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DISPATCHER_PARTS_H
#define BACKGROUND_DISPATCHER_PARTS_H

#include <pthread.h>

#include "background/damage_log.h"
#include "background/dispatcher.h"

/* The most deliveries of a webhook that are in progress at the same time. */
#define AT_ONCE_MOST 4
/* Once this many deliveries of an account are in progress, each of its webhooks gets only one at a
 * time. */
#define ACCOUNT_FEW 8
/* While a webhook has this many deliveries to retry, no new events are read for it. */
#define WAITING_MOST 1000
/* How many events after a webhook's position may be tracked as done. */
#define WINDOW 1024

/* A delivery that will be retried. */
struct waiting {
	struct id record;
	uint64_t seq;
	uint32_t attempts;
	int64_t first, next; /* milliseconds */
	bool is_under_way;
};

/* An enabled webhook. */
struct target {
	struct target *next;
	struct id account, id;
	uint64_t series;
	uint64_t position; /* the position to store: all events up to it are done */
	uint64_t stored; /* the stored position */
	uint64_t read; /* events up to this one have been read */
	bool done[WINDOW]; /* which events after the position are done, by seq % WINDOW */
	int64_t delivered; /* time of the last success, in milliseconds; 0 if there was none */
	int64_t stored_delivered; /* the stored value of `delivered` */
	bool has_delivered; /* a delivery succeeded since the position was stored */
	int64_t saved; /* monotonic time when the position was stored */
	bool wants_few; /* some of the events that were read last were wanted */
	struct waiting *waiting;
	size_t waiting_count, waiting_capacity;
	size_t under_way;
	int64_t not_before; /* new events are not sent before this time, in milliseconds */
	bool is_stale; /* to be removed, once no delivery is in progress */
};

/* An account with webhooks. */
struct source {
	struct id id;
	uint64_t change; /* `change` of its webhooks when they were read; 0 if not read yet */
	/* monotonic time when they are read again because one is damaged, or has more deliveries to
	 * retry than are read; 0 if none has */
	int64_t again;
	uint64_t first, last; /* the range of its event log */
	unsigned ended[WEBHOOK_FAILING + 1]; /* disabled webhooks, by webhook->end */
	bool is_there; /* found by the current refresh */
};

enum attempt_state { ATTEMPT_NONE, ATTEMPT_SENT, ATTEMPT_ENDED };

/* A delivery that the sender has, and then its outcome until it is stored. */
struct attempt {
	enum attempt_state state;
	struct target *target; /* NULL for a single */
	struct id account, webhook;
	/* no attempt was made, because the event of the waiting delivery cannot be read */
	bool is_given_up;
	bool is_repeated; /* retries a waiting delivery */
	bool is_once; /* the only attempt, which a client asked for (DELIVERY_ONCE) */
	/* `record` is set: for a waiting delivery, or after the first try to store it */
	bool has_record;
	struct id record;
	uint64_t seq;
	int64_t begun; /* milliseconds since 1970 */
	int64_t given; /* monotonic */
	char event_id[UUID_TEXT_SIZE], type[64];
	struct outcome outcome;
};

/* What is sent once, and is waiting: a test, or an event of dispatcher_send_once. */
struct single {
	struct single *next;
	struct arena *arena; /* holds all of it */
	struct id account;
	bool is_test;
	bool is_for_all; /* `entry` is set, and its webhooks are still to be found */
	struct audit_entry entry;
	struct id webhook; /* this and `delivery` are set otherwise */
	struct delivery delivery;
};

struct dispatcher {
	const struct environment *environment;
	struct lease *lease;
	struct sender *sender;
	const struct schedule *schedule;
	struct arena *arena; /* for one step */
	struct source *sources; /* sorted by id */
	size_t source_count, source_capacity;
	struct target *targets, *turn; /* turn: the webhook whose turn is next */
	struct attempt attempts[SENDER_MOST];
	uint64_t number; /* number of the last attempt */
	int64_t refreshed; /* monotonic time of the last refresh */
	bool had_lease;
	struct damage_log damage;
	pthread_t thread;
	int wake; /* an eventfd */
	pthread_mutex_t lock; /* protects the following members */
	bool is_ending;
	struct single *singles, **last_single;
	size_t single_count;
	struct dispatcher_figures figures;
};

/* ---- reading: dispatcher_load.c ---- */

/* Looks up which accounts have webhooks, what has changed in them, and how far their event logs
 * go. */
void dispatcher_refresh(struct dispatcher *dispatcher);
/* Drops everything, because this process has lost the lease or is ending. */
void dispatcher_reset(struct dispatcher *dispatcher);
/* Logs damage and resets the fault, so that the rest continues. Returns false for any other
 * fault. */
bool dispatcher_pass_over(struct dispatcher *dispatcher, const char *event,
			  const struct id *account, struct fault *fault);
struct source *dispatcher_source(const struct dispatcher *dispatcher, const struct id *account);
void target_add_waiting(struct target *target, const struct waiting *waiting);
struct waiting *target_waiting(struct target *target, const struct id *record);

/* ---- writing: dispatcher_save.c ---- */

/* Stores the outcomes received so far, and positions that have advanced; whatever cannot be stored
 * is kept. all: also stores positions that have advanced only a little. */
void dispatcher_save(struct dispatcher *dispatcher, bool all);

#endif
