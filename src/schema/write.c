/* Writes documents as compact JSON in table order. This is a hot path: only members that are
 * present are visited, and the text of the rows between two of them is precomputed (shape_plan).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/walk.h"

static void write_value(const struct field *row, const json_t *value, struct slice key, bool echo,
			struct buffer *buffer);

/* ---- missing members ---- */

static void write_standard(const struct field *row, struct buffer *buffer)
{
	if (row->kind == KIND_OBJECT)
		document_write(row->shape, NULL, (struct slice){ 0 }, false, buffer);
	else
		buffer_append_text(buffer, row->standard);
}

/* Writes the missing rows from `from` up to, but not including, `to`. */
static void write_missing(const struct shape_plan *plan, size_t from, size_t to,
			  struct buffer *buffer)
{
	size_t start = plan->rows[from].before;

	buffer_append(buffer,
		      (struct slice){ plan->missing.data + start, plan->rows[to].before - start });
}

/* Returns the subset of `rows` whose default applies to this object. */
static uint64_t filled(const struct shape *shape, const json_t *object, uint64_t rows)
{
	uint64_t result = 0;

	while (rows != 0) {
		size_t i = next_row(&rows);
		const struct field *row = &shape->fields[i];
		const char *value = json_string_value(json_object_get(object, row->when_member));

		if (value != NULL && strcmp(value, row->when_value) == 0)
			result |= row_bit(i);
	}
	return result;
}

/* ---- objects ---- */

void document_write(const struct shape *shape, const json_t *document, struct slice key, bool echo,
		    struct buffer *buffer)
{
	const struct shape_plan *plan = plan_of(shape);
	const json_t *values[ROWS_MOST];
	uint64_t there = values_by_row(shape, document, values);
	uint64_t standards = filled(shape, document, plan->conditional & ~there);
	uint64_t keys = key.data != NULL && plan->key < shape->field_count ? row_bit(plan->key) : 0;
	uint64_t silent = echo ? plan->write_only & ~plan->echoed : plan->write_only;
	uint64_t rows = (there | standards | keys) & ~silent;
	size_t start = buffer->size, next = 0;

	while (rows != 0) {
		size_t i = next_row(&rows);

		write_missing(plan, next, i, buffer);
		next = plan->rows[i].next;
		buffer_append(buffer, plan->rows[i].label);
		if ((keys >> i & 1) != 0)
			buffer_append_string(buffer, key);
		else if ((standards >> i & 1) != 0)
			write_standard(&shape->fields[i], buffer);
		else
			write_value(&shape->fields[i], values[i], (struct slice){ 0 }, echo,
				    buffer);
	}
	write_missing(plan, next, shape->field_count, buffer);
	/* Each member begins with a comma; the first comma becomes the brace. */
	if (buffer->size == start)
		buffer_append_byte(buffer, '{');
	else
		buffer->data[start] = '{';
	buffer_append_byte(buffer, '}');
}

/* Not inlined, so that write_value stays short for all other values. */
static __attribute__((noinline)) void write_map(const struct field *row, const json_t *map,
						bool echo, struct buffer *buffer)
{
	char before = '{';

	if (json_object_size(map) == 0)
		buffer_append_byte(buffer, '{');
	for (void *i = first_member(map); i != NULL; i = next_member(map, i)) {
		struct slice key = member_key(i);

		buffer_append_byte(buffer, before);
		buffer_append_string(buffer, key);
		buffer_append_byte(buffer, ':');
		write_value(row->item, json_object_iter_value(i), key, echo, buffer);
		before = ',';
	}
	buffer_append_byte(buffer, '}');
}

static __attribute__((noinline)) void write_list(const struct field *row, const json_t *list,
						 bool echo, struct buffer *buffer)
{
	buffer_append_byte(buffer, '[');
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (i > 0)
			buffer_append_byte(buffer, ',');
		write_value(row->item, json_array_get(list, i), (struct slice){ 0 }, echo, buffer);
	}
	buffer_append_byte(buffer, ']');
}

static void write_value(const struct field *row, const json_t *value, struct slice key, bool echo,
			struct buffer *buffer)
{
	switch (row->kind) {
	case KIND_BOOLEAN:
	case KIND_INTEGER:
	case KIND_NUMBER:
	case KIND_TEXT:
	case KIND_TIME:
	case KIND_CHOICE:
	case KIND_KEPT_OBJECT:
	case KIND_KEPT_LIST:
	case KIND_ANY:
		buffer_append_json(buffer, value);
		return;
	case KIND_OBJECT:
		document_write(row->shape, value, key, echo, buffer);
		return;
	case KIND_MAP:
		write_map(row, value, echo, buffer);
		return;
	case KIND_LIST:
		write_list(row, value, echo, buffer);
		return;
	}
}

struct slice document_as_text(struct arena *arena, const struct shape *shape,
			      const json_t *document, bool echo)
{
	struct buffer text = BUFFER_INITIAL(arena);

	document_write(shape, document, (struct slice){ 0 }, echo, &text);
	return buffer_slice(&text);
}

bool document_write_member(const struct field *field, const json_t *value, struct buffer *buffer)
{
	if ((field->flags & FIELD_WRITE_ONLY) != 0)
		return false;
	if (value != NULL && !json_is_null(value))
		write_value(field, value, (struct slice){ 0 }, false, buffer);
	else if ((field->flags & FIELD_NULLABLE) != 0)
		buffer_append(buffer, SLICE("null"));
	else if (field->standard != NULL && field->when_member == NULL &&
		 (field->flags & FIELD_HIDDEN_DEFAULT) == 0)
		write_standard(field, buffer);
	else
		return false;
	return true;
}
