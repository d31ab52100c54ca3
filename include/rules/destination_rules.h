/* The destinations of a template.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_DESTINATION_RULES_H
#define RULES_DESTINATION_RULES_H

#include "rules/text_rules.h"

extern const struct shape destinations_shape;

#endif
