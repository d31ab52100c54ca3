/* Handlers of roles (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_ROLES_H
#define RESOURCES_TEMPLATES_ROLES_H

#include "resources/call.h"

handler roles_list;
handler roles_get;
handler roles_put; /* creates or replaces a role; `name` in the body renames it */
handler roles_patch;
handler roles_delete;

#endif
