/* See base/priority.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/priority.h"

#include <linux/sched/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nanoseconds; the default is a few milliseconds. */
#define LONG_SLICE 50000000

void priority_lower(int nice)
{
	/* The policy is 0, that of ordinary threads. Their slice is in sched_runtime. */
	struct sched_attr attributes = {
		.size = sizeof attributes,
		.sched_nice = nice,
		.sched_runtime = LONG_SLICE,
	};

	/* On Linux the "process" 0 is the calling thread. */
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
		(void)setpriority(PRIO_PROCESS, 0, nice);
}
