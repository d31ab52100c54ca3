/* Text rules that several tables use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TEXT_RULES_H
#define RULES_TEXT_RULES_H

#include "schema/schema.h"

/* Any text: searched for in the store, or ignored. */
extern const struct text_rule any_text;
/* Any text that is not empty. */
extern const struct text_rule some_text;
/* The same of so many characters at most. */
extern const struct text_rule any_256_text;
extern const struct text_rule some_128_text;
extern const struct text_rule some_256_text;
extern const struct text_rule url_text;
/* Whether it has only bytes that a URL without a fragment may have (RFC 3986). */
bool text_may_be_url(struct slice text);

/* The parts of a URL that decide which server it is of. Slices are borrowed from the URL. */
struct url_place {
	struct slice scheme;
	struct slice host; /* an IPv6 address with its brackets */
	unsigned port; /* 0: the URL has none, and its scheme no default that is known */
};

/* False: it is no URL with a host, has user info, or a port that is none. */
bool url_place_parse(struct slice url, struct url_place *place);
/* Whether two URLs have the same scheme, host and port, however they write them: without regard to
 * case, a default port, and the form of an IPv6 address. Secrets stored for one of them may be used
 * for the other. False where it cannot be told, as with a dot at the end of a name. */
bool url_same_place(struct slice a, struct slice b);

/* An id (base/id.h). */
extern const struct text_rule id_text;
/* Times in answers. */
extern const struct text_rule time_text;
/* 32 bytes as base64url: the secret of an account, the kid of a signing key. */
extern const struct text_rule bytes_32_text;
extern const struct text_rule room_code_text; /* abc-defg-hij, or words (base/id.h) */

/* Names of templates and accounts, of roles, of keys of destinations, and of rooms. */
extern const struct text_rule name_text;
extern const struct text_rule role_name_text;
extern const struct text_rule destination_name_text;
extern const struct text_rule room_name_text;

#endif
