/* What reports leave beside the records of a session: events, usage and what bans do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "records/kinds.h"
#include "resources/bans/bans.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "resources/sweep.h"
#include "script.h"
#include "suite.h"

/* ---- events ---- */

/* What stands for the ids and the name of a room in the texts of event_rows. */
struct placeholder {
	const char *text;
	const char *value;
};

/* Returns the members of an event as NAME=VALUE. Times are relative to the script. */
static const char *shown_event(const struct script *script, const char *data)
{
	const char *room = id_as_text(stand.arena, &script->room).data;
	json_t *document = json_loads(
		ask(METHOD_GET, arena_text(stand.arena, "/v2/rooms/%s", room), ""), 0, NULL);
	json_t *event = json_loads(data, 0, NULL), *value;
	const struct peer peer = find_peer(script, "a");
	const struct placeholder placeholders[] = {
		{ "ROOM", room },
		{ "NAME", json_string_value(json_object_get(document, "name")) },
		{ "TEMPLATE", json_string_value(json_object_get(document, "template_id")) },
		{ "SESSION", id_as_text(stand.arena, &peer.stored.parent).data },
		{ "PEER", arena_copy(stand.arena, peer.uuid).data },
	};
	struct buffer text = BUFFER_INITIAL(stand.arena);
	const char *name;
	int64_t time;

	ck_assert_msg(event != NULL, "%s", data);
	json_object_foreach(event, name, value) {
		const char *shown =
			json_is_string(value)
				? json_string_value(value)
				: arena_copy(stand.arena, json_as_text(stand.arena, value)).data;

		for (int i = 0; i < ROWS(placeholders); i++) {
			if (strcmp(shown, placeholders[i].value) == 0)
				shown = placeholders[i].text;
		}
		if (strlen(shown) == 24 && text_time_parse(slice_of(shown), &time))
			shown = arena_text(stand.arena, "%lld", (long long)(time - script->begun));
		buffer_append_text(&text, text.size > 0 ? " " : "");
		buffer_append_text(&text, arena_text(stand.arena, "%s=%s", name, shown));
	}
	json_decref(document);
	json_decref(event);
	buffer_append_byte(&text, '\0');
	return text.data;
}

#define OF_SESSION \
	" changed=[] room_id=ROOM room_name=NAME session_id=SESSION template_id=TEMPLATE " \
	"session_started_at=0"
#define OF_PEER(user, name, metadata) \
	"kind=peer id=PEER name=" name OF_SESSION " peer_id=PEER user_id=" user " user_name=" name \
	" user_data=" metadata " role=host joined_at=0 type=regular"

static const struct {
	const char *sessions; /* the setting */
	const char *report;
	const char *event; /* the last one */
} event_rows[] = {
	{ "on", "name:x join:a/host", OF_PEER("a", "x", "x") },
	{ "on", "name:x join:a/host +61999 leave:a",
	  OF_PEER("a", "x", "x") " left_at=61999 duration=61 reason=client request cause=left "
				 "message=" },
	{ "on", "name:x join:a/host failed:a",
	  OF_PEER("a", "x", "x") " error_message=network disconnection" },
	{ "on", "join:a/host +61999 leave:a +20000 grace",
	  "kind=session id=SESSION name=NAME" OF_SESSION
	  " session_stopped_at=61999 session_duration=61" },
	/* without a session */
	{ "on", "name:x failed:a/host",
	  "kind=peer id=PEER name=x changed=[] room_id=ROOM room_name=NAME session_id= "
	  "template_id=TEMPLATE session_started_at= peer_id=PEER user_id=a user_name=x user_data=x "
	  "role=host joined_at=0 type=regular error_message=network disconnection" },
	{ "off", "name:x join:a/host", OF_PEER("", "", "") },
	{ "off", "name:x join:a/host +61999 leave:a=removed",
	  OF_PEER("", "", "") " left_at=61999 duration=61 reason=peer kicked cause=removed "
			      "message=" },
	{ "off", "name:x join:a/host failed:a",
	  OF_PEER("", "", "") " error_message=network disconnection" },
};

START_TEST(events_have_their_members)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(event_rows); i++) {
		struct script *script;
		const char *data = NULL;
		uint64_t seq;

		set_setting("sessions", event_rows[i].sessions);
		script = script_open(event_rows[i].report);
		seq = last_seq();
		say(script, event_rows[i].report);
		(void)events_since(seq, &data);
		if (script->told.failed != NULL)
			data = arena_copy(stand.arena, script->told.failed->data).data;
		ck_assert_msg(strcmp(shown_event(script, data), event_rows[i].event) == 0,
			      "%s:\n%s, not\n%s", script->at, shown_event(script, data),
			      event_rows[i].event);
	}
}
END_TEST

static const struct {
	const char *report, *cause, *reason, *message;
} reasons[] = {
	/* clang-format off */
	{ "leave:a=left", "left", "client request", "" },
	{ "leave:a=other_device", "other_device", "client request", "" },
	{ "leave:a=removed", "removed", "peer kicked", "" },
	{ "leave:a=ended", "ended", "peer kicked", "" },
	{ "leave:a=signal", "signal", "websocket closed", "" },
	{ "leave:a=sip", "sip", "websocket closed", "" },
	{ "leave:a=media", "media", "ice connection state closed", "" },
	{ "leave:a=server", "server", "server removed peer", "" },
	{ "leave:a=unseen", "unseen", "server removed peer", "" },
	{ "leave:a=moved", "moved", "server removed peer", "" },
	/* The media server does not know why this service puts people out. */
	{ "order:a=removed out:a", "removed", "peer kicked", "why" },
	{ "order:a=banned out:a", "banned", "peer kicked", "why" },
	{ "order:a=full out:a", "full", "peer kicked", "why" },
	{ "order:a=not_admitted out:a", "not_admitted", "peer kicked", "why" },
	{ "order:a=full leave:a=removed out:a", "full", "peer kicked", "why" },
	{ "order:a=full out:a leave:a=removed", "full", "peer kicked", "why" },
	{ "order:a=full leave:a=left out:a", "left", "client request", "" },
	{ "order:a=full +5000 look: +5000 look: out:a", "unseen", "server removed peer", "" },
	/* clang-format on */
};

START_TEST(a_cause_has_a_reason)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(reasons); i++) {
		struct script *script = script_open(reasons[i].report);
		const uint64_t seq = last_seq();
		const char *data;

		say(script, "join:a");
		say(script, reasons[i].report);
		(void)events_since(seq, &data);
		ck_assert_msg(strstr(data, arena_text(stand.arena,
						      "\"reason\":\"%s\",\"cause\":\"%s\","
						      "\"message\":\"%s\"",
						      reasons[i].reason, reasons[i].cause,
						      reasons[i].message)) != NULL,
			      "%s: %s", script->at, data);
	}
}
END_TEST

/* Long names are cut, and long metadata is in no event. */
START_TEST(long_texts_are_cut)
{
	char name[1000];
	struct script *script;
	const char *data;
	struct peer peer;

	open_stand(_i);
	script = script_open("long texts");
	/* Two bytes a character, after one of one byte. */
	name[0] = 'n';
	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	script->name = (struct slice){ name, LIVE_NAME_MOST + 201 };
	say(script, "join:a");
	peer = peer_of(script, "a");
	ck_assert_uint_eq(peer.name.size, LIVE_NAME_MOST - 1);
	ck_assert_uint_eq(peer.metadata.size, LIVE_NAME_MOST + 201);
	(void)events_since(0, &data);
	ck_assert_ptr_nonnull(strstr(data, "\"user_data\":\"\""));
	script->name.size = 256 - 1;
	say(script, "join:b");
	(void)events_since(0, &data);
	ck_assert_ptr_null(strstr(data, "\"user_data\":\"\""));
}
END_TEST

/* ---- settings ---- */

/* A record has nothing that names the person: while the stay lasts, what calls go by, afterwards
 * not even that. */
START_TEST(anonymous_accounts_keep_no_names)
{
	struct script *script;
	struct peer peer;

	open_stand(_i);
	script = script_open("anonymous");
	say(script, "name:x join:a/host#e");
	set_setting("sessions", "off");
	say(script, "+1000 name:y join:a join:b/host#f");
	expect(script, "[open 1 0-1000 a(y)@0 b()@1000]");
	say(script, "name:Y join:b");
	peer = peer_of(script, "b");
	/* The name is not kept, but the media server must be given another one. */
	ck_assert(slice_is(peer.new_name, "Y (2)"));
	say(script, "name:y_(2) join:b name:y");
	peer = peer_of(script, "b");
	ck_assert_uint_eq(peer.new_name.size, 0);
	ck_assert(slice_is(peer.user_id, "b") && slice_is(peer.role, "host") &&
		  slice_is(peer.entry, "f") && slice_is(peer.code, "c0de") &&
		  slice_is(peer.identity, "b"));
	ck_assert(peer.is_anonymous && peer.name.size == 0 && peer.metadata.size == 0);
	ck_assert_str_eq(inside_of(script, "f"), "b");
	say(script, "look:a,b");
	expect(script, "[open 1 0-1000 a(y)@0 b()@1000]");
	say(script, "+1000 leave:a leave:b leave:c");
	expect(script, "[open 1 0-2000 a(y)@0-2000=left b()@1000-2000=left c()@2000-2000=left]");
	ck_assert_str_eq(inside_of(script, "f"), "");
	for (int i = 0; i < 2; i++) {
		peer = peer_of(script, i == 0 ? "b" : "c");
		ck_assert_uint_eq(peer.user_id.size + peer.entry.size + peer.code.size +
					  peer.identity.size + peer.name.size + peer.metadata.size,
				  0);
	}
	ck_assert(slice_is(peer_of(script, "a").user_id, "a"));
	set_setting("sessions", "on");
	say(script, "name:z look:b join:d");
	expect(script, "[open 1 0-2000 a(y)@0-2000=left b()@1000-2000=left c()@2000-2000=left "
		       "d(z)@2000]");
}
END_TEST

/* Gives the account one webhook, which chooses these events, given as lines. */
static void set_webhook(const char *events, bool is_enabled)
{
	struct fault fault = FAULT_INITIAL;
	struct webhooks webhooks;
	struct call call;

	begin(&call);
	ck_assert(webhooks_load(call.transaction, STORE_TO_CHANGE, &webhooks, &fault));
	ck_assert_uint_eq(webhooks.count, 1);
	webhooks.items[0].events = slice_of(events);
	webhooks.items[0].is_enabled = is_enabled;
	ck_assert(webhooks_put(call.transaction, &webhooks, &fault));
	commit(&call);
}

static const struct {
	const char *setting;
	const char *chosen; /* by a webhook */
	bool is_disabled; /* the webhook */
	const char *events;
} log_rows[] = {
	{ "on", "room.*", false, "open join leave close" },
	{ "off", "room.*", false, "open close" },
	{ "off", "peer.join.success", false, "open join close" },
	{ "off", "room.*\npeer.leave.success", false, "open leave close" },
	{ "off", "peer.*", false, "open join leave close" },
	{ "off", "*", false, "open join leave close" },
	{ "off", "room.*\nsession.open.success", false, "open close" },
	{ "off", "*", true, "open close" },
};

START_TEST(an_account_chooses_what_is_logged)
{
	open_stand(_i);
	(void)create("/v2/webhooks", "{\"url\":\"https://h.example\"}");
	for (int i = 0; i < ROWS(log_rows); i++) {
		struct script *script;
		uint64_t seq;

		set_setting("live_log", log_rows[i].setting);
		set_webhook(log_rows[i].chosen, !log_rows[i].is_disabled);
		script = script_open("live_log");
		seq = last_seq();
		say(script, "join:a leave:a +20000 grace");
		ck_assert_msg(strcmp(events_since(seq, NULL), log_rows[i].events) == 0,
			      "row %d: %s", i, events_since(seq, NULL));
		expect(script, "[closed 1 0-0 a@0-0=left]");
	}
}
END_TEST

/* ---- usage ---- */

#define DAY USAGE_DAY

/* Returns "SESSIONS PEERS MILLISECONDS PEAK" of the day that is so many days after the first one,
 * or "none". */
static const char *used(int64_t day)
{
	const struct id id = usage_id(MIDDAY / DAY + day);
	struct fault fault = FAULT_INITIAL;
	struct usage usage;
	struct call call;

	begin(&call);
	ck_assert(record_get(&usage_table, call.transaction, &id, STORE_TO_SHOW, &usage, &fault));
	world_abandon(&call);
	if (usage.stored.value.data == NULL)
		return "none";
	return arena_text(stand.arena, "%llu %llu %llu %llu", (unsigned long long)usage.sessions,
			  (unsigned long long)usage.peers, (unsigned long long)usage.milliseconds,
			  (unsigned long long)usage.peak);
}

/* The script begins at 23:00 of the first day. 3600000 is midnight. */
static const struct {
	const char *report;
	const char *used[3]; /* on the first days */
} usage_rows[] = {
	{ "", { "none", "none", "none" } },
	{ "join:a +1000 leave:a", { "1 1 1000 1", "none", "none" } },
	{ "join:a join:b +1000 leave:a +1000 join:c leave:b leave:c",
	  { "1 3 3000 2", "none", "none" } },
	{ "join:a join:a look:a +1000 look: +5000 look: look:a leave:a leave:a",
	  { "1 2 6000 1", "none", "none" } },
	/* Minutes count at the end of the stay; at midnight those inside are inside. */
	{ "join:a join:b +3599999 leave:a +1 leave:b",
	  { "1 2 3599999 2", "0 0 3600000 1", "none" } },
	{ "join:a join:b +3600000 join:c leave:a leave:b +1000 leave:c +20000 grace join:d",
	  { "1 2 0 2", "1 2 7201000 3", "none" } },
	{ "join:a join:b +3600000 +1000 leave:a +86400000 leave:b",
	  { "1 2 0 2", "0 0 3601000 2", "0 0 90001000 1" } },
	/* Reported after midnight, of the day before. */
	{ "join:a known:b +3599000 +1000 late:1000 leave:a leave:b",
	  { "1 2 7198000 1", "0 0 0 1", "none" } },
	{ "known:c +3599000 +2000 join:a join:b late:3000 leave:c",
	  { "0 1 3598000 0", "1 2 0 2", "none" } },
	/* Closed sessions, and sessions that are reported late, count like all others. */
	{ "join:a +1000 ended +1000 leave:b join:c", { "2 3 1000 1", "none", "none" } },
	{ "join:a +1000 room:2 join:b +1000 ended", { "2 2 1000 1", "none", "none" } },
	{ "( join:a leave:a join:b leave:b join:c join:d )", { "1 4 0 2", "none", "none" } },
};

START_TEST(usage_is_counted_by_day)
{
	const int64_t begun = MIDDAY + 11 * HOUR;

	open_stand(_i);
	for (int i = 0; i < ROWS(usage_rows); i++) {
		struct script *script;

		if (i > 0) {
			tear_down();
			set_up();
			open_stand(_i);
		}
		set_now(begun - HOUR);
		script = script_open(usage_rows[i].report);
		say(script, usage_rows[i].report);
		(void)stored(script);
		for (int64_t day = 0; day < 3; day++)
			ck_assert_msg(strcmp(used(day), usage_rows[i].used[day]) == 0,
				      "%s: day %lld: %s", script->at, (long long)day, used(day));
	}
}
END_TEST

/* Two rooms are in use at once. */
START_TEST(a_peak_is_of_all_rooms)
{
	struct script *one, *other;

	open_stand(_i);
	one = script_open("one");
	other = script_open("other");
	say(one, "join:a join:b");
	say(other, "join:c leave:c join:d");
	say(one, "leave:a leave:b join:e");
	(void)stored(one);
	ck_assert_str_eq(used(0), "2 5 0 3");
}
END_TEST

START_TEST(old_usage_is_dropped)
{
	struct script *script;

	open_stand(_i);
	script = script_open("old usage");
	say(script, "join:a");
	for (int day = 1; day < 6; day++) {
		world_move(&stand, DAY);
		say(script, arena_text(stand.arena, "join:d%d", day));
	}
	ck_assert_str_ne(used(0), "none");
	/* 400 days and today are kept; a few old days are dropped with each new one. */
	set_now(MIDDAY + 400 * DAY);
	say(script, "join:b");
	ck_assert_str_ne(used(0), "none");
	world_move(&stand, 2 * DAY);
	say(script, "join:c");
	ck_assert_str_eq(used(0), "none");
	ck_assert_str_eq(used(1), "none");
	ck_assert_str_ne(used(2), "none");
	world_move(&stand, 4 * DAY);
	say(script, "join:e");
	ck_assert_str_eq(used(5), "none");
	ck_assert_str_ne(used(400), "none");
}
END_TEST

/* ---- bans ---- */

/* Digits of two hashes of codes that begin alike, and of another one. */
#define HASH_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HASH_B "0123456789abcdee0123456789abcdef0123456789abcdef0123456789abcdef"
#define FIRST_OF_A "0123456789abcdef"

/* Bans are created in this order; the room is that of the row, 0 for every room. */
static const struct {
	const char *user_id, *code_hash;
	int room;
	int64_t seconds; /* 0: for ever */
} banned[] = {
	{ "in-one", "", 1, 0 },	      { "everywhere", "", 0, 0 }, { "", HASH_A, 2, 0 },
	{ "for-a-while", "", 0, 60 }, { "both", "", 1, 60 },	  { "both", "", 0, 0 },
};

static const struct {
	int room;
	const char *user_id, *code;
	int64_t after; /* seconds after the bans were created */
	int found; /* index in `banned`; -1: none */
} findings[] = {
	{ 1, "in-one", "", 0, 0 },
	{ 2, "in-one", "", 0, -1 },
	{ 1, "in-on", "", 0, -1 },
	{ 1, "", "", 0, -1 },
	{ 1, "everywhere", "", 0, 1 },
	{ 2, "everywhere", "", 0, 1 },
	{ 2, "somebody", HASH_A, 0, 2 },
	{ 2, "", FIRST_OF_A, 0, 2 },
	{ 1, "somebody", HASH_A, 0, -1 },
	{ 2, "somebody", HASH_B, 0, -1 },
	{ 2, "somebody", "0123456789abcde", 0, -1 },
	/* A user_id is no code. */
	{ 2, HASH_A, "", 0, -1 },
	{ 1, "for-a-while", "", 59, 3 },
	{ 1, "for-a-while", "", 60, -1 },
	{ 1, "both", "", 59, 4 },
	{ 1, "both", "", 60, 5 },
	{ 2, "in-one", HASH_A, 0, 2 },
};

static struct ban_terms terms_of(int row, const struct id *rooms)
{
	struct ban_terms terms = {
		.user_id = slice_of(banned[row].user_id),
		.code_hash = slice_of(banned[row].code_hash),
	};

	if (banned[row].room > 0)
		terms.room = rooms[banned[row].room - 1];
	if (banned[row].seconds > 0)
		terms.expires_at = now() / 1000 + banned[row].seconds;
	return terms;
}

START_TEST(bans_are_found)
{
	struct fault fault = FAULT_INITIAL;
	struct id rooms[2], ids[ROWS(banned)];
	struct ban ban;
	struct call call;
	bool is_there;

	open_stand(_i);
	rooms[0] = create("/v2/rooms", "{}");
	rooms[1] = create("/v2/rooms", "{}");
	begin(&call);
	ck_assert(ban_find(&call, &rooms[0], SLICE("in-one"), SLICE(HASH_A), &ban, &is_there,
			   &fault));
	ck_assert(!is_there);
	for (int row = 0; row < ROWS(banned); row++) {
		const struct ban_terms terms = terms_of(row, rooms);

		ck_assert(ban_add(&call, &terms, &ban, &fault));
		ids[row] = ban.stored.id;
	}
	commit(&call);
	for (int row = 0; row < ROWS(findings); row++) {
		begin(&call);
		call.now = now() + findings[row].after * 1000;
		ck_assert(ban_find(&call, &rooms[findings[row].room - 1],
				   slice_of(findings[row].user_id), slice_of(findings[row].code),
				   &ban, &is_there, &fault));
		ck_assert_msg(is_there == (findings[row].found >= 0), "row %d", row);
		ck_assert_msg(!is_there ||
				      id_compare(&ban.stored.id, &ids[findings[row].found]) == 0,
			      "row %d: another ban", row);
		world_abandon(&call);
	}
}
END_TEST

/* Returns how many bans are stored, counted, and noted with an end. */
static const char *bans_stored(void)
{
	struct store_record records[300];
	struct store_page bans = { .records = records, .most = 300 };
	struct store_page ends = {
		.order = STORE_BY_END,
		.until = INT64_MAX,
		.records = records,
		.most = 300,
	};
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_ban, &bans, &fault) &&
		  store_page(call.transaction, &kind_ban, &ends, &fault) &&
		  media_load(&call, STORE_TO_SHOW, &media, &fault));
	world_abandon(&call);
	return arena_text(stand.arena, "%zu %u %zu", bans.count, (unsigned)media.ban_count,
			  ends.count);
}

static void drop_bans(void)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	size_t n;

	begin(&call);
	ck_assert(sweep_kind(&call, &ban_kind, &n, &fault));
	commit(&call);
}

/* At most sixteen at a time, the ones that expired first. */
START_TEST(expired_bans_are_dropped)
{
	open_stand(_i);
	ban("for-ever", NULL, 0);
	for (int i = 0; i < 20; i++)
		ban(arena_text(stand.arena, "user-%d", i), NULL, 100 - i);
	ban("longer", NULL, 200);
	/* A ban again moves the end; a ban that has expired is another one. */
	ban("moved", NULL, 50);
	ban("moved", NULL, 300);
	ck_assert_str_eq(bans_stored(), "23 23 22");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "23 23 22");
	world_move(&stand, 81000);
	drop_bans();
	ck_assert_str_eq(bans_stored(), "22 22 21");
	world_move(&stand, 19000);
	ban("user-0", NULL, 0);
	ck_assert_str_eq(bans_stored(), "22 22 20");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "6 6 4");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "4 4 2");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "4 4 2");
}
END_TEST

/* More than a deletion removes at once; the next call that creates a room removes the others. */
START_TEST(bans_go_with_their_room)
{
	struct id room, other;

	open_stand(_i);
	room = create("/v2/rooms", "{}");
	other = create("/v2/rooms", "{}");
	for (int i = 0; i < GARBAGE_AT_ONCE + 8; i++)
		ban(arena_text(stand.arena, "user-%d", i), &room, i < 2 ? 60 : 0);
	ban("user-1", &other, 0);
	ban("user-1", NULL, 60);
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/rooms/%s", id_as_text(stand.arena, &room).data), "");
	ck_assert_str_eq(bans_stored(), "10 10 1");
	(void)create("/v2/rooms", "{}");
	ck_assert_str_eq(bans_stored(), "2 2 1");
}
END_TEST

static void set_ban_count(uint32_t count)
{
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin(&call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	media.ban_count = count;
	ck_assert(media_put(&call, &media, &fault));
	commit(&call);
}

START_TEST(an_account_has_so_many_bans)
{
	const struct ban_terms terms = { .user_id = SLICE("one-more"), .code_hash = SLICE("") };
	struct fault fault = FAULT_INITIAL;
	struct ban added;
	struct call call;

	open_stand(_i);
	ban("first", NULL, 60);
	set_ban_count(BANS_MOST);
	begin(&call);
	ck_assert(!ban_add(&call, &terms, &added, &fault));
	ck_assert_int_eq(fault.kind, FAULT_CONFLICT);
	ck_assert_str_eq(fault.message, "Too many bans");
	world_abandon(&call);
	/* One that exists is not one more. */
	ban("first", NULL, 50);
	/* Expired bans make room. */
	world_move(&stand, 50000);
	ban("one-more", NULL, 0);
	ck_assert_str_eq(bans_stored(), "1 100000 0");
}
END_TEST

void add_events(TCase *records)
{
	tcase_add_loop_test(records, events_have_their_members, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_cause_has_a_reason, 0, ROWS(drivers));
	tcase_add_loop_test(records, long_texts_are_cut, 0, ROWS(drivers));
	tcase_add_loop_test(records, anonymous_accounts_keep_no_names, 0, ROWS(drivers));
	tcase_add_loop_test(records, an_account_chooses_what_is_logged, 0, ROWS(drivers));
	tcase_add_loop_test(records, usage_is_counted_by_day, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_peak_is_of_all_rooms, 0, ROWS(drivers));
	tcase_add_loop_test(records, old_usage_is_dropped, 0, ROWS(drivers));
	tcase_add_loop_test(records, bans_are_found, 0, ROWS(drivers));
	tcase_add_loop_test(records, expired_bans_are_dropped, 0, ROWS(drivers));
	tcase_add_loop_test(records, bans_go_with_their_room, 0, ROWS(drivers));
	tcase_add_loop_test(records, an_account_has_so_many_bans, 0, ROWS(drivers));
}
