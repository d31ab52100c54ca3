/* Calls of people who are inside, of which nothing has been reported yet, and of two calls at once.
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
#include "suite.h"

/* ---- from inside, before anything was reported ---- */

static const struct {
	enum how how;
	const char *entry;
	const char *path; /* below the room */
	int status;
	const char *text; /* in the response */
	size_t requests;
} insiders[] = {
	{ ANSWERS, "e1", "", 200, "\"peer_count\":1", 2 },
	{ ANSWERS, "e1", "/peers", 200, "\"user_id\":\"ada\"", 2 },
	{ ANSWERS, "e1", "/me", 200, "\"user_id\":\"ada\"", 2 },
	{ ANSWERS, "e1", "/peers/PA_1", 200, "\"TR_1\"", 3 },
	{ ANSWERS, "e1", "/peers/PA_2", 404, "peer not found", 2 },
	{ ANSWERS, "e2", "", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/peers", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/me", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/peers/PA_1", 403, "Not in the room", 2 },
	{ ANSWERS, "", "/me", 403, "Not in the room", 0 },
	{ FAILS, "e1", "/me", 403, "Not in the room", 2 },
	{ HAS_ANOTHER_KEY, "e1", "", 403, "Not in the room", 2 },
	{ TELLS_NONSENSE, "e1", "/peers/PA_1", 403, "Not in the room", 2 },
	{ HANGS, "e1", "/me", 403, "Not in the room", 2 },
	{ ANSWERS, "e1", "/peers/PA_1/mute", 200, MUTED, 4 },
	{ ANSWERS, "e2", "/peers/PA_1/mute", 403, "Not in the room", 2 },
};

/* The room is surveyed, and the call waits for it. */
START_TEST(a_person_whose_event_is_late_is_found)
{
	const char *path = arena_text(stand.arena, "%s%s", room_path, insiders[_i].path), *body;
	struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct call call = { .arena = arena_open() };
	struct fault fault = FAULT_INITIAL;
	const size_t before = receiver_count(stand.receiver);
	const bool mutes_somebody = strstr(path, "/mute") != NULL;

	kit_set(insiders[_i].how);
	bearer = token_with_entry(insiders[_i].entry);
	set_request(&call, mutes_somebody ? METHOD_POST : METHOD_GET, path,
		    mutes_somebody ? "{\"type\":\"audio\",\"mute\":true}" : NULL);
	ck_assert(service_answer(stand.service, &call));
	ck_assert_int_eq(call_is_asking(&call), insiders[_i].requests > 0);
	for (unsigned rounds = 0; call_is_asking(&call); rounds++) {
		ck_assert_uint_lt(rounds, 3);
		wait.has_ended = false;
		service_ask(&call, end_wait, &wait);
		pthread_mutex_lock(&wait.lock);
		while (!wait.has_ended)
			pthread_cond_wait(&wait.ended, &wait.lock);
		pthread_mutex_unlock(&wait.lock);
		ck_assert(service_answer(stand.service, &call));
	}
	ck_assert(store_wait(stand.environment.store, call.answer.awaited, &fault));
	body = body_of(&call);
	ck_assert_msg(strstr(body, insiders[_i].text) != NULL, "%s", body);
	ck_assert_int_eq(call.answer.status, insiders[_i].status);
	ck_assert_uint_eq(receiver_count(stand.receiver) - before, insiders[_i].requests);
	arena_close(call.arena);
}
END_TEST

/* A call that is under way. */
struct parked_call {
	struct call call;
	struct wait wait;
};

/* Until when it waits for another call with its key, by clock_monotonic; 0: as long as it may. */
static int64_t parked_until;

static void park(struct parked_call *parked, enum method method, const char *path, const char *body,
		 const char *key)
{
	*parked = (struct parked_call){
		.call = { .arena = arena_open(), .claims_until = parked_until },
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	set_request(&parked->call, method, path, body);
	if (key != NULL)
		parked->call.request.idempotency_key = slice_of(key);
	ck_assert(service_answer(stand.service, &parked->call));
	if (call_is_asking(&parked->call))
		service_ask(&parked->call, end_wait, &parked->wait);
}

static bool parked_has_ended(struct parked_call *parked)
{
	bool has_ended;

	pthread_mutex_lock(&parked->wait.lock);
	has_ended = parked->wait.has_ended;
	pthread_mutex_unlock(&parked->wait.lock);
	return has_ended;
}

/* Goes on with the call when the media server has answered. */
static void parked_go_on(struct parked_call *parked)
{
	pthread_mutex_lock(&parked->wait.lock);
	while (!parked->wait.has_ended)
		pthread_cond_wait(&parked->wait.ended, &parked->wait.lock);
	parked->wait.has_ended = false;
	pthread_mutex_unlock(&parked->wait.lock);
	world_answer(&stand, &parked->call);
	if (call_is_asking(&parked->call))
		service_ask(&parked->call, end_wait, &parked->wait);
}

/* Goes on with the call until it is answered; returns its status. */
static int unpark(struct parked_call *parked, const char **body)
{
	int status;

	while (parked->call.asking != NULL)
		parked_go_on(parked);
	status = parked->call.answer.status;
	*body = body_of(&parked->call);
	arena_close(parked->call.arena);
	return status;
}

/* However many ask, the room is surveyed once a second, and one call reads what was answered. Each
 * finds itself, whether or not the one that surveyed it is inside. */
START_TEST(people_outside_share_one_survey)
{
	static struct parked_call calls[20];
	const char *path = arena_text(stand.arena, "%s/me", room_path), *body;

	kit_join("PA_2", "eve#1", "eve", "e2");
	/* The media server answers when all have asked. */
	pthread_mutex_lock(&kit.lock);
	for (unsigned i = 0; i < 20; i++) {
		bearer = token_with_entry(arena_text(stand.arena, "e%u", (i + 9) % 20));
		park(&calls[i], METHOD_GET, path, NULL, NULL);
		ck_assert(call_is_asking(&calls[i].call));
	}
	pthread_mutex_unlock(&kit.lock);
	for (unsigned i = 0; i < 20; i++) {
		const unsigned entry = (i + 9) % 20;

		ck_assert_int_eq(unpark(&calls[i], &body), entry == 1 || entry == 2 ? 200 : 403);
		ck_assert_ptr_nonnull(strstr(body, entry == 1	? "\"ada\""
						   : entry == 2 ? "\"eve\""
								: "Not in the room"));
	}
	ck_assert_uint_eq(requests_of("ListParticipants"), 1);
	ck_assert_uint_eq(requests_of("ListRooms"), 1);
	/* The next survey comes a second later. */
	bearer = token_with_entry("e9");
	(void)ask(403, METHOD_GET, path, NULL);
	ck_assert_uint_eq(requests_of("ListParticipants"), 2);
}
END_TEST

#define LONG_ENTRY "0123456789abcdef0123456789abcdef"

static const struct {
	int64_t age; /* of the token, in seconds */
	bool joins; /* by /v2/token/join */
	const char *path;
	size_t surveys;
} on_the_way[] = {
	{ 0, false, "/me", 1 },		 { 29, false, "/me", 1 },      { 32, false, "/me", 0 },
	{ 32, true, "/me", 1 },		 { 32, false, "", 0 },	       { 32, false, "/peers", 0 },
	{ 32, false, "/peers/PA_1", 0 }, { 32, false, "/tickets", 0 }, { 32, true, "/tickets", 1 },
};

/* Somebody with an old token is not in the room, and the room is not surveyed. */
START_TEST(who_may_have_the_room_surveyed)
{
	/* A token is valid from 10 s before it is made. */
	bearer = token_made(LONG_ENTRY, on_the_way[_i].age - 10);
	if (on_the_way[_i].joins)
		(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
	(void)ask(403, METHOD_GET, arena_text(stand.arena, "%s%s", room_path, on_the_way[_i].path),
		  NULL);
	ck_assert_uint_eq(requests_of("ListParticipants"), on_the_way[_i].surveys);
	if (on_the_way[_i].surveys > 0)
		kit_people("PA_1", LONG_ENTRY);
}
END_TEST

/* ---- changes of oneself ---- */

/* The order in which eight calls come, and in which they get as far as to ask for the change. */
static const struct {
	const char *order;
	size_t updates; /* at most */
} own_orders[] = {
	{ "12345678", 2 },
	{ "87654321", 1 },
	{ "18273645", 2 },
};

/* All are answered with 200, and the value that was sent last counts. */
START_TEST(the_last_value_of_oneself_wins)
{
	static struct parked_call calls[8];
	const char *order = own_orders[_i].order, *body;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	bearer = token_with_entry("e1");
	for (int i = 0; i < ROWS(calls); i++) {
		park(&calls[i], METHOD_POST, arena_text(stand.arena, "%s/peers/PA_1", room_path),
		     arena_text(stand.arena, "{\"metadata\":\"v%c\"}", order[i]), NULL);
		calls[i].call.started = order[i];
	}
	/* The person has been looked up for all of them. */
	for (int i = 0; i < ROWS(calls); i++)
		parked_go_on(&calls[i]);
	for (int i = 0; i < ROWS(calls); i++)
		ck_assert_int_eq(unpark(&calls[i], &body), 200);
	ck_assert_uint_ge(own_orders[_i].updates, requests_of(UPDATE));
	ck_assert_str_eq(text_at(last_request(UPDATE), "metadata"), "v8");
	bearer = NULL;
	ck_assert_ptr_nonnull(
		strstr(ask(200, METHOD_GET, arena_text(stand.arena, "%s/peers", room_path), NULL),
		       "\"v8\""));
}
END_TEST

/* ---- two calls at once ---- */

/* Two calls with the same Idempotency-Key; the second one comes while the first asks. */
static const struct {
	enum how how; /* of the first */
	const char *first, *second; /* bodies */
	int status, second_status;
	size_t sent;
} doubles[] = {
	{ ANSWERS, "{\"message\":\"a\"}", "{\"message\":\"a\"}", 200, 200, 1 },
	{ ANSWERS, "{\"message\":\"a\"}", "{\"message\":\"b\"}", 200, 422, 1 },
	/* What has failed is not kept. */
	{ FAILS, "{\"message\":\"a\"}", "{\"message\":\"a\"}", 502, 200, 2 },
};

START_TEST(two_calls_with_a_key_are_one)
{
	static struct parked_call first, seconds[3];
	const char *path, *body, *again;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room_path);
	kit_set(doubles[_i].how);
	park(&first, METHOD_POST, path, doubles[_i].first, "key");
	ck_assert_ptr_nonnull(first.call.asking);
	for (size_t i = 0; i < ROWS(seconds); i++)
		park(&seconds[i], METHOD_POST, path, doubles[_i].second, "key");
	while (!parked_has_ended(&first))
		(void)poll(NULL, 0, 5);
	for (size_t i = 0; i < ROWS(seconds) && doubles[_i].second_status != 422; i++)
		ck_assert(!parked_has_ended(&seconds[i]));
	ck_assert_uint_eq(requests_of("SendData"), 1);
	kit_set(ANSWERS);
	ck_assert_int_eq(unpark(&first, &body), doubles[_i].status);
	for (size_t i = 0; i < ROWS(seconds); i++) {
		ck_assert_int_eq(unpark(&seconds[i], &again), doubles[_i].second_status);
		if (doubles[_i].second_status == 200)
			ck_assert_str_eq(again, SENT);
	}
	ck_assert_uint_eq(requests_of("SendData"), doubles[_i].sent);
}
END_TEST

START_TEST(nobody_waits_for_ever_for_a_key)
{
	static struct parked_call first, second;
	const char *path, *body;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room_path);
	/* The media server answers when the second call has waited for too long. */
	pthread_mutex_lock(&kit.lock);
	park(&first, METHOD_POST, path, "{\"message\":\"a\"}", "key");
	parked_until = clock_monotonic() + 50;
	park(&second, METHOD_POST, path, "{\"message\":\"a\"}", "key");
	ck_assert_int_eq(unpark(&second, &body), 409);
	pthread_mutex_unlock(&kit.lock);
	ck_assert_ptr_nonnull(strstr(body, "A request with this Idempotency-Key is under way"));
	ck_assert_int_eq(unpark(&first, &body), 200);
	parked_until = 0;
	ck_assert_str_eq(ask_with("key", 200, METHOD_POST, path, "{\"message\":\"a\"}"), SENT);
	ck_assert_uint_eq(requests_of("SendData"), 1);
}
END_TEST

void add_inside(TCase *live, TCase *inside)
{
	tcase_add_loop_test(live, a_person_whose_event_is_late_is_found, 0, ROWS(insiders));
	tcase_add_test(inside, people_outside_share_one_survey);
	tcase_add_loop_test(inside, who_may_have_the_room_surveyed, 0, ROWS(on_the_way));
	tcase_add_loop_test(inside, the_last_value_of_oneself_wins, 0, ROWS(own_orders));
	tcase_add_loop_test(inside, two_calls_with_a_key_are_one, 0, ROWS(doubles));
	tcase_add_test(inside, nobody_waits_for_ever_for_a_key);
}
