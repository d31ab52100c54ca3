/* A room code as it was typed, pasted or read aloud: people's programs put other dashes, blanks,
 * quotes or a whole link around it (anteroom-api(7), JOINING). The join page reads it by the same
 * rules (web/join/code.js).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_CODE_TYPED_H
#define RESOURCES_JOINING_CODE_TYPED_H

#include "base/arena.h"
#include "base/slice.h"

struct typed_code {
	struct slice code; /* data NULL: no code can be read out of the text, or not just one */
	/* The ten or nine letters of `code` in the groups of a generated code, which is meant when
	 * nobody has the words `code`. data NULL: `code` has other letters, or these groups. */
	struct slice grouped;
	bool is_guess; /* it has 6 to 40 letters, digits and hyphens together, as a code does */
};

/* text: UTF-8. The result is in the arena. */
struct typed_code code_typed(struct arena *arena, struct slice text);

#endif
