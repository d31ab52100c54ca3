/* What a door does with everybody: its state, as moderators set it, and who may come back through a
 * lock. See resources/door/door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door.h"

#include "resources/audit.h"
#include "resources/door/door_change.h"
#include "resources/live/live_caller.h"
#include "resources/stored/code_record.h"

/* People whom one transaction lets back through a locked door. */
#define PASSES_AT_ONCE 128

void door_write_state(struct call *call, struct json_writer *body)
{
	const enum door_state state = door_state_now(call->door, &call->view->live, call->now);

	door_state_write(body, "state", state);
	if (state == DOOR_LOCKED)
		door_state_write(body, "was", call->door->set.was);
}

static enum door_state sent_state(const struct call *call)
{
	const struct slice sent = text_of_json(call_member(call, "state"));
	enum door_state state = DOOR_LOCKED;

	while (state > DOOR_BY_ROLE && !slice_is(sent, door_state_names[state]))
		state--;
	return state;
}

static bool answer_state(struct call *call)
{
	struct json_writer body = writer_begin(call->arena, false);

	door_write_state(call, &body);
	return call_answer(call, writer_end(&body));
}

static bool was_turned_out(enum leave_cause cause)
{
	return cause == LEAVE_NOT_ADMITTED || cause == LEAVE_FULL;
}

/* Lets the people who are or were inside in the session come back, some of them in this
 * transaction: the call goes on with the others in the next. The first transaction has locked the
 * door. */
static bool let_back(struct call *call, struct fault *fault)
{
	const struct live *live = &call->view->live;
	struct peer_page page = {
		.after = call->step.is_next ? &call->step.after : NULL,
		.most = PASSES_AT_ONCE,
	};
	struct passer passers[PASSES_AT_ONCE];

	if (live->stored.value.data == NULL)
		return true;
	if (!peers_read(call, &live->session, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		const struct peer *peer = &page.peers[i];

		passers[i] = (struct passer){
			.room = &call->view->room.id,
			.entry = peer->entry,
			.user_id = peer_has_known_user(peer) ? peer->user_id : SLICE(""),
		};
		/* People who came in although there was no place, or through a former lock, were
		 * never let in. */
		if (was_turned_out(peer->is_inside ? peer->order : peer->cause))
			passers[i].entry = passers[i].user_id = SLICE("");
	}
	if (!door_give_passes(call, call->door, passers, page.count, &live->session, fault))
		return false;
	call->run.goes_on = !page.is_last;
	if (call->run.goes_on) {
		call->run.step.is_next = true;
		call->run.step.after = page.peers[page.count - 1].stored.id;
	}
	return true;
}

/* Notes in the record of the session what merges must know of the door (live_merge.h). */
static bool put_in_session(struct call *call, enum door_state state, struct fault *fault)
{
	struct live live;

	if (call->view->live.stored.value.data == NULL)
		return true;
	if (!live_load(call, &call->view->room.id, STORE_TO_CHANGE, &live, fault))
		return false;
	if (live.stored.value.data == NULL)
		return true;
	live.has_door = state != DOOR_BY_ROLE;
	live.is_locked = state == DOOR_LOCKED;
	return record_put(&live_table, call->transaction, &live, fault);
}

bool door_set_state(struct call *call, struct fault *fault)
{
	const struct id *room = &call->view->room.id;
	const struct live *live = &call->view->live;
	const enum door_state state = sent_state(call);
	struct door *door = call->door;
	const enum door_state former = door_state_now(door, live, call->now);
	const uint64_t waiting = door->waiting;
	struct door_change *change;

	if (call->step.is_next)
		return (former != DOOR_LOCKED || let_back(call, fault)) && answer_state(call);
	if (state == former)
		return answer_state(call);
	change = door_change_of(call, room);
	door_set(door, state, live, audit_caller_text(call), call->now);
	change->is_set = true;
	if (state == DOOR_OPEN)
		change->admitted = door->admitted;
	if (state == DOOR_BY_ROLE)
		change->unasked = door->unasked;
	change->has_changed = door->waiting != waiting;
	change->ends[DOOR_END_ADMITTED] += waiting - door->waiting;
	return (state == DOOR_BY_ROLE || codes_mark(call, room, CODES_DOOR, true, fault)) &&
	       door_put(call, door, fault) && put_in_session(call, state, fault) &&
	       (state != DOOR_LOCKED || let_back(call, fault)) && answer_state(call);
}
