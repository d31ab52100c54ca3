/* Counts unknown room codes by address, so that codes cannot be guessed. An address (for IPv6 a
 * /64) has 20 misses a minute, or 2 while the whole service has more than 2,000 a minute; then its
 * calls are refused for a minute.
 *
 * It also counts by account the RSA keys that it makes, which cost much: 10, then none for a
 * minute; and by webhook the tests that are sent to it: likewise.
 *
 * Tries to begin a session (service/session.h) that fail have a budget of their own by address, of
 * 20 a minute too.
 *
 * The memory is fixed: 5 MB for 131,072 addresses. When more addresses miss within a minute, the
 * oldest entry of a group is replaced; attackers with more addresses are limited by the rate of the
 * service and of nginx.
 *
 * Threads: any; the lock is held for a look-up only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_MISSES_H
#define RESOURCES_JOINING_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/slice.h"

#define MISSES_ADDRESS_MOST 20
#define MISSES_ADDRESS_MOST_UNDER_ATTACK 2
#define MISSES_SERVICE_MOST 2000
#define MISSES_KEYS_MOST 10
#define MISSES_TESTS_MOST 10
#define MISSES_MINUTE 60000 /* milliseconds */

struct misses;

struct misses *misses_open(const struct clock *clock);
void misses_close(struct misses *misses);

/* The seconds until the address may call; 0: now. now: milliseconds of clock_monotonic. */
unsigned misses_wait(struct misses *misses, struct slice address, int64_t now);
/* Counts an unknown code from this address. Returns the same as misses_wait, since concurrent calls
 * may have used up the budget. */
unsigned misses_count(struct misses *misses, struct slice address, int64_t now);
/* The same of sessions: the seconds until the address may try again, and one more failure. */
unsigned misses_session_wait(struct misses *misses, struct slice address, int64_t now);
void misses_session_count(struct misses *misses, struct slice address, int64_t now);
/* The seconds until the account may make an RSA key; 0: now, and n of them are counted (0:
 * none). */
unsigned misses_keys_count(struct misses *misses, const struct id *account, int64_t now,
			   unsigned n);
/* The same of a test of a webhook of the account. */
unsigned misses_tests_count(struct misses *misses, const struct id *account,
			    const struct id *webhook, int64_t now, unsigned n);
/* Misses of the last whole minute, or of the current one if these are more. */
unsigned misses_rate(struct misses *misses, int64_t now);
/* All misses since misses_open. */
uint64_t misses_total(struct misses *misses);

#endif
