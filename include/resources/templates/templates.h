/* Handlers of templates, their settings, their destinations and their recordings
 * (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATES_H
#define RESOURCES_TEMPLATES_TEMPLATES_H

#include "resources/reads.h"
#include "resources/stored/template_record.h"

/* Creates a template, or overwrites the template with the same name. */
handler templates_create;
handler templates_list;
extern const struct loading load_templates; /* its first page */
handler templates_get;
handler templates_update; /* the given fields replace the stored ones completely */
handler templates_patch;
handler templates_delete;

handler settings_get;
handler settings_replace;
handler settings_patch;

handler destinations_get;
handler destinations_replace;
handler destinations_patch;

handler recordings_get;
handler recordings_replace;

/* Imports a template; the body is as in rules/import_rules.h. Stores it, unless an identical one
 * exists. The call may have any path. Sets faults of the client before it stores anything. Sets
 * *is_new to true if the account had no template with its id. */
bool templates_import(struct call *call, bool *is_new, struct fault *fault);

#endif
