/* Idempotency-Key: a request with a key that was seen before gets the answer that was kept with it,
 * or 422 when it is another request (anteroom-api(7)). What is kept is in
 * resources/retries/kept_answer.h.
 *
 * The handler runs first and the key is looked for afterwards, in the same transaction, so that a
 * driver behind a network reads both at once; what the handler did for a request that was carried
 * out before is abandoned. Of two requests with one key at the same time the store lets one go
 * first and runs the other again, which then finds the answer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_IDEMPOTENCY_H
#define SERVICE_IDEMPOTENCY_H

#include "resources/call.h"

/* Sets call->idempotency_key, for calls that honour one. FAULT_BAD_REQUEST: it is malformed. */
bool idempotency_read(struct call *call, struct fault *fault);

/* After the handler of a call with a key, in its transaction. is_done: what the handler returned.
 * Keeps the answer of a call that is done; or makes the kept one the answer, and sets *is_replay:
 * the transaction is abandoned then. */
bool idempotency_end(struct call *call, bool is_done, bool *is_replay, struct fault *fault);

/* For a call whose body or query was refused by *fault: true when a kept answer became the answer.
 * Else the fault may have become FAULT_KEY_REUSED. */
bool idempotency_replay(struct call *call, struct fault *fault);

#endif
