/* What becomes of reports: scripts, and what is stored after each of their words.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "script.h"
#include "suite.h"

/* a is inside, b has left, or was declared gone; a was listed last at 8000. Then a leaves, too. */
#define LEFT "room:2 join:a +1000 join:b +1000 leave:b"
#define GONE "room:2 join:a +1000 join:b +1000 look:a,b +1000 look:a +5000 look:a"
#define CLOSED " +1000 leave:a +20000 grace"
/* a was inside, and c, which nobody has reported. */
#define ENDED "join:a +500 known:c +500 ended"
/* Both were listed at 2000; it is 3000. */
#define SEEN "join:a +1000 join:b +1000 look:a,b +1000"

static const struct report_row report_rows[] = {
	/* clang-format off */
	/* ---- an event reports a join ---- */
	{ "", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "join:a +1000", "join:b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "room:2 join:a +1000", "room:3 join:b",
	  "[closed 2 0-0 a@0-0=unseen] [open 3 1000-1000 b@1000]", "leave close open join soon" },
	{ "room:2 join:a +1000", "room:1 join:b", "[open 2 0-0 a@0]", "" },
	{ "room:8 join:a +1000", "room:9 join:b", "[open 8 0-0 a@0]", "" },
	/* inside */
	{ "join:a +1000", "name:x join:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "room:2 name:x join:a", "[open 1 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 name:x join:a", "[open 2 0-0 a@0]", "" },
	/* left */
	{ LEFT, "name:x join:b", "[open 2 0-2000 a@0 b(x)@1000-2000=left]", "" },
	{ LEFT, "room:3 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "room:1 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x join:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	/* declared gone */
	{ GONE, "name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE, "room:3 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE, "room:1 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE CLOSED, "name:x join:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]",
	  "soon" },

	/* ---- a survey lists somebody ---- */
	{ "", "look:a", "[open 1 0-0 a@0]", "open join" },
	{ "", "listed:a,b", "[open 1 0-0 a@0 b@0]", "open join join" },
	{ "", "look:", "", "" },
	{ "join:a +1000", "look:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "join:a +1000", "listed:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "room:2 join:a +1000", "room:3 look:b",
	  "[closed 2 0-0 a@0-0=unseen] [open 3 1000-1000 b@1000]",
	  "leave close open join soon again" },
	{ "room:2 join:a +1000", "room:1 listed:a,b", "[open 2 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 look:a,b", "[open 2 0-0 a@0]", "" },
	/* inside */
	{ "join:a +1000", "name:x look:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "name:x listed:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "room:2 name:x listed:a", "[open 1 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 name:x listed:a", "[open 2 0-0 a@0]", "" },
	/* inside until another room of the media server takes the place of theirs */
	{ "join:a +1000", "room:2 name:x listed:b,a",
	  "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b(x)@1000]", "leave close open join soon" },
	{ "join:a +1000", "room:2 name:x listed:a,b",
	  "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b(x)@1000]", "leave close open join soon" },
	/* left */
	{ LEFT, "name:x listed:a,b", "[open 2 0-2000 a(x)@0 b(x)@1000-2000=left]", "" },
	{ LEFT, "room:3 name:x listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "room:1 name:x listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x listed:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	/* declared gone */
	{ GONE, "listed:a,b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "join" },
	{ GONE, "look:a,b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "join" },
	{ GONE, "room:3 listed:b", "[open 3 0-8000 a@0-8000=unseen b'@1000 b@1000-2000=unseen]",
	  "leave join soon" },
	{ GONE " +60000", "room:3 listed:c",
	  "[closed 2 0-8000 a@0-8000=unseen b@1000-2000=unseen] [open 3 68000-68000 c@68000]",
	  "leave close open join soon" },
	{ GONE, "name:x room:1 listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE CLOSED, "look:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen] "
	  "[open 2 1000-1000 b'@1000]", "open join" },
	/* declared gone once more, and back again; then it leaves */
	{ GONE " look:a,b +1000 look:a +5000 look:a", "look:a,b",
	  "[open 2 0-8000 a@0 b''@1000 b'@1000-8000=unseen b@1000-2000=unseen]", "join" },
	{ GONE " look:a,b +1000", "leave:b", "[open 2 0-9000 a@0 b'@1000-9000=left "
	  "b@1000-2000=unseen]", "leave" },
	{ GONE " look:a,b +1000", "join:b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "" },

	/* ---- the media server was restarted: somebody of the session comes to a newer room
	 * ---- */
	{ "join:a +1000 join:b +1000", "room:2 join:c=a", "[open 2 0-2000 a@0-0=unseen "
	  "b@1000-1000=unseen c(a)@2000]", "leave leave join soon" },
	{ "join:a#e +1000", "room:2 join:b#e", "[open 2 0-1000 a@0-0=unseen b@1000]",
	  "leave join soon" },
	{ "join:a#e +1000", "room:2 listed:x,b#e", "[open 2 0-1000 a@0-0=unseen b@1000 x@1000]",
	  "leave join join soon" },
	{ "join:a +1000", "room:2 look:x,c=a", "[open 2 0-1000 a@0-0=unseen c(a)@1000 x@1000]",
	  "leave join join soon again" },
	{ "join:a +1000", "( room:2 join:x join:c=a )",
	  "[open 2 0-1000 a@0-0=unseen c(a)@1000 x@1000]", "leave join join soon" },
	/* as a survey saw the session last, or somebody who left; whoever left comes back, too */
	{ "join:a +1000 look:a +60000", "room:2 join:c=a", "[open 2 0-61000 a@0-1000=unseen "
	  "c(a)@61000]", "leave join soon" },
	{ "join:a +1000 look:a +60001", "room:2 join:c=a", "[closed 1 0-1000 a@0-1000=unseen] "
	  "[open 2 61001-61001 c(a)@61001]", "leave close open join soon" },
	{ "join:a join:b +1000 leave:a +60000", "room:2 join:c=a", "[open 2 0-61000 a@0-1000=left "
	  "b@0-0=unseen c(a)@61000]", "leave join soon" },
	{ "join:a join:b +1000 leave:a=server leave:b=server +19000", "room:2 join:c=a",
	  "[open 2 0-20000 a@0-1000=server b@0-1000=server c(a)@20000]", "join soon" },
	/* surveys have missed everybody: the session waits for 60 s, from when they were last
	 * seen */
	{ SEEN " look: +5000 look: +20000 grace", "room:2 join:c=a",
	  "[open 2 0-28000 a@0-2000=unseen b@1000-2000=unseen c(a)@28000]", "join soon" },
	{ SEEN " look: +5000 look: +54000", "grace",
	  "[closed 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]", "close" },
	{ SEEN " look: +5000 look: +53999", "grace",
	  "[open 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]", "" },
	{ SEEN " leave:a look: +5000 look: +20000", "grace",
	  "[closed 1 0-3000 a@0-3000=left b@1000-2000=unseen]", "close" },
	/* somebody else comes, an older room, another session, or the room was ended */
	{ "join:a#e +1000", "room:2 join:b#f", "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b@1000]",
	  "leave close open join soon" },
	{ "room:2 join:a#e +1000", "room:1 join:b#e", "[open 2 0-0 a@0]", "" },
	{ "join:a#e +1000 ended", "room:2 join:b#e", "[closed 1 0-1000 a@0-1000=ended] "
	  "[open 2 1000-1000 b@1000]", "open join" },
	{ "join:a#e +1000 ending", "room:2 join:b#e", "[closed 1 0-0 a@0-0=unseen] "
	  "[open 2 1000-1000 b@1000]", "leave close open join soon" },
	{ "join:a#e +1000 delete", "room:2 join:b#e", "[closed 1 0-0 a@0-0=unseen]",
	  "leave close soon" },
	/* what the old room reports late */
	{ "join:a#e join:d +1000 room:2 join:b#e +1000",
	  "room:1 leave:a leave:d ended join:a join:x leave:x look:a,b",
	  "[open 2 0-1000 a@0-0=unseen d@0-0=unseen b@1000]", "" },

	/* ---- an event reports a leave ---- */
	{ "join:a +500 known:b +500", "leave:b", "[open 1 0-1000 a@0 b@500-1000=left]",
	  "join leave soon" },
	{ "room:2 join:a +1000", "room:3 leave:b", "[open 2 0-0 a@0]", "" },
	/* of a session that has closed: within 60 s, of the same room of the media server */
	{ ENDED " +60000", "leave:c", "[closed 1 0-1000 a@0-1000=ended c@500-1000=left]",
	  "join leave" },
	{ ENDED " +60001", "leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED, "late:500 leave:c=sip", "[closed 1 0-1000 a@0-1000=ended c@500-500=sip]",
	  "join leave" },
	{ ENDED " +1000", "leave:d", "[closed 1 0-1000 a@0-1000=ended d@1000-1000=left]",
	  "join leave" },
	{ ENDED, "room:2 leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED, "server:2 leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED " room:2 join:b +1000", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended c@500-1000=left] [open 2 1000-1000 b@1000]",
	  "join leave" },
	{ ENDED " room:2 join:b +1000 ended", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended c@500-1000=left] [closed 2 1000-2000 b@1000-2000=ended]",
	  "join leave" },
	{ ENDED " +1000 join:b +1000 ended", "leave:c",
	  "[closed 1 0-1000 a@0-1000=ended] "
	  "[closed 1 2000-3000 c@500-3000=left b@2000-3000=ended]", "join leave" },
	{ "room:2 join:b +1000", "room:1 leave:c", "[open 2 0-0 b@0]", "" },
	{ "", "leave:a", "", "" },
	/* inside */
	{ "join:a +1000", "leave:a", "[open 1 0-1000 a@0-1000=left]", "leave" },
	{ "join:a +1000", "leave:a=other_device", "[open 1 0-1000 a@0-1000=other_device]", "leave" },
	{ "join:a +1000", "room:2 leave:a=server", "[open 1 0-1000 a@0-1000=server]", "leave" },
	{ "room:2 join:a +1000", "room:1 leave:a=media", "[open 2 0-1000 a@0-1000=media]", "leave" },
	{ "join:a +5000", "late:2000 leave:a", "[open 1 0-3000 a@0-3000=left]", "leave" },
	{ "join:a +1000", "late:2000 leave:a", "[open 1 0-0 a@0-0=left]", "leave" },
	/* left */
	{ LEFT, "name:x leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "name:x room:3 leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "name:x room:1 leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x leave:b=sip", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	{ ENDED, "leave:a", "[closed 1 0-1000 a@0-1000=ended]", "" },
	/* declared gone */
	{ GONE, "name:x leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE, "name:x room:3 leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE, "name:x room:1 leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE CLOSED, "name:x leave:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]", "" },

	/* ---- an event reports that the room has ended ---- */
	{ "join:a +5000", "ended", "[closed 1 0-5000 a@0-5000=ended]", "leave close" },
	{ "join:a +5001", "ended", "[closed 1 0-0 a@0-0=unseen]", "leave close" },
	{ "join:a +4000 join:b +3000", "ended", "[closed 1 0-7000 a@0-0=unseen b@4000-7000=ended]",
	  "leave leave close" },
	{ "join:a +9000 look:a +5000", "ended", "[closed 1 0-14000 a@0-14000=ended]", "leave close" },
	{ "join:a +9000 look:a +5001", "ended", "[closed 1 0-9000 a@0-9000=unseen]", "leave close" },
	{ "join:a +1000 look: +4000", "ended", "[closed 1 0-5000 a@0-5000=ended]", "leave close" },
	{ "join:a +2000 look: +4000", "ended", "[closed 1 0-0 a@0-0=unseen]", "leave close" },
	{ "join:a +3000", "late:1000 ended", "[closed 1 0-2000 a@0-2000=ended]", "leave close" },
	{ "join:a +3000 look:a", "late:1000 ended", "[closed 1 0-2000 a@0-2000=ended]",
	  "leave close" },
	{ "join:a +1000 leave:a +1000", "ended", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ "room:2 join:a +1000", "room:3 ended", "[open 2 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 ended", "[open 2 0-0 a@0]", "" },
	{ "", "ended", "", "" },
	{ ENDED " +1000", "ended", "[closed 1 0-1000 a@0-1000=ended]", "" },

	/* ---- an event reports that somebody did not get in ---- */
	{ "", "failed:b", "", "told" },
	{ LEFT, "failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT CLOSED, "failed:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "told" },
	{ GONE, "failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE, "room:3 failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE, "room:1 failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE CLOSED, "failed:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]", "told" },

	/* ---- a survey does not list somebody ---- */
	{ SEEN, "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +4999", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +5000", "look:a", "[open 1 0-2000 a@0 b@1000-2000=unseen]", "leave" },
	{ SEEN " look:a +1000 look:a +4000", "look:a", "[open 1 0-2000 a@0 b@1000-2000=unseen]",
	  "leave" },
	{ SEEN " look: +5000", "look:", "[open 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]",
	  "leave leave" },
	/* never listed, only reported */
	{ "join:a +1000 join:b +1000 look:a +5000", "look:a",
	  "[open 1 0-1000 a@0 b@1000-1000=unseen]", "leave" },
	/* listed, or reported, in between */
	{ SEEN " look:a +1000 look:a,b +4000", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 look:a,b +4000 look:a +5000", "look:a",
	  "[open 1 0-4000 a@0 b@1000-4000=unseen]", "leave" },
	{ SEEN " look:a +1000 join:b +4000", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 join:b +4000 look:a +5000", "look:a",
	  "[open 1 0-4000 a@0 b@1000-4000=unseen]", "leave" },
	/* an event, or an answer, from before they were missing */
	{ SEEN " look:a +1000 late:3000 join:b late:0 +4000", "look:a",
	  "[open 1 0-2000 a@0 b@1000-2000=unseen]", "leave" },
	{ SEEN " look:a +1000 late:1500 look:a,b late:0 +4000", "look:a",
	  "[open 1 0-2500 a@0 b@1000-2500=unseen]", "leave" },
	{ SEEN " look:a +2000 look:a +500 late:3000 look:a,b late:0 +2500", "look:a",
	  "[open 1 0-2500 a@0 b@1000-2500=unseen]", "leave" },
	/* an event from between two surveys that miss them */
	{ SEEN " look:a +1000 look:a +1000 late:1500 join:b late:0 +3500", "look:a",
	  "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 look:a +1000 late:1500 join:b late:0 +4000", "look:a",
	  "[open 1 0-3500 a@0 b@1000-3500=unseen]", "leave" },
	/* a survey that was sent before they were known does not count, neither as one that saw nor
	 * as one that missed them */
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +1000", "ended",
	  "[closed 1 0-7000 a@0-7000=ended b@1000-1500=unseen]", "leave leave close" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +4000 look:a +5000",
	  "look:a", "[open 1 0-1500 a@0 b@1000-1500=unseen]", "leave" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +4000", "look:a",
	  "[open 1 0-1000 a@0 b@1000]", "again" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +1000 look:a,b +5001",
	  "ended", "[closed 1 0-7000 a@0-7000=unseen b@1000-7000=unseen]", "leave leave close" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 listed:a,b late:0 +4000", "ended",
	  "[closed 1 0-4000 a@0-4000=unseen b@1000-1500=unseen]", "leave leave close" },
	/* the survey was sent before they came, or before another one */
	{ "join:a +3000 join:b", "late:1000 look:a", "[open 1 0-3000 a@0 b@3000]", "" },
	{ SEEN " look:a,b", "late:500 look:a", "[open 1 0-1000 a@0 b@1000]", "" },
	{ SEEN " look:a +5000 look:a,b", "late:2500 look:a", "[open 1 0-1000 a@0 b@1000]", "" },

	/* ---- nobody is inside ---- */
	{ "join:a +1000 leave:a +19999", "grace", "[open 1 0-1000 a@0-1000=left]", "" },
	{ "join:a +1000 leave:a +20000", "grace", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ "join:a +1000 leave:a +10000 join:b +10000", "grace",
	  "[open 1 0-11000 a@0-1000=left b@11000]", "" },
	{ "join:a +1000 leave:a +19000 join:b", "leave:b +19000 grace",
	  "[open 1 0-20000 a@0-1000=left b@20000-20000=left]", "leave" },
	{ "join:a +1000 leave:a +20000 grace", "join:b",
	  "[closed 1 0-1000 a@0-1000=left] [open 1 21000-21000 b@21000]", "open join" },
	{ "join:a +1000 leave:a +15000 leave:b +6000", "grace",
	  "[open 1 0-16000 a@0-1000=left b@16000-16000=left]", "" },
	{ "", "grace", "", "" },

	/* ---- another media server ---- */
	{ "join:a +1000", "server:2 join:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 join:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 room:2 listed:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 server:2 look: +5000", "look:", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 leave:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 ended", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 failed:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 ended", "server:2 join:a",
	  "[closed 1 0-1000 a@0-1000=ended] [open 1 0-0 a@0]", "open join" },

	/* ---- a room that was deleted ---- */
	{ "delete", "join:a", "", "" },
	{ "delete", "look:a", "", "" },
	{ "delete", "failed:a", "", "" },
	{ "join:a +1000 delete", "join:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "look:a,b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "failed:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "leave:a", "[open 1 0-1000 a@0-1000=left]", "leave" },
	{ "join:a +1000 delete", "leave:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "ended", "[closed 1 0-1000 a@0-1000=ended]", "leave close" },
	{ "join:a +1000 delete look: +5000", "look:", "[open 1 0-0 a@0-0=unseen]", "leave" },
	{ "join:a +1000 delete", "room:2 join:b", "[closed 1 0-0 a@0-0=unseen]", "leave close soon" },
	{ "join:a +1000 delete", "room:2 listed:b,c", "[closed 1 0-0 a@0-0=unseen]",
	  "leave close soon" },
	{ "join:a +1000 leave:a delete +20000", "grace", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ ENDED " delete", "leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED " room:2 join:b delete", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended] [open 2 1000-1000 b@1000]", "" },

	/* ---- nothing comes of it, although sessions of these rooms closed a moment ago ---- */
	{ "room:1 join:p ended room:3 join:q ended room:2 join:r ended join:a +1000 join:b +1000 leave:b join:c "
	  "+1000 look:a,c +1000 look:a +5000 look:a",
	  "name:x leave:b leave:c join:c room:1 join:u join:a join:b join:c leave:b leave:c listed:u "
	  "listed:a listed:b listed:c ended room:3 join:a join:b join:c leave:u leave:b leave:c "
	  "listed:a listed:b ended",
	  "[closed 1 0-0 p@0-0=ended] [closed 3 0-0 q@0-0=ended] [closed 2 0-0 r@0-0=ended] "
	  "[open 2 0-3000 a@0 b@1000-2000=left c@2000-3000=unseen]", "" },

	/* ---- times ---- */
	{ "known:a +1000 join:b +1000", "join:a", "[open 1 1000-1000 a@0 b@1000]", "join" },
	{ "known:a +1000", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "+1000 late:-500 known:a late:0", "join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "timeless:a +1000", "join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "join:a +1000 timeless:b", "look:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "join:a +1000 join:b +1000 leave:a +1000", "join:c +1000 leave:b",
	  "[open 1 0-4000 a@0-2000=left b@1000-4000=left c@3000]", "join leave" },

	/* ---- several events in one transaction ---- */
	{ "", "( join:a join:a leave:a join:a leave:a )", "[open 1 0-0 a@0-0=left]",
	  "open join leave" },
	{ "", "( leave:b join:a )", "[open 1 0-0 a@0]", "open join" },
	{ "", "( join:a leave:b )", "[open 1 0-0 a@0 b@0-0=left]", "open join join leave soon" },
	{ "", "( join:a ended )", "[closed 1 0-0 a@0-0=ended]", "open join leave close" },
	{ "", "( join:a ended leave:b ended )", "[closed 1 0-0 a@0-0=ended b@0-0=left]",
	  "open join leave close join leave" },
	{ "", "( join:a room:2 join:b room:1 leave:c )",
	  "[closed 1 0-0 a@0-0=unseen c@0-0=left] [open 2 0-0 b@0]",
	  "open join leave close open join join leave soon" },
	{ "join:a +1000", "( leave:a ended room:2 join:b )",
	  "[closed 1 0-1000 a@0-1000=left] [open 2 1000-1000 b@1000]", "leave close open join" },
	{ "join:a +1000", "( room:2 join:b room:3 join:c )",
	  "[closed 1 0-0 a@0-0=unseen] [closed 2 1000-1000 b@1000-1000=unseen] "
	  "[open 3 1000-1000 c@1000]", "leave close open join leave close open join soon" },
	/* clang-format on */
};

START_TEST(reports_become_records)
{
	open_stand(_i);
	run_reports(report_rows, ROWS(report_rows));
}
END_TEST

/* What another room has while a is inside. */
static const struct {
	const char *report;
	const char *stored;
} elsewhere[] = {
	{ "join:a", "" },
	{ "listed:a", "" },
	{ "leave:a", "" },
	{ "join:z ended", "[closed 1 0-0 z@0-0=ended]" },
	{ "join:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "listed:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "leave:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "join:b", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "name:x join:a", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "leave:a", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "look:a,b", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b(x)@0]" },
};

/* A media server that reports one stay in two rooms is wrong, or moved the person. */
START_TEST(a_stay_is_in_one_room)
{
	struct script *one, *other;

	open_stand(_i);
	one = script_open("one room");
	say(one, "join:a");
	other = script_open("another room");
	other->first_room = one->room;
	for (int i = 0; i < ROWS(elsewhere); i++) {
		say(other, elsewhere[i].report);
		expect(other, elsewhere[i].stored);
		ck_assert(other->told.failed == NULL);
	}
	say(other, "failed:a");
	ck_assert_ptr_nonnull(other->told.failed);
	world_move(&stand, -HOUR);
	expect(one, "[open 1 0-0 a@0]");
	say(one, "+1000 look: +5000 look:");
	expect(one, "[open 1 0-0 a@0-0=unseen]");
	world_move(&stand, HOUR);
	say(other, "look:a,b");
	expect(other, "[closed 1 0-0 z@0-0=ended] [open 1 0-0 a'(x)@0 b(x)@0]");
}
END_TEST

void add_reports(TCase *report)
{
	tcase_add_loop_test(report, reports_become_records, 0, ROWS(drivers));
	tcase_add_loop_test(report, a_stay_is_in_one_room, 0, ROWS(drivers));
}
