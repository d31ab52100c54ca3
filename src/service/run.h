/* The handler of a call in its transaction: it is run, and what it changed is committed with its
 * entries in the log. A store may say that a transaction has to be run again, when another one was
 * in its way. Each run begins with the call as it was read; only call->least_now remains from the
 * runs before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_RUN_H
#define SERVICE_RUN_H

#include "resources/call.h"

/* Names an account, and is not 0. Of two accounts with the same mark, one is deferred without
 * need. */
uint64_t run_account_mark(const struct id *account);
/* Whether the call may be deferred, and would write beside a bulk or an import of its account: a
 * worker would wait for the end of that (store_give_way). */
bool run_would_wait(const struct call *call);

/* Runs the handler of call->route. call: found by the router, admitted (auth_check) and read; its
 * answer has standing headers alone. True: call->answer is complete, or call->run.wants_write is
 * set: only the handler found the account, and run_would_wait. False: the call is refused with
 * `fault`; nothing was changed, unless the outcome of the commit is unknown (store/store.h). In
 * both cases call->answer.awaited says what has to be durable before the answer, or the refusal, is
 * sent. Any thread. */
bool run_call(struct call *call, struct fault *fault);

#endif
