/* Damage: what `check` finds, and what a dump saves of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "life.h"
#include "resources/stored/code_record.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "store/gdbm/btree.h"
#include "suite.h"

/* Removes each record, or makes it a byte shorter or longer: check notices every change. */
START_TEST(every_damaged_record_is_found)
{
	struct collecting collecting = { .arena = arena_open() };
	struct life life;

	live(&one, &life);
	collect_all(&one, &collecting);
	ck_assert_uint_gt(collecting.count, 25);
	for (size_t i = 0; i < collecting.count; i++) {
		const struct stored *record = &collecting.records[i];
		struct buffer longer = BUFFER_INITIAL(collecting.arena);
		const struct slice values[] = { { NULL, 0 },
						{ record->value.data, record->value.size - 1 },
						{ NULL, 0 } };

		if (!suite_draws(i))
			continue;
		buffer_append(&longer, record->value);
		buffer_append_byte(&longer, 0);
		for (int how = 0; how < 3; how++) {
			struct counting counting;

			/* Nothing refers to the record that names the default template, nor to
			 * custom codes and letters whose code has been removed. */
			if (how == 0 && ((record->table == STORE_RECORD &&
					  record->key.data[0] == kind_default.letter) ||
					 (record->table == STORE_NAMED &&
					  record->key.data[0] == kind_words.letter)))
				continue;
			change(&one, record, how == 2 ? buffer_slice(&longer) : values[how]);
			counting = checked(&one);
			ck_assert_msg(counting.count > 0, "%s, record %zu, change %d",
				      store_table_name(record->table), i, how);
			change(&one, record, record->value);
		}
	}
	sound(&one);
	arena_close(collecting.arena);
}
END_TEST

/* Removes an ID from the index of the account's templates or rooms, or adds it, in both lists
 * (enabled and disabled). */
static void relist(struct world *world, bool is_template, const struct id *id, bool is_added)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	const struct id account = account_id(world, "a");
	struct transaction *transaction;
	struct btree tree = { .name = "m", .name_size = 2 + ID_SIZE };
	uint64_t number;

	tree.name[1] = is_template ? kind_template.letter : kind_room.letter;
	memcpy(tree.name + 2, account.bytes, ID_SIZE);
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	for (int side = 0; side < 2; side++) {
		char bytes[1 + ID_SIZE] = { (char)side };
		struct slice key = { bytes, sizeof bytes };

		memcpy(bytes + 1, id->bytes, ID_SIZE);
		if (is_template)
			key = (struct slice){ bytes + 1, ID_SIZE };
		ck_assert(is_added ? btree_put(transaction, &tree, key, SLICE(""), &fault)
				   : btree_remove(transaction, &tree, key, &fault));
	}
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

/* Indexes that lack a record, have it in both lists (enabled and disabled), or have one that does
 * not exist. */
START_TEST(a_dump_with_inconsistent_lists_fails)
{
	struct life life;

	live(&one, &life);

	const struct id late_template = made_id(5, 400), late_room = made_id(5, 400);
	const struct {
		bool is_template, is_added;
		struct id id;
		const char *says;
	} rows[] = {
		{ true, false, parsed_id(life.one), "the lists contain 1 templates, but 2 exist" },
		{ false, false, parsed_id(life.own), "the lists contain 3 rooms, but 4 exist" },
		{ false, false, parsed_id(life.off), "the lists contain 3 rooms, but 4 exist" },
		{ false, true, parsed_id(life.own), "where it does not belong" },
		{ true, true, late_template, "is missing, although an index refers to it" },
		{ false, true, late_room, "is missing, although an index refers to it" },
	};
	const struct id *const id = &rows[_i].id;
	struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
	struct fault why = FAULT_INITIAL;

	ck_assert_int_eq(ROWS(rows), LISTS);
	relist(&one, rows[_i].is_template, id, rows[_i].is_added);
	ck_assert_uint_gt(checked(&one).count, 0);
	ck_assert(!try_dump(&one, &dumped, &why));
	ck_assert_msg(strstr(why.cause, rows[_i].says) != NULL, "%s", why.cause);
	ck_assert(try_dump(&one, &saved, &why));
	ck_assert_ptr_nonnull(strstr(saved.lines[saved.count - 1], "\"template\":2,"));
	load_whole(&other, &saved);
	sound(&other);
	free_lines(&saved);
	free_lines(&dumped);
}
END_TEST

/* For each record that is missing or unreadable, everything else is saved and can be loaded. */
START_TEST(a_damaged_store_is_saved_as_far_as_possible)
{
	struct collecting collecting = { .arena = arena_open() };
	struct life life;
	size_t told = 0, drawn = 0;

	live(&one, &life);
	enqueue_events(&one, "a", 1);
	collect_all(&one, &collecting);
	for (size_t i = 0; i < collecting.count; i++) {
		if (!suite_draws(i))
			continue;
		drawn++;

		const struct stored *record = &collecting.records[i];
		const struct slice shorter = { record->value.data, record->value.size - 1 };

		for (int is_gone = 0; is_gone < 2; is_gone++) {
			struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
			struct fault why = FAULT_INITIAL;
			bool is_dumped;

			change(&one, record, is_gone ? (struct slice){ NULL, 0 } : shorter);
			is_dumped = try_dump(&one, &dumped, &why);
			ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED ||
					      why.kind == FAULT_NOT_FOUND,
				      "%s record %zu: %s %s", store_table_name(record->table), i,
				      why.message, why.cause);
			ck_assert(try_dump(&one, &saved, &why));
			ck_assert_msg(!is_dumped || saved.lost == 0, "%s", saved.said);
			told += saved.lost > 0;
			world_close(&other);
			open_new(&other);
			load_whole(&other, &saved);
			sound(&other);
			free_lines(&dumped);
			free_lines(&saved);
			change(&one, record, record->value);
		}
	}
	ck_assert_uint_gt(told, drawn / 8);
	arena_close(collecting.arena);
}
END_TEST

/* An object with members, or the first piece of a room; bytes of a secret may look like {}. */
static bool begins_json(const char *text, size_t size)
{
	static const char piece[] = "{\"id\":\"";
	json_t *object = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
	const bool has_members = json_object_size(object) > 0;

	json_decref(object);
	return has_members || (size >= sizeof piece && memcmp(text, piece, sizeof piece - 1) == 0);
}

/* Damages each stored JSON text in a record with an otherwise right checksum; an older program may
 * have written such a text. Requests report damage unless they do not need the text, check names
 * the record, and a dump fails or leaves the record out. The process never aborts. */
START_TEST(an_unreadable_text_never_aborts_the_process)
{
	struct collecting collecting = { .arena = arena_open() };
	char backend[25], webhook[25];
	unsigned damaged = 0, texts = 0, drawn = 0;
	struct life life;

	live(&one, &life);
	last_of("/v2/backends", backend);
	last_of("/v2/webhooks", webhook);
	collect_all(&one, &collecting);
	ck_assert_uint_eq(ask_all(&life, backend, webhook), 0);
	for (size_t i = 0; i < collecting.count; i++) {
		const struct stored *record = &collecting.records[i];

		for (size_t at = 0; at + 1 < record->value.size; at++) {
			const char *const text = record->value.data + at;
			struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
			struct fault why = FAULT_INITIAL;
			struct counting counting;
			bool is_dumped;

			if (!begins_json(text, record->value.size - at))
				continue;
			texts++;
			if (!suite_draws(texts))
				continue;
			drawn++;
			change(&one, record, altered(collecting.arena, record->value, 0, at, '('));
			damaged += ask_all(&life, backend, webhook);
			counting = checked(&one);
			ck_assert_msg(counting.count > 0, "%s %c: %.60s",
				      store_table_name(record->table), record->key.data[0], text);
			is_dumped = try_dump(&one, &dumped, &why);
			ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED, "%s %s", why.message,
				      why.cause);
			ck_assert(try_dump(&one, &saved, &why));
			for (size_t k = 0; k < saved.count; k++) {
				json_t *line = json_loads(saved.lines[k], 0, NULL);

				ck_assert_msg(line != NULL, "%s", saved.lines[k]);
				json_decref(line);
			}
			free_lines(&dumped);
			free_lines(&saved);
			change(&one, record, record->value);
		}
	}
	ck_assert_uint_gt(texts, 50);
	ck_assert_uint_gt(damaged, drawn / 2);
	ck_assert_uint_eq(ask_all(&life, backend, webhook), 0);
	sound(&one);
	arena_close(collecting.arena);
}
END_TEST

void add_damaged(TCase *damaged, TCase *check, TCase *saved, TCase *texts)
{
	tcase_add_test(damaged, every_damaged_record_is_found);
	tcase_add_loop_test(check, a_dump_with_inconsistent_lists_fails, 0, LISTS);
	tcase_add_test(saved, a_damaged_store_is_saved_as_far_as_possible);
	tcase_add_test(texts, an_unreadable_text_never_aborts_the_process);
}
