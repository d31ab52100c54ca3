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

/* Whether the call is one of those that the caller handles one at a time (route.is_alone). */
bool service_is_alone(const struct service *service, const struct call *call);
/* call: zero except `arena` and `request`, whose slices live as long as the arena's content. Always
 * fills call->answer; a fault becomes its error body. If answer.number is not 0 and store_state()
 * of it is not STORE_DURABLE, the caller parks the call until it is, and then calls service_settle.
 * Any thread. */
void service_answer(struct service *service, struct call *call);

/* After parking: STORE_DURABLE keeps the answer, STORE_FAILED replaces it by a 503. */
void service_settle(struct service *service, struct call *call, enum store_state state);

#endif
