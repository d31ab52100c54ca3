/* The thread for work that no call waits for: it numbers the entries of the log that wait in the
 * queue, notes changes of accounts by the command line, and writes the entries of joins. Where
 * several processes have the store, only the holder of the lease does the first two.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_KEEPER_H
#define BACKGROUND_KEEPER_H

#include "resources/call.h"
#include "background/lease.h"

struct keeper;

/* The environment is borrowed and outlives the keeper, as the lease does. */
struct keeper *keeper_open(const struct environment *environment, struct lease *lease);
/* Writes what waits, and ends the thread. NULL is fine. */
void keeper_close(struct keeper *keeper);

#endif
