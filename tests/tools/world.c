/* See world.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "directory.h"
#include "resources/audit.h"
#include "resources/door/door_polls.h"
#include "resources/recordings/recorders.h"
#include "resources/misses.h"
#include "resources/record_kind.h"
#include "store_failing.h"
#include "store_memory.h"
#include "suite.h"
#include "world.h"

#define READERS 4

/* Assertions of Check work only in its tests, and other programs have worlds too. */
static _Noreturn void give_up(const char *reason)
{
	(void)fprintf(stderr, "world: %s\n", reason);
	abort();
}

static void must(bool succeeds, const struct fault *fault)
{
	if (!succeeds)
		give_up(fault_reason(fault));
}

/* ---- the clock ---- */

static int64_t moved_now(const struct clock *clock)
{
	const struct world_clock *moved = (const struct world_clock *)(const void *)clock;
	int64_t base = atomic_load(&moved->held);

	if (base == 0 && !moved->stands)
		base = clock_now(&clock_system);
	return base + atomic_load(&moved->offset);
}

static void random_of_system(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	clock_random(&clock_system, bytes, size);
}

int64_t world_now(const struct world *world)
{
	return clock_now(&world->clock.clock);
}

void world_move(struct world *world, int64_t milliseconds)
{
	atomic_fetch_add(&world->clock.offset, milliseconds);
}

int64_t world_hold(struct world *world)
{
	const int64_t now = clock_now(&clock_system);

	atomic_store(&world->clock.held, now);
	return now;
}

/* ---- opening and closing ---- */

static void open_store(struct world *world)
{
	struct world_options *options = &world->options;
	struct store **store = &world->environment.store;
	struct fault fault = FAULT_INITIAL;

	switch (options->store) {
	case WORLD_MEMORY:
		*store = store_memory_open();
		break;
	case WORLD_GDBM:
		options->gdbm.directory = world->path;
		options->gdbm.creates = true;
		options->gdbm.form = &record_form;
		if (options->gdbm.readers < READERS)
			options->gdbm.readers = READERS;
		must(store_gdbm_open(&options->gdbm, store, &fault), &fault);
		break;
	case WORLD_POSTGRES:
		options->postgres.form = &record_form;
		must(store_postgres_open(&options->postgres, store, &fault), &fault);
		break;
	case WORLD_GIVEN:
		*store = options->given;
		break;
	}
	if (options->may_fail)
		*store = store_failing_open(*store);
}

static bool find_account(const struct world *world, const char *name, struct account *account)
{
	const struct roster *roster = accounts_current(world->environment.accounts);
	const struct account *found = roster_by_name(roster, slice_of(name));

	if (found != NULL)
		*account = *found;
	accounts_release(world->environment.accounts, roster);
	return found != NULL;
}

static bool accounts_are_stored(const struct world_options *options)
{
	return options->store == WORLD_POSTGRES && !options->has_account_file;
}

static void open_accounts(struct world *world)
{
	const bool is_stored = accounts_are_stored(&world->options);
	struct accounts **accounts = &world->environment.accounts;
	struct fault fault = FAULT_INITIAL;

	must(is_stored ? accounts_open_stored(world->environment.store, accounts, &fault)
		       : accounts_open(world->directory, accounts, &fault),
	     &fault);
	/* A restart changes neither the account nor what the suite has in its place. */
	if (!world->options.is_empty && world->account.name[0] == '\0' &&
	    !find_account(world, "a", &world->account))
		must(accounts_add(is_stored ? world->options.postgres.url : world->directory,
				  &clock_system, "a", &world->account, &fault),
		     &fault);
}

static void open_sender(struct world *world)
{
	const char *program = getenv("ANTEROOM");
	struct fault fault = FAULT_INITIAL;

	world->options.sender.program = program != NULL ? program : "./anteroom";
	must(sender_open(&world->options.sender, &world->sender, &fault), &fault);
}

void world_start(struct world *world)
{
	struct environment *environment = &world->environment;
	const unsigned door_most = world->options.door_most;

	*environment = world->options.environment;
	environment->clock = &world->clock.clock;
	open_store(world);
	open_accounts(world);
	environment->tokens = token_memory_open();
	environment->misses = misses_open(environment->clock);
	environment->recorders = recorders_open();
	environment->door_polls = door_polls_open(door_most != 0 ? door_most : DOOR_ADDRESS_MOST);
	if (environment->join_seconds == 0)
		environment->join_seconds = 3600;
	if (world->receiver != NULL)
		open_sender(world);
	if (world->options.parts_open != NULL)
		world->options.parts_open(world);
	world->service = service_open(environment);
}

void world_stop(struct world *world)
{
	service_close(world->service);
	if (world->options.parts_close != NULL)
		world->options.parts_close(world);
	if (world->receiver != NULL)
		sender_close(world->sender);
	door_polls_close(world->environment.door_polls);
	recorders_close(world->environment.recorders);
	misses_close(world->environment.misses);
	token_memory_close(world->environment.tokens);
	accounts_close(world->environment.accounts);
	if (world->options.store != WORLD_GIVEN)
		store_close(world->environment.store);
}

void world_open(struct world *world, const struct world_options *options)
{
	memset(world, 0, sizeof *world);
	world->options = *options;
	world->arena = arena_open();
	world->directory = options->directory;
	/* A program that is killed leaves no directory that it does not need. */
	if (world->directory == NULL && !accounts_are_stored(options))
		world->directory = directory_make();
	if (world->directory != NULL)
		(void)snprintf(world->path, sizeof world->path, "%s/store", world->directory);
	world->clock.clock = (struct clock){ moved_now, random_of_system };
	world->clock.stands = options->stands;
	if (options->begins != 0)
		world_move(world, options->begins - world_now(world));
	if (options->sender.purpose != NULL)
		world->receiver = receiver_open();
	world_start(world);
}

char *world_leave(struct world *world)
{
	world_stop(world);
	if (world->receiver != NULL)
		receiver_close(world->receiver);
	arena_close(world->arena);
	return world->directory;
}

void world_close(struct world *world)
{
	char *directory = world_leave(world);

	if (directory != NULL)
		directory_remove(directory);
}

void world_restart(struct world *world)
{
	world_stop(world);
	world_start(world);
}

void world_serve(struct world *world)
{
	service_close(world->service);
	world->service = service_open(&world->environment);
}

void world_account(const struct world *world, const char *name, struct account *account)
{
	ck_assert_msg(find_account(world, name, account), "no account %s", name);
}

/* ---- calls ---- */

struct slice world_bearer(const struct world *world, struct arena *arena,
			  const struct account *account)
{
	struct buffer header = BUFFER_INITIAL(arena);

	buffer_append_text(&header, "Bearer ");
	buffer_append(&header, token_sign_management(arena, &clock_system, account,
						     clock_now(world->environment.clock), 3600));
	return buffer_slice(&header);
}

struct request world_request(const struct world *world, struct arena *arena,
			     const struct account *account, enum method method, const char *path,
			     const char *body)
{
	struct request request = {
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body == NULL ? "" : body),
		.address = SLICE("192.0.2.1"),
	};

	if (account != NULL)
		request.authorization = world_bearer(world, arena, account);
	return request;
}

void world_answer(const struct world *world, struct call *call)
{
	struct store *store = world->environment.store;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	if (!service_answer(world->service, call))
		give_up("a call is deferred");
	number = call->answer.awaited;
	if (number != 0 && !store_wait(store, number, &fault))
		service_settle(call, store_state(store, number));
}

struct call world_call(struct world *world, const struct request *request)
{
	struct call call = { .arena = world->arena, .request = *request };

	world_answer(world, &call);
	return call;
}

const char *world_body(struct arena *arena, const struct call *call)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < call->answer.part_count; i++)
		buffer_append(&text, call->answer.parts[i]);
	buffer_append_byte(&text, '\0');
	return text.data;
}

struct reply world_send(const struct world *world, struct arena *arena,
			const struct request *request)
{
	struct call call = { .arena = arena_open(), .request = *request };
	struct reply reply;

	world_answer(world, &call);
	reply = (struct reply){
		.status = call.answer.status,
		.etag = arena_copy(arena, call_find_header(&call, "ETag")),
		.retry_after = arena_copy(arena, call_find_header(&call, "Retry-After")),
		.text = world_body(arena, &call),
	};
	arena_close(call.arena);
	return reply;
}

struct reply world_ask(const struct world *world, struct arena *arena,
		       const struct account *account, enum method method, const char *path,
		       const char *body)
{
	struct arena *own = arena_open();
	const struct request request = world_request(world, own, account, method, path, body);
	const struct reply reply = world_send(world, arena, &request);

	arena_close(own);
	return reply;
}

const char *world_expect(const struct world *world, int status, enum method method,
			 const char *path, const char *body)
{
	const struct reply reply = world_ask(world, world->arena, &world->account, method, path,
					     body);

	ck_assert_msg(reply.status == status, "%s %s: %d %s", method_name(method), path,
		      reply.status, reply.text);
	return reply.text;
}

void world_begin(struct world *world, const struct id *account, struct call *call)
{
	struct fault fault = FAULT_INITIAL;

	*call = (struct call){
		.environment = &world->environment,
		.arena = arena_open(),
		.account = *account,
		.actor.kind = ACTOR_SERVICE,
		.now = world_now(world),
	};
	arena_set_limit(call->arena, CALL_ALONE_MEMORY_MOST);
	must(store_begin(world->environment.store, STORE_WRITE, call->arena, &call->transaction,
			 &fault),
	     &fault);
	call_set_account(call);
	call_draw_etag(call);
}

uint64_t world_commit(struct call *call)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number = 0;

	must(audit_write(call, &fault) && store_commit(call->transaction, &number, &fault), &fault);
	arena_close(call->arena);
	return number;
}

void world_abandon(struct call *call)
{
	store_abandon(call->transaction);
	arena_close(call->arena);
}

json_t *world_json(const struct world *world, const char *text)
{
	json_t *value = arena_json(world->arena, json_loads(text, 0, NULL));

	ck_assert_msg(value != NULL, "no JSON: %s", text);
	return value;
}

const char *world_member(const struct world *world, const char *text, const char *name)
{
	const char *value = json_string_value(json_object_get(world_json(world, text), name));

	ck_assert_msg(value != NULL, "no %s: %s", name, text);
	return value;
}
