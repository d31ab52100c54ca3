/* schema_check and document_finish: the walk of a body, and of a whole document, along the table.
 *
 * Members are visited in the order of the body, which is the order of findings and unknown members.
 * The recursion is as deep as the table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "base/log.h"
#include "base/text.h"
#include "schema/walk.h"

/* The content of entries with longer keys is not walked, because fifty pointers through such a key
 * would make a response many times as large as the body. */
#define KEY_MOST 128

/* In longer lists, unique items are looked up in an object instead of being compared one by one. */
#define COMPARED_MOST 16

struct walk {
	struct findings *findings;
	bool is_strict;
};

/* Checks any value. This and the other check functions return the value to keep: the same one, a
 * new reference, or NULL to remove it. */
static json_t *check_value(struct walk *walk, const struct field *row, const struct place *place,
			   json_t *value, enum schema_mode mode);

/* Replaces the value at `i` by `checked` and returns the next iterator. */
static void *settle_member(json_t *object, void *i, const json_t *value, json_t *checked)
{
	void *next = next_member(object, i);

	if (checked == value)
		return next;
	if (checked == NULL ? json_object_del(object, json_object_iter_key(i)) != 0
			    : json_object_iter_set_new(object, i, checked) != 0)
		ABORT("cannot change a JSON value");
	return next;
}

/* ---- objects ---- */

static json_t *check_unknown(struct walk *walk, const struct shape *shape, struct slice name,
			     const struct place *place, const json_t *value)
{
	for (size_t i = 0; shape->ignored != NULL && shape->ignored[i] != NULL; i++) {
		if (slice_is(name, shape->ignored[i]))
			return NULL;
	}
	if (shape->is_closed && json_is_null(value))
		return NULL;
	if (walk->is_strict || shape->is_closed)
		findings_report(walk->findings, place, "is not a known field");
	if (shape->is_closed)
		return NULL;
	findings_unknown(walk->findings, place);
	return NULL;
}

static bool is_zero_value(const struct field *row, const json_t *value)
{
	if (row->kind == KIND_INTEGER)
		return json_is_number(value) && !(json_number_value(value) < 0.0) &&
		       !(json_number_value(value) > 0.0);
	if (row->kind == KIND_OBJECT)
		return (json_is_object(value) && json_object_size(value) == 0) ||
		       (json_is_array(value) && json_array_size(value) == 0);
	return json_is_string(value) && json_string_length(value) == 0;
}

/* Not inlined, because it is rarely called. */
static __attribute__((noinline)) bool counts_as_absent(const struct field *row, const json_t *value)
{
	const struct slice text = text_of_json(value);

	return ((row->flags & FIELD_ZERO_ABSENT) != 0 && is_zero_value(row, value)) ||
	       ((row->flags & FIELD_BLANK_ABSENT) != 0 && text.size > 0 && text_is_blank(text));
}

static json_t *check_member(struct walk *walk, const struct field *row, const struct place *place,
			    json_t *value, enum schema_mode mode)
{
	if ((row->flags & FIELD_READ_ONLY) != 0)
		return NULL;
	/* In SCHEMA_PARTIAL, document_finish reports missing required members, and the handler
	 * decides what null means for a member that can be unset. */
	if (json_is_null(value)) {
		if ((row->flags & FIELD_TAKES_NULL) != 0)
			return value;
		if (mode == SCHEMA_PARTIAL)
			return (row->flags & FIELD_CLEARABLE) != 0 ? value : NULL;
		if (mode == SCHEMA_PATCH && (row->flags & FIELD_KEPT) == 0)
			return value;
		if (mode == SCHEMA_PATCH)
			findings_report(walk->findings, place, "cannot be removed");
		else if ((row->flags & FIELD_REQUIRED) != 0)
			findings_report(walk->findings, place, "is required");
		return NULL;
	}
	if ((row->flags & (FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT)) != 0 &&
	    counts_as_absent(row, value))
		return NULL;
	/* Such a value unsets a text that can be unset. */
	if ((row->flags & FIELD_CLEARABLE) != 0 && row->kind == KIND_TEXT &&
	    json_is_string(value) && text_is_blank(text_of_json(value)))
		return mode == SCHEMA_PARTIAL ? json_string("")
		       : mode == SCHEMA_PATCH ? json_null()
					      : NULL;
	/* PARTIAL concerns only the top level and the size of its maps. */
	if (!(mode == SCHEMA_PATCH && (row->flags & FIELD_ATOMIC) == 0) &&
	    !(mode == SCHEMA_PARTIAL && row->kind == KIND_MAP))
		mode = SCHEMA_WHOLE;
	return check_value(walk, row, place, value, mode);
}

static void check_object(struct walk *walk, const struct shape *shape, const struct place *place,
			 json_t *object, enum schema_mode mode)
{
	size_t key = place->is_entry ? plan_of(shape)->key : shape->field_count;
	uint64_t seen = 0;
	size_t next = 0;

	if (shape->prepare != NULL)
		shape->prepare(shape, object);
	for (void *i = first_member(object); i != NULL;) {
		struct slice name = member_key(i);
		json_t *value = json_object_iter_value(i);
		size_t index = row_of_member(shape, name, next);
		const struct field *row = index < shape->field_count ? &shape->fields[index] : NULL;
		struct place member = place_named(place, name, row);
		json_t *checked;

		if (row == NULL) {
			checked = check_unknown(walk, shape, name, &member, value);
		} else if (findings_are_full(walk->findings)) {
			checked = value;
		} else {
			seen |= row_bit(index);
			next = plan_of(shape)->rows[index].next;
			checked = check_member(walk, row, &member, value, mode);
			if (index == key && json_is_string(checked) &&
			    !slice_equal(text_of_json(value), place->name)) {
				findings_report(walk->findings, &member, "must equal its key%s",
						value_got(walk->findings, &member, value));
				checked = NULL;
			}
		}
		i = settle_member(object, i, value, checked);
	}
	if (mode != SCHEMA_WHOLE || findings_are_full(walk->findings))
		return;

	for (uint64_t rows = plan_of(shape)->required & ~seen; rows != 0;) {
		const struct field *row = &shape->fields[next_row(&rows)];
		struct place missing = place_named(place, slice_of(row->name), row);

		findings_report(walk->findings, &missing, "is required");
	}
	findings_run_rules(walk->findings, shape, place, object);
}

/* ---- maps and lists ---- */

static void check_count(struct findings *findings, const struct field *row,
			const struct place *place, size_t count)
{
	if (row->most != 0 && count > row->most)
		findings_report(findings, place, "must have at most %zu %s, got %zu", row->most,
				row->kind == KIND_MAP ? "entries"
				: row->most == 1      ? "item"
						      : "items",
				count);
	if ((row->flags & FIELD_NOT_EMPTY) != 0 && count == 0)
		findings_report(findings, place, "must have at least 1 item");
}

static json_t *check_map_entry(struct walk *walk, const struct field *row,
			       const struct place *place, json_t *value, enum schema_mode mode)
{
	bool key_obeys = schema_text_obeys(row->text, place->name);
	json_t *checked;

	/* Ignored even if the key is invalid. */
	if (json_is_null(value) && mode != SCHEMA_PATCH)
		return NULL;
	if (!key_obeys)
		findings_report(walk->findings, place, "the key %s", row->text->sentence);
	if (json_is_null(value))
		return value;
	if (place->name.size > KEY_MOST)
		return NULL;
	checked = check_value(walk, row->item, place, value, mode);
	if (key_obeys)
		return checked;
	if (checked != value)
		json_decref(checked);
	return NULL;
}

/* Not inlined, so that check_value stays short for all other values. */
static __attribute__((noinline)) void check_map(struct walk *walk, const struct field *row,
						const struct place *place, json_t *map,
						enum schema_mode mode)
{
	enum schema_mode below = mode == SCHEMA_PARTIAL ? SCHEMA_WHOLE : mode;

	for (void *i = first_member(map); i != NULL && !findings_are_full(walk->findings);) {
		struct place entry = place_entry(place, member_key(i), row->item);
		json_t *value = json_object_iter_value(i);

		i = settle_member(map, i, value, check_map_entry(walk, row, &entry, value, below));
	}
	if (mode == SCHEMA_WHOLE)
		check_count(walk->findings, row, place, json_object_size(map));
}

/* Returns true if the item at `n` differs from all earlier items. For a long list, `earlier` has
 * the earlier items as keys. Removed items are null. */
static bool is_new(struct walk *walk, const struct place *place, json_t *earlier,
		   const json_t *list, size_t n)
{
	const json_t *value = json_array_get(list, n);
	struct slice text = text_of_json(value);
	bool is_repeated = earlier != NULL &&
			   json_object_getn(earlier, text.data, text.size) != NULL;

	for (size_t i = 0; earlier == NULL && i < n && !is_repeated; i++) {
		const json_t *item = json_array_get(list, i);

		is_repeated = json_is_string(item) && slice_equal(text_of_json(item), text);
	}
	if (is_repeated) {
		findings_report(walk->findings, place, "must not repeat an earlier item%s",
				value_got(walk->findings, place, value));
		return false;
	}
	if (earlier != NULL &&
	    json_object_setn_new_nocheck(earlier, text.data, text.size, json_true()) != 0)
		ABORT("cannot change a JSON value");
	return true;
}

static __attribute__((noinline)) void check_list(struct walk *walk, const struct field *row,
						 const struct place *place, json_t *list)
{
	bool is_unique = (row->flags & FIELD_UNIQUE) != 0;
	bool is_long = json_array_size(list) > COMPARED_MOST;
	json_t *earlier = is_unique && is_long ? arena_json(walk->findings->arena, json_object())
					       : NULL;

	check_count(walk->findings, row, place, json_array_size(list));
	for (size_t i = 0; i < json_array_size(list) && !findings_are_full(walk->findings); i++) {
		struct place item = place_item(place, i, row->item);
		json_t *value = json_array_get(list, i);
		json_t *checked = check_value(walk, row->item, &item, value, SCHEMA_WHOLE);

		if (checked != NULL && is_unique && !is_new(walk, &item, earlier, list, i))
			checked = NULL;
		/* null keeps the place of the item, because rules report the index of other
		 * items. */
		if (checked == NULL)
			checked = json_null();
		if (checked != value && json_array_set_new(list, i, checked) != 0)
			ABORT("cannot change a JSON value");
	}
}

/* ---- any value ---- */

static json_t *wrong_kind(struct walk *walk, const struct place *place, const char *what,
			  const json_t *value)
{
	findings_report(walk->findings, place, "must be %s, got %s", what, schema_kind_of(value));
	return NULL;
}

/* PHP encodes an empty object as an empty array. */
static json_t *object_of(struct walk *walk, const struct place *place, json_t *value)
{
	if (json_is_object(value))
		return value;
	if (json_is_array(value) && json_array_size(value) == 0)
		return json_object();
	return wrong_kind(walk, place, "an object", value);
}

/* Returns the number of levels of a compact JSON text; 0 if it is a single value. */
static size_t levels_of(struct slice text)
{
	size_t levels = 0, most = 0;
	bool is_in_string = false;

	for (size_t i = 0; i < text.size; i++) {
		const char c = text.data[i];

		if (c == '"')
			is_in_string = !is_in_string;
		else if (is_in_string)
			i += c == '\\';
		else if (c == '{' || c == '[')
			levels++;
		else if (c == '}' || c == ']')
			levels--;
		if (levels > most)
			most = levels;
	}
	return most;
}

static json_t *check_kept(struct walk *walk, const struct field *row, const struct place *place,
			  json_t *value)
{
	struct buffer text = BUFFER_INITIAL(walk->findings->arena);

	buffer_append_json(&text, value);
	if (text.size > row->most) {
		findings_report(walk->findings, place,
				"must be at most %zu bytes of compact JSON, got %zu", row->most,
				text.size);
		return NULL;
	}
	if (row->deepest == 0 || levels_of(buffer_slice(&text)) <= row->deepest)
		return value;
	findings_report(walk->findings, place, "must be nested at most %zu deep, got %zu",
			row->deepest, levels_of(buffer_slice(&text)));
	return NULL;
}

/* Keeps an object, map or list of the right type, and removes its faulty members. */
static json_t *check_value(struct walk *walk, const struct field *row, const struct place *place,
			   json_t *value, enum schema_mode mode)
{
	json_t *checked;

	switch (row->kind) {
	case KIND_BOOLEAN:
	case KIND_INTEGER:
	case KIND_NUMBER:
	case KIND_TEXT:
	case KIND_TIME:
	case KIND_CHOICE:
		checked = value_checked(row, value, place, walk->findings);
		if (checked == NULL && row->message != NULL)
			findings_message(walk->findings, row->message);
		return checked;
	case KIND_OBJECT:
		value = object_of(walk, place, value);
		if (value != NULL)
			check_object(walk, row->shape, place, value, mode);
		break;
	case KIND_MAP:
		value = object_of(walk, place, value);
		if (value != NULL)
			check_map(walk, row, place, value, mode);
		break;
	case KIND_LIST:
		if (!json_is_array(value))
			return wrong_kind(walk, place, "an array", value);
		check_list(walk, row, place, value);
		break;
	case KIND_KEPT_OBJECT:
		value = object_of(walk, place, value);
		return value == NULL ? NULL : check_kept(walk, row, place, value);
	case KIND_KEPT_LIST:
		if (!json_is_array(value))
			return wrong_kind(walk, place, "an array", value);
		return check_kept(walk, row, place, value);
	case KIND_ANY:
		break;
	}
	return value;
}

bool schema_check(const struct shape *shape, json_t *body, enum schema_mode mode, bool strict,
		  struct findings *findings, struct fault *fault)
{
	struct walk walk = { .findings = findings, .is_strict = strict };
	const json_t *sent = body;

	assert(json_is_object(body));
	if (shape_is_bare(shape))
		sent = json_object_get(body, shape->fields[0].name);
	findings->body = sent;
	check_object(&walk, shape, &PLACE_ROOT, body, mode);
	findings->body = NULL;
	if (findings->sent == NULL)
		findings->sent = sent;
	return findings_result(findings, fault);
}

/* ---- whole documents ---- */

static void finish_object(struct findings *findings, const struct shape *shape,
			  const struct place *place, const json_t *object);

static void finish_member(struct findings *findings, const struct field *row,
			  const struct place *place, const json_t *value)
{
	if (value == NULL) {
		if ((row->flags & FIELD_REQUIRED) != 0 && (row->flags & FIELD_READ_ONLY) == 0)
			findings_report(findings, place, "is required");
		return;
	}
	if (row->kind == KIND_OBJECT)
		finish_object(findings, row->shape, place, value);
	if (row->kind == KIND_MAP)
		check_count(findings, row, place, json_object_size(value));
	if (row->kind == KIND_MAP && row->item->kind == KIND_OBJECT) {
		for (void *i = first_member(value); i != NULL; i = next_member(value, i)) {
			struct place entry = place_entry(place, member_key(i), row->item);

			finish_object(findings, row->item->shape, &entry,
				      json_object_iter_value(i));
		}
	}
	if (row->kind == KIND_LIST && row->item->kind == KIND_OBJECT) {
		for (size_t i = 0; i < json_array_size(value); i++) {
			struct place item = place_item(place, i, row->item);

			finish_object(findings, row->item->shape, &item, json_array_get(value, i));
		}
	}
}

static void finish_object(struct findings *findings, const struct shape *shape,
			  const struct place *place, const json_t *object)
{
	const json_t *values[ROWS_MOST];
	uint64_t there = values_by_row(shape, object, values);

	for (uint64_t rows = plan_of(shape)->all; rows != 0;) {
		const size_t i = next_row(&rows);
		const struct field *row = &shape->fields[i];
		struct place member = place_named(place, slice_of(row->name), row);

		finish_member(findings, row, &member, (there >> i & 1) != 0 ? values[i] : NULL);
	}
	findings_run_rules(findings, shape, place, object);
}

bool document_finish(const struct shape *shape, const json_t *document, struct findings *findings,
		     struct fault *fault)
{
	finish_object(findings, shape, &PLACE_ROOT, document);
	return findings_result(findings, fault);
}
