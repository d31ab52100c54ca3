/* Where the commands for rooms and codes find the service, and the management token that they show
 * there. For each of the two the first that is set counts:
 *
 *     --url URL           --token-file FILE
 *     ANTEROOM_URL        ANTEROOM_TOKEN
 *     the file client.conf in $XDG_CONFIG_HOME/anteroom or ~/.config/anteroom, with the lines
 *     url = URL           token-file = FILE, or token = TOKEN
 *
 * A file of the caller's that holds a token and that others may open is refused, as ssh(1) refuses
 * such a key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_CLIENT_SETTINGS_H
#define COMMAND_CLIENT_SETTINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

struct client_settings {
	const char *url; /* without a slash at the end */
	const char *token;
};

/* url and token_file: the options, NULL when they are not given. The file is read only when
 * something is not set otherwise. The texts live in the arena. FAULT_BAD_REQUEST when something is
 * missing, cannot be read or is wrong; no message has a token. */
bool client_settings_find(struct arena *arena, const char *url, const char *token_file,
			  struct client_settings *settings, struct fault *fault);

#endif
