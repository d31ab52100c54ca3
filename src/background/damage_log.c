/* See background/damage_log.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/damage_log.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

void damage_log_tell(struct damage_log *log, const char *event, const struct id *account,
		     const struct fault *fault)
{
	const int64_t now = clock_monotonic();
	char text[ID_TEXT_SIZE + 1];
	size_t place = 0;

	if (fault->kind != FAULT_DAMAGED)
		return;
	for (size_t i = 0; i < DAMAGE_TOLD_MOST; i++) {
		if (log->told[i].event != NULL && strcmp(log->told[i].event, event) == 0 &&
		    id_compare(&log->told[i].account, account) == 0) {
			if (now - log->told[i].time < DAMAGE_TOLD_AFTER)
				return;
			place = i;
			break;
		}
		if (log->told[i].time < log->told[place].time)
			place = i;
	}
	log->told[place].event = event;
	log->told[place].account = *account;
	log->told[place].time = now;
	id_print(account, text);
	log_event(LOG_LEVEL_ERROR, event, "account", text, "cause", fault_reason(fault), NULL);
}
