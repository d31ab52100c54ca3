/* The walk of a body along its table: every member obeys its row or is reported and taken out
 * (schema_check), and the walk of a whole document, where only what a body alone cannot show is
 * left to check (document_finish).
 *
 * The members are visited in the order of the body, so that faults and unknown members come in
 * it. The functions call one another as deep as the table is nested, whatever was sent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>

#include "base/text.h"
#include "schema/walk.h"

/* A key that is longer is reported itself, but nothing below it: else fifty pointers through it
 * would make an answer many times as large as the body. */
#define KEY_MOST 128

/* In a list of more items than these, an earlier one is looked up instead of compared with each. */
#define COMPARED_MOST 16

struct walk {
	struct findings *findings;
	bool is_strict;
};

/* What becomes of a member after it was looked at. */
enum verdict { STAYS, GOES };

static enum verdict check_value(struct walk *walk, const struct field *row,
				const struct place *place, json_t *value, enum schema_mode mode,
				struct slice key, json_t **canonical);

/* The mode for what is below a row. PARTIAL is a matter of the top level alone, and of how many
 * entries its maps have. */
static enum schema_mode mode_below(const struct field *row, enum schema_mode mode)
{
	bool patches_below = mode == SCHEMA_PATCH && (row->flags & FIELD_ATOMIC) == 0;
	bool counts_later = mode == SCHEMA_PARTIAL && row->kind == KIND_MAP;

	return patches_below || counts_later ? mode : SCHEMA_WHOLE;
}

/* Goes on behind the member at `i`, which stays, is replaced by *canonical, or goes. */
static void *settle(json_t *object, void *i, enum verdict verdict, json_t *canonical)
{
	void *next = next_member(object, i);

	if (canonical != NULL && json_object_iter_set_new(object, i, canonical) != 0)
		abort();
	if (verdict == GOES && json_object_del(object, json_object_iter_key(i)) != 0)
		abort();
	return next;
}

/* ---- objects ---- */

static enum verdict check_unknown(struct walk *walk, const struct place *place)
{
	if (walk->is_strict)
		findings_report(walk->findings, place, "is not known");
	findings_unknown(walk->findings, place);
	return GOES;
}

/* `is_waiting`: whether it has to be there is found out later, over the whole document. */
static enum verdict check_null(struct walk *walk, const struct field *row,
			       const struct place *place, enum schema_mode mode, bool is_waiting)
{
	if (mode == SCHEMA_PATCH) {
		if ((row->flags & FIELD_KEPT) == 0)
			return STAYS;
		findings_report(walk->findings, place, "cannot be removed");
		return GOES;
	}
	if ((row->flags & FIELD_REQUIRED) != 0 && !is_waiting)
		findings_report(walk->findings, place, "is required");
	return GOES;
}

/* In the item of a map, the member that repeats the key. */
static bool repeats_key(struct walk *walk, const struct shape *shape, const struct field *row,
			const struct place *place, const json_t *value, struct slice key)
{
	if (key.data == NULL || plan_of(shape)->key != (size_t)(row - shape->fields) ||
	    slice_is(key, json_string_value(value)))
		return true;
	findings_report(walk->findings, place, "must be the same as its key%s",
			value_got(walk->findings, place, value));
	return false;
}

static void require_members(struct walk *walk, const struct shape *shape, const struct place *place,
			    uint64_t seen)
{
	for (uint64_t rows = plan_of(shape)->required & ~seen; rows != 0;) {
		const struct field *row = &shape->fields[next_row(&rows)];
		struct place missing = place_member(place, slice_of(row->name), row->flags);

		findings_report(walk->findings, &missing, "is required");
	}
}

static enum verdict check_member(struct walk *walk, const struct shape *shape,
				 const struct field *row, const struct place *place, json_t *value,
				 enum schema_mode mode, struct slice key, json_t **canonical)
{
	if ((row->flags & FIELD_READ_ONLY) != 0)
		return GOES;
	if (json_is_null(value))
		return check_null(walk, row, place, mode, mode == SCHEMA_PARTIAL);
	if (check_value(walk, row, place, value, mode_below(row, mode), (struct slice){ 0 },
			canonical) == GOES)
		return GOES;
	return repeats_key(walk, shape, row, place, value, key) ? STAYS : GOES;
}

static void check_object(struct walk *walk, const struct shape *shape, const struct place *place,
			 json_t *object, enum schema_mode mode, struct slice key)
{
	uint64_t seen = 0;
	size_t next = 0;

	if (shape->leave_out != NULL)
		shape->leave_out(object);
	for (void *i = first_member(object); i != NULL;) {
		struct slice name = member_key(i);
		size_t index = row_of_member(shape, name, next);
		bool is_known = index < shape->field_count;
		const struct field *row = is_known ? &shape->fields[index] : NULL;
		struct place member = place_member(place, name, is_known ? row->flags : 0);
		json_t *canonical = NULL;
		enum verdict verdict;

		if (is_known) {
			seen |= row_bit(index);
			next = index + 1;
			verdict = check_member(walk, shape, row, &member, json_object_iter_value(i),
					       mode, key, &canonical);
		} else {
			verdict = check_unknown(walk, &member);
		}
		i = settle(object, i, verdict, canonical);
	}
	if (mode != SCHEMA_WHOLE)
		return;
	require_members(walk, shape, place, seen);
	findings_run_rules(walk->findings, shape, place, object);
}

/* ---- maps and lists ---- */

static void check_count(struct findings *findings, const struct field *row,
			const struct place *place, size_t count)
{
	if (row->most != 0 && count > row->most)
		findings_report(findings, place, "must have at most %zu %s, got %zu", row->most,
				row->kind == KIND_MAP ? "entries" : "items", count);
}

static enum verdict check_entry(struct walk *walk, const struct field *row,
				const struct place *place, json_t *value, enum schema_mode mode,
				struct slice key, json_t **canonical)
{
	bool key_obeys = schema_text_obeys(row->text, key);

	if (!key_obeys)
		findings_report(walk->findings, place, "its name %s", row->text->sentence);
	if (json_is_null(value))
		return mode == SCHEMA_PATCH ? STAYS : GOES;
	if (key.size > KEY_MOST)
		return GOES;
	if (check_value(walk, row->item, place, value, mode, key, canonical) == GOES)
		return GOES;
	return key_obeys ? STAYS : GOES;
}

static void check_map(struct walk *walk, const struct field *row, const struct place *place,
		      json_t *map, enum schema_mode mode)
{
	enum schema_mode below = mode == SCHEMA_PARTIAL ? SCHEMA_WHOLE : mode;

	for (void *i = first_member(map); i != NULL;) {
		struct place entry = place_member(place, member_key(i), row->item->flags);
		json_t *canonical = NULL;
		enum verdict verdict = check_entry(walk, row, &entry, json_object_iter_value(i),
						   below, member_key(i), &canonical);

		i = settle(map, i, verdict, canonical);
	}
	if (mode == SCHEMA_WHOLE)
		check_count(walk->findings, row, place, json_object_size(map));
}

static bool is_among(const json_t *list, size_t n, struct slice text)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		if (json_is_string(item) && slice_equal(text_of_json(item), text))
			return true;
	}
	return false;
}

/* Whether the item at `n` differs from those before it, which `earlier` holds as keys if they are many;
 * those that went are null. */
static bool is_new(struct walk *walk, const struct place *place, json_t *earlier,
		   const json_t *list, size_t n)
{
	const json_t *value = json_array_get(list, n);
	struct slice text = text_of_json(value);

	if (earlier == NULL ? is_among(list, n, text)
			    : json_object_getn(earlier, text.data, text.size) != NULL) {
		findings_report(walk->findings, place, "must not repeat an earlier item%s",
				value_got(walk->findings, place, value));
		return false;
	}
	if (earlier != NULL &&
	    json_object_setn_new_nocheck(earlier, text.data, text.size, json_true()) != 0)
		abort();
	return true;
}

static void check_list(struct walk *walk, const struct field *row, const struct place *place,
		       json_t *list)
{
	bool is_unique = (row->flags & FIELD_UNIQUE) != 0;
	bool is_long = json_array_size(list) > COMPARED_MOST;
	json_t *earlier = is_unique && is_long ? arena_json(walk->findings->arena, json_object())
					       : NULL;

	check_count(walk->findings, row, place, json_array_size(list));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct place item = place_item(place, i, row->item->flags);
		json_t *value = json_array_get(list, i);
		json_t *canonical = NULL;
		enum verdict verdict = check_value(walk, row->item, &item, value, SCHEMA_WHOLE,
						   (struct slice){ 0 }, &canonical);

		if (verdict == STAYS && is_unique && !is_new(walk, &item, earlier, list, i))
			verdict = GOES;
		/* The others keep their places, so that the rules name the right ones. */
		if (verdict == GOES)
			canonical = json_null();
		if (canonical != NULL && json_array_set_new(list, i, canonical) != 0)
			abort();
	}
}

/* ---- any value ---- */

static enum verdict wrong_kind(struct walk *walk, const struct place *place, const char *what,
			       const json_t *value)
{
	findings_report(walk->findings, place, "must be %s, got %s", what, value_kind(value));
	return GOES;
}

static enum verdict check_single(struct walk *walk, const struct field *row,
				 const struct place *place, const json_t *value, json_t **canonical)
{
	if (value_obeys(row, value, place, walk->findings, canonical))
		return STAYS;
	if (row->message != NULL)
		findings_message(walk->findings, row->message);
	return GOES;
}

/* An object, map or list of the right kind stays: what is wrong within has been taken out of it.
 * key: of the entry of a map, else data NULL. */
static enum verdict check_value(struct walk *walk, const struct field *row,
				const struct place *place, json_t *value, enum schema_mode mode,
				struct slice key, json_t **canonical)
{
	switch (row->kind) {
	case KIND_BOOLEAN:
	case KIND_INTEGER:
	case KIND_NUMBER:
	case KIND_TEXT:
	case KIND_CHOICE:
		return check_single(walk, row, place, value, canonical);
	case KIND_OBJECT:
		if (!json_is_object(value))
			return wrong_kind(walk, place, "an object", value);
		check_object(walk, row->shape, place, value, mode, key);
		break;
	case KIND_MAP:
		if (!json_is_object(value))
			return wrong_kind(walk, place, "an object", value);
		check_map(walk, row, place, value, mode);
		break;
	case KIND_LIST:
		if (!json_is_array(value))
			return wrong_kind(walk, place, "an array", value);
		check_list(walk, row, place, value);
		break;
	case KIND_ANY:
		break;
	}
	return STAYS;
}

bool schema_check(const struct shape *shape, json_t *body, enum schema_mode mode, bool strict,
		  struct findings *findings, struct fault *fault)
{
	struct walk walk = { .findings = findings, .is_strict = strict };

	assert(json_is_object(body));
	findings->body = body;
	check_object(&walk, shape, &PLACE_ROOT, body, mode, (struct slice){ 0 });
	findings->body = NULL;
	if (findings->sent == NULL)
		findings->sent = body;
	return findings_result(findings, fault);
}

/* ---- whole documents ---- */

static void finish_object(struct findings *findings, const struct shape *shape,
			  const struct place *place, const json_t *object);

static void finish_map(struct findings *findings, const struct field *row,
		       const struct place *place, const json_t *map)
{
	check_count(findings, row, place, json_object_size(map));
	if (row->item->kind != KIND_OBJECT)
		return;
	for (void *i = first_member(map); i != NULL; i = next_member(map, i)) {
		struct place entry = place_member(place, member_key(i), row->item->flags);

		finish_object(findings, row->item->shape, &entry, json_object_iter_value(i));
	}
}

static void finish_list(struct findings *findings, const struct field *row,
			const struct place *place, const json_t *list)
{
	if (row->item->kind != KIND_OBJECT)
		return;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct place item = place_item(place, i, row->item->flags);

		finish_object(findings, row->item->shape, &item, json_array_get(list, i));
	}
}

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
	else if (row->kind == KIND_MAP)
		finish_map(findings, row, place, value);
	else if (row->kind == KIND_LIST)
		finish_list(findings, row, place, value);
}

static void finish_object(struct findings *findings, const struct shape *shape,
			  const struct place *place, const json_t *object)
{
	const json_t *values[ROWS_MOST];
	uint64_t there = values_by_row(shape, object, values);

	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field *row = &shape->fields[i];
		struct place member = place_member(place, slice_of(row->name), row->flags);

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
