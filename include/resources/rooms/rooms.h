/* Handlers of rooms (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ROOMS_ROOMS_H
#define RESOURCES_ROOMS_ROOMS_H

#include "resources/reads.h"
#include "resources/stored/room_record.h"

handler rooms_create; /* creates a room, or updates the room of that name with the given fields */
handler rooms_list;
extern const struct loading load_rooms; /* its first page */
handler rooms_get;
handler rooms_update; /* handles POST and PATCH, which are the same */
handler rooms_delete;

/* Imports a room; the body is as in rules/import_rules.h. See templates_import. */
bool rooms_import(struct call *call, bool *is_new, struct fault *fault);

/* Disables the room, unless it is disabled already. */
bool room_disable(struct call *call, const struct id *id, struct fault *fault);

#endif
