/* See store/gdbm/throttle.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/throttle.h"

#include "base/clock.h"

/* A merge that yields works for a slice (of processor time), then waits. Fewer than one call in a
 * hundred meets a slice, and only briefly. */
#define SLICE_MICROSECONDS 1000
#define WAIT_MILLISECONDS 125
/* Other threads count as busy if they use more than 1 / IDLE_SHARE of a processor. */
#define IDLE_SHARE 8
/* Delay of a write for each file above THROTTLE_MANY. */
#define FILE_MICROSECONDS 50

int64_t throttle_merge(struct throttle *throttle, size_t files)
{
	const struct throttle before = *throttle;
	const int64_t own = clock_of_thread();
	int64_t others;

	if (own - before.own < SLICE_MICROSECONDS)
		return 0;
	*throttle = (struct throttle){ own, clock_of_process(), clock_microseconds() };
	others = throttle->all - before.all - (own - before.own);
	return files <= THROTTLE_FEW && IDLE_SHARE * others > throttle->clock - before.clock
		       ? WAIT_MILLISECONDS
		       : 0;
}

int64_t throttle_write(size_t files)
{
	if (files <= THROTTLE_MANY)
		return 0;
	if (files - THROTTLE_MANY > THROTTLE_LONGEST / FILE_MICROSECONDS)
		return THROTTLE_LONGEST;
	return (int64_t)(files - THROTTLE_MANY) * FILE_MICROSECONDS;
}
