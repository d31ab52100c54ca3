/* See resources/templates/roles.h. A role is a slice of its template's text. Reading a role finds
 * the slice, writing it replaces the slice (template_parts.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/roles.h"

#include "base/text.h"
#include "resources/templates/template_audit.h"
#include "resources/templates/template_parts.h"
#include "resources/stored/template_record.h"
#include "rules/role_rules.h"
#include "rules/template_rules.h"

/* Finds the role of the path. Sets *index to role_count, and FAULT_NOT_FOUND, if the template has
 * no such role. */
static bool find_role(const struct call *call, size_t *index, struct fault *fault)
{
	*index = template_role_index(call->template, call->parameters[1]);
	return *index < call->template->role_count ||
	       fault_set(fault, FAULT_NOT_FOUND, "Role not found");
}

bool roles_get(struct call *call, struct fault *fault)
{
	const struct template_role *role;
	size_t index;

	if (!find_role(call, &index, fault))
		return false;
	role = &call->template->roles[index];
	call_etag(call, role->etag);
	/* Responds with 304 or 200. */
	return call_not_modified(call, role->etag) || call_answer(call, role->text);
}

bool roles_list(struct call *call, struct fault *fault)
{
	const struct template_record *record = call->template;

	(void)fault;
	call_answer(call, SLICE("{\"data\":["));
	for (size_t i = 0; i < record->role_count; i++) {
		if (i > 0)
			call_part(call, SLICE(","));
		call_part(call, record->roles[i].text);
	}
	call_part(call, SLICE("]}"));
	return true;
}

/* ---- writing ---- */

/* Checks, in this order: the rules of the result, the conditions of the request, conflicts. Stores
 * nothing before all of them have passed. index: of the role of the path; role_count if it is
 * new. */
static bool save_role(struct call *call, size_t index, const json_t *document, struct fault *fault)
{
	struct template_record *record = call->template;
	const struct slice new_name = text_of_json(call_member(call, "name"));
	const struct slice name = new_name.data == NULL ? call->parameters[1] : new_name;
	const size_t holder = template_role_index(record, name);
	const bool name_is_taken = holder < record->role_count && holder != index;
	const bool is_update = index < record->role_count;
	struct template_role former = { .etag = 0 };
	const struct template_role *role;

	if (is_update)
		former = record->roles[index];
	template_set_role(call, record, index, name, document);
	if (!template_assemble_changed(call, record, fault) ||
	    !call_precondition(call, is_update, former.etag, fault))
		return false;
	if (name_is_taken)
		return fault_set(fault, FAULT_CONFLICT, "Overwrite error");
	role = &record->roles[index];
	if (!template_put(call, record, fault))
		return false;
	if (is_update)
		role_note_update(call, record, index, &former);
	else
		role_note(call, "role.created", record, role->name);
	call_etag(call, role->etag);
	return call_answer(call, role->text);
}

bool roles_put(struct call *call, struct fault *fault)
{
	const struct template_record *record = call->template;
	const size_t index = template_role_index(record, call->parameters[1]);
	const size_t most = template_roles_most();

	/* A new name in the path, and the number of roles, depend on the stored template. */
	if (index == record->role_count) {
		if (call_member(call, "name") == NULL &&
		    !schema_text_obeys(&role_name_text, call->parameters[1]))
			return fault_set(fault, FAULT_BAD_REQUEST, "The role name in the path %s",
					 role_name_text.sentence);
		if (record->role_count >= most)
			findings_add(&call->findings, "/roles", "must have at most %zu roles",
				     most);
		if (!findings_result(&call->findings, fault))
			return false;
	}
	return save_role(call, index, call->body, fault);
}

bool roles_patch(struct call *call, struct fault *fault)
{
	json_t *document;
	size_t index;

	if (!find_role(call, &index, fault))
		return false;
	document = template_role_document(call, call->template, &call->template->roles[index]);
	document_merge(&role_shape, document, call->body);
	return document_finish(&role_shape, document, &call->findings, fault) &&
	       save_role(call, index, document, fault);
}

bool roles_delete(struct call *call, struct fault *fault)
{
	struct template_record *record = call->template;
	struct slice name;
	size_t index;

	if (!find_role(call, &index, fault))
		return false;
	name = record->roles[index].name;
	if (!call_precondition(call, true, record->roles[index].etag, fault) ||
	    !template_remove_role(call, record, index, fault))
		return false;
	role_note(call, "role.deleted", record, name);
	return template_assemble_changed(call, record, fault) &&
	       template_put(call, record, fault) && call_answer_nothing(call);
}
