/* See media/server.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/server.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "media/type.h"

/* Seconds by which a server's clock may differ: before its message says so, and before it is the
 * reason for a rejected token. */
#define CLOCK_DIFFERS 5
#define CLOCK_REJECTS 60

const char *const server_capability_names[SERVER_CAPABILITIES] = {
	[SERVER_LIST] = "list", [SERVER_REMOVE] = "remove",   [SERVER_MUTE] = "mute",
	[SERVER_ROLE] = "role", [SERVER_MESSAGE] = "message", [SERVER_END] = "end",
};

static const struct server_functions *server_functions_of(const struct server *server)
{
	return media_types[server->type].server;
}

bool server_can(enum backend_type type, enum server_capability capability)
{
	const struct server_functions *own = media_types[type].server;

	return own != NULL && (capability != SERVER_REMOVE || own->remove_person != NULL) &&
	       (capability != SERVER_MUTE || own->mute != NULL) &&
	       (capability != SERVER_ROLE || own->update_person != NULL) &&
	       (capability != SERVER_MESSAGE || own->send_message != NULL) &&
	       (capability != SERVER_END || own->end_room != NULL);
}

struct slice server_api_url(struct arena *arena, struct slice url)
{
	struct buffer text = BUFFER_INITIAL(arena);

	if (url.size < 2 || !text_equal_ignoring_case((struct slice){ url.data, 2 }, SLICE("ws")))
		return url;
	buffer_append_text(&text, "http");
	buffer_append(&text, (struct slice){ url.data + 2, url.size - 2 });
	return buffer_slice(&text);
}

unsigned server_rights_of(const struct access_guest *guest)
{
	return RIGHT_KNOWN | (guest->subscribes ? RIGHT_SUBSCRIBE : 0U) |
	       (guest->audio ? RIGHT_AUDIO : 0U) | (guest->video ? RIGHT_VIDEO : 0U) |
	       (guest->screen ? RIGHT_SCREEN : 0U) |
	       (guest->screen_audio ? RIGHT_SCREEN_AUDIO : 0U) | (guest->data ? RIGHT_DATA : 0U);
}

/* ---- requests ---- */

void server_list_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const json_t *names, struct server_request *request)
{
	server_functions_of(server)->list_rooms(arena, server, now, names, request);
}

void server_list_people(struct arena *arena, const struct server *server, int64_t now,
			struct slice room, struct server_request *request)
{
	server_functions_of(server)->list_people(arena, server, now, room, request);
}

void server_ask_person(struct arena *arena, const struct server *server, int64_t now,
		       struct slice room, struct slice identity, struct server_request *request)
{
	server_functions_of(server)->ask_person(arena, server, now, room, identity, request);
}

void server_probe_rooms(struct arena *arena, const struct server *server, int64_t now,
			struct server_request *request)
{
	server_functions_of(server)->probe_rooms(arena, server, now, request);
}

/* ---- answers ---- */

bool server_read_probe(const struct server *server, const struct outcome *outcome,
		       struct server_verdict *verdict)
{
	const char *setting =
		outcome->failure != SENDER_NO_FAILURE
			? NULL
			: server_functions_of(server)->read_probe(
				  outcome->status,
				  (struct slice){ outcome->answer, outcome->answer_size });

	if (setting != NULL)
		(void)snprintf(verdict->message, sizeof verdict->message, "%s", setting);
	return setting != NULL;
}

/* Parses the body of a complete answer. Returns NULL if there is none. */
static const json_t *outcome_json(struct arena *arena, const struct outcome *outcome)
{
	if (outcome->failure != SENDER_NO_FAILURE)
		return NULL;
	return json_text_read_foreign(
		arena, (struct slice){ outcome->answer, outcome->answer_size }, NULL);
}

/* Writes the verdict. is_right: the answer is complete and is what was asked for. An answer that
 * the arena cannot hold counts as too long. */
static void set_verdict(const struct arena *arena, const struct server *server, int64_t now,
			const struct outcome *outcome, bool is_right,
			struct server_verdict *verdict)
{
	static const char *const failures[] = {
		[SENDER_NO_NAME] = "no such name",
		[SENDER_REFUSED] = "refused",
		[SENDER_TIMED_OUT] = "timed out",
		[SENDER_NOT_ALLOWED] = "address not allowed",
		[SENDER_TOO_LONG] = "too many people to list",
		[SENDER_OTHER] = "refused",
	};
	const int64_t signed_difference = outcome->date == 0 ? 0 : outcome->date - now;
	const int64_t difference = signed_difference < 0 ? -signed_difference : signed_difference;
	const bool is_too_long = outcome->status == 200 && !is_right && !arena_fits(arena, 0);
	const enum sender_failure failure = is_too_long ? SENDER_TOO_LONG : outcome->failure;

	*verdict = (struct server_verdict){ .is_up = is_right, .ahead = signed_difference };
	if (failure == SENDER_NO_TLS)
		(void)snprintf(verdict->message, sizeof verdict->message, "TLS: %s",
			       outcome->error);
	else if (failure == SENDER_NO_HTTP)
		(void)snprintf(verdict->message, sizeof verdict->message, "not a %s",
			       server_functions_of(server)->product);
	else if (failure != SENDER_NO_FAILURE)
		(void)snprintf(verdict->message, sizeof verdict->message, "%s", failures[failure]);
	else if ((is_right && difference > CLOCK_DIFFERS) ||
		 (outcome->status == 401 && difference > CLOCK_REJECTS))
		(void)snprintf(verdict->message, sizeof verdict->message, "clock differs by %lld s",
			       (long long)difference);
	else if (outcome->status == 401)
		(void)snprintf(verdict->message, sizeof verdict->message, "wrong key");
	else if (outcome->status == 200 && !is_right)
		(void)snprintf(verdict->message, sizeof verdict->message, "not a %s",
			       server_functions_of(server)->product);
	else if (!is_right)
		(void)snprintf(verdict->message, sizeof verdict->message, "status %d",
			       outcome->status);
}

void server_read_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const struct outcome *outcome, struct server_verdict *verdict,
		       struct server_room **rooms, size_t *count)
{
	const bool is_right = outcome->status == 200 &&
			      server_functions_of(server)->read_rooms(
				      arena, outcome_json(arena, outcome), rooms, count);

	set_verdict(arena, server, now, outcome, is_right, verdict);
}

void server_read_everything(struct arena *arena, const struct server *server, int64_t now,
			    const struct outcome *outcome, struct server_verdict *verdict,
			    struct server_person **people, size_t *count,
			    struct server_published **tracks, size_t *track_count,
			    struct server_hidden *hidden)
{
	const bool is_right = outcome->status == 200 &&
			      server_functions_of(server)->read_people(
				      arena, outcome_json(arena, outcome), people, count, tracks,
				      track_count, hidden);

	set_verdict(arena, server, now, outcome, is_right, verdict);
}

void server_read_people(struct arena *arena, const struct server *server, int64_t now,
			const struct outcome *outcome, struct server_verdict *verdict,
			struct server_person **people, size_t *count)
{
	server_read_everything(arena, server, now, outcome, verdict, people, count, NULL, NULL,
			       NULL);
}

void server_read_person(struct arena *arena, const struct server *server, int64_t now,
			const struct outcome *outcome, struct server_verdict *verdict,
			struct server_person *person, struct server_track **tracks, size_t *count)
{
	const struct server_functions *own = server_functions_of(server);
	const json_t *answer = outcome_json(arena, outcome);
	bool is_right;

	if (outcome->status == 200) {
		is_right = own->read_person(arena, answer, person, tracks, count);
	} else {
		is_right = own->lacks_person(outcome->status, answer);
		if (is_right) {
			*person = (struct server_person){ .stay.data = NULL };
			*tracks = NULL;
			*count = 0;
		}
	}
	set_verdict(arena, server, now, outcome, is_right, verdict);
}

/* ---- acting ---- */

void server_mute(struct arena *arena, const struct server *server, int64_t now, struct slice room,
		 struct slice identity, struct slice track, bool mutes,
		 struct server_request *request)
{
	server_functions_of(server)->mute(arena, server, now, room, identity, track, mutes,
					  request);
	request->is_once = true;
	request->room = room;
}

void server_send_message(struct arena *arena, const struct server *server, int64_t now,
			 struct slice room, const json_t *identities, struct slice topic,
			 struct slice message, struct server_request *request)
{
	server_functions_of(server)->send_message(arena, server, now, room, identities, topic,
						  message, request);
	request->is_once = true;
}

void server_remove_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity, struct server_request *request)
{
	server_functions_of(server)->remove_person(arena, server, now, room, identity, request);
	request->is_once = true;
	request->room = room;
}

void server_update_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity,
			  const struct access_guest *guest, struct slice metadata,
			  struct server_request *request)
{
	server_functions_of(server)->update_person(arena, server, now, room, identity, guest,
						   metadata, request);
	request->is_once = true;
	request->room = room;
}

void server_end_room(struct arena *arena, const struct server *server, int64_t now,
		     struct slice room, struct server_request *request)
{
	server_functions_of(server)->end_room(arena, server, now, room, request);
	request->is_once = true;
	request->room = room;
}

bool server_makes_rooms(enum backend_type type, const json_t *config)
{
	return media_types[type].server != NULL && media_types[type].server->make_room != NULL &&
	       json_is_true(json_object_get(config, "create_rooms"));
}

void server_make_room(struct arena *arena, const struct server *server, int64_t now,
		      struct slice room, int64_t size, const json_t *agents,
		      struct server_request *request)
{
	server_functions_of(server)->make_room(arena, server, now, room, size, agents, request);
	request->is_shared = true;
}

void server_read_made(struct arena *arena, const struct server *server, int64_t now,
		      const struct outcome *outcome, struct server_verdict *verdict)
{
	set_verdict(arena, server, now, outcome,
		    outcome->status == 200 && outcome_json(arena, outcome) != NULL, verdict);
}

enum server_result server_read_result(struct arena *arena, const struct server *server, int64_t now,
				      const struct outcome *outcome, struct server_verdict *verdict)
{
	const struct server_functions *own = server_functions_of(server);
	const json_t *answer = outcome_json(arena, outcome);
	const char *setting = own->forbids(outcome->status, answer);

	set_verdict(arena, server, now, outcome, outcome->status == 200 && answer != NULL, verdict);
	if (verdict->is_up)
		return SERVER_DONE;
	if (own->lacks_person(outcome->status, answer))
		return SERVER_HAS_NOBODY;
	if (setting != NULL) {
		(void)snprintf(verdict->message, sizeof verdict->message, "%s", setting);
		return SERVER_FORBIDS;
	}
	/* A failed connection, or an answer that says nothing. */
	return outcome->was_sent &&
			       (outcome->failure != SENDER_NO_FAILURE || outcome->status == 200)
		       ? SERVER_MAYBE_DONE
		       : SERVER_FAILED;
}

/* ---- events ---- */

bool server_signed_event(struct arena *arena, const struct server *server, int64_t now,
			 struct slice authorization, struct slice body)
{
	const struct server_functions *own = server_functions_of(server);

	return own != NULL && own->signed_event(arena, server, now, authorization, body);
}

bool server_read_event(struct arena *arena, const struct server *server, struct slice body,
		       struct server_event *event)
{
	const struct server_functions *own = server_functions_of(server);

	return own != NULL && own->read_event(json_text_read_foreign(arena, body, NULL), event);
}
