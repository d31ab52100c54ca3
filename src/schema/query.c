/* Query parameters: each known parameter is converted to the type of its row and then checked like
 * a member of a body.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "base/text.h"
#include "schema/walk.h"

/* Converts a text to the type of its row. A text that cannot be converted stays a string, which the
 * row rejects. */
static json_t *value_of(struct arena *arena, const struct field *row, struct slice text)
{
	const size_t offset = sizeof "+01:00" - 1;
	const size_t size = text.size;
	int64_t integer;
	char *restored;

	if (row->kind == KIND_INTEGER && text_integer(text, &integer))
		return json_integer(integer);
	/* Python writes True and False. */
	if (row->kind == KIND_BOOLEAN && (slice_is(text, "true") || slice_is(text, "True")))
		return json_true();
	if (row->kind == KIND_BOOLEAN && (slice_is(text, "false") || slice_is(text, "False")))
		return json_false();
	/* Restore the + of an offset that was not percent-encoded ("2026-11-23T09:00:00 01:00"),
	 * and every such + in a text that has no blanks. */
	if ((row->flags & FIELD_OFFSET) != 0 && size > offset && text.data[size - offset] == ' ')
		return json_sprintf("%.*s+%.*s", (int)(size - offset), text.data, (int)offset - 1,
				    text.data + size - offset + 1);
	if ((row->flags & FIELD_PLUS) != 0) {
		restored = arena_alloc(arena, size);
		for (size_t i = 0; i < size; i++)
			restored[i] = text.data[i] == ' ' ? '+' : text.data[i];
		return json_stringn(restored, size);
	}
	return json_stringn(text.data, size);
}

static void take_parameter(const struct field *row, bool is_free, struct slice text,
			   const struct place *place, json_t *query, struct findings *findings)
{
	json_t *value = arena_json(findings->arena, value_of(findings->arena, row, text));
	const json_t *checked;

	if (row->kind == KIND_BOOLEAN && !json_is_boolean(value)) {
		findings_report(findings, place, "must be true or false%s",
				value_got(findings, place, value));
		return;
	}
	checked = is_free ? value : value_checked(row, value, place, findings);
	assert(checked == NULL || checked == value);
	if (checked != NULL)
		object_put(query, row->name, json_incref(value));
}

/* Adds a value to a parameter that may be given several times. */
static void take_item(const struct field *row, struct slice text, const struct place *place,
		      json_t *query, struct findings *findings)
{
	json_t *value = arena_json(findings->arena, value_of(findings->arena, row->item, text));
	json_t *list = json_object_get(query, row->name);

	if (list == NULL)
		object_put(query, row->name, list = json_array());
	if (row->most > 0 && json_array_size(list) == row->most)
		findings_report(findings, place, "must not be given more than %zu times",
				row->most);
	else if (value_checked(row->item, value, place, findings) != NULL)
		array_put(list, json_incref(value));
}

/* Returns true if the row accepts any text, because the parameter in free_with was sent too. */
static bool is_free(const struct field *row, const struct parameter *parameters, size_t n)
{
	for (size_t i = 0; row->free_with != NULL && i < n; i++) {
		if (slice_is(parameters[i].name, row->free_with) && parameters[i].value.size > 0)
			return true;
	}
	return false;
}

bool schema_query(struct arena *arena, const struct shape *shape, struct slice query_string,
		  json_t **query, struct fault *fault)
{
	struct findings findings;
	struct parameter *parameters;
	uint64_t seen = 0;
	struct slice bad;
	size_t n;

	findings_open(&findings, arena);
	*query = arena_json(arena, json_object());
	if (!text_query(arena, query_string, &parameters, &n, &bad))
		return fault_detail(fault, FAULT_INVALID_QUERY,
				    "must be valid percent-encoded UTF-8 without NUL");
	for (size_t i = 0; i < n; i++) {
		const size_t index = row_named(shape, parameters[i].name);
		const struct place place = place_named(&PLACE_ROOT, parameters[i].name, NULL);
		const struct field *row = &shape->fields[index];

		if (index == shape->field_count)
			continue;
		if (row->kind == KIND_LIST && parameters[i].value.size > 0)
			take_item(row, parameters[i].value, &place, *query, &findings);
		else if ((seen & row_bit(index)) != 0 && row->kind != KIND_LIST)
			findings_report(&findings, &place, "must not be given twice");
		else if (parameters[i].value.size > 0)
			take_parameter(row, is_free(row, parameters, n), parameters[i].value,
				       &place, *query, &findings);
		seen |= row_bit(index);
	}
	findings_run_rules(&findings, shape, &PLACE_ROOT, *query);
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		const bool is_filled = row->standard != NULL &&
				       (row->flags & FIELD_HIDDEN_DEFAULT) == 0;

		if (is_filled && json_object_get(*query, row->name) == NULL)
			object_put(*query, row->name,
				   json_loads(row->standard, JSON_DECODE_ANY, NULL));
	}
	return findings_close(&findings, FAULT_INVALID_QUERY, fault);
}
