/* See background/live_watch.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_watch.h"

#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "background/damage_log.h"
#include "background/dispatcher.h"
#include "background/media_client.h"
#include "background/transact.h"
#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/bans/bans.h"
#include "resources/events/audit_record.h"
#include "resources/garbage.h"
#include "resources/live/live_judge.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_message.h"
#include "resources/live/live_queue.h"
#include "resources/live/made_rooms.h"
#include "resources/live/revocations.h"
#include "resources/media/backend_health.h"
#include "resources/media/backends.h"

/* Milliseconds: between two rounds; between two looks at a backend, and at one that never
 * answered; at a room at least; at a room often; for which rooms are looked at often after the
 * start; until a room is asked for again after a failure; between two times that the backends and
 * old sessions are gone through. */
#define ROUND 100
#define LOOK_AFTER 30000
#define LOOK_AFTER_NEVER 300000
#define LOOK_AT_MOST_EVERY 1000
#define LOOK_OFTEN 2000
#define LOOK_OFTEN_FOR 30000
#define LOOK_AFTER_FAILURE 5000
/* For which a room is looked at often after somebody was put out: as long as the tokens are valid
 * that a media server renews. Until a room is judged again after a failure. */
#define LOOK_OFTEN_AFTER_ACT 900000
#define JUDGE_AFTER_FAILURE 2000
/* After which somebody who is to be put out and is still inside is overdue; and until it is found
 * out who that is, if a judgement that is due cannot be carried out. */
#define OVERDUE_AFTER 10000
#define FIND_REMOVALS_AFTER 2000
/* Between two messages to moderators about who waits. */
#define TELL_AFTER 1000
#define BACKENDS_AFTER 2000
#define OLD_AFTER 1000
/* Events of a room that one transaction merges. */
#define EVENTS_AT_ONCE 256
/* Requests to one backend that are under way: half of its places, so that calls find one. */
#define ASKED_AT_ONCE 4
/* Requests to one backend that judgements have under way; beyond, they wait for each other. */
#define ACTS_AT_ONCE 16
/* Milliseconds by which the time of an event may be earlier than its receipt, for the latter to be
 * taken. */
#define EVENT_TIME_TRUSTED 2000
/* A look may list 10,000 people. */
#define MEMORY_MOST (8 * ARENA_LIMIT)
/* Old sessions that are removed in one step, and the time in which all accounts are gone through.
 * */
#define OLD_AT_ONCE 16
#define OLD_ROUND 3600000

/* Somebody who is to be put out. */
struct removal {
	struct id peer;
	int64_t since;
};

struct watched_room {
	struct id account, room; /* the key */
	struct id backend;
	int64_t look_at; /* INT64_MAX: when the next list of rooms has it */
	int64_t looked; /* 0 if never */
	int64_t often_until;
	int64_t empty_since; /* milliseconds since 1970; 0 if somebody is inside, or no session */
	bool left_unseen; /* for live_grace */
	int64_t judge_at; /* INT64_MAX: when something happens */
	int64_t wakes; /* when to judge it although nothing happens: milliseconds since 1970; 0 never */
	uint64_t inside;
	/* Those who are to be put out, in the order of their ids, as the last judgement found; and,
	 * if all are, since when, else 0. When to find that out again, whether or not a judgement
	 * can be carried out: INT64_MAX if there is nobody. */
	struct removal *removals;
	size_t removal_count;
	int64_t ends_since;
	int64_t find_removals_at;
	uint64_t overdue; /* of these people, those who should be outside for OVERDUE_AFTER */
	bool judges_all; /* at judge_at; else only whether there is a place for everybody */
	bool checks_bans; /* the next time that everybody is judged; later ones are found by merges */
	bool is_live; /* in session, as far as is known */
	bool is_asking, is_acting;
	bool tells; /* its moderators are to be told how many people wait */
	int64_t told; /* when they were; 0 if never */
	size_t place; /* in the array of rooms */
};

/* In the order of their ids, which come first (id_place). */
struct watched_backend {
	struct id id, account;
	int64_t look_at;
	size_t under_way; /* looks */
	size_t acting; /* requests of judgements */
	int64_t listed; /* when the list was asked for; 0 if never */
	/* is_down: it did not answer the last time. has_answered: ever, or told something. */
	bool is_listing, was_up, is_down, has_answered, is_there;
};

/* What the watch has asked a media server, from the making of the requests until their outcomes
 * have been used. */
struct errand {
	struct errand *next;
	struct live_watch *watch;
	struct arena *arena;
	struct asking *asking;
	/* What it has added to a counter of its backend. The backend may be found, or forgotten,
	 * meanwhile. */
	size_t counted;
	/* Uses the outcomes. */
	void (*take)(struct live_watch *watch, struct errand *errand);
};

/* A look at the rooms of a media server, or at one of them. */
struct look {
	struct errand errand; /* first, so that it is the same object */
	struct asking asking;
	struct asked asked;
	struct server server;
	bool is_of_room; /* else the list of all rooms */
	struct id room;
	int64_t sent; /* when the rooms, or the people, were asked for: milliseconds since 1970 */
	/* The second request about a room, after somebody unknown was listed: the people. */
	struct server_person *people;
	size_t people_count;
	bool has_people;
};

struct live_watch {
	const struct environment *environment;
	struct lease *lease;
	struct transactor work;
	pthread_t thread;
	int wake;
	pthread_mutex_t lock;
	/* Under the lock. */
	bool ends;
	struct errand *done; /* those whose requests have ended */
	struct live_figures figures;
	/* Of the thread. */
	void *tree; /* of rooms, by their key (tsearch) */
	struct watched_room **rooms;
	size_t room_count, room_capacity;
	struct watched_backend *backends;
	size_t backend_count, backend_capacity;
	struct heard *waiting; /* events that could not be merged yet */
	bool had_lease;
	int64_t backends_at, old_at;
	size_t old_place; /* the next account whose old sessions are removed */
	int64_t day; /* today, in days since 1970; 0 at the start */
	int64_t begun;
};

/* ---- rooms ---- */

static int compare_rooms(const void *first, const void *second)
{
	const struct watched_room *a = first, *b = second;
	const int accounts = id_compare(&a->account, &b->account);

	return accounts != 0 ? accounts : id_compare(&a->room, &b->room);
}

/* Returns the room. backend: where it is, or may be; zeros if that is not known. */
static struct watched_room *room_of(struct live_watch *watch, const struct id *account,
				    const struct id *backend, const struct id *id)
{
	const struct watched_room key = { .account = *account, .room = *id };
	void *found = tfind(&key, &watch->tree, compare_rooms);
	struct watched_room *room;

	if (found != NULL) {
		room = *(struct watched_room **)found;
		if (!room->is_live && id_compare(backend, &kind_only_id) != 0)
			room->backend = *backend;
		return room;
	}
	room = memory_check(malloc(sizeof *room));
	*room = (struct watched_room){
		.account = *account,
		.room = *id,
		.backend = *backend,
		.look_at = INT64_MAX,
		.judge_at = INT64_MAX,
		.find_removals_at = INT64_MAX,
		.checks_bans = true,
		.place = watch->room_count,
	};
	watch->rooms = memory_room(watch->rooms, watch->room_count, &watch->room_capacity,
				   sizeof *watch->rooms);
	watch->rooms[watch->room_count++] = room;
	(void)memory_check(tsearch(room, &watch->tree, compare_rooms));
	return room;
}

static void room_forget(struct live_watch *watch, struct watched_room *room)
{
	struct watched_room *last = watch->rooms[--watch->room_count];

	(void)tdelete(room, &watch->tree, compare_rooms);
	watch->rooms[room->place] = last;
	last->place = room->place;
	free(room->removals);
	free(room);
}

static void look_soon(struct watched_room *room, int64_t at)
{
	if (room->looked != 0 && at < room->looked + LOOK_AT_MOST_EVERY)
		at = room->looked + LOOK_AT_MOST_EVERY;
	if (at < room->look_at)
		room->look_at = at;
}

/* The media server has not, or no longer, got the room: whoever joins has it made again. */
static void forget_made(struct live_watch *watch, const struct watched_room *room)
{
	const struct made_room made = { room->account, room->backend, room->room };

	made_rooms_forget(watch->environment->made_rooms, &made);
}

static void judge_soon(struct watched_room *room, int64_t at, bool all)
{
	room->judges_all = room->judges_all || all;
	if (at < room->judge_at)
		room->judge_at = at;
	if (at + FIND_REMOVALS_AFTER < room->find_removals_at)
		room->find_removals_at = at + FIND_REMOVALS_AFTER;
}

/* Nobody is inside any more. */
static void removals_forget(struct watched_room *room)
{
	room->removal_count = 0;
	room->ends_since = 0;
	room->overdue = 0;
}

/* Takes over what a merge found out about its room. */
static void room_take(struct watched_room *room, const struct merging *merging)
{
	const int64_t now = clock_monotonic();

	room->is_live = merging->is_live;
	room->empty_since = merging->empty_since;
	room->left_unseen = merging->left_unseen;
	room->inside = merging->inside;
	if (merging->inside == 0)
		removals_forget(room);
	if (merging->is_live)
		room->backend = merging->backend;
	if (merging->looks_soon)
		look_soon(room, now);
	if (merging->looks_again)
		look_soon(room, now + LIVE_MISSED_FOR);
	if (merging->judges != JUDGE_NOBODY)
		judge_soon(room, now, merging->judges == JUDGE_EVERYBODY);
}

/* ---- backends ---- */

static struct watched_backend *backend_of(struct live_watch *watch, const struct id *account,
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

static bool visit_backend(void *context, const struct store_record *record, struct fault *fault)
{
	struct live_watch *watch = context;
	struct watched_backend *backend;
	struct backend_account found;

	if (!record_read(&backend_account_table, NULL, record, &found, fault))
		return false;
	backend = backend_of(watch, &found.account, &record->id);
	if (backend == NULL) {
		const size_t place = id_place(&record->id, watch->backends, watch->backend_count,
					      sizeof *watch->backends);

		watch->backends = memory_room(watch->backends, watch->backend_count,
					      &watch->backend_capacity, sizeof *watch->backends);
		backend = &watch->backends[place];
		memmove(backend + 1, backend, (watch->backend_count++ - place) * sizeof *backend);
		*backend = (struct watched_backend){ .account = found.account, .id = record->id };
	}
	backend->is_there = true;
	return true;
}

/* Goes through the backends of all accounts. */
static void find_backends(struct live_watch *watch, struct arena *arena)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	size_t n = 0;

	if (!store_begin(watch->environment->store, STORE_READ, arena, &transaction, &fault))
		return;
	for (size_t i = 0; i < watch->backend_count; i++)
		watch->backends[i].is_there = false;
	store_set_account(transaction, &audit_no_account);
	(void)store_each(transaction, &kind_backend_account, &page, false, visit_backend, watch,
			 &fault);
	store_abandon(transaction);
	damage_log_tell(&watch->work.damage, "backends_not_read", &audit_no_account, &fault);
	if (fault.kind != FAULT_NONE)
		return;
	for (size_t i = 0; i < watch->backend_count; i++) {
		/* Requests that are under way find their backend by its id. */
		if (watch->backends[i].is_there || watch->backends[i].under_way > 0 ||
		    watch->backends[i].acting > 0)
			watch->backends[n++] = watch->backends[i];
	}
	watch->backend_count = n;
}

/* ---- requests ---- */

/* Called by the thread of the media client. */
static void errand_done(void *context, struct asking *asking)
{
	struct errand *errand = context;
	struct live_watch *watch = errand->watch;

	(void)asking;
	pthread_mutex_lock(&watch->lock);
	errand->next = watch->done;
	watch->done = errand;
	pthread_mutex_unlock(&watch->lock);
	if (eventfd_write(watch->wake, 1) != 0)
		ABORT("cannot write an event");
}

static void errand_send(struct errand *errand)
{
	errand->asking->is_done = false;
	media_client_ask(errand->watch->environment->media_client, errand->asking, errand_done,
			 errand);
}

/* Returns an errand of this size, with an arena of its own. */
static struct errand *errand_open(struct live_watch *watch, size_t size)
{
	struct arena *arena = arena_open();
	struct errand *errand = arena_zero(arena, size);

	arena_set_limit(arena, MEMORY_MOST);
	errand->watch = watch;
	errand->arena = arena;
	return errand;
}

static void errand_close(struct errand *errand)
{
	if (errand->asking != NULL)
		media_client_forget(errand->asking);
	arena_close(errand->arena);
}

static void take_look(struct live_watch *watch, struct errand *errand);

static struct look *look_open(struct live_watch *watch, const struct id *account,
			      const struct id *backend)
{
	struct look *look = (struct look *)errand_open(watch, sizeof *look);

	look->errand.take = take_look;
	look->errand.asking = &look->asking;
	look->asking = (struct asking){
		.account = *account,
		.backend = *backend,
		.rank = ASKED_TO_LOOK,
		.asked = &look->asked,
		.count = 1,
	};
	return look;
}

static void look_send(struct look *look)
{
	/* A second request tells nothing about when the people were inside. */
	if (!look->has_people)
		look->sent = clock_now(look->errand.watch->environment->clock);
	errand_send(&look->errand);
}

/* ---- a look at a room ---- */

static bool look_find_backend(struct call *call, struct look *look, struct backend **backend,
			      struct fault *fault)
{
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	*backend = media_backend(&media, &look->asking.backend);
	if (*backend != NULL)
		look->server = backend_server(call, *backend);
	return true;
}

/* Prepares the request for the people of a room. */
static bool prepare_room(struct call *call, void *context, struct fault *fault)
{
	struct look *look = context;
	struct backend *backend;

	if (!look_find_backend(call, look, &backend, fault))
		return false;
	if (backend == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "Backend not found");
	server_list_people(look->errand.arena, &look->server, call->now / 1000,
			   id_as_text(look->errand.arena, &look->room), &look->asked.request);
	return true;
}

static void room_ask(struct live_watch *watch, struct watched_room *room,
		     struct watched_backend *backend)
{
	struct look *look = look_open(watch, &room->account, &room->backend);
	struct fault fault = FAULT_INITIAL;

	look->is_of_room = true;
	look->room = look->asking.room = room->room;
	room->look_at = INT64_MAX;
	room->looked = clock_monotonic();
	if (!transact(&watch->work, STORE_READ, look->errand.arena, &room->account, prepare_room,
		      look, &fault)) {
		/* If the backend is gone, so is its session (live_close_backend). */
		if (fault.kind != FAULT_NOT_FOUND)
			look_soon(room, room->looked + LOOK_AFTER_FAILURE);
		errand_close(&look->errand);
		return;
	}
	room->is_asking = true;
	look->errand.counted = 1;
	backend->under_way++;
	look_send(look);
}

/* Prepares the request for the room itself, because somebody new is inside. */
static bool prepare_which(struct call *call, void *context, struct fault *fault)
{
	struct look *look = context;
	json_t *names = arena_json(look->errand.arena, json_array());
	struct backend *backend;

	if (!look_find_backend(call, look, &backend, fault))
		return false;
	if (backend == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "Backend not found");
	array_put(names, json_of_text(id_as_text(look->errand.arena, &look->room)));
	server_list_rooms(look->errand.arena, &look->server, call->now / 1000, names,
			  &look->asked.request);
	return true;
}

struct look_merge {
	struct look *look;
	const struct server_room *room; /* NULL if it was not asked for */
	struct merging merging;
};

static bool merge_people(struct call *call, void *context, struct fault *fault)
{
	struct look_merge *merge = context;
	const struct look *look = merge->look;

	merge->merging = (struct merging){ .room = look->room, .backend = look->asking.backend };
	return live_merge_look(call, look->people, look->people_count, merge->room, look->sent,
			       &merge->merging, fault);
}

/* Reads the answer of a look at a room. Returns false if the room is to be asked for again later.
 * *goes_on: a second request is under way. */
static bool take_room(struct live_watch *watch, struct look *look, struct watched_room *room,
		      bool *goes_on)
{
	const int64_t now = clock_now(watch->environment->clock) / 1000;
	const struct outcome *outcome = &look->asked.outcome;
	struct look_merge merge = { .look = look };
	struct server_verdict verdict;
	struct server_room *rooms;
	struct fault fault = FAULT_INITIAL;
	size_t count = 0;

	*goes_on = false;
	if (look->asked.end != ASKED_ANSWERED)
		return false;
	if (!look->has_people)
		server_read_people(look->errand.arena, &look->server, now, outcome, &verdict,
				   &look->people, &look->people_count);
	else
		server_read_rooms(look->errand.arena, &look->server, now, outcome, &verdict, &rooms,
				  &count);
	if (!verdict.is_up)
		return false;
	if (look->has_people) {
		/* Those who were listed are gone with the room. */
		if (count != 1)
			return false;
		merge.room = &rooms[0];
	}
	if (!transact(&watch->work, STORE_WRITE, look->errand.arena, &look->asking.account,
		      merge_people, &merge, &fault))
		return false;
	room_take(room, &merge.merging);
	if (!merge.merging.is_live && look->people_count == 0)
		forget_made(watch, room);
	if (!merge.merging.needs_room || look->has_people)
		return true;
	look->has_people = true;
	media_client_forget(&look->asking);
	look->asked = (struct asked){ .end = ASKED_LOST };
	if (!transact(&watch->work, STORE_READ, look->errand.arena, &look->asking.account,
		      prepare_which, look, &fault))
		return false;
	*goes_on = true;
	return true;
}

/* ---- a look at a backend ---- */

/* What a backend has, for a look at its list of rooms. */
struct room_listing {
	struct look *look;
	bool is_wanted; /* a template names it, it is the default, or rooms are in session there */
	/* It answered when it was last asked, or ever, perhaps an earlier process. */
	bool was_up, has_answered;
	/* Results of the list. */
	const struct server_room *rooms;
	size_t room_count;
	struct server_verdict verdict;
	/* Rooms to be looked at: those that are in session at the backend, and those of the list
	 * that the account has. */
	struct id *found;
	size_t found_count, found_capacity;
};

static void listing_add(struct room_listing *listing, const struct id *room)
{
	if (listing->found_count == listing->found_capacity) {
		const size_t capacity = listing->found_capacity * 2 + 64;
		struct id *found = arena_alloc(listing->look->errand.arena,
					       capacity * sizeof *found);

		if (listing->found_count > 0)
			memcpy(found, listing->found, listing->found_count * sizeof *found);
		listing->found = found;
		listing->found_capacity = capacity;
	}
	listing->found[listing->found_count++] = *room;
}

static bool visit_live(void *context, const struct store_record *record, struct fault *fault)
{
	struct room_listing *listing = context;
	struct live live;

	if (!record_read(&live_table, listing->look->errand.arena, record, &live, fault))
		return false;
	if (id_compare(&live.backend, &listing->look->asking.backend) == 0)
		listing_add(listing, &record->id);
	return true;
}

/* Adds the rooms that are in session at the backend. */
static bool listing_add_live(struct call *call, struct room_listing *listing, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	return store_each(call->transaction, &kind_live, &page, true, visit_live, listing, fault);
}

static bool prepare_list(struct call *call, void *context, struct fault *fault)
{
	struct room_listing *listing = context;
	struct look *look = listing->look;
	struct backend_healths healths;
	const struct backend_health *health;
	struct backend *backend;

	listing->found_count = 0;
	listing->found_capacity = 0;
	listing->is_wanted = false;
	if (!look_find_backend(call, look, &backend, fault))
		return false;
	if (backend == NULL)
		return true;
	if (!listing_add_live(call, listing, fault) ||
	    !backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &look->asking.backend);
	listing->was_up = health != NULL && health->is_up;
	listing->has_answered = backend_has_answered(&healths, &look->asking.backend);
	listing->is_wanted = backend->uses > 0 || backend->is_default || listing->found_count > 0;
	if (listing->is_wanted)
		server_list_rooms(look->errand.arena, &look->server, call->now / 1000,
				  arena_json(look->errand.arena, json_array()),
				  &look->asked.request);
	return true;
}

static void backend_ask(struct live_watch *watch, struct watched_backend *backend)
{
	struct look *look = look_open(watch, &backend->account, &backend->id);
	struct room_listing listing = { .look = look };
	struct fault fault = FAULT_INITIAL;

	backend->listed = clock_monotonic();
	backend->look_at = backend->listed + LOOK_AFTER;
	if (!transact(&watch->work, STORE_READ, look->errand.arena, &backend->account, prepare_list,
		      &listing, &fault) ||
	    !listing.is_wanted) {
		errand_close(&look->errand);
		return;
	}
	/* Rooms in session are known before the media server answers, if it does. */
	for (size_t i = 0; i < listing.found_count; i++) {
		struct watched_room *room = room_of(watch, &backend->account, &backend->id,
						    &listing.found[i]);

		room->is_live = true;
		if (room->often_until == 0)
			room->often_until = watch->begun + LOOK_OFTEN_FOR;
	}
	backend->was_up = backend->was_up || listing.was_up;
	backend->has_answered = backend->has_answered || listing.has_answered;
	backend->is_listing = true;
	look->errand.counted = 1;
	backend->under_way++;
	look_send(look);
}

/* Stores what the answer says about the backend, and finds the rooms to be looked at. */
static bool take_listing(struct call *call, void *context, struct fault *fault)
{
	struct room_listing *listing = context;
	struct backend *backend;

	listing->found_count = 0;
	listing->found_capacity = 0;
	if (!look_find_backend(call, listing->look, &backend, fault))
		return false;
	if (backend == NULL)
		return true;
	if (!backend_health_note(call, backend, &listing->verdict, fault))
		return false;
	if (!listing->verdict.is_up)
		return true;
	for (size_t i = 0; i < listing->room_count; i++) {
		struct store_record room;
		bool was_deleted = false;
		struct id id;

		if (!id_parse(listing->rooms[i].name, &id))
			continue;
		if (!store_get(call->transaction, &kind_room, &id, STORE_TO_SHOW, &room, fault) ||
		    (room.value.data == NULL &&
		     !revocation_has_room(call, &id, &was_deleted, fault)))
			return false;
		if (room.value.data != NULL || was_deleted)
			listing_add(listing, &id);
	}
	return listing_add_live(call, listing, fault);
}

static bool take_list(struct live_watch *watch, struct look *look, struct watched_backend *backend)
{
	struct room_listing listing = { .look = look };
	struct server_room *rooms = NULL;
	struct fault fault = FAULT_INITIAL;
	const int64_t now = clock_monotonic();

	if (look->asked.end != ASKED_ANSWERED)
		return false;
	server_read_rooms(look->errand.arena, &look->server,
			  clock_now(watch->environment->clock) / 1000, &look->asked.outcome,
			  &listing.verdict, &rooms, &listing.room_count);
	listing.rooms = rooms;
	if (!transact(&watch->work, STORE_WRITE, look->errand.arena, &backend->account,
		      take_listing, &listing, &fault))
		return false;
	backend->is_down = !listing.verdict.is_up;
	backend->was_up = backend->was_up || listing.verdict.is_up;
	backend->has_answered = backend->has_answered || listing.verdict.is_up;
	if (backend->is_down && !backend->has_answered)
		backend->look_at = now + LOOK_AFTER_NEVER;
	for (size_t i = 0; i < listing.found_count; i++)
		look_soon(room_of(watch, &backend->account, &backend->id, &listing.found[i]), now);
	return listing.verdict.is_up;
}

/* ---- outcomes ---- */

static void take_look(struct live_watch *watch, struct errand *errand)
{
	struct look *look = (struct look *)errand;
	struct watched_backend *backend = backend_of(watch, &look->asking.account,
						     &look->asking.backend);
	const enum asked_end end = look->asked.end;
	struct arena *before = arena_use_for_json(look->errand.arena);
	struct watched_room *room = NULL;
	bool is_taken, goes_on = false;
	enum look_end counted;

	if (look->is_of_room) {
		room = room_of(watch, &look->asking.account, &look->asking.backend, &look->room);
		is_taken = take_room(watch, look, room, &goes_on);
	} else {
		is_taken = backend != NULL && take_list(watch, look, backend);
	}
	arena_use_for_json(before);
	counted = is_taken ? LOOK_MERGED : end == ASKED_BUSY ? LOOK_BUSY : LOOK_FAILED;
	pthread_mutex_lock(&watch->lock);
	watch->figures.looks[counted]++;
	pthread_mutex_unlock(&watch->lock);
	if (goes_on) {
		look_send(look);
		return;
	}
	if (backend != NULL) {
		COUNTER_LOWER(backend->under_way, errand->counted);
		backend->is_listing = backend->is_listing && look->is_of_room;
	}
	if (room != NULL) {
		room->is_asking = false;
		if (!is_taken)
			look_soon(room, clock_monotonic() + LOOK_AFTER_FAILURE);
	}
	errand_close(&look->errand);
}

static void take_errands(struct live_watch *watch)
{
	struct errand *errand;
	eventfd_t ignored;

	(void)eventfd_read(watch->wake, &ignored);
	for (;;) {
		pthread_mutex_lock(&watch->lock);
		errand = watch->done;
		if (errand != NULL)
			watch->done = errand->next;
		pthread_mutex_unlock(&watch->lock);
		if (errand == NULL)
			return;
		errand->take(watch, errand);
	}
}

/* ---- events ---- */

static bool hear_backend(struct call *call, void *context, struct fault *fault)
{
	const struct id *id = context;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	return media_backend(&media, id) == NULL || backend_health_hear(call, id, fault);
}

/* A media server that tells something is up, or up again. That it has told something is stored
 * once. */
static void backend_hear(struct live_watch *watch, struct arena *arena, const struct id *account,
			 const struct id *id)
{
	struct watched_backend *backend = backend_of(watch, account, id);
	struct id heard = *id;
	struct fault fault = FAULT_INITIAL;
	bool is_stored;

	if (backend != NULL && backend->is_down &&
	    backend->look_at > backend->listed + LOOK_AT_MOST_EVERY)
		backend->look_at = backend->listed + LOOK_AT_MOST_EVERY;
	if (backend != NULL && backend->has_answered)
		return;
	is_stored = transact(&watch->work, STORE_WRITE, arena, account, hear_backend, &heard,
			     &fault);
	if (backend != NULL)
		backend->has_answered = is_stored;
	arena_reset(arena);
}

/* Events of one room. */
struct event_batch {
	struct heard *const *heard;
	size_t count;
	struct merging merging;
};

static enum news_type news_of(enum server_event_type type)
{
	switch (type) {
	case SERVER_JOINED:
		return NEWS_JOINED;
	case SERVER_LEFT:
		return NEWS_LEFT;
	case SERVER_ROOM_ENDED:
		return NEWS_ENDED;
	case SERVER_NOT_CONNECTED:
		break;
	}
	return NEWS_NOT_CONNECTED;
}

static bool merge_batch(struct call *call, void *context, struct fault *fault)
{
	struct event_batch *batch = context;
	struct news *news = arena_zero(call->arena, batch->count * sizeof *news);
	struct backend_healths healths;
	const struct backend_health *health;

	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &batch->heard[0]->backend);
	for (size_t i = 0; i < batch->count; i++) {
		const struct heard *heard = batch->heard[i];
		const int64_t time = backend_time(health, heard->event.time, heard->received);

		/* The media server's clock has whole seconds: if its time fits, the time of receipt
		 * is more exact. */
		news[i] = (struct news){
			.type = news_of(heard->event.type),
			.room = heard->event.room,
			.person = heard->event.person,
			.cause = heard->event.cause,
			.time = heard->received - time <= EVENT_TIME_TRUSTED ? heard->received
									     : time,
		};
		news[i].person.joined = heard->event.person.joined == 0
						? news[i].time
						: backend_time(health, heard->event.person.joined,
							       call->now);
	}
	batch->merging = (struct merging){
		.room = batch->heard[0]->room,
		.backend = batch->heard[0]->backend,
		.news = news,
		.count = batch->count,
	};
	return live_merge(call, &batch->merging, fault);
}

/* Merges events of one room. Returns false if they must be merged later. */
static bool take_batch(struct live_watch *watch, struct arena *arena, struct event_batch *batch)
{
	const struct heard *first = batch->heard[0];
	const struct id account = first->account, backend_id = first->backend;
	struct fault fault = FAULT_INITIAL;

	backend_hear(watch, arena, &account, &backend_id);
	if (!transact(&watch->work, STORE_WRITE, arena, &account, merge_batch, batch, &fault))
		return fault.kind == FAULT_DAMAGED;
	if (batch->merging.is_live || batch->merging.looks_soon ||
	    batch->merging.judges != JUDGE_NOBODY)
		room_take(room_of(watch, &account, &backend_id, &first->room), &batch->merging);
	else if (batch->merging.failed == NULL) {
		const struct watched_room key = { .account = account, .room = first->room };
		void *found = tfind(&key, &watch->tree, compare_rooms);

		if (found != NULL)
			room_take(*(struct watched_room **)found, &batch->merging);
	}
	for (const struct told_once *told = batch->merging.failed; told != NULL; told = told->next)
		dispatcher_send_once(watch->environment->dispatcher, &account,
				     SLICE("peer.join.failure"), told->data,
				     clock_now(watch->environment->clock));
	return true;
}

/* Sorts by room, then in the order in which the events came. */
static int compare_heard(const void *first, const void *second)
{
	const struct heard *a = *(struct heard *const *)first, *b = *(struct heard *const *)second;
	int order = id_compare(&a->account, &b->account);

	if (order == 0)
		order = id_compare(&a->room, &b->room);
	if (order == 0)
		order = id_compare(&a->backend, &b->backend);
	return order != 0 ? order : a->number < b->number ? -1 : a->number > b->number;
}

static bool is_same_room(const struct heard *a, const struct heard *b)
{
	return id_compare(&a->account, &b->account) == 0 && id_compare(&a->room, &b->room) == 0 &&
	       id_compare(&a->backend, &b->backend) == 0;
}

/* Merges all events that wait. Those that cannot be merged now, because the store is unavailable,
 * wait for the next round. */
static void merge_waiting(struct live_watch *watch, struct heard *heard)
{
	struct heard **list;
	struct arena *arena;
	size_t count = 0, n;

	while (watch->waiting != NULL) {
		struct heard *next = watch->waiting->next;

		watch->waiting->next = heard;
		heard = watch->waiting;
		watch->waiting = next;
	}
	for (const struct heard *each = heard; each != NULL; each = each->next)
		count++;
	if (count == 0)
		return;
	list = memory_check(malloc(count * sizeof *list));
	for (size_t i = 0; i < count; i++, heard = heard->next)
		list[i] = heard;
	qsort(list, count, sizeof *list, compare_heard);
	arena = arena_open();
	arena_set_limit(arena, MEMORY_MOST);
	for (size_t i = 0; i < count; i += n) {
		struct event_batch batch = { .heard = &list[i] };
		bool is_merged;

		for (n = 1;
		     i + n < count && n < EVENTS_AT_ONCE && is_same_room(list[i], list[i + n]);)
			n++;
		batch.count = n;
		is_merged = take_batch(watch, arena, &batch);
		arena_reset(arena);
		for (size_t j = i; j < i + n; j++) {
			if (is_merged) {
				free(list[j]);
			} else {
				list[j]->next = watch->waiting;
				watch->waiting = list[j];
			}
		}
		if (is_merged)
			live_queue_forget(watch->environment->live_queue, n);
	}
	arena_close(arena);
	free(list);
}

/* ---- judging ---- */

/* A judgement that is carried out. */
struct trial {
	struct errand errand; /* first, so that it is the same object */
	struct id account;
	struct judgement judgement;
	struct judgement run; /* of a transaction, which may be run again */
};

static bool find_out(struct call *call, void *context, struct fault *fault)
{
	return live_judge(call, false, context, fault);
}

static bool begin_trial(struct call *call, void *context, struct fault *fault)
{
	struct trial *trial = context;

	trial->run = trial->judgement;
	return live_judge(call, true, &trial->run, fault);
}

static bool carry_on(struct call *call, void *context, struct fault *fault)
{
	struct trial *trial = context;

	trial->run = trial->judgement;
	return live_carry_on(call, &trial->run, fault);
}

/* Sends the requests that the last transaction has left. Returns false if there are none. */
static bool send_trial(struct live_watch *watch, struct trial *trial)
{
	struct watched_backend *backend;

	trial->judgement = trial->run;
	if (trial->errand.asking != NULL)
		media_client_forget(trial->errand.asking);
	trial->errand.asking = trial->judgement.asking;
	if (trial->errand.asking == NULL)
		return false;
	backend = backend_of(watch, &trial->account, &trial->judgement.backend);
	if (backend != NULL) {
		trial->errand.counted = trial->errand.asking->count;
		backend->acting += trial->errand.counted;
	}
	errand_send(&trial->errand);
	return true;
}

static void take_trial(struct live_watch *watch, struct errand *errand)
{
	struct trial *trial = (struct trial *)errand;
	struct watched_backend *backend = backend_of(watch, &trial->account,
						     &trial->judgement.backend);
	struct arena *before = arena_use_for_json(errand->arena);
	struct fault fault = FAULT_INITIAL;
	struct watched_room *room;
	int64_t now;
	bool is_done;

	if (backend != NULL)
		COUNTER_LOWER(backend->acting, errand->counted);
	errand->counted = 0;
	is_done = transact(&watch->work, STORE_WRITE, errand->arena, &trial->account, carry_on,
			   trial, &fault);
	arena_use_for_json(before);
	if (is_done && send_trial(watch, trial))
		return;
	room = room_of(watch, &trial->account, &trial->judgement.backend, &trial->judgement.room);
	now = clock_monotonic();
	room->is_acting = false;
	if (room->overdue > 0)
		room->find_removals_at = now;
	if (trial->judgement.ends)
		forget_made(watch, room);
	room->often_until = now + LOOK_OFTEN_AFTER_ACT;
	look_soon(room, now);
	room->checks_bans = room->checks_bans || trial->judgement.checks_bans;
	if (!is_done || trial->judgement.has_failed)
		judge_soon(room, now + JUDGE_AFTER_FAILURE, true);
	else if (trial->judgement.has_more)
		judge_soon(room, now, true);
	errand_close(errand);
}

static void try_room(struct live_watch *watch, struct watched_room *room, bool checks_bans)
{
	struct trial *trial = (struct trial *)errand_open(watch, sizeof *trial);
	struct fault fault = FAULT_INITIAL;

	trial->errand.take = take_trial;
	trial->account = room->account;
	trial->judgement.room = room->room;
	trial->judgement.backend = room->backend;
	trial->judgement.judges_all = true;
	trial->judgement.checks_bans = checks_bans;
	room->is_acting = true;
	if (!transact(&watch->work, STORE_WRITE, trial->errand.arena, &room->account, begin_trial,
		      trial, &fault)) {
		room->is_acting = false;
		room->checks_bans = room->checks_bans || checks_bans;
		/* If the backend is gone, so is its session (live_close_backend). */
		if (fault.kind != FAULT_NOT_FOUND)
			judge_soon(room, clock_monotonic() + JUDGE_AFTER_FAILURE, true);
		errand_close(&trial->errand);
	} else if (!send_trial(watch, trial)) {
		room->is_acting = false;
		errand_close(&trial->errand);
	}
}

/* ---- removals that are overdue ---- */

/* Returns since when the peer is to be put out, as the room has it; else `now`. *at: the place from
 * which it is looked for, in the order of ids. */
static int64_t removal_since(const struct watched_room *room, size_t *at, const struct id *peer,
			     int64_t now)
{
	int order = -1;

	while (*at < room->removal_count &&
	       (order = id_compare(&room->removals[*at].peer, peer)) < 0)
		++*at;
	return *at < room->removal_count && order == 0 ? room->removals[*at].since : now;
}

/* Takes over whom a judgement puts out, or would if it were carried out. */
static void removals_take(struct watched_room *room, const struct judgement *judgement)
{
	const int64_t now = clock_monotonic();
	struct removal *removals =
		memory_check(malloc((judgement->removal_count + 1) * sizeof *removals));
	size_t at = 0;
	int64_t next = INT64_MAX;

	room->overdue = 0;
	for (size_t i = 0; i < judgement->removal_count; i++) {
		const struct id *peer = &judgement->removals[i];
		const int64_t since = removal_since(room, &at, peer, now);

		removals[i] = (struct removal){ *peer, since };
		room->overdue += now - since >= OVERDUE_AFTER;
		if (now - since < OVERDUE_AFTER && since + OVERDUE_AFTER < next)
			next = since + OVERDUE_AFTER;
	}
	if (!judgement->ends)
		room->ends_since = 0;
	else if (room->ends_since == 0)
		room->ends_since = now;
	if (judgement->ends && now - room->ends_since >= OVERDUE_AFTER)
		room->overdue = judgement->inside;
	else if (judgement->ends)
		next = room->ends_since + OVERDUE_AFTER;
	if (room->overdue > 0 && now + OVERDUE_AFTER < next)
		next = now + OVERDUE_AFTER;
	free(room->removals);
	room->removals = removals;
	room->removal_count = judgement->removal_count;
	room->find_removals_at = next;
}

/* Finds out who is to be put out, although that cannot be done now, or should have been. */
static void find_removals(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	struct judgement judgement = {
		.room = room->room,
		.backend = room->backend,
		.judges_all = true,
		.checks_bans = room->checks_bans,
	};
	struct fault fault = FAULT_INITIAL;

	room->find_removals_at = clock_monotonic() + FIND_REMOVALS_AFTER;
	if (transact(&watch->work, STORE_READ, arena, &room->account, find_out, &judgement,
		     &fault) &&
	    judgement.is_whole)
		removals_take(room, &judgement);
	arena_reset(arena);
}

/* ---- judging whose turn it is ---- */

/* Judges a room whose turn it is. */
static void judge_room(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	struct judgement judgement = {
		.room = room->room,
		.backend = room->backend,
		.judges_all = room->judges_all,
		.checks_bans = room->checks_bans && room->judges_all,
	};
	struct fault fault = FAULT_INITIAL;

	room->judge_at = INT64_MAX;
	room->judges_all = false;
	if (!transact(&watch->work, STORE_READ, arena, &room->account, find_out, &judgement,
		      &fault)) {
		judge_soon(room, clock_monotonic() + JUDGE_AFTER_FAILURE, true);
	} else {
		if (judgement.is_whole)
			removals_take(room, &judgement);
		else
			room->find_removals_at = room->removal_count > 0 || room->ends_since != 0
							 ? clock_monotonic() + OVERDUE_AFTER
							 : INT64_MAX;
		room->wakes = judgement.again;
		room->checks_bans = room->checks_bans && !judgement.checks_bans;
		room->backend = judgement.backend;
		if (judgement.ends || judgement.count > 0)
			try_room(watch, room, judgement.checks_bans);
	}
	arena_reset(arena);
}

static void judge_rooms(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic(), time = clock_now(watch->environment->clock);

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		const struct watched_backend *backend;

		if (watch->environment->live != LIVE_ON ||
		    watch->environment->media_client == NULL) {
			room->judge_at = room->find_removals_at = INT64_MAX;
			continue;
		}
		if (room->wakes != 0 && time >= room->wakes) {
			room->wakes = 0;
			judge_soon(room, now, true);
		}
		backend = backend_of(watch, &room->account, &room->backend);
		if (room->judge_at <= now && !room->is_acting &&
		    (backend == NULL || (!backend->is_down && backend->acting < ACTS_AT_ONCE)))
			judge_room(watch, arena, room);
		else if (room->find_removals_at <= now)
			find_removals(watch, arena, room);
	}
}

/* Has everything about a room judged, since something has changed that matters for it. */
static void judge_again(struct watched_room *room)
{
	room->checks_bans = true;
	judge_soon(room, clock_monotonic(), true);
}

/* Rooms in session of an account. */
struct live_list {
	struct live_watch *watch;
	struct arena *arena;
	const struct id *account;
};

static bool judge_live(void *context, const struct store_record *record, struct fault *fault)
{
	const struct live_list *list = context;
	struct live live;

	if (!record_read(&live_table, list->arena, record, &live, fault))
		return false;
	judge_again(room_of(list->watch, list->account, &live.backend, &record->id));
	return true;
}

static bool judge_all_live(struct call *call, void *context, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	return store_each(call->transaction, &kind_live, &page, true, judge_live, context, fault);
}

/* Has the rooms judged about which something has changed. */
static void take_touched(struct live_watch *watch, struct arena *arena,
			 struct touched_room *touched)
{
	static const struct id none;
	const struct id *last = NULL;

	/* What the calls have changed is seen once it is durable. */
	if (touched != NULL)
		store_flush(watch->environment->store);
	while (touched != NULL) {
		struct touched_room *next = touched->next;
		struct live_list list = { watch, arena, &touched->account };
		struct fault fault = FAULT_INITIAL;

		if (touched->is_door) {
			room_of(watch, &touched->account, &none, &touched->room)->tells = true;
		} else if (id_compare(&touched->room, &none) != 0) {
			judge_again(room_of(watch, &touched->account, &none, &touched->room));
		} else if (last == NULL || id_compare(last, &touched->account) != 0) {
			(void)transact(&watch->work, STORE_READ, arena, &touched->account,
				       judge_all_live, &list, &fault);
			arena_reset(arena);
		}
		free(touched);
		touched = next;
	}
}

/* ---- the door ---- */

/* A message to the moderators of a room. */
struct telling {
	struct errand errand; /* first, so that it is the same object */
	struct id room;
};

static bool prepare_telling(struct call *call, void *context, struct fault *fault)
{
	struct telling *telling = context;

	if (!message_ask_of_door(call, &telling->room, fault))
		return false;
	telling->errand.asking = call->asking;
	return true;
}

/* Whether they got it does not matter: they ask by themselves, too. */
static void take_telling(struct live_watch *watch, struct errand *errand)
{
	(void)watch;
	errand_close(errand);
}

/* Tells moderators how many people wait, at most once in TELL_AFTER. */
static void tell_rooms(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		struct fault fault = FAULT_INITIAL;
		struct telling *telling;

		if (!room->tells || (room->told != 0 && now < room->told + TELL_AFTER))
			continue;
		room->tells = false;
		room->told = now;
		if (watch->environment->live != LIVE_ON || watch->environment->media_client == NULL)
			continue;
		telling = (struct telling *)errand_open(watch, sizeof *telling);
		telling->errand.take = take_telling;
		telling->room = room->room;
		if (transact(&watch->work, STORE_READ, telling->errand.arena, &room->account,
			     prepare_telling, telling, &fault) &&
		    telling->errand.asking != NULL)
			errand_send(&telling->errand);
		else
			errand_close(&telling->errand);
	}
}

/* ---- what is due ---- */

struct empty_room {
	struct id room;
	bool is_closed;
};

static bool close_empty(struct call *call, void *context, struct fault *fault)
{
	struct empty_room *closing = context;

	return live_close_empty(call, &closing->room, call->environment->session_grace,
				&closing->is_closed, fault);
}

static void close_if_empty(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	const int64_t now = clock_now(watch->environment->clock);
	const int64_t grace = live_grace(room->left_unseen, watch->environment->session_grace);
	struct empty_room closing = { .room = room->room };
	struct fault fault = FAULT_INITIAL;

	if (room->empty_since == 0 || now < room->empty_since + grace)
		return;
	room->empty_since = 0;
	if (!transact(&watch->work, STORE_WRITE, arena, &room->account, close_empty, &closing,
		      &fault))
		room->empty_since = now;
	else if (closing.is_closed)
		room->is_live = false;
	else
		look_soon(room, clock_monotonic());
	arena_reset(arena);
}

static void ask_rooms(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();

	for (size_t i = watch->room_count; i-- > 0;) {
		struct watched_room *room = watch->rooms[i];
		struct watched_backend *backend;

		close_if_empty(watch, arena, room);
		if (room->is_live && now < room->often_until &&
		    room->look_at > room->looked + LOOK_OFTEN)
			room->look_at = room->looked + LOOK_OFTEN;
		if (!room->is_asking && room->look_at <= now &&
		    watch->environment->media_client != NULL) {
			backend = backend_of(watch, &room->account, &room->backend);
			if (backend == NULL || backend->is_down)
				room->look_at = INT64_MAX;
			else if (backend->under_way < ASKED_AT_ONCE)
				room_ask(watch, room, backend);
		}
		if (!room->is_live && !room->is_asking && !room->is_acting &&
		    room->look_at == INT64_MAX && room->judge_at == INT64_MAX && !room->tells &&
		    (room->told == 0 || now >= room->told + TELL_AFTER))
			room_forget(watch, room);
	}
}

/* Removes sessions that are kept no longer. context: bool *is_last. */
static bool remove_kept_long(struct call *call, void *context, struct fault *fault)
{
	bool *is_last = context;
	struct store_record records[OLD_AT_ONCE];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_OFF,
		.records = records,
		.most = OLD_AT_ONCE,
	};
	bool are_gone;
	size_t n = 0;

	if (!garbage_collect(call, fault) || !revocations_drop(call, &are_gone, fault) ||
	    !bans_drop(call, fault) || !store_page(call->transaction, &kind_session, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct session session;

		if (!session_load(call, &records[i].id, STORE_TO_CHANGE, &session, fault))
			return false;
		if (session.stored.value.data == NULL || session.is_active ||
		    session.closed > call->now - call->environment->session_keep)
			continue;
		if (!session_remove(call, &session, fault))
			return false;
		n++;
	}
	*is_last = n < OLD_AT_ONCE && are_gone;
	return true;
}

/* Goes on with the accounts, so that each has its turn within OLD_ROUND. */
static void remove_old_sessions(struct live_watch *watch, struct arena *arena)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const size_t n = roster->count / (OLD_ROUND / OLD_AFTER) + 1;

	for (size_t i = 0; i < n && roster->count > 0; i++) {
		const size_t place = watch->old_place % roster->count;
		struct fault fault = FAULT_INITIAL;
		bool is_last = true;

		(void)transact(&watch->work, STORE_WRITE, arena, &roster->accounts[place].id,
			       remove_kept_long, &is_last, &fault);
		arena_reset(arena);
		watch->old_place = place + is_last;
	}
	accounts_release(accounts, roster);
}

static bool count_day(struct call *call, void *context, struct fault *fault)
{
	(void)context;
	return live_count_day(call, fault);
}

/* Those who are inside at midnight count for the new day, too. */
static void begin_day(struct live_watch *watch, struct arena *arena)
{
	const int64_t day = clock_now(watch->environment->clock) / USAGE_DAY;
	const struct id *done = NULL;

	if (watch->day == day)
		return;
	for (size_t i = 0; watch->day != 0 && i < watch->room_count; i++) {
		const struct watched_room *room = watch->rooms[i];
		struct fault fault = FAULT_INITIAL;

		if (room->inside == 0 || (done != NULL && id_compare(done, &room->account) == 0))
			continue;
		done = &room->account;
		(void)transact(&watch->work, STORE_WRITE, arena, done, count_day, NULL, &fault);
		arena_reset(arena);
	}
	watch->day = day;
}

/* ---- the thread ---- */

/* What the holder of the lease does. */
static void watch_all(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();

	if (!lease_hold(watch->lease)) {
		watch->had_lease = false;
		return;
	}
	if (!watch->had_lease) {
		watch->had_lease = true;
		watch->begun = now;
		for (size_t i = 0; i < watch->backend_count; i++)
			watch->backends[i].look_at = 0;
	}
	for (size_t i = 0; watch->environment->media_client != NULL && i < watch->backend_count;
	     i++) {
		struct watched_backend *backend = &watch->backends[i];

		if (!backend->is_listing && backend->look_at <= now)
			backend_ask(watch, backend);
	}
	begin_day(watch, arena);
	if (now >= watch->old_at) {
		watch->old_at = now + OLD_AFTER;
		remove_old_sessions(watch, arena);
	}
}

static void take_queue(struct live_watch *watch, struct arena *arena)
{
	struct live_queue_taken taken = live_queue_take(watch->environment->live_queue);
	struct heard_backend *backends = live_queue_take_backends(watch->environment->live_queue);

	while (taken.rooms != NULL) {
		struct to_look_at *next = taken.rooms->next;

		look_soon(room_of(watch, &taken.rooms->account, &taken.rooms->backend,
				  &taken.rooms->room),
			  clock_monotonic());
		free(taken.rooms);
		taken.rooms = next;
	}
	while (backends != NULL) {
		struct heard_backend *next = backends->next;

		backend_hear(watch, arena, &backends->account, &backends->backend);
		free(backends);
		backends = next;
	}
	merge_waiting(watch, taken.heard);
	take_touched(watch, arena, taken.touched);
}

static void count_figures(struct live_watch *watch)
{
	struct live_figures figures = { .rooms = 0 };

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
	memcpy(figures.looks, watch->figures.looks, sizeof figures.looks);
	watch->figures = figures;
	pthread_mutex_unlock(&watch->lock);
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

	if (now >= watch->backends_at) {
		watch->backends_at = now + BACKENDS_AFTER;
		find_backends(watch, arena);
		arena_reset(arena);
	}
	take_queue(watch, arena);
	take_errands(watch);
	watch_all(watch, arena);
	ask_rooms(watch, arena);
	flush_committed(watch);
	judge_rooms(watch, arena);
	flush_committed(watch);
	tell_rooms(watch);
	count_figures(watch);
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
		(void)poll(&polled, 1, ROUND);
	}
	take_queue(watch, arena);
	store_flush(watch->environment->store);
	arena_close(arena);
	return NULL;
}

struct live_watch *live_watch_open(const struct environment *environment, struct lease *lease)
{
	struct live_watch *watch = memory_check(calloc(1, sizeof *watch));

	watch->environment = environment;
	watch->work = (struct transactor){ .environment = environment, .event = "live_not_merged" };
	watch->lease = lease;
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
	while (watch->done != NULL) {
		struct errand *next = watch->done->next;

		errand_close(watch->done);
		watch->done = next;
	}
	while (watch->waiting != NULL) {
		struct heard *next = watch->waiting->next;

		free(watch->waiting);
		watch->waiting = next;
	}
	while (watch->room_count > 0)
		room_forget(watch, watch->rooms[0]);
	free(watch->rooms);
	free(watch->backends);
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
