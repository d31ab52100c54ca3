/* Mutes all people in a room, or those with a role; holds what they publish, or frees it. See
 * resources/live/live_rooms.h.
 *
 * What is held is stored before the media server is asked (live_holds.h). Then it lists the people
 * and what they publish, and requests go out in rounds, for some seconds: whoever is to be held is
 * given other rights, whereupon the media server ends what is published without a right; of the
 * others, tracks are muted. Those to be held or freed whom the rounds did not reach are left to the
 * service (live_enforcement.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/live/live_rooms.h"
#include "resources/media/media_join.h"
#include "resources/stored/code_record.h"
#include "resources/templates/template_parts.h"

/* What the call has asked for: the list of people, then to mute them. */
enum step { STEP_FIRST, STEP_ACT };

/* Milliseconds in which rounds begin; requests of a round. */
#define ROUNDS_LAST 5000
#define ROUND_MOST 100

/* Somebody whom the requests are about. */
struct target {
	struct slice uuid, identity;
	bool is_heard; /* something was to be muted */
	struct access_guest guest; /* what to give; role.data NULL: nothing */
	/* What has become of it. Setting them again changes nothing, so `settle` may run again. */
	bool is_reached, is_missed;
};

/* One request. */
struct step_for {
	struct target *target;
	struct slice track; /* to be muted; data NULL: the target is given its rights */
	size_t rank; /* of the track, among those of the target */
};

/* Somebody in the list, without what nobody asks for. */
struct listed {
	struct slice stay, identity;
	unsigned rights;
};

/* What goes through all steps of the call. */
struct muting {
	enum held_source source;
	struct slice role; /* data NULL for all */
	bool has_hold, holds; /* `hold` was sent, and its value */
	struct slice caller; /* the entry of a caller from inside; empty if there is none */
	int64_t until; /* no round begins later, by clock_monotonic */
	struct server server;
	/* Of the list, by the stays. */
	struct server_verdict verdict;
	struct listed *people;
	size_t people_count;
	struct server_published *tracks; /* that are to be muted */
	size_t track_count;
	/* What is asked for. */
	struct target *targets;
	size_t target_count;
	struct step_for *steps;
	size_t step_count;
};

/* ---- what is asked for ---- */

static bool mutes(const struct muting *muting)
{
	return !muting->has_hold || muting->holds;
}

static int compare_listed(const void *first, const void *second)
{
	const struct listed *a = first, *b = second;

	return slice_compare(a->stay, b->stay);
}

static int compare_published(const void *first, const void *second)
{
	const struct server_published *a = first, *b = second;
	const int order = slice_compare(a->stay, b->stay);

	return order != 0 ? order : slice_compare(a->track.id, b->track.id);
}

static bool is_to_be_muted(const struct muting *muting, const struct server_track *track)
{
	return mutes(muting) && !track->is_muted &&
	       (muting->source == HELD_AUDIO ? !track->is_video
					     : track->is_video && !track->is_screen);
}

/* Keeps of the list what the call needs. A list may be large, so it is read apart. */
static void read_list(struct call *call, struct asking *asking)
{
	struct muting *muting = asking->prepared;
	struct arena *apart = arena_open(), *before = arena_use_for_json(apart);
	struct server_published *tracks = NULL;
	struct server_person *people = NULL;
	size_t n = 0, track_count = 0;

	if (asking->asked[0].end == ASKED_ANSWERED)
		server_read_everything(apart, &muting->server, call->now / 1000,
				       &asking->asked[0].outcome, &muting->verdict, &people, &n,
				       &tracks, &track_count, NULL);
	if (muting->verdict.is_up) {
		muting->people = arena_alloc(call->arena, (n + 1) * sizeof *muting->people);
		muting->people_count = n;
		for (size_t i = 0; i < n; i++)
			muting->people[i] = (struct listed){
				.stay = arena_copy(call->arena, people[i].stay),
				.identity = arena_copy(call->arena, people[i].identity),
				.rights = people[i].rights,
			};
		qsort(muting->people, n, sizeof *muting->people, compare_listed);
		muting->tracks = arena_alloc(call->arena,
					     (track_count + 1) * sizeof *muting->tracks);
		for (size_t i = 0; i < track_count; i++) {
			struct server_published *kept = &muting->tracks[muting->track_count];

			if (!is_to_be_muted(muting, &tracks[i].track))
				continue;
			*kept = tracks[i];
			kept->stay = arena_copy(call->arena, tracks[i].stay);
			kept->track.id = arena_copy(call->arena, tracks[i].track.id);
			muting->track_count++;
		}
		qsort(muting->tracks, muting->track_count, sizeof *muting->tracks,
		      compare_published);
	}
	arena_use_for_json(before);
	arena_close(apart);
}

/* Stores what is held from now on, or no longer. */
static bool change_holds(struct call *call, const struct muting *muting,
			 const struct template_record *template, struct fault *fault)
{
	const struct id *room = &call->view->room.id;
	struct live *live = &call->view->live;
	struct room_codes codes;

	/* They are locked before the room in session. */
	if (!codes_load(call, room, STORE_TO_CHANGE, &codes, fault) ||
	    !live_load(call, room, STORE_TO_CHANGE, live, fault))
		return false;
	if (live->stored.value.data == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "session not found");
	if (!live_hold(call, live, template, muting->source, muting->role, muting->holds))
		return true;
	live_want(call, room, ROOM_NOTIFY_HOLDS);
	return record_put(&live_table, call->transaction, live, fault) &&
	       codes_mark(call, room, CODES_HOLDS, live->hold_count > 0, fault);
}

bool active_rooms_mute(struct call *call, struct fault *fault)
{
	const struct live_view *view = call->view;
	const json_t *hold = call_member(call, "hold");
	const struct slice role = text_of_json(call_member(call, "role"));
	struct muting *muting = arena_zero(call->arena, sizeof *muting);
	struct template_record template;
	struct asking *asking;

	muting->source = slice_is(text_of_json(call_member(call, "type")), "video") ? HELD_VIDEO
										    : HELD_AUDIO;
	muting->role = role;
	muting->has_hold = hold != NULL;
	muting->holds = json_is_true(hold);
	muting->caller = view->is_inside ? arena_copy(call->arena, view->caller.entry) : SLICE("");
	muting->until = clock_monotonic() + ROUNDS_LAST;
	if ((role.data != NULL ? !live_find_role(call, &view->room, role, &template, fault)
			       : !template_load(call, &view->room.template_id, &template, fault)) ||
	    !live_may_act(view, "mute", fault) ||
	    !live_find_server(call, live_backend(&view->live), &muting->server, fault) ||
	    !call_can_act(call, muting->server.type, SERVER_MUTE, fault) ||
	    (muting->has_hold && (!call_can_act(call, muting->server.type, SERVER_ROLE, fault) ||
				  !change_holds(call, muting, &template, fault))))
		return false;
	/* The records do not outlast the transaction. */
	muting->server.url = arena_copy(call->arena, muting->server.url);
	asking = live_ask(call, live_backend(&view->live), 1);
	asking->prepare = read_list;
	asking->prepared = muting;
	asking->waits_until = muting->until;
	server_list_people(call->arena, &muting->server, call->now / 1000, call->parameters[0],
			   &asking->asked[0].request);
	return true;
}

/* ---- whom it is about ---- */

/* The room, for finding out what to ask for. */
struct room_muted {
	struct room_record room;
	struct live live;
	struct template_record template;
	size_t role; /* whose holders are meant; role_count for all */
	struct access_guest *guests; /* what each role may do; set where `rights` is */
	unsigned *rights; /* 0: not read yet */
};

/* Loads the room. *is_there: false if it is not in session any more, or lacks the role. */
static bool open_room(struct call *call, const struct muting *muting, const struct id *id,
		      struct room_muted *room, bool *is_there, struct fault *fault)
{
	if (!room_find(call, id, STORE_TO_SHOW, &room->room, is_there, fault) ||
	    !live_load(call, id, STORE_TO_SHOW, &room->live, fault))
		return false;
	*is_there = *is_there && room->live.stored.value.data != NULL;
	if (!*is_there)
		return true;
	if (!template_load(call, &room->room.template_id, &room->template, fault))
		return false;
	room->role = room->template.role_count;
	if (muting->role.data == NULL)
		return true;
	room->role = template_role_index_ever(&room->template, muting->role);
	*is_there = room->role < room->template.role_count;
	return true;
}

static bool is_meant(const struct muting *muting, const struct room_muted *room,
		     const struct peer *peer, size_t role)
{
	return (room->role == room->template.role_count || role == room->role) &&
	       (muting->caller.size == 0 || !slice_equal(peer->entry, muting->caller));
}

/* Reads what people with the role may do, less what is held. */
static const struct access_guest *guest_of_role(struct call *call, struct room_muted *room,
						size_t place)
{
	struct access_guest *guest = &room->guests[place];
	const json_t *role;

	if (room->rights[place] == 0) {
		role = template_role_document(call, &room->template, &room->template.roles[place]);
		media_read_role(role, &room->template,
				live_held(&room->live, &room->template, place, role), guest);
		room->rights[place] = server_rights_of(guest);
	}
	return guest;
}

static struct step_for *step_add(struct muting *muting, struct target *target)
{
	struct step_for *step = &muting->steps[muting->step_count++];

	*step = (struct step_for){ .target = target };
	return step;
}

/* Adds what is to be asked for of somebody inside, if the media server has listed the stay. */
static void add_target(struct call *call, struct muting *muting, struct room_muted *room,
		       const struct peer *peer)
{
	const struct listed key = { .stay = peer->stay };
	const struct listed *listed = bsearch(&key, muting->people, muting->people_count,
					      sizeof *muting->people, compare_listed);
	const size_t place = template_role_index_ever(&room->template, peer->role);
	struct target *target = &muting->targets[muting->target_count];
	size_t first = 0, end = muting->track_count;

	if (listed == NULL || !slice_equal(listed->identity, peer->identity) ||
	    !is_meant(muting, room, peer, place))
		return;
	/* The first of the person's tracks. */
	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (slice_compare(muting->tracks[middle].stay, peer->stay) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	*target = (struct target){ .identity = listed->identity };
	for (end = first;
	     end < muting->track_count && slice_equal(muting->tracks[end].stay, peer->stay);)
		end++;
	target->is_heard = end > first;
	if (muting->has_hold && peer->entry.size > 0 && place < room->template.role_count) {
		const struct access_guest *guest = guest_of_role(call, room, place);

		if (listed->rights != room->rights[place]) {
			target->guest = *guest;
			target->guest.role = arena_copy(call->arena, peer->role);
			target->guest.user_id = arena_copy(call->arena, peer->user_id);
			target->guest.entry = arena_copy(call->arena, peer->entry);
			target->guest.code = arena_copy(call->arena, peer->code);
			target->guest.name = SLICE("");
		}
	}
	if (target->guest.role.data == NULL && !target->is_heard)
		return;
	target->uuid = arena_copy(call->arena, peer->uuid);
	muting->target_count++;
	if (target->guest.role.data != NULL)
		(void)step_add(muting, target);
	/* With the right, the media server takes the track away. */
	if (target->guest.role.data != NULL &&
	    (muting->source == HELD_AUDIO ? !target->guest.audio : !target->guest.video))
		return;
	for (size_t i = first; i < end; i++) {
		struct step_for *step = step_add(muting, target);

		step->track = muting->tracks[i].track.id;
		step->rank = i - first;
	}
}

/* The first track of each person before the second one of anybody. */
static int compare_steps(const void *first, const void *second)
{
	const struct step_for *a = first, *b = second;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->track.data != NULL) - (b->track.data != NULL);
}

/* Finds out what to ask for. Those who are inside by the records are meant, since they say who has
 * which role. */
static bool find_targets(struct call *call, struct muting *muting, const struct id *id,
			 struct fault *fault)
{
	struct room_muted *room = arena_zero(call->arena, sizeof *room);
	struct store_walk walk;
	struct peer peer;
	bool is_there;
	size_t most;

	muting->target_count = muting->step_count = 0;
	if (!open_room(call, muting, id, room, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	most = room->template.role_count + 1;
	room->guests = arena_zero(call->arena, most * sizeof *room->guests);
	room->rights = arena_zero(call->arena, most * sizeof *room->rights);
	most = (size_t)live_peers(&room->live);
	muting->targets = arena_zero(call->arena, (most + 1) * sizeof *muting->targets);
	muting->steps = arena_zero(call->arena,
				   (most + muting->track_count + 1) * sizeof *muting->steps);
	walk = peers_walk(call, &room->live.session, STORE_ON, true, fault);
	while (muting->target_count < most && peers_next(&walk, &peer))
		add_target(call, muting, room, &peer);
	if (fault->kind != FAULT_NONE)
		return false;
	qsort(muting->steps, muting->step_count, sizeof *muting->steps, compare_steps);
	return true;
}

/* ---- rounds ---- */

static bool answer_with(struct call *call, int64_t muted, int64_t missed)
{
	struct json_writer body = writer_begin(call->arena, false);

	writer_text(&body, "message", SLICE("mute request submitted"));
	writer_integer(&body, "muted", muted);
	writer_integer(&body, "missed", missed);
	return call_answer(call, writer_end(&body));
}

static bool answer_muted(struct call *call, const struct muting *muting)
{
	int64_t muted = 0, missed = 0;

	for (size_t i = 0; i < muting->target_count; i++) {
		const struct target *target = &muting->targets[i];

		muted += target->is_heard && target->is_reached && !target->is_missed;
		missed += target->is_missed;
	}
	return answer_with(call, muted, missed);
}

/* Answers that nobody was reached: all who are meant were missed. */
static bool answer_nobody(struct call *call, const struct muting *muting, const struct id *id,
			  struct fault *fault)
{
	struct room_muted *room = arena_zero(call->arena, sizeof *room);
	struct store_walk walk;
	int64_t missed = 0;
	struct peer peer;
	bool is_there;

	if (!open_room(call, muting, id, room, &is_there, fault))
		return false;
	if (!is_there)
		return answer_with(call, 0, 0);
	walk = peers_walk(call, &room->live.session, STORE_ON, true, fault);
	while (peers_next(&walk, &peer))
		missed += is_meant(muting, room, &peer,
				   template_role_index_ever(&room->template, peer.role));
	return fault->kind == FAULT_NONE && answer_with(call, 0, missed);
}

/* Leaves the requests from this one on, as many as a round has. */
static void ask_round(struct call *call, struct muting *muting, size_t first)
{
	const size_t left = muting->step_count - first;
	const size_t n = left < ROUND_MOST ? left : ROUND_MOST;
	struct asking *asking = live_ask(call, &call->asking->backend, n);

	asking->step = STEP_ACT;
	asking->notes = (unsigned)first;
	asking->prepared = muting;
	asking->waits_until = muting->until;
	for (size_t i = 0; i < n; i++) {
		const struct step_for *step = &muting->steps[first + i];
		struct server_request *request = &asking->asked[i].request;

		if (step->track.data != NULL)
			server_mute(call->arena, &muting->server, call->now / 1000,
				    call->parameters[0], step->target->identity, step->track, true,
				    request);
		else
			server_update_person(call->arena, &muting->server, call->now / 1000,
					     call->parameters[0], step->target->identity,
					     &step->target->guest, (struct slice){ NULL, 0 },
					     request);
	}
}

/* Notes what has become of a round. *is_down: nobody was reached. */
static bool end_round(struct call *call, struct muting *muting, const struct id *room,
		      bool *is_down, struct fault *fault)
{
	const struct asking *asking = call->asking;

	*is_down = true;
	for (size_t i = 0; i < asking->count; i++) {
		const struct step_for *step = &muting->steps[asking->notes + i];
		const struct asked *asked = &asking->asked[i];
		struct fault own = FAULT_INITIAL;
		const enum server_result result = asked_result(call, asked, &muting->server, "",
							       &own);

		/* LiveKit says 404 of somebody who has left, and 503 of somebody whom none of its
		 * nodes serves. */
		if (result == SERVER_DONE)
			step->target->is_reached = true;
		else if (result != SERVER_HAS_NOBODY || asked->outcome.status != 404)
			step->target->is_missed = true;
		*is_down = *is_down && result != SERVER_DONE && result != SERVER_HAS_NOBODY;
		if (result == SERVER_DONE && step->track.data == NULL &&
		    !live_put_back(call, room, step->target->uuid, &step->target->guest, fault))
			return false;
	}
	return true;
}

/* Has the service go on with those to be held or freed: whatever becomes of the call, the holds
 * are stored. */
static void leave_to_service(struct call *call, const struct muting *muting, const struct id *room)
{
	if (muting->has_hold && call->environment->live_queue != NULL)
		live_queue_want(call->environment->live_queue, &call->account, room, ROOM_ENFORCE);
}

bool active_rooms_settle_mute(struct call *call, struct fault *fault)
{
	const struct asking *asking = call->asking;
	struct muting *muting = asking->prepared;
	size_t next = 0;
	bool is_down = false;
	struct id room;

	if (!id_parse(call->parameters[0], &room))
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	if (asking->step == STEP_FIRST && asking->asked[0].end != ASKED_ANSWERED) {
		/* The server was not asked at all. */
		leave_to_service(call, muting, &room);
		return answer_nobody(call, muting, &room, fault);
	}
	if (asking->step == STEP_FIRST) {
		if (!asked_is_up(&muting->verdict, fault)) {
			leave_to_service(call, muting, &room);
			if (muting->has_hold)
				fault_add_detail(fault, call->arena,
						 muting->holds ? "people are held"
							       : "people are no longer held");
			return false;
		}
		if (!find_targets(call, muting, &room, fault))
			return false;
	} else {
		next = asking->notes + asking->count;
		if (!end_round(call, muting, &room, &is_down, fault))
			return false;
	}
	if (next < muting->step_count && !is_down && clock_monotonic() < muting->until) {
		ask_round(call, muting, next);
		return true;
	}
	for (; next < muting->step_count; next++)
		muting->steps[next].target->is_missed = true;
	leave_to_service(call, muting, &room);
	return answer_muted(call, muting);
}
