/* Dumps with every member, and dumps of many records.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/removal.h"
#include "directory.h"
#include "life.h"
#include "resources/stored/ban_record.h"
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
#include "store/gdbm/inspect.h"
#include "suite.h"

/* Dumps of any length, each line a text from malloc. */
struct heap {
	struct transfer_output output;
	char **lines;
	size_t count, capacity;
	size_t limit; /* of the arenas that the dump and the load use */
};

static bool heap_line(struct transfer_output *output, struct slice line, struct fault *unused)
{
	struct heap *heap = (struct heap *)output;
	char *copy;

	(void)unused;
	if (heap->count == heap->capacity) {
		heap->capacity = 2 * heap->capacity + 1024;
		heap->lines = realloc(heap->lines, heap->capacity * sizeof *heap->lines);
		ck_assert_ptr_nonnull(heap->lines);
	}
	/* strndup(3) of a sanitizer reads beyond the text. */
	copy = malloc(line.size + 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, line.data, line.size);
	copy[line.size] = '\0';
	heap->lines[heap->count++] = copy;
	return true;
}

static void heap_add(struct heap *heap, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);

	(void)heap_line(&heap->output, slice_of(text), &fault);
	free(text);
	json_decref(line);
}

static void heap_free(struct heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		free(heap->lines[i]);
	free(heap->lines);
	*heap = (struct heap){ .limit = heap->limit };
}

/* Writes each line with its members in the same order. */
static void heap_sort_members(struct heap *heap)
{
	for (size_t i = 0; i < heap->count; i++) {
		json_t *line = json_loads(heap->lines[i], 0, NULL);

		free(heap->lines[i]);
		heap->lines[i] = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS);
		json_decref(line);
	}
}

/* Compares all lines but the first, in any order. */
static void compare_heaps(struct heap *first, struct heap *second)
{
	heap_sort_members(first);
	heap_sort_members(second);
	qsort(&first->lines[1], first->count - 1, sizeof first->lines[1], compare_lines);
	qsort(&second->lines[1], second->count - 1, sizeof second->lines[1], compare_lines);
	for (size_t i = 1; i < first->count && i < second->count; i++)
		ck_assert_str_eq(first->lines[i], second->lines[i]);
	ck_assert_uint_eq(first->count, second->count);
}

static void heap_dump(struct world *world, struct heap *heap, bool is_salvage)
{
	struct fault why = FAULT_INITIAL;
	struct store *store;
	struct roster *roster;
	struct snapshot snapshot;

	heap->output.line = heap_line;
	heap->output.lost = is_salvage ? keep_lost : NULL;
	heap->output.keys_most = 100;
	open_read_only(world, &store);
	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(snapshot_open(store, &clock_system, &snapshot, &fault));
	if (heap->limit != 0)
		arena_set_limit(snapshot.call.arena, heap->limit);
	ck_assert_msg(transfer_write(&snapshot, roster, NULL, &heap->output, &why), "%s",
		      fault_reason(&why));
	snapshot_close(&snapshot);
	roster_close(roster);
	store_close(store);
}

static bool is_nothing(const json_t *value)
{
	if (json_is_string(value))
		return json_string_length(value) == 0;
	if (json_is_array(value) || json_is_object(value))
		return json_array_size(value) + json_object_size(value) == 0;
	return value == NULL || json_is_false(value) ||
	       (json_is_integer(value) && json_integer_value(value) == 0);
}

/* Expects that at least one of the objects has each member of the table that a dump has. */
static void expect_members(const char *line, const struct record_table *table,
			   const json_t *objects)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		json_t *items = json_array(), *object;
		bool is_there = false;
		size_t at;

		if ((member->flags & MEMBER_DERIVED) == 0 && member->kind != MEMBER_ETAG) {
			json_array_foreach(objects, at, object) {
				json_t *value = json_object_get(object, member->name);

				is_there = is_there || !is_nothing(value);
				if (member->items != NULL && value != NULL)
					json_array_extend(items, value);
			}
			ck_assert_msg(is_there, "%s: %s", line, member->name);
			if (member->items != NULL)
				expect_members(line, member->items, items);
		}
		json_decref(items);
	}
}

/* Returns the objects of all lines of a kind. */
static json_t *objects_of(const struct heap *heap, const char *kind)
{
	json_t *objects = json_array();

	for (size_t i = 0; i < heap->count; i++) {
		json_t *line = json_loads(heap->lines[i], 0, NULL);

		if (json_object_get(line, kind) != NULL)
			json_array_append(objects, json_object_get(line, kind));
		json_decref(line);
	}
	return objects;
}

/* Members that a life does not have, in the first line with this text. */
static const struct {
	const char *kind, *text, *list; /* list: the members are of its first item; or NULL */
	const char *members;
} filled[] = {
	{ "media", "", "backends", "{\"api_url\":\"https://api.example.org/\"}" },
	{ "template", "", NULL,
	  "{\"round_began\":\"2026-01-01T00:00:00.000Z\",\"last_room\":\"6925c84100000000000000b1\"}" },
	{ "codes", "", NULL, "{\"settled\":1,\"holds\":true}" },
	{ "codes", "", "groups", "{\"lost_role\":\"r\",\"lost_at\":\"2026-01-01T00:00:00Z\"}" },
	{ "code", "\"uses\":1", NULL,
	  "{\"last_repeats\":1,\"asks_in\":\"6925c84100000000000000b1\"}" },
	{ "log", "", NULL, "{\"watched\":true,\"enabled\":true,\"secrets\":-5}" },
	{ "webhooks", "", "webhooks", "{\"end\":\"failing\",\"description\":\"d\"}" },
	{ "position", "", NULL, "{\"delivered_at\":\"2026-01-01T00:00:00.000Z\"}" },
	{ "peer", "", NULL,
	  "{\"strange\":true,\"order_last\":true,\"name_origin\":\"given\",\"new_name\":\"n\"}" },
	{ "live", "", NULL,
	  "{\"given\":true,\"left_unseen\":true,\"closing_at\":\"2026-01-01T00:00:00.000Z\","
	  "\"ended_at\":\"2026-01-01T00:00:00.000Z\",\"holds\":[{\"type\":\"video\",\"role\":\"r\","
	  "\"freed\":true}]}" },
};

/* A delivery of the webhook whose position is in a line. */
#define DELIVERY_LINE \
	"{\"delivery\":{\"id\":\"6925c84100000000000000d1\",\"webhook\":\"%s\",\"pending\":true," \
	"\"state\":\"pending\",\"series\":1,\"seq\":2,\"event_id\":\"e\",\"type\":\"room.created\"," \
	"\"attempts\":1,\"status\":500,\"error\":\"status 500\",\"first_at\":" \
	"\"2026-01-01T00:00:00.000Z\",\"next_at\":\"2026-01-01T00:01:00.000Z\"}}"

static bool line_is_of(const char *line, const char *kind, const char *text)
{
	const size_t size = strlen(kind);

	return strncmp(line + 2, kind, size) == 0 && line[2 + size] == '"' &&
	       strstr(line, text) != NULL;
}

/* Returns a dump of a life, in which each member is somewhere other than empty. */
static void dump_everything(struct world *world, struct heap *filling, struct life *life)
{
	bool is_filled[ROWS(filled)] = { false }, has_delivery = false;
	struct heap dumped = { .count = 0 };

	live(world, life);
	heap_dump(world, &dumped, false);
	for (size_t i = 0; i < dumped.count; i++) {
		json_t *line = json_loads(dumped.lines[i], 0, NULL);
		const char *kind = json_object_iter_key(json_object_iter(line));
		json_t *object = json_object_get(line, kind);

		for (int row = 0; row < ROWS(filled); row++) {
			json_t *of = object, *members;

			if (is_filled[row] ||
			    !line_is_of(dumped.lines[i], filled[row].kind, filled[row].text))
				continue;
			is_filled[row] = true;
			if (filled[row].list != NULL)
				of = json_array_get(json_object_get(of, filled[row].list), 0);
			members = json_loads(filled[row].members, 0, NULL);
			ck_assert_int_eq(json_object_update(of, members), 0);
			json_decref(members);
		}
		if (strcmp(kind, "end") == 0)
			json_object_set_new(json_object_get(object, "lines"), "delivery",
					    json_integer(has_delivery));
		heap_add(filling, line);
		if (!has_delivery && line_is_of(dumped.lines[i], "position", "")) {
			struct arena *arena = arena_open();
			json_t *position = json_loads(dumped.lines[i], 0, NULL);
			const json_t *id = json_object_get(json_object_get(position, "position"),
							   "id");

			heap_add(filling,
				 json_loads(arena_text(arena, DELIVERY_LINE, json_string_value(id)),
					    0, NULL));
			has_delivery = true;
			json_decref(position);
			arena_close(arena);
		}
	}
	heap_free(&dumped);
}

void live_everything(struct life *life)
{
	struct heap everything = { .count = 0 };
	struct lines lines = { .count = 0 };

	dump_everything(&one, &everything, life);
	ck_assert_uint_le(everything.count, ROWS(lines.lines));
	memcpy(lines.lines, everything.lines, everything.count * sizeof *lines.lines);
	lines.count = everything.count;
	load_whole(&other, &lines);
	heap_free(&everything);
	world_close(&one);
	open_left(&one, world_leave(&other));
	open_new(&other);
}

/* Runs the program, which must succeed. */
static void run_program(const char *command, const char *directory, const char *option,
			const char *path)
{
	const char *named = getenv("ANTEROOM");
	const char *program = named != NULL ? named : "./anteroom";
	const pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (option != NULL)
			(void)execl(program, program, command, option, path, directory,
				    (char *)NULL);
		else
			(void)execl(program, program, command, directory, path, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %d", command, status);
}

/* By the program itself: this process has verified all tables of the interface, and the program
 * only those that the kinds of records name. */
START_TEST(every_member_is_dumped_and_loaded)
{
	struct heap first = { .count = 0 }, second = { .count = 0 };
	struct life life;
	struct arena *arena = arena_open();
	char *directory = directory_make();
	const char *before = arena_text(arena, "%s/before", directory);
	const char *after = arena_text(arena, "%s/after", directory);
	const char *data = arena_text(arena, "%s/data", directory);
	char *line = NULL;
	size_t size = 0;
	ssize_t got;
	FILE *file;

	dump_everything(&one, &first, &life);
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->line != NULL) {
			json_t *objects = objects_of(&first, record_kinds[i]->line);

			expect_members(record_kinds[i]->line, record_kinds[i]->table, objects);
			json_decref(objects);
		}
	}
	file = fopen(before, "w");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < first.count; i++)
		(void)fprintf(file, "%s\n", first.lines[i]);
	ck_assert_int_eq(fclose(file), 0);
	run_program("load", data, NULL, before);
	run_program("dump", data, "--output", after);
	file = fopen(after, "r");
	ck_assert_ptr_nonnull(file);
	while ((got = getline(&line, &size, file)) > 0)
		(void)heap_line(&second.output, (struct slice){ line, (size_t)got - 1 }, &fault);
	fclose(file);
	free(line);
	compare_heaps(&first, &second);
	heap_free(&first);
	heap_free(&second);
	directory_remove(directory);
	arena_close(arena);
}
END_TEST

/* The memory of a command for values. An account gets so many records of each kind that they need
 * twice as much, but at most GROWN_MOST. */
#define GROWN_LIMIT ((size_t)128 << 10)
#define GROWN_MOST ((size_t)800)

static void set_text(json_t *object, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_text(json_t *object, const char *name, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_object_set_new(object, name, json_string(text));
}

static void add_to(json_t *object, const char *name, size_t n)
{
	json_object_set_new(
		object, name,
		json_integer(json_integer_value(json_object_get(object, name)) + (json_int_t)n));
}

/* Sets another id, with the time of the first one. */
static void set_id(json_t *object, const char *name, size_t i)
{
	char text[25];

	(void)snprintf(text, sizeof text, "%.8s%016zx",
		       json_string_value(json_object_get(object, name)), 1000000 + i);
	json_object_set_new(object, name, json_string(text));
}

/* The last event of the account before it grows. */
static json_int_t last_event;

static void grow_event(json_t *event, size_t i)
{
	json_object_set_new(event, "seq", json_integer(last_event + (json_int_t)i));
}

static void grow_person(json_t *peer, size_t i)
{
	const bool is_inside = json_is_true(json_object_get(peer, "inside"));

	set_text(peer, "id", "%08zx-0000-4000-8000-00000000000%d", i, is_inside);
	set_text(peer, "entry", "entry-%zu", i);
	set_text(peer, "metadata", "%0300zu", i);
}

static void grow_code(json_t *code, size_t i)
{
	char text[13];

	(void)snprintf(text, sizeof text, "abc-%c%c%c%c-xyz", 'a' + (char)(i / 512),
		       'a' + (char)(i / 64 % 8), 'a' + (char)(i / 8 % 8), 'a' + (char)(i % 8));
	json_object_set_new(code, "code", json_string(text));
	set_text(code, "place", "%018zx000000", 1000 + i);
}

static void grow_room(json_t *room, size_t i)
{
	json_t *document = json_object_get(room, "document");

	set_id(room, "id", i);
	json_object_set(document, "id", json_object_get(room, "id"));
	set_text(document, "name", "room-%zu", i);
}

static void grow_deleted_role(json_t *role, size_t i)
{
	add_to(role, "identity", 1000 + i);
}

static void grow_delivery(json_t *delivery, size_t i)
{
	set_id(delivery, "id", i);
}

static void grow_session(json_t *session, size_t i)
{
	set_id(session, "id", i);
}

static void grow_given_role(json_t *given, size_t i)
{
	set_id(given, "key", i);
}

static void grow_revocation(json_t *revocation, size_t i)
{
	set_id(revocation, "id", i);
	set_text(revocation, "name", "entry-%zu", i);
}

static void grow_usage(json_t *usage, size_t i)
{
	json_object_set_new(usage, "day", json_integer((json_int_t)i));
}

static void grow_ban(json_t *ban, size_t i)
{
	set_id(ban, "id", i);
	set_text(ban, "user_id", "user-%zu", i);
}

static void grow_words(json_t *words, size_t i)
{
	set_text(words, "words", "many-words-%zu", i);
}

/* After the first line that has the text, more like it. */
static const struct {
	const char *kind, *text;
	void (*grow)(json_t *object, size_t i);
} grown[] = {
	{ "deleted_role", "", grow_deleted_role },
	{ "room", "\"description\":\"d\"", grow_room },
	{ "code", "\"former\":false", grow_code },
	{ "event", "", grow_event },
	{ "delivery", "", grow_delivery },
	{ "session", "\"active\":false", grow_session },
	{ "peer", "\"inside\":true", grow_person },
	{ "peer", "\"inside\":false", grow_person },
	{ "given_role", "", grow_given_role },
	{ "revocation", "", grow_revocation },
	{ "usage", "", grow_usage },
	{ "ban", "\"user_id\"", grow_ban },
	{ "words", "", grow_words },
};

/* What other lines say about the new ones. */
static void adapt_line(const char *kind, json_t *object, const uint64_t counts[ROWS(grown)])
{
	if (strcmp(kind, "log") == 0) {
		last_event = json_integer_value(json_object_get(object, "last"));
		add_to(object, "last", GROWN_MOST);
	}
	if (strcmp(kind, "codes") == 0)
		add_to(object, "last_place", 1000 + GROWN_MOST);
	for (int row = 0; strcmp(kind, "end") == 0 && row < ROWS(grown); row++)
		add_to(json_object_get(object, "lines"), grown[row].kind, (size_t)counts[row]);
}

static void grow_dump(const struct heap *small, struct heap *large)
{
	uint64_t counts[ROWS(grown)] = { 0 };

	for (size_t i = 0; i < small->count; i++) {
		json_t *line = json_loads(small->lines[i], 0, NULL);
		const char *kind = json_object_iter_key(json_object_iter(line));

		adapt_line(kind, json_object_get(line, kind), counts);
		heap_add(large, line);
		for (int row = 0; row < ROWS(grown); row++) {
			if (counts[row] > 0 ||
			    !line_is_of(small->lines[i], grown[row].kind, grown[row].text))
				continue;
			/* The log of events has no gaps. */
			counts[row] = grown[row].grow == grow_event
					      ? GROWN_MOST
					      : 2 * GROWN_LIMIT / strlen(small->lines[i]);
			if (counts[row] > GROWN_MOST)
				counts[row] = GROWN_MOST;
			for (size_t n = 1; n <= counts[row]; n++) {
				line = json_loads(small->lines[i], 0, NULL);
				grown[row].grow(json_object_get(line, grown[row].kind), n);
				heap_add(large, line);
			}
		}
	}
	for (int row = 0; row < ROWS(grown); row++)
		ck_assert_msg(counts[row] > 0, "%s", grown[row].kind);
}

/* Loads the lines, each in a transaction of its own, and verifies them, as the command does. */
static void heap_load(struct world *world, const struct heap *heap)
{
	struct saying saying = { .findings.report = say_finding };
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	struct transfer_input input, mark;
	struct fault why = FAULT_INITIAL;
	struct snapshot snapshot;
	struct roster *roster;
	uint64_t number;
	char said[2000] = "";

	saying.said = said;
	ck_assert(accounts_list(world->directory, &roster, &fault));
	transfer_input_open(&input, store, &clock_system, roster);
	input.call.arena = arena;
	arena_set_limit(arena, heap->limit);
	ck_assert(store_begin(store, STORE_WRITE, arena, &input.call.transaction, &fault));
	for (size_t i = 0; i < heap->count; i++) {
		findings_open(&input.call.findings, arena);
		ck_assert_msg(transfer_read_line(&input, slice_of(heap->lines[i]), &why),
			      "line %zu, %s: %s %s", i, heap->lines[i], fault_reason(&why),
			      json_string_value(json_array_get(why.details, 0)));
		commit_lines(&input, &mark);
	}
	ck_assert(transfer_read_end(&input, &why));
	ck_assert(store_commit(input.call.transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	ck_assert(snapshot_open(store, &clock_system, &snapshot, &fault));
	arena_set_limit(snapshot.call.arena, heap->limit);
	ck_assert_msg(transfer_verify(&snapshot, &input, &saying.findings, &why), "%s%s",
		      fault_reason(&why), said);
	snapshot_close(&snapshot);
	ck_assert(accounts_restore(world->directory, input.accounts, (size_t)input.counts.accounts,
				   &fault));
	transfer_input_close(&input);
	roster_close(roster);
	arena_close(arena);
}

/* The memory of dump, load, check and removal does not grow with the number of records: all values
 * of any kind together do not fit into it. */
START_TEST(memory_does_not_grow_with_the_records)
{
	struct heap small = { .count = 0 }, large = { .limit = GROWN_LIMIT };
	struct heap again = { .limit = GROWN_LIMIT };
	struct counting counting = { .findings.report = count_finding };
	struct removal removal = { .store = other.environment.store, .arena = arena_open() };
	uint64_t counts[KINDS];
	struct roster *roster;
	struct snapshot snapshot;
	struct life life;

	dump_everything(&one, &small, &life);
	grow_dump(&small, &large);
	heap_load(&other, &large);
	for (int is_salvage = 0; is_salvage < 2; is_salvage++) {
		heap_dump(&other, &again, is_salvage != 0);
		compare_heaps(&large, &again);
		heap_free(&again);
	}
	ck_assert(accounts_list(other.directory, &roster, &fault));
	ck_assert(snapshot_open(other.environment.store, &clock_system, &snapshot, &fault));
	arena_set_limit(snapshot.call.arena, GROWN_LIMIT);
	counting.findings.roster = roster;
	counting.snapshot = &snapshot;
	for (int i = 0; i < KINDS; i++)
		ck_assert(look_at_all(&counting, all_kinds[i], &fault));
	ck_assert_msg(counting.count == 0, "%s", counting.said);
	ck_assert(store_gdbm_check_indexes(snapshot.call.transaction, all_kinds, KINDS,
					   count_problem, &counting, &fault));
	snapshot_close(&snapshot);
	for (size_t i = 0; i < roster->count; i++) {
		removal.account = roster->accounts[i].id;
		ck_assert_msg(removal_run(&removal, &fault), "%s", fault_reason(&fault));
	}
	ck_assert(store_wait(other.environment.store, removal.last, &fault));
	ck_assert(snapshot_open(other.environment.store, &clock_system, &snapshot, &fault));
	ck_assert(store_count(snapshot.call.transaction, all_kinds, KINDS, counts, &fault));
	for (int i = 0; i < KINDS; i++)
		ck_assert_msg(counts[i] == 0 || all_kinds[i] == &kind_words ||
				      all_kinds[i] == &kind_gone_file,
			      "%s", all_kinds[i]->name);
	snapshot_close(&snapshot);
	roster_close(roster);
	arena_close(removal.arena);
	heap_free(&small);
	heap_free(&large);
}
END_TEST

void add_whole(TCase *every, TCase *large)
{
	tcase_add_test(every, every_member_is_dumped_and_loaded);
	tcase_add_test(large, memory_does_not_grow_with_the_records);
}
