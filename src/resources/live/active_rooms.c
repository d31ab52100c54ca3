/* Live rooms as their records have them, and single people as the media server has them. A read
 * never waits for the media server, except that of one peer; but it has the room surveyed, so that
 * the next read is right even if events are lost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_events.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_queue.h"
#include "resources/media/media_join.h"
#include "resources/media/placing.h"
#include "resources/live/live_rooms.h"
#include "resources/stored/door_record.h"
#include "resources/stored/job_record.h"
#include "resources/stored/media_record.h"
#include "resources/stored/room_record.h"
#include "resources/templates/template_parts.h"
#include "rules/text_rules.h"

/* Peers that are listed as IDs. */
#define IDS_MOST 10000

/* ---- shared ---- */

static void request_survey(struct call *call, const struct live *live)
{
	if (call->environment->live_queue != NULL && call->environment->live != LIVE_OFF)
		live_queue_survey(call->environment->live_queue, &call->account, live_backend(live),
				  &live->stored.id);
}

void peer_write(struct json_writer *body, const struct peer *peer)
{
	writer_text(body, "id", peer->uuid);
	writer_text(body, "name", peer->name);
	writer_text(body, "user_id", peer->is_anonymous ? SLICE("") : peer->user_id);
	writer_text(body, "metadata", peer->metadata);
	writer_text(body, "role", peer->role);
	writer_time_milliseconds(body, "joined_at", peer->joined);
	peer_write_consent(body, peer);
}

/* ---- the last stay of each person ---- */

/* Bytes of the digest of a person. */
#define PERSON_SIZE 16

/* A stay inside. A room may have many thousands, so this has only what is shown. */
struct stay_inside {
	unsigned char person[PERSON_SIZE];
	size_t place; /* in the order of joining */
	/* the person has a later one, and the end of this one was not reported yet */
	bool is_former;
	struct slice role;
	size_t from, size; /* of what is shown, in the text; size 0 if it is not asked for */
};

/* What is shown of each. */
enum stays_text {
	STAYS_AS_MEMBERS, /* of an object of peers */
	STAYS_AS_IDS,
	STAYS_AS_NAMES /* with their roles */
};

/* Those inside, in an arena of their own. */
struct stays_inside {
	struct arena *arena;
	struct stay_inside *stays;
	size_t count, most;
	struct slice user_id, role; /* that are asked for; data NULL: any */
	enum stays_text shows;
	struct buffer text;
};

/* A media server has each identity once. But two devices of a person who has two codes count as
 * two. */
static void set_person(const struct peer *peer, struct stay_inside *stay)
{
	char of[2 * LIVE_ID_MOST + 1];
	unsigned char digest[DIGEST_SIZE];
	size_t size = peer->identity.size;

	memcpy(of, peer->identity.data, size);
	of[size++] = '\0';
	memcpy(of + size, peer->code.data, peer->code.size);
	digest_sha256((struct slice){ of, size + peer->code.size }, digest);
	memcpy(stay->person, digest, PERSON_SIZE);
}

static void stays_write_one(struct stays_inside *stays, const struct peer *peer)
{
	struct json_writer one = { .text = stays->text };

	/* Each begins without a comma. */
	switch (stays->shows) {
	case STAYS_AS_MEMBERS:
		buffer_append_string(&one.text, peer->uuid);
		buffer_append_text(&one.text, ":{");
		peer_write(&one, peer);
		writer_close(&one, '}');
		break;
	case STAYS_AS_IDS:
		buffer_append_string(&one.text, peer->uuid);
		break;
	case STAYS_AS_NAMES:
		buffer_append_byte(&one.text, '{');
		writer_text(&one, "name", peer->name);
		writer_text(&one, "role", peer->role);
		writer_close(&one, '}');
		break;
	}
	stays->text = one.text;
}

static void stays_add(struct stays_inside *stays, const struct peer *peer)
{
	struct stay_inside *stay = &stays->stays[stays->count];

	*stay = (struct stay_inside){
		.place = stays->count++,
		.role = arena_copy(stays->arena, peer->role),
		.from = stays->text.size,
	};
	set_person(peer, stay);
	if ((stays->role.data != NULL && !slice_equal(stays->role, peer->role)) ||
	    (stays->user_id.data != NULL &&
	     !slice_equal(stays->user_id, peer->is_anonymous ? SLICE("") : peer->user_id)))
		return;
	stays_write_one(stays, peer);
	stay->size = stays->text.size - stay->from;
}

static int compare_persons(const void *first, const void *second)
{
	const struct stay_inside *a = *(struct stay_inside *const *)first,
				 *b = *(struct stay_inside *const *)second;
	const int order = memcmp(a->person, b->person, PERSON_SIZE);

	return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Reads those inside, at most so many, of whom only the last stay of each counts. */
static bool stays_read(struct call *call, const struct live *live, size_t most,
		       struct stays_inside *stays, struct fault *fault)
{
	struct store_walk walk = peers_walk(call, &live->session, STORE_ON, false, fault);
	struct stay_inside **sorted;
	struct peer peer;

	/* The record of the room counts them, in this transaction too. */
	stays->most = (size_t)live_peers(live);
	if (stays->most > most)
		stays->most = most;
	stays->text = BUFFER_INITIAL(stays->arena);
	stays->stays = arena_alloc(stays->arena, (stays->most + 1) * sizeof *stays->stays);
	while (stays->count < stays->most && stays->text.size <= CALL_ANSWER_MOST &&
	       peers_next(&walk, &peer))
		stays_add(stays, &peer);
	if (fault->kind != FAULT_NONE)
		return false;
	sorted = arena_alloc(stays->arena, (stays->count + 1) * sizeof(struct stay_inside *));
	for (size_t i = 0; i < stays->count; i++)
		sorted[i] = &stays->stays[i];
	qsort(sorted, stays->count, sizeof(struct stay_inside *), compare_persons);
	for (size_t i = 1; i < stays->count; i++)
		sorted[i - 1]->is_former = memcmp(sorted[i - 1]->person, sorted[i]->person,
						  PERSON_SIZE) == 0;
	return true;
}

/* Writes the first `most` of them, in an object or an array that is open. */
static void stays_write(const struct stays_inside *stays, size_t most, struct json_writer *body)
{
	size_t n = 0;

	for (size_t i = 0; i < stays->count && n < most; i++) {
		const struct stay_inside *stay = &stays->stays[i];

		if (stay->is_former || stay->size == 0)
			continue;
		n++;
		writer_json(body, NULL,
			    (struct slice){ stays->text.data + stay->from, stay->size });
	}
}

/* ---- a room ---- */

/* Writes the IDs of those inside, and takes their former stays out of the numbers of `live`. */
static bool write_ids(struct call *call, struct live *live, struct json_writer *body,
		      struct fault *fault)
{
	struct stays_inside stays = { .arena = arena_open(), .shows = STAYS_AS_IDS };
	const bool is_read = stays_read(call, live, IDS_MOST, &stays, fault);

	writer_open(body, "peers", '[');
	if (is_read)
		stays_write(&stays, SIZE_MAX, body);
	writer_close(body, ']');
	for (size_t i = 0; is_read && i < stays.count; i++) {
		if (stays.stays[i].is_former)
			live_count(call->arena, live, stays.stays[i].role, false);
	}
	arena_close(stays.arena);
	return is_read;
}

static void write_numbers(struct json_writer *body, const struct live *live)
{
	writer_integer(body, "peer_count", (int64_t)live_peers(live));
	writer_open(body, "roles", '{');
	for (size_t i = 0; i < live->role_count; i++) {
		writer_name(body, live->roles[i].name);
		writer_integer(body, NULL, live->roles[i].count);
	}
	writer_close(body, '}');
}

/* Answers somebody inside a large room, who gets numbers alone. */
static bool answer_numbers(struct call *call, const struct live *live)
{
	struct json_writer body = writer_begin(call->arena, false);

	write_numbers(&body, live);
	return call_answer(call, writer_end(&body));
}

bool active_rooms_get(struct call *call, struct fault *fault)
{
	struct live_view *view = call->view;
	struct json_writer body = writer_begin(call->arena, false);
	struct session session;
	struct slice backend;
	int64_t seen;

	request_survey(call, &view->live);
	if (view->sees_numbers)
		return answer_numbers(call, &view->live);
	if (!session_load(call, &view->live.session, STORE_TO_SHOW, &session, fault))
		return false;
	writer_plain(&body, "id", id_as_text(call->arena, &view->room.id));
	writer_text(&body, "name", view->room.name);
	if (view->room.title.size > 0)
		writer_text(&body, "title", view->room.title);
	writer_plain(&body, "customer_id", slice_of(call->account_text));
	writer_open(&body, "session", '{');
	writer_plain(&body, "id", id_as_text(call->arena, &view->live.session));
	writer_time_milliseconds(&body, "created_at", session.created);
	if (!write_ids(call, &view->live, &body, fault))
		return false;
	writer_close(&body, '}');
	write_numbers(&body, &view->live);
	seen = view->live.received > view->live.surveyed ? view->live.received
							 : view->live.surveyed;
	if (seen == 0)
		writer_json(&body, "seen_at", SLICE("null"));
	else
		writer_time_milliseconds(&body, "seen_at", seen);
	if (!placing_shown(call, &view->room, NULL, &backend, fault))
		return false;
	if (backend.data != NULL)
		writer_text(&body, "backend", backend);
	return call_answer(call, writer_end(&body));
}

/* ---- what somebody with a code sees ---- */

/* People that are named; and how many a room may have inside so that they are, and are read. */
#define FIRST_MOST 5
#define READ_MOST 200

/* Returns the room state of the template, if people with the role get it; else NULL. */
static const json_t *room_state_of(struct call *call, const struct template_record *template,
				   const json_t *role)
{
	const json_t *state;

	/* The settings are decoded for few. */
	if (!json_is_true(json_object_get(json_object_get(role, "permissions"), "sendRoomState")))
		return NULL;
	state = json_object_get(template_part_document(call, template, PART_SETTINGS), "roomState");
	return json_is_true(json_object_get(state, "enabled")) ? state : NULL;
}

/* Writes who is inside. Of a room over READ_MOST, only its record is read. */
static bool write_inside(struct call *call, const struct id *room, bool has_list,
			 struct json_writer *body, struct fault *fault)
{
	struct stays_inside stays = { .arena = arena_open(), .shows = STAYS_AS_NAMES };
	struct live live;
	uint64_t count = 0;
	bool is_done = live_load(call, room, STORE_TO_SHOW, &live, fault);

	/* With LIVE_OFF, what the records have is not followed. */
	if (is_done && live.stored.value.data != NULL && call->environment->live != LIVE_OFF)
		count = live_peers(&live);
	has_list = has_list && count <= READ_MOST;
	if (count > 0 && count <= READ_MOST) {
		is_done = stays_read(call, &live, READ_MOST, &stays, fault);
		for (size_t i = 0; is_done && i < stays.count; i++)
			count -= stays.stays[i].is_former;
	}
	writer_open(body, "inside", '{');
	writer_integer(body, "peer_count", (int64_t)count);
	if (has_list) {
		writer_open(body, "peers", '[');
		stays_write(&stays, FIRST_MOST, body);
		writer_close(body, ']');
	}
	writer_close(body, '}');
	arena_close(stays.arena);
	return is_done;
}

/* Writes whether the room is recorded and streamed, and whether people are asked to agree. */
static void write_recorded(const struct template_record *template,
			   const struct live_recorded *recorded, struct json_writer *body)
{
	if (recorded->recording.size > 0)
		writer_plain(body, "recording", recorded->recording);
	if (recorded->streaming.size > 0)
		writer_plain(body, "streaming", recorded->streaming);
	if (template->rules.consent != CONSENT_NOTICE)
		writer_plain(body, "consent",
			     slice_of(recording_consent_names[template->rules.consent]));
}

bool live_answer_opened(struct call *call, const struct id *room,
			const struct template_record *template, const json_t *role,
			const struct backend *backend, const struct live_recorded *recorded,
			struct json_writer *body, struct fault *fault)
{
	const bool is_known = backend == NULL || server_can(backend->type, SERVER_LIST);
	const json_t *state = is_known ? room_state_of(call, template, role) : NULL;
	struct slice text;
	uint64_t etag;

	if (state == NULL) {
		write_recorded(template, recorded, body);
		return call_answer(call, writer_end(body));
	}
	writer_open(body, "room_state", '{');
	writer_integer(body, "messageInterval",
		       json_integer_value(json_object_get(state, "messageInterval")));
	writer_flag(body, "stopRoomStateOnJoin",
		    json_is_true(json_object_get(state, "stopRoomStateOnJoin")));
	writer_close(body, '}');
	if (!write_inside(call, room, json_is_true(json_object_get(state, "sendPeerList")), body,
			  fault))
		return false;
	write_recorded(template, recorded, body);
	text = writer_end(body);
	etag = digest_number(text);
	call_etag(call, etag);
	return call_not_modified(call, etag) || call_answer(call, text);
}

/* ---- its people ---- */

/* Answers with those inside, whose text is not in the arena of the call while they are read. */
static bool answer_peers(struct call *call, const struct live *live, struct fault *fault)
{
	struct stays_inside stays = {
		.arena = arena_open(),
		.user_id = call_query_text(call, "user_id"),
		.role = call_query_text(call, "role"),
	};
	struct json_writer body = writer_begin(stays.arena, false);
	bool is_done = stays_read(call, live, SIZE_MAX, &stays, fault);

	if (is_done && stays.text.size > CALL_ANSWER_MOST)
		is_done = fault_detail(fault, FAULT_TOO_LARGE,
				       "the response would be larger than %zu MB; ask for a role",
				       CALL_ANSWER_MOST >> 20);
	if (is_done) {
		writer_open(&body, "peers", '{');
		stays_write(&stays, SIZE_MAX, &body);
		writer_close(&body, '}');
		is_done = call_answer(call, arena_copy(call->arena, writer_end(&body)));
	}
	arena_close(stays.arena);
	return is_done;
}

bool active_peers_list(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;

	request_survey(call, &view->live);
	if (view->sees_numbers)
		return answer_numbers(call, &view->live);
	return answer_peers(call, &view->live, fault);
}

/* ---- oneself ---- */

/* Returns when the caller's time in the room ends, in seconds since 1970; INT64_MAX if it does
 * not. */
static int64_t ends_at(struct call *call, const struct live_view *view,
		       const struct session *session)
{
	const int64_t most = json_integer_value(
		json_object_get(room_document(call, &view->room), "max_duration_seconds"));
	int64_t end = INT64_MAX;

	if (!live_view_may(view, "joinOutsideWindow"))
		end = view->room.closes_at;
	if (most > 0 && session->created / 1000 + most < end)
		end = session->created / 1000 + most;
	return end;
}

/* Adds what clients need to know of the roles of others: whom to list first, and what a sender may
 * cost them. */
static void add_roles(struct call *call, const struct live_view *view, struct json_writer *body)
{
	writer_open(body, "roles", '[');
	for (size_t i = 0; i < view->template.role_count; i++) {
		const struct template_role *role = &view->template.roles[i];
		const json_t *document = template_role_document(call, &view->template, role);
		const json_t *permissions = json_object_get(document, "permissions");
		const struct slice title = text_shown_title(call->arena, document);

		writer_open(body, NULL, '{');
		writer_text(body, "name", role->name);
		if (title.data != NULL)
			writer_text(body, "title", title);
		writer_value(body, "priority", json_object_get(document, "priority"));
		writer_flag(body, "host",
			    json_is_true(json_object_get(permissions, "mute")) ||
				    json_is_true(json_object_get(permissions, "removeOthers")));
		writer_value(body, "publishParams", json_object_get(document, "publishParams"));
		writer_close(body, '}');
	}
	writer_close(body, ']');
}

/* Returns a copy of the role's publishParams without the sources that are held; and which of those
 * that it allows are held. */
static const json_t *publish_params_left(struct call *call, const struct live_view *view,
					 unsigned *held)
{
	json_t *params = arena_json(
		call->arena, json_copy(json_object_get(view->role_document, "publishParams")));
	json_t *allowed = json_object_get(params, "allowed"), *left = json_array(), *kind;
	const unsigned from_role = live_held(&view->live, &view->template,
					     (size_t)(view->role - view->template.roles),
					     view->role_document);
	size_t i;

	*held = 0;
	json_array_foreach(allowed, i, kind) {
		unsigned source = 0;

		while (source < HELD_SOURCES &&
		       !slice_is(text_of_json(kind), held_source_names[source]))
			source++;
		*held |= from_role & 1U << source;
		if ((from_role & 1U << source) == 0)
			array_put(left, json_incref(kind));
	}
	object_put(params, "allowed", left);
	return params;
}

static void add_holds(struct call *call, const struct live_view *view, unsigned held,
		      struct json_writer *body)
{
	writer_open(body, "held", '[');
	for (unsigned source = 0; source < HELD_SOURCES; source++) {
		if ((held & 1U << source) != 0)
			writer_plain(body, NULL, slice_of(held_source_names[source]));
	}
	writer_close(body, ']');
	if (!live_view_may(view, "mute"))
		return;
	writer_open(body, "holds", '[');
	live_holds_write(call, &view->live, &view->template, body);
	writer_close(body, ']');
}

/* Adds what the door of the room does. */
static bool add_door(struct call *call, const struct live_view *view, struct json_writer *body,
		     struct fault *fault)
{
	struct door door;

	if (!door_load(call, &view->room.id, STORE_TO_SHOW, &door, fault))
		return false;
	door_state_write(body, "door", door_state_now(&door, &view->live, call->now));
	return true;
}

/* Adds what the caller may start and stop, and what is recorded, as people are told. */
static bool add_recordings(struct call *call, const struct live_view *view,
			   struct json_writer *body, struct fault *fault)
{
	static const char *const starts[JOB_TYPES] = {
		[JOB_RECORDING] = "record",
		[JOB_LIVE] = "live",
		[JOB_EXTERNAL] = "stream",
	};
	struct job *jobs;
	size_t n;

	writer_open(body, "may", '[');
	for (size_t i = 0; i < JOB_TYPES; i++) {
		if (media_lacks_to_start(view->role_document, job_permissions[i]) == NULL)
			writer_plain(body, NULL, slice_of(starts[i]));
	}
	writer_close(body, ']');
	if (!jobs_of_room(call, &view->room.id, &jobs, &n, fault))
		return false;
	writer_open(body, "recordings", '[');
	for (size_t i = 0; i < n; i++) {
		int64_t since;
		const enum job_sight sight = job_people_see(&jobs[i], &since);

		if (sight == SEES_NOTHING)
			continue;
		writer_open(body, NULL, '{');
		writer_plain(body, "type", slice_of(job_type_names[jobs[i].type]));
		writer_plain(body, "state", slice_of(job_sight_names[sight]));
		writer_time_milliseconds(body, "since", since);
		writer_plain(body, "by", jobs[i].started_by);
		writer_text(body, "name", jobs[i].started_name);
		writer_close(body, '}');
	}
	writer_close(body, ']');
	if (view->template.rules.consent != CONSENT_NOTICE) {
		writer_plain(body, "consent",
			     slice_of(recording_consent_names[view->template.rules.consent]));
		writer_flag(body, "agreed", peer_consent(&view->caller) != 0);
	}
	return true;
}

bool active_rooms_me(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	static const char *const members[] = { "subscribeParams", "permissions" };
	struct json_writer body = writer_begin(call->arena, false);
	unsigned held = 0;
	struct session session;
	int64_t end;

	if (!session_load(call, &view->live.session, STORE_TO_SHOW, &session, fault))
		return false;
	writer_open(&body, "peer", '{');
	peer_write(&body, &view->caller);
	writer_close(&body, '}');
	writer_open(&body, "role", '{');
	writer_text(&body, "name", view->caller.role);
	if (view->role != NULL)
		writer_value(&body, "publishParams", publish_params_left(call, view, &held));
	for (size_t i = 0; view->role != NULL && i < sizeof members / sizeof members[0]; i++)
		writer_value(&body, members[i], json_object_get(view->role_document, members[i]));
	writer_close(&body, '}');
	writer_open(&body, "gives", '[');
	for (size_t i = 0; i < view->template.role_count; i++) {
		const struct template_role *role = &view->template.roles[i];
		const json_t *document = template_role_document(call, &view->template, role);
		struct fault unused = FAULT_INITIAL;

		if (!media_admits_nobody(document) && live_may_give(view, document, &unused))
			writer_text(&body, NULL, role->name);
	}
	writer_close(&body, ']');
	writer_flag(&body, "name_fixed", view->name_is_fixed);
	end = ends_at(call, view, &session);
	if (end == INT64_MAX)
		writer_json(&body, "ends_at", SLICE("null"));
	else
		writer_time(&body, "ends_at", end * 1000);
	writer_time_milliseconds(&body, "started_at", session.created);
	add_roles(call, view, &body);
	add_holds(call, view, held, &body);
	return add_door(call, view, &body, fault) && add_recordings(call, view, &body, fault) &&
	       call_answer(call, writer_end(&body));
}

/* ---- one of them ---- */

bool active_peers_get(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	struct server server;
	struct peer peer;

	if (!live_find_peer(call, view, call->parameters[1], &peer, fault) ||
	    !live_view_sees(view, &peer, fault) ||
	    !live_find_server(call, live_backend(&view->live), &server, fault) ||
	    !call_can_ask(call, fault))
		return false;
	server_ask_person(call->arena, &server, call->now / 1000,
			  id_as_text(call->arena, &view->room.id), peer.identity,
			  &live_ask_for_oneself(call, live_backend(&view->live))->asked[0].request);
	return true;
}

void peer_write_tracks(struct json_writer *body, const struct peer *peer,
		       const struct server_track *tracks, size_t n)
{
	writer_open(body, "tracks", '{');
	for (size_t i = 0; i < n; i++) {
		const struct server_track *track = &tracks[i];

		writer_name(body, track->id);
		writer_open(body, NULL, '{');
		writer_text(body, "id", track->id);
		writer_text(body, "stream_id", peer->uuid);
		writer_flag(body, "mute", track->is_muted);
		writer_plain(body, "type", track->is_video ? SLICE("video") : SLICE("audio"));
		writer_plain(body, "source", track->is_screen ? SLICE("screen") : SLICE("regular"));
		writer_time_milliseconds(body, "started_at",
					 track->started > peer->joined ? track->started
								       : peer->joined);
		writer_plain(body, "description", SLICE(""));
		writer_close(body, '}');
	}
	writer_close(body, '}');
}

bool active_peers_settle_get(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	struct json_writer body = writer_begin(call->arena, false);
	struct server_track *tracks;
	struct server_person person;
	struct server server;
	struct peer peer;
	size_t count;

	if (!live_find_peer(call, view, call->parameters[1], &peer, fault) ||
	    !live_find_server(call, live_backend(&view->live), &server, fault) ||
	    !live_read_peer(call, &call->asking->asked[0], &server, &peer, &person, &tracks, &count,
			    fault))
		return false;
	/* Of whom nothing is stored, what the media server shows is shown. */
	peer.is_anonymous = false;
	peer.user_id = person.user_id;
	peer.name = person.name;
	peer.metadata = person.metadata;
	peer_write(&body, &peer);
	peer_write_tracks(&body, &peer, tracks, count);
	return call_answer(call, writer_end(&body));
}
