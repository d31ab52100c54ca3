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

/* ---- times of polls and exchanges ---- */

/* Writes polls of one account. */
static bool write_polls(struct door_watch *watch, const struct door_poll *polls, size_t n)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, &polls->account,
				      &fault);

	while (transact_again(&run))
		run.is_done = door_write_polls(&run.call, polls, n, &fault);
	arena_reset(watch->arena);
	return run.is_done;
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
			for (to = from + 1;
			     to < n && id_compare(&due[to].account, &due[from].account) == 0; to++)
				;
			if (!write_polls(watch, &due[from], to - from))
				continue;
			for (size_t j = from; j < to; j++)
				if (due[j].times.taken != 0)
					door_polls_remove(
						polls,
						(struct slice){ due[j].name, sizeof due[j].name });
		}
	}
}

/* ---- tickets that have lapsed ---- */

static void sweep_room(struct door_watch *watch, const struct door_room *room)
{
	const struct environment *environment = watch->environment;
	struct door_sweep sweep = { .room = room->room };
	bool has_changed = false;

	do {
		const struct door_sweep before = sweep;
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena,
					      &room->account, &fault);

		while (transact_again(&run)) {
			sweep = before;
			run.is_done = door_sweep(&run.call, &sweep, &fault);
		}
		arena_reset(watch->arena);
		if (!run.is_done)
			return;
		has_changed = has_changed || sweep.has_changed;
		door_polls_count(environment->door_polls, DOOR_END_LAPSED, sweep.lapsed);
	} while (!sweep.is_last);
	if (sweep.is_empty)
		door_polls_unwatch(environment->door_polls, room);
	if (has_changed && environment->live == LIVE_ON && environment->live_queue != NULL)
		live_queue_notify(environment->live_queue, &room->account, &room->room);
}

/* ---- doors that nobody has asked about ---- */

static void find_of_next(struct door_watch *watch)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster = accounts_current(accounts);

	if (roster->count > 0) {
		const struct id *account = &roster->accounts[watch->place++ % roster->count].id;
		const struct store_page page = { .order = STORE_OLDEST_FIRST };
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_READ, watch->arena, account,
					      &fault);
		struct store_record record;

		while (transact_again(&run)) {
			struct store_walk walk = store_walk_pages(run.call.transaction, &kind_door,
								  &page, false, &fault);

			while (store_next(&walk, &record))
				door_polls_watch(watch->environment->door_polls, account,
						 &record.id);
			run.is_done = fault.kind == FAULT_NONE;
		}
		arena_reset(watch->arena);
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
