/* See resources/recordings/job_events.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_events.h"

#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/recordings/job_answer.h"

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
	data_json(data, &n, "rtmp", SLICE("[]"));
	data_time(call, data, &n, "session_started_at", session_started);
	return n;
}

static void note_beam(struct call *call, const struct job *job, unsigned act,
		      int64_t session_started)
{
	struct audit_data data = { .actor = job->start_actor };
	size_t n = data_add_job(call, job, session_started, &data);
	const char *type = "beam.started.success";

	data_text(&data, &n, "job_id", data.id);
	data_json(&data, &n, "recording_enabled", SLICE("true"));
	if (act == ACT_STARTED) {
		data_number(call, &data, &n, "start_delay",
			    job->started > job->created
				    ? (uint64_t)(job->started - job->created) / 1000
				    : 0);
		data_text(&data, &n, "state_name", SLICE("started"));
		data_time(call, &data, &n, "state_timestamp", job->started);
	} else {
		data.actor = job->stop_actor;
		data_number(call, &data, &n, "duration", job_recorded(job) / 1000);
		data_time(call, &data, &n, "state_timestamp", job->stopped);
		if (act == ACT_STOPPED) {
			type = "beam.stopped.success";
			data_text(&data, &n, "state_name", SLICE("stopped"));
			data_text(&data, &n, "reason", slice_of(job_reason_names[job->reason]));
		} else {
			type = "beam.failure";
			data_text(&data, &n, "state_name", SLICE("failed"));
			data_json(&data, &n, "error_code", FAILURE_CODE);
			data_text(&data, &n, "error_message", job->error);
			data_text(&data, &n, "error_type", slice_of(job_failure_name(job->reason)));
		}
	}
	if (data.actor.size == 0)
		data.actor = audit_service_text(call->arena);
	audit_note(call, type, &data);
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

bool job_note(struct call *call, const struct job *job, unsigned acts, const struct asset *assets,
	      size_t asset_count, struct fault *fault)
{
	static const unsigned beams[] = { ACT_STARTED, ACT_STOPPED, ACT_FAILED };
	const struct asset *chat = NULL;
	struct session session;

	if ((acts & (ACT_STARTED | ACT_STOPPED | ACT_FAILED | ACT_PAUSED | ACT_RESUMED |
		     ACT_COMPLETED)) == 0)
		return true;
	if (!session_load(call, &job->session, STORE_TO_SHOW, &session, fault))
		return false;
	for (size_t i = 0; i < sizeof beams / sizeof beams[0]; i++) {
		if ((acts & beams[i]) != 0)
			note_beam(call, job, beams[i], session.created);
	}
	if ((acts & ACT_PAUSED) != 0)
		note_pause(call, job, "recording.paused");
	if ((acts & ACT_RESUMED) != 0)
		note_pause(call, job, "recording.resumed");
	for (size_t i = 0; i < asset_count; i++) {
		if (assets[i].type == ASSET_CHAT)
			chat = &assets[i];
	}
	for (size_t i = 0; i < asset_count; i++)
		note_asset(call, job, &assets[i], chat, session.created);
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
	note_beam(call, &failed, ACT_FAILED, session.created);
	return true;
}
