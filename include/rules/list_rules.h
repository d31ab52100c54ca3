/* The query parameters of lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_LIST_RULES_H
#define RULES_LIST_RULES_H

#include "rules/text_rules.h"

extern const struct shape template_list_query;
extern const struct shape room_list_query;
extern const struct shape code_list_query;
extern const struct shape signing_key_list_query;
extern const struct shape backend_list_query;
/* Of all calls that may change something. */
extern const struct shape write_query;
/* For routes without parameters. */
extern const struct shape no_query;

#endif
