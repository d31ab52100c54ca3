/* Where the commands for rooms, codes and keys find the service, and the token that they send. For
 * each of the two, the first setting that exists counts:
 *
 *     --url URL           --token-file FILE
 *     ANTEROOM_URL        ANTEROOM_TOKEN
 *     the file client.conf in $XDG_CONFIG_HOME/anteroom or ~/.config/anteroom, with the lines
 *     url = URL           token-file = FILE, or token = TOKEN
 *
 * A file that belongs to the caller, contains a token and can be opened by other users is rejected,
 * as ssh(1) rejects such a key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_CLIENT_SETTINGS_H
#define COMMAND_CLIENT_SETTINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

struct client_settings {
	const char *url; /* without a trailing slash */
	const char *token;
};

/* Finds the settings. url and token_file: the options, NULL if not given. The file is read only if
 * something is not set otherwise. The texts are in the arena. FAULT_BAD_REQUEST if something is
 * missing, invalid or cannot be read; no message contains a token. */
bool client_settings_find(struct arena *arena, const char *url, const char *token_file,
			  struct client_settings *settings, struct fault *fault);

#endif
