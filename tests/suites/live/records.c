/* The records of sessions and of the people in them: how they are found, what they count, and how
 * many are written in a step.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "records/kinds.h"
#include "resources/stored/ban_record.h"
#include "resources/door/door_polls.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "resources/live/live_caller.h"
#include "resources/live/stay_limits.h"
#include "resources/media/backend_health.h"
#include "script.h"
#include "suite.h"

/* ---- roles ---- */

/* Returns the roles of those inside, in the order of the record. */
static const char *roles_of(const struct script *script)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	for (size_t i = 0; i < live.role_count; i++) {
		buffer_append_text(&text, i > 0 ? " " : "");
		buffer_append(&text, live.roles[i].name);
		buffer_append_byte(&text, '=');
		buffer_append_integer(&text, (json_int_t)live.roles[i].count);
	}
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static const struct {
	const char *report;
	const char *roles;
} role_rows[] = {
	{ "join:a/host join:b/guest join:c/host", "host=2 guest=1" },
	{ "join:a join:b/guest", "=1 guest=1" },
	{ "join:a/host join:b/guest leave:a", "guest=1" },
	{ "join:a/host leave:b/guest", "host=1" },
	{ "join:a/host join:a/host look:a/host", "host=1" },
	{ "join:a/host join:b/guest join:c/host ended", "" },
	{ "join:a/host +1000 room:2 join:b/guest", "guest=1" },
	{ "join:a/host join:b/guest +1000 look:a +5000 look:a", "host=1" },
	{ "join:a/host join:b/guest +1000 look:a +5000 look:a look:a,b", "host=1 guest=1" },
};

START_TEST(roles_are_counted)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(role_rows); i++) {
		struct script *script = script_open(role_rows[i].report);

		say(script, role_rows[i].report);
		(void)stored(script);
		ck_assert_msg(strcmp(roles_of(script), role_rows[i].roles) == 0, "%s: %s",
			      script->at, roles_of(script));
	}
}
END_TEST

#define MANY (LIVE_ROLES_MOST + 5)

/* Says a word for each of many stays, s0 with the role r0 and so on, as one batch. */
static void say_many(struct script *script, const char *word, int first, int end)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	buffer_append_text(&text, "(");
	for (int i = first; i < end; i++)
		buffer_append_text(&text, arena_text(stand.arena, " %s:s%d/r%d", word, i, i));
	buffer_append_text(&text, " )");
	buffer_append_byte(&text, '\0');
	say(script, text.data);
}

START_TEST(people_beyond_so_many_roles_have_none)
{
	struct script *script;

	open_stand(_i);
	script = script_open("many roles");
	say_many(script, "join", 0, LIVE_ROLES_MOST);
	ck_assert_ptr_null(strstr(roles_of(script), " ="));
	say_many(script, "join", LIVE_ROLES_MOST, MANY);
	ck_assert_ptr_nonnull(strstr(roles_of(script), " =5"));
	(void)stored(script);
	/* A place for one more role; whoever is counted without a role stays so. */
	say_many(script, "leave", 0, 2);
	say(script, "join:t/r201 join:u/r3 join:v/x");
	ck_assert_ptr_nonnull(strstr(roles_of(script), "r3=2"));
	ck_assert_ptr_nonnull(strstr(roles_of(script), "=6 r201=1"));
	ck_assert_uint_eq(script->told.inside, MANY + 1);
	(void)stored(script);
	say_many(script, "leave", 2, MANY - 1);
	(void)stored(script);
	ck_assert_uint_eq(script->told.inside, 4);
	say(script, "leave:t leave:u leave:v leave:s204 look:");
	ck_assert_str_eq(roles_of(script), "");
}
END_TEST

/* ---- people by their entry ---- */

static const struct {
	const char *report;
	const char *inside; /* by the entry e */
} entry_rows[] = {
	{ "join:a", "" },
	{ "join:a#e", "a" },
	{ "join:a#e join:b#f join:c", "a" },
	{ "join:a#e join:b#e", "a b" },
	{ "join:a#e join:b#e leave:b", "a" },
	{ "join:a#e join:b#e leave:a", "b" },
	{ "join:a#e join:b#e leave:a leave:b", "" },
	{ "join:a#e join:b#e ended", "" },
	{ "join:a#e join:b#e +1000 look:a +5000 look:a", "a" },
	{ "join:a#e +1000 look: +5000 look: look:a", "a'" },
	{ "join:b leave:a#e", "" },
	{ "join:a#e +1000 room:2 join:b#e", "b" },
	{ "join:a#e leave:a +20000 grace", "" },
	{ "join:a#e join:b#e join:c#e join:d#e join:f#e", "b c d f" },
	{ "join:a#e join:b#e join:c#e join:d#e join:f#e leave:a leave:c", "b d f" },
};

START_TEST(people_are_found_by_their_entry)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(entry_rows); i++) {
		struct script *script = script_open(entry_rows[i].report);

		say(script, entry_rows[i].report);
		(void)stored(script);
		ck_assert_msg(strcmp(inside_of(script, "e"), entry_rows[i].inside) == 0, "%s: %s",
			      script->at, inside_of(script, "e"));
		say(script, "+1000 look: +5000 look: +20000 grace");
		ck_assert_str_eq(inside_of(script, "e"), "");
	}
}
END_TEST

/* Two rooms that have people with the same entry do not disturb each other. */
static const struct {
	const char *one, *other; /* what is reported of the rooms, one report after the other */
	const char *in_one, *in_other; /* who has the entry e there */
} shared_entries[] = {
	{ "join:a#e", "join:b#e", "a", "b" },
	{ "join:a#e", "server:2 join:b#e", "a", "b" },
	{ "join:a#e join:c#e", "join:b#e join:c#e leave:b", "a c", "c" },
	{ "join:a#e", "join:b#e leave:b", "a", "" },
	{ "join:a#e", "join:b#e ended", "a", "" },
};

START_TEST(rooms_may_share_an_entry)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(shared_entries); i++) {
		struct script *one = script_open(shared_entries[i].one), *other;

		say(one, shared_entries[i].one);
		other = script_open(shared_entries[i].other);
		say(other, shared_entries[i].other);
		ck_assert_str_eq(inside_of(one, "e"), shared_entries[i].in_one);
		ck_assert_str_eq(inside_of(other, "e"), shared_entries[i].in_other);
		say(one, "ended");
		ck_assert_str_eq(inside_of(one, "e"), "");
		ck_assert_str_eq(inside_of(other, "e"), shared_entries[i].in_other);
		say(other, "ended");
		ck_assert_str_eq(inside_of(other, "e"), "");
	}
}
END_TEST

/* A former program listed people by their entry alone. */
static void list_formerly(const struct script *script, const char *entry)
{
	const struct id id = inside_id(&script->room, slice_of(entry));
	unsigned char digest[DIGEST_SIZE];
	struct fault fault = FAULT_INITIAL;
	struct inside inside, former;
	struct call call;

	begin(&call);
	ck_assert(
		record_get(&inside_table, call.transaction, &id, STORE_TO_CHANGE, &inside, &fault));
	ck_assert_ptr_nonnull(inside.stored.value.data);
	former = inside;
	former.stored.value = (struct slice){ NULL, 0 };
	digest_sha256(slice_of(entry), digest);
	memcpy(former.stored.id.bytes, digest, ID_SIZE);
	ck_assert(store_remove(call.transaction, &kind_inside, &inside.stored, &fault));
	ck_assert(record_put(&inside_table, call.transaction, &former, &fault));
	commit(&call);
}

/* Returns the stay that a call from inside finds by the entry. */
static const char *found_by(const struct script *script, const char *entry)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct peer peer;
	struct call call;
	bool is_there;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_SHOW, &live, &fault));
	ck_assert(live_find_entry(&call, &live, slice_of(entry), &peer, &is_there, &fault));
	if (is_there)
		append_stay(script, &peer, &text);
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

START_TEST(people_of_a_former_program_are_found)
{
	struct script *script, *other;

	open_stand(_i);
	script = script_open("formerly listed");
	say(script, "join:a#e");
	list_formerly(script, "e");
	ck_assert_str_eq(found_by(script, "e"), "a");
	other = script_open("another room");
	say(other, "join:z");
	ck_assert_str_eq(found_by(other, "e"), "");
	say(script, "join:b#e");
	ck_assert_str_eq(found_by(script, "e"), "b");
	say(script, "leave:b");
	ck_assert_str_eq(found_by(script, "e"), "a");
	say(script, "leave:a");
	ck_assert_str_eq(found_by(script, "e"), "");
	/* Nothing is left. */
	ck_assert_uint_eq(count_of_room(&script->room, &kind_inside), 0);
}
END_TEST

/* ---- records of a former program ---- */

/* Returns the table without the members that were added. */
static struct record_table former_table(const struct record_table *table)
{
	struct member *members = arena_zero(stand.arena, table->member_count * sizeof *members);
	struct record_table former = *table;

	former.version = 0;
	former.members = members;
	former.member_count = 0;
	for (size_t i = 0; i < table->member_count; i++) {
		struct member *member = &members[former.member_count];
		struct record_table *items;

		if (table->members[i].since != 0)
			continue;
		*member = table->members[i];
		former.member_count++;
		if (member->items == NULL)
			continue;
		items = arena_zero(stand.arena, sizeof *items);
		*items = former_table(member->items);
		member->items = items;
	}
	return former;
}

/* Expects a record that was written with `one` to be read with `other`, or not. */
static void *repacked(const struct record_table *one, const struct record_table *other,
		      const void *record, bool is_read)
{
	struct buffer value = BUFFER_INITIAL(stand.arena);
	void *read = arena_zero(stand.arena, other->size);

	record_pack(one, record, &value);
	ck_assert_int_eq(record_unpack(other, stand.arena, buffer_slice(&value), read), is_read);
	return read;
}

START_TEST(records_of_a_former_program_are_read)
{
	const struct record_table former_live = former_table(&live_table),
				  former_peer = former_table(&peer_table),
				  former_healths = former_table(&backend_healths_table),
				  former_session = former_table(&session_table),
				  former_room = former_table(&room_table);
	struct live_role role = { .name = SLICE("host"), .count = 3 };
	struct live live = { .left = 5, .left_unseen = true, .roles = &role, .role_count = 1 };
	struct peer peer = {
		.stay = SLICE("PA_1"),
		.seen = 5,
		.order_last = true,
		.name_origin = NAME_GIVEN,
		.new_name = SLICE("Ada (2)"),
		.name_id = { { 1 } },
	};
	struct backend_health list[] = {
		{ .is_up = true, .since = 7, .message = SLICE("x"), .never_answered = true },
		{ .is_up = false, .since = 8, .message = SLICE("y"), .ahead = 9 },
	};
	struct backend_healths healths = { .backends = list, .count = 2 };
	struct session session = { .room_name = SLICE("r"), .peer_count = 7, .title = SLICE("T") };
	struct room_record room = { .name = SLICE("r"), .closes_at = 7, .title = SLICE("T") };
	const struct backend_healths *read;
	const struct session *session_read;
	const struct room_record *room_read;
	const struct live *live_read;
	const struct peer *peer_read;

	live_read = repacked(&former_live, &live_table, &live, true);
	ck_assert(live_read->left == 5 && !live_read->left_unseen && live_read->role_count == 1);
	ck_assert(live_read->roles[0].count == 3 && slice_is(live_read->roles[0].name, "host"));
	peer_read = repacked(&former_peer, &peer_table, &peer, true);
	ck_assert(peer_read->seen == 5 && !peer_read->order_last);
	ck_assert(peer_read->name_origin == NAME_CHOSEN && peer_read->new_name.size == 0);
	ck_assert_int_eq(id_compare(&peer_read->name_id, &kind_only_id), 0);
	ck_assert(slice_is(peer_read->stay, "PA_1"));
	read = repacked(&former_healths, &backend_healths_table, &healths, true);
	ck_assert(read->count == 2 && read->backends[0].since == 7 && read->backends[1].ahead == 9);
	/* Whether they have ever answered is not known: they are asked as if they had. */
	ck_assert(!read->backends[0].never_answered && !read->backends[1].never_answered);
	session_read = repacked(&former_session, &session_table, &session, true);
	ck_assert(session_read->peer_count == 7 && session_read->title.size == 0);
	session_read = repacked(&session_table, &session_table, session_read, true);
	ck_assert(slice_is(session_read->room_name, "r") && session_read->title.size == 0);
	room_read = repacked(&former_room, &room_table, &room, true);
	ck_assert(room_read->closes_at == 7 && room_read->title.size == 0);
	room_read = repacked(&room_table, &room_table, &room, true);
	ck_assert(slice_is(room_read->name, "r") && slice_is(room_read->title, "T"));
	live_read = repacked(&live_table, &live_table, &live, true);
	ck_assert(live_read->left_unseen && live_read->roles[0].count == 3);
	(void)repacked(&live_table, &former_live, &live, false);
	(void)repacked(&peer_table, &former_peer, &peer, false);
	(void)repacked(&session_table, &former_session, &session, false);
	(void)repacked(&room_table, &former_room, &room, false);
	(void)repacked(&backend_healths_table, &former_healths, &healths, false);
}
END_TEST

/* ---- whether a media server has ever answered ---- */

static const struct {
	/* What happens, a letter each: it is asked and is Up or Down, it sends an Event, its Keys
	 * or its Address change. */
	const char *happens;
	bool has_answered;
	const char *state;
	int last_event; /* the number of the letter; -1: none */
} health_rows[] = {
	{ "", false, "unknown", -1 },	 { "D", false, "down", -1 },
	{ "DD", false, "down", -1 },	 { "U", true, "up", -1 },
	{ "UD", true, "down", -1 },	 { "E", true, "unknown", 0 },
	{ "EE", true, "unknown", 1 },	 { "ED", true, "down", 0 },
	{ "EU", true, "up", 0 },	 { "DE", true, "down", 1 },
	{ "DEU", true, "up", 1 },	 { "UK", true, "unknown", -1 },
	{ "UKD", true, "down", -1 },	 { "DK", false, "unknown", -1 },
	{ "DKD", false, "down", -1 },	 { "UA", false, "unknown", -1 },
	{ "UAD", false, "down", -1 },	 { "EA", false, "unknown", -1 },
	{ "UEDAE", true, "unknown", 4 }, { "EK", true, "unknown", -1 },
	{ "EUDEKDE", true, "down", 6 },
};

/* number: seconds since 1970. */
static void happen(const struct backend *backend, char what, int number)
{
	struct server_verdict verdict = { .is_up = what == 'U' };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	(void)snprintf(verdict.message, sizeof verdict.message, "%s", what == 'D' ? "refused" : "");
	begin(&call);
	if (what == 'U' || what == 'D')
		ck_assert(backend_health_note(&call, backend, &verdict, &fault));
	else if (what == 'E')
		ck_assert(backend_health_note_event(&call, &backend->id, number * 1000, &fault));
	else
		ck_assert(backend_health_remove(&call, &backend->id, what == 'K', &fault));
	commit(&call);
	store_flush(stand.environment.store);
}

START_TEST(a_media_server_has_answered_or_not)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(health_rows); i++) {
		const char *expected = arena_text(stand.arena, "\"state\":\"%s\"",
						  health_rows[i].state);
		const struct backend backend = { .id = servers[0], .name = SLICE("s0") };
		struct fault fault = FAULT_INITIAL;
		struct backend_healths healths;
		const char *shown;
		struct call call;

		happen(&backend, 'A', 0);
		/* Another one does not matter. */
		happen(&(const struct backend){ .id = servers[1], .name = SLICE("s1") }, 'U', 0);
		for (const char *at = health_rows[i].happens; *at != '\0'; at++)
			happen(&backend, *at, 1 + (int)(at - health_rows[i].happens));
		begin(&call);
		ck_assert(backend_healths_load(&call, STORE_TO_SHOW, &healths, &fault));
		ck_assert_msg(backend_has_answered(&healths, &backend.id) ==
				      health_rows[i].has_answered,
			      "%s", health_rows[i].happens);
		world_abandon(&call);
		shown = ask(METHOD_GET,
			    arena_text(stand.arena, "/v2/backends/%s",
				       id_as_text(stand.arena, &backend.id).data),
			    "");
		ck_assert_msg(strstr(shown, expected) != NULL, "%s: %s", health_rows[i].happens,
			      shown);
		expected = health_rows[i].last_event < 0
				   ? "\"last_event_at\":null"
				   : arena_text(stand.arena,
						"\"last_event_at\":\"1970-01-01T00:00:0%dZ\"",
						1 + health_rows[i].last_event);
		ck_assert_msg(strstr(shown, expected) != NULL, "%s: %s", health_rows[i].happens,
			      shown);
	}
}
END_TEST

/* ---- many ---- */

START_TEST(a_deleted_media_server_closes_its_sessions)
{
	struct script *scripts[70], *other, *empty;
	struct fault fault = FAULT_INITIAL;
	struct call call;

	open_stand(_i);
	for (int i = 0; i < ROWS(scripts); i++) {
		scripts[i] = script_open("deleted media server");
		say(scripts[i], "join:a +1000 join:b +1000 look:a");
	}
	other = script_open("other media server");
	say(other, "server:2 join:a");
	empty = script_open("empty");
	say(empty, "join:a leave:a");
	begin(&call);
	ck_assert(live_close_backend(&call, &servers[0], &fault));
	commit(&call);
	set_now(other->begun);
	expect(other, "[open 1 0-0 a@0]");
	expect(empty, "[closed 1 0-0 a@0-0=left]");
	for (int i = 0; i < ROWS(scripts); i++)
		expect(scripts[i], "[closed 1 0-2000 a@0-2000=unseen b@1000-1000=unseen]");
}
END_TEST

START_TEST(a_session_of_many_closes_at_once)
{
	struct script *script;
	const char *events;
	struct peer peer;
	uint64_t seq;
	size_t leaves = 0;

	open_stand(_i);
	script = script_open("many");
	say_many(script, "join", 0, 150);
	seq = last_seq();
	say(script, "+1000 ended");
	(void)stored(script);
	events = events_since(seq, NULL);
	for (const char *at = events; (at = strstr(at, "leave ")) != NULL; at++)
		leaves++;
	ck_assert_uint_eq(leaves, 150);
	ck_assert_str_eq(events + strlen(events) - 6, " close");
	peer = peer_of(script, "s149");
	ck_assert(!peer.is_inside && peer.left == now() && peer.cause == LEAVE_ENDED);
}
END_TEST

/* ---- steps ---- */

/* Memory of a transaction of the watch. */
#define STEP_MEMORY ((size_t)16 << 20)
#define CROWD 900

/* How a session comes to its end. */
enum way { BY_EVENT, BY_ANOTHER_ROOM, BY_A_CALL, BY_ITS_SERVER, WAYS };

/* Does the first step of a way, or merges the report again, in a transaction with little memory. */
static void end_somehow(struct script *script, enum way way)
{
	struct report report = report_of(script, way == BY_EVENT ? REPORT_ENDED : REPORT_JOINED,
					 SLICE("z"));
	struct merging merging = {
		.room = script->room, .backend = servers[0], .reports = &report, .count = 1
	};
	struct fault fault = FAULT_INITIAL;
	bool is_done = false;
	struct call call;

	begin(&call);
	arena_set_limit(call.arena, STEP_MEMORY);
	switch (way) {
	case BY_EVENT:
	case BY_ANOTHER_ROOM:
		is_done = live_merge(&call, &merging, &fault);
		break;
	case BY_A_CALL:
		is_done = live_end(&call, &script->room, &fault);
		break;
	case BY_ITS_SERVER:
		is_done = live_close_backend(&call, &servers[0], &fault);
		break;
	case WAYS:
		break;
	}
	ck_assert_msg(is_done, "%s", fault_reason(&fault));
	commit(&call);
}

/* Returns how many people are inside; -1 if no session is open. */
static int64_t inside_now(const struct script *script)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;
	int64_t n = -1;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	if (live.stored.value.data != NULL)
		n = (int64_t)live_peers(&live);
	world_abandon(&call);
	return n;
}

static bool take_step(const struct script *script)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	bool is_closing;

	begin(&call);
	arena_set_limit(call.arena, STEP_MEMORY);
	ck_assert_msg(live_close_on(&call, &script->room, false, &is_closing, &fault), "%s",
		      fault_reason(&fault));
	commit(&call);
	return is_closing;
}

static unsigned events_of(const char *events, const char *name)
{
	unsigned n = 0;

	for (const char *at = events; (at = strstr(at, name)) != NULL; at++)
		n++;
	return n;
}

/* A session that is too large for one transaction: the steps are durable, and what is reported
 * again between them changes nothing. */
START_TEST(a_large_session_closes_in_steps)
{
	static char metadata[LIVE_METADATA_MOST + 1];

	memset(metadata, 'm', sizeof metadata - 1);
	open_stand(_i % ROWS(drivers));
	for (enum way way = 0; way < WAYS; way++) {
		struct script *script = script_open("large");
		int64_t before = CROWD, inside;
		const char *events;
		uint64_t seq;

		script->name = slice_of(metadata);
		say_many(script, "join", 0, CROWD);
		script->name = (struct slice){ NULL, 0 };
		seq = last_seq();
		world_move(&stand, 1000);
		script->server_room += way == BY_ANOTHER_ROOM;
		do {
			end_somehow(script, way);
			inside = inside_now(script);
			/* Nobody else gets in meanwhile. */
			ck_assert_int_lt(inside, before);
			ck_assert_int_ge(inside, before - 400);
			before = inside;
			ck_assert(!take_step(script) || inside_now(script) < before);
			inside = inside_now(script);
			before = inside < 0 ? before : inside;
		} while (inside > 1);
		if (way == BY_ANOTHER_ROOM && inside < 0)
			end_somehow(script, way);
		events = events_since(seq, NULL);
		ck_assert_uint_eq(events_of(events, "leave"), CROWD);
		ck_assert_uint_eq(events_of(events, "close"), 1);
		ck_assert_uint_eq(events_of(events, "open"), way == BY_ANOTHER_ROOM);
		ck_assert_int_eq(inside_now(script), way == BY_ANOTHER_ROOM ? 1 : -1);
		say(script, "ended");
	}
}
END_TEST

/* Merges a survey in steps, each in a transaction of its own. Returns how many there were. */
static unsigned survey_in_steps(struct script *script, int first, int end)
{
	struct merging merging = { .room = script->room, .backend = servers[0] };
	struct report *reports = arena_zero(stand.arena, (size_t)(end - first) * sizeof *reports);
	unsigned steps = 0;

	for (int i = first; i < end; i++)
		reports[i - first] = report_of(script, REPORT_LISTED,
					       slice_of(arena_text(stand.arena, "s%d/r%d", i, i)));
	merging.reports = reports;
	merging.count = (size_t)(end - first);
	merging.is_survey = true;
	merging.surveyed = now();
	merging.steps = live_survey_steps(stand.arena, reports, merging.count);
	while (!live_survey_is_merged(merging.steps)) {
		merge(script, &merging);
		ck_assert_uint_lt(++steps, 100);
	}
	return steps;
}

START_TEST(a_large_survey_is_merged_in_steps)
{
	struct script *script;
	uint64_t seq;

	open_stand(_i);
	script = script_open("look");
	ck_assert_uint_gt(survey_in_steps(script, 0, 600), 5);
	ck_assert_int_eq(inside_now(script), 600);
	world_move(&stand, 1000);
	seq = last_seq();
	ck_assert_uint_gt(survey_in_steps(script, 0, 600), 1);
	/* A room in session belongs to the server that reported it. */
	script->server = 1;
	ck_assert_uint_eq(survey_in_steps(script, 600, 700), 1);
	script->server = 0;
	ck_assert_str_eq(events_since(seq, NULL), "");
	/* Half of them are missing, twice. */
	world_move(&stand, 1000);
	(void)survey_in_steps(script, 300, 700);
	ck_assert_int_eq(inside_now(script), 700);
	world_move(&stand, LIVE_MISSED_FOR);
	(void)survey_in_steps(script, 300, 700);
	ck_assert_int_eq(inside_now(script), 400);
	ck_assert_uint_eq(events_of(events_since(seq, NULL), "leave"), 300);
	(void)stored(script);
}
END_TEST

/* Stays that are stored in a minute of an account that may have 100. */
static const struct {
	int rooms, people; /* in each of the rooms */
	const char *entry; /* of each of them; NULL: different ones */
	int64_t later; /* milliseconds between two people of a room */
	unsigned stored[3]; /* in each of the rooms */
} limited[] = {
	{ 1, 40, NULL, 0, { 40 } },
	{ 1, 80, NULL, 0, { 50 } },
	{ 3, 80, NULL, 0, { 50, 25, 12 } },
	{ 1, 40, "e", 0, { STAYS_OF_ENTRY } },
	{ 2, 20, "e", 0, { 20, STAYS_OF_ENTRY - 20 } },
	{ 1, 80, NULL, 1000, { 50 + 20 } },
};

START_TEST(so_many_stays_are_stored_in_a_minute)
{
	struct stay_limits *limits = stay_limits_open(100);
	const struct id account = { { 1 } };
	int64_t time = 0;
	uint64_t refused = 0;

	for (unsigned char room = 0; room < limited[_i].rooms; room++) {
		const struct id id = { { 2, room } };
		unsigned n = 0;

		for (int i = 0; i < limited[_i].people; i++) {
			char own[16];

			(void)snprintf(own, sizeof own, "%d/%d", room, i);
			n += stay_limits_take(
				limits, &account, &id,
				slice_of(limited[_i].entry != NULL ? limited[_i].entry : own),
				time);
			time += limited[_i].later;
		}
		ck_assert_uint_eq(n, limited[_i].stored[room]);
		refused += (uint64_t)limited[_i].people - n;
	}
	ck_assert_uint_eq(stay_limits_refused(limits), refused);
	stay_limits_close(limits);
}
END_TEST

/* Who is over the limit is stored in the next minute, those who joined first, first; but who must
 * not be inside is stored, and so checked, at once. */
START_TEST(who_is_over_the_limit_is_stored_later)
{
	struct script *script;

	open_stand(_i);
	stand.environment.stay_limits = stay_limits_open(8);
	script = script_open("limit");
	script->begun = now() + 60000 - now() % 60000;
	set_now(script->begun);
	ban("x", NULL, 60);
	say(script, "join:a +1 join:b +1 join:c +1 join:d +1");
	expect(script, "[open 1 0-3 a@0 b@1 c@2 d@3]");
	say(script, "join:e +1 join:x#f +1 listed:a,b,c,d,g,e,x#f");
	ck_assert(script->told.is_over);
	expect(script, "[open 1 0-5 a@0 b@1 c@2 d@3 x@5]");
	ck_assert_int_eq(script->told.enforces, ENFORCE_ALL);
	say(script, "+60000 listed:a,b,c,d,g,e,x#f");
	ck_assert(!script->told.is_over);
	expect(script, "[open 1 0-6 a@0 b@1 c@2 d@3 e@4 x@5 g@6]");
	stay_limits_close(stand.environment.stay_limits);
	stand.environment.stay_limits = NULL;
}
END_TEST

/* ---- media servers by their id alone ---- */

/* Begins a call of another account. */
static void begin_as(struct call *call, const struct id *account)
{
	begin(call);
	call->account = *account;
	call_set_account(call);
}

/* Returns the account to which the id of a media server leads; zeros if it leads nowhere. */
static struct id account_of(const struct id *server)
{
	struct backend_account found;
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin_as(&call, &audit_no_account);
	ck_assert(record_get(&backend_account_table, call.transaction, server, STORE_TO_SHOW,
			     &found, &fault));
	world_abandon(&call);
	return found.account;
}

START_TEST(a_media_server_is_of_one_account)
{
	const struct id other = id_random(&clock_system), server = id_random(&clock_system);
	struct fault fault = FAULT_INITIAL;
	struct call call;
	struct id found;

	open_stand(_i);
	for (int i = 0; i < 2; i++) {
		begin(&call);
		ck_assert(backend_account_put(&call, &server, &fault));
		ck_assert_int_eq(id_compare(&call.transaction->account, &stand.account.id), 0);
		commit(&call);
		found = account_of(&server);
		ck_assert_int_eq(id_compare(&found, &stand.account.id), 0);
	}
	/* Another account is to draw another id, and does not remove what is not its own. */
	begin_as(&call, &other);
	ck_assert(!backend_account_put(&call, &server, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
	ck_assert_int_eq(id_compare(&call.transaction->account, &other), 0);
	world_abandon(&call);
	fault = FAULT_INITIAL;
	begin_as(&call, &other);
	ck_assert(backend_account_remove(&call, &server, &fault));
	ck_assert_int_eq(id_compare(&call.transaction->account, &other), 0);
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &stand.account.id), 0);
	begin(&call);
	ck_assert(backend_account_remove(&call, &server, &fault));
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &kind_only_id), 0);
	begin_as(&call, &other);
	ck_assert(backend_account_put(&call, &server, &fault));
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &other), 0);
}
END_TEST

void add_records(TCase *records)
{
	tcase_add_loop_test(records, roles_are_counted, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_beyond_so_many_roles_have_none, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_are_found_by_their_entry, 0, ROWS(drivers));
	tcase_add_loop_test(records, rooms_may_share_an_entry, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_of_a_former_program_are_found, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_media_server_has_answered_or_not, 0, ROWS(drivers));
	tcase_add_test(records, records_of_a_former_program_are_read);
	tcase_add_loop_test(records, a_deleted_media_server_closes_its_sessions, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_session_of_many_closes_at_once, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_large_session_closes_in_steps, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_large_survey_is_merged_in_steps, 0, ROWS(drivers));
	tcase_add_loop_test(records, so_many_stays_are_stored_in_a_minute, 0, ROWS(limited));
	tcase_add_loop_test(records, who_is_over_the_limit_is_stored_later, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_media_server_is_of_one_account, 0, ROWS(drivers));
}
