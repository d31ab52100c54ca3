/* See resources/recordings/job_events.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_events.h"

#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/public_url.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/job_outputs.h"

/* The code of a failure, as a client sees it. */
#define FAILURE_CODE SLICE("500")

static void data_text(struct audit_data *data, size_t *n, const char *name, struct slice value)
{
	data->more[(*n)++] = (struct audit_member){ name, value, false };
}

static void data_json(struct audit_data *data, size_t *n, const char *name, struct slice value)
{
	data->more[(*n)++] = (struct audit_member){ name, value, true };
}

/* Empty if there is no such time. */
static void data_time(struct call *call, struct audit_data *data, size_t *n, const char *name,
		      int64_t time)
{
	char *text = arena_alloc(call->arena, TEXT_TIME_SIZE);

	text[0] = '\0';
	if (time != 0)
		text_time_milliseconds(time, text);
	data_text(data, n, name, slice_of(text));
}

static void data_number(struct call *call, struct audit_data *data, size_t *n, const char *name,
			uint64_t number)
{
	data_json(data, n, name,
		  slice_of(arena_text(call->arena, "%llu", (unsigned long long)number)));
}

/* Returns the masked addresses of outputs as a JSON array. */
static struct slice addresses_text(struct arena *arena, const struct job *job, size_t from,
				   size_t to)
{
	json_t *list = arena_json(arena, json_array());

	for (size_t i = from; i < to; i++)
		array_put(list, json_of_text(job->outputs[i].url));
	return json_as_text(arena, list);
}

/* Adds the members that all events of jobs have, and returns their number. */
static size_t data_add_job(struct call *call, const struct job *job, int64_t session_started,
			   struct audit_data *data)
{
	const bool has_session = id_compare(&job->session, &kind_only_id) != 0;
	const bool is_there = id_compare(&job->stored.id, &kind_only_id) != 0;
	const struct slice id = is_there ? id_as_text(call->arena, &job->stored.id) : SLICE("");
	size_t n = 0;

	data->kind = "job";
	data->id = id;
	data->name = job->room_name;
	data_text(data, &n, "beam_id", id);
	data_text(data, &n, "room_id", id_as_text(call->arena, &job->stored.parent));
	data_text(data, &n, "peer_id", job->started_by);
	data_text(data, &n, "session_id",
		  has_session ? id_as_text(call->arena, &job->session) : SLICE(""));
	data_text(data, &n, "template_id", id_as_text(call->arena, &job->template_id));
	data_text(data, &n, "metadata_id", SLICE(""));
	data_text(data, &n, "metadata_timestamp", SLICE(""));
	data_number(call, data, &n, "max_width", job->look.width);
	data_number(call, data, &n, "max_height", job->look.height);
	data_text(data, &n, "meeting_url", job->meeting_url);
	if (job->type != JOB_LIVE)
		data_json(data, &n, "rtmp", addresses_text(call->arena, job, 0, job->output_count));
	data_time(call, data, &n, "session_started_at", session_started);
	return n;
}

/* Programs that follow events learn the address; without --public-url it depends on who asks. */
static struct slice live_url(struct call *call, const struct job *job)
{
	return call->environment->public_url != NULL ? job_live_url(call, job) : SLICE("");
}

/* Adds what a stream or a recording has besides: whether a file is made of it. */
static void data_add_files(struct audit_data *data, size_t *n, const struct job *job)
{
	if (job->type != JOB_LIVE) {
		data_json(data, n, "recording_enabled",
			  job_makes_file(job) ? SLICE("true") : SLICE("false"));
		return;
	}
	data_json(data, n, "recording_single_file_per_layer_enabled",
		  job->has_single_file ? SLICE("true") : SLICE("false"));
	data_json(data, n, "recording_vod_playlist_enabled",
		  job->has_vod ? SLICE("true") : SLICE("false"));
}

/* What the events of a type are called: beam.started.success or hls.started.success. */
enum { STARTED, STOPPED, FAILED };
static const char *const event_names[][FAILED + 1] = {
	[false] = { "beam.started.success", "beam.stopped.success", "beam.failure" },
	[true] = { "hls.started.success", "hls.stopped.success", "hls.failure" },
};

static void note_started(struct call *call, const struct job *job, int64_t session_started)
{
	struct audit_data data = { .actor = job->start_actor };
	size_t n = data_add_job(call, job, session_started, &data);

	data_text(&data, &n, "job_id", data.id);
	data_add_files(&data, &n, job);
	data_number(call, &data, &n, "start_delay",
		    job->started > job->created ? (uint64_t)(job->started - job->created) / 1000
						: 0);
	data_text(&data, &n, "state_name", SLICE("started"));
	data_time(call, &data, &n, "state_timestamp", job->started);
	if (job->type == JOB_LIVE) {
		data_text(&data, &n, "url", live_url(call, job));
		data_time(call, &data, &n, "started_at", job->started);
	}
	audit_note(call, event_names[job->type == JOB_LIVE][STARTED], &data);
}

static void note_stopped(struct call *call, const struct job *job, int64_t session_started)
{
	struct audit_data data = { .actor = job->stop_actor };
	size_t n = data_add_job(call, job, session_started, &data);

	data_text(&data, &n, "job_id", data.id);
	data_add_files(&data, &n, job);
	data_number(call, &data, &n, "duration", job_recorded(job) / 1000);
	data_time(call, &data, &n, "state_timestamp", job->stopped);
	data_text(&data, &n, "state_name", SLICE("stopped"));
	data_text(&data, &n, "reason", slice_of(job_reason_names[job->reason]));
	if (job->type == JOB_LIVE) {
		data_text(&data, &n, "url", live_url(call, job));
		data_time(call, &data, &n, "started_at", job->started);
		data_time(call, &data, &n, "stopped_at", job->stopped);
		data_json(&data, &n, "live_transcription_enabled", SLICE("false"));
	}
	if (data.actor.size == 0)
		data.actor = audit_service_text(call->arena);
	audit_note(call, event_names[job->type == JOB_LIVE][STOPPED], &data);
}

/* output: the one that failed; NULL if the job did. */
static void note_failed(struct call *call, const struct job *job, const struct job_output *output,
			int64_t session_started)
{
	struct audit_data data = { .actor = output == NULL ? job->stop_actor : SLICE("") };
	size_t n = data_add_job(call, job, session_started, &data);
	const size_t at = output == NULL ? 0 : (size_t)(output - job->outputs);
	const struct slice type =
		slice_of(job_failure_name(output == NULL ? job->reason : JOB_MAX_RETRIES));

	for (size_t i = 0; output != NULL && i < n; i++) {
		if (strcmp(data.more[i].name, "rtmp") == 0)
			data.more[i].value = addresses_text(call->arena, job, at, at + 1);
	}
	data_text(&data, &n, "job_id", data.id);
	data_add_files(&data, &n, job);
	data_number(call, &data, &n, "duration", job_recorded(job) / 1000);
	data_time(call, &data, &n, "state_timestamp",
		  output == NULL ? job->stopped : output->since);
	data_text(&data, &n, "state_name", SLICE("failed"));
	data_json(&data, &n, "error_code", FAILURE_CODE);
	data_text(&data, &n, "error_message", output == NULL ? job->error : output->error);
	data_text(&data, &n, "error_type", type);
	if (data.actor.size == 0)
		data.actor = audit_service_text(call->arena);
	audit_note(call, event_names[job->type == JOB_LIVE][FAILED], &data);
}

static void note_pause(struct call *call, const struct job *job, const char *type)
{
	struct audit_data data = { .kind = "job",
				   .id = id_as_text(call->arena, &job->stored.id),
				   .name = job->room_name };
	size_t n = 0;

	data_text(&data, &n, "job_id", data.id);
	data_text(&data, &n, "room_id", id_as_text(call->arena, &job->stored.parent));
	data_text(&data, &n, "template_id", id_as_text(call->arena, &job->template_id));
	audit_note(call, type, &data);
}

/* The file of a live stream; its link is made when a webhook is sent (job_links.h). */
static void note_live_asset(struct call *call, const struct job *job, const struct asset *asset,
			    const struct asset *chat, int64_t session_started)
{
	struct audit_data data = { .actor = audit_service_text(call->arena) };
	size_t n = data_add_job(call, job, session_started, &data);
	const bool is_chat = asset->type == ASSET_CHAT;
	const struct asset *named = is_chat ? asset : chat;
	json_t *files = arena_json(call->arena, json_array());

	if (!is_chat)
		array_put(files,
			  json_pack("{s:o, s:I, s:I, s:I, s:I}", "recording_path",
				    json_of_text(asset_path_text(call->arena, asset)), "duration",
				    (json_int_t)(asset->duration / 1000), "size",
				    (json_int_t)asset->size, "max_width", (json_int_t)asset->width,
				    "max_height", (json_int_t)asset->height));
	data.kind = "asset";
	data.id = id_as_text(call->arena, &asset->stored.id);
	data_text(&data, &n, "job_id", id_as_text(call->arena, &job->stored.id));
	data_text(&data, &n, "recording_id", data.id);
	data_json(&data, &n, "recording_single_files", json_as_text(call->arena, files));
	data_text(&data, &n, "hls_vod_recording_path", SLICE(""));
	data_json(&data, &n, "hls_vod_recording_size", SLICE("0"));
	data_text(&data, &n, "recording_hls_vod_playlist_location", SLICE(""));
	data_text(&data, &n, "chat_recording_path",
		  named != NULL ? asset_path_text(call->arena, named) : SLICE(""));
	data_json(&data, &n, "recording_thumbnails", SLICE("[]"));
	data_number(call, &data, &n, "duration", asset->duration / 1000);
	data_time(call, &data, &n, "recording_created_at", job->created);
	data_time(call, &data, &n, "started_at", job->started);
	data_time(call, &data, &n, "stopped_at", job->stopped);
	audit_note(call, "hls.recording.success", &data);
}

/* Links are made when a webhook is sent. */
static void note_asset(struct call *call, const struct job *job, const struct asset *asset,
		       const struct asset *chat, int64_t session_started)
{
	struct audit_data data = { .actor = audit_service_text(call->arena) };
	size_t n = data_add_job(call, job, session_started, &data);
	const bool is_chat = asset->type == ASSET_CHAT;
	const struct slice path = asset_path_text(call->arena, asset);

	data.kind = "asset";
	data.id = id_as_text(call->arena, &asset->stored.id);
	data_text(&data, &n, "job_id", id_as_text(call->arena, &job->stored.id));
	data_text(&data, &n, "recording_id", data.id);
	data_text(&data, &n, "recording_path", is_chat ? SLICE("") : path);
	data_text(&data, &n, "chat_recording_path",
		  is_chat	 ? path
		  : chat != NULL ? asset_path_text(call->arena, chat)
				 : SLICE(""));
	data_number(call, &data, &n, "duration", asset->duration / 1000);
	data_number(call, &data, &n, "size", asset->size);
	data_time(call, &data, &n, "created_at", job->created);
	data_time(call, &data, &n, "started_at", job->started);
	data_time(call, &data, &n, "stopped_at", job->stopped);
	audit_note(call, "beam.recording.success", &data);
}

bool job_note(struct call *call, const struct job *job, unsigned acts, unsigned outputs,
	      const struct asset *assets, size_t asset_count, struct fault *fault)
{
	const struct asset *chat = NULL;
	struct session session;

	if ((acts & (ACT_STARTED | ACT_STOPPED | ACT_FAILED | ACT_PAUSED | ACT_RESUMED |
		     ACT_COMPLETED | ACT_GAVE_UP)) == 0)
		return true;
	if (!session_load(call, &job->session, STORE_TO_SHOW, &session, fault))
		return false;
	if ((acts & ACT_STARTED) != 0)
		note_started(call, job, session.created);
	for (size_t i = 0; i < job->output_count; i++) {
		if ((outputs & 1U << i) != 0)
			note_failed(call, job, &job->outputs[i], session.created);
	}
	if ((acts & ACT_STOPPED) != 0)
		note_stopped(call, job, session.created);
	if ((acts & ACT_FAILED) != 0)
		note_failed(call, job, NULL, session.created);
	if ((acts & ACT_PAUSED) != 0)
		note_pause(call, job, "recording.paused");
	if ((acts & ACT_RESUMED) != 0)
		note_pause(call, job, "recording.resumed");
	for (size_t i = 0; i < asset_count; i++) {
		if (assets[i].type == ASSET_CHAT)
			chat = &assets[i];
	}
	for (size_t i = 0; i < asset_count; i++) {
		if (job->type == JOB_LIVE)
			note_live_asset(call, job, &assets[i], chat, session.created);
		else
			note_asset(call, job, &assets[i], chat, session.created);
	}
	return true;
}

bool job_note_unstarted(struct call *call, const struct job *job, struct slice error,
			struct fault *fault)
{
	struct job failed = *job;
	struct session session;

	failed.reason = JOB_NO_RECORDER;
	failed.error = error;
	failed.meeting_url = failed.meeting_url.data == NULL ? SLICE("") : failed.meeting_url;
	if (!session_load(call, &failed.session, STORE_TO_SHOW, &session, fault))
		return false;
	note_failed(call, &failed, NULL, session.created);
	return true;
}
