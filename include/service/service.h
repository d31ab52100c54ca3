/* The path of a request through the service, without sockets. The edge and the tests call it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "resources/call.h"

struct service;
struct asking; /* resources/asking.h */

/* Verifies all tables. Threads without a request read them too, so the first one is started
 * afterwards. */
void service_verify(void);

/* Opens the service, and verifies all tables unless service_verify has. The environment's objects
 * are borrowed and outlive the service. */
struct service *service_open(const struct environment *environment);
void service_close(struct service *service);

/* Handles a call. `call` is zero except for `arena`, `request`, `started` and `may_be_deferred`, or
 * is as the first service_answer left it; its slices live as long as the arena's content. Fills in
 * call->answer; a fault becomes an error body. If answer.awaited is not 0 and its store_state() is
 * not STORE_DURABLE, the caller parks the call until it is, and then calls service_settle.
 *
 * Returns false, only with may_be_deferred, if the call has to be deferred: it is likely to be
 * expensive (service/costs.h), its route is_alone, it would wait for such a call of its account, or
 * it is_serial. There is no answer then: the caller calls again, one call at a time for routes that
 * are is_alone, and for calls that are is_serial.
 * Any thread. */
bool service_answer(struct service *service, struct call *call);

/* If it returns true and call_is_asking (resources/asking.h), the call has no answer yet: once
 * answer.awaited is durable, the caller calls service_ask, and after that has called `done`, it
 * calls service_answer again. */

/* Asks the media server, if the call is asking. done: called once, from another thread, which must
 * not be held up. */
void service_ask(struct call *call, void (*done)(void *context, struct asking *asking),
		 void *context);

/* Completes a call that was parked: STORE_DURABLE keeps the answer, STORE_FAILED replaces it with a
 * 503 and keeps the lasting headers (answer.lasting_count). */
void service_settle(struct call *call, enum store_state state);

#endif
