/* The template and its settings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TEMPLATE_RULES_H
#define RULES_TEMPLATE_RULES_H

#include "rules/text_rules.h"

extern const struct shape template_shape;
/* A template with view=summary. */
extern const struct shape template_summary_shape;
extern const struct shape settings_shape;
/* The response to a test of the storage that the settings name. */
extern const struct shape upload_test_shape;
/* A template in POST /v2/import. */
extern const struct shape imported_template_shape;

#endif
