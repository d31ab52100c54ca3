/* What was decided about the ticket of somebody who waits (resources/joining/join.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include "resources/door/door.h"
#include "resources/joining/exchange.h"

/* Finds the code by which the person came. It is unknown if it was deleted, even if another code
 * has the same letters now. */
static bool find_code_of_ticket(struct call *call, struct exchange *exchange, struct fault *fault)
{
	const struct door_ticket *ticket = exchange->ticket;
	struct id account;
	bool is_there;

	/* A code is only locked if its uses are counted, so that a crowd that came by it does not
	 * wait for each other. */
	if (!code_find(call, ticket->code, STORE_TO_SHOW, &exchange->code, &account, &is_there,
		       fault) ||
	    (is_there && exchange_is_counted(exchange) &&
	     !code_find(call, ticket->code, call_reading(call), &exchange->code, &account,
			&is_there, fault)))
		return false;
	if (!is_there || id_compare(&exchange->code.room, &ticket->room) != 0 ||
	    id_compare(&exchange->code.place, &ticket->code_place) != 0)
		return entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault);
	return exchange_find_room(call, exchange, &is_there, fault) &&
	       (is_there || entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault));
}

/* Exchanges an admitted ticket; or only checks, while nothing is decided, that the room is not kept
 * from the person. */
static bool exchange_ticket(struct call *call, struct exchange *exchange, bool is_admitted,
			    struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	bool is_done;

	if (!find_code_of_ticket(call, exchange, fault) ||
	    !entrant_find_media(&exchange->entrant, &exchange->media, fault))
		is_done = false;
	else if (is_admitted)
		is_done = exchange_code(call, exchange, account, fault);
	else
		is_done = exchange_check(call, exchange, account, fault);
	if (is_done && is_admitted)
		exchange_note(call, account, exchange, true);
	accounts_release(accounts, roster);
	return is_done;
}

bool tickets_get(struct call *call, struct fault *fault)
{
	struct room_record room;
	struct door_ticket ticket;
	struct door door;
	struct exchange exchange;
	const struct entry_rule *broken;
	bool is_there, is_admitted, was_taken, is_done;

	call_header(call, "Cache-Control", SLICE("no-store"));
	if (!door_ticket_open(call, &ticket, &door, fault) ||
	    !room_find(call, &ticket.room, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	if (!is_there)
		return fault_set(fault, FAULT_NOT_FOUND, "ticket not found");
	if (ticket.state == DOOR_DENIED)
		return door_answer_denied(call, &ticket);

	is_admitted = door_ticket_is_admitted(&door, &ticket);
	exchange = (struct exchange){
		.entrant = { .call = call,
			     .room = &room,
			     .moment = is_admitted ? ENTRY_ADMITTED : ENTRY_WAITING },
		.ticket = &ticket,
		.sent_user = ticket.user_id,
		.sent_name = ticket.user_name,
	};
	was_taken = exchange_is_taken(&exchange);

	/* The most frequent request reads no code. */
	if (!is_admitted) {
		if (!entry_find(&exchange.entrant, ENTRY_OF_ROOM, &broken, fault))
			return false;
		if (broken == NULL)
			return door_answer_waiting(call, &door);
	}

	door_expect_exchange(call, &ticket);
	is_done = exchange_ticket(call, &exchange, is_admitted, fault);
	if (!is_done && fault->kind == FAULT_FORBIDDEN) {
		const struct slice reason = arena_copy(call->arena, slice_of(fault->message));

		*fault = FAULT_INITIAL;
		call->run.refusal = JOIN_NOT_REFUSED;
		return call_is_writing(call) ? door_deny(call, &door, &ticket, &room, reason, fault)
					     : call_write_instead(call);
	}
	if (!is_done || !is_admitted)
		return is_done && door_answer_waiting(call, &door);
	return exchange.is_waiting || was_taken || call->run.wants_write ||
	       door_take(call, &door, &ticket, &room, fault);
}
