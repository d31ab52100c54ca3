/* See resources/templates.h. A write loads the record, sets the parts that change
 * (template_parts.h), and ends in save(), which joins the text, looks at the conditions of the
 * request and stores: in this order, because a faulty result is told before a failed condition.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates.h"

#include "base/text.h"
#include "resources/default_template.h"
#include "resources/garbage.h"
#include "resources/kinds.h"
#include "resources/template_parts.h"
#include "resources/template_record.h"
#include "rules/destination_rules.h"
#include "rules/template_rules.h"

/* NULL: it stays as it is. */
static bool set_default(struct call *call, const struct id *id, const json_t *is_default,
			struct fault *fault)
{
	return is_default == NULL ||
	       default_template_set(call, id, json_is_true(is_default), fault);
}

/* ---- writing ---- */

/* Every successful write to a template or one of its parts ends here. */
static bool save(struct call *call, struct template_record *record, bool exists, uint64_t condition,
		 struct fault *fault)
{
	record->updated = call->now;
	record->etag = call->etag;
	return template_assemble(call, record, fault) &&
	       call_precondition(call, exists, condition, fault);
}

static bool answer_template(struct call *call, const struct template_record *record)
{
	call_etag(call, record->etag);
	return call_answer(call, template_answer(call, record));
}

static const json_t *supplied_or_empty(struct call *call, const char *name)
{
	const json_t *value = call_member(call, name);

	return value != NULL ? value : arena_json(call->arena, json_object());
}

/* All parts out of the body, defaults where it has none. */
static bool set_whole(struct call *call, struct template_record *record, struct fault *fault)
{
	template_set_settings(call, record, supplied_or_empty(call, "settings"),
			      call_member(call, "settings"), PART_REPLACED);
	template_set_destinations(call, record, supplied_or_empty(call, "destinations"),
				  call_member(call, "destinations"), PART_REPLACED);
	template_set_plugins(call, record, call_member(call, "plugins"));
	return template_set_roles(call, record, supplied_or_empty(call, "roles"), fault);
}

bool templates_prepare(struct call *call, struct fault *fault)
{
	struct template_texts *texts = arena_alloc(call->arena, sizeof *texts);

	(void)fault;
	*texts = template_write(call, supplied_or_empty(call, "settings"),
				supplied_or_empty(call, "destinations"),
				supplied_or_empty(call, "roles"), call_member(call, "settings"));
	call->prepared = texts;
	return true;
}

static bool create(struct call *call, struct slice name, struct fault *fault)
{
	struct template_record record = { .name = name, .rooms_etag = call->etag };

	if (!store_new_id(call->transaction, &kind_template, call->environment->clock, &call->now,
			  &record.id, fault))
		return false;
	record.created = call->now;
	template_set_texts(call, &record, call->prepared);
	template_set_plugins(call, &record, call_member(call, "plugins"));
	return save(call, &record, false, 0, fault) && template_put(call, &record, fault) &&
	       set_default(call, &record.id, call_member(call, "default"), fault) &&
	       answer_template(call, &record);
}

static bool overwrite(struct call *call, struct template_record *record, struct fault *fault)
{
	const uint64_t condition = record->etag;

	return set_whole(call, record, fault) && save(call, record, true, condition, fault) &&
	       template_put(call, record, fault) &&
	       set_default(call, &record->id, call_member(call, "default"), fault) &&
	       answer_template(call, record);
}

bool templates_create(struct call *call, struct fault *fault)
{
	const json_t *name = call_member(call, "name");
	char generated[UUID_TEXT_SIZE];
	struct template_record record;
	bool is_there;

	if (name == NULL) {
		uuid_make(call->environment->clock, generated);
		return create(call, arena_copy(call->arena, slice_of(generated)), fault);
	}
	if (!template_find_named(call, text_of_json(name), STORE_TO_CHANGE, &record, &is_there,
				 fault))
		return false;
	return is_there ? overwrite(call, &record, fault) : create(call, text_of_json(name), fault);
}

/* The part of a rename that comes before the conditions of the request are checked. */
static void set_name(struct call *call, struct template_record *record, const json_t *name)
{
	if (name == NULL || slice_equal(text_of_json(name), record->name))
		return;
	record->name = text_of_json(name);
	record->rooms_etag = call->etag;
}

/* The part after that, which ends in the stored template. */
static bool put_renamed(struct call *call, const struct template_record *record,
			struct fault *fault)
{
	struct store_record holder = { .is_on = false };

	if (!slice_equal(record->stored.name, record->name) &&
	    !store_get_named(call->transaction, &kind_template, record->name, STORE_TO_SHOW,
			     &holder, fault))
		return false;
	if (holder.value.data != NULL)
		return fault_set(fault, FAULT_CONFLICT, "Overwrite error");
	return template_put(call, record, fault);
}

bool templates_update(struct call *call, struct fault *fault)
{
	struct template_record record;
	uint64_t condition;
	const json_t *part;

	if (!template_load_named(call, call->parameters[0], STORE_TO_CHANGE, &record, fault))
		return false;
	condition = record.etag;
	if (!document_finish(&template_shape, call->body, &call->findings, fault))
		return false;
	set_name(call, &record, call_member(call, "name"));
	if ((part = call_member(call, "settings")) != NULL)
		template_set_settings(call, &record, part, part, PART_REPLACED);
	if ((part = call_member(call, "destinations")) != NULL)
		template_set_destinations(call, &record, part, part, PART_REPLACED);
	if ((part = call_member(call, "plugins")) != NULL)
		template_set_plugins(call, &record, part);
	if ((part = call_member(call, "roles")) != NULL &&
	    !template_set_roles(call, &record, part, fault))
		return false;
	return save(call, &record, true, condition, fault) && put_renamed(call, &record, fault) &&
	       set_default(call, &record.id, call_member(call, "default"), fault) &&
	       answer_template(call, &record);
}

/* The stored template as a document that a patch can be merged into. */
static json_t *template_document(struct call *call, const struct template_record *record)
{
	json_t *document = arena_json(call->arena, json_object());
	json_t *roles = json_object();

	for (size_t i = 0; i < record->role_count; i++)
		json_object_setn(roles, record->roles[i].name.data, record->roles[i].name.size,
				 template_role_document(call, &record->roles[i]));
	json_object_set_new(document, "name", json_stringn(record->name.data, record->name.size));
	json_object_set_new(document, "roles", roles);
	json_object_set(document, "settings", template_settings_document(call, record));
	json_object_set(document, "destinations", template_destinations_document(call, record));
	if (record->plugins.size > 0)
		json_object_set(document, "plugins", template_plugins_document(call, record));
	return document;
}

static json_t *part_or_empty(struct call *call, const json_t *document, const char *name)
{
	json_t *part = json_object_get(document, name);

	return part != NULL ? part : arena_json(call->arena, json_object());
}

/* "default": null takes the mark away, as it removes any other member. */
static const json_t *default_of_patch(const struct call *call)
{
	const json_t *mark = call_member(call, "default");

	return json_is_null(mark) ? json_false() : mark;
}

bool templates_patch(struct call *call, struct fault *fault)
{
	struct template_record record;
	uint64_t condition;
	json_t *document, *roles;

	if (!template_load_named(call, call->parameters[0], STORE_TO_CHANGE, &record, fault))
		return false;
	condition = record.etag;
	document = template_document(call, &record);
	document_merge(&template_shape, document, call->body);
	if (!document_finish(&template_shape, document, &call->findings, fault))
		return false;
	set_name(call, &record, json_object_get(document, "name"));
	template_set_settings(call, &record, part_or_empty(call, document, "settings"),
			      call_member(call, "settings"), PART_MERGED);
	template_set_destinations(call, &record, part_or_empty(call, document, "destinations"),
				  call_member(call, "destinations"), PART_MERGED);
	template_set_plugins(call, &record, json_object_get(document, "plugins"));
	roles = part_or_empty(call, document, "roles");
	template_drop_gone_roles(&record, roles, call_member(call, "roles"));
	return template_set_roles(call, &record, roles, fault) &&
	       save(call, &record, true, condition, fault) && put_renamed(call, &record, fault) &&
	       set_default(call, &record.id, default_of_patch(call), fault) &&
	       answer_template(call, &record);
}

bool template_remove(struct call *call, const struct template_record *record, struct fault *fault)
{
	return store_remove(call->transaction, &kind_template, &record->stored, fault) &&
	       garbage_add(call, GARBAGE_TEMPLATE, &record->id, fault) &&
	       default_template_set(call, &record->id, false, fault);
}

bool templates_delete(struct call *call, struct fault *fault)
{
	struct template_record record;
	bool has_rooms;

	if (!template_load_named(call, call->parameters[0], STORE_TO_CHANGE, &record, fault) ||
	    !call_precondition(call, true, record.etag, fault) ||
	    !store_has_children(call->transaction, &kind_room, &record.id, &has_rooms, fault))
		return false;
	if (has_rooms)
		return fault_set(fault, FAULT_CONFLICT, "rooms still use this template");
	return garbage_collect(call, fault) && template_remove(call, &record, fault) &&
	       call_answer_nothing(call);
}

/* ---- reading ---- */

bool templates_get(struct call *call, struct fault *fault)
{
	struct template_record record;

	if (!template_load_named(call, call->parameters[0], call_reading(call), &record, fault))
		return false;
	call_etag(call, record.etag);
	return call_not_modified(call, record.etag) || call_answer(call, record.text);
}

/* ---- settings and destinations on their own ---- */

struct part {
	const struct shape *shape;
	uint64_t (*etag)(const struct template_record *record);
	struct slice (*text)(const struct template_record *record);
	json_t *(*document)(struct call *call, const struct template_record *record);
	void (*set)(struct call *call, struct template_record *record, const json_t *document,
		    const json_t *sent, enum part_origin origin);
};

static uint64_t settings_etag(const struct template_record *record)
{
	return record->settings_etag;
}

static struct slice settings_text(const struct template_record *record)
{
	return record->echo.data != NULL ? record->echo : record->settings;
}

static uint64_t destinations_etag(const struct template_record *record)
{
	return record->destinations_etag;
}

static struct slice destinations_text(const struct template_record *record)
{
	return record->destinations;
}

static const struct part settings_part = {
	&settings_shape,       settings_etag, settings_text, template_settings_document,
	template_set_settings,
};

static const struct part destinations_part = {
	&destinations_shape,	   destinations_etag,
	destinations_text,	   template_destinations_document,
	template_set_destinations,
};

static bool part_get(struct call *call, const struct part *part, struct fault *fault)
{
	struct template_record record;

	if (!template_load_named(call, call->parameters[0], call_reading(call), &record, fault))
		return false;
	call_etag(call, part->etag(&record));
	return call_not_modified(call, part->etag(&record)) ||
	       call_answer(call, part->text(&record));
}

static bool part_write(struct call *call, const struct part *part, enum part_origin origin,
		       struct fault *fault)
{
	struct template_record record;
	const json_t *document = call->body;
	json_t *merged;
	uint64_t condition;

	if (!template_load_named(call, call->parameters[0], call_reading(call), &record, fault))
		return false;
	condition = part->etag(&record);
	if (origin == PART_MERGED) {
		merged = part->document(call, &record);
		document_merge(part->shape, merged, call->body);
		if (!document_finish(part->shape, merged, &call->findings, fault))
			return false;
		document = merged;
	}
	part->set(call, &record, document, call->body, origin);
	if (!save(call, &record, true, condition, fault) || !template_put(call, &record, fault))
		return false;
	call_etag(call, part->etag(&record));
	return call_answer(call, part->text(&record));
}

bool settings_get(struct call *call, struct fault *fault)
{
	return part_get(call, &settings_part, fault);
}

bool settings_replace(struct call *call, struct fault *fault)
{
	return part_write(call, &settings_part, PART_REPLACED, fault);
}

bool settings_patch(struct call *call, struct fault *fault)
{
	return part_write(call, &settings_part, PART_MERGED, fault);
}

bool destinations_get(struct call *call, struct fault *fault)
{
	return part_get(call, &destinations_part, fault);
}

bool destinations_replace(struct call *call, struct fault *fault)
{
	return part_write(call, &destinations_part, PART_REPLACED, fault);
}

bool destinations_patch(struct call *call, struct fault *fault)
{
	return part_write(call, &destinations_part, PART_MERGED, fault);
}
