/* GET /v2/events: the log of changes, oldest first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_EVENTS_H
#define RESOURCES_EVENTS_EVENTS_H

#include "resources/call.h"
#include "resources/events/audit_record.h"

bool events_list(struct call *call, struct fault *fault);

/* Appends the entry as a JSON object: event_shape's members, in its order. */
void event_append(struct buffer *text, const struct audit_entry *entry);

/* Whether a type is the wanted one, or begins as `room.*` says. `*` wants all. */
bool event_type_matches(struct slice wanted, struct slice type);

#endif
