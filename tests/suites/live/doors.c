/* Doors: tickets that are exchanged, and what is kept of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/door_watch.h"
#include "background/join_log.h"
#include "base/digest.h"
#include "records/kinds.h"
#include "resources/door/door_polls.h"
#include "resources/stored/code_record.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "script.h"
#include "suite.h"

/* Returns a text of an answer that begins with these words. */
static const char *text_after(const char *answer, const char *before)
{
	const char *place = strstr(answer, before);

	ck_assert_msg(place != NULL, "%s: %s", before, answer);
	place += strlen(before);
	return arena_text(stand.arena, "%.*s", (int)strcspn(place, "\""), place);
}

/* Makes a room whose guests wait, and returns the code of its guests. */
static const char *make_door(struct id *room)
{
	struct id template = create("/v2/templates", "{\"name\":\"door\",\"roles\":{\"host\":{},"
						     "\"guest\":{\"admission\":\"ask\"}}}");

	*room = create("/v2/rooms", arena_text(stand.arena, "{\"template_id\":\"%s\"}",
					       id_as_text(stand.arena, &template).data));
	return text_after(ask(METHOD_POST,
			      arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest",
					 id_as_text(stand.arena, room).data),
			      "{}"),
			  "\"code\":\"");
}

/* The same, and sets terms of the code. */
static const char *make_door_with(struct id *room, const char *terms)
{
	const char *code = make_door(room);

	(void)ask(METHOD_PATCH, arena_text(stand.arena, "/v2/room-codes/code/%s", code), terms);
	return code;
}

/* Somebody asks to be let in. Returns the path of the ticket. */
static const char *apply(const char *code)
{
	return arena_text(
		stand.arena, "/v2/tickets/%s",
		text_after(ask(METHOD_POST, "/v2/token",
			       arena_text(stand.arena, "{\"code\":\"%s\",\"wait\":true}", code)),
			   "\"ticket\":\""));
}

static void admit_all(const struct id *room)
{
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			     id_as_text(stand.arena, room).data),
		  "{\"admit\":\"all\"}");
}

/* Returns how many events of this type are in the log. */
static unsigned events_logged(const char *type)
{
	const char *place = ask(METHOD_GET,
				arena_text(stand.arena, "/v2/events?limit=100&type=%s", type), "");
	unsigned count = 0;

	for (; (place = strstr(place, "\"type\":")) != NULL; place++)
		count++;
	return count;
}

static unsigned joins_logged(void)
{
	join_log_write(stand.environment.joins, &stand.environment);
	return events_logged("join.*");
}

static void watch_doors(void)
{
	struct door_watch *watch = door_watch_open(&stand.environment);

	door_watch_round(watch);
	door_watch_close(watch);
}

/* Returns what is stored of a ticket; polled 0 if there is nothing. */
static struct door_ticket stored_ticket(const char *path)
{
	struct door_ticket ticket = { .polled = 0 };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(record_get_named(&door_ticket_table, call.transaction,
				   door_ticket_name(stand.arena, slice_of(strrchr(path, '/') + 1)),
				   STORE_TO_SHOW, &ticket, &fault));
	world_abandon(&call);
	return ticket;
}

static const struct {
	const char *setting;
	const char *terms; /* of the code */
	unsigned logged;
	enum door_ticket_state at_once; /* what the exchange itself stores */
} exchange_rows[] = {
	{ "off", "{}", 0, DOOR_WAITING },
	{ "on", "{}", 1, DOOR_WAITING },
	{ "off", "{\"max_uses\":1}", 0, DOOR_TAKEN },
	{ "on", "{\"max_uses\":1}", 1, DOOR_TAKEN },
};

START_TEST(a_ticket_is_exchanged_once)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(exchange_rows); i++) {
		const char *code, *ticket, *first;
		unsigned before, admitted;
		struct id room;

		stand.environment.joins = join_log_open();
		world_serve(&stand);
		set_setting("log_joins", exchange_rows[i].setting);
		before = joins_logged();
		admitted = events_logged("peer.admitted");
		code = make_door_with(&room, exchange_rows[i].terms);
		ticket = apply(code);
		admit_all(&room);
		first = ask(METHOD_GET, ticket, "");
		ck_assert_ptr_nonnull(strstr(first, "\"token\":\""));
		ck_assert_int_eq(stored_ticket(ticket).state, exchange_rows[i].at_once);
		for (int again = 0; again < 3; again++) {
			world_move(&stand, 1500);
			ck_assert_str_eq(ask(METHOD_GET, ticket, ""), first);
			if (again > 0)
				watch_doors();
		}
		ck_assert_int_eq(stored_ticket(ticket).state, DOOR_TAKEN);
		ck_assert_uint_eq(joins_logged() - before, exchange_rows[i].logged);
		ck_assert_uint_eq(events_logged("peer.admitted") - admitted, 1);
		join_log_close(stand.environment.joins);
		stand.environment.joins = NULL;
	}
}
END_TEST

/* What happens to a ticket between its exchange and the moment in which that is written: the event
 * comes once, and a place at the door is free at once. */
static const struct {
	const char *what; /* the method; PATCH disables the code, POST asks again */
	const char *terms; /* of the code */
	bool is_removed;
} exchanged_rows[] = {
	{ "GET", "{}", false },
	{ "DELETE", "{}", true },
	{ "PATCH", "{}", false },
	{ "POST", "{\"user_id\":\"u\"}", false },
};

START_TEST(what_was_exchanged_is_written)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(exchanged_rows); i++) {
		static const unsigned char digest[DIGEST_SIZE];
		const char *what = exchanged_rows[i].what, *code, *ticket;
		unsigned admitted = events_logged("peer.admitted");
		unsigned denied = events_logged("peer.denied");
		struct door_ticket stored;
		struct door_figures figures;
		struct id room;

		code = make_door_with(&room, exchanged_rows[i].terms);
		ticket = apply(code);
		admit_all(&room);
		ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, ticket, ""), "admitted"));
		if (strcmp(what, "DELETE") == 0)
			(void)ask(METHOD_DELETE, ticket, "");
		if (strcmp(what, "POST") == 0)
			ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, apply(code), ""), "waiting"));
		if (strcmp(what, "PATCH") == 0) {
			(void)ask(METHOD_PATCH,
				  arena_text(stand.arena, "/v2/room-codes/code/%s", code),
				  "{\"enabled\":false}");
			ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, ticket, ""), "denied"));
			/* Another process has exchanged it before, and writes that only now. */
			stored = stored_ticket(ticket);
			stored.name = door_ticket_name(stand.arena,
						       slice_of(strrchr(ticket, '/') + 1));
			(void)door_polls_note(stand.environment.door_polls, &stand.account.id,
					      &stored, digest, false, now());
			door_polls_take(stand.environment.door_polls, stored.name, now());
		}
		watch_doors();
		ck_assert_uint_eq(events_logged("peer.admitted") - admitted, 1);
		ck_assert_uint_eq(events_logged("peer.denied") - denied,
				  strcmp(what, "PATCH") == 0);
		door_polls_figures(stand.environment.door_polls, &figures);
		ck_assert_uint_eq(figures.waiting, strcmp(what, "POST") == 0);
		ck_assert(strcmp(what, "PATCH") != 0 || stored_ticket(ticket).state == DOOR_DENIED);
		ck_assert(exchanged_rows[i].is_removed ==
			  (stored_ticket(ticket).stored.value.data == NULL));
	}
}
END_TEST

static bool door_is_stored(const struct id *room)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	struct door door;

	begin(&call);
	ck_assert(door_load(&call, room, STORE_TO_SHOW, &door, &fault));
	world_abandon(&call);
	return door.stored.value.data != NULL;
}

START_TEST(polls_are_stored_some_time_later)
{
	const char *ticket;
	int64_t applied;
	struct id room;

	open_stand(_i);
	ticket = apply(make_door(&room));
	applied = stored_ticket(ticket).polled;
	for (int i = 1; i <= 3; i++) {
		set_now(applied + i * DOOR_WRITES_AFTER / 2 - 1);
		(void)ask(METHOD_GET, ticket, "");
		watch_doors();
		ck_assert_int_eq(stored_ticket(ticket).polled, i < 3 ? applied : now());
	}
}
END_TEST

START_TEST(tickets_lapse)
{
	struct door_figures figures;
	const char *ticket;
	struct id room;

	open_stand(_i);
	ticket = apply(make_door(&room));
	ck_assert(door_is_stored(&room));
	world_move(&stand, DOOR_LAPSES + DOOR_WRITES_AFTER + 1000);
	watch_doors();
	ck_assert_ptr_null(stored_ticket(ticket).stored.value.data);
	ck_assert(!door_is_stored(&room));
	door_polls_figures(stand.environment.door_polls, &figures);
	ck_assert_uint_eq(figures.waiting, 0);
	ck_assert_uint_eq(figures.ends[DOOR_END_LAPSED], 1);
}
END_TEST

/* The list has the first hundred; `count` is how many wait in all. */
START_TEST(the_list_ends_after_a_hundred)
{
	const char *code, *place;
	unsigned listed = 0;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	for (int i = 0; i < 103; i++)
		(void)apply(code);
	place = ask(METHOD_GET,
		    arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			       id_as_text(stand.arena, &room).data),
		    "");
	ck_assert_ptr_nonnull(strstr(place, "\"count\":103,\"state\":null,\"denied\":[]}"));
	for (; (place = strstr(place, "\"since\":")) != NULL; place++)
		listed++;
	ck_assert_uint_eq(listed, 100);
}
END_TEST

/* More than a deletion removes at once. */
START_TEST(doors_go_with_their_room)
{
	const char *code;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	for (int i = 0; i < GARBAGE_AT_ONCE + 8; i++)
		(void)apply(code);
	(void)ask(METHOD_PATCH, arena_text(stand.arena, "/v2/room-codes/code/%s", code),
		  "{\"user_id\":\"u\"}");
	(void)apply(code);
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), GARBAGE_AT_ONCE + 9);
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 1);
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/rooms/%s", id_as_text(stand.arena, &room).data), "");
	ck_assert(door_is_stored(&room));
	for (int i = 0; i < 3; i++)
		(void)create("/v2/rooms", "{}");
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), 0);
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 0);
	ck_assert(!door_is_stored(&room));
}
END_TEST

/* A denial is found by browser, by name and address, and by code and address. */
START_TEST(denials_go_with_the_last_ticket)
{
	const char *code, *tickets;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	(void)ask(METHOD_POST, "/v2/token",
		  arena_text(stand.arena,
			     "{\"code\":\"%s\",\"wait\":true,\"name\":\"Ada\","
			     "\"browser\":\"n7Yt0sV4bQzK1rXwE5aPdg\"}",
			     code));
	tickets = arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			     id_as_text(stand.arena, &room).data);
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "%s/%s", tickets,
			     text_after(ask(METHOD_GET, tickets, ""), "\"id\":\"")),
		  "{\"state\":\"denied\"}");
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 3);
	world_move(&stand, DOOR_DENIES_FOR + 1000);
	watch_doors();
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 0);
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), 0);
	ck_assert(!door_is_stored(&room));
}
END_TEST

/* Returns whether the codes of the room say that there is a door to read. */
static bool is_marked(const struct id *room)
{
	struct fault fault = FAULT_INITIAL;
	struct room_codes codes;
	struct call call;

	begin(&call);
	ck_assert(codes_load(&call, room, STORE_TO_SHOW, &codes, &fault));
	world_abandon(&call);
	return codes.has_door;
}

/* What is set without a session ends an hour later, and leaves nothing behind. */
START_TEST(what_is_set_ends)
{
	const bool lasts = _i < ROWS(drivers);
	struct id room;

	open_stand(_i % ROWS(drivers));
	(void)make_door(&room);
	ck_assert(!is_marked(&room));
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "/v2/active-rooms/%s/door",
			     id_as_text(stand.arena, &room).data),
		  "{\"state\":\"locked\"}");
	ck_assert(is_marked(&room));
	world_move(&stand, DOOR_SET_FOR + (lasts ? -1000 : 1000));
	watch_doors();
	ck_assert_int_eq(door_is_stored(&room), lasts);
	ck_assert_int_eq(is_marked(&room), lasts);
}
END_TEST

/* Returns the name of a person's ticket. */
static struct slice name_of(unsigned person)
{
	return door_ticket_name(stand.arena, slice_of(arena_text(stand.arena, "%u", person)));
}

/* Somebody asks to be let into the room from an address. */
static enum door_limit enter(struct door_polls *polls, const struct id *room, unsigned person,
			     unsigned address, bool is_known)
{
	struct door_ticket of = {
		.name = name_of(person),
		.room = *room,
		.polled = now(),
		.is_known = is_known,
	};
	unsigned char digest[DIGEST_SIZE];

	door_address(slice_of(arena_text(stand.arena, "192.0.2.%u", address)), digest);
	return door_polls_enter(polls, &stand.account.id, &of, digest);
}

START_TEST(so_many_people_wait)
{
	struct door_polls *polls = door_polls_open(DOOR_ADDRESS_MOST);
	const struct id room = id_random(&clock_system), other = id_random(&clock_system);
	unsigned person = 0;

	open_stand(0);
	/* From one address; one who asks again is no further person. */
	while (person < DOOR_ADDRESS_MOST)
		ck_assert_int_eq(enter(polls, &room, person++, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, true), DOOR_ADDRESS_IS_FULL);
	ck_assert_int_eq(enter(polls, &room, 0, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &other, person++, 1, true), DOOR_FITS);
	/* By one code, of everybody or of one person. */
	for (unsigned i = 0; i < DOOR_CODE_MOST; i++)
		ck_assert_int_eq(enter(polls, &room, person++, 2 + i / DOOR_ADDRESS_MOST, false),
				 DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 100, false), DOOR_CODE_IS_FULL);
	ck_assert_int_eq(enter(polls, &other, person++, 100, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 100, true), DOOR_FITS);
	/* Who was let in has left both queues: the first from the address, and by the code. */
	door_polls_take(polls, name_of(0), now());
	ck_assert_int_eq(enter(polls, &room, ++person, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, ++person, 1, true), DOOR_ADDRESS_IS_FULL);
	door_polls_take(polls, name_of(DOOR_ADDRESS_MOST + 1), now());
	ck_assert_int_eq(enter(polls, &room, ++person, 100, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, ++person, 100, false), DOOR_CODE_IS_FULL);
	door_polls_close(polls);
}
END_TEST

/* A decision, also one of another process, takes a ticket out of the count; asking for it again
 * does not bring it back. */
static void admit_first(struct door_polls *polls, const struct id *room)
{
	(void)room;
	door_polls_admit(polls, name_of(0));
}

static void admit_everybody(struct door_polls *polls, const struct id *room)
{
	const struct id until = { { 0 } };

	door_polls_admit_all(polls, &stand.account.id, room, DOOR_ADMITS_EVERYBODY, &until, now());
}

/* Nobody: these people are asked by their code. */
static void admit_unasked(struct door_polls *polls, const struct id *room)
{
	const struct id until = { { 0 } };

	door_polls_admit_all(polls, &stand.account.id, room, DOOR_ADMITS_UNASKED, &until, now());
}

static void admit_in_another_room(struct door_polls *polls, const struct id *room)
{
	const struct id other = id_random(&clock_system);

	admit_everybody(polls, &other);
	(void)room;
}

static void ask_for_first(struct door_polls *polls, const struct id *room)
{
	const struct door_ticket ticket = { .name = name_of(0), .room = *room };
	unsigned char digest[DIGEST_SIZE];

	door_address(SLICE("192.0.2.1"), digest);
	for (int i = 0; i < 2; i++)
		(void)door_polls_note(polls, &stand.account.id, &ticket, digest, i > 0, now());
	(void)door_polls_note(polls, &stand.account.id, &ticket, digest, false, now());
}

static const struct {
	void (*decide)(struct door_polls *polls, const struct id *room);
	unsigned places; /* afterwards */
} decided_tickets[] = {
	{ admit_first, 1 },	      { admit_everybody, 5 }, { admit_unasked, 0 },
	{ admit_in_another_room, 0 }, { ask_for_first, 1 },
};

START_TEST(decided_tickets_do_not_count)
{
	struct door_polls *polls = door_polls_open(5);
	const struct id room = id_random(&clock_system);
	unsigned person = 0;

	open_stand(0);
	while (person < 5)
		ck_assert_int_eq(enter(polls, &room, person++, 1, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, false), DOOR_ADDRESS_IS_FULL);
	decided_tickets[_i].decide(polls, &room);
	for (unsigned i = 0; i < decided_tickets[_i].places; i++)
		ck_assert_int_eq(enter(polls, &room, person++, 1, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, false), DOOR_ADDRESS_IS_FULL);
	door_polls_close(polls);
}
END_TEST

/* A door keeps the newest denials that still hold, the oldest first. */
START_TEST(the_newest_denials_are_kept)
{
	struct call call = { .arena = arena_open() };
	struct door door = { .denial_count = 0 };
	const size_t first = 50;

	for (size_t i = 0; i < first + DOOR_DENIED_MOST; i++) {
		call.now = (int64_t)i;
		door_add_denial(&call, &door, &(struct id){ { (unsigned char)i } });
	}
	ck_assert_uint_eq(door.denial_count, DOOR_DENIED_MOST);
	for (size_t i = 0; i < DOOR_DENIED_MOST; i++)
		ck_assert_uint_eq(door.denials[i].ticket.bytes[0], first + i);
	call.now = (int64_t)first + DOOR_DENIES_FOR + 9;
	door_add_denial(&call, &door, &(struct id){ { 255 } });
	ck_assert_uint_eq(door.denial_count, DOOR_DENIED_MOST - 10 + 1);
	ck_assert_uint_eq(door.denials[0].ticket.bytes[0], first + 10);
	ck_assert_int_eq(door.denials[door.denial_count - 1].until, call.now + DOOR_DENIES_FOR);
	arena_close(call.arena);
}
END_TEST

/* The times at which a door admits many: of many such times, the oldest become the later. */
static const struct {
	enum door_admits admits;
	bool is_unasked;
} many[] = {
	{ DOOR_ADMITS_EVERYBODY, false },
	{ DOOR_ADMITS_EVERYBODY, true },
	{ DOOR_ADMITS_UNASKED, true },
};

START_TEST(the_last_times_of_admission_are_kept)
{
	struct door_polls *polls = door_polls_open(5);
	const unsigned count = DOOR_ADMISSIONS_MOST + 3;
	const enum door_admits admits = many[_i].admits;
	struct door_ticket ticket = {
		.room = id_random(&clock_system),
		.is_unasked = many[_i].is_unasked,
	};
	struct door door = { .waiting = 0 };
	struct id *until = admits == DOOR_ADMITS_EVERYBODY ? &door.admitted : &door.unasked;

	open_stand(0);
	for (unsigned i = 1; i <= count; i++) {
		until->bytes[ID_SIZE - 1] = (unsigned char)(10 * i);
		for (int j = 0; j < 2; j++)
			door_polls_admit_all(polls, &stand.account.id, &ticket.room, admits, until,
					     1000 * (int64_t)i + j);
	}
	for (unsigned i = 1; i <= count; i++) {
		ticket.id.bytes[ID_SIZE - 1] = (unsigned char)(10 * i - 5);
		ck_assert_int_eq(
			door_polls_admitted_at(polls, &stand.account.id, &ticket, &door, 1),
			1000 * (int64_t)(i > 3 ? i : 4));
	}
	/* Another process has admitted more. */
	until->bytes[ID_SIZE - 1]++;
	ticket.id = *until;
	for (int64_t i = 0; i < 2; i++)
		ck_assert_int_eq(
			door_polls_admitted_at(polls, &stand.account.id, &ticket, &door, 90000 + i),
			90000);
	door_polls_close(polls);
}
END_TEST

void add_doors(TCase *doors)
{
	tcase_add_loop_test(doors, what_was_exchanged_is_written, 0, ROWS(drivers));
	tcase_add_loop_test(doors, a_ticket_is_exchanged_once, 0, ROWS(drivers));
	tcase_add_loop_test(doors, polls_are_stored_some_time_later, 0, ROWS(drivers));
	tcase_add_loop_test(doors, tickets_lapse, 0, ROWS(drivers));
	tcase_add_loop_test(doors, the_list_ends_after_a_hundred, 0, ROWS(drivers));
	tcase_add_loop_test(doors, doors_go_with_their_room, 0, ROWS(drivers));
	tcase_add_loop_test(doors, denials_go_with_the_last_ticket, 0, ROWS(drivers));
	tcase_add_loop_test(doors, what_is_set_ends, 0, 2 * ROWS(drivers));
	tcase_add_test(doors, so_many_people_wait);
	tcase_add_loop_test(doors, decided_tickets_do_not_count, 0, ROWS(decided_tickets));
	tcase_add_loop_test(doors, the_last_times_of_admission_are_kept, 0, ROWS(many));
	tcase_add_test(doors, the_newest_denials_are_kept);
}
