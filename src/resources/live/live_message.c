/* See resources/live/live_message.h. A person who is the only one to get a message is looked up
 * first: the media server would take a message for somebody who has just left, or wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_message.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "resources/stored/door_record.h"
#include "resources/media/media_join.h"
#include "resources/misses.h"
#include "resources/live/live_queue.h"
#include "resources/live/live_rooms.h"
#include "resources/stored/media_record.h"
#include "resources/templates/template_parts.h"

/* Most bytes of the identities in one request, as they are sent. What remains of SENDER_BYTES_MOST
 * is enough for the message itself and the headers. */
#define IDENTITIES_MOST (SENDER_BYTES_MOST / 4 * 3)
/* Memory that the call needs afterwards: in a room so large that there would not be enough,
 * messages of this service do not reach everybody. */
#define MEMORY_LEFT ((size_t)16 << 20)

/* ---- requests ---- */

struct identities {
	json_t *lists[ASKED_MOST]; /* of each request */
	size_t count, size; /* lists; bytes of the last one */
	bool are_too_many; /* for ASKED_MOST requests */
	struct arena *arena;
};

static void add_identity(struct identities *all, struct slice identity)
{
	const size_t size = text_size_in_json(identity) + 1;

	if (all->count == 0 || all->size + size > IDENTITIES_MOST) {
		all->are_too_many = all->count == ASKED_MOST;
		if (all->are_too_many)
			return;
		all->lists[all->count++] = arena_json(all->arena, json_array());
		all->size = 0;
	}
	array_put(all->lists[all->count - 1], json_of_text(identity));
	all->size += size;
}

bool message_ask(struct call *call, const struct message *message, bool *is_asked,
		 struct fault *fault)
{
	const struct live *live = &message->view->live;
	struct identities all = { .arena = call->arena };
	struct store_walk walk = peers_walk(call, &live->session, STORE_ON, true, fault);
	struct asking *asking;
	struct peer peer;

	if (message->peer != NULL)
		add_identity(&all, message->peer->identity);
	while (message->peer == NULL && !all.are_too_many && peers_next(&walk, &peer)) {
		bool is_for = message->role_count == 0;

		if (message->patience != 0 && !arena_fits(call->arena, MEMORY_LEFT))
			break;
		for (size_t i = 0; i < message->role_count && !is_for; i++)
			is_for = slice_equal(message->roles[i], peer.role);
		if (is_for)
			add_identity(&all, peer.identity);
	}
	if (fault->kind != FAULT_NONE)
		return false;
	if (all.are_too_many && message->is_for_all)
		return fault_detail(fault, FAULT_TOO_LARGE,
				    "the identities of these people are too long for one "
				    "request; send the message to each role");
	*is_asked = all.count > 0;
	if (!*is_asked)
		return true;
	asking = call_ask(call, live_backend(live), all.count);
	asking->room = message->view->room.id;
	asking->step = message->step;
	if (call->app_token != NULL)
		asking->rank = ASKED_TO_ENFORCE;
	for (size_t i = 0; i < all.count; i++) {
		struct server_request *request = &asking->asked[i].request;

		server_send_message(call->arena, message->server, call->now / 1000,
				    id_as_text(call->arena, &message->view->room.id), all.lists[i],
				    message->topic, message->text, request);
		request->patience = message->patience;
	}
	return true;
}

/* ---- why people are put out ---- */

struct slice message_why(struct arena *arena, const char *type, const char *cause,
			 struct slice reason)
{
	struct json_writer text = writer_begin(arena, true);

	writer_text(&text, "type", slice_of(type));
	writer_text(&text, "cause", slice_of(cause));
	writer_text(&text, "reason", reason);
	return writer_end(&text);
}

void message_to_person(struct call *call, const struct server *server, struct slice room,
		       struct slice identity, struct slice why, struct server_request *request)
{
	json_t *identities = arena_json(call->arena, json_array());

	array_put(identities, json_of_text(identity));
	server_send_message(call->arena, server, call->now / 1000, room, identities, OWN_TOPIC, why,
			    request);
	request->patience = NOTICE_PATIENCE;
}

/* ---- who waits, and what is held ---- */

/* A room in session in which this service itself notifies people. */
struct notified_room {
	struct live_view view;
	struct template_record template;
	struct server server;
	struct message message; /* without roles and text */
};

/* Sets *is_there to false if the room is not in session, or its people cannot be sent messages. */
static bool open_notified_room(struct call *call, const struct id *room,
			       struct notified_room *notified, bool *is_there, struct fault *fault)
{
	*notified = (struct notified_room){ .view.is_inside = false };
	*is_there = false;
	if (!live_load(call, room, STORE_TO_SHOW, &notified->view.live, fault))
		return false;
	if (notified->view.live.stored.value.data == NULL)
		return true;
	if (!room_find(call, room, STORE_TO_SHOW, &notified->view.room, is_there, fault))
		return false;
	if (!*is_there)
		return true;
	if (!template_load(call, &notified->view.room.template_id, &notified->template, fault) ||
	    !live_find_server(call, live_backend(&notified->view.live), &notified->server, fault))
		return false;
	*is_there = server_can(notified->server.type, SERVER_MESSAGE);
	notified->message = (struct message){
		.view = &notified->view,
		.server = &notified->server,
		.topic = OWN_TOPIC,
		.patience = NOTICE_PATIENCE,
	};
	return true;
}

/* Prepares a message of this text to those whose role has the permission. */
static bool ask_moderators(struct call *call, struct notified_room *notified,
			   const char *permission, struct slice text, struct fault *fault)
{
	const struct template_record *template = &notified->template;
	struct slice *roles = arena_alloc(call->arena, (template->role_count + 1) * sizeof *roles);
	bool is_asked;

	notified->message.roles = roles;
	for (size_t i = 0; i < template->role_count; i++) {
		const json_t *role = template_role_document(call, template, &template->roles[i]);

		if (media_permits(role, permission))
			roles[notified->message.role_count++] = template->roles[i].name;
	}
	notified->message.text = text;
	return notified->message.role_count == 0 ||
	       message_ask(call, &notified->message, &is_asked, fault);
}

static bool open_notified_door(struct call *call, const struct id *room,
			       struct notified_room *notified, struct door *door, bool *is_there,
			       struct fault *fault)
{
	return open_notified_room(call, room, notified, is_there, fault) &&
	       (!*is_there || door_load(call, room, STORE_TO_SHOW, door, fault));
}

bool message_ask_of_waiting(struct call *call, const struct id *room, struct fault *fault)
{
	struct notified_room notified;
	struct door door;
	bool is_there;

	if (!open_notified_door(call, room, &notified, &door, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	return ask_moderators(
		call, &notified, "removeOthers",
		slice_of(arena_text(call->arena, "{\"type\":\"waiting\",\"count\":%llu}",
				    (unsigned long long)door.waiting)),
		fault);
}

bool message_ask_of_door(struct call *call, const struct id *room, struct fault *fault)
{
	struct notified_room notified;
	struct json_writer text = writer_begin(call->arena, false);
	struct door door;
	bool is_there;

	if (!open_notified_door(call, room, &notified, &door, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	writer_plain(&text, "type", SLICE("door"));
	door_state_write(&text, "state", door_state_now(&door, &notified.view.live, call->now));
	return ask_moderators(call, &notified, "removeOthers", writer_end(&text), fault);
}

bool message_ask_of_holds(struct call *call, const struct id *room, struct fault *fault)
{
	struct notified_room notified;
	bool is_there;

	return open_notified_room(call, room, &notified, &is_there, fault) &&
	       (!is_there ||
		ask_moderators(call, &notified, "mute", SLICE("{\"type\":\"hold\"}"), fault));
}

bool message_ask_of_jobs(struct call *call, const struct id *room, struct fault *fault)
{
	struct notified_room notified;
	bool is_there, is_asked;

	if (!open_notified_room(call, room, &notified, &is_there, fault))
		return false;
	notified.message.text = SLICE("{\"type\":\"recordings\"}");
	return !is_there || message_ask(call, &notified.message, &is_asked, fault);
}

/* ---- roles that have changed ---- */

bool message_ask_of_roles(struct call *call, const struct id *room,
			  const struct notified_roles *roles, struct fault *fault)
{
	const struct template_record *template;
	struct notified_room notified;
	struct slice *names;
	size_t most = 1;
	bool is_there, is_asked;

	if (!open_notified_room(call, room, &notified, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	template = &notified.template;
	/* Names in `former` have at least one byte and a newline. */
	for (size_t i = 0; i < template->role_count; i++)
		most += 2 + template->roles[i].former.size / 2;
	names = arena_alloc(call->arena, most * sizeof *names);
	notified.message.roles = names;
	for (size_t i = 0; i < template->role_count; i++) {
		const struct template_role *role = &template->roles[i];
		struct slice former = role->former;

		if (!notified_roles_have(roles, &template->id, role->identity))
			continue;
		names[notified.message.role_count++] = role->name;
		/* People who came before the role was renamed may still have its former name. */
		while (former.size > 0)
			names[notified.message.role_count++] = text_split(former, '\n', &former);
	}
	if (notified.message.role_count == 0)
		return true;
	notified.message.text = SLICE("{\"type\":\"role\"}");
	return message_ask(call, &notified.message, &is_asked, fault);
}

/* ---- send-message ---- */

/* What the call has asked for: the person whom the message is for, then to send it. */
enum step { STEP_FIRST, STEP_SENT };

/* Whom a message is for. */
struct addressees {
	struct server server;
	bool is_for_one;
	struct peer peer; /* if it is */
	struct slice role; /* data NULL: any */
};

static bool find_addressees(struct call *call, struct addressees *to, struct fault *fault)
{
	const struct live_view *view = call->view;
	struct slice peer_id = text_of_json(call_member(call, "peer_id"));
	struct template_record template;

	if (peer_id.data == NULL)
		peer_id = text_of_json(call_member(call, "peerId"));
	to->is_for_one = peer_id.data != NULL;
	to->role = text_of_json(call_member(call, "role"));
	if (to->is_for_one && !live_find_peer(call, view, peer_id, &to->peer, fault))
		return false;
	return (to->is_for_one || to->role.data == NULL ||
		live_find_role(call, &view->room, to->role, &template, fault)) &&
	       live_find_server(call, live_backend(&view->live), &to->server, fault) &&
	       call_can_act(call, to->server.type, SERVER_MESSAGE, fault);
}

static bool answer_sent(struct call *call)
{
	return call_answer(call, SLICE("{\"message\":\"message sent\"}"));
}

static bool send_to(struct call *call, const struct addressees *to, struct fault *fault)
{
	const struct slice type = text_of_json(call_member(call, "type"));
	const struct message message = {
		.view = call->view,
		.server = &to->server,
		.peer = to->is_for_one ? &to->peer : NULL,
		.roles = &to->role,
		.role_count = to->role.data != NULL,
		.topic = type.data != NULL ? type : SLICE("chat"),
		.text = text_of_json(call_member(call, "message")),
		.is_for_all = true,
		.step = STEP_SENT,
	};
	bool is_asked;

	return message_ask(call, &message, &is_asked, fault) && (is_asked || answer_sent(call));
}

bool active_rooms_send_message(struct call *call, struct fault *fault)
{
	struct addressees to;

	if (!find_addressees(call, &to, fault))
		return false;
	if (!to.is_for_one)
		return send_to(call, &to, fault);
	server_ask_person(call->arena, &to.server, call->now / 1000,
			  id_as_text(call->arena, &call->view->room.id), to.peer.identity,
			  &live_ask(call, live_backend(&call->view->live), 1)->asked[0].request);
	return true;
}

bool active_rooms_settle_message(struct call *call, struct fault *fault)
{
	struct server_person person;
	struct server_track *tracks;
	struct addressees to;
	size_t count;

	/* The message was sent: what has changed since does not matter. */
	if (call->asking->step == STEP_SENT)
		return live_find_server(call, &call->asking->backend, &to.server, fault) &&
		       asking_is_done(call, &to.server, "session not found", fault) &&
		       answer_sent(call);
	/* Sends it to the person who was looked up. */
	return find_addressees(call, &to, fault) &&
	       live_read_peer(call, &call->asking->asked[0], &to.server, &to.peer, &person, &tracks,
			      &count, fault) &&
	       send_to(call, &to, fault);
}
