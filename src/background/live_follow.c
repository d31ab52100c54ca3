/* See live_follow.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/dispatcher.h"
#include "background/live_hidden.h"
#include "background/media_client.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/live/live_merge.h"
#include "resources/live/server_rooms.h"
#include "resources/stored/revocations.h"
#include "resources/media/placing.h"
#include "resources/backends/backends.h"

/* Milliseconds: between two surveys of a backend, and of one that never answered; of a room that is
 * surveyed often; for which rooms are surveyed often after the start; until a room is asked for
 * again after a failure; between two times that the time of a media server's last event is
 * stored. */
#define SURVEY_AFTER 30000
#define SURVEY_AFTER_NEVER 300000
#define SURVEY_OFTEN 2000
#define SURVEY_OFTEN_FOR 30000
#define SURVEY_AFTER_FAILURE 5000
#define EVENT_STORED_AFTER 5000
#define MINUTE 60000
/* Events of a room that one transaction merges, and tries to merge an event alone that fails for a
 * reason that does not pass. */
#define EVENTS_AT_ONCE 64
#define EVENT_TRIES 3
/* Milliseconds by which the time of an event may be earlier than its receipt, for the latter to be
 * taken; and between two lines of the service log about events of an account that were set
 * aside. */
#define EVENT_TIME_TRUSTED 2000
#define ASIDE_LOGGED_AFTER 1000
/* The message of a media server's health after one was set aside. */
#define SET_ASIDE "an event could not be stored"
/* Large lists whose contents are in memory. */
#define LARGE_READ 2
/* Rooms of a list that one transaction looks up. */
#define FOUND_AT_ONCE 512

/* Takes over what a merge found out about its room. */
static void room_take(struct live_watch *watch, struct watched_room *room,
		      const struct merging *merging)
{
	const int64_t now = clock_monotonic();

	room->is_live = merging->is_live;
	room->empty_since = merging->empty_since;
	room->left_unseen = merging->left_unseen;
	room->inside = merging->inside;
	if (merging->inside == 0) {
		room->removal_count = 0;
		room->ends_since = 0;
		room->overdue = 0;
	}
	if (merging->is_live)
		room->backend = merging->at;
	if (merging->needs_survey)
		watched_survey_soon(room, now);
	if (merging->needs_second_survey)
		watched_survey_soon(room, now + LIVE_MISSED_FOR);
	/* Who was not stored because of the limit of a minute, may be in the next one. */
	if (merging->is_over)
		watched_survey_soon(room,
				    now + MINUTE - clock_now(watch->environment->clock) % MINUTE);
	room->closes = room->closes || merging->is_closing;
	if (merging->enforces != ENFORCE_NOTHING)
		watched_enforce_soon(room, now, merging->enforces == ENFORCE_ALL);
}

/* ---- events ---- */

/* Stores the time of an event of a media server. */
static bool store_backend_event(struct live_watch *watch, struct arena *arena,
				const struct id *account, const struct id *backend, int64_t time)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, account, &fault);
	struct media media;

	while (transact_again(&run))
		run.is_done = media_load(&run.call, STORE_TO_SHOW, &media, &fault) &&
			      (media_backend(&media, backend) == NULL ||
			       backend_health_note_event(&run.call, backend, time, &fault));
	arena_reset(arena);
	return run.is_done;
}

void follow_note_contact(struct live_watch *watch, struct arena *arena, const struct id *account,
			 const struct id *id, int64_t time)
{
	struct watched_backend *backend = watched_backend_of(watch, account, id);
	bool is_stored;

	if (backend != NULL && backend->is_down &&
	    backend->survey_at > backend->listed + SURVEY_AT_MOST_EVERY)
		backend->survey_at = backend->listed + SURVEY_AT_MOST_EVERY;
	if (backend != NULL && backend->event < time)
		backend->event = time;
	if (backend != NULL && backend->has_answered)
		return;
	is_stored = store_backend_event(watch, arena, account, id, time);
	if (backend != NULL)
		backend->has_answered = is_stored;
}

void follow_store_event_times(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->backend_count; i++) {
		struct watched_backend *backend = &watch->backends[i];
		const int64_t time = backend->event;

		if (backend->event <= backend->event_stored ||
		    (backend->stored_at != 0 && now < backend->stored_at + EVENT_STORED_AFTER) ||
		    !watched_has_turn(watch, &backend->account, WORK_MERGE))
			continue;
		backend->stored_at = now;
		if (store_backend_event(watch, arena, &backend->account, &backend->id, time))
			backend->event_stored = time;
	}
}

/* Events of one room. */
struct event_batch {
	struct received_event *const *received;
	size_t count;
	struct merging merging;
};

static enum report_type report_type_of(enum server_event_type type)
{
	switch (type) {
	case SERVER_JOINED:
		return REPORT_JOINED;
	case SERVER_LEFT:
		return REPORT_LEFT;
	case SERVER_ROOM_ENDED:
		return REPORT_ENDED;
	case SERVER_NOT_CONNECTED:
		break;
	}
	return REPORT_NOT_CONNECTED;
}

static bool merge_batch(struct call *call, struct event_batch *batch, struct fault *fault)
{
	struct report *reports = arena_zero(call->arena, batch->count * sizeof *reports);
	struct backend_healths healths;
	const struct backend_health *health;

	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &batch->received[0]->backend);
	for (size_t i = 0; i < batch->count; i++) {
		const struct received_event *received = batch->received[i];
		const int64_t time = backend_time(health, received->event.time, received->at);

		/* The media server's clock has whole seconds: if its time fits, the time of receipt
		 * is more exact. */
		reports[i] = (struct report){
			.type = report_type_of(received->event.type),
			.room = received->event.room,
			.person = received->event.person,
			.cause = received->event.cause,
			.time = received->at - time <= EVENT_TIME_TRUSTED ? received->at : time,
		};
		reports[i].person.joined =
			received->event.person.joined == 0
				? reports[i].time
				: backend_time(health, received->event.person.joined, call->now);
	}
	batch->merging = (struct merging){
		.room = batch->received[0]->room,
		.backend = batch->received[0]->backend,
		.is_in_pool = batch->received[0]->is_in_pool,
		.reports = reports,
		.count = batch->count,
	};
	return live_merge(call, &batch->merging, fault);
}

static bool note_aside(struct call *call, const struct received_event *received,
		       struct fault *fault)
{
	struct server_verdict verdict = { .is_up = true, .message = SET_ASIDE };
	struct backend_healths healths;
	const struct backend_health *health;
	const struct backend *backend;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault) ||
	    !backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	backend = media_backend(&media, &received->backend);
	health = backend_health_of(&healths, &received->backend);
	if (backend == NULL || (health != NULL && !health->is_up))
		return true;
	verdict.ahead = health == NULL ? 0 : health->ahead;
	return backend_health_note(call, backend, &verdict, fault);
}

/* Gives up an event that cannot be stored, and says so. The next survey of the room repairs what is
 * missing. */
static void set_aside(struct live_watch *watch, struct arena *arena,
		      struct received_event *received, const struct fault *fault)
{
	struct watched_account *account = watched_account_of(watch, &received->account);
	struct watched_backend *of = watched_backend_of(watch, &received->account,
							&received->backend);
	const int64_t now = clock_monotonic();
	struct fault own = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, &received->account, &own);
	char owner[ID_TEXT_SIZE + 1], backend[ID_TEXT_SIZE + 1], room[ID_TEXT_SIZE + 1];

	live_queue_set_aside(watch->environment->live_queue);
	if (of != NULL)
		of->set_aside = clock_now(watch->environment->clock);
	watched_survey_soon(
		watched_room_of(watch, &received->account, &received->backend, &received->room),
		now);
	if (account->aside_logged != 0 && now < account->aside_logged + ASIDE_LOGGED_AFTER)
		return;
	account->aside_logged = now;
	id_print(&received->account, owner);
	id_print(&received->backend, backend);
	id_print(&received->room, room);
	log_event(LOG_LEVEL_ERROR, "live_event_set_aside", "account", owner, "backend", backend,
		  "room", room, "error", fault_reason(fault), "consequence",
		  "the next survey of the room repairs what is missing", NULL);
	while (transact_again(&run))
		run.is_done = note_aside(&run.call, received, &own);
	arena_reset(arena);
}

/* The room is elsewhere: whoever has come here has to leave. Where somebody leaves, the room may be
 * empty now. */
static void note_stray(struct live_watch *watch, const struct event_batch *batch)
{
	const struct received_event *first = batch->received[0];
	bool has_come = false;
	struct watched_stray *stray;

	for (size_t i = 0; i < batch->count; i++)
		has_come = has_come || batch->received[i]->event.type == SERVER_JOINED;
	stray = has_come
			? watched_stray_of(watch, &first->account, &first->backend, &first->room)
			: watched_find_stray(watch, &first->account, &first->backend, &first->room);
	if (stray != NULL && (has_come || stray->act_at != INT64_MAX))
		stray->act_at = clock_monotonic();
	if (has_come) {
		stray->is_empty = false;
		stray->has_come = stray->is_acting;
	}
}

/* Merges events of one room. Returns how many of them, the first ones, are done with; the others
 * must be merged later. */
static size_t take_batch(struct live_watch *watch, struct arena *arena, struct event_batch *batch)
{
	struct received_event *first = batch->received[0];
	const struct id account = first->account, backend_id = first->backend;
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, &account, &fault);
	struct watched_room *room;

	follow_note_contact(watch, arena, &account, &backend_id,
			    batch->received[batch->count - 1]->at);
	while (transact_again(&run))
		run.is_done = merge_batch(&run.call, batch, &fault);
	if (!run.is_done) {
		arena_reset(arena);
		if (transact_may_pass(&fault))
			return 0;
		/* From now on, they are tried alone, so that one does not stop the others. */
		watch->is_behind = true;
		for (size_t i = 0; i < batch->count; i++)
			batch->received[i]->tries++;
		if (batch->count > 1 || first->tries < EVENT_TRIES)
			return 0;
		set_aside(watch, arena, first, &fault);
		return 1;
	}

	if (batch->merging.is_stray)
		note_stray(watch, batch);
	watch->is_behind = watch->is_behind || batch->merging.is_moving;
	room = watched_find_room(watch, &account, &first->room);
	if (room == NULL && (batch->merging.is_live || batch->merging.needs_survey ||
			     batch->merging.is_over || batch->merging.enforces != ENFORCE_NOTHING))
		room = watched_room_of(watch, &account, &backend_id, &first->room);
	if (room != NULL)
		room_take(watch, room, &batch->merging);
	for (const struct unlogged_event *event = batch->merging.failed; event != NULL;
	     event = event->next)
		dispatcher_send_once(watch->environment->dispatcher, &account,
				     SLICE("peer.join.failure"), event->data,
				     clock_now(watch->environment->clock));
	arena_reset(arena);
	return batch->merging.merged;
}

/* Sorts by room, then in the order in which the events came. */
static int compare_received(const void *first, const void *second)
{
	const struct received_event *a = *(struct received_event *const *)first,
				    *b = *(struct received_event *const *)second;
	int order = id_compare(&a->account, &b->account);

	if (order == 0)
		order = id_compare(&a->room, &b->room);
	if (order == 0)
		order = id_compare(&a->backend, &b->backend);
	return order != 0 ? order : a->number < b->number ? -1 : a->number > b->number;
}

static bool is_same_room(const struct received_event *a, const struct received_event *b)
{
	return id_compare(&a->account, &b->account) == 0 && id_compare(&a->room, &b->room) == 0 &&
	       id_compare(&a->backend, &b->backend) == 0;
}

static bool room_closes(const struct live_watch *watch, const struct received_event *received)
{
	const struct watched_room *room = watched_find_room(watch, &received->account,
							    &received->room);

	return room != NULL && room->closes;
}

/* Merges events of one room as long as it is the account's turn. Returns how many are done with. */
static size_t merge_room(struct live_watch *watch, struct arena *arena,
			 struct received_event *const *list, size_t count)
{
	const struct id account = list[0]->account;
	size_t done = 0, n, merged = 1;

	while (done < count && merged > 0 && !room_closes(watch, list[done]) &&
	       watched_has_turn(watch, &account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct event_batch batch = { .received = &list[done] };

		for (n = 1; n < EVENTS_AT_ONCE && done + n < count && list[done]->tries == 0 &&
			    list[done + n]->tries == 0;)
			n++;
		batch.count = n;
		merged = take_batch(watch, arena, &batch);
		done += merged;
		watched_took_turn(watch, &account, WORK_MERGE, begun);
	}
	return done;
}

void follow_merge_events(struct live_watch *watch, struct received_event *received)
{
	struct received_event **list;
	struct arena *arena;
	size_t count = 0, n;

	while (watch->waiting != NULL) {
		struct received_event *next = watch->waiting->next;

		watch->waiting->next = received;
		received = watch->waiting;
		watch->waiting = next;
	}
	for (const struct received_event *each = received; each != NULL; each = each->next)
		count++;
	if (count == 0)
		return;
	list = memory_check(malloc(count * sizeof *list));
	for (size_t i = 0; i < count; i++, received = received->next)
		list[i] = received;
	qsort(list, count, sizeof *list, compare_received);
	arena = arena_open();
	for (size_t i = 0; i < count; i += n) {
		const struct id account = list[i]->account, backend = list[i]->backend;
		size_t done;

		for (n = 1; i + n < count && is_same_room(list[i], list[i + n]);)
			n++;
		done = merge_room(watch, arena, &list[i], n);
		for (size_t j = i; j < i + n; j++) {
			if (j < i + done) {
				free(list[j]);
			} else {
				list[j]->next = watch->waiting;
				watch->waiting = list[j];
			}
		}
		if (done > 0)
			live_queue_release(watch->environment->live_queue, &account, &backend,
					   done);
	}
	arena_close(arena);
	free(list);
}

/* ---- a survey of a media server, or of a room of it ---- */

/* A survey of the rooms of a media server, or of one of them. */
struct survey {
	struct pending_request pending; /* first, so that it is the same object */
	struct asking asking;
	struct asked asked;
	struct server server;
	bool is_in_pool; /* the backend */
	bool is_of_room; /* else the list of all rooms */
	struct id room;
	int64_t sent; /* when the rooms, or the people, were asked for: milliseconds since 1970 */
	/* The second request about a room, after somebody unknown was listed: the people. */
	struct server_person *people;
	size_t people_count;
	bool has_people;
	struct server_hidden hidden;
	/* Of the answer, in several turns. */
	bool is_read; /* it was read */
	bool is_in_memory; /* it is a large one, and was counted */
	bool is_expected_large; /* the account has no other large list meanwhile */
	struct merging merging; /* of people; the results are those of all steps */
	const struct server_room *rooms; /* or of rooms: those from `next` on are to be looked up */
	size_t room_count, next;
};

static bool take_survey(struct live_watch *watch, struct pending_request *pending);

static struct survey *survey_open(struct live_watch *watch, const struct id *account,
				  const struct id *backend)
{
	struct survey *survey = (struct survey *)pending_open(watch, account, WORK_MERGE,
							      sizeof *survey);

	survey->pending.take = take_survey;
	survey->pending.asking = &survey->asking;
	survey->asking = (struct asking){
		.account = *account,
		.backend = *backend,
		.rank = ASKED_TO_SURVEY,
		.asked = &survey->asked,
		.count = 1,
	};
	return survey;
}

static void survey_send(struct survey *survey)
{
	/* A second request says nothing about when the people were inside. */
	if (!survey->has_people)
		survey->sent = clock_now(survey->pending.watch->environment->clock);
	pending_send(&survey->pending);
}

/* Of an account, one large list at most is under way. */
static void survey_expect(struct live_watch *watch, struct survey *survey, bool is_large)
{
	survey->is_expected_large = is_large;
	if (is_large)
		watched_account_of(watch, &survey->asking.account)->has_large = true;
}

/* Returns false if a large list would be the second one of the account. */
static bool may_ask(struct live_watch *watch, const struct id *account, bool is_large)
{
	return !is_large || !watched_account_of(watch, account)->has_large;
}

static bool survey_find_backend(struct call *call, struct survey *survey, struct media *media,
				struct backend **backend, struct fault *fault)
{
	if (!media_load(call, STORE_TO_SHOW, media, fault))
		return false;
	*backend = media_backend(media, &survey->asking.backend);
	if (*backend == NULL)
		return true;
	survey->server = backend_server(call, *backend);
	survey->is_in_pool = (*backend)->pool.size > 0;
	return true;
}

/* ---- the list of the rooms of a media server ---- */

/* What a backend has, for a survey of its list of rooms. */
struct room_listing {
	struct live_watch *watch;
	struct survey *survey;
	bool is_wanted; /* a template names it, it is the default, or rooms are in session there */
	/* It answered when it was last asked, or ever, perhaps an earlier process. */
	bool was_up, has_answered;
	bool surveys; /* rooms in session are surveyed */
	bool is_in_pool, has_load;
	size_t live_count;
};

/* Rooms in session are known before the media server answers, if it does. */
static bool find_live(struct call *call, struct room_listing *listing, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	const struct asking *asking = &listing->survey->asking;
	struct live_watch *watch = listing->watch;
	struct store_walk walk = store_walk_pages(call->transaction, &kind_live, &page, false,
						  fault);
	struct store_record record;
	struct watched_room *room;
	struct live live;

	listing->live_count = 0;
	while (store_next(&walk, &record)) {
		if (!record_read(&live_table, listing->survey->pending.arena, &record, &live,
				 fault))
			return false;
		if (id_compare(live_backend(&live), &asking->backend) != 0)
			continue;
		listing->live_count++;
		room = watched_room_of(watch, &asking->account, &asking->backend, &record.id);
		room->is_live = true;
		room->closes = room->closes || live.closing != 0;
		if (room->often_until == 0)
			room->often_until = watch->begun + SURVEY_OFTEN_FOR;
		if (listing->surveys)
			watched_survey_soon(room, clock_monotonic());
	}
	return fault->kind == FAULT_NONE;
}

/* Returns whether rooms are placed at a pool: a template names it, or the default is in it. */
static bool pool_is_used(const struct media *media, struct slice pool)
{
	const struct backend *standard = media_default_backend(media);

	for (size_t i = 0; i < media->pool_count; i++) {
		if (slice_equal(media->pools[i].name, pool) && media->pools[i].uses > 0)
			return true;
	}
	return backend_is_in(standard, pool);
}

static bool prepare_list(struct call *call, struct room_listing *listing, struct fault *fault)
{
	struct survey *survey = listing->survey;
	struct backend_healths healths;
	const struct backend_health *health;
	struct backend *backend;
	struct media media;

	listing->is_wanted = listing->is_in_pool = listing->has_load = false;
	if (!find_live(call, listing, fault) ||
	    !survey_find_backend(call, survey, &media, &backend, fault))
		return false;
	if (backend == NULL)
		return true;
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &survey->asking.backend);
	listing->was_up = health != NULL && health->is_up;
	listing->has_answered = backend_has_answered(&healths, &survey->asking.backend);
	listing->is_in_pool = backend->pool.size > 0;
	listing->has_load = listing->is_in_pool || backend->weight > 0;
	listing->is_wanted = backend->uses > 0 || backend->is_default || listing->live_count > 0 ||
			     pool_is_used(&media, backend->pool);
	if (listing->is_wanted)
		server_list_rooms(survey->pending.arena, &survey->server, call->now / 1000,
				  arena_json(survey->pending.arena, json_array()),
				  &survey->asked.request);
	return true;
}

static void backend_ask(struct live_watch *watch, struct watched_backend *backend)
{
	struct survey *survey = survey_open(watch, &backend->account, &backend->id);
	struct room_listing listing = { .watch = watch, .survey = survey };
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, survey->pending.arena,
				      &backend->account, &fault);

	backend->listed = clock_monotonic();
	backend->survey_at = backend->listed + SURVEY_AFTER;
	while (transact_again(&run))
		run.is_done = prepare_list(&run.call, &listing, &fault);
	backend->is_in_pool = run.is_done ? listing.is_in_pool : backend->is_in_pool;
	backend->has_load = run.is_done ? listing.has_load : backend->has_load;
	if (!run.is_done || !listing.is_wanted) {
		pending_close(&survey->pending);
		return;
	}
	backend->was_up = backend->was_up || listing.was_up;
	backend->has_answered = backend->has_answered || listing.has_answered;
	backend->is_listing = true;
	survey->pending.counted = 1;
	backend->under_way++;
	survey_expect(watch, survey, backend->is_large);
	survey_send(survey);
}

void follow_ask_backends(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; watch->environment->media_client != NULL && i < watch->backend_count;
	     i++) {
		struct watched_backend *backend = &watch->backends[i];

		if (!backend->is_listing && backend->survey_at <= now &&
		    may_ask(watch, &backend->account, backend->is_large) &&
		    watched_has_turn(watch, &backend->account, WORK_MERGE)) {
			const int64_t begun = clock_microseconds();

			backend_ask(watch, backend);
			watched_took_turn(watch, &backend->account, WORK_MERGE, begun);
		}
	}
}

static bool read_list(struct live_watch *watch, struct survey *survey,
		      struct watched_backend *backend)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, survey->pending.arena,
				      &survey->asking.account, &fault);
	struct server_room *rooms = NULL;
	struct server_verdict verdict;
	struct backend *of;
	struct media media;

	if (survey->asked.end != ASKED_ANSWERED) {
		if (survey->asked.end == ASKED_BUSY)
			backend->survey_at = clock_monotonic() + SURVEY_AFTER_FAILURE;
		return false;
	}
	server_read_rooms(survey->pending.arena, &survey->server,
			  clock_now(watch->environment->clock) / 1000, &survey->asked.outcome,
			  &verdict, &rooms, &survey->room_count);
	survey->rooms = rooms;
	media_client_release(&survey->asking);
	/* The list was asked for before that; so the event is the newer result. */
	if (verdict.is_up && verdict.message[0] == '\0' && survey->sent <= backend->set_aside)
		(void)snprintf(verdict.message, sizeof verdict.message, "%s", SET_ASIDE);
	/* It may have restarted. */
	if (!verdict.is_up)
		server_rooms_remove_all(watch->environment->server_rooms, &backend->account,
					&backend->id);
	while (transact_again(&run))
		run.is_done = survey_find_backend(&run.call, survey, &media, &of, &fault) &&
			      (of == NULL || backend_health_note(&run.call, of, &verdict, &fault));
	if (!run.is_done)
		return false;
	backend->is_down = !verdict.is_up;
	backend->was_up = backend->was_up || verdict.is_up;
	backend->has_answered = backend->has_answered || verdict.is_up;
	if (backend->is_down && !backend->has_answered)
		backend->survey_at = clock_monotonic() + SURVEY_AFTER_NEVER;
	return verdict.is_up;
}

/* Finds the rooms of the list that are the account's, or were; at the end, those in session, too.
 * All of them are surveyed. */
static bool find_listed(struct call *call, struct room_listing *listing, struct fault *fault)
{
	const struct survey *survey = listing->survey;
	const struct asking *asking = &survey->asking;

	for (size_t i = survey->next; i < survey->room_count && i < survey->next + FOUND_AT_ONCE;
	     i++) {
		struct store_record room;
		bool was_deleted = false;
		struct id id;

		if (!id_parse(survey->rooms[i].name, &id))
			continue;
		if (!store_get(call->transaction, &kind_room, &id, STORE_TO_SHOW, &room, fault) ||
		    (room.value.data == NULL &&
		     !revocation_has_room(call, &id, &was_deleted, fault)))
			return false;
		if (room.value.data != NULL && survey->is_in_pool) {
			struct live_stray stray;

			if (!live_find_stray(call, &id, &asking->backend, &stray, fault))
				return false;
			if (stray.is_stray) {
				watched_stray_of(listing->watch, &asking->account, &asking->backend,
						 &id)
					->act_at = clock_monotonic();
				continue;
			}
		}
		if (room.value.data != NULL || was_deleted)
			watched_survey_soon(watched_room_of(listing->watch, &asking->account,
							    &asking->backend, &id),
					    clock_monotonic());
	}
	return survey->next + FOUND_AT_ONCE < survey->room_count || find_live(call, listing, fault);
}

/* Uses the answer as long as it is the account's turn. */
static bool take_list(struct live_watch *watch, struct survey *survey,
		      struct watched_backend *backend, bool *is_done)
{
	struct room_listing listing = { .watch = watch, .survey = survey, .surveys = true };
	struct arena *arena;
	bool is_taken = true;

	if (!survey->is_read) {
		const int64_t begun = clock_microseconds();
		const bool is_read = read_list(watch, survey, backend);

		survey->is_read = true;
		watched_took_turn(watch, &survey->asking.account, WORK_MERGE, begun);
		if (!is_read)
			return false;
	}
	arena = arena_open();
	arena_set_limit(arena, MEMORY_MOST);
	while (is_taken && !*is_done &&
	       watched_has_turn(watch, &survey->asking.account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_READ, arena,
					      &survey->asking.account, &fault);

		while (transact_again(&run))
			run.is_done = find_listed(&run.call, &listing, &fault);
		is_taken = run.is_done;
		survey->next += FOUND_AT_ONCE;
		*is_done = survey->next >= survey->room_count;
		arena_reset(arena);
		watched_took_turn(watch, &survey->asking.account, WORK_MERGE, begun);
	}
	arena_close(arena);
	return is_taken;
}

/* ---- the people of a room ---- */

/* Prepares the request for the people of a room; or, because somebody new is among them, for the
 * room itself. */
static bool survey_prepare(struct live_watch *watch, struct survey *survey, struct fault *fault)
{
	struct arena *arena = survey->pending.arena;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, &survey->asking.account,
				      fault);

	while (transact_again(&run)) {
		const int64_t now = run.call.now / 1000;
		const struct slice room = id_as_text(arena, &survey->room);
		json_t *names = arena_json(arena, json_array());
		struct backend *backend;
		struct media media;

		run.is_done = survey_find_backend(&run.call, survey, &media, &backend, fault) &&
			      (backend != NULL ||
			       fault_set(fault, FAULT_NOT_FOUND, "Backend not found"));
		if (run.is_done && survey->has_people) {
			array_put(names, json_of_text(room));
			server_list_rooms(arena, &survey->server, now, names,
					  &survey->asked.request);
		} else if (run.is_done) {
			server_list_people(arena, &survey->server, now, room,
					   &survey->asked.request);
		}
	}
	return run.is_done;
}

void follow_ask_room(struct live_watch *watch, struct watched_room *room, int64_t now)
{
	struct fault fault = FAULT_INITIAL;
	struct watched_backend *backend;
	struct survey *survey;
	int64_t begun;

	if (room->is_live && now < room->often_until &&
	    room->survey_at > room->surveyed + SURVEY_OFTEN)
		room->survey_at = room->surveyed + SURVEY_OFTEN;
	if (room->is_asking || room->survey_at > now || watch->environment->media_client == NULL)
		return;
	backend = watched_backend_of(watch, &room->account, &room->backend);
	if (backend == NULL || backend->is_down) {
		room->survey_at = INT64_MAX;
		room->closes = room->closes || (backend == NULL && room->is_live);
		return;
	}
	if (backend->under_way >= ASKED_AT_ONCE || room->closes ||
	    !may_ask(watch, &room->account, room->is_large))
		return;
	begun = clock_microseconds();
	survey = survey_open(watch, &room->account, &room->backend);
	survey->is_of_room = true;
	survey->room = survey->asking.room = room->room;
	room->survey_at = INT64_MAX;
	room->surveyed = clock_monotonic();
	if (survey_prepare(watch, survey, &fault)) {
		room->is_asking = true;
		survey->pending.counted = 1;
		backend->under_way++;
		survey_expect(watch, survey, room->is_large);
		survey_send(survey);
	} else {
		/* The session of a backend that is gone closes (live_close_backend). */
		if (fault.kind != FAULT_NOT_FOUND)
			watched_survey_soon(room, room->surveyed + SURVEY_AFTER_FAILURE);
		else
			room->closes = true;
		pending_close(&survey->pending);
	}
	watched_took_turn(watch, &room->account, WORK_MERGE, begun);
}

/* Reads the answer to a survey of a room. Returns false if the room is to be asked for again
 * later. */
static bool read_room(struct live_watch *watch, struct survey *survey)
{
	const int64_t now = clock_now(watch->environment->clock) / 1000;
	const struct outcome *outcome = &survey->asked.outcome;
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_READ, survey->pending.arena,
				      &survey->asking.account, &fault);
	struct server_verdict verdict;
	struct server_room *rooms;
	size_t count = 0;

	if (survey->asked.end != ASKED_ANSWERED)
		return false;
	if (!survey->has_people)
		server_read_everything(survey->pending.arena, &survey->server, now, outcome,
				       &verdict, &survey->people, &survey->people_count, NULL, NULL,
				       &survey->hidden);
	else
		server_read_rooms(survey->pending.arena, &survey->server, now, outcome, &verdict,
				  &rooms, &count);
	media_client_release(&survey->asking);
	if (!verdict.is_up)
		return false;
	if (survey->has_people) {
		/* Those who were listed are gone with the room. */
		if (count != 1)
			return false;
		live_survey_name_room(&survey->merging, &rooms[0]);
		return true;
	}
	while (transact_again(&run)) {
		survey->merging = (struct merging){ .room = survey->room,
						    .backend = survey->asking.backend,
						    .is_in_pool = survey->is_in_pool };
		run.is_done = live_survey_prepare(&run.call, survey->people, survey->people_count,
						  NULL, survey->sent, &survey->merging, &fault);
	}
	return run.is_done;
}

/* Merges people as long as it is the account's turn. Returns false if that failed. */
static bool merge_people(struct live_watch *watch, struct survey *survey, bool *is_done)
{
	struct arena *arena = arena_open();
	struct merging *all = &survey->merging;
	bool is_merged = true;

	*is_done = false;
	while (is_merged && !*is_done &&
	       watched_has_turn(watch, &survey->asking.account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		const struct survey_place place = live_survey_place(all->steps);
		struct fault fault = FAULT_INITIAL;
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena,
					      &survey->asking.account, &fault);
		struct merging step;

		while (transact_again(&run)) {
			step = *all;
			live_survey_return(step.steps, &place);
			run.is_done = live_merge(&run.call, &step, &fault);
		}
		is_merged = run.is_done;
		if (is_merged) {
			step.needs_survey = step.needs_survey || all->needs_survey;
			step.needs_second_survey = step.needs_second_survey ||
						   all->needs_second_survey;
			step.is_over = step.is_over || all->is_over;
			if (all->enforces > step.enforces)
				step.enforces = all->enforces;
			*all = step;
		}
		*is_done = live_survey_is_merged(all->steps) || all->needs_room || all->is_closing;
		arena_reset(arena);
		watched_took_turn(watch, &survey->asking.account, WORK_MERGE, begun);
	}
	arena_close(arena);
	return is_merged;
}

/* Uses the answer to a survey of a room. Returns false if the room is to be asked for again later.
 * *is_done: nothing is left for another turn; *goes_on: a second request is to be sent. */
static bool take_room(struct live_watch *watch, struct survey *survey, struct watched_room *room,
		      bool *is_done, bool *goes_on)
{
	struct fault fault = FAULT_INITIAL;

	if (!survey->is_read) {
		const int64_t begun = clock_microseconds();
		const bool is_read = read_room(watch, survey);

		survey->is_read = true;
		if (is_read && !survey->has_people)
			hidden_check(watch, room, &survey->hidden);
		watched_took_turn(watch, &survey->asking.account, WORK_MERGE, begun);
		if (!is_read)
			return false;
	}
	if (!merge_people(watch, survey, is_done))
		return false;
	if (!*is_done)
		return true;
	room_take(watch, room, &survey->merging);
	if (survey->merging.is_closing)
		return false;
	if (!survey->merging.is_live && survey->people_count == 0)
		watched_remove_server_room(watch, room);
	if (!survey->merging.needs_room || survey->has_people)
		return true;
	survey->has_people = true;
	survey->is_read = false;
	survey->asked = (struct asked){ .end = ASKED_LOST };
	if (!survey_prepare(watch, survey, &fault))
		return false;
	*goes_on = true;
	return true;
}

/* ---- the answer ---- */

static bool take_survey(struct live_watch *watch, struct pending_request *pending)
{
	struct survey *survey = (struct survey *)pending;
	struct watched_backend *backend = watched_backend_of(watch, &survey->asking.account,
							     &survey->asking.backend);
	const bool is_large = pending->has_place || pending->is_dropped;
	struct watched_room *room = NULL;
	bool is_taken, is_done = false, goes_on = false;
	struct arena *before;
	enum survey_end end;

	/* The contents of a large answer need a place in memory. */
	if (pending->has_place && !survey->is_in_memory) {
		if (watch->large_read == LARGE_READ)
			return false;
		survey->is_in_memory = true;
		watch->large_read++;
	}
	before = arena_use_for_json(survey->pending.arena);
	if (survey->is_of_room) {
		room = watched_room_of(watch, &survey->asking.account, &survey->asking.backend,
				       &survey->room);
		is_taken = take_room(watch, survey, room, &is_done, &goes_on);
	} else {
		is_taken = backend != NULL && take_list(watch, survey, backend, &is_done);
	}
	arena_use_for_json(before);
	if (is_taken && !is_done)
		return false;
	end = is_taken				? SURVEY_MERGED
	      : survey->asked.end == ASKED_BUSY ? SURVEY_BUSY
						: SURVEY_FAILED;
	pthread_mutex_lock(&watch->lock);
	watch->figures.surveys[end]++;
	pthread_mutex_unlock(&watch->lock);
	if (goes_on) {
		survey_send(survey);
		return true;
	}
	if (backend != NULL) {
		COUNTER_LOWER(backend->under_way, pending->counted);
		backend->is_listing = backend->is_listing && survey->is_of_room;
		if (!survey->is_of_room)
			backend->is_large = is_large;
	}
	if (room != NULL) {
		room->is_asking = false;
		room->is_large = is_large;
		if (!is_taken)
			watched_survey_soon(room, clock_monotonic() + SURVEY_AFTER_FAILURE);
	}
	if (survey->is_in_memory)
		watch->large_read--;
	if (survey->is_expected_large)
		watched_account_of(watch, &survey->asking.account)->has_large = false;
	pending_close(&survey->pending);
	return true;
}
