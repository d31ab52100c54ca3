/* Counts the stored responses of an account (resources/retries/kept_answer.h) and their size. One
 * record of the account has the counts by time of day, and forgets those older than a day. A
 * process counts in memory and adds its counts to the record with a later write, KEPT_USAGE_PERIOD
 * after the last addition, so that writes do not wait for each other at the record. If a process is
 * killed, the counts that it has not added are lost.
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
/* usage may be NULL. */
void kept_usage_close(struct kept_usage *usage);

/* True if kept_usage_add will read the record. */
bool kept_usage_is_due(const struct call *call);
/* Counts one more response of `bytes` bytes, in a WRITE transaction. Sets FAULT_TOO_MANY if the
 * account has too many. */
bool kept_usage_add(struct call *call, size_t bytes, struct fault *fault);
/* Must be called after the transaction of a call that has called kept_usage_add. */
void kept_usage_end(struct call *call, bool is_committed);

/* Counts a repeated stored response; returns how many were counted since kept_usage_open. */
void kept_usage_count_replay(struct kept_usage *usage);
uint64_t kept_usage_replays(struct kept_usage *usage); /* NULL: 0 */

extern const struct record_table kept_usage_table;

#endif
