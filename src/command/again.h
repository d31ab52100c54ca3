/* Runs a step again if the store asks for it (FAULT_AGAIN), for the commands that write. The
 * service does the same with a call.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_AGAIN_H
#define COMMAND_AGAIN_H

#include <stdbool.h>

#include "base/fault.h"

/* How often a step is run at most. */
#define AGAIN_MOST 10

/* A step has its own transaction: it begins one, and commits or abandons it. It must be able to
 * repeat whatever it did before a fault. */
typedef bool again_step(void *context, struct fault *fault);

/* Runs the step until its fault is not FAULT_AGAIN, or AGAIN_MOST times, with random pauses that
 * grow to half a second. */
bool again_run(again_step *step, void *context, struct fault *fault);

#endif
