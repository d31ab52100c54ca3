/* What released versions have stored: tests/data/upgrades has an archive of each, with a data
 * directory, a dump, and what the API answered. Each is brought to now, in a directory, a database
 * and by a load, and must answer as then; a member that was added since is no difference.
 * tests/tools/keep-data makes the archive of this version.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "command/upgrade.h"
#include "database.h"
#include "directory.h"
#include "life.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/manifest.h"
#include "suite.h"

/* ---- the world ---- */

/* Opens a world of the kept data, at the time when they were kept. */
static void open_kept(struct world *world, char *directory, const char *url, int64_t time)
{
	const struct world_options options = {
		.store = url == NULL ? WORLD_GDBM : WORLD_POSTGRES,
		.postgres = { .url = url, .connections = 4 },
		.has_account_file = true,
		.directory = directory,
		.is_empty = true,
		.begins = time,
		.stands = true,
		.environment = { .join_seconds = DAY, .session_keep = (int64_t)DAY * 1000 },
	};

	world_open(world, &options);
}

/* ---- answers ---- */

/* Lists, and what is below each of their items. */
static const struct {
	const char *list, *below[6];
} asked[] = {
	{ "/v2/templates?limit=100",
	  { "/v2/templates/%s", "/v2/templates/%s/settings", "/v2/templates/%s/roles",
	    "/v2/templates/%s/destinations", "/v2/templates/%s/recordings",
	    "/v2/rooms?template_id=%s" } },
	{ "/v2/template-summaries?limit=100", { NULL } },
	{ "/v2/rooms?limit=100",
	  { "/v2/rooms/%s", "/v2/room-codes/room/%s", "/v2/active-rooms/%s",
	    "/v2/active-rooms/%s/peers", "/v2/active-rooms/%s/tickets" } },
	{ "/v2/rooms?enabled=false", { NULL } },
	{ "/v2/sessions?limit=100",
	  { "/v2/sessions/%s", "/v2/sessions/%s/peers", "/v2/sessions/%s/attendance.csv" } },
	{ "/v2/usage", { NULL } },
	{ "/v2/recordings?limit=100", { "/v2/recordings/%s" } },
	{ "/v2/recording-assets?limit=100", { "/v2/recording-assets/%s" } },
	{ "/v2/live-streams?limit=100", { "/v2/live-streams/%s" } },
	{ "/v2/external-streams?limit=100", { "/v2/external-streams/%s" } },
	{ "/v2/bans?limit=100", { "/v2/bans/%s" } },
	{ "/v2/webhooks", { "/v2/webhooks/%s", "/v2/webhooks/%s/deliveries" } },
	{ "/v2/signing-keys", { NULL } },
	{ "/v2/keys", { "/v2/keys/%s" } },
	{ "/v2/backends", { "/v2/backends/%s" } },
	{ "/v2/events?limit=100", { NULL } },
};

/* Adds the answer to this path, unless it is a fault. Returns it; borrowed. */
static const json_t *keep_answer(struct world *world, const char *path, json_t *answers)
{
	char *text = answer_of(world, "a", METHOD_GET, path, NULL);
	json_t *answer = json_loads(text, 0, NULL);

	if (answer == NULL && strncmp(text, "404", 3) != 0)
		answer = json_string(text); /* a table */
	free(text);
	if (answer != NULL)
		ck_assert_int_eq(json_object_set_new(answers, path, answer), 0);
	return answer;
}

static void keep_answers(struct world *world, json_t *answers)
{
	struct arena *arena = arena_open();

	for (size_t i = 0; i < ROWS(asked); i++) {
		const json_t *list = keep_answer(world, asked[i].list, answers), *item;
		size_t at;

		ck_assert_msg(list != NULL, "%s", asked[i].list);
		json_array_foreach(json_object_get(list, "data"), at, item) {
			const char *id = json_string_value(json_object_get(item, "id"));

			for (size_t j = 0; j < ROWS(asked[i].below); j++) {
				const char *below = asked[i].below[j], *place;

				if (below == NULL)
					break;
				place = strstr(below, "%s");
				(void)keep_answer(world,
						  arena_text(arena, "%.*s%s%s",
							     (int)(place - below), below, id,
							     place + 2),
						  answers);
			}
		}
	}
	arena_close(arena);
}

/* Returns the place of the first difference, or NULL if `now` has all that was kept. */
static const char *difference(struct arena *arena, const json_t *kept, const json_t *now,
			      const char *place)
{
	const char *name, *found = NULL;
	const json_t *value;
	size_t i;

	if (json_is_object(kept) && json_is_object(now)) {
		json_object_foreach((json_t *)(uintptr_t)kept, name, value) {
			found = difference(arena, value, json_object_get(now, name),
					   arena_text(arena, "%s/%s", place, name));
			if (found != NULL)
				return found;
		}
		return NULL;
	}
	if (!json_is_array(kept) || !json_is_array(now) ||
	    json_array_size(kept) != json_array_size(now))
		return json_equal(kept, now) ? NULL : place;
	json_array_foreach(kept, i, value) {
		found = difference(arena, value, json_array_get(now, i),
				   arena_text(arena, "%s/%zu", place, i));
		if (found != NULL)
			return found;
	}
	return NULL;
}

static void expect_answers(struct world *world, const json_t *answers)
{
	struct arena *arena = arena_open();
	const char *path;
	const json_t *kept;

	ck_assert_uint_gt(json_object_size(answers), 50);
	json_object_foreach((json_t *)(uintptr_t)answers, path, kept) {
		json_t *now = json_object();
		const char *place;

		(void)keep_answer(world, path, now);
		place = difference(arena, kept, json_object_get(now, path), "");
		ck_assert_msg(place == NULL, "%s: %s\n%s\n%s", path, place, json_dumps(kept, 0),
			      json_dumps(now, 0));
		json_decref(now);
	}
	arena_close(arena);
}

/* ---- keeping ---- */

static void fill_members(struct arena *arena, const struct record_table *table, void *record)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		char *at = (char *)record + member->offset;
		struct slice text = slice_of(arena_text(
			arena, "filled %c", table->kind == NULL ? '-' : table->kind->letter));

		switch (member->kind) {
		case MEMBER_KEY:
		case MEMBER_PARENT:
		case MEMBER_ID:
			*(struct id *)at = made_id(7, i + 1);
			break;
		case MEMBER_JSON:
			text = SLICE("{}");
			/* fall through */
		case MEMBER_NAME:
		case MEMBER_TEXT:
		case MEMBER_BYTES:
			if (member->kind != MEMBER_NAME && text.size > (size_t)member->most)
				text.size = (size_t)member->most;
			while (member->kind != MEMBER_NAME && text.size < (size_t)member->least)
				text = slice_of(
					arena_text(arena, "%.*s.", (int)text.size, text.data));
			*(struct slice *)at = text;
			break;
		case MEMBER_SWITCH:
		case MEMBER_NUMBER:
		case MEMBER_TIME:
		case MEMBER_SECONDS:
		case MEMBER_ETAG:
		case MEMBER_BOOLEAN:
		case MEMBER_CHOICE:
			record_set_number(member, record,
					  member->least > 1 ? (uint64_t)member->least : 1);
			break;
		case MEMBER_FIXED:
			memset(at, 7, member->bytes);
			break;
		case MEMBER_PART:
			ck_abort_msg("a record with parts is in a dump");
			break;
		case MEMBER_LIST:
			at = arena_zero(arena, member->items->size);
			*(char **)((char *)record + member->offset) = at;
			/* fall through */
		case MEMBER_ARRAY:
			*(size_t *)((char *)record + member->count) = 1;
			fill_members(arena, member->items, at);
			break;
		}
		if (member->when != 0 && member->when != NOT_STORED)
			*(unsigned *)((char *)record + table->set) |= member->when;
	}
}

/* Adds a record of each kind that is not in a dump, of an account that does not exist, in which no
 * member is zero. The others have all members in the records of the account. */
static void fill_kinds(struct world *world)
{
	struct arena *arena = arena_open();
	const struct id account = made_id(8, 1);
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(world->environment.store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &account);
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_table *table = record_kinds[i]->table;
		void *record = arena_zero(arena, table->size);
		struct buffer value = BUFFER_INITIAL(arena);
		struct store_record stored;

		if (record_kinds[i]->line != NULL)
			continue;
		fill_members(arena, table, record);
		stored = record_key(table, record);
		record_pack(table, record, &value);
		stored.value = buffer_slice(&value);
		ck_assert_msg(store_put(transaction, table->kind, &stored, NULL, &fault), "%s",
			      table->kind->name);
	}
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(world->environment.store, number, &fault));
	arena_close(arena);
}

/* Every kind has a record, and each can be read. Returns how many there are. */
static size_t read_all(struct world *world, bool needs_all)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open(), *reading = arena_open();
	struct transaction *transaction;
	struct store_record stored;
	size_t count = 0;

	ck_assert(store_begin(store, STORE_READ, reading, &transaction, &fault));
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_table *table = record_kinds[i]->table;
		struct store_walk walk = store_walk_all(transaction, table->kind, &fault);
		const size_t before = count;

		while (store_next(&walk, &stored)) {
			void *record = arena_zero(arena, table->size);

			ck_assert_msg(record_read(table, arena, &stored, record, &fault), "%s: %s",
				      table->kind->name, fault_reason(&fault));
			arena_reset(arena);
			count++;
		}
		ck_assert_msg(count > before || !needs_all, "no %s is kept", table->kind->name);
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	arena_close(reading);
	arena_close(arena);
	return count;
}

static void keep_json(const char *directory, const char *name, json_t *value)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	ck_assert_int_eq(json_dump_file(value, path, JSON_INDENT(1)), 0);
	json_decref(value);
}

/* Into $KEEP_DATA, which tests/tools/keep-data packs: the data directory, as a backup has it; the
 * dump; and what the API answers of both. */
START_TEST(keep)
{
	const char *directory = getenv("KEEP_DATA");
	const struct store_watch watch = { .context = NULL };
	struct lines dumped = { .count = 0 };
	json_t *answers = json_object(), *loaded = json_object();
	struct arena *arena = arena_open();
	const char *data, *store;
	char *left;
	struct world kept;
	struct life life;
	int64_t time;
	FILE *file;

	ck_assert_ptr_nonnull(directory);
	live_everything(&life);
	make_all(&life);
	enqueue_events(&one, "a", 2);
	/* What follows is only in the journal. */
	ck_assert(store_gdbm_settle(one.environment.store, true));
	fill_kinds(&one);
	time = world_now(&one);
	world_stop(&one);
	left = directory_copy(one.directory);
	world_start(&one);
	open_kept(&kept, left, NULL, time);
	ck_assert_uint_gt(read_all(&kept, true), 0);
	keep_answers(&kept, answers);

	/* The dump has the queued events numbered. */
	dump(&kept, &dumped);
	file = fopen(arena_text(arena, "%s/dump", directory), "w");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < dumped.count; i++)
		(void)fprintf(file, "%s\n", dumped.lines[i]);
	ck_assert_int_eq(fclose(file), 0);
	world_close(&other);
	open_kept(&other, NULL, NULL, time);
	load_whole(&other, &dumped);
	keep_answers(&other, loaded);
	free_lines(&dumped);

	data = arena_text(arena, "%s/data", directory);
	store = arena_text(arena, "%s/store", data);
	ck_assert_int_eq(mkdir(data, 0700), 0);
	ck_assert_msg(store_gdbm_backup(kept.path, store, NULL, &watch, &fault), "%s", fault.cause);
	ck_assert_int_eq(system(arena_text(arena, "cp %s/accounts.json %s/", kept.directory, data)),
			 0);
	keep_json(directory, "directory.json", answers);
	keep_json(directory, "dump.json", loaded);
	keep_json(directory, "kept.json", json_pack("{s:I}", "time", (json_int_t)time));
	world_close(&kept);
	arena_close(arena);
}
END_TEST

/* ---- what was kept ---- */

struct sample {
	const char *archive;
	char *directory; /* unpacked */
	int64_t time;
	json_t *answers; /* of the directory, or of the dump */
};

static void unpack(struct sample *sample, const char *answers)
{
	struct arena *arena = arena_open();
	json_t *kept;

	sample->directory = directory_make();
	ck_assert_int_eq(system(arena_text(arena, "tar -xzf '%s' --no-same-owner -C '%s'",
					   sample->archive, sample->directory)),
			 0);
	kept = json_load_file(arena_text(arena, "%s/kept.json", sample->directory), 0, NULL);
	sample->time = json_integer_value(json_object_get(kept, "time"));
	sample->answers = json_load_file(arena_text(arena, "%s/%s", sample->directory, answers), 0,
					 NULL);
	ck_assert_ptr_nonnull(sample->answers);
	json_decref(kept);
	arena_close(arena);
}

static void forget(struct sample *sample)
{
	json_decref(sample->answers);
	directory_remove(sample->directory);
}

static void upgrade(const char *path)
{
	struct store_upgrade_watch watch = { .progress = NULL };
	const struct upgrade_order order = {
		.path = path,
		.upgrades = &record_upgrades,
		.form = &record_form,
		.watch = &watch,
	};
	struct upgrade_outcome outcome;

	ck_assert_msg(upgrade_data(&order, &outcome, &fault), "%s", fault.cause);
}

static void put_kind(struct transaction *from, struct transaction *to,
		     const struct store_kind *kind)
{
	struct store_walk walk = store_walk_all(from, kind, &fault);
	struct store_record record;

	while (store_next(&walk, &record)) {
		store_set_account(to, &record.account);
		ck_assert(store_put(to, kind, &record, NULL, &fault));
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
}

/* Puts the records of a kept directory into a new database, as the program did that kept them. */
static char *into_database(const char *directory)
{
	char *url = database_store();
	struct arena *reading = arena_open(), *writing = arena_open();
	const char *store = arena_text(reading, "%s/store", directory);
	const struct store_options files = {
		.directory = store, .form = &record_form, .is_read_only = true, .is_upgrade = true
	};
	const struct store_postgres_options database = { .url = url, .connections = 1 };
	const struct record_table *tables[KINDS];
	struct upgrade_path *paths;
	struct transaction *from, *to;
	struct store *source, *target;
	struct manifest manifest;
	uint64_t number;
	bool is_there;
	size_t n;

	ck_assert(manifest_read(&file_system_posix, store, record_form.number(), &manifest,
				&is_there, &fault));
	ck_assert_msg(store_gdbm_open(&files, &source, &fault), "%s", fault.cause);
	ck_assert_msg(store_postgres_open(&database, &target, &fault), "%s", fault.cause);
	ck_assert(store_begin(source, STORE_READ, reading, &from, &fault));
	upgrade_paths(&record_upgrades, reading, manifest.form_number, &paths, &n);
	record_tables(tables);
	for (size_t i = 0; i < KINDS + n; i++) {
		const struct store_kind *kind = i < KINDS ? tables[i]->kind
							  : paths[i - KINDS].first->kind;
		bool is_changed = false;

		for (size_t j = 0; i < KINDS && j < n; j++)
			is_changed = is_changed || paths[j].first->kind->letter == kind->letter;
		if (is_changed)
			continue;
		ck_assert(store_begin(target, STORE_WRITE, writing, &to, &fault));
		put_kind(from, to, kind);
		ck_assert(store_commit(to, &number, &fault));
		arena_reset(writing);
	}
	store_abandon(from);
	store_close(source);
	store_close(target);
	ck_assert(database_execute(
		url, arena_text(writing, "UPDATE installation SET version = %u, form = '%.*s'",
				manifest.form_number, (int)manifest.form_size, manifest.form)));
	manifest_free(&manifest);
	arena_close(reading);
	arena_close(writing);
	return url;
}

static bool has_database;
static glob_t archives;

static void find_archives(void)
{
	const char *source = getenv("SOURCE_DIR");
	char pattern[PATH_MAX];

	(void)snprintf(pattern, sizeof pattern, "%s/tests/data/upgrades/*.tar.gz",
		       source == NULL ? "." : source);
	ck_assert_int_eq(glob(pattern, 0, NULL, &archives), 0);
	has_database = database_start() == NULL;
}

static void stop_database(void)
{
	if (has_database)
		database_stop();
	globfree(&archives);
}

START_TEST(a_kept_directory_answers_as_then)
{
	for (size_t i = 0; i < archives.gl_pathc; i++) {
		struct sample sample = { .archive = archives.gl_pathv[i] };
		struct arena *arena = arena_open();
		const char *data;
		struct world world;

		unpack(&sample, "directory.json");
		data = arena_text(arena, "%s/data", sample.directory);
		upgrade(data);
		open_kept(&world, directory_copy(data), NULL, sample.time);
		ck_assert_uint_gt(read_all(&world, false), 100);
		expect_answers(&world, sample.answers);
		world_close(&world);
		arena_close(arena);
		forget(&sample);
	}
}
END_TEST

START_TEST(a_kept_database_answers_as_then)
{
	for (size_t i = 0; has_database && i < archives.gl_pathc; i++) {
		struct sample sample = { .archive = archives.gl_pathv[i] };
		struct arena *arena = arena_open();
		const char *data;
		struct world world;
		char *url;

		unpack(&sample, "directory.json");
		data = arena_text(arena, "%s/data", sample.directory);
		url = into_database(data);
		upgrade(url);
		open_kept(&world, directory_copy(data), url, sample.time);
		ck_assert_uint_gt(read_all(&world, false), 100);
		expect_answers(&world, sample.answers);
		world_close(&world);
		free(url);
		arena_close(arena);
		forget(&sample);
	}
}
END_TEST

START_TEST(a_kept_dump_answers_as_then)
{
	for (size_t i = 0; i < archives.gl_pathc; i++) {
		struct sample sample = { .archive = archives.gl_pathv[i] };
		struct arena *arena = arena_open();
		struct lines lines = { .count = 0 };
		struct world world;
		char *line = NULL;
		size_t size = 0;
		ssize_t got;
		FILE *file;

		unpack(&sample, "dump.json");
		file = fopen(arena_text(arena, "%s/dump", sample.directory), "r");
		ck_assert_ptr_nonnull(file);
		while ((got = getline(&line, &size, file)) > 0) {
			line[got - 1] = '\0';
			ck_assert_uint_lt(lines.count, LINES_MOST);
			lines.lines[lines.count++] = memory_check(strdup(line));
		}
		(void)fclose(file);
		free(line);
		open_kept(&world, NULL, NULL, sample.time);
		load_whole(&world, &lines);
		expect_answers(&world, sample.answers);
		world_close(&world);
		free_lines(&lines);
		arena_close(arena);
		forget(&sample);
	}
}
END_TEST

void add_kept(TCase *made, TCase *kept)
{
	if (made != NULL)
		tcase_add_test(made, keep);
	tcase_add_unchecked_fixture(kept, find_archives, stop_database);
	tcase_add_test(kept, a_kept_directory_answers_as_then);
	tcase_add_test(kept, a_kept_database_answers_as_then);
	tcase_add_test(kept, a_kept_dump_answers_as_then);
}
