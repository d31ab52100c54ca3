/* The query parameters of lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_LIST_RULES_H
#define RULES_LIST_RULES_H

#include "rules/text_rules.h"

extern const struct shape template_list_query;
extern const struct shape room_list_query;
/* The same without `view`. */
extern const struct shape template_summaries_query;
extern const struct shape room_summaries_query;
extern const struct shape code_list_query;
/* Of the other calls that answer codes: those that read one, and those that may change
 * something. */
extern const struct shape code_view_query;
extern const struct shape code_write_query;
extern const struct shape signing_key_list_query;
/* Keys, backends, webhooks. */
extern const struct shape plain_list_query;
extern const struct shape event_list_query;
/* A type of log entries, `word.word`, or a beginning of types, `word.*`. */
bool event_type_is_right(struct slice type);
/* Of all calls that may change something. */
extern const struct shape write_query;

#endif
