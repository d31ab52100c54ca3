/* What texts of the interface may be, where more than one table says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TEXT_RULES_H
#define RULES_TEXT_RULES_H

#include "schema/schema.h"

/* Any text at all: what is looked up and not found, or what is never looked at. */
extern const struct text_rule any_text;
/* The same, but not empty. */
extern const struct text_rule some_text;
/* An id as base/id.h makes it. */
extern const struct text_rule id_text;
/* Times in answers. */
extern const struct text_rule time_text;
extern const struct text_rule room_code_text; /* room codes: interface.md section 2.1 */

/* Names: of templates (interface.md section 2.2), of roles and keys of destinations (decisions.md
 * section 4), of rooms (section 6). */
extern const struct text_rule name_text;
extern const struct text_rule role_name_text;
extern const struct text_rule destination_name_text;
extern const struct text_rule room_name_text;

#endif
