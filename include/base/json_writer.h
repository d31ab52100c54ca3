/* Writes a JSON object member by member, as compact text, where no one needs it as a tree: tokens,
 * and answers that are not the document of a shape.
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
	/* For a JSON Web Token: texts in ASCII, in which > ? ~ and DEL are escaped too, so that
	 * their base64url has neither - nor _. Some browsers' libraries decode the payload as plain
	 * base64 and take each byte for a character. */
	bool for_jwt;
};

/* The outermost object, open. */
struct json_writer writer_begin(struct arena *arena, bool for_jwt);
/* Closes it. The text lives as long as the arena's content. */
struct slice writer_end(struct json_writer *writer);

/* name: of the member; NULL: an item of an array. bracket: { or [, which the other one closes. */
void writer_open(struct json_writer *writer, const char *name, char bracket);
void writer_close(struct json_writer *writer, char bracket);

void writer_text(struct json_writer *writer, const char *name, struct slice text); /* UTF-8 */
/* A text of our own, in an alphabet without anything to escape: a token. The text is not searched
 * for such characters, so it must not be one of a client. */
void writer_plain(struct json_writer *writer, const char *name, struct slice text);
void writer_integer(struct json_writer *writer, const char *name, int64_t value);
void writer_flag(struct json_writer *writer, const char *name, bool value);
/* A time in milliseconds since 1970, as text of whole seconds. */
void writer_time(struct json_writer *writer, const char *name, int64_t time);
void writer_value(struct json_writer *writer, const char *name, const json_t *value);
/* What is JSON text already. */
void writer_json(struct json_writer *writer, const char *name, struct slice json);

#endif
