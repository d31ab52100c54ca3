/* Pools of media servers: how rooms are shared out, once each, and what becomes of a room that its
 * server does not make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit.h"
#include "resources/media/placing.h"
#include "suite.h"

/* Adds a server to the pool "p". config: further joiners of its config. */
static const char *add_server(const char *name, const char *url, const char *more,
			      const char *config)
{
	const char *body = arena_text(stand.arena,
				      "{\"name\":\"%s\",\"type\":\"livekit\",\"url\":\"%s\","
				      "\"pool\":\"p\",%s\"config\":{\"api_key\":\"the_key\","
				      "\"api_secret\":\"" SECRET "\"%s}}",
				      name, url, more, config);

	return text_at(parsed(ask(200, METHOD_POST, "/v2/backends", body)), "id");
}

/* Creates a room; returns the body of an exchange of a code of it. */
static const char *new_room(struct arena *arena, const char **room)
{
	const char *made = ask(200, METHOD_POST, "/v2/rooms", "{}"), *path;

	*room = text_at(parsed(made), "id");
	path = arena_text(arena, "/v2/room-codes/room/%s/role/guest", *room);
	return arena_text(arena, "{\"code\":\"%s\"}",
			  text_at(parsed(ask(200, METHOD_POST, path, "{}")), "code"));
}

static const char *place_in(const char *answer)
{
	return text_at(json_object_get(parsed(answer), "join"), "backend");
}

/* ---- shares ---- */

static const struct {
	const char *name;
	unsigned weight;
} servers[] = { { "a", 100 }, { "b", 100 }, { "c", 200 }, { "d", 400 } };
#define SERVERS (sizeof servers / sizeof servers[0])
#define ROOMS 400
#define PEOPLE 5
/* The watch counts after so many rooms, which is when so many milliseconds are over. */
#define COUNTED_AFTER 40
#define COUNTED_EVERY 6000

/* Stores what the watch counts: the people of the rooms there. */
static void count_load(const char *backend, uint64_t rooms)
{
	struct fault fault = FAULT_INITIAL;
	struct backend_load load;
	struct call call;
	struct id id;

	ck_assert(id_parse(slice_of(backend), &id));
	world_begin(&stand, &stand.account.id, &call);
	ck_assert(record_get(&backend_load_table, call.transaction, &id, STORE_TO_CHANGE, &load,
			     &fault));
	load.stored.id = id;
	load.rooms = rooms;
	load.people = rooms * PEOPLE;
	load.counted = call.now;
	ck_assert(record_put(&backend_load_table, call.transaction, &load, &fault));
	ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
}

START_TEST(rooms_are_shared_out_by_weight)
{
	const bool is_counted = _i == 1;
	const char *ids[SERVERS], *body, *room, *place;
	uint64_t rooms[SERVERS] = { 0 };
	unsigned weights = 0;
	double share;

	(void)world_hold(&stand);
	(void)ask(200, METHOD_PATCH, backend_path, "{\"name\":\"former\",\"default\":false}");
	for (size_t i = 0; i < SERVERS; i++) {
		ids[i] = add_server(servers[i].name, "ws://127.0.0.1:1",
				    arena_text(stand.arena, "\"weight\":%u,\"default\":true,",
					       servers[i].weight),
				    "");
		weights += servers[i].weight;
	}
	for (unsigned n = 1; n <= ROOMS; n++) {
		body = new_room(stand.arena, &room);
		place = place_in(ask(200, METHOD_POST, "/v2/token", body));
		for (size_t i = 0; i < SERVERS; i++)
			rooms[i] += strcmp(place, servers[i].name) == 0;
		if (!is_counted || n % COUNTED_AFTER != 0)
			continue;
		world_move(&stand, COUNTED_EVERY);
		for (size_t i = 0; i < SERVERS; i++)
			count_load(ids[i], rooms[i]);
	}
	for (size_t i = 0; i < SERVERS; i++) {
		share = (double)ROOMS * servers[i].weight / weights;
		ck_assert_msg((double)rooms[i] >= share * 0.9 && (double)rooms[i] <= share * 1.1,
			      "%s has %u rooms", servers[i].name, (unsigned)rooms[i]);
	}
	if (!is_counted)
		return;
	body = ask(200, METHOD_GET, arena_text(stand.arena, "/v2/backends/%s", ids[3]), NULL);
	ck_assert_msg(strstr(body, "\"target\":50}") != NULL, "%s", body);
	ck_assert_msg(strstr(body, arena_text(stand.arena, "\"people\":%u,",
					      (unsigned)rooms[3] * PEOPLE)) != NULL,
		      "%s", body);
}
END_TEST

/* A server that is not asked has the load of its exchanges, those of a room that is placed, too. */
START_TEST(a_new_room_goes_where_there_were_fewer_exchanges)
{
	const char *body = NULL, *room, *busy = NULL, *other;

	stand.environment.live = LIVE_OFF;
	world_serve(&stand);
	(void)ask(200, METHOD_PATCH, backend_path, "{\"name\":\"former\",\"default\":false}");
	(void)add_server("one", "ws://127.0.0.1:1", "\"default\":true,", "");
	(void)add_server("two", "ws://127.0.0.1:1", "", "");
	for (int i = 0; i < 6; i++) {
		other = place_in(ask(200, METHOD_POST, "/v2/token", new_room(stand.arena, &room)));
		body = new_room(stand.arena, &room);
		busy = place_in(ask(200, METHOD_POST, "/v2/token", body));
		ck_assert_str_ne(busy, other);
	}
	for (int i = 0; i < 6; i++)
		(void)ask(200, METHOD_POST, "/v2/token", body);
	for (int i = 0; i < 6; i++) {
		other = place_in(ask(200, METHOD_POST, "/v2/token", new_room(stand.arena, &room)));
		ck_assert_str_ne(other, busy);
	}
}
END_TEST

/* ---- at once ---- */

#define CROWD 8
#define RACES 12

struct joiner {
	pthread_t thread;
	struct arena *arena;
	const char *body;
	struct reply reply;
};

static void *exchange_in_crowd(void *context)
{
	struct joiner *joiner = context;

	joiner->reply = world_ask(&stand, joiner->arena, &stand.account, METHOD_POST, "/v2/token",
				  joiner->body);
	return NULL;
}

START_TEST(a_crowd_finds_its_room_at_one_place)
{
	struct joiner joiners[CROWD];
	const char *room, *body, *place;

	(void)ask(200, METHOD_PATCH, backend_path, "{\"pool\":\"p\"}");
	(void)add_server("other", "ws://127.0.0.1:1", "", "");
	for (int race = 0; race < RACES; race++) {
		body = new_room(stand.arena, &room);
		for (size_t i = 0; i < CROWD; i++) {
			joiners[i] = (struct joiner){ .arena = arena_open(), .body = body };
			ck_assert_int_eq(pthread_create(&joiners[i].thread, NULL, exchange_in_crowd,
							&joiners[i]),
					 0);
		}
		for (size_t i = 0; i < CROWD; i++)
			ck_assert_int_eq(pthread_join(joiners[i].thread, NULL), 0);
		place = text_at(parsed(ask(200, METHOD_GET,
					   arena_text(stand.arena, "/v2/rooms/%s", room), NULL)),
				"backend");
		for (size_t i = 0; i < CROWD; i++) {
			ck_assert_int_eq(joiners[i].reply.status, 200);
			ck_assert_str_eq(place_in(joiners[i].reply.text), place);
			arena_close(joiners[i].arena);
		}
	}
}
END_TEST

/* ---- a room that is not made ---- */

/* The first server is that of the room's region. */
static const struct {
	const char *second; /* its URL; NULL: that of the one that answers */
	int status;
	const char *place; /* NULL: none */
} nexts[] = {
	{ NULL, 200, "second" },
	{ "ws://127.0.0.1:1", 502, NULL },
};

START_TEST(a_room_that_is_not_made_goes_to_the_next_server)
{
	const char *second = nexts[_i].second != NULL ? nexts[_i].second : url_of("");
	const char *room, *body, *path;
	const json_t *shown;

	(void)ask(200, METHOD_PATCH, backend_path, "{\"name\":\"former\",\"default\":false}");
	(void)add_server("first", "ws://127.0.0.1:1", "\"region\":\"eu\",\"default\":true,",
			 ",\"create_rooms\":true");
	(void)add_server("second", second, "", ",\"create_rooms\":true");
	body = new_room(stand.arena, &room);
	path = arena_text(stand.arena, "/v2/rooms/%s", room);
	(void)ask(200, METHOD_POST, path, "{\"region\":\"eu\"}");
	body = ask(nexts[_i].status, METHOD_POST, "/v2/token", body);
	if (nexts[_i].place != NULL)
		ck_assert_str_eq(place_in(body), nexts[_i].place);
	shown = json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "backend");
	ck_assert((shown != NULL) == (nexts[_i].place != NULL));
	if (shown != NULL)
		ck_assert_str_eq(json_string_value(shown), nexts[_i].place);
}
END_TEST

/* ---- moved ---- */

START_TEST(a_room_that_is_moved_is_at_its_new_place)
{
	struct fault fault = FAULT_INITIAL;
	const char *room, *body, *former, *answer;
	struct room_record record;
	struct media media;
	struct place place;
	struct call call;
	bool is_there;

	(void)ask(200, METHOD_PATCH, backend_path, "{\"pool\":\"p\"}");
	(void)add_server("other", "ws://127.0.0.1:1", "", "");
	body = new_room(stand.arena, &room);
	former = place_in(ask(200, METHOD_POST, "/v2/token", body));
	world_begin(&stand, &stand.account.id, &call);
	ck_assert(room_load_by_id(&call, slice_of(room), STORE_TO_SHOW, &record, &fault));
	ck_assert(media_find(&call, STORE_TO_SHOW, &media, &is_there, &fault));
	ck_assert(place_load(&call, &record.id, STORE_TO_CHANGE, &place, &fault));
	is_there = strcmp(former, "l") == 0;
	ck_assert(placing_move(&call, &record, &place,
			       media_backend_named(&media, slice_of(former)),
			       media_backend_named(&media, is_there ? SLICE("other") : SLICE("l")),
			       MOVE_DOWN, &fault));
	ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
	ck_assert_str_eq(place_in(ask(200, METHOD_POST, "/v2/token", body)),
			 is_there ? "other" : "l");
	answer = ask(200, METHOD_GET, "/v2/events?type=room.moved", NULL);
	ck_assert_msg(strstr(answer, arena_text(stand.arena,
						"\"from\":\"%s\",\"to\":\"%s\","
						"\"reason\":\"down\"",
						former, is_there ? "other" : "l")) != NULL,
		      "%s", answer);
	ck_assert_msg(strstr(answer, "\"actor\":{\"kind\":\"service\"") != NULL, "%s", answer);
}
END_TEST

/* ---- what a process remembers ---- */

#define BEGAN INT64_C(60000000) /* a minute begins */

static struct call call_at(const char *account, int64_t time)
{
	return (struct call){
		.environment = &stand.environment,
		.account.bytes = { (unsigned char)*account },
		.now = BEGAN + time,
	};
}

static const struct id here = { { 1 } }, there = { { 2 } }, the_room = { { 4 } };

static const struct {
	const char *minutes; /* of the exchanges, one after the other */
	int64_t now; /* minutes */
	uint64_t counted;
} hours[] = {
	{ "0", 0, 1 },
	{ "0 0 0", 0, 3 },
	{ "0", 59, 1 },
	{ "0", 60, 0 },
	{ "0 30", 60, 1 },
	{ "0 30", 90, 0 },
	{ "0 59 60", 60, 2 },
	{ "0 61", 61, 1 },
	{ "0 1 2 200", 200, 1 },
	/* A reader's time. */
	{ "5 4", 5, 2 },
};

START_TEST(exchanges_count_for_an_hour)
{
	const char *rest = hours[_i].minutes;
	struct call call;

	for (char *end; *rest != '\0'; rest = end) {
		call = call_at("a", strtoll(rest, &end, 10) * 60000);
		placements_add_exchange(&call, &here);
	}
	call = call_at("a", hours[_i].now * 60000 + 59999);
	ck_assert_uint_eq(placements_exchanges(&call, &here), hours[_i].counted);
	ck_assert_uint_eq(placements_exchanges(&call, &there), 0);
	call = call_at("b", hours[_i].now * 60000);
	ck_assert_uint_eq(placements_exchanges(&call, &here), 0);
}
END_TEST

/* A room was placed at 0. */
static const struct {
	const char *account;
	int64_t counted, now;
	uint64_t rooms;
} placed[] = {
	{ "a", -1, 0, 1 },     { "a", 0, 0, 0 },       { "a", -1, 29999, 1 },
	{ "a", -1, 30000, 0 }, { "a", -1, -29999, 1 }, { "a", -1, -30000, 0 },
	{ "b", -1, 0, 0 },
};

START_TEST(a_room_counts_where_it_was_placed_lately)
{
	struct call call = call_at("a", 0);
	uint64_t rooms;

	placements_add(&call, &here, &the_room);
	for (size_t i = 0; i < sizeof placed / sizeof placed[0]; i++) {
		call = call_at(placed[i].account, placed[i].now);
		rooms = placements_since(&call, &here, BEGAN + placed[i].counted);
		ck_assert_msg(rooms == placed[i].rooms, "row %zu", i);
	}
	/* It is moved on; and such a call is run again. */
	call = call_at("a", 1000);
	placements_add(&call, &there, &the_room);
	placements_add(&call, &there, &the_room);
	ck_assert_uint_eq(placements_since(&call, &here, 0), 0);
	ck_assert_uint_eq(placements_since(&call, &there, 0), 1);
	placements_add(&call, &there, &here);
	ck_assert_uint_eq(placements_since(&call, &there, 0), 2);
	call = call_at("b", 1000);
	placements_add(&call, &there, &the_room);
	ck_assert_uint_eq(placements_since(&call, &there, 0), 1);
}
END_TEST

/* More rooms than are remembered: those that were placed first are forgotten, also where a room has
 * been moved on meanwhile. */
#define REMEMBERED 4096
#define PLACED (REMEMBERED + 1000)

START_TEST(rooms_that_were_placed_first_are_forgotten)
{
	const struct id servers_of_rooms[] = { here, there };
	uint64_t moved = 0, rooms[2] = { 0 };
	struct call call = call_at("a", 0);
	struct id room = the_room;

	for (unsigned n = 0; n < PLACED; n++) {
		room.bytes[0] = (unsigned char)(n >> 8);
		room.bytes[1] = (unsigned char)n;
		placements_add(&call, &servers_of_rooms[n % 2], &room);
		if (n >= PLACED - REMEMBERED)
			rooms[n % 2]++;
	}
	ck_assert_uint_eq(placements_since(&call, &here, 0), rooms[0]);
	ck_assert_uint_eq(placements_since(&call, &there, 0), rooms[1]);
	for (unsigned n = PLACED - REMEMBERED; n < PLACED; n += 6) {
		room.bytes[0] = (unsigned char)(n >> 8);
		room.bytes[1] = (unsigned char)n;
		placements_add(&call, &there, &room);
		moved += n % 2 == 0;
	}
	ck_assert_uint_eq(placements_since(&call, &here, 0), rooms[0] - moved);
	ck_assert_uint_eq(placements_since(&call, &there, 0), rooms[1] + moved);
	call = call_at("b", 0);
	for (unsigned n = 0; n < REMEMBERED; n++) {
		room.bytes[0] = (unsigned char)(n >> 8);
		room.bytes[1] = (unsigned char)n;
		placements_add(&call, &here, &room);
	}
	ck_assert_uint_eq(placements_since(&call, &here, 0), REMEMBERED);
	call = call_at("a", 0);
	ck_assert_uint_eq(placements_since(&call, &here, 0), 0);
	ck_assert_uint_eq(placements_since(&call, &there, 0), 0);
}
END_TEST

/* One after the other. */
static const struct {
	const char *account, *pool;
	int64_t time;
	bool warns;
} warnings[] = {
	{ "a", "p", 0, true },	   { "a", "p", 59999, false }, { "a", "q", 59999, true },
	{ "b", "p", 59999, true }, { "a", "p", 60000, true },  { "a", "p", 60001, false },
};

START_TEST(a_pool_is_warned_of_once_a_minute)
{
	for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++) {
		struct call call = call_at(warnings[i].account, warnings[i].time);

		ck_assert_msg(placements_may_warn(&call, slice_of(warnings[i].pool)) ==
				      warnings[i].warns,
			      "row %zu", i);
	}
}
END_TEST

/* Which servers of two drain, and what the log says. */
static const struct {
	bool drains[2];
	bool is_logged;
} drained[] = {
	{ { false, false }, false },
	{ { true, false }, false },
	{ { false, true }, false },
	{ { true, true }, true },
};

START_TEST(a_pool_without_a_server_is_logged)
{
	const int kept = dup(STDERR_FILENO), log = memfd_create("log", MFD_CLOEXEC);
	const char *body, *room, *path;
	char text[4096];
	ssize_t size;

	(void)ask(200, METHOD_PATCH, backend_path, "{\"pool\":\"p\"}");
	path = arena_text(stand.arena, "/v2/backends/%s",
			  add_server("other", "ws://127.0.0.1:1", "", ""));
	if (drained[_i].drains[0])
		(void)ask(200, METHOD_PATCH, backend_path, "{\"draining\":true}");
	if (drained[_i].drains[1])
		(void)ask(200, METHOD_PATCH, path, "{\"draining\":true}");
	body = new_room(stand.arena, &room);
	ck_assert_int_eq(dup2(log, STDERR_FILENO), STDERR_FILENO);
	(void)ask(200, METHOD_POST, "/v2/token", body);
	ck_assert_int_eq(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	size = pread(log, text, sizeof text - 1, 0);
	ck_assert_int_ge(size, 0);
	text[size] = '\0';
	ck_assert_msg((strstr(text, "pool_without_server") != NULL) == drained[_i].is_logged &&
			      (strstr(text, "rooms are placed on servers that drain") != NULL) ==
				      drained[_i].is_logged,
		      "%s", text);
	close(log);
	close(kept);
}
END_TEST

void add_placing(TCase *placing)
{
	tcase_add_loop_test(placing, rooms_are_shared_out_by_weight, 0, 2);
	tcase_add_test(placing, a_new_room_goes_where_there_were_fewer_exchanges);
	tcase_add_test(placing, a_crowd_finds_its_room_at_one_place);
	tcase_add_loop_test(placing, a_room_that_is_not_made_goes_to_the_next_server, 0,
			    ROWS(nexts));
	tcase_add_test(placing, a_room_that_is_moved_is_at_its_new_place);
	tcase_add_loop_test(placing, exchanges_count_for_an_hour, 0, ROWS(hours));
	tcase_add_test(placing, a_room_counts_where_it_was_placed_lately);
	tcase_add_test(placing, rooms_that_were_placed_first_are_forgotten);
	tcase_add_test(placing, a_pool_is_warned_of_once_a_minute);
	tcase_add_loop_test(placing, a_pool_without_a_server_is_logged, 0, ROWS(drained));
}
