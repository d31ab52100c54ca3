/* Mute of all, what moderators hold, and what a role may send: at the media server, in tokens, and
 * for those inside.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "kit.h"
#include "suite.h"

#define MICROPHONE "\"MICROPHONE\""
#define CAMERA "\"CAMERA\""
#define SCREEN "\"SCREEN_SHARE\""
#define SCREEN_SOUND "\"SCREEN_SHARE_AUDIO\""
#define ALL_SOURCES MICROPHONE "," CAMERA "," SCREEN "," SCREEN_SOUND
#define MAY(publishes, data, sources) \
	"{\"can_subscribe\":true,\"can_publish\":" publishes ",\"can_publish_data\":" data \
	",\"can_publish_sources\":[" sources "]}"
#define MAY_ALL MAY("true", "true", ALL_SOURCES)

static void kit_guest(const char *sid, const char *user_id, const char *entry)
{
	kit_join(sid, user_id, user_id, entry);
	pthread_mutex_lock(&kit.lock);
	(void)snprintf(kit.people[kit.count - 1].role, sizeof kit.people[0].role, "guest");
	for (size_t i = 0; i < kit.count; i++)
		(void)snprintf(kit.people[i].permission, sizeof kit.people[i].permission, "%s",
			       MAY_ALL);
	pthread_mutex_unlock(&kit.lock);
}

/* A host, who may mute others, and two guests. */
static void begin(void)
{
	kit_guest("PA_2", "bob", "e2");
	kit_guest("PA_3", "eve", "e3");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":3");
}

static int compare_texts(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

/* Returns the identities in the requests with this method, each once. */
static const char *whom(const char *method)
{
	const size_t count = receiver_count(stand.receiver);
	const char **identities = arena_alloc(stand.arena, (count + 1) * sizeof *identities);
	struct buffer text = BUFFER_INITIAL(stand.arena);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strcmp(strrchr(received->path, '/') + 1, method) == 0)
			identities[n++] = text_at(parsed(received->body), "identity");
	}
	qsort(identities, n, sizeof *identities, compare_texts);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && strcmp(identities[i - 1], identities[i]) == 0)
			continue;
		buffer_append_text(&text, text.size > 0 ? " " : "");
		buffer_append_text(&text, identities[i]);
	}
	return arena_text(stand.arena, "%.*s", (int)text.size, text.data);
}

/* Waits until the media server gives somebody these rights. */
static void expect_permission(const char *identity, const char *permission)
{
	const int64_t end = clock_monotonic() + 30000;
	bool is_so = false;

	while (!is_so) {
		ck_assert_msg(clock_monotonic() < end, "%s", permission);
		pthread_mutex_lock(&kit.lock);
		for (size_t i = 0; i < kit.count; i++)
			is_so = is_so || (strcmp(kit.people[i].identity, identity) == 0 &&
					  strcmp(kit.people[i].permission, permission) == 0);
		pthread_mutex_unlock(&kit.lock);
	}
}

#define MUTE "MutePublishedTrack"
#define COUNTED(muted, missed) \
	"{\"message\":\"mute request submitted\",\"muted\":" muted ",\"missed\":" missed "}"

static const struct {
	const char *body;
	enum how how;
	const char *entry; /* of the caller; NULL: from outside */
	int status;
	const char *text; /* in the response */
	const char *muted, *updated; /* whom the media server was asked about, by then */
} rows[] = {
	{ "{\"type\":\"audio\"}", ANSWERS, NULL, 200, COUNTED("3", "0"), "ada#1 bob eve", "" },
	{ "{\"type\":\"audio\",\"role\":\"\"}", ANSWERS, NULL, 200, COUNTED("3", "0"),
	  "ada#1 bob eve", "" },
	{ "{\"type\":\"audio\"}", ANSWERS, "e1", 200, COUNTED("2", "0"), "bob eve", "" },
	{ "{\"type\":\"audio\",\"role\":\"guest\"}", ANSWERS, NULL, 200, COUNTED("2", "0"),
	  "bob eve", "" },
	{ "{\"type\":\"audio\",\"role\":\"host\"}", ANSWERS, "e1", 200, COUNTED("0", "0"), "", "" },
	{ "{\"type\":\"video\"}", ANSWERS, NULL, 200, COUNTED("0", "0"), "", "" },
	/* Moderators are muted, never held. */
	{ "{\"type\":\"audio\",\"hold\":true}", ANSWERS, NULL, 200, COUNTED("3", "0"), "ada#1",
	  "bob eve" },
	{ "{\"type\":\"audio\",\"hold\":true}", ANSWERS, "e1", 200, COUNTED("2", "0"), "",
	  "bob eve" },
	{ "{\"type\":\"audio\",\"hold\":true,\"role\":\"host\"}", ANSWERS, NULL, 200,
	  COUNTED("1", "0"), "ada#1", "" },
	/* Held although nothing was on. */
	{ "{\"type\":\"video\",\"hold\":true}", ANSWERS, "e1", 200, COUNTED("0", "0"), "",
	  "bob eve" },
	/* Nothing was held. */
	{ "{\"type\":\"audio\",\"hold\":false}", ANSWERS, NULL, 200, COUNTED("0", "0"), "", "" },
	{ "{\"type\":\"audio\"}", LOSES_ACTS, NULL, 200, COUNTED("0", "3"), "ada#1 bob eve", "" },
	{ "{\"type\":\"audio\",\"hold\":true}", LOSES_ACTS, "e1", 200, COUNTED("0", "2"), "",
	  "bob eve" },
	{ "{\"type\":\"audio\"}", FAILS, NULL, 502, "[\"status 500\"]", "", "" },
	{ "{\"type\":\"audio\",\"hold\":true}", FAILS, NULL, 502,
	  "[\"status 500\",\"people are held\"]", "", "" },
	{ "{\"type\":\"audio\",\"hold\":true}", HANGS, NULL, 502,
	  "[\"timed out\",\"people are held\"]", "", "" },
	{ "{\"type\":\"audio\",\"hold\":false}", FAILS, NULL, 502,
	  "[\"status 500\",\"people are no longer held\"]", "", "" },
	{ "{\"type\":\"audio\"}", ANSWERS, "e2", 403, "Missing permission mute", "", "" },
	{ "{\"type\":\"audio\",\"role\":\"king\"}", ANSWERS, "e2", 400,
	  "/role: must be a role of the room's template, got \\\"king\\\"", "", "" },
	{ "{\"type\":\"audio\"}", ANSWERS, "e9", 403, "Not in the room", "", "" },
	{ "{\"type\":\"screen\"}", ANSWERS, NULL, 400, "/type", "", "" },
	{ "{}", ANSWERS, NULL, 400, "/type: is required", "", "" },
	{ "{\"type\":\"audio\",\"hold\":1}", ANSWERS, NULL, 400, "/hold", "", "" },
	{ "{\"type\":\"audio\",\"role\":7}", ANSWERS, NULL, 400, "/role", "", "" },
};

START_TEST(all_are_muted_or_the_call_refused)
{
	const char *response, *path = arena_text(stand.arena, "%s/mute", room_path);

	begin();
	kit_set(rows[_i].how);
	if (rows[_i].entry != NULL)
		bearer = token_made(rows[_i].entry, 60);
	response = ask(rows[_i].status, METHOD_POST, path, rows[_i].body);
	ck_assert_msg(strstr(response, rows[_i].text) != NULL, "%s", response);
	if (rows[_i].status == 200)
		ck_assert_str_eq(response, rows[_i].text);
	if (rows[_i].how == ANSWERS || rows[_i].status != 200) {
		ck_assert_str_eq(whom(MUTE), rows[_i].muted);
		ck_assert_str_eq(whom(UPDATE), rows[_i].updated);
	}
	bearer = NULL;
	/* Nothing of it is in the log. */
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, "/v2/events?limit=100", NULL), "mute"));
}
END_TEST

/* More people than requests of a round, and each of them once. */
START_TEST(large_rooms_are_muted_in_rounds)
{
	static const char *const holds[] = { "", ",\"hold\":true" };
	const char *response;

	for (int i = 0; i < 240; i++) {
		const char *name = arena_text(stand.arena, "guest%03d", i);

		kit_guest(arena_text(stand.arena, "PA_%d", i + 10), name, name);
	}
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":241");
	response = ask(200, METHOD_POST, arena_text(stand.arena, "%s/mute", room_path),
		       arena_text(stand.arena, "{\"type\":\"audio\"%s}", holds[_i]));
	ck_assert_str_eq(response, COUNTED("241", "0"));
	ck_assert_uint_eq(requests_of(MUTE), _i == 0 ? 241 : 1);
	/* A survey at the same time may have the service hold some, too. */
	ck_assert_uint_ge(requests_of(UPDATE), _i == 0 ? 0 : 240);
	ck_assert_ptr_nonnull(strstr(whom(_i == 0 ? MUTE : UPDATE), "guest000 guest001"));
	ck_assert_uint_eq(strlen(whom(_i == 0 ? MUTE : UPDATE)), 240 * 9 - 1 + (_i == 0 ? 6 : 0));
}
END_TEST

/* A request for which there is no place at the media server misses everybody, and no more. */
START_TEST(without_a_place_all_are_missed)
{
	static const struct {
		const char *body, *entry, *text;
	} busy[] = {
		{ "{\"type\":\"audio\"}", NULL, COUNTED("0", "3") },
		{ "{\"type\":\"audio\",\"hold\":true}", "e1", COUNTED("0", "2") },
		{ "{\"type\":\"audio\",\"hold\":true,\"role\":\"host\"}", NULL, COUNTED("0", "1") },
	};
	const char *response;

	begin();
	has_no_place = true;
	bearer = busy[_i].entry == NULL ? NULL : token_made(busy[_i].entry, 60);
	response = ask(200, METHOD_POST, arena_text(stand.arena, "%s/mute", room_path),
		       busy[_i].body);
	has_no_place = false;
	ck_assert_str_eq(response, busy[_i].text);
	expect_permission("eve", _i == 1 ? MAY("true", "true", CAMERA "," SCREEN) : MAY_ALL);
}
END_TEST

/* ---- what is held ---- */

/* Steps one after the other, and what people inside and tokens show then. */
static const struct {
	const char *body; /* of a mute of all; NULL: none yet */
	const char *holds; /* of the host */
	const char *held, *allowed, *sources; /* of the guest; the sources of a new token */
	const char *permission; /* of the guest at the media server */
} steps[] = {
	{ NULL, "[]", "[]", "[\"audio\",\"video\",\"screen\"]",
	  "[\"microphone\",\"camera\",\"screen_share\",\"screen_share_audio\"]", MAY_ALL },
	{ "{\"type\":\"audio\",\"hold\":true}", "[{\"type\":\"audio\"}]", "[\"audio\"]",
	  "[\"video\",\"screen\"]", "[\"camera\",\"screen_share\"]",
	  MAY("true", "true", CAMERA "," SCREEN) },
	/* As it is. */
	{ "{\"type\":\"audio\"}", "[{\"type\":\"audio\"}]", "[\"audio\"]", "[\"video\",\"screen\"]",
	  "[\"camera\",\"screen_share\"]", MAY("true", "true", CAMERA "," SCREEN) },
	{ "{\"type\":\"video\",\"hold\":true,\"role\":\"guest\"}",
	  "[{\"type\":\"audio\"},{\"type\":\"video\",\"role\":\"guest\"}]", "[\"audio\",\"video\"]",
	  "[\"screen\"]", "[\"screen_share\"]", MAY("true", "true", SCREEN) },
	/* All but a role. */
	{ "{\"type\":\"audio\",\"hold\":false,\"role\":\"guest\"}",
	  "[{\"type\":\"audio\",\"role\":\"other\"},{\"type\":\"video\",\"role\":\"guest\"}]",
	  "[\"video\"]", "[\"audio\",\"screen\"]",
	  "[\"microphone\",\"screen_share\",\"screen_share_audio\"]",
	  MAY("true", "true", MICROPHONE "," SCREEN "," SCREEN_SOUND) },
	{ "{\"type\":\"audio\",\"hold\":false,\"role\":\"other\"}",
	  "[{\"type\":\"video\",\"role\":\"guest\"}]", "[\"video\"]", "[\"audio\",\"screen\"]",
	  "[\"microphone\",\"screen_share\",\"screen_share_audio\"]",
	  MAY("true", "true", MICROPHONE "," SCREEN "," SCREEN_SOUND) },
	/* Without a role, all of the type. */
	{ "{\"type\":\"video\",\"hold\":false}", "[]", "[]", "[\"audio\",\"video\",\"screen\"]",
	  "[\"microphone\",\"camera\",\"screen_share\",\"screen_share_audio\"]", MAY_ALL },
};

/* Returns the response to `me`. */
static const json_t *me_of(const char *entry)
{
	const char *text;

	bearer = token_made(entry, 60);
	text = ask(200, METHOD_GET, arena_text(stand.arena, "%s/me", room_path), NULL);
	bearer = NULL;
	return parsed(text);
}

/* Returns a member as JSON; empty if there is none. */
static const char *dumped_member(const json_t *object, const char *name)
{
	char *dumped = json_dumps(json_object_get(object, name), JSON_COMPACT | JSON_ENCODE_ANY);
	const char *text = dumped == NULL ? "" : arena_text(stand.arena, "%s", dumped);

	free(dumped);
	return text;
}

static const char *code_of(const char *role)
{
	return text_at(parsed(ask(200, METHOD_POST,
				  arena_text(stand.arena, "/v2/room-codes/room/%s/role/%s",
					     kit.room, role),
				  "{}")),
		       "code");
}

/* Returns a member of the claim `video` of the LiveKit token in a response. */
static const char *grants_of(const char *response, const char *member)
{
	const json_t *answer = parsed(response);
	const json_t *join = json_object_get(answer, "join");
	const char *token = text_at(join != NULL ? join : answer,
				    join != NULL || json_object_get(answer, "token") != NULL
					    ? "token"
					    : "participant_token");
	const char *payload = strchr(token, '.') + 1;
	const struct slice encoded = { payload, (size_t)(strchr(payload, '.') - payload) };
	struct slice claims;

	ck_assert(text_base64url_decode(stand.arena, encoded, &claims));
	return dumped_member(json_object_get(parsed(arena_text(stand.arena, "%.*s",
							       (int)claims.size, claims.data)),
					     "video"),
			     member);
}

START_TEST(what_is_held_is_in_no_token)
{
	const char *path = arena_text(stand.arena, "%s/mute", room_path);
	const char *code, *host, *token;
	const json_t *of_host, *of_guest;

	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/other"), "{}");
	begin();
	code = code_of("guest");
	host = code_of("host");
	for (int i = 0; i < ROWS(steps); i++) {
		if (steps[i].body != NULL)
			(void)ask(200, METHOD_POST, path, steps[i].body);
		of_host = me_of("e1");
		of_guest = me_of("e2");
		ck_assert_str_eq(dumped_member(of_host, "holds"), steps[i].holds);
		ck_assert_str_eq(dumped_member(of_host, "held"), "[]");
		ck_assert_str_eq(dumped_member(of_guest, "holds"), "");
		ck_assert_str_eq(dumped_member(of_guest, "held"), steps[i].held);
		ck_assert_str_eq(dumped_member(json_object_get(json_object_get(of_guest, "role"),
							       "publishParams"),
					       "allowed"),
				 steps[i].allowed);
		token = ask(200, METHOD_POST, "/v2/token",
			    arena_text(stand.arena, "{\"code\":\"%s\"}", code));
		ck_assert_str_eq(grants_of(token, "canPublishSources"), steps[i].sources);
		bearer = text_at(parsed(token), "token");
		ck_assert_str_eq(grants_of(ask(200, METHOD_POST, "/v2/token/join", "{}"),
					   "canPublishSources"),
				 steps[i].sources);
		bearer = NULL;
		token = ask(201, METHOD_POST, arena_text(stand.arena, "/v2/livekit/%s", code),
			    "{}");
		ck_assert_str_eq(grants_of(token, "canPublishSources"), steps[i].sources);
		token = ask(200, METHOD_POST, "/v2/token",
			    arena_text(stand.arena, "{\"code\":\"%s\"}", host));
		ck_assert_str_eq(grants_of(token, "canPublishSources"), steps[0].sources);
		expect_permission("eve", steps[i].permission);
	}
}
END_TEST

/* Whoever comes with an old token, or is given a role, is held, too; a role that has nothing else
 * may publish nothing. */
START_TEST(who_comes_later_is_held)
{
	const char *path = arena_text(stand.arena, "%s/mute", room_path);

	begin();
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/guest"),
		  "{\"publishParams\":{\"allowed\":[\"audio\"]}}");
	expect_permission("eve", MAY("true", "true", MICROPHONE));
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\",\"hold\":true}");
	expect_permission("eve", MAY("false", "true", ""));
	kit_guest("PA_4", "joe", "e4");
	expect_permission("joe", MAY("false", "true", ""));
	/* A moderator who becomes a guest is held from then on. */
	(void)ask_until(room_path, "\"peer_count\":4");
	expect_permission("ada#1", MAY_ALL);
	(void)ask(200, METHOD_POST,
		  arena_text(stand.arena, "%s/peers/%s", room_path, id_of_peer("ada")),
		  "{\"role\":\"guest\"}");
	expect_permission("ada#1", MAY("false", "true", ""));
}
END_TEST

/* Those whom the call did not reach are held by the service. */
START_TEST(the_service_does_the_rest)
{
	static const enum how hows[] = { FAILS, LOSES_ACTS };
	const char *path = arena_text(stand.arena, "%s/mute", room_path);

	begin();
	kit_set(hows[_i]);
	(void)ask(hows[_i] == FAILS ? 502 : 200, METHOD_POST, path,
		  "{\"type\":\"audio\",\"hold\":true}");
	kit_set(ANSWERS);
	expect_permission("eve", MAY("true", "true", CAMERA "," SCREEN));
	expect_permission("bob", MAY("true", "true", CAMERA "," SCREEN));
	expect_permission("ada#1", MAY_ALL);
}
END_TEST

/* A program that starts again knows what is held; another session does not hold it. */
START_TEST(holds_last_as_long_as_the_session)
{
	const char *path = arena_text(stand.arena, "%s/mute", room_path);

	begin();
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\",\"hold\":true}");
	restart_watch();
	(void)ask_until(room_path, "\"peer_count\":3");
	ck_assert_str_eq(dumped_member(me_of("e1"), "holds"), "[{\"type\":\"audio\"}]");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room_path), "{}");
	kit_room("RM_2", clock_now(&clock_system));
	kit_people("PA_7", "e7");
	kit_guest("PA_8", "eve", "e8");
	ck_assert_int_eq(tell(NULL, joined_event("PA_7")), 204);
	(void)ask_until(room_path, "\"peer_count\":2");
	ck_assert_str_eq(dumped_member(me_of("e8"), "held"), "[]");
}
END_TEST

/* Those who may mute others learn it, once for each change. */
START_TEST(moderators_are_notified_of_holds)
{
	const char *path = arena_text(stand.arena, "%s/mute", room_path);
	const int64_t end = clock_monotonic() + 30000;

	begin();
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\"}");
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\",\"hold\":false}");
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\",\"hold\":true}");
	while (requests_of("SendData") == 0)
		ck_assert(clock_monotonic() < end);
	ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
	ck_assert_str_eq(
		text_at(last_request("SendData"), "data"),
		arena_copy(stand.arena, text_base64(stand.arena, SLICE("{\"type\":\"hold\"}")))
			.data);
	ck_assert(json_equal(json_object_get(last_request("SendData"), "destination_identities"),
			     parsed("[\"ada#1\"]")));
	/* The same again changes nothing; a change of a role shows that nothing was sent. */
	(void)ask(200, METHOD_POST, path, "{\"type\":\"audio\",\"hold\":true}");
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	while (requests_of("SendData") < 2)
		ck_assert(clock_monotonic() < end);
	ck_assert_str_eq(
		text_at(last_request("SendData"), "data"),
		arena_copy(stand.arena, text_base64(stand.arena, SLICE("{\"type\":\"role\"}")))
			.data);
}
END_TEST

/* ---- what a role may do ---- */

static const struct {
	const char *change; /* of the role guest */
	const char *permission;
} changes[] = {
	{ "{\"permissions\":{\"chat\":false}}", MAY("true", "false", ALL_SOURCES) },
	{ "{\"publishParams\":{\"allowed\":[\"video\"]}}", MAY("true", "true", CAMERA) },
	{ "{\"publishParams\":{\"allowed\":[]}}", MAY("false", "true", "") },
	{ "{\"subscribeParams\":{\"subscribeToRoles\":[]}}",
	  "{\"can_subscribe\":false,\"can_publish\":true,\"can_publish_data\":true,"
	  "\"can_publish_sources\":[" ALL_SOURCES "]}" },
};

/* A change reaches those inside within 2 s, and nobody else. */
START_TEST(a_change_of_a_role_reaches_those_inside)
{
	int64_t changed;

	begin();
	/* No survey finds it. */
	pthread_mutex_lock(&kit.lock);
	kit.hides_rights = true;
	pthread_mutex_unlock(&kit.lock);
	changed = clock_monotonic();
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/guest"),
		  changes[_i].change);
	expect_permission("eve", changes[_i].permission);
	expect_permission("bob", changes[_i].permission);
	ck_assert_int_le(clock_monotonic() - changed, 2000);
	ck_assert_str_eq(whom(UPDATE), "bob eve");
	/* And back, without `chat` for a supplied true. */
	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guest"), "{}");
	expect_permission("eve", MAY_ALL);
	expect_permission("bob", MAY_ALL);
}
END_TEST

START_TEST(without_chat_a_token_sends_nothing)
{
	static const struct {
		const char *permissions, *may;
	} chats[] = { { "{}", "true" },
		      { "{\"chat\":true}", "true" },
		      { "{\"chat\":false}", "false" } };
	const char *code = code_of("guest");

	for (int i = 0; i < ROWS(chats); i++) {
		(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guest"),
			  arena_text(stand.arena, "{\"permissions\":%s}", chats[i].permissions));
		ck_assert_str_eq(grants_of(ask(200, METHOD_POST, "/v2/token",
					       arena_text(stand.arena, "{\"code\":\"%s\"}", code)),
					   "canPublishData"),
				 chats[i].may);
	}
}
END_TEST

void add_holds(TCase *holds)
{
	tcase_add_loop_test(holds, all_are_muted_or_the_call_refused, 0, ROWS(rows));
	tcase_add_loop_test(holds, large_rooms_are_muted_in_rounds, 0, 2);
	tcase_add_loop_test(holds, without_a_place_all_are_missed, 0, 3);
	tcase_add_test(holds, what_is_held_is_in_no_token);
	tcase_add_test(holds, who_comes_later_is_held);
	tcase_add_loop_test(holds, the_service_does_the_rest, 0, 2);
	tcase_add_test(holds, holds_last_as_long_as_the_session);
	tcase_add_test(holds, moderators_are_notified_of_holds);
	tcase_add_loop_test(holds, a_change_of_a_role_reaches_those_inside, 0, ROWS(changes));
	tcase_add_test(holds, without_chat_a_token_sends_nothing);
}
