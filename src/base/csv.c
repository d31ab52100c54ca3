/* See base/csv.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"

#include "base/text.h"

#define BYTE_ORDER_MARK 0xfeff

/* Returns true if a spreadsheet may take a cell that begins so for a formula. */
static bool begins_formula(struct slice text)
{
	uint32_t character;

	/* Quotation marks before it: a program that expects another separator may read two of them
	 * as an empty text, and what follows as the rest of the cell. */
	while (text.size > 0 && *text.data == '"')
		text = (struct slice){ text.data + 1, text.size - 1 };
	if (text.size == 0)
		return false;
	character = text_take_character(&text);
	return (character < 0x80 && memchr("=+-@\t\r\n", (int)character, 7) != NULL) ||
	       character == BYTE_ORDER_MARK || character == 0xff0b || character == 0xff0d ||
	       character == 0xff1d || character == 0xff20;
}

static bool is_separator(char byte)
{
	return byte == ',' || byte == ';' || byte == '\t';
}

void csv_append_cell(struct buffer *text, struct slice cell)
{
	const char *const end = cell.data + cell.size;
	bool needs_quotes = false, is_first = true;

	for (size_t i = 0; i < cell.size; i++)
		needs_quotes = needs_quotes || memchr(",;\"", cell.data[i], 3) != NULL;
	if (needs_quotes)
		buffer_append_byte(text, '"');
	for (struct slice rest = cell; rest.size > 0;) {
		const char *const at = rest.data;
		uint32_t character;

		if ((is_first || is_separator(at[-1])) && begins_formula(rest))
			buffer_append_byte(text, '\'');
		is_first = false;
		character = text_take_character(&rest);
		if (text_has_controls((struct slice){ at, (size_t)(end - at) - rest.size })) {
			buffer_append_byte(text, ' ');
			continue;
		}
		if (character == '"')
			buffer_append_byte(text, '"');
		buffer_append(text, (struct slice){ at, (size_t)(end - at) - rest.size });
	}
	if (needs_quotes)
		buffer_append_byte(text, '"');
}
