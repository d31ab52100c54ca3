/* A document as compact JSON, in the order of its table. This is the hot path of every write, so a
 * default is copied as the text it is, and nothing is built in between.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "schema/walk.h"

static void write_value(const struct field *row, const json_t *value, struct slice key, bool echo,
			struct buffer *buffer);

static bool is_answered(const struct field *row, bool echo)
{
	if ((row->flags & FIELD_WRITE_ONLY) == 0)
		return true;
	return echo && (row->flags & FIELD_ECHO) != 0;
}

/* Whether the default of a row counts in this object (NULL: an empty one). */
static bool is_filled(const struct field *row, const json_t *object)
{
	if (row->standard == NULL || (row->flags & (FIELD_HIDDEN_DEFAULT | FIELD_WRITE_ONLY)) != 0)
		return false;
	if (row->when_member == NULL)
		return true;

	const char *value = json_string_value(json_object_get(object, row->when_member));

	return value != NULL && strcmp(value, row->when_value) == 0;
}

static void write_standard(const struct field *row, struct buffer *buffer)
{
	if (row->kind == KIND_OBJECT)
		document_write(row->shape, NULL, (struct slice){ 0 }, false, buffer);
	else
		buffer_append_text(buffer, row->standard);
}

static void write_name(const char *name, struct buffer *buffer)
{
	size_t size = strlen(name);
	char *place = buffer_reserve(buffer, size + 4);

	if (place[-1] != '{')
		*place++ = ',';
	*place++ = '"';
	memcpy(place, name, size);
	place += size;
	*place++ = '"';
	*place++ = ':';
	buffer->size = (size_t)(place - buffer->data);
}

static void write_member(const struct shape *shape, const struct field *row, const json_t *object,
			 const json_t *value, struct slice key, bool echo, struct buffer *buffer)
{
	if (!is_answered(row, echo))
		return;
	if (key.data != NULL && shape->key_member != NULL &&
	    strcmp(row->name, shape->key_member) == 0) {
		write_name(row->name, buffer);
		buffer_append_string(buffer, key);
	} else if (value != NULL && !json_is_null(value)) {
		write_name(row->name, buffer);
		write_value(row, value, (struct slice){ 0 }, echo, buffer);
	} else if ((row->flags & FIELD_NULLABLE) != 0) {
		write_name(row->name, buffer);
		buffer_append(buffer, SLICE("null"));
	} else if (is_filled(row, object)) {
		write_name(row->name, buffer);
		write_standard(row, buffer);
	}
}

void document_write(const struct shape *shape, const json_t *document, struct slice key, bool echo,
		    struct buffer *buffer)
{
	const json_t *values[ROWS_MOST];

	values_by_row(shape, document, values);
	buffer_append_byte(buffer, '{');
	for (size_t i = 0; i < shape->field_count; i++)
		write_member(shape, &shape->fields[i], document, values[i], key, echo, buffer);
	buffer_append_byte(buffer, '}');
}

static void write_map(const struct field *row, const json_t *map, bool echo, struct buffer *buffer)
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

static void write_list(const struct field *row, const json_t *list, bool echo,
		       struct buffer *buffer)
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
	case KIND_CHOICE:
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

bool document_write_member(const struct field *field, const json_t *value, bool echo,
			   struct buffer *buffer)
{
	if (!is_answered(field, echo))
		return false;
	if (value != NULL && !json_is_null(value))
		write_value(field, value, (struct slice){ 0 }, echo, buffer);
	else if ((field->flags & FIELD_NULLABLE) != 0)
		buffer_append(buffer, SLICE("null"));
	else if (is_filled(field, NULL))
		write_standard(field, buffer);
	else
		return false;
	return true;
}
