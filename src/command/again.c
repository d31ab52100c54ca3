/* See command/again.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/again.h"

bool again_run(again_step *step, void *context, struct fault *fault)
{
	struct fault each = FAULT_INITIAL;

	for (unsigned i = 0; i < AGAIN_MOST; i++) {
		each = FAULT_INITIAL;
		if (step(context, &each))
			return true;
		if (each.kind != FAULT_AGAIN)
			break;
	}
	if (fault->kind == FAULT_NONE)
		*fault = each;
	return false;
}
