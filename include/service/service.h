/* The path of a request through the service, without sockets; the edge and the tests call it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "resources/call.h"

struct service;

/* Verifies all tables. The environment's objects are borrowed and outlive the service. */
struct service *service_open(const struct environment *environment);
void service_close(struct service *service);

/* call: zero except `arena`, `request`, `started` and `may_be_deferred`, or as the first call left
 * it; the slices live as long as the arena's content. Fills call->answer; a fault becomes its error
 * body. If answer.awaited is not 0 and store_state() of it is not STORE_DURABLE, the caller parks
 * the call until it is, and then calls service_settle.
 *
 * False, only with may_be_deferred: the call is likely to cost much (service/costs.h), or its route
 * is_alone, or it would wait for such a call of its account. It has no answer yet: the caller calls
 * again, for such routes one call at a time. Any thread. */
bool service_answer(struct service *service, struct call *call);

/* After parking: STORE_DURABLE keeps the answer, STORE_FAILED replaces it by a 503 with the
 * standing headers (answer.standing_count). */
void service_settle(struct call *call, enum store_state state);

#endif
