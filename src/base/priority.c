/* See base/priority.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/priority.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/clock.h"

#define MICROSECONDS_AT_ONCE 400

static _Thread_local bool is_lowered;
static _Thread_local int64_t yielded; /* time of the last yield (clock_microseconds) */

void priority_lower(int nice)
{
	is_lowered = true;
	/* On Linux, "process" 0 is the calling thread. */
	(void)setpriority(PRIO_PROCESS, 0, nice);
}

void priority_yield(void)
{
	if (!is_lowered || clock_microseconds() - yielded < MICROSECONDS_AT_ONCE)
		return;
	(void)sched_yield();
	yielded = clock_microseconds();
}
