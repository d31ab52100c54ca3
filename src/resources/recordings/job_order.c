/* See resources/recordings/job_order.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_order.h"

#include "base/text.h"
#include "resources/asking.h"
#include "resources/media/media_join.h"
#include "resources/media/placing.h"
#include "resources/recordings/job_outputs.h"
#include "resources/stored/live_record.h"

/* Milliseconds that a recorder may go on after maxDuration without an answer of the service. */
#define UNTIL_LEEWAY 60000
/* Milliseconds of a segment of a live stream. */
#define SEGMENT_MS 2000
/* Stays of a session that are looked through for consent which was withdrawn, a page at a time, and
 * those that an order names. */
#define WITHDRAWN_PAGE 1000
#define WITHDRAWN_PAGES_MOST 10
#define WITHDRAWN_MOST 1000

struct slice job_identity(struct arena *arena, const struct job *job, uint32_t epoch)
{
	return slice_of(arena_text(arena, JOB_IDENTITY_PREFIX "%s-%lu",
				   id_as_text(arena, &job->stored.id).data, (unsigned long)epoch));
}

bool job_has_media(const struct job *job)
{
	return job->heard >= WORK_RUNNING && job->media != 0 && job->recorded > 0;
}

/* Finds the media server that the room is at: that of its session or its place, if there are pools;
 * else the one that its template means. NULL: none, or none yet. */
static bool find_backend(struct call *call, const struct media *media,
			 const struct room_record *room, const struct backend **backend,
			 struct fault *fault)
{
	struct template_record template;
	struct media_target target;
	struct placing placing;
	struct live live;

	if (!template_load(call, &room->template_id, &template, fault))
		return false;
	target = media_target_of(media, &template);
	*backend = target.backend;
	if (media->pool_count == 0)
		return true;
	if (!live_load_followed(call, &room->id, &live, fault))
		return false;
	if (live.stored.value.data != NULL) {
		*backend = media_backend(media, live_backend(&live));
		return true;
	}
	if (target.pool.data == NULL)
		return true;
	if (!placing_find(call, media, target.pool, &room->id, &placing, fault))
		return false;
	*backend = placing.backend;
	return true;
}

bool job_server(struct call *call, const struct job *job, struct job_server *found, bool *is_there,
		struct fault *fault)
{
	const struct backend *backend;
	struct room_record room;
	struct media *media = arena_zero(call->arena, sizeof *media);

	if (!room_find(call, &job->stored.parent, STORE_TO_SHOW, &room, is_there, fault))
		return false;
	if (!*is_there)
		return true;
	if (!media_load(call, STORE_TO_SHOW, media, fault) ||
	    !find_backend(call, media, &room, &backend, fault))
		return false;
	*is_there = backend != NULL && backend->type == BACKEND_LIVEKIT;
	if (!*is_there)
		return true;
	found->backend = backend->id;
	found->server = backend_server(call, backend);
	found->ttl = backend->ttl;
	found->access = (struct access_server){
		.type = backend->type,
		.name = backend->name,
		.url = backend->url,
		.config = found->server.config,
		.alg = backend->alg,
	};
	return true;
}

static bool write_join(struct call *call, const struct job *job, struct json_writer *body,
		       struct fault *fault)
{
	const int64_t now = call->now / 1000;
	struct job_server found;
	bool is_there;

	if (!job_server(call, job, &found, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	writer_open(body, "join", '{');
	access_write_recorder(
		call->arena, &found.access, id_as_text(call->arena, &job->stored.parent),
		job_identity(call->arena, job, job->epoch), now, now + found.ttl, body);
	writer_close(body, '}');
	/* From this and from ids of the media server follow ours (uuid_of). */
	writer_plain(body, "peers", id_as_text(call->arena, &found.backend));
	return true;
}

/* What a live stream is made of. The title is for whoever watches it. */
static void write_hls(const struct job *job, struct json_writer *body)
{
	writer_open(body, "hls", '{');
	writer_plain(body, "key", job->live_key);
	writer_integer(body, "segment_ms", SEGMENT_MS);
	writer_integer(body, "window", job->live_window);
	writer_text(body, "title", job->room_title.size > 0 ? job->room_title : job->room_name);
	writer_close(body, '}');
}

/* Where an external stream is sent. Only whoever is to stream gets it. */
static void write_rtmp(struct call *call, const struct job *job, struct json_writer *body)
{
	struct slice urls[JOB_OUTPUTS_MOST];

	if (!job_outputs_open(call, job, urls))
		return;
	writer_open(body, "rtmp", '{');
	writer_open(body, "urls", '[');
	for (size_t i = 0; i < job->output_count; i++) {
		writer_open(body, NULL, '{');
		writer_text(body, "url", urls[i]);
		if (job->outputs[i].state == OUTPUT_FAILED)
			writer_flag(body, "given_up", true);
		writer_close(body, '}');
	}
	writer_close(body, ']');
	writer_integer(body, "give_up_ms", recording_times_of(call)->output);
	writer_close(body, '}');
}

/* Writes which consent was withdrawn in this session: until when that of an entry does not count,
 * whatever an older token brings back. A recorder that takes over has not seen it. */
static bool write_withdrawn(struct call *call, const struct job *job, struct json_writer *body,
			    struct fault *fault)
{
	struct peer_page page = { .side = STORE_BOTH_SIDES, .most = WITHDRAWN_PAGE };
	size_t pages = 0, written = 0;
	struct live live;

	if (job->look.consent == CONSENT_NOTICE)
		return true;
	if (!live_load_followed(call, &job->stored.parent, &live, fault))
		return false;
	page.is_last = live.stored.value.data == NULL;
	writer_open(body, "withdrawn", '[');
	while (!page.is_last && pages++ < WITHDRAWN_PAGES_MOST) {
		if (!peers_read(call, &live.session, &page, fault))
			return false;
		for (size_t i = 0; i < page.count && written < WITHDRAWN_MOST; i++) {
			const struct peer *peer = &page.peers[i];
			const int64_t last = peer->withdrawn > peer->consented ? peer->withdrawn
									       : peer->consented;

			if (peer->withdrawn == 0 || peer->entry.size == 0)
				continue;
			writer_open(body, NULL, '{');
			writer_text(body, "entry", peer->entry);
			writer_integer(body, "at", last / 1000);
			writer_close(body, '}');
			written++;
		}
		if (page.count > 0)
			page.after = &page.peers[page.count - 1].stored.id;
	}
	writer_close(body, ']');
	return true;
}

bool job_order_write(struct call *call, const struct job *job, struct json_writer *body,
		     struct fault *fault)
{
	const struct job_look *look = &job->look;
	char account[ID_TEXT_SIZE + 1];

	id_print(&call->account, account);
	writer_open(body, "order", '{');
	writer_plain(body, "page", SLICE("/record/"));
	if (job_wants(job) != WANT_STOP && !write_join(call, job, body, fault))
		return false;
	writer_open(body, "look", '{');
	writer_integer(body, "width", look->width);
	writer_integer(body, "height", look->height);
	writer_integer(body, "fps", look->fps);
	writer_integer(body, "video_kbps", look->video_kbps);
	writer_integer(body, "audio_kbps", look->audio_kbps);
	writer_flag(body, "audio_only", look->is_audio_only);
	writer_plain(body, "consent", slice_of(recording_consent_names[look->consent]));
	if (job_wants(job) != WANT_STOP && !write_withdrawn(call, job, body, fault))
		return false;
	if (look->roles.size > 0)
		writer_json(body, "roles", look->roles);
	writer_flag(body, "chat", look->has_chat);
	if (job->is_test)
		writer_flag(body, "test", true);
	writer_close(body, '}');
	if (job->type == JOB_LIVE)
		write_hls(job, body);
	if (job->type == JOB_EXTERNAL && job_wants(job) == WANT_RUN)
		write_rtmp(call, job, body);
	writer_flag(body, "file", job_makes_file(job));
	writer_plain(body, "dir",
		     slice_of(arena_text(call->arena, "%s/%s/%s", account,
					 id_as_text(call->arena, &job->stored.parent).data,
					 id_as_text(call->arena, &job->stored.id).data)));
	writer_time_milliseconds(body, "until", job->created + job->most + UNTIL_LEEWAY);
	if (job->status >= JOB_STOPPING && job->stopped != 0)
		writer_time_milliseconds(body, "stopped_at", job->stopped);
	writer_open(body, "pauses", '[');
	for (size_t i = 0; i < job->pause_count; i++) {
		const struct job_pause *pause = &job->pauses[i];

		writer_open(body, NULL, '{');
		writer_time_milliseconds(body, "from", pause->from);
		if (pause->to != 0)
			writer_time_milliseconds(body, "to", pause->to);
		else
			writer_json(body, "to", SLICE("null"));
		writer_close(body, '}');
	}
	writer_close(body, ']');
	writer_close(body, '}');
	return true;
}

bool job_ask_server(struct call *call, const struct id *id, uint32_t epoch,
		    enum job_question question, struct asking *asking, bool *is_there,
		    struct fault *fault)
{
	const int64_t now = call->now / 1000;
	struct job_server found;
	struct slice identity, room;
	struct job job;

	*is_there = false;
	if (!job_load(call, id, STORE_TO_SHOW, &job, fault))
		return false;
	if (job.stored.value.data == NULL)
		return true;
	if (!job_server(call, &job, &found, is_there, fault))
		return false;
	if (!*is_there)
		return true;
	identity = job_identity(call->arena, &job, epoch);
	room = id_as_text(call->arena, &job.stored.parent);
	asking->account = call->account;
	asking->backend = found.backend;
	asking->rank = ASKED_TO_ENFORCE;
	asking->room = job.stored.parent;
	switch (question) {
	case JOB_REMOVES:
		server_remove_person(call->arena, &found.server, now, room, identity,
				     &asking->asked->request);
		break;
	case JOB_ASKS:
		server_ask_person(call->arena, &found.server, now, room, identity,
				  &asking->asked->request);
		break;
	case JOB_MAKES_ROOM:
		*is_there = server_makes_rooms(found.server.type, found.server.config);
		if (*is_there)
			server_make_room(call->arena, &found.server, now, room, 0, NULL,
					 &asking->asked->request);
		break;
	}
	return true;
}

bool job_participant_is_stray(struct call *call, const struct id *room, struct slice identity,
			      bool *is_stray, struct fault *fault)
{
	const size_t prefix = sizeof JOB_IDENTITY_PREFIX - 1;
	int64_t epoch;
	struct job job;
	struct id id;

	*is_stray = false;
	if (identity.size < prefix + ID_TEXT_SIZE + 2 ||
	    !slice_begins(identity, SLICE(JOB_IDENTITY_PREFIX)) ||
	    identity.data[prefix + ID_TEXT_SIZE] != '-' ||
	    !id_parse((struct slice){ identity.data + prefix, ID_TEXT_SIZE }, &id) ||
	    !text_integer((struct slice){ identity.data + prefix + ID_TEXT_SIZE + 1,
					  identity.size - prefix - ID_TEXT_SIZE - 1 },
			  &epoch))
		return true;
	if (!job_load(call, &id, STORE_TO_SHOW, &job, fault))
		return false;
	*is_stray = job.stored.value.data == NULL || id_compare(&job.stored.parent, room) != 0 ||
		    !job_is_carried_out(&job) || epoch > job.epoch ||
		    (epoch < job.epoch && job_has_media(&job));
	return true;
}
