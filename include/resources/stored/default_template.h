/* The default template of an account: new rooms get it if their request names no template.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_DEFAULT_TEMPLATE_H
#define RESOURCES_STORED_DEFAULT_TEMPLATE_H

#include "records/record.h"
#include "resources/call.h"

struct default_template {
	struct store_record stored;
	struct id id; /* of the template */
};
extern const struct record_table default_template_table;

/* Sets *is_set to false if the account has no default template. */
bool default_template_load(struct call *call, struct id *id, bool *is_set, struct fault *fault);
/* Makes the template the default template, or, if is_default is false, no longer the default.
 * Sets *is_changed (may be NULL) to true if it was not so before. */
bool default_template_set(struct call *call, const struct id *id, bool is_default, bool *is_changed,
			  struct fault *fault);

#endif
