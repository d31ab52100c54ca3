/* Writes a JSON object member by member, as compact text, where no tree is needed: tokens, and
 * responses that are not the document of a shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct json_writer {
	struct buffer text;
	/* For a JSON Web Token: strings are written in ASCII, and > ? ~ and DEL are escaped too, so
	 * that their base64url contains neither - nor _. Some browser libraries decode the payload
	 * as plain base64 and take each byte for a character. */
	bool for_jwt;
};

/* Begins the outermost object. */
struct json_writer writer_begin(struct arena *arena, bool for_jwt);
/* Closes the outermost object and returns the text, which lives in the arena. */
struct slice writer_end(struct json_writer *writer);

/* Begin and end an object or array. name: the member's name, NULL for an item of an array, here and
 * below. bracket: { or [ to open, } or ] to close. */
void writer_open(struct json_writer *writer, const char *name, char bracket);
void writer_close(struct json_writer *writer, char bracket);

/* Writes a name that a client chose, or that is not known before; its value follows, without a
 * name. */
void writer_name(struct json_writer *writer, struct slice name);
/* Writes a string; `text` is UTF-8. */
void writer_text(struct json_writer *writer, const char *name, struct slice text);
/* Writes a text of Anteroom's own with no character to escape, such as a token. The text is not
 * searched for such characters, so it must never come from a client. */
void writer_plain(struct json_writer *writer, const char *name, struct slice text);
void writer_integer(struct json_writer *writer, const char *name, int64_t value);
void writer_flag(struct json_writer *writer, const char *name, bool value);
/* Write a time, given in milliseconds since 1970, as a string: in whole seconds, or with its
 * milliseconds. */
void writer_time(struct json_writer *writer, const char *name, int64_t time);
void writer_time_milliseconds(struct json_writer *writer, const char *name, int64_t time);
/* Writes a duration as seconds with at most six decimals. */
void writer_seconds(struct json_writer *writer, const char *name, uint64_t microseconds);
void writer_value(struct json_writer *writer, const char *name, const json_t *value);
/* Writes a text that is JSON already. */
void writer_json(struct json_writer *writer, const char *name, struct slice json);

#endif
