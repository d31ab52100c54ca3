/* See command/again.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/again.h"

#include <poll.h>

#include "base/clock.h"

/* Two commands that conflict again and again do not run again at the same time. */
static void let_others(unsigned agains)
{
	uint32_t chance;

	if (agains < 2 || agains == AGAIN_MOST)
		return;
	clock_random(&clock_system, &chance, sizeof chance);
	(void)poll(NULL, 0, (int)(chance % (1u << agains)));
}

bool again_run(again_step *step, void *context, struct fault *fault)
{
	struct fault each = FAULT_INITIAL;

	for (unsigned i = 0; i < AGAIN_MOST; i++) {
		each = FAULT_INITIAL;
		if (step(context, &each))
			return true;
		if (each.kind != FAULT_AGAIN)
			break;
		let_others(i + 1);
	}
	if (fault->kind == FAULT_NONE)
		*fault = each;
	return false;
}
