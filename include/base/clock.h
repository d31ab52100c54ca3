/* Time and random bytes, replaceable in tests. A struct clock is const and shared by all threads.
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

/* Returns monotonic milliseconds, for measuring and waiting. Not replaceable. */
int64_t clock_monotonic(void);
/* Returns the same clock in microseconds. */
int64_t clock_microseconds(void);

/* Return the processor time of the calling thread and of the process, in microseconds. */
int64_t clock_of_thread(void);
int64_t clock_of_process(void);

/* Initialises a condition for clock_wait. It uses the same clock as clock_monotonic. */
void clock_condition_init(pthread_cond_t *condition);
/* Waits for the condition for at most `milliseconds`. The caller holds `lock`. */
void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds);

#endif
