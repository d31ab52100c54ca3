/* Verifies the tables at start (defaults obey their rows, are compact JSON, and so on), so that a
 * mistake ends the process before a client meets it. Then computes their plans.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/log.h"
#include "schema/walk.h"

/* A deeper table must contain itself. */
#define DEPTH_MOST 20

struct level {
	const struct level *up;
	const char *name;
	size_t depth;
	struct arena *arena;
};

/* The texts of the plans, which live as long as the process. */
static struct arena *texts;

static void print_names(const struct level *level, struct buffer *names)
{
	if (level->up != NULL) {
		print_names(level->up, names);
		buffer_append_byte(names, '.');
	}
	buffer_append_text(names, level->name);
}

static _Noreturn void refuse_table(const struct level *level, const char *sentence)
{
	struct buffer names = BUFFER_INITIAL(level->arena);

	print_names(level, &names);
	buffer_append_byte(&names, '\0');
	log_event(LOG_LEVEL_ERROR, "bad_table", "row", names.data, "reason", sentence, NULL);
	ABORT("invalid table");
}

static void require(bool condition, const struct level *level, const char *sentence)
{
	if (!condition)
		refuse_table(level, sentence);
}

static void verify_shape(const struct shape *shape, const struct level *up);

static void verify_text(const struct text_rule *rule, const struct level *level)
{
	if (rule == NULL)
		refuse_table(level, "has no text rule");
	require(rule->sentence != NULL, level, "its text rule has no sentence");
	require(rule->shortest <= rule->longest, level, "its text rule accepts nothing");
}

/* Checks the default as if a client had sent it. */
static void verify_standard(const struct field *row, const struct level *level)
{
	const struct field rows[] = { *row };
	const struct shape alone = { .name = "default", FIELDS(rows), .views = row->views };
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	struct buffer text = BUFFER_INITIAL(level->arena);
	json_t *value = json_loads(row->standard, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	require(value != NULL, level, "its default is not JSON");
	buffer_append_json(&text, value);
	require(slice_is(buffer_slice(&text), row->standard), level, "its default is not compact");

	json_t *body = arena_json(level->arena, json_pack("{s:o}", row->name, value));

	plan_make(&alone, level->arena);
	findings_open(&findings, level->arena);
	require(row->kind != KIND_OBJECT || json_object_size(value) == 0, level,
		"the default of an object can only be {}");
	require((row->flags & FIELD_NULLABLE) == 0, level, "has a default, so it cannot be null");
	require(schema_check(&alone, body, SCHEMA_WHOLE, true, &findings, &fault) &&
			findings.fault_count == 0,
		level, "its default breaks its own row");
}

static void verify_row(const struct field *row, const struct level *level)
{
	switch (row->kind) {
	case KIND_BOOLEAN:
	case KIND_TIME:
		break;
	case KIND_INTEGER:
		require(row->minimum <= row->maximum && row->step >= 0, level, "has no range");
		break;
	case KIND_NUMBER:
		require(row->low <= row->high, level, "has no range");
		break;
	case KIND_TEXT:
		verify_text(row->text, level);
		break;
	case KIND_CHOICE:
		require(row->choices != NULL && row->choices[0] != NULL, level, "has no choices");
		break;
	case KIND_OBJECT:
		require(row->shape != NULL, level, "has no shape");
		verify_shape(row->shape, level);
		break;
	case KIND_MAP:
		verify_text(row->text, level);
		require(row->item != NULL, level, "has no row for its items");
		verify_row(row->item, level);
		break;
	case KIND_LIST:
		if (row->item == NULL)
			refuse_table(level, "has no row for its items");
		require((row->flags & FIELD_UNIQUE) == 0 || row->item->kind == KIND_TEXT ||
				row->item->kind == KIND_CHOICE,
			level, "only texts can be unique");
		verify_row(row->item, level);
		break;
	case KIND_KEPT_OBJECT:
	case KIND_KEPT_LIST:
		require(row->most > 0, level, "has no size");
		break;
	case KIND_ANY:
		require((row->flags & (FIELD_READ_ONLY | FIELD_RAW)) != 0, level,
			"must be read-only");
		break;
	}
}

/* Names are written into responses without escaping. */
static const struct text_rule member_name_text = {
	.characters = "a-zA-Z0-9_",
	.longest = SIZE_MAX,
	.counts_bytes = true,
};

static void verify_member(const struct shape *shape, const struct field *row,
			  const struct level *level)
{
	require(schema_text_obeys(&member_name_text, slice_of(row->name)), level,
		"its name must consist of letters, digits and _");
	for (const struct field *other = NULL; (other = shape_next(shape, other)) < row;)
		require(strcmp(other->name, row->name) != 0, level, "appears twice");
	require((row->flags & FIELD_ECHO) == 0 || (row->flags & FIELD_WRITE_ONLY) != 0, level,
		"is echoed but not write-only");
	require((row->flags & FIELD_NULLABLE) == 0 || (row->flags & FIELD_WRITE_ONLY) == 0, level,
		"is never returned, so it cannot be null");
	require((row->flags & FIELD_SOMETIMES) == 0 || (row->flags & FIELD_READ_ONLY) != 0, level,
		"is left out sometimes, but not read-only");
	require((row->flags & FIELD_ZERO_ABSENT) == 0 || row->kind == KIND_TEXT ||
			row->kind == KIND_CHOICE || row->kind == KIND_INTEGER ||
			row->kind == KIND_OBJECT,
		level, "has no zero value that counts as not sent");
	require((row->flags & FIELD_BLANK_ABSENT) == 0 || row->kind == KIND_TEXT, level,
		"is not a text, so it cannot be blank");
	require((row->flags & FIELD_CLEARABLE) == 0 || row->kind == KIND_TIME ||
			row->kind == KIND_TEXT,
		level, "is neither a time nor a text, so it cannot be unset");
	require((row->flags & FIELD_REQUIRED) == 0 ||
			(row->flags & (FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT)) == 0,
		level, "is required, so it cannot count as not sent");
	require((row->flags & FIELD_BARE) == 0 ||
			(row->kind == KIND_LIST && shape->field_count == 1),
		level, "is bare, but not a list, or not the only member");
	verify_row(row, level);
	if (row->standard != NULL)
		verify_standard(row, level);
	if (row->when_member != NULL) {
		const struct field *other = shape_field(shape, row->when_member);
		bool is_choice = false;

		require(other != NULL && other->kind == KIND_CHOICE, level,
			"its default depends on a member that is not a choice");
		for (const char *const *choice = other->choices; *choice != NULL; choice++)
			is_choice = is_choice || strcmp(*choice, row->when_value) == 0;
		require(is_choice, level, "its default depends on an impossible value");
	}
	if (row->free_with != NULL)
		require(shape_field(shape, row->free_with) != NULL && row->kind == KIND_TEXT, level,
			"no parameter can free it");
}

static void verify_shape(const struct shape *shape, const struct level *up)
{
	struct level here = *up;

	if (shape->plan->is_made)
		return;
	require(shape->name != NULL, up, "its shape has no name");
	require(shape->field_count <= ROWS_MOST, up, "has more than 64 members");
	require(up->depth < DEPTH_MOST, up, "is nested too deeply");
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		here = (struct level){ up, row->name, up->depth + 1, up->arena };
		require(here.name != NULL, up, "has a row without a name");
		verify_member(shape, row, &here);
	}
	if (shape->key_member != NULL) {
		const struct field *key = shape_field(shape, shape->key_member);

		require(key != NULL && key->kind == KIND_TEXT, up, "its key is not a text member");
	}
	for (const struct rule *rule = shape->rules; rule != NULL && rule->check != NULL; rule++)
		require(rule->name != NULL && rule->doc != NULL, up, "a rule has no sentence");
	plan_make(shape, texts);
}

void schema_verify(const struct shape *shape)
{
	struct arena *arena = arena_open();
	const struct level top = { .name = shape->name, .arena = arena };

	if (texts == NULL)
		texts = arena_open();
	verify_shape(shape, &top);
	arena_close(arena);
}

bool schema_is_verified(const struct shape *shape)
{
	return shape->plan->is_made;
}
