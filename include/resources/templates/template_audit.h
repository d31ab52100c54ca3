/* Notes changes of templates and roles for the event log (resources/audit.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H
#define RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H

#include "resources/stored/template_record.h"

/* A role whose publishParams or permissions a call has changed. Its people are to be notified, once
 * the call has been committed (resources/live/live_enforcement.h). */
struct changed_role {
	const struct changed_role *next;
	struct id template_id;
	uint32_t identity;
};

/* type: "template.created" or "template.deleted". */
void template_note(struct call *call, const char *type, const struct template_record *record);

/* Notes the roles that are changed (struct changed_role), without an event. */
void template_note_changed_roles(struct call *call, const struct template_record *record,
				 const struct template_record *former);

/* Notes an update, with the roles that are changed (struct changed_role): an event for the
 * template's own changes, one for each deleted role, then one for each new role. default_changed:
 * the template became the default template or stopped being it. */
void template_note_update(struct call *call, const struct template_record *record,
			  const struct template_record *former, bool default_changed);

/* type: "role.created" or "role.deleted". */
void role_note(struct call *call, const char *type, const struct template_record *record,
	       struct slice role);

/* Notes that the role at this index was changed or renamed, also as a changed role; `former` is the
 * role before. */
void role_note_update(struct call *call, const struct template_record *record, size_t index,
		      const struct template_role *former);

#endif
