/* Upgrades of what earlier versions have stored (records/upgrade.h): a made-up past of the tables
 * of today, in which members had other names, two were one, a choice had another order, and kinds
 * existed that are gone or became others. What a life left is brought to that past, and from there
 * to now; then everything must be as before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "command/upgrade.h"
#include "database.h"
#include "directory.h"
#include "life.h"
#include "records/form.h"
#include "resources/stored/live_record.h"
#include "store/postgres/store_postgres.h"
#include "suite.h"

/* ---- the made-up past ---- */

static const char *const past_origins[] = { "counted", "chosen", "given" };
static const char *const present_origins[] = { "chosen", "given", "counted" };

/* A kind that is gone, and one that became another. */
static const struct store_kind kind_note = {
	.letter = '9',
	.name = "note",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_pages = true,
	.has_parent = true,
};
static const struct store_kind kind_old_file = { .letter = '8', .name = "old file" };

static const struct member note_members[] = {
	{ "id", AS_KEY },
	{ "room_id", AS_PARENT },
	{ "name", AS_NAME },
	{ "text", AS_TEXT(0, 100) },
};

/* The label of a session was the name of the room and the title, each in a line. */
static bool join_label(const struct upgrade_source *source, struct upgrade_value *value)
{
	const struct slice name = upgrade_text(source, "room_name");
	const struct slice title = upgrade_text(source, "title");

	value->text = slice_of(arena_text(source->arena, "%.*s\n%.*s", (int)name.size, name.data,
					  (int)title.size, title.data));
	return true;
}

static bool first_of_label(const struct upgrade_source *source, struct upgrade_value *value)
{
	struct slice rest;

	value->text = text_split(upgrade_text(source, "label"), '\n', &rest);
	return rest.data != NULL;
}

static bool second_of_label(const struct upgrade_source *source, struct upgrade_value *value)
{
	(void)text_split(upgrade_text(source, "label"), '\n', &value->text);
	return true;
}

/* The text of a template began with a blank. A dump has only its parts. */
static struct slice *whole_of(const struct record_table *table, void *record)
{
	for (size_t i = 0; i < table->member_count; i++) {
		if ((table->members[i].flags & MEMBER_WHOLE) != 0)
			return (struct slice *)((char *)record + table->members[i].offset);
	}
	return NULL;
}

/* Parts may be in the items of lists, too. */
static void move_parts(const struct record_table *table, void *record, const char *from,
		       const char *to)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		struct slice *part = (struct slice *)((char *)record + member->offset);
		const char *items;

		if (member->kind == MEMBER_PART && part->size > 0)
			part->data = to + (part->data - from);
		for (size_t j = 0;
		     member->items != NULL && j < record_items(member, record, &items); j++)
			move_parts(member->items,
				   (char *)(uintptr_t)items + j * member->items->size, from, to);
	}
}

static bool add_blank(const struct upgrade_source *source, const struct record_table *table,
		      void *record)
{
	struct slice *whole = whole_of(table, record);
	const struct slice former = *whole;

	if (former.size == 0)
		return true;
	*whole = slice_of(arena_text(source->arena, " %.*s", (int)former.size, former.data));
	move_parts(table, record, former.data, whole->data + 1);
	return true;
}

static bool remove_blank(const struct upgrade_source *source, const struct record_table *table,
			 void *record)
{
	struct slice *whole = whole_of(table, record);

	(void)source;
	if (whole->size == 0)
		return true;
	*whole = (struct slice){ whole->data + 1, whole->size - 1 };
	return whole->data[0] == '{';
}

/* clang-format off */
#define COUNT_OF_ASSETS "asset_count", AS_NUMBER(8, 0, UNLIMITED), SINCE(3), HOLDS_END, MARKED(MEMBER_DERIVED)
#define WAS_ENDED "was_ended", AS_BOOLEAN, SINCE(3), MARKED(MEMBER_ABSENT)
/* clang-format on */

/* From today to the past. */
static const struct upgrade_row back_session_rows[] = {
	{ UPGRADE_INSTEAD_OF("label"), UPGRADE_WAS("room_name", AS_TEXT(0, STORE_NAME_MAX)) },
	{ UPGRADE_MADE("label", join_label) },
	{ UPGRADE_BEFORE("asset_count"),
	  UPGRADE_WAS("title", AS_TEXT(0, LIVE_NAME_MOST), SINCE(2), MARKED(MEMBER_ABSENT)) },
	{ UPGRADE_INSTEAD_OF("asset_count"), UPGRADE_WAS(COUNT_OF_ASSETS) },
	{ UPGRADE_INSTEAD_OF("was_ended"), UPGRADE_WAS(WAS_ENDED) },
};
static const struct upgrade_row back_ban_rows[] = { { UPGRADE_RENAMED("reason", "why") } };
static const struct upgrade_row back_live_rows[] = { { UPGRADE_RENAMED("name", "roles/title") } };
static const struct upgrade_row back_peer_rows[] = {
	{ UPGRADE_INSTEAD_OF("name_origin"),
	  UPGRADE_WAS("name_origin", AS_CHOICE(2, present_origins), SINCE(3),
		      MARKED(MEMBER_ABSENT)) },
};
static const struct upgrade_row back_code_rows[] = { { UPGRADE_RENAMED("uses", "used") } };
static const struct upgrade_row back_file_rows[] = { { UPGRADE_RENAMED("path", "name") } };

/* And from there to today. */
static const struct upgrade_row session_rows[] = {
	{ UPGRADE_INSTEAD_OF("room_name"),
	  UPGRADE_WAS("label", AS_TEXT(0, STORE_NAME_MAX + LIVE_NAME_MOST)) },
	{ UPGRADE_MADE("room_name", first_of_label) },
	{ UPGRADE_MADE("title", second_of_label) },
	{ UPGRADE_INSTEAD_OF("asset_count"), UPGRADE_WAS("asset_count", AS_NUMBER(8, 0, UNLIMITED),
							 HOLDS_END, MARKED(MEMBER_DERIVED)) },
	{ UPGRADE_INSTEAD_OF("was_ended"),
	  UPGRADE_WAS("was_ended", AS_BOOLEAN, MARKED(MEMBER_ABSENT)) },
};
static const struct upgrade_row ban_rows[] = { { UPGRADE_RENAMED("why", "reason") } };
static const struct upgrade_row live_rows[] = { { UPGRADE_RENAMED("title", "roles/name") } };
static const struct upgrade_row peer_rows[] = {
	{ UPGRADE_INSTEAD_OF("name_origin"),
	  UPGRADE_WAS("name_origin", AS_CHOICE(2, past_origins), SINCE(3), MARKED(MEMBER_ABSENT)) },
};
/* Behind rows that most codes do not have, and that cannot be 0. */
static const struct upgrade_row code_rows[] = { { UPGRADE_RENAMED("used", "uses") } };
static const struct upgrade_row file_rows[] = { { UPGRADE_RENAMED("name", "path") } };

static struct upgrade_kind back_kinds[] = {
	{ .kind = &kind_session, .version = 3, UPGRADE_ROWS(back_session_rows) },
	{ .kind = &kind_ban, UPGRADE_ROWS(back_ban_rows) },
	{ .kind = &kind_code, UPGRADE_ROWS(back_code_rows) },
	{ .kind = &kind_live, .version = 4, UPGRADE_ROWS(back_live_rows) },
	{ .kind = &kind_peer, .version = 5, UPGRADE_ROWS(back_peer_rows) },
	{ .kind = &kind_template, .version = 2, .finish = add_blank },
	/* The rows of today (set_up_past). */
	{ .kind = &kind_gone_file, .becomes = &kind_old_file, UPGRADE_ROWS(back_file_rows) },
};
static struct upgrade_kind kinds[] = {
	{ .kind = &kind_session, .version = 1, UPGRADE_ROWS(session_rows) },
	{ .kind = &kind_ban, UPGRADE_ROWS(ban_rows) },
	{ .kind = &kind_code, UPGRADE_ROWS(code_rows) },
	{ .kind = &kind_live, .version = 4, UPGRADE_ROWS(live_rows) },
	{ .kind = &kind_peer, .version = 5, UPGRADE_ROWS(peer_rows) },
	{ .kind = &kind_template, .version = 2, .finish = remove_blank },
	{ .kind = &kind_note, UPGRADE_MEMBERS(note_members, 3), .line = "note" },
	{ .kind = &kind_old_file, .becomes = &kind_gone_file, UPGRADE_ROWS(file_rows) },
};
static const struct upgrade_step steps[] = {
	{ back_kinds, ROWS(back_kinds) },
	{ kinds, ROWS(kinds) },
};

/* A program of today whose tables were others once. */
static const struct record_upgrades only = { record_tables, KINDS, &steps[1], 1 };
static const struct record_upgrades now = { record_tables, KINDS, steps, 2 };

static struct arena *past_arena;
static const struct record_table *past[KINDS + 1];

static void past_tables(const struct record_table **tables)
{
	memcpy(tables, past, sizeof past);
}

/* A program of the past, which begins with the data of today. */
static const struct record_upgrades then = { past_tables, KINDS + 1, steps, 1 };

#define FORM_OF(name_) \
	static unsigned name_##_number(void) \
	{ \
		return upgrade_number(&name_); \
	} \
	static struct slice name_##_text(struct arena *arena) \
	{ \
		const struct record_table *tables[KINDS + 1]; \
\
		name_.tables(tables); \
		return form_text(arena, tables, name_.table_count); \
	} \
	static enum store_form_match name_##_compare(unsigned number, struct slice kept) \
	{ \
		return upgrade_compare(&name_, number, kept); \
	} \
	static const struct store_form form_##name_ = { name_##_number, name_##_text, \
							name_##_compare };
FORM_OF(then)
FORM_OF(now)

/* Sets the members that files have, with one of another name, and the tables of the past. */
static void set_up_past(void)
{
	static struct member old_file_members[40];
	const struct record_table *today = gone_file_kind.table;
	const struct record_table *tables[KINDS];
	struct upgrade_path *paths;
	size_t n, count = 0;

	if (past_arena != NULL)
		return;
	past_arena = arena_open();
	ck_assert_uint_le(today->member_count, ROWS(old_file_members));
	for (size_t i = 0; i < today->member_count; i++) {
		old_file_members[i] = today->members[i];
		old_file_members[i].is_end = false;
		if (strcmp(today->members[i].name, "path") == 0)
			old_file_members[i].name = "name";
	}
	back_kinds[ROWS(back_kinds) - 1].members = today->members;
	kinds[ROWS(kinds) - 1].members = old_file_members;
	back_kinds[ROWS(back_kinds) - 1].member_count = kinds[ROWS(kinds) - 1].member_count =
		today->member_count;
	back_kinds[ROWS(back_kinds) - 1].keys = kinds[ROWS(kinds) - 1].keys = today->keys;

	record_tables(tables);
	upgrade_paths(&only, past_arena, STORE_FORM_FIRST, &paths, &n);
	for (size_t i = 0; i < KINDS; i++) {
		const struct record_table *table = tables[i];

		for (size_t j = 0; j < n; j++) {
			if (paths[j].last == tables[i] && paths[j].first->kind == tables[i]->kind)
				table = paths[j].first;
		}
		if (table != gone_file_kind.table)
			past[count++] = table;
	}
	for (size_t j = 0; j < n; j++) {
		if (paths[j].first->kind == &kind_note || paths[j].first->kind == &kind_old_file)
			past[count++] = paths[j].first;
	}
	ck_assert_uint_eq(count, ROWS(past));
}

/* ---- what is stored ---- */

struct listing {
	struct arena *arena;
	const char **texts; /* sorted */
	size_t count, capacity;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *hex(struct arena *arena, struct slice bytes)
{
	char *text = arena_zero(arena, 2 * bytes.size + 1);

	text_hex(bytes.data, bytes.size, text);
	return text;
}

static void list_kind(struct listing *listing, struct transaction *transaction,
		      const struct store_kind *kind)
{
	struct store_walk walk = store_walk_all(transaction, kind, &fault);
	struct store_record record;

	while (store_next(&walk, &record)) {
		struct arena *arena = listing->arena;

		listing->texts = arena_room(arena, listing->texts, listing->count + 1,
					    &listing->capacity, sizeof *listing->texts);
		listing->texts[listing->count++] = arena_text(
			arena, "%c %s %s %s %d %lld %s %s", kind->letter,
			hex(arena, id_slice(&record.account)), hex(arena, id_slice(&record.id)),
			hex(arena, id_slice(&record.parent)), record.is_on, (long long)record.ends,
			hex(arena, record.name), hex(arena, record.value));
	}
	ck_assert_msg(fault.kind == FAULT_NONE, "%s", fault.cause);
}

/* Lists all records of a store, which has this form; also those of kinds that only the past has. */
static struct listing list_store(const char *path, const struct store_form *form)
{
	struct listing listing = { .arena = arena_open() };
	struct arena *arena = arena_open();
	const char *directory = arena_text(arena, "%s/store", path);
	const struct store_options files = { .directory = directory,
					     .form = form,
					     .is_read_only = true };
	const struct store_postgres_options database = {
		.url = path, .form = form, .is_read_only = true, .connections = 1
	};
	struct transaction *transaction;
	struct store *store;

	ck_assert_msg(store_postgres_is_url(path) ? store_postgres_open(&database, &store, &fault)
						  : store_gdbm_open(&files, &store, &fault),
		      "%s", fault.cause);
	arena_set_limit(listing.arena, SIZE_MAX);
	ck_assert(store_begin(store, STORE_READ, arena, &transaction, &fault));
	for (size_t i = 0; i < KINDS; i++)
		list_kind(&listing, transaction, all_kinds[i]);
	list_kind(&listing, transaction, &kind_note);
	list_kind(&listing, transaction, &kind_old_file);
	store_abandon(transaction);
	store_close(store);
	qsort(listing.texts, listing.count, sizeof *listing.texts, compare_texts);
	arena_close(arena);
	return listing;
}

static void expect_same(const struct listing *one_list, const struct listing *other_list)
{
	for (size_t i = 0; i < one_list->count && i < other_list->count; i++)
		ck_assert_str_eq(one_list->texts[i], other_list->texts[i]);
	ck_assert_uint_eq(one_list->count, other_list->count);
}

/* ---- the two drivers ---- */

/* Returns a copy of what a life has left, with a record of each kind: a directory, or the URL of a
 * database. */
static char *stored_in_directory(void)
{
	struct life life;
	char *copy;

	live(&one, &life);
	make_all(&life);
	enqueue_events(&one, "a", 2);
	world_stop(&one);
	copy = directory_copy(one.directory);
	world_start(&one);
	return copy;
}

/* Copies the records of a directory into a new database. */
static char *stored_in_database(void)
{
	char *directory = stored_in_directory(), *url = database_store();
	struct arena *reading = arena_open(), *writing = arena_open();
	const struct store_options files = {
		.directory = arena_text(past_arena, "%s/store", directory),
		.form = &record_form,
		.is_read_only = true,
	};
	const struct store_postgres_options database = { .url = url,
							 .form = &record_form,
							 .connections = 1 };
	struct transaction *from, *to;
	struct store *source, *target;
	struct store_record record;
	uint64_t number;

	ck_assert(store_gdbm_open(&files, &source, &fault));
	ck_assert_msg(store_postgres_open(&database, &target, &fault), "%s", fault.cause);
	ck_assert(store_begin(source, STORE_READ, reading, &from, &fault));
	for (size_t i = 0; i < KINDS; i++) {
		struct store_walk walk = store_walk_all(from, all_kinds[i], &fault);

		ck_assert(store_begin(target, STORE_WRITE, writing, &to, &fault));
		while (store_next(&walk, &record)) {
			store_set_account(to, &record.account);
			record.value = arena_copy(writing, record.value);
			ck_assert(store_put(to, all_kinds[i], &record, NULL, &fault));
		}
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		ck_assert_msg(store_commit(to, &number, &fault), "%s: %d %s", all_kinds[i]->name,
			      (int)fault.kind, fault.cause);
		arena_reset(writing);
	}
	store_abandon(from);
	store_close(source);
	store_close(target);
	arena_close(reading);
	arena_close(writing);
	directory_remove(directory);
	return url;
}

static bool has_database;

static void remove_stored(char *path)
{
	if (store_postgres_is_url(path))
		free(path);
	else
		directory_remove(path);
}

static const struct {
	char *(*make)(void);
	bool is_database;
} drivers[] = { { stored_in_directory, false }, { stored_in_database, true } };

/* ---- upgrading ---- */

static struct store_upgrade_watch silent = { .progress = NULL };

static bool upgrade_to(const char *path, const struct record_upgrades *upgrades,
		       const struct store_form *form, struct upgrade_outcome *outcome,
		       struct fault *why)
{
	const struct upgrade_order order = {
		.path = path,
		.upgrades = upgrades,
		.form = form,
		.watch = &silent,
	};

	*why = FAULT_INITIAL;
	return upgrade_data(&order, outcome, why);
}

static void upgrade_whole(const char *path, const struct record_upgrades *upgrades,
			  const struct store_form *form, bool is_done)
{
	struct upgrade_outcome outcome;
	struct fault why;

	ck_assert_msg(upgrade_to(path, upgrades, form, &outcome, &why), "%s", why.cause);
	ck_assert_int_eq(outcome.was_done, is_done);
}

/* Adds notes to the data of the past: 300 in a room, more than a batch has. */
static void add_notes(const char *path)
{
	struct arena *arena = arena_open();
	const struct store_options files = { .directory = arena_text(arena, "%s/store", path),
					     .form = &form_then };
	const struct store_postgres_options database = { .url = path,
							 .form = &form_then,
							 .connections = 1 };
	struct transaction *transaction;
	const struct id account = account_id(&one, "a");
	struct store *store;
	uint64_t number;

	ck_assert_msg(store_postgres_is_url(path) ? store_postgres_open(&database, &store, &fault)
						  : store_gdbm_open(&files, &store, &fault),
		      "%s", fault.cause);
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &account);
	for (uint64_t i = 0; i < 300; i++) {
		const struct store_record note = {
			.id = made_id(5, i + 1),
			.parent = made_id(6, 1),
			.name = slice_of(arena_text(arena, "note %llu", (unsigned long long)i)),
			.value = SLICE("\1\0\0\0\0"),
		};

		ck_assert(store_put(transaction, &kind_note, &note, NULL, &fault));
	}
	ck_assert(store_commit(transaction, &number, &fault) && store_wait(store, number, &fault));
	store_close(store);
	arena_close(arena);
}

/* Returns how many texts have this in them. */
static size_t count_with(const struct listing *listing, const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < listing->count; i++)
		count += strstr(listing->texts[i], text) != NULL;
	return count;
}

/* To the past, from there to now, and again in one. */
START_TEST(what_was_stored_is_brought_to_now)
{
	struct listing before, between, after;
	struct upgrade_outcome outcome;
	struct fault why;
	char *path;

	if (drivers[_i].is_database && !has_database)
		return;
	set_up_past();
	path = drivers[_i].make();
	before = list_store(path, &record_form);
	ck_assert_uint_gt(count_with(&before, "J "), 0);

	upgrade_whole(path, &then, &form_then, true);
	add_notes(path);
	between = list_store(path, &form_then);
	ck_assert_uint_eq(between.count, before.count + 300);
	ck_assert_uint_gt(count_with(&between, "8 "), 0);
	/* The text of a template, behind its size. */
	ck_assert_uint_gt(count_with(&between, "207b22"), 0);
	ck_assert_uint_eq(count_with(&between, "C "), 0);
	/* What they were before is of an earlier version, and of a newer one for today's. */
	ck_assert(!upgrade_to(path, &record_upgrades, &record_form, &outcome, &why));
	ck_assert_ptr_nonnull(strstr(why.cause, "was written by a newer version of Anteroom"));

	upgrade_whole(path, &now, &form_now, true);
	after = list_store(path, &form_now);
	expect_same(&before, &after);
	upgrade_whole(path, &now, &form_now, false);
	ck_assert(!upgrade_to(path, &then, &form_then, &outcome, &why));
	arena_close(between.arena);
	arena_close(after.arena);
	remove_stored(path);

	path = drivers[_i].make();
	arena_close(before.arena);
	before = list_store(path, &record_form);
	upgrade_whole(path, &now, &form_now, true);
	after = list_store(path, &form_now);
	expect_same(&before, &after);
	arena_close(before.arena);
	arena_close(after.arena);
	remove_stored(path);
}
END_TEST

/* ---- refusals ---- */

/* A store that must be upgraded first does not open; one that is in use is not upgraded; what takes
 * too long is not begun. After each of these, nothing has changed. */
START_TEST(an_upgrade_is_refused_in_a_sentence)
{
	struct upgrade_order order = {
		.upgrades = &now,
		.form = &form_now,
		.watch = &silent,
		.most = 1,
	};
	struct store_postgres_options database = { .form = &form_now, .connections = 1 };
	struct store_options files = { .form = &form_now };
	struct upgrade_outcome outcome;
	struct store *store;
	struct fault why = FAULT_INITIAL;
	struct listing before, after;
	char *path;

	if (drivers[_i].is_database && !has_database)
		return;
	set_up_past();
	path = drivers[_i].make();
	before = list_store(path, &record_form);
	order.path = path;
	database.url = path;
	files.directory = arena_text(past_arena, "%s/store", path);
	ck_assert(!(drivers[_i].is_database ? store_postgres_open(&database, &store, &why)
					    : store_gdbm_open(&files, &store, &why)));
	ck_assert_ptr_nonnull(strstr(why.cause, "was written by an earlier version of Anteroom; "
						"convert it with: anteroom store upgrade"));

	why = FAULT_INITIAL;
	ck_assert(!upgrade_data(&order, &outcome, &why));
	ck_assert_ptr_nonnull(strstr(why.cause, "takes longer than a minute; stop the service and "
						"run: anteroom store upgrade"));

	why = FAULT_INITIAL;
	order.most = 0;
	database.form = files.form = &record_form;
	ck_assert_msg(drivers[_i].is_database ? store_postgres_open(&database, &store, &fault)
					      : store_gdbm_open(&files, &store, &fault),
		      "%s", fault.cause);
	ck_assert(!upgrade_data(&order, &outcome, &why));
	ck_assert_msg(strstr(why.cause, drivers[_i].is_database
						? "the database is in use; stop all"
						: "the store is in use by process") != NULL,
		      "%s", why.cause);
	store_close(store);
	after = list_store(path, &record_form);
	expect_same(&before, &after);
	/* Nothing is left of what was given up. */
	if (!drivers[_i].is_database)
		ck_assert_int_ne(access(arena_text(past_arena, "%s/store.upgrade", path), F_OK), 0);
	arena_close(before.arena);
	arena_close(after.arena);
	remove_stored(path);
}
END_TEST

/* A responder that runs while its database is upgraded, because it was too slow to be seen: it
 * cannot commit any more, and says why. */
START_TEST(an_earlier_program_cannot_write_to_an_upgraded_database)
{
	struct store_postgres_options database = { .form = &record_form, .connections = 1 };
	struct fault why = FAULT_INITIAL;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct listing before, after;
	struct store_record record = { .id = made_id(5, 1), .value = SLICE("v") };
	const int64_t until = clock_monotonic() + 30000;
	struct store *earlier;
	uint64_t number;
	char *path;

	if (!has_database)
		return;
	set_up_past();
	path = stored_in_database();
	database.url = path;
	before = list_store(path, &record_form);
	ck_assert(store_postgres_open(&database, &earlier, &fault));
	/* Nothing has been heard of it for long. */
	ck_assert(database_execute(path,
				   "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS"
				   " 'BEGIN NEW.seen := now() - interval ''1 hour''; RETURN NEW;"
				   " END'; CREATE TRIGGER late BEFORE INSERT OR UPDATE ON session"
				   " FOR EACH ROW EXECUTE FUNCTION late();"
				   "UPDATE session SET epoch = epoch"));
	upgrade_whole(path, &now, &form_now, true);
	do {
		why = FAULT_INITIAL;
		arena_reset(arena);
		if (!store_begin(earlier, STORE_WRITE, arena, &transaction, &why))
			continue;
		store_set_account(transaction, &record.id);
		if (!store_put(transaction, &kind_gone_file, &record, NULL, &why))
			store_abandon(transaction);
		else
			ck_assert(!store_commit(transaction, &number, &why));
	} while (strcmp(why.detail, "the database was upgraded by a newer version of Anteroom") !=
			 0 &&
		 clock_monotonic() < until);
	ck_assert_str_eq(why.detail, "the database was upgraded by a newer version of Anteroom");
	store_close(earlier);
	after = list_store(path, &form_now);
	expect_same(&before, &after);
	arena_close(before.arena);
	arena_close(after.arena);
	arena_close(arena);
	free(path);
}
END_TEST

/* ---- killed ---- */

/* How many moments, of which the usual run draws every third; all tests try a hundred. */
#define KILLS 12

static unsigned kills(void)
{
	const char *more = getenv("UPGRADE_KILLS");

	return more == NULL ? KILLS : (unsigned)strtoul(more, NULL, 10);
}

/* Runs the upgrade in a process of its own, and kills it after so many microseconds, unless that is
 * negative. Returns how long it took. */
static int64_t upgrade_in_child(const char *path, int64_t microseconds)
{
	const int64_t began = clock_microseconds();
	const struct timespec pause = {
		.tv_sec = microseconds / 1000000,
		.tv_nsec = microseconds % 1000000 * 1000,
	};
	const pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct upgrade_outcome outcome;
		struct fault why;

		_exit(upgrade_to(path, &now, &form_now, &outcome, &why) ? 0 : 1);
	}
	if (microseconds >= 0) {
		(void)nanosleep(&pause, NULL);
		(void)kill(child, SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (microseconds < 0)
		ck_assert_int_eq(status, 0);
	return clock_microseconds() - began;
}

/* At any moment it is killed, the data are those before or those after, and the next attempt ends
 * what is left. */
START_TEST(an_upgrade_that_is_killed_loses_nothing)
{
	uint64_t seed = (uint64_t)clock_microseconds();
	unsigned before_count = 0, after_count = 0;
	struct listing before, after;
	char *path, *first;
	int64_t whole;

	if (drivers[_i].is_database && !has_database)
		return;
	set_up_past();
	first = drivers[_i].make();
	before = list_store(first, &record_form);
	path = drivers[_i].is_database ? drivers[_i].make() : directory_copy(first);
	whole = upgrade_in_child(path, -1);
	remove_stored(path);
	for (unsigned i = 0; i < kills(); i++) {
		const int64_t moment = (int64_t)chance_below(&seed, (uint64_t)whole);
		struct fault ignored = FAULT_INITIAL;
		unsigned number;
		bool is_unfinished;

		if (!suite_draws(i))
			continue;
		path = drivers[_i].is_database ? drivers[_i].make() : directory_copy(first);
		arena_close(before.arena);
		before = list_store(path, &record_form);
		(void)upgrade_in_child(path, moment);
		/* Each of two attempts may be killed. */
		if (i % 2 == 1)
			(void)upgrade_in_child(path, (int64_t)chance_below(&seed, (uint64_t)whole));
		ck_assert(upgrade_recover(path, &form_now, &is_unfinished, &ignored));
		ck_assert(drivers[_i].is_database
				  ? store_postgres_check_form(path, &form_now, &number, &ignored)
				  : store_gdbm_check_form(arena_text(past_arena, "%s/store", path),
							  &form_now, &number, &ignored));
		if (number == STORE_FORM_FIRST) {
			before_count++;
			after = list_store(path, &record_form);
		} else {
			after_count++;
			after = list_store(path, &form_now);
		}
		expect_same(&before, &after);
		arena_close(after.arena);
		/* A killed connection may count as in use for a while. */
		if (drivers[_i].is_database)
			ck_assert(database_execute(path, "DELETE FROM session"));
		(void)upgrade_in_child(path, -1);
		after = list_store(path, &form_now);
		expect_same(&before, &after);
		arena_close(after.arena);
		remove_stored(path);
	}
	printf("%u upgrades killed: %u undone, %u done\n", before_count + after_count, before_count,
	       after_count);
	arena_close(before.arena);
	remove_stored(first);
}
END_TEST

/* What a process that was killed may leave, with the names of the moment. */
static const struct {
	const char *from[2], *to[2];
	bool is_refused;
} moments[] = {
	/* The names were exchanged, and the earlier store is not called so yet. */
	{ { "store.former" }, { "store.upgrade" }, false },
	/* A file system that cannot exchange names: the earlier store has its new name, and the
	 * upgraded one has not. */
	{ { "store" }, { "store.upgrade" }, false },
	/* No store, for another reason: half of an upgrade is not one. */
	{ { "store", "store.former" }, { "elsewhere", "store.upgrade" }, true },
};

START_TEST(what_a_killed_upgrade_left_is_finished)
{
	struct arena *arena = arena_open();
	struct upgrade_outcome outcome;
	struct listing before, after;
	struct fault why;
	char *path;
	bool is_done;

	set_up_past();
	path = stored_in_directory();
	before = list_store(path, &record_form);
	upgrade_whole(path, &now, &form_now, true);
	for (size_t i = 0; i < 2 && moments[_i].from[i] != NULL; i++)
		ck_assert_int_eq(rename(arena_text(arena, "%s/%s", path, moments[_i].from[i]),
					arena_text(arena, "%s/%s", path, moments[_i].to[i])),
				 0);
	is_done = upgrade_to(path, &now, &form_now, &outcome, &why);
	ck_assert_int_eq(access(arena_text(arena, "%s/store", path), F_OK) == 0,
			 !moments[_i].is_refused);
	ck_assert_int_eq(is_done, !moments[_i].is_refused);
	if (is_done) {
		after = list_store(path, &form_now);
		expect_same(&before, &after);
		arena_close(after.arena);
		ck_assert_int_eq(access(arena_text(arena, "%s/store.former", path), F_OK), 0);
		ck_assert_int_ne(access(arena_text(arena, "%s/store.upgrade", path), F_OK), 0);
	}
	arena_close(before.arena);
	arena_close(arena);
	remove_stored(path);
}
END_TEST

/* ---- dumps ---- */

static json_t *rename_member(json_t *object, const char *from, const char *to)
{
	json_t *value = json_object_get(object, from);

	if (value != NULL) {
		json_object_set(object, to, value);
		json_object_del(object, from);
	}
	return object;
}

/* Makes a line of today one of the past. */
static char *line_of_past(const char *text, unsigned notes)
{
	json_t *line = json_loads(text, 0, NULL), *object;
	const char *kind = json_object_iter_key(json_object_iter(line));
	struct arena *arena = arena_open();
	char *made;

	object = json_object_get(line, kind);
	if (strcmp(kind, "dump") == 0) {
		const struct slice form = form_then.text(arena);

		json_object_set_new(object, "number", json_integer(form_then.number()));
		json_object_set_new(object, "form", json_stringn(form.data, form.size));
		json_object_set_new(object, "program", json_string("0.2.9"));
	} else if (strcmp(kind, "ban") == 0) {
		rename_member(object, "reason", "why");
	} else if (strcmp(kind, "code") == 0) {
		rename_member(object, "uses", "used");
	} else if (strcmp(kind, "peer") == 0) {
		/* The first name is left out of a dump, and it was another one. */
		const char *origin = json_string_value(json_object_get(object, "name_origin"));

		if (origin == NULL)
			json_object_set_new(object, "name_origin", json_string("chosen"));
		else if (strcmp(origin, "counted") == 0)
			json_object_del(object, "name_origin");
	} else if (strcmp(kind, "session") == 0) {
		const char *name = json_string_value(json_object_get(object, "room_name"));
		const char *title = json_string_value(json_object_get(object, "title"));

		json_object_set_new(
			object, "label",
			json_string(arena_text(arena, "%s\n%s", name, title == NULL ? "" : title)));
		json_object_del(object, "room_name");
		json_object_del(object, "title");
	} else if (strcmp(kind, "end") == 0) {
		json_object_set_new(json_object_get(object, "lines"), "note", json_integer(notes));
	}
	made = json_dumps(line, JSON_COMPACT);
	json_decref(line);
	arena_close(arena);
	return made;
}

#define NOTE \
	"{\"note\":{\"id\":\"6925c84100000000000000d1\",\"room_id\":\"6925c84100000000000000d2\"," \
	"\"name\":\"n\",\"text\":\"t\"}}"

/* Each line alone in its transaction, and read twice. */
START_TEST(a_dump_of_the_past_is_loaded)
{
	struct lines today = { .count = 0 }, old = { .is_read_again = true },
		     loaded = { .count = 0 };
	char said[2000];
	struct life life;
	size_t at;

	set_up_past();
	live(&one, &life);
	dump(&one, &today);
	for (size_t i = 0; i < today.count; i++) {
		if (i + 1 == today.count)
			old.lines[old.count++] = strdup(NOTE);
		old.lines[old.count++] = line_of_past(today.lines[i], 1);
	}
	load_upgrades = &now;
	load_form = &form_now;
	load_whole(&other, &old);
	dump(&other, &loaded);
	sort_lines(&today);
	sort_lines(&loaded);
	compare_dumps(&today, &loaded);
	free_lines(&loaded);

	/* The program of today cannot read it. */
	load_upgrades = NULL;
	load_form = NULL;
	world_close(&other);
	open_new(&other);
	ck_assert(!load(&other, &old, &at, said));
	ck_assert_uint_eq(at, 1);
	ck_assert_ptr_nonnull(strstr(said, "was written by a newer version of Anteroom"));

	/* One line more or less is noticed. */
	free(old.lines[old.count - 1]);
	old.lines[old.count - 1] = line_of_past(today.lines[line_with(&today, "{\"end\"")], 2);
	load_upgrades = &now;
	load_form = &form_now;
	ck_assert(!load(&other, &old, &at, said));
	ck_assert_ptr_nonnull(strstr(said, "line counts"));
	load_upgrades = NULL;
	load_form = NULL;
	free_lines(&old);
	free_lines(&today);
}
END_TEST

static void start_database(void)
{
	has_database = database_start() == NULL;
}

static void stop_database(void)
{
	if (has_database)
		database_stop();
}

void add_upgrades(TCase *upgrades)
{
	tcase_add_unchecked_fixture(upgrades, start_database, stop_database);
	tcase_add_loop_test(upgrades, what_was_stored_is_brought_to_now, 0, ROWS(drivers));
	tcase_add_loop_test(upgrades, an_upgrade_is_refused_in_a_sentence, 0, ROWS(drivers));
	tcase_add_test(upgrades, an_earlier_program_cannot_write_to_an_upgraded_database);
	tcase_add_loop_test(upgrades, an_upgrade_that_is_killed_loses_nothing, 0, ROWS(drivers));
	tcase_add_loop_test(upgrades, what_a_killed_upgrade_left_is_finished, 0, ROWS(moments));
	tcase_add_test(upgrades, a_dump_of_the_past_is_loaded);
}
