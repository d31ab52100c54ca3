/* The query parameters of lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_LIST_RULES_H
#define RULES_LIST_RULES_H

#include "rules/text_rules.h"

extern const struct shape template_list_query;
extern const struct shape room_list_query;
/* The queries of summaries, which have no `view`. */
extern const struct shape template_summaries_query;
extern const struct shape room_summaries_query;
extern const struct shape code_list_query;
/* The queries of other endpoints that return codes: those that read a code, and those that may
 * change something. */
extern const struct shape code_view_query;
extern const struct shape code_write_query;
extern const struct shape signing_key_list_query;
/* The query of lists of API keys, backends and webhooks. */
extern const struct shape backend_list_query;
extern const struct shape plain_list_query;
extern const struct shape event_list_query;
/* Events of a room (/v2/analytics/events). */
#define ANALYTICS_TYPES_MOST 20
extern const struct shape analytics_query;
/* Returns true for an event type, which has 2 to 4 words: `room.created`, `peer.join.success`; or
 * for a prefix of types, whose last word is `*`: `room.*`, `peer.join.*`. */
bool event_type_is_right(struct slice type);
/* The rule that `after` and `before` are RFC 3339 times or dates. */
schema_rule rule_check_times;
/* The query of all endpoints that may change something. */
extern const struct shape write_query;

#endif
