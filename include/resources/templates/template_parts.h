/* The parts of a template, made of JSON documents: settings, destinations, roles, plugins. Each
 * function that sets a part takes a whole document (of a body, or of a stored part merged with a
 * patch), which it does not change, keeps stored members where the rules say so, and sets the text,
 * the hidden members and the ETag in the record. Nothing is stored: once the template may be
 * stored, template_delete_gone (or template_remove_role) stores that roles are deleted, and
 * template_put the rest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_PARTS_H
#define RESOURCES_TEMPLATES_TEMPLATE_PARTS_H

#include "resources/templates/template_record.h"

/* The origin of a document. A PART_REPLACED one keeps stored credentials and browser recording
 * roles where the rules say so; a PART_MERGED one has them already, or removed them, and loses the
 * credentials of an upload that it moves. */
enum part_origin { PART_REPLACED, PART_MERGED };

/* ---- settings and destinations ---- */

const struct shape *template_part_shape(enum template_part part);

/* sent: the part as the request supplied it (to know whether it supplied credentials), or NULL. */
void template_set_part(struct call *call, struct template_record *record, enum template_part part,
		       const json_t *document, const json_t *sent, enum part_origin origin);

/* The stored part as a document that may be changed, hidden members in their places. */
json_t *template_part_document(struct call *call, const struct template_record *record,
			       enum template_part part);

/* The credentials of a stored upload that a new one keeps: it has none, and the type and location
 * of the stored one. Borrowed; NULL: none. */
json_t *upload_kept_credentials(const json_t *stored, const json_t *upload);

/* ---- roles ---- */

json_t *template_role_document(struct call *call, const struct template_record *record,
			       const struct template_role *role);

/* Replaces the role at `index` (role_count: adds one at the end) by this document, under this name,
 * which no other role has. Another name than before renames it, also in what others subscribe to.
 * The caller has checked that there is room for one more. */
void template_set_role(struct call *call, struct template_record *record, size_t index,
		       struct slice name, const json_t *document);

bool template_remove_role(struct call *call, struct template_record *record, size_t index,
			  struct fault *fault);

/* Called before template_set_all for a patch. Removes deleted roles from each subscribeToRoles that
 * the patch does not write. roles: the merged ones, changed in place; sent: those of the patch. */
void template_drop_gone_roles(struct call *call, const struct template_record *record,
			      json_t *roles, const json_t *sent);

/* How many roles a template may have (the row of template_shape says so). */
size_t template_roles_most(void);

/* ---- all ---- */

/* Replaces the parts that the request's body has (PART_REPLACED), and leaves the others as they
 * are. */
void template_set_supplied(struct call *call, struct template_record *record);

/* Sets all parts. A part that the document does not have gets its defaults. sent: the body of the
 * request, or NULL. */
void template_set_all(struct call *call, struct template_record *record, const json_t *document,
		      const json_t *sent, enum part_origin origin);

/* Stores that the roles of `former` which the template has no more are deleted. */
bool template_delete_gone(struct call *call, struct template_record *record,
			  const struct template_record *former, struct fault *fault);

/* The stored template as a document that may be changed: name, roles and parts. */
json_t *template_document(struct call *call, const struct template_record *record);

#endif
