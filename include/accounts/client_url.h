/* The URL of the client to which the join page sends people, with placeholders for what is known
 * about the person who joins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_CLIENT_URL_H
#define ACCOUNTS_CLIENT_URL_H

#include "base/slice.h"

#define CLIENT_URL_MOST 512

/* Returns NULL if the URL is valid, else the problem, as a predicate that follows "client_url ".
 * Placeholders are {token} {room_id} {role} {user_id} {name} {audio} {video} {join.link} {join.url}
 * {join.token}. They may not be in the scheme, host or port. {token}, {join.token} and {join.link}
 * may only follow a #, because everything before it is sent to servers and written to their logs;
 * or {join.link} is the whole URL. */
const char *client_url_flaw(struct slice url);

/* Does the same for the public URL of the service: https://HOST, with an optional port and path,
 * without a / at the end. */
const char *public_url_flaw(struct slice url);

#endif
