/* See resources/templates/templates.h. A write loads the record, sets the parts that change
 * (template_parts.h), joins the text, checks the conditions of the request and stores, in this
 * order: an invalid result is reported rather than a failed condition.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/templates.h"

#include "base/text.h"
#include "resources/stored/default_template.h"
#include "resources/stored/deleted_role.h"
#include "resources/stored/job_record.h"
#include "resources/garbage.h"
#include "resources/import_origin.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "resources/stored/media_record.h"
#include "records/record.h"
#include "resources/route.h"
#include "resources/templates/template_audit.h"
#include "resources/templates/template_parts.h"
#include "resources/stored/template_record.h"
#include "rules/template_rules.h"

/* ---- writing ---- */

/* Sets FAULT_CONFLICT if another template has the new name of this one. */
static bool check_template_name(struct call *call, const struct template_record *record,
				struct fault *fault)
{
	struct store_record holder;

	if (slice_equal(record->stored.name, record->name))
		return true;
	if (!store_get_named(call->transaction, &kind_template, record->name, STORE_TO_SHOW,
			     &holder, fault))
		return false;
	return holder.value.data == NULL || fault_set(fault, FAULT_CONFLICT, "Overwrite error");
}

/* Sets or unsets the default template, as the body says. */
static bool set_default(struct call *call, const struct template_record *record, bool *is_changed,
			struct fault *fault)
{
	const json_t *is_default = call_member(call, "default");

	return is_default == NULL ||
	       default_template_set(call, &record->id, json_is_true(is_default), is_changed, fault);
}

/* Ends templates_create, _update and _patch: checks the template, stores it and responds with it.
 * former: the template before; NULL if it is new. */
static bool save_template(struct call *call, struct template_record *record,
			  const struct template_record *former, struct fault *fault)
{
	const bool exists = former != NULL;
	bool default_changed = false;

	if (!template_assemble_changed(call, record, fault) ||
	    !call_precondition(call, exists, exists ? former->etag : 0, fault))
		return false;
	if (exists && (!check_template_name(call, record, fault) ||
		       !template_delete_gone(call, record, former, fault)))
		return false;
	if (!template_put(call, record, fault) ||
	    !set_default(call, record, &default_changed, fault))
		return false;
	if (exists)
		template_note_update(call, record, former, default_changed);
	else
		template_note(call, "template.created", record);
	call_etag(call, record->etag);
	/* Sent credentials are shown once: a repeated request gets the text without them. */
	if (record->echo.data != NULL)
		call_keep_instead(call, template_shown(call, record, record->text));
	return call_answer(call, template_answer(call, record));
}

bool templates_create(struct call *call, struct fault *fault)
{
	struct slice name = text_of_json(call_member(call, "name"));
	struct template_record record, former;
	bool is_there = false;

	if (name.data == NULL) {
		name = uuid_as_text(call->arena, call->environment->clock);
	} else if (!template_find_named(call, name, STORE_TO_CHANGE, &record, &is_there, fault)) {
		return false;
	}
	if (is_there) {
		former = record;
	} else {
		record = (struct template_record){
			.name = name,
			.rooms_etag = call->etag,
			.recordings_etag = call->etag,
		};
		if (!store_new_id(call->transaction, &kind_template, call->environment->clock,
				  &call->now, &record.id, fault))
			return false;
		record.created = call->now;
	}
	/* The body is the complete document, so it replaces every part. */
	template_set_all(call, &record, call->body, call->body, PART_REPLACED);
	return save_template(call, &record, is_there ? &former : NULL, fault);
}

static void set_name(struct call *call, struct template_record *record, const json_t *name)
{
	if (name == NULL || slice_equal(text_of_json(name), record->name))
		return;
	record->name = text_of_json(name);
	record->rooms_etag = call->etag;
}

bool templates_update(struct call *call, struct fault *fault)
{
	struct template_record *record = call->template, former = *record;

	if (!document_finish(&template_shape, call->body, &call->findings, fault))
		return false;
	set_name(call, record, call_member(call, "name"));
	template_set_supplied(call, record);
	return save_template(call, record, &former, fault);
}

bool templates_patch(struct call *call, struct fault *fault)
{
	struct template_record *record = call->template, former = *record;
	json_t *document = template_document(call, record);

	document_merge(&template_shape, document, call->body);
	if (!document_finish(&template_shape, document, &call->findings, fault))
		return false;
	set_name(call, record, json_object_get(document, "name"));
	template_drop_gone_roles(call, record, document, call->body);
	template_set_all(call, record, document, call->body, PART_MERGED);
	return save_template(call, record, &former, fault);
}

/* Jobs that a transaction of templates_delete looks at. */
#define JOBS_AT_ONCE 64

/* Stores the last rule in the jobs of the template, some of them in this transaction; those that
 * began since its last change have it. */
static bool keep_rule_to_jobs(struct call *call, const struct template_record *record,
			      struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.above = call->step.is_next ? &call->step.after : NULL,
		.records = arena_alloc(call->arena, JOBS_AT_ONCE * sizeof *page.records),
		.most = JOBS_AT_ONCE,
	};

	if (!store_page(call->transaction, &kind_job, &page, fault))
		return false;
	call->run.goes_on = !page.is_last;
	for (size_t i = 0; i < page.count; i++) {
		const struct id id = page.records[i].id;
		struct job job;

		if (!record_read(&job_table, call->arena, &page.records[i], &job, fault))
			return false;
		if (job.created > record->rules.keep.changed)
			call->run.goes_on = false;
		if (id_compare(&job.template_id, &record->id) != 0 ||
		    keep_rule_equal(&job.keep, &record->rules.keep))
			continue;
		if (!job_load(call, &id, STORE_TO_CHANGE, &job, fault))
			return false;
		job.keep = record->rules.keep;
		if (job.stored.value.data != NULL && !job_put(call, &job, fault))
			return false;
	}
	if (call->run.goes_on) {
		call->run.step.is_next = true;
		call->run.step.after = page.records[page.count - 1].id;
	}
	return true;
}

bool templates_delete(struct call *call, struct fault *fault)
{
	const struct template_record *record = call->template;
	bool has_rooms;

	if (!call_precondition(call, true, record->etag, fault) ||
	    !store_has_children(call->transaction, &kind_room, &record->id, &has_rooms, fault))
		return false;
	if (has_rooms)
		return fault_explain(fault, FAULT_CONFLICT, "Template is in use",
				     "rooms still use this template");
	if (record->rules.keep.changed != 0 && !keep_rule_to_jobs(call, record, fault))
		return false;
	if (call->run.goes_on)
		return true;
	template_note(call, "template.deleted", record);
	return garbage_collect(call, fault) &&
	       media_use(call, record->backend, (struct slice){ NULL, 0 }, fault) &&
	       garbage_add(call, &kind_template, &record->id, fault) &&
	       store_remove(call->transaction, &kind_template, &record->stored, fault) &&
	       default_template_set(call, &record->id, false, NULL, fault) &&
	       call_answer_nothing(call);
}

/* ---- import ---- */

static bool template_is_same(const struct template_record *record,
			     const struct template_record *former)
{
	for (size_t i = 0; i < PART_COUNT; i++) {
		if (!slice_equal(record->parts[i].hidden, former->parts[i].hidden))
			return false;
	}
	return slice_equal(record->text, former->text);
}

bool templates_import(struct call *call, bool *is_new, struct fault *fault)
{
	struct import_origin origin = import_origin(call, "createdAt", "updatedAt");
	const json_t *name = call_member(call, "name");
	struct template_record record, former;
	bool is_there = false;

	if (origin.has_id &&
	    !template_find(call, &origin.id, STORE_TO_CHANGE, &record, &is_there, fault))
		return false;
	*is_new = !is_there;
	if (!is_there)
		record = (struct template_record){
			.id = origin.id,
			.created = origin.created,
			.updated = import_updated(&origin, origin.created),
			.name = name != NULL ? text_of_json(name)
					     : uuid_as_text(call->arena, call->environment->clock),
			.rooms_etag = call->etag,
			.recordings_etag = call->etag,
		};
	former = record;
	if (is_there) {
		set_name(call, &record, name);
		template_set_supplied(call, &record);
		if (origin.has_updated)
			record.updated = import_updated(&origin, record.created);
	} else {
		template_set_all(call, &record, call->body, call->body, PART_REPLACED);
	}
	/* Finds all errors of the client before it stores anything. */
	if (!template_assemble(call, &record, fault) || !check_template_name(call, &record, fault))
		return false;
	if (!is_there || !template_is_same(&record, &former)) {
		if (!is_there && !import_take_id(call, &kind_template, &origin, fault))
			return false;
		if (!origin.has_updated && is_there)
			record.updated = call->now;
		record.id = origin.id;
		record.etag = call->etag;
		if (!template_delete_gone(call, &record, &former, fault) ||
		    !template_assemble(call, &record, fault) || !template_put(call, &record, fault))
			return false;
		if (is_there)
			template_note_changed_roles(call, &record, &former);
	}
	return set_default(call, &record, NULL, fault);
}

/* ---- reading ---- */

bool templates_get(struct call *call, struct fault *fault)
{
	const struct template_record *record = call->template;

	(void)fault;
	call_etag(call, record->etag);
	return call_not_modified(call, record->etag) ||
	       call_answer(call, template_shown(call, record, record->text));
}

/* ---- the list; its filters are a name, or the default template ---- */

struct template_filter {
	bool has_default; /* the account has a default template */
	struct id default_template;
	const json_t *marked; /* `default` in the query; NULL if it was not sent */
	struct slice name; /* data NULL if it was not sent */
	bool is_summary;
	bool is_anonymous; /* the account has sessions=off */
};

static bool add_items(struct list *list, const struct store_record *records, size_t n,
		      struct fault *fault)
{
	struct call *call = list->call;
	const struct template_filter *filter = list->filter;
	struct template_record record;
	struct slice text;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		const bool is_default = filter->has_default &&
					id_compare(&filter->default_template, &records[i].id) == 0;

		if ((filter->marked != NULL && json_is_true(filter->marked) != is_default) ||
		    (list->is_bounded && id_compare(&records[i].id, &list->start) >= 0) ||
		    !list_wants_name(list, records[i].name, SLICE("")))
			continue;
		/* A summary is made from the head of the record, without parsing the text of the
		 * response. */
		if (!filter->is_summary && !filter->is_anonymous) {
			if (!template_unpack_text(&records[i], &text, fault))
				return false;
		} else {
			if (!template_unpack(call, &records[i], &record, fault))
				return false;
			text = filter->is_summary ? template_summary(call, &record, is_default)
						  : template_shown(call, &record, record.text);
		}
		list_add_named(list, &records[i].id, records[i].name);
		call_part(call, text);
	}
	return true;
}

static void prepare_templates(struct call *call)
{
	struct template_filter *filter = arena_zero(call->arena, sizeof *filter);

	filter->marked = json_object_get(call->query, "default");
	filter->name = call_query_text(call, "name");
	filter->is_summary = call->route->answer == &template_summary_shape ||
			     call_query_text(call, "view").data != NULL;
	filter->is_anonymous = call_is_anonymous(call);
	list_prepare(call, filter)->has_page = filter->name.data == NULL &&
					       !json_is_true(filter->marked);
}

static bool shows_default(const struct call *call)
{
	const struct template_filter *filter = call->list->filter;

	return filter->marked != NULL || filter->is_summary;
}

static bool is_of_default(const struct call *call)
{
	const struct template_filter *filter = call->list->filter;

	return filter->name.data == NULL && json_is_true(filter->marked);
}

static const struct read reads_of_list[] = {
	{ .kind = &kind_default, .finding = STORE_FIND_ID, .when = shows_default },
	{ .kind = &kind_template, .finding = STORE_FIND_VALUE, .when = is_of_default },
	{ .kind = &kind_template,
	  .finding = STORE_FIND_NAME,
	  .from = READ_QUERY,
	  .member = "name" },
	READ_LIST(kind_template, list_first_page),
	READS_END,
};
const struct loading load_templates = { .prepare = prepare_templates, .reads = reads_of_list };

bool templates_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;
	struct template_filter *filter = list->filter;
	struct store_record stored = { .is_on = false };

	list_open(list);
	if (shows_default(call) &&
	    !default_template_load(call, &filter->default_template, &filter->has_default, fault))
		return false;
	if (list->has_page)
		return list_add_pages(list, &kind_template, add_items, fault) &&
		       list_close(list, fault);

	/* With a name, or for the default template, the list has at most one item. */
	if (filter->name.data != NULL) {
		if (!store_get_named(call->transaction, &kind_template, filter->name, STORE_TO_SHOW,
				     &stored, fault))
			return false;
	} else if (filter->has_default) {
		if (!store_get(call->transaction, &kind_template, &filter->default_template,
			       STORE_TO_SHOW, &stored, fault))
			return false;
		if (stored.value.data == NULL)
			return record_missing("template", &filter->default_template, fault);
	}
	return (stored.value.data == NULL || add_items(list, &stored, 1, fault)) &&
	       list_close(list, fault);
}

/* ---- endpoints of settings and destinations ---- */

static bool part_get(struct call *call, enum template_part part)
{
	const struct template_part_text *shown = &call->template->parts[part];

	call_etag(call, shown->etag);
	return call_not_modified(call, shown->etag) || call_answer(call, shown->text);
}

static bool part_write(struct call *call, enum template_part part, enum part_origin origin,
		       struct fault *fault)
{
	const struct shape *shape = template_part_shape(part);
	struct template_record *record = call->template, former = *record;
	const json_t *document = call->body;
	json_t *merged;

	if (origin == PART_MERGED) {
		merged = template_part_document(call, record, part);
		document_merge(shape, merged, call->body);
		if (!document_finish(shape, merged, &call->findings, fault))
			return false;
		document = merged;
	}
	template_set_part(call, record, part, document, call->body, origin);
	if (!template_assemble_changed(call, record, fault) ||
	    !call_precondition(call, true, former.parts[part].etag, fault) ||
	    !template_put(call, record, fault))
		return false;
	template_note_update(call, record, &former, false);
	call_etag(call, record->parts[part].etag);
	if (record->echo.data == NULL)
		return call_answer(call, record->parts[part].text);
	return call_keep_instead(call, record->parts[part].text) && call_answer(call, record->echo);
}

bool settings_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return part_get(call, PART_SETTINGS);
}

bool settings_replace(struct call *call, struct fault *fault)
{
	return part_write(call, PART_SETTINGS, PART_REPLACED, fault);
}

bool settings_patch(struct call *call, struct fault *fault)
{
	return part_write(call, PART_SETTINGS, PART_MERGED, fault);
}

bool destinations_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return part_get(call, PART_DESTINATIONS);
}

bool destinations_replace(struct call *call, struct fault *fault)
{
	return part_write(call, PART_DESTINATIONS, PART_REPLACED, fault);
}

bool destinations_patch(struct call *call, struct fault *fault)
{
	return part_write(call, PART_DESTINATIONS, PART_MERGED, fault);
}

/* ---- endpoints of the configuration of recordings ---- */

/* The response is a list, which is empty if there is no configuration. */
static bool answer_recordings(struct call *call, struct slice recordings)
{
	call_answer(call, SLICE("["));
	call_part(call, recordings);
	call_part(call, SLICE("]"));
	return true;
}

bool recordings_get(struct call *call, struct fault *fault)
{
	const struct template_record *record = call->template;

	(void)fault;
	call_etag(call, record->recordings_etag);
	return call_not_modified(call, record->recordings_etag) ||
	       answer_recordings(call, record->recordings);
}

bool recordings_replace(struct call *call, struct fault *fault)
{
	const json_t *document = json_array_get(call_member(call, "recordings"), 0);
	struct template_record *record = call->template, former = *record;

	template_set_recordings(call, record, document);
	if (!template_has_recorded_role(record, document))
		findings_add(&call->findings, "/0/role", "must be a role of the template");
	if (!template_assemble_changed(call, record, fault) ||
	    !call_precondition(call, true, former.recordings_etag, fault) ||
	    !template_put(call, record, fault))
		return false;
	template_note_update(call, record, &former, false);
	call_etag(call, record->recordings_etag);
	return answer_recordings(call, record->recordings);
}
