/* Reads a room code as a person typed, pasted or dictated it: with other dashes, blanks or quotes,
 * or inside a whole link (anteroom-api(7), JOINING). The join page reads codes by the same rules
 * (web/join/code.js).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODE_TYPED_H
#define RESOURCES_CODE_TYPED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

struct typed_code {
	struct slice code; /* data NULL if the text contains no code, or several */
	/* The nine or ten letters of `code` grouped like a generated code, which is meant if
	 * nobody has the custom code `code`. data NULL if `code` has other characters, or is
	 * grouped already. */
	struct slice grouped;
	bool is_guess; /* 6 to 40 letters, digits and hyphens in all, as in a code */
};

/* text: UTF-8. The result is in the arena, or part of `text`. */
struct typed_code code_typed(struct arena *arena, struct slice text);

/* True if a code can have this text. */
bool code_can_be(struct slice letters);

#endif
