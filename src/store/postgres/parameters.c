/* See parameters.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/parameters.h"

#include <assert.h>

/* Type numbers of PostgreSQL, which every server that speaks its protocol uses. */
static const uint32_t types[] = {
	['b'] = 17,   ['s'] = 21,   ['i'] = 23,	  ['l'] = 20,	['o'] = 16,
	['B'] = 1001, ['S'] = 1005, ['I'] = 1007, ['L'] = 1016, ['O'] = 1000,
};

uint32_t parameter_type(char letter)
{
	return types[(unsigned char)letter];
}

static void write_number(char *place, uint64_t number, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		place[i] = (char)(unsigned char)(number >> (8 * (bytes - 1 - i)));
}

/* ---- single values ---- */

void parameters_bytes(struct parameters *parameters, struct slice bytes)
{
	const int n = parameters->count++;

	assert(n < PARAMETERS_MOST);
	parameters->values[n] = bytes.data;
	parameters->sizes[n] = (int)bytes.size;
}

void parameters_id(struct parameters *parameters, const struct id *id)
{
	parameters_bytes(parameters, id_slice(id));
}

void parameters_number(struct parameters *parameters, uint64_t number, size_t bytes)
{
	char *place = parameters->numbers[parameters->count];

	write_number(place, number, bytes);
	parameters_bytes(parameters, (struct slice){ place, bytes });
}

void parameters_null(struct parameters *parameters)
{
	parameters_bytes(parameters, (struct slice){ NULL, 0 });
}

/* ---- arrays: a head of five numbers, then each item preceded by its size ---- */

#define NUMBER_SIZE 4
#define SIZE_OF_NULL UINT32_MAX

static void append_number(struct buffer *array, uint64_t number, size_t bytes)
{
	write_number(buffer_reserve(array, bytes), number, bytes);
	array->size += bytes;
}

void array_begin(struct buffer *array, char letter, size_t count)
{
	const uint64_t dimensions = 1, may_have_null = 1, first_index = 1;

	append_number(array, dimensions, NUMBER_SIZE);
	append_number(array, may_have_null, NUMBER_SIZE);
	append_number(array, parameter_type(letter), NUMBER_SIZE);
	append_number(array, count, NUMBER_SIZE);
	append_number(array, first_index, NUMBER_SIZE);
}

void array_bytes(struct buffer *array, struct slice bytes)
{
	append_number(array, bytes.data == NULL ? SIZE_OF_NULL : bytes.size, NUMBER_SIZE);
	buffer_append(array, bytes);
}

void array_number(struct buffer *array, uint64_t number, size_t bytes)
{
	append_number(array, bytes, NUMBER_SIZE);
	append_number(array, number, bytes);
}
