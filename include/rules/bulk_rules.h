/* Bulk requests: many operations in one request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_BULK_RULES_H
#define RULES_BULK_RULES_H

#include "rules/text_rules.h"

#define BULK_OPERATIONS_MOST 2000

extern const struct shape bulk_shape;
extern const struct shape bulk_answer_shape;

#endif
