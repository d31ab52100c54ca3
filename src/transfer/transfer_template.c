/* The template of a dump: see transfer/transfer.h. It is made as a new one is, by the functions
 * that the calls of the interface use, and then gets the identities of its roles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/templates/template_parts.h"
#include "transfer/transfer_parts.h"

static const char *identity_pointer(struct call *call, struct slice name)
{
	struct buffer pointer = BUFFER_INITIAL(call->arena);

	buffer_append_text(&pointer, "/template/identities");
	text_pointer(&pointer, name);
	buffer_append_byte(&pointer, '\0');
	return pointer.data;
}

/* Gives the roles, which were made as new ones, the identities and times that they had. */
static void set_identities(struct transfer_input *input, const json_t *object,
			   struct template_record *record)
{
	struct call *call = &input->call;
	const json_t *identities = json_object_get(object, "identities");

	record->last_identity = (uint32_t)transfer_number(object, "last_identity");
	if (json_object_size(identities) > record->role_count)
		findings_add(&call->findings, "/template/identities",
			     "must have no other roles than the document");
	for (size_t i = 0; i < record->role_count; i++) {
		struct template_role *role = &record->roles[i];
		const char *pointer = identity_pointer(call, role->name);
		const json_t *identity = json_object_getn(identities, role->name.data,
							  role->name.size);

		if (identity == NULL) {
			findings_add(&call->findings, pointer, "is required");
			continue;
		}
		role->identity = (uint32_t)transfer_number(identity, "identity");
		role->added = transfer_time(input, pointer, identity, "added_at");
		if (role->identity > record->last_identity)
			findings_add(&call->findings, pointer,
				     "its identity must not be above last_identity");
		for (size_t j = 0; j < i; j++) {
			if (record->roles[j].identity == role->identity)
				findings_add(&call->findings, pointer,
					     "its identity is another role's");
		}
	}
}

static bool check_template_name(struct call *call, const json_t *document, struct slice name,
				struct fault *fault)
{
	struct template_record holder;
	bool is_there = false;

	if (name.size == 0)
		findings_add(&call->findings, "/template/document/name", "is required");
	else if (!template_find_named(call, name, STORE_TO_SHOW, &holder, &is_there, fault))
		return false;
	if (is_there)
		findings_add(&call->findings, "/template/document/name",
			     "an earlier template of the account has it");
	if (json_object_get(document, "default") != NULL)
		findings_add(&call->findings, "/template/document/default",
			     "stands in the account's line, as default_template");
	return true;
}

bool transfer_read_template(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *document = json_object_get(object, "document");
	struct template_record record = {
		.created = transfer_time(input, "/template", object, "created_at"),
		.updated = transfer_time(input, "/template", object, "updated_at"),
		.name = transfer_name(document),
		.etag = call->etag,
		.rooms_etag = call->etag,
	};

	record.id = transfer_check_id(input, "template", object);
	if (!check_template_name(call, document, record.name, fault))
		return false;
	template_set_all(call, &record, document, NULL, PART_MERGED);
	set_identities(input, object, &record);
	input->has_above = true;
	input->above = record.id;
	input->found_default = input->found_default ||
			       id_compare(&record.id, &input->default_template) == 0;
	input->counts.templates++;
	return template_assemble(call, &record, fault) && template_put(call, &record, fault);
}
