/* Notes changes of templates and roles for the event log (resources/audit.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H
#define RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H

#include "resources/templates/template_record.h"

/* type: "template.created" or "template.deleted". */
void template_note(struct call *call, const char *type, const struct template_record *record);

/* Notes an update: an event for the template's own changes, one for each deleted role, then one for
 * each new role. default_changed: the template became the default template or stopped being it. */
void template_note_update(struct call *call, const struct template_record *record,
			  const struct template_record *former, bool default_changed);

/* type: "role.created" or "role.deleted". */
void role_note(struct call *call, const char *type, const struct template_record *record,
	       struct slice role);

/* Notes that the role at this index was changed or renamed; `former` is the role before. */
void role_note_update(struct call *call, const struct template_record *record, size_t index,
		      const struct template_role *former);

#endif
