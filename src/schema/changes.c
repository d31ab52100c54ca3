/* See schema/changes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/changes.h"

#include <string.h>

#include "base/json_text.h"
#include "base/text.h"

/* Members below this depth are compared as a whole, because objects that are stored unchanged may
 * be nested as deep as the client likes. */
#define DEPTH_MOST 16

void changes_add(struct changes *changes, struct slice pointer)
{
	changes->pointers = arena_room(changes->arena, changes->pointers, changes->count + 1,
				       &changes->capacity, sizeof *changes->pointers);
	changes->pointers[changes->count++] = pointer;
}

static struct slice changes_below(struct arena *arena, struct slice prefix, struct slice name)
{
	struct buffer pointer = BUFFER_INITIAL(arena);

	buffer_append(&pointer, prefix);
	text_pointer(&pointer, name);
	return buffer_slice(&pointer);
}

static bool is_ignored(const char *const *ignored, const char *name)
{
	for (; ignored != NULL && *ignored != NULL; ignored++) {
		if (strcmp(*ignored, name) == 0)
			return true;
	}
	return false;
}

static json_t *without_const(const json_t *value)
{
	return (json_t *)(uintptr_t)value;
}

static void find_changes(struct changes *changes, struct slice prefix, const json_t *former,
			 const json_t *latter, const char *const *ignored, unsigned depth)
{
	const char *name;
	size_t length;
	json_t *value;

	json_object_keylen_foreach(without_const(former), name, length, value)
	{
		const json_t *other = json_object_getn(latter, name, length);
		const struct slice member = { name, length };

		if (is_ignored(ignored, name) || json_equal(value, other))
			continue;
		if (json_is_object(value) && json_is_object(other) && depth < DEPTH_MOST)
			find_changes(changes, changes_below(changes->arena, prefix, member), value,
				     other, NULL, depth + 1);
		else
			changes_add(changes, changes_below(changes->arena, prefix, member));
	}
	json_object_keylen_foreach(without_const(latter), name, length, value)
	{
		if (json_object_getn(former, name, length) == NULL && !is_ignored(ignored, name))
			changes_add(changes, changes_below(changes->arena, prefix,
							   (struct slice){ name, length }));
	}
}

void changes_find(struct changes *changes, struct slice prefix, const json_t *former,
		  const json_t *latter, const char *const *ignored)
{
	find_changes(changes, prefix, former, latter, ignored, 0);
}

/* ---- texts ---- */

/* Returns the size of the member (name and value) at the beginning of a text. */
static size_t member_size(struct slice text)
{
	bool is_string = false;
	size_t depth = 0, i;

	for (i = 0; i < text.size; i++) {
		const char byte = text.data[i];

		if (byte == '"')
			is_string = !is_string;
		else if (is_string)
			i += byte == '\\';
		else if (byte == '{' || byte == '[')
			depth++;
		else if (depth == 0 && (byte == ',' || byte == '}'))
			break;
		else if (byte == '}' || byte == ']')
			depth--;
	}
	return i < text.size ? i : text.size;
}

/* Removes the next member from the members of an object and returns it. */
static struct slice take_member(struct slice *members)
{
	const size_t size = member_size(*members);
	const size_t taken = size < members->size ? size + 1 : size;
	const struct slice member = { members->data, size };

	members->data += taken;
	members->size -= taken;
	return member;
}

static void append_member(struct buffer *object, struct slice member)
{
	if (member.size == 0)
		return;
	buffer_append_byte(object, object->size == 0 ? '{' : ',');
	buffer_append(object, member);
}

static const json_t *parse_members(struct changes *changes, struct buffer *object)
{
	const json_t *parsed;

	buffer_append_text(object, object->size == 0 ? "{}" : "}");
	parsed = json_text_read_stored(changes->arena, buffer_slice(object), NULL);
	changes->is_damaged = changes->is_damaged || parsed == NULL;
	return parsed;
}

void changes_find_in_texts(struct changes *changes, struct slice prefix, struct slice former,
			   struct slice latter, const char *const *ignored)
{
	struct buffer before = BUFFER_INITIAL(changes->arena);
	struct buffer after = BUFFER_INITIAL(changes->arena);
	/* The members without the opening bracket. */
	struct slice old = { former.data + 1, former.size - 1 };
	struct slice new = { latter.data + 1, latter.size - 1 };

	changes->is_damaged = changes->is_damaged || former.size == 0 || latter.size == 0;
	if (former.size == 0 || latter.size == 0)
		return;
	while (old.size > 0 || new.size > 0) {
		/* Includes the comma or bracket after it. */
		const size_t size = member_size(old) + 1;

		/* Skip the next member if it is the same text in both. */
		if (size <= old.size && size <= new.size &&memcmp(old.data, new.data, size) == 0) {
			old.data += size;
			old.size -= size;
			new.data += size;
			new.size -= size;
			continue;
		}
		append_member(&before, take_member(&old));
		append_member(&after, take_member(&new));
	}
	changes_find(changes, prefix, parse_members(changes, &before),
		     parse_members(changes, &after), ignored);
}

/* ---- hidden members ---- */

static void find_hidden_in(struct changes *changes, struct slice pointer, const struct field *row,
			   const json_t *former, const json_t *latter)
{
	const char *name;
	size_t length;
	json_t *value;

	if (json_equal(former, latter))
		return;
	if ((row->flags & FIELD_WRITE_ONLY) != 0 ||
	    (row->kind != KIND_OBJECT && row->kind != KIND_MAP)) {
		changes_add(changes, pointer);
		return;
	}
	if (row->kind == KIND_OBJECT) {
		changes_find_hidden(changes, pointer, row->shape, former, latter);
		return;
	}

	/* The entries of a map are objects. */
	json_object_keylen_foreach(without_const(former), name, length, value) find_hidden_in(
		changes, changes_below(changes->arena, pointer, (struct slice){ name, length }),
		row->item, value, json_object_getn(latter, name, length));
	json_object_keylen_foreach(without_const(latter), name, length, value)
	{
		if (json_object_getn(former, name, length) == NULL)
			find_hidden_in(changes,
				       changes_below(changes->arena, pointer,
						     (struct slice){ name, length }),
				       row->item, NULL, value);
	}
}

void changes_find_hidden(struct changes *changes, struct slice prefix, const struct shape *shape,
			 const json_t *former, const json_t *latter)
{
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		const json_t *before = json_object_get(former, row->name);
		const json_t *after = json_object_get(latter, row->name);

		if (before != NULL || after != NULL)
			find_hidden_in(changes,
				       changes_below(changes->arena, prefix, slice_of(row->name)),
				       row, before, after);
	}
}

/* ---- the text ---- */

static int compare_pointers(const void *a, const void *b)
{
	const struct slice *first = a, *second = b;

	return slice_compare(*first, *second);
}

void changes_write(struct changes *changes, struct json_writer *list)
{
	const size_t count = changes == NULL ? 0 : changes->count;
	size_t written = 0;

	if (count > 0)
		qsort(changes->pointers, count, sizeof *changes->pointers, compare_pointers);
	for (size_t i = 0; i < count && written < CHANGES_MOST; i++) {
		if (i > 0 && slice_equal(changes->pointers[i], changes->pointers[i - 1]))
			continue;
		writer_text(list, NULL, changes->pointers[i]);
		written++;
	}
}
