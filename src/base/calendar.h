/* Days of the proleptic Gregorian calendar, from the year 1 on. A day is a number: 0 is 1970-01-01.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CALENDAR_H
#define BASE_CALENDAR_H

#include <stdint.h>

int64_t calendar_day(int64_t year, int64_t month, int64_t day);
void calendar_date(int64_t days, int *year, int *month, int *day);
int calendar_days_of_month(int year, int month);

#endif
