/* The role object: interface.md sections 2.3 to 2.5, decisions.md section 4.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROLE_RULES_H
#define RULES_ROLE_RULES_H

#include "rules/text_rules.h"

/* What no default can say: subscribeToRoles not supplied gets the names of all roles, which the
 * handler puts into the document before it is written. */
extern const struct shape role_shape;

#endif
