/* Elects the process that does background work: numbering events and delivering webhooks. If only
 * one process uses the store, it is that process. If several do, it is the holder of the lease, a
 * record with an epoch that rises each time the holder changes. The holder renews the lease; if it
 * fails to for LEASE_LASTS, another process takes it. Every transaction of the background work
 * confirms the lease first, so a process that was asleep and lost the lease writes nothing.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LEASE_H
#define BACKGROUND_LEASE_H

#include "store/store.h"

/* Milliseconds until a lease that is not renewed expires. */
#define LEASE_LASTS 10000
/* Milliseconds after which the holder renews the lease. */
#define LEASE_RENEWED_AFTER 3000
/* Milliseconds between two attempts of another process to take it. */
#define LEASE_ASKED_AFTER 1000

struct lease;

struct lease *lease_open(struct store *store, const struct clock *clock);
/* Gives the lease up, so that another process can take it immediately. NULL is allowed. */
void lease_close(struct lease *lease);

/* Takes or renews the lease if that is due, in a transaction of its own. Returns whether this
 * process has it: false also if the store is unavailable. */
bool lease_hold(struct lease *lease);
/* Called in a WRITE transaction. Returns true if this process has the lease until the transaction
 * ends. False without a fault means that it does not, and the caller must abandon the
 * transaction. */
bool lease_confirm(struct lease *lease, struct transaction *transaction, struct fault *fault);

#endif
