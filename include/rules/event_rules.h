/* The events of the event log, as GET /v2/events returns them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_EVENT_RULES_H
#define RULES_EVENT_RULES_H

#include "rules/text_rules.h"

/* The response of /v2/analytics/events. */
extern const struct shape analytics_shape;
extern const struct shape event_shape;
/* Who made a change. */
extern const struct shape event_actor_shape;

#endif
