/* See resources/door/door_change.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door_change.h"

#include "resources/audit.h"
#include "resources/live/live_queue.h"

struct door_change *door_change_of(struct call *call, const struct id *room)
{
	if (call->run.door == NULL) {
		call->run.door = arena_zero(call->arena, sizeof *call->run.door);
		call->run.door->room = *room;
	}
	return call->run.door;
}

/* ---- events ---- */

void door_note(struct call *call, const char *type, const struct room_record *room,
	       const struct door *door, const struct door_ticket *ticket, struct slice actor)
{
	const bool hides = call_is_anonymous(call);
	struct audit_data data = {
		.kind = "ticket",
		.id = id_as_text(call->arena, &ticket->id),
		.name = hides ? SLICE("") : ticket->user_name,
		.actor = actor,
		.more = { { "room_id", id_as_text(call->arena, &room->id), false },
			  { "room_name", room->name, false },
			  { "user_id", hides ? SLICE("") : ticket->user_id, false },
			  { "user_name", hides ? SLICE("") : ticket->user_name, false },
			  { "role", ticket->role, false },
			  { "waiting",
			    slice_of(arena_text(call->arena, "%llu",
						(unsigned long long)door->waiting)),
			    true } },
	};

	if (ticket->state == DOOR_DENIED)
		data.more[6] = (struct audit_member){ "reason", ticket->reason, false };
	audit_note(call, type, &data);
}

void door_note_admitted(struct call *call, const struct room_record *room, const struct door *door,
			const struct door_ticket *ticket)
{
	if (ticket->state == DOOR_WAITING)
		door_note(call, "peer.admitted", room, door, ticket,
			  id_compare(&ticket->id, &door->admitted) <= 0 ? door->admitted_by
									: door->unasked_by);
}

/* ---- records ---- */

bool door_put_changed(struct call *call, const struct door *door, struct fault *fault)
{
	door_change_of(call, &door->stored.id)->has_changed = true;
	return door_put(call, door, fault);
}

bool door_put_denied(struct call *call, struct door *door, struct door_ticket *ticket,
		     const struct room_record *room, struct slice reason, struct slice actor,
		     bool may_return, struct fault *fault)
{
	const bool was_taken = ticket->taken != 0;
	const bool was_waiting = door_ticket_is_waiting(door, ticket);
	struct door_change *change = door_change_of(call, &ticket->room);
	struct door_ticket *kept = arena_alloc(call->arena, sizeof *kept);

	ticket->decided = call->now;
	ticket->reason = reason;
	if (was_waiting)
		door_count_down(door, ticket);
	if (was_waiting && may_return)
		door_add_denial(call, door, &ticket->id);
	if (was_taken)
		door_note_admitted(call, room, door, ticket);
	ticket->state = DOOR_DENIED;
	door_note(call, "peer.denied", room, door, ticket, actor);
	/* The caller's may not last until the call is committed. */
	*kept = *ticket;
	change->denied = kept;
	change->ends[DOOR_END_DENIED]++;
	return (!was_waiting || door_put_changed(call, door, fault)) &&
	       record_put(&door_ticket_table, call->transaction, ticket, fault);
}

bool door_put_taken(struct call *call, const struct door *door, struct door_ticket *ticket,
		    const struct room_record *room, struct fault *fault)
{
	door_note_admitted(call, room, door, ticket);
	ticket->state = DOOR_TAKEN;
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

/* ---- once the call is committed ---- */

void door_after_commit(const struct call *call)
{
	struct door_polls *polls = call->environment->door_polls;
	const struct door_change *change = call->run.door;

	if (change == NULL)
		return;
	for (enum door_end end = DOOR_END_ADMITTED; end < DOOR_ENDS; end++)
		door_polls_count(polls, end, change->ends[end]);
	for (size_t i = 0; i < change->name_count; i++)
		door_polls_admit(polls, change->names[i]);
	if (change->denied != NULL && change->has_address)
		door_polls_deny(polls, change->denied, change->address,
				change->denied->decided + DOOR_DENIES_FOR);
	if (change->denied != NULL)
		door_polls_remove(polls, change->denied->name);
	if (change->allowed != NULL)
		door_polls_allow(polls, change->allowed);
	if (id_compare(&change->admitted, &kind_only_id) != 0)
		door_polls_admit_all(polls, &call->account, &change->room, DOOR_ADMITS_EVERYBODY,
				     &change->admitted, call->now);
	if (id_compare(&change->unasked, &kind_only_id) != 0)
		door_polls_admit_all(polls, &call->account, &change->room, DOOR_ADMITS_UNASKED,
				     &change->unasked, call->now);
	if (change->is_set)
		door_polls_watch(polls, &call->account, &change->room);
	if (call->environment->live != LIVE_ON || call->environment->live_queue == NULL)
		return;
	if (change->has_changed)
		live_queue_notify(call->environment->live_queue, &call->account, &change->room);
	if (change->is_set)
		live_queue_want(call->environment->live_queue, &call->account, &change->room,
				ROOM_NOTIFY_DOOR);
}
