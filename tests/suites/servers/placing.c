/* Pools of media servers: how rooms are shared out, once each, and what becomes of a room that its
 * server does not make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void add_placing(TCase *placing)
{
	tcase_add_loop_test(placing, rooms_are_shared_out_by_weight, 0, 2);
	tcase_add_test(placing, a_crowd_finds_its_room_at_one_place);
	tcase_add_loop_test(placing, a_room_that_is_not_made_goes_to_the_next_server, 0,
			    ROWS(nexts));
	tcase_add_test(placing, a_room_that_is_moved_is_at_its_new_place);
}
