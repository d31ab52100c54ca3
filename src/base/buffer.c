/* The growing text of base/arena.h, and the functions that write JSON. They replace jansson's dump,
 * which writes 1.0 where the API wants 1, and spends most of its time looking for cycles, which our
 * values never have. Tests compare both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"

#define FIRST_CAPACITY 256

/* Grows the buffer in place if nothing was allocated after it, else copies it. */
void buffer_grow(struct buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : 2 * buffer->capacity;

	if (size > SIZE_MAX / 4)
		ABORT("size too large");
	if (capacity < buffer->size + size)
		capacity = buffer->size + size;
	if (buffer->data == NULL ||
	    !arena_extend(buffer->arena, buffer->data, buffer->capacity, capacity)) {
		char *data = arena_alloc(buffer->arena, capacity);

		if (buffer->size > 0)
			memcpy(data, buffer->data, buffer->size);
		buffer->data = data;
	}
	buffer->capacity = capacity;
}

struct slice buffer_slice(const struct buffer *buffer)
{
	return (struct slice){ buffer->data, buffer->size };
}

void buffer_append_integer(struct buffer *buffer, json_int_t value)
{
	char text[24];
	char *at = text + sizeof text;
	/* -INT64_MIN does not fit into json_int_t. */
	unsigned long long rest = value < 0 ? 0 - (unsigned long long)value
					    : (unsigned long long)value;

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		*--at = '-';
	buffer_append(buffer, (struct slice){ at, (size_t)(text + sizeof text - at) });
}

/* Writes the fewest of 15, 16 or 17 digits that read back as the same double: 17 digits preserve
 * any double but show 1.1 as 1.1000000000000001, and 15 digits may round beyond the largest
 * double. */
static void append_real(struct buffer *buffer, const json_t *real)
{
	const double value = json_real_value(real);
	double read = HUGE_VAL;
	char text[64];
	size_t size = 0;

	if (real_is_integer(value)) {
		buffer_append_integer(buffer, (json_int_t)value);
		return;
	}
	for (size_t digits = 15; digits <= 17 && (read < value || read > value); digits++) {
		size = json_dumpb(real, text, sizeof text - 1,
				  JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
		text[size] = '\0';
		read = strtod(text, NULL);
	}
	buffer_append(buffer, (struct slice){ text, size });
}

static struct slice escape(unsigned char byte, char text[7])
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
	};
	char letter = byte < 0x20 ? letters[byte] : (char)byte;

	if (letter == '\0')
		return (struct slice){ text, (size_t)snprintf(text, 7, "\\u%04X", byte) };
	text[0] = '\\';
	text[1] = letter;
	return (struct slice){ text, 2 };
}

void buffer_append_string(struct buffer *buffer, struct slice string)
{
	size_t plain = text_plain(string).size;
	char text[7];

	buffer_append_byte(buffer, '"');
	while (plain < string.size) {
		buffer_append(buffer, (struct slice){ string.data, plain });
		buffer_append(buffer, escape((unsigned char)string.data[plain], text));
		string = (struct slice){ string.data + plain + 1, string.size - plain - 1 };
		plain = text_plain(string).size;
	}
	buffer_append(buffer, string);
	buffer_append_byte(buffer, '"');
}

/* Not inlined, so that buffer_append_json stays short for all other values. */
static __attribute__((noinline)) void append_object(struct buffer *buffer, json_t *object)
{
	char before = '{';

	for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
		buffer_append_byte(buffer, before);
		buffer_append_string(buffer, (struct slice){ json_object_iter_key(i),
							     json_object_iter_key_len(i) });
		buffer_append_byte(buffer, ':');
		buffer_append_json(buffer, json_object_iter_value(i));
		before = ',';
	}
	if (before == '{')
		buffer_append_byte(buffer, '{');
	buffer_append_byte(buffer, '}');
}

static __attribute__((noinline)) void append_array(struct buffer *buffer, const json_t *array)
{
	buffer_append_byte(buffer, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i > 0)
			buffer_append_byte(buffer, ',');
		buffer_append_json(buffer, json_array_get(array, i));
	}
	buffer_append_byte(buffer, ']');
}

/* The recursion is bounded, because the parser limits the depth of every value. */
void buffer_append_json(struct buffer *buffer, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		/* json_object_iter takes a pointer that is not const, but changes nothing. */
		append_object(buffer, (json_t *)(uintptr_t)value);
		break;
	case JSON_ARRAY:
		append_array(buffer, value);
		break;
	case JSON_STRING:
		buffer_append_string(buffer, text_of_json(value));
		break;
	case JSON_INTEGER:
		buffer_append_integer(buffer, json_integer_value(value));
		break;
	case JSON_REAL:
		append_real(buffer, value);
		break;
	case JSON_TRUE:
		buffer_append_text(buffer, "true");
		break;
	case JSON_FALSE:
		buffer_append_text(buffer, "false");
		break;
	case JSON_NULL:
		buffer_append_text(buffer, "null");
		break;
	}
}
