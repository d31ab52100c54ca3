/* The driver for PostgreSQL, below the service: how many round trips calls take, and what happens
 * when a connection is cut at any byte, when the server is unavailable, and when two processes
 * share a store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "base/clock.h"
#include "database.h"
#include "directory.h"
#include "relay.h"
#include "resources/audit.h"
#include "resources/events/audit_record.h"
#include "resources/live/live_merge.h"
#include "background/join_log.h"
#include "records/kinds.h"
#include "responder.h"
#include "background/keeper.h"
#include "service/routes.h"
#include "store/figures.h"
#include "store/postgres/store_postgres.h"
#include "suite.h"

static char *directory, *url, *relayed;
static struct responder one, two;
static struct arena *kept; /* the responses of a test */
static struct account account;

static void set_up(void)
{
	struct fault fault = FAULT_INITIAL;

	kept = arena_open();
	directory = directory_make();
	url = database_store();
	relayed = database_url_over(url, directory);
	ck_assert(accounts_add(url, &clock_system, "a", &account, &fault));
	relay_open(directory, database_host());
	responder_open(&one, relayed, &clock_system);
	responder_open(&two, url, &clock_system);
}

static void tear_down(void)
{
	responder_close(&one);
	responder_close(&two);
	relay_close();
	free(relayed);
	free(url);
	directory_remove(directory);
	arena_close(kept);
}

/* ---- calls ---- */

static struct reply ask(const struct responder *responder, enum method method, const char *path,
			const char *body)
{
	return responder_ask(responder, &account, kept, method, path, body, NULL);
}

static const char *member_of(const struct reply *reply, const char *name)
{
	json_t *object = json_loads(reply->text, 0, NULL);
	const char *value = json_string_value(json_object_get(object, name));

	ck_assert_msg(value != NULL, "%s: %d %s", name, reply->status, reply->text);
	value = arena_copy(kept, slice_of(value)).data;
	json_decref(object);
	return value;
}

static const char *make(const struct responder *responder, const char *path, const char *body)
{
	struct reply reply = ask(responder, METHOD_POST, path, body);

	return member_of(&reply, "id");
}

/* ---- round trips ---- */

/* The first connection reads the tables, the second one runs calls. */
#define CALLS 1
/* In milliseconds. */
#define FLIGHTS_WITHIN 5000

#define ROOM_WITH_CODES(ref) \
	"{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"ref\":\"" ref "\"}," \
	"{\"method\":\"POST\",\"path\":\"/v2/room-codes/room/{" ref "}\"}"
#define LIVEKIT \
	"{\"name\":\"b\",\"type\":\"livekit\",\"url\":\"wss://h\",\"default\":true,\"config\":{" \
	"\"api_key\":\"k\",\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}"

static const struct {
	enum method method;
	/* May contain $t, $r, $c, $s and $l: template, room, code, spare room, the code's letters;
	 * may end with an Idempotency-Key. */
	const char *path;
	const char *body;
	int status;
	unsigned flights;
} trips[] = {
	{ METHOD_GET, "/v2/templates/$t", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/roles/host", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/settings", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/recordings", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?limit=100", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name=one", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?default=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name_prefix=o&default=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name_prefix=o&start=a", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?q=o", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?view=summary", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?view=summary&name=one", NULL, 200, 1 },
	{ METHOD_GET, "/v2/template-summaries", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms/$r", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?enabled=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?template_id=$t", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name=room", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name_prefix=ro", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?q=ro&enabled=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name_prefix=ro&enabled=true&start=A", NULL, 200, 1 },
	{ METHOD_GET, "/v2/room-codes/room/$r", NULL, 200, 1 },
	{ METHOD_POST, "/v2/room-codes/room/$r", "{}", 200, 1 },
	{ METHOD_GET, "/v2/room-codes/code/$c", NULL, 200, 1 },
	/* The account's first exchange creates the key for the hashes of codes. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 1 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"abc-defg-hij\"}", 404, 1 },
	/* Ten letters, which may be a custom code or three groups. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"abcdefghij\"}", 404, 1 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$l\"}", 200, 1 },
	{ METHOD_POST, "/v2/livekit/$l", "{}", 409, 1 },
	{ METHOD_GET, "/v2/join/$l", NULL, 200, 1 },
	{ METHOD_GET, "/v2/join/$c", NULL, 200, 1 },
	{ METHOD_GET, "/v2/backends", NULL, 200, 1 },
	/* How far the log goes, all its entries, and the end of the snapshot. */
	{ METHOD_GET, "/v2/events?limit=100", NULL, 200, 3 },
	{ METHOD_GET, "/v2/events?type=no.thing", NULL, 200, 3 },
	{ METHOD_GET, "/v2/events?before=0&limit=100", NULL, 200, 3 },
	/* Whether another account has the new ID is known only when there is an ID. */
	{ METHOD_POST, "/v2/backends", LIVEKIT, 200, 3 },
	/* For a media server that says who is inside, an exchange reads whether somebody has the
	 * name. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"name\":\"Ada\"}", 200, 2 },
	/* Only after reading the room is it known that who is inside matters; reading that takes a
	 * snapshot. */
	{ METHOD_PATCH, "/v2/rooms/$r", "{\"size\":5}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 5 },
	{ METHOD_PATCH, "/v2/rooms/$r", "{\"size\":0}", 200, 2 },
	/* Whom a ban is of is looked up by its name, which nothing announces. */
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"m\",\"room_id\":\"$r\"}", 200, 3 },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"m\",\"room_id\":\"$r\",\"reason\":\"x\"}", 200,
	  3 },
	{ METHOD_GET, "/v2/bans", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans?room_id=$r", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans?user_id=m", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans/000000000000000000000001", NULL, 404, 1 },
	{ METHOD_DELETE, "/v2/bans/000000000000000000000001", NULL, 404, 2 },
	/* Only the code says that people wait. Each run of an exchange also looks for bans. */
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"admission\":\"ask\"}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 403, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"wait\":true}", 202, 6 },
	{ METHOD_GET, "/v2/active-rooms/$r/tickets", NULL, 200, 5 },
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 1 },
	{ METHOD_POST, "/v2/active-rooms/$r/tickets", "{\"admit\":\"all\"}", 200, 2 },
	/* Only the ticket and its door say that it is exchanged, and the media record that there
	 * are bans. */
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 4 },
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 4 },
	{ METHOD_GET, "/v2/tickets/0123456789012345678901234567890123456789012", NULL, 404, 1 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"admission\":null}", 200, 2 },
	/* With bans, an exchange reads once more. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"user_id\":\"a\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"user_id\":\"m\"}", 403, 2 },
	{ METHOD_GET, "/v2/join/$c", NULL, 200, 1 },
	{ METHOD_GET, "/v2/signing-keys", NULL, 200, 1 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"ES256\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/code", "{\"code\":\"$c\",\"enabled\":false}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/code", "{\"code\":\"$c\",\"enabled\":true}", 200, 2 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"label\":\"x\"}", 200, 2 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"max_uses\":2}", 200, 2 },
	/* Only after reading the code is it known that it counts uses, and then the bans are read
	 * again. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 6 },
	{ METHOD_GET, "/v2/room-codes/room/$r?state=active", NULL, 200, 1 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host", "{\"expires_in\":60}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host", "{\"code\":\"own-words\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host/rotate", "{}", 200, 3 },
	{ METHOD_DELETE, "/v2/room-codes/code/$c", NULL, 204, 2 },
	{ METHOD_POST, "/v2/rooms key", "{\"name\":\"keyed\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r other-key", "{\"description\":\"x\"}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/settings settings-key", "{}", 200, 2 },
	{ METHOD_POST, "/v2/bulk",
	  "{\"operations\":[" ROOM_WITH_CODES("a") "," ROOM_WITH_CODES("b") "]}", 200, 7 },
	{ METHOD_POST, "/v2/bulk",
	  "{\"operations\":[" ROOM_WITH_CODES("a") "," ROOM_WITH_CODES("b") "," ROOM_WITH_CODES(
		  "c") "]}",
	  200, 7 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"two\"}", 200, 2 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"one\",\"roles\":{\"host\":{}}}", 200, 2 },
	{ METHOD_POST, "/v2/templates", "{}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t", "{\"name\":\"one\",\"default\":true}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/recordings", "[{\"name\":\"a\",\"role\":\"host\"}]", 200,
	  2 },
	{ METHOD_POST, "/v2/templates/$t/roles/host", "{}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/roles/new", "{}", 200, 2 },
	{ METHOD_DELETE, "/v2/templates/$t/roles/new", NULL, 204, 2 },
	{ METHOD_PATCH, "/v2/templates/$t", "{\"name\":\"other\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"another\",\"template_id\":\"$t\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"third\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"third\",\"description\":\"x\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r", "{\"enabled\":true}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r", "{\"name\":\"renamed\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$s", "{}", 200, 3 },
	{ METHOD_POST, "/v2/room-codes/room/$s/role/host", "{}", 200, 2 },
	/* With bans, those from the room are read. */
	{ METHOD_DELETE, "/v2/rooms/$s", NULL, 204, 3 },
};

/* k is the ticket that was answered last; those that follow are set by `more_trips`. */
static const char letters[] = "trcslkbwdnjpux";
#define VALUES (sizeof letters - 1)

static const char *filled_in(const char *text, const char *const values[VALUES])
{
	struct buffer filled = BUFFER_INITIAL(kept);

	if (text == NULL)
		return NULL;
	for (; *text != '\0'; text++) {
		const char *place = *text == (char)36 ? strchr(letters, text[1]) : NULL;

		if (place == NULL) {
			buffer_append_byte(&filled, *text);
			continue;
		}
		buffer_append_text(&filled, values[place - letters]);
		text++;
	}
	buffer_append_byte(&filled, '\0');
	return filled.data;
}

static struct reply ask_with_key(enum method method, const char *path, const char *body)
{
	const char *space = strchr(path, ' ');
	const size_t size = space == NULL ? strlen(path) : (size_t)(space - path);

	return responder_ask(&one, &account, kept, method,
			     arena_copy(kept, (struct slice){ path, size }).data, body,
			     space == NULL ? NULL : space + 1);
}

/* Does what a thread of the service does. */
static void number_entries(void)
{
	const struct audit_times times = { .now = clock_now(&clock_system) };
	struct audit_numbering numbering = { .left_count = 0 };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_begin(two.environment.store, STORE_WRITE, kept, &transaction, &fault));
	ck_assert(audit_number(transaction, &times, &numbering, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
}

/* Returns the number of round trips since `before`. Waits for the expected number and for the
 * response to the last one, because a snapshot ends after the response, and what the server still
 * has to send would be counted with the next call. */
static unsigned flights_since(unsigned before, unsigned expected)
{
	const int64_t until = clock_monotonic() + FLIGHTS_WITHIN;

	while ((relay_flights(CALLS) - before < expected || relay_awaits(CALLS)) &&
	       clock_monotonic() < until)
		sched_yield();
	return relay_flights(CALLS) - before;
}

START_TEST(calls_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { "", "", "", "", "", "" };
	struct reply reply;
	unsigned before, flights;

	values[0] =
		make(&one, "/v2/templates",
		     "{\"name\":\"one\",\"roles\":{\"host\":{},\"guest\":{}},\"default\":true}");
	values[1] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	values[3] = make(&one, "/v2/rooms", "{\"name\":\"spare\"}");
	reply = ask(&one, METHOD_POST, filled_in("/v2/room-codes/room/$r", values), "{}");
	ck_assert_msg(reply.status == 200, "%s", reply.text);
	values[2] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"code\":\"") + 8, 12 }).data;
	values[4] = arena_text(kept, "%.3s%.4s%.3s", values[2], values[2] + 4, values[2] + 9);
	number_entries();
	for (int i = 0; i < ROWS(trips); i++) {
		before = relay_flights(CALLS);
		reply = ask_with_key(trips[i].method, filled_in(trips[i].path, values),
				     filled_in(trips[i].body, values));
		ck_assert_msg(reply.status == trips[i].status, "row %d: %d %s", i, reply.status,
			      reply.text);
		if (strstr(reply.text, "\"ticket\":") != NULL)
			values[5] = member_of(&reply, "ticket");
		flights = flights_since(before, trips[i].flights);
		ck_assert_msg(flights == trips[i].flights, "row %d, %s %s: %u round trips", i,
			      method_name(trips[i].method), trips[i].path, flights);
	}
}
END_TEST

/* Somebody who knocks would wait for the record of the door, so a worker does not handle the
 * call to its end; others are answered at once. */
START_TEST(people_who_knock_wait_outside_the_workers)
{
	static const char *const waits[] = { "false", "true" };
	const char *room, *code;
	struct reply reply;

	make(&one, "/v2/templates",
	     "{\"roles\":{\"guest\":{\"admission\":\"ask\"}},\"default\":true}");
	room = make(&one, "/v2/rooms", "{}");
	reply = ask(&one, METHOD_POST, arena_text(kept, "/v2/room-codes/room/%s/role/guest", room),
		    "{}");
	code = member_of(&reply, "code");
	for (int i = 0; i < ROWS(waits); i++) {
		struct call call = {
			.arena = kept,
			.may_be_deferred = true,
			.request = {
				.method = METHOD_POST,
				.uri = SLICE("/v2/token"),
				.body = slice_of(arena_text(kept, "{\"code\":\"%s\",\"wait\":%s}",
							    code, waits[i])),
				.address = SLICE("192.0.2.1"),
			},
		};

		ck_assert(service_answer(one.service, &call) == (i == 0));
		ck_assert(call.is_serial == (i == 1));
		ck_assert(i == 0 || service_answer(one.service, &call));
		ck_assert_int_eq(call.answer.status, i == 0 ? 403 : 202);
	}
}
END_TEST

/* Tells of a person who joined, as a media server does. */
static void join_room(const char *backend, const char *room, const char *stay)
{
	struct news news = {
		.type = NEWS_JOINED,
		.room = { .name = slice_of(room), .id = SLICE("RM_1"), .created = 1 },
		.person = { .stay = slice_of(stay), .identity = slice_of(stay), .joined = 1000 },
		.time = clock_now(&clock_system),
	};
	struct merging merging = { .news = &news, .count = 1 };
	struct call call = {
		.environment = &two.environment,
		.arena = kept,
		.account = account.id,
		.actor.kind = ACTOR_SERVICE,
		.now = news.time,
	};
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	news.person.name = news.person.user_id = news.person.role = news.person.metadata =
		news.person.entry = news.person.code = slice_of(stay);
	ck_assert(id_parse(slice_of(room), &merging.room) &&
		  id_parse(slice_of(backend), &merging.backend));
	ck_assert(store_begin(two.environment.store, STORE_WRITE, kept, &call.transaction, &fault));
	call_set_account(&call);
	call_draw_etag(&call);
	ck_assert(live_merge(&call, &merging, &fault) && audit_write(&call, &fault) &&
		  store_commit(call.transaction, &number, &fault));
}

/* Which session a live room has, and which sessions a list has, is known only when the room or the
 * list has been read. What is read after that is read in a snapshot, whose end is a round trip,
 * too. */
static const struct {
	enum method method;
	const char *path; /* with $t and $r: session, room */
	int status;
	unsigned flights;
} live_trips[] = {
	{ METHOD_GET, "/v2/active-rooms/$r", 200, 5 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers", 200, 4 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers?role=a", 200, 4 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers/x", 404, 4 },
	{ METHOD_GET, "/v2/active-rooms/$s", 404, 1 },
	{ METHOD_GET, "/v2/active-rooms/000000000000000000000001", 404, 1 },
	{ METHOD_GET, "/v2/active-rooms/$r/me", 403, 0 },
	{ METHOD_GET, "/v2/sessions/$t", 200, 1 },
	{ METHOD_GET, "/v2/sessions/$t/peers", 200, 1 },
	{ METHOD_GET, "/v2/sessions/$t/attendance.csv", 200, 1 },
	{ METHOD_GET, "/v2/sessions", 200, 4 },
	{ METHOD_GET, "/v2/sessions?active=false", 200, 1 },
	{ METHOD_GET, "/v2/sessions?room_id=$s", 200, 1 },
	{ METHOD_GET, "/v2/usage", 200, 1 },
	{ METHOD_GET, "/v2/usage?after=2026-01-01&before=2026-01-31", 200, 1 },
	{ METHOD_DELETE, "/v2/sessions/$t", 409, 2 },
	{ METHOD_DELETE, "/v2/sessions/000000000000000000000001", 404, 2 },
};

START_TEST(calls_about_live_rooms_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { "", "", "", "", "", "" };
	const char *backend = make(&one, "/v2/backends", LIVEKIT);
	struct reply reply;
	unsigned before, flights;

	make(&one, "/v2/templates", "{\"name\":\"one\",\"roles\":{\"host\":{}},\"default\":true}");
	values[1] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	values[3] = make(&one, "/v2/rooms", "{\"name\":\"spare\"}");
	join_room(backend, values[1], "a");
	join_room(backend, values[1], "b");
	before = relay_flights(CALLS);
	reply = ask(&one, METHOD_GET, "/v2/sessions", NULL);
	ck_assert_uint_eq(flights_since(before, 4), 4);
	ck_assert_msg(strstr(reply.text, "\"id\":\"") != NULL, "%s", reply.text);
	values[0] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"id\":\"") + 6, 24 }).data;
	for (int i = 0; i < ROWS(live_trips); i++) {
		before = relay_flights(CALLS);
		reply = ask(&one, live_trips[i].method, filled_in(live_trips[i].path, values),
			    NULL);
		ck_assert_msg(reply.status == live_trips[i].status, "row %d: %d %s", i,
			      reply.status, reply.text);
		flights = flights_since(before, live_trips[i].flights);
		ck_assert_msg(flights == live_trips[i].flights, "row %d, %s %s: %u round trips", i,
			      method_name(live_trips[i].method), live_trips[i].path, flights);
	}
}
END_TEST

#define NO_TICKET "0123456789012345678901234567890123456789012"
#define NOTHING "000000000000000000000001"
#define BACKEND_AGAIN \
	"{\"name\":\"b\",\"type\":\"livekit\",\"url\":\"wss://h\",\"default\":true,\"config\":{" \
	"\"api_key\":\"k\"}}"

/* The routes that need no row of their own above. The room is in session, with one peer; no media
 * server can be asked. */
static const struct {
	enum method method;
	const char *path; /* as in `trips`, also with the letters that rows set */
	const char *body;
	int status;
	unsigned flights;
	const char *sets; /* letter and member: the letter stands for that member of the response */
	char bearer; /* letter of a token that is sent in place of the account's */
} more_trips[] = {
	{ METHOD_GET, "/v2/templates/$t/destinations", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/templates/$t/destinations", "{}", 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/destinations", "{}", 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/settings", "{\"region\":\"eu\"}", 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/templates/$t/roles", NULL, 200, 1, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/roles/host", "{\"priority\":2}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"gone\"}", 200, 2, "x id", 0 },
	{ METHOD_DELETE, "/v2/templates/$x", NULL, 204, 3, NULL, 0 },
	{ METHOD_GET, "/v2/room-summaries", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/room-codes/code/$c", "{\"enabled\":true}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/import", "{\"templates\":[{\"name\":\"imported\"}]}", 200, 5, NULL, 0 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 2, "j token", 0 },
	{ METHOD_POST, "/v2/token/join", "{}", 200, 2, NULL, 'j' },
	{ METHOD_DELETE, "/v2/tickets/" NO_TICKET, NULL, 404, 2, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/tickets/" NOTHING, "{\"state\":\"denied\"}", 404, 3,
	  NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/peers/$p", "{\"name\":\"x\"}", 501, 6, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/peers/$p/mute", "{\"type\":\"audio\",\"mute\":true}",
	  501, 5, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/send-message", "{\"message\":\"x\"}", 501, 4, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/remove-peers", "{\"peer_id\":\"$p\"}", 501, 4, NULL,
	  0 },
	{ METHOD_POST, "/v2/active-rooms/$r/end-room", "{}", 501, 3, NULL, 0 },
	{ METHOD_GET, "/v2/backends/$b", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b", BACKEND_AGAIN, 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/backends/$b", "{\"ttl\":90}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b/test", "{}", 501, 1, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b/events", "{}", 204, 0, NULL, 0 },
	/* The session of the room closes, and who is inside leaves. */
	{ METHOD_DELETE, "/v2/backends/$b", NULL, 204, 15, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\"}", 200, 5, "w id", 0 },
	{ METHOD_GET, "/v2/webhooks", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/webhooks/$w", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w", "{\"url\":\"https://b.example/\"}", 200, 3, NULL, 0 },
	{ METHOD_PATCH, "/v2/webhooks/$w", "{\"description\":\"x\"}", 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/rotate", "{}", 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/test", "{}", 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/webhooks/$w/deliveries", NULL, 200, 4, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/deliveries/" NOTHING "/retry", "{}", 404, 3, NULL, 0 },
	{ METHOD_DELETE, "/v2/webhooks/$w", NULL, 204, 5, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"EdDSA\"}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"EdDSA\"}", 200, 2, "d kid", 0 },
	{ METHOD_GET, "/v2/signing-keys/$d", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys/$d/activate", "{}", 200, 2, NULL, 0 },
	{ METHOD_DELETE, "/v2/signing-keys/$d", NULL, 204, 2, NULL, 0 },
	{ METHOD_POST, "/v2/keys", "{\"name\":\"a\",\"scopes\":[\"rooms:read\"]}", 200, 2, "n id",
	  0 },
	{ METHOD_GET, "/v2/keys", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/keys/$n", NULL, 200, 1, NULL, 0 },
	{ METHOD_PATCH, "/v2/keys/$n", "{\"name\":\"b\"}", 200, 2, NULL, 0 },
	{ METHOD_DELETE, "/v2/keys/$n", NULL, 204, 2, NULL, 0 },
	{ METHOD_GET, "/v2/jwks/$u.json", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/jwks/$u/0000.pem", NULL, 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/session", NULL, 200, 1, NULL, 0 },
	{ METHOD_DELETE, "/v2/session", NULL, 204, 1, NULL, 0 },
	{ METHOD_GET, "/v2/service/metrics", NULL, 403, 1, NULL, 0 },
	{ METHOD_GET, "/v2/service/history", NULL, 403, 1, NULL, 0 },
	{ METHOD_GET, "/v2/openapi.json", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/healthz", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/readyz", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/metrics", NULL, 200, 0, NULL, 0 },
};

/* Routes without a row, and why. */
static const struct {
	const char *name, *reason;
} without_trips[] = {
	{ "beginSession", "its credentials are checked as those of any call" },
	{ "getRoomCodeQr", "it reads what getRoomCode reads, and may be missing in a build" },
};

static size_t place_of(char letter)
{
	return (size_t)(strchr(letters, letter) - letters);
}

static struct reply ask_with_bearer(enum method method, const char *path, const char *body,
				    const char *token)
{
	const struct request request = {
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body),
		.authorization = slice_of(arena_text(kept, "Bearer %s", token)),
		.address = SLICE("192.0.2.1"),
	};

	return responder_send(&one, kept, &request);
}

START_TEST(other_calls_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { NULL };
	struct buffer wrong = BUFFER_INITIAL(kept);
	struct reply reply;
	unsigned before, flights;

	values[place_of('u')] = account.id_text;
	values[place_of('b')] = make(&one, "/v2/backends", LIVEKIT);
	values[place_of('t')] = make(&one, "/v2/templates",
				     "{\"name\":\"one\",\"roles\":{\"host\":{}},\"default\":true}");
	values[place_of('r')] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	reply = ask(&one, METHOD_POST, filled_in("/v2/room-codes/room/$r/role/host", values), "{}");
	values[place_of('c')] = member_of(&reply, "code");
	join_room(values[place_of('b')], values[place_of('r')], "a");
	before = relay_flights(CALLS);
	reply = ask(&one, METHOD_GET, filled_in("/v2/active-rooms/$r/peers", values), NULL);
	ck_assert_uint_eq(flights_since(before, 4), 4);
	ck_assert_msg(strstr(reply.text, "\"id\":\"") != NULL, "%s", reply.text);
	values[place_of('p')] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"id\":\"") + 6, 36 }).data;
	for (int i = 0; i < ROWS(more_trips); i++) {
		const char *path = filled_in(more_trips[i].path, values);
		const char *body = filled_in(more_trips[i].body, values);
		const char *sets = more_trips[i].sets;

		before = relay_flights(CALLS);
		reply = more_trips[i].bearer == 0
				? ask(&one, more_trips[i].method, path, body)
				: ask_with_bearer(more_trips[i].method, path, body,
						  values[place_of(more_trips[i].bearer)]);
		flights = flights_since(before, more_trips[i].flights);
		if (reply.status != more_trips[i].status || flights != more_trips[i].flights)
			buffer_append_text(&wrong,
					   arena_text(kept, "\n%s %s: %d, %u round trips %.200s",
						      method_name(more_trips[i].method), path,
						      reply.status, flights, reply.text));
		if (sets != NULL && reply.status == 200)
			values[place_of(sets[0])] = member_of(&reply, sets + 2);
	}
	buffer_append_byte(&wrong, '\0');
	ck_assert_msg(wrong.size == 1, "unexpected:%s", wrong.data);
}
END_TEST

/* Returns true if a row's path, without query and key, is one of the route. */
static bool is_of_route(const struct route *route, enum method method, const char *path)
{
	const char *at = route->path;
	const size_t size = strcspn(path, "? ");
	const char *const end = path + size;

	if (method != route->method)
		return false;
	while (*at != '\0' && path < end) {
		if (*at != '{') {
			if (*at++ != *path++)
				return false;
			continue;
		}
		at = strchr(at, '}') + 1;
		while (path < end && *path != '/' && *path != *at)
			path++;
	}
	return *at == '\0' && path == end;
}

static bool has_trips(const struct route *route)
{
	bool has = false;

	for (int i = 0; i < ROWS(trips); i++)
		has = has || is_of_route(route, trips[i].method, trips[i].path);
	for (int i = 0; i < ROWS(live_trips); i++)
		has = has || is_of_route(route, live_trips[i].method, live_trips[i].path);
	for (int i = 0; i < ROWS(more_trips); i++)
		has = has || is_of_route(route, more_trips[i].method, more_trips[i].path);
	return has;
}

/* Every route has a row, or a reason why it has none; every row is of a route. */
START_TEST(the_round_trips_of_every_route_are_known)
{
	for (const struct route *route = routes; route->path != NULL; route++) {
		bool is_excepted = false;

		for (int i = 0; i < ROWS(without_trips); i++)
			is_excepted = is_excepted ||
				      strcmp(without_trips[i].name, route->name) == 0;
		ck_assert_msg(has_trips(route) || is_excepted, "%s %s has no row",
			      method_name(route->method), route->path);
		ck_assert_msg(!has_trips(route) || !is_excepted, "%s is no exception", route->name);
	}
	for (int i = 0; i < ROWS(without_trips); i++) {
		const struct route *route = routes;

		while (route->path != NULL && strcmp(route->name, without_trips[i].name) != 0)
			route++;
		ck_assert_msg(route->path != NULL, "%s is no route: %s", without_trips[i].name,
			      without_trips[i].reason);
	}
}
END_TEST

/* One in sixteen also looks for expired responses. */
START_TEST(calls_with_a_key_take_two_round_trips)
{
	unsigned before;

	make(&one, "/v2/templates", "{\"name\":\"one\",\"roles\":{},\"default\":true}");
	for (int i = 0; i < 80; i++) {
		char path[40];
		struct reply reply;

		(void)snprintf(path, sizeof path, "/v2/rooms key-%d", i);
		before = relay_flights(CALLS);
		reply = ask_with_key(METHOD_POST, path, "{}");
		ck_assert_msg(reply.status == 200, "call %d: %s", i, reply.text);
		ck_assert_msg(relay_flights(CALLS) - before == 2, "call %d: %u round trips", i,
			      relay_flights(CALLS) - before);
	}
}
END_TEST

/* ---- clocks ---- */

static int64_t in_an_hour(const struct clock *clock)
{
	(void)clock;
	return clock_now(&clock_system) + 3600000;
}

static void random_of_system(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	clock_random(&clock_system, bytes, size);
}

static const struct clock ahead = { in_an_hour, random_of_system };

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
	responder_close(&two);
	responder_open(&two, url, &ahead);
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

/* ---- cuts ---- */

/* Runs a create and an update with the connection cut after the n-th byte, for every n: each
 * returns success and is carried out once. */
START_TEST(a_cut_connection_loses_nothing)
{
	const enum relay_side side = (enum relay_side)_i;
	const size_t step = getenv("EVERY_BYTE") != NULL ? 1 : 61;
	const char *id;
	bool was_cut = true;
	struct reply reply;

	for (size_t n = 1; was_cut; n += step) {
		const char *name = arena_text(kept, "cut %zu", n);
		const char *body = arena_text(kept, "{\"name\":\"%s\"}", name);
		const char *list = arena_text(kept, "/v2/templates?name=cut%%20%zu", n);

		relay_cut_after(side, n);
		reply = ask(&one, METHOD_POST, "/v2/templates", body);
		id = member_of(&reply, "id");
		reply = ask(&one, METHOD_POST, arena_text(kept, "/v2/templates/%s/roles/host", id),
			    arena_text(kept, "{\"priority\":%d}", (int)(n % 5) + 1));
		was_cut = relay_has_cut();
		ck_assert_msg(reply.status == 200, "after %zu: %d %s", n, reply.status, reply.text);
		reply = ask(&two, METHOD_GET, list, NULL);
		ck_assert_msg(strstr(reply.text, id) != NULL, "after %zu: %s", n, reply.text);
		reply = ask(&two, METHOD_GET, arena_text(kept, "/v2/templates/%s/roles/host", id),
			    NULL);
		ck_assert_msg(strstr(reply.text,
				     arena_text(kept, "\"priority\":%d", (int)(n % 5) + 1)) != NULL,
			      "after %zu: %s", n, reply.text);
	}
}
END_TEST

/* ---- connecting ---- */

/* Milliseconds without a response after which a connection counts as lost. */
#define LOST_AFTER 11000

/* Behaves like a paused pooler. */
START_TEST(a_login_without_a_response_is_no_connection)
{
	const struct store_postgres_options options = { .url = relayed };
	struct fault fault = FAULT_INITIAL;
	const int64_t start = clock_monotonic();
	struct store *store;

	relay_hold(1);
	ck_assert(!store_postgres_open(&options, &store, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_int_lt(clock_monotonic() - start, LOST_AFTER);
	relay_let_go();
	fault = FAULT_INITIAL;
	ck_assert_msg(store_postgres_open(&options, &store, &fault), "%s", fault.cause);
	store_close(store);
}
END_TEST

static uint64_t connects_of(const struct responder *responder)
{
	struct store_figures figures = { 0 };

	store_figures(responder->environment.store, &figures);
	return figures.connects;
}

#define HELD 3

static void take(const struct responder *responder, struct transaction *held[HELD])
{
	struct fault fault = FAULT_INITIAL;

	for (int i = 0; i < HELD; i++)
		ck_assert_msg(store_begin(responder->environment.store, STORE_READ, kept, &held[i],
					  &fault),
			      "%s", fault_reason(&fault));
}

static void give(struct transaction *held[HELD])
{
	for (int i = 0; i < HELD; i++)
		store_abandon(held[i]);
}

static void *ask_for_templates(void *context)
{
	struct arena *arena = arena_open();

	*(int *)context = responder_ask(&one, &account, arena, METHOD_GET, "/v2/templates", NULL,
					NULL)
				  .status;
	arena_close(arena);
	return NULL;
}

/* A call that finds all connections in use waits for one; other calls are not affected. */
START_TEST(the_store_works_without_a_refused_connection)
{
	struct transaction *held[HELD];
	uint64_t connects;
	pthread_t asking;
	int status;

	take(&one, held);
	/* The watch has its connection. */
	while (connects_of(&one) < HELD + 1)
		sched_yield();
	connects = connects_of(&one);
	relay_refuse(true);
	ck_assert_int_eq(pthread_create(&asking, NULL, ask_for_templates, &status), 0);
	while (relay_refused() == 0)
		sched_yield();
	for (int i = 0; i < HELD; i++) {
		store_abandon(held[i]);
		ck_assert_int_eq(ask(&one, METHOD_POST, "/v2/templates", "{}").status, 200);
		ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 200);
	}
	ck_assert_int_eq(pthread_join(asking, NULL), 0);
	ck_assert_int_eq(status, 200);
	take(&one, held);
	give(held);
	ck_assert_uint_eq(connects_of(&one), connects);
}
END_TEST

/* In milliseconds; the watch may be about to connect. */
#define CLOSED_WITHIN 5000

START_TEST(a_store_with_a_frozen_database_can_be_closed)
{
	struct transaction *held[HELD];
	int64_t start;

	take(&one, held);
	give(held);
	relay_hold(0);
	start = clock_monotonic();
	responder_close(&one);
	ck_assert_int_lt(clock_monotonic() - start, CLOSED_WITHIN);
	relay_let_go();
	responder_open(&one, relayed, &clock_system);
}
END_TEST

START_TEST(a_closed_store_leaves_no_slots)
{
	const char *none = "SELECT 1 / (count(*) = 0)::int FROM session";
	struct transaction *held[HELD];

	take(&one, held);
	give(held);
	ck_assert(!database_execute(url, none));
	responder_close(&one);
	responder_close(&two);
	ck_assert(database_execute(url, none));
	responder_open(&one, relayed, &clock_system);
	responder_open(&two, url, &clock_system);
}
END_TEST

/* What the server answers about synchronous_commit. */
static const struct {
	const char *body; /* of a function */
	enum fault_kind kind;
} commits[] = {
	{ "SELECT text 'on'", FAULT_NONE },
	{ "SELECT NULL::text", FAULT_NONE }, /* a server without this setting */
	{ "SELECT text 'off'", FAULT_BAD_REQUEST },
	{ "SELECT (1 / 0)::text", FAULT_UNAVAILABLE },
};

START_TEST(a_server_that_may_lose_commits_is_refused)
{
	const char *before_the_system = arena_text(kept, "%s,pg_catalog", url);

	for (int i = 0; i < ROWS(commits); i++) {
		struct fault fault = FAULT_INITIAL;
		int version;

		ck_assert(database_execute(
			url, arena_text(kept,
					"CREATE OR REPLACE FUNCTION current_setting(text, boolean)"
					" RETURNS text LANGUAGE sql AS $$ %s $$",
					commits[i].body)));
		(void)store_postgres_upgrade(before_the_system, &version, &fault);
		ck_assert_msg(fault.kind == commits[i].kind, "row %d: %s", i, fault.cause);
	}
}
END_TEST

static const struct {
	const char *mode;
	bool is_refused;
} poolers[] = { { "session", false }, { "transaction", true }, { "statement", true } };

/* Both creating a store and opening one report it. */
START_TEST(a_pooler_that_lends_sessions_is_refused_by_name)
{
	struct fault faults[2] = { FAULT_INITIAL, FAULT_INITIAL };
	struct store_postgres_options over = { .connections = 2 };
	char *host = database_start_pooler(poolers[_i].mode), *pooled;
	struct store *store;
	bool was_made;

	if (host == NULL) {
		printf("left out: a pooler (PgBouncer is not installed)\n");
		return;
	}
	pooled = database_url_over(url, host);
	over.url = pooled;
	(void)store_postgres_create(pooled, &was_made, &faults[0]);
	if (store_postgres_open(&over, &store, &faults[1]))
		store_close(store);
	database_stop_pooler();
	free(pooled);
	free(host);
	for (size_t i = 0; i < ROWS(faults); i++) {
		if (poolers[_i].is_refused) {
			ck_assert_int_eq(faults[i].kind, FAULT_BAD_REQUEST);
			ck_assert_ptr_nonnull(strstr(faults[i].cause, "PgBouncer"));
			ck_assert_ptr_nonnull(strstr(faults[i].cause, "pool_mode = session"));
		} else {
			ck_assert_msg(faults[i].kind == FAULT_NONE, "%s", faults[i].cause);
		}
	}
}
END_TEST

/* The scheme of any URL may be in upper case. */
START_TEST(the_scheme_may_be_in_upper_case)
{
	const char *upper = arena_text(kept, "PostgreSQL%s", strchr(url, ':'));
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	ck_assert(store_postgres_is_url(upper));
	ck_assert_msg(store_postgres_create(upper, &was_made, &fault), "%s", fault.cause);
	ck_assert(!was_made);
}
END_TEST

START_TEST(a_read_only_database_is_refused_in_plain_words)
{
	const char *read_only = arena_text(kept, "%s%%20-cdefault_transaction_read_only%%3Don",
					   url);
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	ck_assert(!store_postgres_create(read_only, &was_made, &fault));
	ck_assert_msg(strstr(fault.cause, "is read-only") != NULL, "%s", fault.cause);
	ck_assert_ptr_nonnull(strstr(fault.cause, "default_transaction_read_only"));
	ck_assert_ptr_nonnull(strstr(fault.cause, "standby"));
}
END_TEST

/* ---- the server is unavailable ---- */

/* Starts a server only for this test, as a child of its process. */
static void set_up_server(void)
{
	ck_assert_ptr_null(database_start());
	set_up();
}

static void tear_down_server(void)
{
	tear_down();
	database_stop();
}

START_TEST(without_the_database_calls_fail_immediately)
{
	const char *id = make(&one, "/v2/templates", "{\"name\":\"before\"}");
	const char *path = arena_text(kept, "/v2/templates/%s", id);
	struct reply reply;
	int64_t start;

	database_kill();
	/* The first call notices. */
	for (int i = 0; i < 3; i++) {
		start = clock_monotonic();
		reply = ask(&one, i == 1 ? METHOD_POST : METHOD_GET,
			    i == 1 ? "/v2/templates" : path, "{}");
		ck_assert_msg(reply.status == 503 && reply.has_retry_after, "%d %s", reply.status,
			      reply.text);
		ck_assert_int_lt(clock_monotonic() - start, 3000);
	}
	ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 503);
	ck_assert_int_eq(ask(&one, METHOD_GET, "/healthz", NULL).status, 200);
	database_restart();
	start = clock_monotonic();
	do {
		reply = ask(&one, METHOD_GET, path, NULL);
	} while (reply.status == 503 && clock_monotonic() - start < 20000);
	ck_assert_int_eq(reply.status, 200);
	ck_assert_int_eq(ask(&one, METHOD_POST, "/v2/templates", "{}").status, 200);
	ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 200);
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

	member->reply = responder_ask(&one, member->account, member->arena, METHOD_POST,
				      member->path, member->body, NULL);
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
				      (reply->status == 409 && reply->has_retry_after),
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

	(void)responder_ask(&one, own, kept, METHOD_POST, "/v2/templates",
			    "{\"name\":\"t\",\"default\":true,\"roles\":{\"host\":{}}}", NULL);
	reply = responder_ask(&one, own, kept, METHOD_POST, "/v2/rooms", "{}", NULL);
	room = member_of(&reply, "id");
	reply = responder_ask(&one, own, kept, METHOD_POST,
			      arena_text(kept, "/v2/room-codes/room/%s/role/host", room),
			      "{\"max_uses\":1000}", NULL);
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
static uint64_t count_conflicts(const struct responder *responder)
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
			ck_assert_int_eq(responder_ask(&one, &other, kept, METHOD_POST,
						       "/v2/templates", "{}", NULL)
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
			  crowds[_i].accounts *
				  (RESPONDER_CONNECTIONS - RESPONDER_CONNECTIONS / 3));
	for (unsigned i = 0; i < crowds[_i].accounts; i++)
		store_abandon(held[i].transaction);
	ck_assert_uint_gt(count_done(members, CROWD - LATE), 0);
	ck_assert_int_eq(responder_ask(&one, &held[0].account, kept, METHOD_POST, held[0].path,
				       held[0].body, NULL)
				 .status,
			 200);
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
	const struct responder *const responders[] = { &one, &two };
	struct fault fault = FAULT_INITIAL;
	struct account added;

	for (int round = 0; round < 10; round++) {
		const struct responder *other = responders[round % 2];

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
	ck_assert_int_eq(
		responder_ask(&one, &made, kept, METHOD_GET, "/v2/templates", NULL, NULL).status,
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

		responder_close(&one);
		responder_open(&one, relayed, &clock_system);
		caller = make_caller(looks[i].caller, i);
		relay_refuse(looks[i].is_away);
		relay_cut_all();
		reply = responder_ask(&one, &caller, kept, METHOD_GET, looks[i].path, NULL, NULL);
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
	const struct responder *responder;
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
		struct buffer header = BUFFER_INITIAL(arena);
		const char *body = arena_text(arena, "{\"name\":\"t%u\",\"roles\":{\"r%u\":{}}}", i,
					      writer->number);

		buffer_append_text(&header, "Bearer ");
		buffer_append(&header, token_sign_management(arena, &clock_system, &account,
							     clock_now(&clock_system), 3600));
		call.request = (struct request){
			.method = METHOD_POST,
			.uri = SLICE("/v2/templates"),
			.body = slice_of(body),
			.authorization = buffer_slice(&header),
			.if_none_match = SLICE("*"),
			.address = SLICE("192.0.2.1"),
		};
		service_answer(writer->responder->service, &call);
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

/* ---- codes of other accounts ---- */

#define ASKED_MOST 20
#define ASKED_AT_ONCE 16

static const char *role_of(const struct account *owner, const char *code)
{
	const char *path;
	struct reply reply;

	reply = responder_ask(&one, owner, kept, METHOD_POST, "/v2/templates",
			      "{\"default\":true,\"roles\":{\"host\":{}}}", NULL);
	ck_assert_int_eq(reply.status, 200);
	reply = responder_ask(&one, owner, kept, METHOD_POST, "/v2/rooms", "{}", NULL);
	path = arena_text(kept, "/v2/room-codes/room/%s/role/host", member_of(&reply, "id"));
	if (code != NULL) {
		reply = responder_ask(&one, owner, kept, METHOD_POST, path, code, NULL);
		ck_assert_int_eq(reply.status, 200);
	}
	return path;
}

struct asking {
	const struct responder *responder;
	const char *path;
	struct arena *arena;
	int taken, refused;
};

static void *ask_for_taken(void *context)
{
	struct asking *asking = context;

	for (int i = 0; i < ASKED_MOST / 4; i++) {
		struct reply reply = responder_ask(asking->responder, &account, asking->arena,
						   METHOD_POST, asking->path,
						   "{\"code\":\"taken-words\"}", NULL);

		asking->taken += reply.status == 409;
		asking->refused += reply.status == 429 && reply.has_retry_after;
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
	responder_close(&two);
	responder_open(&two, url, &clock_system);
	ck_assert_int_eq(ask(&two, METHOD_POST, own, "{\"code\":\"free-words\"}").status, 429);
}
END_TEST

/* ---- the log ---- */

#define NUMBERED_WITHIN 20000

/* Entries of the account are queued; if is_damaged is set, its log cannot be read. */
static void enqueue(struct store *store, const struct id *of, size_t n, bool is_damaged)
{
	struct audit_entry *entries = arena_zero(kept, n * sizeof *entries);
	const struct store_record state = { .value = SLICE("damaged") };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	for (size_t i = 0; i < n; i++)
		entries[i] = (struct audit_entry){
			.time = 1,
			.id = SLICE("id"),
			.type = SLICE("room.created"),
			.actor = SLICE("{}"),
			.request_id = SLICE(""),
			.data = SLICE("{}"),
		};
	ck_assert(store_begin(store, STORE_WRITE, kept, &transaction, &fault));
	store_set_account(transaction, of);
	ck_assert(audit_enqueue(transaction, &clock_system, entries, n, clock_now(&clock_system),
				&fault));
	ck_assert(!is_damaged || store_put(transaction, &kind_audit, &state, NULL, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
}

START_TEST(a_damaged_log_does_not_delay_others)
{
	struct environment *environment = &two.environment;
	struct lease *lease = lease_open(environment->store, &clock_system);
	const int64_t until = clock_monotonic() + NUMBERED_WITHIN;
	struct fault fault = FAULT_INITIAL;
	struct keeper *keeper;
	bool is_numbered = false;

	/* More events than are numbered in one step. */
	enqueue(environment->store, &account.id, AUDIT_READ_MOST + 1, true);
	ck_assert(accounts_add(url, &clock_system, "other", &account, &fault));
	ck_assert_int_eq(ask(&two, METHOD_POST, "/v2/templates", "{}").status, 200);
	environment->joins = join_log_open();
	keeper = keeper_open(environment, lease);
	while (!is_numbered && clock_monotonic() < until)
		is_numbered = strstr(ask(&two, METHOD_GET, "/v2/events", NULL).text,
				     "template.created") != NULL;
	keeper_close(keeper);
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert(is_numbered);
}
END_TEST

static uint64_t last_of(struct store *store, const struct id *of)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	ck_assert(store_begin(store, STORE_READ, arena, &transaction, &fault));
	store_set_account(transaction, of);
	ck_assert(audit_state_load(transaction, STORE_TO_SHOW, &state, &fault));
	store_abandon(transaction);
	arena_close(arena);
	return state.last;
}

#define QUEUED (2 * AUDIT_READ_MOST)

/* Queued entries with a wrong checksum, by the number in bytes 6 and 7 of their IDs. */
static const struct {
	const char *which;
	uint64_t numbered; /* of QUEUED */
} queue_damages[] = {
	{ "number = 0", QUEUED - 1 },	  { "number IN (1, 2, 300)", QUEUED - 3 },
	{ "number = 255", QUEUED - 1 },	  { "number = 511", QUEUED - 1 },
	{ "number < 256", QUEUED - 256 },
};

START_TEST(a_damaged_entry_does_not_delay_others)
{
	struct environment *environment = &two.environment;
	const int64_t until = clock_monotonic() + NUMBERED_WITHIN;
	const uint64_t expected = queue_damages[_i].numbered;
	struct keeper *keeper;
	struct lease *lease;
	uint64_t last = 0;

	enqueue(environment->store, &account.id, QUEUED, false);
	ck_assert(database_execute(
		url,
		arena_text(kept,
			   "WITH queued AS (SELECT id, get_byte(id, 6) * 256 + get_byte(id, 7) AS "
			   "number FROM record WHERE kind = ascii('q')) "
			   "UPDATE record SET checksum = checksum + 1 FROM queued "
			   "WHERE kind = ascii('q') AND record.id = queued.id AND %s",
			   queue_damages[_i].which)));
	lease = lease_open(environment->store, &clock_system);
	environment->joins = join_log_open();
	keeper = keeper_open(environment, lease);
	while (last < expected && clock_monotonic() < until)
		last = last_of(environment->store, &account.id);
	keeper_close(keeper);
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert_uint_eq(last_of(environment->store, &account.id), expected);
}
END_TEST

/* Far more than can be numbered before the keeper stops. */
#define BACKLOG 20000

START_TEST(the_keeper_stops_despite_a_backlog)
{
	struct environment *environment = &two.environment;
	struct lease *lease = lease_open(environment->store, &clock_system);

	enqueue(environment->store, &account.id, BACKLOG, false);
	environment->joins = join_log_open();
	keeper_close(keeper_open(environment, lease));
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert_uint_lt(last_of(environment->store, &account.id), BACKLOG);
}
END_TEST

/* An entry with a wrong checksum is dropped like others when it is old. */
START_TEST(an_old_damaged_entry_is_dropped)
{
	const struct audit_times early = { 1, 0 }, late = { 1000, 10 };
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	for (unsigned i = 0; i < 2; i++) {
		struct transaction *transaction;
		struct audit_entry entries[3];
		uint64_t number;

		for (size_t j = 0; j < 3; j++)
			entries[j] = (struct audit_entry){
				.time = i == 0 ? early.now : late.now,
				.id = SLICE("id"),
				.type = SLICE("room.created"),
				.actor = SLICE("{}"),
				.request_id = SLICE(""),
				.data = SLICE("{}"),
			};
		ck_assert(store_begin(one.environment.store, STORE_WRITE, kept, &transaction,
				      &fault));
		store_set_account(transaction, &account.id);
		ck_assert_msg(
			audit_append(transaction, i == 0 ? &early : &late, entries, 3, &fault) &&
				audit_state_load(transaction, STORE_TO_SHOW, &state, &fault) &&
				store_commit(transaction, &number, &fault),
			"%s", fault_reason(&fault));
		ck_assert(database_execute(url,
					   "UPDATE record SET checksum = checksum + 1 "
					   "WHERE kind = ascii('e') AND get_byte(id, 11) = 2"));
	}
	ck_assert_uint_eq(state.first, 4);
	ck_assert_uint_eq(state.last, 6);
}
END_TEST

/* Milliseconds within which another responder takes over the work of one that stops. */
#define TAKEN_WITHIN 1500

START_TEST(a_released_lease_is_taken_soon)
{
	struct lease *former = lease_open(one.environment.store, &clock_system);
	struct lease *next = lease_open(two.environment.store, &clock_system);
	int64_t since;

	ck_assert(lease_hold(former));
	ck_assert(!lease_hold(next));
	since = clock_monotonic();
	lease_close(former);
	while (!lease_hold(next) && clock_monotonic() - since < 2 * LEASE_LASTS)
		continue;
	ck_assert_int_lt(clock_monotonic() - since, TAKEN_WITHIN);
	lease_close(next);
}
END_TEST

/* The watch asks for the size when it begins. */
START_TEST(the_size_of_the_database_is_known)
{
	const int64_t until = clock_monotonic() + FLIGHTS_WITHIN;
	struct store_figures figures = { 0 };

	while (figures.disk_bytes == 0 && clock_monotonic() < until) {
		store_figures(two.environment.store, &figures);
		(void)poll(NULL, 0, 10);
	}
	ck_assert_uint_gt(figures.disk_bytes, 100000);
}
END_TEST

int main(void)
{
	const char *none = database_start();
	Suite *suite;
	TCase *calls, *routes_case, *away;
	int status;

	if (none != NULL) {
		printf("%s\n", none);
		return 77;
	}
	suite = suite_create("postgres");
	calls = tcase_create("calls");
	routes_case = tcase_create("routes");
	away = tcase_create("away");
	json_object_seed(0);
	tcase_add_checked_fixture(calls, set_up, tear_down);
	tcase_set_timeout(calls, 60);
	tcase_add_test(calls, calls_take_the_expected_number_of_round_trips);
	tcase_add_test(calls, calls_about_live_rooms_take_the_expected_number_of_round_trips);
	tcase_add_test(calls, calls_with_a_key_take_two_round_trips);
	tcase_add_test(calls, people_who_knock_wait_outside_the_workers);
	tcase_add_test(calls, times_and_ids_rise_if_clocks_differ);
	tcase_add_test(calls, the_size_of_the_database_is_known);
	tcase_add_loop_test(calls, a_cut_connection_loses_nothing, 0, 2);
	tcase_add_test(calls, a_login_without_a_response_is_no_connection);
	tcase_add_test(calls, the_store_works_without_a_refused_connection);
	tcase_add_test(calls, a_store_with_a_frozen_database_can_be_closed);
	tcase_add_test(calls, a_closed_store_leaves_no_slots);
	tcase_add_test(calls, a_server_that_may_lose_commits_is_refused);
	tcase_add_test(calls, accounts_are_the_same_everywhere);
	tcase_add_test(calls, a_token_is_checked_against_the_current_accounts_or_not_at_all);
	tcase_add_test(calls, a_change_of_the_accounts_reports_a_concurrent_one);
	tcase_add_test(calls, a_name_is_given_once);
	tcase_add_loop_test(calls, a_pooler_that_lends_sessions_is_refused_by_name, 0,
			    ROWS(poolers));
	tcase_add_test(calls, the_scheme_may_be_in_upper_case);
	tcase_add_test(calls, a_read_only_database_is_refused_in_plain_words);
	tcase_add_loop_test(calls, waiting_writes_leave_connections_to_others, 0, ROWS(crowds));
	tcase_add_test(calls, a_bulk_conflict_is_not_reported_as_a_full_disk);
	tcase_add_test(calls, requests_for_taken_codes_are_counted_per_account);
	tcase_add_test(calls, a_damaged_log_does_not_delay_others);
	tcase_add_loop_test(calls, a_damaged_entry_does_not_delay_others, 0, ROWS(queue_damages));
	tcase_add_test(calls, the_keeper_stops_despite_a_backlog);
	tcase_add_test(calls, an_old_damaged_entry_is_dropped);
	tcase_add_test(calls, a_released_lease_is_taken_soon);
	suite_add_tcase(suite, calls);
	tcase_add_checked_fixture(routes_case, set_up, tear_down);
	tcase_set_timeout(routes_case, 60);
	tcase_add_test(routes_case, other_calls_take_the_expected_number_of_round_trips);
	tcase_add_test(routes_case, the_round_trips_of_every_route_are_known);
	suite_add_tcase(suite, routes_case);
	tcase_add_checked_fixture(away, set_up_server, tear_down_server);
	tcase_set_timeout(away, 60);
	tcase_add_test(away, without_the_database_calls_fail_immediately);
	suite_add_tcase(suite, away);
	status = suite_run(suite);
	database_stop();
	return status;
}
