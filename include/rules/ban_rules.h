/* Bans: who may not be in a room, or in any room of the account.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_BAN_RULES_H
#define RULES_BAN_RULES_H

#include "rules/text_rules.h"

/* A ban in a response. */
extern const struct shape ban_shape;
/* POST /v2/bans. */
extern const struct shape new_ban_shape;
extern const struct shape ban_list_query;

#endif
