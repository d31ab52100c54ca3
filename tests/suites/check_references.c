/* Missing references: a record that others refer to is missing from the store, which no request can
 * cause. Every request that follows the reference reports damage; none returns 404, and none
 * crashes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "accounts/accounts.h"
#include "resources/joining/misses.h"
#include "accounts/token.h"
#include "directory.h"
#include "fast_disk.h"
#include "records/kinds.h"
#include "service/service.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/store_gdbm.h"
#include "suite.h"

/* An account with a template (the default), a room, a code for a current role and a code for a
 * deleted role. */
static struct world {
	char *directory;
	struct environment environment;
	struct service *service;
	struct id account;
	char template[ID_TEXT_SIZE + 1], room[ID_TEXT_SIZE + 1];
	char code[CODE_TEXT_SIZE], former[CODE_TEXT_SIZE];
} world;

/* Returns the status; sets *text to the response's text, in the arena. */
static int ask(struct arena *arena, enum method method, const char *path, const char *body,
	       char **text)
{
	const struct roster *roster = accounts_current(world.environment.accounts);
	const struct account *account = roster_by_name(roster, SLICE("a"));
	struct buffer header = BUFFER_INITIAL(arena), answer = BUFFER_INITIAL(arena);
	struct call call = { .arena = arena };
	struct fault fault = FAULT_INITIAL;

	world.account = account->id;
	buffer_append_text(&header, "Bearer ");
	buffer_append(&header, token_sign_management(arena, &clock_system, account,
						     clock_now(&clock_system), 3600));
	accounts_release(world.environment.accounts, roster);
	call.request = (struct request){
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body == NULL ? "" : body),
		.authorization = buffer_slice(&header),
		.address = SLICE("192.0.2.1"),
	};
	service_answer(world.service, &call);
	if (call.answer.awaited != 0)
		ck_assert(store_wait(world.environment.store, call.answer.awaited, &fault));
	for (size_t i = 0; i < call.answer.part_count; i++)
		buffer_append(&answer, call.answer.parts[i]);
	buffer_append_byte(&answer, '\0');
	*text = answer.data;
	return call.answer.status;
}

/* Makes a call that must succeed and copies a member of the response to `kept`. */
static void done(const char *path, const char *body, const char *list, size_t place,
		 const char *member, char *kept, size_t size)
{
	struct arena *arena = arena_open();
	char *text;
	json_t *answer, *object;

	ck_assert_msg(ask(arena, METHOD_POST, path, body, &text) == 200, "%s: %s", path, text);
	answer = json_loads(text, 0, NULL);
	object = list == NULL ? answer : json_array_get(json_object_get(answer, list), place);
	ck_assert_uint_lt((size_t)snprintf(kept, size, "%s",
					   json_string_value(json_object_get(object, member))),
			  size);
	json_decref(answer);
	arena_close(arena);
}

static void set_up(void)
{
	struct fault fault = FAULT_INITIAL;
	char path[200], ignored[64];

	world.directory = directory_make();
	world.environment = (struct environment){ .clock = &clock_system, .join_seconds = 3600 };
	world.environment.misses = misses_open(&clock_system);
	ck_assert(accounts_add(world.directory, &clock_system, "a", NULL, &fault));
	ck_assert(accounts_open(world.directory, &world.environment.accounts, &fault));
	(void)snprintf(path, sizeof path, "%s/store", world.directory);
	ck_assert(store_gdbm_open(
		&(const struct store_options){ .directory = path, .readers = 2, .creates = true },
		&world.environment.store, &fault));
	world.service = service_open(&world.environment);
	done("/v2/templates",
	     "{\"name\":\"t\",\"default\":true,\"roles\":{\"gone\":{},\"here\":{}}}", NULL, 0, "id",
	     world.template, sizeof world.template);
	done("/v2/rooms", "{\"name\":\"r\"}", NULL, 0, "id", world.room, sizeof world.room);
	(void)snprintf(path, sizeof path, "/v2/room-codes/room/%s", world.room);
	done(path, NULL, "data", 0, "code", world.former, sizeof world.former);
	done(path, NULL, "data", 1, "code", world.code, sizeof world.code);
	(void)snprintf(path, sizeof path, "/v2/templates/%s", world.template);
	done(path, "{\"roles\":{\"here\":{}}}", NULL, 0, "id", ignored, sizeof ignored);
}

static void tear_down(void)
{
	service_close(world.service);
	store_close(world.environment.store);
	accounts_close(world.environment.accounts);
	misses_close(world.environment.misses);
	directory_remove(world.directory);
}

struct lost_key {
	const struct store_kind *kind;
	unsigned found;
	char key[STORE_KEY_MAX];
	size_t size;
};

static bool find_key(void *context, enum store_table table, struct slice key, struct slice value,
		     struct fault *fault)
{
	struct lost_key *lost = context;

	(void)value;
	(void)fault;
	if (table != STORE_RECORD || key.data[0] != lost->kind->letter)
		return true;
	lost->found++;
	lost->size = key.size;
	memcpy(lost->key, key.data, key.size);
	return true;
}

/* Removes the only record of the kind from the store, but leaves the indexes unchanged. */
static void lose(const struct store_kind *kind)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct lost_key lost = { .kind = kind };
	uint64_t number;

	ck_assert(store_begin(world.environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(entries_walk(transaction, false, find_key, &lost, &fault));
	store_abandon(transaction);
	ck_assert_uint_eq(lost.found, 1);
	ck_assert(store_begin(world.environment.store, STORE_WRITE, arena, &transaction, &fault));
	ck_assert(entry_remove(transaction, STORE_RECORD, (struct slice){ lost.key, lost.size },
			       &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(world.environment.store, number, &fault));
	arena_close(arena);
}

/* In paths and bodies, T stands for the template, R for the room, C for the code, F for the former
 * code. An object that the client names itself is not found; everything else is damage. */
static const struct {
	const struct store_kind *gone;
	enum method method;
	const char *path, *body;
	int status;
} rows[] = {
	{ &kind_template, METHOD_GET, "/v2/templates/T", NULL, 404 },
	{ &kind_template, METHOD_GET, "/v2/templates", NULL, 503 },
	{ &kind_template, METHOD_GET, "/v2/templates?name=t", NULL, 503 },
	{ &kind_template, METHOD_GET, "/v2/templates?default=true", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/templates", "{\"name\":\"t\"}", 503 },
	{ &kind_template, METHOD_GET, "/v2/rooms", NULL, 503 },
	{ &kind_template, METHOD_GET, "/v2/rooms?name=r", NULL, 503 },
	{ &kind_template, METHOD_GET, "/v2/rooms/R", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/rooms/R", "{\"enabled\":false}", 503 },
	{ &kind_template, METHOD_DELETE, "/v2/rooms/R", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/rooms", "{}", 503 },
	{ &kind_template, METHOD_POST, "/v2/rooms", "{\"name\":\"r\"}", 503 },
	{ &kind_template, METHOD_POST, "/v2/rooms", "{\"template_id\":\"T\"}", 400 },
	{ &kind_template, METHOD_GET, "/v2/room-codes/room/R", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/room-codes/room/R", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/room-codes/room/R/role/here", NULL, 503 },
	{ &kind_template, METHOD_GET, "/v2/room-codes/code/C", NULL, 503 },
	{ &kind_template, METHOD_POST, "/v2/room-codes/code/C", "{\"enabled\":false}", 503 },
	{ &kind_template, METHOD_POST, "/v2/token", "{\"code\":\"C\"}", 503 },
	{ &kind_room, METHOD_GET, "/v2/rooms/R", NULL, 404 },
	{ &kind_room, METHOD_GET, "/v2/rooms", NULL, 503 },
	{ &kind_room, METHOD_GET, "/v2/rooms?name=r", NULL, 503 },
	{ &kind_room, METHOD_GET, "/v2/rooms?template_id=T", NULL, 503 },
	{ &kind_room, METHOD_POST, "/v2/rooms", "{\"name\":\"r\"}", 503 },
	{ &kind_room, METHOD_GET, "/v2/room-codes/room/R", NULL, 404 },
	{ &kind_room, METHOD_GET, "/v2/room-codes/code/C", NULL, 503 },
	{ &kind_room, METHOD_POST, "/v2/room-codes/code", "{\"code\":\"C\",\"enabled\":false}",
	  503 },
	{ &kind_room, METHOD_POST, "/v2/token", "{\"code\":\"C\"}", 503 },
	{ &kind_codes, METHOD_GET, "/v2/room-codes/code/C", NULL, 503 },
	{ &kind_codes, METHOD_POST, "/v2/room-codes/code/C", "{\"enabled\":false}", 503 },
	{ &kind_codes, METHOD_POST, "/v2/room-codes/code", "{\"code\":\"C\",\"enabled\":true}",
	  503 },
	{ &kind_codes, METHOD_POST, "/v2/token", "{\"code\":\"C\"}", 503 },
	{ &kind_role, METHOD_GET, "/v2/room-codes/room/R", NULL, 503 },
	{ &kind_role, METHOD_GET, "/v2/room-codes/code/F", NULL, 503 },
	{ &kind_role, METHOD_POST, "/v2/token", "{\"code\":\"F\"}", 503 },
	{ &kind_role, METHOD_POST, "/v2/room-codes/code/F", "{\"enabled\":true}", 503 },
	{ &kind_role, METHOD_GET, "/v2/room-codes/code/C", NULL, 200 },
	{ &kind_role, METHOD_POST, "/v2/token", "{\"code\":\"C\"}", 200 },
};

static const char *filled(struct arena *arena, const char *text)
{
	struct buffer full = BUFFER_INITIAL(arena);

	for (; text != NULL && *text != '\0'; text++) {
		if (*text == 'T')
			buffer_append_text(&full, world.template);
		else if (*text == 'R')
			buffer_append_text(&full, world.room);
		else if (*text == 'C')
			buffer_append_text(&full, world.code);
		else if (*text == 'F')
			buffer_append_text(&full, world.former);
		else
			buffer_append_byte(&full, *text);
	}
	buffer_append_byte(&full, '\0');
	return full.data;
}

START_TEST(a_missing_reference_is_damage)
{
	struct arena *arena = arena_open();
	char *text;
	int status;

	lose(rows[_i].gone);
	status = ask(arena, rows[_i].method, filled(arena, rows[_i].path),
		     filled(arena, rows[_i].body), &text);
	ck_assert_msg(status == rows[_i].status, "%s: %d, not %d: %s", rows[_i].path, status,
		      rows[_i].status, text);
	arena_close(arena);
}
END_TEST

/* No request reports damage while everything is present. */
START_TEST(complete_references_are_not_damage)
{
	struct arena *arena = arena_open();
	char *text;
	int status;

	status = ask(arena, rows[_i].method, filled(arena, rows[_i].path),
		     filled(arena, rows[_i].body), &text);
	ck_assert_msg(status < 404 || status == 409, "%s: %d: %s", rows[_i].path, status, text);
	arena_close(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("references");
	TCase *tcase = tcase_create("references");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_missing_reference_is_damage, 0, ROWS(rows));
	tcase_add_loop_test(tcase, complete_references_are_not_damage, 0, ROWS(rows));
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run(suite);
}
