/* The template and its settings: interface.md sections 2.2 and 2.6, decisions.md section 4.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TEMPLATE_RULES_H
#define RULES_TEMPLATE_RULES_H

#include "rules/text_rules.h"

extern const struct shape template_shape;
extern const struct shape settings_shape;

#endif
