/* See background/door_watch.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/door_watch.h"

#include <stdlib.h>

#include "accounts/accounts.h"
#include "background/transact.h"
#include "base/memory.h"
#include "resources/door/door.h"
#include "resources/door/door_polls.h"
#include "resources/live/live_queue.h"

/* Milliseconds: between two times that the door of a room is gone through; between two accounts. */
#define SWEEP_AFTER 5000
#define NEXT_AFTER 1000
/* Times that one transaction writes, and the most such transactions in a round. */
#define WRITTEN_AT_ONCE 128
#define WRITES_MOST 16

struct door_watch {
	const struct environment *environment;
	struct transactor work;
	struct arena *arena;
	int64_t next_at; /* clock_monotonic */
	size_t place; /* the next account */
};

struct door_watch *door_watch_open(const struct environment *environment)
{
	struct door_watch *watch = memory_check(calloc(1, sizeof *watch));

	watch->environment = environment;
	watch->work = (struct transactor){ .environment = environment, .event = "door_not_kept" };
	watch->arena = arena_open();
	return watch;
}

void door_watch_close(struct door_watch *watch)
{
	if (watch == NULL)
		return;
	arena_close(watch->arena);
	free(watch);
}

static bool run_for(struct door_watch *watch, enum store_access access, const struct id *account,
		    transact_run *what, void *context)
{
	struct fault fault = FAULT_INITIAL;
	const bool is_done = transact(&watch->work, access, watch->arena, account, what, context,
				      &fault);

	arena_reset(watch->arena);
	return is_done;
}

/* ---- times of polls and exchanges ---- */

/* Polls of one account. */
struct writing {
	const struct door_poll *polls;
	size_t count;
};

static bool write_polls(struct call *call, void *context, struct fault *fault)
{
	const struct writing *writing = context;

	return door_write_polls(call, writing->polls, writing->count, fault);
}

/* Times that cannot be written now are written after the next poll, exchanges in a later round. */
static void write_due(struct door_watch *watch)
{
	struct door_polls *polls = watch->environment->door_polls;
	struct door_poll due[WRITTEN_AT_ONCE];
	size_t n = WRITTEN_AT_ONCE;

	for (unsigned i = 0; i < WRITES_MOST && n == WRITTEN_AT_ONCE; i++) {
		n = door_polls_due(polls, clock_now(watch->environment->clock), due,
				   WRITTEN_AT_ONCE);
		for (size_t from = 0, to; from < n; from = to) {
			struct writing writing = { .polls = &due[from] };

			for (to = from + 1;
			     to < n && id_compare(&due[to].account, &due[from].account) == 0; to++)
				;
			writing.count = to - from;
			if (!run_for(watch, STORE_WRITE, &due[from].account, write_polls, &writing))
				continue;
			for (size_t j = from; j < to; j++)
				if (due[j].times.taken != 0)
					door_polls_forget(
						polls,
						(struct slice){ due[j].name, sizeof due[j].name });
		}
	}
}

/* ---- tickets that have lapsed ---- */

static bool sweep_some(struct call *call, void *context, struct fault *fault)
{
	struct door_sweep *sweep = context;
	struct door_sweep again = *sweep;

	if (!door_sweep(call, &again, fault))
		return false;
	*sweep = again;
	return true;
}

static void sweep_room(struct door_watch *watch, const struct door_room *room)
{
	const struct environment *environment = watch->environment;
	struct door_sweep sweep = { .room = room->room };
	bool has_changed = false;

	do {
		if (!run_for(watch, STORE_WRITE, &room->account, sweep_some, &sweep))
			return;
		has_changed = has_changed || sweep.has_changed;
		door_polls_count(environment->door_polls, DOOR_END_LAPSED, sweep.lapsed);
	} while (!sweep.is_last);
	if (sweep.is_empty)
		door_polls_forget_room(environment->door_polls, room);
	if (has_changed && environment->live == LIVE_ON && environment->live_queue != NULL)
		live_queue_tell(environment->live_queue, &room->account, &room->room);
}

/* ---- doors that nobody has asked about ---- */

struct finding {
	struct door_watch *watch;
	const struct id *account;
};

static bool found_door(void *context, const struct store_record *record, struct fault *fault)
{
	const struct finding *finding = context;

	(void)fault;
	door_polls_watch(finding->watch->environment->door_polls, finding->account, &record->id);
	return true;
}

static bool find_doors(struct call *call, void *context, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	return store_each(call->transaction, &kind_door, &page, false, found_door, context, fault);
}

static void find_of_next(struct door_watch *watch)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster = accounts_current(accounts);

	if (roster->count > 0) {
		struct finding finding = {
			.watch = watch,
			.account = &roster->accounts[watch->place++ % roster->count].id,
		};

		(void)run_for(watch, STORE_READ, finding.account, find_doors, &finding);
	}
	accounts_release(accounts, roster);
}

void door_watch_round(struct door_watch *watch)
{
	const int64_t now = clock_monotonic();
	struct door_room room;

	if (watch->environment->door_polls == NULL)
		return;
	write_due(watch);
	if (now >= watch->next_at) {
		watch->next_at = now + NEXT_AFTER;
		find_of_next(watch);
	}
	while (door_polls_take_room(watch->environment->door_polls, now - SWEEP_AFTER, now, &room))
		sweep_room(watch, &room);
	if (watch->work.has_committed)
		store_flush(watch->environment->store);
	watch->work.has_committed = false;
}
