/* Counts unknown room codes by address, so that codes cannot be guessed. An address (for IPv6 a
 * /64) may have 20 misses per minute, or 2 while the whole service has more than 2,000 per minute;
 * beyond that its calls are rejected for a minute.
 *
 * Also limits, by account, the creation of RSA keys, which is expensive, to 10, then none for a
 * minute; and, by webhook, test deliveries likewise.
 *
 * And, by person, how often somebody inside a room asks who is there, to 2 a second, and calls at
 * all, to 10 a second. Remembers for a short time who was given access to a media server.
 *
 * Failed attempts to begin a session (service/session.h) have a separate budget by address, also 20
 * per minute.
 *
 * The memory is fixed: 8 MB, of which 5 MB are for 131,072 addresses. If more addresses miss within
 * a minute, new entries replace the oldest entry of their group; attackers with more addresses are
 * limited by the rate of the service and of nginx.
 *
 * Threads: any; the lock is held only for a look-up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MISSES_H
#define RESOURCES_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#include "resources/call.h"

#define MISSES_ADDRESS_MOST 20
#define MISSES_ADDRESS_MOST_UNDER_ATTACK 2
#define MISSES_SERVICE_MOST 2000
#define MISSES_KEYS_MOST 10
#define MISSES_TESTS_MOST 10
#define MISSES_VIEWS_MOST 2
#define MISSES_INSIDE_MOST 10
#define MISSES_MINUTE 60000 /* milliseconds */
#define MISSES_JOINED_FOR 30000 /* milliseconds */

struct misses;

/* Normalises an address: IPv4, also if written as IPv6, or the /64 of an IPv6 address. All other
 * texts, such as those for Unix sockets, count as one address. */
#define MISSES_ADDRESS_SIZE 16
void misses_address(struct slice text, unsigned char address[MISSES_ADDRESS_SIZE]);

struct misses *misses_open(const struct clock *clock);
void misses_close(struct misses *misses);

/* Returns the seconds until the address may call, 0 if it may call now. now: clock_monotonic. */
unsigned misses_wait(struct misses *misses, struct slice address, int64_t now);
/* Counts an unknown code from this address. Returns the same as misses_wait, because concurrent
 * calls may have used up the budget. */
unsigned misses_count(struct misses *misses, struct slice address, int64_t now);
/* Do the same for the address of the call, which is rejected while its budget is used up. Set
 * FAULT_TOO_MANY, with retry_after. The service checks before it reads a body. */
bool misses_check_codes(const struct call *call, struct fault *fault);
bool misses_count_code(const struct call *call, struct fault *fault);
/* Do the same for sessions: return the seconds until the next attempt, and count a failure. */
unsigned misses_session_wait(struct misses *misses, struct slice address, int64_t now);
void misses_session_count(struct misses *misses, struct slice address, int64_t now);
/* Returns the seconds until the account may create an RSA key. Returns 0 if it may now, and then
 * counts n keys (which may be 0). */
unsigned misses_keys_count(struct misses *misses, const struct id *account, int64_t now,
			   unsigned n);
/* Counts a test of a webhook, or of all backends of the account if `of` is the id zero: once, even
 * if the store has the call run again. Sets FAULT_TOO_MANY after MISSES_TESTS_MOST in a minute;
 * `what` begins its detail: "the webhook got". */
bool misses_count_test(struct call *call, const struct id *of, const char *what,
		       struct fault *fault);
/* Counts that somebody inside a room asks who is there: once, even if the call is run again. Sets
 * FAULT_TOO_MANY after MISSES_VIEWS_MOST in a second. */
bool misses_count_view(struct call *call, struct slice entry, struct fault *fault);
/* Counts a call with a join token of a room, by the token's entry: once, even if the call is run
 * again. Sets FAULT_TOO_MANY after MISSES_INSIDE_MOST in a second. */
bool misses_count_inside(struct call *call, struct fault *fault);
/* Notes that the holder of the call's join token was given access to the media server; and returns
 * true if that was noted in the last MISSES_JOINED_FOR. */
void misses_note_joined(struct call *call);
bool misses_has_joined(struct call *call);
/* Returns the misses of the last whole minute, or of the current one if that has more. */
unsigned misses_rate(struct misses *misses, int64_t now);
/* Returns the misses since misses_open. */
uint64_t misses_total(struct misses *misses);

#endif
