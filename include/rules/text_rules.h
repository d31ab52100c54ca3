/* Text rules that several tables use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TEXT_RULES_H
#define RULES_TEXT_RULES_H

#include "schema/schema.h"

/* The most seconds from now for which something may be valid: ten years. */
#define EXPIRES_IN_MOST 315360000

/* Any text, for values that are searched for in the store, or ignored. */
extern const struct text_rule any_text;
/* Any non-empty text. */
extern const struct text_rule some_text;
/* The same with at most this number of characters. */
extern const struct text_rule any_256_text;
extern const struct text_rule some_100_text;
extern const struct text_rule some_128_text;
extern const struct text_rule some_256_text;
/* Texts without control characters and line breaks: user IDs, names of people, reasons, titles. */
extern const struct text_rule line_64_text;
extern const struct text_rule line_256_text;
extern const struct text_rule some_line_64_text;
extern const struct text_rule some_line_128_text;
extern const struct text_rule some_line_256_text;
extern const struct text_rule url_text;
/* Removes control characters, also bidirectional ones, from a name that a guest has typed: a member
 * of this object, if it is a text (text_without_controls, text_remove_bidi). */
void text_clean_member(json_t *object, const char *name);
/* Removes the latter alone: other control characters in the name are a fault of the program that
 * sent it. */
void text_clean_bidi(json_t *object, const char *name);
/* Returns the title of a room or a role as people are shown it (text_without_bidi); data NULL if it
 * has none. */
struct slice text_shown_title(struct arena *arena, const json_t *document);
/* Returns true if all bytes are allowed in a URL without a fragment (RFC 3986). */
bool text_may_be_url(struct slice text);

/* The parts of a URL that decide which server it leads to. Slices are borrowed from the URL. */
struct url_place {
	struct slice scheme;
	struct slice host; /* an IPv6 address with its brackets */
	unsigned port; /* 0 if the URL has none and the default of its scheme is unknown */
};

/* Parses a URL. Returns false if it has no host, has user info, or has an invalid port. */
bool url_place_parse(struct slice url, struct url_place *place);
/* Returns true if two URLs have the same scheme, host and port, ignoring differences in case,
 * default ports, and the form of IPv6 addresses. Secrets stored for one of them may then be used
 * for the other. Returns false if it is uncertain, as with a dot at the end of a name. */
bool url_same_place(struct slice a, struct slice b);

/* Fields of templates and rooms of 100ms that Anteroom does not have (`ignored` of a shape). */
extern const char *const fields_of_100ms[];

/* An ID (base/id.h). */
extern const struct text_rule id_text;
/* Times in responses. */
extern const struct text_rule time_text;
/* 32 bytes in base64url: the secret of an account, the kid of a signing key. */
extern const struct text_rule bytes_32_text;
extern const struct text_rule room_code_text; /* a generated or custom code (base/id.h) */

/* Names of templates and accounts, of roles and backends, of destinations, and of rooms. */
extern const struct text_rule name_text;
extern const struct text_rule role_name_text;
extern const struct text_rule destination_name_text;
extern const struct text_rule room_name_text;

#endif
