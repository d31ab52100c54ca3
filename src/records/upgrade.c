/* See records/upgrade.h. The recursion is as deep as the tables are nested.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/upgrade.h"

#include <assert.h>

#include "records/form.h"

/* ---- the tables of an earlier form ---- */

static const struct upgrade_row *row_of(const struct upgrade_kind *change, const char *path,
					bool is_before, size_t from)
{
	for (size_t i = from; i < change->row_count; i++) {
		if (change->rows[i].is_before == is_before &&
		    strcmp(change->rows[i].later, path) == 0)
			return &change->rows[i];
	}
	return NULL;
}

/* Returns the row in this place that a difference is about; there may be one that names what was in
 * its place, and one that says how it is made. */
static const struct upgrade_row *row_in_place(const struct upgrade_kind *change, const char *path,
					      bool wants_earlier)
{
	const struct upgrade_row *row = row_of(change, path, false, 0);

	while (row != NULL &&
	       (wants_earlier ? row->earlier == NULL && row->renamed == NULL : row->make == NULL))
		row = row_of(change, path, false, (size_t)(row - change->rows) + 1);
	return row;
}

static size_t width_of(const struct member *member)
{
	switch (member->kind) {
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_ID:
		return sizeof(struct id);
	case MEMBER_SWITCH:
	case MEMBER_BOOLEAN:
		return sizeof(bool);
	case MEMBER_NAME:
	case MEMBER_TEXT:
	case MEMBER_BYTES:
	case MEMBER_JSON:
	case MEMBER_PART:
		return sizeof(struct slice);
	case MEMBER_NUMBER:
		return member->plain != 0 ? member->plain : sizeof(uint64_t);
	case MEMBER_TIME:
	case MEMBER_SECONDS:
	case MEMBER_ETAG:
	case MEMBER_CHOICE:
		return sizeof(uint64_t);
	case MEMBER_FIXED:
		return member->bytes;
	case MEMBER_LIST:
		return sizeof(void *);
	case MEMBER_ARRAY:
		return (size_t)member->most * member->items->size;
	}
	return 0;
}

static size_t place_in(size_t *size, size_t width)
{
	const size_t align = sizeof(uint64_t), at = *size;

	*size = (at + width + align - 1) / align * align;
	return at;
}

/* Gives the members places in a struct that no C source knows. `set` is the index of the member
 * whose bits say which others are stored; none is the number of members. */
static void lay_out(struct record_table *table, struct member *members, size_t set)
{
	size_t size = 0;

	table->stored = place_in(&size, sizeof(struct store_record));
	for (size_t i = 0; i < table->member_count; i++) {
		struct member *member = &members[i];

		member->width = width_of(member);
		member->offset = place_in(&size, member->width);
		if (member->kind == MEMBER_LIST || member->kind == MEMBER_ARRAY)
			member->count = place_in(&size, sizeof(size_t));
	}
	/* Readers look at `set` even if no row depends on it. */
	table->set = set < table->member_count ? members[set].offset
					       : place_in(&size, sizeof(uint64_t));
	table->size = size;
	table->members = members;
}

/* Makes the earlier table from the later one. */
static const struct record_table *table_before(struct arena *arena,
					       const struct upgrade_kind *change,
					       const struct record_table *later, const char *prefix)
{
	const unsigned version = change->version != 0 ? change->version : RECORD_VERSION;
	struct record_table *table = arena_zero(arena, sizeof *table);
	struct member *members =
		arena_zero(arena, (later->member_count + change->row_count + 1) * sizeof *members);
	size_t set = SIZE_MAX;

	*table = *later;
	table->version = change->version;
	table->member_count = 0;
	table->keys = 0;
	for (size_t i = 0; i <= later->member_count; i++) {
		const bool is_end = i == later->member_count;
		const struct member *member = &later->members[i];
		const char *path = arena_text(arena, "%s%s", prefix, is_end ? "" : member->name);
		const struct upgrade_row *row = row_of(change, path, true, 0);
		struct member *to;

		for (; row != NULL;
		     row = row_of(change, path, true, (size_t)(row - change->rows) + 1)) {
			members[table->member_count] = *row->earlier;
			table->keys += row->earlier->kind <= MEMBER_NAME;
			table->member_count++;
		}
		if (is_end)
			break;
		row = row_in_place(change, path, true);
		if (row == NULL && member->since > version)
			continue;
		to = &members[table->member_count];
		*to = row != NULL && row->earlier != NULL ? *row->earlier : *member;
		if (row != NULL && row->renamed != NULL)
			to->name = row->renamed;
		if (to->items != NULL)
			to->items = table_before(arena, change, to->items,
						 arena_text(arena, "%s/", path));
		if (later->kind != NULL && member->offset == later->set)
			set = table->member_count;
		table->keys += to->kind <= MEMBER_NAME;
		table->member_count++;
	}
	lay_out(table, members, set);
	return table;
}

/* Makes the table of a kind that is gone or became another one. */
static const struct record_table *table_gone(struct arena *arena, const struct upgrade_kind *change)
{
	struct record_table *table = arena_zero(arena, sizeof *table);
	struct member *members = arena_zero(arena, (change->member_count + 1) * sizeof *members);
	size_t set = SIZE_MAX;

	*table = (struct record_table){
		.kind = change->kind,
		.member_count = change->member_count,
		.keys = change->keys,
		.version = change->version,
	};
	memcpy(members, change->members, change->member_count * sizeof *members);
	for (size_t i = 0; i < change->member_count; i++) {
		if (members[i].items != NULL) {
			struct record_table *items = arena_zero(arena, sizeof *items);
			struct member *rows = arena_zero(
				arena, (members[i].items->member_count + 1) * sizeof *rows);

			*items = *members[i].items;
			memcpy(rows, items->members, items->member_count * sizeof *rows);
			lay_out(items, rows, SIZE_MAX);
			members[i].items = items;
		}
		/* The bits are in the last number in front of the first row that has one. */
		if (members[i].kind == MEMBER_NUMBER && members[i].bytes == 4 &&
		    members[i].when == 0)
			set = i;
	}
	lay_out(table, members, set);
	return table;
}

/* The tables of a form, each with the path from it. */
struct earlier_form {
	struct upgrade_path *paths;
	size_t count;
};

static struct upgrade_path *path_of(struct earlier_form *form, const struct store_kind *kind)
{
	for (size_t i = 0; i < form->count; i++) {
		if (form->paths[i].first->kind->letter == kind->letter)
			return &form->paths[i];
	}
	return NULL;
}

static void prepend_stage(struct upgrade_path *path, struct upgrade_stage stage)
{
	memmove(path->stages + 1, path->stages, path->stage_count * sizeof *path->stages);
	path->stages[0] = stage;
	path->stage_count++;
	path->first = stage.from;
}

/* Goes back by one step: the later table of each kind that it changes becomes the earlier one. */
static void step_back(const struct upgrade_step *step, size_t most_stages, struct arena *arena,
		      struct earlier_form *form)
{
	const size_t later_count = form->count;

	for (size_t i = 0; i < step->count; i++) {
		const struct upgrade_kind *change = &step->kinds[i];
		struct upgrade_path *path = NULL;

		if (change->members == NULL) {
			path = path_of(form, change->kind);
			assert(path != NULL);
			prepend_stage(path, (struct upgrade_stage){
						    change,
						    table_before(arena, change, path->first, ""),
						    path->first,
					    });
			continue;
		}
		/* A kind that is not in the later form. */
		path = &form->paths[form->count++];
		*path = (struct upgrade_path){
			.first = table_gone(arena, change),
			.line = change->line,
			.stages = arena_zero(arena, most_stages * sizeof *path->stages),
		};
		if (change->becomes == NULL)
			continue;
		for (size_t j = 0; j < later_count; j++) {
			const struct upgrade_path *of = &form->paths[j];

			if (of->first->kind->letter != change->becomes->letter)
				continue;
			path->last = of->last;
			memcpy(path->stages, of->stages, of->stage_count * sizeof *path->stages);
			path->stage_count = of->stage_count;
			prepend_stage(path,
				      (struct upgrade_stage){ change, path->first, of->first });
		}
		assert(path->last != NULL);
	}
}

static struct earlier_form form_of(const struct record_upgrades *upgrades, struct arena *arena,
				   unsigned number)
{
	const size_t back = upgrade_number(upgrades) - number;
	const struct record_table **tables =
		arena_zero(arena, (upgrades->table_count + 1) * sizeof *tables);
	struct earlier_form form = { .count = upgrades->table_count };
	size_t most = form.count;

	assert(number >= STORE_FORM_FIRST && back <= upgrades->step_count);
	for (size_t i = 0; i < back; i++)
		most += upgrades->steps[upgrades->step_count - 1 - i].count;
	form.paths = arena_zero(arena, (most + 1) * sizeof *form.paths);
	upgrades->tables(tables);
	for (size_t i = 0; i < form.count; i++)
		form.paths[i] = (struct upgrade_path){
			.first = tables[i],
			.last = tables[i],
			.stages = arena_zero(arena, (back + 1) * sizeof *form.paths[i].stages),
		};
	for (size_t i = 0; i < back; i++)
		step_back(&upgrades->steps[upgrades->step_count - 1 - i], back + 1, arena, &form);
	return form;
}

unsigned upgrade_number(const struct record_upgrades *upgrades)
{
	return STORE_FORM_FIRST + (unsigned)upgrades->step_count;
}

enum store_form_match upgrade_compare(const struct record_upgrades *upgrades, unsigned number,
				      struct slice kept)
{
	struct arena *arena = arena_open();
	const struct earlier_form form = form_of(upgrades, arena, number);
	const struct record_table **tables = arena_zero(arena, (form.count + 1) * sizeof *tables);
	enum store_form_match match;

	for (size_t i = 0; i < form.count; i++)
		tables[i] = form.paths[i].first;
	match = form_compare(tables, form.count, kept);
	arena_close(arena);
	return match;
}

void upgrade_paths(const struct record_upgrades *upgrades, struct arena *arena, unsigned number,
		   struct upgrade_path **paths, size_t *count)
{
	const struct earlier_form form = form_of(upgrades, arena, number);

	*paths = form.paths;
	*count = 0;
	for (size_t i = 0; i < form.count; i++) {
		if (form.paths[i].stage_count > 0 || form.paths[i].last == NULL)
			form.paths[(*count)++] = form.paths[i];
	}
}

/* ---- a record ---- */

struct slice upgrade_text(const struct upgrade_source *source, const char *row)
{
	const struct member *member = record_member(source->table, row);

	assert(member != NULL && (member->kind == MEMBER_NAME ||
				  (member->kind >= MEMBER_TEXT && member->kind <= MEMBER_PART)));
	return *(const struct slice *)((const char *)source->record + member->offset);
}

static bool is_number(const struct member *member)
{
	return member->kind == MEMBER_SWITCH ||
	       (member->kind >= MEMBER_NUMBER && member->kind <= MEMBER_CHOICE);
}

uint64_t upgrade_integer(const struct upgrade_source *source, const char *row)
{
	const struct member *member = record_member(source->table, row);

	assert(member != NULL && is_number(member));
	return record_number(member, source->record);
}

static bool is_id(const struct member *member)
{
	return member->kind == MEMBER_KEY || member->kind == MEMBER_PARENT ||
	       member->kind == MEMBER_ID;
}

struct id upgrade_id(const struct upgrade_source *source, const char *row)
{
	const struct member *member = record_member(source->table, row);

	assert(member != NULL && is_id(member));
	return *record_id(member, source->record);
}

/* Sets a number, unless the row cannot have it. */
static bool set_number(const struct member *member, void *record, uint64_t number)
{
	const bool is_switch = member->kind == MEMBER_SWITCH;
	const uint64_t least = is_switch ? 0 : (uint64_t)member->least;
	const uint64_t most = is_switch ? 1 : (uint64_t)member->most;

	if (number - least > most - least)
		return false;
	record_set_number(member, record, number);
	return true;
}

static bool set_value(const struct member *member, const struct upgrade_value *value, void *record)
{
	void *at = (char *)record + member->offset;

	if (is_number(member))
		return set_number(member, record, value->number);
	if (is_id(member)) {
		*(struct id *)at = value->id;
		return true;
	}
	if (member->kind == MEMBER_FIXED) {
		if (value->text.size == member->bytes)
			memcpy(at, value->text.data, member->bytes);
		return value->text.size == member->bytes;
	}
	assert(member->kind != MEMBER_LIST && member->kind != MEMBER_ARRAY);
	*(struct slice *)at = value->text;
	return true;
}

static bool convert_rows(const struct upgrade_stage *stage, struct arena *arena,
			 const struct record_table *from, const void *earlier,
			 const struct record_table *to, void *record, const char *prefix);

static bool convert_items(const struct upgrade_stage *stage, struct arena *arena,
			  const struct member *was, const void *earlier,
			  const struct member *member, void *record, const char *path)
{
	const char *items;
	const size_t count = record_items(was, earlier, &items);
	char *to = (char *)record + member->offset;

	if (count > (uint64_t)member->most)
		return false;
	if (member->kind == MEMBER_LIST) {
		to = arena_zero(arena, (count + 1) * member->items->size);
		*(char **)((char *)record + member->offset) = to;
	}
	for (size_t i = 0; i < count; i++) {
		if (!convert_rows(stage, arena, was->items, items + i * was->items->size,
				  member->items, to + i * member->items->size,
				  arena_text(arena, "%s/", path)))
			return false;
	}
	*(size_t *)((char *)record + member->count) = count;
	return true;
}

/* Copies what the rows have in common. */
static bool copy_row(const struct upgrade_stage *stage, struct arena *arena,
		     const struct member *was, const void *earlier, const struct member *member,
		     void *record, const char *path)
{
	const void *at = (const char *)earlier + was->offset;
	struct upgrade_value value = { .number = 0 };

	if (was->items != NULL && member->items != NULL)
		return convert_items(stage, arena, was, earlier, member, record, path);
	if (is_number(was) && is_number(member)) {
		value.number = record_number(was, earlier);
		/* A row that was not stored (WHEN, SINCE), or was not in the dump. */
		if (value.number == 0 && was->kind != MEMBER_SWITCH && was->least > 0)
			return true;
		if (was->kind == MEMBER_CHOICE && member->kind == MEMBER_CHOICE) {
			const char *name = was->names[value.number];

			value.number = 0;
			while (value.number <= (uint64_t)member->most &&
			       strcmp(member->names[value.number], name) != 0)
				value.number++;
		}
	} else if (is_id(was) && is_id(member)) {
		value.id = *(const struct id *)at;
	} else if (was->kind == MEMBER_FIXED) {
		value.text = (struct slice){ at, was->bytes };
	} else {
		assert(was->items == NULL && !is_number(was) && !is_id(was));
		value.text = *(const struct slice *)at;
	}
	return set_value(member, &value, record);
}

static bool convert_rows(const struct upgrade_stage *stage, struct arena *arena,
			 const struct record_table *from, const void *earlier,
			 const struct record_table *to, void *record, const char *prefix)
{
	const struct upgrade_source source = { from, earlier, arena };

	for (size_t i = 0; i < to->member_count; i++) {
		const struct member *member = &to->members[i], *was;
		const char *path = arena_text(arena, "%s%s", prefix, member->name);
		const struct upgrade_row *row = row_in_place(stage->change, path, false);
		struct upgrade_value value = { .number = 0 };

		if (row != NULL) {
			if (!row->make(&source, &value) || !set_value(member, &value, record))
				return false;
			continue;
		}
		row = row_in_place(stage->change, path, true);
		was = record_member(from, row == NULL		 ? member->name
					  : row->renamed != NULL ? row->renamed
								 : row->earlier->name);
		if (was != NULL) {
			if (!copy_row(stage, arena, was, earlier, member, record, path))
				return false;
		} else if (member->kind == MEMBER_LIST) {
			/* As in a record that is read: room for one item. */
			*(char **)((char *)record + member->offset) =
				arena_zero(arena, member->items->size);
		}
	}
	return true;
}

bool upgrade_record(const struct upgrade_path *path, struct arena *arena, const void *earlier,
		    void *record, struct fault *fault)
{
	const void *from = earlier;

	assert(path->last != NULL);
	for (size_t i = 0; i < path->stage_count; i++) {
		const struct upgrade_stage *stage = &path->stages[i];
		void *to = i + 1 == path->stage_count ? record : arena_zero(arena, stage->to->size);

		const struct upgrade_source source = { stage->from, from, arena };

		if (!convert_rows(stage, arena, stage->from, from, stage->to, to, "") ||
		    (stage->change->finish != NULL &&
		     !stage->change->finish(&source, stage->to, to))) {
			const struct store_record *stored =
				(const void *)((const char *)earlier + path->first->stored);

			return record_damaged(path->first->kind->name, &stored->id, fault);
		}
		from = to;
	}
	return true;
}

/* ---- verifying ---- */

static bool has_row(const struct record_table *table, const char *path)
{
	const size_t size = strcspn(path, "/");

	if (*path == '\0')
		return true;
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if (strncmp(member->name, path, size) == 0 && member->name[size] == '\0')
			return path[size] == '\0' ||
			       (member->items != NULL && has_row(member->items, path + size + 1));
	}
	return false;
}

static void verify_stage(const struct upgrade_stage *stage)
{
	const struct upgrade_kind *change = stage->change;

	/* Otherwise a program that still runs would read later records as if they were its own. */
	assert(stage->from->kind != stage->to->kind || stage->from->is_bare ||
	       record_version(stage->from) < record_version(stage->to));
	for (size_t i = 0; i < change->row_count; i++) {
		const struct upgrade_row *row = &change->rows[i];

		assert(has_row(stage->to, row->later));
		assert(!row->is_before || row->earlier != NULL);
		assert((row->renamed != NULL) + (row->earlier != NULL) + (row->make != NULL) > 0);
	}
}

void upgrade_verify(const struct record_upgrades *upgrades)
{
	struct arena *arena = arena_open();
	const struct earlier_form form = form_of(upgrades, arena, STORE_FORM_FIRST);

	for (size_t i = 0; i < form.count; i++) {
		for (size_t j = 0; j < form.paths[i].stage_count; j++)
			verify_stage(&form.paths[i].stages[j]);
	}
	arena_close(arena);
}
