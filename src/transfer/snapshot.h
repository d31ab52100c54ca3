/* Reads a whole store in one consistent state, for any length of time and with bounded memory: one
 * READ transaction whose values are released from time to time. For commands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_SNAPSHOT_H
#define TRANSFER_SNAPSHOT_H

#include "resources/call.h"

/* The limit (arena_set_limit) of an arena for reading or writing one line of a dump. */
#define SNAPSHOT_ARENA_MOST ((size_t)256 << 20)

struct snapshot {
	struct environment environment;
	struct call call; /* for functions that read records */
	struct arena *lasting; /* contains the transaction itself */
};

/* Verifies the tables of dumped lines (schema_verify). Returns false if nothing was opened. */
bool snapshot_open(struct store *store, const struct clock *clock, struct snapshot *snapshot,
		   struct fault *fault);
void snapshot_close(struct snapshot *snapshot);

/* Sets the account for the following reads. */
void snapshot_set_account(struct snapshot *snapshot, const struct id *account);
/* Releases all values that were read, and everything else in the call's arena. */
void snapshot_release(struct snapshot *snapshot);

#endif
