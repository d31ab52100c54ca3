/* The one way a request goes, without a socket: the edge and the tests call the same function.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "resources/call.h"

struct service;

/* What the environment refers to is borrowed and outlives the service. Verifies all tables (schema_verify). */
struct service *service_open(const struct environment *environment);
void service_close(struct service *service);

/* call: zeroed but for `arena` and `request` (whose slices live at least as long as the arena's
 * content). Fills call->answer, always: a fault becomes its error body here and nowhere else. When
 * answer.number is not 0 and store_state() of it is not STORE_DURABLE yet, the call is to be parked
 * until it is; service_settle then says what is sent. Any thread. */
void service_answer(struct service *service, struct call *call);

/* After the wait: STORE_DURABLE leaves the answer as it is, STORE_FAILED replaces it by the 503. */
void service_settle(struct service *service, struct call *call, enum store_state state);

#endif
