/* People who ask to be let in, and wait: applications, polls, exchanges, giving up. See
 * resources/door/door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door.h"

#include "base/text.h"
#include "resources/audit.h"
#include "resources/door/door_change.h"

/* Characters of the random text by which a page is known again. */
#define BROWSER_SIZE 22
/* Characters of the text of a ticket, which has CALL_TICKET_SIZE bytes. */
#define TICKET_TEXT_SIZE 43
/* Milliseconds between two events peer.waiting of a room. */
#define ANNOUNCED_AFTER 1000

/* ---- when to ask again ---- */

/* Returns after how many seconds the client asks again: more if many people wait, and partly
 * random, so that they do not all ask at once. */
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

/* ---- how visitors are known ---- */

/* The ways in which a visitor is known. The ticket has the first one. */
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

/* Lets a database read the door and the visitor in one round trip. */
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

/* Returns whether a ticket has lapsed. polled: when it was last asked for, or 0 to go by the stored
 * time, which may be older. */
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

bool door_has_lapsed(const struct call *call, const struct door *door,
		     const struct door_ticket *ticket)
{
	const struct door_times times = door_polls_times(call->environment->door_polls,
							 ticket->name);

	return has_lapsed_since(call, door, ticket, times.polled);
}

/* Finds the ticket with which the visitor is waiting already, or was admitted. */
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
		door_note(call, "peer.waiting", applicant->entrant->room, door, ticket,
			  audit_service_text(call->arena));
	}
	return door_put_changed(call, door, fault);
}

/* Refuses the person if many were denied at this address a moment ago. */
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

/* Refuses the person before anything is locked, if there is certainly no place. */
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

/* Finds out whether the visitor was denied. If that was taken back, *admitted is the ticket, unless
 * it was exchanged or has lapsed since. */
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
	    door_has_lapsed(call, door, ticket))
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
	if (*admitted != NULL) {
		if (call_is_writing(call))
			return true;
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
		.consented = applicant->consented,
		.consent_text = applicant->consent_text,
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

static bool refuse_unknown(struct fault *fault)
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
		return refuse_unknown(fault);
	/* Thousands of tickets are asked for at the same time, by calls that only read. A database
	 * locks the door of a call that writes before its ticket. */
	store_expect(call->transaction, STORE_CHAIN, chain, sizeof chain / sizeof chain[0]);
	if (!record_get_named(&door_ticket_table, call->transaction, name, call_reading(call),
			      ticket, fault))
		return false;
	if (ticket->stored.value.data == NULL)
		return refuse_unknown(fault);
	call->account = ticket->stored.account;
	call_set_account(call);
	if (!door_load(call, &ticket->room, call_reading(call), door, fault))
		return false;
	if (ticket->state == DOOR_TAKEN || ticket->state == DOOR_DENIED)
		return !has_lapsed_since(call, door, ticket, 0) || refuse_unknown(fault);
	door_address(call->request.address, address);
	times = door_polls_note(polls, &call->account, ticket, address,
				door_ticket_is_waiting(door, ticket), call->now);
	ticket->taken = times.taken;
	if (!has_lapsed_since(call, door, ticket, times.polled))
		return true;
	if (ticket->taken == 0)
		door_polls_remove(polls, name);
	return refuse_unknown(fault);
}

bool door_deny(struct call *call, struct door *door, struct door_ticket *ticket,
	       const struct room_record *room, struct slice reason, struct fault *fault)
{
	return door_put_denied(call, door, ticket, room, reason, audit_service_text(call->arena),
			       false, fault) &&
	       door_answer_denied(call, ticket);
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
	return door_put_taken(call, door, ticket, room, fault);
}

bool tickets_give_up(struct call *call, struct fault *fault)
{
	struct door_ticket ticket;
	struct door door;
	struct room_record room;
	bool is_there;

	if (!door_ticket_open(call, &ticket, &door, fault))
		return false;
	/* The ticket was exchanged, and the event is not written yet (door_write_polls). */
	if (ticket.taken != 0 && ticket.state == DOOR_WAITING) {
		if (!room_find(call, &ticket.room, STORE_TO_SHOW, &room, &is_there, fault))
			return false;
		if (is_there)
			door_note_admitted(call, &room, &door, &ticket);
	}
	door_polls_remove(call->environment->door_polls, ticket.name);
	if (door_ticket_is_waiting(&door, &ticket)) {
		door_count_down(&door, &ticket);
		if (!door_put_changed(call, &door, fault))
			return false;
	}
	/* Whoever was denied cannot ask again sooner by giving up. */
	return (ticket.state == DOOR_DENIED || door_ticket_remove(call, &ticket, fault)) &&
	       call_answer_nothing(call);
}
