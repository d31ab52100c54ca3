/* A clock that is wrong: loaded before the C library (LD_PRELOAD), it adds CLOCK_AHEAD seconds to
 * the time of day, of a program and of all that it starts. Clocks that only measure stay right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *ahead = getenv("CLOCK_AHEAD");
	const int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && ahead != NULL &&
	    (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += strtol(ahead, NULL, 10);
	return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;

	(void)zone;
	(void)clock_gettime(CLOCK_REALTIME, &time);
	*now = (struct timeval){ .tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *now)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_REALTIME, &time);
	if (now != NULL)
		*now = time.tv_sec;
	return time.tv_sec;
}
