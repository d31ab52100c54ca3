/* What is done at the media server to people in a room.
 *
 * One person is looked up there first: somebody who comes back is another stay, and a media server
 * waits for somebody who has just left. The media server does not say why it puts people out, so
 * they get a message at the same time. Such a call therefore asks twice.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "resources/bans/bans.h"
#include "resources/live/live_door.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_message.h"
#include "resources/live/live_queue.h"
#include "resources/stored/revocations.h"
#include "resources/live/live_rooms.h"
#include "resources/rooms/rooms.h"
#include "resources/stored/template_record.h"

/* What the call has asked for. STEP_LAST: to put out the caller, after all others. */
enum step { STEP_FIRST, STEP_ACT, STEP_LAST };

/* ---- muting ---- */

/* Whom the call is about. */
struct subject {
	struct peer peer;
	struct server server;
};

static bool mutes(const struct call *call)
{
	return json_is_true(call_member(call, "mute"));
}

/* Finds the peer of the path. */
static bool find_to_mute(struct call *call, struct subject *subject, struct fault *fault)
{
	const struct live_view *view = call->view;

	return live_find_peer(call, view, call->parameters[1], &subject->peer, fault) &&
	       live_may_act(view, mutes(call) ? "mute" : "unmute", fault) &&
	       live_find_server(call, live_backend(&view->live), &subject->server, fault) &&
	       call_can_act(call, subject->server.type, SERVER_MUTE, fault);
}

bool active_peers_mute(struct call *call, struct fault *fault)
{
	struct subject subject;

	if (!find_to_mute(call, &subject, fault))
		return false;
	server_ask_person(call->arena, &subject.server, call->now / 1000,
			  id_as_text(call->arena, &call->view->room.id), subject.peer.identity,
			  &live_ask(call, live_backend(&call->view->live), 1)->asked[0].request);
	return true;
}

bool active_peers_settle_mute(struct call *call, struct fault *fault)
{
	const struct slice type = text_of_json(call_member(call, "type"));
	const struct server_track *chosen[ASKED_MOST];
	struct server_person person;
	struct server_track *tracks;
	struct subject subject;
	struct asking *asking;
	size_t count, n = 0;

	/* What has changed since it was done does not matter. */
	if (call->asking->step == STEP_ACT)
		return live_find_server(call, &call->asking->backend, &subject.server, fault) &&
		       asking_is_done(call, &subject.server, "peer not found", fault) &&
		       call_answer(call, SLICE("{\"message\":\"peer mute request submitted\"}"));
	if (!find_to_mute(call, &subject, fault) ||
	    !live_read_peer(call, &call->asking->asked[0], &subject.server, &subject.peer, &person,
			    &tracks, &count, fault))
		return false;

	/* Those that change first: of more tracks than one call asks for, another call finds the
	 * rest. The others may have changed since they were read. */
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < count && n < ASKED_MOST; i++) {
			const struct server_track *track = &tracks[i];
			const bool changes = track->is_muted != mutes(call);

			if (changes == (turn == 0) && slice_is(type, track->is_screen  ? "screen"
								     : track->is_video ? "video"
										       : "audio"))
				chosen[n++] = track;
		}
	}
	if (n == 0)
		return fault_set(fault, FAULT_NOT_FOUND, "peer has no such track");

	asking = live_ask(call, live_backend(&call->view->live), n);
	asking->step = STEP_ACT;
	for (size_t i = 0; i < n; i++)
		server_mute(call->arena, &subject.server, call->now / 1000,
			    id_as_text(call->arena, &call->view->room.id), subject.peer.identity,
			    chosen[i]->id, mutes(call), &asking->asked[i].request);
	return true;
}

/* ---- putting out ---- */

/* The most people whom one call puts out itself; the service puts out the others. */
#define PUT_OUT_MOST 50
/* People who are read together, and whom one transaction goes through. */
#define READ_AT_ONCE 64
#define READ_MOST 512
/* Requests about a caller who is put out last: whether it is there, and why it is put out. */
#define CALLER_ASKED 2

/* What asking.notes says: somebody was banned, somebody could not be. */
#define BANNED_SOME 1
#define BANNED_NOT_ALL 2
/* And a code asks at the door now. */
#define DOOR_ASKS 4

/* Those who are to be put out. */
struct group {
	struct call *call;
	const struct live_view *view;
	struct server server;
	bool is_one; /* one person, who may be inside several times; else all with a role */
	struct slice role;
	struct peer peers[PUT_OUT_MOST]; /* the first of them, without the caller */
	size_t count;
	bool has_caller; /* who has the role, and goes after all others */
	bool is_whole; /* `peers` are all others */
	/* The codes that are to ask at the door: what is known of their hashes. */
	struct slice *codes;
	size_t code_count, code_capacity;
	unsigned notes;
	struct fault *fault;
	bool has_failed;
};

static void group_add_code(struct group *group, struct slice code)
{
	if (code.size == 0)
		return;
	group->codes = arena_room(group->call->arena, group->codes, group->code_count + 1,
				  &group->code_capacity, sizeof *group->codes);
	group->codes[group->code_count++] = arena_copy(group->call->arena, code);
}

/* Bans a person, or has the person's code ask at the door, if the body says so. Nobody can be
 * banned whose user_id is not known for certain: whoever takes the code chooses another one. */
static bool keep_out(struct group *group, const struct peer *peer)
{
	struct call *call = group->call;
	const json_t *sent = call_member(call, "ban");
	struct ban_terms terms = {
		.room = group->view->room.id,
		.user_id = peer->user_id,
		.code_hash = SLICE(""),
	};
	const bool is_to_ask = call_member(call, "door") != NULL;
	struct ban ban;

	if (sent == NULL || json_is_false(sent)) {
		if (is_to_ask)
			group_add_code(group, peer->code);
		return true;
	}
	if (!peer_has_known_user(peer)) {
		group->notes |= BANNED_NOT_ALL;
		if (is_to_ask)
			group_add_code(group, peer->code);
		return true;
	}
	group->notes |= BANNED_SOME;
	terms.reason = text_of_json(call_member(call, "reason"));
	terms.is_for_ever = json_is_true(sent);
	if (json_is_integer(sent))
		terms.expires_at = call->now / 1000 + json_integer_value(sent);
	return ban_add(call, &terms, &ban, group->fault);
}

/* Notes that a person is put out. Nobody comes back with the same entry (revocations.h), so
 * live_enforce puts out those too for whom the group has no place. */
static bool add_to_group(struct group *group, const struct peer *found)
{
	struct call *call = group->call;
	struct peer peer = *found;

	if (!group->is_one && !slice_equal(peer.role, group->role))
		return true;
	peer.order_last = !group->is_one && group->view->is_inside &&
			  slice_equal(peer.uuid, group->view->caller.uuid);
	group->has_failed = !keep_out(group, &peer) ||
			    !revocation_add(call, &group->view->room.id, peer.entry, LEAVE_REMOVED,
					    call_text(call, "reason"), group->fault) ||
			    !live_order_out(call, &group->view->room.id, &peer, LEAVE_REMOVED,
					    call_text(call, "reason"), group->fault);
	if (peer.order_last)
		group->has_caller = true;
	else if (group->count == PUT_OUT_MOST)
		group->is_whole = false;
	else if (!group->has_failed)
		group->peers[group->count++] = peer;
	return !group->has_failed;
}

/* Goes through those inside, as many as one transaction takes; the call goes on with the others in
 * another one. A validated call considers only these. */
static bool add_role(struct group *group)
{
	struct call *call = group->call;
	struct id after = call->step.after;
	struct peer_page page = { .side = STORE_ON, .most = READ_AT_ONCE };
	size_t n = 0;

	do {
		page.after = call->step.is_next || n > 0 ? &after : NULL;
		if (!peers_read(call, &group->view->live.session, &page, group->fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			after = page.peers[i].stored.id;
			if (!add_to_group(group, &page.peers[i]))
				return false;
		}
		n += page.count;
	} while (!page.is_last && n < READ_MOST);
	call->run.goes_on = !page.is_last;
	call->run.step.after = after;
	call->run.step.is_next = call->step.is_next || !page.is_last;
	return true;
}

/* Adds the stays of the person who has this one, too: reloads, other tabs. */
static bool add_person(struct group *group, const struct peer *peer)
{
	struct call *call = group->call;
	struct inside inside = { .stay_count = 0 };

	if (!add_to_group(group, peer))
		return false;
	if (peer->entry.size > 0 && !inside_find(call, &group->view->room.id, peer->entry,
						 STORE_TO_CHANGE, &inside, group->fault))
		return false;
	for (size_t i = 0; i < inside.stay_count; i++) {
		struct peer other;

		if (slice_equal(inside.stays[i].uuid, peer->uuid))
			continue;
		if (!record_get_named(&peer_table, call->transaction, inside.stays[i].uuid,
				      STORE_TO_CHANGE, &other, group->fault))
			return false;
		if (live_has_peer(&group->view->live, &other) && !add_to_group(group, &other))
			return false;
	}
	return true;
}

static bool answer_removed(struct call *call, unsigned notes)
{
	struct json_writer body = writer_begin(call->arena, false);

	writer_text(&body, "message", SLICE("peer remove request submitted"));
	if ((notes & BANNED_NOT_ALL) != 0)
		writer_json(&body, "not_enforced", SLICE("[\"ban\"]"));
	if ((notes & DOOR_ASKS) != 0)
		writer_plain(&body, "door", SLICE("ask"));
	return call_answer(call, writer_end(&body));
}

/* Asks whether somebody is still there, and sends the person the reason for leaving. */
static void ask_with_notice(struct call *call, const struct server *server, const struct peer *peer,
			    struct asked *person, struct asked *message)
{
	person->about = arena_copy(call->arena, peer->uuid);
	server_ask_person(call->arena, server, call->now / 1000, call->parameters[0],
			  peer->identity, &person->request);
	message_to_person(call, server, call->parameters[0], peer->identity,
			  message_why(call->arena, "removed", "removed", call_text(call, "reason")),
			  &message->request);
}

bool active_rooms_remove(struct call *call, struct fault *fault)
{
	const struct slice peer_id = text_of_json(call_member(call, "peer_id"));
	const struct live_view *view = call->view;
	struct group *group = arena_alloc(call->arena, sizeof *group);
	struct template_record template;
	struct asking *asking;
	struct peer peer;
	bool asks = false;

	group->call = call;
	group->view = view;
	group->fault = fault;
	group->role = text_of_json(call_member(call, "role"));
	group->is_one = peer_id.data != NULL;
	group->count = 0;
	group->has_caller = false;
	group->is_whole = true;
	group->code_count = group->code_capacity = 0;
	group->notes = call->step.notes;
	group->has_failed = false;
	if ((group->is_one ? !live_find_peer(call, view, peer_id, &peer, fault)
			   : !live_find_role(call, &view->room, group->role, &template, fault)) ||
	    !live_may_act(view, "removeOthers", fault) ||
	    !live_find_server(call, live_backend(&view->live), &group->server, fault) ||
	    !call_can_act(call, group->server.type, SERVER_REMOVE, fault))
		return false;
	if (group->is_one ? !add_person(group, &peer) : !add_role(group))
		return false;
	if (group->has_caller && group->count == 0 && !call->run.step.is_next) {
		group->peers[group->count++] = view->caller;
		group->has_caller = false;
	}

	/* The codes by which the people came ask at the door until the session closes. */
	if (group->has_failed || !live_codes_ask(call, &view->live, &view->room.id, group->codes,
						 group->code_count, &asks, fault))
		return false;
	if (asks)
		group->notes |= DOOR_ASKS;
	call->run.step.notes = group->notes;
	if (call->run.goes_on)
		return true;

	/* Those whom this call does not reach are put out by the service (live_enforcement.h). */
	if (call->run.step.is_next)
		live_want(call, &view->room.id, ROOM_ENFORCE);
	if (group->count == 0)
		return answer_removed(call, group->notes);
	asking = live_ask(call, live_backend(&view->live), 2 * group->count);
	asking->notes = group->notes;
	for (size_t i = 0; i < group->count; i++)
		ask_with_notice(call, &group->server, &group->peers[i], &asking->asked[i],
				&asking->asked[group->count + i]);
	/* If there are more than this call puts out, the service puts out the caller, too. */
	if (group->has_caller && group->is_whole && !call->run.step.is_next)
		asking->asked[0].by = arena_copy(call->arena, view->caller.uuid);
	return true;
}

/* Asks for those to be put out who are still there in the same stay. After them it is the caller's
 * turn, who is asked for now. */
static bool ask_to_remove(struct call *call, const struct server *server, struct fault *fault)
{
	const struct asking *lookups = call->asking;
	const size_t count = lookups->count / 2;
	const struct slice last = lookups->asked[0].by;
	struct server_request *requests = arena_alloc(call->arena, count * sizeof *requests);
	struct slice *about = arena_alloc(call->arena, count * sizeof *about);
	struct fault first = FAULT_INITIAL;
	struct asking *asking;
	struct peer caller;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct fault own = FAULT_INITIAL;
		struct server_person person;
		struct server_track *tracks;
		struct peer peer;
		size_t track_count;

		if (!record_get_named(&peer_table, call->transaction, lookups->asked[i].about,
				      STORE_TO_SHOW, &peer, fault))
			return false;
		if (!live_read_peer(call, &lookups->asked[i], server, &peer, &person, &tracks,
				    &track_count, &own)) {
			if (first.kind == FAULT_NONE)
				first = own;
			continue;
		}
		about[n] = lookups->asked[i].about;
		server_remove_person(call->arena, server, call->now / 1000, call->parameters[0],
				     peer.identity, &requests[n++]);
	}
	/* Of many, most are not among these. */
	if (n == 0 && last.size == 0 && call->step.is_next && first.kind == FAULT_NOT_FOUND)
		return answer_removed(call, lookups->notes);
	if (n == 0 && (last.size == 0 || first.kind != FAULT_NOT_FOUND)) {
		*fault = first;
		return false;
	}
	if (last.size > 0 &&
	    !record_get_named(&peer_table, call->transaction, last, STORE_TO_SHOW, &caller, fault))
		return false;
	asking = live_ask(call, &lookups->backend, n + (last.size > 0 ? CALLER_ASKED : 0));
	asking->step = STEP_ACT;
	asking->notes = lookups->notes;
	for (size_t i = 0; i < n; i++) {
		asking->asked[i].request = requests[i];
		asking->asked[i].about = about[i];
	}
	if (last.size > 0) {
		ask_with_notice(call, server, &caller, &asking->asked[n], &asking->asked[n + 1]);
		asking->asked[0].by = last;
	}
	return true;
}

/* Ends the stays of those who are out, and asks for a caller who goes last to be put out, too. If
 * nobody is out, the call fails. If somebody is not, the service puts out the caller
 * (live_enforcement.h). */
static bool settle_removed(struct call *call, const struct server *server, struct fault *fault)
{
	const struct asking *asking = call->asking;
	const bool is_last = asking->step == STEP_LAST;
	const bool has_last = !is_last && asking->asked[0].by.size > 0;
	const size_t count = asking->count - (has_last ? CALLER_ASKED : 0);
	struct fault first = FAULT_INITIAL, own = FAULT_INITIAL;
	struct server_person person;
	struct server_track *tracks;
	bool has_done = count == 0;
	struct asking *last;
	struct peer caller;
	size_t track_count;
	struct id room;

	if (!id_parse(call->parameters[0], &room))
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	for (size_t i = 0; i < count; i++) {
		const struct asked *asked = &asking->asked[i];
		struct fault refused = FAULT_INITIAL;
		const enum server_result result = asked_result(call, asked, server,
							       "peer not found", &refused);

		if (result == SERVER_DONE || result == SERVER_HAS_NOBODY) {
			if (!live_put_out(call, &room, asked->about, fault))
				return false;
			has_done = true;
		} else if (first.kind == FAULT_NONE) {
			first = refused;
		}
	}
	if (!has_done && !is_last) {
		*fault = first;
		return false;
	}
	if (!has_last || first.kind != FAULT_NONE)
		return answer_removed(call, asking->notes);

	if (!record_get_named(&peer_table, call->transaction, asking->asked[0].by, STORE_TO_SHOW,
			      &caller, fault))
		return false;
	/* The caller may have left meanwhile. */
	if (!live_read_peer(call, &asking->asked[count], server, &caller, &person, &tracks,
			    &track_count, &own))
		return answer_removed(call, asking->notes);
	last = live_ask(call, &asking->backend, 1);
	last->step = STEP_LAST;
	last->notes = asking->notes;
	last->asked[0].about = asking->asked[0].by;
	server_remove_person(call->arena, server, call->now / 1000, call->parameters[0],
			     caller.identity, &last->asked[0].request);
	return true;
}

bool active_rooms_settle_remove(struct call *call, struct fault *fault)
{
	const bool has_acted = call->asking->step != STEP_FIRST;
	const bool has_banned = (call->asking->notes & BANNED_SOME) != 0;
	struct server server;
	struct id room;

	if (!live_find_server(call, &call->asking->backend, &server, fault))
		return false;
	/* Those whom this call did not reach are put out by the service (live_enforcement.h). */
	if ((has_acted || has_banned) && id_parse(call->parameters[0], &room))
		live_want(call, &room, ROOM_ENFORCE);
	if (has_acted ? settle_removed(call, &server, fault) : ask_to_remove(call, &server, fault))
		return true;
	if (!has_banned || fault->kind == FAULT_NOT_FOUND)
		return false;
	if (fault->kind == FAULT_SERVER_BUSY) {
		*fault = FAULT_INITIAL;
		return answer_removed(call, call->asking->notes);
	}
	fault_add_detail(fault, call->arena, "the person is banned");
	return false;
}

/* ---- ending ---- */

static bool locks(const struct call *call)
{
	return json_is_true(call_member(call, "lock"));
}

static bool answer_ended(struct call *call)
{
	return call_answer(call, SLICE("{\"message\":\"session is ending\"}"));
}

static void ask_to_end(struct call *call, const struct id *backend, const struct server *server)
{
	struct asking *asking = live_ask(call, backend, 1);

	asking->step = STEP_ACT;
	server_end_room(call->arena, server, call->now / 1000, call->parameters[0],
			&asking->asked[0].request);
}

bool active_rooms_end(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	struct server server;
	struct message message = {
		.view = view,
		.server = &server,
		.topic = OWN_TOPIC,
		.patience = NOTICE_PATIENCE,
	};
	const struct ending ending = {
		.room = view->room.id,
		.reason = call_text(call, "reason"),
		.by = view->is_inside ? &view->caller : NULL,
		.locks = locks(call),
	};
	bool is_asked;

	if (view->live.stored.value.data == NULL) {
		if (!locks(call))
			return fault_set(fault, FAULT_NOT_FOUND, "session not found");
		/* A room that is not in session is locked all the same. */
		return room_disable(call, &view->room.id, fault) && answer_ended(call);
	}
	if (!live_may_act(view, "endRoom", fault) ||
	    !live_find_server(call, live_backend(&view->live), &server, fault) ||
	    !call_can_act(call, server.type, SERVER_END, fault) ||
	    (locks(call) && !room_disable(call, &view->room.id, fault)) ||
	    !live_order_end(call, &ending, fault))
		return false;
	message.text = message_why(call->arena, "ended", "ended", call_text(call, "reason"));
	if (!message_ask(call, &message, &is_asked, fault))
		return false;
	if (!is_asked)
		ask_to_end(call, live_backend(&view->live), &server);
	return true;
}

bool active_rooms_settle_end(struct call *call, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;
	enum server_result result;
	struct server server;
	struct id room;

	if (!live_find_server(call, &call->asking->backend, &server, fault))
		return false;
	if (call->asking->step != STEP_ACT) {
		/* Whether the people got the message does not matter. */
		ask_to_end(call, &call->asking->backend, &server);
		return true;
	}
	result = asked_result(call, &call->asking->asked[0], &server, "", &own);
	if (!id_parse(call->parameters[0], &room))
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	/* The media server has ended the room, or does not have it. */
	if (result == SERVER_DONE || result == SERVER_HAS_NOBODY)
		return live_end(call, &room, fault) && answer_ended(call);
	*fault = own;
	if (locks(call))
		fault_add_detail(fault, call->arena, "the room is locked");
	return false;
}
