/* See src/resources/live/live_hands.h.
 *
 * To lower all hands, the media server is asked who is in the room: the records may lag behind what
 * it has. Then the people are updated, HANDS_AT_ONCE in a round.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_hands.h"

#include "base/json_text.h"
#include "base/text.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_queue.h"
#include "resources/live/live_rooms.h"
#include "resources/stored/template_record.h"
#include "rules/live_rules.h"

#define RAISED "isHandRaised"
#define HANDS_AT_ONCE 100

/* ---- one hand ---- */

/* Returns the metadata as an object, which may be empty; NULL if it is not one. */
static json_t *object_of(struct call *call, struct slice metadata)
{
	return metadata.size == 0 ? arena_json(call->arena, json_object())
				  : json_text_read_foreign(call->arena, metadata, NULL);
}

static bool is_up_in(struct call *call, struct slice metadata)
{
	const struct arena_mark mark = arena_mark(call->arena);
	const bool is_up = json_is_true(json_object_get(object_of(call, metadata), RAISED));

	arena_release(call->arena, &mark);
	return is_up;
}

bool hand_set(struct call *call, const struct server_person *person, bool is_up,
	      struct slice *metadata, struct fault *fault)
{
	json_t *object = object_of(call, person->metadata);

	if (object == NULL)
		return fault_set(fault, FAULT_CONFLICT, "Metadata is no object");
	if (is_up)
		object_put(object, RAISED, json_true());
	else
		(void)json_object_del(object, RAISED);
	*metadata = json_object_size(object) == 0 ? SLICE("") : json_as_text(call->arena, object);
	return metadata->size <= METADATA_MOST ||
	       fault_member(fault, FAULT_INVALID_BODY, NULL, "/hand",
			    "makes the metadata larger than %d bytes", METADATA_MOST);
}

struct slice hand_of(struct call *call, const struct server_person *person, struct slice metadata)
{
	const bool was_up = is_up_in(call, person->metadata);

	if (!is_up_in(call, metadata))
		return was_up || person->hand.size > 0 ? SLICE("") : (struct slice){ NULL, 0 };
	return was_up && person->hand.size > 0
		       ? (struct slice){ NULL, 0 }
		       : slice_of(arena_text(call->arena, "%lld", (long long)call->now));
}

/* ---- all hands ---- */

/* What the call has asked for: who is inside, then to lower hands. */
enum step { STEP_FIRST, STEP_LOWER };

/* Those whose hands are lowered, in the arena of the call. */
struct hands {
	struct server server;
	struct server_person *people; /* whose hand is up; after STEP_FIRST, to be lowered */
	size_t count, next;
	struct server_verdict verdict;
	size_t lowered;
	struct fault first; /* of those that failed */
};

static bool answer_lowered(struct call *call)
{
	return call_answer(call, SLICE("{\"message\":\"hands are lowered\"}"));
}

/* Keeps of the list those whose hand is up, before the transaction. A list may be large, so it is
 * read apart. */
static void read_people(struct call *call, struct asking *asking)
{
	struct hands *hands = asking->prepared;
	struct arena *apart = arena_open(), *before = arena_use_for_json(apart);
	struct server_person *people = NULL;
	size_t n = 0;

	if (asking->asked[0].end == ASKED_ANSWERED)
		server_read_people(apart, &hands->server, call->now / 1000,
				   &asking->asked[0].outcome, &hands->verdict, &people, &n);
	arena_use_for_json(before);
	hands->people = arena_alloc(call->arena, (n + 1) * sizeof *people);
	for (size_t i = 0; i < n; i++) {
		if (people[i].hand.size > 0 || is_up_in(call, people[i].metadata))
			hands->people[hands->count++] = (struct server_person){
				.identity = arena_copy(call->arena, people[i].identity),
				.entry = arena_copy(call->arena, people[i].entry),
				.role = arena_copy(call->arena, people[i].role),
				.metadata = arena_copy(call->arena, people[i].metadata),
			};
	}
	arena_close(apart);
}

/* Checks that the caller may do so, and finds the role. */
static bool find_lowering(struct call *call, struct template_record *template,
			  struct server *server, struct fault *fault)
{
	const struct slice role = text_of_json(call_member(call, "role"));
	const struct live_view *view = call->view;

	return (role.data == NULL || live_find_role(call, &view->room, role, template, fault)) &&
	       live_may_act(view, "mute", fault) &&
	       live_find_server(call, live_backend(&view->live), server, fault) &&
	       call_can_act(call, server->type, SERVER_ROLE, fault);
}

bool active_rooms_lower_hands(struct call *call, struct fault *fault)
{
	struct hands *hands = arena_zero(call->arena, sizeof *hands);
	struct template_record template;
	struct asking *asking;

	if (!find_lowering(call, &template, &hands->server, fault))
		return false;
	/* The records do not outlast the transaction. */
	hands->server.url = arena_copy(call->arena, hands->server.url);
	hands->first = FAULT_INITIAL;
	asking = live_ask(call, live_backend(&call->view->live), 1);
	asking->prepare = read_people;
	asking->prepared = hands;
	server_list_people(call->arena, &hands->server, call->now / 1000, call->parameters[0],
			   &asking->asked[0].request);
	return true;
}

/* Keeps those whose hands are to be lowered. */
static void choose_people(struct call *call, const struct template_record *template,
			  struct hands *hands)
{
	const struct slice role = text_of_json(call_member(call, "role"));
	const struct live_view *view = call->view;
	struct server_person *chosen = arena_alloc(call->arena,
						   (hands->count + 1) * sizeof *chosen);
	size_t n = 0;

	for (size_t i = 0; i < hands->count; i++) {
		const struct server_person *person = &hands->people[i];
		const bool is_caller = view->is_inside && person->entry.size > 0 &&
				       slice_equal(person->entry, view->caller.entry);

		if (!is_caller &&
		    (role.data == NULL || template_role_index_ever(template, person->role) ==
						  template_role_index(template, role)))
			chosen[n++] = *person;
	}
	hands->people = chosen;
	hands->count = n;
}

/* Asks for the next hands to be lowered, or answers. */
static bool lower_next(struct call *call, const struct id *backend, const struct server *server,
		       struct hands *hands)
{
	const size_t left = hands->count - hands->next;
	const size_t n = left < HANDS_AT_ONCE ? left : HANDS_AT_ONCE;
	struct asking *asking;

	if (n == 0)
		return answer_lowered(call);
	asking = live_ask(call, backend, n);
	asking->step = STEP_LOWER;
	asking->prepared = hands;
	for (size_t i = 0; i < n; i++) {
		const struct server_person *person = &hands->people[hands->next + i];
		const struct access_guest guest = { .hand = SLICE("") };
		struct slice metadata = { NULL, 0 };
		struct fault own = FAULT_INITIAL;

		/* If it is no object, its hand is not in it. */
		if (is_up_in(call, person->metadata))
			(void)hand_set(call, person, false, &metadata, &own);
		server_update_person(call->arena, server, call->now / 1000, call->parameters[0],
				     person->identity, &guest, metadata, &asking->asked[i].request);
	}
	return true;
}

static bool settle_list(struct call *call, struct hands *hands, struct fault *fault)
{
	struct template_record template;
	struct server server;

	if (!find_lowering(call, &template, &server, fault) ||
	    !asked_has_outcome(&call->asking->asked[0], fault) ||
	    !asked_is_up(&hands->verdict, fault))
		return false;
	choose_people(call, &template, hands);
	return lower_next(call, &call->asking->backend, &server, hands);
}

bool active_rooms_settle_lower_hands(struct call *call, struct fault *fault)
{
	const struct asking *asking = call->asking;
	/* This may run again. */
	struct hands *hands = arena_alloc(call->arena, sizeof *hands);
	size_t lowered = 0;
	struct server server;
	struct id room;

	*hands = *(const struct hands *)asking->prepared;
	if (asking->step == STEP_FIRST)
		return settle_list(call, hands, fault);
	if (!live_find_server(call, &asking->backend, &server, fault))
		return false;
	for (size_t i = 0; i < asking->count; i++) {
		struct fault own = FAULT_INITIAL;
		const enum server_result result = asked_result(call, &asking->asked[i], &server, "",
							       &own);

		/* Whoever has left has no hand up. */
		if (result == SERVER_DONE || result == SERVER_HAS_NOBODY)
			lowered++;
		else if (hands->first.kind == FAULT_NONE)
			hands->first = own;
	}
	hands->next += asking->count;
	hands->lowered += lowered;
	/* The records get what the media server has now. */
	if (call->environment->live_queue != NULL && id_parse(call->parameters[0], &room))
		live_queue_survey(call->environment->live_queue, &call->account, &asking->backend,
				  &room);
	if (lowered > 0)
		return lower_next(call, &asking->backend, &server, hands);
	if (hands->lowered > 0)
		return answer_lowered(call);
	*fault = hands->first;
	return false;
}
