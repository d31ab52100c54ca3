/* The last 24 hours of the service, one sample for each minute, in memory: what the charts of the
 * console show. Samples are differences of the counters of service/metrics.h, so requests cost
 * nothing more.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HISTORY_H
#define SERVICE_HISTORY_H

#include "resources/call.h"

#define HISTORY_SECONDS 60
#define HISTORY_MOST (24 * 60 * 60 / HISTORY_SECONDS)

struct history;

/* The environment, with its metrics, is borrowed. */
struct history *history_open(const struct environment *environment);
/* NULL is allowed. */
void history_close(struct history *history);

/* Adds a sample if a minute of the clock has just ended. Called about once a second, by one thread.
 * A minute in which it was not called, or in which the service started, has no sample. */
void history_tick(struct history *history);

/* GET /v2/service/history: all samples, oldest first, for operators. */
handler history_get;

#endif
