/* Media servers of a pool that are down: whether a room leaves its server, and where it goes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "base/clock.h"
#include "base/text.h"
#include "kit.h"
#include "records/kinds.h"
#include "resources/asking.h"
#include "resources/live/live_merge.h"
#include "resources/media/failures.h"
#include "resources/media/placing_down.h"
#include "resources/stored/media_record.h"
#include "suite.h"

#define SERVERS_MOST 3

/* What the receiver answers for the servers; it reads that in its own thread. */
enum state {
	STATE_UP,
	STATE_CUT, /* what comes is no HTTP */
	STATE_HANGS,
	STATE_REFUSES, /* answers that the key is wrong */
	STATE_UNMAKING /* answers all but requests to make rooms */
};
static struct {
	pthread_mutex_t lock;
	enum state states[SERVERS_MOST];
	size_t questions[SERVERS_MOST], made[SERVERS_MOST];
} field = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct id backends[SERVERS_MOST], the_room;
static const char *room_written, *code_text;
/* Where the room was first, and the person who came last. */
static size_t first_place, people_count;

static char *serve_field(void *context, const struct received *received, int *status)
{
	const char *place = strstr(received->path, "/s");
	const size_t i = place == NULL ? 0 : (size_t)(place[2] - '0');
	const bool makes = strstr(received->path, "/CreateRoom") != NULL;
	enum state state;

	(void)context;
	ck_assert_uint_lt(i, SERVERS_MOST);
	pthread_mutex_lock(&field.lock);
	state = field.states[i];
	field.questions[i] += strstr(received->path, "/ListRooms") != NULL;
	field.made[i] += makes;
	pthread_mutex_unlock(&field.lock);
	switch (state) {
	case STATE_UP:
		break;
	case STATE_CUT:
		*status = 0;
		return strdup("no HTTP\r\n");
	case STATE_HANGS:
		return NULL;
	case STATE_REFUSES:
		*status = 401;
		return strdup("invalid API key");
	case STATE_UNMAKING:
		if (!makes)
			break;
		*status = 500;
		return strdup("{}");
	}
	return strdup(makes ? "{\"sid\":\"RM_1\"}" : "{\"rooms\":[]}");
}

static void set_state(size_t server, enum state state)
{
	pthread_mutex_lock(&field.lock);
	field.states[server] = state;
	pthread_mutex_unlock(&field.lock);
}

static size_t made_at(size_t server)
{
	size_t n;

	pthread_mutex_lock(&field.lock);
	n = field.made[server];
	pthread_mutex_unlock(&field.lock);
	return n;
}

static size_t questions_to(size_t server)
{
	size_t n;

	pthread_mutex_lock(&field.lock);
	n = field.questions[server];
	pthread_mutex_unlock(&field.lock);
	return n;
}

/* ---- records ---- */

static void begin_call(struct call *call)
{
	world_begin(&stand, &stand.account.id, call);
}

/* Reads see what is durable. */
static void end_call(struct call *call)
{
	(void)world_commit(call);
	store_flush(stand.environment.store);
}

static void change_backends(bool drains, size_t server)
{
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin_call(&call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	for (size_t i = 0; i < media.backend_count; i++) {
		media.backends[i].pool = SLICE("pool");
		if (drains && id_compare(&media.backends[i].id, &backends[server]) == 0)
			media.backends[i].is_draining = true;
	}
	ck_assert(media_put(&call, &media, &fault));
	end_call(&call);
}

static void note_state(size_t server, bool is_up)
{
	const struct server_verdict verdict = { .is_up = is_up, .message = "" };
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin_call(&call);
	ck_assert(media_load(&call, STORE_TO_SHOW, &media, &fault));
	ck_assert(backend_health_note(&call, media_backend(&media, &backends[server]), &verdict,
				      &fault));
	end_call(&call);
}

static void note_event(size_t server)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin_call(&call);
	ck_assert(backend_health_note_event(&call, &backends[server], call.now, &fault));
	end_call(&call);
}

static struct place read_place(void)
{
	struct fault fault = FAULT_INITIAL;
	struct place place;
	struct call call;

	begin_call(&call);
	ck_assert(place_load(&call, &the_room, STORE_TO_SHOW, &place, &fault));
	world_abandon(&call);
	return place;
}

static size_t place_now(void)
{
	const struct place place = read_place();
	size_t i = 0;

	while (i < SERVERS_MOST && id_compare(&backends[i], &place.backend) != 0)
		i++;
	return i;
}

static const char *entry_of(size_t person)
{
	return arena_text(stand.arena, "%032zx", person + 1);
}

/* Somebody joins where the room is. */
static void come_inside(bool has_entry)
{
	const struct server_person person = {
		.stay = slice_of(arena_text(stand.arena, "PA_%zu", people_count)),
		.identity = slice_of(arena_text(stand.arena, "p%zu", people_count)),
		.user_id = slice_of(arena_text(stand.arena, "p%zu", people_count)),
		.role = SLICE("host"),
		.entry = has_entry ? slice_of(entry_of(people_count)) : SLICE(""),
		.code = SLICE(""),
		.name = SLICE("P"),
		.metadata = SLICE(""),
		.joined = world_now(&stand),
	};
	const struct report report = {
		.type = REPORT_JOINED,
		.room = {
			.name = slice_of(room_written),
			.id = slice_of(arena_text(stand.arena, "RM_%zu", place_now())),
			.created = place_now() == first_place ? 1 : 2,
		},
		.person = person,
		.time = world_now(&stand),
	};
	struct merging merging = {
		.room = the_room,
		.backend = backends[place_now()],
		.reports = &report,
		.count = 1,
	};
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin_call(&call);
	ck_assert(live_merge(&call, &merging, &fault));
	end_call(&call);
	people_count++;
}

/* ---- calls ---- */

static const char *server_name(size_t server)
{
	return arena_text(stand.arena, "s%zu", server);
}

static const char *token_of(size_t person)
{
	const int64_t now = world_now(&stand);
	const struct token_join join = {
		.room_id = slice_of(room_written),
		.role = SLICE("host"),
		.user_id = slice_of(arena_text(stand.arena, "p%zu", person)),
		.jti = SLICE("j"),
		.entry = slice_of(entry_of(person)),
	};
	const struct slice token = token_sign_join(stand.arena, stand.environment.clock,
						   &stand.account, &join, now, now / 1000 + 600);

	return arena_copy(stand.arena, token).data;
}

/* failed: what the person says, as JSON; NULL for nothing. Returns the response. */
static const char *join_as(int status, size_t person, const char *failed)
{
	const char *answer;

	bearer = token_of(person);
	answer = ask(status, METHOD_POST, "/v2/token/join",
		     failed == NULL ? "{}" : arena_text(stand.arena, "{\"failed\":%s}", failed));
	bearer = NULL;
	return answer;
}

static const char *exchange_with(int status, const char *failed)
{
	return ask(status, METHOD_POST, "/v2/token",
		   failed == NULL ? arena_text(stand.arena, "{\"code\":\"%s\"}", code_text)
				  : arena_text(stand.arena, "{\"code\":\"%s\",\"failed\":%s}",
					       code_text, failed));
}

static const char *quoted(size_t server)
{
	return arena_text(stand.arena, "\"%s\"", server_name(server));
}

/* Returns the server at which a response lets somebody in. */
static size_t server_of(const char *answer)
{
	const char *name = text_at(json_object_get(parsed(answer), "join"), "backend");

	ck_assert_ptr_nonnull(name);
	return (size_t)(name[1] - '0');
}

/* A pool with so many servers, and a room in it that is placed. */
static void open_pool(size_t servers)
{
	const char *made;

	for (size_t i = 0; i < servers; i++) {
		made = ask(200, METHOD_POST, "/v2/backends",
			   arena_text(stand.arena,
				      "{\"name\":\"s%zu\",\"type\":\"livekit\",\"default\":%s,"
				      "\"url\":\"%s\",\"config\":{\"api_key\":\"k\","
				      "\"api_secret\":\"" SECRET "\"}}",
				      i, i == 0 ? "true" : "false",
				      url_of(arena_text(stand.arena, "/s%zu", i))));
		ck_assert(id_parse(slice_of(text_at(parsed(made), "id")), &backends[i]));
		set_state(i, STATE_UP);
	}
	change_backends(false, 0);
	made = ask(200, METHOD_POST, "/v2/rooms", "{}");
	room_written = text_at(parsed(made), "id");
	ck_assert(id_parse(slice_of(room_written), &the_room));
	made = ask(200, METHOD_POST,
		   arena_text(stand.arena, "/v2/room-codes/room/%s/role/host", room_written), "{}");
	code_text = text_at(parsed(made), "code");
	first_place = server_of(exchange_with(200, NULL));
	ck_assert_uint_eq(place_now(), first_place);
}

static void set_up_deaths(void)
{
	set_up();
	(void)world_hold(&stand);
	bearer = NULL;
	people_count = 0;
	memset(backends, 0, sizeof backends);
	pthread_mutex_lock(&field.lock);
	memset(field.questions, 0, sizeof field.questions);
	memset(field.made, 0, sizeof field.made);
	pthread_mutex_unlock(&field.lock);
	receiver_serve(stand.receiver, serve_field, NULL);
	(void)ask(200, METHOD_POST, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
}

/* ---- the judgement ---- */

/* The words of a script, each with a number. A and B are where the room was first, and the other
 * server of two.
 *
 *     in N        so many people come in, with entries
 *     phone N     the same without
 *     cut A       A does not answer any more
 *     key A       it answers 401
 *     up A        it answers again
 *     down A      a survey finds that it does not answer
 *     note A      a survey finds that it answers
 *     event A     it sends an event
 *     drain B     it drains
 *     pass N      seconds go by, up to some milliseconds more or less, as writes raise the time
 *     fail N      this person says that the present server of the room failed
 *     other N     this person says that of the other one
 *     reload N    this person comes again, and says nothing
 *     come 0      somebody comes with the code
 *     come A      the same, and says that A failed
 *     at A        the room is there
 *     asked N     the present server of the room was asked so often */
static const struct {
	const char *name, *script;
} judgements[] = {
	{ "one of one", "in 1, cut A, fail 0, at B" },
	{ "two of three", "in 3, cut A, fail 0, at A, fail 1, at B" },
	{ "five of ten", "in 10, cut A, fail 0, fail 1, fail 2, fail 3, at A, fail 4, at B" },
	{ "one who repeats it is one",
	  "in 3, cut A, fail 0, pass 2, fail 0, pass 11, fail 0, at A" },
	{ "bad networks", "in 2, fail 0, fail 1, pass 2, fail 0, fail 1, at A" },
	{ "any answer is one", "in 1, key A, fail 0, at A" },
	{ "an event is a sign of life",
	  "in 1, cut A, event A, pass 14, fail 0, at A, pass 1, fail 0, at B" },
	{ "a word counts for 30 s", "in 3, cut A, fail 0, pass 31, fail 1, at A, fail 0, at B" },
	{ "a word counts for 29 s", "in 3, cut A, fail 0, pass 29, fail 1, at B" },
	{ "who is not inside does not count", "in 2, cut A, fail 5, fail 6, fail 7, at A" },
	{ "a word before the server was down", "in 2, fail 0, pass 5, cut A, fail 0, at B" },
	{ "another name", "in 1, cut A, other 0, at A, asked 0" },
	{ "a newcomer gets the old place", "in 1, cut A, come 0, at A, asked 0" },
	{ "a cut of 3 minutes, a newcomer, a reload",
	  "in 3, cut A, down A, pass 60, come 0, at A, pass 60, reload 1, at A, fail 0, at A, "
	  "pass 60, come 0, at A, up A, fail 0, fail 1, at A" },
	{ "flapping every 20 s",
	  "in 1, cut A, fail 0, at B, up A, cut B, pass 20, fail 0, at B, pass 20, fail 0, at B, "
	  "cut A, up B, down A, pass 20, fail 0, at B" },
	{ "again after 60 s",
	  "in 1, cut A, fail 0, at B, up A, note A, cut B, pass 59, fail 0, at B, "
	  "pass 2, fail 0, at A" },
	{ "none other up", "in 1, cut A, cut B, down B, fail 0, at A" },
	{ "one that drains", "in 1, drain B, cut A, fail 0, at B" },
	{ "nobody says so, 5 minutes",
	  "in 3, cut A, fail 0, at A, pass 299, come 0, at A, pass 2, come 0, at B" },
	{ "nobody is inside", "cut A, down A, come 0, at B" },
	{ "nobody is inside, and nobody knows", "cut A, come 0, at A" },
	{ "nobody is inside, and somebody says so", "cut A, come A, at B" },
	{ "nobody is inside, but the server is there", "down A, come 0, at A, asked 1" },
	{ "only phones", "phone 2, cut A, down A, come 0, at B" },
	{ "phones do not count", "in 1, phone 5, cut A, fail 0, at B" },
	{ "a code does not count", "in 1, cut A, come A, at A, asked 1" },
	{ "who is still at the former server does not count",
	  "in 3, cut A, fail 0, fail 1, at B, cut B, up A, note A, pass 61, fail 2, at A" },
	{ "who has come to the new server counts",
	  "in 3, cut A, fail 0, fail 1, at B, in 3, cut B, up A, note A, pass 61, fail 0, fail 3, "
	  "at B, fail 4, at A" },
};

static size_t place_of(char letter)
{
	ck_assert(letter == 'A' || letter == 'B');
	return letter == 'A' ? first_place : 1 - first_place;
}

static void play_word(const char *name, const char *verb, const char *object)
{
	const size_t number = strtoul(object, NULL, 10);

	if (strcmp(verb, "in") == 0 || strcmp(verb, "phone") == 0) {
		for (size_t i = 0; i < number; i++)
			come_inside(strcmp(verb, "in") == 0);
	} else if (strcmp(verb, "cut") == 0) {
		set_state(place_of(*object), STATE_CUT);
	} else if (strcmp(verb, "key") == 0) {
		set_state(place_of(*object), STATE_REFUSES);
	} else if (strcmp(verb, "up") == 0) {
		set_state(place_of(*object), STATE_UP);
	} else if (strcmp(verb, "down") == 0 || strcmp(verb, "note") == 0) {
		note_state(place_of(*object), strcmp(verb, "note") == 0);
	} else if (strcmp(verb, "event") == 0) {
		note_event(place_of(*object));
	} else if (strcmp(verb, "drain") == 0) {
		change_backends(true, place_of(*object));
	} else if (strcmp(verb, "pass") == 0) {
		world_move(&stand, (int64_t)number * 1000);
	} else if (strcmp(verb, "fail") == 0 || strcmp(verb, "other") == 0) {
		const size_t failed = strcmp(verb, "fail") == 0 ? place_now() : 1 - place_now();

		ck_assert_uint_eq(server_of(join_as(200, number, quoted(failed))), place_now());
	} else if (strcmp(verb, "reload") == 0) {
		ck_assert_uint_eq(server_of(join_as(200, number, NULL)), place_now());
	} else if (strcmp(verb, "come") == 0) {
		const char *failed = *object == '0' ? NULL : quoted(place_of(*object));

		ck_assert_uint_eq(server_of(exchange_with(200, failed)), place_now());
	} else if (strcmp(verb, "at") == 0) {
		ck_assert_msg(place_now() == place_of(*object), "%s: not at %s", name, object);
	} else {
		ck_assert_str_eq(verb, "asked");
		ck_assert_msg(questions_to(place_now()) == number, "%s: asked %zu", name,
			      questions_to(place_now()));
	}
}

static void play(const char *name, const char *script)
{
	for (struct slice rest = slice_of(script), word; rest.data != NULL;) {
		struct slice object;

		word = text_split(rest, ',', &rest);
		while (word.size > 0 && *word.data == ' ')
			word = (struct slice){ word.data + 1, word.size - 1 };
		word = text_split(word, ' ', &object);
		play_word(name, arena_copy(stand.arena, word).data,
			  arena_copy(stand.arena, object).data);
	}
}

START_TEST(a_room_leaves_a_server_that_is_down)
{
	open_pool(2);
	play(judgements[_i].name, judgements[_i].script);
}
END_TEST

/* ---- what is said ---- */

static const struct {
	const char *failed; /* JSON */
	int status;
} words[] = {
	{ "\"s0\"", 200 },
	{ "\"\"", 200 },
	{ "\"nobody has this name\"", 200 },
	{ "\"0123456789012345678901234567890123456789012345678901234567890123\"", 200 },
	{ "\"01234567890123456789012345678901234567890123456789012345678901234\"", 400 },
	{ "0", 400 },
	{ "true", 400 },
	{ "[]", 400 },
	{ "{\"backend\":\"s0\"}", 400 },
};

START_TEST(a_word_is_the_name_of_a_server)
{
	const int status = words[_i].status;
	const char *answers[2];

	open_pool(2);
	come_inside(true);
	answers[0] = exchange_with(status, words[_i].failed);
	answers[1] = join_as(status, 0, words[_i].failed);
	for (size_t i = 0; i < 2; i++)
		ck_assert_msg((strstr(answers[i], "/failed: must be ") != NULL) == (status == 400),
			      "%s", answers[i]);
	ck_assert_uint_eq(place_now(), first_place);
}
END_TEST

/* ---- the question ---- */

#define CROWD 12

/* All of them are inside, and say at once that the server failed. Returns how many were sent to
 * another one. */
static size_t crowd_fails(void)
{
	const char *body = arena_text(stand.arena, "{\"failed\":%s}", quoted(first_place));
	struct call calls[CROWD];
	struct wait waits[CROWD];
	size_t elsewhere = 0;

	pthread_mutex_lock(&field.lock);
	for (size_t i = 0; i < CROWD; i++) {
		calls[i] = (struct call){ .arena = arena_open() };
		waits[i] = (struct wait){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
					  false };
		bearer = token_of(i);
		set_request(&calls[i], METHOD_POST, "/v2/token/join", body);
		bearer = NULL;
		ck_assert(service_answer(stand.service, &calls[i]));
		if (call_is_asking(&calls[i]))
			service_ask(&calls[i], end_wait, &waits[i]);
		else
			waits[i].has_ended = true;
	}
	pthread_mutex_unlock(&field.lock);
	for (size_t i = 0; i < CROWD; i++) {
		pthread_mutex_lock(&waits[i].lock);
		while (!waits[i].has_ended)
			pthread_cond_wait(&waits[i].ended, &waits[i].lock);
		pthread_mutex_unlock(&waits[i].lock);
	}
	for (size_t i = 0; i < CROWD; i++) {
		if (calls[i].asking != NULL)
			ck_assert(service_answer(stand.service, &calls[i]));
		ck_assert_int_eq(calls[i].answer.status, 200);
		elsewhere += server_of(body_of(&calls[i])) != first_place;
		arena_close(calls[i].arena);
	}
	store_flush(stand.environment.store);
	return elsewhere;
}

START_TEST(a_crowd_asks_once_a_second_and_moves_once)
{
	const json_t *event;
	const char *answer;

	open_pool(2);
	for (size_t i = 0; i < CROWD; i++)
		come_inside(true);
	/* An event was heard, so it may yet be there. */
	set_state(first_place, STATE_CUT);
	note_event(first_place);
	world_move(&stand, 1000);
	ck_assert_uint_eq(crowd_fails(), 0);
	ck_assert_uint_eq(questions_to(first_place), 1);
	world_move(&stand, 800);
	ck_assert_uint_eq(crowd_fails(), 0);
	ck_assert_uint_eq(questions_to(first_place), 1);
	world_move(&stand, 400);
	ck_assert_uint_eq(crowd_fails(), 0);
	ck_assert_uint_eq(questions_to(first_place), 2);
	/* They have all said so by now, so the first one moves the room for all. */
	world_move(&stand, 15000);
	ck_assert_uint_eq(crowd_fails(), CROWD);
	ck_assert_uint_eq(questions_to(first_place), 3);
	ck_assert_uint_eq(place_now(), 1 - first_place);

	ck_assert_uint_eq(events("room.moved"), 1);
	answer = ask(200, METHOD_GET, "/v2/events?type=room.moved", NULL);
	event = json_array_get(json_object_get(parsed(answer), "data"), 0);
	ck_assert_str_eq(text_at(json_object_get(event, "actor"), "kind"), "service");
	event = json_object_get(event, "data");
	ck_assert_str_eq(text_at(event, "id"), room_written);
	ck_assert_str_eq(text_at(event, "kind"), "room");
	ck_assert_str_eq(text_at(event, "from"), server_name(first_place));
	ck_assert_str_eq(text_at(event, "to"), server_name(1 - first_place));
	ck_assert_str_eq(text_at(event, "reason"), "down");
	ck_assert_uint_eq(events("backend.down"), 1);

	/* Each of them counts once in a minute. */
	answer = ask(200, METHOD_GET, "/metrics", NULL);
	ck_assert_ptr_nonnull(strstr(answer, "\nanteroom_rooms_moved_total{reason=\"down\"} 1\n"));
	ck_assert_ptr_nonnull(
		strstr(answer, "\nanteroom_rooms_moved_total{reason=\"drained\"} 0\n"));
	ck_assert_ptr_nonnull(
		strstr(answer, arena_text(stand.arena,
					  "\nanteroom_backend_failed_total{backend=\"s%zu\"} 12\n",
					  first_place)));
}
END_TEST

/* ---- several processes ---- */

/* The service of another process with the same store, which remembers for itself. */
static struct service *other_process;
static struct failures *other_memory;

static void open_process(void)
{
	struct environment environment = stand.environment;

	other_memory = environment.failures = failures_open();
	other_process = service_open(&environment);
}

/* From now on, the other one is called. */
static void change_process(void)
{
	struct service *former = stand.service;

	stand.service = other_process;
	other_process = former;
}

static void close_process(void)
{
	service_close(other_process);
	failures_close(other_memory);
}

/* What one process has found, the others know for a second. `after`: milliseconds. */
static const struct {
	bool is_up;
	int64_t after;
	size_t questions; /* of the second process */
} shared_findings[] = {
	{ false, 0, 0 }, { false, 800, 0 }, { false, 1200, 1 },
	{ true, 0, 0 },	 { true, 800, 0 },  { true, 1200, 1 },
};

START_TEST(processes_share_what_a_question_found)
{
	open_process();
	open_pool(2);
	for (size_t i = 0; i < 3; i++)
		come_inside(true);
	set_state(first_place, shared_findings[_i].is_up ? STATE_UP : STATE_CUT);
	ck_assert_uint_eq(server_of(join_as(200, 0, quoted(first_place))), first_place);
	ck_assert_uint_eq(questions_to(first_place), 1);
	world_move(&stand, shared_findings[_i].after);
	change_process();
	ck_assert_uint_eq(server_of(join_as(200, 1, quoted(first_place))),
			  shared_findings[_i].is_up ? first_place : 1 - first_place);
	ck_assert_uint_eq(questions_to(first_place), 1 + shared_findings[_i].questions);
	close_process();
}
END_TEST

/* Begins a call of somebody who says that the first server failed. */
static void begin_failing(struct call *call, size_t person)
{
	*call = (struct call){ .arena = arena_open() };
	bearer = token_of(person);
	set_request(call, METHOD_POST, "/v2/token/join",
		    arena_text(stand.arena, "{\"failed\":%s}", quoted(first_place)));
	bearer = NULL;
	world_answer(&stand, call);
	store_flush(stand.environment.store);
}

/* While one process asks, another one does not. What is said there counts; so once the answer is
 * there, the room moves. A question that is never answered is asked again after 4 seconds. */
START_TEST(one_process_asks_for_all)
{
	const bool is_lost = _i == 1;
	struct call first, second, third;

	open_process();
	open_pool(2);
	for (size_t i = 0; i < 3; i++)
		come_inside(true);
	set_state(first_place, STATE_CUT);
	begin_failing(&first, 0);
	ck_assert(call_is_asking(&first));
	change_process();
	begin_failing(&second, 1);
	ck_assert(!call_is_asking(&second));
	ck_assert_int_eq(second.answer.status, 200);
	ck_assert_uint_eq(server_of(body_of(&second)), first_place);
	world_move(&stand, is_lost ? 4200 : 2800);
	begin_failing(&third, 2);
	ck_assert(call_is_asking(&third) == is_lost);
	change_process();
	carry_on(&first);
	store_flush(stand.environment.store);
	ck_assert_int_eq(first.answer.status, 200);
	ck_assert_uint_eq(server_of(body_of(&first)), 1 - first_place);
	ck_assert_uint_eq(place_now(), 1 - first_place);
	ck_assert_uint_eq(questions_to(first_place), 1);
	arena_close(first.arena);
	arena_close(second.arena);
	arena_close(third.arena);
	close_process();
}
END_TEST

/* Each process asks by its own clock, if they are apart. */
START_TEST(clocks_that_are_apart_move_a_room_all_the_same)
{
	const int64_t apart = _i == 0 ? 300000 : -300000;

	open_process();
	open_pool(2);
	world_move(&stand, 300000);
	for (size_t i = 0; i < 2; i++)
		come_inside(true);
	set_state(first_place, STATE_CUT);
	world_move(&stand, 20000);
	(void)join_as(200, 5, quoted(first_place));
	(void)join_as(200, 5, quoted(first_place));
	ck_assert_uint_eq(questions_to(first_place), 1);
	change_process();
	world_move(&stand, apart);
	(void)join_as(200, 5, quoted(first_place));
	(void)join_as(200, 5, quoted(first_place));
	ck_assert_uint_eq(questions_to(first_place), 2);
	ck_assert_uint_eq(server_of(join_as(200, 0, quoted(first_place))), 1 - first_place);
	ck_assert_uint_eq(questions_to(first_place), 2);
	close_process();
}
END_TEST

/* A server that does not say a word, as after a power cut. */
START_TEST(a_question_has_three_seconds_in_all)
{
	int64_t began, took;

	/* Requests have as long as they have in the service. */
	stand.options.sender.patience = 0;
	world_restart(&stand);
	open_pool(2);
	come_inside(true);
	set_state(first_place, STATE_HANGS);
	began = clock_monotonic();
	(void)join_as(200, 0, quoted(first_place));
	took = clock_monotonic() - began;
	ck_assert_int_ge(took, 2900);
	ck_assert_int_lt(took, 4900);
	ck_assert_uint_eq(place_now(), 1 - first_place);
}
END_TEST

/* ---- the move ---- */

/* A refused exchange moves nothing; and places are counted at the new server. */
START_TEST(only_who_may_come_in_moves_a_room)
{
	const char *path;

	open_pool(2);
	path = arena_text(stand.arena, "/v2/rooms/%s", room_written);
	(void)ask(200, METHOD_POST, path, "{\"size\":1}");
	come_inside(true);
	/* The server is there. */
	(void)exchange_with(403, NULL);
	(void)exchange_with(403, quoted(first_place));
	ck_assert_uint_eq(questions_to(first_place), 1);
	set_state(first_place, STATE_CUT);
	world_move(&stand, 2000);
	(void)ask(200, METHOD_POST, path, "{\"enabled\":false}");
	(void)join_as(403, 0, quoted(first_place));
	ck_assert_uint_eq(place_now(), first_place);
	ck_assert_uint_eq(questions_to(first_place), 1);
	(void)ask(200, METHOD_POST, path, "{\"enabled\":true}");
	ck_assert_uint_eq(server_of(join_as(200, 0, quoted(first_place))), 1 - first_place);
	(void)exchange_with(200, NULL);
}
END_TEST

/* What only validates asks nothing, and changes nothing. */
START_TEST(a_validated_word_says_nothing)
{
	open_pool(2);
	set_state(first_place, STATE_CUT);
	note_state(first_place, false);
	(void)ask(200, METHOD_POST, "/v2/token?validate_only=true",
		  arena_text(stand.arena, "{\"code\":\"%s\",\"failed\":%s}", code_text,
			     quoted(first_place)));
	ck_assert_uint_eq(questions_to(first_place), 0);
	ck_assert_uint_eq(place_now(), first_place);
}
END_TEST

/* With LIVE_WATCH, records are moved; with LIVE_OFF, nothing is down for the service. */
static const struct {
	enum live_mode mode;
	bool moves;
} moving_modes[] = { { LIVE_ON, true }, { LIVE_WATCH, true }, { LIVE_OFF, false } };

START_TEST(only_a_service_that_follows_rooms_moves_them)
{
	open_pool(2);
	come_inside(true);
	set_state(first_place, STATE_CUT);
	stand.environment.live = moving_modes[_i].mode;
	world_serve(&stand);
	(void)join_as(200, 0, quoted(first_place));
	ck_assert_uint_eq(questions_to(first_place), moving_modes[_i].moves);
	ck_assert_uint_eq(place_now() != first_place, moving_modes[_i].moves);
}
END_TEST

/* Of two others, one that neither drains nor is down. */
START_TEST(a_room_goes_to_the_best_of_the_others)
{
	size_t worse;

	open_pool(3);
	come_inside(true);
	worse = (first_place + 1 + (size_t)_i / 2) % 3;
	if (_i % 2 == 0)
		change_backends(true, worse);
	else
		note_state(worse, false);
	set_state(first_place, STATE_CUT);
	ck_assert_uint_eq(server_of(join_as(200, 0, quoted(first_place))), 3 - worse - first_place);
}
END_TEST

/* All ways to come in move a room in which nobody is. */
static const char *const ways[] = { "token", "join", "livekit", "ticket" };

/* Lets in somebody who has waited. Returns the path of the ticket. */
static const char *admitted_ticket(void)
{
	const char *knock, *door;

	(void)ask(200, METHOD_PATCH, arena_text(stand.arena, "/v2/room-codes/code/%s", code_text),
		  "{\"admission\":\"ask\"}");
	knock = ask(202, METHOD_POST, "/v2/token",
		    arena_text(stand.arena, "{\"code\":\"%s\",\"wait\":true}", code_text));
	door = arena_text(stand.arena, "/v2/active-rooms/%s/tickets", room_written);
	(void)ask(200, METHOD_POST, door, "{\"admit\":\"all\"}");
	return arena_text(stand.arena, "/v2/tickets/%s", text_at(parsed(knock), "ticket"));
}

START_TEST(whoever_comes_first_moves_an_empty_room)
{
	open_pool(2);
	set_state(first_place, STATE_CUT);
	note_state(first_place, false);
	if (strcmp(ways[_i], "token") == 0)
		ck_assert_uint_eq(server_of(exchange_with(200, NULL)), 1 - first_place);
	else if (strcmp(ways[_i], "join") == 0)
		ck_assert_uint_eq(server_of(join_as(200, 0, NULL)), 1 - first_place);
	else if (strcmp(ways[_i], "ticket") == 0)
		ck_assert_uint_eq(server_of(ask(200, METHOD_GET, admitted_ticket(), NULL)),
				  1 - first_place);
	else
		(void)ask(201, METHOD_POST, arena_text(stand.arena, "/v2/livekit/%s", code_text),
			  "{\"failed\":5}");
	ck_assert_uint_eq(place_now(), 1 - first_place);
	ck_assert_uint_eq(questions_to(first_place), 1);
}
END_TEST

/* Of servers that do not make rooms by themselves, the new one makes it before the room moves; in
 * place of one that does not, another one. */
static const struct {
	size_t servers;
	bool makes[2]; /* the servers where the room was not, in the order of their numbers */
} makings[] = {
	{ 2, { false } },	{ 2, { true } },	 { 3, { true, false } },
	{ 3, { false, true } }, { 3, { false, false } }, { 3, { true, true } },
};

START_TEST(a_room_is_made_where_it_goes)
{
	const size_t servers = makings[_i].servers;
	bool can_go = false, is_up;
	size_t made = 0, made_first, n = 0;

	open_pool(servers);
	for (size_t i = 0; i < servers; i++)
		(void)ask(200, METHOD_PATCH,
			  arena_text(stand.arena, "/v2/backends/%s",
				     id_as_text(stand.arena, &backends[i]).data),
			  "{\"config\":{\"create_rooms\":true}}");
	come_inside(true);
	set_state(first_place, STATE_CUT);
	for (size_t i = 0; i < servers; i++) {
		if (i == first_place)
			continue;
		can_go = can_go || makings[_i].makes[n];
		set_state(i, makings[_i].makes[n++] ? STATE_UP : STATE_UNMAKING);
	}
	(void)join_as(can_go ? 200 : 502, 0, quoted(first_place));
	ck_assert_uint_eq(place_now() != first_place, can_go);
	ck_assert_uint_eq(events("room.moved"), can_go);
	pthread_mutex_lock(&field.lock);
	is_up = field.states[place_now()] == STATE_UP;
	made_first = field.made[first_place];
	for (size_t i = 0; i < servers; i++)
		made += field.made[i];
	pthread_mutex_unlock(&field.lock);
	ck_assert(!can_go || is_up);
	ck_assert_uint_eq(made_first, 0);
	ck_assert_uint_ge(made, 1);
	ck_assert_uint_le(made, servers - 1);
}
END_TEST

/* Where people are inside, the room is there: nobody waits for it to be made at a server that does
 * not answer us, and whoever comes gets the old place. */
static const struct {
	size_t inside;
	int status;
} silences[] = { { 3, 200 }, { 0, 502 } };

START_TEST(no_room_is_made_in_silence)
{
	const int status = silences[_i].status;

	open_pool(2);
	(void)ask(200, METHOD_PATCH,
		  arena_text(stand.arena, "/v2/backends/%s",
			     id_as_text(stand.arena, &backends[first_place]).data),
		  "{\"config\":{\"create_rooms\":true}}");
	for (size_t i = 0; i < silences[_i].inside; i++)
		come_inside(true);
	set_state(first_place, STATE_CUT);
	/* A newcomer, and somebody who reloads the page. */
	(void)exchange_with(status, NULL);
	(void)join_as(status, 1, NULL);
	ck_assert_uint_eq(made_at(first_place), 2);
	ck_assert_uint_eq(questions_to(first_place), 0);
	/* An event was heard, so it may yet be there. */
	note_event(first_place);
	(void)join_as(status, 0, quoted(first_place));
	(void)join_as(status, 0, quoted(first_place));
	ck_assert_uint_eq(made_at(first_place), 2);
	ck_assert_uint_eq(questions_to(first_place), 1);
	ck_assert_uint_eq(place_now(), first_place);
}
END_TEST

/* Whoever renames a media server again and again does not fill the memory. */
START_TEST(names_beyond_a_thousand_count_together)
{
	struct failures *failures = failures_open();
	const struct environment environment = { .failures = failures };
	struct call call = { .environment = &environment };
	struct failed_backend *read;
	size_t n;

	for (int i = 0; i < 2100; i++) {
		call.run.failed = slice_of(arena_text(stand.arena, "name-%d", i % 1050));
		failures_after_commit(&call);
	}
	read = failures_read(failures, stand.arena, &n);
	ck_assert_uint_eq(n, 1001);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(read[i].count, read[i].name.size > 0 ? 2 : 100);
	failures_close(failures);
}
END_TEST

void add_deaths(TCase *deaths)
{
	tcase_add_test(deaths, names_beyond_a_thousand_count_together);
	tcase_add_loop_test(deaths, a_room_leaves_a_server_that_is_down, 0, ROWS(judgements));
	tcase_add_loop_test(deaths, a_word_is_the_name_of_a_server, 0, ROWS(words));
	tcase_add_test(deaths, a_crowd_asks_once_a_second_and_moves_once);
	tcase_add_loop_test(deaths, processes_share_what_a_question_found, 0,
			    ROWS(shared_findings));
	tcase_add_loop_test(deaths, one_process_asks_for_all, 0, 2);
	tcase_add_loop_test(deaths, clocks_that_are_apart_move_a_room_all_the_same, 0, 2);
	tcase_add_test(deaths, a_question_has_three_seconds_in_all);
	tcase_add_test(deaths, only_who_may_come_in_moves_a_room);
	tcase_add_test(deaths, a_validated_word_says_nothing);
	tcase_add_loop_test(deaths, only_a_service_that_follows_rooms_moves_them, 0,
			    ROWS(moving_modes));
	tcase_add_loop_test(deaths, a_room_goes_to_the_best_of_the_others, 0, 4);
	tcase_add_loop_test(deaths, whoever_comes_first_moves_an_empty_room, 0, ROWS(ways));
	tcase_add_loop_test(deaths, a_room_is_made_where_it_goes, 0, ROWS(makings));
	tcase_add_loop_test(deaths, no_room_is_made_in_silence, 0, ROWS(silences));
	tcase_add_checked_fixture(deaths, set_up_deaths, tear_down);
}
