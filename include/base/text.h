/* Texts of the wire: percent-encoding, query strings, times, comparison of secrets. Nothing here
 * allocates but from the arena it is given; all functions may be called from any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* Decodes %XX once (decisions.md section 1). False for a bad escape, an encoded NUL, or a result
 * that is not UTF-8; in a path segment also for an encoded '/'. In a query '+' is a space. */
enum text_place { TEXT_PATH, TEXT_QUERY };
bool text_decode(struct arena *arena, struct slice encoded, enum text_place place,
		 struct slice *decoded);

/* One name=value of a query string, decoded. `value.data` is NULL where there is no '='. */
struct parameter {
	struct slice name;
	struct slice value;
};

/* Splits and decodes a query string (without '?'). False when one part cannot be decoded; *bad is
 * that part then, as sent. Empty parts ("a=1&&b=2") are skipped. Order is kept. */
bool text_query(struct arena *arena, struct slice query, struct parameter **parameters, size_t *n,
		struct slice *bad);

bool text_is_utf8(struct slice text);
/* How many bytes from its beginning are UTF-8. */
size_t text_utf8_size(struct slice text);
/* Unicode code points of a text that is UTF-8. */
size_t text_characters(struct slice text);
/* The longest prefix of at most `most` bytes that ends at a whole character. */
struct slice text_cut(struct slice text, size_t most);
/* The first n characters, or all. */
struct slice text_first(struct slice text, size_t n);
/* What stands as it is in a string of JSON, up to a control character, quote or backslash. */
struct plain {
	size_t size;
	bool is_ascii;
};
struct plain text_plain(struct slice text);
/* ASCII letters only; the result lives in the arena. */
struct slice text_lower(struct arena *arena, struct slice text);
bool text_equal_ignoring_case(struct slice a, struct slice b);
/* -1 for what is no hexadecimal digit. */
int text_hex_value(char digit);
/* Two lower-case hexadecimal digits for each byte; not terminated. */
void text_hex(const void *bytes, size_t size, char *text);
/* Without '+', spaces, or overflow; decimal digits with an optional '-'. */
bool text_integer(struct slice text, int64_t *value);
/* The number of JSON that a text begins with, of size 0 when it begins with none ("01", "1."). *is_real:
 * whether it has a point or an exponent. */
struct slice text_number(struct slice text, bool *is_real);
/* A number of JSON with a point or an exponent; false when it is beyond a double. One that is no
 * integer never becomes a double that is one, however close it is: it comes out beside it. */
bool text_real(struct arena *arena, struct slice literal, double *value);

/* Times are milliseconds since 1970-01-01T00:00:00Z, from year 1 to 9999. */
#define TEXT_TIME_SIZE 25
/* "2026-01-31T12:34:56.789Z" and "2026-01-31T12:34:56Z"; `out` is terminated. */
void text_time_milliseconds(int64_t time, char out[TEXT_TIME_SIZE]);
void text_time_seconds(int64_t time, char out[TEXT_TIME_SIZE]);
/* RFC 3339 with Z or an offset, any number of decimals (cut after three), or a date alone
 * (midnight UTC). False for anything else, an impossible date too; a leap second counts as the
 * last millisecond of its minute. */
bool text_time_parse(struct slice text, int64_t *time);
/* The same, but a time between two milliseconds, and a leap second, is the later one: so that what is
 * not before it is not before the text. It may be one above the last time there is. */
bool text_time_parse_up(struct slice text, int64_t *time);

/* base64url without padding (RFC 4648 section 5). Decoding refuses padding, other alphabets, white
 * space, and bits left over that are not zero. */
struct slice text_base64url(struct arena *arena, struct slice bytes);
bool text_base64url_decode(struct arena *arena, struct slice text, struct slice *bytes);

/* Its time depends on the sizes alone. */
bool text_equal_secret(struct slice a, struct slice b);

/* The characters of a JSON string, borrowed from it; data NULL for NULL or another kind of value. */
struct slice text_of_json(const json_t *string);

/* A value for a message: at most 64 characters of it, in JSON's notation, cut with "...". */
struct slice text_shown(struct arena *arena, const json_t *value);

/* Appends one segment of a JSON Pointer (RFC 6901): '/', then the name with ~0 and ~1. */
void text_pointer(struct buffer *pointer, struct slice name);

#endif
