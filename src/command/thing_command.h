/* Commands that show, enable, disable or delete the room, code or key that their operand names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_THING_COMMAND_H
#define COMMAND_THING_COMMAND_H

#include "command/service_client.h"

enum thing_action { THING_SHOW, THING_ENABLE, THING_DISABLE, THING_DELETE };

/* The path of the calls for a thing, in the client's arena; NULL and a fault when there is none. */
typedef const char *thing_path(struct service_client *client, const char *operand,
			       struct fault *fault);

/* The whole command. Prints the thing as the service answers it: all members when it is shown, else
 * these columns (command/table.h); nothing when it is deleted. Returns the exit status. */
int thing_command(const struct command *command, int argc, char **argv, enum thing_action action,
		  thing_path *path_of, const char *const *columns);

#endif
