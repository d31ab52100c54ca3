/* See background/damage_log.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/damage_log.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

void damage_log_add(struct damage_log *log, const char *event, const struct id *account,
		    const struct fault *fault)
{
	const int64_t now = clock_monotonic();
	char text[ID_TEXT_SIZE + 1];
	size_t place = 0;

	if (fault->kind != FAULT_DAMAGED)
		return;
	for (size_t i = 0; i < DAMAGE_LOGGED_MOST; i++) {
		if (log->logged[i].event != NULL && strcmp(log->logged[i].event, event) == 0 &&
		    id_compare(&log->logged[i].account, account) == 0) {
			if (now - log->logged[i].time < DAMAGE_LOGGED_AFTER)
				return;
			place = i;
			break;
		}
		if (log->logged[i].time < log->logged[place].time)
			place = i;
	}
	log->logged[place].event = event;
	log->logged[place].account = *account;
	log->logged[place].time = now;
	id_print(account, text);
	log_event(LOG_LEVEL_ERROR, event, "account", text, "cause", fault_reason(fault), NULL);
}
