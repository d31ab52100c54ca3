/* Two responders, and two accounts, that share a database.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "records/kinds.h"
#include "relay.h"
#include "resources/audit_record.h"
#include "responders.h"
#include "store/figures.h"
#include "suite.h"

/* ---- clocks ---- */

/* What a machine whose clock is ahead does, followed by another machine. */
static const struct {
	const char *path; /* as in `trips` */
	const char *first, *second;
	const char *time; /* a member of both responses */
	bool rises; /* must rise; otherwise it may stay equal */
} late_writes[] = {
	/* First, because later rows raise the time of the room, and no code's time is below
	 * that. */
	{ "/v2/room-codes/code", "{\"code\":\"$c\",\"enabled\":false}",
	  "{\"code\":\"$c\",\"enabled\":true}", "updated_at", false },
	{ "/v2/templates/$t", "{\"name\":\"a\"}", "{\"name\":\"b\"}", "updatedAt", true },
	{ "/v2/rooms/$r", "{\"description\":\"a\"}", "{\"description\":\"b\"}", "updated_at",
	  true },
	{ "/v2/rooms/$r", "{\"enabled\":false}", "{\"enabled\":true}", "updated_at", true },
	{ "/v2/templates", "{}", "{}", "createdAt", false },
	{ "/v2/templates", "{}", "{}", "id", true },
	{ "/v2/rooms", "{\"template_id\":\"$t\"}", "{\"template_id\":\"$t\"}", "created_at",
	  false },
	{ "/v2/rooms", "{\"template_id\":\"$t\"}", "{\"template_id\":\"$t\"}", "id", true },
};

/* Times and IDs, as texts, are in ascending order. */
START_TEST(times_and_ids_rise_if_clocks_differ)
{
	const char *values[VALUES] = { "", "", "", "", "", "" };
	struct reply first, second;

	values[0] = make(&one, "/v2/templates", "{\"name\":\"one\",\"roles\":{\"host\":{}}}");
	values[1] = make(&one, "/v2/rooms", filled_in("{\"template_id\":\"$t\"}", values));
	first = ask(&one, METHOD_POST, filled_in("/v2/room-codes/room/$r/role/host", values), "{}");
	values[2] = member_of(&first, "code");
	world_close(&two);
	open_responder(&two, url, clock_now(&clock_system) + 3600000);
	for (int i = 0; i < ROWS(late_writes); i++) {
		const char *path = filled_in(late_writes[i].path, values);
		const char *time = late_writes[i].time;

		first = ask(&two, METHOD_POST, path, filled_in(late_writes[i].first, values));
		second = ask(&one, METHOD_POST, path, filled_in(late_writes[i].second, values));
		ck_assert_msg(first.status == 200 && second.status == 200, "row %d: %s", i,
			      first.text);
		ck_assert_msg(strcmp(member_of(&second, time), member_of(&first, time)) >=
				      late_writes[i].rises,
			      "row %d: %s after %s", i, member_of(&second, time),
			      member_of(&first, time));
	}
}
END_TEST

/* ---- one account against the others ---- */

#define CROWD 40

/* The request that one of many threads sends to the first responder. */
struct asker {
	const struct account *account;
	const char *path, *body;
	struct reply reply;
	struct arena *arena;
	pthread_t thread;
};

static void *ask_in_crowd(void *context)
{
	struct asker *member = context;

	member->reply = world_ask(&one, member->arena, member->account, METHOD_POST, member->path,
				  member->body);
	return NULL;
}

static void ask_many(struct asker *members, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		members[i].arena = arena_open();
		ck_assert_int_eq(
			pthread_create(&members[i].thread, NULL, ask_in_crowd, &members[i]), 0);
	}
}

/* Checks that each response is 200, or 409 with a Retry-After; returns the number of 200s. */
static unsigned count_done(struct asker *members, size_t n)
{
	unsigned done = 0;

	for (size_t i = 0; i < n; i++) {
		const struct reply *reply = &members[i].reply;

		pthread_join(members[i].thread, NULL);
		ck_assert_msg(reply->status == 200 ||
				      (reply->status == 409 && reply->retry_after.size > 0),
			      "%d %s", reply->status, reply->text);
		done += reply->status == 200;
		arena_close(members[i].arena);
	}
	return done;
}

#define LATE 10 /* members of the crowd who keep sending requests */
#define HELD_MOST 4
/* Milliseconds for which others write at the same time as the crowd. */
#define BESIDE 2800

/* What the crowd waits for: a room, or a code with a use limit that it exchanges. No token says
 * which account owns the code. */
static const struct {
	bool is_code;
	unsigned accounts;
} crowds[] = { { false, 1 }, { true, 1 }, { false, HELD_MOST } };

/* An account's object that the other responder has locked. */
struct held {
	struct account account;
	const char *path, *body; /* of the call that waits for it */
	struct transaction *transaction;
};

static void hold(struct held *held, bool is_code)
{
	const struct account *own = &held->account;
	struct fault fault = FAULT_INITIAL;
	struct store_record stored;
	struct reply reply;
	const char *room, *code;
	struct id id;

	(void)world_ask(&one, kept, own, METHOD_POST, "/v2/templates",
			"{\"name\":\"t\",\"default\":true,\"roles\":{\"host\":{}}}");
	reply = world_ask(&one, kept, own, METHOD_POST, "/v2/rooms", "{}");
	room = member_of(&reply, "id");
	reply = world_ask(&one, kept, own, METHOD_POST,
			  arena_text(kept, "/v2/room-codes/room/%s/role/host", room),
			  "{\"max_uses\":1000}");
	code = member_of(&reply, "code");
	held->path = is_code ? "/v2/token" : arena_text(kept, "/v2/rooms/%s", room);
	held->body = is_code ? arena_text(kept, "{\"code\":\"%s\"}", code)
			     : "{\"description\":\"x\"}";
	ck_assert(id_parse(slice_of(room), &id));
	ck_assert(
		store_begin(two.environment.store, STORE_WRITE, kept, &held->transaction, &fault));
	store_set_account(held->transaction, &own->id);
	ck_assert(is_code ? store_get_named(held->transaction, &kind_code, slice_of(code),
					    STORE_TO_CHANGE, &stored, &fault)
			  : store_get(held->transaction, &kind_room, &id, STORE_TO_CHANGE, &stored,
				      &fault));
	ck_assert_ptr_nonnull(stored.value.data);
}

/* Returns how often a call conflicted with another one. */
static uint64_t count_conflicts(const struct world *responder)
{
	struct store_figures figures = { 0 };

	store_figures(responder->environment.store, &figures);
	return figures.conflicts;
}

/* Writes of some accounts wait for a lock. Other accounts get connections, and most of the waiting
 * writes get 409 immediately, whether they are first or come later; the ones that keep waiting
 * succeed when the lock is released. */
START_TEST(waiting_writes_leave_connections_to_others)
{
	struct asker members[CROWD], *late = &members[CROWD - LATE];
	struct held held[HELD_MOST];
	struct fault fault = FAULT_INITIAL;
	struct account other;
	uint64_t conflicts;
	int64_t start, took = 0;

	ck_assert(accounts_add(url, &clock_system, "other", &other, &fault));
	for (unsigned i = 0; i < crowds[_i].accounts; i++) {
		ck_assert(accounts_add(url, &clock_system, arena_text(kept, "held %u", i),
				       &held[i].account, &fault));
		hold(&held[i], crowds[_i].is_code);
	}
	for (size_t i = 0; i < CROWD; i++) {
		const struct held *its = &held[i % crowds[_i].accounts];

		members[i] = (struct asker){
			.account = &its->account,
			.path = its->path,
			.body = its->body,
		};
	}
	conflicts = count_conflicts(&one);
	ask_many(members, CROWD - LATE);
	/* Once some have waited briefly, those that may wait for long are all in this crowd. A
	 * late one that did so would outlast the lock: the server ends its transaction after 5 s.
	 */
	start = clock_monotonic();
	while (count_conflicts(&one) - conflicts < crowds[_i].accounts &&
	       clock_monotonic() - start < FLIGHTS_WITHIN)
		sched_yield();
	/* A busy machine may delay one attempt; if all connections are taken, every attempt is
	 * delayed. */
	for (int attempts = 0; attempts < 3; attempts++) {
		start = clock_monotonic();
		do {
			ask_many(late, LATE);
			ck_assert_int_eq(
				world_ask(&one, kept, &other, METHOD_POST, "/v2/templates", "{}")
					.status,
				200);
			(void)count_done(late, LATE);
		} while (clock_monotonic() - start < BESIDE);
		took = clock_monotonic() - start;
		if (took < BESIDE + 1000)
			break;
	}
	ck_assert_int_lt(took, BESIDE + 1000);
	/* Each member of the crowd waited briefly once, in a connection that is reserved for such
	 * calls. */
	ck_assert_uint_le(count_conflicts(&one) - conflicts,
			  crowds[_i].accounts * (CONNECTIONS - CONNECTIONS / 3));
	for (unsigned i = 0; i < crowds[_i].accounts; i++)
		store_abandon(held[i].transaction);
	ck_assert_uint_gt(count_done(members, CROWD - LATE), 0);
	ck_assert_int_eq(
		world_ask(&one, kept, &held[0].account, METHOD_POST, held[0].path, held[0].body)
			.status,
		200);
}
END_TEST

/* Watches the locks of the database for a second; fails if more than half of the connections waited
 * at one time. */
static void *watch_locks(void *context)
{
	bool *is_held = context;

	*is_held = database_execute(
		url,
		arena_text(kept,
			   "DO $$ DECLARE n int; most int := 0; BEGIN FOR i IN 1..500 LOOP"
			   " SELECT count(DISTINCT pid) INTO n FROM pg_locks WHERE NOT granted;"
			   " most := greatest(most, n); PERFORM pg_sleep(0.002); END LOOP;"
			   " IF most = 0 OR most > %d THEN RAISE 'most: %%', most; END IF; END $$",
			   CONNECTIONS / 2));
	return NULL;
}

/* Forty writes at a row that is locked: some wait, in half of the connections at most, and another
 * account reads and writes meanwhile. */
START_TEST(waiting_writes_have_half_of_the_connections)
{
	struct asker members[CROWD];
	struct fault fault = FAULT_INITIAL;
	struct account other;
	struct held held;
	struct reply made;
	const char *path;
	pthread_t watch;
	bool is_held = false;
	int64_t start;

	ck_assert(accounts_add(url, &clock_system, "other", &other, &fault));
	ck_assert(accounts_add(url, &clock_system, "held", &held.account, &fault));
	made = world_ask(&one, kept, &other, METHOD_POST, "/v2/templates", "{}");
	path = arena_text(kept, "/v2/templates/%s", member_of(&made, "id"));
	hold(&held, crowds[_i].is_code);
	for (size_t i = 0; i < CROWD; i++)
		members[i] = (struct asker){
			.account = &held.account,
			.path = held.path,
			.body = held.body,
		};
	ck_assert_int_eq(pthread_create(&watch, NULL, watch_locks, &is_held), 0);
	start = clock_monotonic();
	ask_many(members, CROWD);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(world_ask(&one, kept, &other, METHOD_GET, path, NULL).status, 200);
		ck_assert_int_eq(world_ask(&one, kept, &other, METHOD_POST, path, "{}").status,
				 200);
	}
	ck_assert_int_lt(clock_monotonic() - start, BESIDE);
	pthread_join(watch, NULL);
	store_abandon(held.transaction);
	ck_assert_uint_gt(count_done(members, CROWD), 0);
	ck_assert(is_held);
}
END_TEST

#define BULK_ROOMS 20

/* The bulk request changes the rooms in one order, and each of the other requests changes one of
 * them. */
START_TEST(a_bulk_conflict_is_not_reported_as_a_full_disk)
{
	struct asker members[CROWD];
	struct buffer body = BUFFER_INITIAL(kept);
	const char *paths[BULK_ROOMS];

	(void)make(&one, "/v2/templates", "{\"name\":\"t\",\"default\":true}");
	buffer_append_text(&body, "{\"operations\":[");
	for (size_t i = 0; i < BULK_ROOMS; i++) {
		paths[i] = arena_text(
			kept, "/v2/rooms/%s",
			make(&one, "/v2/rooms", arena_text(kept, "{\"name\":\"r%zu\"}", i)));
		buffer_append_text(&body, arena_text(kept,
						     "%s{\"method\":\"POST\",\"path\":\"%s\","
						     "\"body\":{\"description\":\"x\"}}",
						     i == 0 ? "" : ",", paths[i]));
	}
	buffer_append(&body, (struct slice){ "]}", 3 });
	for (size_t i = 0; i < CROWD; i++) {
		const bool is_bulk = i % 10 == 5;

		members[i] = (struct asker){
			.account = &account,
			.path = is_bulk ? "/v2/bulk" : paths[i * 7 % BULK_ROOMS],
			.body = is_bulk ? body.data : "{\"description\":\"y\"}",
		};
	}
	ask_many(members, CROWD);
	ck_assert_uint_gt(count_done(members, CROWD), 0);
}
END_TEST

/* ---- two responders ---- */

/* The next call of either responder sees each change of the accounts. */
START_TEST(accounts_are_the_same_everywhere)
{
	struct world *const responders[] = { &one, &two };
	struct fault fault = FAULT_INITIAL;
	struct account added;

	for (int round = 0; round < 10; round++) {
		const struct world *other = responders[round % 2];

		ck_assert_int_eq(ask(other, METHOD_GET, "/v2/templates", NULL).status, 200);
		ck_assert(accounts_set_enabled(url, "a", false, NULL, &fault));
		ck_assert_int_eq(ask(other, METHOD_GET, "/v2/templates", NULL).status, 401);
		ck_assert_int_eq(ask(other, METHOD_POST, "/v2/templates", "{}").status, 401);
		ck_assert(accounts_set_enabled(url, "a", true, NULL, &fault));
		ck_assert_int_eq(ask(other, METHOD_POST, "/v2/templates", "{}").status, 200);
	}
	ck_assert(accounts_add(url, &clock_system, "new", &added, &fault));
	account = added;
	ck_assert_int_eq(ask(&one, METHOD_GET, "/v2/templates", NULL).status, 200);
	ck_assert_int_eq(ask(&two, METHOD_GET, "/v2/templates", NULL).status, 200);
}
END_TEST

/* The caller, at a service that does not know yet what another process did to the account. */
enum caller { UNCHANGED, ADDED, DISABLED, STRANGER };

static const struct {
	enum caller caller;
	const char *path; /* calls of /v2/session have no transaction */
	bool is_away; /* database unavailable; otherwise it closed the idle connections */
	int status;
} looks[] = {
	{ UNCHANGED, "/v2/templates", false, 200 }, { UNCHANGED, "/v2/session", false, 200 },
	{ ADDED, "/v2/templates", false, 200 },	    { ADDED, "/v2/session", false, 200 },
	{ DISABLED, "/v2/templates", false, 401 },  { DISABLED, "/v2/session", false, 401 },
	{ STRANGER, "/v2/templates", false, 401 },  { STRANGER, "/v2/session", false, 401 },
	{ UNCHANGED, "/v2/templates", true, 503 },  { UNCHANGED, "/v2/session", true, 503 },
	{ ADDED, "/v2/templates", true, 503 },	    { ADDED, "/v2/session", true, 503 },
	{ DISABLED, "/v2/templates", true, 503 },   { DISABLED, "/v2/session", true, 503 },
	{ STRANGER, "/v2/templates", true, 503 },   { STRANGER, "/v2/session", true, 503 },
};

static struct account make_caller(enum caller caller, int row)
{
	const char *name = arena_text(kept, "caller %d", row);
	struct account made = account;
	struct fault fault = FAULT_INITIAL;

	if (caller == DISABLED)
		ck_assert(accounts_add(url, &clock_system, name, &made, &fault));
	ck_assert_int_eq(world_ask(&one, kept, &made, METHOD_GET, "/v2/templates", NULL).status,
			 200);
	if (caller == ADDED)
		ck_assert(accounts_add(url, &clock_system, name, &made, &fault));
	if (caller == DISABLED)
		ck_assert(accounts_set_enabled(url, name, false, NULL, &fault));
	if (caller == STRANGER)
		made.secrets[0].text[0] ^= 1;
	return made;
}

/* Each row has its own responder: a responder whose connections are cut again and again would treat
 * the database as unavailable. */
START_TEST(a_token_is_checked_against_the_current_accounts_or_not_at_all)
{
	for (int i = 0; i < ROWS(looks); i++) {
		struct account caller;
		struct reply reply;

		world_close(&one);
		open_responder(&one, relayed, 0);
		caller = make_caller(looks[i].caller, i);
		relay_refuse(looks[i].is_away);
		relay_cut_all();
		reply = world_ask(&one, kept, &caller, METHOD_GET, looks[i].path, NULL);
		ck_assert_msg(reply.status == looks[i].status, "row %d: %d %s", i, reply.status,
			      reply.text);
		relay_refuse(false);
	}
}
END_TEST

/* Changes accounts until it is terminated; a termination is not a success. */
static void *change_for_long(void *context)
{
	(void)context;
	ck_assert(!database_execute(url, "SELECT FROM roster FOR UPDATE; SELECT pg_sleep(60)"));
	return NULL;
}

/* The server ends the wait for the lock before the connection counts as lost. */
START_TEST(a_change_of_the_accounts_reports_a_concurrent_one)
{
	struct store_roster_change *change;
	struct fault fault = FAULT_INITIAL;
	struct slice text;
	pthread_t other;
	int64_t start;

	ck_assert_int_eq(pthread_create(&other, NULL, change_for_long, NULL), 0);
	while (!database_execute(url, "SELECT 1 / count(*) FROM pg_stat_activity"
				      " WHERE wait_event = 'PgSleep'"))
		continue;
	start = clock_monotonic();
	ck_assert(!store_postgres_roster_begin(url, kept, &change, &text, &fault));
	ck_assert_int_lt(clock_monotonic() - start, LOST_AFTER);
	ck_assert_str_eq(fault.cause, "another command is changing the accounts");
	store_postgres_roster_end(change);
	ck_assert(database_execute(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
					" WHERE wait_event = 'PgSleep'"));
	ck_assert_int_eq(pthread_join(other, NULL), 0);
}
END_TEST

#define WRITERS 4
#define WRITES 40

struct writer {
	const struct world *responder;
	struct arena *arena;
	unsigned number;
	unsigned made, refused, wrong;
};

/* All threads create rooms with the same names; each name is taken once. */
static void *write_rooms(void *context)
{
	struct writer *writer = context;

	for (unsigned i = 0; i < WRITES; i++) {
		struct arena *arena = arena_open();
		struct call call = { .arena = arena };
		const char *body = arena_text(arena, "{\"name\":\"t%u\",\"roles\":{\"r%u\":{}}}", i,
					      writer->number);

		call.request = world_request(writer->responder, arena, &account, METHOD_POST,
					     "/v2/templates", body);
		call.request.if_none_match = SLICE("*");
		world_answer(writer->responder, &call);
		writer->made += call.answer.status == 200;
		writer->refused += call.answer.status == 412;
		writer->wrong += call.answer.status != 200 && call.answer.status != 412;
		arena_close(arena);
	}
	return NULL;
}

START_TEST(a_name_is_given_once)
{
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	unsigned made = 0, refused = 0;

	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .responder = i % 2 == 0 ? &one : &two, .number = i };
		ck_assert_int_eq(pthread_create(&threads[i], NULL, write_rooms, &writers[i]), 0);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		ck_assert_uint_eq(writers[i].wrong, 0);
		made += writers[i].made;
		refused += writers[i].refused;
	}
	ck_assert_uint_eq(made, WRITES);
	ck_assert_uint_eq(refused, WRITES * (WRITERS - 1));
}
END_TEST

/* ---- places of rooms ---- */

#define IN_POOL(name, is_default) \
	"{\"name\":\"" name \
	"\",\"type\":\"janus\",\"url\":\"ws://h\",\"pool\":\"p\",\"default\":" is_default \
	",\"config\":{\"secret\":\"s\"}}"
#define COMERS 4
#define PLACED_ROOMS 10

struct comer {
	const struct world *responder;
	pthread_t thread;
	struct arena *arena;
	const char *body;
	struct reply reply;
};

static void *come(void *context)
{
	struct comer *comer = context;

	comer->reply = world_ask(comer->responder, comer->arena, &account, METHOD_POST, "/v2/token",
				 comer->body);
	return NULL;
}

START_TEST(a_room_is_placed_once)
{
	struct comer comers[COMERS];
	struct reply reply;

	(void)make(&one, "/v2/backends", IN_POOL("a", "true"));
	(void)make(&one, "/v2/backends", IN_POOL("b", "false"));
	(void)make(&one, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	for (int n = 0; n < PLACED_ROOMS; n++) {
		const char *room = make(&one, "/v2/rooms", "{}");
		const char *path = arena_text(kept, "/v2/room-codes/room/%s/role/host", room);
		const char *code, *place;

		reply = ask(&one, METHOD_POST, path, "{}");
		code = member_of(&reply, "code");
		for (int i = 0; i < COMERS; i++) {
			comers[i] = (struct comer){ .responder = i % 2 == 0 ? &one : &two,
						    .arena = arena_open(),
						    .body = arena_text(kept, "{\"code\":\"%s\"}",
								       code) };
			ck_assert_int_eq(pthread_create(&comers[i].thread, NULL, come, &comers[i]),
					 0);
		}
		for (int i = 0; i < COMERS; i++)
			ck_assert_int_eq(pthread_join(comers[i].thread, NULL), 0);
		reply = ask(&two, METHOD_GET, arena_text(kept, "/v2/rooms/%s", room), NULL);
		place = arena_text(kept, "\"join\":{\"backend\":\"%s\"",
				   member_of(&reply, "backend"));
		for (int i = 0; i < COMERS; i++) {
			ck_assert_int_eq(comers[i].reply.status, 200);
			ck_assert_msg(strstr(comers[i].reply.text, place) != NULL, "%s: %s", place,
				      comers[i].reply.text);
			arena_close(comers[i].arena);
		}
	}
}
END_TEST

/* ---- codes of other accounts ---- */

#define ASKED_MOST 20
#define ASKED_AT_ONCE 16

static const char *role_of(const struct account *owner, const char *code)
{
	const char *path;
	struct reply reply;

	reply = world_ask(&one, kept, owner, METHOD_POST, "/v2/templates",
			  "{\"default\":true,\"roles\":{\"host\":{}}}");
	ck_assert_int_eq(reply.status, 200);
	reply = world_ask(&one, kept, owner, METHOD_POST, "/v2/rooms", "{}");
	path = arena_text(kept, "/v2/room-codes/room/%s/role/host", member_of(&reply, "id"));
	if (code != NULL) {
		reply = world_ask(&one, kept, owner, METHOD_POST, path, code);
		ck_assert_int_eq(reply.status, 200);
	}
	return path;
}

struct asking {
	const struct world *responder;
	const char *path;
	struct arena *arena;
	int taken, refused;
};

static void *ask_for_taken(void *context)
{
	struct asking *asking = context;

	for (int i = 0; i < ASKED_MOST / 4; i++) {
		struct reply reply;

		/* All of them want the record of one room; who has waited in vain asks again. */
		do {
			reply = world_ask(asking->responder, asking->arena, &account, METHOD_POST,
					  asking->path, "{\"code\":\"taken-words\"}");
		} while (strstr(reply.text, "Too busy") != NULL);
		asking->taken += reply.status == 409;
		asking->refused += reply.status == 429 && reply.retry_after.size > 0;
	}
	return NULL;
}

/* Two processes request the codes at the same time. */
START_TEST(requests_for_taken_codes_are_counted_per_account)
{
	struct asking askings[ASKED_AT_ONCE];
	pthread_t threads[ASKED_AT_ONCE];
	struct fault fault = FAULT_INITIAL;
	struct account other;
	const char *own;
	int taken = 0, refused = 0;

	ck_assert(accounts_add(url, &clock_system, "other", &other, &fault));
	(void)role_of(&other, "{\"code\":\"taken-words\"}");
	own = role_of(&account, NULL);
	for (int i = 0; i < ASKED_AT_ONCE; i++) {
		askings[i] = (struct asking){ .responder = i % 2 == 0 ? &one : &two,
					      .path = own,
					      .arena = arena_open() };
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_for_taken, &askings[i]), 0);
	}
	for (int i = 0; i < ASKED_AT_ONCE; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		arena_close(askings[i].arena);
		taken += askings[i].taken;
		refused += askings[i].refused;
	}
	ck_assert_int_eq(taken, ASKED_MOST);
	ck_assert_int_eq(refused, ASKED_AT_ONCE * ASKED_MOST / 4 - ASKED_MOST);
	ck_assert_int_eq(ask(&two, METHOD_POST, own, "{}").status, 200);
	world_close(&two);
	open_responder(&two, url, 0);
	ck_assert_int_eq(ask(&two, METHOD_POST, own, "{\"code\":\"free-words\"}").status, 429);
}
END_TEST

void add_sharing(TCase *calls)
{
	tcase_add_test(calls, times_and_ids_rise_if_clocks_differ);
	tcase_add_test(calls, accounts_are_the_same_everywhere);
	tcase_add_test(calls, a_token_is_checked_against_the_current_accounts_or_not_at_all);
	tcase_add_test(calls, a_change_of_the_accounts_reports_a_concurrent_one);
	tcase_add_test(calls, a_name_is_given_once);
	tcase_add_test(calls, a_room_is_placed_once);
	tcase_add_loop_test(calls, waiting_writes_leave_connections_to_others, 0, ROWS(crowds));
	tcase_add_loop_test(calls, waiting_writes_have_half_of_the_connections, 0, 2);
	tcase_add_test(calls, a_bulk_conflict_is_not_reported_as_a_full_disk);
	tcase_add_test(calls, requests_for_taken_codes_are_counted_per_account);
}
