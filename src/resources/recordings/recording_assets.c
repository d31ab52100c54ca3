/* The files of recordings: lists them, signs links to them, and deletes them. See
 * resources/recordings/recordings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recordings.h"

#include "accounts/token.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "resources/live/live_caller.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/recording_files.h"
#include "resources/recordings/recording_storage.h"
#include "resources/stored/gone_file.h"

static bool is_not_found(struct fault *fault)
{
	return fault_set(fault, FAULT_NOT_FOUND, "recording asset not found");
}

/* The file of the path. The caller, whom an earlier load of the route has found, sees the room. */
static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct asset *asset = arena_zero(call->arena, sizeof *asset);
	struct id id;

	call->recording_asset = asset;
	if (id_parse(call->parameters[0], &id) &&
	    !record_get(&asset_table, call->transaction, &id, load_reading(call, load), asset,
			fault))
		return false;
	return (asset->stored.value.data != NULL &&
		(call->app_token == NULL || id_compare(&call->view->room.id, &asset->room) == 0)) ||
	       is_not_found(fault);
}

static const struct read reads_of_path[] = { READ_BY_ID(kind_asset), READS_END };
const struct loading load_recording_asset = { .load = load_of_path, .reads = reads_of_path };

/* ---- lists ---- */

struct asset_filter {
	bool has_room, has_session, has_template, has_after, has_before;
	struct id room, session, template_id, above;
	int64_t after, before;
	struct slice status, type; /* data NULL: any */
};

static void prepare_list(struct call *call)
{
	struct asset_filter *filter = arena_zero(call->arena, sizeof *filter);
	struct list *list = list_prepare(call, filter);
	const struct slice room = call_query_text(call, "room_id");
	const struct slice session = call_query_text(call, "session_id");
	const struct slice template_id = call_query_text(call, "template_id");
	const struct slice after = call_query_text(call, "after");
	const struct slice before = call_query_text(call, "before");
	const struct slice own = call->app_token != NULL ? call->app_token->subject.room_id : room;

	filter->status = call_query_text(call, "status");
	filter->type = call_query_text(call, "type");
	filter->has_room = own.data != NULL;
	filter->has_session = session.data != NULL;
	filter->has_template = template_id.data != NULL;
	if (filter->has_room)
		list->has_page = list->has_page && id_parse(own, &filter->room) &&
				 (room.data == NULL || slice_equal(room, own));
	if (filter->has_session)
		list->has_page = list->has_page && id_parse(session, &filter->session);
	if (template_id.data != NULL)
		list->has_page = list->has_page && id_parse(template_id, &filter->template_id);
	/* The table of the query has checked the times. No id is older than its file. */
	filter->has_after = after.data != NULL && text_time_parse_up(after, &filter->after);
	filter->has_before = before.data != NULL && text_time_parse(before, &filter->before);
	if (filter->has_after && filter->after >= 1000 && filter->after / 1000 <= UINT32_MAX) {
		filter->above = id_lowest((uint32_t)(filter->after / 1000), 0);
		list->page.above = &filter->above;
	}
	list->is_filtered = true;
}

static const struct read reads_of_list[] = { READ_LIST(kind_asset, list_first_page), READS_END };
const struct loading load_recording_assets = { .prepare = prepare_list, .reads = reads_of_list };

static bool filter_wants(const struct asset_filter *filter, const struct asset *asset)
{
	if (filter->has_room && id_compare(&asset->room, &filter->room) != 0)
		return false;
	if (filter->has_session && id_compare(&asset->session, &filter->session) != 0)
		return false;
	if (filter->has_template && id_compare(&asset->template_id, &filter->template_id) != 0)
		return false;
	if ((filter->has_after && asset->created < filter->after) ||
	    (filter->has_before && asset->created > filter->before))
		return false;
	if (filter->type.data != NULL && !slice_is(filter->type, asset_type_names[asset->type]))
		return false;
	return filter->status.data == NULL ||
	       slice_is(filter->status, "missing") == asset->is_missing;
}

static bool add_assets(struct list *list, const struct store_record *records, size_t n,
		       struct fault *fault)
{
	struct call *call = list->call;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		struct json_writer body = writer_begin(call->arena, false);
		struct asset asset;

		if (!record_read(&asset_table, call->arena, &records[i], &asset, fault))
			return false;
		if (!filter_wants(list->filter, &asset))
			continue;
		asset_write(call, &body, &asset, false);
		list_add_item(list, &asset.stored.id);
		call_part(call, writer_end(&body));
	}
	return true;
}

bool recording_assets_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	return (!list->has_page || list_add_pages(list, &kind_asset, add_assets, fault)) &&
	       list_close(list, fault);
}

/* ---- one ---- */

bool recording_assets_get(struct call *call, struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);

	(void)fault;
	asset_write(call, &body, call->recording_asset, false);
	return call_answer(call, writer_end(&body));
}

bool recording_assets_sign(struct call *call, struct fault *fault)
{
	return recording_answer_link(call, call->recording_asset, fault);
}

/* The session, the job and the file are locked in this order (resources/recordings/job_merge.h). */
bool recording_assets_delete(struct call *call, struct fault *fault)
{
	const struct id id = call->recording_asset->stored.id;
	const struct asset *shown = call->recording_asset;
	struct session session;
	struct asset asset;
	struct job job;

	if (!session_load(call, &shown->session, STORE_TO_CHANGE, &session, fault) ||
	    !job_load(call, &shown->stored.parent, STORE_TO_CHANGE, &job, fault))
		return false;
	if (job.is_open)
		return fault_set(fault, FAULT_CONFLICT, "Recording is not finished");
	if (!record_get(&asset_table, call->transaction, &id, STORE_TO_CHANGE, &asset, fault))
		return false;
	if (asset.stored.value.data == NULL)
		return is_not_found(fault);
	return asset_remove(call, &asset, fault) &&
	       recording_file_gone(call, &asset, GONE_BY_REQUEST, fault) &&
	       /* What is left of it goes with its last file. */
	       (job.asset_count > 1 || gone_file_add_parts(call, &job, GONE_BY_REQUEST, fault)) &&
	       call_answer_nothing(call);
}
