/* See base/json_writer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_writer.h"

#include "base/text.h"

/* ---- strings in ASCII ---- */

#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
#define THIRTY_TWO EIGHT, EIGHT, EIGHT, EIGHT
/* clang-format off */
static const bool is_escaped[256] = {
	THIRTY_TWO, /* control characters */
	['"'] = 1, ['>'] = 1, ['?'] = 1, ['\\'] = 1, ['~'] = 1, [0x7f] = 1,
	[0x80] = THIRTY_TWO, THIRTY_TWO, THIRTY_TWO, THIRTY_TWO, /* above ASCII */
};
/* clang-format on */

static void append_unit(struct buffer *buffer, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";

	buffer_append(buffer, SLICE("\\u"));
	for (int shift = 12; shift >= 0; shift -= 4)
		buffer_append_byte(buffer, digits[unit >> shift & 0xf]);
}

/* ---- members ---- */

/* Appends what precedes a value: a comma unless it is the first one or follows its name, and the
 * name. A bracket or a colon at the end of the text was just written, because inside a string it is
 * followed by a quote. */
static struct buffer *begin(struct json_writer *writer, const char *name)
{
	struct buffer *text = &writer->text;
	const size_t size = name == NULL ? 0 : strlen(name);
	char *to = buffer_reserve(text, size + 4);
	const char last = to[-1];

	if (last != '{' && last != '[' && last != ':')
		*to++ = ',';
	if (name != NULL) {
		*to++ = '"';
		memcpy(to, name, size);
		to += size;
		*to++ = '"';
		*to++ = ':';
	}
	text->size = (size_t)(to - text->data);
	return text;
}

struct json_writer writer_begin(struct arena *arena, bool for_jwt)
{
	struct json_writer writer = { BUFFER_INITIAL(arena), for_jwt };

	buffer_append_byte(&writer.text, '{');
	return writer;
}

struct slice writer_end(struct json_writer *writer)
{
	buffer_append_byte(&writer->text, '}');
	return buffer_slice(&writer->text);
}

void writer_open(struct json_writer *writer, const char *name, char bracket)
{
	buffer_append_byte(begin(writer, name), bracket);
}

void writer_close(struct json_writer *writer, char bracket)
{
	buffer_append_byte(&writer->text, bracket);
}

void writer_text(struct json_writer *writer, const char *name, struct slice text)
{
	struct buffer *buffer = begin(writer, name);

	if (!writer->for_jwt) {
		buffer_append_string(buffer, text);
		return;
	}
	buffer_append_byte(buffer, '"');
	while (text.size > 0) {
		size_t plain = 0;
		uint32_t character;

		while (plain < text.size && !is_escaped[(unsigned char)text.data[plain]])
			plain++;
		buffer_append(buffer, (struct slice){ text.data, plain });
		text = (struct slice){ text.data + plain, text.size - plain };
		if (text.size == 0)
			break;
		character = text_take_character(&text);
		if (character < 0x10000) {
			append_unit(buffer, character);
		} else {
			append_unit(buffer, 0xd800 | (character - 0x10000) >> 10);
			append_unit(buffer, 0xdc00 | ((character - 0x10000) & 0x3ff));
		}
	}
	buffer_append_byte(buffer, '"');
}

void writer_name(struct json_writer *writer, struct slice name)
{
	writer_text(writer, NULL, name);
	buffer_append_byte(&writer->text, ':');
}

void writer_plain(struct json_writer *writer, const char *name, struct slice text)
{
	struct buffer *buffer = begin(writer, name);

	buffer_append_byte(buffer, '"');
	buffer_append(buffer, text);
	buffer_append_byte(buffer, '"');
}

void writer_integer(struct json_writer *writer, const char *name, int64_t value)
{
	buffer_append_integer(begin(writer, name), value);
}

void writer_flag(struct json_writer *writer, const char *name, bool value)
{
	buffer_append(begin(writer, name), value ? SLICE("true") : SLICE("false"));
}

void writer_time(struct json_writer *writer, const char *name, int64_t time)
{
	buffer_append_time_seconds(begin(writer, name), time);
}

void writer_time_milliseconds(struct json_writer *writer, const char *name, int64_t time)
{
	buffer_append_time_milliseconds(begin(writer, name), time);
}

void writer_seconds(struct json_writer *writer, const char *name, uint64_t microseconds)
{
	buffer_append_seconds(begin(writer, name), microseconds);
}

void writer_value(struct json_writer *writer, const char *name, const json_t *value)
{
	buffer_append_json(begin(writer, name), value);
}

void writer_json(struct json_writer *writer, const char *name, struct slice json)
{
	buffer_append(begin(writer, name), json);
}
