/* Runs the handler of a call in its transaction, and commits its changes together with their
 * events. The store may ask for a transaction to be run again because another one was in its way.
 * Each run starts with the call as it was read; only call->least_now remains from earlier runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_RUN_H
#define SERVICE_RUN_H

#include "resources/call.h"

/* Returns a mark of the account, which is never 0. If two accounts have the same mark, calls of one
 * may be deferred without need. */
uint64_t run_account_mark(const struct id *account);
/* Returns whether the call may be deferred, and a worker would have to wait in it: it is_serial, or
 * would write while a bulk or an import of its account runs (store_give_way). */
bool run_would_wait(const struct call *call);

/* Runs the handler of call->route. The call has been routed (router_find), admitted (auth_check)
 * and read; its answer contains only lasting headers. Returns true if call->answer is complete, or
 * if call->run.wants_write is set: only the handler found what it writes, and the call would wait
 * (run_would_wait). Returns false if the call is refused with `fault`; nothing was changed then,
 * unless the outcome of the commit is unknown (store/store.h). In all cases call->answer.awaited
 * says what must be durable before the answer or the refusal is sent. Any thread. */
bool run_call(struct call *call, struct fault *fault);

#endif
