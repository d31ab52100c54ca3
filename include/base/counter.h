/* Counters of what is under way: raised when something begins, lowered when it ends. A counter that
 * would go below zero is a mistake of this program, and would hold up everything that waits until
 * the counter is small again, because it is unsigned. Then the event `counter_below_zero` names it
 * in the service log, and it goes on from zero; a build with sanitizers, which tests run, ends.
 *
 * Keep what was added to a counter with the object that added it, and lower the counter by that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

/* Lowers a counter, of any unsigned type, by n. Both are evaluated more than once. The caller
 * synchronises threads. */
#define COUNTER_LOWER(counter, n) \
	((n) <= (counter) \
		 ? (void)((counter) -= (n)) \
		 : (counter_below_zero(#counter, __FILE__, __LINE__), (void)((counter) = 0)))

/* For COUNTER_LOWER: logs the event. */
void counter_below_zero(const char *counter, const char *file, int line);

#endif
