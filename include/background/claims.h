/* Idempotency-Keys of calls that ask media servers, while these calls are under way: no transaction
 * is open meanwhile that another call with the same key would wait for. Such a call waits here,
 * without a thread, and is then run from the beginning. Of this process alone.
 *
 * Any thread; the lock is held only for a moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_CLAIMS_H
#define BACKGROUND_CLAIMS_H

#include "base/digest.h"
#include "base/id.h"
#include "resources/asking.h"

struct claims;

struct claims *claims_open(void);
/* Nobody may wait any more (claims_end_all). NULL is allowed. */
void claims_close(struct claims *claims);

enum claim_result {
	CLAIM_IS_OURS, /* until claims_release */
	CLAIM_IS_TAKEN, /* by a call with the same fingerprint */
	CLAIM_DIFFERS /* it is taken by another request */
};
/* Claims a key of the account for a call with this fingerprint, of DIGEST_SIZE bytes. */
enum claim_result claims_take(struct claims *claims, const struct id *account, struct slice key,
			      const unsigned char *fingerprint);
/* Ends a claim, and the waiting for it. */
void claims_release(struct claims *claims, const struct id *account, struct slice key);

/* Waits until the key asking->person of the account is free, at most until the time asking->until
 * of clock_monotonic; then asking->has_timed_out is set. Calls `done` once, perhaps at once, in any
 * thread. */
void claims_wait(struct claims *claims, struct asking *asking,
		 void (*done)(void *context, struct asking *asking), void *context);
/* Ends the waiting of those who have waited too long. Returns when to call it again; INT64_MAX if
 * nobody waits. */
int64_t claims_expire(struct claims *claims, int64_t now);
/* Ends the waiting of all. */
void claims_end_all(struct claims *claims);

#endif
