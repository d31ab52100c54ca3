/* Runs a step again if the store asks for it (FAULT_AGAIN), for the commands that write. The
 * service does the same with a call.
 *
 *	struct again again = { .fault = fault };
 *
 *	while (again_try(&again))
 *		again.is_done = remove_some(removal, fault);
 *	return again.is_done;
 *
 * A step has its own transaction: it begins one, and commits or abandons it. It must be able to
 * repeat whatever it did before a fault.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_AGAIN_H
#define COMMAND_AGAIN_H

#include <stdbool.h>

#include "base/fault.h"

/* How often a step is run at most. */
#define AGAIN_MOST 10

struct again {
	struct fault *fault; /* the caller's; cleared before each run */
	bool is_done; /* set by the loop */
	unsigned runs;
};

/* Returns false when the step is done, after another fault than FAULT_AGAIN, and after AGAIN_MOST
 * runs. Between two runs it pauses at random, longer and longer, for half a second at most. */
bool again_try(struct again *again);

#endif
