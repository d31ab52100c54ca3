/* Deleted roles. A role that is deleted leaves a record with its last name and the time of its
 * deletion, because codes of any number of rooms may refer to it: a room resolves these references
 * when its codes are written the next time (resources/codes/code_life.h).
 *
 * A template keeps DELETED_ROLES_KEPT of these records. While it has more, each call that deletes
 * roles also visits some rooms of the template, from the oldest on, and resolves their references;
 * when all rooms were visited, the records that were there when the round began are removed, and
 * the next round begins. The others are removed when the template is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_DELETED_ROLE_H
#define RESOURCES_TEMPLATES_DELETED_ROLE_H

#include "resources/templates/template_record.h"

#define DELETED_ROLES_KEPT 64

struct deleted_role {
	struct store_record stored;
	uint32_t identity; /* in a dump alone: the id has it */
	struct slice name; /* borrowed */
	int64_t deleted; /* milliseconds since 1970 */
};

extern const struct record_table deleted_role_table;

/* The id of its record, unique in the account. */
struct id deleted_role_id(const struct id *template_id, uint32_t identity);

/* Records that the role is deleted now. The caller stores the template. */
bool deleted_role_add(struct call *call, struct template_record *record,
		      const struct template_role *role, struct fault *fault);
/* FAULT_DAMAGED when it is not there. */
bool deleted_role_load(struct call *call, const struct id *template_id, uint32_t identity,
		       struct deleted_role *role, struct fault *fault);

/* Visits some rooms where the template has too many; after deleted_role_add, when the template has
 * its new roles. The caller stores the template. */
bool deleted_roles_resolve(struct call *call, struct template_record *record, struct fault *fault);

/* So many are removed when a template is deleted (resources/garbage.h). */
#define DELETED_ROLES_AT_ONCE 256
/* Removes at most `most` of the template's; *removed: how many there were. */
bool deleted_roles_remove(struct call *call, const struct id *template_id, int64_t deleted_before,
			  size_t most, size_t *removed, struct fault *fault);

#endif
