/* See resources/recordings/job_answer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_answer.h"

#include "base/text.h"
#include "resources/public_url.h"
#include "resources/recordings/job_outputs.h"
#include "records/kinds.h"
#include "resources/recordings/recording_storage.h"

static void write_time_or_null(struct json_writer *body, const char *name, int64_t time)
{
	if (time == 0)
		writer_json(body, name, SLICE("null"));
	else
		writer_time_milliseconds(body, name, time);
}

/* Writes an id; empty for the id zero. */
static void write_id(struct json_writer *body, const char *name, const struct id *id)
{
	char text[ID_TEXT_SIZE + 1] = "";

	if (id_compare(id, &kind_only_id) != 0)
		id_print(id, text);
	writer_plain(body, name, slice_of(text));
}

struct slice job_live_url(struct call *call, const struct job *job)
{
	struct buffer url = BUFFER_INITIAL(call->arena);

	buffer_append(&url, public_url_of(call));
	buffer_append_text(&url, "/live/");
	buffer_append(&url, job->live_key);
	buffer_append_text(&url, "/live.m3u8");
	return buffer_slice(&url);
}

static void write_playback(struct call *call, struct json_writer *body, const struct job *job)
{
	writer_open(body, "playback", '{');
	writer_text(body, "url", job_live_url(call, job));
	writer_close(body, '}');
}

/* Writes what only streams have, before the destination. */
static void write_stream(struct call *call, struct json_writer *body, const struct job *job,
			 const struct slice *urls)
{
	if (job->type == JOB_LIVE) {
		write_playback(call, body, job);
		writer_open(body, "recording", '{');
		writer_flag(body, "hls_vod", job->has_vod);
		writer_flag(body, "single_file_per_layer", job->has_single_file);
		writer_close(body, '}');
	} else if (job->type == JOB_EXTERNAL) {
		job_outputs_write_urls(body, "rtmp_urls", job, urls);
		writer_flag(body, "recording", job->has_recording);
		writer_open(body, "resolution", '{');
		writer_integer(body, "width", job->look.width);
		writer_integer(body, "height", job->look.height);
		writer_close(body, '}');
	}
}

void job_write(struct call *call, struct json_writer *body, const struct job *job,
	       const struct asset *assets, size_t asset_count, const struct slice *urls)
{
	write_id(body, "id", &job->stored.id);
	write_id(body, "room_id", &job->stored.parent);
	write_id(body, "session_id", &job->session);
	writer_plain(body, "status", slice_of(job_status_names[job->status]));
	writer_time_milliseconds(body, "created_at", job->created);
	write_time_or_null(body, "started_at", job->started);
	writer_time_milliseconds(body, "updated_at", job->updated);
	write_time_or_null(body, "stopped_at", job->stopped);
	writer_text(body, "meeting_url", job->meeting_url);
	write_stream(call, body, job, urls);
	writer_text(body, "destination", job->destination);
	writer_plain(body, "started_by", job->started_by);
	writer_plain(body, "stopped_by", job->stopped_by);
	writer_open(body, "asset_types", '[');
	if (job_makes_file(job))
		writer_plain(body, NULL, SLICE("room-composite"));
	if (job_makes_file(job) && job->look.has_chat)
		writer_plain(body, NULL, SLICE("chat"));
	writer_close(body, ']');
	if (assets != NULL) {
		writer_open(body, "recording_assets", '[');
		for (size_t i = 0; i < asset_count; i++) {
			writer_open(body, NULL, '{');
			asset_write(call, body, &assets[i], true);
			writer_close(body, '}');
		}
		writer_close(body, ']');
	} else if (job->type != JOB_RECORDING) {
		writer_json(body, "recording_assets", SLICE("null"));
	}
	writer_plain(body, "type", slice_of(job_type_names[job->type]));
	writer_text(body, "room_name", job->room_name);
	writer_flag(body, "paused", job->wants_pause);
	write_time_or_null(body, "interrupted_since", job->interrupted);
	writer_plain(body, "reason", slice_of(job_reason_names[job->reason]));
	writer_text(body, "error", job->error);
	writer_integer(body, "recorded_seconds", (int64_t)(job_recorded(job) / 1000));
	writer_integer(body, "gaps", job_gaps(job));
	writer_json(body, "not_enforced",
		    job->not_enforced.size > 0 ? job->not_enforced : SLICE("[]"));
	if (job->type == JOB_EXTERNAL)
		job_outputs_write(body, job);
}

void job_write_inside(struct call *call, struct json_writer *body, const struct job *job)
{
	write_id(body, "id", &job->stored.id);
	write_id(body, "room_id", &job->stored.parent);
	writer_plain(body, "type", slice_of(job_type_names[job->type]));
	writer_plain(body, "status", slice_of(job_status_names[job->status]));
	writer_flag(body, "paused", job->wants_pause);
	writer_time_milliseconds(body, "created_at", job->created);
	write_time_or_null(body, "started_at", job->started);
	write_time_or_null(body, "stopped_at", job->stopped);
	writer_plain(body, "started_by", job->started_by);
	writer_plain(body, "reason", slice_of(job_reason_names[job->reason]));
	writer_text(body, "error", job->error);
	if (job->type == JOB_LIVE)
		write_playback(call, body, job);
}

struct slice asset_path_text(struct arena *arena, const struct asset *asset)
{
	struct buffer path = BUFFER_INITIAL(arena);

	if (asset->storage.size > 0)
		return storage_path_text(arena, asset->storage, asset->path);
	buffer_append_text(&path, "file:///");
	buffer_append(&path, asset->path);
	return buffer_slice(&path);
}

void asset_write(struct call *call, struct json_writer *body, const struct asset *asset,
		 bool is_inside_job)
{
	write_id(body, "id", &asset->stored.id);
	if (!is_inside_job) {
		write_id(body, "job_id", &asset->stored.parent);
		write_id(body, "room_id", &asset->room);
		write_id(body, "session_id", &asset->session);
	}
	writer_plain(body, "type", slice_of(asset_type_names[asset->type]));
	writer_text(body, "path", asset_path_text(call->arena, asset));
	writer_json(body, "thumbnails", SLICE("null"));
	/* Of sound alone and of the chat it is empty, as programs written for 100ms expect. */
	writer_open(body, "metadata", '{');
	if (asset->width > 0) {
		writer_open(body, "resolution", '{');
		writer_integer(body, "height", asset->height);
		writer_integer(body, "width", asset->width);
		writer_close(body, '}');
		writer_open(body, "gaps", '[');
		for (size_t i = 0; i < asset->gap_count; i++) {
			writer_open(body, NULL, '{');
			writer_integer(body, "at_ms", (int64_t)asset->gaps[i].at);
			writer_integer(body, "missing_ms", (int64_t)asset->gaps[i].missing);
			writer_close(body, '}');
		}
		writer_close(body, ']');
	}
	writer_close(body, '}');
	writer_integer(body, "duration", (int64_t)(asset->duration / 1000));
	writer_integer(body, "size", (int64_t)asset->size);
	writer_plain(body, "status", asset->is_missing ? SLICE("missing") : SLICE("completed"));
	writer_time_milliseconds(body, "created_at", asset->created);
}
