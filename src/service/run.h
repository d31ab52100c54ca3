/* The handler of a call in its transaction: it is run, and what it changed is committed with its entries
 * in the log. A store may say that a transaction has to be run again, when another one was in its way.
 * Each run begins with the call as it was read, and no handler knows of the runs before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_RUN_H
#define SERVICE_RUN_H

#include "resources/call.h"

/* Runs the handler of call->route. call: found by the router, admitted (auth_check) and read; its answer
 * has standing headers alone. True: call->answer is complete, and call->answer.number says what has to
 * be durable before it is sent. False: the call is refused with `fault`, nothing was changed, and the
 * answer is undefined. Any thread. */
bool run_call(struct call *call, struct fault *fault);

#endif
