/* Merge patches (RFC 7396), and functions that take the write-only members out of a document and
 * put them back. All of them follow the table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/walk.h"

static json_t *borrow(const json_t *value)
{
	/* Takes a new reference. Shared values are never changed. */
	return json_incref((json_t *)(uintptr_t)value);
}

static void merge_member(const struct field *row, json_t *target, const char *name,
			 const json_t *value)
{
	const bool is_nested = row->kind == KIND_OBJECT || row->kind == KIND_MAP;
	json_t *below;

	if (json_is_null(value)) {
		(void)json_object_del(target, name);
		return;
	}
	if (!is_nested || (row->flags & FIELD_ATOMIC) != 0) {
		object_put(target, name, borrow(value));
		return;
	}
	/* The object to patch is created if it is missing. */
	if (!json_is_object(json_object_get(target, name)))
		object_put(target, name, json_object());
	below = json_object_get(target, name);
	if (row->kind == KIND_OBJECT) {
		document_merge(row->shape, below, value);
		return;
	}
	for (void *i = first_member(value); i != NULL; i = next_member(value, i))
		merge_member(row->item, below, json_object_iter_key(i), json_object_iter_value(i));
}

void document_merge(const struct shape *shape, json_t *target, const json_t *patch)
{
	size_t next = 0;

	for (void *i = first_member(patch); i != NULL; i = next_member(patch, i)) {
		size_t row = row_of_member(shape, member_key(i), next);

		if (row == shape->field_count)
			continue;
		next = plan_of(shape)->rows[row].next;
		merge_member(&shape->fields[row], target, shape->fields[row].name,
			     json_object_iter_value(i));
	}
}

/* ---- write-only members ---- */

static json_t *hidden_of(const struct shape *shape, const json_t *document);

/* Puts the hidden members of a value (NULL if it has none) into the tree. *tree is NULL as long as
 * the tree is empty. */
static void put_hidden(json_t **tree, const char *name, json_t *below)
{
	if (below != NULL && *tree == NULL)
		*tree = json_object();
	if (below != NULL)
		object_put(*tree, name, below);
}

/* Returns a new reference to a write-only value, or to a tree of the write-only members below it,
 * or NULL if there are none. */
static json_t *hidden_value(const struct field *row, const json_t *value)
{
	json_t *tree = NULL;

	if ((row->flags & FIELD_WRITE_ONLY) != 0)
		return borrow(value);
	if (row->kind == KIND_OBJECT)
		return hidden_of(row->shape, value);
	if (row->kind != KIND_MAP)
		return NULL;
	for (void *i = first_member(value); i != NULL; i = next_member(value, i))
		put_hidden(&tree, json_object_iter_key(i),
			   hidden_value(row->item, json_object_iter_value(i)));
	return tree;
}

static json_t *hidden_of(const struct shape *shape, const json_t *document)
{
	const json_t *values[ROWS_MOST];
	json_t *tree = NULL;
	uint64_t rows = plan_of(shape)->hiding;

	if (rows != 0)
		rows &= values_by_row(shape, document, values);
	while (rows != 0) {
		size_t i = next_row(&rows);

		put_hidden(&tree, shape->fields[i].name,
			   hidden_value(&shape->fields[i], values[i]));
	}
	return tree;
}

json_t *document_hidden(struct arena *arena, const struct shape *shape, const json_t *document)
{
	json_t *tree = hidden_of(shape, document);

	return arena_json(arena, tree != NULL ? tree : json_object());
}

static void unhide_value(const struct field *row, json_t *value, const json_t *hidden)
{
	if (row->kind == KIND_OBJECT && json_is_object(value))
		document_unhide(row->shape, value, hidden);
	if (row->kind != KIND_MAP)
		return;
	for (void *i = first_member(hidden); i != NULL; i = next_member(hidden, i)) {
		json_t *entry = json_object_get(value, json_object_iter_key(i));

		if (json_is_object(entry))
			unhide_value(row->item, entry, json_object_iter_value(i));
	}
}

void document_unhide(const struct shape *shape, json_t *document, const json_t *hidden)
{
	for (uint64_t rows = plan_of(shape)->hiding; rows != 0;) {
		const struct field *row = &shape->fields[next_row(&rows)];
		const json_t *below = json_object_get(hidden, row->name);
		json_t *value = json_object_get(document, row->name);

		if (below == NULL)
			continue;
		if ((row->flags & FIELD_WRITE_ONLY) == 0)
			unhide_value(row, value, below);
		else if (value == NULL)
			object_put(document, row->name, borrow(below));
	}
}
