/* What becomes of reports about a room of a pool, which is at one media server, and may be moved to
 * another one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "records/kinds.h"
#include "script.h"
#include "suite.h"

/* a and b are inside at the first media server, and it is 3000. */
#define INSIDE "pool place:1 join:a +1000 join:b +1000"
#define MOVED INSIDE " move:2 +1000"
#define UNCHANGED "[open 1 0-1000 a@0 b@1000]"
/* c has come to the second one. */
#define FOLLOWED MOVED " server:2 room:2 join:c +1000"
#define GOES_ON "[open 2 0-3000 a@0-0=moved b@1000-1000=moved c@3000]"

static const struct report_row rows[] = {
	/* clang-format off */
	/* ---- the place is where the room is ---- */
	{ "pool place:1", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "pool place:2", "join:a", "", "stray" },
	{ "pool place:2", "look:a", "", "stray" },
	{ "pool place:2", "server:2 join:a", "[open 1 0-0 a@0]", "open join" },
	/* It has ended. */
	{ "pool place:2 +3700000", "join:a", "[open 1 3700000-3700000 a@3700000]", "open join" },
	/* Nobody was placed. */
	{ "pool", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "pool join:a +1000", "server:2 room:2 join:b", "[open 1 0-0 a@0]", "stray" },
	/* Placed while somebody came elsewhere: the place holds. */
	{ "pool join:a place:2 +1000", "server:2 room:2 join:b",
	  "[open 2 0-1000 a@0-0=moved b@1000]", "leave join soon" },
	{ "pool join:a place:2 +3700000", "server:2 room:2 join:b", "[open 1 0-0 a@0]", "stray" },

	/* ---- it was moved: the former server says nothing ---- */
	{ MOVED, "join:c", UNCHANGED, "stray" },
	{ MOVED, "look:a,b,c", UNCHANGED, "stray" },
	{ MOVED, "look:", UNCHANGED, "stray" },
	{ MOVED, "leave:a", UNCHANGED, "stray" },
	{ MOVED, "ended", UNCHANGED, "stray" },
	{ FOLLOWED, "server:1 room:1 leave:a", GOES_ON, "stray" },
	{ FOLLOWED, "server:1 room:1 join:d", GOES_ON, "stray" },
	{ FOLLOWED, "server:1 room:1 ended", GOES_ON, "stray" },
	/* Without a session, too, however long ago that was. */
	{ "pool place:1 move:2", "join:a", "", "stray" },
	{ "pool place:1 move:2 +3700000", "join:a", "", "stray" },
	{ "pool place:1 move:2", "server:2 join:a", "[open 1 0-0 a@0]", "open join" },

	/* ---- the session goes on at the new one ---- */
	{ MOVED, "server:2 room:2 join:c", GOES_ON, "leave leave join soon" },
	{ MOVED, "server:2 room:2 look:c", GOES_ON, "leave leave join soon" },
	{ MOVED, "server:2 room:2 listed:c", GOES_ON, "leave leave join soon" },
	/* That server's clock is behind. */
	{ "pool place:1 room:3 join:a +1000 move:2 +1000", "server:2 room:1 join:c",
	  "[open 1 0-2000 a@0-0=moved c@2000]", "leave join soon" },
	/* They were last seen when they were listed last. */
	{ INSIDE " look:a,b +1000 move:2 +1000", "server:2 room:2 join:c",
	  "[open 2 0-4000 a@0-2000=moved b@1000-2000=moved c@4000]", "leave leave join soon" },
	/* Nobody has come yet. */
	{ MOVED, "server:2 room:2 look:", UNCHANGED, "" },
	{ MOVED, "server:2 room:2 leave:c", UNCHANGED, "" },
	{ MOVED, "server:2 room:2 ended", UNCHANGED, "" },
	{ MOVED " server:2 room:2 look: +5000", "look:", UNCHANGED, "" },
	{ FOLLOWED, "leave:c", "[open 2 0-4000 a@0-0=moved b@1000-1000=moved c@3000-4000=left]", "leave" },
	{ FOLLOWED, "ended", "[closed 2 0-4000 a@0-0=moved b@1000-1000=moved c@3000-4000=ended]", "leave close" },

	/* ---- it comes back ---- */
	{ MOVED " move:1 +1000", "leave:a", "[open 1 0-4000 a@0-4000=left b@1000]", "leave" },
	{ FOLLOWED " move:1 +1000", "server:1 room:1 look:a",
	  "[open 1 0-3000 a'@0 a@0-0=moved b@1000-1000=moved c@3000-3000=moved]", "leave join soon" },

	/* ---- the grace counts from the move ---- */
	{ INSIDE " move:2 +59000", "grace", UNCHANGED, "" },
	{ INSIDE " move:2 +60000", "grace", "[closed 1 0-1000 a@0-0=moved b@1000-1000=moved]",
	  "leave leave close" },
	{ "pool place:1 join:a leave:a +15000 move:2 +15000", "grace", "[open 1 0-0 a@0-0=left]", "" },
	{ "pool place:1 join:a leave:a move:2 +59000", "grace", "[open 1 0-0 a@0-0=left]", "" },
	{ FOLLOWED " leave:c +19000", "grace",
	  "[open 2 0-4000 a@0-0=moved b@1000-1000=moved c@3000-4000=left]", "" },
	{ FOLLOWED " leave:c +20000", "grace",
	  "[closed 2 0-4000 a@0-0=moved b@1000-1000=moved c@3000-4000=left]", "close" },

	/* ---- its media server is put into another pool ---- */
	{ "pool place:2 other:2 +1000", "join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "pool place:2 other:2 +1000", "server:2 join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "pool place:2 server:2 join:a other:2 +1000", "server:1 join:b", "[open 1 0-0 a@0]", "stray" },
	{ "pool place:2 server:2 join:a other:2 +1000", "join:b", "[open 1 0-1000 a@0 b@1000]", "join" },

	/* ---- a room that is deleted ---- */
	{ MOVED " delete", "server:2 room:2 join:c", UNCHANGED, "" },
	/* clang-format on */
};

START_TEST(reports_come_from_the_place)
{
	open_stand(_i);
	run_reports(rows, ROWS(rows));
}
END_TEST

#define MANY 600

/* Those at the former media server leave in steps; until then nothing of the new one is merged. */
START_TEST(a_large_session_goes_on_in_steps)
{
	struct report come;
	struct script *script;
	size_t steps = 0;

	open_stand(_i);
	script = script_open("many");
	say(script, "pool place:1 (");
	for (int i = 0; i < MANY; i++)
		say(script, arena_text(stand.arena, "join:s%d", i));
	say(script, ") +1000 move:2 server:2 room:2");
	come = report_of(script, REPORT_JOINED, SLICE("new"));
	do {
		ck_assert_uint_eq(script->told.inside, steps == 0 ? MANY : MANY - 256 * steps);
		merge_report(script, &come);
		steps++;
	} while (script->told.is_moving);
	ck_assert_uint_eq(steps, MANY / 256 + 1);
	ck_assert_uint_eq(script->told.merged, 1);
	ck_assert_uint_eq(script->told.inside, 1);
	(void)stored(script);
}
END_TEST

/* Those who come back to a room whose former media server is deleted are of the same session. */
START_TEST(a_former_media_server_may_be_deleted)
{
	struct script *script;

	open_stand(_i);
	script = script_open("deleted");
	say(script, INSIDE " move:2 +1000 drop:1");
	expect(script, "[open  0-1000 a@0 b@1000]");
	say(script, "server:2 room:2 join:c=a");
	expect(script, "[open 2 0-3000 a@0-0=unseen b@1000-1000=unseen c(a)@3000]");
}
END_TEST

void add_places(TCase *report)
{
	tcase_add_loop_test(report, reports_come_from_the_place, 0, ROWS(drivers));
	tcase_add_loop_test(report, a_large_session_goes_on_in_steps, 0, ROWS(drivers));
	tcase_add_loop_test(report, a_former_media_server_may_be_deleted, 0, ROWS(drivers));
}
