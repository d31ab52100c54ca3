/* See command/again.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/again.h"

#include <poll.h>

#include "base/clock.h"

bool again_run(again_step *step, void *context, struct fault *fault)
{
	struct fault each = FAULT_INITIAL;
	uint32_t chance;

	for (unsigned i = 0; i < AGAIN_MOST; i++) {
		each = FAULT_INITIAL;
		if (step(context, &each))
			return true;
		if (each.kind != FAULT_AGAIN)
			break;
		/* Pauses at random, so that two commands that keep conflicting do not run again at
		 * the same time. */
		if (i > 0 && i + 1 < AGAIN_MOST) {
			clock_random(&clock_system, &chance, sizeof chance);
			(void)poll(NULL, 0, (int)(chance % (2u << i)));
		}
	}
	if (fault->kind == FAULT_NONE)
		*fault = each;
	return false;
}
