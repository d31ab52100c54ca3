/* The destinations of a template, and its configuration of recordings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_DESTINATION_RULES_H
#define RULES_DESTINATION_RULES_H

#include "rules/text_rules.h"

extern const struct shape destinations_shape;
/* The configuration of recordings; as a body and response, a list of at most one. */
extern const struct shape recording_config_shape, recordings_shape;

#endif
