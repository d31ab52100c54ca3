/* Rooms that do not make themselves: they are made before somebody joins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"
#include "resources/asking.h"
#include "resources/live/server_rooms.h"
#include "suite.h"

/* Creates a code of the room for a guest, with these terms. */
static const char *make_code(const char *terms)
{
	const char *path = arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room);

	return text_at(parsed(ask(200, METHOD_POST, path, terms)), "code");
}

static const char *exchange_body(const char *code)
{
	return arena_text(stand.arena, "{\"code\":\"%s\"}", code);
}

static const char *exchange(int status, const char *code)
{
	return ask(status, METHOD_POST, "/v2/token", exchange_body(code));
}

/* Returns the number of requests to make a room. */
static size_t made_count(void)
{
	size_t n = 0;

	for (size_t i = receiver_count(stand.receiver); i-- > 0;)
		n += strstr(receiver_request(stand.receiver, i)->path, "/CreateRoom") != NULL;
	return n;
}

void set_up_making(void)
{
	const json_t *made;

	set_up_kit();
	/* How long a room is known to be there must not depend on how fast this machine is. */
	(void)world_hold(&stand);
	(void)ask(200, METHOD_PATCH, backend_path, "{\"config\":{\"create_rooms\":true}}");
	made = parsed(ask(200, METHOD_POST, arena_text(stand.arena, "/v2/rooms/%s", kit.room),
			  "{\"size\":20}"));
	(void)ask(
		200, METHOD_PATCH,
		arena_text(stand.arena, "/v2/templates/%s/settings", text_at(made, "template_id")),
		"{\"agents\":[{\"agentName\":\"helper\",\"metadata\":\"m\"}]}");
}

START_TEST(a_room_is_made_before_somebody_joins)
{
	const char *code = make_code("{\"max_uses\":9}"), *used_up = make_code("{\"max_uses\":1}");
	const char *token, *path;

	(void)ask(200, METHOD_POST, "/v2/token?validate_only=true", exchange_body(code));
	(void)ask(200, METHOD_GET, arena_text(stand.arena, "/v2/join/%s", code), NULL);
	path = arena_text(stand.arena, "/v2/room-codes/code/%s", code);
	(void)ask(200, METHOD_PATCH, path, "{\"enabled\":false}");
	(void)exchange(403, code);
	(void)ask(200, METHOD_PATCH, path, "{\"enabled\":true}");
	ck_assert_uint_eq(receiver_count(stand.receiver), 0);
	token = text_at(parsed(exchange(200, code)), "token");
	ck_assert_uint_eq(made_count(), 1);
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->body,
			 arena_text(stand.arena,
				    "{\"name\":\"%s\",\"max_participants\":20,\"agents\":["
				    "{\"agent_name\":\"helper\",\"metadata\":\"m\"}]}",
				    kit.room));
	/* The room is there now. */
	(void)exchange(200, used_up);
	(void)exchange(403, used_up);
	bearer = token;
	(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
	bearer = NULL;
	ck_assert_uint_eq(made_count(), 1);
	ck_assert_int_eq(json_integer_value(
				 json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "uses")),
			 1);
}
END_TEST

/* The same at LiveKit's token endpoint, with what the person asks for. */
START_TEST(a_room_is_made_with_the_agents_asked_for)
{
	const char *path = arena_text(stand.arena, "/v2/livekit/%s", make_code("{}"));

	(void)ask(403, METHOD_POST, path,
		  "{\"room_config\":{\"agents\":[{\"agent_name\":\"spy\"}]}}");
	ck_assert_uint_eq(made_count(), 0);
	(void)ask(
		201, METHOD_POST, path,
		"{\"room_config\":{\"agents\":[{\"agent_name\":\"helper\",\"deployment\":\"d\"}]}}");
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->body,
			 arena_text(stand.arena,
				    "{\"name\":\"%s\",\"max_participants\":20,\"agents\":["
				    "{\"agent_name\":\"helper\",\"metadata\":\"m\","
				    "\"deployment\":\"d\"}]}",
				    kit.room));
	(void)ask(201, METHOD_POST, path, "{}");
	ck_assert_uint_eq(made_count(), 1);
}
END_TEST

/* The same for a token that the account signs. */
START_TEST(a_token_of_the_account_makes_the_room_too)
{
	const char *token = token_with_entry("0123456789abcdef0123456789abcdef");

	for (size_t i = 0; i < 2; i++) {
		bearer = token;
		(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
		bearer = NULL;
		ck_assert_uint_eq(made_count(), 1);
	}
}
END_TEST

START_TEST(a_room_that_has_ended_is_made_again)
{
	const char *code = make_code("{}"), *event;

	(void)exchange(200, code);
	event = arena_text(
		stand.arena,
		"{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\",\"name\":\"%s\"},"
		"\"created_at\":%lld}",
		kit.room, (long long)(clock_now(&clock_system) / 1000));
	ck_assert_int_eq(tell(NULL, event), 204);
	(void)exchange(200, code);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
	/* By a call. */
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room_path), "{}");
	/* A room that is made in the millisecond in which it ended may have been made before. */
	world_move(&stand, 10);
	(void)exchange(200, code);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 3);
}
END_TEST

/* Who joins again may have lost the room with the media server, whose restart nothing reports. */
static const struct {
	int64_t age; /* milliseconds since the room was made */
	const char *path;
	bool is_made;
} made_before[] = {
	{ 1000, "/v2/token/join", false },
	{ 2500, "/v2/token/join", true },
	{ 2500, "/v2/token", false },
	{ 61000, "/v2/token", true },
};

START_TEST(who_joins_again_has_the_room_made_soon)
{
	const char *code = make_code("{}"), *token = text_at(parsed(exchange(200, code)), "token");
	struct server_room_key room = { .account = stand.account.id };

	ck_assert(id_parse(slice_of(kit.room), &room.room));
	ck_assert(id_parse(slice_of(strrchr(backend_path, '/') + 1), &room.backend));
	server_rooms_add(stand.environment.server_rooms, &room,
			 world_now(&stand) - made_before[_i].age);
	if (strcmp(made_before[_i].path, "/v2/token") != 0) {
		bearer = token;
		(void)ask(200, METHOD_POST, made_before[_i].path, "{}");
		bearer = NULL;
	} else {
		(void)exchange(200, code);
	}
	ck_assert_uint_eq(made_count(), 1 + made_before[_i].is_made);
}
END_TEST

/* A media server that could not be reached may have restarted. */
START_TEST(rooms_of_a_server_that_was_away_are_made_again)
{
	const char *code = make_code("{}");

	(void)exchange(200, code);
	kit_set(FAILS);
	start_watch();
	while (strcmp(text_at(health_of(backend_path), "state"), "down") != 0)
		(void)poll(NULL, 0, 5);
	kit_set(ANSWERS);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
}
END_TEST

static const struct {
	enum how how;
	const char *message;
} unmade[] = {
	{ FAILS, "status 500" },	   { HANGS, "timed out" },
	{ HAS_ANOTHER_KEY, "wrong key" },  { TELLS_NONSENSE, "not a LiveKit" },
	{ LACKS_EVERYBODY, "status 503" },
};

START_TEST(nobody_joins_a_room_that_could_not_be_made)
{
	const char *code = make_code("{\"max_uses\":1}"), *answer;
	const char *path = arena_text(stand.arena, "/v2/room-codes/code/%s", code);

	kit_set(unmade[_i].how);
	answer = exchange(502, code);
	ck_assert_msg(strstr(answer, unmade[_i].message) != NULL, "%s", answer);
	ck_assert_int_eq(json_integer_value(
				 json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "uses")),
			 0);
	kit_set(ANSWERS);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
}
END_TEST

#define CROWD 40

/* They come while the room is being made, and one when it is made, but nobody has read so. */
START_TEST(a_crowd_makes_a_room_once)
{
	const char *body = exchange_body(make_code("{}"));
	struct call calls[CROWD];
	struct wait waits[CROWD];

	pthread_mutex_lock(&kit.lock);
	for (size_t i = 0; i < CROWD; i++) {
		calls[i] = (struct call){ .arena = arena_open() };
		waits[i] = (struct wait){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
					  false };
		set_request(&calls[i], METHOD_POST, "/v2/token", body);
		ck_assert(service_answer(stand.service, &calls[i]));
		ck_assert(call_is_asking(&calls[i]));
		if (i < CROWD - 1)
			service_ask(&calls[i], end_wait, &waits[i]);
	}
	pthread_mutex_unlock(&kit.lock);
	for (size_t i = 0; i < CROWD; i++) {
		if (i == CROWD - 1)
			service_ask(&calls[i], end_wait, &waits[i]);
		pthread_mutex_lock(&waits[i].lock);
		while (!waits[i].has_ended)
			pthread_cond_wait(&waits[i].ended, &waits[i].lock);
		pthread_mutex_unlock(&waits[i].lock);
	}
	for (size_t i = CROWD; i-- > 0;) {
		ck_assert(service_answer(stand.service, &calls[i]));
		ck_assert_int_eq(calls[i].answer.status, 200);
		arena_close(calls[i].arena);
	}
	ck_assert_uint_eq(made_count(), 1);
}
END_TEST

/* Without --live on, nothing is done at a media server, and it does not hold limits itself. */
START_TEST(only_a_service_that_acts_makes_rooms_and_holds_limits)
{
	static const enum live_mode modes[] = { LIVE_OFF, LIVE_WATCH, LIVE_ON };
	const char *code = make_code("{}"), *template, *answer;

	template = text_at(
		json_array_get(json_object_get(parsed(ask(200, METHOD_GET, "/v2/templates", NULL)),
					       "data"),
			       0),
		"id");
	(void)ask(200, METHOD_PATCH,
		  arena_text(stand.arena, "/v2/templates/%s/roles/guest", template),
		  "{\"maxPeerCount\":5}");
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		stand.environment.live = modes[i];
		world_serve(&stand);
		answer = exchange(200, code);
		ck_assert_int_eq(strstr(answer, "\"not_enforced\":[\"max_peers\"]") != NULL,
				 modes[i] != LIVE_ON);
		ck_assert_uint_eq(made_count(), modes[i] == LIVE_ON);
	}
}
END_TEST

void add_making(TCase *making)
{
	tcase_add_test(making, a_room_is_made_before_somebody_joins);
	tcase_add_test(making, a_token_of_the_account_makes_the_room_too);
	tcase_add_test(making, a_room_is_made_with_the_agents_asked_for);
	tcase_add_loop_test(making, who_joins_again_has_the_room_made_soon, 0, ROWS(made_before));
	tcase_add_test(making, rooms_of_a_server_that_was_away_are_made_again);
	tcase_add_test(making, a_room_that_has_ended_is_made_again);
	tcase_add_loop_test(making, nobody_joins_a_room_that_could_not_be_made, 0, ROWS(unmade));
	tcase_add_test(making, a_crowd_makes_a_room_once);
	tcase_add_test(making, only_a_service_that_acts_makes_rooms_and_holds_limits);
}
