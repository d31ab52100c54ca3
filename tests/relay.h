/* A relay between libpq and a server on a unix socket: it counts round trips, cuts a connection
 * at a byte, and holds connections as a server that does not answer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RELAY_H
#define TESTS_RELAY_H

#include <stdbool.h>
#include <stddef.h>

enum relay_side { RELAY_FROM_CLIENT, RELAY_FROM_SERVER };

/* Listens in `directory` for what is meant for the server in `to`; both as libpq's `host`. */
void relay_open(const char *directory, const char *to);
void relay_close(void);

/* How often a client sent something after the server had, on the n-th connection since the relay
 * was opened. */
unsigned relay_flights(unsigned connection);

/* The first connection that carries so many more bytes from this side is cut behind them. */
void relay_cut_after(enum relay_side side, size_t bytes);
/* Whether one was cut since then; none will be any more. */
bool relay_has_cut(void);

/* Whether new connections are closed as they come, as by a server that has too many. */
void relay_refuse(bool refuses);
/* How many were, since the relay was opened. */
unsigned relay_refused(void);

/* Cuts all connections that there are. */
void relay_cut_all(void);

/* From now on connections carry only so many flights of the client, and nothing after them; 0:
 * nothing at all, as when the server is frozen; 1: the login, as a pooler that is paused. */
void relay_hold(unsigned flights);
/* What was held goes on. */
void relay_let_go(void);

#endif
