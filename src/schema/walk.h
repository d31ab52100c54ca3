/* What the parts of the schema layer share, and nobody else includes: where a walk stands, the rows
 * that hold a single value, and how a fault is put down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_WALK_H
#define SCHEMA_WALK_H

#include <assert.h>

#include "schema/schema.h"

/* A place of a document while it is being walked: a chain through the frames of the walk, made a
 * JSON Pointer only when something is found there. */
struct place {
	/* NULL: this is the root. */
	const struct place *up;
	/* The member; data NULL: an item of a list, and which. */
	struct slice name;
	size_t index;
	/* Nothing of what is here is shown. */
	bool is_secret;
	/* The member is an entry of a map, its name a key. */
	bool is_entry;
};

/* The members of an object in their order. jansson's iterators want a pointer that is not const,
 * but change nothing. */
static inline void *first_member(const json_t *object)
{
	return json_object_iter((json_t *)(uintptr_t)object);
}

static inline void *next_member(const json_t *object, void *i)
{
	return json_object_iter_next((json_t *)(uintptr_t)object, i);
}

static inline struct slice member_key(void *i)
{
	return (struct slice){ json_object_iter_key(i), json_object_iter_key_len(i) };
}

/* As many rows as a shape may have. */
#define ROWS_MOST 64

/* ---- rows, by shape_plan ---- */

/* Nothing is done with a shape before it was verified. */
static inline const struct shape_plan *plan_of(const struct shape *shape)
{
	assert(shape->plan->is_made);
	return shape->plan;
}

static inline uint64_t row_bit(size_t row)
{
	return (uint64_t)1 << row;
}

/* Takes the first row out of a set that is not empty. */
static inline size_t next_row(uint64_t *rows)
{
	size_t row = (size_t)__builtin_ctzll(*rows);

	*rows &= *rows - 1;
	return row;
}

/* A label has so much before the name, and so much around it. */
#define LABEL_BEFORE 2
#define LABEL_AROUND 4

static inline bool row_is(const struct row_plan *row, struct slice name)
{
	return row->label.size == name.size + LABEL_AROUND &&
	       memcmp(row->label.data + LABEL_BEFORE, name.data, name.size) == 0;
}

/* The row of a name, or field_count. */
size_t row_named(const struct shape *shape, struct slice name);

/* The same; members mostly come in the order of the table, and this one may be the next row. */
static inline size_t row_of_member(const struct shape *shape, struct slice name, size_t next)
{
	if (next < shape->field_count && row_is(&shape->plan->rows[next], name))
		return next;
	return row_named(shape, name);
}

/* The rows that have a value in an object, and their values; the others stay as they were. */
uint64_t values_by_row(const struct shape *shape, const json_t *object,
		       const json_t *values[ROWS_MOST]);
/* Works out the plan of a shape; the shapes below have theirs. Its texts are in the arena. */
void plan_make(const struct shape *shape, struct arena *arena);

#define PLACE_ROOT ((struct place){ .up = NULL })

static inline bool is_secret_below(const struct place *up, const struct field *row)
{
	return up->is_secret || (row != NULL && (row->flags & FIELD_SECRET) != 0);
}

/* row: NULL for what is not known. */
static inline struct place place_member(const struct place *up, struct slice name,
					const struct field *row)
{
	return (struct place){ .up = up, .name = name, .is_secret = is_secret_below(up, row) };
}

static inline struct place place_entry(const struct place *up, struct slice key,
				       const struct field *item)
{
	return (struct place){
		.up = up,
		.name = key,
		.is_secret = is_secret_below(up, item),
		.is_entry = true,
	};
}

static inline struct place place_item(const struct place *up, size_t index,
				      const struct field *item)
{
	return (struct place){ .up = up, .index = index, .is_secret = is_secret_below(up, item) };
}

/* Appends the JSON Pointer. */
void place_print(const struct place *place, struct buffer *pointer);

struct rule_context {
	struct findings *findings;
	const struct place *place;
};

/* One fault, "<pointer>: <sentence>". */
void findings_report(struct findings *findings, const struct place *place, const char *sentence,
		     ...) __attribute__((format(printf, 3, 4)));
/* There are as many as are told: no more have to be looked for. */
bool findings_are_full(const struct findings *findings);
/* The message of the whole fault, if the last finding reported stays the only one. */
void findings_message(struct findings *findings, const char *message);
void findings_unknown(struct findings *findings, const struct place *place);
/* findings_result for either kind: a fault of a query names the parameter, without a slash. */
bool findings_close(struct findings *findings, enum fault_kind kind, struct fault *fault);
/* The named rules of a shape over one object. */
void findings_run_rules(struct findings *findings, const struct shape *shape,
			const struct place *place, const json_t *object);

/* What `value` is by a row that holds a single value (boolean, integer, number, text, choice): itself, or a
 * new reference to what takes its place, 32 for 32.0. NULL: it does not obey the row, and the fault
 * is reported. */
json_t *value_checked(const struct field *row, json_t *value, const struct place *place,
		      struct findings *findings);

/* ", got 9000": nothing for a secret. */
const char *value_got(struct findings *findings, const struct place *place, const json_t *value);
/* "an array": the kind of JSON value alone. */
const char *value_kind(const json_t *value);

#endif
