/* What is done to one person in a room, at the media server. The person is looked up there first:
 * somebody who comes back is another stay, and a media server waits for somebody who has just left.
 * So such a call asks twice, after a look if the caller is inside and not known yet.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_rooms.h"

/* Whom the call is about. */
struct subject {
	struct live_view view;
	struct peer peer;
	struct server server;
};

/* Finds the peer of the path. If view.is_waiting, the media server is asked for the caller first,
 * and nothing else is set. permission: that somebody inside needs. */
static bool find_subject(struct call *call, const char *permission,
			 enum server_capability capability, struct subject *subject,
			 struct fault *fault)
{
	struct live_view *view = &subject->view;

	if (!live_view_open(call, LIVE_ACTS, view, fault))
		return false;
	if (view->is_waiting)
		return true;
	return live_find_peer(call, view, call->parameters[1], &subject->peer, fault) &&
	       live_may_act(view, permission, fault) &&
	       live_find_server(call, &view->live.backend, &subject->server, fault) &&
	       call_can_act(call, subject->server.type, capability, fault);
}

static void ask_for_subject(struct call *call, const struct subject *subject)
{
	server_ask_person(call->arena, &subject->server, call->now / 1000,
			  id_as_text(call->arena, &subject->view.room.id), subject->peer.identity,
			  &call_ask(call, &subject->view.live.backend, 1)->asked[0].request);
}

/* Returns true if the requests that have been made were those that act. */
static bool has_acted(const struct call *call)
{
	return call->asking != NULL && call->asking->is_done &&
	       call->asking->asked[0].request.is_once;
}

/* ---- muting ---- */

static bool mutes(const struct call *call)
{
	return json_is_true(call_member(call, "mute"));
}

static bool find_to_mute(struct call *call, struct subject *subject, struct fault *fault)
{
	return find_subject(call, mutes(call) ? "mute" : "unmute", SERVER_MUTE, subject, fault);
}

bool active_peers_mute(struct call *call, struct fault *fault)
{
	struct subject subject;

	if (!find_to_mute(call, &subject, fault))
		return false;
	if (!subject.view.is_waiting)
		ask_for_subject(call, &subject);
	return true;
}

static bool is_of_type(const struct server_track *track, struct slice type)
{
	return slice_is(type, track->is_screen ? "screen" : track->is_video ? "video" : "audio");
}

static bool ask_to_mute(struct call *call, const struct subject *subject,
			const struct server_track *tracks, size_t count, struct fault *fault)
{
	const struct slice type = text_of_json(call_member(call, "type"));
	const struct server_track *chosen[ASKED_MOST];
	struct asking *asking;
	size_t n = 0;

	for (size_t i = 0; i < count && n < ASKED_MOST; i++) {
		if (is_of_type(&tracks[i], type))
			chosen[n++] = &tracks[i];
	}
	if (n == 0)
		return fault_set(fault, FAULT_NOT_FOUND, "peer has no such track");
	asking = call_ask(call, &subject->view.live.backend, n);
	for (size_t i = 0; i < n; i++)
		server_mute(call->arena, &subject->server, call->now / 1000,
			    id_as_text(call->arena, &subject->view.room.id), subject->peer.identity,
			    chosen[i]->id, mutes(call), &asking->asked[i].request);
	return true;
}

bool active_peers_settle_mute(struct call *call, struct fault *fault)
{
	struct server_person person;
	struct server_track *tracks;
	struct subject subject;
	size_t count;

	/* What has changed since it was done does not matter. */
	if (has_acted(call))
		return live_find_server(call, &call->asking->backend, &subject.server, fault) &&
		       asking_is_done(call, &subject.server, "peer not found", fault) &&
		       call_answer(call, SLICE("{\"message\":\"peer mute request submitted\"}"));
	if (call->asking->is_look)
		return active_peers_mute(call, fault);
	if (!find_to_mute(call, &subject, fault))
		return false;
	/* The caller has left meanwhile, or seems to have. */
	if (subject.view.is_waiting)
		return true;
	return live_read_peer(call, &subject.server, &subject.peer, &person, &tracks, &count,
			      fault) &&
	       ask_to_mute(call, &subject, tracks, count, fault);
}
