/* A relay between libpq and a server on a Unix socket: it counts round trips, cuts a connection at
 * a given byte, and holds connections like a server that does not respond.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RELAY_H
#define TESTS_RELAY_H

#include <stdbool.h>
#include <stddef.h>

enum relay_side { RELAY_FROM_CLIENT, RELAY_FROM_SERVER };

/* Listens in `directory` for connections to the server in `to`; both are values of libpq's
 * `host`. */
void relay_open(const char *directory, const char *to);
void relay_close(void);

/* Returns the number of round trips of the n-th connection since the relay was opened: how often
 * the client sent something after the server did. */
unsigned relay_flights(unsigned connection);
/* Returns true if the server has not responded to what the n-th connection sent last. */
bool relay_awaits(unsigned connection);

/* Cuts the first connection on which this side sends so many more bytes, after those bytes. */
void relay_cut_after(enum relay_side side, size_t bytes);
/* Returns true if a connection has been cut since then; from now on none will be. */
bool relay_has_cut(void);

/* Sets whether new connections are closed immediately, as by a server that has too many. */
void relay_refuse(bool refuses);
/* Returns the number of connections closed in this way since the relay was opened. */
unsigned relay_refused(void);

/* Cuts all connections. */
void relay_cut_all(void);

/* From now on, connections carry only so many flights of the client, and nothing after them; 0:
 * nothing at all, like a frozen server; 1: the login, like a paused pooler. */
void relay_hold(unsigned flights);
/* Releases everything that was held. */
void relay_let_go(void);

#endif
