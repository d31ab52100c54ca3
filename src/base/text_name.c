/* See base/text_name.h. The only place that uses libunistring.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text_name.h"

#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>

#include "base/memory.h"
#include "base/text.h"

#define DIGITS_MOST 6 /* of TEXT_NAME_NUMBER_MOST */
/* Shown as a blank, although Unicode does not count it as one. */
#define BRAILLE_BLANK 0x2800

/* Most names are ASCII: they need no tables. */
static struct slice ascii_key(struct arena *arena, struct slice name)
{
	char *key = arena_alloc(arena, name.size + 1);
	bool has_blank = false;
	size_t n = 0;

	for (size_t i = 0; i < name.size; i++) {
		const char byte = name.data[i];

		if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
			has_blank = n > 0;
			continue;
		}
		if (byte < ' ' || byte == 0x7f)
			continue;
		if (has_blank)
			key[n++] = ' ';
		has_blank = false;
		key[n++] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
	}
	return (struct slice){ key, n };
}

struct slice text_name_key(struct arena *arena, struct slice name)
{
	struct buffer key = BUFFER_INITIAL(arena);
	bool has_blank = false;
	struct slice rest;
	uint8_t *folded;
	size_t size = 0;

	while (size < name.size && (unsigned char)name.data[size] < 0x80)
		size++;
	if (size == name.size)
		return ascii_key(arena, name);
	folded = u8_casefold((const uint8_t *)name.data, name.size, NULL, UNINORM_NFKC, NULL,
			     &size);
	memory_check(folded);
	rest = (struct slice){ (const char *)folded, size };
	while (rest.size > 0) {
		const struct slice before = rest;
		const uint32_t character = text_take_character(&rest);
		const struct slice one = { before.data, before.size - rest.size };

		if (uc_is_property_white_space((ucs4_t)character) || character == BRAILLE_BLANK) {
			has_blank = key.size > 0;
			continue;
		}
		if (text_is_blank(one) ||
		    uc_is_property_default_ignorable_code_point((ucs4_t)character))
			continue;
		if (has_blank)
			buffer_append_byte(&key, ' ');
		has_blank = false;
		buffer_append(&key, one);
	}
	free(folded);
	return buffer_slice(&key);
}

uint32_t text_name_number(struct slice key, bool in_brackets, struct slice *base)
{
	size_t end = key.size, start;
	uint32_t number = 0;

	*base = key;
	if (in_brackets && (end == 0 || key.data[--end] != ')'))
		return 0;
	for (start = end; start > 0 && key.data[start - 1] >= '0' && key.data[start - 1] <= '9';
	     start--)
		continue;
	if (start == end || end - start > DIGITS_MOST || key.data[start] == '0')
		return 0;
	for (size_t i = start; i < end; i++)
		number = 10 * number + (uint32_t)(key.data[i] - '0');
	if (in_brackets && (start == 0 || key.data[--start] != '(' || number == 1))
		return 0;
	if (start < 2 || key.data[start - 1] != ' ')
		return 0;
	base->size = start - 1;
	return number;
}

struct slice text_name_numbered(struct arena *arena, struct slice name, bool in_brackets,
				uint32_t number, size_t most)
{
	const struct slice end =
		slice_of(arena_text(arena, in_brackets ? " (%u)" : " %u", (unsigned)number));
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append(&text, text_cut(name, most - end.size));
	buffer_append(&text, end);
	return buffer_slice(&text);
}
