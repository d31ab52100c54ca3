/* Builds the parts of a template from JSON documents: settings, destinations, recordings, roles,
 * plugins. Each function that sets a part takes a complete document (of a body, or of a stored part
 * merged with a patch), which it does not change. It keeps stored members where the rules say so,
 * and sets the text, the hidden members and the ETag in the record. None of them stores anything:
 * the caller does that later, by template_delete_gone (or template_remove_role) for deleted roles
 * and by template_put for the rest.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_PARTS_H
#define RESOURCES_TEMPLATES_TEMPLATE_PARTS_H

#include "resources/stored/template_record.h"

/* The origin of a document. For a PART_REPLACED document, stored credentials and browser recording
 * roles are kept where the rules say so. A PART_MERGED document contains them, unless the patch
 * removed them; it loses the credentials of an upload that it makes another one
 * (upload_is_same). */
enum part_origin { PART_REPLACED, PART_MERGED };

/* ---- settings and destinations ---- */

const struct shape *template_part_shape(enum template_part part);

/* sent: the part as the request sent it, which shows whether it contained credentials; or NULL. */
void template_set_part(struct call *call, struct template_record *record, enum template_part part,
		       const json_t *document, const json_t *sent, enum part_origin origin);

/* Returns the stored part as a document that may be changed, including hidden members. */
json_t *template_part_document(struct call *call, const struct template_record *record,
			       enum template_part part);

/* Returns options.endpoint of an upload; empty if it has none. */
struct slice upload_endpoint(const json_t *upload);
/* Returns true if both uploads have the same type, location and endpoint, so that the credentials
 * of one are those of the other. */
bool upload_is_same(const json_t *one, const json_t *other);
/* Returns the credentials of a stored upload that a new upload keeps, borrowed: if the new upload
 * has no credentials, those of a stored upload to which it is the same. Otherwise returns NULL. */
json_t *upload_kept_credentials(const json_t *stored, const json_t *upload);

/* ---- the configuration of recordings ---- */

/* Sets it, or removes it if `document` is NULL. Does not check that the template has its role. */
void template_set_recordings(struct call *call, struct template_record *record,
			     const json_t *document);
/* Returns the stored configuration as a document that may be changed, or NULL. */
json_t *template_recordings(struct call *call, const struct template_record *record);
/* True if the template has the role that the configuration names, or `document` is NULL. */
bool template_has_recorded_role(const struct template_record *record, const json_t *document);

/* ---- roles ---- */

json_t *template_role_document(struct call *call, const struct template_record *record,
			       const struct template_role *role);

/* Replaces the role at `index` by this document under this name, which no other role may have; an
 * index of role_count appends a role, for which there must be room. If the name is different,
 * renames the role, also in the subscriptions of other roles, in the transcriptions, the whiteboard
 * and the configuration of recordings. */
void template_set_role(struct call *call, struct template_record *record, size_t index,
		       struct slice name, const json_t *document);

bool template_remove_role(struct call *call, struct template_record *record, size_t index,
			  struct fault *fault);

/* Removes deleted roles from each subscribeToRoles, the transcriptions and the whiteboard, unless
 * the patch writes them; must be called before template_set_all. document: the merged template,
 * changed in place; sent: the patch. */
void template_drop_gone_roles(struct call *call, const struct template_record *record,
			      json_t *document, const json_t *sent);

/* Returns the most roles that a template may have, from the row of template_shape. */
size_t template_roles_most(void);

/* ---- all ---- */

/* Replaces the parts that the request's body contains (PART_REPLACED), and keeps the others, but
 * without the names of deleted roles. */
void template_set_supplied(struct call *call, struct template_record *record);

/* Sets all parts. Parts that are missing in the document get their defaults. The configuration of
 * recordings, which is not in the document, is removed if origin is PART_REPLACED, or if its role
 * is deleted. sent: the body of the request, or NULL. */
void template_set_all(struct call *call, struct template_record *record, const json_t *document,
		      const json_t *sent, enum part_origin origin);

/* Sets the derived members of the settings and the roles, as the functions above do, from the parts
 * that the record has. */
void template_follow_parts(struct call *call, struct template_record *record);

/* Records that roles of `former` which the template no longer has are deleted. */
bool template_delete_gone(struct call *call, struct template_record *record,
			  const struct template_record *former, struct fault *fault);

/* Returns the stored template as a document that may be changed: name, roles and parts. */
json_t *template_document(struct call *call, const struct template_record *record);

#endif
