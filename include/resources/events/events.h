/* GET /v2/events: lists the event log, oldest first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_EVENTS_H
#define RESOURCES_EVENTS_EVENTS_H

#include "resources/call.h"
#include "resources/audit_record.h"

bool events_list(struct call *call, struct fault *fault);

/* True if `type` matches `wanted`: the same type, or a prefix such as `room.*` or
 * `peer.join.*`, or `*`. */
bool event_type_matches(struct slice wanted, struct slice type);

#endif
