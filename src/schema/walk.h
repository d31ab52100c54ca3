/* Internals of src/schema: positions of a walk, rows by plan, single values and findings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_WALK_H
#define SCHEMA_WALK_H

#include <assert.h>

#include "schema/schema.h"

/* A position in a document during a walk: a chain through the stack frames, which becomes a JSON
 * Pointer only if there is a finding. */
struct place {
	/* NULL for the root */
	const struct place *up;
	/* Name of the member; data is NULL for the list item at `index`. */
	struct slice name;
	size_t index;
	/* no value from here on may be shown */
	bool is_secret;
	/* an entry of a map, whose name is the key */
	bool is_entry;
};

/* jansson's iterators take a pointer that is not const, but change nothing. */
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

/* Maximum number of rows of a shape. */
#define ROWS_MOST 64

/* ---- rows ---- */

/* Returns the plan of a shape, which must have been verified. */
static inline const struct shape_plan *plan_of(const struct shape *shape)
{
	assert(shape->plan->is_made);
	return shape->plan;
}

static inline uint64_t row_bit(size_t row)
{
	return (uint64_t)1 << row;
}

/* Removes the first row from a non-empty set and returns it. */
static inline size_t next_row(uint64_t *rows)
{
	size_t row = (size_t)__builtin_ctzll(*rows);

	*rows &= *rows - 1;
	return row;
}

/* Bytes of a label before the name, and on both sides of it. */
#define LABEL_BEFORE 2
#define LABEL_AROUND 4

static inline bool row_is(const struct row_plan *row, struct slice name)
{
	return row->label.size == name.size + LABEL_AROUND &&
	       memcmp(row->label.data + LABEL_BEFORE, name.data, name.size) == 0;
}

/* Returns the row of a name, or field_count if there is none. */
size_t row_named(const struct shape *shape, struct slice name);

/* Does the same, but tries row `next` first, because members mostly come in table order. */
static inline size_t row_of_member(const struct shape *shape, struct slice name, size_t next)
{
	if (next < shape->field_count && row_is(&shape->plan->rows[next], name))
		return next;
	return row_named(shape, name);
}

/* Returns the rows that have a value in the object, and fills in these values; leaves the others
 * unset. */
uint64_t values_by_row(const struct shape *shape, const json_t *object,
		       const json_t *values[ROWS_MOST]);
/* Computes the plan of a shape. The plans of inner shapes must exist. Its texts live in the
 * arena. */
void plan_make(const struct shape *shape, struct arena *arena);

#define PLACE_ROOT ((struct place){ .up = NULL })

static inline bool is_secret_below(const struct place *up, const struct field *row)
{
	return up->is_secret || (row != NULL && (row->flags & FIELD_SECRET) != 0);
}

/* row is NULL for an unknown member. A bare list has the place of its object. */
static inline struct place place_named(const struct place *up, struct slice name,
				       const struct field *row)
{
	if (row != NULL && (row->flags & FIELD_BARE) != 0)
		return *up;
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

struct rule_context {
	struct findings *findings;
	const struct place *place;
};

/* Adds one finding, "<pointer>: <sentence>". */
void findings_report(struct findings *findings, const struct place *place, const char *sentence,
		     ...) __attribute__((format(printf, 3, 4)));
/* Sets the message of the fault in case the latest finding remains the only one. */
void findings_message(struct findings *findings, const char *message);
void findings_unknown(struct findings *findings, const struct place *place);
/* Like findings_result, for any kind of fault. A fault of a query names parameters without a
 * slash. */
bool findings_close(struct findings *findings, enum fault_kind kind, struct fault *fault);
/* Runs the named rules of a shape on one object. */
void findings_run_rules(struct findings *findings, const struct shape *shape,
			const struct place *place, const json_t *object);

/* Checks a row with a single value (boolean, integer, number, text, time, choice). Returns the
 * value, or a new reference to its replacement (32 for 32.0), or NULL after reporting a fault. */
json_t *value_checked(const struct field *row, json_t *value, const struct place *place,
		      struct findings *findings);

/* Returns ", got 9000" for a message, or an empty text for a secret. */
const char *value_got(struct findings *findings, const struct place *place, const json_t *value);

#endif
