/* Dumps, loads and checks of a world; see life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "life.h"
#include "resources/stored/code_record.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "store/gdbm/inspect.h"
#include "suite.h"

/* ---- dumps ---- */

static bool keep_line(struct transfer_output *output, struct slice line, struct fault *unused)
{
	struct lines *lines = (struct lines *)output;

	(void)unused;
	ck_assert_uint_lt(lines->count, ROWS(lines->lines));
	lines->lines[lines->count] = malloc(line.size + 1);
	ck_assert_ptr_nonnull(lines->lines[lines->count]);
	memcpy(lines->lines[lines->count], line.data, line.size);
	lines->lines[lines->count++][line.size] = '\0';
	if (lines->busy != NULL) {
		char path[40];

		(void)snprintf(path, sizeof path, "{\"name\":\"busy%zu\"}", lines->changes++);
		done(lines->busy, METHOD_POST, path, NULL, "/v2/templates");
		done(lines->busy, METHOD_POST, path, NULL, "/v2/rooms");
		done(lines->busy, METHOD_POST, "{\"name\":\"busy0\"}", NULL, "/v2/templates");
	}
	return true;
}

void keep_lost(struct transfer_output *output, const char *what, const char *why)
{
	struct lines *lines = (struct lines *)output;
	const size_t size = strlen(lines->said);

	lines->lost++;
	(void)snprintf(lines->said + size, sizeof lines->said - size, "%s: %s\n", what, why);
}

void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i]);
}

bool try_dump(struct world *world, struct lines *lines, struct fault *why)
{
	struct store *store;
	struct roster *roster;
	struct snapshot snapshot;
	bool is_dumped;

	lines->output.line = keep_line;
	open_read_only(world, &store);
	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(snapshot_open(store, &clock_system, &snapshot, &fault));
	is_dumped = transfer_write(&snapshot, roster, NULL, &lines->output, why);
	snapshot_close(&snapshot);
	roster_close(roster);
	store_close(store);
	return is_dumped;
}

int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void dump(struct world *world, struct lines *lines)
{
	static const char words[] = "{\"words\"";
	size_t first = 0, end;

	ck_assert_msg(try_dump(world, lines, &fault), "%s %s", fault.message, fault.cause);
	while (first < lines->count && strncmp(lines->lines[first], words, sizeof words - 1) != 0)
		first++;
	for (end = first;
	     end < lines->count && strncmp(lines->lines[end], words, sizeof words - 1) == 0;)
		end++;
	qsort(&lines->lines[first], end - first, sizeof lines->lines[0], compare_lines);
}

/* Abandons the transaction and reads its lines again, from `first` to `at`. */
static bool read_again(struct transfer_input *input, const struct transfer_input *mark,
		       const struct lines *lines, size_t first, size_t at, struct fault *why)
{
	bool is_read = true;

	store_abandon(input->call.transaction);
	transfer_input_back(input, mark);
	arena_reset(input->call.arena);
	ck_assert(store_begin(mark->environment.store, STORE_WRITE, input->call.arena,
			      &input->call.transaction, &fault));
	for (size_t i = first; is_read && i <= at; i++) {
		findings_open(&input->call.findings, input->call.arena);
		is_read = transfer_read_line(input, slice_of(lines->lines[i]), why);
	}
	return is_read;
}

void commit_lines(struct transfer_input *input, struct transfer_input *mark)
{
	uint64_t number;

	ck_assert(store_commit(input->call.transaction, &number, &fault));
	arena_reset(input->call.arena);
	ck_assert(store_begin(input->environment.store, STORE_WRITE, input->call.arena,
			      &input->call.transaction, &fault));
	*mark = *input;
}

void say_finding(struct record_findings *findings, const char *kind, const char *key,
		 const char *problem)
{
	struct saying *saying = (struct saying *)findings;
	const size_t size = strlen(saying->said);

	(void)snprintf(saying->said + size, 2000 - size, "\n%s %s: %s", kind, key, problem);
}

/* Checks that the loaded records fit together. If they do not, returns false with the findings in
 * *said; the world is then empty again. */
static bool verify(struct world *world, const struct transfer_input *input, char said[2000])
{
	struct saying saying = { .findings.report = say_finding, .said = said };
	struct fault why = FAULT_INITIAL;
	struct snapshot snapshot;
	bool is_right;

	ck_assert(snapshot_open(world->environment.store, &clock_system, &snapshot, &fault));
	is_right = transfer_verify(&snapshot, input, &saying.findings, &why);
	if (!is_right && saying.findings.count == 0)
		(void)snprintf(said, 2000, "%s", fault_reason(&why));
	snapshot_close(&snapshot);
	return is_right;
}

const struct record_upgrades *load_upgrades;
const struct store_form *load_form;

bool load(struct world *world, const struct lines *lines, size_t *at, char said[2000])
{
	struct store *store = world->environment.store;
	struct transfer_input input, mark;
	struct arena *arena = arena_open();
	struct roster *roster;
	struct fault why = FAULT_INITIAL;
	uint64_t number;
	size_t first = 0; /* first line of the transaction */
	bool is_loaded = true, is_unfit = false;

	said[0] = '\0';
	ck_assert(accounts_list(world->directory, &roster, &fault));
	transfer_input_open(&input, store, &clock_system, roster);
	if (load_upgrades != NULL) {
		input.upgrades = load_upgrades;
		input.form = load_form;
	}
	input.call.arena = arena;
	arena_set_limit(arena, SNAPSHOT_ARENA_MOST);
	ck_assert(store_begin(store, STORE_WRITE, arena, &input.call.transaction, &fault));
	mark = input;
	for (*at = 0; is_loaded && *at < lines->count; ++*at) {
		findings_open(&input.call.findings, arena);
		is_loaded = transfer_read_line(&input, slice_of(lines->lines[*at]), &why) &&
			    (!lines->is_read_again ||
			     read_again(&input, &mark, lines, first, *at, &why));
		if (is_loaded && lines->is_committed) {
			commit_lines(&input, &mark);
			first = *at + 1;
		}
	}
	is_loaded = is_loaded && transfer_read_end(&input, &why);
	if (is_loaded) {
		ck_assert(store_commit(input.call.transaction, &number, &fault));
		ck_assert(store_wait(store, number, &fault));
		is_loaded = verify(world, &input, said);
		if (is_loaded)
			ck_assert(accounts_restore(world->directory, input.accounts,
						   (size_t)input.counts.accounts, &fault));
		else
			is_unfit = true;
	} else {
		store_abandon(input.call.transaction);
		(void)snprintf(said, 2000, "%s %s", why.message, why.detail);
		for (size_t i = 0; i < json_array_size(why.details); i++)
			(void)snprintf(said + strlen(said), 2000 - strlen(said), "\n%s",
				       json_string_value(json_array_get(why.details, i)));
	}
	transfer_input_close(&input);
	roster_close(roster);
	arena_close(arena);
	if (is_unfit) {
		world_close(world);
		open_new(world);
	}
	return is_loaded;
}

void load_whole(struct world *world, const struct lines *lines)
{
	char said[2000];
	size_t at;

	ck_assert_msg(load(world, lines, &at, said), "line %zu: %s", at, said);
}

void compare_dumps(const struct lines *first, const struct lines *second)
{
	ck_assert_uint_eq(first->count, second->count);
	for (size_t i = 1; i < first->count; i++)
		ck_assert_str_eq(first->lines[i], second->lines[i]);
}

void sort_lines(struct lines *lines)
{
	qsort(&lines->lines[1], lines->count - 1, sizeof lines->lines[1], compare_lines);
}

/* ---- check ---- */

void count_finding(struct record_findings *findings, const char *kind, const char *key,
		   const char *problem)
{
	struct counting *counting = (struct counting *)findings;

	counting->count++;
	ck_assert_msg(problem[0] != ':', "%s", problem);
	(void)snprintf(counting->said, sizeof counting->said, "%s %s: %s", kind, key, problem);
}

void count_problem(void *context, const char *problem)
{
	count_finding(context, "index", "", problem);
}

bool look_at_all(struct counting *counting, const struct store_kind *kind, struct fault *why)
{
	struct store_walk walk = store_walk_all(counting->snapshot->call.transaction, kind, why);
	struct store_record record;

	while (store_next(&walk, &record))
		record_findings_report_stored(counting->snapshot, kind, &record,
					      &counting->findings);
	return why->kind == FAULT_NONE;
}

struct counting checked(struct world *world)
{
	struct counting counting = { .findings.report = count_finding };
	struct fault why = FAULT_INITIAL;
	struct roster *roster;
	struct snapshot snapshot;

	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(snapshot_open(world->environment.store, &clock_system, &snapshot, &fault));
	counting.findings.roster = roster;
	counting.snapshot = &snapshot;
	for (int i = 0; i < KINDS; i++) {
		why = FAULT_INITIAL;
		if (!look_at_all(&counting, all_kinds[i], &why))
			count_problem(&counting, why.cause);
	}
	ck_assert(store_gdbm_check_indexes(snapshot.call.transaction, all_kinds, KINDS,
					   count_problem, &counting, &fault));
	json_decref(counting.findings.unknown_accounts);
	snapshot_close(&snapshot);
	roster_close(roster);
	return counting;
}

void sound(struct world *world)
{
	struct counting counting = checked(world);

	ck_assert_msg(counting.count == 0, "%u findings, the last: %s", counting.count,
		      counting.said);
}

/* ---- records as they are stored ---- */

size_t line_with(const struct lines *lines, const char *text)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (strstr(lines->lines[i], text) != NULL)
			return i;
	}
	ck_abort_msg("no line contains %s", text);
}

#define RECORDS_MOST 1000

void collect_all(struct world *world, struct collecting *collecting)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct walked_entry entry;
	struct entry_walk *walk;

	collecting->records = arena_zero(collecting->arena,
					 RECORDS_MOST * sizeof *collecting->records);
	ck_assert(store_begin(world->environment.store, STORE_READ, arena, &transaction, &fault));
	walk = entries_walk(transaction, true);
	while (entries_next(walk, &entry, &fault)) {
		ck_assert_uint_lt(collecting->count, RECORDS_MOST);
		collecting->records[collecting->count++] = (struct stored){
			.table = entry.table,
			.key = arena_copy(collecting->arena, entry.key),
			.value = arena_copy(collecting->arena, entry.value),
		};
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	arena_close(arena);
}

void change(struct world *world, const struct stored *record, struct slice value)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	ck_assert(value.data == NULL
			  ? entry_remove(transaction, record->table, record->key, &fault)
			  : entry_put(transaction, record->table, record->key, value, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

struct stored *stored_codes(struct collecting *collecting, const char *room)
{
	struct id id;
	size_t i = 0;

	ck_assert(id_parse(slice_of(room), &id));
	while (i < collecting->count &&
	       (collecting->records[i].table != STORE_RECORD ||
		collecting->records[i].key.data[0] != kind_codes.letter ||
		memcmp(collecting->records[i].key.data + 1 + ID_SIZE, id.bytes, ID_SIZE) != 0))
		i++;
	ck_assert_uint_lt(i, collecting->count);
	return &collecting->records[i];
}

struct slice altered(struct arena *arena, struct slice value, size_t shorter, size_t place,
		     char byte)
{
	char *copy = arena_alloc(arena, value.size);

	memcpy(copy, value.data, value.size);
	copy[place] = byte;
	return (struct slice){ copy, value.size - shorter };
}
