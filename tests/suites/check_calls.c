/* Calls in process, for what a case file cannot express: what the ETags of many calls have in
 * common, how a call responds if its store asks for it to be run again, and a transaction without a
 * request too, which calls are deferred, and what the largest bodies cost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/transact.h"
#include "base/clock.h"
#include "fast_disk.h"
#include "records/kinds.h"
#include "resources/stored/room_record.h"
#include "service/costs.h"
#include "service/routes.h"
#include "store_failing.h"
#include "suite.h"
#include "world.h"

/* Two accounts, "a" and "b", over a store that can be made to fail. */
static struct world world;

static void set_up_over(enum world_store store)
{
	struct fault fault = FAULT_INITIAL;

	world_open(&world, &(const struct world_options){ .store = store, .may_fail = true });
	ck_assert(accounts_add(world.directory, &clock_system, "b", NULL, &fault));
}

static void set_up(void)
{
	set_up_over(WORLD_MEMORY);
}

static void tear_down(void)
{
	world_close(&world);
}

/* From now on the world is another one, with a durable store. */
static void set_up_durable(void)
{
	tear_down();
	set_up_over(WORLD_GDBM);
}

/* ---- calls ---- */

static struct request request_of(struct arena *arena, const char *name, enum method method,
				 const char *path, const char *body)
{
	struct account account;

	world_account(&world, name, &account);
	return world_request(&world, arena, &account, method, path, body);
}

static struct reply ask(const char *account, enum method method, const char *path, const char *body)
{
	struct account asker;

	world_account(&world, account, &asker);
	return world_ask(&world, world.arena, &asker, method, path, body);
}

static struct reply done(const char *account, enum method method, const char *path,
			 const char *body)
{
	struct reply reply = ask(account, method, path, body);

	ck_assert_msg(reply.status == 200, "%s: %d %s", path, reply.status, reply.text);
	return reply;
}

static const char *member_of(const struct reply *reply, const char *name)
{
	return world_member(&world, reply->text, name);
}

/* ---- ETags ---- */

static uint64_t number_of(struct slice etag)
{
	char digits[17] = "";
	char *end;
	uint64_t number;

	ck_assert_uint_ge(etag.size, 3);
	ck_assert_uint_le(etag.size, 18);
	ck_assert(etag.data[0] == '"' && etag.data[etag.size - 1] == '"');
	memcpy(digits, etag.data + 1, etag.size - 2);
	errno = 0;
	number = strtoull(digits, &end, 16);
	ck_assert(errno == 0 && *end == '\0' &&
		  strspn(digits, "0123456789abcdef") == strlen(digits));
	ck_assert_uint_lt(number, UINT64_C(1) << 63);
	return number;
}

#define WRITES 40

/* With a counter, all ETags would rise, and the difference would reveal how much the other account
 * writes. Random ETags all rise, or all fall, in one of 40! / 2 runs. */
START_TEST(etags_reveal_nothing_about_other_writes)
{
	struct reply reply = done("a", METHOD_POST, "/v2/templates", "{}");
	const char *path = arena_text(world.arena, "/v2/templates/%s", member_of(&reply, "id"));
	uint64_t former = number_of(reply.etag);
	unsigned rises = 0, falls = 0;

	for (unsigned i = 0; i < WRITES; i++) {
		uint64_t number;

		done("b", METHOD_POST, "/v2/templates", "{}");
		ck_assert_uint_eq(number_of(done("a", METHOD_GET, path, NULL).etag), former);
		number = number_of(done("a", METHOD_POST, path, "{}").etag);
		rises += number > former;
		falls += number < former;
		former = number;
	}
	ck_assert_uint_eq(rises + falls, WRITES);
	ck_assert_uint_gt(rises, 0);
	ck_assert_uint_gt(falls, 0);
}
END_TEST

static uint64_t etag_of_room(uint64_t room, uint64_t owner)
{
	const struct room_record record = { .etag = room };
	const struct template_record template = { .rooms_etag = owner };

	return room_etag(&record, &template);
}

/* The expected digest comes from another implementation of SHA-256. */
START_TEST(a_rooms_etag_is_a_digest_of_two)
{
	ck_assert_uint_eq(etag_of_room(1, 2), UINT64_C(0x463b2a767ebd85b1));
	ck_assert_uint_ne(etag_of_room(2, 1), etag_of_room(1, 2));
	ck_assert_uint_ne(etag_of_room(1, 1), etag_of_room(2, 2));
}
END_TEST

START_TEST(a_rooms_etag_changes_with_its_templates_name)
{
	struct reply template = done("a", METHOD_POST, "/v2/templates", "{\"default\":true}");
	struct reply room = done("a", METHOD_POST, "/v2/rooms", "{}"), other;
	const char *path = arena_text(world.arena, "/v2/rooms/%s", member_of(&room, "id"));
	const char *owner = arena_text(world.arena, "/v2/templates/%s", member_of(&template, "id"));

	other = done("a", METHOD_GET, path, NULL);
	ck_assert_uint_eq(number_of(other.etag), number_of(room.etag));
	done("a", METHOD_POST, owner, "{\"roles\":{\"host\":{}}}");
	other = done("a", METHOD_GET, path, NULL);
	ck_assert_uint_eq(number_of(other.etag), number_of(room.etag));
	done("a", METHOD_POST, owner, "{\"name\":\"another\"}");
	other = done("a", METHOD_GET, path, NULL);
	ck_assert_uint_ne(number_of(other.etag), number_of(room.etag));
}
END_TEST

/* ---- calls that are run again ---- */

/* The service gives up after this many. */
#define AGAINS 9

/* A page of another origin must be able to read that the disk failed. */
START_TEST(a_failed_write_has_the_usual_headers)
{
	struct arena *arena = arena_open();
	struct call call = { .arena = arena };

	call.request = (struct request){
		.method = METHOD_POST,
		.uri = SLICE("/v2/token"),
		.body = SLICE("{\"code\":\"abc-defg-hij\"}"),
		.address = SLICE("192.0.2.1"),
		.request_id = SLICE("one"),
	};
	service_answer(world.service, &call);
	ck_assert_int_eq(call.answer.status, 404);
	for (int i = 0; i < 2; i++) {
		ck_assert(slice_is(call_find_header(&call, "Access-Control-Allow-Origin"), "*"));
		ck_assert(slice_is(call_find_header(&call, "X-Request-Id"), "one"));
		ck_assert(slice_is(call_find_header(&call, "Content-Type"),
				   "application/json; charset=utf-8"));
		service_settle(&call, STORE_FAILED);
		ck_assert_int_eq(call.answer.status, 503);
	}
	arena_close(arena);
}
END_TEST

/* Rejected calls and mere checks store nothing. */
static const struct {
	const char *path;
	const char *text; /* text of the 503 */
} settled[] = {
	{ "/v2/templates",
	  "{\"code\":503,\"message\":\"The server cannot write at the moment\","
	  "\"details\":[\"a disk error occurred; the change may or may not have been stored\"]}" },
	{ "/v2/templates?validate_only=true",
	  "{\"code\":503,\"message\":\"The server cannot write at the moment\"}" },
	{ "/v2/templates/6540f2a1b3c4d5e6f7081920",
	  "{\"code\":503,\"message\":\"The server cannot write at the moment\"}" },
};

START_TEST(a_failed_write_says_whether_it_was_stored)
{
	struct arena *arena = arena_open();

	for (int i = 0; i < ROWS(settled); i++) {
		struct call call = { .arena = arena };

		call.request = request_of(arena, "a", METHOD_POST, settled[i].path, "{}");
		service_answer(world.service, &call);
		service_settle(&call, STORE_FAILED);
		ck_assert_str_eq(world_body(arena, &call), settled[i].text);
	}
	arena_close(arena);
}
END_TEST

START_TEST(a_write_is_run_at_most_ten_times)
{
	struct reply reply;

	store_failing_again(world.environment.store, 0, AGAINS + 1);
	reply = ask("a", METHOD_POST, "/v2/templates", "{\"name\":\"x\"}");
	ck_assert_int_eq(reply.status, 409);
	ck_assert_str_eq(reply.text, "{\"code\":409,\"message\":\"Too busy\"}");
	ck_assert(slice_is(reply.retry_after, "1"));
	ck_assert_uint_eq(reply.etag.size, 0);
	reply = done("a", METHOD_GET, "/v2/templates", NULL);
	ck_assert_ptr_nonnull(strstr(reply.text, "\"data\":[]"));
	store_failing_again(world.environment.store, 0, AGAINS);
	reply = done("a", METHOD_POST, "/v2/templates", "{\"name\":\"x\"}");
	ck_assert_uint_eq(
		number_of(done("a", METHOD_GET,
			       arena_text(world.arena, "/v2/templates/%s", member_of(&reply, "id")),
			       NULL)
				  .etag),
		number_of(reply.etag));
}
END_TEST

START_TEST(a_read_is_run_at_most_ten_times)
{
	struct reply reply = done("a", METHOD_POST, "/v2/templates", "{}");
	const char *path = arena_text(world.arena, "/v2/templates/%s", member_of(&reply, "id"));

	store_failing_again(world.environment.store, 1, AGAINS + 1);
	ck_assert_int_eq(ask("a", METHOD_GET, path, NULL).status, 409);
	store_failing_again(world.environment.store, 1, AGAINS);
	ck_assert_str_eq(done("a", METHOD_GET, path, NULL).text, reply.text);
}
END_TEST

/* ---- transactions without a request ---- */

enum loop { LOOP_DOES, LOOP_FORGETS, LOOP_FAILS, LOOP_ASKS_AGAIN, LOOP_LEAVES };

static const struct {
	enum store_access access;
	enum loop loop; /* what it does in each run, after a record was put */
	unsigned agains; /* commits that fail with FAULT_AGAIN */
	unsigned runs;
	bool is_done;
	enum fault_kind fault;
} loops[] = {
	{ STORE_WRITE, LOOP_DOES, 0, 1, true, FAULT_NONE },
	{ STORE_WRITE, LOOP_DOES, 1, 2, true, FAULT_NONE },
	{ STORE_WRITE, LOOP_DOES, AGAINS, AGAINS + 1, true, FAULT_NONE },
	{ STORE_WRITE, LOOP_DOES, AGAINS + 1, AGAINS + 1, false, FAULT_AGAIN },
	{ STORE_WRITE, LOOP_FORGETS, 0, 1, false, FAULT_NONE },
	{ STORE_WRITE, LOOP_FAILS, 0, 1, false, FAULT_CONFLICT },
	{ STORE_WRITE, LOOP_ASKS_AGAIN, 0, AGAINS + 1, false, FAULT_AGAIN },
	{ STORE_WRITE, LOOP_LEAVES, 0, 1, false, FAULT_NONE },
	{ STORE_READ, LOOP_DOES, 0, 1, true, FAULT_NONE },
	{ STORE_READ, LOOP_ASKS_AGAIN, 0, AGAINS + 1, false, FAULT_AGAIN },
	{ STORE_READ, LOOP_LEAVES, 0, 1, false, FAULT_NONE },
};

/* Puts a record. Returns whether it was done, and counts the runs. */
static bool run_loop(size_t row, struct transactor *work, const struct id *account, unsigned *runs,
		     struct fault *fault)
{
	const struct store_record record = { .id = { "only record" }, .value = SLICE("value") };
	TRANSACT run = transact_begin(work, loops[row].access, world.arena, account, fault);
	const size_t used = arena_used(world.arena);

	*runs = 0;
	while (transact_again(&run)) {
		++*runs;
		ck_assert_int_eq(fault->kind, FAULT_NONE);
		ck_assert(!run.is_done && arena_used(world.arena) < used + 4096);
		(void)arena_alloc(world.arena, 4096);
		ck_assert(loops[row].access == STORE_READ ||
			  store_put(run.call.transaction, &kind_live, &record, NULL, fault));
		switch (loops[row].loop) {
		case LOOP_DOES:
			run.is_done = true;
			break;
		case LOOP_FORGETS:
			break;
		case LOOP_FAILS:
			run.is_done = fault_set(fault, FAULT_CONFLICT, NULL);
			break;
		case LOOP_ASKS_AGAIN:
			run.is_done = fault_set(fault, FAULT_AGAIN, NULL);
			break;
		case LOOP_LEAVES:
			return false;
		}
	}
	ck_assert(!transact_again(&run));
	return run.is_done;
}

/* A transaction without a request happens only if its loop says so, and never stays open: the next
 * one would wait for ever. */
START_TEST(a_loop_of_a_transaction_is_run_again)
{
	struct transactor work = { .environment = &world.environment, .event = "damaged" };
	const struct id id = { "only record" };
	struct fault fault = FAULT_INITIAL;
	struct store_record record;
	struct account account;
	struct call call;
	unsigned runs;

	world_account(&world, "a", &account);
	store_failing_again(world.environment.store, 0, loops[_i].agains);
	ck_assert_int_eq(run_loop((size_t)_i, &work, &account.id, &runs, &fault),
			 loops[_i].is_done);
	ck_assert_int_eq(fault.kind, loops[_i].fault);
	ck_assert_uint_eq(runs, loops[_i].runs);
	store_failing_again(world.environment.store, 0, 0);
	fault = FAULT_INITIAL;
	world_begin(&world, &account.id, &call);
	ck_assert(store_get(call.transaction, &kind_live, &id, STORE_TO_SHOW, &record, &fault));
	ck_assert_int_eq(record.value.data != NULL,
			 loops[_i].is_done && loops[_i].access == STORE_WRITE);
	world_abandon(&call);
}
END_TEST

/* The system's clock, except that the next draws for a code are zeros, which give the letter a. */
static struct repeating_clock {
	struct clock clock;
	unsigned zeros;
} repeating;

#define CODE_DRAW 16

static void random_or_zeros(const struct clock *clock, void *bytes, size_t size)
{
	clock_random(&clock_system, bytes, size);
	(void)clock;
	if (size == CODE_DRAW && repeating.zeros > 0) {
		memset(bytes, 0, size);
		repeating.zeros--;
	}
}

START_TEST(a_code_that_exists_is_drawn_again)
{
	static const char same[] = "\"code\":\"aaa-aaaa-aaa\"";
	struct reply reply;
	const char *host, *all;

	repeating.clock = (struct clock){ clock_system.now, random_or_zeros };
	world.environment.clock = &repeating.clock;
	world_serve(&world);
	done("a", METHOD_POST, "/v2/templates",
	     "{\"name\":\"x\",\"default\":true,\"roles\":{\"host\":{},\"guest\":{}}}");
	reply = done("a", METHOD_POST, "/v2/rooms", "{\"name\":\"y\"}");
	all = arena_text(world.arena, "/v2/room-codes/room/%s", member_of(&reply, "id"));
	host = arena_text(world.arena, "%s/role/host", all);
	/* Another code of the same call has the same letters. */
	repeating.zeros = 2;
	ck_assert_ptr_null(strstr(done("a", METHOD_POST, all, NULL).text, same));
	ck_assert_uint_eq(repeating.zeros, 0);
	repeating.zeros = 1;
	ck_assert_ptr_nonnull(strstr(done("a", METHOD_POST, host, NULL).text, same));
	/* A stored code has the same letters. */
	repeating.zeros = 1;
	ck_assert_ptr_null(strstr(done("a", METHOD_POST, host, NULL).text, same));
	ck_assert_uint_eq(repeating.zeros, 0);
}
END_TEST

/* ---- codes of other accounts ---- */

#define ASKED_MOST 20
#define TAKEN "{\"code\":\"taken-words\"}"

/* Returns the path that creates a code in a new room of the account. */
static const char *role_of(const char *account)
{
	struct reply reply;

	done(account, METHOD_POST, "/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	reply = done(account, METHOD_POST, "/v2/rooms", "{}");
	return arena_text(world.arena, "/v2/room-codes/room/%s/role/host", member_of(&reply, "id"));
}

/* Half of the requests come before a restart, which closes everything that the process has in
 * memory. */
START_TEST(a_restart_keeps_the_count_of_requests_for_taken_codes)
{
	const char *own;

	set_up_durable();
	done("b", METHOD_POST, role_of("b"), TAKEN);
	own = role_of("a");
	for (int i = 0; i < 2 * ASKED_MOST; i++) {
		if (i % (ASKED_MOST / 2) == 0)
			world_restart(&world);
		ck_assert_int_eq(ask("a", METHOD_POST, own, TAKEN).status,
				 i < ASKED_MOST ? 409 : 429);
	}
	ck_assert_int_eq(ask("a", METHOD_POST, own, "{\"code\":\"free-words\"}").status, 429);
	done("a", METHOD_POST, own, "{}");
	done("b", METHOD_POST, role_of("b"), "{\"code\":\"free-words\"}");
}
END_TEST

/* Each use of the store by the call and by its counting fails in turn. */
START_TEST(a_taken_code_is_not_revealed_unless_counted)
{
	const char *own;
	struct reply reply;
	unsigned n = 0;

	done("b", METHOD_POST, role_of("b"), TAKEN);
	own = role_of("a");
	do {
		store_failing_at(world.environment.store, ++n);
		reply = ask("a", METHOD_POST, own, TAKEN);
		ck_assert_msg(reply.status == 503 || reply.status == 409, "%u: %s", n, reply.text);
	} while (reply.status == 503);
	ck_assert_uint_gt(n, store_failing_calls(world.environment.store));
	store_failing_at(world.environment.store, 0);
	for (int i = 1; i < ASKED_MOST; i++)
		ck_assert_int_eq(ask("a", METHOD_POST, own, TAKEN).status, 409);
	ck_assert_int_eq(ask("a", METHOD_POST, own, TAKEN).status, 429);
}
END_TEST

START_TEST(a_request_that_is_run_again_counts_once)
{
	const char *own;

	done("b", METHOD_POST, role_of("b"), TAKEN);
	own = role_of("a");
	for (int i = 0; i < ASKED_MOST; i++) {
		store_failing_again(world.environment.store, 0, 2);
		ck_assert_int_eq(ask("a", METHOD_POST, own, TAKEN).status, 409);
	}
	ck_assert_int_eq(ask("a", METHOD_POST, own, TAKEN).status, 429);
}
END_TEST

#define BUCKET "\"type\":\"s3\",\"location\":\"bucket\",\"prefix\":\"p\""
#define OF_SETTINGS "\"credentials\":{\"key\":\"the-key\",\"secretKey\":\"the-secret\"}"
#define OF_ROOM "\"credentials\":{\"key\":\"the-key\",\"secret\":\"the-secret\"}"
#define SETTINGS(more) "{\"recording\":{\"upload\":{" BUCKET more "}}}"
#define RECORDING(more) "{\"recording_info\":{\"enabled\":true,\"upload_info\":{" BUCKET more "}}}"

/* In a path, T stands for the template's path and R for the room's. is_echoed: the body contains
 * credentials. */
static const struct {
	enum method method;
	const char *path, *body;
	bool is_echoed;
} credentials_rows[] = {
	{ METHOD_POST, "T", "{\"settings\":" SETTINGS("") "}", false },
	{ METHOD_POST, "T", "{\"settings\":" SETTINGS("," OF_SETTINGS) "}", true },
	{ METHOD_PATCH, "T", "{\"settings\":" SETTINGS("") "}", false },
	{ METHOD_POST, "", "{\"name\":\"t\",\"settings\":" SETTINGS("") "}", false },
	{ METHOD_POST, "", "{\"name\":\"t\",\"settings\":" SETTINGS("," OF_SETTINGS) "}", true },
	{ METHOD_POST, "T/settings", SETTINGS(""), false },
	{ METHOD_POST, "T/settings", SETTINGS("," OF_SETTINGS), true },
	{ METHOD_PATCH, "T/settings", SETTINGS(""), false },
	{ METHOD_PATCH, "T/settings", SETTINGS("," OF_SETTINGS), true },
	{ METHOD_POST, "R", RECORDING(""), false },
	{ METHOD_POST, "R", RECORDING("," OF_ROOM), true },
	{ METHOD_PATCH, "R", RECORDING(""), false },
};

/* The next run must not treat values that the first run read from the store as sent by the
 * client. The credentials stay stored: only a change of hidden members would change the ETag of
 * the settings. */
START_TEST(stored_credentials_are_not_echoed_by_another_run)
{
	const char *path = credentials_rows[_i].path;
	struct reply template = done(
		"a", METHOD_POST, "/v2/templates",
		"{\"name\":\"t\",\"default\":true,\"settings\":" SETTINGS("," OF_SETTINGS) "}");
	struct reply room = done("a", METHOD_POST, "/v2/rooms", RECORDING("," OF_ROOM));
	const char *of_template = arena_text(world.arena, "/v2/templates/%s",
					     member_of(&template, "id"));
	const char *settings = arena_text(world.arena, "%s/settings", of_template);
	uint64_t etag = number_of(done("a", METHOD_GET, settings, NULL).etag);
	struct reply reply;

	ck_assert_ptr_nonnull(strstr(template.text, OF_SETTINGS));
	ck_assert_ptr_nonnull(strstr(room.text, OF_ROOM));
	if (*path == 'R')
		path = arena_text(world.arena, "/v2/rooms/%s", member_of(&room, "id"));
	else if (*path == 'T')
		path = arena_text(world.arena, "%s%s", of_template, path + 1);
	else
		path = "/v2/templates";
	store_failing_again(world.environment.store, 0, AGAINS);
	reply = done("a", credentials_rows[_i].method, path, credentials_rows[_i].body);
	ck_assert_int_eq(strstr(reply.text, "credentials") != NULL, credentials_rows[_i].is_echoed);
	ck_assert_uint_eq(number_of(done("a", METHOD_GET, settings, NULL).etag), etag);
}
END_TEST

/* Ten lists of these templates do not fit into an arena. */
#define ROLES 100
#define TEMPLATES 52

static const char *template_of_roles(void)
{
	struct buffer body = BUFFER_INITIAL(world.arena);

	for (int i = 0; i < ROLES; i++)
		buffer_append_text(&body, arena_text(world.arena, "%s\"role-%d\":{}",
						     i == 0 ? "{\"roles\":{" : ",", i));
	buffer_append(&body, (struct slice){ "}}", 3 });
	return body.data;
}

/* A list of rooms reads the rooms and then, one by one, their templates; the last of these reads
 * asks for another run. */
START_TEST(ten_runs_need_no_more_memory_than_one)
{
	const char *body = template_of_roles();
	size_t size;

	for (int i = 0; i < TEMPLATES; i++) {
		struct reply template = done("a", METHOD_POST, "/v2/templates", body);

		done("a", METHOD_POST, "/v2/rooms",
		     arena_text(world.arena, "{\"template_id\":\"%s\"}",
				member_of(&template, "id")));
	}
	size = strlen(done("a", METHOD_GET, "/v2/templates?limit=52", NULL).text);
	ck_assert_uint_gt(size * (AGAINS + 1), ARENA_LIMIT);
	store_failing_at(world.environment.store, 0);
	store_failing_again(world.environment.store, 1 + TEMPLATES, AGAINS);
	done("a", METHOD_GET, "/v2/rooms?limit=52", NULL);
	ck_assert_uint_gt(store_failing_calls(world.environment.store), TEMPLATES * (AGAINS + 1));
}
END_TEST

/* ---- bulk requests and imports give way ---- */

/* What other calls do during a bulk request or import of account "a". */
static struct {
	const char *path, *body; /* requested by account "b" */
	struct reply taken;
	const char *exchange; /* of a code of "a" with a use limit */
	bool is_deferred, is_other_deferred, is_exchange_deferred;
} beside;

/* Requests the same code for account "b". */
static void take_code(void)
{
	beside.taken = ask("b", METHOD_POST, beside.path, beside.body);
}

static const struct beside_row {
	const char *path;
	const char *body; /* @ stands for the ID of a room */
	const char *pointer; /* pointer of the fault */
} beside_rows[] = {
	{ "/v2/bulk",
	  "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/room-codes/room/@/role/host\","
	  "\"body\":" TAKEN "},{\"method\":\"POST\",\"path\":\"/v2/rooms\"}]}",
	  "/operations/0" },
	{ "/v2/import",
	  "{\"room_codes\":[{\"room_id\":\"@\",\"role\":\"host\",\"code\":\"abc-defg-hij\"},"
	  "{\"room_id\":\"@\",\"role\":\"host\",\"code\":\"abc-defg-hik\"}]}",
	  "/room_codes/0/code" },
};

static const char *with_room(const char *body, const char *id)
{
	struct buffer text = BUFFER_INITIAL(world.arena);

	for (; *body != '\0'; body++) {
		if (*body == '@')
			buffer_append_text(&text, id);
		else
			buffer_append_byte(&text, *body);
	}
	buffer_append_byte(&text, '\0');
	return text.data;
}

/* Another account takes the code after it was put and before everything is committed. */
START_TEST(a_code_taken_during_a_bulk_is_a_conflict)
{
	const struct beside_row *row = &beside_rows[_i];
	struct reply room, reply;
	const char *body;

	set_up_durable();
	role_of("a");
	role_of("b");
	room = done("b", METHOD_POST, "/v2/rooms", "{}");
	beside.path = row->path;
	beside.body = with_room(row->body, member_of(&room, "id"));
	room = done("a", METHOD_POST, "/v2/rooms", "{}");
	body = with_room(row->body, member_of(&room, "id"));
	store_failing_meanwhile(world.environment.store, 2, take_code);
	reply = ask("a", METHOD_POST, row->path, body);
	ck_assert_msg(beside.taken.status == 200, "%s", reply.text);
	ck_assert_msg(reply.status == 409, "%d %s", reply.status, reply.text);
	ck_assert_msg(strstr(reply.text, row->pointer) != NULL, "%s", reply.text);
	ck_assert_int_eq(ask("a", METHOD_POST, row->path, body).status, 409);
}
END_TEST

/* Returns true if the call is deferred; if `answers` is set, a deferred call is then run. */
static bool is_left(const char *account, const char *path, const char *body, bool answers)
{
	struct arena *arena = arena_open();
	struct call call = { .arena = arena, .may_be_deferred = true };
	bool is_answered;

	call.request = request_of(arena, account, METHOD_POST, path, body);
	is_answered = service_answer(world.service, &call);
	ck_assert_int_eq(call.is_deferred, !is_answered);
	if (!is_answered && answers)
		ck_assert(service_answer(world.service, &call));
	ck_assert(call.answer.status != 0 || !(is_answered || answers));
	arena_close(arena);
	return !is_answered;
}

static bool would_be_deferred(const char *account, const char *path, const char *body)
{
	return is_left(account, path, body, false);
}

static bool is_deferred(const char *account, const char *path, const char *body)
{
	return is_left(account, path, body, true);
}

static void look_beside(void)
{
	beside.is_deferred = would_be_deferred("a", "/v2/rooms", "");
	beside.is_other_deferred = would_be_deferred("b", "/v2/rooms", "");
	beside.is_exchange_deferred = would_be_deferred("b", "/v2/token", beside.exchange);
}

/* No worker waits for the end of a bulk request. For an exchange, only the handler finds the
 * account. */
START_TEST(calls_that_would_wait_for_a_bulk_are_deferred)
{
	struct reply room, code;

	set_up_durable();
	role_of("a");
	role_of("b");
	room = done("a", METHOD_POST, "/v2/rooms", "{}");
	code = done(
		"a", METHOD_POST,
		arena_text(world.arena, "/v2/room-codes/room/%s/role/host", member_of(&room, "id")),
		"{\"max_uses\":2}");
	beside.exchange = arena_text(world.arena, "{\"code\":\"%s\"}", member_of(&code, "code"));
	store_failing_meanwhile(world.environment.store, 1, look_beside);
	done("a", METHOD_POST, "/v2/bulk",
	     "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/rooms\"}]}");
	ck_assert(beside.is_deferred);
	ck_assert(!beside.is_other_deferred);
	ck_assert(beside.is_exchange_deferred);
	ck_assert(!would_be_deferred("a", "/v2/rooms", ""));
	ck_assert(!would_be_deferred("b", "/v2/token", beside.exchange));
}
END_TEST

/* ---- deferred calls ---- */

/* The cost of calls of one route, in microseconds, and whether the next one is deferred. */
static const struct {
	int64_t costs[8]; /* ends with -1 */
	bool is_high;
} costs_of_calls[] = {
	{ { -1 }, false },
	{ { 0, 100, COSTS_HIGH - 1, -1 }, false },
	{ { 2 * COSTS_HIGH, -1 }, true },
	{ { 100, 2 * COSTS_HIGH - 1, 100, 100, -1 }, false },
	{ { COSTS_HIGH, COSTS_HIGH, -1 }, false },
	{ { 1200, 1200, 1200, -1 }, true },
	{ { 20000, 10, 10, 10, 10, 10, -1 }, true },
	{ { 1000, 10, 10, -1 }, false },
	{ { INT64_MAX, -1 }, true },
};

START_TEST(costly_calls_defer_the_next_one)
{
	const struct id account = id_random(&clock_system), other = id_random(&clock_system);
	struct costs *costs = costs_open();

	for (const int64_t *cost = costs_of_calls[_i].costs; *cost >= 0; cost++)
		costs_note(costs, &account, &routes[0], *cost);
	ck_assert_int_eq(costs_are_high(costs, &account, &routes[0]), costs_of_calls[_i].is_high);
	ck_assert(!costs_are_high(costs, &account, &routes[1]));
	ck_assert(!costs_are_high(costs, &other, &routes[0]));
	costs_close(costs);
}
END_TEST

START_TEST(calls_of_some_routes_are_always_deferred)
{
	ck_assert(is_deferred("a", "/v2/bulk", "{\"operations\":[]}"));
	ck_assert(is_deferred("a", "/v2/import", "{}"));
	ck_assert(!is_deferred("a", "/v2/templates", "{}"));
	ck_assert(!is_deferred("a", "/v2/nowhere", "{}"));
	ck_assert(!is_deferred("a", "/v2/token", "{\"code\":\"abc-defg-hij\"}"));
}
END_TEST

/* A body with so many members that checking it takes milliseconds. */
START_TEST(costly_calls_of_an_account_are_deferred)
{
	struct buffer body = BUFFER_INITIAL(world.arena);
	unsigned n = 0;

	buffer_append_text(&body, "{\"name\":\"a\"");
	for (unsigned i = 0; i < 15000; i++)
		buffer_append_text(&body, arena_text(world.arena, ",\"m%u\":%u", i, i));
	buffer_append(&body, (struct slice){ "}", 2 });
	while (!is_deferred("a", "/v2/templates", body.data))
		ck_assert_uint_lt(++n, 10);
	ck_assert_uint_gt(n, 0);
	ck_assert(is_deferred("a", "/v2/templates", "{}"));
	ck_assert(!is_deferred("a", "/v2/rooms", "{}"));
	ck_assert(!is_deferred("b", "/v2/templates", "{}"));
}
END_TEST

/* ---- large bodies ---- */

/* The body is `before`, then `unit` repeated for half of its size, `between`, `other` repeated for
 * the other half, and `after`. In a unit, # is a different number each time. */
static const struct {
	const char *path;
	const char *before, *unit, *between, *other, *after;
} bodies[] = {
	{ "/v2/templates", "{\"destinations\":{\"hlsDestinations\":{\"a\":{\"layers\":[",
	  "{\"width\":144}", "],\"recording\":{\"layers\":[", "{\"width\":146}", "]}}}}}" },
	{ "/v2/templates", "{\"roles\":{\"a\":{\"subscribeParams\":{\"subscribeToRoles\":[",
	  "\"a#\"", "]}},\"b\":{\"subscribeParams\":{\"subscribeToRoles\":[", "\"b#\"", "]}}}}" },
	{ "/v2/templates", "{", "\"#\":1", ",\"roles\":{", "\"/#\":{}", "}}" },
	{ "/v2/webhooks", "{\"url\":\"https://a.example/\",\"headers\":{", "\"a#\":\"b\"",
	  "},\"events\":[", "\"a.#\"", "]}" },
	{ "/v2/room-codes/code", "{\"metadata\":{", "\"a#\":\"b\"", "},\"x\":[", "{}", "]}" },
	{ "/v2/bulk", "{\"x\":[", "[]", "],\"operations\":[",
	  "{\"method\":\"POST\",\"path\":\"/v2/rooms/{a}\",\"ref\":\"a#\",\"body\":{\"name\":1}}",
	  "]}" },
	{ "/v2/import", "{", "\"#\":1", ",\"rooms\":[",
	  "{\"name\":\"a\",\"size\":9,\"enabled\":true}", "]}" },
	{ "/v2/import?skip_invalid=true", "{", "\"#\":1", ",\"room_codes\":[",
	  "{\"code\":1,\"room_id\":1,\"role\":1,\"enabled\":1}", "]}" },
};

static void append_units(struct buffer *body, const char *unit, size_t until, size_t *number)
{
	for (bool is_first = true; body->size < until; is_first = false) {
		if (!is_first)
			buffer_append_byte(body, ',');
		for (const char *at = unit; *at != '\0'; at++) {
			if (*at == '#')
				buffer_append_integer(body, (json_int_t)++ * number);
			else
				buffer_append_byte(body, *at);
		}
	}
}

static const char *body_of_size(int row, size_t size)
{
	struct buffer body = BUFFER_INITIAL(world.arena);
	size_t number = 0;

	buffer_append_text(&body, bodies[row].before);
	append_units(&body, bodies[row].unit, size / 2, &number);
	buffer_append_text(&body, bodies[row].between);
	append_units(&body, bodies[row].other, size, &number);
	buffer_append_text(&body, bodies[row].after);
	buffer_append_byte(&body, '\0');
	return body.data;
}

/* Returns the least processor time of three calls, in microseconds. */
static int64_t time_of(int row, size_t size)
{
	const char *body = body_of_size(row, size);
	int64_t least = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		const int64_t began = clock_of_thread();
		int64_t took;

		(void)ask("a", METHOD_POST, bodies[row].path, body);
		took = clock_of_thread() - began;
		least = took < least ? took : least;
	}
	return least;
}

/* A body four times as large takes four times as long; it would take sixteen times as long if
 * something in it were compared with all the rest. */
START_TEST(the_time_of_a_call_is_linear_in_its_body)
{
	const size_t size = 60 << 10;
	const int64_t small = time_of(_i, size), large = time_of(_i, 4 * size);

	ck_assert_msg(large < 8 * small + 10000, "%s %s: %lld and %lld microseconds",
		      bodies[_i].path, bodies[_i].before, (long long)small, (long long)large);
}
END_TEST

/* The calls that may use more memory than others run one at a time, but several of their responses
 * may wait at once. So only the response may still be in memory. */
START_TEST(an_import_keeps_only_its_answer_in_memory)
{
	struct arena *arena = arena_open();
	struct call call = { .arena = arena };
	struct buffer body = BUFFER_INITIAL(world.arena);

	buffer_append_text(&body, "{\"templates\":[{}");
	for (int i = 0; i < 1000; i++)
		buffer_append_text(&body, ",{\"roles\":{\"a\":{}}}");
	buffer_append_text(&body, "]}");
	call.request = request_of(world.arena, "a", METHOD_POST, "/v2/import?unheard=1", NULL);
	call.request.body = buffer_slice(&body);
	call.request.request_id = SLICE("the-client.1");
	ck_assert(service_answer(world.service, &call));
	ck_assert_int_eq(call.answer.status, 200);
	ck_assert_uint_eq(call.answer.part_count, 1);
	ck_assert(
		slice_equal(call.answer.parts[0],
			    SLICE("{\"templates\":{\"created\":1001,\"updated\":0},"
				  "\"rooms\":{\"created\":0,\"updated\":0},"
				  "\"room_codes\":{\"created\":0,\"updated\":0},\"skipped\":[]}")));
	ck_assert_uint_eq(call.answer.size, call.answer.parts[0].size);
	ck_assert(slice_is(call_find_header(&call, "X-Request-Id"), "the-client.1"));
	ck_assert_uint_lt(arena_used(arena), 64 << 10);
	arena_close(arena);
}
END_TEST

/* Returns how often the store is called for an import of n rooms, or a bulk request of n
 * operations, which alternate between the two units. */
static unsigned store_calls_of(const char *path, const char *before, const char *const *units,
			       int n)
{
	struct buffer body = BUFFER_INITIAL(world.arena);

	buffer_append_text(&body, before);
	for (int i = 0; i < n; i++)
		buffer_append_text(
			&body, arena_text(world.arena, "%s%s", i == 0 ? "" : ",", units[i % 2]));
	buffer_append(&body, (struct slice){ "]}", 3 });
	store_failing_at(world.environment.store, 0);
	done("a", METHOD_POST, path, body.data);
	return store_failing_calls(world.environment.store);
}

#define NEW_ROOM(body) "{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"body\":" body "}"
#define OF_FIRST "{\"template_id\":\"5f0000000000000000000001\"}"
#define OF_SECOND "{\"template_id\":\"5f0000000000000000000002\"}"

/* path: of the request; calls: calls of the store per object, including store_give_way. */
static const struct {
	const char *path, *before, *units[2];
	unsigned calls;
} repeated[] = {
	{ "/v2/import", "{\"rooms\":[", { "{}", "{}" }, 6 },
	{ "/v2/import", "{\"rooms\":[", { OF_FIRST, OF_SECOND }, 5 },
	{ "/v2/bulk", "{\"operations\":[", { NEW_ROOM("{}"), NEW_ROOM("{}") }, 6 },
	{ "/v2/bulk", "{\"operations\":[", { NEW_ROOM(OF_FIRST), NEW_ROOM(OF_SECOND) }, 5 },
};

START_TEST(a_template_is_read_once_for_many_objects)
{
	unsigned few, many;

	done("a", METHOD_POST, "/v2/templates", "{\"default\":true}");
	done("a", METHOD_POST, "/v2/import",
	     "{\"templates\":[{\"id\":\"5f0000000000000000000001\"},"
	     "{\"id\":\"5f0000000000000000000002\"}]}");
	few = store_calls_of(repeated[_i].path, repeated[_i].before, repeated[_i].units, 10);
	many = store_calls_of(repeated[_i].path, repeated[_i].before, repeated[_i].units, 110);
	ck_assert_uint_eq((many - few) / 100, repeated[_i].calls);
}
END_TEST

/* The detail that a call returns if it needs more memory than it may use. */
static const struct {
	enum method method;
	const char *path, *body, *detail;
} sizes[] = {
	{ METHOD_POST, "/v2/templates", "{}", "the request needs more than 64 MB of memory" },
	{ METHOD_GET, "/v2/rooms", NULL,
	  "the request needs more than 64 MB of memory; use a smaller limit" },
	{ METHOD_POST, "/v2/bulk",
	  "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/rooms\"}]}",
	  "the request needs more than 512 MB of memory; split it into several requests" },
	{ METHOD_POST, "/v2/import", "{\"rooms\":[{}]}",
	  "the request needs more than 512 MB of memory; split it into several requests" },
};

START_TEST(a_call_that_needs_too_much_memory_names_its_limit)
{
	struct reply reply;

	store_failing_with(world.environment.store, FAULT_TOO_LARGE);
	store_failing_at(world.environment.store, 2);
	reply = ask("a", sizes[_i].method, sizes[_i].path, sizes[_i].body);
	ck_assert_int_eq(reply.status, 413);
	ck_assert_str_eq(reply.text,
			 arena_text(world.arena,
				    "{\"code\":413,\"message\":\"Too much for one request\","
				    "\"details\":[\"%s\"]}",
				    sizes[_i].detail));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calls");
	TCase *etags = tcase_create("etags"), *again = tcase_create("again");
	TCase *deferred = tcase_create("deferred"), *large = tcase_create("large bodies");

	tcase_add_checked_fixture(etags, set_up, tear_down);
	tcase_add_test(etags, etags_reveal_nothing_about_other_writes);
	tcase_add_test(etags, a_rooms_etag_is_a_digest_of_two);
	tcase_add_test(etags, a_rooms_etag_changes_with_its_templates_name);
	suite_add_tcase(suite, etags);
	tcase_add_checked_fixture(deferred, set_up, tear_down);
	tcase_add_loop_test(deferred, costly_calls_defer_the_next_one, 0, ROWS(costs_of_calls));
	tcase_add_test(deferred, calls_of_some_routes_are_always_deferred);
	tcase_add_test(deferred, costly_calls_of_an_account_are_deferred);
	tcase_add_loop_test(deferred, a_code_taken_during_a_bulk_is_a_conflict, 0,
			    ROWS(beside_rows));
	tcase_add_test(deferred, calls_that_would_wait_for_a_bulk_are_deferred);
	suite_add_tcase(suite, deferred);
	tcase_add_checked_fixture(large, set_up, tear_down);
	tcase_add_loop_test(large, the_time_of_a_call_is_linear_in_its_body, 0, ROWS(bodies));
	tcase_add_test(large, an_import_keeps_only_its_answer_in_memory);
	tcase_add_loop_test(large, a_template_is_read_once_for_many_objects, 0, ROWS(repeated));
	tcase_add_loop_test(large, a_call_that_needs_too_much_memory_names_its_limit, 0,
			    ROWS(sizes));
	suite_add_tcase(suite, large);
	tcase_add_checked_fixture(again, set_up, tear_down);
	tcase_add_test(again, a_failed_write_has_the_usual_headers);
	tcase_add_test(again, a_failed_write_says_whether_it_was_stored);
	tcase_add_test(again, a_write_is_run_at_most_ten_times);
	tcase_add_test(again, a_read_is_run_at_most_ten_times);
	tcase_add_loop_test(again, a_loop_of_a_transaction_is_run_again, 0, ROWS(loops));
	tcase_add_test(again, a_code_that_exists_is_drawn_again);
	tcase_add_loop_test(again, stored_credentials_are_not_echoed_by_another_run, 0,
			    ROWS(credentials_rows));
	tcase_add_test(again, ten_runs_need_no_more_memory_than_one);
	tcase_add_test(again, a_restart_keeps_the_count_of_requests_for_taken_codes);
	tcase_add_test(again, a_taken_code_is_not_revealed_unless_counted);
	tcase_add_test(again, a_request_that_is_run_again_counts_once);
	suite_add_tcase(suite, again);
	fast_disk();
	return suite_run(suite);
}
