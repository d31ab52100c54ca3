/* The calls of rooms: decisions.md sections 6, 9, 10. Handlers (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ROOMS_H
#define RESOURCES_ROOMS_H

#include "resources/room_record.h"

handler rooms_create; /* by name: creates, or updates with what is supplied */
handler rooms_list;
handler rooms_get;
handler rooms_update; /* POST and PATCH are the same */
handler rooms_delete;

/* The room goes, with its name, its places in lists and its codes. */
bool room_remove(struct call *call, const struct room_record *room, struct fault *fault);

#endif
