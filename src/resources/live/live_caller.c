/* See resources/live/live_caller.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_caller.h"

#include "accounts/token.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/joining/join.h"
#include "resources/joining/misses.h"
#include "resources/live/live_merge.h"
#include "resources/media/backends.h"
#include "resources/templates/template_parts.h"

/* Milliseconds to wait for a media server that may know the caller. */
#define CALLER_PATIENCE 2000

static bool is_not_there(struct fault *fault)
{
	return fault_set(fault, FAULT_FORBIDDEN, "Not in the room");
}

/* ---- finding the caller ---- */

bool live_find_entry(struct call *call, const struct live *live, struct slice entry,
		     struct peer *peer, bool *is_there, struct fault *fault)
{
	struct inside inside;

	*is_there = false;
	if (entry.size == 0 || live->stored.value.data == NULL)
		return true;
	if (!inside_find(call, &live->stored.id, entry, STORE_TO_SHOW, &inside, fault))
		return false;
	if (inside.stored.value.data == NULL || inside.stay_count == 0 ||
	    !slice_equal(inside.entry, entry))
		return true;
	if (!record_get_named(&peer_table, call->transaction,
			      inside.stays[inside.stay_count - 1].uuid, STORE_TO_SHOW, peer, fault))
		return false;
	*is_there = live_has_peer(live, peer);
	return true;
}

/* ---- looking ---- */

static bool find_backend_server(struct call *call, const struct id *id, struct server *server,
				bool *can_list, struct fault *fault)
{
	const struct backend *backend;
	struct media media;

	*can_list = false;
	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, id);
	*can_list = backend != NULL && server_can(backend->type, SERVER_LIST);
	if (*can_list)
		*server = backend_server(call, backend);
	return true;
}

/* Asks the media server for the people of the room, and which room it is. */
static bool ask_for_caller(struct call *call, const struct id *backend,
			   const struct live_view *view, struct fault *fault)
{
	json_t *names = arena_json(call->arena, json_array());
	const struct slice room = id_as_text(call->arena, &view->room.id);
	struct asking *asking;
	struct server server;
	bool can_list;

	if (!find_backend_server(call, backend, &server, &can_list, fault))
		return false;
	if (!can_list || call->environment->media_client == NULL ||
	    call->environment->live == LIVE_OFF)
		return is_not_there(fault);
	asking = call_ask(call, backend, 2);
	asking->is_look = true;
	array_put(names, json_of_text(room));
	server_list_people(call->arena, &server, call->now / 1000, room, &asking->asked[0].request);
	server_list_rooms(call->arena, &server, call->now / 1000, names, &asking->asked[1].request);
	for (size_t i = 0; i < asking->count; i++)
		asking->asked[i].request.patience = CALLER_PATIENCE;
	asking->began = call->now;
	return true;
}

/* Merges what the look found. What cannot be read tells nothing. */
static bool merge_found(struct call *call, const struct live_view *view, struct fault *fault)
{
	const struct asking *asking = call->asking;
	struct merging merging = { .room = view->room.id, .backend = asking->backend };
	struct server_verdict people_verdict, rooms_verdict;
	struct server_person *people;
	struct server_room *rooms;
	size_t people_count, room_count;
	struct server server;
	bool can_list;

	if (!find_backend_server(call, &asking->backend, &server, &can_list, fault))
		return false;
	if (!can_list || asking->asked[0].end != ASKED_ANSWERED ||
	    asking->asked[1].end != ASKED_ANSWERED)
		return true;
	server_read_people(call->arena, &server, call->now / 1000, &asking->asked[0].outcome,
			   &people_verdict, &people, &people_count);
	server_read_rooms(call->arena, &server, call->now / 1000, &asking->asked[1].outcome,
			  &rooms_verdict, &rooms, &room_count);
	if (!people_verdict.is_up || !rooms_verdict.is_up)
		return true;
	return live_merge_look(call, people, people_count, room_count == 1 ? rooms : NULL,
			       asking->began, &merging, fault);
}

/* ---- a person ---- */

static bool open_from_inside(struct call *call, enum live_sight sight, struct live_view *view,
			     struct fault *fault)
{
	const bool has_looked = call->asking != NULL && call->asking->is_done &&
				call->asking->is_look;
	struct bearer bearer;
	size_t role;

	if (!slice_equal(call->app_token->subject.room_id, call->parameters[0]) ||
	    call->environment->live == LIVE_OFF)
		return is_not_there(fault);
	if (!token_check(call, &bearer, fault)) {
		if (fault->kind != FAULT_NOT_FOUND)
			return false;
		/* The room or the role is gone. */
		*fault = FAULT_INITIAL;
		return is_not_there(fault);
	}
	view->room = bearer.room;
	view->template = bearer.template;
	view->name_is_fixed = bearer.name_is_fixed;
	if (!live_load(call, &view->room.id, STORE_TO_SHOW, &view->live, fault))
		return false;
	if (has_looked && (!merge_found(call, view, fault) ||
			   !live_load(call, &view->room.id, STORE_TO_SHOW, &view->live, fault)))
		return false;
	if (!live_find_entry(call, &view->live, call->app_token->subject.entry, &view->caller,
			     &view->is_inside, fault))
		return false;
	view->was_waiting = has_looked;
	if (!view->is_inside) {
		const bool is_live = view->live.stored.value.data != NULL;

		if (has_looked || call->validates_only ||
		    call->app_token->subject.entry.size == 0 || (!is_live && !bearer.has_backend))
			return is_not_there(fault);
		view->is_waiting = true;
		return ask_for_caller(call, is_live ? &view->live.backend : &bearer.backend, view,
				      fault);
	}
	role = template_role_index_ever(&view->template, view->caller.role);
	if (role < view->template.role_count) {
		view->role = &view->template.roles[role];
		view->role_document = template_role_document(call, &view->template, view->role);
	}
	view->sees_numbers = live_peers(&view->live) > LIVE_SHOWN_MOST;
	if (sight == LIVE_SEES_ITSELF || sight == LIVE_ACTS)
		return true;
	return (sight != LIVE_SEES_ROOM || live_view_sees(view, NULL, fault)) &&
	       misses_count_view(call, view->caller.entry, fault);
}

bool live_view_open(struct call *call, enum live_sight sight, struct live_view *view,
		    struct fault *fault)
{
	struct id id;
	bool is_there = false;

	*view = (struct live_view){ .is_waiting = false };
	if (call->app_token != NULL)
		return open_from_inside(call, sight, view, fault);
	if (sight == LIVE_SEES_ITSELF)
		return is_not_there(fault);
	if (id_parse(call->parameters[0], &id) &&
	    !room_find(call, &id, STORE_TO_SHOW, &view->room, &is_there, fault))
		return false;
	if (!is_there)
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	if (!live_load(call, &view->room.id, STORE_TO_SHOW, &view->live, fault))
		return false;
	/* With LIVE_OFF, what the records have is not followed. */
	return (view->live.stored.value.data != NULL && call->environment->live != LIVE_OFF) ||
	       fault_set(fault, FAULT_NOT_FOUND, "session not found");
}

bool live_view_may(const struct live_view *view, const char *permission)
{
	return json_is_true(
		json_object_get(json_object_get(view->role_document, "permissions"), permission));
}

bool live_may_act(const struct live_view *view, const char *permission, struct fault *fault)
{
	return !view->is_inside || live_view_may(view, permission) ||
	       fault_set(fault, FAULT_FORBIDDEN, "Missing permission %s", permission);
}

bool live_may_give(const struct live_view *view, const json_t *role, struct fault *fault)
{
	static const char *const powers[] = { "endRoom", "removeOthers", "mute", "unmute",
					      "changeRole" };
	const json_t *permissions = json_object_get(role, "permissions");

	if (!live_may_act(view, "changeRole", fault))
		return false;
	for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
		if (json_is_true(json_object_get(permissions, powers[i])) &&
		    !live_may_act(view, powers[i], fault))
			return false;
	}
	return true;
}

bool live_view_sees(const struct live_view *view, const struct peer *peer, struct fault *fault)
{
	return (peer != NULL && view->is_inside && slice_equal(peer->uuid, view->caller.uuid)) ||
	       live_may_act(view, "sendRoomState", fault);
}

bool live_find_role(struct call *call, const struct room_record *room, struct slice role,
		    struct template_record *template, struct fault *fault)
{
	return template_load(call, &room->template_id, template, fault) &&
	       (template_role_index(template, role) < template->role_count ||
		fault_member(fault, FAULT_INVALID_BODY, NULL, "/role",
			     "must be a role of the room's template, got \"%.*s\"",
			     (int)text_cut(role, 64).size, role.data));
}

/* ---- somebody inside ---- */

/* Finds the peer with this stay. Each time that a stay was declared gone although it was still
 * inside, it got another id. */
static bool find_stay_of_server(struct call *call, const struct live_view *view, struct slice stay,
				struct peer *peer, struct fault *fault)
{
	char uuid[UUID_TEXT_SIZE];
	unsigned again = 0;

	do {
		peer_uuid(&view->live.backend, stay, again++, uuid);
		if (!record_get_named(&peer_table, call->transaction, slice_of(uuid), STORE_TO_SHOW,
				      peer, fault))
			return false;
	} while (peer->stored.value.data != NULL && !peer->is_inside);
	return true;
}

bool live_find_peer(struct call *call, const struct live_view *view, struct slice id,
		    struct peer *peer, struct fault *fault)
{
	const bool is_stay = view->is_inside && id.size != UUID_TEXT_SIZE - 1;

	if (id.size == 0 || id.size > STORE_NAME_MAX)
		return fault_set(fault, FAULT_NOT_FOUND, "peer not found");
	if (is_stay ? !find_stay_of_server(call, view, id, peer, fault)
		    : !record_get_named(&peer_table, call->transaction, id, STORE_TO_SHOW, peer,
					fault))
		return false;
	return live_has_peer(&view->live, peer) ||
	       fault_set(fault, FAULT_NOT_FOUND, "peer not found");
}

bool live_find_server(struct call *call, const struct id *backend, struct server *server,
		      struct fault *fault)
{
	bool can_list;

	return find_backend_server(call, backend, server, &can_list, fault) &&
	       (can_list || fault_set(fault, FAULT_NOT_FOUND, "session not found"));
}

bool live_read_peer(struct call *call, const struct asked *asked, const struct server *server,
		    const struct peer *peer, struct server_person *person,
		    struct server_track **tracks, size_t *count, struct fault *fault)
{
	struct server_verdict verdict;

	if (!asked_has_outcome(asked, fault))
		return false;
	server_read_person(call->arena, server, call->now / 1000, &asked->outcome, &verdict, person,
			   tracks, count);
	if (!asked_is_up(&verdict, fault))
		return false;
	return (person->stay.data != NULL && slice_equal(person->stay, peer->stay)) ||
	       fault_set(fault, FAULT_NOT_FOUND, "peer not found");
}
