/* The plans of shapes, which are computed at start, and the search for the rows of an object's
 * members with them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/walk.h"

size_t row_named(const struct shape *shape, struct slice name)
{
	const struct row_plan *rows = plan_of(shape)->rows;
	size_t i = 0;

	while (i < shape->field_count && !row_is(&rows[i], name))
		i++;
	return i;
}

bool shape_is_bare(const struct shape *shape)
{
	return (shape->fields[0].flags & FIELD_BARE) != 0;
}

const struct field *shape_field(const struct shape *shape, const char *name)
{
	const struct field *row = NULL;

	while ((row = shape_next(shape, row)) != NULL && strcmp(row->name, name) != 0)
		continue;
	return row;
}

uint64_t values_by_row(const struct shape *shape, const json_t *object,
		       const json_t *values[ROWS_MOST])
{
	uint64_t there = 0;
	size_t next = 0;

	for (void *i = first_member(object); i != NULL; i = next_member(object, i)) {
		size_t row = row_of_member(shape, member_key(i), next);
		const json_t *value = json_object_iter_value(i);

		if (row == shape->field_count || json_is_null(value))
			continue;
		values[row] = value;
		there |= row_bit(row);
		next = plan_of(shape)->rows[row].next;
	}
	return there;
}

/* ---- at start ---- */

static bool hides(const struct field *row)
{
	if ((row->flags & FIELD_WRITE_ONLY) != 0)
		return true;
	if (row->kind == KIND_OBJECT)
		return plan_of(row->shape)->hiding != 0;
	return row->kind == KIND_MAP && hides(row->item);
}

static uint64_t bit_if(bool condition, size_t row)
{
	return condition ? row_bit(row) : 0;
}

void plan_make(const struct shape *shape, struct arena *arena)
{
	const unsigned unfilled = FIELD_HIDDEN_DEFAULT | FIELD_WRITE_ONLY;
	struct shape_plan *plan = shape->plan;
	struct buffer missing = BUFFER_INITIAL(arena);

	plan->key = shape->field_count;
	/* A row of another view keeps an empty label, which is that of no member. */
	for (const struct field *row = NULL, *next; (row = shape_next(shape, row)) != NULL;) {
		const size_t i = (size_t)(row - shape->fields);
		struct row_plan *row_plan = &plan->rows[i];
		const bool is_conditional = row->when_member != NULL &&
					    (row->flags & unfilled) == 0;

		row_plan->label = slice_of(arena_text(arena, ",\"%s\":", row->name));
		next = shape_next(shape, row);
		row_plan->next = next == NULL ? shape->field_count : (size_t)(next - shape->fields);
		plan->all |= row_bit(i);
		plan->required |= bit_if((row->flags & FIELD_REQUIRED) != 0, i);
		plan->write_only |= bit_if((row->flags & FIELD_WRITE_ONLY) != 0, i);
		plan->echoed |= bit_if((row->flags & FIELD_ECHO) != 0, i);
		plan->hiding |= bit_if(hides(row), i);
		plan->conditional |= bit_if(is_conditional, i);
		if (shape->key_member != NULL && strcmp(row->name, shape->key_member) == 0)
			plan->key = i;
		row_plan->before = missing.size;
		buffer_append(&missing, row_plan->label);
		if (!document_write_member(row, NULL, &missing))
			missing.size = row_plan->before;
	}
	plan->rows[shape->field_count].before = missing.size;
	plan->missing = buffer_slice(&missing);
	plan->is_made = true;
}
