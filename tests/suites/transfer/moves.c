/* What a dump moves into another store answers there as before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "json_agree.h"
#include "life.h"
#include "resources/bans/bans.h"
#include "resources/stored/code_record.h"
#include "resources/stored/code_words.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "resources/media/backend_health.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored/room_times.h"
#include "resources/stored/default_template.h"
#include "suite.h"

/* ---- tests of transfer ---- */

static char *text_of_manual(struct arena *arena)
{
	const char *source = getenv("SOURCE_DIR");
	FILE *file = fopen(
		arena_text(arena, "%s/packaging/man/anteroom.1", source != NULL ? source : ".."),
		"r");
	char *text = arena_zero(arena, 1 << 20);

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	fclose(file);
	return text;
}

/* Returns true if the name is a word of the text. */
static bool has_word(const char *text, const char *end, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	const size_t size = strlen(name);

	while ((text = strstr(text, name)) != NULL && text < end) {
		if (strchr(letters, text[-1]) == NULL && strchr(letters, text[size]) == NULL)
			return true;
		text += size;
	}
	return false;
}

static void find_members(const char *line, const struct record_table *table, const char *text,
			 const char *end)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if ((member->flags & MEMBER_DERIVED) != 0 || member->kind == MEMBER_ETAG)
			continue;
		ck_assert_msg(has_word(text, end, member->name), "%s: %s", line, member->name);
		if (member->items != NULL)
			find_members(line, member->items, text, end);
	}
}

/* The manual documents each line of a dump, with its members. */
START_TEST(the_manual_has_all_members)
{
	struct arena *arena = arena_open();
	const char *text = strstr(text_of_manual(arena), ".Sh DUMP LINES");

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const char *line = record_kinds[i]->line, *item, *end;

		if (line == NULL)
			continue;
		item = strstr(text, arena_text(arena, "\n.It Li %s\n", line));
		ck_assert_msg(item != NULL, "%s", line);
		end = strstr(item + 1, "\n.It ");
		find_members(line, record_kinds[i]->table, item + 1,
			     end != NULL ? end : strstr(item, "\n.El"));
	}
	arena_close(arena);
}
END_TEST

START_TEST(a_loaded_store_answers_as_before)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;

	live(&one, &life);
	sound(&one);
	dump(&one, &first);
	load_whole(&other, &first);
	dump(&other, &second);
	compare_dumps(&first, &second);
	compare_shown((const char *[]){ life.one, life.two }, 2);
	sound(&other);
	free_lines(&first);
	free_lines(&second);
}
END_TEST

/* Returns the stays in a room that are found by an entry, such as "PA_2 PA_3". */
static const char *stays_of(struct world *world, const char *room, const char *entry,
			    char said[100])
{
	const struct id room_id = parsed_id(room), id = inside_id(&room_id, slice_of(entry));
	struct inside inside;
	struct peer peer;
	struct call call;

	said[0] = '\0';
	begin_call(world, &call);
	ck_assert(record_get(&inside_table, call.transaction, &id, STORE_TO_SHOW, &inside, &fault));
	for (size_t i = 0; i < inside.stay_count; i++) {
		const size_t size = strlen(said);

		ck_assert(record_get_named(&peer_table, call.transaction, inside.stays[i].uuid,
					   STORE_TO_SHOW, &peer, &fault));
		(void)snprintf(said + size, 100 - size, "%s%.*s", i > 0 ? " " : "",
			       (int)peer.stay.size, peer.stay.data);
	}
	world_abandon(&call);
	return said;
}

/* What is not in a dump follows from it: who is found by an entry, what the account has now, the
 * account of a media server. */
START_TEST(live_rooms_go_on_as_before)
{
	static const struct reported after[] = {
		{ REPORT_LEFT, "PA_2", "speaker", "e1", false },
		{ REPORT_JOINED, "PA_7", "speaker", "e1", false },
	};
	struct lines dumped = { .count = 0 };
	struct backend_account found;
	struct usage_now used;
	struct live in_session;
	struct life life;
	struct id backend;
	struct call call;
	char said[100];

	live(&one, &life);
	ck_assert_str_eq(stays_of(&one, life.followed, "e1", said), "PA_2 PA_3");
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert_str_eq(stays_of(&other, life.followed, "e1", said), "PA_2 PA_3");
	ck_assert_str_eq(stays_of(&other, life.followed, "e2", said), "PA_4");
	ck_assert_str_eq(stays_of(&other, life.followed, "e3", said), "PA_5");
	ck_assert_str_eq(stays_of(&other, life.followed, "e4", said), "");
	backend = parsed_id(life.livekit);
	begin_call(&other, &call);
	ck_assert(record_get(&usage_now_table, call.transaction, &kind_only_id, STORE_TO_SHOW,
			     &used, &fault));
	ck_assert_uint_eq(used.sessions, 1);
	ck_assert_uint_eq(used.peers, 4);
	store_set_account(call.transaction, &audit_no_account);
	ck_assert(record_get(&backend_account_table, call.transaction, &backend, STORE_TO_SHOW,
			     &found, &fault));
	ck_assert_ptr_nonnull(found.stored.value.data);
	ck_assert_int_eq(id_compare(&found.account, &call.account), 0);
	world_abandon(&call);
	other.clock.offset = one.clock.offset;
	merge_reports(&other, life.followed, life.livekit, after, ROWS(after));
	ck_assert_str_eq(stays_of(&other, life.followed, "e1", said), "PA_3 PA_7");
	begin_call(&other, &call);
	backend = parsed_id(life.followed);
	ck_assert(live_load(&call, &backend, STORE_TO_SHOW, &in_session, &fault));
	ck_assert_uint_eq(live_peers(&in_session), 4);
	ck_assert_uint_eq(in_session.role_count, 3);
	world_abandon(&call);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* A dump has no places: a room of a pool that is in session is where its session is. */
START_TEST(a_loaded_room_in_session_shows_where_it_is)
{
	static const char *const shown[] = { "rooms", "active-rooms" };
	struct arena *arena = arena_open();
	struct lines dumped = { .count = 0 };
	struct account account;
	struct reply reply;
	struct life life;

	live(&one, &life);
	done(&one, METHOD_PATCH, "{\"pool\":\"one\"}", NULL, "/v2/backends/%s", life.livekit);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	world_account(&other, "a", &account);
	other.clock.offset = one.clock.offset;
	other.environment.live = LIVE_ON;
	world_serve(&other);
	for (size_t i = 0; i < ROWS(shown); i++) {
		reply = world_ask(&other, arena, &account, METHOD_GET,
				  arena_text(arena, "/v2/%s/%s", shown[i], life.followed), NULL);
		ck_assert_int_eq(reply.status, 200);
		ck_assert_msg(strstr(reply.text, ",\"backend\":\"lk\"}") != NULL, "%s", reply.text);
	}
	sound(&other);
	free_lines(&dumped);
	arena_close(arena);
}
END_TEST

#define CROWD (2 * GARBAGE_AT_ONCE + 60)

/* Removes the session of the room and some of its peers. */
static void remove_session(struct world *world, const struct id *room)
{
	struct store_record record, stored;
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.parent = room,
		.records = &record,
		.most = 1,
	};
	struct call call;

	begin_call(world, &call);
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert_uint_eq(page.count, 1);
	ck_assert(store_get(call.transaction, &kind_session, &record.id, STORE_TO_CHANGE, &stored,
			    &fault));
	ck_assert(store_remove(call.transaction, &kind_session, &stored, &fault));
	ck_assert(garbage_add(&call, &kind_session, &record.id, &fault));
	commit_call(&call);
}

/* Returns how many records of a kind the account has, all accounts together. */
static uint64_t count_records(struct world *world, const struct store_kind *kind)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t count;

	ck_assert(store_begin(world->environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(store_count(transaction, &kind, 1, &count, &fault));
	store_abandon(transaction);
	arena_close(arena);
	return count;
}

/* The peers of a session that is forgotten are removed some at a time; those that are still there
 * are in no dump. */
START_TEST(peers_of_a_forgotten_session_are_removed)
{
	struct lines dumped = { .count = 0 };
	struct report reports[CROWD + 1];
	char stays[CROWD][10];
	struct life life;
	struct call call;
	struct merging merging = { .reports = reports, .count = CROWD + 1 };
	bool is_closing = true;
	uint64_t others;

	live(&one, &life);
	others = count_records(&one, &kind_peer);
	for (size_t i = 0; i < CROWD; i++) {
		(void)snprintf(stays[i], sizeof stays[i], "PB_%zu", i);
		reports[i] = (struct report){
			.type = REPORT_JOINED,
			.room.id = SLICE("RM_2"),
			.person = { .stay = slice_of(stays[i]), .joined = 1000 },
			.time = 1000,
		};
	}
	reports[CROWD] =
		(struct report){ .type = REPORT_ENDED, .room.id = SLICE("RM_2"), .time = 2000 };
	merging.room = parsed_id(life.own);
	merging.backend = parsed_id(life.livekit);
	begin_call(&one, &call);
	ck_assert(live_merge(&call, &merging, &fault));
	/* Their events are not wanted here. */
	call.run.noted = (struct notes){ .count = 0 };
	commit_call(&call);
	while (is_closing) {
		begin_call(&one, &call);
		ck_assert(live_close_on(&call, &merging.room, false, &is_closing, &fault));
		call.run.noted = (struct notes){ .count = 0 };
		commit_call(&call);
	}
	ck_assert_uint_eq(count_records(&one, &kind_peer), others + CROWD);
	remove_session(&one, &merging.room);
	ck_assert_uint_eq(count_records(&one, &kind_peer), others + CROWD - GARBAGE_AT_ONCE);
	sound(&one);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert_uint_eq(count_records(&other, &kind_peer), others);
	sound(&other);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(count_records(&one, &kind_garbage), 1);
		begin_call(&one, &call);
		ck_assert(garbage_collect(&call, &fault));
		commit_call(&call);
		sound(&one);
	}
	ck_assert_uint_eq(count_records(&one, &kind_garbage), 0);
	ck_assert_uint_eq(count_records(&one, &kind_peer), others);
	free_lines(&dumped);
}
END_TEST

/* ---- values that are stored as they were sent ---- */

#define TEN_OPEN "[[[[[[[[[["
#define TEN_CLOSE "]]]]]]]]]]"

/* Hostile values, each as an item of an array. The last one has the greatest depth allowed for an
 * item. */
static const char *const hostile[] = {
	"null",
	"1.7976931348623157e308",
	"-1.7976931348623157e308",
	"0.12345678901234566",
	"6267453810119131.2",
	"-9007199254740990.7",
	"4503599627370495.5",
	"9007199254740993.0",
	"9223372036854775807",
	"-9223372036854775808",
	"5e-324",
	"1e-400",
	"-0.0",
	"123456789012345678901234567890e5",
	"\"\\u0001\\\"\\\\\\ud83d\\ude00\\u007f%s%n</script>\"",
	"{\"\":{\"__proto__\":[],\"a/b~c\":\"\"},\"\xc3\xa4\":[{}]}",
	"{\"id\":1,\"credentials\":{\"secret\":null},\"name\":\"\\n\"}",
	"[" TEN_OPEN TEN_OPEN "[[[[[[["
	"]]]]]]]" TEN_CLOSE TEN_CLOSE "]",
};

#define GENERATED 40

struct random {
	uint64_t state;
};

static uint64_t random_below(struct random *random, uint64_t bound)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state % bound;
}

static void append_number(struct random *random, struct buffer *text)
{
	const uint64_t bits = random_below(random, UINT64_MAX);
	double real;

	memcpy(&real, &bits, sizeof real);
	if (random_below(random, 3) == 0 || !(real - real == 0.0))
		buffer_append_text(text, arena_text(text->arena, "%lld", (long long)bits));
	else if (random_below(random, 2) == 0)
		buffer_append_text(text, arena_text(text->arena, "%.17g", real));
	else /* between 2^50 and 2^54, with a fraction */
		buffer_append_text(text, arena_text(text->arena, "%llu.%u",
						    (1ULL << 50) + (unsigned long long)(bits >> 10),
						    (unsigned)random_below(random, 1000)));
}

static void append_value(struct random *random, struct buffer *text, int depth)
{
	static const char *const strings[] = {
		"\"\"",	      "\"\\u0001x\"", "\"\\ud800\\udc00\"", "\"\xf0\x9f\x98\x80\"",
		"\"\\t\\/\"", "true"
	};
	const uint64_t kind = random_below(random, depth == 0 ? 4 : 8);
	const uint64_t count = random_below(random, 4);

	if (kind < 3)
		append_number(random, text);
	else if (kind == 3)
		buffer_append_text(text, strings[random_below(random, ROWS(strings))]);
	else if (kind < 6) {
		buffer_append_byte(text, '[');
		for (uint64_t i = 0; i < count; i++) {
			if (i > 0)
				buffer_append_byte(text, ',');
			append_value(random, text, depth - 1);
		}
		buffer_append_byte(text, ']');
	} else {
		buffer_append_byte(text, '{');
		for (uint64_t i = 0; i < count; i++) {
			buffer_append_text(
				text,
				arena_text(text->arena, "%s\"k%u\\u00%02x\":", i > 0 ? "," : "",
					   (unsigned)i, (unsigned)random_below(random, 256) | 1));
			append_value(random, text, depth - 1);
		}
		buffer_append_byte(text, '}');
	}
}

/* Returns the array with the i-th value: those of the table, then generated values, always the
 * same. */
static const char *hostile_array(struct arena *arena, size_t i)
{
	struct random random = { .state = 0x9e3779b97f4a7c15 + i };
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_byte(&text, '[');
	if (i < ROWS(hostile))
		buffer_append_text(&text, hostile[i]);
	else
		append_value(&random, &text, 12);
	buffer_append(&text, (struct slice){ "]", 2 });
	return text.data;
}

/* Expects the response to a GET of the path to have this value, given as JSON text, at `member`
 * (below `outer`, unless that is NULL). */
static void expect_kept(struct world *world, const char *path, const char *outer,
			const char *member, const char *sent)
{
	char *text = answer_of(world, "a", METHOD_GET, path, NULL);
	json_t *answer = json_loads(text, 0, NULL), *expected = json_loads(sent, 0, NULL);
	json_t *within = outer == NULL ? answer : json_object_get(answer, outer);
	json_t *kept = json_object_get(within, member);

	ck_assert_msg(expected != NULL, "%s", sent);
	ck_assert_msg(kept != NULL && json_same_value(kept, expected), "%s: %s was sent\n%s", path,
		      sent, text);
	json_decref(expected);
	json_decref(answer);
	free(text);
}

/* Expects the same response from both worlds. */
static void expect_alike(const char *path)
{
	char *first = answer_of(&one, "a", METHOD_GET, path, NULL);
	char *second = answer_of(&other, "a", METHOD_GET, path, NULL);

	ck_assert_int_eq(first[0], '{');
	ck_assert_msg(strcmp(first, second) == 0, "%s:\n%s\n%s", path, first, second);
	free(first);
	free(second);
}

/* Sends the value through every endpoint that accepts it, and then makes a write that reads it
 * back. */
static void send_hostile(struct arena *arena, const char *array, char template[25],
			 char rooms[3][25])
{
	const char *object = arena_text(arena, "{\"o\":%s}", array);
	char *answer;

	/* This has the greatest depth of a body; an item in an object is one level higher. */
	if (strstr(array, "[[[[[[[") != NULL)
		object = arena_text(arena, "{\"o\":%.*s}", (int)strlen(array) - 2, array + 1);
	done(&one, METHOD_POST, "{\"roles\":{\"host\":{}}}", template, "/v2/templates");
	done(&one, METHOD_POST, arena_text(arena, "{\"transcriptions\":%s}", object), NULL,
	     "/v2/templates/%s/destinations", template);
	done(&one, METHOD_PATCH, arena_text(arena, "{\"plugins\":%s}", object), NULL,
	     "/v2/templates/%s", template);
	done(&one, METHOD_PATCH, "{\"settings\":{\"region\":\"us\"}}", NULL, "/v2/templates/%s",
	     template);
	done(&one, METHOD_POST,
	     arena_text(arena, "{\"template_id\":\"%s\",\"polls\":%s,\"webhook\":%s}", template,
			array, object),
	     rooms[0], "/v2/rooms");
	done(&one, METHOD_POST, arena_text(arena, "{\"template_id\":\"%s\"}", template), rooms[1],
	     "/v2/rooms");
	done(&one, METHOD_PATCH, arena_text(arena, "{\"polls\":%s,\"webhook\":%s}", array, object),
	     NULL, "/v2/rooms/%s", rooms[1]);
	/* In the body of a bulk request or import, the value would be too deep. */
	if (strstr(array, "[[[[[[[") != NULL)
		array = "[[]]";
	answer = answer_of(&one, "a", METHOD_POST, "/v2/import",
			   arena_text(arena,
				      "{\"rooms\":[{\"id\":\"5f000000%.16s\",\"name\":\"%s\","
				      "\"template_id\":\"%s\",\"polls\":%s}]}",
				      rooms[0] + 8, rooms[0], template, array));
	ck_assert_msg(answer[0] == '{', "%s", answer);
	free(answer);
	(void)snprintf(rooms[2], sizeof rooms[2], "5f000000%.16s", rooms[0] + 8);
	expect_kept(&one, arena_text(arena, "/v2/rooms/%s", rooms[2]), NULL, "polls", array);
	done(&one, METHOD_POST,
	     arena_text(arena,
			"{\"operations\":[{\"method\":\"PATCH\",\"path\":\"/v2/rooms/%s\",\"body\":"
			"{\"webhook\":{\"o\":%s}}},{\"method\":\"PATCH\",\"path\":\"/v2/rooms/%s\","
			"\"body\":{\"description\":\"b\"}}]}",
			rooms[2], array, rooms[0]),
	     NULL, "/v2/bulk");
	for (size_t i = 0; i < 3; i++)
		done(&one, METHOD_PATCH, "{\"description\":\"d\"}", NULL, "/v2/rooms/%s", rooms[i]);
	expect_kept(&one, arena_text(arena, "/v2/rooms/%s", rooms[2]), "webhook", "o", array);
}

/* Whatever a client may send is returned unchanged, also after the next write, after reopening the
 * store, and after a dump and load; check finds nothing in either store. */
START_TEST(values_are_returned_as_they_were_sent)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct arena *arena = arena_open();
	const char *paths[1000];
	size_t n = 0;

	add_accounts(&one);
	for (size_t i = 0; i < ROWS(hostile) + GENERATED; i++) {
		const char *array = hostile_array(arena, i);
		char template[25], rooms[3][25];

		send_hostile(arena, array, template, rooms);
		for (size_t k = 0; k < 3; k++)
			paths[n++] = arena_text(arena, "/v2/rooms/%s", rooms[k]);
		expect_kept(&one, paths[n - 2], NULL, "polls", array);
		expect_kept(&one, paths[n - 3], NULL, "polls", array);
		paths[n++] = arena_text(arena, "/v2/templates/%s", template);
		paths[n++] = arena_text(arena, "/v2/templates/%s/destinations", template);
		if (i == ROWS(hostile) - 1 || (i + 1) % 12 == 0)
			sound(&one);
	}
	dump(&one, &first);
	load_whole(&other, &first);
	dump(&other, &second);
	compare_dumps(&first, &second);
	sound(&other);
	for (size_t i = 0; i < n; i++)
		expect_alike(paths[i]);
	world_restart(&one);
	for (size_t i = 0; i < n; i++)
		expect_alike(paths[i]);
	free_lines(&first);
	free_lines(&second);
	arena_close(arena);
}
END_TEST

/* Returns the codes of a room, without the letters of codes created after the dump. */
static json_t *codes_of(struct world *world, const char *room, const struct lines *dumped)
{
	char path[100], *text;
	json_t *list, *code;
	size_t i;

	(void)snprintf(path, sizeof path, "/v2/room-codes/room/%s?limit=100", room);
	text = answer_of(world, "a", METHOD_GET, path, NULL);
	list = json_loads(text, 0, NULL);
	ck_assert_msg(list != NULL, "%s", text);
	(void)json_object_del(list, "last");
	json_array_foreach(json_object_get(list, "data"), i, code) {
		bool is_old = false;

		for (size_t j = 0; j < dumped->count; j++)
			is_old = is_old ||
				 strstr(dumped->lines[j],
					json_string_value(json_object_get(code, "code"))) != NULL;
		if (!is_old)
			(void)json_object_del(code, "code");
	}
	free(text);
	return list;
}

static void compare_codes(const char *room, const struct lines *dumped, size_t count)
{
	json_t *first = codes_of(&one, room, dumped);
	json_t *second = codes_of(&other, room, dumped);

	ck_assert_uint_eq(json_array_size(json_object_get(first, "data")), count);
	ck_assert_msg(json_equal(first, second) == 1, "%s", json_dumps(second, 0));
	json_decref(first);
	json_decref(second);
}

/* Makes the request in both worlds at nearly the same time; times set by it are not compared. */
static void both(enum method method, const char *body, const char *format, const char *id)
{
	char path[200], *first, *second;

	(void)snprintf(path, sizeof path, "%s", format);
	(void)snprintf(path + strlen(path), sizeof path - strlen(path), "%s", id);
	first = answer_of(&one, "a", method, path, body);
	second = answer_of(&other, "a", method, path, body);
	ck_assert_int_eq(first[0], second[0]);
	free(first);
	free(second);
}

/* A dump numbers the events that wait for a number, whether their account has a log yet or not. */
START_TEST(queued_events_are_dumped)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;
	char *events;

	live(&one, &life);
	enqueue_events(&one, "a", 3);
	enqueue_events(&one, "b", 2);
	dump(&one, &first);
	load_whole(&other, &first);
	sound(&other);
	dump(&other, &second);
	/* The first dump has them at the end of their account. */
	sort_lines(&first);
	sort_lines(&second);
	compare_dumps(&first, &second);
	events = answer_of(&other, "a", METHOD_GET, "/v2/events?type=room.created&limit=100", NULL);
	ck_assert_ptr_nonnull(strstr(events, "3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"));
	free(events);
	free_lines(&first);
	free_lines(&second);
}
END_TEST

START_TEST(codes_go_on_as_before)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	json_t *first, *second;

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	other.clock.offset = one.clock.offset;
	/* host, guest, extra, one that is banned, and the code for `late`, which is due. */
	compare_codes(life.followed, &dumped, 6);
	/* extra is in both templates; chief and guest were lost; host and only were added by the
	 * move. */
	compare_codes(life.moved, &dumped, 5);
	compare_codes(life.own, &dumped, 5);
	both(METHOD_DELETE, NULL, "/v2/templates/", life.one);
	both(METHOD_PATCH, "{\"roles\":{\"chief\":null,\"guest\":{}}}", "/v2/templates/", life.one);
	first = codes_of(&one, life.followed, &dumped);
	second = codes_of(&other, life.followed, &dumped);
	for (size_t i = 0; i < 5; i++) {
		json_t *a = json_array_get(json_object_get(first, "data"), i);
		json_t *b = json_array_get(json_object_get(second, "data"), i);

		ck_assert_ptr_nonnull(a);
		ck_assert(json_equal(json_object_get(a, "role"), json_object_get(b, "role")) == 1);
		ck_assert(json_equal(json_object_get(a, "enabled"),
				     json_object_get(b, "enabled")) == 1);
		ck_assert_int_eq(json_is_true(json_object_get(a, "enabled")), i >= 2);
	}
	json_decref(first);
	json_decref(second);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

START_TEST(a_dump_shows_one_moment)
{
	struct lines before = { .count = 0 }, busy = { .busy = &one };
	struct life life;

	live(&one, &life);
	dump(&one, &before);
	dump(&one, &busy);
	compare_dumps(&before, &busy);
	ck_assert_uint_eq(busy.changes, busy.count);
	sound(&one);
	load_whole(&other, &busy);
	sound(&other);
	free_lines(&before);
	free_lines(&busy);
}
END_TEST

START_TEST(hidden_members_are_kept)
{
	static const char *const hidden[] = { "\"k1\"", "\"k2\"", "\"k3\"", "\"k4\"",
					      "\"role\":\"host\"" };
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &first);
	load_whole(&other, &first);
	/* An upload without credentials keeps stored ones if there are any. */
	done(&other, METHOD_POST,
	     "{\"recording\":{\"upload\":{\"type\":\"s3\",\"location\":\"bucket\",\"prefix\":\"n\"}}}",
	     NULL, "/v2/templates/%s/settings", life.one);
	dump(&other, &second);
	for (size_t i = 0; i < ROWS(hidden); i++) {
		unsigned found = 0;

		for (size_t j = 0; j < second.count; j++)
			found += strstr(second.lines[j], hidden[i]) != NULL &&
				 strncmp(second.lines[j], "{\"event\"", 8) != 0;
		ck_assert_msg(found == 1, "%s", hidden[i]);
	}
	free_lines(&first);
	free_lines(&second);
}
END_TEST

START_TEST(counters_continue)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char first[25], second[25];

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	done(&one, METHOD_POST, "{}", first, "/v2/rooms");
	done(&other, METHOD_POST, "{}", second, "/v2/rooms");
	/* The number in the ID, after eight digits of time. */
	ck_assert_int_eq(memcmp(first + 8, second + 8, 10), 0);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* The times in new IDs do not go back, even if the clock at the new place is behind. */
START_TEST(times_do_not_go_back)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char id[25];

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	other.clock.offset = -1000 * DAY;
	done(&other, METHOD_POST, "{}", id, "/v2/rooms");
	ck_assert_int_ge(strncmp(id, life.off, 8), 0);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* Lists are in the order of IDs, so a new ID never has an earlier second than an older ID, even
 * though its four bytes end in 2106. */
START_TEST(a_clock_beyond_the_ids_hides_nothing)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char id[25];

	live(&one, &life);
	one.clock.offset += (int64_t)UINT32_MAX * 1000;
	for (int i = 0; i < 2; i++) {
		done(&one, METHOD_POST, "{}", id, "/v2/rooms");
		ck_assert_int_eq(strncmp(id, "ffffffff", 8), 0);
		done(&one, METHOD_POST, "{\"name\":\"late\"}", id, "/v2/templates");
		ck_assert_int_eq(strncmp(id, "ffffffff", 8), 0);
		one.clock.offset -= DAY * 1000;
		done(&one, METHOD_DELETE, NULL, NULL, "/v2/templates/%s", id);
	}
	dump(&one, &dumped);
	ck_assert_ptr_nonnull(strstr(dumped.lines[dumped.count - 1], "\"room\":6"));
	load_whole(&other, &dumped);
	sound(&one);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* Closes the first world and loads the lines into an empty world in its place. */
static void load_anew(const struct lines *lines)
{
	world_close(&one);
	open_new(&one);
	load_whole(&one, lines);
	sound(&one);
}

/* If a code cannot be read, the dump reports it and saves the others. */
START_TEST(other_codes_are_saved_if_one_is_lost)
{
	struct lines whole = { .output.lost = keep_lost }, saved = { .output.lost = keep_lost },
		     first = { .count = 0 }, last = { .count = 0 };
	struct stored lost = { .table = STORE_NAMED };
	char key[14] = "c";
	struct life life;

	live(&one, &life);
	dump(&one, &first);
	dump(&one, &whole);
	ck_assert_uint_eq(whole.lost, 0);
	compare_dumps(&first, &whole);
	memcpy(key + 1, strstr(first.lines[line_with(&first, "{\"code\"")], "\"code\":\"") + 8, 12);
	lost.key = slice_of(key);
	change(&one, &lost, SLICE("s"));
	dump(&one, &saved);
	ck_assert_msg(saved.lost == 1 && strncmp(saved.said, "a room code", 11) == 0, "%s",
		      saved.said);
	ck_assert_uint_eq(saved.count, first.count - 1);
	load_anew(&saved);
	dump(&one, &last);
	compare_dumps(&saved, &last);
	free_lines(&first);
	free_lines(&whole);
	free_lines(&saved);
	free_lines(&last);
}
END_TEST

/* ---- what is deleted ---- */

static const struct {
	const char *list;
	bool may_refuse; /* the room in session, and one with files of recordings */
} deleted[] = {
	{ "/v2/rooms?limit=100", false },
	{ "/v2/templates?limit=100", false },
	{ "/v2/sessions?limit=100", true },
	{ "/v2/webhooks", false },
	{ "/v2/backends", false },
	{ "/v2/recording-assets?limit=100", false },
	{ "/v2/sessions?limit=100", false },
	{ "/v2/keys", false },
	{ "/v2/bans", false },
};

/* Deletes everything that a list has, each followed by a check. */
static void delete_all(size_t row)
{
	char *text = answer_of(&one, "a", METHOD_GET, deleted[row].list, NULL);
	json_t *answer = json_loads(text, 0, NULL), *item;
	size_t i;

	json_array_foreach(json_object_get(answer, "data"), i, item) {
		char path[100];
		char *said;

		(void)snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(deleted[row].list, "?"),
			       deleted[row].list, json_string_value(json_object_get(item, "id")));
		said = answer_of(&one, "a", METHOD_DELETE, path, NULL);
		ck_assert_msg(said[0] == '\0' ||
				      (deleted[row].may_refuse && strncmp(said, "409", 3) == 0),
			      "%s: %s", path, said);
		free(said);
		sound(&one);
	}
	json_decref(answer);
	free(text);
}

/* Nothing refers to what is gone, and what is left can be dumped and loaded. */
START_TEST(nothing_is_left_of_what_is_deleted)
{
	struct lines dumped = { .count = 0 };
	struct life life;

	live(&one, &life);
	for (size_t row = 0; row < ROWS(deleted); row++)
		delete_all(row);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* A ban from a room that is deleted, which is still to be removed with it, is not moved: where it
 * comes to, nothing would ever remove it. */
START_TEST(what_is_left_of_a_deleted_room_stays_behind)
{
	const struct garbage garbage = { .stored.id = made_id(5, 400),
					 .of = (unsigned char)kind_room.letter };
	struct ban_terms terms = { .room = garbage.stored.id, .user_id = SLICE("left") };
	struct lines dumped = { .count = 0 };
	struct life life;
	struct call call;
	struct ban ban;

	live(&one, &life);
	begin_call(&one, &call);
	terms.code_hash = SLICE("");
	ck_assert(ban_add(&call, &terms, &ban, &fault) &&
		  record_put(&garbage_table, call.transaction, &garbage, &fault));
	commit_call(&call);
	sound(&one);
	dump(&one, &dumped);
	for (size_t i = 0; i < dumped.count; i++)
		ck_assert_msg(strncmp(dumped.lines[i], "{\"ban\"", 6) != 0 ||
				      strstr(dumped.lines[i], "\"left\"") == NULL,
			      "%s", dumped.lines[i]);
	load_whole(&other, &dumped);
	sound(&other);
	begin_call(&one, &call);
	ck_assert(garbage_finish(&call, &garbage.stored.id, &fault));
	commit_call(&call);
	sound(&one);
	free_lines(&dumped);
}
END_TEST

void add_moves(TCase *whole, TCase *transfer, TCase *kept)
{
	tcase_add_test(whole, the_manual_has_all_members);
	tcase_add_test(whole, a_loaded_store_answers_as_before);
	tcase_add_test(whole, a_loaded_room_in_session_shows_where_it_is);
	tcase_add_test(whole, nothing_is_left_of_what_is_deleted);
	tcase_add_test(transfer, queued_events_are_dumped);
	tcase_add_test(transfer, codes_go_on_as_before);
	tcase_add_test(transfer, what_is_left_of_a_deleted_room_stays_behind);
	tcase_add_test(transfer, a_dump_shows_one_moment);
	tcase_add_test(transfer, live_rooms_go_on_as_before);
	tcase_add_test(transfer, peers_of_a_forgotten_session_are_removed);
	tcase_add_test(transfer, hidden_members_are_kept);
	tcase_add_test(transfer, counters_continue);
	tcase_add_test(transfer, times_do_not_go_back);
	tcase_add_test(transfer, other_codes_are_saved_if_one_is_lost);
	tcase_add_test(transfer, a_clock_beyond_the_ids_hides_nothing);
	tcase_add_test(kept, values_are_returned_as_they_were_sent);
}
