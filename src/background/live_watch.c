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
#include "base/clock.h"
#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/bans/bans.h"
#include "resources/audit_record.h"
#include "resources/sweep.h"
#include "resources/live/live_judge.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_message.h"
#include "resources/live/live_queue.h"
#include "resources/live/made_rooms.h"
#include "resources/stored/revocations.h"
#include "resources/media/backend_health.h"
#include "resources/stored/media_record.h"

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
/* Between two messages to moderators about who waits; to people about their role. */
#define TELL_AFTER 1000
#define TELL_ROLES_AFTER 1000
/* Roles of an account whose people have not been told everywhere; beyond, all are told. */
#define PENDING_ROLES_MOST 1000
#define BACKENDS_AFTER 2000
/* Between two times that the time of a media server's last event is stored. */
#define EVENT_STORED_AFTER 5000
#define OLD_AFTER 1000
/* Events of a room that one transaction merges, and tries to merge an event alone that fails for a
 * reason that does not pass. */
#define EVENTS_AT_ONCE 64
#define EVENT_TRIES 3
/* Microseconds of a round for each account, and for each kind of its work. Whoever takes longer
 * owes the rest in the next rounds. */
#define TURN 10000
/* Milliseconds between two lines of the service log about events of an account that were set
 * aside. */
#define ASIDE_TOLD_AFTER 1000
/* Milliseconds in which, after the start, the rooms of all accounts are gone through. */
#define FOUND_WITHIN 60000
/* Bytes beyond which a list is a large one; such lists that may have arrived; and whose contents
 * are in memory. Of an account one. */
#define LARGE_LIST ((size_t)1 << 20)
#define LARGE_ARRIVED 4
#define LARGE_READ 2
/* Rooms of a list that one transaction looks up. */
#define FOUND_AT_ONCE 512
/* Requests to one backend that are under way: half of its places, so that calls find one. */
#define ASKED_AT_ONCE 4
/* Requests to one backend that judgements have under way; beyond, they wait for each other. */
#define ACTS_AT_ONCE 16
/* Milliseconds by which the time of an event may be earlier than its receipt, for the latter to be
 * taken. */
#define EVENT_TIME_TRUSTED 2000
/* A look may list 10,000 people. */
#define MEMORY_MOST (8 * ARENA_LIMIT)
/* The time in which all accounts are gone through for what has come to its end. */
#define OLD_ROUND 3600000
#define MINUTE 60000

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
	bool closes; /* its session closes, in steps */
	bool is_large; /* its last list was a large one */
	int64_t told; /* when they were; 0 if never */
	/* People are to be told of the changes of roles from this one on (pending_role); 0:
	 * none. */
	uint64_t changes_from;
	int64_t told_roles; /* when they were; 0 if never */
	size_t place; /* in the array of rooms */
};

/* In the order of their ids, which come first (id_place). */
struct watched_backend {
	struct id id, account;
	int64_t look_at;
	size_t under_way; /* looks */
	size_t acting; /* requests of judgements */
	size_t telling; /* requests that tell people about their role */
	int64_t listed; /* when the list was asked for; 0 if never */
	/* is_down: it did not answer the last time. has_answered: ever, or told something. */
	bool is_listing, was_up, is_down, has_answered, is_there;
	bool is_large; /* its last list was a large one */
	/* When its last event came, and the one that is stored, in milliseconds since 1970; and
	 * when that was stored. 0: none. */
	int64_t event, event_stored, stored_at;
};

/* Judgements have turns of their own, so that they do not wait for the merging of what a media
 * server tells. */
enum watch_work { WORK_MERGE, WORK_JUDGE, WATCH_WORKS };

/* A role that has changed, and the number of the change within its account. */
struct pending_role {
	struct told_role role;
	uint64_t change;
};

/* In the order of their ids, which come first (id_place). */
struct watched_account {
	struct id id;
	uint64_t changes; /* of roles; the number of the last one */
	uint64_t all_changed; /* the last change that meant all roles; 0 if none is pending */
	struct pending_role *pending; /* until the people have been told in all rooms */
	size_t pending_count, pending_capacity;
	size_t telling; /* rooms whose people are to be told */
	int64_t left[WATCH_WORKS]; /* microseconds; below 0: what it owes */
	int64_t aside_told; /* 0 if never */
	int64_t day; /* that was begun for those who are inside */
	bool has_large; /* a large list was asked for, or is being merged */
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
	struct id account;
	enum watch_work work;
	bool has_place; /* of a large list that has arrived: one of `large` of the watch */
	bool is_dropped; /* there was none */
	/* Uses the outcomes. Returns false if it has more to do in another turn; else the errand is
	 * closed, or under way again. */
	bool (*take)(struct live_watch *watch, struct errand *errand);
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
	/* Of the answer, in several turns. */
	bool is_read; /* it was read */
	bool is_in_memory; /* it is a large one, and was counted */
	bool is_expected_large; /* the account has no other large list meanwhile */
	struct merging merging; /* of people; the results are those of all steps */
	const struct server_room *rooms; /* or of rooms: those from `next` on are to be looked up */
	size_t room_count, next;
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
	struct id large[LARGE_ARRIVED]; /* the accounts of large lists that have arrived */
	size_t large_count;
	struct live_figures figures;
	/* Of the thread. */
	void *tree; /* of rooms, by their key (tsearch) */
	struct watched_room **rooms;
	size_t room_count, room_capacity;
	struct watched_backend *backends;
	size_t backend_count, backend_capacity;
	struct watched_account *accounts;
	size_t account_count, account_capacity;
	struct heard *waiting; /* events that could not be merged yet */
	struct queued_room *queued; /* rooms about which something is to be done, likewise */
	struct errand *answered, **answered_end; /* in the order in which their requests ended */
	size_t large_read; /* large lists whose contents are in memory */
	bool is_behind; /* something waits for the next turn of its account */
	size_t found_place; /* the next account whose rooms are gone through after the start */
	int64_t found_at; /* when; 0 if all have been */
	bool had_lease;
	int64_t backends_at, old_at;
	size_t old_place; /* the next account whose old sessions are removed */
	int64_t day; /* today, in days since 1970; 0 at the start */
	int64_t begun;
};

/* ---- turns ---- */

static struct watched_account *account_of(struct live_watch *watch, const struct id *id)
{
	const size_t place = id_place(id, watch->accounts, watch->account_count,
				      sizeof *watch->accounts);
	struct watched_account *account;

	if (place < watch->account_count && id_compare(&watch->accounts[place].id, id) == 0)
		return &watch->accounts[place];
	watch->accounts = memory_room(watch->accounts, watch->account_count,
				      &watch->account_capacity, sizeof *watch->accounts);
	account = &watch->accounts[place];
	memmove(account + 1, account, (watch->account_count++ - place) * sizeof *account);
	*account = (struct watched_account){ .id = *id, .left = { TURN, TURN } };
	return account;
}

/* Returns true if the account may work on. */
static bool has_turn(struct live_watch *watch, const struct id *account, enum watch_work work)
{
	const bool has = account_of(watch, account)->left[work] > 0;

	watch->is_behind = watch->is_behind || !has;
	return has;
}

/* Notes the work of an account since `begun`, of clock_microseconds. */
static void took_turn(struct live_watch *watch, const struct id *account, enum watch_work work,
		      int64_t begun)
{
	account_of(watch, account)->left[work] -= clock_microseconds() - begun;
}

static void begin_turns(struct live_watch *watch)
{
	watch->is_behind = false;
	for (size_t i = 0; i < watch->account_count; i++) {
		for (size_t work = 0; work < WATCH_WORKS; work++) {
			int64_t *left = &watch->accounts[i].left[work];

			*left = *left + TURN < TURN ? *left + TURN : TURN;
		}
	}
}

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
static void room_take(struct live_watch *watch, struct watched_room *room,
		      const struct merging *merging)
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
	/* Who was not stored because of the limit of a minute, may be in the next one. */
	if (merging->is_over)
		look_soon(room, now + MINUTE - clock_now(watch->environment->clock) % MINUTE);
	room->closes = room->closes || merging->is_closing;
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
		    watch->backends[i].acting > 0 || watch->backends[i].telling > 0)
			watch->backends[n++] = watch->backends[i];
	}
	watch->backend_count = n;
}

/* ---- requests ---- */

/* Has a large list that has arrived wait for its turn, if there is a place for it; else it is asked
 * for again later. The caller holds the lock. */
static void take_place(struct live_watch *watch, struct errand *errand, struct asking *asking)
{
	struct asked *asked = &asking->asked[0];
	bool has_place = watch->large_count < LARGE_ARRIVED;

	if (asking->count != 1 || asked->end != ASKED_ANSWERED ||
	    asked->outcome.answer_size <= LARGE_LIST || errand->has_place)
		return;
	for (size_t i = 0; i < watch->large_count; i++)
		has_place = has_place && id_compare(&watch->large[i], &errand->account) != 0;
	errand->has_place = has_place;
	errand->is_dropped = !has_place;
	if (has_place) {
		watch->large[watch->large_count++] = errand->account;
		return;
	}
	free(asked->outcome.answer);
	asked->outcome.answer = NULL;
	asked->outcome.answer_size = 0;
	asked->end = ASKED_BUSY;
}

/* Called by the thread of the media client. */
static void errand_done(void *context, struct asking *asking)
{
	struct errand *errand = context;
	struct live_watch *watch = errand->watch;

	pthread_mutex_lock(&watch->lock);
	take_place(watch, errand, asking);
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
static struct errand *errand_open(struct live_watch *watch, const struct id *account,
				  enum watch_work work, size_t size)
{
	struct arena *arena = arena_open();
	struct errand *errand = arena_zero(arena, size);

	arena_set_limit(arena, MEMORY_MOST);
	errand->watch = watch;
	errand->arena = arena;
	errand->account = *account;
	errand->work = work;
	return errand;
}

static void errand_close(struct errand *errand)
{
	struct live_watch *watch = errand->watch;

	if (errand->has_place) {
		pthread_mutex_lock(&watch->lock);
		for (size_t i = 0; i < watch->large_count; i++) {
			if (id_compare(&watch->large[i], &errand->account) == 0) {
				watch->large[i] = watch->large[--watch->large_count];
				break;
			}
		}
		pthread_mutex_unlock(&watch->lock);
	}
	if (errand->asking != NULL)
		media_client_forget(errand->asking);
	arena_close(errand->arena);
}

static bool take_look(struct live_watch *watch, struct errand *errand);

static struct look *look_open(struct live_watch *watch, const struct id *account,
			      const struct id *backend)
{
	struct look *look = (struct look *)errand_open(watch, account, WORK_MERGE, sizeof *look);

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

/* Of an account, one large list at most is under way. */
static void look_expect(struct live_watch *watch, struct look *look, bool is_large)
{
	look->is_expected_large = is_large;
	if (is_large)
		account_of(watch, &look->asking.account)->has_large = true;
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
		/* The session of a backend that is gone closes (live_close_backend). */
		if (fault.kind != FAULT_NOT_FOUND)
			look_soon(room, room->looked + LOOK_AFTER_FAILURE);
		else
			room->closes = true;
		errand_close(&look->errand);
		return;
	}
	room->is_asking = true;
	look->errand.counted = 1;
	backend->under_way++;
	look_expect(watch, look, room->is_large);
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

/* Returns true if there is a place in memory for the contents of the answer. */
static bool look_has_memory(struct live_watch *watch, struct look *look)
{
	if (!look->errand.has_place || look->is_in_memory)
		return true;
	if (watch->large_read == LARGE_READ)
		return false;
	look->is_in_memory = true;
	watch->large_read++;
	return true;
}

static bool prepare_people(struct call *call, void *context, struct fault *fault)
{
	struct look *look = context;

	look->merging = (struct merging){ .room = look->room, .backend = look->asking.backend };
	return live_look_news(call, look->people, look->people_count, NULL, look->sent,
			      &look->merging, fault);
}

/* Reads the answer of a look at a room. Returns false if the room is to be asked for again
 * later. */
static bool read_room(struct live_watch *watch, struct look *look)
{
	const int64_t now = clock_now(watch->environment->clock) / 1000;
	const struct outcome *outcome = &look->asked.outcome;
	struct server_verdict verdict;
	struct server_room *rooms;
	struct fault fault = FAULT_INITIAL;
	size_t count = 0;

	if (look->asked.end != ASKED_ANSWERED)
		return false;
	if (!look->has_people)
		server_read_people(look->errand.arena, &look->server, now, outcome, &verdict,
				   &look->people, &look->people_count);
	else
		server_read_rooms(look->errand.arena, &look->server, now, outcome, &verdict, &rooms,
				  &count);
	media_client_forget(&look->asking);
	if (!verdict.is_up)
		return false;
	if (look->has_people) {
		/* Those who were listed are gone with the room. */
		if (count != 1)
			return false;
		live_look_name_room(&look->merging, &rooms[0]);
		return true;
	}
	return transact(&watch->work, STORE_READ, look->errand.arena, &look->asking.account,
			prepare_people, look, &fault);
}

/* A step of a look, from `place` on. */
struct look_step {
	struct look *look;
	struct look_place place;
	struct merging merging;
};

static bool merge_step(struct call *call, void *context, struct fault *fault)
{
	struct look_step *step = context;

	step->merging = step->look->merging;
	live_look_return(step->merging.steps, &step->place);
	return live_merge(call, &step->merging, fault);
}

/* Takes over the results of a step. */
static void look_add_step(struct merging *all, const struct merging *step)
{
	struct merging sum = *step;

	sum.looks_soon = sum.looks_soon || all->looks_soon;
	sum.looks_again = sum.looks_again || all->looks_again;
	sum.is_over = sum.is_over || all->is_over;
	if (all->judges > sum.judges)
		sum.judges = all->judges;
	*all = sum;
}

/* Merges people as long as it is the account's turn. Returns false if that failed. */
static bool merge_people(struct live_watch *watch, struct look *look, bool *is_done)
{
	struct arena *arena = arena_open();
	bool is_merged = true;

	*is_done = false;
	while (is_merged && !*is_done && has_turn(watch, &look->asking.account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct look_step step = { look,
					  live_look_place(look->merging.steps),
					  { .count = 0 } };
		struct fault fault = FAULT_INITIAL;

		is_merged = transact(&watch->work, STORE_WRITE, arena, &look->asking.account,
				     merge_step, &step, &fault);
		if (is_merged)
			look_add_step(&look->merging, &step.merging);
		*is_done = live_look_is_merged(look->merging.steps) || look->merging.needs_room ||
			   look->merging.is_closing;
		arena_reset(arena);
		took_turn(watch, &look->asking.account, WORK_MERGE, begun);
	}
	arena_close(arena);
	return is_merged;
}

/* Uses the answer of a look at a room. Returns false if the room is to be asked for again later.
 * *is_done: nothing is left for another turn; *goes_on: a second request is to be sent. */
static bool take_room(struct live_watch *watch, struct look *look, struct watched_room *room,
		      bool *is_done, bool *goes_on)
{
	struct fault fault = FAULT_INITIAL;

	if (!look->is_read) {
		const int64_t begun = clock_microseconds();
		const bool is_read = read_room(watch, look);

		look->is_read = true;
		took_turn(watch, &look->asking.account, WORK_MERGE, begun);
		if (!is_read)
			return false;
	}
	if (!merge_people(watch, look, is_done))
		return false;
	if (!*is_done)
		return true;
	room_take(watch, room, &look->merging);
	if (look->merging.is_closing)
		return false;
	if (!look->merging.is_live && look->people_count == 0)
		forget_made(watch, room);
	if (!look->merging.needs_room || look->has_people)
		return true;
	look->has_people = true;
	look->is_read = false;
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
	struct live_watch *watch;
	struct look *look;
	bool is_wanted; /* a template names it, it is the default, or rooms are in session there */
	/* It answered when it was last asked, or ever, perhaps an earlier process. */
	bool was_up, has_answered;
	bool looks; /* rooms in session are looked at */
	size_t live_count;
	struct server_verdict verdict;
};

/* Rooms in session are known before the media server answers, if it does. */
static bool visit_live(void *context, const struct store_record *record, struct fault *fault)
{
	struct room_listing *listing = context;
	struct live_watch *watch = listing->watch;
	const struct asking *asking = &listing->look->asking;
	struct watched_room *room;
	struct live live;

	if (!record_read(&live_table, listing->look->errand.arena, record, &live, fault))
		return false;
	if (id_compare(&live.backend, &asking->backend) != 0)
		return true;
	listing->live_count++;
	room = room_of(watch, &asking->account, &asking->backend, &record->id);
	room->is_live = true;
	room->closes = room->closes || live.closing != 0;
	if (room->often_until == 0)
		room->often_until = watch->begun + LOOK_OFTEN_FOR;
	if (listing->looks)
		look_soon(room, clock_monotonic());
	return true;
}

static bool find_live(struct call *call, struct room_listing *listing, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	listing->live_count = 0;
	return store_each(call->transaction, &kind_live, &page, false, visit_live, listing, fault);
}

static bool prepare_list(struct call *call, void *context, struct fault *fault)
{
	struct room_listing *listing = context;
	struct look *look = listing->look;
	struct backend_healths healths;
	const struct backend_health *health;
	struct backend *backend;

	listing->is_wanted = false;
	if (!find_live(call, listing, fault) || !look_find_backend(call, look, &backend, fault))
		return false;
	if (backend == NULL)
		return true;
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &look->asking.backend);
	listing->was_up = health != NULL && health->is_up;
	listing->has_answered = backend_has_answered(&healths, &look->asking.backend);
	listing->is_wanted = backend->uses > 0 || backend->is_default || listing->live_count > 0;
	if (listing->is_wanted)
		server_list_rooms(look->errand.arena, &look->server, call->now / 1000,
				  arena_json(look->errand.arena, json_array()),
				  &look->asked.request);
	return true;
}

static void backend_ask(struct live_watch *watch, struct watched_backend *backend)
{
	struct look *look = look_open(watch, &backend->account, &backend->id);
	struct room_listing listing = { .watch = watch, .look = look };
	struct fault fault = FAULT_INITIAL;

	backend->listed = clock_monotonic();
	backend->look_at = backend->listed + LOOK_AFTER;
	if (!transact(&watch->work, STORE_READ, look->errand.arena, &backend->account, prepare_list,
		      &listing, &fault) ||
	    !listing.is_wanted) {
		errand_close(&look->errand);
		return;
	}
	backend->was_up = backend->was_up || listing.was_up;
	backend->has_answered = backend->has_answered || listing.has_answered;
	backend->is_listing = true;
	look->errand.counted = 1;
	backend->under_way++;
	look_expect(watch, look, backend->is_large);
	look_send(look);
}

/* Stores what the answer says about the backend. */
static bool note_listing(struct call *call, void *context, struct fault *fault)
{
	struct room_listing *listing = context;
	struct backend *backend;

	return look_find_backend(call, listing->look, &backend, fault) &&
	       (backend == NULL || backend_health_note(call, backend, &listing->verdict, fault));
}

static bool read_list(struct live_watch *watch, struct look *look, struct watched_backend *backend)
{
	struct room_listing listing = { .watch = watch, .look = look };
	struct server_room *rooms = NULL;
	struct fault fault = FAULT_INITIAL;

	if (look->asked.end != ASKED_ANSWERED) {
		if (look->asked.end == ASKED_BUSY)
			backend->look_at = clock_monotonic() + LOOK_AFTER_FAILURE;
		return false;
	}
	server_read_rooms(look->errand.arena, &look->server,
			  clock_now(watch->environment->clock) / 1000, &look->asked.outcome,
			  &listing.verdict, &rooms, &look->room_count);
	look->rooms = rooms;
	media_client_forget(&look->asking);
	/* It may have restarted. */
	if (!listing.verdict.is_up)
		made_rooms_forget_server(watch->environment->made_rooms, &backend->account,
					 &backend->id);
	if (!transact(&watch->work, STORE_WRITE, look->errand.arena, &backend->account,
		      note_listing, &listing, &fault))
		return false;
	backend->is_down = !listing.verdict.is_up;
	backend->was_up = backend->was_up || listing.verdict.is_up;
	backend->has_answered = backend->has_answered || listing.verdict.is_up;
	if (backend->is_down && !backend->has_answered)
		backend->look_at = clock_monotonic() + LOOK_AFTER_NEVER;
	return listing.verdict.is_up;
}

/* Finds the rooms of the list that are the account's, or were; at the end, those in session, too.
 * All of them are looked at. */
static bool find_listed(struct call *call, void *context, struct fault *fault)
{
	struct room_listing *listing = context;
	const struct look *look = listing->look;
	const struct asking *asking = &look->asking;

	for (size_t i = look->next; i < look->room_count && i < look->next + FOUND_AT_ONCE; i++) {
		struct store_record room;
		bool was_deleted = false;
		struct id id;

		if (!id_parse(look->rooms[i].name, &id))
			continue;
		if (!store_get(call->transaction, &kind_room, &id, STORE_TO_SHOW, &room, fault) ||
		    (room.value.data == NULL &&
		     !revocation_has_room(call, &id, &was_deleted, fault)))
			return false;
		if (room.value.data != NULL || was_deleted)
			look_soon(room_of(listing->watch, &asking->account, &asking->backend, &id),
				  clock_monotonic());
	}
	return look->next + FOUND_AT_ONCE < look->room_count || find_live(call, listing, fault);
}

/* Uses the answer as long as it is the account's turn. */
static bool take_list(struct live_watch *watch, struct look *look, struct watched_backend *backend,
		      bool *is_done)
{
	struct room_listing listing = { .watch = watch, .look = look, .looks = true };
	struct arena *arena;
	bool is_taken = true;

	if (!look->is_read) {
		const int64_t begun = clock_microseconds();
		const bool is_read = read_list(watch, look, backend);

		look->is_read = true;
		took_turn(watch, &look->asking.account, WORK_MERGE, begun);
		if (!is_read)
			return false;
	}
	arena = arena_open();
	arena_set_limit(arena, MEMORY_MOST);
	while (is_taken && !*is_done && has_turn(watch, &look->asking.account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct fault fault = FAULT_INITIAL;

		is_taken = transact(&watch->work, STORE_READ, arena, &look->asking.account,
				    find_listed, &listing, &fault);
		look->next += FOUND_AT_ONCE;
		*is_done = look->next >= look->room_count;
		arena_reset(arena);
		took_turn(watch, &look->asking.account, WORK_MERGE, begun);
	}
	arena_close(arena);
	return is_taken;
}

/* ---- outcomes ---- */

static void count_look(struct live_watch *watch, enum look_end counted)
{
	pthread_mutex_lock(&watch->lock);
	watch->figures.looks[counted]++;
	pthread_mutex_unlock(&watch->lock);
}

static bool take_look(struct live_watch *watch, struct errand *errand)
{
	struct look *look = (struct look *)errand;
	struct watched_backend *backend = backend_of(watch, &look->asking.account,
						     &look->asking.backend);
	const bool is_large = errand->has_place || errand->is_dropped;
	struct watched_room *room = NULL;
	bool is_taken, is_done = false, goes_on = false;
	struct arena *before;

	if (!look_has_memory(watch, look))
		return false;
	before = arena_use_for_json(look->errand.arena);
	if (look->is_of_room) {
		room = room_of(watch, &look->asking.account, &look->asking.backend, &look->room);
		is_taken = take_room(watch, look, room, &is_done, &goes_on);
	} else {
		is_taken = backend != NULL && take_list(watch, look, backend, &is_done);
	}
	arena_use_for_json(before);
	if (is_taken && !is_done)
		return false;
	count_look(watch, is_taken			  ? LOOK_MERGED
			  : look->asked.end == ASKED_BUSY ? LOOK_BUSY
							  : LOOK_FAILED);
	if (goes_on) {
		look_send(look);
		return true;
	}
	if (backend != NULL) {
		COUNTER_LOWER(backend->under_way, errand->counted);
		backend->is_listing = backend->is_listing && look->is_of_room;
		if (!look->is_of_room)
			backend->is_large = is_large;
	}
	if (room != NULL) {
		room->is_asking = false;
		room->is_large = is_large;
		if (!is_taken)
			look_soon(room, clock_monotonic() + LOOK_AFTER_FAILURE);
	}
	if (look->is_in_memory)
		watch->large_read--;
	if (look->is_expected_large)
		account_of(watch, &look->asking.account)->has_large = false;
	errand_close(&look->errand);
	return true;
}

/* Takes those whose requests have ended. */
static void take_done(struct live_watch *watch)
{
	struct errand *done, *next, *first = NULL;
	eventfd_t ignored;

	(void)eventfd_read(watch->wake, &ignored);
	pthread_mutex_lock(&watch->lock);
	done = watch->done;
	watch->done = NULL;
	pthread_mutex_unlock(&watch->lock);
	/* The one that ended last is the first of the list. */
	for (; done != NULL; done = next) {
		next = done->next;
		done->next = first;
		first = done;
	}
	*watch->answered_end = first;
	while (*watch->answered_end != NULL)
		watch->answered_end = &(*watch->answered_end)->next;
}

static void take_errands(struct live_watch *watch)
{
	struct errand *errand, *next;

	take_done(watch);
	errand = watch->answered;
	watch->answered = NULL;
	watch->answered_end = &watch->answered;
	for (; errand != NULL; errand = next) {
		const struct id account = errand->account;
		const enum watch_work work = errand->work;
		const int64_t begun = clock_microseconds();

		next = errand->next;
		errand->next = NULL;
		if (has_turn(watch, &account, work) && errand->take(watch, errand)) {
			/* The steps of a look are counted already. */
			if (work != WORK_MERGE)
				took_turn(watch, &account, work, begun);
			continue;
		}
		*watch->answered_end = errand;
		watch->answered_end = &errand->next;
	}
}

/* ---- events ---- */

/* An event of a media server, whose time is to be stored. */
struct heard_event {
	struct id backend;
	int64_t time;
};

static bool hear_backend(struct call *call, void *context, struct fault *fault)
{
	const struct heard_event *event = context;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	return media_backend(&media, &event->backend) == NULL ||
	       backend_health_hear(call, &event->backend, event->time, fault);
}

/* A media server that tells something is up, or up again. That it has told something for the first
 * time is stored at once. time: of the event, in milliseconds since 1970. */
static void backend_hear(struct live_watch *watch, struct arena *arena, const struct id *account,
			 const struct id *id, int64_t time)
{
	struct watched_backend *backend = backend_of(watch, account, id);
	struct heard_event event = { *id, time };
	struct fault fault = FAULT_INITIAL;
	bool is_stored;

	if (backend != NULL && backend->is_down &&
	    backend->look_at > backend->listed + LOOK_AT_MOST_EVERY)
		backend->look_at = backend->listed + LOOK_AT_MOST_EVERY;
	if (backend != NULL && backend->event < time)
		backend->event = time;
	if (backend != NULL && backend->has_answered)
		return;
	is_stored = transact(&watch->work, STORE_WRITE, arena, account, hear_backend, &event,
			     &fault);
	if (backend != NULL)
		backend->has_answered = is_stored;
	arena_reset(arena);
}

/* Stores when the media servers have sent their last events, of each at most once in
 * EVENT_STORED_AFTER. */
static void store_events(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->backend_count; i++) {
		struct watched_backend *backend = &watch->backends[i];
		struct heard_event event = { backend->id, backend->event };
		struct fault fault = FAULT_INITIAL;

		if (backend->event <= backend->event_stored ||
		    (backend->stored_at != 0 && now < backend->stored_at + EVENT_STORED_AFTER) ||
		    !has_turn(watch, &backend->account, WORK_MERGE))
			continue;
		backend->stored_at = now;
		if (transact(&watch->work, STORE_WRITE, arena, &backend->account, hear_backend,
			     &event, &fault))
			backend->event_stored = event.time;
		arena_reset(arena);
	}
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

/* Returns true if trying again may help. */
static bool may_pass(const struct fault *fault)
{
	return fault->kind == FAULT_UNAVAILABLE || fault->kind == FAULT_AGAIN ||
	       fault->kind == FAULT_BUSY;
}

static bool note_aside(struct call *call, void *context, struct fault *fault)
{
	const struct heard *heard = context;
	struct server_verdict verdict = { .is_up = true,
					  .message = "an event could not be stored" };
	struct backend_healths healths;
	const struct backend_health *health;
	const struct backend *backend;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault) ||
	    !backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	backend = media_backend(&media, &heard->backend);
	health = backend_health_of(&healths, &heard->backend);
	if (backend == NULL || (health != NULL && !health->is_up))
		return true;
	verdict.ahead = health == NULL ? 0 : health->ahead;
	return backend_health_note(call, backend, &verdict, fault);
}

/* Gives up an event that cannot be stored, and says so. The next look at the room repairs what is
 * missing. */
static void set_aside(struct live_watch *watch, struct arena *arena, struct heard *heard,
		      const struct fault *fault)
{
	struct watched_account *account = account_of(watch, &heard->account);
	const int64_t now = clock_monotonic();
	struct fault own = FAULT_INITIAL;
	char owner[ID_TEXT_SIZE + 1], backend[ID_TEXT_SIZE + 1], room[ID_TEXT_SIZE + 1];

	live_queue_set_aside(watch->environment->live_queue);
	look_soon(room_of(watch, &heard->account, &heard->backend, &heard->room), now);
	if (account->aside_told != 0 && now < account->aside_told + ASIDE_TOLD_AFTER)
		return;
	account->aside_told = now;
	id_print(&heard->account, owner);
	id_print(&heard->backend, backend);
	id_print(&heard->room, room);
	log_event(LOG_LEVEL_ERROR, "live_event_set_aside", "account", owner, "backend", backend,
		  "room", room, "error", fault_reason(fault), "consequence",
		  "the next look at the room repairs what is missing", NULL);
	(void)transact(&watch->work, STORE_WRITE, arena, &heard->account, note_aside, heard, &own);
	arena_reset(arena);
}

/* After a failure, events are tried alone, so that one does not stop the others. Returns how many
 * of the events are done with. */
static size_t give_up(struct live_watch *watch, struct arena *arena,
		      const struct event_batch *batch, const struct fault *fault)
{
	struct heard *first = batch->heard[0];

	arena_reset(arena);
	if (may_pass(fault))
		return 0;
	watch->is_behind = true;
	for (size_t i = 0; i < batch->count; i++)
		batch->heard[i]->tries++;
	if (batch->count > 1 || first->tries < EVENT_TRIES)
		return 0;
	set_aside(watch, arena, first, fault);
	return 1;
}

/* Merges events of one room. Returns how many of them, the first ones, are done with; the others
 * must be merged later. */
static size_t take_batch(struct live_watch *watch, struct arena *arena, struct event_batch *batch)
{
	const struct heard *first = batch->heard[0];
	const struct id account = first->account, backend_id = first->backend;
	const struct watched_room key = { .account = account, .room = first->room };
	struct fault fault = FAULT_INITIAL;
	void *found;

	backend_hear(watch, arena, &account, &backend_id, batch->heard[batch->count - 1]->received);
	if (!transact(&watch->work, STORE_WRITE, arena, &account, merge_batch, batch, &fault))
		return give_up(watch, arena, batch, &fault);
	found = tfind(&key, &watch->tree, compare_rooms);
	if (found != NULL)
		room_take(watch, *(struct watched_room **)found, &batch->merging);
	else if (batch->merging.is_live || batch->merging.looks_soon || batch->merging.is_over ||
		 batch->merging.judges != JUDGE_NOBODY)
		room_take(watch, room_of(watch, &account, &backend_id, &first->room),
			  &batch->merging);
	for (const struct told_once *told = batch->merging.failed; told != NULL; told = told->next)
		dispatcher_send_once(watch->environment->dispatcher, &account,
				     SLICE("peer.join.failure"), told->data,
				     clock_now(watch->environment->clock));
	arena_reset(arena);
	return batch->merging.merged;
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

static bool room_closes(const struct live_watch *watch, const struct heard *heard)
{
	const struct watched_room key = { .account = heard->account, .room = heard->room };
	void *const *found = tfind(&key, &watch->tree, compare_rooms);

	return found != NULL && (*(struct watched_room *const *)found)->closes;
}

/* Merges events of one room as long as it is the account's turn. Returns how many are done with. */
static size_t merge_room(struct live_watch *watch, struct arena *arena, struct heard *const *list,
			 size_t count)
{
	const struct id account = list[0]->account;
	size_t done = 0, n, merged = 1;

	while (done < count && merged > 0 && !room_closes(watch, list[done]) &&
	       has_turn(watch, &account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct event_batch batch = { .heard = &list[done] };

		for (n = 1; n < EVENTS_AT_ONCE && done + n < count && list[done]->tries == 0 &&
			    list[done + n]->tries == 0;)
			n++;
		batch.count = n;
		merged = take_batch(watch, arena, &batch);
		done += merged;
		took_turn(watch, &account, WORK_MERGE, begun);
	}
	return done;
}

/* Merges all events that wait. Those that cannot be merged now, because the store is unavailable,
 * or the session of the room closes, or the account has had its turn, wait for the next round. */
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
			live_queue_forget(watch->environment->live_queue, &account, &backend, done);
	}
	arena_close(arena);
	free(list);
}

/* ---- sessions that close ---- */

struct room_closing {
	struct id room;
	bool is_gone; /* the backend, as far as the watch knows */
	bool is_closing;
};

static bool close_step(struct call *call, void *context, struct fault *fault)
{
	struct room_closing *closing = context;

	return live_close_on(call, &closing->room, closing->is_gone, &closing->is_closing, fault);
}

/* Takes the steps of a session that closes. Afterwards the room is looked at: what a look saw
 * meanwhile was not merged. */
static void close_room(struct live_watch *watch, struct arena *arena, struct watched_room *room)
{
	while (room->closes && has_turn(watch, &room->account, WORK_MERGE)) {
		const int64_t begun = clock_microseconds();
		struct room_closing closing = {
			.room = room->room,
			.is_gone = backend_of(watch, &room->account, &room->backend) == NULL,
		};
		struct fault fault = FAULT_INITIAL;
		const bool is_done = transact(&watch->work, STORE_WRITE, arena, &room->account,
					      close_step, &closing, &fault);

		arena_reset(arena);
		took_turn(watch, &room->account, WORK_MERGE, begun);
		if (!is_done && may_pass(&fault))
			return;
		/* What cannot be read is tried again after the next look at all rooms. */
		room->closes = is_done && closing.is_closing;
		if (is_done && !room->closes)
			look_soon(room, clock_monotonic());
	}
}

static void close_rooms(struct live_watch *watch, struct arena *arena)
{
	for (size_t i = 0; i < watch->room_count; i++)
		close_room(watch, arena, watch->rooms[i]);
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

/* Goes on with those whose turn is next. Returns false if there are none. */
static bool begin_next(struct live_watch *watch, struct trial *trial)
{
	struct fault fault = FAULT_INITIAL;

	return !trial->judgement.ends && !trial->judgement.has_failed &&
	       trial->judgement.chosen_next < trial->judgement.chosen_count &&
	       transact(&watch->work, STORE_WRITE, trial->errand.arena, &trial->account,
			begin_trial, trial, &fault) &&
	       send_trial(watch, trial);
}

static bool take_trial(struct live_watch *watch, struct errand *errand)
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
	if (is_done && (send_trial(watch, trial) || begin_next(watch, trial)))
		return true;
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
	return true;
}

static void try_room(struct live_watch *watch, struct watched_room *room,
		     const struct judgement *found)
{
	const bool checks_bans = found->checks_bans;
	struct trial *trial = (struct trial *)errand_open(watch, &room->account, WORK_JUDGE,
							  sizeof *trial);
	struct fault fault = FAULT_INITIAL;

	trial->errand.take = take_trial;
	trial->account = room->account;
	trial->judgement = *found;
	trial->judgement.removals = NULL;
	trial->judgement.judges_all = true;
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
		/* What was found out a moment ago no longer holds. */
		room->is_acting = false;
		judge_soon(room, clock_monotonic() + JUDGE_AFTER_FAILURE, true);
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
		if (judgement.ends || judgement.chosen_count > 0)
			try_room(watch, room, &judgement);
	}
	arena_reset(arena);
}

static void judge_rooms(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic(), time = clock_now(watch->environment->clock);

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		const struct watched_backend *backend;
		bool judges = false;
		int64_t begun;

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
			judges = true;
		else if (room->find_removals_at > now)
			continue;
		if (!has_turn(watch, &room->account, WORK_JUDGE))
			continue;
		begun = clock_microseconds();
		if (judges)
			judge_room(watch, arena, room);
		else
			find_removals(watch, arena, room);
		took_turn(watch, &room->account, WORK_JUDGE, begun);
	}
}

/* Has everything about a room judged, since something has changed that matters for it. */
static void judge_again(struct watched_room *room)
{
	room->checks_bans = true;
	judge_soon(room, clock_monotonic(), true);
}

/* What is to be done about all rooms in session of an account. */
struct live_list {
	struct live_watch *watch;
	struct arena *arena;
	const struct id *account;
	unsigned wants; /* of enum room_want */
	uint64_t change; /* of roles; 0 if none has changed */
};

/* Notes that the people of some roles are to be told; returns the number of the change. */
static uint64_t add_change(struct watched_account *account, const struct told_roles *told)
{
	const uint64_t change = ++account->changes;

	for (size_t i = 0; i < told->count; i++) {
		const struct told_role *role = &told->roles[i];
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
			account->pending = memory_room(account->pending, account->pending_count,
						       &account->pending_capacity,
						       sizeof *account->pending);
			account->pending_count++;
		}
		account->pending[place] = (struct pending_role){ *role, change };
	}
	if (told->are_all)
		account->all_changed = change;
	return change;
}

/* The people in the room are to be told of the change, if it is of their role. */
static void tell_of_change(struct live_watch *watch, struct watched_room *room, uint64_t change)
{
	if (room->changes_from != 0 || change == 0)
		return;
	room->changes_from = change;
	account_of(watch, &room->account)->telling++;
}

/* Notes what is to be done about a room. */
static void room_want(struct watched_room *room, unsigned wants)
{
	if ((wants & ROOM_LOOK) != 0)
		look_soon(room, clock_monotonic());
	if ((wants & ROOM_JUDGE) != 0)
		judge_again(room);
	room->tells = room->tells || (wants & ROOM_TELL) != 0;
	room->closes = room->closes || (wants & ROOM_CLOSE) != 0;
}

static bool want_live(void *context, const struct store_record *record, struct fault *fault)
{
	const struct live_list *list = context;
	struct watched_room *room;
	struct live live;

	if (!record_read(&live_table, list->arena, record, &live, fault))
		return false;
	room = room_of(list->watch, list->account, &live.backend, &record->id);
	room->is_live = true;
	room_want(room, list->wants & ~(unsigned)ROOM_CLOSE);
	tell_of_change(list->watch, room, list->change);
	/* A session closes that has begun to, and that of a backend that is gone. */
	room->closes = room->closes || live.closing != 0 ||
		       backend_of(list->watch, list->account, &live.backend) == NULL;
	return true;
}

static bool want_all_live(struct call *call, void *context, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	return store_each(call->transaction, &kind_live, &page, false, want_live, context, fault);
}

/* Forgets the changes of roles if the people have been told in all rooms. */
static void forget_changes(struct watched_account *account)
{
	if (account->telling > 0)
		return;
	account->pending_count = 0;
	account->all_changed = 0;
}

/* Goes through the rooms in session of an account. told: roles that have changed, or NULL. Returns
 * false if that is to be done again. */
static bool want_all(struct live_watch *watch, struct arena *arena, const struct id *account,
		     unsigned wants, const struct told_roles *told)
{
	const uint64_t change = told == NULL ? 0 : add_change(account_of(watch, account), told);
	struct live_list list = { watch, arena, account, wants, change };
	struct fault fault = FAULT_INITIAL;
	const bool is_done = transact(&watch->work, STORE_READ, arena, account, want_all_live,
				      &list, &fault);

	arena_reset(arena);
	forget_changes(account_of(watch, account));
	return is_done || !may_pass(&fault);
}

/* Has done what is wanted about rooms. What cannot be done now is kept: a judgement that is lost
 * would leave somebody inside. */
static void take_queued(struct live_watch *watch, struct arena *arena, struct queued_room *added)
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
	if ((wants & ~(unsigned)ROOM_LOOK) != 0)
		store_flush(watch->environment->store);
	while (queued != NULL) {
		struct queued_room *next = queued->next;
		const int64_t begun = clock_microseconds();
		bool is_done = has_turn(watch, &queued->account, WORK_JUDGE);

		if (is_done && id_compare(&queued->room, &all) != 0)
			room_want(room_of(watch, &queued->account, &queued->backend, &queued->room),
				  queued->wants);
		else if (is_done)
			is_done = want_all(watch, arena, &queued->account, queued->wants,
					   queued->told);
		if (is_done) {
			took_turn(watch, &queued->account, WORK_JUDGE, begun);
			queued_room_free(queued);
		} else {
			queued->next = NULL;
			*end = queued;
			end = &queued->next;
		}
		queued = next;
	}
}

/* After the start, finds sessions that nobody else would find: those of backends that are gone. */
static void find_sessions(struct live_watch *watch, struct arena *arena)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster;
	size_t n;

	if (watch->found_at == 0 || clock_monotonic() < watch->found_at)
		return;
	roster = accounts_current(accounts);
	n = roster->count / (FOUND_WITHIN / OLD_AFTER) + 1;
	while (n-- > 0 && watch->found_place < roster->count &&
	       want_all(watch, arena, &roster->accounts[watch->found_place].id, 0, NULL))
		watch->found_place++;
	watch->found_at = watch->found_place < roster->count ? clock_monotonic() + OLD_AFTER : 0;
	accounts_release(accounts, roster);
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
static bool take_telling(struct live_watch *watch, struct errand *errand)
{
	(void)watch;
	errand_close(errand);
	return true;
}

/* Tells moderators how many people wait, at most once in TELL_AFTER. */
static void tell_rooms(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		struct fault fault = FAULT_INITIAL;
		struct telling *telling;

		if (!room->tells || (room->told != 0 && now < room->told + TELL_AFTER) ||
		    !has_turn(watch, &room->account, WORK_JUDGE))
			continue;
		room->tells = false;
		room->told = now;
		if (watch->environment->live != LIVE_ON || watch->environment->media_client == NULL)
			continue;
		telling = (struct telling *)errand_open(watch, &room->account, WORK_JUDGE,
							sizeof *telling);
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

/* ---- roles that have changed ---- */

/* A message to the people of some roles in a room. */
struct role_telling {
	struct errand errand; /* first, so that it is the same object */
	struct id room;
	struct told_roles told;
};

static bool prepare_role_telling(struct call *call, void *context, struct fault *fault)
{
	struct role_telling *telling = context;

	if (!message_ask_of_roles(call, &telling->room, &telling->told, fault))
		return false;
	telling->errand.asking = call->asking;
	return true;
}

/* Sets the roles of which the people in the room have not been told yet. */
static void find_changes(const struct watched_account *account, const struct watched_room *room,
			 struct told_roles *told)
{
	told->are_all = account->all_changed >= room->changes_from;
	for (size_t i = 0; i < account->pending_count && !told->are_all; i++) {
		if (account->pending[i].change >= room->changes_from)
			told_roles_add(told, &account->pending[i].role);
	}
}

static bool take_role_telling(struct live_watch *watch, struct errand *errand)
{
	struct watched_backend *backend = backend_of(watch, &errand->account,
						     &errand->asking->backend);

	if (backend != NULL)
		COUNTER_LOWER(backend->telling, errand->counted);
	return take_telling(watch, errand);
}

/* Returns false if it is to be tried again. */
static bool tell_roles_of(struct live_watch *watch, struct watched_room *room,
			  struct watched_backend *backend)
{
	struct role_telling *telling;
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (watch->environment->live != LIVE_ON || watch->environment->media_client == NULL ||
	    (backend != NULL && backend->is_down))
		return true;
	telling = (struct role_telling *)errand_open(watch, &room->account, WORK_JUDGE,
						     sizeof *telling);
	telling->errand.take = take_role_telling;
	telling->room = room->room;
	find_changes(account_of(watch, &room->account), room, &telling->told);
	is_done = transact(&watch->work, STORE_READ, telling->errand.arena, &room->account,
			   prepare_role_telling, telling, &fault);
	if (is_done && telling->errand.asking != NULL) {
		backend = backend_of(watch, &room->account, &telling->errand.asking->backend);
		if (backend != NULL) {
			telling->errand.counted = telling->errand.asking->count;
			backend->telling += telling->errand.counted;
		}
		errand_send(&telling->errand);
	} else {
		errand_close(&telling->errand);
	}
	return is_done || !may_pass(&fault);
}

/* Tells people that what their role may do has changed, in a room at most once in
 * TELL_ROLES_AFTER. */
static void tell_roles(struct live_watch *watch)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < watch->room_count; i++) {
		struct watched_room *room = watch->rooms[i];
		struct watched_account *account;
		struct watched_backend *backend;
		int64_t begun;

		if (room->changes_from == 0 ||
		    (room->told_roles != 0 && now < room->told_roles + TELL_ROLES_AFTER))
			continue;
		backend = backend_of(watch, &room->account, &room->backend);
		if ((backend != NULL && backend->telling >= ASKED_AT_ONCE) ||
		    !has_turn(watch, &room->account, WORK_JUDGE))
			continue;
		begun = clock_microseconds();
		room->told_roles = now;
		if (tell_roles_of(watch, room, backend)) {
			account = account_of(watch, &room->account);
			room->changes_from = 0;
			COUNTER_LOWER(account->telling, 1);
			forget_changes(account);
		}
		took_turn(watch, &room->account, WORK_JUDGE, begun);
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

	if (room->empty_since == 0 || room->closes || now < room->empty_since + grace)
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

/* Returns false if a large list would be the second one of the account. */
static bool may_ask(struct live_watch *watch, const struct id *account, bool is_large)
{
	return !is_large || !account_of(watch, account)->has_large;
}

static void ask_room(struct live_watch *watch, struct watched_room *room,
		     struct watched_backend *backend)
{
	const struct id account = room->account;
	const int64_t begun = clock_microseconds();

	room_ask(watch, room, backend);
	took_turn(watch, &account, WORK_MERGE, begun);
}

static void ask_rooms(struct live_watch *watch, struct arena *arena)
{
	const int64_t now = clock_monotonic();

	for (size_t i = watch->room_count; i-- > 0;) {
		struct watched_room *room = watch->rooms[i];
		struct watched_backend *backend;

		if (!has_turn(watch, &room->account, WORK_MERGE))
			continue;
		close_if_empty(watch, arena, room);
		if (room->is_live && now < room->often_until &&
		    room->look_at > room->looked + LOOK_OFTEN)
			room->look_at = room->looked + LOOK_OFTEN;
		if (!room->is_asking && room->look_at <= now &&
		    watch->environment->media_client != NULL) {
			backend = backend_of(watch, &room->account, &room->backend);
			if (backend == NULL || backend->is_down) {
				room->look_at = INT64_MAX;
				room->closes = room->closes || (backend == NULL && room->is_live);
			} else if (backend->under_way < ASKED_AT_ONCE && !room->closes &&
				   may_ask(watch, &room->account, room->is_large)) {
				ask_room(watch, room, backend);
			}
		}
		if (!room->is_live && !room->is_asking && !room->is_acting && !room->closes &&
		    room->look_at == INT64_MAX && room->judge_at == INT64_MAX && !room->tells &&
		    room->changes_from == 0 &&
		    (room->told == 0 || now >= room->told + TELL_AFTER) &&
		    (room->told_roles == 0 || now >= room->told_roles + TELL_ROLES_AFTER))
			room_forget(watch, room);
	}
}

static bool sweep(struct call *call, void *context, struct fault *fault)
{
	bool *is_last = context;

	return sweep_account(call, is_last, fault);
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

		(void)transact(&watch->work, STORE_WRITE, arena, &roster->accounts[place].id, sweep,
			       &is_last, &fault);
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

	if (watch->day == day)
		return;
	for (size_t i = 0; watch->day != 0 && i < watch->room_count; i++) {
		const struct watched_room *room = watch->rooms[i];
		struct watched_account *account = account_of(watch, &room->account);
		struct fault fault = FAULT_INITIAL;

		if (room->inside == 0 || account->day == day)
			continue;
		account->day = day;
		(void)transact(&watch->work, STORE_WRITE, arena, &room->account, count_day, NULL,
			       &fault);
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
		watch->found_place = 0;
		watch->found_at = now;
		for (size_t i = 0; i < watch->backend_count; i++)
			watch->backends[i].look_at = 0;
	}
	for (size_t i = 0; watch->environment->media_client != NULL && i < watch->backend_count;
	     i++) {
		struct watched_backend *backend = &watch->backends[i];

		if (!backend->is_listing && backend->look_at <= now &&
		    may_ask(watch, &backend->account, backend->is_large) &&
		    has_turn(watch, &backend->account, WORK_MERGE)) {
			const int64_t begun = clock_microseconds();

			backend_ask(watch, backend);
			took_turn(watch, &backend->account, WORK_MERGE, begun);
		}
	}
	find_sessions(watch, arena);
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

	while (backends != NULL) {
		struct heard_backend *next = backends->next;

		backend_hear(watch, arena, &backends->account, &backends->backend,
			     clock_now(watch->environment->clock));
		free(backends);
		backends = next;
	}
	merge_waiting(watch, taken.heard);
	take_queued(watch, arena, taken.rooms);
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
	begin_turns(watch);
	take_queue(watch, arena);
	store_events(watch, arena);
	close_rooms(watch, arena);
	take_errands(watch);
	watch_all(watch, arena);
	ask_rooms(watch, arena);
	flush_committed(watch);
	judge_rooms(watch, arena);
	flush_committed(watch);
	tell_rooms(watch);
	tell_roles(watch);
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
		(void)poll(&polled, 1, watch->is_behind ? 0 : ROUND);
	}
	/* Nothing else has a turn now. What the store does not take is found by a look. */
	do {
		begin_turns(watch);
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
	take_done(watch);
	while (watch->answered != NULL) {
		struct errand *next = watch->answered->next;

		errand_close(watch->answered);
		watch->answered = next;
	}
	while (watch->queued != NULL) {
		struct queued_room *next = watch->queued->next;

		queued_room_free(watch->queued);
		watch->queued = next;
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
	for (size_t i = 0; i < watch->account_count; i++)
		free(watch->accounts[i].pending);
	free(watch->accounts);
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
