/* See base/text.h: UTF-8, percent-encoding, secrets, values in messages.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <assert.h>
#include <stdint.h>

#include "base/memory.h"

/* --- UTF-8 --- */

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Returns the size of the character at `at`, or 0 if it is incomplete, overlong or not allowed. */
static size_t character_size(const unsigned char *at, size_t left)
{
	unsigned char first = at[0];
	size_t size = first < 0x80   ? 1
		      : first < 0xc2 ? 0
		      : first < 0xe0 ? 2
		      : first < 0xf0 ? 3
		      : first < 0xf5 ? 4
				     : 0;

	if (size == 0 || size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if (!is_continuation(at[i]))
			return 0;
	if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xf0 && at[1] < 0x90))
		return 0; /* overlong */
	if ((first == 0xed && at[1] >= 0xa0) || (first == 0xf4 && at[1] >= 0x90))
		return 0; /* a surrogate, or beyond U+10FFFF */
	return size;
}

size_t text_utf8_size(struct slice text)
{
	const unsigned char *bytes = (const unsigned char *)text.data;
	size_t i = 0;

	while (i < text.size) {
		size_t size = character_size(bytes + i, text.size - i);

		if (size == 0)
			break;
		i += size;
	}
	return i;
}

bool text_is_utf8(struct slice text)
{
	return text_utf8_size(text) == text.size;
}

uint32_t text_take_character(struct slice *text)
{
	const unsigned char *at = (const unsigned char *)text->data;
	uint32_t character = at[0];
	size_t size = 1;

	if (character >= 0xc0)
		character &= character < 0xe0 ? 0x1f : character < 0xf0 ? 0x0f : 0x07;
	for (; size < text->size && (at[size] & 0xc0) == 0x80; size++)
		character = character << 6 | (at[size] & 0x3f);
	*text = (struct slice){ text->data + size, text->size - size };
	return character;
}

static bool is_invisible(uint32_t character)
{
	/* First and last character of each range, ascending. */
	static const uint32_t ranges[][2] = {
		{ 0x0000, 0x0020 },   { 0x007f, 0x00a0 },   { 0x00ad, 0x00ad },
		{ 0x034f, 0x034f },   { 0x061c, 0x061c },   { 0x115f, 0x1160 },
		{ 0x1680, 0x1680 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x2000, 0x200f },   { 0x2028, 0x202f },   { 0x205f, 0x206f },
		{ 0x2800, 0x2800 },   { 0x3000, 0x3000 },   { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },   { 0x1d159, 0x1d159 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
		if (character <= ranges[i][1])
			return character >= ranges[i][0];
	}
	return false;
}

bool text_is_blank(struct slice text)
{
	while (text.size > 0) {
		const uint32_t character = text_take_character(&text);

		/* The format controls of shorthand are not among the others, because text_folded
		 * never changes. */
		if (!is_invisible(character) && (character < 0x1bca0 || character > 0x1bca3))
			return false;
	}
	return true;
}

/* Returns the lower case of a letter; both have as many bytes. */
static uint32_t lower_character(uint32_t character)
{
	/* First and last capital of each range, the distance to its lower case, and the step
	 * between capitals. */
	static const struct {
		uint32_t first, last, distance, step;
	} ranges[] = {
		{ 'A', 'Z', 32, 1 },	 { 0xc0, 0xd6, 32, 1 },	  { 0xd8, 0xde, 32, 1 },
		{ 0x100, 0x12e, 1, 2 },	 { 0x132, 0x136, 1, 2 },  { 0x139, 0x147, 1, 2 },
		{ 0x14a, 0x176, 1, 2 },	 { 0x179, 0x17d, 1, 2 },  { 0x391, 0x3a1, 32, 1 },
		{ 0x3a3, 0x3ab, 32, 1 }, { 0x400, 0x40f, 80, 1 }, { 0x410, 0x42f, 32, 1 },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
		if (character >= ranges[i].first && character <= ranges[i].last &&
		    (character - ranges[i].first) % ranges[i].step == 0)
			return character + ranges[i].distance;
	}
	return character;
}

struct slice text_folded(struct arena *arena, struct slice text)
{
	struct buffer folded = BUFFER_INITIAL(arena);

	while (text.size > 0) {
		const struct slice before = text;
		const uint32_t character = text_take_character(&text);
		const uint32_t lower = lower_character(character);

		if (is_invisible(character))
			continue;
		if (lower == character) {
			buffer_append(&folded,
				      (struct slice){ before.data, before.size - text.size });
		} else if (lower < 0x80) {
			buffer_append_byte(&folded, (char)lower);
		} else {
			buffer_append_byte(&folded, (char)(0xc0 | lower >> 6));
			buffer_append_byte(&folded, (char)(0x80 | (lower & 0x3f)));
		}
	}
	return buffer_slice(&folded);
}

/* Takes the next character that a person sees, in lower case; a blank counts as one. Returns 0 at
 * the end. */
static uint32_t take_seen(struct slice *text)
{
	while (text->size > 0) {
		const uint32_t character = text_take_character(text);

		if (character == ' ' || !is_invisible(character))
			return lower_character(character);
	}
	return 0;
}

static bool begins_folded(struct slice text, struct slice prefix)
{
	uint32_t character;

	do
		character = take_seen(&prefix);
	while (character != 0 && take_seen(&text) == character);
	return character == 0;
}

bool text_contains_folded(struct slice text, struct slice part)
{
	while (!begins_folded(text, part)) {
		if (take_seen(&text) == 0)
			return false;
	}
	return true;
}

/* Returns the size in bytes of the control character or line break at the beginning of the text, or
 * 0 if the text begins with another character. U+0080 to U+009F have two bytes; U+2028 and U+2029
 * have three. */
static size_t control_or_break_size(struct slice text)
{
	const unsigned char *bytes = (const unsigned char *)text.data;

	if (bytes[0] < ' ' || bytes[0] == 0x7f)
		return 1;
	if (bytes[0] == 0xc2 && text.size > 1 && bytes[1] < 0xa0)
		return 2;
	return bytes[0] == 0xe2 && text.size > 2 && bytes[1] == 0x80 && (bytes[2] | 1) == 0xa9 ? 3
											       : 0;
}

bool text_has_controls(struct slice text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (control_or_break_size((struct slice){ text.data + i, text.size - i }) > 0)
			return true;
	}
	return false;
}

size_t text_without_controls(struct slice text, char *clean)
{
	size_t n = 0;

	for (size_t i = 0, size; i < text.size; i += size) {
		const struct slice rest = { text.data + i, text.size - i };

		size = control_or_break_size(rest);
		if (size == 0) {
			clean[n++] = text.data[i];
			size = 1;
		} else if (slice_begins(rest, SLICE("\r\n"))) {
			clean[n++] = ' ';
			size = 2;
		} else if ((*rest.data >= '\t' && *rest.data <= '\r') || size == 3 ||
			   slice_begins(rest, SLICE("\xc2\x85"))) {
			clean[n++] = ' ';
		}
	}
	return n;
}

/* Returns the size in bytes of the Bidi_Control character at the beginning of the text, or 0. */
static size_t bidi_size(struct slice text)
{
	const unsigned char *bytes = (const unsigned char *)text.data;

	if (text.size >= 2 && bytes[0] == 0xd8 && bytes[1] == 0x9c)
		return 2;
	if (text.size < 3 || bytes[0] != 0xe2)
		return 0;
	if (bytes[1] == 0x80)
		return bytes[2] == 0x8e || bytes[2] == 0x8f ||
				       (bytes[2] >= 0xaa && bytes[2] <= 0xae)
			       ? 3
			       : 0;
	return bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9 ? 3 : 0;
}

bool text_has_bidi(struct slice text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (bidi_size((struct slice){ text.data + i, text.size - i }) > 0)
			return true;
	}
	return false;
}

size_t text_remove_bidi(struct slice text, char *clean)
{
	size_t n = 0;

	for (size_t i = 0; i < text.size;) {
		const size_t size = bidi_size((struct slice){ text.data + i, text.size - i });

		if (size == 0)
			clean[n++] = text.data[i];
		i += size == 0 ? 1 : size;
	}
	return n;
}

struct slice text_without_bidi(struct arena *arena, struct slice text)
{
	char *clean;

	if (!text_has_bidi(text))
		return text;
	clean = arena_alloc(arena, text.size);
	return (struct slice){ clean, text_remove_bidi(text, clean) };
}

size_t text_size_in_json(struct slice text)
{
	size_t size = 2;

	for (size_t i = 0; i < text.size; i++) {
		const unsigned char byte = (unsigned char)text.data[i];

		size += byte < ' ' ? sizeof "\\u0000" - 1 : byte == '"' || byte == '\\' ? 2 : 1;
	}
	return size;
}

/* The role of a byte in a JSON string. */
enum string_byte { PLAIN, STOPS, ABOVE_ASCII };

#define EIGHT(what) what, what, what, what, what, what, what, what
#define THIRTY_TWO(what) EIGHT(what), EIGHT(what), EIGHT(what), EIGHT(what)
static const unsigned char string_bytes[256] = {
	THIRTY_TWO(STOPS),	 ['"'] = STOPS,
	['\\'] = STOPS,		 [0x80] = THIRTY_TWO(ABOVE_ASCII),
	THIRTY_TWO(ABOVE_ASCII), THIRTY_TWO(ABOVE_ASCII),
	THIRTY_TWO(ABOVE_ASCII),
};

struct plain text_plain(struct slice text)
{
	const unsigned char *bytes = (const unsigned char *)text.data;
	struct plain plain = { 0 };

	while (plain.size < text.size && string_bytes[bytes[plain.size]] == PLAIN)
		plain.size++;
	plain.is_ascii = plain.size == text.size || string_bytes[bytes[plain.size]] == STOPS;
	while (plain.size < text.size && string_bytes[bytes[plain.size]] != STOPS)
		plain.size++;
	return plain;
}

size_t text_characters(struct slice text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.size; i++)
		n += !is_continuation((unsigned char)text.data[i]);
	return n;
}

struct slice text_cut(struct slice text, size_t most)
{
	if (text.size <= most)
		return text;
	while (most > 0 && is_continuation((unsigned char)text.data[most]))
		most--;
	return (struct slice){ text.data, most };
}

/* --- Parts --- */

struct slice text_split(struct slice text, char separator, struct slice *rest)
{
	const char *found = text.size == 0 ? NULL : memchr(text.data, separator, text.size);

	if (found == NULL) {
		*rest = (struct slice){ NULL, 0 };
		return text;
	}

	size_t size = (size_t)(found - text.data);

	*rest = (struct slice){ found + 1, text.size - size - 1 };
	return (struct slice){ text.data, size };
}

static bool is_among(char byte, const char *bytes)
{
	return memchr(bytes, byte, strlen(bytes)) != NULL;
}

struct slice text_trim(struct slice text, const char *blanks)
{
	while (text.size > 0 && is_among(text.data[text.size - 1], blanks))
		text.size--;
	while (text.size > 0 && is_among(*text.data, blanks))
		text = (struct slice){ text.data + 1, text.size - 1 };
	return text;
}

/* --- ASCII letters --- */

static char lower(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

struct slice text_lower(struct arena *arena, struct slice text)
{
	char *result = arena_alloc(arena, text.size + 1);

	for (size_t i = 0; i < text.size; i++)
		result[i] = lower(text.data[i]);
	result[text.size] = '\0';
	return (struct slice){ result, text.size };
}

void text_camel_case(const char *name, char *camel, size_t size)
{
	size_t n = 0;

	for (const char *from = name; *from != '\0'; from++) {
		const bool is_upper = *from == '_';

		if (is_upper)
			from++;
		assert(n + 1 < size);
		camel[n++] = is_upper ? (char)(*from - 'a' + 'A') : *from;
	}
	camel[n] = '\0';
}

bool text_equal_ignoring_case(struct slice a, struct slice b)
{
	if (a.size != b.size)
		return false;
	for (size_t i = 0; i < a.size; i++)
		if (lower(a.data[i]) != lower(b.data[i]))
			return false;
	return true;
}

bool text_contains_ignoring_case(struct slice text, struct slice part)
{
	for (size_t i = 0; i + part.size <= text.size; i++)
		if (text_equal_ignoring_case((struct slice){ text.data + i, part.size }, part))
			return true;
	return false;
}

bool text_begins_ignoring_case(struct slice text, struct slice prefix)
{
	return text.size >= prefix.size &&
	       text_equal_ignoring_case((struct slice){ text.data, prefix.size }, prefix);
}

/* --- URLs --- */

struct slice text_url_authority(struct slice url)
{
	size_t start = 0, end;

	while (start < url.size && strchr("/?#", url.data[start]) == NULL)
		start++;
	if (url.size - start < 2 || memcmp(url.data + start, "//", 2) != 0)
		return (struct slice){ NULL, 0 };
	start += 2;
	for (end = start; end < url.size && strchr("/?#", url.data[end]) == NULL; end++)
		continue;
	return (struct slice){ url.data + start, end - start };
}

bool text_url_split_port(struct slice authority, struct slice *host, unsigned *port)
{
	size_t start = authority.size;
	struct slice digits;
	int64_t number;

	while (start > 0 && strchr(":]@", authority.data[start - 1]) == NULL)
		start--;
	*host = authority;
	*port = 0;
	if (start == 0 || authority.data[start - 1] != ':')
		return true;
	host->size = start - 1;
	digits = (struct slice){ authority.data + start, authority.size - start };
	if (digits.size == 0)
		return true;
	if (digits.size > 5 || !text_integer(digits, &number) || number < 1 || number > 65535)
		return false;
	*port = (unsigned)number;
	return true;
}

bool text_url_has_right_port(struct slice url)
{
	struct slice host;
	unsigned port;

	return text_url_split_port(text_url_authority(url), &host, &port);
}

bool text_url_is_origin(struct slice url)
{
	static const char others[] = ".-_:[]";
	const struct slice authority = text_url_authority(url);
	struct slice host;
	unsigned port;

	if ((!slice_begins(url, SLICE("https://")) && !slice_begins(url, SLICE("http://"))) ||
	    authority.data == NULL || !text_url_split_port(authority, &host, &port) ||
	    host.size == 0 || authority.data + authority.size != url.data + url.size)
		return false;
	for (size_t i = 0; i < authority.size; i++) {
		const char c = authority.data[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    (c == '\0' || strchr(others, c) == NULL))
			return false;
	}
	return true;
}

/* --- Terminals --- */

/* Returns the size in bytes of the control character at the beginning of the text, or 0 if the text
 * begins with another character. U+0080 to U+009F have two bytes. */
static size_t control_size(struct slice text)
{
	unsigned char first = (unsigned char)text.data[0];

	if (first < ' ' || first == 0x7f)
		return 1;
	return first == 0xc2 && text.size > 1 && (unsigned char)text.data[1] < 0xa0 ? 2 : 0;
}

/* In a text that is not UTF-8, bytes from 0x80 to 0x9f may be control characters, as in Latin-1. */
struct slice text_visible(struct arena *arena, struct slice text)
{
	const bool is_utf8 = text_is_utf8(text);
	struct buffer visible = BUFFER_INITIAL(arena);
	size_t controls = 0;

	for (size_t i = 0, size; i < text.size; i += size == 0 ? 1 : size) {
		size = control_size((struct slice){ text.data + i, text.size - i });
		if (!is_utf8 && (unsigned char)text.data[i] >= 0x80)
			size = 1;
		controls += size;
		if (size == 0)
			buffer_append_byte(&visible, text.data[i]);
		for (size_t j = 0; j < size; j++)
			buffer_append_text(&visible, arena_text(arena, "\\x%02x",
								(unsigned char)text.data[i + j]));
	}
	return controls == 0 ? text : buffer_slice(&visible);
}

struct slice text_visible_json(struct arena *arena, struct slice json)
{
	struct buffer visible = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < json.size; i++) {
		const size_t size = control_size((struct slice){ json.data + i, json.size - i });
		const char c = json.data[i];

		if (size == 2)
			buffer_append_text(&visible, arena_text(arena, "\\u00%02x",
								(unsigned char)json.data[++i]));
		else if (c == 0x7f)
			buffer_append_text(&visible, "\\u007f");
		else
			buffer_append_byte(&visible, c == '\r' ? ' ' : c);
	}
	return buffer_slice(&visible);
}

/* --- Hexadecimal digits, percent-encoding --- */

int text_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit = lower(digit);
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

void text_hex(const void *bytes, size_t size, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *each = bytes;

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[each[i] >> 4];
		text[2 * i + 1] = digits[each[i] & 15];
	}
}

/* Returns the byte of the escape at `at`, or -1 if it is invalid or not allowed. */
static int decode_escape(const char *at, size_t left, enum text_place place)
{
	if (left < 3)
		return -1;

	int high = text_hex_value(at[1]);
	int low = text_hex_value(at[2]);
	int byte = high * 16 + low;

	if (high < 0 || low < 0 || byte == 0)
		return -1;
	return place == TEXT_PATH && byte == '/' ? -1 : byte;
}

bool text_decode(struct arena *arena, struct slice encoded, enum text_place place,
		 struct slice *decoded)
{
	char *text = arena_alloc(arena, encoded.size + 1);
	size_t size = 0;

	for (size_t i = 0; i < encoded.size; i++) {
		char byte = encoded.data[i];

		if (byte == '\0')
			return false;
		if (byte == '%') {
			int value = decode_escape(encoded.data + i, encoded.size - i, place);

			if (value < 0)
				return false;
			byte = (char)value;
			i += 2;
		} else if (byte == '+' && place == TEXT_QUERY) {
			byte = ' ';
		}
		text[size++] = byte;
	}
	text[size] = '\0';
	*decoded = (struct slice){ text, size };
	return text_is_utf8(*decoded);
}

void text_encode(struct buffer *encoded, struct slice text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.size; i++) {
		const unsigned char byte = (unsigned char)text.data[i];
		const bool is_unreserved = (byte >= 'a' && byte <= 'z') ||
					   (byte >= 'A' && byte <= 'Z') ||
					   (byte >= '0' && byte <= '9') ||
					   (byte != '\0' && strchr("-._~", byte) != NULL);

		if (is_unreserved) {
			buffer_append_byte(encoded, text.data[i]);
			continue;
		}
		buffer_append_byte(encoded, '%');
		buffer_append_byte(encoded, digits[byte >> 4]);
		buffer_append_byte(encoded, digits[byte & 15]);
	}
}

void text_append_parameter(struct buffer *path, const char *name, const char *value)
{
	if (value == NULL)
		return;
	buffer_append_byte(path, memchr(path->data, '?', path->size) == NULL ? '?' : '&');
	buffer_append_text(path, name);
	buffer_append_byte(path, '=');
	text_encode(path, slice_of(value));
}

bool text_query(struct arena *arena, struct slice query, struct parameter **parameters, size_t *n,
		struct slice *bad)
{
	size_t parts = 1;

	for (size_t i = 0; i < query.size; i++)
		parts += query.data[i] == '&';
	*parameters = arena_alloc(arena, parts * sizeof **parameters);
	*n = 0;
	while (query.size > 0) {
		struct slice part = text_split(query, '&', &query), value;
		struct slice name = text_split(part, '=', &value);
		struct parameter *parameter = *parameters + *n;

		if (part.size == 0)
			continue;
		*parameter = (struct parameter){ .value = { NULL, 0 } };
		if (!text_decode(arena, name, TEXT_QUERY, &parameter->name) ||
		    (value.data != NULL &&
		     !text_decode(arena, value, TEXT_QUERY, &parameter->value))) {
			*bad = part;
			return false;
		}
		++*n;
	}
	return true;
}

/* --- Secrets --- */

bool text_equal_secret(struct slice a, struct slice b)
{
	/* volatile prevents the compiler from leaving the loops early. */
	volatile uint64_t difference = 0;
	uint64_t left, right;
	size_t i = 0;

	if (a.size != b.size)
		return false;
	for (; i + sizeof left <= a.size; i += sizeof left) {
		memcpy(&left, a.data + i, sizeof left);
		memcpy(&right, b.data + i, sizeof right);
		difference = difference | (left ^ right);
	}
	for (; i < a.size; i++)
		difference = difference | (uint64_t)(a.data[i] ^ b.data[i]);
	return difference == 0;
}

/* --- JSON strings --- */

json_t *json_of_text(struct slice text)
{
	return memory_check(json_stringn_nocheck(text.data, text.size));
}

struct slice text_of_json(const json_t *string)
{
	return (struct slice){ json_string_value(string), json_string_length(string) };
}

/* --- Values in messages --- */

#define SHOWN_CHARACTERS 64

struct slice text_first(struct slice text, size_t n)
{
	size_t size = 0;

	while (size < text.size) {
		if (!is_continuation((unsigned char)text.data[size]) && n-- == 0)
			break;
		size++;
	}
	return (struct slice){ text.data, size };
}

struct slice json_as_text(struct arena *arena, const json_t *value)
{
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_json(&text, value);
	return buffer_slice(&text);
}

struct slice text_shown(struct arena *arena, const json_t *value)
{
	struct buffer string = BUFFER_INITIAL(arena);
	struct slice whole, shown;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return SLICE("an object");
	case JSON_ARRAY:
		return SLICE("an array");
	case JSON_STRING:
		whole = text_of_json(value);
		shown = text_first(whole, SHOWN_CHARACTERS);
		buffer_append_json(&string,
				   arena_json(arena, json_stringn_nocheck(shown.data, shown.size)));
		if (shown.size < whole.size)
			buffer_append_text(&string, "...");
		return buffer_slice(&string);
	case JSON_REAL:
	case JSON_INTEGER:
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_NULL:
		break;
	}
	shown = json_as_text(arena, value);
	/* Shown as in a response, except that a real that only looks integral has all its
	 * digits. */
	if (shown.size > 2 && memcmp(shown.data + shown.size - 2, ".0", 2) == 0)
		return slice_of(arena_text(arena, "%.17g", json_real_value(value)));
	return shown;
}

void text_pointer(struct buffer *pointer, struct slice name)
{
	buffer_append_byte(pointer, '/');
	for (size_t i = 0; i < name.size; i++) {
		if (name.data[i] == '~')
			buffer_append_text(pointer, "~0");
		else if (name.data[i] == '/')
			buffer_append_text(pointer, "~1");
		else
			buffer_append_byte(pointer, name.data[i]);
	}
}
