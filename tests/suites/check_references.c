/* Missing references: a record that others refer to is missing from the store, which no request can
 * cause. Every request that follows the reference reports damage; none returns 404, and none
 * crashes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <string.h>

#include "fast_disk.h"
#include "records/kinds.h"
#include "store/gdbm/entries.h"
#include "suite.h"
#include "world.h"

static struct world world;

/* The account has a template (the default), a room, a code for a current role and a code for a
 * deleted role. */
static const char *template, *room, *code, *former;

/* Returns a text member of the n-th item of the list `data`. */
static const char *in_list(const char *text, size_t n, const char *name)
{
	const json_t *list = json_object_get(world_json(&world, text), "data");

	return json_string_value(json_object_get(json_array_get(list, n), name));
}

static const char *post(const char *path, const char *body)
{
	return world_expect(&world, 200, METHOD_POST, path, body);
}

static void set_up(void)
{
	const char *text;

	world_open(&world, &(const struct world_options){ .store = WORLD_GDBM });
	text = post("/v2/templates",
		    "{\"name\":\"t\",\"default\":true,\"roles\":{\"gone\":{},\"here\":{}}}");
	template = world_member(&world, text, "id");
	room = world_member(&world, post("/v2/rooms", "{\"name\":\"r\"}"), "id");
	text = post(arena_text(world.arena, "/v2/room-codes/room/%s", room), NULL);
	former = in_list(text, 0, "code");
	code = in_list(text, 1, "code");
	(void)post(arena_text(world.arena, "/v2/templates/%s", template),
		   "{\"roles\":{\"here\":{}}}");
}

static void tear_down(void)
{
	world_close(&world);
}

/* Removes the only record of the kind from the store, but leaves the indexes unchanged. */
static void lose(const struct store_kind *kind)
{
	struct arena *arena = world.arena;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct slice lost = { NULL, 0 };
	struct walked_entry entry;
	struct entry_walk *walk;
	unsigned found = 0;
	uint64_t number;

	ck_assert(store_begin(world.environment.store, STORE_READ, arena, &transaction, &fault));
	walk = entries_walk(transaction, false);
	while (entries_next(walk, &entry, &fault)) {
		if (entry.table != STORE_RECORD || entry.key.data[0] != kind->letter)
			continue;
		found++;
		lost = arena_copy(arena, entry.key);
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	ck_assert_uint_eq(found, 1);
	ck_assert(store_begin(world.environment.store, STORE_WRITE, arena, &transaction, &fault));
	ck_assert(entry_remove(transaction, STORE_RECORD, lost, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(world.environment.store, number, &fault));
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

static const char *filled(const char *text)
{
	struct buffer full = BUFFER_INITIAL(world.arena);

	for (; text != NULL && *text != '\0'; text++) {
		if (*text == 'T')
			buffer_append_text(&full, template);
		else if (*text == 'R')
			buffer_append_text(&full, room);
		else if (*text == 'C')
			buffer_append_text(&full, code);
		else if (*text == 'F')
			buffer_append_text(&full, former);
		else
			buffer_append_byte(&full, *text);
	}
	buffer_append_byte(&full, '\0');
	return full.data;
}

static struct reply ask(int row)
{
	return world_ask(&world, world.arena, &world.account, rows[row].method,
			 filled(rows[row].path), filled(rows[row].body));
}

START_TEST(a_missing_reference_is_damage)
{
	struct reply reply;

	lose(rows[_i].gone);
	reply = ask(_i);
	ck_assert_msg(reply.status == rows[_i].status, "%s: %d, not %d: %s", rows[_i].path,
		      reply.status, rows[_i].status, reply.text);
}
END_TEST

/* No request reports damage while everything is present. */
START_TEST(complete_references_are_not_damage)
{
	const struct reply reply = ask(_i);

	ck_assert_msg(reply.status < 404 || reply.status == 409, "%s: %d: %s", rows[_i].path,
		      reply.status, reply.text);
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
