/* Exchanges whose calls are handled one at a time. An exchange that has to wait occupies no thread:
 * the worker that handles the one before takes it next.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_TURN_H
#define EDGE_TURN_H

#include "edge/fastcgi.h"

struct turn;

struct turn *turn_open(void);
/* None may wait. NULL is allowed. */
void turn_close(struct turn *turn);

/* True: the caller handles the exchange now, and calls turn_next afterwards. False: it waits, and the
 * caller no longer owns it. */
bool turn_take(struct turn *turn, struct exchange *exchange);
/* The exchange that is next, which the caller handles now; NULL: none waits. */
struct exchange *turn_next(struct turn *turn);

#endif
