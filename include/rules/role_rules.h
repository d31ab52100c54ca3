/* The role object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_ROLE_RULES_H
#define RULES_ROLE_RULES_H

#include "rules/text_rules.h"

/* The handler fills in the default of subscribeToRoles, the names of all roles. */
extern const struct shape role_shape;
/* Parts of a role. */
extern const struct shape publish_params_shape, subscribe_params_shape, permissions_shape;

/* Most roles of a template. */
#define ROLES_MOST 100

/* Whether people come in at once, or wait until somebody lets them in. */
#define ADMISSION ONE_OF("open", "ask")

#endif
