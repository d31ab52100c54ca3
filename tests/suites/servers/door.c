/* What moderators do at a door and with messages, bans and locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kit.h"
#include "resources/live/live_queue.h"
#include "suite.h"

/* Makes a code of the room that asks at the door. */
static const char *make_asking_code(void)
{
	return text_at(
		parsed(ask(200, METHOD_POST,
			   arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room),
			   "{\"admission\":\"ask\"}")),
		"code");
}

static void apply(const char *code)
{
	(void)ask(202, METHOD_POST, "/v2/token",
		  arena_text(stand.arena, "{\"code\":\"%s\",\"wait\":true}", code));
}

/* Waits until the media server was asked to send this many messages; returns the last one. */
static const char *await_messages(size_t n)
{
	const int64_t end = clock_monotonic() + 30000;
	struct slice text;

	while (requests_of("SendData") < n) {
		ck_assert_msg(clock_monotonic() < end, "no message");
		(void)poll(NULL, 0, 20);
	}
	ck_assert(text_base64_decode(stand.arena,
				     slice_of(text_at(last_request("SendData"), "data")), &text));
	return arena_copy(stand.arena, text).data;
}

/* Only those inside who may decide about it, and at most once in a second. */
START_TEST(moderators_are_notified_of_who_waits)
{
	const char *code = make_asking_code();
	int64_t first;

	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guard"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "guard");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	apply(code);
	ck_assert_str_eq(await_messages(1), "{\"type\":\"waiting\",\"count\":1}");
	first = clock_monotonic();
	ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
	ck_assert(json_equal(json_object_get(last_request("SendData"), "destination_identities"),
			     parsed("[\"eve\"]")));
	for (int i = 0; i < 3; i++)
		apply(code);
	ck_assert_str_eq(await_messages(2), "{\"type\":\"waiting\",\"count\":4}");
	ck_assert_int_ge(clock_monotonic() - first, 800);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/tickets", room_path),
		  "{\"admit\":\"all\"}");
	ck_assert_str_eq(await_messages(3), "{\"type\":\"waiting\",\"count\":0}");
}
END_TEST

static void set_door(const char *state)
{
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/door", room_path),
		  arena_text(stand.arena, "{\"state\":%s}", state));
}

/* Only those inside who may decide about it; and what is the same again, nobody. */
START_TEST(moderators_are_notified_of_what_the_door_does)
{
	static const char *const states[] = { "\"ask\"", "\"locked\"", "null", "\"open\"" };

	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guard"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "guard");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	for (int i = 0; i < ROWS(states); i++) {
		set_door(states[i]);
		set_door(states[i]);
		ck_assert_str_eq(
			await_messages((size_t)i + 1),
			arena_text(stand.arena, "{\"type\":\"door\",\"state\":%s}", states[i]));
		ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
		ck_assert(json_equal(
			json_object_get(last_request("SendData"), "destination_identities"),
			parsed("[\"eve\"]")));
	}
	ck_assert_uint_eq(events("room.*"), 1);
}
END_TEST

/* Who comes with an access of before, while the room is locked. Ada was inside. */
static const struct {
	const char *identity, *user_id, *entry, *role;
	bool is_out;
} latecomers[] = {
	{ "eve", "eve", "e2", "guest", true },	  { "eve#1", "eve", "e2", "guest", true },
	{ "ada#2", "ada", "e9", "guest", true },  { "ada#1", "ada", "e1", "guest", false },
	{ "cleo", "cleo", "e3", "guest", false }, { "cleo", "cleo", "e4", "guest", false },
	{ "eve", "eve", "e2", "guard", false },	  { "crew", "crew", "", "guest", false },
};

START_TEST(a_locked_room_lets_in_who_was_inside)
{
	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guard"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "cleo", "cleo", "e3");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	set_door("\"locked\"");
	kit_join("PA_3", latecomers[_i].identity, latecomers[_i].user_id, latecomers[_i].entry);
	(void)snprintf(kit.people[2].role, sizeof kit.people[2].role, "%s", latecomers[_i].role);
	(void)ask_until("/v2/events?type=peer.join.success", "\"user_id\":\"cleo\"");
	if (latecomers[_i].is_out) {
		ck_assert_str_eq(text_at(await_request(REMOVE), "identity"),
				 latecomers[_i].identity);
		(void)ask_until("/v2/events?limit=100", "\"cause\":\"not_admitted\"");
		ck_assert_uint_eq(kit.count, 2);
		return;
	}
	while (events("peer.join.success") < 3) {
		(void)ask(200, METHOD_GET, room_path, NULL);
		(void)poll(NULL, 0, 20);
	}
	/* A later change shows that the rules have been enforced. */
	(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
	(void)await_request(END);
	ck_assert_ptr_null(last_request(REMOVE));
}
END_TEST

/* Changes of a template, and who is to be notified that what their role may do has changed. Ada is
 * a host, Eve a guest. */
static const struct {
	enum method method;
	const char *path, *body;
	const char *notified; /* their identities; NULL: nobody */
} role_changes[] = {
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"permissions\":{\"mute\":true}}",
	  "[\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"publishParams\":{\"video\":{\"bitRate\":300}}}", "[\"eve\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"publishParams\":{\"allowed\":[\"audio\"]}}", "[\"eve\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"name\":\"visitor\",\"permissions\":{\"mute\":true}}", "[\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE",
	  "{\"roles\":{\"host\":{\"permissions\":{\"unmute\":true}}}}", "[\"ada#1\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE",
	  "{\"roles\":{\"guest\":{\"permissions\":{\"mute\":true}},\"host\":{}}}",
	  "[\"ada#1\",\"eve\"]" },
	{ METHOD_POST, "/v2/import",
	  "{\"templates\":[{\"id\":\"TEMPLATE\",\"roles\":{\"guest\":{\"name\":\"guest\","
	  "\"permissions\":{\"mute\":true}},\"host\":{\"name\":\"host\"}}}]}",
	  "[\"ada#1\",\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"priority\":3}", NULL },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"permissions\":{\"mute\":false}}",
	  NULL },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/other", "{\"permissions\":{\"mute\":true}}",
	  NULL },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/settings", "{\"region\":\"eu\"}", NULL },
};

START_TEST(people_are_notified_that_their_role_has_changed)
{
	int64_t changed;

	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "guest");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	changed = clock_monotonic();
	(void)ask(200, role_changes[_i].method, filled(role_changes[_i].path),
		  filled(role_changes[_i].body));
	if (role_changes[_i].notified != NULL) {
		ck_assert_str_eq(await_messages(1), "{\"type\":\"role\"}");
		ck_assert_int_le(clock_monotonic() - changed, 2000);
		ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
		ck_assert(json_equal(
			json_object_get(last_request("SendData"), "destination_identities"),
			parsed(role_changes[_i].notified)));
		return;
	}
	/* A later change shows that nobody was notified. */
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	ck_assert_str_eq(await_messages(1), "{\"type\":\"role\"}");
	ck_assert(json_equal(json_object_get(last_request("SendData"), "destination_identities"),
			     parsed("[\"ada#1\"]")));
}
END_TEST

/* At most once in a second, for all that has changed meanwhile; in rooms of other templates
 * never. */
START_TEST(many_changes_of_roles_are_few_messages)
{
	/* The first template of the list is the newest. */
	const char *own_role = filled("/v2/templates/TEMPLATE/roles/host");
	const json_t *other = parsed(ask(200, METHOD_POST, "/v2/templates",
					 "{\"name\":\"other\",\"roles\":{\"host\":{}}}"));
	const char *other_role = arena_text(stand.arena, "/v2/templates/%s/roles/host",
					    text_at(other, "id"));
	static const char *const changes[] = { "{\"permissions\":{\"unmute\":true}}",
					       "{\"permissions\":{\"unmute\":false}}" };
	int64_t first;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask(200, METHOD_PATCH, own_role, changes[0]);
	(void)await_messages(1);
	first = clock_monotonic();
	for (int i = 0; i < 100; i++) {
		(void)ask(200, METHOD_PATCH, own_role, changes[i % 2]);
		(void)ask(200, METHOD_PATCH, other_role, changes[1 - i % 2]);
	}
	ck_assert_str_eq(await_messages(2), "{\"type\":\"role\"}");
	ck_assert_int_ge(clock_monotonic() - first, 800);
	/* Nobody inside has the role of the other template. */
	(void)ask(200, METHOD_PATCH, other_role, changes[0]);
	(void)ask(200, METHOD_PATCH, own_role,
		  "{\"permissions\":{\"unmute\":false,\"mute\":false}}");
	(void)await_messages(3);
	ck_assert_uint_eq(requests_of("SendData"), 3);
}
END_TEST

/* Roles whose people wait to be notified: too many of them mean all roles of a template, or all. */
static const struct {
	unsigned templates, roles; /* of each, added in turn */
	size_t count;
	bool are_all;
} notified_sets[] = {
	{ 1, 1, 1, false },
	{ 1, NOTIFIED_ROLES_MOST, NOTIFIED_ROLES_MOST, false },
	{ 1, NOTIFIED_ROLES_MOST + 1, 1, false },
	{ NOTIFIED_ROLES_MOST, 1, NOTIFIED_ROLES_MOST, false },
	{ NOTIFIED_ROLES_MOST / 2, 3, NOTIFIED_ROLES_MOST, false },
	{ NOTIFIED_ROLES_MOST + 1, 1, NOTIFIED_ROLES_MOST, true },
};

START_TEST(no_role_that_has_changed_is_forgotten)
{
	struct notified_roles notified = { .count = 0 };

	for (unsigned role = 1; role <= notified_sets[_i].roles; role++) {
		for (unsigned i = 0; i < notified_sets[_i].templates; i++) {
			const struct notified_role added = { { { 1, (unsigned char)i } }, role };

			ck_assert(!notified_roles_have(&notified, &(struct id){ { 2 } }, role) ||
				  notified.are_all);
			notified_roles_add(&notified, &added);
			notified_roles_add(&notified, &added);
		}
	}
	for (unsigned role = 1; role <= notified_sets[_i].roles; role++) {
		for (unsigned i = 0; i < notified_sets[_i].templates; i++)
			ck_assert(notified_roles_have(
				&notified, &(struct id){ { 1, (unsigned char)i } }, role));
	}
	ck_assert_uint_eq(notified.count, notified_sets[_i].count);
	ck_assert_int_eq(notified.are_all, notified_sets[_i].are_all);
}
END_TEST

/* Somebody is put out who came by a code that anybody may use: whoever comes by it waits, until the
 * session closes. */
static const struct {
	const char *more; /* of the body */
	bool is_known; /* the account set the user_id */
	const char *answer; /* of its end */
	bool asks;
} put_out_to_ask[] = {
	{ "", false, "submitted\"}", false },
	{ ",\"door\":\"ask\"", false, "submitted\",\"door\":\"ask\"}", true },
	{ ",\"door\":\"\"", false, "submitted\"}", false },
	{ ",\"door\":\"ask\",\"ban\":true", false,
	  "submitted\",\"not_enforced\":[\"ban\"],\"door\":\"ask\"}", true },
	{ ",\"door\":\"ask\",\"ban\":true", true, "submitted\"}", false },
};

START_TEST(whoever_comes_by_the_code_asks)
{
	const char *path = arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room);
	const char *code = text_at(parsed(ask(200, METHOD_POST, path, "{}")), "code");
	const char *shown = arena_text(stand.arena, "/v2/room-codes/code/%s", code);
	const char *hash = text_at(
		parsed(ask(200, METHOD_GET, arena_text(stand.arena, "%s?view=link", shown), NULL)),
		"code_hash");
	const char *body = arena_text(stand.arena, "{\"code\":\"%s\"}", code);
	struct slice answer;

	kit_join("PA_2", "eve", put_out_to_ask[_i].is_known ? "eve" : "another", "e2");
	kit.people[1].code = arena_text(stand.arena, "%.16s", hash);
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	answer = slice_of(
		ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room_path),
		    arena_text(stand.arena, "{\"peer_id\":\"%s\"%s}",
			       id_of_peer(put_out_to_ask[_i].is_known ? "eve" : "another"),
			       put_out_to_ask[_i].more)));
	ck_assert_msg(slice_ends(answer, slice_of(put_out_to_ask[_i].answer)), "%s", answer.data);
	(void)ask(put_out_to_ask[_i].asks ? 403 : 200, METHOD_POST, "/v2/token", body);
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, shown, NULL), "admission"));
	/* Changing the code does not let people in. */
	(void)ask(200, METHOD_PATCH, shown, "{\"admission\":\"open\"}");
	(void)ask(put_out_to_ask[_i].asks ? 403 : 200, METHOD_POST, "/v2/token", body);
	kit_people(NULL, NULL);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room_path), "{}");
	(void)ask(200, METHOD_POST, "/v2/token", body);
}
END_TEST

/* Eve gets another role, who came by the code of a host. By one that is not hers alone she has the
 * former role again, unless it asks at the door. */
static const struct {
	const char *role, *body;
	const char *caller; /* the entry of somebody inside; NULL: the management */
	bool is_known; /* the account set her user_id */
	bool lacks_code;
	int status;
	bool is_named, asks; /* not_enforced has the role; the code asks */
	const char *refusal; /* NULL: there is none */
} given_roles[] = {
	{ "host", "{\"role\":\"guest\"}", NULL, false, false, 200, true, false, NULL },
	{ "host", "{\"role\":\"guest\",\"door\":\"\"}", NULL, false, false, 200, true, false,
	  NULL },
	{ "host", "{\"role\":\"guest\"}", NULL, true, false, 200, false, false, NULL },
	{ "host", "{\"role\":\"guest\",\"door\":\"ask\"}", NULL, false, false, 200, false, true,
	  NULL },
	{ "host", "{\"role\":\"guest\",\"door\":\"ask\"}", NULL, true, false, 200, false, true,
	  NULL },
	/* Without a code there is nothing that could ask. */
	{ "host", "{\"role\":\"guest\",\"door\":\"ask\"}", NULL, false, true, 200, true, false,
	  NULL },
	/* She has the role already, as after a first call without the door. */
	{ "guest", "{\"role\":\"guest\",\"door\":\"ask\"}", NULL, false, false, 200, false, true,
	  NULL },
	/* What she loses concerns nobody else, or she loses nothing. */
	{ "host", "{\"role\":\"blind\"}", NULL, false, false, 200, false, false, NULL },
	{ "host", "{\"role\":\"chief\"}", NULL, false, false, 200, false, false, NULL },
	{ "guest", "{\"role\":\"host\"}", NULL, false, false, 200, false, false, NULL },
	{ "host", "{\"name\":\"Eve\"}", NULL, false, false, 200, false, false, NULL },
	{ "chief", "{\"role\":\"host\"}", NULL, false, false, 200, true, false, NULL },
	{ "host", "{\"role\":\"muter\"}", NULL, false, false, 200, true, false, NULL },
	/* From inside, by another person and by herself. */
	{ "host", "{\"role\":\"guest\"}", "e1", false, false, 200, true, false, NULL },
	{ "host", "{\"role\":\"guest\",\"door\":\"ask\"}", "e1", false, false, 200, false, true,
	  NULL },
	{ "chief", "{\"role\":\"guest\"}", "e2", false, false, 200, true, false, NULL },
	{ "chief", "{\"role\":\"chief\",\"door\":\"ask\"}", "e2", false, false, 200, false, true,
	  NULL },
	{ "giver", "{\"role\":\"guest\",\"door\":\"ask\"}", "e2", false, false, 403, false, false,
	  "Missing permission removeOthers" },
	{ "host", "{\"door\":\"ask\"}", NULL, false, false, 400, false, false,
	  "/role: is required with door" },
	{ "host", "{\"name\":\"Eve\",\"door\":\"ask\"}", NULL, false, false, 400, false, false,
	  "/role: is required with door" },
	{ "host", "{\"role\":\"guest\",\"door\":\"open\"}", NULL, false, false, 400, false, false,
	  "/door: must be ask, got \\\"open\\\"" },
};

/* Returns the members of a role with these permissions. */
static const char *role_with(const char *permissions)
{
	return arena_text(stand.arena, "{\"permissions\":{%s}}", permissions);
}

START_TEST(a_lost_role_comes_back_by_the_code_unless_it_asks)
{
	const char *roles = filled("/v2/templates/TEMPLATE/roles");
	const char *path = arena_text(stand.arena, "/v2/room-codes/room/%s/role/host", kit.room);
	const char *code = text_at(parsed(ask(200, METHOD_POST, path, "{}")), "code");
	const char *shown = arena_text(stand.arena, "/v2/room-codes/code/%s?view=link", code);
	const char *hash = text_at(parsed(ask(200, METHOD_GET, shown, NULL)), "code_hash");
	const char *body = arena_text(stand.arena, "{\"code\":\"%s\"}", code);
	const char *who = given_roles[_i].is_known ? "eve" : "another";
	const char *peer, *answer;

	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/blind", roles),
		  role_with("\"mute\":true,\"endRoom\":true"));
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/muter", roles),
		  role_with("\"mute\":true,\"sendRoomState\":true"));
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/giver", roles),
		  role_with("\"changeRole\":true"));
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/chief", roles),
		  role_with("\"mute\":true,\"endRoom\":true,\"removeOthers\":true,"
			    "\"changeRole\":true,\"unmute\":true,\"sendRoomState\":true"));
	kit_join("PA_2", "eve", who, "e2");
	kit.people[1].code = given_roles[_i].lacks_code ? NULL
							: arena_text(stand.arena, "%.16s", hash);
	(void)snprintf(kit.people[0].role, sizeof kit.people[0].role, "chief");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "%s", given_roles[_i].role);
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	peer = arena_text(stand.arena, "%s/peers/%s", room_path, id_of_peer(who));
	if (given_roles[_i].caller != NULL)
		bearer = token_with_entry(given_roles[_i].caller);
	answer = ask(given_roles[_i].status, METHOD_POST, peer, given_roles[_i].body);
	bearer = NULL;
	if (given_roles[_i].refusal != NULL) {
		ck_assert_ptr_nonnull(strstr(answer, given_roles[_i].refusal));
	} else {
		ck_assert_int_eq(strstr(answer, "\"role\"]") != NULL, given_roles[_i].is_named);
		ck_assert_int_eq(strstr(answer, "\"door\":\"ask\"}") != NULL, given_roles[_i].asks);
	}
	(void)ask(given_roles[_i].asks ? 403 : 200, METHOD_POST, "/v2/token", body);
	kit_people(NULL, NULL);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room_path), "{}");
	(void)ask(200, METHOD_POST, "/v2/token", body);
}
END_TEST

/* Eve is banned twice, while the media server puts nobody out. What comes from inside only
 * grows. */
enum banner {
	MANAGEMENT,
	MANAGEMENT_REMOVES, /* by remove-peers */
	MODERATOR
};

static const struct {
	enum banner first;
	const char *first_ban; /* seconds; true: for ever */
	enum banner second;
	const char *second_ban;
	int64_t seconds; /* 0: for ever */
	bool is_second_reason;
} bans_again[] = {
	{ MANAGEMENT, "true", MODERATOR, "1", 0, false },
	{ MANAGEMENT, "600", MODERATOR, "1", 600, false },
	{ MANAGEMENT, "60", MODERATOR, "600", 600, false },
	{ MANAGEMENT, "60", MODERATOR, "true", 0, false },
	{ MANAGEMENT_REMOVES, "true", MODERATOR, "1", 0, false },
	{ MANAGEMENT_REMOVES, "600", MODERATOR, "60", 600, false },
	{ MODERATOR, "true", MODERATOR, "60", 0, true },
	{ MODERATOR, "600", MODERATOR, "60", 600, true },
	{ MODERATOR, "60", MODERATOR, "600", 600, true },
	{ MODERATOR, "60", MODERATOR, "true", 0, true },
	{ MODERATOR, "600", MODERATOR, "false", 600, false },
	/* The management decides anew. */
	{ MODERATOR, "600", MANAGEMENT, "60", 60, true },
	{ MODERATOR, "60", MANAGEMENT, "true", 60, true }, /* no end was sent */
	{ MODERATOR, "true", MANAGEMENT_REMOVES, "60", 60, true },
	{ MANAGEMENT, "60", MANAGEMENT_REMOVES, "true", 0, true },
};

static void ban_eve(enum banner by, const char *ban, const char *reason)
{
	const char *body = arena_text(stand.arena,
				      "{\"peer_id\":\"%s\",\"ban\":%s,\"reason\":\"%s\"}",
				      id_of_peer("eve"), ban, reason);

	if (by == MANAGEMENT) {
		body = arena_text(stand.arena,
				  "{\"user_id\":\"eve\",\"room_id\":\"%s\",\"reason\":\"%s\"%s}",
				  kit.room, reason,
				  strcmp(ban, "true") == 0
					  ? ""
					  : arena_text(stand.arena, ",\"expires_in\":%s", ban));
		(void)ask(200, METHOD_POST, "/v2/bans", body);
		return;
	}
	if (by == MODERATOR)
		bearer = token_with_entry("e1");
	(void)ask(502, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room_path), body);
	bearer = NULL;
}

START_TEST(moderators_only_extend_bans)
{
	const json_t *bans, *ban;
	const char *end;
	int64_t time = 0, begin;

	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "eve", "eve", "e2");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	kit_set(FAILS);
	begin = clock_now(&clock_system) / 1000;
	ban_eve(bans_again[_i].first, bans_again[_i].first_ban, "first");
	ban_eve(bans_again[_i].second, bans_again[_i].second_ban, "second");
	bans = json_object_get(parsed(ask(200, METHOD_GET, "/v2/bans?user_id=eve", NULL)), "data");
	ck_assert_uint_eq(json_array_size(bans), 1);
	ban = json_array_get(bans, 0);
	end = text_at(ban, "expires_at");
	ck_assert_int_eq(end != NULL, bans_again[_i].seconds != 0);
	if (end != NULL) {
		ck_assert(text_time_parse_seconds(slice_of(end), &time));
		ck_assert_int_ge(time, begin + bans_again[_i].seconds);
		ck_assert_int_lt(time, begin + bans_again[_i].seconds + 50);
	}
	ck_assert_str_eq(text_at(ban, "reason"),
			 bans_again[_i].is_second_reason ? "second" : "first");
	ck_assert_str_eq(text_at(json_object_get(ban, "created_by"), "kind"),
			 bans_again[_i].first == MODERATOR ? "code" : "token");
}
END_TEST

/* The ban is written, and the service carries it out later. */
START_TEST(a_ban_needs_no_place_at_the_server)
{
	const bool bans = _i > 0;

	kit_join("PA_2", "eve", "eve", "e2");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	has_no_place = true;
	(void)ask(bans ? 200 : 503, METHOD_POST,
		  arena_text(stand.arena, "%s/remove-peers", room_path),
		  arena_text(stand.arena, "{\"peer_id\":\"%s\",\"ban\":%s}", id_of_peer("eve"),
			     bans ? "true" : "false"));
	has_no_place = false;
	ck_assert_int_eq(strstr(ask(200, METHOD_GET, "/v2/bans", NULL), "\"eve\"") != NULL, bans);
	if (bans)
		(void)await_request(REMOVE);
}
END_TEST

/* With the same token, the person is put out again, and so is whoever is banned, or comes to a
 * deleted room. */
START_TEST(who_was_put_out_does_not_come_back)
{
	const char *path = arena_text(stand.arena, "%s/remove-peers", room_path);
	struct slice body = SLICE("{\"peer_id\":\"PEER\",\"reason\":\"why\"}");
	int64_t end;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	body = replaced(body, "PEER", text_at(first_peer(), "id"));
	(void)ask(200, METHOD_POST, path, arena_copy(stand.arena, body).data);
	kit_people("PA_2", "e1");
	ck_assert_int_eq(tell(NULL, joined_event("PA_2")), 204);
	while (events("peer.leave.success") < 2)
		(void)poll(NULL, 0, 20);
	ck_assert_uint_eq(kit.count, 0);
	/* A ban is found when somebody comes in; the rules have been enforced in the room since it
	 * was made. */
	(void)ask(200, METHOD_POST, "/v2/bans", "{\"user_id\":\"ada\"}");
	kit_people("PA_4", "e4");
	ck_assert_int_eq(tell(NULL, joined_event("PA_4")), 204);
	(void)ask_until("/v2/events?limit=100", "\"cause\":\"banned\"");
	ck_assert_uint_eq(kit.count, 0);
	(void)ask(204, METHOD_DELETE, filled("/v2/rooms/ROOM"), NULL);
	(void)await_request(END);
	kit_room("RM_2", clock_now(&clock_system));
	kit_people("PA_3", "e9");
	ck_assert_int_eq(tell(NULL, joined_event("PA_3")), 204);
	end = clock_monotonic() + 30000;
	while (requests_of(END) < 2) {
		ck_assert_int_lt(clock_monotonic(), end);
		(void)poll(NULL, 0, 20);
	}
}
END_TEST

/* Somebody is in a room that was deleted, and the service learns of it by a survey. */
START_TEST(a_survey_of_a_deleted_room_ends)
{
	const int64_t end = clock_monotonic() + 30000;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask(204, METHOD_DELETE, filled("/v2/rooms/ROOM"), NULL);
	(void)await_request(END);
	while (events("session.close.success") < 1) {
		ck_assert_int_lt(clock_monotonic(), end);
		(void)poll(NULL, 0, 20);
	}
	kit_room("RM_2", clock_now(&clock_system));
	kit_people("PA_3", "e9");
	if (_i == 0)
		ck_assert_int_eq(tell(NULL, joined_event("PA_3")), 204);
	restart_watch();
	while (requests_of(END) < 2) {
		ck_assert_int_lt(clock_monotonic(), end);
		(void)poll(NULL, 0, 20);
	}
}
END_TEST

/* Acts that ask the media server twice, and the response that is kept. */
static const struct {
	const char *call, *body, *response;
} kept_acts[] = {
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", REMOVED },
	{ "end-room", "{\"lock\":true}", ENDED },
};

START_TEST(an_act_with_a_key_is_done_once)
{
	const char *path = arena_text(stand.arena, "%s/%s", room_path, kept_acts[_i].call);
	const char *body;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	body = arena_copy(stand.arena, replaced(slice_of(kept_acts[_i].body), "PEER",
						text_at(first_peer(), "id")))
		       .data;
	for (unsigned i = 0; i < 2; i++)
		ck_assert_str_eq(ask_with("key", 200, METHOD_POST, path, body),
				 kept_acts[_i].response);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
}
END_TEST

/* An operator's own program is not one of the roles: with another name, it may do what it did. */
START_TEST(rights_without_a_role_stay)
{
	static const char *const roles[] = { "elsewhere", "host" };
	const json_t *update;
	const char *path;

	(void)snprintf(kit.people[0].role, sizeof kit.people[0].role, "%s", roles[_i]);
	kit.people[0].entry = "";
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/peers/%s", room_path, text_at(first_peer(), "id"));
	(void)ask(200, METHOD_POST, path, "{\"name\":\"Recorder\"}");
	update = last_request(UPDATE);
	ck_assert_str_eq(text_at(update, "name"), "Recorder");
	ck_assert_int_eq(json_object_get(update, "permission") != NULL, _i == 1);
	ck_assert_int_eq(json_object_get(update, "attributes") != NULL, _i == 1);
}
END_TEST

/* A room can be locked also while nobody is inside, and is disabled only once. */
START_TEST(an_empty_room_is_locked)
{
	const char *path = arena_text(stand.arena, "%s/end-room", room_path);

	kit_people(NULL, NULL);
	ck_assert_ptr_nonnull(strstr(ask(404, METHOD_POST, path, "{}"), "session not found"));
	for (unsigned i = 0; i < 2; i++)
		ck_assert_str_eq(ask(200, METHOD_POST, path, "{\"lock\":true}"), ENDED);
	ck_assert_uint_eq(events("room.updated"), 1);
	ck_assert_ptr_nonnull(
		strstr(ask(404, METHOD_POST, "/v2/active-rooms/x/end-room", "{\"lock\":true}"),
		       "room not found"));
}
END_TEST

/* In a body, PEER stands for the one who is inside, and LONG for 4,096 bytes. */
static const struct {
	const char *body;
	enum how how;
	int status;
	const char *text; /* in the response */
	const char *topic; /* of what arrived; NULL: nothing did */
	const char *data; /* its base64, or NULL */
} messages[] = {
	{ "{\"message\":\"hello\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"type\":\"news\",\"role\":\"\",\"peer_id\":\"\"}", ANSWERS, 200,
	  SENT, "news", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"role\":\"host\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	/* Nobody has this role. */
	{ "{\"message\":\"hello\",\"role\":\"guest\"}", ANSWERS, 200, SENT, NULL, NULL },
	{ "{\"message\":\"hello\",\"role\":\"king\"}", ANSWERS, 400,
	  "must be a role of the room's template", NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"peerId\":\"PEER\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	/* A peer wins over a role. */
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\",\"role\":\"king\"}", ANSWERS, 200, SENT,
	  "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"peer_id\":\"x\"}", ANSWERS, 404, GONE, NULL, NULL },
	{ "{\"message\":\"LONG\"}", ANSWERS, 200, SENT, "chat", NULL },
	{ "{\"message\":\"LONGx\"}", ANSWERS, 400, "must be 1 to 4096 bytes", NULL, NULL },
	{ "{\"message\":\"\"}", ANSWERS, 400, "must be 1 to 4096 bytes", NULL, NULL },
	{ "{}", ANSWERS, 400, "/message", NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", LACKS_EVERYBODY, 404, GONE, NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", HANGS, 502, "timed out", NULL, NULL },
	{ "{\"message\":\"hello\"}", LACKS_EVERYBODY, 404, "session not found", "chat", NULL },
	{ "{\"message\":\"hello\"}", FAILS, 502, "status 500", "chat", NULL },
	{ "{\"message\":\"hello\"}", HAS_ANOTHER_KEY, 502, "wrong key", "chat", NULL },
	/* It may have arrived. */
	{ "{\"message\":\"hello\"}", HANGS, 504, "It may have been done", "chat", NULL },
	{ "{\"message\":\"hello\"}", TELLS_NONSENSE, 504, "It may have been done", "chat", NULL },
};

START_TEST(messages_arrive_or_are_refused)
{
	char *long_text = arena_zero(stand.arena, 4096 + 1);
	const json_t *arrived;
	struct slice body;
	const char *path;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room_path);
	memset(long_text, 'a', 4096);
	body = replaced(slice_of(messages[_i].body), "PEER", text_at(first_peer(), "id"));
	body = replaced(body, "LONG", long_text);
	kit_set(messages[_i].how);
	ck_assert_ptr_nonnull(strstr(
		ask(messages[_i].status, METHOD_POST, path, arena_copy(stand.arena, body).data),
		messages[_i].text));
	arrived = last_request("SendData");
	ck_assert_int_eq(arrived != NULL, messages[_i].topic != NULL);
	if (arrived == NULL)
		return;
	ck_assert_str_eq(text_at(arrived, "topic"), messages[_i].topic);
	ck_assert_str_eq(text_at(arrived, "room"), kit.room);
	ck_assert_str_eq(text_at(arrived, "kind"), "RELIABLE");
	/* Without identities it would go to everybody. */
	ck_assert_uint_eq(json_array_size(json_object_get(arrived, "destination_identities")), 1);
	if (messages[_i].data != NULL)
		ck_assert_str_eq(text_at(arrived, "data"), messages[_i].data);
}
END_TEST

/* A message is split by what is sent: each of these characters has six bytes in JSON. */
START_TEST(a_message_to_long_identities_is_split)
{
	char *long_text = arena_zero(stand.arena, 200 + 1);
	size_t notified = 0;

	memset(long_text, '\1', 200);
	for (size_t i = 1; i < PEOPLE_MOST; i++)
		kit_join(arena_text(stand.arena, "PA_more_%zu", i),
			 arena_text(stand.arena, "%zu%s", i, long_text), "", "");
	start_watch();
	(void)ask_until(room_path, arena_text(stand.arena, "\"peer_count\":%d", PEOPLE_MOST));
	ck_assert_str_eq(ask(200, METHOD_POST,
			     arena_text(stand.arena, "%s/send-message", room_path),
			     "{\"message\":\"hello\"}"),
			 SENT);
	for (size_t i = 0; i < receiver_count(stand.receiver); i++) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strstr(received->path, "SendData") == NULL)
			continue;
		ck_assert_uint_le(strlen(received->body), SENDER_BYTES_MOST);
		notified += json_array_size(
			json_object_get(parsed(received->body), "destination_identities"));
	}
	ck_assert_uint_eq(notified, PEOPLE_MOST);
	ck_assert_str_eq(
		ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room_path), "{}"),
		ENDED);
}
END_TEST

START_TEST(nothing_is_changed_by_a_service_that_watches)
{
	const char *path;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	stand.environment.live = LIVE_WATCH;
	world_serve(&stand);
	path = arena_text(stand.arena, "%s/send-message", room_path);
	ck_assert_ptr_nonnull(strstr(
		ask(501, METHOD_POST, path, "{\"message\":\"hello\"}"),
		"{\"code\":501,\"message\":\"The media server cannot do this\",\"details\":[\"--live watch\"]}"));
	ck_assert_ptr_null(last_request("SendData"));
}
END_TEST

void add_door(TCase *live, TCase *inside)
{
	tcase_add_loop_test(live, rights_without_a_role_stay, 0, 2);
	tcase_add_test(live, who_was_put_out_does_not_come_back);
	tcase_add_loop_test(live, a_survey_of_a_deleted_room_ends, 0, 2);
	tcase_add_test(live, moderators_are_notified_of_who_waits);
	tcase_add_test(live, moderators_are_notified_of_what_the_door_does);
	tcase_add_loop_test(live, a_locked_room_lets_in_who_was_inside, 0, ROWS(latecomers));
	tcase_add_loop_test(live, people_are_notified_that_their_role_has_changed, 0,
			    ROWS(role_changes));
	tcase_add_test(live, many_changes_of_roles_are_few_messages);
	tcase_add_loop_test(live, no_role_that_has_changed_is_forgotten, 0, ROWS(notified_sets));
	tcase_add_loop_test(live, whoever_comes_by_the_code_asks, 0, ROWS(put_out_to_ask));
	tcase_add_loop_test(live, a_lost_role_comes_back_by_the_code_unless_it_asks, 0,
			    ROWS(given_roles));
	tcase_add_loop_test(live, moderators_only_extend_bans, 0, ROWS(bans_again));
	tcase_add_loop_test(live, a_ban_needs_no_place_at_the_server, 0, 2);
	tcase_add_loop_test(live, an_act_with_a_key_is_done_once, 0, ROWS(kept_acts));
	tcase_add_test(live, an_empty_room_is_locked);
	tcase_add_loop_test(live, messages_arrive_or_are_refused, 0, ROWS(messages));
	tcase_add_test(live, nothing_is_changed_by_a_service_that_watches);
	tcase_add_test(inside, a_message_to_long_identities_is_split);
}
