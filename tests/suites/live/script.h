/* Live rooms: what becomes of the reports of media servers (resources/live/live_merge.h), over a
 * store in memory and over a durable one.
 *
 * Reports are written as scripts: words that are carried out one after the other, each a call of
 * its own. The records of a room are compared as a text. A stay has a short name, such as `a`;
 * times are milliseconds since the script began.
 *
 *     join:a        an event: a is inside           room:2     a later room of the media server;
 *                                                              8 and 9 were made at the same time
 *     leave:a=sip   an event, with its cause        late:3000  events are told so much later
 *     look:a,b      the media server lists a and b  name:x     people have this name from now on
 *     listed:a,b    the same, and names the room    server:2   another media server tells
 *     ended         an event: the room has ended    known:a    a joins now, which nobody tells yet
 *     failed:a      an event: a did not get in      timeless:a nobody knows when a joined
 *     order:a=full  a is to be put out, and why     out:a      it was put out
 *     grace         20 s without anybody are over   delete     the room is deleted
 *     ( )           the events are merged together    +5000      so much later
 *     a/host#e      the stay a, with its role and the entry of its token
 *     join:a=x      a is a stay of the person x, whose user_id and name are x; else they are a
 *     ending        a call has the room ended
 *     pool          the media servers are in a pool, which has the account's default
 *     place:2       the room is placed at this media server for an hour
 *     move:2        it is moved there
 *     drop:1        this media server is deleted
 *     other:2       this media server is in another pool from now on
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_LIVE_SCRIPT_H
#define TESTS_LIVE_SCRIPT_H

#include <check.h>

#include "base/text.h"
#include "resources/live/live_merge.h"
#include "resources/record_kind.h"
#include "world.h"

/* ---- the world ---- */

#define MIDDAY ((int64_t)1800014400000) /* 12:00 UTC */
#define HOUR ((int64_t)60 * 60 * 1000)
#define SERVERS 2

/* One account with a template and two media servers. */
extern struct world stand;
extern struct id servers[SERVERS];
extern const enum world_store drivers[2];

/* The time of the world. */
int64_t now(void);
void set_now(int64_t time);

/* Makes a call that must succeed. Returns the body of the response. */
const char *ask(enum method method, const char *path, const char *body);

/* Creates an object and returns its id. */
struct id create(const char *path, const char *body);

/* Sets a setting of the account, as `anteroom account` does. */
void set_setting(const char *name, const char *value);

/* The fixture: the world with its account. */
void set_up(void);

/* Continues with the n-th of the drivers, and creates the template and the media servers. */
void open_stand(int driver);

/* Closes the world. */
void tear_down(void);

/* ---- calls without a request ---- */

/* Begins a call without a request, and stores what it did. */
void begin(struct call *call);
void commit(struct call *call);

/* ---- scripts ---- */

#define STAYS_MOST 1000

/* A stay of a script. */
struct known {
	struct slice name;
	struct slice person, role, entry; /* as first reported */
	int64_t joined;
};

struct script {
	const char *at; /* where it is run, for messages */
	struct id room;
	struct id first_room; /* whose stays have the same names and the same ids */
	int64_t begun;
	struct known stays[STAYS_MOST];
	size_t stay_count;
	/* What words have set. */
	unsigned server, server_room;
	int64_t late;
	struct slice name; /* data NULL: that of the stay */
	enum name_origin origin;
	bool is_in_pool;
	bool is_batch; /* events are merged together */
	struct report batch[STAYS_MOST];
	size_t batch_count;
	/* Results of the last word that reports something, and the last event before it. */
	struct merging told;
	uint64_t seq;
};

/* Returns a new script with a new room, which begins an hour later. */
struct script *script_open(const char *at);

/* Returns the stay of a word such as a/host#e. */
struct known *find_known(struct script *script, struct slice word);

/* Returns what is reported about the stay that the word names. */
struct report report_of(struct script *script, enum report_type type, struct slice word);

/* Completes a report with the room and the media server of the script, and merges it in a call of
 * its own; script->told is what became of them. */
void merge(struct script *script, struct merging *merging);

/* Merges the report, or adds it to a batch. */
void merge_report(struct script *script, const struct report *report);

/* Surveys the room as the service does: the list of people names no room, so the rooms are asked
 * for if somebody is new. */
void say_survey(struct script *script, struct slice people);

/* ---- words ---- */

/* Begins a call, and loads the peer of the stay. */
void begin_with_peer(const struct script *script, struct slice word, struct call *call,
		     struct peer *peer);

/* Carries out the words, one after the other. */
void say(struct script *script, const char *text);

/* ---- what is stored ---- */

/* Expects `check` to find nothing in the record. */
void check_one(const struct script *script, struct call *call, const struct record_kind *kind,
	       const void *record);

/* Appends the name of the stay, with an apostrophe for each time that it was declared gone. */
void append_stay(const struct script *script, const struct peer *peer, struct buffer *text);

/* Returns the sessions of the room, oldest first: [open 1 CREATED-UPDATED PEERS]. A peer is
 * NAME@JOINED, followed by -LEFT=CAUSE. */
const char *stored(const struct script *script);

/* Returns the number of the last event of the account. */
uint64_t last_seq(void);

/* Returns the events of live rooms after the number: "open join", and so on. data: the contents of
 * the last one, unless that is NULL. */
const char *events_since(uint64_t seq, const char **data);

/* Expects these sessions of the room (stored). */
void expect(const struct script *script, const char *expected);

struct report_row {
	const char *before; /* what was reported already */
	const char *report;
	const char *stored; /* then (stored) */
	/* The events of the report; then `told`: webhooks get a failure; `soon`: the room is to be
	 * surveyed; `again`: it is to be surveyed again; `stray`: nothing was merged, because the
	 * room is elsewhere. */
	const char *events;
};

/* Runs the rows, each in a room of its own. */
void run_reports(const struct report_row *rows, int count);

/* Returns the number of records of the kind that the room has, at most 2 * GARBAGE_AT_ONCE. */
size_t count_of_room(const struct id *room, const struct store_kind *kind);

/* Returns the stays of an entry that are known to be inside. */
const char *inside_of(const struct script *script, const char *entry);

/* Returns the peer of the stay, which was declared gone so often before; if there is none, a peer
 * with nothing but the public id. */
struct peer get_peer(const struct script *script, struct call *call, struct slice name,
		     unsigned again);

/* Returns the peer of the stay with this name, in the arena of the test. */
struct peer find_peer(const struct script *script, const char *name);

/* The same; there must be one. */
struct peer peer_of(const struct script *script, const char *name);

/* Bans the person for so many seconds (0: without an end); room: NULL for all rooms. */
void ban(const char *user_id, const struct id *room, int64_t seconds);

/* ---- the files of the suite ---- */

/* Each adds its tests to these cases. */
void add_reports(TCase *report);
void add_places(TCase *report);
void add_records(TCase *records);
void add_names(TCase *records);
void add_events(TCase *records);
void add_doors(TCase *doors);
void add_meetings(TCase *meetings);
void add_entry_rules(TCase *entry);

#endif
