/* Tells the log of damage that is met again and again while it lasts: a line for each event and
 * account once a minute. Of one thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DAMAGE_LOG_H
#define BACKGROUND_DAMAGE_LOG_H

#include "base/fault.h"
#include "base/id.h"

/* Milliseconds. */
#define DAMAGE_TOLD_AFTER 60000
/* With more, the oldest one is forgotten. */
#define DAMAGE_TOLD_MOST 64

/* Begins as zeros. */
struct damage_log {
	struct {
		const char *event; /* NULL: unused */
		struct id account;
		int64_t time; /* clock_monotonic */
	} told[DAMAGE_TOLD_MOST];
};

/* event: a literal. Other faults than FAULT_DAMAGED are not told. */
void damage_log_tell(struct damage_log *log, const char *event, const struct id *account,
		     const struct fault *fault);

#endif
