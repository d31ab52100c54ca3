/* What the log says of changes to templates and their roles (resources/audit.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H
#define RESOURCES_TEMPLATES_TEMPLATE_AUDIT_H

#include "resources/templates/template_record.h"

/* type: "template.created" or "template.deleted". */
void template_note(struct call *call, const char *type, const struct template_record *record);

/* The template was written: an entry for what differs from the former one, one for each role that
 * is gone, then one for each that came. default_changed: it became the default template, or is it
 * no more. */
void template_note_update(struct call *call, const struct template_record *record,
			  const struct template_record *former, bool default_changed);

/* type: "role.created" or "role.deleted". */
void role_note(struct call *call, const char *type, const struct template_record *record,
	       struct slice role);

/* The role with the index in the record was changed or renamed; `former` is what it was. */
void role_note_update(struct call *call, const struct template_record *record, size_t index,
		      const struct template_role *former);

#endif
