/* See resources/templates/template_audit.h. Parses and compares only parts whose text has changed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/template_audit.h"

#include "base/text.h"
#include "resources/audit.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"

/* ---- whole templates ---- */

static struct audit_data template_data(struct call *call, const struct template_record *record)
{
	return (struct audit_data){
		.kind = "template",
		.id = id_as_text(call->arena, &record->id),
		.name = record->name,
	};
}

void template_note(struct call *call, const char *type, const struct template_record *record)
{
	const struct audit_data data = template_data(call, record);

	audit_note(call, type, &data);
}

/* Notes the role for its people if one of the pointers from `first` on, below `pointer`, is about
 * what they may do. */
static void note_changed_role(struct call *call, const struct template_record *record,
			      const struct template_role *role, const struct changes *changes,
			      size_t first, struct slice pointer)
{
	struct changed_role *changed;
	bool is_changed = false;

	for (size_t i = first; i < changes->count && !is_changed; i++) {
		const struct slice all = changes->pointers[i];
		const struct slice below = { all.data + pointer.size, all.size - pointer.size };

		is_changed = slice_begins(below, SLICE("/publishParams")) ||
			     slice_begins(below, SLICE("/permissions"));
	}
	if (!is_changed)
		return;
	changed = arena_alloc(call->arena, sizeof *changed);
	*changed = (struct changed_role){
		.next = call->run.changed_roles,
		.template_id = record->id,
		.identity = role->identity,
	};
	call->run.changed_roles = changed;
}

static struct slice role_pointer(struct call *call, struct slice name)
{
	struct buffer pointer = BUFFER_INITIAL(call->arena);

	buffer_append_text(&pointer, "/roles");
	text_pointer(&pointer, name);
	return buffer_slice(&pointer);
}

static void find_in_roles(struct call *call, struct changes *changes,
			  const struct template_record *former,
			  const struct template_record *record)
{
	for (size_t i = 0; i < former->role_count; i++) {
		const struct template_role *before = &former->roles[i];
		const struct template_role *after = template_live_role(record, before->identity);
		const struct slice pointer = role_pointer(call, before->name);
		const size_t first = changes->count;

		if (after == NULL) {
			changes_add(changes, pointer);
		} else if (!slice_equal(before->text, after->text)) {
			changes_find_in_texts(changes, pointer, before->text, after->text, NULL);
			note_changed_role(call, record, after, changes, first, pointer);
		}
	}
	for (size_t i = 0; i < record->role_count; i++) {
		if (template_live_role(former, record->roles[i].identity) == NULL)
			changes_add(changes, role_pointer(call, record->roles[i].name));
	}
}

void template_note_changed_roles(struct call *call, const struct template_record *record,
				 const struct template_record *former)
{
	struct changes changes = CHANGES_INITIAL(call->arena);

	find_in_roles(call, &changes, former, record);
}

void template_note_update(struct call *call, const struct template_record *record,
			  const struct template_record *former, bool default_changed)
{
	static const char *const prefixes[PART_COUNT] = {
		[PART_SETTINGS] = "/settings",
		[PART_DESTINATIONS] = "/destinations",
	};
	struct audit_data data = template_data(call, record);
	struct changes changes = CHANGES_INITIAL(call->arena);

	if (!slice_equal(former->name, record->name))
		changes_add(&changes, SLICE("/name"));
	if (default_changed)
		changes_add(&changes, SLICE("/default"));
	find_in_roles(call, &changes, former, record);

	for (enum template_part part = 0; part < PART_COUNT; part++) {
		const struct template_part_text *before = &former->parts[part];
		const struct template_part_text *after = &record->parts[part];
		const struct slice prefix = slice_of(prefixes[part]);

		if (!slice_equal(before->text, after->text))
			changes_find_in_texts(&changes, prefix, before->text, after->text, NULL);
		if (!slice_equal(before->hidden, after->hidden))
			changes_find_hidden(
				&changes, prefix, template_part_shape(part),
				stored_json(call, before->hidden, "template", &former->id),
				stored_json(call, after->hidden, "template", &record->id));
	}

	if ((former->plugins.size == 0) != (record->plugins.size == 0))
		changes_add(&changes, SLICE("/plugins"));
	else if (!slice_equal(former->plugins, record->plugins))
		changes_find_in_texts(&changes, SLICE("/plugins"), former->plugins, record->plugins,
				      NULL);
	if (!slice_equal(former->recordings, record->recordings))
		changes_add(&changes, SLICE("/recordings"));
	data.changes = &changes;
	audit_note(call, "template.updated", &data);

	for (size_t i = 0; i < former->role_count; i++) {
		if (template_live_role(record, former->roles[i].identity) == NULL)
			role_note(call, "role.deleted", record, former->roles[i].name);
	}
	for (size_t i = 0; i < record->role_count; i++) {
		if (template_live_role(former, record->roles[i].identity) == NULL)
			role_note(call, "role.created", record, record->roles[i].name);
	}
}

/* ---- roles ---- */

static struct audit_data role_data(struct call *call, const struct template_record *record,
				   struct slice role)
{
	const struct slice id = id_as_text(call->arena, &record->id);

	return (struct audit_data){
		.kind = "role",
		.id = id,
		.name = role,
		.more = { { "template_id", id, false }, { "role", role, false } },
	};
}

void role_note(struct call *call, const char *type, const struct template_record *record,
	       struct slice role)
{
	const struct audit_data data = role_data(call, record, role);

	audit_note(call, type, &data);
}

void role_note_update(struct call *call, const struct template_record *record, size_t index,
		      const struct template_role *former)
{
	const struct template_role *role = &record->roles[index];
	const bool is_renamed = !slice_equal(former->name, role->name);
	struct audit_data data = role_data(call, record, role->name);
	struct changes changes = CHANGES_INITIAL(call->arena);

	changes_find_in_texts(&changes, SLICE(""), former->text, role->text, NULL);
	note_changed_role(call, record, role, &changes, 0, SLICE(""));
	data.changes = &changes;
	if (is_renamed)
		data.more[2] = (struct audit_member){ "old_role", former->name, false };
	audit_note(call, is_renamed ? "role.renamed" : "role.updated", &data);
}
