/* See resources/live/live_caller.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_caller.h"

#include <stdlib.h>

#include "accounts/token.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/entry_rules/token_check.h"
#include "resources/media/media_join.h"
#include "resources/misses.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/media/backend_health.h"
#include "resources/stored/media_record.h"
#include "resources/templates/template_parts.h"

/* Seconds for which somebody with a new join token may be on the way into the room. */
#define ON_THE_WAY_FOR 30

static bool is_not_there(struct fault *fault)
{
	return fault_set(fault, FAULT_FORBIDDEN, "Not in the room");
}

/* ---- surveys ---- */

/* A media server that can list people. */
struct listing_server {
	bool is_there;
	bool is_in_pool;
	struct server server; /* if it is there */
};

static bool find_listing_server(struct call *call, const struct id *id,
				struct listing_server *found, struct fault *fault)
{
	const struct backend *backend;
	struct media media;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, id);
	found->is_there = backend != NULL && server_can(backend->type, SERVER_LIST);
	if (!found->is_there)
		return true;
	found->is_in_pool = backend->pool.size > 0;
	found->server = backend_server(call, backend);
	return true;
}

/* What a survey has found of the caller. */
struct found {
	struct arena *arena; /* of the call */
	struct listing_server at;
	struct server_person *people; /* the stays with the entry of the caller */
	size_t count;
	struct server_room room;
};

static int compare_entries(const void *first, const void *second)
{
	const struct server_person *a = first, *b = second;

	return slice_compare(a->entry, b->entry);
}

/* Copies those with the entry that this call looks for. The call may not be the one that read the
 * list, so nothing of the list is kept. */
static void copy_found(struct asking *asking, const struct server_person *people, size_t count,
		       const struct server_room *room)
{
	const struct server_person key = { .entry = asking->entry };
	const struct server_person *at =
		count == 0 ? NULL : bsearch(&key, people, count, sizeof *people, compare_entries);
	const struct server_person *end = people + count;
	struct found *found = asking->prepared;
	struct arena *arena = found->arena;

	if (at == NULL)
		return;
	while (at > people && compare_entries(at - 1, &key) == 0)
		at--;
	found->room = *room;
	found->room.name = arena_copy(arena, room->name);
	found->room.id = arena_copy(arena, room->id);
	for (const struct server_person *each = at; each < end && compare_entries(each, &key) == 0;
	     each++)
		found->count++;
	found->people = arena_alloc(arena, found->count * sizeof *found->people);
	for (size_t i = 0; i < found->count; i++) {
		struct server_person *person = &found->people[i];
		struct slice *const texts[] = {
			&person->stay, &person->identity, &person->user_id,
			&person->role, &person->entry,	  &person->code,
			&person->name, &person->metadata, &person->consent_text,
		};

		*person = at[i];
		for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++)
			*texts[j] = arena_copy(arena, *texts[j]);
	}
}

/* Reads the answers to a survey, for the call and for those that follow it: before the transaction,
 * of which others wait for the end. What cannot be read says nothing. */
static void read_survey(struct call *call, struct asking *asking)
{
	const struct server *server = &((struct found *)asking->prepared)->at.server;
	struct server_verdict people_verdict, rooms_verdict;
	struct server_person *people;
	struct server_room *rooms;
	size_t people_count, room_count;

	if (asking->asked[0].end != ASKED_ANSWERED || asking->asked[1].end != ASKED_ANSWERED)
		return;
	server_read_people(call->arena, server, call->now / 1000, &asking->asked[0].outcome,
			   &people_verdict, &people, &people_count);
	server_read_rooms(call->arena, server, call->now / 1000, &asking->asked[1].outcome,
			  &rooms_verdict, &rooms, &room_count);
	/* Those who were listed may be gone with the room. */
	if (!people_verdict.is_up || !rooms_verdict.is_up || room_count != 1)
		return;
	qsort(people, people_count, sizeof *people, compare_entries);
	copy_found(asking, people, people_count, rooms);
	for (struct asking *each = asking->followers; each != NULL; each = each->next_follower) {
		copy_found(each, people, people_count, rooms);
		each->began = asking->began;
	}
}

/* Asks the media server for the people of the room, and which room it is. */
static bool ask_for_caller(struct call *call, const struct id *backend,
			   const struct live_view *view, struct fault *fault)
{
	struct found *found = arena_zero(call->arena, sizeof *found);
	json_t *names = arena_json(call->arena, json_array());
	const struct slice room = id_as_text(call->arena, &view->room.id);
	struct asking *asking;

	found->arena = call->arena;
	if (!find_listing_server(call, backend, &found->at, fault))
		return false;
	if (!found->at.is_there || call->environment->media_client == NULL ||
	    call->environment->live == LIVE_OFF)
		return is_not_there(fault);
	/* The records do not outlast the transaction. */
	found->at.server.url = arena_copy(call->arena, found->at.server.url);
	asking = call_ask(call, backend, 2);
	asking->rank = ASKED_TO_SURVEY;
	asking->room = view->room.id;
	asking->is_survey = true;
	asking->entry = call->app_token->subject.entry;
	asking->prepare = read_survey;
	asking->prepared = found;
	asking->began = call->now;
	array_put(names, json_of_text(room));
	server_list_people(call->arena, &found->at.server, call->now / 1000, room,
			   &asking->asked[0].request);
	server_list_rooms(call->arena, &found->at.server, call->now / 1000, names,
			  &asking->asked[1].request);
	return true;
}

/* Merges what the survey has found of the caller, and has the watch survey the room for all
 * others. */
static bool merge_found(struct call *call, const struct live_view *view, struct fault *fault)
{
	const struct asking *asking = call->asking;
	const struct found *found = asking->prepared;
	struct merging merging = {
		.room = view->room.id,
		.backend = asking->backend,
		.is_in_pool = found->at.is_in_pool,
		.caller = call->app_token->subject.entry,
	};
	struct report *reports = arena_zero(call->arena, (found->count + 1) * sizeof *reports);
	struct backend_healths healths;
	const struct backend_health *health;

	if (found->count == 0)
		return true;
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &asking->backend);
	for (size_t i = 0; i < found->count; i++) {
		reports[i] = (struct report){
			.type = REPORT_LISTED,
			.room = found->room,
			.person = found->people[i],
			.time = asking->began,
		};
		reports[i].person.joined = backend_time(health, found->people[i].joined, call->now);
	}
	merging.reports = reports;
	merging.count = found->count;
	if (!live_merge(call, &merging, fault))
		return false;
	if (call->environment->live_queue != NULL)
		live_queue_survey(call->environment->live_queue, &call->account, &asking->backend,
				  &view->room.id);
	return true;
}

/* Returns true if the media server may know the caller although this service does not: the token is
 * new, or the caller was given access just now. */
static bool is_on_the_way(struct call *call)
{
	return call->app_token->issued_at >= call->now / 1000 - ON_THE_WAY_FOR ||
	       misses_has_joined(call);
}

/* ---- a person ---- */

static bool find_caller(struct call *call, struct slice room, enum live_sight sight,
			struct fault *fault)
{
	const bool has_surveyed = call->asking != NULL && call->asking->is_done &&
				  call->asking->is_survey;
	struct live_view *view = call->view;
	struct bearer bearer;
	size_t role;

	if (!slice_equal(call->app_token->subject.room_id, room) ||
	    call->environment->live == LIVE_OFF)
		return is_not_there(fault);
	if (!misses_count_inside(call, fault))
		return false;
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
	if (has_surveyed && (!merge_found(call, view, fault) ||
			     !live_load(call, &view->room.id, STORE_TO_SHOW, &view->live, fault)))
		return false;
	if (!live_find_entry(call, &view->live, call->app_token->subject.entry, &view->caller,
			     &view->is_inside, fault))
		return false;
	if (!view->is_inside) {
		const bool is_live = view->live.stored.value.data != NULL;

		if (has_surveyed || call->validates_only ||
		    call->app_token->subject.entry.size == 0 || (!is_live && !bearer.has_backend) ||
		    !is_on_the_way(call))
			return is_not_there(fault);
		return ask_for_caller(call, is_live ? live_backend(&view->live) : &bearer.backend,
				      view, fault);
	}
	role = template_role_index_ever(&view->template, view->caller.role);
	if (role < view->template.role_count) {
		view->role = &view->template.roles[role];
		view->role_document = template_role_document(call, &view->template, view->role);
	}
	view->sees_numbers = live_peers(&view->live) > LIVE_SHOWN_MOST;
	if (sight == LIVE_SEES_ITSELF || sight == LIVE_ACTS || sight == LIVE_ACTS_ALWAYS)
		return true;
	return (sight != LIVE_SEES_ROOM || live_view_sees(view, NULL, fault)) &&
	       misses_count_view(call, view->caller.entry, fault);
}

bool live_load_caller(struct call *call, struct fault *fault)
{
	call->view = arena_zero(call->arena, sizeof *call->view);
	return find_caller(call, call->app_token->subject.room_id, LIVE_ACTS_ALWAYS, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct live_view *view = arena_zero(call->arena, sizeof *view);
	bool is_there = false;
	struct id id;

	call->view = view;
	if (call->app_token != NULL && load->sight == LIVE_OUTSIDE)
		return misses_count_inside(call, fault) &&
		       fault_set(fault, FAULT_FORBIDDEN, "Not from inside");
	if (call->app_token != NULL)
		return find_caller(call, call->parameters[0], load->sight, fault) &&
		       (load->permission == NULL || live_may_act(view, load->permission, fault));
	if (load->sight == LIVE_SEES_ITSELF)
		return is_not_there(fault);

	if (id_parse(call->parameters[0], &id) &&
	    !room_find(call, &id, STORE_TO_SHOW, &view->room, &is_there, fault))
		return false;
	if (!is_there)
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	if (!live_load_followed(call, &view->room.id, &view->live, fault))
		return false;
	return view->live.stored.value.data != NULL || load->sight == LIVE_ACTS_ALWAYS ||
	       fault_set(fault, FAULT_NOT_FOUND, "session not found");
}

static const struct read reads_of_path[] = {
	{ .kind = &kind_room, .finding = STORE_FIND_ID, .from = READ_PATH, .is_shown = true },
	{ .kind = &kind_live, .finding = STORE_FIND_ID, .from = READ_PATH, .is_shown = true },
	READS_END,
};
const struct loading load_view = { .load = load_of_path, .reads = reads_of_path };

/* Permissions that concern others. */
static const char *const powers[] = { "endRoom", "removeOthers", "mute", "unmute", "changeRole" };
#define POWER_COUNT (sizeof powers / sizeof powers[0])

bool live_view_may(const struct live_view *view, const char *permission)
{
	return media_permits(view->role_document, permission);
}

bool live_may_act(const struct live_view *view, const char *permission, struct fault *fault)
{
	return !view->is_inside || live_view_may(view, permission) ||
	       fault_set(fault, FAULT_FORBIDDEN, "Missing permission %s", permission);
}

bool live_may_give(const struct live_view *view, const json_t *role, struct fault *fault)
{
	if (!live_may_act(view, "changeRole", fault))
		return false;
	for (size_t i = 0; i < POWER_COUNT; i++) {
		if (media_permits(role, powers[i]) && !live_may_act(view, powers[i], fault))
			return false;
	}
	return true;
}

bool live_role_lacks(const json_t *role, const json_t *other)
{
	for (size_t i = 0; i < POWER_COUNT; i++) {
		if (media_permits(other, powers[i]) && !media_permits(role, powers[i]))
			return true;
	}
	return false;
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

struct asking *live_ask(struct call *call, const struct id *backend, size_t count)
{
	struct asking *asking = call_ask(call, backend, count);

	(void)id_parse(call->parameters[0], &asking->room);
	if (call->app_token != NULL)
		asking->rank = ASKED_TO_ENFORCE;
	return asking;
}

struct asking *live_ask_for_oneself(struct call *call, const struct id *backend)
{
	struct asking *asking = live_ask(call, backend, 1);

	if (call->app_token != NULL) {
		asking->rank = ASKED_FOR_ONESELF;
		asking->person = call->app_token->subject.entry;
	}
	return asking;
}

bool live_find_peer(struct call *call, const struct live_view *view, struct slice id,
		    struct peer *peer, struct fault *fault)
{
	const bool is_stay = view->is_inside && id.size != UUID_TEXT_SIZE - 1;
	char uuid[UUID_TEXT_SIZE];
	unsigned again = 0;

	if (id.size == 0 || id.size > STORE_NAME_MAX)
		return fault_set(fault, FAULT_NOT_FOUND, "peer not found");
	/* Each time that a stay was declared gone although it was still inside, it got another
	 * id. */
	do {
		if (is_stay)
			uuid_of(&view->live.backend, id, again++, uuid);
		if (!record_get_named(&peer_table, call->transaction, is_stay ? slice_of(uuid) : id,
				      STORE_TO_SHOW, peer, fault))
			return false;
	} while (is_stay && peer->stored.value.data != NULL && !peer->is_inside);
	return live_has_peer(&view->live, peer) ||
	       fault_set(fault, FAULT_NOT_FOUND, "peer not found");
}

bool live_find_server(struct call *call, const struct id *backend, struct server *server,
		      struct fault *fault)
{
	struct listing_server found;

	if (!find_listing_server(call, backend, &found, fault))
		return false;
	if (!found.is_there)
		return fault_set(fault, FAULT_NOT_FOUND, "session not found");
	*server = found.server;
	return true;
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
