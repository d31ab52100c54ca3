/* Logs joins for accounts that request it (log_joins): who joined, and who was rejected. A thread
 * of the service writes these events to the account's event log after the response, so an exchange
 * does not wait for them, and a crash may lose the last ones.
 *
 * Rejections of one code for one reason make at most one event per minute.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_JOIN_LOG_H
#define BACKGROUND_JOIN_LOG_H

#include "resources/joining/joining.h"

/* Events that may wait to be written; further ones are dropped, which the service log reports. */
#define JOIN_LOG_MOST 10000

struct join_log;

struct join_log *join_log_open(void);
/* joins may be NULL. */
void join_log_close(struct join_log *joins);

void join_log_add(struct join_log *joins, const struct joining *joining);

/* Writes the waiting events. Events that cannot be written now keep waiting. */
void join_log_write(struct join_log *joins, const struct environment *environment);

/* Returns the number of dropped events; 0 for NULL. */
uint64_t join_log_dropped(struct join_log *joins);

#endif
