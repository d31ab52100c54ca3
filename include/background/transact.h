/* Transactions of threads that work without a request. What is done in one is a loop, because the
 * store may ask for it to be run again:
 *
 *	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, &account, &fault);
 *
 *	while (transact_again(&run))
 *		run.is_done = sweep_room(&run.call, &room, &fault);
 *	return run.is_done;
 *
 * Each run begins a transaction for the account, in the name of the service. If it sets is_done,
 * transact_again writes the events that were noted, and commits; otherwise it abandons the
 * transaction, as it is if the loop is left early. Afterwards is_done says whether everything has
 * happened. If not, the fault says why; if data was damaged, the log does, too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_TRANSACT_H
#define BACKGROUND_TRANSACT_H

#include "background/damage_log.h"
#include "resources/call.h"

/* Of one thread. */
struct transactor {
	const struct environment *environment;
	const char *event; /* of the service log, for data that cannot be read */
	struct damage_log damage;
	/* Something was committed; the owner sets it back when it has flushed the store. */
	bool has_committed;
};

struct transact {
	struct call call; /* of this run */
	bool is_done; /* set by the loop; false at the beginning of each run */
	/* Of transact.c. */
	struct transactor *work;
	enum store_access access;
	struct arena *arena;
	struct arena_mark mark; /* where each run begins */
	struct id account;
	struct fault *fault; /* the caller's; cleared before each run */
	unsigned runs;
	bool is_open; /* there is a transaction */
	bool has_ended; /* nothing is to be run any more */
	struct arena *json_before;
};

/* Declares a struct transact, whose end is the end of its block. */
#define TRANSACT __attribute__((cleanup(transact_end))) struct transact

/* Does not begin a transaction yet. The arena is the caller's; each run begins with it as the first
 * one does. */
struct transact transact_begin(struct transactor *work, enum store_access access,
			       struct arena *arena, const struct id *account, struct fault *fault);
/* Ends the transaction of the run before, and begins one unless nothing is to be run any more. */
bool transact_again(struct transact *run);
/* Called by TRANSACT: abandons a transaction that is still open. */
void transact_end(struct transact *run);

/* Returns true if trying again may help. */
bool transact_may_pass(const struct fault *fault);

#endif
