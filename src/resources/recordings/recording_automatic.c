/* See resources/recordings/recording_automatic.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_automatic.h"

#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/media/media_join.h"
#include "resources/recordings/job_events.h"
#include "resources/recordings/recorders.h"
#include "resources/recordings/recording_start.h"
#include "resources/templates/template_parts.h"

/* The permission of those who may start a recording. */
#define PERMISSION "browserRecording"

/* Returns whether somebody inside may start a recording; in a template without such a role,
 * anybody. */
static bool somebody_may_start(struct call *call, const struct template_record *template,
			       const struct live *live)
{
	bool has_role = false;

	for (size_t i = 0; i < template->role_count; i++) {
		const struct template_role *role = &template->roles[i];

		if (media_lacks_to_start(template_role_document(call, template, role),
					 PERMISSION) != NULL)
			continue;
		if (live_peers_with(live, role->name) > 0)
			return true;
		has_role = true;
	}
	return !has_role && live_peers(live) > 0;
}

/* Finds out whether somebody stopped the last recording of the room in this session. */
static bool was_stopped_by_hand(struct call *call, const struct live *live, bool *was,
				struct fault *fault)
{
	struct store_record stored;
	struct store_page page = { .order = STORE_NEWEST_FIRST,
				   .parent = &live->stored.id,
				   .records = &stored,
				   .most = 1 };
	struct session session;
	struct job job;

	*was = false;
	if (!store_page(call->transaction, &kind_job, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	if (!record_read(&job_table, call->arena, &stored, &job, fault) ||
	    !session_load(call, &live->session, STORE_TO_SHOW, &session, fault))
		return false;
	*was = job.status != JOB_STARTING && job.status != JOB_RUNNING && job.stop_actor.size > 0 &&
	       job.stopped >= session.created;
	return true;
}

static bool refuse_automatic(struct call *call, const struct job *job, bool notes,
			     const struct fault *why, enum automatic *result, struct fault *fault)
{
	*result = AUTOMATIC_FAILED;
	if (fault_is_of_the_store(why->kind) || why->kind == FAULT_AGAIN ||
	    why->kind == FAULT_BUSY) {
		*fault = *why;
		return false;
	}
	return !notes || job_note_unstarted(call, job,
					    why->kind == FAULT_NONE ? SLICE("No recorder is free")
								    : slice_of(why->message),
					    fault);
}

bool recording_start_automatic(struct call *call, const struct id *room_id, bool notes,
			       struct id *session, enum automatic *result, struct fault *fault)
{
	struct template_record template;
	struct job job = { .started_by = SLICE(""),
			   .started_name = SLICE(""),
			   .stop_actor = SLICE(""),
			   .is_automatic = true };
	struct fault why = FAULT_INITIAL;
	struct job running;
	struct room_record room;
	struct live live;
	const struct recorded_room in = { &room, &template, &live };
	bool is_there, was_stopped, can = false;
	json_t *body;

	*result = AUTOMATIC_NOT_WANTED;
	*session = kind_only_id;
	if (!live_load_followed(call, room_id, &live, fault))
		return false;
	if (live.stored.value.data == NULL || live_peers(&live) == 0 || live.ending != 0 ||
	    live.closing != 0)
		return true;
	*session = live.session;
	if (!room_find(call, room_id, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	if (!is_there || !room.is_enabled)
		return true;
	if (!template_load(call, &room.template_id, &template, fault))
		return false;
	body = recording_starting(call, &template);
	if (body == NULL || !somebody_may_start(call, &template, &live))
		return true;
	if (!job_find_holding(call, JOB_RECORDING, room_id, STORE_TO_SHOW, &running, fault) ||
	    !was_stopped_by_hand(call, &live, &was_stopped, fault))
		return false;
	if (running.stored.value.data != NULL || was_stopped)
		return true;
	if (!call_is_writing(call)) {
		*result = AUTOMATIC_WANTED;
		return true;
	}
	job.start_actor = audit_service_text(call->arena);
	if (!recording_fill(call, &in, body, &job, &why) ||
	    !recording_check_server(call, &in, &why) || !recording_check_storage(call, &in, &why) ||
	    !job_check_numbers(call, &job, &why) || !recorders_can_take(call, &job, &can, &why) ||
	    !can)
		return refuse_automatic(call, &job, notes, &why, result, fault);
	*result = AUTOMATIC_STARTED;
	return job_begin(call, &job, fault);
}
