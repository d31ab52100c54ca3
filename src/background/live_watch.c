/* See background/live_watch.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_watch.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "background/live_enforce.h"
#include "background/live_follow.h"
#include "background/live_places.h"
#include "background/live_watched.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/audit_record.h"
#include "resources/live/live_merge.h"
#include "resources/backends/backends.h"
#include "resources/sweep.h"
#include "rules/template_rules.h"
#include "schema/schema.h"

/* Milliseconds: between two rounds; between two times that the backends and old sessions are gone
 * through. */
#define ROUND 100
#define BACKENDS_AFTER 2000
#define OLD_AFTER 1000
/* Milliseconds in which, after the start, the rooms of all accounts are gone through; and in which
 * all accounts are gone through for what has come to its end. */
#define FOUND_WITHIN 60000
#define OLD_ROUND 3600000

/* ---- the media servers of all accounts ---- */

/* Goes through the backends of all accounts. */
static void find_backends(struct live_watch *watch, struct arena *arena)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	struct backend_account found;
	struct watched_backend *backend;
	struct store_record record;
	struct store_walk walk;
	size_t place, n = 0;

	if (!store_begin(watch->environment->store, STORE_READ, arena, &transaction, &fault))
		return;
	for (size_t i = 0; i < watch->backend_count; i++)
		watch->backends[i].is_there = false;
	store_set_account(transaction, &audit_no_account);
	walk = store_walk_pages(transaction, &kind_backend_account, &page, false, &fault);
	while (store_next(&walk, &record) &&
	       record_read(&backend_account_table, NULL, &record, &found, &fault)) {
		backend = watched_backend_of(watch, &found.account, &record.id);
		if (backend == NULL) {
			place = id_place(&record.id, watch->backends, watch->backend_count,
					 sizeof *watch->backends);
			watch->backends = memory_room(watch->backends, watch->backend_count + 1,
						      &watch->backend_capacity,
						      sizeof *watch->backends);
			backend = &watch->backends[place];
			memmove(backend + 1, backend,
				(watch->backend_count++ - place) * sizeof *backend);
			*backend = (struct watched_backend){ .account = found.account,
							     .id = record.id };
		}
		backend->is_there = true;
	}
	store_abandon(transaction);
	damage_log_add(&watch->work.damage, "backends_not_read", &audit_no_account, &fault);
	if (fault.kind != FAULT_NONE)
		return;
	for (size_t i = 0; i < watch->backend_count; i++) {
		/* Requests that are under way find their backend by its id. */
		if (watch->backends[i].is_there || watch->backends[i].under_way > 0 ||
		    watch->backends[i].acting > 0 || watch->backends[i].notifying > 0)
			watch->backends[n++] = watch->backends[i];
	}
	watch->backend_count = n;
}

/* ---- sessions that close ---- */

/* Takes the steps of sessions that close. Afterwards the room is surveyed: what a survey saw
 * meanwhile was not merged. */
static void close_rooms(struct live_watch *watch, struct arena *arena)
{
	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];

		while (room->closes && watched_has_turn(watch, &room->account, WORK_MERGE)) {
			const int64_t begun = clock_microseconds();
			/* The backend, as far as the watch knows. */
			const bool is_gone = watched_backend_of(watch, &room->account,
								&room->backend) == NULL;
			struct fault fault = FAULT_INITIAL;
			TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena,
						      &room->account, &fault);
			bool is_closing = false;

			while (transact_again(&run))
				run.is_done = live_close_on(&run.call, &room->room, is_gone,
							    &is_closing, &fault);
			arena_reset(arena);
			watched_took_turn(watch, &room->account, WORK_MERGE, begun);
			if (!run.is_done && transact_may_pass(&fault))
				break;
			/* What cannot be read is tried again after the next survey of all rooms. */
			room->closes = run.is_done && is_closing;
			if (run.is_done && !room->closes)
				watched_survey_soon(room, clock_monotonic());
		}
	}
}

/* Returns true if its moderators are to be notified of something, or were a moment ago. */
static bool has_news(const struct watched_room *room, int64_t now)
{
	for (size_t i = 0; i < ROOM_NEWS; i++) {
		if (room->notifies[i] ||
		    (room->notified[i] != 0 && now < room->notified[i] + NOTIFY_AFTER))
			return true;
	}
	return false;
}

/* Closes the sessions of rooms that have been empty for a while, asks about those that are due, and
 * forgets those about which nothing is left to be done. */
static void go_through_rooms(struct live_watch *watch, struct arena *arena)
{
	const struct environment *environment = watch->environment;
	const int64_t now = clock_monotonic();

	for (size_t i = watch->room_count; i-- > 0;) {
		struct watched_room *room = watch->rooms[i];
		const int64_t time = clock_now(environment->clock);
		const int64_t grace = live_grace(room->left_unseen, environment->session_grace);

		if (!watched_has_turn(watch, &room->account, WORK_MERGE))
			continue;
		if (room->empty_since != 0 && !room->closes && time >= room->empty_since + grace) {
			struct fault fault = FAULT_INITIAL;
			TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena,
						      &room->account, &fault);
			bool is_closed = false;

			while (transact_again(&run))
				run.is_done = live_close_empty(&run.call, &room->room,
							       environment->session_grace,
							       &is_closed, &fault);
			arena_reset(arena);
			room->empty_since = run.is_done ? 0 : time;
			if (run.is_done && is_closed)
				room->is_live = false;
			else if (run.is_done)
				watched_survey_soon(room, clock_monotonic());
		}
		follow_ask_room(watch, room, now);
		if (!room->is_live && !room->is_asking && !room->is_acting && !room->closes &&
		    room->survey_at == INT64_MAX && room->enforce_at == INT64_MAX &&
		    !has_news(room, now) && room->changes_from == 0 &&
		    (room->roles_notified == 0 || now >= room->roles_notified + NOTIFY_ROLES_AFTER))
			watched_remove_room(watch, room);
	}
}

/* ---- what is gone through from time to time ---- */

/* Those who are inside at midnight count for the new day, too. */
static void begin_day(struct live_watch *watch, struct arena *arena)
{
	const int64_t day = clock_now(watch->environment->clock) / USAGE_DAY;

	if (watch->day == day)
		return;
	for (size_t i = 0; watch->day != 0 && i < watch->room_count; i++) {
		const struct watched_room *room = watch->rooms[i];
		struct watched_account *account = watched_account_of(watch, &room->account);
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, &room->account,
					      &fault);

		if (room->inside == 0 || account->day == day)
			continue;
		account->day = day;
		while (transact_again(&run))
			run.is_done = live_count_day(&run.call, &fault);
		arena_reset(arena);
	}
	watch->day = day;
}

/* ---- the thread ---- */

/* What the holder of the lease does. */
static void watch_all(struct live_watch *watch, struct arena *arena)
{
	struct accounts *accounts = watch->environment->accounts;
	const int64_t now = clock_monotonic();
	const struct roster *roster;
	size_t n;

	if (!lease_hold(watch->lease)) {
		watch->had_lease = false;
		pthread_mutex_lock(&watch->lock);
		watched_forget_loads(watch, NULL);
		pthread_mutex_unlock(&watch->lock);
		return;
	}
	if (!watch->had_lease) {
		watch->had_lease = true;
		watch->begun = now;
		watch->found_place = 0;
		watch->found_at = now;
		for (size_t i = 0; i < watch->backend_count; i++)
			watch->backends[i].survey_at = 0;
	}
	follow_ask_backends(watch);
	places_count(watch, arena);
	places_move(watch, arena);

	/* After the start, sessions that nobody else would find: those of backends that are
	 * gone. */
	if (watch->found_at != 0 && clock_monotonic() >= watch->found_at) {
		roster = accounts_current(accounts);
		n = roster->count / (FOUND_WITHIN / OLD_AFTER) + 1;
		while (n-- > 0 && watch->found_place < roster->count &&
		       enforce_in_all_rooms(watch, arena, &roster->accounts[watch->found_place].id,
					    0, NULL))
			watch->found_place++;
		watch->found_at = watch->found_place < roster->count ? clock_monotonic() + OLD_AFTER
								     : 0;
		accounts_release(accounts, roster);
	}
	begin_day(watch, arena);

	/* What has come to its end: each account has its turn within OLD_ROUND. */
	if (now < watch->old_at)
		return;
	watch->old_at = now + OLD_AFTER;
	roster = accounts_current(accounts);
	n = roster->count > 0 ? roster->count / (OLD_ROUND / OLD_AFTER) + 1 : 0;
	for (size_t i = 0; i < n; i++) {
		const size_t place = watch->old_place % roster->count;
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena,
					      &roster->accounts[place].id, &fault);
		bool is_last = true;

		while (transact_again(&run))
			run.is_done = sweep_account(&run.call, &is_last, &fault);
		arena_reset(arena);
		watch->old_place = place + is_last;
	}
	accounts_release(accounts, roster);
}

static void take_queue(struct live_watch *watch, struct arena *arena)
{
	struct live_queue_taken taken = live_queue_take(watch->environment->live_queue);
	struct backend_contact *backends = live_queue_take_contacts(watch->environment->live_queue);

	while (backends != NULL) {
		struct backend_contact *next = backends->next;

		follow_note_contact(watch, arena, &backends->account, &backends->backend,
				    clock_now(watch->environment->clock));
		free(backends);
		backends = next;
	}
	follow_merge_events(watch, taken.received);
	enforce_take_queued(watch, arena, taken.rooms);
}

/* Makes what was committed durable, and so visible to reads. */
static void flush_committed(struct live_watch *watch)
{
	if (watch->work.has_committed)
		store_flush(watch->environment->store);
	watch->work.has_committed = false;
}

static void watch_round(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();
	struct live_figures figures = { .rooms = 0 };

	if (now >= watch->backends_at) {
		watch->backends_at = now + BACKENDS_AFTER;
		find_backends(watch, arena);
		arena_reset(arena);
	}
	watched_begin_turns(watch);
	take_queue(watch, arena);
	follow_store_event_times(watch, arena);
	close_rooms(watch, arena);
	pending_take(watch);
	watch_all(watch, arena);
	go_through_rooms(watch, arena);
	flush_committed(watch);
	enforce_rooms(watch, arena);
	flush_committed(watch);
	places_end_strays(watch);
	flush_committed(watch);
	enforce_notify_moderators(watch);
	enforce_notify_roles(watch);

	for (size_t i = 0; i < watch->room_count; i++) {
		figures.rooms += watch->rooms[i]->is_live;
		figures.people += watch->rooms[i]->inside;
		figures.overdue_removals += watch->rooms[i]->overdue;
	}
	for (size_t i = 0; i < watch->backend_count && watch->had_lease; i++) {
		figures.backends_down += watch->backends[i].is_down;
		figures.backends_up += !watch->backends[i].is_down && watch->backends[i].was_up;
	}
	pthread_mutex_lock(&watch->lock);
	memcpy(figures.surveys, watch->figures.surveys, sizeof figures.surveys);
	watch->figures = figures;
	pthread_mutex_unlock(&watch->lock);
}

static bool watch_is_ending(struct live_watch *watch)
{
	bool ends;

	pthread_mutex_lock(&watch->lock);
	ends = watch->ends;
	pthread_mutex_unlock(&watch->lock);
	return ends;
}

static void *run_watch(void *context)
{
	struct live_watch *watch = context;
	struct arena *arena = arena_open();

	while (!watch_is_ending(watch)) {
		struct pollfd polled = { .fd = watch->wake, .events = POLLIN };

		watch_round(watch, arena);
		(void)poll(&polled, 1, watch->is_behind ? 0 : ROUND);
	}
	/* Nothing else has a turn now. A survey finds what the store does not take. */
	do {
		watched_begin_turns(watch);
		take_queue(watch, arena);
		close_rooms(watch, arena);
	} while (watch->is_behind);
	store_flush(watch->environment->store);
	arena_close(arena);
	return NULL;
}

struct live_watch *live_watch_open(const struct environment *environment, struct lease *lease)
{
	struct live_watch *watch = memory_check(calloc(1, sizeof *watch));

	assert(schema_is_verified(&template_shape));
	watch->environment = environment;
	watch->work = (struct transactor){ .environment = environment, .event = "live_not_merged" };
	watch->lease = lease;
	watch->answered_end = &watch->answered;
	watch->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->wake < 0 || pthread_mutex_init(&watch->lock, NULL) != 0 ||
	    pthread_create(&watch->thread, NULL, run_watch, watch) != 0)
		ABORT("cannot create a lock or thread");
	return watch;
}

void live_watch_end(struct live_watch *watch)
{
	if (watch == NULL)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->ends = true;
	pthread_mutex_unlock(&watch->lock);
	if (eventfd_write(watch->wake, 1) != 0)
		ABORT("cannot write an event");
	pthread_join(watch->thread, NULL);
}

void live_watch_close(struct live_watch *watch)
{
	if (watch == NULL)
		return;
	pending_take_ended(watch);
	while (watch->answered != NULL) {
		struct pending_request *next = watch->answered->next;

		pending_close(watch->answered);
		watch->answered = next;
	}
	while (watch->queued != NULL) {
		struct queued_room *next = watch->queued->next;

		queued_room_free(watch->queued);
		watch->queued = next;
	}
	while (watch->waiting != NULL) {
		struct received_event *next = watch->waiting->next;

		free(watch->waiting);
		watch->waiting = next;
	}
	while (watch->room_count > 0)
		watched_remove_room(watch, watch->rooms[0]);
	while (watch->stray_count > 0)
		watched_remove_stray(watch, watch->strays[0]);
	free(watch->rooms);
	free(watch->strays);
	free(watch->backends);
	for (size_t i = 0; i < watch->account_count; i++) {
		free(watch->accounts[i].pending);
		place_count_free(watch->accounts[i].places);
	}
	free(watch->accounts);
	watched_forget_loads(watch, NULL);
	free(watch->loads);
	pthread_mutex_destroy(&watch->lock);
	close(watch->wake);
	free(watch);
}

void live_watch_figures(struct live_watch *watch, struct live_figures *figures)
{
	pthread_mutex_lock(&watch->lock);
	*figures = watch->figures;
	pthread_mutex_unlock(&watch->lock);
}

static int compare_names(const void *first, const void *second)
{
	const struct backend_figures *a = first, *b = second;

	return slice_compare(a->name, b->name);
}

struct backend_figures *live_watch_backends(struct live_watch *watch, struct arena *arena,
					    size_t *n)
{
	struct backend_figures *figures;
	size_t count, kept = 0;

	pthread_mutex_lock(&watch->lock);
	count = watch->load_count;
	figures = arena_alloc(arena, (count + 1) * sizeof *figures);
	for (size_t i = 0; i < count; i++) {
		const struct shown_load *load = &watch->loads[i];

		figures[i] = (struct backend_figures){
			.name = arena_copy(arena, load->name),
			.rooms = load->rooms,
			.people = load->people,
			.lacks_reserve = load->lacks_reserve,
		};
	}
	pthread_mutex_unlock(&watch->lock);
	qsort(figures, count, sizeof *figures, compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && slice_equal(figures[kept - 1].name, figures[i].name)) {
			figures[kept - 1].rooms += figures[i].rooms;
			figures[kept - 1].people += figures[i].people;
			figures[kept - 1].lacks_reserve += figures[i].lacks_reserve;
		} else {
			figures[kept++] = figures[i];
		}
	}
	*n = kept;
	return figures;
}
