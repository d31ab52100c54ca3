/* Acts at media servers: muting, putting people out, rights, and who may ask for them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/live_watch.h"
#include "base/text.h"
#include "kit.h"
#include "resources/asking.h"
#include "suite.h"

#define NO_TRACK "{\"code\":404,\"message\":\"peer has no such track\"}"

static const struct {
	const char *body;
	enum how how;
	bool is_inside; /* the caller; its role may mute, not unmute */
	int status;
	const char *text; /* in the response */
	const char *track; /* that was muted; NULL: nothing was */
} mutes[] = {
	{ "{\"type\":\"audio\",\"mute\":true}", ANSWERS, false, 200, MUTED, "TR_2" },
	{ "{\"type\":\"screen\",\"mute\":true}", ANSWERS, false, 200, MUTED, "TR_1" },
	{ "{\"type\":\"video\",\"mute\":true}", ANSWERS, false, 404, NO_TRACK, NULL },
	{ "{\"type\":\"audio\",\"mute\":false}", UNMUTES, false, 200, MUTED, "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":false}", ANSWERS, false, 501,
	  "[\"unmute: room.enable_remote_unmute is off\"]", "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":true}", ANSWERS, true, 200, MUTED, "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":false}", UNMUTES, true, 403, "Missing permission unmute",
	  NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", LACKS_EVERYBODY, false, 404, GONE, NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", FAILS, false, 502, "status 500", NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", LOSES_ACTS, false, 504, "It may have been done",
	  "TR_2" },
	{ "{\"type\":\"data\",\"mute\":true}", ANSWERS, false, 400, "/type", NULL },
	{ "{\"type\":\"audio\"}", ANSWERS, false, 400, "/mute", NULL },
	{ "{\"mute\":true}", ANSWERS, false, 400, "/type", NULL },
};

START_TEST(tracks_are_muted_or_calls_refused)
{
	const bool is_muted = strstr(mutes[_i].body, "true") != NULL;
	const json_t *arrived;
	const char *path;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/mute", peer_path());
	kit_set(mutes[_i].how);
	if (mutes[_i].is_inside)
		bearer = token_with_entry("e1");
	ck_assert_ptr_nonnull(
		strstr(ask(mutes[_i].status, METHOD_POST, path, mutes[_i].body), mutes[_i].text));
	arrived = last_request("MutePublishedTrack");
	ck_assert_int_eq(arrived != NULL, mutes[_i].track != NULL);
	if (arrived == NULL)
		return;
	ck_assert_str_eq(text_at(arrived, "track_sid"), mutes[_i].track);
	ck_assert_str_eq(text_at(arrived, "room"), kit.room);
	ck_assert_str_eq(text_at(arrived, "identity"), "ada#1");
	ck_assert_int_eq(json_is_true(json_object_get(arrived, "muted")), is_muted);
}
END_TEST

/* Of several tracks, the first of each kind is muted: all of the kind are muted nevertheless. */
#define MANY_TRACKS \
	"[{\"sid\":\"TR_1\",\"type\":\"AUDIO\",\"source\":\"MICROPHONE\",\"muted\":true}," \
	"{\"sid\":\"TR_2\",\"type\":\"VIDEO\",\"source\":\"CAMERA\",\"muted\":true}," \
	"{\"sid\":\"TR_3\",\"type\":\"VIDEO\",\"source\":\"SCREEN_SHARE\",\"muted\":true}," \
	"{\"sid\":\"TR_4\",\"type\":\"AUDIO\",\"source\":\"MICROPHONE\"}," \
	"{\"sid\":\"TR_5\",\"type\":\"AUDIO\",\"source\":\"SCREEN_SHARE_AUDIO\"}," \
	"{\"sid\":\"TR_6\",\"type\":\"AUDIO\",\"source\":\"UNKNOWN\"}," \
	"{\"sid\":\"TR_7\",\"type\":\"AUDIO\"}," \
	"{\"sid\":\"TR_8\",\"type\":\"VIDEO\",\"source\":\"CAMERA\"}," \
	"{\"sid\":\"TR_9\",\"type\":\"DATA\"}]"
static const struct {
	const char *type, *tracks;
} muted_together[] = {
	{ "audio", "TR_1 TR_4 TR_6 TR_7" },
	{ "video", "TR_2 TR_8" },
	{ "screen", "TR_3 TR_5" },
};

START_TEST(all_tracks_of_a_kind_are_muted)
{
	struct buffer tracks = BUFFER_INITIAL(stand.arena);

	kit.tracks = MANY_TRACKS;
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/mute", peer_path()),
		  arena_text(stand.arena, "{\"type\":\"%s\",\"mute\":true}",
			     muted_together[_i].type));
	for (size_t i = 1; i < 10; i++) {
		const char *sid = arena_text(stand.arena, "TR_%zu", i);

		for (size_t j = 0; j < receiver_count(stand.receiver); j++) {
			const struct received *received = receiver_request(stand.receiver, j);

			if (strstr(received->path, "/MutePublishedTrack") == NULL ||
			    strcmp(text_at(parsed(received->body), "track_sid"), sid) != 0)
				continue;
			buffer_append_text(&tracks, tracks.size > 0 ? " " : "");
			buffer_append_text(&tracks, sid);
		}
	}
	ck_assert_msg(slice_is(buffer_slice(&tracks), muted_together[_i].tracks), "%.*s",
		      (int)tracks.size, tracks.data);
}
END_TEST

/* More tracks than one call mutes: those that can be heard come first. */
START_TEST(of_many_tracks_those_that_are_heard_are_muted)
{
	struct buffer tracks = BUFFER_INITIAL(stand.arena);

	buffer_append_text(&tracks, "[");
	for (int i = 0; i < 150; i++)
		buffer_append_text(
			&tracks, arena_text(stand.arena,
					    "{\"sid\":\"TR_%d\",\"type\":\"AUDIO\",\"muted\":%s}%s",
					    i, i < 147 ? "true" : "false", i < 149 ? "," : "]"));
	kit.tracks = arena_copy(stand.arena, buffer_slice(&tracks)).data;
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/mute", peer_path()),
		  "{\"type\":\"audio\",\"mute\":true}");
	ck_assert_uint_eq(requests_of("MutePublishedTrack"), ASKED_MOST);
	for (int i = 147; i < 150; i++) {
		const char *sid = arena_text(stand.arena, "\"track_sid\":\"TR_%d\"", i);
		bool is_asked = false;

		for (size_t j = 0; j < receiver_count(stand.receiver) && !is_asked; j++)
			is_asked = strstr(receiver_request(stand.receiver, j)->body, sid) != NULL;
		ck_assert_msg(is_asked, "%s", sid);
	}
}
END_TEST

/* In a call or a body, PEER stands for the one who is inside. */
static const struct {
	const char *call, *body;
	enum how how;
	bool is_inside; /* the caller; its role may end the room, not remove others */
	int status;
	const char *text; /* in the response */
	const char *method; /* the request that acts; NULL: there is none */
	const char *event; /* in the log, or NULL */
} acts[] = {
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"reason\":\"why\"}", ANSWERS, false, 200, REMOVED,
	  REMOVE, "\"reason\":\"peer kicked\",\"cause\":\"removed\",\"message\":\"why\"" },
	{ "remove-peers", "{\"role\":\"host\"}", ANSWERS, false, 200, REMOVED, REMOVE,
	  "\"cause\":\"removed\",\"message\":\"\"" },
	{ "remove-peers", "{\"role\":\"guest\"}", ANSWERS, false, 200, REMOVED, NULL, NULL },
	/* A peer wins over a role. */
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"role\":\"king\"}", ANSWERS, false, 200, REMOVED,
	  REMOVE, "\"cause\":\"removed\"" },
	{ "remove-peers", "{\"role\":\"king\"}", ANSWERS, false, 400,
	  "/role: must be a role of the room's template, got \\\"king\\\"", NULL, NULL },
	{ "remove-peers", "{}", ANSWERS, false, 400, "/peer_id: is required unless role is sent",
	  NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"\",\"role\":\"\"}", ANSWERS, false, 400, "/peer_id", NULL,
	  NULL },
	{ "remove-peers", "{\"peer_id\":\"x\"}", ANSWERS, false, 404, GONE, NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", ANSWERS, true, 403,
	  "Missing permission removeOthers", NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", LACKS_EVERYBODY, false, 404, GONE, NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", FAILS, false, 502, "status 500", NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", LOSES_ACTS, false, 504, "It may have been done",
	  REMOVE, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", ANSWERS, false, 200,
	  "\"role\":\"guest\",\"joined_at\"", UPDATE, "\"role\":\"guest\",\"joined_at\"" },
	{ "peers/PEER", "{\"name\":\"Eve\",\"metadata\":\"\"}", ANSWERS, false, 200,
	  "\"name\":\"Eve\",\"user_id\":\"ada\",\"metadata\":\"\"", UPDATE, NULL },
	{ "peers/PEER", "{\"metadata\":\"x\"}", ANSWERS, true, 200, "\"metadata\":\"x\"", UPDATE,
	  NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", ANSWERS, true, 403, "Missing permission changeRole",
	  NULL, NULL },
	{ "peers/PEER", "{\"role\":\"king\"}", ANSWERS, false, 400,
	  "/role: must be a role of the room's template, got \\\"king\\\"", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\"}", ANSWERS, false, 400,
	  "/role: is required unless name, metadata, hand or consent is sent", NULL, NULL },
	/* Invisible names are as good as none, also from inside. */
	{ "peers/PEER", "{\"name\":\"\\u200b \\u3164\"}", ANSWERS, false, 400,
	  "/role: is required unless name, metadata, hand or consent is sent", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\\ud82f\\udca0\"}", ANSWERS, false, 400,
	  "/role: is required unless name, metadata, hand or consent is sent", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\\u202e\\u2800\"}", ANSWERS, true, 400,
	  "/role: is required unless name, metadata, hand or consent is sent", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\\ud82f\\udca3\\t\"}", ANSWERS, true, 400,
	  "/role: is required unless name, metadata, hand or consent is sent", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\\u2060\\ufe0f\",\"role\":\"guest\"}", ANSWERS, false, 200,
	  "\"name\":\"Ada\",\"user_id\":\"ada\"", UPDATE, NULL },
	{ "peers/PEER", "{\"name\":\"\\ud82f\\udca2\",\"metadata\":\"x\"}", ANSWERS, true, 200,
	  "\"name\":\"Ada\",\"user_id\":\"ada\"", UPDATE, NULL },
	{ "peers/x", "{\"name\":\"Eve\"}", ANSWERS, false, 404, GONE, NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", LACKS_EVERYBODY, false, 404, GONE, NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", FAILS, false, 502, "status 500", NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", LOSES_ACTS, false, 504, "It may have been done",
	  UPDATE, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"ban\":true}", ANSWERS, false, 200,
	  "\"not_enforced\":[\"ban\"]}", REMOVE, "\"cause\":\"removed\"" },
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"ban\":0}", ANSWERS, false, 400,
	  "/ban: must be a boolean or 1 to 315360000 seconds", NULL, NULL },
	{ "end-room", "{}", ANSWERS, false, 200, ENDED, END,
	  "\"lock_room\":false,\"reason\":\"\",\"source\":\"api\"" },
	{ "end-room", "{\"reason\":\"why\"}", ANSWERS, false, 200, ENDED, END,
	  "\"reason\":\"peer kicked\",\"cause\":\"ended\",\"message\":\"why\"" },
	{ "end-room", "{\"lock\":true}", ANSWERS, true, 200, ENDED, END,
	  "\"role\":\"host\",\"lock_room\":true,\"reason\":\"\",\"source\":\"peer\"" },
	{ "end-room", "{\"lock\":true}", ANSWERS, false, 200, ENDED, END,
	  "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{}", LACKS_EVERYBODY, false, 200, ENDED, END, "\"source\":\"api\"" },
	{ "end-room", "{}", FAILS, false, 502, "[\"status 500\"]", END, NULL },
	{ "end-room", "{\"lock\":true}", FAILS, false, 502,
	  "[\"status 500\",\"the room is locked\"]", END, "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{\"lock\":true}", LOSES_ACTS, false, 504, "[\"the room is locked\"]", END,
	  "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{\"lock\":1}", ANSWERS, false, 400, "/lock", NULL, NULL },
};

START_TEST(people_are_put_out_or_calls_refused)
{
	const bool is_done = acts[_i].status == 200 && acts[_i].method != NULL &&
			     strcmp(acts[_i].method, UPDATE) != 0;
	const json_t *told;
	struct slice body;
	const char *path;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/%s", room_path, acts[_i].call);
	if (strstr(path, "PEER") != NULL)
		path = arena_copy(stand.arena,
				  replaced(slice_of(path), "PEER", text_at(first_peer(), "id")))
			       .data;
	body = slice_of(acts[_i].body);
	if (strstr(acts[_i].body, "PEER") != NULL)
		body = replaced(body, "PEER", text_at(first_peer(), "id"));
	kit_set(acts[_i].how);
	if (acts[_i].is_inside)
		bearer = token_with_entry("e1");
	ck_assert_ptr_nonnull(
		strstr(ask(acts[_i].status, METHOD_POST, path, arena_copy(stand.arena, body).data),
		       acts[_i].text));
	bearer = NULL;
	ck_assert_int_eq(last_request(REMOVE) != NULL || last_request(END) != NULL ||
				 last_request(UPDATE) != NULL,
			 acts[_i].method != NULL);
	if (acts[_i].method != NULL)
		ck_assert_ptr_nonnull(last_request(acts[_i].method));
	if (acts[_i].event != NULL)
		(void)ask_until("/v2/events?limit=100", acts[_i].event);
	if (!is_done)
		return;
	/* They got a message that says why. */
	told = last_request("SendData");
	ck_assert_str_eq(text_at(told, "topic"), "anteroom");
	ck_assert_uint_eq(json_array_size(json_object_get(told, "destination_identities")), 1);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
	ck_assert_uint_eq(events("session.close.success"), strcmp(acts[_i].method, END) == 0);
	ck_assert_uint_eq(events("room.end.success"), strcmp(acts[_i].method, END) == 0);
}
END_TEST

/* After the call, which is not about the people, somebody may not be inside any more, or not as
 * before. In a path, ROOM and TEMPLATE stand for their ids. */
static const struct {
	enum method method;
	const char *path, *body;
	const char *act; /* of the media server, or NULL */
	const char *says; /* its last request */
	const char *told; /* the message to the person; NULL: nothing */
	const char *event; /* in the log, or NULL */
} corrections[] = {
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"enabled\":false}", END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"disabled\",\"reason\":\"\"}",
	  "\"lock_room\":false,\"reason\":\"disabled\",\"source\":\"api\"" },
	{ METHOD_DELETE, "/v2/rooms/ROOM", NULL, END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"ended\",\"reason\":\"\"}",
	  "\"cause\":\"ended\",\"message\":\"deleted\"" },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"opens_at\":\"2990-01-01T00:00:00Z\"}", END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"closed\",\"reason\":\"\"}",
	  "\"cause\":\"ended\",\"message\":\"closed\"" },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"max_duration_seconds\":120}", NULL, NULL, NULL,
	  NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"name\":\"x\"}", NULL, NULL, NULL, NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"size\":3}", NULL, NULL, NULL, NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"size\":2}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"full\",\"reason\":\"\"}",
	  "\"reason\":\"peer kicked\",\"cause\":\"full\",\"message\":\"\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"maxPeerCount\":2}", REMOVE,
	  "\"eve\"", "{\"type\":\"removed\",\"cause\":\"full\",\"reason\":\"\"}",
	  "\"cause\":\"full\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"maxPeerCount\":-1}", REMOVE, "",
	  "{\"type\":\"removed\",\"cause\":\"not_admitted\",\"reason\":\"\"}",
	  "\"cause\":\"not_admitted\"" },
	{ METHOD_POST, "/v2/import",
	  "{\"templates\":[{\"id\":\"TEMPLATE\",\"roles\":{\"host\":{\"name\":\"host\","
	  "\"permissions\":{\"sendRoomState\":true,\"mute\":true,\"endRoom\":true},"
	  "\"maxPeerCount\":-1}}}]}",
	  REMOVE, "", "{\"type\":\"removed\",\"cause\":\"not_admitted\",\"reason\":\"\"}",
	  "\"cause\":\"not_admitted\"" },
	{ METHOD_DELETE, "/v2/templates/TEMPLATE/roles/host", NULL, REMOVE, "",
	  "{\"type\":\"removed\",\"cause\":\"not_admitted\",\"reason\":\"\"}",
	  "\"cause\":\"not_admitted\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"name\":\"chief\"}", UPDATE,
	  "\"role\":\"chief\"", NULL, NULL },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"eve\"}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"banned\",\"reason\":\"\"}",
	  "\"cause\":\"banned\",\"message\":\"\"" },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"eve\",\"room_id\":\"ROOM\"}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"banned\",\"reason\":\"\"}", "\"cause\":\"banned\"" },
	/* Whom another service let in, like an operator's own client, is not put out. */
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"guard\"}", NULL, NULL, NULL, NULL },
};

/* Events, of those that are needed and of others; and whether they are the media server's. */
static const struct {
	bool joins;
	const char *event, *authorization;
	bool counts;
} last_events[] = {
	{ true, NULL, NULL, true },
	{ false, "{\"event\":\"track_published\",\"room\":{\"sid\":\"RM_1\",\"name\":\"x\"}}", NULL,
	  true },
	{ false, "{\"event\":\"room_started\"}", "nonsense", false },
};

START_TEST(the_last_event_has_its_time)
{
	const int64_t end = clock_monotonic() + 30000;
	const json_t *last = NULL;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	ck_assert(json_is_null(json_object_get(parsed(ask(200, METHOD_GET, backend_path, NULL)),
					       "last_event_at")));
	ck_assert_int_eq(tell(last_events[_i].authorization,
			      last_events[_i].joins ? joined_event("PA_1") : last_events[_i].event),
			 last_events[_i].counts ? 204 : 401);
	/* A later change shows that it was not counted. */
	if (!last_events[_i].counts) {
		(void)ask(204, METHOD_DELETE, arena_text(stand.arena, "/v2/rooms/%s", kit.room),
			  NULL);
		(void)await_request(END);
		ck_assert(json_is_null(json_object_get(
			parsed(ask(200, METHOD_GET, backend_path, NULL)), "last_event_at")));
		return;
	}
	do {
		ck_assert_msg(clock_monotonic() < end, "no event");
		last = json_object_get(parsed(ask(200, METHOD_GET, backend_path, NULL)),
				       "last_event_at");
	} while (json_is_null(last));
	ck_assert_ptr_nonnull(strchr(json_string_value(last), 'Z'));
}
END_TEST

START_TEST(who_may_not_be_inside_is_put_out)
{
	const char *says;
	const json_t *told;

	kit_join("PA_2", "eve", "eve", "e2");
	kit_join("PA_3", "guard", "guard", "");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":3");
	(void)ask(corrections[_i].method == METHOD_DELETE ? 204 : 200, corrections[_i].method,
		  filled(corrections[_i].path),
		  corrections[_i].body == NULL ? NULL : filled(corrections[_i].body));
	if (corrections[_i].act == NULL) {
		/* A later change shows that the rules have been enforced. */
		(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
		(void)await_request(END);
		ck_assert_ptr_null(last_request(REMOVE));
		ck_assert_ptr_null(last_request(UPDATE));
		return;
	}
	says = json_dumps(await_request(corrections[_i].act), JSON_COMPACT);
	ck_assert_msg(strstr(says, filled(corrections[_i].says)) != NULL, "%s", says);
	free((char *)says);
	if (corrections[_i].event != NULL)
		(void)ask_until("/v2/events?limit=100", corrections[_i].event);
	ck_assert_ptr_null(strcmp(corrections[_i].act, END) == 0 ? last_request(REMOVE)
								 : last_request(END));
	told = last_request("SendData");
	ck_assert_int_eq(told != NULL, corrections[_i].told != NULL);
	if (told != NULL)
		ck_assert_str_eq(
			text_at(told, "data"),
			arena_copy(stand.arena,
				   text_base64(stand.arena, slice_of(corrections[_i].told)))
				.data);
}
END_TEST

/* Waits until so many people should have been put out for 10 s. */
static void await_overdue(uint64_t n)
{
	const int64_t end = clock_monotonic() + 30000;
	struct live_figures figures;

	do {
		ck_assert_msg(clock_monotonic() < end, "%llu", (unsigned long long)n);
		(void)poll(NULL, 0, 20);
		live_watch_figures(watch, &figures);
	} while (figures.overdue_removals != n);
}

/* The watch finds the server while it puts somebody out there, who is banned. The server does not
 * say for a while whether it was done. */
START_TEST(acts_at_a_new_server_are_not_held_up)
{
	int64_t begun;

	kit_room("", 0);
	kit_people(NULL, NULL);
	start_watch();
	stand.options.sender.patience = 3000;
	restart_watch();
	(void)ask_until(backend_path, "\"state\":\"up\"");
	(void)ask(200, METHOD_POST, "/v2/bans", "{\"user_id\":\"ada\"}");
	kit_room("RM_1", clock_now(&clock_system) - 120000);
	kit_people("PA_1", "e1");
	kit_set(LOSES_ACTS);
	(void)ask(200, METHOD_PATCH, backend_path, "{\"name\":\"former\"}");
	backend_path = make_backend(url_of("/new"));
	begun = clock_monotonic();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	(void)await_request(REMOVE);
	await_overdue(1);
	ck_assert_int_ge(clock_monotonic() - begun, 10000);
	kit_set(ANSWERS);
	(void)ask_until(room_path, "\"peer_count\":0");
	await_overdue(0);
}
END_TEST

/* Returns true if the media server was asked to put out Ada. */
static bool ada_is_put_out(void)
{
	for (size_t i = receiver_count(stand.receiver); i-- > 0;) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strcmp(strrchr(received->path, '/') + 1, REMOVE) == 0 &&
		    strcmp(text_at(parsed(received->body), "identity"), "ada#1") == 0)
			return true;
	}
	return false;
}

/* Ada puts out all hosts, of whom she is one: by the call, or, where the media server does not say
 * whether it has put out the others, by the service. */
START_TEST(the_caller_is_put_out_last)
{
	static const struct {
		enum how how;
		int status;
	} rows[] = { { ANSWERS, 200 }, { LOSES_ACTS, 504 } };

	kit_join("PA_2", "eve", "eve", "e2");
	kit_join("PA_3", "bob", "bob", "e3");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":3");
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_set(rows[_i].how);
	bearer = token_with_entry("e1");
	(void)ask(rows[_i].status, METHOD_POST,
		  arena_text(stand.arena, "%s/remove-peers", room_path), "{\"role\":\"host\"}");
	bearer = NULL;
	ck_assert_int_eq(ada_is_put_out(), rows[_i].status == 200);
	kit_set(ANSWERS);
	(void)ask_until(room_path, "\"peer_count\":0");
	ck_assert_uint_eq(events("peer.leave.success"), 3);
	ck_assert_str_eq(text_at(last_request(REMOVE), "identity"), "ada#1");
	pthread_mutex_lock(&kit.lock);
	ck_assert_uint_eq(kit.left_before_ada, 2);
	pthread_mutex_unlock(&kit.lock);
}
END_TEST

/* A token may have the role, and rights that the role does not have. The role host may do all. */
#define ALL_SOURCES "[\"MICROPHONE\",\"CAMERA\",\"SCREEN_SHARE\",\"SCREEN_SHARE_AUDIO\"]"
static const struct {
	const char *permission;
	bool is_right;
} permissions[] = {
	{ "", true },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_data\":true}", true },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_data\":true,"
	  "\"can_publish_sources\":" ALL_SOURCES "}",
	  true },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_data\":true,"
	  "\"can_publish_sources\":[\"CAMERA\"]}",
	  false },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_data\":true,"
	  "\"can_publish_sources\":[\"MICROPHONE\",\"CAMERA\",\"SCREEN_SHARE\"]}",
	  false },
	{ "{\"can_subscribe\":true,\"can_publish\":true}", false },
	{ "{\"can_subscribe\":true,\"can_publish\":false,\"can_publish_data\":true}", false },
	{ "{\"can_subscribe\":false,\"can_publish\":true,\"can_publish_data\":true}", false },
};

START_TEST(who_has_other_rights_gets_those_of_the_role)
{
	const json_t *update;

	(void)snprintf(kit.people[0].permission, sizeof kit.people[0].permission, "%s",
		       permissions[_i].permission);
	start_watch();
	if (!permissions[_i].is_right) {
		update = await_request(UPDATE);
		ck_assert(json_is_true(
			json_object_get(json_object_get(update, "permission"), "can_publish")));
	} else {
		(void)ask_until(room_path, "\"peer_count\":1");
	}
	/* A later change shows that the rules have been enforced. */
	(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
	(void)await_request(END);
	ck_assert_uint_eq(requests_of(UPDATE), !permissions[_i].is_right);
}
END_TEST

/* What callers may do. Ada, with the entry e1, is one of them; Eve is inside, too. */
enum caller_kind {
	MANAGES,
	HAS_KEY, /* with the scope in `of` */
	IS_INSIDE, /* with the permission in `of`; the token says that the role is host */
	WAS_REMOVED,
	IS_ELSEWHERE, /* has a token of another room */
	IS_NOT_THERE /* has a token, perhaps of somebody else, and is not inside */
};

static const struct {
	enum method method;
	const char *path, *body; /* EVE and ADA stand for their ids */
} questions[] = {
	{ METHOD_GET, "", NULL },
	{ METHOD_GET, "/peers/EVE", NULL },
	{ METHOD_GET, "/me", NULL },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"role\":\"guest\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"role\":\"host\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"name\":\"x\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"metadata\":\"x\"}" },
	{ METHOD_POST, "/peers/ADA?validate_only=true", "{\"name\":\"x\",\"metadata\":\"x\"}" },
	{ METHOD_POST, "/peers/EVE/mute?validate_only=true", "{\"type\":\"audio\",\"mute\":true}" },
	{ METHOD_POST, "/peers/EVE/mute?validate_only=true",
	  "{\"type\":\"audio\",\"mute\":false}" },
	{ METHOD_POST, "/mute?validate_only=true", "{\"type\":\"audio\",\"hold\":true}" },
	{ METHOD_POST, "/send-message?validate_only=true", "{\"message\":\"x\"}" },
	{ METHOD_POST, "/remove-peers?validate_only=true", "{\"peer_id\":\"EVE\"}" },
	{ METHOD_POST, "/remove-peers?validate_only=true", "{\"role\":\"host\",\"ban\":true}" },
	{ METHOD_POST, "/end-room?validate_only=true", "{}" },
	{ METHOD_POST, "/end-room?validate_only=true", "{\"lock\":true}" },
	{ METHOD_GET, "/tickets", NULL },
	{ METHOD_POST, "/tickets?validate_only=true", "{\"admit\":\"all\"}" },
	{ METHOD_POST, "/door?validate_only=true", "{\"state\":\"ask\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"hand\":false}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"hand\":true}" },
	{ METHOD_POST, "/peers/ADA?validate_only=true", "{\"hand\":true}" },
	{ METHOD_POST, "/lower-hands?validate_only=true", "{}" },
};

/* The first digits of the statuses, in the order of the questions; 4 is 403. Nobody inside can
 * give others a power that they lack themselves: host has some. */
static const struct {
	enum caller_kind kind;
	const char *of, *statuses;
} askers[] = {
	{ MANAGES, NULL, "22422222222222222222222" },
	{ HAS_KEY, "live:write", "22422222222222224442222" },
	{ HAS_KEY, "live:read", "22444444444444444444444" },
	{ HAS_KEY, "rooms:write", "44444444444444444444444" },
	{ HAS_KEY, "tickets:write", "44444444444444442224444" },
	{ IS_INSIDE, "pollRead", "44244442444444444444424" },
	{ IS_INSIDE, "sendRoomState", "22244442444444444444424" },
	{ IS_INSIDE, "changeRole", "44224442444444444444424" },
	{ IS_INSIDE, "mute", "44244442242444444442422" },
	{ IS_INSIDE, "unmute", "44244442424444444444424" },
	{ IS_INSIDE, "removeOthers", "44244442444422442224424" },
	{ IS_INSIDE, "endRoom", "44244442444444224444424" },
	{ WAS_REMOVED, NULL, "44444444444444444444444" },
	{ IS_ELSEWHERE, NULL, "44444444444444444444444" },
	{ IS_NOT_THERE, NULL, "44444444444444444444444" },
};

static const char *with_ids(const char *text, const char *ada, const char *eve)
{
	struct slice all = slice_of(text);

	if (strstr(text, "ADA") != NULL)
		all = replaced(all, "ADA", ada);
	if (strstr(text, "EVE") != NULL)
		all = replaced(all, "EVE", eve);
	return arena_copy(stand.arena, all).data;
}

static void become(enum caller_kind kind, const char *of, const char *ada)
{
	switch (kind) {
	case MANAGES:
		break;
	case HAS_KEY:
		bearer =
			text_at(parsed(ask(200, METHOD_POST, "/v2/keys",
					   arena_text(stand.arena,
						      "{\"name\":\"k\",\"scopes\":[\"%s\"]}", of))),
				"key");
		break;
	case IS_INSIDE:
		bearer = token_with_entry("e1");
		break;
	case WAS_REMOVED:
		(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room_path),
			  arena_text(stand.arena, "{\"peer_id\":\"%s\"}", ada));
		bearer = token_with_entry("e1");
		break;
	case IS_ELSEWHERE:
		bearer = token_with_entry("e1");
		break;
	case IS_NOT_THERE:
		bearer = token_made("e9", 60);
		break;
	}
}

/* Uses up what the person may call in this second, and waits for the next one. */
static void await_budget(void)
{
	const int64_t end = clock_monotonic() + 30000;
	bool was_refused = false;
	int status = 429;

	while (!was_refused || status == 429) {
		struct call call = { .arena = arena_open() };

		ck_assert(clock_monotonic() < end);
		set_request(&call, METHOD_GET, arena_text(call.arena, "%s/tickets", room_path),
			    NULL);
		carry_out(&call);
		status = call.answer.status;
		was_refused = was_refused || status == 429;
		(void)poll(NULL, 0, status == 429 ? 20 : 0);
		arena_close(call.arena);
	}
}

START_TEST(callers_do_what_they_may)
{
	const enum caller_kind kind = askers[_i].kind;
	const char *ada, *eve, *other;

	kit_join("PA_2", "eve", "eve", "e2");
	if (kind == IS_INSIDE) {
		(void)ask(
			200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/one"),
			arena_text(stand.arena, "{\"permissions\":{\"%s\":true}}", askers[_i].of));
		(void)snprintf(kit.people[0].role, sizeof kit.people[0].role, "one");
	}
	other = text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	ada = id_of_peer("ada");
	eve = id_of_peer("eve");
	become(kind, askers[_i].of, ada);
	if (kind == IS_ELSEWHERE)
		room_path = arena_text(stand.arena, "/v2/active-rooms/%s", other);
	ck_assert_uint_eq(strlen(askers[_i].statuses), ROWS(questions));
	for (int i = 0; i < ROWS(questions); i++) {
		const char *path = arena_text(stand.arena, "%s%s", room_path,
					      with_ids(questions[i].path, ada, eve));
		const char *body = questions[i].body == NULL
					   ? NULL
					   : with_ids(questions[i].body, ada, eve);

		/* A person may call ten times in a second. */
		if (kind >= IS_INSIDE && kind != IS_ELSEWHERE && i % 8 == 7)
			await_budget();
		(void)ask(askers[_i].statuses[i] == '2' ? 200 : 403, questions[i].method, path,
			  body);
	}
	bearer = NULL;
	ck_assert_ptr_null(last_request(UPDATE));
	ck_assert_ptr_null(last_request(END));
}
END_TEST

/* ---- hands ---- */

#define UP "{\"isHandRaised\":true}"

/* What happens to Eve's hand. Before, the media server has her metadata and perhaps the time at
 * which her hand went up. */
static const struct {
	const char *metadata, *time;
	const char *body;
	bool is_inside; /* Eve herself calls */
	int status;
	const char *text; /* in the response */
	/* What the media server is told: the metadata; and the attribute: `now`, a value, or NULL
	 * if it stays. */
	const char *told, *hand;
} hands[] = {
	{ "", "", "{\"hand\":true}", true, 200, "isHandRaised\\\":true", UP, "now" },
	{ "{\"seat\":4}", "", "{\"hand\":true}", true, 200, "seat",
	  "{\"seat\":4,\"isHandRaised\":true}", "now" },
	{ "{\"seat\":4}", "", "{\"hand\":true}", false, 200, "seat",
	  "{\"seat\":4,\"isHandRaised\":true}", "now" },
	{ "{\"isHandRaised\":true,\"seat\":4}", "5", "{\"hand\":false}", true, 200, "seat",
	  "{\"seat\":4}", "" },
	{ "{\"isHandRaised\":true,\"seat\":4}", "5", "{\"hand\":false}", false, 200, "seat",
	  "{\"seat\":4}", "" },
	{ UP, "5", "{\"hand\":false}", true, 200, "\"metadata\":\"\"", " ", "" },
	/* As it is already. */
	{ UP, "5", "{\"hand\":true}", true, 200, "isHandRaised", UP, NULL },
	{ "{}", "", "{\"hand\":false}", true, 200, "eve", " ", NULL },
	/* The time was never told, or the hand went down otherwise. */
	{ UP, "", "{\"hand\":true}", true, 200, "isHandRaised", UP, "now" },
	{ "{}", "5", "{\"hand\":false}", true, 200, "eve", " ", "" },
	/* The same by the metadata as a whole. */
	{ "", "", "{\"metadata\":\"{\\\"isHandRaised\\\":true}\"}", true, 200, "isHandRaised", UP,
	  "now" },
	{ UP, "5", "{\"metadata\":\"{\\\"isHandRaised\\\":true,\\\"seat\\\":4}\"}", true, 200,
	  "seat", "{\"isHandRaised\":true,\"seat\":4}", NULL },
	{ UP, "5", "{\"metadata\":\"\"}", true, 200, "eve", " ", "" },
	{ UP, "5", "{\"metadata\":\"seat 4\"}", true, 200, "seat 4", "seat 4", "" },
	{ "", "", "{\"metadata\":\"{\\\"isHandRaised\\\":1}\"}", true, 200, "eve",
	  "{\"isHandRaised\":1}", NULL },
	{ UP, "5", "{\"name\":\"Eva\"}", true, 200, "Eva", NULL, NULL },
	/* Refused. */
	{ "seat 4", "", "{\"hand\":true}", true, 409, "Metadata is no object", NULL, NULL },
	{ "[1]", "", "{\"hand\":false}", false, 409, "Metadata is no object", NULL, NULL },
	{ "", "", "{\"hand\":true,\"metadata\":\"x\"}", true, 400,
	  "/metadata: must not be sent with hand", NULL, NULL },
	{ "", "", "{\"hand\":true,\"metadata\":\"\"}", true, 400,
	  "/metadata: must not be sent with hand", NULL, NULL },
	{ "", "", "{\"hand\":1}", true, 400, "/hand: must be", NULL, NULL },
};

START_TEST(a_hand_goes_up_and_down)
{
	const json_t *update, *hand;
	const char *path;
	int64_t before;

	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].metadata, sizeof kit.people[1].metadata, "%s",
		       hands[_i].metadata);
	(void)snprintf(kit.people[1].hand, sizeof kit.people[1].hand, "%s", hands[_i].time);
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	path = arena_text(stand.arena, "%s/peers/%s", room_path, id_of_peer("eve"));
	if (hands[_i].is_inside)
		bearer = token_with_entry("e2");
	before = clock_now(&clock_system);
	ck_assert_ptr_nonnull(
		strstr(ask(hands[_i].status, METHOD_POST, path, hands[_i].body), hands[_i].text));
	update = last_request(UPDATE);
	ck_assert_int_eq(update != NULL, hands[_i].status == 200);
	if (update == NULL)
		return;
	ck_assert_int_eq(json_object_get(update, "metadata") != NULL, hands[_i].told != NULL);
	if (hands[_i].told != NULL)
		ck_assert_str_eq(text_at(update, "metadata"), hands[_i].told);
	ck_assert_ptr_nonnull(json_object_get(update, "permission"));
	hand = json_object_get(json_object_get(update, "attributes"), "hand");
	ck_assert_int_eq(hand != NULL, hands[_i].hand != NULL);
	if (hand != NULL && strcmp(hands[_i].hand, "now") == 0) {
		ck_assert_int_ge(strtoll(json_string_value(hand), NULL, 10), before);
		ck_assert_int_le(strtoll(json_string_value(hand), NULL, 10),
				 clock_now(&clock_system));
	} else if (hand != NULL) {
		ck_assert_str_eq(json_string_value(hand), hands[_i].hand);
	}
}
END_TEST

/* Ada is a host, and has the entry e1; Eve and the crew are guests, of whom only Eve came by this
 * service. All hands are up. */
static const struct {
	const char *body;
	bool is_inside; /* Ada calls */
	enum how how; /* of the acts */
	int status;
	const char *text;
	const char *lowered; /* identities, in their order */
} lowerings[] = {
	{ "{}", false, ANSWERS, 200, "{\"message\":\"hands are lowered\"}", "ada#1 eve crew" },
	{ "{}", true, ANSWERS, 200, "hands are lowered", "eve crew" },
	{ "{\"role\":\"guest\"}", false, ANSWERS, 200, "hands are lowered", "eve crew" },
	{ "{\"role\":\"host\"}", true, ANSWERS, 200, "hands are lowered", "" },
	{ "{\"role\":\"\"}", true, ANSWERS, 200, "hands are lowered", "eve crew" },
	{ "{\"role\":\"king\"}", false, ANSWERS, 400, "must be a role of the room's template", "" },
	{ "{}", false, LOSES_ACTS, 504, "It may have been done", "ada#1 eve crew" },
	{ "{}", false, FAILS, 502, "status 500", "" },
	{ "{}", false, HANGS, 502, "timed out", "" },
};

START_TEST(hands_are_lowered)
{
	struct buffer lowered = BUFFER_INITIAL(stand.arena);

	kit_join("PA_2", "eve", "eve", "e2");
	kit_join("PA_3", "crew", "crew", "");
	kit_join("PA_4", "dora", "dora", "e4");
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(kit.people[i].metadata, sizeof kit.people[i].metadata, "%s",
			       i < 2   ? "{\"seat\":4,\"isHandRaised\":true}"
			       : i < 3 ? "m"
				       : "{\"isHandRaised\":false}");
		(void)snprintf(kit.people[i].hand, sizeof kit.people[i].hand, "%s",
			       i == 2 ? "5" : "");
		if (i > 0)
			(void)snprintf(kit.people[i].role, sizeof kit.people[i].role, "guest");
	}
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":4");
	if (lowerings[_i].is_inside)
		bearer = token_with_entry("e1");
	kit_set(lowerings[_i].how);
	ck_assert_ptr_nonnull(strstr(ask(lowerings[_i].status, METHOD_POST,
					 arena_text(stand.arena, "%s/lower-hands", room_path),
					 lowerings[_i].body),
				     lowerings[_i].text));
	for (size_t i = 0; i < 4; i++) {
		static const char *const identities[] = { "ada#1", "eve", "crew", "dora" };

		for (size_t j = 0; j < receiver_count(stand.receiver); j++) {
			const struct received *received = receiver_request(stand.receiver, j);
			const json_t *body = parsed(received->body);

			if (strstr(received->path, "/" UPDATE) == NULL ||
			    strcmp(text_at(body, "identity"), identities[i]) != 0)
				continue;
			buffer_append_text(&lowered, lowered.size > 0 ? " " : "");
			buffer_append_text(&lowered, identities[i]);
			ck_assert(json_equal(json_object_get(body, "attributes"),
					     parsed("{\"hand\":\"\"}")));
			ck_assert_ptr_null(json_object_get(body, "permission"));
			if (i == 2)
				ck_assert_ptr_null(json_object_get(body, "metadata"));
			else
				ck_assert_str_eq(text_at(body, "metadata"), "{\"seat\":4}");
		}
	}
	ck_assert_str_eq(arena_copy(stand.arena, buffer_slice(&lowered)).data,
			 lowerings[_i].lowered);
}
END_TEST

/* More than one round. */
START_TEST(many_hands_are_lowered)
{
	for (size_t i = 1; i < 250; i++)
		kit_join(arena_text(stand.arena, "PA_more_%zu", i),
			 arena_text(stand.arena, "more%zu", i), "", "");
	for (size_t i = 0; i < 250; i++)
		(void)snprintf(kit.people[i].metadata, sizeof kit.people[i].metadata, UP);
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":250");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/lower-hands", room_path), "{}");
	ck_assert_uint_eq(requests_of(UPDATE), 250);
	for (size_t i = 0; i < 250; i++)
		ck_assert_str_eq(kit.people[i].metadata, " ");
	/* The records have what the media server has. */
	(void)ask_until(arena_text(stand.arena, "%s/peers?role=host", room_path),
			"\"name\":\"Ada\",\"user_id\":\"ada\",\"metadata\":\"\"");
}
END_TEST

void add_acts(TCase *live, TCase *promises, TCase *inside)
{
	tcase_add_loop_test(live, the_last_event_has_its_time, 0, ROWS(last_events));
	tcase_add_loop_test(live, tracks_are_muted_or_calls_refused, 0, ROWS(mutes));
	tcase_add_loop_test(live, all_tracks_of_a_kind_are_muted, 0, ROWS(muted_together));
	tcase_add_test(live, of_many_tracks_those_that_are_heard_are_muted);
	tcase_add_loop_test(live, people_are_put_out_or_calls_refused, 0, ROWS(acts));
	tcase_add_loop_test(live, who_may_not_be_inside_is_put_out, 0, ROWS(corrections));
	tcase_add_loop_test(live, who_has_other_rights_gets_those_of_the_role, 0,
			    ROWS(permissions));
	tcase_add_test(promises, acts_at_a_new_server_are_not_held_up);
	tcase_add_loop_test(promises, the_caller_is_put_out_last, 0, 2);
	tcase_add_loop_test(inside, callers_do_what_they_may, 0, ROWS(askers));
	tcase_add_loop_test(inside, a_hand_goes_up_and_down, 0, ROWS(hands));
	tcase_add_loop_test(inside, hands_are_lowered, 0, ROWS(lowerings));
	tcase_add_test(inside, many_hands_are_lowered);
}
