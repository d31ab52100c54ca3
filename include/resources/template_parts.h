/* The parts of a template, made of JSON documents: settings, destinations, roles. Each function
 * takes a whole document (a body, or a stored part merged with a patch), which it does not change,
 * keeps stored members where the rules say so, and sets the part's text, its hidden members and its
 * ETag in the record. Only deleted roles are stored here; template_put stores the rest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATE_PARTS_H
#define RESOURCES_TEMPLATE_PARTS_H

#include "resources/template_record.h"
#include "resources/template_texts.h"

/* The origin of a document. A PART_REPLACED one keeps stored credentials and browser recording
 * roles where the rules say so; a PART_MERGED one has them already, or removed them. */
enum part_origin { PART_REPLACED, PART_MERGED };

/* sent: the settings as the request supplied them (to know whether it supplied credentials), or
 * NULL. */
void template_set_settings(struct call *call, struct template_record *record,
			   const json_t *settings, const json_t *sent, enum part_origin origin);
void template_set_destinations(struct call *call, struct template_record *record,
			       const json_t *destinations, const json_t *sent,
			       enum part_origin origin);

/* plugins: as they are kept; NULL or null: none. */
void template_set_plugins(struct call *call, struct template_record *record, const json_t *plugins);

/* The new set of roles, name -> document. */
bool template_set_roles(struct call *call, struct template_record *record, const json_t *roles,
			struct fault *fault);
/* Called before that for a patch. Removes deleted roles from each subscribeToRoles that the patch
 * does not write. roles: the merged ones, changed in place; sent: those of the patch. */
void template_drop_gone_roles(const struct template_record *record, json_t *roles,
			      const json_t *sent);

/* Replaces the role at `index` (role_count: adds one at the end) by this document, under this name,
 * which no other role has. Another name than before renames it, also in what others subscribe to.
 * The caller has checked that there is room for one more. */
void template_set_role(struct call *call, struct template_record *record, size_t index,
		       struct slice name, const json_t *document);

bool template_remove_role(struct call *call, struct template_record *record, size_t index,
			  struct fault *fault);

/* Sets all parts of a new record. */
void template_set_texts(struct call *call, struct template_record *record,
			const struct template_texts *texts);

/* The stored part as a document that may be changed, hidden members in their places. */
json_t *template_settings_document(struct call *call, const struct template_record *record);
json_t *template_destinations_document(struct call *call, const struct template_record *record);
/* NULL: there are none. */
json_t *template_plugins_document(struct call *call, const struct template_record *record);
json_t *template_role_document(struct call *call, const struct template_role *role);

/* How many roles a template may have (the row of template_shape says so). */
size_t template_roles_most(void);

#endif
