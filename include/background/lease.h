/* Who does the work behind the calls: numbers the entries of the log, and delivers webhooks. Where
 * one process has the store, that process. Where several write to it, the one that holds the lease,
 * a record with an epoch, which rises with each change of the holder: the holder renews it, and
 * when it does not for LEASE_LASTS, another process takes it. Every transaction of the work
 * confirms the lease first, so a process that was asleep and lost it writes nothing.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LEASE_H
#define BACKGROUND_LEASE_H

#include "store/store.h"

/* Milliseconds. */
#define LEASE_LASTS 10000
#define LEASE_RENEWED_AFTER 3000
/* Between two questions of a process that does not have it. */
#define LEASE_ASKED_AFTER 1000

struct lease;

struct lease *lease_open(struct store *store, const struct clock *clock);
/* Gives the lease up, so that another process takes it at once. NULL is fine. */
void lease_close(struct lease *lease);

/* Takes or renews the lease when it is time to, in a transaction of its own. True: this process has
 * it. A store that cannot be asked means no. */
bool lease_hold(struct lease *lease);
/* In a WRITE transaction: whether this process has the lease until the transaction ends. False
 * without a fault: it has not, and the transaction is to be abandoned. */
bool lease_confirm(struct lease *lease, struct transaction *transaction, struct fault *fault);

#endif
