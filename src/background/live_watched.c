/* See live_watched.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_watched.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "background/media_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/live/server_rooms.h"

/* Microseconds of a round for each account, and for each kind of its work. */
#define TURN 10000
/* Bytes beyond which a list is a large one. */
#define LARGE_LIST ((size_t)1 << 20)

/* ---- turns ---- */

struct watched_account *watched_account_of(struct live_watch *watch, const struct id *id)
{
	const size_t place = id_place(id, watch->accounts, watch->account_count,
				      sizeof *watch->accounts);
	struct watched_account *account;

	if (place < watch->account_count && id_compare(&watch->accounts[place].id, id) == 0)
		return &watch->accounts[place];
	watch->accounts = memory_room(watch->accounts, watch->account_count + 1,
				      &watch->account_capacity, sizeof *watch->accounts);
	account = &watch->accounts[place];
	memmove(account + 1, account, (watch->account_count++ - place) * sizeof *account);
	*account = (struct watched_account){ .id = *id, .left = { TURN, TURN } };
	return account;
}

void watched_begin_turns(struct live_watch *watch)
{
	watch->is_behind = false;
	for (size_t i = 0; i < watch->account_count; i++) {
		for (size_t work = 0; work < WATCH_WORKS; work++) {
			int64_t *left = &watch->accounts[i].left[work];

			*left = *left + TURN < TURN ? *left + TURN : TURN;
		}
	}
}

bool watched_has_turn(struct live_watch *watch, const struct id *account, enum watch_work work)
{
	const bool has = watched_account_of(watch, account)->left[work] > 0;

	watch->is_behind = watch->is_behind || !has;
	return has;
}

void watched_took_turn(struct live_watch *watch, const struct id *account, enum watch_work work,
		       int64_t begun)
{
	watched_account_of(watch, account)->left[work] -= clock_microseconds() - begun;
}

/* ---- rooms ---- */

static int compare_rooms(const void *first, const void *second)
{
	const struct watched_room *a = first, *b = second;
	const int accounts = id_compare(&a->account, &b->account);

	return accounts != 0 ? accounts : id_compare(&a->room, &b->room);
}

struct watched_room *watched_find_room(const struct live_watch *watch, const struct id *account,
				       const struct id *id)
{
	const struct watched_room key = { .account = *account, .room = *id };
	void *const *found = tfind(&key, &watch->tree, compare_rooms);

	return found == NULL ? NULL : *found;
}

struct watched_room *watched_room_of(struct live_watch *watch, const struct id *account,
				     const struct id *backend, const struct id *id)
{
	struct watched_room *room = watched_find_room(watch, account, id);

	if (room != NULL) {
		if (!room->is_live && id_compare(backend, &kind_only_id) != 0)
			room->backend = *backend;
		return room;
	}
	room = memory_check(malloc(sizeof *room));
	*room = (struct watched_room){
		.account = *account,
		.room = *id,
		.backend = *backend,
		.survey_at = INT64_MAX,
		.enforce_at = INT64_MAX,
		.find_removals_at = INT64_MAX,
		.checks_bans = true,
		.place = watch->room_count,
	};
	watch->rooms = memory_room(watch->rooms, watch->room_count + 1, &watch->room_capacity,
				   sizeof *watch->rooms);
	watch->rooms[watch->room_count++] = room;
	(void)memory_check(tsearch(room, &watch->tree, compare_rooms));
	return room;
}

void watched_remove_room(struct live_watch *watch, struct watched_room *room)
{
	struct watched_room *last = watch->rooms[--watch->room_count];

	(void)tdelete(room, &watch->tree, compare_rooms);
	watch->rooms[room->place] = last;
	last->place = room->place;
	free(room->removals);
	free(room);
}

static int compare_strays(const void *first, const void *second)
{
	const struct watched_stray *a = first, *b = second;
	const int rooms = id_compare(&a->room, &b->room);
	const int backends = id_compare(&a->backend, &b->backend);

	return rooms != 0 ? rooms : backends != 0 ? backends : id_compare(&a->account, &b->account);
}

struct watched_stray *watched_find_stray(const struct live_watch *watch, const struct id *account,
					 const struct id *backend, const struct id *room)
{
	const struct watched_stray key = { *account, *room, *backend, .place = 0 };
	void *const *found = tfind(&key, &watch->stray_tree, compare_strays);

	return found == NULL ? NULL : *found;
}

struct watched_stray *watched_stray_of(struct live_watch *watch, const struct id *account,
				       const struct id *backend, const struct id *room)
{
	struct watched_stray *stray = watched_find_stray(watch, account, backend, room);

	if (stray != NULL)
		return stray;
	stray = memory_check(malloc(sizeof *stray));
	*stray = (struct watched_stray){
		.account = *account,
		.room = *room,
		.backend = *backend,
		.place = watch->stray_count,
		.act_at = INT64_MAX,
		.forget_at = INT64_MAX,
	};
	watch->strays = memory_room(watch->strays, watch->stray_count + 1, &watch->stray_capacity,
				    sizeof *watch->strays);
	watch->strays[watch->stray_count++] = stray;
	(void)memory_check(tsearch(stray, &watch->stray_tree, compare_strays));
	return stray;
}

void watched_remove_stray(struct live_watch *watch, struct watched_stray *stray)
{
	struct watched_stray *last = watch->strays[--watch->stray_count];

	(void)tdelete(stray, &watch->stray_tree, compare_strays);
	watch->strays[stray->place] = last;
	last->place = stray->place;
	free(stray);
}

void watched_survey_soon(struct watched_room *room, int64_t at)
{
	if (room->surveyed != 0 && at < room->surveyed + SURVEY_AT_MOST_EVERY)
		at = room->surveyed + SURVEY_AT_MOST_EVERY;
	if (at < room->survey_at)
		room->survey_at = at;
}

void watched_enforce_soon(struct watched_room *room, int64_t at, bool all)
{
	room->checks_all = room->checks_all || all;
	if (at < room->enforce_at)
		room->enforce_at = at;
	if (at + FIND_REMOVALS_AFTER < room->find_removals_at)
		room->find_removals_at = at + FIND_REMOVALS_AFTER;
}

void watched_remove_server_room(struct live_watch *watch, const struct watched_room *room)
{
	const struct server_room_key made = { room->account, room->backend, room->room };

	server_rooms_remove(watch->environment->server_rooms, &made);
}

/* ---- media servers ---- */

struct watched_backend *watched_backend_of(struct live_watch *watch, const struct id *account,
					   const struct id *id)
{
	const size_t place = id_place(id, watch->backends, watch->backend_count,
				      sizeof *watch->backends);
	struct watched_backend *backend = &watch->backends[place];

	return place < watch->backend_count && id_compare(&backend->id, id) == 0 &&
			       id_compare(&backend->account, account) == 0
		       ? backend
		       : NULL;
}

void watched_forget_loads(struct live_watch *watch, const struct id *account)
{
	size_t n = 0;

	for (size_t i = 0; i < watch->load_count; i++) {
		if (account != NULL && id_compare(&watch->loads[i].account, account) != 0)
			watch->loads[n++] = watch->loads[i];
		else
			free((void *)(uintptr_t)watch->loads[i].name.data);
	}
	watch->load_count = n;
}

void watched_list_soon(struct live_watch *watch, const struct id *account)
{
	for (size_t i = 0; i < watch->backend_count; i++) {
		struct watched_backend *backend = &watch->backends[i];
		const int64_t soonest = backend->listed + SURVEY_AT_MOST_EVERY;

		if (id_compare(&backend->account, account) == 0 && backend->survey_at > soonest)
			backend->survey_at = soonest;
	}
}

/* ---- requests ---- */

/* Has a large list that has arrived wait for its turn, if there is a place for it; else it is asked
 * for again later. The caller holds the lock. */
static void take_place(struct live_watch *watch, struct pending_request *pending,
		       struct asking *asking)
{
	struct asked *asked = &asking->asked[0];
	bool has_place = watch->large_count < LARGE_ARRIVED;

	if (asking->count != 1 || asked->end != ASKED_ANSWERED ||
	    asked->outcome.answer_size <= LARGE_LIST || pending->has_place)
		return;
	for (size_t i = 0; i < watch->large_count; i++)
		has_place = has_place && id_compare(&watch->large[i], &pending->account) != 0;
	pending->has_place = has_place;
	pending->is_dropped = !has_place;
	if (has_place) {
		watch->large[watch->large_count++] = pending->account;
		return;
	}
	free(asked->outcome.answer);
	asked->outcome.answer = NULL;
	asked->outcome.answer_size = 0;
	asked->end = ASKED_BUSY;
}

/* Called by the thread of the media client. */
static void pending_done(void *context, struct asking *asking)
{
	struct pending_request *pending = context;
	struct live_watch *watch = pending->watch;

	pthread_mutex_lock(&watch->lock);
	take_place(watch, pending, asking);
	pending->next = watch->done;
	watch->done = pending;
	pthread_mutex_unlock(&watch->lock);
	if (eventfd_write(watch->wake, 1) != 0)
		ABORT("cannot write an event");
}

void pending_send(struct pending_request *pending)
{
	pending->asking->is_done = false;
	media_client_ask(pending->watch->environment->media_client, pending->asking, pending_done,
			 pending);
}

struct pending_request *pending_open(struct live_watch *watch, const struct id *account,
				     enum watch_work work, size_t size)
{
	struct arena *arena = arena_open();
	struct pending_request *pending = arena_zero(arena, size);

	arena_set_limit(arena, MEMORY_MOST);
	pending->watch = watch;
	pending->arena = arena;
	pending->account = *account;
	pending->work = work;
	return pending;
}

void pending_close(struct pending_request *pending)
{
	struct live_watch *watch = pending->watch;

	if (pending->has_place) {
		pthread_mutex_lock(&watch->lock);
		for (size_t i = 0; i < watch->large_count; i++) {
			if (id_compare(&watch->large[i], &pending->account) == 0) {
				watch->large[i] = watch->large[--watch->large_count];
				break;
			}
		}
		pthread_mutex_unlock(&watch->lock);
	}
	if (pending->asking != NULL)
		media_client_release(pending->asking);
	arena_close(pending->arena);
}

void pending_take_ended(struct live_watch *watch)
{
	struct pending_request *done, *next, *first = NULL;
	eventfd_t ignored;

	(void)eventfd_read(watch->wake, &ignored);
	pthread_mutex_lock(&watch->lock);
	done = watch->done;
	watch->done = NULL;
	pthread_mutex_unlock(&watch->lock);
	/* The request that ended last is the first of the list. */
	for (; done != NULL; done = next) {
		next = done->next;
		done->next = first;
		first = done;
	}
	*watch->answered_end = first;
	while (*watch->answered_end != NULL)
		watch->answered_end = &(*watch->answered_end)->next;
}

void pending_take(struct live_watch *watch)
{
	struct pending_request *pending, *next;

	pending_take_ended(watch);
	pending = watch->answered;
	watch->answered = NULL;
	watch->answered_end = &watch->answered;
	for (; pending != NULL; pending = next) {
		const struct id account = pending->account;
		const enum watch_work work = pending->work;
		const int64_t begun = clock_microseconds();

		next = pending->next;
		pending->next = NULL;
		if (watched_has_turn(watch, &account, work) && pending->take(watch, pending)) {
			/* The steps of a survey are counted already. */
			if (work != WORK_MERGE)
				watched_took_turn(watch, &account, work, begun);
			continue;
		}
		*watch->answered_end = pending;
		watch->answered_end = &pending->next;
	}
}
