/* The entries of joins, for accounts that want them (log_joins): who came, and who was refused.
 * They are written to the account's log after the answer, by a thread of the service, so an
 * exchange does not wait for them, and a crash may lose the last ones.
 *
 * Refusals of one code for one reason make one entry a minute at most.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_JOIN_LOG_H
#define BACKGROUND_JOIN_LOG_H

#include "resources/joining/join.h"

/* Entries that wait to be written; further ones are dropped, which the process's log says. */
#define JOIN_LOG_MOST 10000

struct join_log;

struct join_log *join_log_open(void);
/* NULL is fine. */
void join_log_close(struct join_log *joins);

void join_log_add(struct join_log *joins, const struct joining *joining);

/* Writes what waits. What cannot be written now waits on. */
void join_log_write(struct join_log *joins, const struct environment *environment);

/* How many were dropped. NULL: 0. */
uint64_t join_log_dropped(struct join_log *joins);

#endif
