/* Starts, stops, pauses and shows recordings and streams; the row of a route says of which type.
 * See resources/recordings/recordings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recordings.h"

#include <string.h>

#include "accounts/token.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/entry_rules/token_check.h"
#include "resources/lists.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/media/media_join.h"
#include "resources/misses.h"
#include "resources/route.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recorders.h"
#include "resources/recordings/recording_folder.h"
#include "resources/recordings/recording_start.h"
#include "resources/templates/template_parts.h"

/* Milliseconds in which people inside start at most one job of a type in the room. */
#define STARTS_APART 10000
/* Jobs of the room that are read for it: one of each type, and some that programs started. */
#define STARTS_READ 8

static enum job_type type_of(const struct call *call)
{
	return (enum job_type)call->route->job_type;
}

static bool is_not_found(const struct call *call, struct fault *fault)
{
	static const char *const messages[JOB_TYPES] = {
		[JOB_RECORDING] = "recording not found",
		[JOB_LIVE] = "live stream not found",
		[JOB_EXTERNAL] = "external stream not found",
	};

	return fault_set(fault, FAULT_NOT_FOUND, "%s", messages[type_of(call)]);
}

/* ---- who calls ---- */

/* Returns true if the role of a caller from inside may start jobs of this type. A stream that is
 * recorded along needs the permission to record, too, unless it is a live stream. */
static bool role_may_record(struct arena *arena, const json_t *role, enum job_type type,
			    bool records, struct fault *fault)
{
	const char *lacks = media_lacks_to_start(role, job_permissions[type]);

	if (type == JOB_EXTERNAL && records && (lacks == NULL || strcmp(lacks, "moderator") == 0) &&
	    media_lacks_to_start(role, job_permissions[JOB_RECORDING]) != NULL)
		lacks = media_lacks_to_start(role, job_permissions[JOB_RECORDING]);
	return lacks == NULL ||
	       fault_explain(fault, FAULT_FORBIDDEN,
			     arena_text(arena, "Missing permission %s", lacks), "%s", lacks);
}

static bool caller_may_record(const struct call *call, bool records, struct fault *fault)
{
	return !call->view->is_inside || role_may_record(call->arena, call->view->role_document,
							 type_of(call), records, fault);
}

/* Returns the peer who calls from inside; empty for a program. */
static struct slice caller_peer(const struct call *call)
{
	return call->view != NULL && call->view->is_inside ? call->view->caller.uuid : SLICE("");
}

/* Loads the room of a join token, whose holder reads the recordings without being inside. */
static bool load_reader(struct call *call, const struct load *load, struct fault *fault)
{
	struct live_view *view;
	struct bearer bearer;
	size_t role;

	(void)load;
	if (call->app_token == NULL)
		return true;
	if (!misses_count_inside(call, fault))
		return false;
	if (!token_check(call, &bearer, fault)) {
		if (fault->kind != FAULT_NOT_FOUND)
			return false;
		/* The room or the role is gone. */
		*fault = FAULT_INITIAL;
		return fault_set(fault, FAULT_FORBIDDEN, "Not in the room");
	}
	call->view = view = arena_zero(call->arena, sizeof *view);
	view->room = bearer.room;
	view->template = bearer.template;
	role = template_role_index_ever(&view->template, call->app_token->subject.role);
	return role_may_record(
		call->arena,
		role < view->template.role_count
			? template_role_document(call, &view->template, &view->template.roles[role])
			: NULL,
		type_of(call), false, fault);
}

static const struct read reads_of_reader[] = { READS_END };
const struct loading load_recording_reader = { .load = load_reader, .reads = reads_of_reader };

/* Returns true if the caller may see what belongs to this room: a program sees all of its account,
 * the holder of a join token what belongs to the room of the token. */
static bool caller_sees_room(const struct call *call, const struct id *room)
{
	return call->app_token == NULL ||
	       (call->view != NULL && id_compare(&call->view->room.id, room) == 0);
}

/* The recording of the path. Whoever changes it from inside must be there. */
static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct job *job = arena_zero(call->arena, sizeof *job);
	struct id id;

	call->recording = job;
	if (call->app_token != NULL && route_is_for_writing(call->route)) {
		if (!live_load_caller(call, fault))
			return false;
		if (call->asking != NULL && !call->asking->is_done)
			return true;
		if (!caller_may_record(call, false, fault))
			return false;
	}
	if (id_parse(call->parameters[0], &id) &&
	    !job_load(call, &id, load_reading(call, load), job, fault))
		return false;
	return (job->stored.value.data != NULL && job->type == type_of(call) &&
		caller_sees_room(call, &job->stored.parent)) ||
	       is_not_found(call, fault);
}

static const struct read reads_of_path[] = { READ_BY_ID(kind_job), READS_END };
const struct loading load_recording = { .load = load_of_path, .reads = reads_of_path };

/* ---- responses ---- */

/* Writes a job as the caller sees it: in a list, a program gets it without its files. urls: as in
 * job_write. */
static bool write_recording(struct call *call, struct json_writer *body, const struct job *job,
			    const struct slice *urls, bool is_in_list, struct fault *fault)
{
	struct asset *assets = NULL;
	size_t n = 0;

	if (call->app_token != NULL) {
		job_write_inside(call, body, job);
		return true;
	}
	if (!is_in_list && !assets_of_job(call, &job->stored.id, &assets, &n, fault))
		return false;
	if (!is_in_list && assets == NULL)
		assets = arena_zero(call->arena, sizeof *assets);
	job_write(call, body, job, is_in_list ? NULL : assets, n, urls);
	return true;
}

static bool answer_recording(struct call *call, const struct job *job, struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);

	return write_recording(call, &body, job, NULL, false, fault) &&
	       call_answer(call, writer_end(&body));
}

/* Answers a start. Addresses are shown as they were sent; when the response is repeated for an
 * Idempotency-Key, it lacks them. */
static bool answer_start(struct call *call, const struct job *job, const struct slice *urls,
			 struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);
	struct json_writer masked = writer_begin(call->arena, false);
	json_t *kept;

	if (!write_recording(call, &body, job, urls, false, fault))
		return false;
	if (urls != NULL && call->app_token == NULL) {
		job_write(call, &masked, job, arena_zero(call->arena, sizeof(struct asset)), 0,
			  NULL);
		kept = json_text_read_stored(call->arena, writer_end(&masked), NULL);
		json_object_del(kept, "rtmp_urls");
		call_keep_instead(call, json_as_text(call->arena, kept));
	}
	return call_answer(call, writer_end(&body));
}

/* Answers a call about the jobs of a room: {"data":[...]}. */
static bool answer_of_room(struct call *call, const struct job *jobs, size_t n, struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);

	writer_open(&body, "data", '[');
	for (size_t i = 0; i < n; i++) {
		writer_open(&body, NULL, '{');
		if (!write_recording(call, &body, &jobs[i], NULL, false, fault))
			return false;
		writer_close(&body, '}');
	}
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}

bool recording_get(struct call *call, struct fault *fault)
{
	return answer_recording(call, call->recording, fault);
}

/* ---- lists ---- */

struct recording_filter {
	struct id room, session;
	bool has_session;
	struct slice status; /* data NULL: any */
};

static void prepare_list(struct call *call)
{
	struct recording_filter *filter = arena_zero(call->arena, sizeof *filter);
	struct list *list = list_prepare(call, filter);
	const struct slice room = call_query_text(call, "room_id");
	const struct slice session = call_query_text(call, "session_id");
	const struct slice own = call->app_token != NULL ? call->app_token->subject.room_id : room;

	filter->status = call_query_text(call, "status");
	filter->has_session = session.data != NULL;
	if (filter->has_session)
		list->has_page = list->has_page && id_parse(session, &filter->session);
	if (own.data != NULL) {
		list->has_page = list->has_page && id_parse(own, &filter->room) &&
				 (room.data == NULL || slice_equal(room, own));
		list->page.parent = &filter->room;
	}
	list->is_filtered = true;
}

static const struct read reads_of_list[] = { READ_LIST(kind_job, list_first_page), READS_END };
const struct loading load_recordings = { .prepare = prepare_list, .reads = reads_of_list };

static bool add_recordings(struct list *list, const struct store_record *records, size_t n,
			   struct fault *fault)
{
	const struct recording_filter *filter = list->filter;
	struct call *call = list->call;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		struct json_writer body = writer_begin(call->arena, false);
		struct job job;

		if (!record_read(&job_table, call->arena, &records[i], &job, fault))
			return false;
		if (job.type != type_of(call) ||
		    (filter->has_session && id_compare(&job.session, &filter->session) != 0) ||
		    (filter->status.data != NULL &&
		     !slice_is(filter->status, job_status_names[job.status])))
			continue;
		if (!write_recording(call, &body, &job, NULL, true, fault))
			return false;
		list_add_item(list, &job.stored.id);
		call_part(call, writer_end(&body));
	}
	return true;
}

bool recordings_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	return (!list->has_page || list_add_pages(list, &kind_job, add_recordings, fault)) &&
	       list_close(list, fault);
}

/* ---- start ---- */

/* People inside start one job of a type in the room in ten seconds. */
static bool check_pace(struct call *call, struct fault *fault)
{
	const struct id room = call->view->room.id;
	struct store_record records[STARTS_READ];
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.parent = &room,
		.records = records,
		.most = sizeof records / sizeof records[0],
	};
	struct job job;

	if (!call->view->is_inside)
		return true;
	if (!store_page(call->transaction, &kind_job, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!record_read(&job_table, call->arena, &records[i], &job, fault))
			return false;
		if (job.type != type_of(call) || job.created + STARTS_APART <= call->now)
			continue;
		(void)fault_set(fault, FAULT_TOO_MANY, NULL);
		fault->retry_after =
			(unsigned)((job.created + STARTS_APART - call->now + 999) / 1000);
		return false;
	}
	return true;
}

bool recording_start(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	struct template_record template;
	const struct recorded_room in = { &view->room, &template, &view->live };
	struct slice *urls = NULL;
	struct job job = {
		.type = type_of(call),
		.started_by = caller_peer(call),
		.started_name = view->is_inside ? view->caller.name : SLICE(""),
		.start_actor = audit_caller_text(call),
	};

	/* Nobody inside chooses where a call is sent. */
	if (view->is_inside && json_array_size(call_member(call, "rtmp_urls")) > 0)
		return fault_member(fault, FAULT_INVALID_BODY, NULL, "/rtmp_urls",
				    "not from inside the room");
	if (!caller_may_record(call, json_is_true(call_member(call, "recording")), fault))
		return false;
	if (view->is_inside && call_member(call, "test") != NULL)
		return fault_member(fault, FAULT_INVALID_BODY, NULL, "/test",
				    "not from inside the room");
	if (!view->room.is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
	if (view->is_inside)
		template = view->template;
	else if (!template_load(call, &view->room.template_id, &template, fault))
		return false;
	/* A destination may have it recorded, too. */
	if (!recording_fill(call, &in, call->body, &job, &urls, fault) ||
	    !caller_may_record(call, job.has_recording, fault))
		return false;
	if (call->environment->live != LIVE_ON)
		return fault_detail(fault, FAULT_CANNOT, "--live watch");
	if (!recording_check_server(call, &in, fault))
		return false;
	if (!job.is_test && live_peers(&view->live) == 0)
		return fault_set(fault, FAULT_CONFLICT, "Nobody is in the room");
	if (!job_check_running(call, &job, fault) || !job_check_numbers(call, &job, fault) ||
	    !job_check_storage(call, &in, &job, fault) ||
	    !recorders_check_start(call, &job, fault) || !check_pace(call, fault) ||
	    !job_begin(call, &job, fault))
		return false;
	live_want(call, &view->room.id, ROOM_NOTIFY_JOBS);
	return answer_start(call, &job, urls, fault);
}

/* ---- stop, pause, resume ---- */

typedef bool job_ask(struct call *call, struct job *job, struct slice peer, bool *is_refused,
		     struct fault *fault);

/* Finds the recording or the live stream that holds the room of the path, and asks for it. One that
 * has stopped is returned as it is, so that a stop can be repeated; others cannot be paused or
 * resumed. */
static bool ask_of_room(struct call *call, job_ask *ask, struct fault *fault)
{
	const struct id room = call->view->room.id;
	bool is_refused;
	struct job job;

	if (!caller_may_record(call, false, fault) ||
	    !job_find_holding(call, type_of(call), &room, STORE_TO_CHANGE, &job, fault))
		return false;
	if (job.stored.value.data == NULL)
		return is_not_found(call, fault);
	if (!ask(call, &job, caller_peer(call), &is_refused, fault))
		return false;
	if (is_refused && ask != job_stop)
		return is_not_found(call, fault);
	live_want(call, &room, ROOM_NOTIFY_JOBS);
	return answer_of_room(call, &job, 1, fault);
}

/* Stops all external streams of the room of the path. All are locked before the first changes. */
bool external_streams_stop(struct call *call, struct fault *fault)
{
	const struct id room = call->view->room.id;
	struct job *of_room, *jobs;
	size_t all, n = 0;

	if (!caller_may_record(call, false, fault) ||
	    !jobs_of_room(call, &room, &of_room, &all, fault))
		return false;
	jobs = arena_zero(call->arena, (all + 1) * sizeof *jobs);
	for (size_t i = 0; i < all; i++) {
		if (of_room[i].type != JOB_EXTERNAL || !job_is_carried_out(&of_room[i]))
			continue;
		if (!job_load(call, &of_room[i].stored.id, STORE_TO_CHANGE, &jobs[n], fault))
			return false;
		n += jobs[n].stored.value.data != NULL && job_is_carried_out(&jobs[n]);
	}
	if (n == 0)
		return is_not_found(call, fault);
	for (size_t i = 0; i < n; i++) {
		bool is_refused;

		if (!job_stop(call, &jobs[i], caller_peer(call), &is_refused, fault))
			return false;
	}
	live_want(call, &room, ROOM_NOTIFY_JOBS);
	return answer_of_room(call, jobs, n, fault);
}

bool stream_cannot(struct call *call, struct fault *fault)
{
	(void)call;
	return fault_set(fault, FAULT_CONFLICT, "Not possible here");
}

bool recordings_stop(struct call *call, struct fault *fault)
{
	return ask_of_room(call, job_stop, fault);
}

bool recordings_pause(struct call *call, struct fault *fault)
{
	return ask_of_room(call, job_pause, fault);
}

bool recordings_resume(struct call *call, struct fault *fault)
{
	return ask_of_room(call, job_resume, fault);
}

/* Finds out whether the folder has parts of the recording. */
static bool has_parts(const struct call *call, const struct job *job)
{
	const char *path = arena_text(call->arena, "incoming/%s-%s", call->account_text,
				      id_as_text(call->arena, &job->stored.id).data);
	struct slice *names;
	bool is_part = false;
	size_t n;

	folder_list(call->arena, call->environment->recordings->folder, slice_of(path), false,
		    &names, &n);
	for (size_t i = 0; i < n; i++)
		is_part = is_part || slice_ends(names[i], SLICE(".mkv"));
	return is_part;
}

bool recording_join(struct call *call, struct fault *fault)
{
	const struct slice folder = recordings_folder_id(call);
	struct job *job = call->recording;

	if (job->status != JOB_FAILED)
		return fault_set(fault, FAULT_CONFLICT, "Recording has not failed");
	if (folder.size == 0 || !slice_equal(job->folder, folder))
		return fault_set(fault, FAULT_CONFLICT, "No storage for recordings");
	if (!has_parts(call, job))
		return fault_set(fault, FAULT_CONFLICT, "Recording has no parts");
	return job_join_again(call, job, fault) && answer_recording(call, job, fault);
}

bool recording_stop(struct call *call, struct fault *fault)
{
	struct job *job = call->recording;
	bool is_refused;

	if (!job_stop(call, job, caller_peer(call), &is_refused, fault))
		return false;
	if (!is_refused)
		live_want(call, &job->stored.parent, ROOM_NOTIFY_JOBS);
	return answer_recording(call, job, fault);
}
