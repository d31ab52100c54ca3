/* The role object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROLE_RULES_H
#define RULES_ROLE_RULES_H

#include "rules/text_rules.h"

/* The default of subscribeToRoles, the names of all roles, is filled by the handler. */
extern const struct shape role_shape;
/* A part of it. */
extern const struct shape publish_params_shape;

#endif
