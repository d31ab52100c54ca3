/* The address of the client that the join page sends people to: a URL with places for what is known
 * of the person who joins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_CLIENT_URL_H
#define ACCOUNTS_CLIENT_URL_H

#include "base/slice.h"

#define CLIENT_URL_MOST 512

/* NULL: it is right; else what is wrong with it, as a clause that follows "client_url ". Places are
 * {token} {room_id} {role} {user_id} {name} {audio} {video} {join.link}, none of them in the
 * scheme, host or port; {token} and {join.link} only after a #, since what precedes it is sent to
 * servers and stands in their logs, or {join.link} as the whole. */
const char *client_url_flaw(struct slice url);

/* The same of the address at which the service is reached: https://HOST, with a port or a path,
 * without a / at its end. */
const char *public_url_flaw(struct slice url);

#endif
