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

/* Returns whether somebody inside may start jobs of a type; in a template without such a role,
 * anybody. */
static bool somebody_may_start(struct call *call, const struct template_record *template,
			       const struct live *live, enum job_type type)
{
	bool has_role = false;

	for (size_t i = 0; i < template->role_count; i++) {
		const struct template_role *role = &template->roles[i];

		if (media_lacks_to_start(template_role_document(call, template, role),
					 job_permissions[type]) != NULL)
			continue;
		if (live_peers_with(live, role->name) > 0)
			return true;
		has_role = true;
	}
	return !has_role && live_peers(live) > 0;
}

/* Finds out whether a job of the type runs in the room, or somebody stopped the last one in this
 * session. */
static bool runs_or_was_stopped(struct call *call, const struct live *live, enum job_type type,
				bool *is_so, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.parent = &live->stored.id,
		.records = arena_alloc(call->arena, JOBS_OF_ROOM_MOST * sizeof *page.records),
		.most = JOBS_OF_ROOM_MOST,
	};
	struct session session;
	bool is_last = true;

	*is_so = false;
	if (!store_page(call->transaction, &kind_job, &page, fault) ||
	    (page.count > 0 && !session_load(call, &live->session, STORE_TO_SHOW, &session, fault)))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct job job;

		if (!record_read(&job_table, call->arena, &page.records[i], &job, fault))
			return false;
		if (job.type != type)
			continue;
		*is_so = *is_so || job_is_carried_out(&job) ||
			 (is_last && job.stop_actor.size > 0 && job.stopped >= session.created);
		is_last = false;
	}
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

/* A room in session that is looked at. */
struct looked_room {
	struct room_record room;
	struct template_record template;
	struct live live;
};

/* Finds the types of jobs that are to be started in the room. */
static bool find_wanted(struct call *call, const struct id *id, struct looked_room *looked,
			struct wanted_jobs *wanted, struct fault *fault)
{
	const struct live *live = &looked->live;
	bool is_there, is_so;

	*wanted = (struct wanted_jobs){ .session = kind_only_id };
	if (!live_load_followed(call, id, &looked->live, fault))
		return false;
	if (live->stored.value.data == NULL || live_peers(live) == 0 || live->ending != 0 ||
	    live->closing != 0)
		return true;
	wanted->session = live->session;
	if (!room_find(call, id, STORE_TO_SHOW, &looked->room, &is_there, fault))
		return false;
	if (!is_there || !looked->room.is_enabled)
		return true;
	if (!template_load(call, &looked->room.template_id, &looked->template, fault))
		return false;
	for (size_t i = 0; i < JOB_TYPES; i++) {
		const enum job_type type = (enum job_type)i;

		wanted->bodies[i] = recording_starting(call, &looked->template, type);
		if (wanted->bodies[i] == NULL)
			continue;
		if (!somebody_may_start(call, &looked->template, live, type)) {
			wanted->bodies[i] = NULL;
			continue;
		}
		if (!runs_or_was_stopped(call, live, type, &is_so, fault))
			return false;
		if (is_so)
			wanted->bodies[i] = NULL;
	}
	return true;
}

bool automatic_find(struct call *call, const struct id *room, struct wanted_jobs *wanted,
		    struct fault *fault)
{
	struct looked_room *looked = arena_zero(call->arena, sizeof *looked);

	return find_wanted(call, room, looked, wanted, fault);
}

bool automatic_start(struct call *call, const struct id *room, enum job_type type, bool notes,
		     enum automatic *result, struct fault *fault)
{
	struct looked_room *looked = arena_zero(call->arena, sizeof *looked);
	const struct recorded_room in = { &looked->room, &looked->template, &looked->live };
	struct job job = { .type = type,
			   .started_by = SLICE(""),
			   .started_name = SLICE(""),
			   .stop_actor = SLICE(""),
			   .is_automatic = true };
	struct fault why = FAULT_INITIAL;
	struct wanted_jobs wanted;
	struct slice *urls;
	bool can = false;

	*result = AUTOMATIC_NOT_WANTED;
	if (!find_wanted(call, room, looked, &wanted, fault))
		return false;
	if (wanted.bodies[type] == NULL)
		return true;
	job.start_actor = audit_service_text(call->arena);
	if (!recording_fill(call, &in, wanted.bodies[type], &job, &urls, &why) ||
	    !recording_check_server(call, &in, &why) || !job_check_storage(call, &in, &job, &why) ||
	    !job_check_numbers(call, &job, &why) || !recorders_can_take(call, &job, &can, &why) ||
	    !can)
		return refuse_automatic(call, &job, notes, &why, result, fault);
	*result = AUTOMATIC_STARTED;
	return job_begin(call, &job, fault);
}
