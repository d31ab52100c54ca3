/* Finished files that no record knows, as after a backup was restored: lists them, makes their
 * records, or has them deleted. Nothing else deletes them. A path names the account, the room, the
 * job and the file: ACCOUNT/ROOM/JOB/recording.mp4. See resources/recordings/recordings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recordings.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recording_folder.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/room_record.h"
#include "resources/stored/template_record.h"

/* Most files that a response lists, and folders of jobs that it looks at. */
#define LISTED_MOST 1000
#define LOOKED_AT_MOST 10000

/* A finished file in the folder. */
struct finished {
	struct slice path;
	struct id room, job;
	enum asset_type type;
	struct folder_file file;
};

/* Sets the type of a file with this name: recording.mp4, recording-2.mp4 and so on, chat.csv. */
static bool type_of_name(struct slice name, enum asset_type *type)
{
	struct slice rest, number;
	int64_t n;

	*type = slice_is(name, "chat.csv") ? ASSET_CHAT : ASSET_ROOM_COMPOSITE;
	if (*type == ASSET_CHAT || slice_is(name, "recording.mp4"))
		return true;
	if (!slice_begins(name, SLICE("recording-")) || !slice_ends(name, SLICE(".mp4")))
		return false;
	(void)text_split(name, '-', &rest);
	number = text_split(rest, '.', &rest);
	return text_integer(number, &n) && n >= 2 && n < JOB_FILES_MOST && *number.data != '0';
}

static bool path_parse(struct slice path, struct id *account, struct finished *finished)
{
	struct slice rest;
	const struct slice first = text_split(path, '/', &rest);
	const struct slice room = text_split(rest, '/', &rest);
	const struct slice job = text_split(rest, '/', &rest);

	finished->path = path;
	return folder_path_is_right(path) && rest.data != NULL && id_parse(first, account) &&
	       id_parse(room, &finished->room) && id_parse(job, &finished->job) &&
	       type_of_name(rest, &finished->type);
}

/* Finds the file of the body, which no record may know. */
static bool find_finished(struct call *call, struct finished *finished, struct fault *fault)
{
	const struct recordings *recordings = call->environment->recordings;
	const struct slice path = call_text(call, "path");
	struct asset *assets;
	struct id account;
	struct job job;
	size_t n;

	if (!path_parse(path, &account, finished) || id_compare(&account, &call->account) != 0)
		return fault_member(fault, FAULT_INVALID_BODY, NULL, "/path",
				    "must be the path of a file of this account, such as "
				    "%s/ROOM/RECORDING/recording.mp4, got \"%.*s\"",
				    call->account_text, (int)text_cut(path, 100).size, path.data);
	if (recordings == NULL || recordings->folder == NULL ||
	    recordings_folder_id(call).size == 0)
		return fault_set(fault, FAULT_CONFLICT, "No storage for recordings");
	if (folder_find(recordings->folder, path, &finished->file) != FOLDER_DONE)
		return fault_set(fault, FAULT_NOT_FOUND, "file not found");
	if (!assets_of_job(call, &finished->job, &assets, &n, fault) ||
	    !job_load(call, &finished->job, STORE_TO_SHOW, &job, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (slice_equal(assets[i].path, path))
			return fault_set(fault, FAULT_CONFLICT, "Recording has a record");
	}
	if (job.stored.value.data != NULL && job_has_unfinished_files(&job, call->now))
		return fault_set(fault, FAULT_CONFLICT, "Recording is not finished");
	return true;
}

/* Makes the record of a recording of which only a file is known. */
static bool make_job(struct call *call, const struct finished *finished, struct job *job,
		     struct fault *fault)
{
	const struct slice none = SLICE("");
	struct template_record template;
	struct room_record room;
	bool has_room;

	if (!room_find(call, &finished->room, STORE_TO_SHOW, &room, &has_room, fault) ||
	    (has_room && !template_load(call, &room.template_id, &template, fault)))
		return false;
	*job = (struct job){
		.stored = { .id = finished->job, .parent = finished->room },
		.name = id_as_text(call->arena, &finished->job),
		.type = JOB_RECORDING,
		.status = JOB_COMPLETED,
		.created = (int64_t)id_seconds(&finished->job) * 1000,
		.room_name = none,
		.folder = recordings_folder_id(call),
	};
	if (has_room) {
		job->template_id = template.id;
		job->keep = template.rules.keep;
	}
	if (job->created > call->now)
		job->created = call->now;
	job->updated = job->ended = job->stopped = call->now;
	return job_put(call, job, fault) &&
	       job_load(call, &finished->job, STORE_TO_CHANGE, job, fault);
}

bool recording_assets_adopt(struct call *call, struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);
	struct finished finished;
	struct session session;
	struct asset asset;
	struct job job;

	if (!find_finished(call, &finished, fault) ||
	    !job_load(call, &finished.job, STORE_TO_SHOW, &job, fault))
		return false;
	/* The session is locked before the job. */
	if (job.stored.value.data != NULL &&
	    (!session_load(call, &job.session, STORE_TO_CHANGE, &session, fault) ||
	     !job_load(call, &finished.job, STORE_TO_CHANGE, &job, fault)))
		return false;
	if (job.stored.value.data == NULL && !make_job(call, &finished, &job, fault))
		return false;
	if (job.is_open)
		return fault_set(fault, FAULT_CONFLICT, "Recording is not finished");
	asset = (struct asset){
		.room = finished.room,
		.session = job.session,
		.template_id = job.template_id,
		.type = finished.type,
		.path = finished.path,
		.folder = recordings_folder_id(call),
		.title = job.room_title.size > 0 ? job.room_title : job.room_name,
		.created = call->now,
		.recorded_at = job.started != 0 ? job.started : finished.file.changed,
		.size = finished.file.size,
		.width = finished.type == ASSET_CHAT ? 0 : job.look.width,
		.height = finished.type == ASSET_CHAT ? 0 : job.look.height,
		.presign_seconds = job.presign_seconds,
	};
	if (!asset_add(call, &job, &asset, fault) || !job_put(call, &job, fault))
		return false;
	asset_write(call, &body, &asset, false);
	return call_answer(call, writer_end(&body));
}

bool recording_assets_purge(struct call *call, struct fault *fault)
{
	struct gone_file gone = { .cause = GONE_AS_ORPHAN };
	struct finished finished;

	if (!find_finished(call, &finished, fault))
		return false;
	gone.account = call->account;
	gone.room = finished.room;
	gone.job = finished.job;
	gone.folder = recordings_folder_id(call);
	gone.path = finished.path;
	gone.size = finished.file.size;
	return gone_file_add(call, &gone, fault) &&
	       call_answer(call, SLICE("{\"message\":\"file is being deleted\"}"));
}

/* ---- the list ---- */

struct orphans {
	const char *folder;
	struct json_writer body;
	size_t count, looked_at;
};

/* Lists the files in the folder of a job that no record knows. */
static bool list_job(struct call *call, struct orphans *orphans, struct slice at,
		     struct fault *fault)
{
	struct finished finished;
	struct asset *assets;
	struct slice *names;
	size_t name_count, n = 0;
	struct id account;
	struct job job;
	bool is_read = false;

	folder_list(call->arena, orphans->folder, at, false, &names, &name_count);
	for (size_t i = 0; i < name_count && orphans->count < LISTED_MOST; i++) {
		struct buffer path = BUFFER_INITIAL(call->arena);
		bool is_known = false;

		buffer_append(&path, at);
		buffer_append_byte(&path, '/');
		buffer_append(&path, names[i]);
		if (!path_parse(buffer_slice(&path), &account, &finished) ||
		    folder_find(orphans->folder, finished.path, &finished.file) != FOLDER_DONE)
			continue;
		if (!is_read && (!assets_of_job(call, &finished.job, &assets, &n, fault) ||
				 !job_load(call, &finished.job, STORE_TO_SHOW, &job, fault)))
			return false;
		is_read = true;
		/* They get their records, or go, by themselves. */
		if (job.stored.value.data != NULL && job_has_unfinished_files(&job, call->now))
			break;
		for (size_t k = 0; k < n; k++)
			is_known = is_known || slice_equal(assets[k].path, finished.path);
		if (is_known)
			continue;
		orphans->count++;
		writer_open(&orphans->body, NULL, '{');
		writer_text(&orphans->body, "path", finished.path);
		writer_integer(&orphans->body, "size", (int64_t)finished.file.size);
		writer_time_milliseconds(&orphans->body, "changed_at", finished.file.changed);
		writer_close(&orphans->body, '}');
	}
	return true;
}

bool recording_orphans_list(struct call *call, struct fault *fault)
{
	const struct recordings *recordings = call->environment->recordings;
	struct orphans orphans = { .body = writer_begin(call->arena, false) };
	struct slice *rooms, *jobs;
	size_t room_count, job_count;

	orphans.folder = recordings == NULL ? NULL : recordings->folder;
	writer_open(&orphans.body, "data", '[');
	folder_list(call->arena, orphans.folder, slice_of(call->account_text), true, &rooms,
		    &room_count);
	for (size_t i = 0; i < room_count; i++) {
		const char *room = arena_text(call->arena, "%s/%.*s", call->account_text,
					      (int)rooms[i].size, rooms[i].data);

		folder_list(call->arena, orphans.folder, slice_of(room), true, &jobs, &job_count);
		for (size_t k = 0; k < job_count && orphans.looked_at < LOOKED_AT_MOST &&
				   orphans.count < LISTED_MOST;
		     k++) {
			orphans.looked_at++;
			if (!list_job(call, &orphans,
				      slice_of(arena_text(call->arena, "%s/%.*s", room,
							  (int)jobs[k].size, jobs[k].data)),
				      fault))
				return false;
		}
	}
	writer_close(&orphans.body, ']');
	return call_answer(call, writer_end(&orphans.body));
}
