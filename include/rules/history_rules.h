/* What GET /v2/service/history returns.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_HISTORY_RULES_H
#define RULES_HISTORY_RULES_H

#include "rules/text_rules.h"

extern const struct shape history_shape;

#endif
