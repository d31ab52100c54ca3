/* See resources/door/door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door.h"

#include <assert.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "resources/audit.h"
#include "resources/door/door_polls.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_queue.h"

/* Characters of what a page keeps to be known again. */
#define BROWSER_SIZE 22
/* Characters of the text of a ticket, which has CALL_TICKET_SIZE bytes. */
#define TICKET_TEXT_SIZE 43
/* Most people in a list. */
#define LISTED_MOST 100
/* Most people who are admitted by their ids. */
#define ADMITTED_MOST 100
/* Milliseconds between two events peer.waiting of a room. */
#define ANNOUNCED_AFTER 1000

/* ---- when to ask again ---- */

/* The seconds after which a ticket is to be asked for: more if many people wait, and never the same
 * for all of them. */
static unsigned seconds_until_poll(struct call *call, uint64_t waiting)
{
	const uint64_t beyond = waiting > 100 ? (waiting - 100) / 1000 : 0;
	const unsigned seconds = beyond > 8 ? 10 : 2 + (unsigned)beyond;
	uint32_t chance;

	clock_random(call->environment->clock, &chance, sizeof chance);
	/* 80 to 120 % of it, rounded. */
	return (seconds * (800 + chance % 401) + 500) / 1000;
}

static void header_retry_after(struct call *call, unsigned seconds)
{
	call_header(call, "Retry-After", slice_of(arena_text(call->arena, "%u", seconds)));
}

bool door_answer_waiting(struct call *call, const struct door *door)
{
	const unsigned seconds = seconds_until_poll(call, door->waiting);
	struct json_writer body = writer_begin(call->arena, false);

	writer_plain(&body, "state", SLICE("waiting"));
	writer_integer(&body, "retry_after", seconds);
	header_retry_after(call, seconds);
	return call_answer(call, writer_end(&body));
}

bool door_answer_denied(struct call *call, const struct door_ticket *ticket)
{
	struct json_writer body = writer_begin(call->arena, false);

	writer_plain(&body, "state", SLICE("denied"));
	writer_text(&body, "reason", ticket->reason);
	return call_answer(call, writer_end(&body));
}

/* ---- events ---- */

/* actor: who did it, as the event log names an actor; empty if it is the caller. */
static void note_ticket(struct call *call, const char *type, const struct room_record *room,
			const struct door *door, const struct door_ticket *ticket,
			struct slice actor)
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

/* Of those who were admitted all at once, nothing was noted before. */
static void note_admitted(struct call *call, const struct room_record *room,
			  const struct door *door, const struct door_ticket *ticket)
{
	if (ticket->state == DOOR_WAITING)
		note_ticket(call, "peer.admitted", room, door, ticket,
			    id_compare(&ticket->id, &door->admitted) <= 0 ? door->admitted_by
									  : door->unasked_by);
}

static struct slice service_as_actor(struct call *call)
{
	return audit_actor_text(call->arena, ACTOR_SERVICE, SLICE(""));
}

/* What a run of a call has changed at a door. */
struct door_change {
	struct id room;
	bool has_changed; /* the number of people */
	uint64_t ends[DOOR_ENDS];
	struct id admitted; /* everybody up to this ticket; zero if only some */
	struct id unasked; /* the same for those whom only the door asks */
	bool is_set; /* it has another state */
	struct slice names[ADMITTED_MOST]; /* of the tickets that were admitted */
	size_t name_count;
	/* Who was denied, from which address if that is known and others can come by the code; and
	 * whose denial was taken back. */
	const struct door_ticket *denied, *allowed;
	bool has_address;
	unsigned char address[DIGEST_SIZE];
};

static struct door_change *door_change_of(struct call *call, const struct id *room)
{
	if (call->run.door == NULL) {
		call->run.door = arena_zero(call->arena, sizeof *call->run.door);
		call->run.door->room = *room;
	}
	return call->run.door;
}

/* Returns a copy that lasts until the call is committed (door_after_commit). */
static const struct door_ticket *kept_ticket(struct call *call, const struct door_ticket *ticket)
{
	struct door_ticket *kept = arena_alloc(call->arena, sizeof *kept);

	*kept = *ticket;
	return kept;
}

/* Stores a door where the number of people has changed. */
static bool put_changed_door(struct call *call, const struct door *door, struct fault *fault)
{
	door_change_of(call, &door->stored.id)->has_changed = true;
	return door_put(call, door, fault);
}

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

/* Counts one person less, who waits with the ticket. */
static void count_one_less(struct door *door, const struct door_ticket *ticket)
{
	if (door->waiting > 0)
		door->waiting--;
	if (ticket->is_unasked && door->unasked_waiting > 0)
		door->unasked_waiting--;
}

/* The ways in which a visitor is known: the first one is in the ticket. */
struct visitor_ids {
	struct id ids[2];
	size_t count;
};

static struct visitor_ids visitor_ids_of(struct call *call, const struct door_applicant *applicant,
					 const unsigned char address[DIGEST_SIZE])
{
	const struct id *room = &applicant->entrant->room->id;
	struct visitor_ids of = { .count = 0 };

	if (entrant_user_is_known(applicant->entrant)) {
		of.ids[of.count++] = visitor_id(room, &applicant->entrant->code->place, NULL);
		return of;
	}
	if (applicant->browser.size == BROWSER_SIZE)
		of.ids[of.count++] = visitor_id_of_browser(call->arena, room, applicant->browser);
	if (applicant->user_name.size > 0)
		of.ids[of.count++] = visitor_id_of_name(call->arena, room, applicant->user_name,
							address);
	if (of.count == 0)
		of.ids[of.count++] = visitor_id(room, &applicant->entrant->code->place, address);
	return of;
}

/* A database reads the door, and the visitor, in one round trip. */
static void expect_door(struct call *call, const struct id *room, enum store_reading reading,
			const struct visitor_ids *visitors)
{
	struct store_expected expected[1 + sizeof visitors->ids / sizeof visitors->ids[0]] = {
		{ .kind = &kind_door, .finding = STORE_FIND_ID, .reading = reading, .id = room },
	};

	for (size_t i = 0; i < visitors->count; i++)
		expected[1 + i] = (struct store_expected){
			.kind = &kind_visitor,
			.finding = STORE_FIND_ID,
			.reading = reading,
			.id = &visitors->ids[i],
		};
	store_expect(call->transaction, STORE_EACH, expected, 1 + visitors->count);
}

/* ---- people who ask to be let in ---- */

static bool refuse_crowd(struct call *call, const struct door *door, const char *detail,
			 struct fault *fault)
{
	fault_detail(fault, FAULT_TOO_MANY, "%s", detail);
	fault->retry_after = seconds_until_poll(call, door->waiting);
	return false;
}

static bool refuse_limit(struct call *call, const struct door *door, enum door_limit limit,
			 struct fault *fault)
{
	return refuse_crowd(call, door,
			    limit == DOOR_ADDRESS_IS_FULL ? "too many people wait from this address"
							  : "too many people wait with this code",
			    fault);
}

/* Returns the text of a new ticket: the same in all runs of the call, so that it is counted
 * once. */
static struct slice draw_ticket(struct call *call)
{
	if (!call->has_ticket)
		clock_random(call->environment->clock, call->ticket, sizeof call->ticket);
	call->has_ticket = true;
	return text_base64url(call->arena,
			      (struct slice){ (const char *)call->ticket, sizeof call->ticket });
}

static bool answer_with_ticket(struct call *call, const struct door *door, struct slice ticket)
{
	const unsigned seconds = seconds_until_poll(call, door->waiting);
	struct json_writer body = writer_begin(call->arena, false);

	writer_plain(&body, "ticket", ticket);
	writer_integer(&body, "retry_after", seconds);
	writer_time(&body, "expires_at", call->now + DOOR_LAPSES);
	header_retry_after(call, seconds);
	call_answer(call, writer_end(&body));
	call->answer.status = 202;
	return true;
}

/* Whether a ticket has lapsed that was last asked for at `polled`, or, if that is 0, perhaps later
 * than is stored. */
static bool has_lapsed_since(const struct call *call, const struct door *door,
			     const struct door_ticket *ticket, int64_t polled)
{
	int64_t admitted = ticket->state == DOOR_ADMITTED ? ticket->decided : 0;

	if (ticket->state == DOOR_WAITING && ticket->taken == 0 &&
	    door_ticket_is_admitted(door, ticket))
		admitted = door_polls_admitted_at(call->environment->door_polls, &call->account,
						  ticket, door, call->now);
	return door_ticket_has_lapsed(ticket, polled, admitted, call->now);
}

/* Whether a stored ticket has lapsed, as far as this process knows. */
static bool has_lapsed(const struct call *call, const struct door *door,
		       const struct door_ticket *ticket)
{
	const struct door_times times = door_polls_times(call->environment->door_polls,
							 ticket->name);

	return has_lapsed_since(call, door, ticket, times.polled);
}

/* Finds the place in which the visitor waits already. */
static bool find_waiting_place(struct call *call, const struct door *door,
			       const struct visitor *visitor, struct door_ticket *former,
			       bool *is_there, struct fault *fault)
{
	struct door_times times;

	*is_there = false;
	if (visitor->stored.value.data == NULL)
		return true;
	if (!record_get_named(&door_ticket_table, call->transaction, visitor->ticket,
			      STORE_TO_CHANGE, former, fault))
		return false;
	if (former->stored.value.data == NULL)
		return true;
	times = door_polls_times(call->environment->door_polls, former->name);
	*is_there = former->taken == 0 && times.taken == 0 && former->state != DOOR_DENIED &&
		    !has_lapsed_since(call, door, former, times.polled);
	return true;
}

/* Gives the ticket the place, and what was decided about it, of a former ticket. */
static bool take_former_place(struct call *call, const struct door *door,
			      const struct door_ticket *former, struct door_ticket *ticket,
			      const unsigned char address[DIGEST_SIZE], struct fault *fault)
{
	enum door_limit limit = DOOR_FITS;

	ticket->id = former->id;
	ticket->state = former->state;
	ticket->decided = former->decided;
	ticket->since = former->since;
	ticket->is_unasked = former->is_unasked;
	if (!call->validates_only)
		limit = door_polls_replace(call->environment->door_polls, &call->account,
					   former->name, ticket, address,
					   door_ticket_is_waiting(door, ticket));
	return limit == DOOR_FITS
		       ? store_remove(call->transaction, &kind_door_ticket, &former->stored, fault)
		       : refuse_limit(call, door, limit, fault);
}

/* Adds somebody to those who wait. */
static bool add_to_door(struct call *call, const struct door_applicant *applicant,
			struct door *door, struct door_ticket *ticket,
			const unsigned char address[DIGEST_SIZE], struct fault *fault)
{
	enum door_limit limit = DOOR_FITS;

	if (door->waiting >= DOOR_MOST)
		return refuse_crowd(call, door, "too many people wait at this room", fault);
	ticket->id = call_new_id(call, &door->last, id_number(&door->last) + 1);
	if (!call->validates_only)
		limit = door_polls_enter(call->environment->door_polls, &call->account, ticket,
					 address);
	if (limit != DOOR_FITS)
		return refuse_limit(call, door, limit, fault);
	door->last = ticket->id;
	door->waiting++;
	door->unasked_waiting += ticket->is_unasked;
	if (call->now >= door->announced + ANNOUNCED_AFTER || call->now < door->announced) {
		door->announced = call->now;
		note_ticket(call, "peer.waiting", applicant->entrant->room, door, ticket,
			    service_as_actor(call));
	}
	return put_changed_door(call, door, fault);
}

/* Refuses somebody where many were denied a moment ago. */
static bool check_denials(struct call *call, const struct door *door,
			  const struct door_ticket *ticket,
			  const unsigned char address[DIGEST_SIZE], struct fault *fault)
{
	const int64_t until = door_polls_denied_until(call->environment->door_polls, ticket,
						      address, call->now);

	if (until == 0)
		return true;
	(void)refuse_crowd(call, door, "too many people were denied at this address", fault);
	fault->retry_after = (unsigned)((until - call->now + 999) / 1000);
	return false;
}

/* Refuses somebody for whom there is certainly no place, before anything is locked. */
static bool check_queue(struct call *call, const struct door_applicant *applicant,
			const unsigned char address[DIGEST_SIZE], struct fault *fault)
{
	const struct door_ticket ticket = {
		.room = applicant->entrant->room->id,
		.code_place = applicant->entrant->code->place,
	};
	enum door_limit limit = DOOR_FITS;
	struct door door;

	/* Several processes write at the same time, and wait for each other's locks. */
	call->is_serial = store_is_shared(call->environment->store);
	/* Whoever has a user_id may have a place already. */
	if (!entrant_user_is_known(applicant->entrant) && !call->validates_only)
		limit = door_polls_limit(call->environment->door_polls, &ticket, address);
	return limit == DOOR_FITS ||
	       (door_load(call, &applicant->entrant->room->id, STORE_TO_SHOW, &door, fault) &&
		refuse_limit(call, &door, limit, fault));
}

/* Finds out whether a visitor was denied; and the ticket, if that was taken back and is not used
 * yet. */
static bool find_denial(struct call *call, const struct door *door, const struct visitor *visitor,
			struct entrant *entrant, struct door_ticket **admitted, struct fault *fault)
{
	struct door_ticket *ticket;

	if (visitor->stored.value.data == NULL || visitor->denied_until <= call->now)
		return true;
	ticket = arena_alloc(call->arena, sizeof *ticket);
	if (!record_get_named(&door_ticket_table, call->transaction, visitor->ticket,
			      call_reading(call), ticket, fault))
		return false;
	entrant->is_denied = ticket->stored.value.data != NULL && ticket->state == DOOR_DENIED;
	entrant->denial = visitor->reason;
	if (ticket->stored.value.data == NULL || ticket->state != DOOR_ADMITTED || door == NULL ||
	    door_polls_times(call->environment->door_polls, ticket->name).taken != 0 ||
	    has_lapsed(call, door, ticket))
		return true;
	*admitted = ticket;
	return true;
}

bool door_apply(struct call *call, const struct door_applicant *applicant, struct door *door,
		struct door_ticket **admitted, struct fault *fault)
{
	struct entrant *entrant = applicant->entrant;
	const bool is_known = entrant_user_is_known(entrant);
	/* Without a ticket, nothing is changed here. */
	const enum store_reading reading = entrant->asks ? call_reading(call) : STORE_TO_SHOW;
	const struct door *found = entrant->door;
	unsigned char address[DIGEST_SIZE];
	struct visitor_ids visitors;
	struct visitor visitor;
	struct door_ticket ticket, former;
	struct slice text;
	bool is_there = false;

	*admitted = NULL;
	door_address(call->request.address, address);
	visitors = visitor_ids_of(call, applicant, address);
	if (entrant->asks && entrant->is_patient && !call_is_writing(call) &&
	    entrant->door_state != DOOR_LOCKED)
		return check_queue(call, applicant, address, fault) && call_write_instead(call);
	expect_door(call, &entrant->room->id, reading, &visitors);
	if (reading == STORE_TO_CHANGE) {
		if (!door_load(call, &entrant->room->id, STORE_TO_CHANGE, door, fault))
			return false;
		found = door;
	} else if (found != NULL) {
		*door = *found;
	}
	for (size_t i = visitors.count; i-- > 0 && !entrant->is_denied;) {
		if (!record_get(&visitor_table, call->transaction, &visitors.ids[i], reading,
				&visitor, fault) ||
		    !find_denial(call, found, &visitor, entrant, admitted, fault))
			return false;
	}
	if (entrant->is_denied || !entrant->is_patient ||
	    (!entrant->asks && entrant->door_state != DOOR_LOCKED))
		*admitted = NULL;
	if (*admitted != NULL && call_is_writing(call))
		return true;
	if (*admitted != NULL) {
		*admitted = NULL;
		return call_write_instead(call);
	}
	if (!entry_check(entrant, ENTRY_OF_LOCK | ENTRY_OF_DOOR, fault))
		return false;
	if (!entrant->asks)
		return true;
	if (!call_is_writing(call))
		return check_queue(call, applicant, address, fault) && call_write_instead(call);
	text = draw_ticket(call);
	ticket = (struct door_ticket){
		.name = door_ticket_name(call->arena, text),
		.room = entrant->room->id,
		.state = DOOR_WAITING,
		.since = call->now,
		.polled = call->now,
		.visitor = visitors.ids[0],
		.code_place = entrant->code->place,
		.code = entrant->code->letters,
		.is_known = is_known,
		.is_unasked = applicant->is_unasked,
		.role = entrant->role,
		.user_id = entrant->user_id.size > 0
				   ? entrant->user_id
				   : uuid_as_text(call->arena, call->environment->clock),
		.user_name = applicant->user_name,
		.reason = SLICE(""),
	};
	if (!is_known && !check_denials(call, door, &ticket, address, fault))
		return false;
	if (is_known && !find_waiting_place(call, door, &visitor, &former, &is_there, fault))
		return false;
	if (!(is_there ? take_former_place(call, door, &former, &ticket, address, fault)
		       : add_to_door(call, applicant, door, &ticket, address, fault)))
		return false;
	visitor.stored.id = visitors.ids[0];
	visitor.stored.parent = entrant->room->id;
	visitor.ticket = ticket.name;
	visitor.denied_until = 0;
	visitor.reason = SLICE("");
	return record_put(&door_ticket_table, call->transaction, &ticket, fault) &&
	       (!is_known || record_put(&visitor_table, call->transaction, &visitor, fault)) &&
	       answer_with_ticket(call, door, text);
}

/* ---- the one who waits ---- */

static bool is_unknown(struct fault *fault)
{
	return fault_set(fault, FAULT_NOT_FOUND, "ticket not found");
}

void door_expect_exchange(struct call *call, const struct door_ticket *ticket)
{
	const struct store_expected chain[] = {
		{ .kind = &kind_room, .finding = STORE_FIND_PARENT, .from = 1 },
		{ .kind = &kind_code, .finding = STORE_FIND_NAME, .name = ticket->code },
		{ .kind = &kind_template, .finding = STORE_FIND_PARENT, .from = 0 },
		{ .kind = &kind_codes, .finding = STORE_FIND_PARENT, .from = 1 },
		{ .kind = &kind_media, .finding = STORE_FIND_OWN, .from = 1, .id = &kind_only_id },
	};

	store_expect(call->transaction, STORE_CHAIN, chain, sizeof chain / sizeof chain[0]);
}

bool door_ticket_open(struct call *call, struct door_ticket *ticket, struct door *door,
		      struct fault *fault)
{
	const struct slice name = door_ticket_name(call->arena, call->parameters[0]);
	const struct store_expected chain[] = {
		{ .kind = &kind_door,
		  .finding = STORE_FIND_PARENT,
		  .reading = call_reading(call),
		  .from = 1 },
		{ .kind = &kind_door_ticket,
		  .finding = STORE_FIND_NAME,
		  .reading = call_reading(call),
		  .name = name },
		/* A chain needs it; it finds nothing, because a door has no parent. */
		{ .kind = &kind_door, .finding = STORE_FIND_PARENT, .from = 0 },
		{ .kind = &kind_room, .finding = STORE_FIND_PARENT, .from = 1 },
	};
	struct door_polls *polls = call->environment->door_polls;
	unsigned char address[DIGEST_SIZE];
	struct door_times times;

	if (call->parameters[0].size != TICKET_TEXT_SIZE)
		return is_unknown(fault);
	/* Thousands of tickets are asked for at the same time, by calls that only read. A database
	 * locks the door of a call that writes before its ticket. */
	store_expect(call->transaction, STORE_CHAIN, chain, sizeof chain / sizeof chain[0]);
	if (!record_get_named(&door_ticket_table, call->transaction, name, call_reading(call),
			      ticket, fault))
		return false;
	if (ticket->stored.value.data == NULL)
		return is_unknown(fault);
	call->account = ticket->stored.account;
	call_set_account(call);
	if (!door_load(call, &ticket->room, call_reading(call), door, fault))
		return false;
	if (ticket->state == DOOR_TAKEN || ticket->state == DOOR_DENIED)
		return !has_lapsed_since(call, door, ticket, 0) || is_unknown(fault);
	door_address(call->request.address, address);
	times = door_polls_note(polls, &call->account, ticket, address,
				door_ticket_is_waiting(door, ticket), call->now);
	ticket->taken = times.taken;
	if (!has_lapsed_since(call, door, ticket, times.polled))
		return true;
	if (ticket->taken == 0)
		door_polls_remove(polls, name);
	return is_unknown(fault);
}

/* Stores that the ticket is denied. may_return: that can be taken back. */
static bool put_denied(struct call *call, struct door *door, struct door_ticket *ticket,
		       const struct room_record *room, struct slice reason, struct slice actor,
		       bool may_return, struct fault *fault)
{
	const bool was_taken = ticket->taken != 0;
	const bool was_waiting = door_ticket_is_waiting(door, ticket);
	struct door_change *change = door_change_of(call, &ticket->room);

	ticket->decided = call->now;
	ticket->reason = reason;
	if (was_waiting)
		count_one_less(door, ticket);
	if (was_waiting && may_return)
		door_add_denial(call, door, &ticket->id);
	if (was_taken)
		note_admitted(call, room, door, ticket);
	ticket->state = DOOR_DENIED;
	note_ticket(call, "peer.denied", room, door, ticket, actor);
	change->denied = kept_ticket(call, ticket);
	change->ends[DOOR_END_DENIED]++;
	return (!was_waiting || put_changed_door(call, door, fault)) &&
	       record_put(&door_ticket_table, call->transaction, ticket, fault);
}

bool door_deny(struct call *call, struct door *door, struct door_ticket *ticket,
	       const struct room_record *room, struct slice reason, struct fault *fault)
{
	return put_denied(call, door, ticket, room, reason, service_as_actor(call), false, fault) &&
	       door_answer_denied(call, ticket);
}

/* Stores that the admitted ticket was exchanged, at ticket->taken. */
static bool put_taken(struct call *call, const struct door *door, struct door_ticket *ticket,
		      const struct room_record *room, struct fault *fault)
{
	note_admitted(call, room, door, ticket);
	ticket->state = DOOR_TAKEN;
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

bool door_take(struct call *call, const struct door *door, struct door_ticket *ticket,
	       const struct room_record *room, struct fault *fault)
{
	struct door_polls *polls = call->environment->door_polls;

	ticket->taken = call->now;
	if (!call_is_writing(call)) {
		door_polls_take(polls, ticket->name, ticket->taken);
		return true;
	}
	door_polls_remove(polls, ticket->name);
	return put_taken(call, door, ticket, room, fault);
}

bool door_write_polls(struct call *call, const struct door_poll *polls, size_t n,
		      struct fault *fault)
{
	struct store_expected *expected = arena_zero(call->arena, n * sizeof *expected);
	struct room_record room = { .id = { { 0 } } }; /* of the last exchange; zero if none */
	bool has_room = false;
	struct door door;

	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_door_ticket,
			.finding = STORE_FIND_NAME,
			.reading = STORE_TO_CHANGE,
			.name = { polls[i].name, sizeof polls[i].name },
		};
	store_expect(call->transaction, STORE_EACH, expected, n);
	for (size_t i = 0; i < n; i++) {
		const struct door_times *times = &polls[i].times;
		struct door_ticket ticket;

		if (!record_get_named(&door_ticket_table, call->transaction, expected[i].name,
				      STORE_TO_CHANGE, &ticket, fault))
			return false;
		if (ticket.stored.value.data == NULL || ticket.state == DOOR_DENIED ||
		    ticket.state == DOOR_TAKEN ||
		    (times->taken == 0 && ticket.polled >= times->polled))
			continue;
		ticket.polled = times->polled;
		if (times->taken == 0) {
			if (!record_put(&door_ticket_table, call->transaction, &ticket, fault))
				return false;
			continue;
		}
		if (id_compare(&room.id, &ticket.room) != 0) {
			if (!room_find(call, &ticket.room, STORE_TO_SHOW, &room, &has_room,
				       fault) ||
			    !door_load(call, &ticket.room, STORE_TO_SHOW, &door, fault))
				return false;
			room.id = ticket.room;
		}
		ticket.taken = times->taken;
		if (has_room && !put_taken(call, &door, &ticket, &room, fault))
			return false;
	}
	return true;
}

bool tickets_give_up(struct call *call, struct fault *fault)
{
	struct door_ticket ticket;
	struct door door;
	struct room_record room;
	bool is_there;

	if (!door_ticket_open(call, &ticket, &door, fault))
		return false;
	/* What the exchange of the ticket has not written yet. */
	if (ticket.taken != 0 && ticket.state == DOOR_WAITING) {
		if (!room_find(call, &ticket.room, STORE_TO_SHOW, &room, &is_there, fault))
			return false;
		if (is_there)
			note_admitted(call, &room, &door, &ticket);
	}
	door_polls_remove(call->environment->door_polls, ticket.name);
	if (door_ticket_is_waiting(&door, &ticket)) {
		count_one_less(&door, &ticket);
		if (!put_changed_door(call, &door, fault))
			return false;
	}
	/* Whoever was denied cannot ask again sooner by giving up. */
	return (ticket.state == DOOR_DENIED || door_ticket_remove(call, &ticket, fault)) &&
	       call_answer_nothing(call);
}

/* ---- moderators ---- */

static bool load_door_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	call->door = arena_alloc(call->arena, sizeof *call->door);
	return door_load(call, &call->view->room.id, load_reading(call, load), call->door, fault);
}

static bool load_marked_door_of_path(struct call *call, const struct load *load,
				     struct fault *fault)
{
	struct room_codes codes;

	/* It is changed only if the room is not marked yet. */
	return codes_load(call, &call->view->room.id, load_reading(call, load), &codes, fault) &&
	       load_door_of_path(call, load, fault);
}

static bool load_ticket_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	bool is_there = false;
	struct id id;

	call->door_ticket = arena_alloc(call->arena, sizeof *call->door_ticket);
	if (id_parse(call->parameters[1], &id) &&
	    !door_ticket_find(call, &call->view->room.id, &id, load_reading(call, load),
			      call->door_ticket, &is_there, fault))
		return false;
	return is_there || is_unknown(fault);
}

static const struct read reads_of_door[] = { READ_BY_ID(kind_door), READS_END };
static const struct read reads_of_marked_door[] = {
	READ_BY_ID(kind_codes),
	READ_BY_ID(kind_door),
	READS_END,
};
static const struct read no_reads[] = { READS_END };
const struct loading load_door = { .load = load_door_of_path, .reads = reads_of_door };
const struct loading load_marked_door = {
	.load = load_marked_door_of_path,
	.reads = reads_of_marked_door,
};
const struct loading load_ticket = { .load = load_ticket_of_path, .reads = no_reads };

/* Whether a stored ticket is of somebody who waits and has not lapsed. */
static bool still_waits(struct call *call, const struct door_ticket *ticket)
{
	return call->view->room.is_enabled && door_ticket_is_waiting(call->door, ticket) &&
	       !has_lapsed(call, call->door, ticket);
}

/* Writes whose ticket it is, with the present name of its role. */
static void write_person(struct call *call, struct json_writer *body,
			 const struct template_record *template, const struct door_ticket *ticket)
{
	const size_t role = template_role_index_ever(template, ticket->role);

	writer_plain(body, "id", id_as_text(call->arena, &ticket->id));
	writer_text(body, "name", ticket->user_name);
	writer_text(body, "user_id", ticket->user_id);
	writer_text(body, "role",
		    role < template->role_count ? template->roles[role].name : ticket->role);
}

/* Writes the members of a ticket, without the closing brace. */
static void write_ticket(struct call *call, struct json_writer *body,
			 const struct template_record *template, const struct door_ticket *ticket)
{
	write_person(call, body, template, ticket);
	writer_time(body, "since", ticket->since);
}

/* Writes those whose denial can be taken back, the newest first. */
static bool write_denied(struct call *call, struct json_writer *body,
			 const struct template_record *template, struct fault *fault)
{
	const struct id *room = &call->view->room.id;
	const struct door *door = call->door;
	struct store_expected expected[DOOR_DENIED_MOST];
	const struct id *ids[DOOR_DENIED_MOST];
	size_t n = 0;

	for (size_t i = door->denial_count; i-- > 0;) {
		if (door->denials[i].until <= call->now)
			continue;
		ids[n] = &door->denials[i].ticket;
		expected[n] = (struct store_expected){
			.kind = &kind_door_ticket,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_SHOW,
			.id = ids[n],
		};
		n++;
	}
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
	writer_open(body, "denied", '[');
	for (size_t i = 0; i < n; i++) {
		char until[TEXT_TIME_SIZE];
		struct door_ticket ticket;
		bool is_there;

		if (!door_ticket_find(call, room, ids[i], STORE_TO_SHOW, &ticket, &is_there, fault))
			return false;
		if (!is_there || ticket.state != DOOR_DENIED)
			continue;
		text_time_seconds(ticket.decided + DOOR_DENIES_FOR, until);
		writer_open(body, NULL, '{');
		write_person(call, body, template, &ticket);
		writer_plain(body, "until", slice_of(until));
		writer_close(body, '}');
	}
	writer_close(body, ']');
	return true;
}

static void write_state_named(struct json_writer *body, const char *name, enum door_state state)
{
	if (state == DOOR_BY_ROLE)
		writer_json(body, name, SLICE("null"));
	else
		writer_plain(body, name, slice_of(door_state_names[state]));
}

/* Writes what the door does, and, while it is locked, what it did before. */
static void write_state(struct call *call, struct json_writer *body)
{
	const enum door_state state = door_state_now(call->door, &call->view->live, call->now);

	write_state_named(body, "state", state);
	if (state == DOOR_LOCKED)
		write_state_named(body, "was", call->door->set.was);
}

bool tickets_list(struct call *call, struct fault *fault)
{
	const struct room_record *room = &call->view->room;
	const struct door *door = call->door;
	const struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &room->id,
		.above = &door->admitted,
	};
	struct json_writer body = writer_begin(call->arena, false);
	struct template_record template = { .role_count = 0 };
	struct store_walk walk;
	struct store_record record;
	struct door_ticket ticket;
	bool are_all = true;
	int64_t count = 0;
	struct slice text;

	writer_open(&body, "tickets", '[');
	if (door->stored.value.data != NULL) {
		if (!template_load(call, &room->template_id, &template, fault))
			return false;
		walk = store_walk_pages(call->transaction, &kind_door_ticket, &page, true, fault);
		while (store_next(&walk, &record)) {
			if (!record_read(&door_ticket_table, NULL, &record, &ticket, fault))
				return false;
			if (!still_waits(call, &ticket))
				continue;
			are_all = count < LISTED_MOST;
			if (!are_all)
				break;
			count++;
			writer_open(&body, NULL, '{');
			write_ticket(call, &body, &template, &ticket);
			writer_close(&body, '}');
		}
		if (fault->kind != FAULT_NONE)
			return false;
	}
	writer_close(&body, ']');
	/* Of more people than are listed, the door has the number. */
	writer_integer(&body, "count", are_all ? count : (int64_t)door->waiting);
	write_state(call, &body);
	if (!write_denied(call, &body, &template, fault))
		return false;
	text = writer_end(&body);
	if (door->stored.value.data != NULL)
		door_polls_watch(call->environment->door_polls, &call->account, &room->id);
	call_etag(call, digest_number(text));
	return call_not_modified(call, digest_number(text)) || call_answer(call, text);
}

/* A database reads all of them in one round trip. */
static void expect_visitors(struct call *call, const struct id *ids, size_t n)
{
	struct store_expected *expected = arena_zero(call->arena, (n + 1) * sizeof *expected);

	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_visitor,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_CHANGE,
			.id = &ids[i],
		};
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
}

/* Notes that a moderator has denied the person, who cannot ask again for a while: not in another
 * browser either, not with this name from this address, and not without a name by this code. */
static bool put_denied_visitor(struct call *call, const struct door_ticket *ticket,
			       struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);
	struct id ids[3] = { ticket->visitor };
	size_t n = 1;

	change->has_address = !ticket->is_known &&
			      door_polls_address(call->environment->door_polls, ticket->name,
						 change->address);
	if (change->has_address) {
		ids[n++] = visitor_id(&ticket->room, &ticket->code_place, change->address);
		if (ticket->user_name.size > 0)
			ids[n++] = visitor_id_of_name(call->arena, &ticket->room, ticket->user_name,
						      change->address);
	}
	if (!door_mark(call, &ticket->room, true, fault))
		return false;
	expect_visitors(call, ids, n);
	for (size_t i = 0; i < n; i++) {
		struct visitor visitor;

		if (i > 0 && id_compare(&ids[i], &ids[0]) == 0)
			continue;
		if (!record_get(&visitor_table, call->transaction, &ids[i], STORE_TO_CHANGE,
				&visitor, fault))
			return false;
		visitor.stored.id = ids[i];
		visitor.stored.parent = ticket->room;
		visitor.ticket = ticket->name;
		visitor.denied_until = call->now + DOOR_DENIES_FOR;
		visitor.reason = ticket->reason;
		if (!record_put(&visitor_table, call->transaction, &visitor, fault))
			return false;
	}
	return true;
}

/* Returns true if the list has the denial. */
static bool is_listed(const struct call *call, const struct id *ticket)
{
	const struct door *door = call->door;
	size_t i = door->denial_count;

	while (i > 0 && id_compare(&door->denials[i - 1].ticket, ticket) != 0)
		i--;
	return i > 0 && door->denials[i - 1].until > call->now;
}

/* Admits somebody whom a moderator has denied. Those whom the rules of the room denied have no
 * denial in the door or in a record of visitors, and stay denied: the same would happen again. */
static bool take_back(struct call *call, struct door_ticket *ticket, bool *is_taken_back,
		      struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);
	struct visitor visitor;

	if (!record_get(&visitor_table, call->transaction, &ticket->visitor, STORE_TO_SHOW,
			&visitor, fault))
		return false;
	*is_taken_back = is_listed(call, &ticket->id) ||
			 (visitor.denied_until > call->now &&
			  slice_equal(visitor.ticket, ticket->name));
	if (!*is_taken_back)
		return true;
	ticket->state = DOOR_ADMITTED;
	ticket->decided = call->now;
	ticket->taken = 0;
	ticket->reason = SLICE("");
	note_ticket(call, "peer.admitted", &call->view->room, call->door, ticket, SLICE(""));
	change->ends[DOOR_END_ADMITTED]++;
	change->allowed = kept_ticket(call, ticket);
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

/* Stores that this person is admitted; the caller stores the door. */
static bool put_admitted(struct call *call, struct door_ticket *ticket, struct fault *fault)
{
	struct door_change *change = door_change_of(call, &ticket->room);

	count_one_less(call->door, ticket);
	ticket->state = DOOR_ADMITTED;
	ticket->decided = call->now;
	note_ticket(call, "peer.admitted", &call->view->room, call->door, ticket, SLICE(""));
	change->ends[DOOR_END_ADMITTED]++;
	assert(change->name_count < ADMITTED_MOST);
	change->names[change->name_count++] = ticket->name;
	return record_put(&door_ticket_table, call->transaction, ticket, fault);
}

static bool answer_decided(struct call *call, const struct door_ticket *ticket, struct slice state,
			   struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);
	struct template_record template;

	if (!template_load(call, &call->view->room.template_id, &template, fault))
		return false;
	write_ticket(call, &body, &template, ticket);
	writer_plain(&body, "state", state);
	return call_answer(call, writer_end(&body));
}

bool tickets_decide(struct call *call, struct fault *fault)
{
	const bool admits = slice_is(call_text(call, "state"), "admitted");
	const struct slice state = admits ? SLICE("admitted") : SLICE("denied");
	struct door_ticket *ticket = call->door_ticket;
	struct door *door = call->door;
	bool is_done;

	if (ticket->state == DOOR_DENIED || door_ticket_is_admitted(door, ticket)) {
		is_done = (ticket->state == DOOR_DENIED) != admits;
		if (!is_done && admits && !take_back(call, ticket, &is_done, fault))
			return false;
		return is_done ? answer_decided(call, ticket, state, fault)
			       : fault_set(fault, FAULT_CONFLICT, "Ticket was decided");
	}
	if (!still_waits(call, ticket))
		return is_unknown(fault);
	return (admits ? put_admitted(call, ticket, fault) && put_changed_door(call, door, fault)
		       : put_denied(call, door, ticket, &call->view->room,
				    call_text(call, "reason"), SLICE(""), true, fault) &&
				 put_denied_visitor(call, ticket, fault)) &&
	       answer_decided(call, ticket, state, fault);
}

static bool answer_admitted(struct call *call, uint64_t n)
{
	return call_answer(call, slice_of(arena_text(call->arena, "{\"admitted\":%llu}",
						     (unsigned long long)n)));
}

static bool admit_all(struct call *call, struct door *door, struct fault *fault)
{
	struct door_change *change = door_change_of(call, &door->stored.id);
	const uint64_t n = door->waiting;

	if (n == 0)
		return answer_admitted(call, 0);
	door->admitted = door->last;
	door->admitted_by = audit_actor_text(call->arena, call->actor.kind,
					     slice_of(call->actor.id));
	door->waiting = door->unasked_waiting = 0;
	change->ends[DOOR_END_ADMITTED] += n;
	change->admitted = door->admitted;
	return put_changed_door(call, door, fault) && answer_admitted(call, n);
}

bool tickets_admit(struct call *call, struct fault *fault)
{
	const json_t *admit = call_member(call, "admit");
	const struct room_record *room = &call->view->room;
	uint64_t n = 0;

	if (!room->is_enabled)
		return answer_admitted(call, 0);
	if (json_is_string(admit))
		return admit_all(call, call->door, fault);
	for (size_t i = 0; i < json_array_size(admit); i++) {
		struct door_ticket ticket;
		struct id id;
		bool is_there;

		if (!id_parse(text_of_json(json_array_get(admit, i)), &id))
			continue;
		if (!door_ticket_find(call, &room->id, &id, STORE_TO_CHANGE, &ticket, &is_there,
				      fault))
			return false;
		if (!is_there || !still_waits(call, &ticket))
			continue;
		if (!put_admitted(call, &ticket, fault))
			return false;
		n++;
	}
	return (n == 0 || put_changed_door(call, call->door, fault)) && answer_admitted(call, n);
}

/* ---- what the door does ---- */

/* People of the session who are let back through a locked door, in one transaction. */
#define PASSES_AT_ONCE 128

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

	write_state(call, &body);
	return call_answer(call, writer_end(&body));
}

static bool was_turned_out(enum leave_cause cause)
{
	return cause == LEAVE_NOT_ADMITTED || cause == LEAVE_FULL;
}

/* Lets those who are or were inside in the session come back, some at a time: the call goes on with
 * the others in another transaction. The door is locked since the first one. */
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
		/* Whoever came in although there was no place, or through a former lock, was never
		 * let in. */
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

/* Has merges heed the door (live_merge.h). */
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
	door_set(door, state, live,
		 audit_actor_text(call->arena, call->actor.kind, slice_of(call->actor.id)),
		 call->now);
	change->is_set = true;
	if (state == DOOR_OPEN)
		change->admitted = door->admitted;
	if (state == DOOR_BY_ROLE)
		change->unasked = door->unasked;
	change->has_changed = door->waiting != waiting;
	change->ends[DOOR_END_ADMITTED] += waiting - door->waiting;
	return (state == DOOR_BY_ROLE || door_mark(call, room, true, fault)) &&
	       door_put(call, door, fault) && put_in_session(call, state, fault) &&
	       (state != DOOR_LOCKED || let_back(call, fault)) && answer_state(call);
}

/* ---- tickets that have lapsed ---- */

/* Removes visitors of a room where nobody has a ticket. *are_gone is false if some are left. */
static bool sweep_visitors(struct call *call, const struct id *room, bool *are_gone,
			   struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = room,
		.records = arena_alloc(call->arena, DOOR_SWEPT_AT_ONCE * sizeof *page.records),
		.most = DOOR_SWEPT_AT_ONCE,
	};
	struct id ids[DOOR_SWEPT_AT_ONCE];

	if (!store_page(call->transaction, &kind_visitor, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++)
		ids[i] = page.records[i].id;
	expect_visitors(call, ids, page.count);
	for (size_t i = 0; i < page.count; i++) {
		struct visitor visitor;

		if (!record_get(&visitor_table, call->transaction, &ids[i], STORE_TO_CHANGE,
				&visitor, fault) ||
		    (visitor.stored.value.data != NULL &&
		     !store_remove(call->transaction, &kind_visitor, &visitor.stored, fault)))
			return false;
	}
	*are_gone = page.is_last;
	return true;
}

/* Ends what was set an hour ago. A session ends what was set in it (live_merge.h). */
static bool end_state(struct call *call, struct door *door, struct door_sweep *sweep,
		      struct fault *fault)
{
	const uint64_t waiting = door->waiting;
	struct live live;

	if (door->set.state == DOOR_BY_ROLE)
		return true;
	if (!live_load(call, &sweep->room, STORE_TO_SHOW, &live, fault))
		return false;
	if (call->environment->live == LIVE_OFF)
		live.stored.value.data = NULL;
	if (!door_settle(call, door, &live, fault))
		return false;
	sweep->has_changed = sweep->has_changed || door->waiting != waiting;
	return true;
}

bool door_sweep(struct call *call, struct door_sweep *sweep, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &sweep->room,
		.above = &sweep->after,
		.records = arena_alloc(call->arena, DOOR_SWEPT_AT_ONCE * sizeof *page.records),
		.most = DOOR_SWEPT_AT_ONCE,
	};
	const bool is_first = id_compare(&sweep->after, &kind_only_id) == 0;
	size_t removed = 0;
	struct door door;

	sweep->lapsed = 0;
	if (!door_load(call, &sweep->room, STORE_TO_CHANGE, &door, fault) ||
	    !store_page(call->transaction, &kind_door_ticket, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct door_ticket ticket;

		sweep->after = page.records[i].id;
		if (!record_read(&door_ticket_table, NULL, &page.records[i], &ticket, fault))
			return false;
		/* Another process may have decided. */
		if (!door_ticket_is_waiting(&door, &ticket))
			door_polls_admit(call->environment->door_polls, ticket.name);
		if (!has_lapsed(call, &door, &ticket))
			continue;
		if (!record_get_named(&door_ticket_table, call->transaction, page.records[i].name,
				      STORE_TO_CHANGE, &ticket, fault))
			return false;
		/* Another process may have written a newer time meanwhile. */
		if (ticket.stored.value.data == NULL || !has_lapsed(call, &door, &ticket))
			continue;
		if (door_ticket_is_waiting(&door, &ticket)) {
			count_one_less(&door, &ticket);
			sweep->lapsed++;
		}
		if (!door_ticket_remove(call, &ticket, fault))
			return false;
		removed++;
	}
	sweep->is_last = page.is_last;
	sweep->is_empty = is_first && page.is_last && removed == page.count;
	sweep->has_changed = sweep->lapsed > 0;
	if (door.stored.value.data == NULL)
		return true;
	if (!end_state(call, &door, sweep, fault))
		return false;
	sweep->is_empty = sweep->is_empty && door.set.state == DOOR_BY_ROLE;
	if (sweep->is_empty && !sweep_visitors(call, &sweep->room, &sweep->is_empty, fault))
		return false;
	if (sweep->is_empty)
		return door_mark(call, &sweep->room, false, fault) &&
		       store_remove(call->transaction, &kind_door, &door.stored, fault);
	return !sweep->has_changed || door_put(call, &door, fault);
}
