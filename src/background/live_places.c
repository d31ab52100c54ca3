/* See live_places.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_places.h"

#include <stdlib.h>
#include <string.h>

#include "background/media_client.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_message.h"
#include "resources/live/server_rooms.h"
#include "resources/media/placing.h"

/* Milliseconds between two counts of an account. */
#define COUNT_AFTER 2000
/* Rooms of a media server that are moved in a second, and that a count notes as to be moved. */
#define MOVED_A_SECOND 20
#define LEAVING_MOST (3 * MOVED_A_SECOND)
/* Milliseconds for which people who were told to come elsewhere may stay; after which it is seen
 * whether all have gone, or what failed is tried again; for which the holder of the lease has the
 * time to tell them; for which it is known that they were told. */
#define TOLD_LASTS 15000
#define STRAY_SEEN_AFTER 2000
#define TOLD_FIRST_FOR 5000
#define STRAY_KNOWN_FOR 900000
/* Requests about strays that one backend has under way. */
#define STRAYS_AT_ONCE 16

/* ---- what is known of an account ---- */

/* A media server of a pool, or one that was given a weight. */
struct counted_backend {
	struct id id;
	struct slice name, pool; /* their own */
	bool is_draining;
	uint64_t people, rooms, expected;
	bool is_emptied; /* its rooms are moved to others */
	struct id leaving[LEAVING_MOST]; /* some of them */
	size_t leaving_count, leaving_next;
	int64_t moved; /* up to when rooms were moved, at MOVED_A_SECOND */
};

struct place_count {
	int64_t due;
	bool is_counting;
	int64_t time; /* when it began: milliseconds since 1970 */
	struct id after; /* the last room that was counted; zero if none was */
	struct counted_backend *backends; /* in the order of their ids */
	size_t count;
};

static struct slice own_text(struct slice text)
{
	char *copy = memory_check(malloc(text.size + 1));

	if (text.size > 0)
		memcpy(copy, text.data, text.size);
	return (struct slice){ copy, text.size };
}

static void free_backends(struct place_count *count)
{
	for (size_t i = 0; i < count->count; i++) {
		free((void *)(uintptr_t)count->backends[i].name.data);
		free((void *)(uintptr_t)count->backends[i].pool.data);
	}
	free(count->backends);
}

void place_count_free(struct place_count *count)
{
	if (count != NULL)
		free_backends(count);
	free(count);
}

static struct counted_backend *counted_of(const struct place_count *count, const struct id *id)
{
	const size_t place = id_place(id, count->backends, count->count, sizeof *count->backends);

	return place < count->count && id_compare(&count->backends[place].id, id) == 0
		       ? &count->backends[place]
		       : NULL;
}

static int compare_counted(const void *first, const void *second)
{
	const struct counted_backend *a = first, *b = second;

	return id_compare(&a->id, &b->id);
}

/* ---- counting ---- */

/* Begins a count of the media servers that the account has now. */
static bool begin_count(struct call *call, struct place_count *count, struct fault *fault)
{
	struct counted_backend *backends;
	struct media media;
	size_t n = 0;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backends = memory_check(calloc(media.backend_count + 1, sizeof *backends));
	for (size_t i = 0; i < media.backend_count; i++) {
		const struct backend *backend = &media.backends[i];
		const struct counted_backend *former = counted_of(count, &backend->id);

		if (backend->pool.size == 0 && backend->weight == 0)
			continue;
		backends[n++] = (struct counted_backend){
			.id = backend->id,
			.name = own_text(backend->name),
			.pool = own_text(backend->pool),
			.is_draining = backend->is_draining,
			.is_emptied = backend->moved_by.size > 0 && backend->is_draining,
			.moved = former == NULL ? 0 : former->moved,
		};
	}
	qsort(backends, n, sizeof *backends, compare_counted);
	free_backends(count);
	count->backends = backends;
	count->count = n;
	count->time = call->now;
	count->after = kind_only_id;
	count->is_counting = true;
	return true;
}

/* Takes over where a room in session is. */
static void follow_room(struct live_watch *watch, const struct id *account, const struct live *live)
{
	const struct id *backend = live_backend(live);
	struct watched_room *room;

	if (!live_is_moved(live))
		return;
	room = watched_room_of(watch, account, backend, &live->stored.id);
	if (room->is_live && id_compare(&room->backend, backend) == 0)
		return;
	room->is_live = true;
	room->backend = *backend;
	room->empty_since = live->moved;
	room->left_unseen = true;
	watched_survey_soon(room, clock_monotonic());
}

/* Has the people told of a room that was moved, where it was before. Where that does not answer,
 * they are told once it does. */
static void note_moved(struct live_watch *watch, const struct id *account,
		       const struct place *place)
{
	const struct watched_backend *former;
	struct watched_stray *stray;

	if (place->reason == MOVE_NONE || place->told != 0)
		return;
	former = watched_backend_of(watch, account, &place->former);
	if (former == NULL || former->is_down)
		return;
	stray = watched_stray_of(watch, account, &place->former, &place->stored.id);
	if (stray->act_at == INT64_MAX && !stray->is_acting)
		stray->act_at = clock_monotonic();
}

static void count_room(struct live_watch *watch, struct call *call, struct place_count *count,
		       const struct placed_room *room)
{
	const struct place *place = room->place;
	const struct live *live = room->live;
	const uint64_t inside = live == NULL || live_is_moved(live) ? 0 : live_peers(live);
	struct counted_backend *backend;

	if (place != NULL)
		note_moved(watch, &call->account, place);
	if (live != NULL)
		follow_room(watch, &call->account, live);
	backend = room->backend == NULL ? NULL : counted_of(count, room->backend);
	if (backend == NULL)
		return;
	backend->rooms++;
	backend->people += inside;
	if (place != NULL && inside == 0 && place->since + PLACED_LATELY > call->now)
		backend->expected += PLACED_PEOPLE;
	if (backend->is_emptied && backend->leaving_count < LEAVING_MOST)
		backend->leaving[backend->leaving_count++] = *room->id;
}

/* Counts the next rooms, in the order of their ids. */
static bool count_rooms(struct live_watch *watch, struct call *call, struct place_count *count,
			bool *is_done, struct fault *fault)
{
	struct placed_rooms page = { .after = count->after };

	if (!placed_rooms_read(call, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++)
		count_room(watch, call, count, &page.rooms[i]);
	count->after = page.after;
	*is_done = page.is_last;
	return true;
}

/* Stores what was counted, where it has changed; and that a media server has no rooms left that
 * were to be moved. */
static bool keep_count(struct call *call, const struct place_count *count, struct fault *fault)
{
	struct store_expected *expected = arena_zero(call->arena,
						     (count->count + 1) * sizeof *expected);
	bool is_emptied = false;
	struct media media;

	for (size_t i = 0; i < count->count; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_backend_load,
			.reading = STORE_TO_CHANGE,
			.finding = STORE_FIND_ID,
			.id = &count->backends[i].id,
		};
	if (count->count > 0)
		store_expect(call->transaction, STORE_EACH, expected, count->count);
	for (size_t i = 0; i < count->count; i++) {
		const struct counted_backend *backend = &count->backends[i];
		struct backend_load load;

		is_emptied = is_emptied || (backend->is_emptied && backend->rooms == 0);
		if (!record_get(&backend_load_table, call->transaction, &backend->id,
				STORE_TO_CHANGE, &load, fault))
			return false;
		/* What was placed since counts besides, so the time changes with it. */
		if (load.stored.value.data != NULL && load.people == backend->people &&
		    load.rooms == backend->rooms && load.expected == backend->expected &&
		    load.expected == 0)
			continue;
		load.stored.id = backend->id;
		load.people = backend->people;
		load.rooms = backend->rooms;
		load.expected = backend->expected;
		load.counted = count->time;
		if (!record_put(&backend_load_table, call->transaction, &load, fault))
			return false;
	}
	if (!is_emptied)
		return true;
	if (!media_load(call, STORE_TO_CHANGE, &media, fault))
		return false;
	for (size_t i = 0; i < count->count; i++) {
		struct backend *backend = media_backend(&media, &count->backends[i].id);

		if (backend != NULL && count->backends[i].is_emptied &&
		    count->backends[i].rooms == 0)
			backend->moved_by = SLICE("");
	}
	return media_put(call, &media, fault);
}

/* Returns true if another server of the pool could take the rooms of this one: both are up, and do
 * not drain. */
static bool has_reserve(struct live_watch *watch, const struct id *account,
			const struct place_count *count, const struct counted_backend *of)
{
	size_t n = 0;

	for (size_t i = 0; i < count->count; i++) {
		const struct counted_backend *backend = &count->backends[i];
		const struct watched_backend *watched = watched_backend_of(watch, account,
									   &backend->id);

		n += slice_equal(backend->pool, of->pool) && !backend->is_draining &&
		     watched != NULL && !watched->is_down;
	}
	return n > 1;
}

/* Has /metrics show what was counted. */
static void show_count(struct live_watch *watch, const struct id *account,
		       const struct place_count *count)
{
	pthread_mutex_lock(&watch->lock);
	watched_forget_loads(watch, account);
	for (size_t i = 0; i < count->count; i++) {
		const struct counted_backend *backend = &count->backends[i];
		bool is_first = true, is_alone = true;

		for (size_t j = 0; j < count->count; j++) {
			const bool is_mate = backend->pool.size > 0 && j != i &&
					     slice_equal(count->backends[j].pool, backend->pool);

			is_first = is_first && !(is_mate && j < i);
			is_alone = is_alone && !is_mate;
		}
		watch->loads = memory_room(watch->loads, watch->load_count + 1,
					   &watch->load_capacity, sizeof *watch->loads);
		watch->loads[watch->load_count++] = (struct shown_load){
			.account = *account,
			.name = own_text(backend->name),
			.rooms = backend->rooms,
			.people = backend->people,
			.lacks_reserve = is_first && !is_alone &&
					 !has_reserve(watch, account, count, backend),
		};
	}
	pthread_mutex_unlock(&watch->lock);
}

/* Goes on with the count of an account. */
static void count_account(struct live_watch *watch, struct arena *arena, const struct id *account,
			  struct place_count *count)
{
	struct fault fault = FAULT_INITIAL;
	bool is_done = false;

	if (!count->is_counting) {
		TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, account, &fault);

		count->due = clock_monotonic() + COUNT_AFTER;
		while (transact_again(&run))
			run.is_done = begin_count(&run.call, count, &fault);
		arena_reset(arena);
		return;
	}
	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, account, &fault);

		while (transact_again(&run))
			run.is_done = count_rooms(watch, &run.call, count, &is_done, &fault);
		/* What cannot be read now is counted anew. */
		count->is_counting = run.is_done && !is_done;
		arena_reset(arena);
	}
	if (is_done) {
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, account, &fault);

		while (transact_again(&run))
			run.is_done = keep_count(&run.call, count, &fault);
		arena_reset(arena);
		show_count(watch, account, count);
	}
}

/* Returns what is known of the places of the account of a backend; NULL if it has no pool. */
static struct place_count *places_of(struct live_watch *watch,
				     const struct watched_backend *backend)
{
	struct watched_account *account;

	if (!backend->has_load)
		return NULL;
	account = watched_account_of(watch, &backend->account);
	if (account->places == NULL)
		account->places = memory_check(calloc(1, sizeof *account->places));
	return account->places;
}

void places_count(struct live_watch *watch, struct arena *arena)
{
	for (size_t i = 0; i < watch->backend_count; i++) {
		const struct id account = watch->backends[i].account;
		struct place_count *count = places_of(watch, &watch->backends[i]);

		while (count != NULL && (count->is_counting || count->due <= clock_monotonic()) &&
		       watched_has_turn(watch, &account, WORK_MERGE)) {
			const int64_t begun = clock_microseconds();

			count_account(watch, arena, &account, count);
			watched_took_turn(watch, &account, WORK_MERGE, begun);
		}
	}
}

/* ---- moving ---- */

/* Moves a room to another media server of its pool. *has_moved: it was, or it need not be. */
static bool move_room(struct call *call, const struct id *id, const struct id *from_id,
		      bool *has_moved, struct fault *fault)
{
	struct place_request request = { .must_be_up = true, .not_at = from_id, .not_count = 1 };
	const struct backend *from, *to = NULL;
	struct template_record template;
	struct media_target target;
	struct room_record room;
	struct media media;
	struct place place;
	struct live live;
	bool is_there;

	*has_moved = true;
	if (!media_load(call, STORE_TO_SHOW, &media, fault) ||
	    !room_find(call, id, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	from = media_backend(&media, from_id);
	if (!is_there || from == NULL || from->moved_by.size == 0 || !from->is_draining)
		return true;
	if (!template_load(call, &room.template_id, &template, fault) ||
	    !place_load(call, id, STORE_TO_CHANGE, &place, fault) ||
	    !live_load(call, id, STORE_TO_CHANGE, &live, fault))
		return false;
	target = media_target_of(&media, &template);
	if (live.stored.value.data != NULL) {
		is_there = id_compare(live_backend(&live), from_id) == 0 && live.closing == 0;
		place.backend = *from_id;
	} else {
		is_there = place_holds(call, &place) && id_compare(&place.backend, from_id) == 0;
	}
	if (!is_there || !backend_is_in(from, target.pool))
		return true;
	request.media = &media;
	request.pool = target.pool;
	request.room = *id;
	request.region = placing_region(call, &room, &template);
	if (!placing_choose(call, &request, &to, fault))
		return false;
	*has_moved = to != NULL;
	if (place.until < call->now / 1000 + PLACE_LASTS_AFTER)
		place.until = call->now / 1000 + PLACE_LASTS_AFTER;
	return to == NULL || placing_move(call, &room, &place, from, to, MOVE_DRAINED, fault);
}

/* Moves the rooms of a media server whose turn it is. */
static void move_rooms(struct live_watch *watch, struct arena *arena, const struct id *account,
		       struct counted_backend *backend)
{
	const int64_t now = clock_monotonic();

	if (backend->moved < now - 1000)
		backend->moved = now - 1000;
	while (backend->leaving_next < backend->leaving_count &&
	       backend->moved + 1000 / MOVED_A_SECOND <= now &&
	       watched_has_turn(watch, account, WORK_ENFORCE)) {
		const struct id room = backend->leaving[backend->leaving_next++];
		const int64_t begun = clock_microseconds();
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, account, &fault);
		struct watched_stray *stray;
		bool has_moved = true;

		while (transact_again(&run))
			run.is_done = move_room(&run.call, &room, &backend->id, &has_moved, &fault);
		arena_reset(arena);
		watched_took_turn(watch, account, WORK_ENFORCE, begun);
		backend->moved += 1000 / MOVED_A_SECOND;
		/* If no other one is up now, the next count finds the rooms again. */
		if (run.is_done && !has_moved) {
			backend->leaving_count = 0;
		} else if (run.is_done) {
			stray = watched_stray_of(watch, account, &backend->id, &room);
			stray->act_at = now;
		}
	}
}

void places_move(struct live_watch *watch, struct arena *arena)
{
	for (size_t i = 0; i < watch->backend_count; i++) {
		const struct watched_backend *watched = &watch->backends[i];
		const struct place_count *count = places_of(watch, watched);
		struct counted_backend *backend = count == NULL ? NULL
								: counted_of(count, &watched->id);

		if (backend != NULL && backend->is_emptied && !count->is_counting)
			move_rooms(watch, arena, &watched->account, backend);
	}
}

/* ---- rooms that are elsewhere ---- */

enum stray_step {
	STRAY_NONE, /* it is none, or may not be ended */
	STRAY_TELL, /* its people */
	STRAY_LOOK, /* whether it is empty */
	STRAY_END
};

/* What is asked about a stray. */
struct stray_job {
	struct pending_request pending; /* first, so that it is the same object */
	struct id room;
	struct server server;
	struct asking asking;
	struct asked asked;
	enum stray_step step;
	int64_t ends_in; /* milliseconds from now after which it is ended whoever is inside */
};

/* Stores when the people were told of a room that was moved from there; 0: they were not. */
static bool note_told(struct call *call, const struct place *moved, int64_t told,
		      struct fault *fault)
{
	struct place place;

	if (!place_load(call, &moved->stored.id, STORE_TO_CHANGE, &place, fault))
		return false;
	if (place.stored.value.data == NULL || id_compare(&place.former, &moved->former) != 0)
		return true;
	place.told = told;
	return record_put(&place_table, call->transaction, &place, fault);
}

/* Finds out what is to be done. holds_lease: the other processes leave it to that one to tell
 * people, for a while. */
static bool prepare_stray(struct call *call, struct watched_stray *stray, bool holds_lease,
			  struct stray_job *job, struct fault *fault)
{
	const int64_t now = call->now / 1000;
	const struct slice name = id_as_text(call->arena, &stray->room);
	const struct backend *backend;
	struct live_stray found;
	struct media media;
	bool is_former, tells;

	job->step = STRAY_NONE;
	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, &stray->backend);
	if (backend == NULL)
		return true;
	if (!live_find_stray(call, &stray->room, &stray->backend, &found, fault))
		return false;
	is_former = found.was_moved && found.place.reason != MOVE_NONE;
	/* The room has come back since, and was moved again. */
	if (is_former && stray->moved != found.place.since) {
		stray->moved = found.place.since;
		stray->was_told = stray->was_ended = stray->is_empty = false;
		stray->end_at = 0;
		stray->forget_at = clock_monotonic() + STRAY_KNOWN_FOR;
	}
	tells = found.was_moved && found.place.told == 0 && !stray->was_told;
	/* Nobody can be told there. */
	if (is_former && tells && !server_can(backend->type, SERVER_MESSAGE) &&
	    !note_told(call, &found.place, call->now, fault))
		return false;
	if (!found.is_stray || !server_can(backend->type, SERVER_END))
		return true;
	job->server = backend_server(call, backend);
	job->ends_in = stray->end_at == 0 ? 0 : stray->end_at - clock_monotonic();
	if (found.was_moved && found.place.told != 0 && !stray->was_ended)
		job->ends_in = found.place.told + TOLD_LASTS - call->now;
	if (tells && is_former && !holds_lease && found.place.since + TOLD_FIRST_FOR > call->now) {
		job->step = STRAY_LOOK;
		job->ends_in = TOLD_LASTS;
		server_list_people(call->arena, &job->server, now, name, &job->asked.request);
	} else if (tells && server_can(backend->type, SERVER_MESSAGE)) {
		job->step = STRAY_TELL;
		job->ends_in = TOLD_LASTS;
		server_send_message(call->arena, &job->server, now, name, NULL, OWN_TOPIC,
				    SLICE("{\"type\":\"move\"}"), &job->asked.request);
		job->asked.request.patience = NOTICE_PATIENCE;
	} else if (job->ends_in > 0 && !stray->is_empty) {
		job->step = STRAY_LOOK;
		server_list_people(call->arena, &job->server, now, name, &job->asked.request);
	} else {
		job->step = STRAY_END;
		server_end_room(call->arena, &job->server, now, name, &job->asked.request);
	}
	return true;
}

static bool take_stray(struct live_watch *watch, struct pending_request *pending)
{
	struct stray_job *job = (struct stray_job *)pending;
	struct watched_backend *backend = watched_backend_of(watch, &pending->account,
							     &job->asking.backend);
	struct watched_stray *stray = watched_stray_of(watch, &pending->account,
						       &job->asking.backend, &job->room);
	const int64_t now = clock_monotonic();
	const int64_t seconds = clock_now(watch->environment->clock) / 1000;
	struct arena *before = arena_use_for_json(pending->arena);
	struct server_verdict verdict = { .is_up = false };
	enum server_result result = SERVER_FAILED;
	struct server_person *people;
	size_t count = 1;

	if (backend != NULL)
		COUNTER_LOWER(backend->acting, pending->counted);
	stray->is_acting = false;
	stray->act_at = now + STRAY_SEEN_AFTER;
	if (job->asked.end == ASKED_ANSWERED && job->step == STRAY_LOOK)
		server_read_people(pending->arena, &job->server, seconds, &job->asked.outcome,
				   &verdict, &people, &count);
	else if (job->asked.end == ASKED_ANSWERED)
		result = server_read_result(pending->arena, &job->server, seconds,
					    &job->asked.outcome, &verdict);
	switch (job->step) {
	case STRAY_TELL: {
		const struct place moved = { .stored.id = job->room,
					     .former = job->asking.backend };
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, pending->arena,
					      &pending->account, &fault);

		/* They are told once the media server answers. */
		if (result == SERVER_FAILED) {
			if (backend != NULL && job->asked.end != ASKED_BUSY)
				backend->survey_at = now;
			break;
		}
		/* A process that ends before that tells them again. */
		while (transact_again(&run))
			run.is_done = note_told(&run.call, &moved,
						clock_now(watch->environment->clock), &fault);
		stray->was_told = true;
		stray->is_empty = result == SERVER_HAS_NOBODY;
		stray->end_at = now + TOLD_LASTS;
		break;
	}
	case STRAY_LOOK:
		stray->is_empty = verdict.is_up && count == 0;
		if (stray->is_empty)
			stray->act_at = now;
		else if (stray->end_at > now && stray->end_at < stray->act_at)
			stray->act_at = stray->end_at;
		break;
	case STRAY_END:
		if (result != SERVER_DONE && result != SERVER_HAS_NOBODY)
			break;
		stray->is_empty = false;
		/* Whoever comes there now does so with an old token. */
		stray->was_ended = true;
		stray->end_at = now;
		server_rooms_remove(watch->environment->server_rooms,
				    &(const struct server_room_key){
					    pending->account, job->asking.backend, job->room });
		stray->act_at = stray->has_come ? now : INT64_MAX;
		stray->forget_at = now + STRAY_KNOWN_FOR;
		break;
	case STRAY_NONE:
		break;
	}
	(void)arena_use_for_json(before);
	pending_close(pending);
	return true;
}

/* Asks what is due about a stray. Returns false if it is none. */
static bool ask_about_stray(struct live_watch *watch, struct watched_stray *stray,
			    struct watched_backend *backend)
{
	struct stray_job *job = (struct stray_job *)pending_open(watch, &stray->account,
								 WORK_ENFORCE, sizeof *job);
	struct fault fault = FAULT_INITIAL;
	struct arena *before;

	if (stray->forget_at == INT64_MAX)
		stray->forget_at = clock_monotonic() + STRAY_KNOWN_FOR;
	job->pending.take = take_stray;
	job->room = stray->room;
	job->asking = (struct asking){
		.account = stray->account,
		.backend = stray->backend,
		.rank = ASKED_TO_ENFORCE,
		.room = stray->room,
		.asked = &job->asked,
		.count = 1,
	};
	before = arena_use_for_json(job->pending.arena);
	{
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, job->pending.arena,
					      &stray->account, &fault);

		while (transact_again(&run))
			run.is_done = prepare_stray(&run.call, stray, watch->had_lease, job,
						    &fault);
		stray->act_at = clock_monotonic() + STRAY_SEEN_AFTER;
		if (!run.is_done || job->step == STRAY_NONE) {
			(void)arena_use_for_json(before);
			pending_close(&job->pending);
			return !run.is_done && transact_may_pass(&fault);
		}
	}
	(void)arena_use_for_json(before);
	if (job->step != STRAY_END)
		stray->end_at = clock_monotonic() + job->ends_in;
	stray->is_acting = true;
	stray->has_come = false;
	job->pending.asking = &job->asking;
	job->pending.counted = 1;
	backend->acting++;
	pending_send(&job->pending);
	return true;
}

void places_end_strays(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = watch->stray_count; i-- > 0;) {
		struct watched_stray *stray = watch->strays[i];
		struct watched_backend *backend = watched_backend_of(watch, &stray->account,
								     &stray->backend);
		const struct id account = stray->account;
		int64_t begun;

		if (stray->is_acting)
			continue;
		if (backend == NULL || backend->is_down || watch->environment->live != LIVE_ON ||
		    watch->environment->media_client == NULL || now >= stray->forget_at) {
			watched_remove_stray(watch, stray);
			continue;
		}
		if (stray->act_at > now || backend->acting >= STRAYS_AT_ONCE ||
		    !watched_has_turn(watch, &stray->account, WORK_ENFORCE))
			continue;
		begun = clock_microseconds();
		if (!ask_about_stray(watch, stray, backend))
			watched_remove_stray(watch, stray);
		watched_took_turn(watch, &account, WORK_ENFORCE, begun);
	}
}
