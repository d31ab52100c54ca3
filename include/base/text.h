/* Text functions for the protocol: percent-encoding, query strings, UTF-8, numbers, times,
 * comparison of secrets. They allocate only from the given arena. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* Doubles represent every integer below 2^53, but not above. */
#define DOUBLE_EXACT_BELOW 9007199254740992.0

/* Decodes %XX once. Returns false for an invalid escape, an encoded NUL, a result that is not UTF-8
 * and, in a path segment, an encoded '/'. In a query, '+' becomes a space. */
enum text_place { TEXT_PATH, TEXT_QUERY };
bool text_decode(struct arena *arena, struct slice encoded, enum text_place place,
		 struct slice *decoded);

/* Appends the text percent-encoded, for a path segment or a query: escapes all but the unreserved
 * characters of RFC 3986, with upper-case digits. */
void text_encode(struct buffer *encoded, struct slice text);
/* Appends "?name=value" to an encoded path, or "&name=value" if it has a query already. Appends
 * nothing if `value` is NULL. */
void text_append_parameter(struct buffer *path, const char *name, const char *value);

/* A decoded query parameter. `value.data` is NULL if there was no '='. */
struct parameter {
	struct slice name;
	struct slice value;
};

/* Splits and decodes a query string (without '?'). Skips empty parts ("a=1&&b=2"). Returns false if
 * a part cannot be decoded; *bad is then that part as sent. */
bool text_query(struct arena *arena, struct slice query, struct parameter **parameters, size_t *n,
		struct slice *bad);

bool text_is_utf8(struct slice text);
/* Returns true if the UTF-8 text consists of blanks and invisible characters: controls, zero-width
 * and format characters, fillers, variation selectors. */
bool text_is_blank(struct slice text);
/* Returns what a person sees of a UTF-8 text, for comparing: without blanks and invisible
 * characters, and with Latin, Greek and Cyrillic letters in lower case. The ids of stored records
 * are made of it, so it never changes; text_name_key (base/text_name.h) knows all scripts. */
struct slice text_folded(struct arena *arena, struct slice text);
/* Returns true if the UTF-8 text has a control character (C0, C1, DEL) or one of the line breaks
 * U+2028 and U+2029. */
bool text_has_controls(struct slice text);
/* Writes the UTF-8 text without such characters to `clean`, which has text.size bytes: a tab or a
 * line break becomes a blank, CR and LF together one; others are left out. Returns the size. */
size_t text_without_controls(struct slice text, char *clean);
/* Returns true if the UTF-8 text has a control character of the bidirectional algorithm
 * (Bidi_Control of Unicode), which can change the order in which the text around it is shown. */
bool text_has_bidi(struct slice text);
/* Writes the text without such characters to `clean`, which has text.size bytes and may be the text
 * itself. Returns the size. */
size_t text_remove_bidi(struct slice text, char *clean);
/* Returns the text itself if it has none, else a copy in the arena without them. */
struct slice text_without_bidi(struct arena *arena, struct slice text);
/* Returns the number of bytes that the text has in JSON, with its quotes, or a few more. */
size_t text_size_in_json(struct slice text);
/* Returns the length of the longest valid UTF-8 prefix, in bytes. */
size_t text_utf8_size(struct slice text);
/* Returns the number of Unicode code points of a UTF-8 text. */
size_t text_characters(struct slice text);
/* Removes the first character from *text, non-empty UTF-8, and returns it. */
uint32_t text_take_character(struct slice *text);
/* Returns the longest prefix of at most `most` bytes that ends with a whole character. */
struct slice text_cut(struct slice text, size_t most);
/* Returns the first n characters, or the whole text if it is shorter. */
struct slice text_first(struct slice text, size_t n);
/* Returns the longest prefix that needs no escape in a JSON string. */
struct plain {
	size_t size;
	bool is_ascii;
};
struct plain text_plain(struct slice text);
/* Returns the part before the first `separator` and sets *rest to the part after it. Without a
 * separator, returns the whole text and sets rest->data to NULL. */
struct slice text_split(struct slice text, char separator, struct slice *rest);
/* Removes the given characters from both ends. TEXT_BLANKS is the optional whitespace of RFC
 * 9110. */
#define TEXT_BLANKS " \t"
struct slice text_trim(struct slice text, const char *blanks);
/* Returns a copy in the arena with ASCII letters in lower case. */
struct slice text_lower(struct arena *arena, struct slice text);
/* Writes a name such as joined_at_ms as joinedAtMs; aborts if it does not fit. */
void text_camel_case(const char *name, char *camel, size_t size);
bool text_equal_ignoring_case(struct slice a, struct slice b);
bool text_begins_ignoring_case(struct slice text, struct slice prefix);
bool text_contains_ignoring_case(struct slice text, struct slice part);
/* The same as a person sees UTF-8 texts: also ignores the case of other letters (text_folded), and
 * characters that are invisible, except a blank. */
bool text_contains_folded(struct slice text, struct slice part);
/* Returns the part of a URL between // and its path, query or fragment: the host, perhaps with user
 * info before it and a port after it. data is NULL if no // follows the scheme. */
struct slice text_url_authority(struct slice url);
/* Splits an authority into host and port. *port is 0 if there is none or it is empty. Returns false
 * if the port is not a number from 1 to 65535. */
bool text_url_split_port(struct slice authority, struct slice *host, unsigned *port);
/* Returns true if the URL has no port, or a port from 1 to 65535. */
bool text_url_has_right_port(struct slice url);
/* Returns true if the URL is http:// or https://, a host and perhaps a right port, and nothing
 * else. */
bool text_url_is_origin(struct slice url);
#define TEXT_PORT_SENTENCE "must have a port from 1 to 65535, if any"
/* Makes a text safe for a terminal: shows control characters as \xNN and, in a text that is not
 * UTF-8, all bytes that are not ASCII. Returns the text itself if it needs no change. If data is
 * NULL, it stays NULL. */
struct slice text_visible(struct arena *arena, struct slice text);
/* Makes valid JSON safe for a terminal: writes the control characters that JSON allows in strings
 * (U+007F to U+009F) as \u00NN, and a carriage return between values as a blank. */
struct slice text_visible_json(struct arena *arena, struct slice json);
/* Returns the value of a hexadecimal digit, or -1 if it is not one. */
int text_hex_value(char digit);
/* Writes two lower-case hexadecimal digits per byte, without a terminator. */
void text_hex(const void *bytes, size_t size, char *text);
/* Parses decimal digits with an optional '-'. Returns false for anything else and on overflow. */
bool text_integer(struct slice text, int64_t *value);
/* Returns the JSON number at the beginning of a text, empty if there is none ("01", "1."). *is_real
 * is true if it has a decimal point or an exponent, or is -0. */
struct slice text_number(struct slice text, bool *is_real);
/* Returns true if a double is an integer below 2^53 in size and not -0, so that int64_t can hold it
 * exactly. */
bool real_is_integer(double value);
/* Converts a JSON number, for which text_number found is_real, to the nearest double. Returns false
 * if it is out of range. *is_integer is true if the number itself, not just the nearest double, is
 * an integer as in real_is_integer. */
bool text_real(struct arena *arena, struct slice literal, double *value, bool *is_integer);

/* Times are milliseconds since 1970-01-01T00:00:00Z, years 1 to 9999. */
#define TEXT_TIME_SIZE 25
#define TEXT_TIME_FIRST INT64_C(-62135596800000) /* 0001-01-01T00:00:00.000Z */
#define TEXT_TIME_LAST INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */
/* Write "2026-01-31T12:34:56.789Z" and "2026-01-31T12:34:56Z", with a terminator. */
void text_time_milliseconds(int64_t time, char out[TEXT_TIME_SIZE]);
void text_time_seconds(int64_t time, char out[TEXT_TIME_SIZE]);
/* The same as a new JSON value, and appended as JSON strings. */
json_t *json_time_seconds(int64_t time);
void buffer_append_time_milliseconds(struct buffer *buffer, int64_t time);
void buffer_append_time_seconds(struct buffer *buffer, int64_t time);
/* Appends a duration as seconds with at most six decimals. */
void buffer_append_seconds(struct buffer *buffer, uint64_t microseconds);
/* Parses RFC 3339 with Z or an offset and any number of decimals (truncated after three), or a date
 * alone (midnight UTC). Returns false for anything else, and for impossible dates. A leap second
 * becomes the last millisecond of its minute. */
bool text_time_parse(struct slice text, int64_t *time);
/* Parses RFC 3339 with T and with Z or an offset, from 1970 to 9999 in UTC, as seconds since 1970;
 * decimals are cut off. Returns false for anything else: a date alone, lower-case letters, a leap
 * second. */
bool text_time_parse_seconds(struct slice text, int64_t *seconds);
/* Like text_time_parse, but rounds up: a time between two milliseconds, and a leap second, become
 * the next millisecond, which may be one above the largest time. */
bool text_time_parse_up(struct slice text, int64_t *time);

/* base64url without padding (RFC 4648 section 5). Decoding rejects padding, other alphabets, white
 * space, and unused bits that are not zero. */
struct slice text_base64url(struct arena *arena, struct slice bytes);
bool text_base64url_decode(struct arena *arena, struct slice text, struct slice *bytes);
/* Base64 with padding (RFC 4648 section 4). Decoding is as strict. */
struct slice text_base64(struct arena *arena, struct slice bytes);
bool text_base64_decode(struct arena *arena, struct slice text, struct slice *bytes);

/* Compares two texts in a time that depends only on their sizes. */
bool text_equal_secret(struct slice a, struct slice b);

/* Returns the characters of a JSON string, borrowed. data is NULL for NULL and for other types. */
struct slice text_of_json(const json_t *string);
/* Returns a new JSON string. Does not check that the text is UTF-8: damaged stored text is passed
 * on as it is. */
json_t *json_of_text(struct slice text);

/* Returns a value as compact JSON, in the arena. */
struct slice json_as_text(struct arena *arena, const json_t *value);
/* Returns a value as JSON for a message: at most 64 characters, truncated with "...". */
struct slice text_shown(struct arena *arena, const json_t *value);

/* Appends one segment of a JSON Pointer (RFC 6901): '/' and the escaped name. */
void text_pointer(struct buffer *pointer, struct slice name);

#endif
