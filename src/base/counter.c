/* See base/counter.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/counter.h"

#include <stdlib.h>

#include "base/log.h"

#ifdef COUNTERS_ABORT
enum { ENDS_PROGRAM = true };
#else
enum { ENDS_PROGRAM = false };
#endif

void counter_below_zero(const char *counter, const char *file, int line)
{
	log_event(LOG_LEVEL_ERROR, "counter_below_zero", "counter", counter, "file", file, "line",
		  LOG_NUMBER(line), "consequence", "it goes on from zero; please report this",
		  NULL);
	if (ENDS_PROGRAM)
		ABORT("a counter would go below zero");
}
