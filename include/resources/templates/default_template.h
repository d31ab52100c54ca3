/* The default template of an account: the one that a new room gets when the request names none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_DEFAULT_TEMPLATE_H
#define RESOURCES_TEMPLATES_DEFAULT_TEMPLATE_H

#include "records/record.h"
#include "resources/call.h"

struct default_template {
	struct store_record stored;
	struct id id; /* of the template */
};
extern const struct record_table default_template_table;

/* *is_set false: the account has none. */
bool default_template_load(struct call *call, struct id *id, bool *is_set, struct fault *fault);
/* Makes the template the default one, or, with is_default false, no longer the default one.
 * *is_changed (may be NULL): it was not so before. */
bool default_template_set(struct call *call, const struct id *id, bool is_default, bool *is_changed,
			  struct fault *fault);

#endif
