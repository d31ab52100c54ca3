/* See live_enforce.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_enforce.h"

#include <stdlib.h>

#include "background/media_client.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/live/live_enforcement.h"
#include "resources/live/live_message.h"

/* Milliseconds: for which a room is surveyed often after somebody was put out: as long as the
 * tokens are valid that a media server renews. Until the rules are enforced again after a
 * failure. */
#define SURVEY_OFTEN_AFTER_ACT 900000
#define ENFORCE_AFTER_FAILURE 2000
/* After which somebody who is to be put out and is still inside is overdue. */
#define OVERDUE_AFTER 10000
/* Roles of an account whose people have not been notified everywhere; if there are more, all people
 * are. */
#define PENDING_ROLES_MOST 1000
/* Requests for enforcing rules that one backend has under way; further ones wait for their turn. */
#define ACTS_AT_ONCE 16

/* ---- what calls have changed ---- */

/* Notes what is to be done about a room. */
static void room_want(struct watched_room *room, unsigned wants)
{
	if ((wants & ROOM_SURVEY) != 0)
		watched_survey_soon(room, clock_monotonic());
	if ((wants & ROOM_ENFORCE) != 0) {
		room->checks_bans = true;
		watched_enforce_soon(room, clock_monotonic(), true);
	}
	room->notifies[NEWS_WAITING] = room->notifies[NEWS_WAITING] || (wants & ROOM_NOTIFY) != 0;
	room->notifies[NEWS_DOOR] = room->notifies[NEWS_DOOR] || (wants & ROOM_NOTIFY_DOOR) != 0;
	room->notifies[NEWS_HOLDS] = room->notifies[NEWS_HOLDS] || (wants & ROOM_NOTIFY_HOLDS) != 0;
	room->notifies[NEWS_JOBS] = room->notifies[NEWS_JOBS] || (wants & ROOM_NOTIFY_JOBS) != 0;
	room->closes = room->closes || (wants & ROOM_CLOSE) != 0;
}

/* Notes that the people of some roles are to be notified; returns the number of the change. */
static uint64_t add_change(struct watched_account *account, const struct notified_roles *notified)
{
	const uint64_t change = ++account->changes;

	for (size_t i = 0; i < notified->count; i++) {
		const struct notified_role *role = &notified->roles[i];
		size_t place = 0;

		while (place < account->pending_count &&
		       (id_compare(&account->pending[place].role.template_id, &role->template_id) !=
				0 ||
			account->pending[place].role.identity != role->identity))
			place++;
		if (place == account->pending_count && place == PENDING_ROLES_MOST) {
			account->all_changed = change;
			break;
		}
		if (place == account->pending_count) {
			account->pending = memory_room(account->pending, account->pending_count + 1,
						       &account->pending_capacity,
						       sizeof *account->pending);
			account->pending_count++;
		}
		account->pending[place] = (struct pending_role){ *role, change };
	}
	if (notified->are_all)
		account->all_changed = change;
	return change;
}

/* Drops the changes of roles if the people have been notified in all rooms. */
static void clear_changes(struct watched_account *account)
{
	if (account->notifying > 0)
		return;
	account->pending_count = 0;
	account->all_changed = 0;
}

bool enforce_in_all_rooms(struct live_watch *watch, struct arena *arena, const struct id *account,
			  unsigned wants, const struct notified_roles *notified)
{
	const uint64_t change = notified == NULL
					? 0
					: add_change(watched_account_of(watch, account), notified);
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, account, &fault);
	struct store_record record;
	struct watched_room *room;
	struct live live;

	while (transact_again(&run)) {
		struct store_walk walk = store_walk_pages(run.call.transaction, &kind_live, &page,
							  false, &fault);

		while (store_next(&walk, &record) &&
		       record_read(&live_table, arena, &record, &live, &fault)) {
			const struct id *backend = live_backend(&live);

			room = watched_room_of(watch, account, backend, &record.id);
			room->is_live = true;
			room_want(room, wants & ~(unsigned)ROOM_CLOSE);
			/* If it is of their role. */
			if (room->changes_from == 0 && change != 0) {
				room->changes_from = change;
				watched_account_of(watch, account)->notifying++;
			}
			/* A session that has begun to close goes on; the session of a deleted
			 * backend closes. */
			room->closes = room->closes || live.closing != 0 ||
				       watched_backend_of(watch, account, backend) == NULL;
		}
		run.is_done = fault.kind == FAULT_NONE;
	}
	arena_reset(arena);
	clear_changes(watched_account_of(watch, account));
	return run.is_done || !transact_may_pass(&fault);
}

void enforce_take_queued(struct live_watch *watch, struct arena *arena, struct queued_room *added)
{
	static const struct id all;
	struct queued_room *queued, **end = &watch->queued;
	unsigned wants = 0;

	while (*end != NULL)
		end = &(*end)->next;
	*end = added;
	queued = watch->queued;
	watch->queued = NULL;
	end = &watch->queued;
	for (const struct queued_room *each = queued; each != NULL; each = each->next)
		wants |= each->wants;
	/* What the calls have changed is seen once it is durable. */
	if ((wants & ~(unsigned)ROOM_SURVEY) != 0)
		store_flush(watch->environment->store);
	while (queued != NULL) {
		struct queued_room *next = queued->next;
		const int64_t begun = clock_microseconds();
		bool is_done = watched_has_turn(watch, &queued->account, WORK_ENFORCE);

		if ((queued->wants & ROOM_BACKENDS) != 0)
			watched_list_soon(watch, &queued->account);
		if (is_done && id_compare(&queued->room, &all) != 0)
			room_want(watched_room_of(watch, &queued->account, &queued->backend,
						  &queued->room),
				  queued->wants);
		else if (is_done && queued->wants != ROOM_BACKENDS)
			is_done = enforce_in_all_rooms(watch, arena, &queued->account,
						       queued->wants, queued->notified);
		if (is_done) {
			watched_took_turn(watch, &queued->account, WORK_ENFORCE, begun);
			queued_room_free(queued);
		} else {
			queued->next = NULL;
			*end = queued;
			end = &queued->next;
		}
		queued = next;
	}
}

/* ---- enforcing ---- */

/* An enforcement that is carried out. */
struct enforce_job {
	struct pending_request pending; /* first, so that it is the same object */
	struct id account;
	struct enforcement enforcement;
	struct enforcement run; /* of a transaction, which may be run again */
};

static bool begin_job(struct live_watch *watch, struct enforce_job *job, struct fault *fault)
{
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, job->pending.arena, &job->account,
				      fault);

	while (transact_again(&run)) {
		job->run = job->enforcement;
		run.is_done = live_enforce(&run.call, true, &job->run, fault);
	}
	return run.is_done;
}

/* Sends the requests that the last transaction has left. Returns false if there are none. */
static bool send_job(struct live_watch *watch, struct enforce_job *job)
{
	struct watched_backend *backend;

	job->enforcement = job->run;
	if (job->pending.asking != NULL)
		media_client_release(job->pending.asking);
	job->pending.asking = job->enforcement.asking;
	if (job->pending.asking == NULL)
		return false;
	backend = watched_backend_of(watch, &job->account, &job->enforcement.backend);
	if (backend != NULL) {
		job->pending.counted = job->pending.asking->count;
		backend->acting += job->pending.counted;
	}
	pending_send(&job->pending);
	return true;
}

/* Goes on with those whose turn is next. Returns false if there are none. */
static bool begin_next(struct live_watch *watch, struct enforce_job *job)
{
	struct fault fault = FAULT_INITIAL;

	return !job->enforcement.ends && !job->enforcement.has_failed &&
	       job->enforcement.chosen_next < job->enforcement.chosen_count &&
	       begin_job(watch, job, &fault) && send_job(watch, job);
}

static bool take_job(struct live_watch *watch, struct pending_request *pending)
{
	struct enforce_job *job = (struct enforce_job *)pending;
	struct watched_backend *backend = watched_backend_of(watch, &job->account,
							     &job->enforcement.backend);
	struct arena *before = arena_use_for_json(pending->arena);
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, pending->arena, &job->account,
				      &fault);
	struct watched_room *room;
	int64_t now;

	if (backend != NULL)
		COUNTER_LOWER(backend->acting, pending->counted);
	pending->counted = 0;
	while (transact_again(&run)) {
		job->run = job->enforcement;
		run.is_done = live_carry_on(&run.call, &job->run, &fault);
	}
	arena_use_for_json(before);
	if (run.is_done && (send_job(watch, job) || begin_next(watch, job)))
		return true;
	room = watched_room_of(watch, &job->account, &job->enforcement.backend,
			       &job->enforcement.room);
	now = clock_monotonic();
	room->is_acting = false;
	if (room->overdue > 0)
		room->find_removals_at = now;
	if (job->enforcement.ends)
		watched_remove_server_room(watch, room);
	room->often_until = now + SURVEY_OFTEN_AFTER_ACT;
	watched_survey_soon(room, now);
	room->checks_bans = room->checks_bans || job->enforcement.checks_bans;
	if (!run.is_done || job->enforcement.has_failed)
		watched_enforce_soon(room, now + ENFORCE_AFTER_FAILURE, true);
	else if (job->enforcement.has_more)
		watched_enforce_soon(room, now, true);
	pending_close(pending);
	return true;
}

static void begin_enforcing(struct live_watch *watch, struct watched_room *room,
			    const struct enforcement *found)
{
	const bool checks_bans = found->checks_bans;
	struct enforce_job *job = (struct enforce_job *)pending_open(watch, &room->account,
								     WORK_ENFORCE, sizeof *job);
	struct fault fault = FAULT_INITIAL;

	job->pending.take = take_job;
	job->account = room->account;
	job->enforcement = *found;
	job->enforcement.removals = NULL;
	job->enforcement.checks_all = true;
	room->is_acting = true;
	if (!begin_job(watch, job, &fault)) {
		room->is_acting = false;
		room->checks_bans = room->checks_bans || checks_bans;
		/* If the backend is gone, so is its session (live_close_backend). */
		if (fault.kind != FAULT_NOT_FOUND)
			watched_enforce_soon(room, clock_monotonic() + ENFORCE_AFTER_FAILURE, true);
		pending_close(&job->pending);
	} else if (!send_job(watch, job)) {
		/* What was found out a moment ago no longer holds. */
		room->is_acting = false;
		watched_enforce_soon(room, clock_monotonic() + ENFORCE_AFTER_FAILURE, true);
		pending_close(&job->pending);
	}
}

/* ---- removals that are overdue ---- */

/* Takes over whom the rules put out, or would if they could be enforced. */
static void removals_take(struct watched_room *room, const struct enforcement *enforcement)
{
	const int64_t now = clock_monotonic();
	struct removal *removals =
		memory_check(malloc((enforcement->removal_count + 1) * sizeof *removals));
	size_t at = 0;
	int64_t next = INT64_MAX;

	room->overdue = 0;
	for (size_t i = 0; i < enforcement->removal_count; i++) {
		const struct id *peer = &enforcement->removals[i];
		int64_t since = now;

		/* Both are in the order of ids. */
		while (at < room->removal_count && id_compare(&room->removals[at].peer, peer) < 0)
			at++;
		if (at < room->removal_count && id_compare(&room->removals[at].peer, peer) == 0)
			since = room->removals[at].since;
		removals[i] = (struct removal){ *peer, since };
		room->overdue += now - since >= OVERDUE_AFTER;
		if (now - since < OVERDUE_AFTER && since + OVERDUE_AFTER < next)
			next = since + OVERDUE_AFTER;
	}
	if (!enforcement->ends)
		room->ends_since = 0;
	else if (room->ends_since == 0)
		room->ends_since = now;
	if (enforcement->ends && now - room->ends_since >= OVERDUE_AFTER)
		room->overdue = enforcement->inside;
	else if (enforcement->ends)
		next = room->ends_since + OVERDUE_AFTER;
	if (room->overdue > 0 && now + OVERDUE_AFTER < next)
		next = now + OVERDUE_AFTER;
	free(room->removals);
	room->removals = removals;
	room->removal_count = enforcement->removal_count;
	room->find_removals_at = next;
}

/* Finds out what the rules say about a room, without doing anything. */
static bool find_out(struct live_watch *watch, struct arena *arena, const struct id *account,
		     struct enforcement *enforcement)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, account, &fault);

	while (transact_again(&run))
		run.is_done = live_enforce(&run.call, false, enforcement, &fault);
	return run.is_done;
}

/* Finds out who is to be put out, although that cannot be done now, or should have been. */
static void find_removals(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	struct enforcement enforcement = {
		.room = room->room,
		.backend = room->backend,
		.checks_all = true,
		.checks_bans = room->checks_bans,
	};

	room->find_removals_at = clock_monotonic() + FIND_REMOVALS_AFTER;
	if (find_out(watch, arena, &room->account, &enforcement) && enforcement.is_whole)
		removals_take(room, &enforcement);
	arena_reset(arena);
}

/* ---- enforcing whose turn it is ---- */

/* Enforces the rules in a room whose turn it is. */
static void enforce_room(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	struct enforcement enforcement = {
		.room = room->room,
		.backend = room->backend,
		.checks_all = room->checks_all,
		.checks_bans = room->checks_bans && room->checks_all,
	};

	room->enforce_at = INT64_MAX;
	room->checks_all = false;
	if (!find_out(watch, arena, &room->account, &enforcement)) {
		watched_enforce_soon(room, clock_monotonic() + ENFORCE_AFTER_FAILURE, true);
	} else {
		if (enforcement.is_whole)
			removals_take(room, &enforcement);
		else
			room->find_removals_at = room->removal_count > 0 || room->ends_since != 0
							 ? clock_monotonic() + OVERDUE_AFTER
							 : INT64_MAX;
		room->enforce_next = enforcement.again;
		room->checks_bans = room->checks_bans && !enforcement.checks_bans;
		room->backend = enforcement.backend;
		if (enforcement.ends || enforcement.chosen_count > 0)
			begin_enforcing(watch, room, &enforcement);
	}
	arena_reset(arena);
}

void enforce_rooms(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic(), time = clock_now(watch->environment->clock);

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		const struct watched_backend *backend;
		bool enforces = false;
		int64_t begun;

		if (watch->environment->live != LIVE_ON ||
		    watch->environment->media_client == NULL) {
			room->enforce_at = room->find_removals_at = INT64_MAX;
			continue;
		}
		if (room->enforce_next != 0 && time >= room->enforce_next) {
			room->enforce_next = 0;
			watched_enforce_soon(room, now, true);
		}
		backend = watched_backend_of(watch, &room->account, &room->backend);
		if (room->enforce_at <= now && !room->is_acting &&
		    (backend == NULL || (!backend->is_down && backend->acting < ACTS_AT_ONCE)))
			enforces = true;
		else if (room->find_removals_at > now)
			continue;
		if (!watched_has_turn(watch, &room->account, WORK_ENFORCE))
			continue;
		begun = clock_microseconds();
		if (enforces)
			enforce_room(watch, arena, room);
		else
			find_removals(watch, arena, room);
		watched_took_turn(watch, &room->account, WORK_ENFORCE, begun);
	}
}

/* ---- the door, holds, recordings ---- */

/* A message to people in a room. */
struct notice {
	struct pending_request pending; /* first, so that it is the same object */
	struct id room;
};

static bool (*const news_ask[ROOM_NEWS])(struct call *call, const struct id *room,
					 struct fault *fault) = {
	[NEWS_WAITING] = message_ask_of_waiting,
	[NEWS_DOOR] = message_ask_of_door,
	[NEWS_HOLDS] = message_ask_of_holds,
	[NEWS_JOBS] = message_ask_of_jobs,
};

/* Prepares the message, unless there is nobody to send it to. */
static void prepare_notice(struct live_watch *watch, enum room_news news, struct notice *notice)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, notice->pending.arena,
				      &notice->pending.account, &fault);

	while (transact_again(&run))
		run.is_done = news_ask[news](&run.call, &notice->room, &fault);
	if (run.is_done)
		notice->pending.asking = run.call.asking;
}

/* Whether they got it does not matter: they ask by themselves, too. */
static bool take_notice(struct live_watch *watch, struct pending_request *pending)
{
	(void)watch;
	pending_close(pending);
	return true;
}

static void notify_people_of(struct live_watch *watch, struct watched_room *room,
			     enum room_news news, int64_t now)
{
	struct notice *notice;

	if (!room->notifies[news] ||
	    (room->notified[news] != 0 && now < room->notified[news] + NOTIFY_AFTER) ||
	    !watched_has_turn(watch, &room->account, WORK_ENFORCE))
		return;
	room->notifies[news] = false;
	room->notified[news] = now;
	if (watch->environment->live != LIVE_ON || watch->environment->media_client == NULL)
		return;
	notice = (struct notice *)pending_open(watch, &room->account, WORK_ENFORCE, sizeof *notice);
	notice->pending.take = take_notice;
	notice->room = room->room;
	prepare_notice(watch, news, notice);
	if (notice->pending.asking != NULL)
		pending_send(&notice->pending);
	else
		pending_close(&notice->pending);
}

void enforce_notify_moderators(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->room_count; i++) {
		for (enum room_news news = 0; news < ROOM_NEWS; news++)
			notify_people_of(watch, watch->rooms[i], news, now);
	}
}

/* ---- roles that have changed ---- */

/* A message to the people of some roles in a room. */
struct role_notice {
	struct pending_request pending; /* first, so that it is the same object */
	struct id room;
	struct notified_roles notified;
};

/* Prepares the message, unless there is nobody to send it to. Returns false if it is to be tried
 * again. */
static bool prepare_role_notice(struct live_watch *watch, struct role_notice *notice)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, notice->pending.arena,
				      &notice->pending.account, &fault);

	while (transact_again(&run))
		run.is_done = message_ask_of_roles(&run.call, &notice->room, &notice->notified,
						   &fault);
	if (run.is_done)
		notice->pending.asking = run.call.asking;
	return run.is_done || !transact_may_pass(&fault);
}

static bool take_role_notice(struct live_watch *watch, struct pending_request *pending)
{
	struct watched_backend *backend = watched_backend_of(watch, &pending->account,
							     &pending->asking->backend);

	if (backend != NULL)
		COUNTER_LOWER(backend->notifying, pending->counted);
	return take_notice(watch, pending);
}

/* Returns false if it is to be tried again. */
static bool notify_roles_in(struct live_watch *watch, struct watched_room *room,
			    struct watched_backend *backend)
{
	const struct watched_account *account;
	struct role_notice *notice;
	bool is_prepared;

	if (watch->environment->live != LIVE_ON || watch->environment->media_client == NULL ||
	    (backend != NULL && backend->is_down))
		return true;
	notice = (struct role_notice *)pending_open(watch, &room->account, WORK_ENFORCE,
						    sizeof *notice);
	notice->pending.take = take_role_notice;
	notice->room = room->room;
	/* The roles whose people in the room have not been notified yet. */
	account = watched_account_of(watch, &room->account);
	notice->notified.are_all = account->all_changed >= room->changes_from;
	for (size_t i = 0; i < account->pending_count && !notice->notified.are_all; i++) {
		if (account->pending[i].change >= room->changes_from)
			notified_roles_add(&notice->notified, &account->pending[i].role);
	}
	is_prepared = prepare_role_notice(watch, notice);
	if (notice->pending.asking != NULL) {
		backend = watched_backend_of(watch, &room->account,
					     &notice->pending.asking->backend);
		if (backend != NULL) {
			notice->pending.counted = notice->pending.asking->count;
			backend->notifying += notice->pending.counted;
		}
		pending_send(&notice->pending);
	} else {
		pending_close(&notice->pending);
	}
	return is_prepared;
}

void enforce_notify_roles(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		struct watched_account *account;
		struct watched_backend *backend;
		int64_t begun;

		if (room->changes_from == 0 ||
		    (room->roles_notified != 0 && now < room->roles_notified + NOTIFY_ROLES_AFTER))
			continue;
		backend = watched_backend_of(watch, &room->account, &room->backend);
		if ((backend != NULL && backend->notifying >= ASKED_AT_ONCE) ||
		    !watched_has_turn(watch, &room->account, WORK_ENFORCE))
			continue;
		begun = clock_microseconds();
		room->roles_notified = now;
		if (notify_roles_in(watch, room, backend)) {
			account = watched_account_of(watch, &room->account);
			room->changes_from = 0;
			COUNTER_LOWER(account->notifying, 1);
			clear_changes(account);
		}
		watched_took_turn(watch, &room->account, WORK_ENFORCE, begun);
	}
}
