/* Deleted roles. Deleting a role leaves a record with its last name and the time of deletion,
 * because codes of any number of rooms may refer to the role. A room resolves these references when
 * its codes are next written (resources/codes/code_life.h).
 *
 * A template keeps DELETED_ROLES_KEPT of these records. While it has more, each request that
 * deletes roles also resolves the references of some rooms (codes_resolve_some), and the records
 * that no room refers to any more are removed. The remaining records are removed together with the
 * template.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_DELETED_ROLE_H
#define RESOURCES_STORED_DELETED_ROLE_H

#include "resources/stored/template_record.h"

#define DELETED_ROLES_KEPT 64

struct deleted_role {
	struct store_record stored;
	uint32_t identity; /* only in a dump; otherwise the id contains it */
	struct slice name; /* borrowed */
	int64_t deleted; /* milliseconds since 1970 */
};

extern const struct record_table deleted_role_table;

/* Returns the id of a role's record, which is unique in the account. */
struct id deleted_role_id(const struct id *template_id, uint32_t identity);

/* Records that the role is deleted now. The caller must store the template. */
bool deleted_role_add(struct call *call, struct template_record *record,
		      const struct template_role *role, struct fault *fault);
/* Loads the record of a deleted role. Sets FAULT_DAMAGED if it is missing. */
bool deleted_role_load(struct call *call, const struct id *template_id, uint32_t identity,
		       struct deleted_role *role, struct fault *fault);

/* Records that one request removes. */
#define DELETED_ROLES_AT_ONCE 256
/* Removes at most `most` records of the template that are older than deleted_before, and sets
 * *removed to their number. */
bool deleted_roles_remove(struct call *call, const struct id *template_id, int64_t deleted_before,
			  size_t most, size_t *removed, struct fault *fault);

#endif
