/* The operand ROOM of the commands for rooms and codes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_ROOM_LOOKUP_H
#define COMMAND_ROOM_LOOKUP_H

#include "command/service_client.h"

/* The path of a call that names a room: `before`, the room's id, `after`; in the client's arena. room:
 * an id, or a name, by which the service is asked. NULL and a fault when there is no such name. */
const char *room_path(struct service_client *client, const char *before, const char *room,
		      const char *after, struct fault *fault);

#endif
