/* Logs damage that is met again and again, but only once a minute for each event and account. Used
 * by one thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DAMAGE_LOG_H
#define BACKGROUND_DAMAGE_LOG_H

#include "base/fault.h"
#include "base/id.h"

/* Milliseconds between two log lines for the same event and account. */
#define DAMAGE_LOGGED_AFTER 60000
/* How many pairs of event and account are remembered; with more, the oldest is forgotten. */
#define DAMAGE_LOGGED_MOST 64

/* Starts as zeros. */
struct damage_log {
	struct {
		const char *event; /* NULL if the place is unused */
		struct id account;
		int64_t time; /* clock_monotonic */
	} logged[DAMAGE_LOGGED_MOST];
};

/* Logs a FAULT_DAMAGED, unless it was logged recently; ignores other faults. event: a literal. */
void damage_log_add(struct damage_log *log, const char *event, const struct id *account,
		    const struct fault *fault);

#endif
