/* The thread for work that no call waits for: it numbers the events that wait in the queue, logs
 * changes of accounts by the command line, and writes the events of joins. If several processes use
 * the store, only the holder of the lease does the first two.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_KEEPER_H
#define BACKGROUND_KEEPER_H

#include "resources/call.h"
#include "background/lease.h"

struct keeper;

/* The environment and the lease are borrowed and outlive the keeper. */
struct keeper *keeper_open(const struct environment *environment, struct lease *lease);
/* Ends the thread, and writes what is waiting. The client of media servers, which may still make
 * requests of the keeper, is closed after that. NULL is allowed. */
void keeper_end(struct keeper *keeper);
/* Frees the keeper, after keeper_end if need be. NULL is allowed. */
void keeper_close(struct keeper *keeper);

#endif
