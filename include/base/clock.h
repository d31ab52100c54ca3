/* Time and chance, replaceable in tests: the clock says what time it is, and gives random bytes from
 * the kernel. A struct clock is const and shared by all threads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct clock {
	int64_t (*now)(const struct clock *clock); /* milliseconds since 1970, UTC */
	void (*random)(const struct clock *clock, void *bytes, size_t size);
};

/* The system's real-time clock and getrandom(2). */
extern const struct clock clock_system;

static inline int64_t clock_now(const struct clock *clock)
{
	return clock->now(clock);
}

static inline void clock_random(const struct clock *clock, void *bytes, size_t size)
{
	clock->random(clock, bytes, size);
}

/* Milliseconds that never go back, for measuring and for waiting; not replaceable. */
int64_t clock_monotonic(void);
/* The same in microseconds. */
int64_t clock_microseconds(void);

/* Microseconds of the processor that the calling thread has used, and all threads together. */
int64_t clock_of_thread(void);
int64_t clock_of_process(void);

/* A condition that is waited for by the clock of clock_monotonic; for clock_wait, or without a time. */
void clock_condition_init(pthread_cond_t *condition);
/* With the lock held, which the condition belongs to: waits for it, so long at most. */
void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds);

#endif
