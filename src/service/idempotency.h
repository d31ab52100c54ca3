/* Idempotency-Key: a request with a key that was used before gets the response that was stored with
 * the key, or 422 if it is a different request (anteroom-api(7)). resources/retries/kept_answer.h
 * describes what is stored.
 *
 * The handler runs first, and the key is looked up afterwards in the same transaction, so that a
 * remote store reads both in one round trip. If the request was carried out before, the changes of
 * the handler are abandoned. If two requests with the same key arrive at the same time, the store
 * lets one go first and runs the other again, which then finds the stored response. A call that
 * asks a media server has no transaction meanwhile, so it claims its key before it begins
 * (background/claims.h), and the other one waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_IDEMPOTENCY_H
#define SERVICE_IDEMPOTENCY_H

#include "resources/call.h"

/* Sets call->idempotency_key, for calls that honour the header. FAULT_BAD_REQUEST if it is
 * malformed. */
bool idempotency_read(struct call *call, struct fault *fault);

/* Called before a call runs, and when it has waited. If its route asks media servers, claims its
 * key until idempotency_release. *waits: another call with the key is under way; call->asking then
 * waits for its end. Fails if that is another request, or lasts too long. */
bool idempotency_claim(struct call *call, bool *waits, struct fault *fault);
/* Ends the claim of a call that is answered. */
void idempotency_release(struct call *call);
/* Sets the fault of a call that another one with its key has held up for too long. */
bool idempotency_refuse(struct fault *fault);

/* Called after the handler of a call with a key, in its transaction. is_done: what the handler
 * returned. Either stores the answer of a call that succeeded; or makes the stored response the
 * answer and sets *is_replay, and the caller then abandons the transaction. */
bool idempotency_end(struct call *call, bool is_done, bool *is_replay, struct fault *fault);

/* Called when the body or query was rejected by *fault. Returns true if a stored response became
 * the answer. Otherwise the fault may have become FAULT_KEY_REUSED. */
bool idempotency_replay(struct call *call, struct fault *fault);

#endif
