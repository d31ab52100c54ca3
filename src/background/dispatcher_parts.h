/* The dispatcher's state, of its thread alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DISPATCHER_PARTS_H
#define BACKGROUND_DISPATCHER_PARTS_H

#include <pthread.h>

#include "background/damage_log.h"
#include "background/dispatcher.h"

/* At once, of a webhook. */
#define AT_ONCE_MOST 4
/* Deliveries of an account from which on each of its webhooks gets one at a time. */
#define ACCOUNT_FEW 8
/* Deliveries of a webhook that are to be repeated: while there are so many, no new entry is
 * read. */
#define WAITING_MOST 1000
/* Entries behind a webhook's position that may be done before it moves on. */
#define WINDOW 1024

/* A delivery that is to be repeated. */
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
	uint64_t position; /* as it should be stored: all up to it is done */
	uint64_t stored; /* as it is stored */
	uint64_t read; /* entries up to it were looked at */
	bool done[WINDOW]; /* of the entries behind the position, by seq % WINDOW */
	int64_t delivered; /* the last time, in milliseconds; 0: never */
	int64_t stored_delivered; /* as it is stored */
	bool has_delivered; /* since the position was stored */
	int64_t saved; /* when the position was stored, monotonic */
	bool wants_few; /* the last entries that were read had some for it */
	struct waiting *waiting;
	size_t waiting_count, waiting_capacity;
	size_t under_way;
	int64_t not_before; /* of new entries, in milliseconds */
	bool is_stale; /* to be removed, once nothing of it is under way */
};

/* An account with webhooks. */
struct source {
	struct id id;
	uint64_t change; /* of its webhooks, as they were read; 0: not yet */
	int64_t again; /* monotonic: when they are read again, since one is damaged; 0: none is */
	uint64_t first, last; /* of its log */
	bool is_there; /* as of this look */
};

enum attempt_state { ATTEMPT_NONE, ATTEMPT_SENT, ATTEMPT_ENDED };

/* What the sender has, and then the outcome until it is stored. */
struct attempt {
	enum attempt_state state;
	struct target *target; /* NULL: a test */
	struct id account, webhook;
	bool is_given_up; /* no attempt was made: the entry cannot be read; of a waiting one */
	bool is_repeated; /* of a waiting delivery */
	bool has_record; /* what follows is set: of a waiting one, or by the first try to store it */
	struct id record;
	uint64_t seq;
	int64_t begun; /* milliseconds */
	int64_t given; /* monotonic */
	char event_id[UUID_TEXT_SIZE], type[64];
	struct outcome outcome;
};

/* A test that waits. */
struct test {
	struct test *next;
	struct arena *arena; /* has all of it */
	struct id account, webhook;
	struct delivery delivery;
};

struct dispatcher {
	const struct environment *environment;
	struct lease *lease;
	struct sender *sender;
	const struct schedule *schedule;
	struct arena *arena; /* of one step */
	struct source *sources; /* sorted by id */
	size_t source_count, source_capacity;
	struct target *targets, *turn; /* turn: whose turn it is first */
	struct attempt attempts[SENDER_MOST];
	uint64_t number; /* of the last attempt */
	int64_t looked; /* at accounts and logs, monotonic */
	bool had_lease;
	struct damage_log damage;
	pthread_t thread;
	int wake; /* an eventfd */
	pthread_mutex_t lock; /* of the following */
	bool is_ending;
	struct test *tests, **last_test;
	size_t test_count;
	struct dispatcher_figures figures;
};

/* ---- reading: dispatcher_load.c ---- */

/* Looks which accounts have webhooks, what changed of them, and how far their logs go. */
void dispatcher_look(struct dispatcher *dispatcher);
/* Forgets everything: this process has the lease no more. */
void dispatcher_forget(struct dispatcher *dispatcher);
/* Tells of damage and resets the fault, so that everything else goes on. False: it is another
 * fault. */
bool dispatcher_pass_over(struct dispatcher *dispatcher, const char *event,
			  const struct id *account, struct fault *fault);
struct source *dispatcher_source(const struct dispatcher *dispatcher, const struct id *account);
void target_add_waiting(struct target *target, const struct waiting *waiting);
struct waiting *target_waiting(struct target *target, const struct id *record);

/* ---- writing: dispatcher_save.c ---- */

/* Stores the outcomes that are there, and positions that moved on; what cannot be stored stays.
 * all: also positions that moved on little. */
void dispatcher_save(struct dispatcher *dispatcher, bool all);

#endif
