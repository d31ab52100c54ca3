/* Several media servers of a pool: what the watch counts, moves, tells and ends
 * (background/live_places.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "background/live_watch.h"
#include "base/text.h"
#include "kit.h"
#include "resources/media/placing.h"
#include "resources/stored/live_record.h"
#include "resources/stored/place_record.h"
#include "suite.h"

#define POOL 3
#define ROOMS_MOST 100

/* How often the people of a room were told to move, and it was ended. */
enum counted { COUNT_TOLD, COUNT_ENDED };

/* What the media servers have. The receiver reads it in its own thread. */
static struct {
	pthread_mutex_t lock;
	struct {
		bool is_down;
		/* Of each room: how many people are inside; -1: there is no such room. */
		int people[ROOMS_MOST];
		size_t counts[COUNT_ENDED + 1][ROOMS_MOST];
		int64_t told_at[ROOMS_MOST], ended_at[ROOMS_MOST]; /* when last */
		bool told_some; /* not all people of the room */
	} servers[POOL];
	char rooms[ROOMS_MOST][25];
	size_t room_count;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *paths[POOL]; /* of the backends */

static size_t room_named(const char *name)
{
	size_t i = 0;

	while (i < pool.room_count && strcmp(pool.rooms[i], name) != 0)
		i++;
	return i;
}

static json_t *people_of(int server, size_t room)
{
	json_t *people = json_array();

	for (int i = 0; room < pool.room_count && i < pool.servers[server].people[room]; i++) {
		char identity[24], sid[48];

		(void)snprintf(identity, sizeof identity, "p%d", i);
		(void)snprintf(sid, sizeof sid, "PA_%d_%zu_%d", server, room, i);
		(void)json_array_append_new(
			people,
			json_pack("{s:s, s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s}}", "sid", sid,
				  "identity", identity, "state", "ACTIVE", "name", identity,
				  "joined_at_ms", (json_int_t)(clock_now(&clock_system) - 1000),
				  "attributes", "user_id", identity, "role", "host", "entry",
				  identity));
	}
	return people;
}

static json_t *rooms_of(int server, const json_t *names)
{
	json_t *rooms = json_array();

	for (size_t i = 0; i < pool.room_count; i++) {
		const char *wanted = json_string_value(json_array_get(names, 0));
		char sid[48];

		if (pool.servers[server].people[i] < 0 ||
		    (wanted != NULL && strcmp(wanted, pool.rooms[i]) != 0))
			continue;
		(void)snprintf(sid, sizeof sid, "RM_%d_%zu", server, i);
		(void)json_array_append_new(
			rooms, json_pack("{s:s, s:s, s:I}", "sid", sid, "name", pool.rooms[i],
					 "creation_time_ms",
					 (json_int_t)(clock_now(&clock_system) - 60000)));
	}
	return rooms;
}

static json_t *pool_answer(int server, const char *method, const json_t *body)
{
	const char *name = json_string_value(json_object_get(body, "room"));
	const size_t room = name == NULL ? pool.room_count : room_named(name);

	if (strcmp(method, "ListRooms") == 0)
		return json_pack("{s:o}", "rooms",
				 rooms_of(server, json_object_get(body, "names")));
	if (strcmp(method, "ListParticipants") == 0)
		return json_pack("{s:o}", "participants", people_of(server, room));
	if (room == pool.room_count)
		return json_object();
	if (strcmp(method, "SendData") == 0) {
		const char *data = json_string_value(json_object_get(body, "data"));

		/* {"type":"move"} */
		if (strcmp(data, "eyJ0eXBlIjoibW92ZSJ9") == 0) {
			pool.servers[server].counts[COUNT_TOLD][room]++;
			pool.servers[server].told_at[room] = clock_monotonic();
			if (json_object_get(body, "destination_identities") != NULL)
				pool.servers[server].told_some = true;
		}
	}
	if (strcmp(method, "DeleteRoom") == 0) {
		pool.servers[server].counts[COUNT_ENDED][room]++;
		pool.servers[server].ended_at[room] = clock_monotonic();
		pool.servers[server].people[room] = -1;
	}
	return json_object();
}

static char *serve_pool(void *context, const struct received *received, int *status)
{
	json_t *body = json_loads(received->body, 0, NULL), *answer;
	const int server = received->path[2] - '1';
	char *text;

	(void)context;
	pthread_mutex_lock(&pool.lock);
	if (pool.servers[server].is_down)
		*status = 500;
	answer = pool.servers[server].is_down
			 ? json_object()
			 : pool_answer(server, strrchr(received->path, '/') + 1, body);
	text = json_dumps(answer, JSON_COMPACT);
	pthread_mutex_unlock(&pool.lock);
	json_decref(answer);
	json_decref(body);
	return text;
}

/* Sets how many people are inside; -1: there is no such room. */
static void put_people(int server, size_t room, int count)
{
	pthread_mutex_lock(&pool.lock);
	pool.servers[server].people[room] = count;
	pthread_mutex_unlock(&pool.lock);
}

static size_t count_of(enum counted what, int server, size_t room)
{
	size_t n;

	pthread_mutex_lock(&pool.lock);
	n = pool.servers[server].counts[what][room];
	pthread_mutex_unlock(&pool.lock);
	return n;
}

/* Waits until the count is reached, at most 30 s. */
static void await_count(enum counted what, int server, size_t room, size_t least)
{
	const int64_t end = clock_monotonic() + 30000;

	while (count_of(what, server, room) < least) {
		ck_assert_msg(clock_monotonic() < end, "server %d, room %zu", server + 1, room);
		(void)poll(NULL, 0, 20);
	}
}

/* Adds a media server to the pool. */
static void add_server(int i)
{
	const char *body = arena_text(
		stand.arena,
		"{\"name\":\"s%d\",\"type\":\"livekit\",\"url\":\"%s\",\"pool\":\"p\",\"default\":%s,"
		"\"config\":{\"api_key\":\"the_key\",\"api_secret\":\"" SECRET "\"}}",
		i + 1, url_of(arena_text(stand.arena, "/s%d", i + 1)), i == 0 ? "true" : "false");

	paths[i] = arena_text(stand.arena, "/v2/backends/%s",
			      text_at(parsed(ask(200, METHOD_POST, "/v2/backends", body)), "id"));
}

/* Makes a room, which an exchange places. Returns its path. */
static const char *add_room(void)
{
	const char *id = text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id");
	const json_t *codes = parsed(
		ask(200, METHOD_POST, arena_text(stand.arena, "/v2/room-codes/room/%s", id), NULL));
	const char *code = text_at(json_array_get(json_object_get(codes, "data"), 0), "code");

	(void)snprintf(pool.rooms[pool.room_count], sizeof pool.rooms[0], "%s", id);
	for (int i = 0; i < POOL; i++)
		pool.servers[i].people[pool.room_count] = -1;
	pool.room_count++;
	(void)ask(200, METHOD_POST, "/v2/token",
		  arena_text(stand.arena, "{\"code\":\"%s\"}", code));
	return arena_text(stand.arena, "/v2/rooms/%s", id);
}

static const char *active(size_t room)
{
	return arena_text(stand.arena, "/v2/active-rooms/%s", pool.rooms[room]);
}

/* The first media server has a room with two people, and all others are added after it was
 * placed. */
static void set_up_pool(int servers)
{
	bearer = NULL;
	memset(pool.servers, 0, sizeof pool.servers);
	pool.room_count = 0;
	receiver_serve(stand.receiver, serve_pool, NULL);
	add_server(0);
	(void)ask(200, METHOD_POST, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	room_path = add_room();
	put_people(0, 0, 2);
	for (int i = 1; i < servers; i++)
		add_server(i);
}

static void drain(int i)
{
	(void)ask(200, METHOD_PATCH, paths[i], "{\"draining\":true}");
}

static void undrain(int i)
{
	(void)ask(200, METHOD_PATCH, paths[i], "{\"draining\":false}");
}

static const char *move(int i)
{
	return ask(202, METHOD_POST, arena_text(stand.arena, "%s/move", paths[i]), NULL);
}

/* Tells that somebody has joined a room at this server. */
static void tell_joined(int server, size_t room)
{
	backend_path = paths[server];
	ck_assert_int_eq(
		tell(NULL, arena_text(stand.arena,
				      "{\"event\":\"participant_joined\",\"room\":{\"sid\":"
				      "\"RM_%d_%zu\",\"name\":\"%s\",\"creation_time_ms\":%lld},"
				      "\"participant\":{\"sid\":\"PA_%d_%zu_9\",\"identity\":\"z\","
				      "\"state\":\"ACTIVE\",\"joined_at_ms\":%lld},"
				      "\"created_at\":%lld}",
				      server, room, pool.rooms[room],
				      (long long)(clock_now(&clock_system) - 60000), server, room,
				      (long long)clock_now(&clock_system),
				      (long long)(clock_now(&clock_system) / 1000))),
		204);
}

/* ---- what is counted ---- */

START_TEST(rooms_and_people_are_counted)
{
	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	(void)ask_until(paths[0], "\"load\":{\"rooms\":1,\"people\":2,\"share\":100,");
	(void)ask_until(paths[1], "\"load\":{\"rooms\":0,\"people\":0,\"share\":0,");
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, room_path, NULL), "\"backend\":\"s1\""));
}
END_TEST

#define ROOMS_OF_STEPS 600

/* More rooms than one step reads; half of them come before the one in session. */
START_TEST(all_rooms_are_counted)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;

	set_up_pool(2);
	world_begin(&stand, &stand.account.id, &call);
	for (size_t i = 0; i < ROOMS_OF_STEPS; i++) {
		struct place place = {
			.stored.id.bytes = { i % 2 == 0 ? 0 : 0xff, (unsigned char)(i / 256),
					     (unsigned char)i },
			.since = call.now - PLACED_LATELY,
			.until = call.now / 1000 + 3600,
		};

		ck_assert(id_parse(slice_of(strrchr(paths[i % 3 == 0], '/') + 1), &place.backend));
		ck_assert(record_put(&place_table, call.transaction, &place, &fault));
	}
	ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
	start_watch();
	(void)ask_until(paths[0], "\"load\":{\"rooms\":401,\"people\":2,");
	(void)ask_until(paths[1], "\"load\":{\"rooms\":200,\"people\":0,");
}
END_TEST

/* Waits until this process shows so many media servers, whose first one has these rooms, and so
 * many pools without a reserve. */
static void await_shown(size_t servers, uint64_t rooms, uint64_t lacking)
{
	const int64_t end = clock_monotonic() + 30000;
	const struct backend_figures *shown;
	uint64_t lack;
	size_t n;

	do {
		ck_assert_msg(clock_monotonic() < end, "%zu servers", servers);
		(void)poll(NULL, 0, 20);
		shown = live_watch_backends(watch, stand.arena, &n);
		lack = 0;
		for (size_t i = 0; i < n; i++)
			lack += shown[i].lacks_reserve;
	} while (n != servers || shown[0].rooms != rooms || lack != lacking);
	ck_assert(slice_equal(shown[0].name, SLICE("s1")));
	ck_assert(slice_equal(shown[n - 1].name, slice_of(arena_text(stand.arena, "s%zu", n))));
}

/* Two accounts may use a name, which a metric has once. A pool of one has no reserve to lose. */
START_TEST(metrics_have_each_name_once)
{
	struct fault fault = FAULT_INITIAL;
	struct account other;

	set_up_pool(2);
	start_watch();
	await_shown(2, 1, 0);
	drain(1);
	await_shown(2, 1, 1);
	ck_assert(accounts_add(stand.directory, &clock_system, "other", &other, &fault));
	bearer = world_bearer(&stand, stand.arena, &other).data + strlen("Bearer ");
	(void)ask(200, METHOD_POST, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	add_server(0);
	(void)add_room();
	(void)add_room();
	await_shown(2, 3, 1);
	add_server(2);
	await_shown(3, 3, 1);
}
END_TEST

/* ---- moving ---- */

/* Waits for two counts that begin from now on, by rooms that come to the server. rooms: it has so
 * many before. */
static void await_counts(int server, int rooms)
{
	for (int i = 1; i <= 2; i++) {
		(void)add_room();
		(void)ask_until(paths[server],
				arena_text(stand.arena, "\"load\":{\"rooms\":%d,", rooms + i));
	}
}

START_TEST(people_follow_a_room_that_is_moved)
{
	const char *leaves;

	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	(void)ask(409, METHOD_POST, arena_text(stand.arena, "%s/move", paths[0]), NULL);
	drain(0);
	ck_assert_str_eq(move(0), "{\"rooms\":1}");
	await_count(COUNT_TOLD, 0, 0, 1);
	ck_assert(!pool.servers[0].told_some);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, room_path, NULL), "\"backend\":\"s2\""));
	/* They come to the new server one after the other; the session goes on. */
	put_people(1, 0, 1);
	(void)ask(200, METHOD_GET, active(0), NULL); /* has it surveyed */
	(void)ask_until(active(0), "\"peer_count\":1");
	put_people(1, 0, 2);
	put_people(0, 0, 0);
	(void)ask_until(active(0), "\"peer_count\":2");
	await_count(COUNT_ENDED, 0, 0, 1);
	ck_assert_int_lt(pool.servers[0].ended_at[0] - pool.servers[0].told_at[0], 15000);
	leaves = ask(200, METHOD_GET, "/v2/events?type=peer.leave.success", NULL);
	ck_assert_ptr_nonnull(strstr(leaves, "\"cause\":\"moved\""));
	ck_assert_ptr_nonnull(strstr(leaves, "\"reason\":\"server removed peer\""));
	ck_assert_uint_eq(events("peer.leave.success"), 2);
	ck_assert_uint_eq(events("peer.join.success"), 4);
	ck_assert_uint_eq(events("session.*"), 1);
	ck_assert_uint_eq(events("room.moved"), 1);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 1);
	(void)ask_until(paths[0], "\"load\":{\"rooms\":0,\"people\":0,");
	(void)ask_until(paths[1], "\"load\":{\"rooms\":1,\"people\":2,");
	await_counts(1, 1);
	ck_assert_uint_eq(count_of(COUNT_ENDED, 0, 0), 1);
	/* With an old token somebody makes the former room anew: it is ended at once. */
	put_people(0, 0, 1);
	tell_joined(0, 0);
	await_count(COUNT_ENDED, 0, 0, 2);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 1);
	ck_assert_uint_eq(events("peer.join.success"), 4);
}
END_TEST

/* A room may be moved from the same server again, as when servers are updated one after the other.
 * Its people are told each time, and not cut off. */
START_TEST(people_are_told_of_each_move)
{
	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	for (int i = 0; i < 3; i++) {
		const int from = i % 2, to = 1 - from;
		const size_t before = (size_t)i / 2;

		undrain(to);
		drain(from);
		(void)move(from);
		await_count(COUNT_TOLD, from, 0, before + 1);
		ck_assert_uint_eq(count_of(COUNT_ENDED, from, 0), before);
		put_people(to, 0, 2);
		put_people(from, 0, 0);
		(void)ask(200, METHOD_GET, active(0), NULL); /* has it surveyed */
		await_count(COUNT_ENDED, from, 0, before + 1);
		(void)ask_until(paths[to], "\"load\":{\"rooms\":1,\"people\":2,");
	}
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 2);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 1, 0), 1);
	ck_assert_uint_eq(events("room.moved"), 3);
	ck_assert_uint_eq(events("session.*"), 1);
}
END_TEST

/* Whoever does not go has 15 s. */
START_TEST(a_room_that_was_moved_is_ended_where_it_was)
{
	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	drain(0);
	(void)move(0);
	await_count(COUNT_ENDED, 0, 0, 1);
	ck_assert_int_ge(pool.servers[0].ended_at[0] - pool.servers[0].told_at[0], 14000);
	ck_assert_int_le(pool.servers[0].ended_at[0] - pool.servers[0].told_at[0], 18000);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 1);
	ck_assert_uint_eq(events("session.close.success"), 0);
}
END_TEST

/* Whoever comes there with an old token, when the others have gone, does not have their time. */
START_TEST(nobody_comes_to_a_room_that_was_ended)
{
	int64_t came;

	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	drain(0);
	(void)move(0);
	await_count(COUNT_TOLD, 0, 0, 1);
	put_people(0, 0, 0);
	await_count(COUNT_ENDED, 0, 0, 1);
	put_people(0, 0, 1);
	tell_joined(0, 0);
	came = clock_monotonic();
	await_count(COUNT_ENDED, 0, 0, 2);
	ck_assert_int_lt(pool.servers[0].ended_at[0] - came, 2000);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 1);
}
END_TEST

/* Where a room is not placed, nobody stays. */
START_TEST(a_room_elsewhere_is_ended)
{
	int64_t came;

	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	put_people(1, 0, 1);
	tell_joined(1, 0);
	came = clock_monotonic();
	await_count(COUNT_ENDED, 1, 0, 1);
	ck_assert_int_lt(pool.servers[1].ended_at[0] - came, 2000);
	ck_assert_uint_eq(count_of(COUNT_TOLD, 1, 0), 0);
	(void)ask_until(active(0), "\"peer_count\":2");
	ck_assert_uint_eq(count_of(COUNT_ENDED, 0, 0), 0);
}
END_TEST

#define MANY 100

/* A service that is started again goes on. */
START_TEST(many_rooms_are_moved_some_each_second)
{
	const char *moved;
	int64_t began;
	size_t before;

	set_up_pool(1);
	for (int i = 1; i < MANY; i++) {
		(void)add_room();
		put_people(0, (size_t)i, 1);
	}
	add_server(1);
	add_server(2);
	start_watch();
	(void)ask_until(paths[0], "\"load\":{\"rooms\":100,\"people\":101,");
	drain(0);
	began = clock_monotonic();
	ck_assert_str_eq(move(0), "{\"rooms\":100}");
	moved = ask_until("/v2/events?type=room.moved", "room.moved");
	ck_assert_ptr_nonnull(strstr(moved, "\"reason\":\"drained\""));
	ck_assert_ptr_nonnull(strstr(moved, "\"from\":\"s1\""));
	restart_watch();
	before = events("room.moved");
	ck_assert_uint_lt(before, MANY);
	(void)ask_until(paths[0], "\"load\":{\"rooms\":0,");
	ck_assert_uint_eq(events("room.moved"), MANY);
	ck_assert_int_ge(clock_monotonic() - began, MANY * 1000 / 20 - 1000);
	for (size_t i = 0; i < MANY; i++)
		await_count(COUNT_TOLD, 0, i, 1);
	/* Again, where the program ended before it knew. */
	for (size_t i = 0; i < MANY; i++)
		ck_assert_uint_le(count_of(COUNT_TOLD, 0, i), 2);
}
END_TEST

/* Rooms with these numbers are placed; are at the second server; their place is over; are in
 * session. */
#define IS_PLACED(n) ((n) % 11 != 0)
#define IS_ELSEWHERE(n) ((n) % 3 == 0)
#define IS_OVER(n) ((n) % 5 == 0)
#define IS_IN_SESSION(n) ((n) % 7 == 0)

static const size_t counted[] = { 0, 1, 255, 256, 257, 512, 1500 };

/* Stores so many rooms. Returns how many are at the first server. */
static size_t store_rooms(const struct id backends[2], size_t count)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	size_t here = 0;

	world_begin(&stand, &stand.account.id, &call);
	for (size_t n = 0; n < count; n++) {
		struct id id = { { 1 } };
		struct place place;
		struct live live;

		id.bytes[ID_SIZE - 2] = (unsigned char)(n >> 8);
		id.bytes[ID_SIZE - 1] = (unsigned char)n;
		ck_assert(place_load(&call, &id, STORE_TO_CHANGE, &place, &fault) &&
			  live_load(&call, &id, STORE_TO_CHANGE, &live, &fault));
		place.stored.id = live.stored.id = id;
		place.backend = backends[IS_ELSEWHERE(n)];
		place.until = call.now / 1000 + (IS_OVER(n) ? -1000 : 1000);
		live.backend = backends[IS_ELSEWHERE(n)];
		ck_assert(!IS_PLACED(n) ||
			  record_put(&place_table, call.transaction, &place, &fault));
		ck_assert(!IS_IN_SESSION(n) ||
			  record_put(&live_table, call.transaction, &live, &fault));
		here += !IS_ELSEWHERE(n) && (IS_IN_SESSION(n) || (IS_PLACED(n) && !IS_OVER(n)));
	}
	ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
	return here;
}

/* They are counted some at a time. */
START_TEST(a_move_counts_all_rooms)
{
	const char *expected;
	struct id ids[2];

	set_up_pool(0);
	add_server(1);
	for (int i = 0; i < 2; i++)
		ck_assert(id_parse(slice_of(strrchr(paths[i], '/') + 1), &ids[i]));
	expected = arena_text(stand.arena, "{\"rooms\":%zu}", 1 + store_rooms(ids, counted[_i]));
	drain(0);
	ck_assert_str_eq(move(0), expected);
	ck_assert_str_eq(move(0), expected);
	ck_assert_str_eq(ask_with("key", 202, METHOD_POST,
				  arena_text(stand.arena, "%s/move", paths[0]), NULL),
			 expected);
}
END_TEST

/* Without another server that is up and does not drain, nothing moves. */
START_TEST(rooms_stay_without_another_server)
{
	const char *path;

	set_up_pool(1);
	drain(0);
	path = arena_text(stand.arena, "%s/move", paths[0]);
	ck_assert_ptr_nonnull(strstr(ask(409, METHOD_POST, path, NULL), "No other server"));
	add_server(1);
	drain(1);
	ck_assert_ptr_nonnull(strstr(ask(409, METHOD_POST, path, NULL), "No other server"));
	undrain(1);
	ck_assert_str_eq(ask(202, METHOD_POST, path, NULL), "{\"rooms\":1}");
	undrain(0);
	ck_assert_ptr_nonnull(strstr(ask(409, METHOD_POST, path, NULL), "Backend is not draining"));
}
END_TEST

/* A copy of an installation moves its records, and tells nobody. */
START_TEST(nobody_is_told_with_live_watch)
{
	set_up_pool(2);
	stand.environment.live = LIVE_WATCH;
	world_serve(&stand);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	drain(0);
	(void)move(0);
	(void)ask_until(room_path, "\"backend\":\"s2\"");
	put_people(1, 0, 1);
	(void)ask_until(active(0), "\"peer_count\":1");
	(void)ask_until(paths[1], "\"load\":{\"rooms\":1,\"people\":1,");
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 0);
	ck_assert_uint_eq(count_of(COUNT_ENDED, 0, 0), 0);
}
END_TEST

/* Who asks for a move means the rooms of then: what comes later, as while all drain, stays. */
START_TEST(a_server_that_was_emptied_keeps_later_rooms)
{
	const char *later;

	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	drain(0);
	(void)move(0);
	(void)ask_until(paths[0], "\"load\":{\"rooms\":0,");
	drain(1);
	put_people(1, 0, 2);
	(void)ask(200, METHOD_GET, active(0), NULL); /* has it surveyed */
	(void)ask_until(paths[1], "\"load\":{\"rooms\":1,\"people\":2,");
	later = add_room();
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, later, NULL), "\"backend\":\"s1\""));
	(void)ask(200, METHOD_PATCH, paths[1], "{\"draining\":false}");
	await_counts(1, 1);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, later, NULL), "\"backend\":\"s1\""));
}
END_TEST

/* The people of a server that was down are told once it answers. */
START_TEST(people_are_told_when_their_server_is_back)
{
	set_up_pool(2);
	start_watch();
	(void)ask_until(active(0), "\"peer_count\":2");
	pthread_mutex_lock(&pool.lock);
	pool.servers[0].is_down = true;
	pthread_mutex_unlock(&pool.lock);
	drain(0);
	(void)ask_until(paths[0], "\"state\":\"down\"");
	(void)move(0);
	(void)ask_until(room_path, "\"backend\":\"s2\"");
	ck_assert_uint_eq(count_of(COUNT_TOLD, 0, 0), 0);
	pthread_mutex_lock(&pool.lock);
	pool.servers[0].is_down = false;
	pthread_mutex_unlock(&pool.lock);
	tell_joined(0, 0);
	await_count(COUNT_TOLD, 0, 0, 1);
	await_count(COUNT_ENDED, 0, 0, 1);
	ck_assert_int_ge(pool.servers[0].ended_at[0] - pool.servers[0].told_at[0], 14000);
}
END_TEST

void add_pools(TCase *pools, TCase *moved)
{
	tcase_add_test(pools, rooms_and_people_are_counted);
	tcase_add_test(pools, all_rooms_are_counted);
	tcase_add_test(pools, metrics_have_each_name_once);
	tcase_add_test(pools, a_room_elsewhere_is_ended);
	tcase_add_test(pools, many_rooms_are_moved_some_each_second);
	tcase_add_loop_test(pools, a_move_counts_all_rooms, 0, ROWS(counted));
	tcase_add_test(pools, rooms_stay_without_another_server);
	tcase_add_test(pools, nobody_is_told_with_live_watch);
	tcase_add_test(moved, people_follow_a_room_that_is_moved);
	tcase_add_test(moved, people_are_told_of_each_move);
	tcase_add_test(moved, a_room_that_was_moved_is_ended_where_it_was);
	tcase_add_test(moved, a_server_that_was_emptied_keeps_later_rooms);
	tcase_add_test(moved, nobody_comes_to_a_room_that_was_ended);
	tcase_add_test(moved, people_are_told_when_their_server_is_back);
}
