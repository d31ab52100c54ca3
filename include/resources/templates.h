/* The calls of templates, of their settings and their destinations: interface.md 4.3, 4.5;
 * decisions.md sections 4, 9, 10. Handlers (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_H
#define RESOURCES_TEMPLATES_H

#include "resources/template_record.h"

/* By name: creates, or overwrites whole. */
handler templates_create;
/* The texts of a new one, which are the longest part of making it; an overwrite, of which nobody knows
 * before its transaction, makes its own, of what it keeps. */
handler templates_prepare;
handler templates_list;
handler templates_get;
handler templates_update; /* members that are supplied replace the stored ones whole */
handler templates_patch;
handler templates_delete;

/* The template goes, with its name and its place in the list; no room uses it. */
bool template_remove(struct call *call, const struct template_record *record, struct fault *fault);

handler settings_get;
handler settings_replace;
handler settings_patch;

handler destinations_get;
handler destinations_replace;
handler destinations_patch;

#endif
