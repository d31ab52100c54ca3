/* Two responders whose people say at the same time that a media server failed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "accounts/token.h"
#include "background/media_client.h"
#include "receiver.h"
#include "resources/asking.h"
#include "resources/live/live_merge.h"
#include "resources/media/failures.h"
#include "resources/media/placing_down.h"
#include "responders.h"
#include "suite.h"

#define ROOMS 8
#define PEOPLE 6

static struct world pair[2];

static void open_parts(struct world *world)
{
	world->environment.failures = failures_open();
	world->environment.media_client = media_client_open(world->sender);
}

static void close_parts(struct world *world)
{
	media_client_close(world->environment.media_client);
	failures_close(world->environment.failures);
}

static void open_pair(void)
{
	struct world_options options = {
		.store = WORLD_POSTGRES,
		.postgres = { .url = url, .connections = CONNECTIONS },
		.environment.live = LIVE_ON,
		.sender = { .purpose = &sender_of_media, .allows_http = true },
		.parts_open = open_parts,
		.parts_close = close_parts,
	};

	ck_assert(address_ranges_read(SLICE("127.0.0.1"), &options.sender.ranges));
	for (size_t i = 0; i < 2; i++)
		world_open(&pair[i], &options);
}

/* Creates a media server of the pool. path: of the receiver, which says what it answers. */
static const char *add_server(const char *name, const char *path, bool is_default)
{
	return make(
		&one, "/v2/backends",
		arena_text(kept,
			   "{\"name\":\"%s\",\"type\":\"livekit\",\"pool\":\"p\",\"default\":%s,"
			   "\"url\":\"ws://127.0.0.1:%u%s\",\"config\":{\"api_key\":\"k\","
			   "\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
			   name, is_default ? "true" : "false", receiver_port(pair[0].receiver),
			   path));
}

/* A person inside a room, who says so at one of the responders. */
struct sayer {
	struct world *world;
	struct arena *arena;
	struct slice token;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended;
	int status;
	const char *answer;
};

static void end_question(void *context, struct asking *asking)
{
	struct sayer *sayer = context;

	(void)asking;
	pthread_mutex_lock(&sayer->lock);
	sayer->has_ended = true;
	pthread_cond_signal(&sayer->ended);
	pthread_mutex_unlock(&sayer->lock);
}

static void *say_failed(void *context)
{
	struct sayer *sayer = context;
	struct call call = { .arena = sayer->arena };

	call.request = world_request(sayer->world, sayer->arena, NULL, METHOD_POST,
				     "/v2/token/join", "{\"failed\":\"dead\"}");
	call.request.authorization = sayer->token;
	for (world_answer(sayer->world, &call); call_is_asking(&call);
	     world_answer(sayer->world, &call)) {
		sayer->has_ended = false;
		service_ask(&call, end_question, sayer);
		pthread_mutex_lock(&sayer->lock);
		while (!sayer->has_ended)
			pthread_cond_wait(&sayer->ended, &sayer->lock);
		pthread_mutex_unlock(&sayer->lock);
	}
	sayer->status = call.answer.status;
	sayer->answer = world_body(sayer->arena, &call);
	return NULL;
}

static void come_inside(const char *room, const char *backend, size_t person)
{
	const int64_t now = world_now(&one);
	const struct report report = {
		.type = REPORT_JOINED,
		.room = { .name = slice_of(room), .id = slice_of(room), .created = 1 },
		.person = {
			.stay = slice_of(arena_text(kept, "%s%zu", room, person)),
			.identity = slice_of(arena_text(kept, "p%zu", person)),
			.user_id = slice_of(arena_text(kept, "p%zu", person)),
			.role = SLICE("host"),
			.entry = slice_of(arena_text(kept, "%.24s%08zu", room, person)),
			.code = SLICE(""),
			.name = SLICE("P"),
			.metadata = SLICE(""),
			.joined = now,
		},
		.time = now,
	};
	struct merging merging = { .reports = &report, .count = 1 };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	ck_assert(id_parse(slice_of(room), &merging.room));
	ck_assert(id_parse(slice_of(backend), &merging.backend));
	world_begin(&one, &account.id, &call);
	ck_assert_msg(live_merge(&call, &merging, &fault), "%s", fault.message);
	(void)world_commit(&call);
}

static void begin_saying(struct sayer *sayer, struct world *world, const char *room, size_t person)
{
	const int64_t now = world_now(&one);
	const struct token_join join = {
		.room_id = slice_of(room),
		.role = SLICE("host"),
		.user_id = slice_of(arena_text(kept, "p%zu", person)),
		.jti = SLICE("j"),
		.entry = slice_of(arena_text(kept, "%.24s%08zu", room, person)),
	};
	const struct slice token = token_sign_join(kept, one.environment.clock, &account, &join,
						   now, now / 1000 + 600);

	*sayer = (struct sayer){
		.world = world,
		.arena = arena_open(),
		.token = slice_of(arena_text(kept, "Bearer %.*s", (int)token.size, token.data)),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ended = PTHREAD_COND_INITIALIZER,
	};
	ck_assert_int_eq(pthread_create(&sayer->thread, NULL, say_failed, sayer), 0);
}

/* Returns how many rooms the responder has moved. */
static uint64_t moved_by(const struct world *world)
{
	uint64_t moved[MOVE_REASONS];

	failures_read_moved(world->environment.failures, moved);
	return moved[MOVE_DOWN];
}

/* However many say so at once, the room moves once, and those who are told of a new server are told
 * of the same. */
START_TEST(a_room_moves_once_for_two_responders)
{
	const char *dead, *rooms[ROOMS], *code;
	struct sayer sayers[PEOPLE];
	struct reply reply;

	open_pair();
	dead = add_server("dead", "/close", true);
	(void)make(&one, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	for (size_t i = 0; i < ROOMS; i++) {
		rooms[i] = make(&one, "/v2/rooms", "{}");
		reply = ask(&one, METHOD_POST,
			    arena_text(kept, "/v2/room-codes/room/%s/role/host", rooms[i]), "{}");
		code = member_of(&reply, "code");
		reply = ask(&one, METHOD_POST, "/v2/token",
			    arena_text(kept, "{\"code\":\"%s\"}", code));
		ck_assert_msg(strstr(reply.text, "\"backend\":\"dead\"") != NULL, "%s", reply.text);
		for (size_t person = 0; person < PEOPLE; person++)
			come_inside(rooms[i], dead, person);
	}
	/* Servers to which they can go. */
	(void)add_server("b", "/200", false);
	(void)add_server("c", "/200", false);
	for (size_t i = 0; i < ROOMS; i++) {
		const char *there = NULL, *names[] = { "b", "c" };
		size_t sent = 0;

		for (size_t person = 0; person < PEOPLE; person++)
			begin_saying(&sayers[person], &pair[person % 2], rooms[i], person);
		for (size_t person = 0; person < PEOPLE; person++)
			pthread_join(sayers[person].thread, NULL);
		for (size_t person = 0; person < PEOPLE; person++) {
			const char *answer = sayers[person].answer;

			ck_assert_msg(sayers[person].status == 200, "%s", answer);
			for (size_t n = 0; n < 2; n++) {
				if (strstr(answer, arena_text(kept, "\"backend\":\"%s\"",
							      names[n])) == NULL)
					continue;
				ck_assert(there == NULL || there == names[n]);
				there = names[n];
				sent++;
			}
			arena_close(sayers[person].arena);
		}
		/* Half of them were enough. */
		ck_assert_uint_ge(sent, PEOPLE / 2 + 1);
		ck_assert_uint_eq(moved_by(&pair[0]) + moved_by(&pair[1]), i + 1);
	}
	world_close(&pair[0]);
	world_close(&pair[1]);
}
END_TEST

void add_deaths(TCase *calls)
{
	if (sender_is_built())
		tcase_add_test(calls, a_room_moves_once_for_two_responders);
}
