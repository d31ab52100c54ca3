/* The parameters of a statement, in the binary form of PostgreSQL: numbers and arrays are in
 * network byte order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_PARAMETERS_H
#define STORE_POSTGRES_PARAMETERS_H

#include "base/arena.h"
#include "base/id.h"
#include "base/slice.h"

#define PARAMETERS_MOST 10

/* Added values are borrowed, and must live until the statement is queued. */
struct parameters {
	int count;
	const char *values[PARAMETERS_MOST];
	int sizes[PARAMETERS_MOST];
	char numbers[PARAMETERS_MOST][8];
};

#define PARAMETERS_INITIAL ((struct parameters){ .count = 0 })

/* Adds bytes; data NULL adds SQL's NULL. */
void parameters_bytes(struct parameters *parameters, struct slice bytes);
void parameters_id(struct parameters *parameters, const struct id *id);
void parameters_number(struct parameters *parameters, uint64_t number, size_t bytes);
void parameters_null(struct parameters *parameters);

/* Returns the type for a letter: b bytea, s int2, i int4, l int8, o boolean; B, S, I, L and O
 * are arrays of b, s, i, l and o. */
uint32_t parameter_type(char letter);

/* Begins an array with `count` items of the type b, s, i, l or o. */
void array_begin(struct buffer *array, char letter, size_t count);
/* Adds an item; data NULL adds SQL's NULL. */
void array_bytes(struct buffer *array, struct slice bytes);
void array_number(struct buffer *array, uint64_t number, size_t bytes);

#endif
