/* How many answers an account keeps (resources/retries/kept_answer.h), and their size. What is kept
 * is counted by the time of day in one record of the account, which forgets what is older than a
 * day. A process counts in memory and adds what it counted to the record with a later write,
 * KEPT_USAGE_PERIOD after the last time: so writes do not wait for each other at that record. What
 * a process counted and did not add when it was killed is not counted.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RETRIES_KEPT_USAGE_H
#define RESOURCES_RETRIES_KEPT_USAGE_H

#include "records/record.h"
#include "resources/call.h"

#define KEPT_ANSWERS_MOST UINT64_C(1000000)
#define KEPT_ANSWER_BYTES_MOST (UINT64_C(256) << 20)
#define KEPT_USAGE_PERIOD 30000 /* milliseconds */

struct kept_usage;

struct kept_usage *kept_usage_open(void);
/* NULL is fine. */
void kept_usage_close(struct kept_usage *usage);

/* Whether kept_usage_add reads the record. */
bool kept_usage_is_due(const struct call *call);
/* Counts one answer more of so many bytes, in a WRITE transaction. FAULT_TOO_MANY when the account
 * has as many as it may. */
bool kept_usage_add(struct call *call, size_t bytes, struct fault *fault);
/* The transaction of a call that has called kept_usage_add has ended. */
void kept_usage_end(struct call *call, bool is_committed);

/* Counts a kept answer that was sent again; how many there were since kept_usage_open. */
void kept_usage_count_replay(struct kept_usage *usage);
uint64_t kept_usage_replays(struct kept_usage *usage); /* NULL: 0 */

extern const struct record_table kept_usage_table;

#endif
