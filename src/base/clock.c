/* The real-time clock and random source of the system.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static int64_t microseconds_of(clockid_t clock)
{
	struct timespec time;

	/* ABORT is not used here, because the log reads the clock too. */
	if (clock_gettime(clock, &time) != 0) {
		(void)dprintf(STDERR_FILENO, "abort reason=\"cannot read the clock\"\n");
		abort();
	}
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static int64_t system_now(const struct clock *clock)
{
	(void)clock;
	return microseconds_of(CLOCK_REALTIME) / 1000;
}

/* Aborts if there are no random bytes, because secrets could be guessed then. */
static void system_random(const struct clock *clock, void *bytes, size_t size)
{
	unsigned char *place = bytes;

	(void)clock;
	while (size > 0) {
		ssize_t got = getrandom(place, size, 0);

		if (got < 0 && errno != EINTR)
			ABORT("no random bytes");
		if (got > 0) {
			place += got;
			size -= (size_t)got;
		}
	}
}

const struct clock clock_system = { .now = system_now, .random = system_random };

int64_t clock_monotonic(void)
{
	return clock_microseconds() / 1000;
}

int64_t clock_microseconds(void)
{
	return microseconds_of(CLOCK_MONOTONIC);
}

int64_t clock_of_thread(void)
{
	return microseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_of_process(void)
{
	return microseconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds)
{
	struct timespec until;

	if (clock_gettime(CLOCK_MONOTONIC, &until) != 0)
		ABORT("cannot read the clock");
	until.tv_sec += (time_t)(milliseconds / 1000);
	until.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(condition, lock, &until);
}
