/* See resources/stored/job_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/job_record.h"

#include "base/digest.h"
#include "base/text.h"
#include "records/kinds.h"

const char *const job_type_names[JOB_TYPES] = {
	[JOB_RECORDING] = "recording",
	[JOB_LIVE] = "live",
	[JOB_EXTERNAL] = "external",
};

const char *const job_permissions[JOB_TYPES] = {
	[JOB_RECORDING] = "browserRecording",
	[JOB_LIVE] = "hlsStreaming",
	[JOB_EXTERNAL] = "rtmpStreaming",
};

const char *const job_status_names[JOB_STATUSES] = {
	[JOB_STARTING] = "starting",   [JOB_RUNNING] = "running",
	[JOB_STOPPING] = "stopping",   [JOB_POST_PROCESSING] = "post_processing",
	[JOB_COMPLETED] = "completed", [JOB_FAILED] = "failed",
};

#define FAILURE "failure: "
const char *const job_reason_names[JOB_REASONS] = {
	[JOB_GOES_ON] = "",
	[JOB_CLIENT_REQUEST] = "client request",
	[JOB_ROOM_ENDED] = "room ended",
	[JOB_LAST_PEER_LEFT] = "last peer left",
	[JOB_MAX_DURATION] = "max duration reached",
	[JOB_NO_SPACE] = "no space left",
	[JOB_NO_RECORDER] = FAILURE "NO_RECORDER",
	[JOB_MAX_RETRIES] = FAILURE "MAX_RETRIES_REACHED",
	[JOB_UPLOAD_ERROR] = FAILURE "UPLOAD_ERROR",
	[JOB_BEAM_STOPPED] = FAILURE "BEAM_STOPPED",
	[JOB_INTERNAL_ERROR] = FAILURE "INTERNAL_ERROR",
};

const char *job_failure_name(enum job_reason reason)
{
	return reason >= JOB_NO_RECORDER ? job_reason_names[reason] + sizeof FAILURE - 1 : NULL;
}

const char *const work_state_names[WORK_STATES] = {
	[WORK_OPENING] = "opening", [WORK_RUNNING] = "running",	  [WORK_PAUSED] = "paused",
	[WORK_WAITING] = "waiting", [WORK_STOPPING] = "stopping", [WORK_JOINING] = "joining",
	[WORK_SENDING] = "sending", [WORK_DONE] = "done",	  [WORK_BROKEN] = "broken",
};

const char *const output_state_names[OUTPUT_STATES] = {
	[OUTPUT_CONNECTING] = "connecting",
	[OUTPUT_LIVE] = "live",
	[OUTPUT_FAILED] = "failed",
};

const char *const asset_type_names[ASSET_TYPES] = {
	[ASSET_ROOM_COMPOSITE] = "room-composite",
	[ASSET_CHAT] = "chat",
};

/* ---- tables ---- */

static const struct member pause_members[] = {
	{ "from", AS_TIME, AT(struct job_pause, from) },
	{ "to", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct job_pause, to) },
};
static const struct record_table pause_table = { ITEMS(struct job_pause, pause_members) };

static const struct member output_members[] = {
	{ "url", AS_TEXT(1, JOB_OUTPUT_MOST), AT(struct job_output, url) },
	{ "sealed", AS_BYTES(JOB_OUTPUT_MOST + SEAL_MORE), MARKED(MEMBER_DERIVED),
	  AT(struct job_output, sealed) },
	{ "state", AS_CHOICE(OUTPUT_STATES - 1, output_state_names), AT(struct job_output, state) },
	{ "since", AS_TIME, AT(struct job_output, since) },
	{ "error", AS_TEXT(0, JOB_ERROR_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job_output, error) },
};
static const struct record_table output_table = { ITEMS(struct job_output, output_members) };

static const struct member job_members[] = {
	{ "id", AS_KEY, AT(struct job, stored.id) },
	{ "room_id", AS_PARENT_OF(room, OUTLIVES), AT(struct job, stored.parent) },
	{ "open", AS_SWITCH, MARKED(MEMBER_DERIVED), AT(struct job, is_open) },
	{ "name", AS_NAME, MARKED(MEMBER_DERIVED), AT(struct job, name) },
	{ "type", AS_CHOICE(JOB_TYPES - 1, job_type_names), AT(struct job, type) },
	{ "session_id", AS_ID, AT(struct job, session) },
	{ "template_id", AS_ID, AT(struct job, template_id) },
	{ "room_name", AS_TEXT(0, STORE_NAME_MAX), AT(struct job, room_name) },
	{ "room_title", AS_TEXT(0, LIVE_NAME_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, room_title) },
	{ "meeting_url", AS_TEXT(0, JOB_ADDRESS_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, meeting_url) },
	{ "destination", AS_TEXT(0, JOB_DESTINATION_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, destination) },
	{ "started_by", AS_TEXT(0, UUID_TEXT_SIZE), MARKED(MEMBER_ABSENT),
	  AT(struct job, started_by) },
	{ "started_name", AS_TEXT(0, LIVE_NAME_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, started_name) },
	{ "start_actor", AS_JSON(LIVE_ACTOR_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, start_actor) },
	{ "automatic", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, is_automatic) },
	{ "test", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, is_test) },
	{ "width", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, look.width) },
	{ "height", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, look.height) },
	{ "fps", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, look.fps) },
	{ "video_kbps", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, look.video_kbps) },
	{ "audio_kbps", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, look.audio_kbps) },
	{ "audio_only", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, look.is_audio_only) },
	{ "roles", AS_TEXT(0, JOB_ROLES_MOST), MARKED(MEMBER_ABSENT), AT(struct job, look.roles) },
	{ "consent", AS_CHOICE(RECORDING_CONSENTS - 1, recording_consent_names),
	  AT(struct job, look.consent) },
	{ "chat", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, look.has_chat) },
	{ "most_ms", AS_NUMBER(8, 0, UNLIMITED), AT(struct job, most) },
	{ "empty_most_ms", AS_NUMBER(8, 0, UNLIMITED), AT(struct job, empty_most) },
	{ "presign_seconds", AS_NUMBER(4, 0, UINT32_MAX), AT(struct job, presign_seconds) },
	{ "keep_days", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct job, keep.days) },
	{ "days_before", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct job, keep.before) },
	{ "days_changed_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct job, keep.changed) },
	{ "not_enforced", AS_TEXT(0, JOB_NOT_ENFORCED_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, not_enforced) },
	{ "folder", AS_TEXT(0, JOB_FOLDER_MOST), MARKED(MEMBER_ABSENT), AT(struct job, folder) },
	{ "storage", AS_JSON(JOB_STORAGE_MOST), MARKED(MEMBER_ABSENT), AT(struct job, storage) },
	{ "status", AS_CHOICE(JOB_STATUSES - 1, job_status_names), AT(struct job, status) },
	{ "created_at", AS_TIME, AT(struct job, created) },
	{ "updated_at", AS_TIME, AT(struct job, updated) },
	{ "started_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct job, started) },
	{ "stopped_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct job, stopped) },
	{ "ended_at", AS_TIME, AS_END, MARKED(MEMBER_ABSENT), AT(struct job, ended) },
	{ "stopped_by", AS_TEXT(0, UUID_TEXT_SIZE), MARKED(MEMBER_ABSENT),
	  AT(struct job, stopped_by) },
	{ "stop_actor", AS_JSON(LIVE_ACTOR_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, stop_actor) },
	{ "asked_reason", AS_CHOICE(JOB_REASONS - 1, job_reason_names),
	  AT(struct job, asked_reason) },
	{ "reason", AS_CHOICE(JOB_REASONS - 1, job_reason_names), AT(struct job, reason) },
	{ "error", AS_TEXT(0, JOB_ERROR_MOST), MARKED(MEMBER_ABSENT), AT(struct job, error) },
	{ "paused", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct job, wants_pause) },
	{ "shows_pause", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct job, shows_pause) },
	{ "asked_at", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, asked) },
	{ "interrupted_since", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, interrupted) },
	{ "epoch", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT), AT(struct job, epoch) },
	{ "rev", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED), AT(struct job, rev) },
	{ "recorder", AS_TEXT(0, JOB_RECORDER_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct job, recorder) },
	{ "boot", AS_TEXT(0, JOB_RECORDER_MOST), MARKED(MEMBER_ABSENT), AT(struct job, boot) },
	{ "heard", AS_CHOICE(WORK_STATES - 1, work_state_names), AT(struct job, heard) },
	{ "heard_n", AS_NUMBER(8, 0, UNLIMITED), MARKED(MEMBER_ABSENT), AT(struct job, heard_n) },
	{ "part", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT), AT(struct job, part) },
	{ "recorded_ms", AS_NUMBER(8, 0, UNLIMITED), MARKED(MEMBER_ABSENT),
	  AT(struct job, recorded) },
	{ "media_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct job, media) },
	{ "grown_at", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, grown) },
	{ "gap_count", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct job, gap_count) },
	{ "lost_at", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, lost) },
	{ "joining_at", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, joining) },
	{ "emptied_at", AS_TIME, MARKED(MEMBER_DERIVED), AT(struct job, emptied) },
	{ "removes", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct job, removes) },
	{ "recorded_before_ms", AS_NUMBER(8, 0, UNLIMITED), MARKED(MEMBER_ABSENT),
	  AT(struct job, recorded_before) },
	{ "parts_before", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct job, parts_before) },
	{ "resumes", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT), AT(struct job, resumes) },
	{ "was_started", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, was_started) },
	{ "cleared", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED), AT(struct job, cleared) },
	{ "has_room", AS_BOOLEAN, MARKED(MEMBER_DERIVED), AT(struct job, has_room) },
	{ "saved", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, is_saved) },
	{ "asset_count", AS_NUMBER(8, 0, UNLIMITED), HOLDS_END, MARKED(MEMBER_DERIVED),
	  AT(struct job, asset_count) },
	{ "asset_bytes", AS_NUMBER(8, 0, UNLIMITED), MARKED(MEMBER_DERIVED),
	  AT(struct job, asset_bytes) },
	{ "live_key", AS_TEXT(0, JOB_LIVE_KEY_SIZE), MARKED(MEMBER_ABSENT),
	  AT(struct job, live_key) },
	{ "live_window", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct job, live_window) },
	{ "hls_vod", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, has_vod) },
	{ "single_file", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, has_single_file) },
	{ "recording", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct job, has_recording) },
	{ "outputs", AS_LIST(struct job, output_count, JOB_OUTPUTS_MOST, output_table),
	  MARKED(MEMBER_ABSENT), AT(struct job, outputs) },
	{ "pauses", AS_LIST(struct job, pause_count, JOB_PAUSES_MOST, pause_table),
	  MARKED(MEMBER_ABSENT), AT(struct job, pauses) },
};
const struct record_table job_table = { RECORD(struct job, job_members, 4, &kind_job) };

static const struct member gap_members[] = {
	{ "at_ms", AS_NUMBER(8, 0, UNLIMITED), AT(struct asset_gap, at) },
	{ "missing_ms", AS_NUMBER(8, 0, UNLIMITED), AT(struct asset_gap, missing) },
};
static const struct record_table gap_table = { ITEMS(struct asset_gap, gap_members) };

static const struct member asset_members[] = {
	{ "id", AS_KEY, AT(struct asset, stored.id) },
	{ "job_id", AS_PARENT_OF(job, DIES, COUNTED(job, asset_count)),
	  AT(struct asset, stored.parent) },
	{ "room_id", AS_ID, AT(struct asset, room) },
	{ "session_id", AS_ID, AT(struct asset, session) },
	{ "template_id", AS_ID, MARKED(MEMBER_ABSENT), AT(struct asset, template_id) },
	{ "type", AS_CHOICE(ASSET_TYPES - 1, asset_type_names), AT(struct asset, type) },
	{ "missing", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct asset, is_missing) },
	{ "path", AS_TEXT(1, JOB_PATH_MOST), AT(struct asset, path) },
	{ "folder", AS_TEXT(0, JOB_FOLDER_MOST), MARKED(MEMBER_ABSENT), AT(struct asset, folder) },
	{ "storage", AS_JSON(JOB_STORAGE_MOST), MARKED(MEMBER_ABSENT), AT(struct asset, storage) },
	{ "title", AS_TEXT(0, LIVE_NAME_MOST), MARKED(MEMBER_ABSENT), AT(struct asset, title) },
	{ "created_at", AS_TIME, AT(struct asset, created) },
	{ "recorded_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct asset, recorded_at) },
	{ "size", AS_NUMBER(8, 0, UNLIMITED), AT(struct asset, size) },
	{ "duration_ms", AS_NUMBER(8, 0, UNLIMITED), AT(struct asset, duration) },
	{ "width", AS_NUMBER(4, 0, UINT32_MAX), AT(struct asset, width) },
	{ "height", AS_NUMBER(4, 0, UINT32_MAX), AT(struct asset, height) },
	{ "presign_seconds", AS_NUMBER(4, 0, UINT32_MAX), AT(struct asset, presign_seconds) },
	{ "gaps", AS_LIST(struct asset, gap_count, JOB_GAPS_MOST, gap_table), MARKED(MEMBER_ABSENT),
	  AT(struct asset, gaps) },
};
const struct record_table asset_table = { RECORD(struct asset, asset_members, 2, &kind_asset) };

#define COUNT_OF(name_, type_, status_) \
	{ \
		name_, AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, counts[type_][status_]) \
	}
static const struct member jobs_members[] = {
	{ "open", AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, open) },
	{ "running", AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, running) },
	{ "waiting", AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, waiting) },
	{ "bytes", AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, bytes) },
	{ "missing", AS_NUMBER(8, 0, UNLIMITED), AT(struct jobs, missing) },
	COUNT_OF("recording_starting", JOB_RECORDING, JOB_STARTING),
	COUNT_OF("recording_running", JOB_RECORDING, JOB_RUNNING),
	COUNT_OF("recording_stopping", JOB_RECORDING, JOB_STOPPING),
	COUNT_OF("recording_post_processing", JOB_RECORDING, JOB_POST_PROCESSING),
	COUNT_OF("live_starting", JOB_LIVE, JOB_STARTING),
	COUNT_OF("live_running", JOB_LIVE, JOB_RUNNING),
	COUNT_OF("live_stopping", JOB_LIVE, JOB_STOPPING),
	COUNT_OF("live_post_processing", JOB_LIVE, JOB_POST_PROCESSING),
	COUNT_OF("external_starting", JOB_EXTERNAL, JOB_STARTING),
	COUNT_OF("external_running", JOB_EXTERNAL, JOB_RUNNING),
	COUNT_OF("external_stopping", JOB_EXTERNAL, JOB_STOPPING),
	COUNT_OF("external_post_processing", JOB_EXTERNAL, JOB_POST_PROCESSING),
};
const struct record_table jobs_table = { RECORD(struct jobs, jobs_members, 0, &kind_jobs) };

/* ---- what follows from the members ---- */

struct slice job_holding_name(struct arena *arena, enum job_type type, const struct id *room)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(room, text);
	return slice_of(arena_text(arena, "%s:%s", job_type_names[type], text));
}

bool job_makes_file(const struct job *job)
{
	return job->type == JOB_RECORDING || job->has_vod || job->has_single_file ||
	       job->has_recording;
}

bool job_is_carried_out(const struct job *job)
{
	return job->status <= JOB_STOPPING;
}

const char *const job_sight_names[JOB_SIGHTS] = {
	[SEES_NOTHING] = "",	  [SEES_STARTING] = "starting",	      [SEES_RUNNING] = "running",
	[SEES_PAUSED] = "paused", [SEES_INTERRUPTED] = "interrupted",
};

enum job_sight job_people_see(const struct job *job, int64_t *since)
{
	*since = job->created;
	if (job->status == JOB_STARTING)
		return SEES_STARTING;
	*since = job->started;
	/* A stop that is not true yet: what people saw before. */
	if (job->status != JOB_RUNNING && (job->status != JOB_STOPPING || job->asked == 0))
		return SEES_NOTHING;
	if (job->shows_pause) {
		if (job->pause_count > 0)
			*since = job->pauses[job->pause_count - 1].from;
		return SEES_PAUSED;
	}
	if (job->interrupted != 0) {
		*since = job->interrupted;
		return SEES_INTERRUPTED;
	}
	return SEES_RUNNING;
}

uint64_t job_recorded(const struct job *job)
{
	return job->recorded_before + job->recorded;
}

uint32_t job_gaps(const struct job *job)
{
	const uint32_t parts = job->parts_before + job->part;

	return job->resumes + (parts > 1 ? parts - 1 : 0);
}

bool job_has_unfinished_files(const struct job *job, int64_t now)
{
	return job->is_open || (job->storage.size > 0 && now < job->ended + JOB_SAVED_FOR);
}

/* ---- in the store ---- */

bool job_load(struct call *call, const struct id *id, enum store_reading reading, struct job *job,
	      struct fault *fault)
{
	return record_get(&job_table, call->transaction, id, reading, job, fault);
}

bool job_find_holding(struct call *call, enum job_type type, const struct id *room,
		      enum store_reading reading, struct job *job, struct fault *fault)
{
	return record_get_named(&job_table, call->transaction,
				job_holding_name(call->arena, type, room), reading, job, fault);
}

/* GET /v2/join/{code} announces the same page (service/routes.c). */
bool jobs_of_room(struct call *call, const struct id *room, struct job **jobs, size_t *n,
		  struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_ON,
		.parent = room,
		.records = arena_alloc(call->arena, JOBS_OF_ROOM_MOST * sizeof *page.records),
		.most = JOBS_OF_ROOM_MOST,
	};

	*n = 0;
	if (!store_page(call->transaction, &kind_job, &page, fault))
		return false;
	*jobs = arena_zero(call->arena, (page.count + 1) * sizeof **jobs);
	for (size_t i = 0; i < page.count; i++) {
		if (!record_read(&job_table, call->arena, &page.records[i], &(*jobs)[i], fault))
			return false;
	}
	*n = page.count;
	return true;
}

/* What is stored now is what the next put replaces. */
bool job_put(struct call *call, struct job *job, struct fault *fault)
{
	const struct id id = job->stored.id;

	return record_put(&job_table, call->transaction, job, fault) &&
	       store_get(call->transaction, &kind_job, &id, STORE_TO_CHANGE, &job->stored, fault);
}

bool jobs_load(struct call *call, enum store_reading reading, struct jobs *jobs,
	       struct fault *fault)
{
	return record_get(&jobs_table, call->transaction, &kind_only_id, reading, jobs, fault);
}

static struct store_page page_of_assets(const struct id *job)
{
	return (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.parent = job,
		.most = JOB_FILES_MOST,
	};
}

void assets_expect(struct call *call, const struct job *jobs, size_t n)
{
	struct store_expected *expected = arena_zero(call->arena, (n + 1) * sizeof *expected);
	struct store_page *pages = arena_alloc(call->arena, (n + 1) * sizeof *pages);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (jobs[i].asset_count == 0)
			continue;
		pages[count] = page_of_assets(&jobs[i].stored.id);
		expected[count] = (struct store_expected){
			.kind = &kind_asset,
			.finding = STORE_FIND_PAGE,
			.page = &pages[count],
		};
		count++;
	}
	if (count > 0)
		store_expect(call->transaction, STORE_EACH, expected, count);
}

bool assets_of_job(struct call *call, const struct id *job, struct asset **assets, size_t *n,
		   struct fault *fault)
{
	struct store_page page = page_of_assets(job);

	page.records = arena_alloc(call->arena, page.most * sizeof *page.records);
	*n = 0;
	if (!store_page(call->transaction, &kind_asset, &page, fault))
		return false;
	*assets = arena_zero(call->arena, (page.count + 1) * sizeof **assets);
	for (size_t i = 0; i < page.count; i++) {
		if (!record_read(&asset_table, call->arena, &page.records[i], &(*assets)[i], fault))
			return false;
	}
	*n = page.count;
	return true;
}

bool asset_count_elsewhere(struct call *call, const struct asset *asset, bool comes,
			   struct fault *fault)
{
	struct session session;
	struct jobs jobs;

	if (!session_load(call, &asset->session, STORE_TO_CHANGE, &session, fault))
		return false;
	if (session.stored.value.data != NULL && (comes || session.asset_count > 0)) {
		session.asset_count = comes ? session.asset_count + 1 : session.asset_count - 1;
		if (!record_put(&session_table, call->transaction, &session, fault))
			return false;
	}
	if (!jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	/* With its account, the record may have gone first. */
	if (!comes && jobs.stored.value.data == NULL)
		return true;
	if (asset->is_missing && (comes || jobs.missing > 0))
		jobs.missing = comes ? jobs.missing + 1 : jobs.missing - 1;
	if (comes)
		jobs.bytes += asset->size;
	else
		jobs.bytes -= asset->size < jobs.bytes ? asset->size : jobs.bytes;
	return record_put(&jobs_table, call->transaction, &jobs, fault);
}

bool asset_set_missing(struct call *call, struct asset *asset, bool is_missing, struct fault *fault)
{
	struct jobs jobs;

	if (asset->is_missing == is_missing)
		return true;
	asset->is_missing = is_missing;
	if (!record_put(&asset_table, call->transaction, asset, fault) ||
	    !jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	if (is_missing || jobs.missing > 0)
		jobs.missing = is_missing ? jobs.missing + 1 : jobs.missing - 1;
	return record_put(&jobs_table, call->transaction, &jobs, fault);
}

bool asset_add(struct call *call, struct job *job, struct asset *asset, struct fault *fault)
{
	int64_t now = call->now;

	asset->stored = (struct store_record){ .parent = job->stored.id };
	if (!store_new_id(call->transaction, &kind_asset, call->environment->clock, &now,
			  &asset->stored.id, fault) ||
	    !record_put(&asset_table, call->transaction, asset, fault))
		return false;
	job->asset_count++;
	job->asset_bytes += asset->size;
	return asset_count_elsewhere(call, asset, true, fault);
}

bool asset_remove(struct call *call, const struct asset *asset, struct fault *fault)
{
	struct job job;

	if (!job_load(call, &asset->stored.parent, STORE_TO_CHANGE, &job, fault))
		return false;
	if (job.stored.value.data != NULL) {
		job.asset_count -= job.asset_count > 0 ? 1 : 0;
		job.asset_bytes -= asset->size < job.asset_bytes ? asset->size : job.asset_bytes;
		if (!job_put(call, &job, fault))
			return false;
	}
	return asset_count_elsewhere(call, asset, false, fault) &&
	       store_remove(call->transaction, &kind_asset, &asset->stored, fault);
}
