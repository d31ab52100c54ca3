/* Sends messages to the people in a room, who get them from the media server. One person is looked
 * up first: the media server would take a message for somebody who has just left, or wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_rooms.h"
#include "resources/media/backends.h"
#include "resources/templates/template_record.h"

/* Bytes of the identities in one request. */
#define IDENTITIES_MOST ((size_t)64 << 10)

/* Whom a message is for. */
struct addressees {
	struct live_view view;
	struct server server;
	bool is_for_one;
	struct peer peer; /* if it is */
	struct slice role; /* data NULL: any */
};

static bool role_exists(struct call *call, const struct room_record *room, struct slice role,
			struct fault *fault)
{
	struct template_record template;

	return template_load(call, &room->template_id, &template, fault) &&
	       (template_role_index(&template, role) < template.role_count ||
		fault_member(fault, FAULT_INVALID_BODY, NULL, "/role",
			     "must be a role of the room's template, got \"%.*s\"",
			     (int)text_cut(role, 64).size, role.data));
}

static bool find_addressees(struct call *call, struct addressees *to, struct fault *fault)
{
	struct slice peer_id = text_of_json(call_member(call, "peer_id"));

	if (peer_id.data == NULL)
		peer_id = text_of_json(call_member(call, "peerId"));
	to->is_for_one = peer_id.data != NULL;
	to->role = text_of_json(call_member(call, "role"));
	if (call->app_token != NULL)
		return fault_set(fault, FAULT_FORBIDDEN, "Not from inside");
	if (!live_view_open(call, LIVE_SEES_ROOM, &to->view, fault))
		return false;
	if (to->is_for_one && !live_find_peer(call, &to->view, peer_id, &to->peer, fault))
		return false;
	return (to->is_for_one || to->role.data == NULL ||
		role_exists(call, &to->view.room, to->role, fault)) &&
	       live_find_server(call, &to->view.live.backend, &to->server, fault) &&
	       call_can_act(call, to->server.type, SERVER_MESSAGE, fault);
}

/* ---- requests ---- */

struct identities {
	const struct addressees *to;
	json_t *lists[ASKED_MOST]; /* of each request */
	size_t count, size; /* lists; bytes of the last one */
	struct arena *arena;
};

static void add_identity(struct identities *all, struct slice identity)
{
	if (all->count == 0 || all->size > IDENTITIES_MOST) {
		if (all->count == ASKED_MOST)
			return;
		all->lists[all->count++] = arena_json(all->arena, json_array());
		all->size = 0;
	}
	array_put(all->lists[all->count - 1], json_of_text(identity));
	all->size += identity.size;
}

static bool add_addressee(void *context, const struct peer *peer)
{
	struct identities *all = context;

	if (all->to->role.data == NULL || slice_equal(all->to->role, peer->role))
		add_identity(all, peer->identity);
	return true;
}

static void ask_to_send(struct call *call, const struct addressees *to,
			const struct identities *all)
{
	const struct slice type = text_of_json(call_member(call, "type"));
	const struct slice room = id_as_text(call->arena, &to->view.room.id);
	struct asking *asking = call_ask(call, &to->view.live.backend, all->count);

	for (size_t i = 0; i < all->count; i++)
		server_send_message(call->arena, &to->server, call->now / 1000, room, all->lists[i],
				    type.data != NULL ? type : SLICE("chat"),
				    text_of_json(call_member(call, "message")),
				    &asking->asked[i].request);
}

static bool answer_sent(struct call *call)
{
	return call_answer(call, SLICE("{\"message\":\"message sent\"}"));
}

bool active_rooms_send_message(struct call *call, struct fault *fault)
{
	struct addressees to;
	struct identities all = { .to = &to, .arena = call->arena };

	if (!find_addressees(call, &to, fault))
		return false;
	if (to.is_for_one) {
		server_ask_person(call->arena, &to.server, call->now / 1000,
				  id_as_text(call->arena, &to.view.room.id), to.peer.identity,
				  &call_ask(call, &to.view.live.backend, 1)->asked[0].request);
		return true;
	}
	if (!peers_each(call, &to.view.live.session, STORE_ON, add_addressee, &all, fault))
		return false;
	if (all.count == 0)
		return answer_sent(call);
	ask_to_send(call, &to, &all);
	return true;
}

/* ---- after them ---- */

/* Sends the message to the person who was looked up. */
static bool go_on_with_one(struct call *call, const struct addressees *to, struct fault *fault)
{
	struct identities all = { .to = to, .arena = call->arena };
	struct server_person person;
	struct server_track *tracks;
	size_t count;

	if (!live_read_peer(call, &to->server, &to->peer, &person, &tracks, &count, fault))
		return false;
	add_identity(&all, to->peer.identity);
	ask_to_send(call, to, &all);
	return true;
}

bool active_rooms_settle_message(struct call *call, struct fault *fault)
{
	struct addressees to;

	/* The message was sent: what has changed since does not matter. */
	if (call->asking->asked[0].request.is_once) {
		struct server server;

		return live_find_server(call, &call->asking->backend, &server, fault) &&
		       asking_is_done(call, &server, "session not found", fault) &&
		       answer_sent(call);
	}
	return find_addressees(call, &to, fault) && go_on_with_one(call, &to, fault);
}
