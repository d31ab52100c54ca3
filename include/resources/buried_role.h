/* What outlives a role: of one that was deleted while rooms used its template, a small record stays in
 * the table ROLE, with its last name and when it was deleted. It stays as long as the account's data
 * does: what shows codes must always be able to name their role.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_BURIED_ROLE_H
#define RESOURCES_BURIED_ROLE_H

#include "resources/template_record.h"

struct buried_role {
	struct slice name; /* borrowed */
	int64_t added, deleted; /* milliseconds */
};

/* Buries a role that is being deleted now, when rooms use the template. */
bool buried_role_bury(struct call *call, const struct template_record *record,
		      const struct template_role *role, struct fault *fault);
bool buried_role_put(struct call *call, const struct id *template_id, uint32_t identity,
		     const struct buried_role *role, struct fault *fault);
bool buried_role_remove(struct call *call, const struct id *template_id, uint32_t identity,
			struct fault *fault);
/* *is_there false: none. */
bool buried_role_find(struct call *call, const struct id *template_id, uint32_t identity,
		      struct buried_role *role, bool *is_there, struct fault *fault);
/* A missing one is damage. */
bool buried_role_load(struct call *call, const struct id *template_id, uint32_t identity,
		      struct buried_role *role, struct fault *fault);

#endif
