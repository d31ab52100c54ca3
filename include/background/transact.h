/* Transactions of threads that work without a request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_TRANSACT_H
#define BACKGROUND_TRANSACT_H

#include "background/damage_log.h"
#include "resources/call.h"

/* Of one thread. */
struct transactor {
	const struct environment *environment;
	const char *event; /* of the service log, for data that cannot be read */
	struct damage_log damage;
	/* Something was committed; the owner sets it back when it has flushed the store. */
	bool has_committed;
};

typedef bool transact_run(struct call *call, void *context, struct fault *fault);

/* Calls `run` for an account, in the name of the service, and writes the events that it notes;
 * again if the store asks for it, with an arena as at first. Logs damage. */
bool transact(struct transactor *work, enum store_access access, struct arena *arena,
	      const struct id *account, transact_run *run, void *context, struct fault *fault);
/* Returns true if trying again may help. */
bool transact_may_pass(const struct fault *fault);

#endif
