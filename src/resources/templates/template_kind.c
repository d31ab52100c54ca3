/* Templates, deleted roles and the default template in a dump, and how they are checked
 * (resources/record_kind.h). A dump contains the parts of a template with their hidden members; a
 * load builds the template from them like a request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/record_kind.h"
#include "resources/stored.h"
#include "resources/stored/default_template.h"
#include "resources/stored/deleted_role.h"
#include "resources/templates/template_parts.h"
#include "rules/destination_rules.h"
#include "rules/template_rules.h"

static struct slice json_member_text(struct call *call, struct slice json, const char *name)
{
	const struct slice text =
		text_of_json(json_object_get(json_text_read_stored(call->arena, json, NULL), name));

	return text.data == NULL ? SLICE("") : text;
}

/* ---- templates ---- */

static void check_recorded_role(const struct template_record *record, const json_t *recordings,
				const char *pointer, struct findings *findings)
{
	if (!template_has_recorded_role(record, recordings))
		findings_add(findings, pointer, "must be a role of the template");
}

static bool template_load_dumped(struct call *call, void *scanned, const char *pointer,
				 struct findings *findings, struct fault *fault)
{
	struct template_record *record = scanned;
	const struct template_role *roles = record->roles;
	const size_t count = record->role_count;
	const uint32_t last_identity = record->last_identity;
	json_t *document, *recordings;
	const json_t *hidden, *of_part;

	for (size_t i = 0; i < count; i++)
		record->roles[i].name = json_member_text(call, record->roles[i].text, "name");
	document = template_document(call, record);

	for (enum template_part part = 0; part < PART_COUNT; part++) {
		hidden = stored_json(call, record->parts[part].hidden, "template", &record->id);
		of_part = template_part_document(call, record, part);
		if (json_equal(document_hidden(call->arena, template_part_shape(part), of_part),
			       hidden) == 0)
			findings_add(findings,
				     part == PART_SETTINGS ? "/template/settings_hidden"
							   : "/template/destinations_hidden",
				     "must have only members of the part");
	}
	recordings = template_recordings(call, record);
	if (recordings != NULL)
		record_check_document(&recording_config_shape, recordings, "/template/recordings",
				      findings);
	check_recorded_role(record, recordings, "/template/recordings/role", findings);
	if (json_object_size(json_object_get(document, "roles")) != count)
		findings_add(findings, pointer, "must list each role once");
	record_check_document(&template_shape, document, pointer, findings);
	if (!findings_result(findings, fault))
		return false;

	record->roles = NULL;
	record->role_count = 0;
	template_set_recordings(call, record, recordings);
	template_set_all(call, record, document, NULL, PART_MERGED);
	/* These are new roles, whose identities and times are restored. */
	for (size_t i = 0; i < record->role_count; i++) {
		for (size_t j = 0; j < count; j++) {
			if (!slice_equal(roles[j].name, record->roles[i].name))
				continue;
			record->roles[i].identity = roles[j].identity;
			record->roles[i].former = roles[j].former;
			record->roles[i].added = roles[j].added;
		}
	}
	record->last_identity = last_identity;
	return template_assemble(call, record, fault);
}

static bool template_put_loaded(struct call *call, void *record, struct fault *fault)
{
	return template_put(call, record, fault);
}

static bool template_record_check(struct call *call, const void *stored, struct findings *findings,
				  struct fault *fault)
{
	const struct template_record *record = stored;

	(void)fault;
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];
		const char *pointer = arena_text(call->arena, "/roles/%zu", i);

		if (role->identity == 0 || role->identity > record->last_identity)
			findings_add(findings, pointer, "has an identity that was never assigned");
		if (template_live_role(record, role->identity) != role)
			findings_add(findings, pointer, "has the same identity as another role");
		if (template_role_index(record, role->name) != i)
			findings_add(findings, pointer, "has the same name as another role");
	}
	check_recorded_role(record, template_recordings(call, record), "/recordings/role",
			    findings);
	return true;
}

/* Checks that the text, and what requests read instead of parsing it, are what the parts
 * produce. */
static bool template_derive(struct call *call, const void *stored, struct findings *findings,
			    struct fault *fault)
{
	static const char differs[] = "does not match the settings";
	const struct template_record *record = stored;
	struct template_record again = *record;

	again.roles = arena_alloc(call->arena, (record->role_count + 1) * sizeof *again.roles);
	if (record->role_count > 0)
		memcpy(again.roles, record->roles, record->role_count * sizeof *again.roles);
	template_follow_parts(call, &again);
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];

		if (!slice_equal(json_member_text(call, role->text, "name"), role->name))
			findings_add(findings, arena_text(call->arena, "/roles/%zu/role", i),
				     "does not have the name of the role");
		if (role->asks != again.roles[i].asks)
			findings_add(findings, arena_text(call->arena, "/roles/%zu/asks", i),
				     "does not match the role");
	}
	if (record->has_agents != again.has_agents)
		findings_add(findings, "/has_agents", differs);
	if (record->rules.consent != again.rules.consent ||
	    record->rules.keep.days != again.rules.keep.days ||
	    record->rules.has_chat != again.rules.has_chat)
		findings_add(findings, "/recording_rules", differs);
	if (!slice_equal(record->region, again.region))
		findings_add(findings, "/region", differs);
	if (!slice_equal(record->backend, again.backend))
		findings_add(findings, "/backend", differs);
	if (!slice_equal(record->recording, again.recording))
		findings_add(findings, "/recording", differs);
	again.former_backend = again.backend;
	if (!template_assemble(call, &again, fault))
		return false;
	if (!slice_equal(record->text, again.text))
		findings_add(findings, "/text", "does not match its parts");
	return true;
}

const struct record_kind template_kind = {
	.table = &template_table,
	.line = "template",
	.shapes = { &template_shape, &recording_config_shape },
	.order = RECORD_PAGES,
	.load = template_load_dumped,
	.put = template_put_loaded,
	.check = template_record_check,
	.derive = template_derive,
};

/* ---- deleted roles ---- */

static void deleted_role_print(struct call *call, void *record)
{
	struct deleted_role *role = record;

	(void)call;
	role->identity = id_seconds(&role->stored.id);
}

static bool deleted_role_load_dumped(struct call *call, void *record, const char *pointer,
				     struct findings *findings, struct fault *fault)
{
	struct deleted_role *role = record;

	(void)call;
	(void)pointer;
	(void)findings;
	(void)fault;
	role->stored.id = deleted_role_id(&role->stored.parent, role->identity);
	return true;
}

static bool deleted_role_record_check(struct call *call, const void *record,
				      struct findings *findings, struct fault *fault)
{
	const struct deleted_role *role = record;
	struct template_record owner;
	bool is_there;

	if (!template_find(call, &role->stored.parent, STORE_TO_SHOW, &owner, &is_there, fault))
		return false;
	if (is_there && template_live_role(&owner, id_seconds(&role->stored.id)) != NULL)
		findings_add(findings, "", "was deleted, but is still in the template");
	return true;
}

const struct record_kind role_kind = {
	.table = &deleted_role_table,
	.line = "deleted_role",
	.order = RECORD_CHILDREN,
	.print = deleted_role_print,
	.load = deleted_role_load_dumped,
	.check = deleted_role_record_check,
};

/* ---- the default template ---- */

const struct record_kind default_kind = {
	.table = &default_template_table,
	.line = "default_template",
	.order = RECORD_ONE,
};
