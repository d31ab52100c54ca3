/* Text functions for the protocol: percent-encoding, query strings, UTF-8, numbers, times,
 * comparison of secrets. They allocate only from the arena they are given. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* From 2^53 on doubles do not represent every integer. */
#define DOUBLE_EXACT_BELOW 9007199254740992.0

/* Decodes %XX once. False for a bad escape, an encoded NUL, or a result that is not UTF-8; in a
 * path segment also for an encoded '/'. In a query '+' is a space. */
enum text_place { TEXT_PATH, TEXT_QUERY };
bool text_decode(struct arena *arena, struct slice encoded, enum text_place place,
		 struct slice *decoded);

/* Appends the text, percent-encoded for a segment of a path and for a query: all but the unreserved
 * characters of RFC 3986, with digits in upper case. */
void text_encode(struct buffer *encoded, struct slice text);
/* Appends "?name=value" to an encoded path, or "&name=value" when it has a query; nothing when
 * value is NULL. */
void text_append_parameter(struct buffer *path, const char *name, const char *value);

/* One name=value of a query string, decoded. `value.data` is NULL without a '='. */
struct parameter {
	struct slice name;
	struct slice value;
};

/* Splits and decodes a query string (without '?'), in order. Empty parts ("a=1&&b=2") are skipped.
 * False when a part cannot be decoded; *bad is that part, as sent. */
bool text_query(struct arena *arena, struct slice query, struct parameter **parameters, size_t *n,
		struct slice *bad);

bool text_is_utf8(struct slice text);
/* Whether it has nothing but blanks and characters nobody sees: controls, zero-width and format
 * characters, fillers, variation selectors. The text is UTF-8. */
bool text_is_blank(struct slice text);
/* The length of the longest valid UTF-8 prefix, in bytes. */
size_t text_utf8_size(struct slice text);
/* The number of Unicode code points of a UTF-8 text. */
size_t text_characters(struct slice text);
/* Reads the character at the beginning of *text, UTF-8 that is not empty, and takes it off. */
uint32_t text_take_character(struct slice *text);
/* The longest prefix of at most `most` bytes that ends with a whole character. */
struct slice text_cut(struct slice text, size_t most);
/* The first n characters, or all. */
struct slice text_first(struct slice text, size_t n);
/* The longest prefix that needs no escape in a JSON string. */
struct plain {
	size_t size;
	bool is_ascii;
};
struct plain text_plain(struct slice text);
/* The part before the first `separator`, or all; *rest follows it (data NULL: no separator). */
struct slice text_split(struct slice text, char separator, struct slice *rest);
/* Without the given characters at both ends. TEXT_BLANKS: optional whitespace of RFC 9110. */
#define TEXT_BLANKS " \t"
struct slice text_trim(struct slice text, const char *blanks);
/* Changes ASCII letters only; the result lives in the arena. */
struct slice text_lower(struct arena *arena, struct slice text);
bool text_equal_ignoring_case(struct slice a, struct slice b);
bool text_begins_ignoring_case(struct slice text, struct slice prefix);
/* What a URL has between // and its path, query or fragment: host and port, perhaps with user info
 * in front. data NULL if no // follows its scheme. */
struct slice text_url_authority(struct slice url);
/* Splits the port off an authority; what remains is the host. *port is 0 if there is none, or an
 * empty one. False if it is not one from 1 to 65535. */
bool text_url_split_port(struct slice authority, struct slice *host, unsigned *port);
/* Whether the port of a URL is one from 1 to 65535, if it has one. */
bool text_url_has_right_port(struct slice url);
#define TEXT_PORT_SENTENCE "must have a port from 1 to 65535, if any"
/* A text for a terminal: control characters, and all of a text that is not UTF-8 but its ASCII, are
 * shown as \xNN. Returns the text itself where it has none; data is NULL for data that is NULL. */
struct slice text_visible(struct arena *arena, struct slice text);
/* A valid JSON text for a terminal: the same JSON, with the control characters that JSON lets stand
 * in strings (U+007F to U+009F) as \u00NN, and a blank for a carriage return between values. */
struct slice text_visible_json(struct arena *arena, struct slice json);
/* -1 when it is not a hexadecimal digit. */
int text_hex_value(char digit);
/* Two lower-case hexadecimal digits per byte; not terminated. */
void text_hex(const void *bytes, size_t size, char *text);
/* Decimal digits with an optional '-'. False for anything else and for overflow. */
bool text_integer(struct slice text, int64_t *value);
/* The JSON number at the beginning of a text; empty when there is none ("01", "1."). *is_real: it
 * has a point or an exponent, or is -0. */
struct slice text_number(struct slice text, bool *is_real);
/* Whether a double is an integer below 2^53 in size, and not -0: int64_t has the same number. */
bool real_is_integer(double value);
/* Converts a JSON number that is a real to the nearest double; false when it exceeds all doubles.
 * *is_integer: the number itself is one of real_is_integer, not only the double nearest to it. */
bool text_real(struct arena *arena, struct slice literal, double *value, bool *is_integer);

/* Times are milliseconds since 1970-01-01T00:00:00Z, years 1 to 9999. */
#define TEXT_TIME_SIZE 25
/* "2026-01-31T12:34:56.789Z" and "2026-01-31T12:34:56Z"; `out` is terminated. */
void text_time_milliseconds(int64_t time, char out[TEXT_TIME_SIZE]);
void text_time_seconds(int64_t time, char out[TEXT_TIME_SIZE]);
/* The same as JSON: new values, and members of an object (buffer_append_member). */
json_t *json_time_milliseconds(int64_t time);
json_t *json_time_seconds(int64_t time);
void buffer_append_time_milliseconds(struct buffer *buffer, const char *label, int64_t time);
void buffer_append_time_seconds(struct buffer *buffer, const char *label, int64_t time);
/* RFC 3339 with Z or an offset and any number of decimals (truncated after three), or a date alone
 * (midnight UTC). False for anything else, and for impossible dates. A leap second is the last
 * millisecond of its minute. */
bool text_time_parse(struct slice text, int64_t *time);
/* RFC 3339 with T, and Z or an offset, from 1970 to 9999 in UTC, in seconds since 1970; decimals
 * are cut off. False for anything else: a date alone, lower-case letters, a leap second. */
bool text_time_parse_seconds(struct slice text, int64_t *seconds);
/* As text_time_parse, but rounds up: a time between two milliseconds, and a leap second, become the
 * next millisecond, which may be one above the largest time. */
bool text_time_parse_up(struct slice text, int64_t *time);

/* base64url without padding (RFC 4648 section 5). Decoding rejects padding, other alphabets, white
 * space, and non-zero bits left over. */
struct slice text_base64url(struct arena *arena, struct slice bytes);
bool text_base64url_decode(struct arena *arena, struct slice text, struct slice *bytes);
/* Base64 with padding (RFC 4648 section 4). Decoding is as strict. */
struct slice text_base64(struct arena *arena, struct slice bytes);
bool text_base64_decode(struct arena *arena, struct slice text, struct slice *bytes);

/* The time it takes depends only on the sizes. */
bool text_equal_secret(struct slice a, struct slice b);

/* The characters of a JSON string, borrowed; data is NULL for NULL or another type. */
struct slice text_of_json(const json_t *string);
/* A new JSON string. The text is not checked: a stored one that is damaged goes out as it is. */
json_t *json_of_text(struct slice text);

/* A value as compact JSON, in the arena. */
struct slice json_as_text(struct arena *arena, const json_t *value);
/* A value as text for a message: JSON of at most 64 characters, truncated with "...". */
struct slice text_shown(struct arena *arena, const json_t *value);

/* Appends one segment of a JSON Pointer (RFC 6901): '/' and the escaped name. */
void text_pointer(struct buffer *pointer, struct slice name);

#endif
