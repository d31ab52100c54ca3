/* The handler of a call in its transaction: it is run, and what it changed is committed with its
 * entries in the log. A store may say that a transaction has to be run again, when another one was
 * in its way. Each run begins with the call as it was read; only call->least_now remains from the
 * runs before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_RUN_H
#define SERVICE_RUN_H

#include "resources/call.h"

/* Runs the handler of call->route. call: found by the router, admitted (auth_check) and read; its
 * answer has standing headers alone. True: call->answer is complete. False: the call is refused
 * with `fault`; nothing was changed, unless the outcome of the commit is unknown (store/store.h).
 * In both cases call->answer.awaited says what has to be durable before the answer, or the refusal,
 * is sent. Any thread. */
bool run_call(struct call *call, struct fault *fault);

#endif
