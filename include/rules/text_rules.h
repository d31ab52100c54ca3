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
