/* The calls of templates, of their settings and their destinations (anteroom-api(7)). Handlers
 * (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATES_H
#define RESOURCES_TEMPLATES_TEMPLATES_H

#include "resources/reads.h"
#include "resources/templates/template_record.h"

/* Creates a template, or overwrites that of the name. */
handler templates_create;
handler templates_list;
read_page templates_first_page;
read_when templates_list_has_default; /* it shows or asks for the default template */
read_when templates_list_is_of_default; /* it has that one alone */
handler templates_get;
handler templates_update; /* members that are supplied replace the stored ones whole */
handler templates_patch;
handler templates_delete;

/* Removes a template that no room uses. */
bool template_remove(struct call *call, const struct template_record *record, struct fault *fault);

handler settings_get;
handler settings_replace;
handler settings_patch;

handler destinations_get;
handler destinations_replace;
handler destinations_patch;

/* The body is that of an imported template (rules/import_rules.h): stores it, unless it is there
 * and the same. The call may have any path. Faults of the client are set before anything is stored.
 * *is_new: the account had none with its id. */
bool templates_import(struct call *call, bool *is_new, struct fault *fault);

#endif
