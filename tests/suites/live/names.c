/* The names that people are shown: who comes second under a name gets a number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resources/live/live_names.h"
#include "script.h"
#include "suite.h"

/* Returns the names of those inside. An exclamation mark follows a name that the media server must
 * be given. */
static const char *names_of(const struct script *script)
{
	struct peer_page page = { .side = STORE_ON, .most = 9 };
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_SHOW, &live, &fault));
	ck_assert(live.stored.value.data == NULL ||
		  peers_read(&call, &live.session, &page, &fault));
	for (size_t i = 0; i < page.count; i++) {
		const struct peer *peer = &page.peers[i];

		buffer_append_text(&text, i > 0 ? ", " : "");
		append_stay(script, peer, &text);
		buffer_append_byte(&text, ' ');
		buffer_append(&text, peer->name);
		if (peer->new_name.size == 0)
			continue;
		ck_assert(peer->is_strange && slice_equal(peer->new_name, peer->name));
		buffer_append_byte(&text, '!');
	}
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static void check_names(const struct script *script)
{
	struct store_record records[9];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &script->room,
		.records = records,
		.most = ROWS(records),
	};
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_shown_name, &page, &fault));
	for (size_t i = 0; i < page.count; i++) {
		struct shown_name name;

		ck_assert(record_read(&shown_name_table, call.arena, &records[i], &name, &fault));
		check_one(script, &call, &shown_name_kind, &name);
	}
	world_abandon(&call);
}

/* Each stay joins a millisecond after the one before. */
static const struct {
	const char *report;
	const char *names;
	bool enforces;
} name_rows[] = {
	{ "name:Anna join:a#e", "a Anna", false },
	{ "name:Anna join:a#e +1 join:b#f", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#g", "a Anna, b Anna (2)!, c Anna (3)!", true },
	/* The same after NFKC and folding, with blanks as one, and without what is not visible. */
	{ "name:Anna join:a#e +1 name:aNNA join:b#f", "a Anna, b aNNA (2)!", true },
	{ "name:A_B join:a#e +1 name:_a__b join:b#f", "a A B, b  a  b (2)!", true },
	{ "name:Anna join:a#e +1 name:\xef\xbc\xa1"
	  "n\xe2\x80\x8b"
	  "n\xe2\x81\xa0"
	  "a join:b#f",
	  "a Anna, b \xef\xbc\xa1"
	  "n\xe2\x80\x8b"
	  "n\xe2\x81\xa0"
	  "a (2)!",
	  true },
	{ "name:Stra\xc3\x9f"
	  "e join:a#e +1 name:STRASSE join:b#f",
	  "a Stra\xc3\x9f"
	  "e, b STRASSE (2)!",
	  true },
	{ "name:\xd0\x90"
	  "\xd0\xbd"
	  "\xd0\xbd"
	  "\xd0\xb0"
	  " join:a#e +1 name:\xd0\xb0"
	  "\xd0\x9d"
	  "\xd0\x9d"
	  "\xd0\x90"
	  " join:b#f",
	  "a \xd0\x90"
	  "\xd0\xbd"
	  "\xd0\xbd"
	  "\xd0\xb0"
	  ", b \xd0\xb0"
	  "\xd0\x9d"
	  "\xd0\x9d"
	  "\xd0\x90"
	  " (2)!",
	  true },
	{ "name:Zo\xc3\xab"
	  " join:a#e +1 name:zoe\xcc\x88"
	  " join:b#f",
	  "a Zo\xc3\xab"
	  ", b zoe\xcc\x88"
	  " (2)!",
	  true },
	{ "name:Anna join:a#e +1 name:An_na join:b#f", "a Anna, b An na", false },
	/* One's own stays do not count. */
	{ "name:Anna join:a#e +1 join:b#e", "a Anna, b Anna", false },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#f", "a Anna, b Anna (2)!, c Anna (2)!", true },
	/* Names that a code or the account gives stay, and guests get the number. */
	{ "name:Anna join:a#e +1 name:g!Anna join:b#f", "a Anna (2)!, b Anna", true },
	{ "name:g!Anna join:a#e +1 join:b#f", "a Anna, b Anna", false },
	{ "name:g!Anna join:a#e +1 name:Anna join:b#f", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 name:g!anna join:c#g",
	  "a Anna (3)!, b Anna (2)!, c anna", true },
	/* Nobody whom this service did not let in is called otherwise. */
	{ "name:Anna join:a +1 join:b", "a Anna, b Anna", false },
	{ "name:Anna join:a +1 join:b#e", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a +1 name:g!Anna join:b#e", "a Anna, b Anna", false },
	/* What is reported later. */
	{ "name:Anna join:a#e +1 join:b#f +1 join:b", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 name:Anna_(2) join:b", "a Anna, b Anna (2)", false },
	{ "name:Anna join:a#e +1 name:Bob join:b#f +1 name:Anna join:b", "a Anna, b Anna (2)!",
	  true },
	{ "name:Anna join:a#e +1 name:Bob join:b#f +1 name:Eve join:b", "a Anna, b Eve", false },
	{ "name:Anna join:a#e +1 join:b#f +1 look:a,b", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f leave:a +1 look:b", "b Anna", true },
	{ "name:Anna join:a#e +1 join:b#f leave:a +1 join:c#g", "b Anna (2)!, c Anna", false },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#g leave:b +1 join:d#h",
	  "a Anna, c Anna (3)!, d Anna (2)!", true },
	{ "name:Anna join:a#e +1 name:g!Bob join:b#f +1 name:g!Anna look:b,a",
	  "a Anna (2)!, b Anna", true },
	/* Numbers. */
	{ "name:Anna_(2) join:a#e +1 name:Anna join:b#f +1 join:c#g",
	  "a Anna (2), b Anna, c Anna (3)!", true },
	{ "name:Anna_(2) join:a#e +1 join:b#f", "a Anna (2), b Anna (3)!", true },
	{ "name:Anna_(1) join:a#e +1 join:b#f", "a Anna (1), b Anna (1) (2)!", true },
	{ "name:Anna_(02) join:a#e +1 name:Anna_(2) join:b#f", "a Anna (02), b Anna (2)", false },
	{ "name:(2) join:a#e +1 join:b#f", "a (2), b (2) (2)!", true },
	{ "name:Eltern_1 join:a#e +1 join:b#f", "a Eltern 1, b Eltern 1 (2)!", true },
	{ "name:c!guest_1 join:a#e +1 join:b#f +1 join:c#g", "a guest 1, b guest 2!, c guest 3!",
	  true },
	{ "name:c!guest_1 join:a#e +1 join:b#f +1 join:b", "a guest 1, b guest 2!", true },
	{ "name:guest_1 join:a#e +1 name:c!guest_1 join:b#f", "a guest 1, b guest 2!", true },
	{ "name:c!guest join:a#e +1 join:b#f", "a guest, b guest (2)!", true },
	{ "name: join:a#e +1 join:b#f", "a , b ", false },
	{ "name:Anna join:a#e +1000 room:2 join:b#e +1 join:c#f", "b Anna, c Anna (2)!", true },
};

START_TEST(no_two_people_have_one_name)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(name_rows); i++) {
		struct script *script = script_open(name_rows[i].report);

		say(script, name_rows[i].report);
		ck_assert_msg(strcmp(names_of(script), name_rows[i].names) == 0, "%s: %s",
			      script->at, names_of(script));
		ck_assert_msg((script->told.enforces == ENFORCE_ALL) == name_rows[i].enforces, "%s",
			      script->at);
		check_names(script);
		(void)stored(script);
		say(script, "+1000 look: +5000 look: +20000 grace");
		ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
	}
}
END_TEST

/* A former program stored people without the record of their name: the next survey makes it. */
START_TEST(names_of_a_former_program_are_taken)
{
	struct fault fault = FAULT_INITIAL;
	struct script *script;
	struct peer peer;
	struct call call;

	open_stand(_i);
	script = script_open("formerly named");
	say(script, "name:Anna join:a#e +1");
	begin_with_peer(script, SLICE("a"), &call, &peer);
	ck_assert(names_release(&call, &peer, &fault) &&
		  record_put(&peer_table, call.transaction, &peer, &fault));
	commit(&call);
	ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
	say(script, "look:a +1 join:b#f");
	ck_assert_str_eq(names_of(script), "a Anna, b Anna (2)!");
	say(script, "leave:a leave:b");
	ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
}
END_TEST

/* Many have one name: the first numbers that are free are found in a few reads, then those after
 * the last one. */
START_TEST(a_crowd_may_have_one_name)
{
	struct script *script;
	struct name_request request = { .name = SLICE("guest"), .origin = NAME_COUNTED };
	struct fault fault = FAULT_INITIAL;
	struct slice shown;
	struct call call;

	open_stand(_i);
	script = script_open("many guests");
	script->name = SLICE("guest 1");
	script->origin = NAME_COUNTED;
	for (int i = 0; i < 70; i++)
		say(script, arena_text(stand.arena, "join:s%d#e%d", i, i));
	request.room = &script->room;
	request.entry = SLICE("e");
	begin(&call);
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert_msg(slice_is(shown, "guest 71"), "%.*s", (int)shown.size, shown.data);
	request.name = SLICE("Guest 3");
	request.origin = NAME_CHOSEN;
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3 (2)"));
	request.entry = SLICE("e2");
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	request.entry = SLICE("e");
	request.user_id = SLICE("s2");
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	request.user_id = SLICE("s3");
	request.origin = NAME_GIVEN;
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	world_abandon(&call);
	script->name = SLICE("guest 999999");
	say(script, "join:last#last");
	begin(&call);
	request = (struct name_request){ .room = &script->room,
					 .name = SLICE("guest"),
					 .origin = NAME_COUNTED,
					 .entry = SLICE("e") };
	ck_assert(names_find(&call, &request, &shown, &fault));
	ck_assert(slice_begins(shown, SLICE("guest ")) && !slice_is(shown, "guest 1000000"));
	world_abandon(&call);
	(void)stored(script);
}
END_TEST

void add_names(TCase *records)
{
	tcase_add_loop_test(records, no_two_people_have_one_name, 0, ROWS(drivers));
	tcase_add_loop_test(records, names_of_a_former_program_are_taken, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_crowd_may_have_one_name, 0, ROWS(drivers));
}
