/* What the parts of the schema layer share, and nobody else includes: where a walk stands, the rows
 * that hold a single value, and how a fault is put down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_WALK_H
#define SCHEMA_WALK_H

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

/* The row of a member, or NULL. It is looked for from *next on, which is then behind it: members mostly
 * come in the order of the table. */
const struct field *row_of_member(const struct shape *shape, const char *name, size_t *next);
/* The values of an object in the order of the rows, NULL for one that is not there. */
void values_by_row(const struct shape *shape, const json_t *object,
		   const json_t *values[ROWS_MOST]);

#define PLACE_ROOT ((struct place){ .up = NULL })

struct place place_member(const struct place *up, struct slice name, unsigned flags);
struct place place_item(const struct place *up, size_t index, unsigned flags);
/* Appends the JSON Pointer. */
void place_print(const struct place *place, struct buffer *pointer);

struct rule_context {
	struct findings *findings;
	const struct place *place;
};

/* One fault, "<pointer>: <sentence>". */
void findings_report(struct findings *findings, const struct place *place, const char *sentence,
		     ...) __attribute__((format(printf, 3, 4)));
/* The message of the whole fault, if the last finding reported stays the only one. */
void findings_message(struct findings *findings, const char *message);
void findings_unknown(struct findings *findings, const struct place *place);
/* findings_result for either kind: a fault of a query names the parameter, without a slash. */
bool findings_close(struct findings *findings, enum fault_kind kind, struct fault *fault);
/* The named rules of a shape over one object. */
void findings_run_rules(struct findings *findings, const struct shape *shape,
			const struct place *place, const json_t *object);

/* Whether `value` obeys a row that holds a single value (boolean, integer, number, text, choice).
 * If it does not, the fault is reported. If it does, *canonical is NULL, or a new reference to what
 * takes its place: 32 for 32.0. */
bool value_obeys(const struct field *row, const json_t *value, const struct place *place,
		 struct findings *findings, json_t **canonical);

/* ", got 9000": nothing for a secret. */
const char *value_got(struct findings *findings, const struct place *place, const json_t *value);
/* "an array": the kind of JSON value alone. */
const char *value_kind(const json_t *value);

#endif
