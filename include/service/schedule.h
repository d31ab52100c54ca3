/* When the attempts of a delivery are made (service/dispatcher.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SCHEDULE_H
#define SERVICE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_MOST 32

/* Of each attempt the seconds from the one before, of the first one from the time of the entry. */
struct schedule {
	int64_t seconds[SCHEDULE_MOST];
	size_t count; /* at least 1 */
};

/* 0s,5s,5m,30m,2h,5h,10h,14h,20h,24h */
extern const struct schedule schedule_usual;

#endif
