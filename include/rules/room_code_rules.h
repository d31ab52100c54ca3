/* Room codes, and joining with one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROOM_CODE_RULES_H
#define RULES_ROOM_CODE_RULES_H

#include "rules/text_rules.h"

/* The answer. */
extern const struct shape room_code_shape;
/* POST /v2/room-codes/code, with the code in the body, and in the path. */
extern const struct shape code_switch_shape;
extern const struct shape code_enabled_shape;

/* POST /v2/token. */
extern const struct shape join_shape;
extern const struct shape token_answer_shape;

#endif
