/* See command/again.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/again.h"

#include <poll.h>

#include "base/clock.h"

bool again_try(struct again *again)
{
	uint32_t chance;

	if (again->is_done || again->runs == AGAIN_MOST ||
	    (again->runs > 0 && again->fault->kind != FAULT_AGAIN))
		return false;
	/* Pauses at random, so that two commands that keep conflicting do not run again at the same
	 * time. */
	if (again->runs > 1) {
		clock_random(&clock_system, &chance, sizeof chance);
		(void)poll(NULL, 0, (int)(chance % (1u << again->runs)));
	}
	*again->fault = FAULT_INITIAL;
	again->runs++;
	return true;
}
