/* See resources/recordings/recording_start.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_start.h"

#include "accounts/accounts.h"
#include "base/clock.h"
#include "base/text.h"
#include "resources/media/media_join.h"
#include "resources/media/placing.h"
#include "resources/recordings/job_outputs.h"
#include "resources/recordings/recording_plan.h"
#include "resources/recordings/recording_storage.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"

/* Bytes of the key in the address of a live stream. */
#define LIVE_KEY_BYTES 16

/* Returns whom people with the role hear. */
static json_t *subscribed_of(struct call *call, const struct template_record *template,
			     const struct template_role *role)
{
	json_t *subscribed = json_object_get(
		json_object_get(template_role_document(call, template, role), "subscribeParams"),
		"subscribeToRoles");

	return subscribed != NULL ? subscribed : arena_json(call->arena, json_array());
}

/* Returns what the template says, but for the subscriptions. */
static struct recording_sources sources_of(struct call *call,
					   const struct template_record *template,
					   enum job_type type)
{
	static const char *const maps[JOB_TYPES] = {
		[JOB_RECORDING] = "browserRecordings",
		[JOB_LIVE] = "hlsDestinations",
		[JOB_EXTERNAL] = "rtmpDestinations",
	};

	return (struct recording_sources){
		.type = type,
		.config = type == JOB_RECORDING ? template_recordings(call, template) : NULL,
		.destinations = json_object_get(
			template_part_document(call, template, PART_DESTINATIONS), maps[type]),
	};
}

/* Returns an object of the template's roles: whom each hears. */
static json_t *subscriptions_of(struct call *call, const struct template_record *template)
{
	json_t *subscriptions = arena_json(call->arena, json_object());

	for (size_t i = 0; i < template->role_count; i++) {
		const struct template_role *role = &template->roles[i];

		json_object_set(subscriptions, arena_copy(call->arena, role->name).data,
				subscribed_of(call, template, role));
	}
	return subscriptions;
}

/* Finds whom the recording hears. If the destination or its role is gone, those are seen and heard
 * who were. */
static struct slice roles_now(struct call *call, const struct template_record *template,
			      const struct job *job)
{
	const struct recording_sources sources = sources_of(call, template, job->type);
	struct slice role;
	size_t place;

	if (!recording_plan_role(&sources, job->destination, &role))
		return job->look.roles;
	if (role.size == 0)
		return SLICE("");
	place = template_role_index_ever(template, role);
	return place == template->role_count
		       ? job->look.roles
		       : json_as_text(call->arena,
				      subscribed_of(call, template, &template->roles[place]));
}

/* By the template that the room has now, which people inside go by. */
bool recording_follow(struct call *call, struct job *job, bool *has_changed, struct fault *fault)
{
	struct template_record template;
	struct room_record room;
	struct slice roles;
	bool is_there, has_chat;

	*has_changed = false;
	if (!room_find(call, &job->stored.parent, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	if (!template_find(call, &room.template_id, STORE_TO_SHOW, &template, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	roles = job->type == JOB_RECORDING && job->destination.size > 0
			? roles_now(call, &template, job)
			: job->look.roles;
	has_chat = !job->is_test && template.rules.has_chat;
	*has_changed = !slice_equal(roles, job->look.roles) ||
		       job->look.consent != template.rules.consent ||
		       job->look.has_chat != has_chat;
	job->look.roles = roles;
	job->look.consent = template.rules.consent;
	job->look.has_chat = has_chat;
	return true;
}

json_t *recording_starting(struct call *call, const struct template_record *template,
			   enum job_type type)
{
	const struct recording_sources sources = sources_of(call, template, type);
	const struct slice name = recording_plan_starting(&sources);
	json_t *body;

	if (name.data == NULL)
		return NULL;
	body = arena_json(call->arena, json_object());
	json_object_set_new(body, "destination", json_of_text(name));
	return body;
}

static struct slice names_text(struct arena *arena, const char *const *names, size_t n)
{
	json_t *list = arena_json(arena, json_array());

	for (size_t i = 0; i < n; i++)
		array_put(list, json_string(names[i]));
	return json_as_text(arena, list);
}

/* Fills what only streams have. */
static bool fill_stream(struct call *call, const struct recording_plan *plan, struct job *job,
			struct slice **urls, struct fault *fault)
{
	unsigned char key[LIVE_KEY_BYTES];

	*urls = NULL;
	job->has_vod = plan->has_vod;
	job->has_single_file = plan->has_single_file;
	job->has_recording = plan->has_recording;
	job->live_window = plan->window;
	if (job->type == JOB_LIVE) {
		clock_random(call->environment->clock, key, sizeof key);
		job->live_key = text_base64url(call->arena,
					       (struct slice){ (const char *)key, sizeof key });
	}
	if (job->type != JOB_EXTERNAL)
		return true;
	for (size_t i = 0; i < json_array_size(plan->addresses); i++) {
		if (!output_address_is_allowed(call,
					       text_of_json(json_array_get(plan->addresses, i))))
			return fault_member(fault, FAULT_INVALID_BODY, NULL,
					    plan->are_addresses_sent
						    ? arena_text(call->arena, "/rtmp_urls/%zu", i)
						    : "/destination",
					    "address not allowed");
	}
	if (!job_outputs_fill(call, plan->addresses, job))
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	if (plan->are_addresses_sent) {
		*urls = arena_alloc(call->arena, job->output_count * sizeof **urls);
		for (size_t i = 0; i < job->output_count; i++)
			(*urls)[i] = text_of_json(json_array_get(plan->addresses, i));
	}
	return true;
}

/* A live stream is in the folder, whatever becomes of its file. */
static bool job_needs_folder(const struct job *job, const json_t *upload)
{
	return job->type == JOB_LIVE || (upload == NULL && job_makes_file(job));
}

bool recording_fill(struct call *call, const struct recorded_room *in, const json_t *body,
		    struct job *job, struct slice **urls, struct fault *fault)
{
	struct recording_sources sources = sources_of(call, in->template, job->type);
	const struct slice address = text_of_json(json_object_get(body, "meeting_url"));
	const bool is_live = in->live->stored.value.data != NULL;
	const struct recording_rules *rules = &in->template->rules;
	const json_t *upload = storage_of_room(call, in->room, in->template);
	struct recording_plan plan;

	sources.subscriptions = subscriptions_of(call, in->template);
	if (!recording_plan_make(call->arena, &sources, body, &plan, fault))
		return false;
	job->stored.parent = in->room->id;
	job->session = is_live ? in->live->session : kind_only_id;
	job->template_id = in->template->id;
	job->room_name = in->room->name;
	job->room_title = in->room->title;
	job->meeting_url = address.data == NULL ? SLICE("") : address;
	job->destination = plan.destination;
	job->is_test = json_is_true(json_object_get(body, "test"));
	job->look = (struct job_look){
		.width = plan.width,
		.height = plan.height,
		.fps = plan.fps,
		.video_kbps = plan.video_kbps,
		.audio_kbps = plan.audio_kbps,
		.is_audio_only = plan.audio_only,
		.roles = plan.roles == NULL ? SLICE("") : json_as_text(call->arena, plan.roles),
		.consent = in->template->rules.consent,
	};
	job->look.has_chat = !job->is_test && rules->has_chat;
	job->keep = rules->keep;
	job->most = (int64_t)plan.duration_most * 1000;
	job->empty_most = (int64_t)plan.patience * 1000;
	job->presign_seconds = plan.link_seconds;
	job->not_enforced = names_text(call->arena, plan.not_enforced, plan.not_enforced_count);
	if (!fill_stream(call, &plan, job, urls, fault))
		return false;
	if (upload != NULL && job_makes_file(job))
		job->storage = storage_kept(call, upload);
	/* Without one, anybody may have the parts. */
	if (job_needs_folder(job, upload))
		job->folder = recordings_folder_id(call);
	return true;
}

/* Only what is at a LiveKit server can be recorded. */
bool recording_check_server(struct call *call, const struct recorded_room *in, struct fault *fault)
{
	const bool is_live = in->live->stored.value.data != NULL;
	const struct backend *backend;
	struct media_target target;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	target = media_target_of(&media, in->template);
	backend = is_live		     ? media_backend(&media, live_backend(in->live))
		  : target.pool.data != NULL ? pool_backend(&media, target.pool)
					     : target.backend;
	return (backend != NULL && backend->type == BACKEND_LIVEKIT) ||
	       fault_set(fault, FAULT_CONFLICT, "This media server's calls cannot be recorded");
}

/* What the files of the account may fill, in bytes; 0 for any number. */
static uint64_t account_bytes_most(const struct call *call)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const uint64_t most = account == NULL ? 0 : (uint64_t)account->recordings_gb * 1000000000;

	accounts_release(accounts, roster);
	return most;
}

bool job_check_storage(struct call *call, const struct recorded_room *in, const struct job *job,
		       struct fault *fault)
{
	const struct recordings *recordings = call->environment->recordings;
	const json_t *upload = job_makes_file(job) ? storage_of_room(call, in->room, in->template)
						   : NULL;
	const char *problem = upload == NULL ? NULL : storage_problem(call, upload);
	const uint64_t most = job_makes_file(job) ? account_bytes_most(call) : 0;
	const bool needs_folder = job_needs_folder(job, upload);
	struct jobs jobs;

	if (problem != NULL)
		return fault_explain(fault, FAULT_CONFLICT,
				     "This storage cannot be used for recordings", "%s", problem);
	if (needs_folder && (recordings == NULL || recordings->folder == NULL))
		return fault_explain(fault, FAULT_CONFLICT, "No storage for recordings",
				     "the service has no folder; start it with --recordings DIR");
	if (most > 0 && !jobs_load(call, STORE_TO_SHOW, &jobs, fault))
		return false;
	if (most > 0 && jobs.bytes >= most)
		return fault_explain(fault, FAULT_CONFLICT, "Recordings fill their space",
				     "this account may have %llu GB",
				     (unsigned long long)(most / 1000000000));
	/* A recorder gives the folder its id. */
	return !needs_folder || recordings_folder_id(call).size > 0 ||
	       fault_explain(
		       fault, FAULT_CONFLICT, "No recorder is installed",
		       "the folder of serve --recordings has no id: start anteroom record with "
		       "this folder, which makes it");
}
